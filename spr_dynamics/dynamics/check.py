"""
The door of the public functions: sizes and finiteness, checked once.

Compiled code looks and answers OK or BAD, which costs next to nothing; only then does Python look
again to say what was wrong.
"""
import numbers

import numpy as np

from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.jit import kernel
from spr_dynamics.model.records import AXIS, FREE

OK, BAD = 0, 1
UNIT_TOLERANCE = 1e-6  # how far the squared length of a quaternion may be from one
FASTEST = 1e100  # of velocities: with their squares, masses and lengths still make numbers


@kernel
def are_finite(x):
    """Answer whether no entry is NaN or infinite: times zero, both give NaN."""
    total = 0.0
    for i in range(x.size):
        total += 0.0 * x[i]
    return total == 0.0


@kernel
def are_moderate(x):
    """Answer whether the square of every entry is finite: no sane velocity is above 1e154."""
    total = 0.0
    for i in range(x.size):
        total += 0.0 * (x[i] * x[i])
    return total == 0.0


@kernel
def are_unit(tree, q):
    """Answer whether the quaternions of balls and free bodies have length one."""
    for i in range(1, tree.size):
        if tree[i].joint != AXIS:
            j = tree[i].q + (3 if tree[i].joint == FREE else 0)
            square = q[j] ** 2 + q[j + 1] ** 2 + q[j + 2] ** 2 + q[j + 3] ** 2
            if abs(square - 1.0) > UNIT_TOLERANCE:
                return False
    return True


@kernel
def is_position(tree, q, nq):
    """Answer whether q is a position of the tree."""
    return q.size == nq and are_finite(q) and are_unit(tree, q)


@kernel
def is_vector(x, n):
    """Answer whether x has n finite entries."""
    return x.size == n and are_finite(x)


@kernel
def is_velocity(x, n):
    """Answer whether x has n entries, none of them NaN or above FASTEST."""
    are_slow = True
    for i in range(x.size):
        are_slow &= abs(x[i]) <= FASTEST
    return x.size == n and are_slow


def checked(name, value, size) -> np.ndarray:
    """
    Return a vector as an array of doubles.

    :raises ValueError: If it has another shape or is not finite; says what was expected.
    """
    array = as_doubles(name, value)
    if array.shape != (size,):
        raise ValueError(f'{name}: shape ({size},) expected, got {array.shape}')
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f'{name}: finite numbers expected, got {name}[{bad[0]}] = '
                         f'{array[bad[0]]}')
    return array


def as_doubles(name, value) -> np.ndarray:
    """
    Return a copy as doubles; a copy, since kernels take no read-only arrays.

    :raises ValueError: If it isn't made of real numbers, or one is beyond those of 64 bits.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f'{name}: numbers expected, got a masked array, in which some may be '
                         'missing')
    try:
        given = np.asarray(value)
        if given.dtype.kind in 'biuf' or given.dtype.kind == 'O' and all(
                isinstance(entry, numbers.Real) for entry in given.flat):
            return np.array(given, dtype=float)
    except (ValueError, OverflowError):  # lists of different lengths; 10 ** 400
        pass
    raise ValueError(f'{name}: numbers expected, got {value!r}')


def checked_velocity(model, qd) -> np.ndarray:
    """
    Return velocities as an array of doubles.

    :raises ValueError: Also if one is so large that its square gives no forces.
    """
    qd = checked('qd', qd, model.nv)
    fast = np.flatnonzero(np.abs(qd) > FASTEST)
    if fast.size:
        raise ValueError(f'qd: velocities up to {FASTEST:g} expected, got qd[{fast[0]}] = '
                         f'{qd[fast[0]]}')
    return qd


def checked_position(model, q) -> np.ndarray:
    """
    Return positions as an array of doubles.

    :raises ValueError: Also if the quaternion of a free root or ball does not have length one.
    """
    q = checked('q', q, model.nq)
    for name, at in model.quaternions:
        quaternion = q[at:at + 4]
        if abs(quaternion @ quaternion - 1.0) > UNIT_TOLERANCE:
            raise ValueError(f'q: unit quaternion w x y z expected for {name} in '
                             f'q[{at}:{at + 4}], got {quaternion.tolist()}')
    return q


def checked_forces(model, f_ext) -> np.ndarray:
    """
    Return external forces as an array of doubles.

    :raises ValueError: If the shape is not (number of links, 6) or an entry is not finite.
    """
    array = as_doubles('f_ext', f_ext)
    if array.shape != (model.links.size, 6):
        raise ValueError(f'f_ext: shape ({model.links.size}, 6) expected (a row for each of '
                         f'model.link_names), got {array.shape}')
    if not np.isfinite(array).all():
        k = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise ValueError(f"f_ext: finite numbers expected, got {array[k].tolist()} for link "
                         f"'{model.link_names[k]}'")
    return array


def block_with(model, f_ext) -> np.ndarray:
    """
    Return the block of a model's buffers, with forces on its links.

    :raises ValueError: If ``f_ext`` is no table of forces.
    """
    work = model.buffers[Workspace]
    work.forces[:] = checked_forces(model, f_ext)
    return work.pushed_block


def checked_out(out, shape) -> np.ndarray:
    """
    Return the array that results are written into.

    :raises ValueError: If it can't take them in place.
    """
    if not (isinstance(out, np.ndarray) and out.dtype == float and out.shape == shape
            and out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f'out: a writable, contiguous array of doubles of shape {shape} expected')
    return out
