"""
Text to numbers, vectors, poses: strict, where libsdformat takes what it can.

Each function raises ValueError with the end of a sentence: ``'2kg' is not a number``.
"""

from collections.abc import Callable
import math
import re

import numpy as np

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.poses import Pose

NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
UNSIGNED = re.compile(r'\d+|0[xX][0-9a-fA-F]+', re.ASCII)
INFINITY = re.compile(r'([+-]?)inf(inity)?', re.IGNORECASE)
UNLIMITED = 1e16  # what files before SDFormat 1.10 write for "no limit"
MAX_UINT32 = 2**32 - 1


class Meaningless(ValueError):
    """A text can be read, but what it says is not possible."""


def extended_number(text: str) -> float:
    """Read a number that may be ``inf`` or ``-inf``."""
    infinity = INFINITY.fullmatch(text.strip())
    if infinity:
        return -math.inf if infinity[1] == '-' else math.inf
    return number(text)


def number(text: str) -> float:
    """Read a finite number, with nothing after it."""
    if not NUMBER.fullmatch(text.strip()):
        raise ValueError(f"'{text}' is not a finite number")
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"'{text}' is too large for a number")
    return value


def strength(text: str) -> float:
    """Read a largest effort or velocity, where a negative one means none."""
    value = extended_number(text)
    return math.inf if value < 0 else value


def effective_bound(value: float) -> float:
    """
    Say what a bound of a joint means.

    :param value: The bound as written.
    :returns: The same, or infinity of its sign from 1e16 on.
    """
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def between(read: Callable[[str], float], low: float, high: float) -> Callable[[str], float]:
    """
    Narrow a reader to a closed range.

    :param read: Reads the number.
    :param low: Smallest value.
    :param high: Largest value.
    :returns: The reader of numbers in that range.
    """
    def read_between(text: str) -> float:
        value = read(text)
        if not low <= value <= high:
            wanted = f'at least {low:g}' if high == math.inf else f'{low:g} to {high:g}'
            raise ValueError(f"'{text}' is out of range (needs {wanted})")
        return value
    return read_between


non_negative = between(number, 0, math.inf)


def positive(text: str) -> float:
    """Read a finite number above zero."""
    value = number(text)
    if value <= 0:
        raise ValueError(f"'{text}' is not above zero")
    return value


def one_of(*words: str) -> Callable[[str], str]:
    """
    Make a reader of a text that has a few values only.

    :param words: These values.
    :returns: The reader.
    """
    def read_one_of(text: str) -> str:
        if text not in words:
            raise Meaningless(f"'{text}' is unknown{name_hint(text, words)}")
        return text
    return read_one_of


def bitmask(text: str) -> int:
    """Read an unsigned number of 32 bits, decimal or ``0x``."""
    if not UNSIGNED.fullmatch(text.strip()):
        raise ValueError(f"'{text}' is not a bitmask (needs digits, or 0x and hexadecimal digits)")
    value = int(text, 16 if 'x' in text.lower() else 10)
    if value > MAX_UINT32:
        raise ValueError(f"'{text}' does not fit in 32 bits")
    return value


def integer(text: str) -> float:
    """Read a whole number, decimal or ``0x``; one with decimals is cut off by who uses it."""
    return bitmask(text) if UNSIGNED.fullmatch(text.strip()) else number(text)


def whole(text: str) -> int:
    """Read a whole number, 0 or more, in decimal digits."""
    if not re.fullmatch(r'\d+', text.strip(), re.ASCII):
        raise ValueError(f"'{text}' is not a whole number")
    return int(text)


def counted(text: str) -> int:
    """Read how many there may be, 1 or more, decimal or ``0x``."""
    value = integer(text)
    if value != int(value) or not 1 <= value <= MAX_UINT32:
        raise Meaningless(f"'{text}' is not a number of things (needs 1, 2, 3, ...)")
    return int(value)


def boolean(text: str) -> bool:
    """Read ``true``, ``false``, ``1`` or ``0``."""
    values = {'true': True, '1': True, 'false': False, '0': False}
    if text.strip().lower() not in values:
        raise ValueError(f"'{text}' is not true, false, 1 or 0")
    return values[text.strip().lower()]


def several(read: Callable[[str], object], count: int) -> Callable[[str], np.ndarray]:
    """
    Make a reader of several values between blanks.

    :param read: Reads one of them.
    :param count: How many there must be.
    :returns: The reader of a read-only array, shape (count,).
    """
    def read_several(text: str) -> np.ndarray:
        words = text.split()
        if len(words) != count:
            raise ValueError(f"'{text}' has {len(words)} values (needs {count})")
        return frozen_array([read(word) for word in words])
    return read_several


vector3 = several(number, 3)


def unit_vector(text: str) -> np.ndarray:
    """Read a direction of any length but zero; returns it with length one."""
    xyz = vector3(text)
    scale = np.max(np.abs(xyz))
    if scale == 0:
        raise Meaningless(f"'{text}' has length zero and so no direction")
    xyz = xyz / scale
    return frozen_array(xyz / np.linalg.norm(xyz))


def colour(text: str) -> np.ndarray:
    """Read red, green, blue, and perhaps opacity."""
    words = text.split()
    if len(words) not in (3, 4):
        raise ValueError(f"'{text}' has {len(words)} values (needs 3 or 4)")
    rgba = [between(number, 0, 1)(word) for word in words]
    return frozen_array(rgba if len(rgba) == 4 else [*rgba, 1.0])


def pose(text: str, rotation_format: str, is_degrees: bool) -> Pose:
    """
    Read a position and a rotation.

    :param text: ``x y z roll pitch yaw`` or ``x y z qx qy qz qw``; empty for identity.
    :param rotation_format: ``euler_rpy`` or ``quat_xyzw``.
    :param is_degrees: Whether roll, pitch and yaw are in degrees.
    :returns: The pose.
    """
    if rotation_format not in ('euler_rpy', 'quat_xyzw'):
        raise ValueError(
            f"rotation_format '{rotation_format}' is unknown (known: 'euler_rpy', 'quat_xyzw')")
    if rotation_format == 'euler_rpy':
        numbers = several(number, 6)(text) if text else np.zeros(6)
        rpy = np.radians(numbers[3:]) if is_degrees else numbers[3:]
        return _frozen(Pose.from_rpy(numbers[:3], rpy))
    if is_degrees:
        raise ValueError("degrees='true' means nothing for a quaternion")
    x, y, z, qx, qy, qz, qw = several(number, 7)(text) if text else (0, 0, 0, 0, 0, 0, 1)
    if not np.any([qx, qy, qz, qw]):
        raise Meaningless(f"'{text}' has a quaternion of length zero")
    return _frozen(Pose.from_quat_wxyz((x, y, z), (qw, qx, qy, qz)))


def frozen_array(values) -> np.ndarray:
    """
    Make an array that cannot be written to.

    :param values: Its entries; a copy is taken.
    :returns: The read-only array.
    """
    array = np.array(values)
    array.setflags(write=False)
    return array


def _frozen(T: Pose) -> Pose:
    return Pose(frozen_array(T.R), frozen_array(T.p))
