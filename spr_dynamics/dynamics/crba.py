"""The joint-space inertia matrix."""
import numpy as np

from spr_dynamics.dynamics.check import (
    BAD, checked_out, checked_position, is_position, not_a_model, OK)
from spr_dynamics.dynamics.kinematics import axis_in_world, place_inertias
from spr_dynamics.dynamics.lanes import (
    choose, combine, keep, lanes_at, put_lanes, put_some_lanes, WIDTH, zeros)
from spr_dynamics.dynamics.reduced import gather_matrix, is_reduced
from spr_dynamics.dynamics.work import (
    columns_of, NQ, NV, padded, related_columns_of, related_of, tree_of, trig_of, work_of,
    Workspace)
from spr_dynamics.jit import ADDRESSES, entry_point, inlined, kernel, MATRIX, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add_rigid, along, as_columns, as_rigid_inertia, as_vector, cross, Force, full, momentum,
    Motion, put_rigid_inertia, shift_force, shift_motion, shift_rigid, subtract, times, Vector,
    ZERO)

ALL = (1 << WIDTH) - 1  # bits of all lanes


@kernel
def composite_inertias(tree, work):
    """Add up, inward, what each joint carries; needs the bodies' inertias in world axes."""
    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        Ic = as_rigid_inertia(now.inertia)
        if not body.is_leaf:
            Ic = add_rigid(Ic, as_rigid_inertia(now.Ic))
        put_rigid_inertia(now.Ic, Ic)
        if body.parent > 0:
            up = work[body.parent]
            Ic = shift_rigid(as_vector(now.r, 0), Ic)
            if not body.is_last_child:
                Ic = add_rigid(Ic, as_rigid_inertia(up.Ic))
            put_rigid_inertia(up.Ic, Ic)


@inlined
def put_column(columns, k, S, f):
    """Write column k: a direction of motion, and the force that moves all that it carries."""
    for row, value in enumerate((
            S.angular.x, S.angular.y, S.angular.z, S.linear.x, S.linear.y, S.linear.z,
            f.moment.x, f.moment.y, f.moment.z, f.linear.x, f.linear.y, f.linear.z)):
        columns[row, k] = value


