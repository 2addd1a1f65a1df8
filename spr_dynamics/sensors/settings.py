"""What settings of sensors check in the same way, and how they name what they refuse."""
from typing import NoReturn

import numpy as np

from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.sensors.axis_noise import AxisNoise

ROTATION_TOLERANCE = 1e-5  # how far R R^T may be from one: as six printed digits make it


class SensorError(SprDynamicsError):
    """A sensor's settings can't be used; the message names field, value and range."""


def link_index(model, name) -> int:
    """
    Find a link by name.

    :raises SensorError: If there is none; says what could have been meant.
    """
    if name not in model.link_names:
        raise SensorError(
            f"link = '{name}': expected a link of the model{name_hint(name, model.link_names)}")
    return model.link_names.index(name)


class Checked:
    """Settings that refuse values that make no sense, naming field, value and range."""

    def _refuse(self, name, allowed) -> NoReturn:
        value = getattr(self, name)
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise SensorError(f'{name} = {shown}: expected {allowed}')

    def _array(self, name, shape, *, is_finite=True) -> np.ndarray:
        """Return numbers as an array of its own."""
        try:
            array = np.array(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            self._refuse(name, f'numbers of shape {shape}')
        if array.shape != shape:
            self._refuse(name, f'shape {shape}, not {array.shape}')
        if np.isnan(array).any() or is_finite and not np.isfinite(array).all():
            self._refuse(name, 'finite numbers' if is_finite else 'no NaN')
        return array

    def _pose(self, name) -> np.ndarray:
        """Return a homogeneous transform, shape (4, 4)."""
        pose = self._array(name, (4, 4))
        R = pose[:3, :3]
        if (np.abs(R @ R.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(R) < 0.0
                or (pose[3] != [0.0, 0.0, 0.0, 1.0]).any()):
            self._refuse(name, 'a rotation and a position')
        return pose

    def _noises(self, name) -> tuple[AxisNoise, AxisNoise, AxisNoise]:
        """Return the noise of x, y and z."""
        numbers = self._array(name, (3, len(AxisNoise._fields)))
        for field, column in zip(AxisNoise._fields, numbers.T):
            if field not in ('mean', 'bias_mean') and column.min() < 0.0:
                self._refuse(name, f'{field} of 0 or more')
        x, y, z = (AxisNoise(*row) for row in numbers.tolist())
        return x, y, z

    def _number(self, name, *, is_finite=True) -> float:
        """Return a number that is not negative."""
        value = getattr(self, name)
        if (not isinstance(value, (int, float, np.number)) or isinstance(value, bool)
                or not value >= 0.0 or is_finite and not np.isfinite(value)):
            self._refuse(name, '0 or more' + (', finite' if is_finite else ''))
        return float(value)

    def _one_of(self, name, known) -> str:
        """Return a word that is among those known."""
        value = getattr(self, name)
        if not isinstance(value, str) or value not in known:
            self._refuse(name, f'one of {", ".join(known)}')
        return value
