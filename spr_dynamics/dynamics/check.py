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

OK, BAD, OVERFLOWN = 0, 1, 2
UNIT_TOLERANCE = 1e-6  # how far the squared length of a quaternion may be from one
FARTHEST = 1e100  # of positions, and
FASTEST = 1e100  # of velocities: with their squares, masses and lengths still make numbers
MODERATE = 1e50  # of velocities: with their sixth powers, which a step may make, too


@kernel
def are_finite(x):
    """Answer whether no entry is NaN or infinite: times zero, both give NaN."""
    total = 0.0
    for i in range(x.size):
        total += 0.0 * x[i]
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
def are_within(x, bound):
    """Answer whether no entry is NaN or larger than a bound."""
    are_small = True
    for i in range(x.size):
        are_small &= abs(x[i]) <= bound
    return are_small


@kernel
def are_moderate(x):
    """Answer whether x has velocities that a step can begin or end with."""
    return are_within(x, MODERATE)


@kernel
def is_position(tree, q, nq):
    """Answer whether q is a position of the tree, none of it beyond FARTHEST."""
    return q.size == nq and are_within(q, FARTHEST) and are_unit(tree, q)


@kernel
def is_vector(x, n):
    """Answer whether x has n finite entries."""
    return x.size == n and are_finite(x)


@kernel
def is_velocity(x, n):
    """Answer whether x has n entries, none of them NaN or above FASTEST."""
    return x.size == n and are_within(x, FASTEST)


@kernel
def status_of(result):
    """Return OK, or OVERFLOWN if a result is beyond all numbers."""
    return OK if are_finite(result) else OVERFLOWN


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


def checked_model(model):
    """
    Return a model.

    :raises TypeError: If it is something else.
    """
    if not hasattr(model, 'buffers'):  # the class is in a room whose edits compile no kernels
        raise not_a_model(model)
    return model


def not_a_model(thing) -> TypeError:
    """Return the error for what is given as a model, as a file's name or a simulation."""
    return TypeError('model: a Model expected, as spr_dynamics.load returns and a Simulation has '
                     f'as .model, got {thing!r}')


def refuse_beyond(name, x, bound, what):
    """Raise a ValueError if an entry is larger than a bound."""
    far = np.flatnonzero(np.abs(x) > bound)
    if far.size:
        raise ValueError(f'{name}: {what} up to {bound:g} expected, got {name}[{far[0]}] = '
                         f'{x[far[0]]}')


def finite(what, result, **given) -> np.ndarray:
    """
    Return a result.

    :param what: It is, for the message.
    :param given: What it was computed from: arrays by name, or None.
    :raises ValueError: If it is beyond all numbers; names the largest number that was given.
    """
    if not np.isfinite(result).all():
        sizes = {name: np.abs(x).max(initial=0.0) for name, x in given.items() if x is not None}
        name = max(sizes, key=sizes.__getitem__)
        raise ValueError(f'{what}: beyond all numbers; those in {name} are as large as '
                         f'{sizes[name]:g}')
    return result


def checked_velocity(model, qd) -> np.ndarray:
    """
    Return velocities as an array of doubles.

    :raises ValueError: Also if one is so large that its square gives no forces.
    """
    qd = checked('qd', qd, checked_model(model).nv)
    refuse_beyond('qd', qd, FASTEST, 'velocities')
    return qd


def checked_position(model, q) -> np.ndarray:
    """
    Return positions as an array of doubles.

    :raises ValueError: Also if one is so large that inertias are no numbers there, or the
        quaternion of a free root or ball does not have length one.
    :raises TypeError: If the model is none.
    """
    q = checked('q', q, checked_model(model).nq)
    refuse_beyond('q', q, FARTHEST, 'positions')
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