@inlined
def unit(k):
    return Vector(1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inlined
def put_direction(columns, k, arm, S, f):
    """Write the column of a direction S and its force, given about a body's own origin."""
    back = Vector(-arm.x, -arm.y, -arm.z)
    put_column(columns, k, shift_motion(back, S), shift_force(arm, f))


@inlined
def turning(inertia, w):
    """Compute the momentum of a spin."""
    return Force(times(full(inertia.about), w), cross(w, inertia.h))


@kernel
def directions(tree, work, columns, depth_first):
    """
    Write every joint's S, and the force Ic S, about the first joint of its tree.

    There they can be compared without a walk through the tree; about the world's origin, a robot
    far away would lose digits.

    :param columns: Result, shape (12, at least nv): S, then Ic S.
    :param depth_first: Whether velocities are counted as columns, or as in qd.
    """
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        k, origin = body.column if depth_first else body.v, as_vector(work[body.trunk].p_WB, 0)
        Ic, arm = as_rigid_inertia(now.Ic), subtract(as_vector(now.p_WB, 0), origin)
        if body.joint == FREE:
            for axis in range(3):
                moves, turns = Motion(ZERO, unit(axis)), Motion(unit(axis), ZERO)
                put_column(columns, k + axis, moves, momentum(Ic, moves))
                put_column(columns, k + 3 + axis, turns, momentum(Ic, turns))
        elif body.joint == BALL:
            for axis in range(3):
                z = as_vector(now.R_WB, 4 * axis)
                put_direction(columns, k + axis, arm, Motion(z, ZERO), turning(Ic, z))
        else:
            S = along(axis_in_world(body, as_columns(now.R_WB)), 1.0)
            if body.slide == 0.0:
                put_direction(columns, k, arm, Motion(S.angular, ZERO), turning(Ic, S.angular))
            else:
                put_direction(columns, k, arm, S, momentum(Ic, S))


@inlined
def six_lanes(columns, row, k):
    return (lanes_at(columns, row, k), lanes_at(columns, row + 1, k),
            lanes_at(columns, row + 2, k), lanes_at(columns, row + 3, k),
            lanes_at(columns, row + 4, k), lanes_at(columns, row + 5, k))


@inlined
def six_numbers(columns, row, k):
    return (columns[row, k], columns[row + 1, k], columns[row + 2, k],
            columns[row + 3, k], columns[row + 4, k], columns[row + 5, k])


@inlined
def put_wanted(M, j, k, wanted, x):
    """Write lanes into a row; where all are wanted, that is faster on some processors."""
    if wanted == ALL:
        put_lanes(M, j, k, x)
    else:
        put_some_lanes(M, j, k, wanted, x)


@kernel
def pair(columns, related, first, end, M):
    """
    Fill M[first:end, first:end] with what each direction feels of the force of another one.

    A few columns stay in registers while all rows go by. Of two directions it is the one nearer to
    the root whose S feels the force of the other one, wherever they stand: the same products in
    the same order for both of their numbers, so M is symmetric to the last bit.

    :param related: ``relatives``, in the order of the columns.
    """
    carries, carried = related[0], related[1]
    for block in range(first // WIDTH, padded(end) // WIDTH):
        k = WIDTH * block
        S, f = six_lanes(columns, 0, k), six_lanes(columns, 6, k)
        wanted = (ALL << max(0, first - k)) & (ALL >> max(0, k + WIDTH - end))
        for j in range(first, end):
            felt, outward, inward = zeros(), carries[j, block], carried[j, block]
            if outward != 0:
                felt = keep(outward, combine(f, six_numbers(columns, 0, j)))
            if inward != 0:
                felt = choose(inward, combine(S, six_numbers(columns, 6, j)), felt)
            put_wanted(M, j, k, wanted, felt)


@kernel
def clear(M):
    numbers = M.reshape(M.size)
    for k in range(M.size):
        numbers[k] = 0.0


@kernel
def pair_trees(block, M):
    """Fill M, velocities counted as columns: only the blocks of trees, not what is between."""
    tree, columns, related = tree_of(block), columns_of(block), related_columns_of(block)
    for i in range(1, tree.size):
        if tree[i].trunk == i:
            pair(columns, related, tree[i].column, tree[i].end_column, M)


@kernel
def inertia_matrix(block, M):
    """Fill M, velocities counted as in qd, given the composite inertias."""
    columns = columns_of(block)
    directions(tree_of(block), work_of(block), columns, False)
    pair(columns, related_of(block), 0, M.shape[0], M)


@entry_point(ADDRESSES, VECTOR, MATRIX)
def crba(block, q, M):
    """
    Composite-rigid-body algorithm (Featherstone 2008, table 6.2), O(nb depth).

    :param M: Result: the symmetric inertia matrix, shape (nv, nv).
    :returns: OK, or BAD if an argument has a wrong size, or is not finite or too large.
    """
    tree, work, nv = tree_of(block), work_of(block), block[NV]
    if not is_position(tree, q, block[NQ]) or M.shape[0] != nv or M.shape[1] != nv:
        return BAD
    place_inertias(tree, work, trig_of(block), q)
    composite_inertias(tree, work)
    inertia_matrix(block, M)
    return OK


def mass_matrix(model, q, out=None, reduced=False) -> np.ndarray:
    """
    Compute M(q), the inertia that joints feel: kinetic energy is qd M qd / 2.

    Joints that close loops count as opened: what they carry is not part of it.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param out: Array for the result, shape (nv, nv); a new one without it.
    :param reduced: Return G^T M G, what the velocities of ``model.independent`` feel; ``out``
        still takes M.
    :returns: The symmetric matrix, shape (nv, nv).
    :raises TypeError: If ``reduced`` is no truth value.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    try:
        block = model.buffers[Workspace].block
    except AttributeError:
        raise not_a_model(model) from None
    if out is None:
        out = np.empty((model.nv, model.nv))
    try:
        status = crba(block, q, out)
    except (TypeError, ValueError):  # not contiguous, writable arrays of doubles
        status = BAD
    if status != OK:
        crba(block, checked_position(model, q), checked_out(out, (model.nv, model.nv)))
    if reduced is False:  # the quick way
        return out
    return gather_matrix(model, out) if is_reduced(reduced) else out
