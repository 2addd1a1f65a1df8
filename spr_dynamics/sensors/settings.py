"""What settings of sensors check in the same way, and how they name what they refuse."""
import contextlib
import math
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.sensors.axis_noise import AxisNoise

LARGEST_LENGTH = 1e9  # [m] keeps what is drawn finite, also as 32 bit numbers
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


def validated_as(kind: Any, settings) -> Any:
    """
    Return validated settings of a kind.

    :raises SensorError: If they are of another kind, or make no sense.
    """
    if not isinstance(settings, kind):
        raise SensorError(f'settings = {settings!r}: expected {kind.__name__}')
    return settings.validated()


def real_numbers(values) -> np.ndarray:
    """
    Return real numbers as a new array of floats.

    :raises ValueError: If they are none: text, complex numbers, rows of different lengths.
    """
    array = np.array(values)
    if array.dtype.kind not in 'biuf':
        raise ValueError('real numbers expected')
    return array.astype(float)


def is_transform(matrix) -> bool:
    """Say whether a matrix, shape (4, 4), is a rotation and a position."""
    R = matrix[:3, :3]
    return bool(np.abs(R @ R.T - np.eye(3)).max() <= ROTATION_TOLERANCE
                and np.linalg.det(R) > 0.0 and (matrix[3] == [0.0, 0.0, 0.0, 1.0]).all())


class Checked:
    """Settings that refuse values that make no sense, naming field, value and range."""

    def _refuse(self, name, allowed) -> NoReturn:
        value = getattr(self, name)
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise SensorError(f'{name} = {shown}: expected {allowed}')

    def _array(self, name, shape, *, is_finite=True) -> np.ndarray:
        """Return numbers as an array of its own, which nobody may write to."""
        try:
            array = real_numbers(getattr(self, name))
        except ValueError:
            self._refuse(name, f'numbers of shape {shape}')
        if array.shape != shape:
            self._refuse(name, f'shape {shape}, not {array.shape}')
        if np.isnan(array).any() or is_finite and not np.isfinite(array).all():
            self._refuse(name, 'finite numbers' if is_finite else 'no NaN')
        array.setflags(write=False)
        return array

    def _pose(self, name) -> np.ndarray:
        """Return a homogeneous transform, shape (4, 4)."""
        pose = self._array(name, (4, 4))
        if not is_transform(pose):
            self._refuse(name, 'a rotation and a position')
        self._check_length(name, pose[:3, 3])
        return pose

    def _check_length(self, name, metres) -> None:
        """Refuse lengths that are too large, but for infinite ones."""
        if (np.isfinite(metres) & (np.abs(metres) > LARGEST_LENGTH)).any():
            self._refuse(name, f'lengths up to {LARGEST_LENGTH:g} m')

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
        value, number = getattr(self, name), math.nan
        if isinstance(value, Real) and not isinstance(value, bool):
            with contextlib.suppress(OverflowError):
                number = float(value)
        if not number >= 0.0 or is_finite and number == math.inf:
            self._refuse(name, '0 or more' + (', finite' if is_finite else ''))
        return number

    def _truth(self, name) -> bool:
        """Return a truth value."""
        value = getattr(self, name)
        if not isinstance(value, (bool, np.bool_)):
            self._refuse(name, 'true or false')
        return bool(value)

    def _one_of(self, name, known) -> str:
        """Return a word that is among those known."""
        value = getattr(self, name)
        if not isinstance(value, str) or value not in known:
            self._refuse(name, f'one of {", ".join(known)}')
        return value
