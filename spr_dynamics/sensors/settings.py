"""What settings of sensors check in the same way."""
from typing import NoReturn

import numpy as np

from spr_dynamics.sensors.axis_noise import AxisNoise
from spr_dynamics.sensors.contact import ROTATION_TOLERANCE, SensorError


class Checked:
    """Settings that refuse values that make no sense, naming field, value and range."""

    def _refuse(self, name, allowed) -> NoReturn:
        value = getattr(self, name)
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise SensorError(f'{name} = {shown}: expected {allowed}')

    def _array(self, name, shape) -> np.ndarray:
        """Return finite numbers as an array of its own."""
        try:
            array = np.array(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            self._refuse(name, f'numbers of shape {shape}')
        if array.shape != shape:
            self._refuse(name, f'shape {shape}, not {array.shape}')
        if not np.isfinite(array).all():
            self._refuse(name, 'finite numbers')
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

    def _rate(self, name) -> float:
        """Return a number of samples a second."""
        rate = getattr(self, name)
        if not isinstance(rate, (int, float, np.number)) or not 0.0 <= rate < np.inf:
            self._refuse(name, '0 or more, finite')
        return float(rate)

    def _one_of(self, name, known) -> str:
        """Return a word that is among those known."""
        if getattr(self, name) not in known:
            self._refuse(name, f'one of {", ".join(known)}')
        return getattr(self, name)
