"""Torques that are set on joints one by one, for the next step."""
import numpy as np

from spr_dynamics.dynamics.check import checked


class Torques:
    """
    What the object view has set on joints: the next step adds it to its ``tau`` and forgets it.

    :param nv: Number of velocities of the model.
    """

    def __init__(self, nv: int):
        self._values = np.zeros(nv)
        self.are_set = False

    @property
    def values(self) -> np.ndarray:
        """A read-only copy, shape (nv,)."""
        values = self._values.copy()
        values.setflags(write=False)
        return values

    def put(self, k: int, value: float):
        """Set one entry."""
        self._values[k] = value
        self.are_set = True

    def put_all(self, values: np.ndarray, are_set: bool):
        """Take over those of another simulation."""
        self._values[:] = values
        self.are_set = are_set

    def on_top_of(self, tau) -> np.ndarray:
        """
        Add them to a command.

        :raises ValueError: If the command has the wrong shape or is not finite.
        """
        if tau is None:
            return self._values.copy()
        return checked('tau', tau, self._values.size) + self._values

    def forget(self):
        """Set all to zero."""
        self._values[:] = 0.0
        self.are_set = False
