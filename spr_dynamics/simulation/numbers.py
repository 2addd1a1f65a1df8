"""The numbers of a joint: plain ones of a joint with one axis, arrays of others."""
import operator
from typing import Any

import numpy as np


class Number(float):
    """A number of a joint with one axis; called with an index, as Springhead's getters are."""

    def __call__(self, i: int = 0) -> float:
        checked_index(i, 1)
        return float(self)


class Numbers(np.ndarray):
    """
    A number for each direction of a joint; called with an index, it gives one of them.

    It is a copy, and read-only, so that nobody takes an entry of it for one of the state.
    """

    __iadd__: Any = np.ndarray.__add__  # `joint.torque += ...` sets another array, the sum
    __isub__: Any = np.ndarray.__sub__

    def __call__(self, i: int = 0) -> float:
        return float(self[checked_index(i, self.size)])


def numbers(entries) -> 'Number | Numbers':
    """Return the entries of a joint as a number, if it is one, or as an array."""
    if len(entries) == 1:
        return Number(entries[0])
    copied = np.array(entries, float).view(Numbers)
    copied.setflags(write=False)
    return copied


def checked_index(i, dof) -> int:
    """
    Return which direction of a joint is meant.

    :raises IndexError: If it has none of that index; says how many it has.
    :raises TypeError: If it is no whole number.
    """
    try:
        i = operator.index(i)
    except TypeError:
        raise TypeError(f'direction {i!r}: a whole number expected, counted from 0') from None
    if not 0 <= i < dof:
        raise IndexError(f'direction {i}: the joint has {dof}, counted from 0')
    return i


def rotation_vector(quat_wxyz) -> np.ndarray:
    """Return axis times angle [rad] of a unit quaternion, the shorter way round."""
    w, axis = quat_wxyz[0], quat_wxyz[1:]
    sine = np.linalg.norm(axis)
    if sine == 0.0:
        return np.zeros(3)
    return axis * (np.copysign(1.0, w) * 2.0 * np.arctan2(sine, abs(w)) / sine)
