"""The joint-space inertia matrix."""
import numpy as np

from spr_dynamics.dynamics.check import (
    BAD, checked_out, checked_position, is_position, not_a_model, OK)
from spr_dynamics.dynamics.kinematics import axis_in_world, place, turn_inertias
from spr_dynamics.dynamics.reduced import gather_matrix
from spr_dynamics.dynamics.work import (
    columns_of, IN_ORDER, NQ, NV, order_of, tree_of, trig_of, work_of, Workspace)
from spr_dynamics.jit import ADDRESSES, entry_point, inlined, kernel, MATRIX, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add_rigid, along, as_matrix, as_rigid_inertia, as_vector, momentum, Motion,
    put_rigid_inertia, shift_force, shift_motion, shift_rigid, subtract, Vector, ZERO)


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
def put_direction(columns, k, now, origin, S):
    """Write the column of a direction S about a body's own origin."""
    arm = subtract(as_vector(now.p_WB, 0), origin)
    f = momentum(as_rigid_inertia(now.Ic), S)
    back = Vector(-arm.x, -arm.y, -arm.z)
    put_column(columns, k, shift_motion(back, S), shift_force(arm, f))


@kernel
def directions(tree, work, columns):
    """
    Write every joint's S, and the force Ic S, about the first joint of its tree.

    There they can be compared without a walk through the tree; about the world's origin, a robot
    far away would lose digits.

    :param columns: Result, shape (12, nv): S, then Ic S, velocities counted depth first.
    """
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        k, origin = body.column, as_vector(work[body.trunk].p_WB, 0)
        R = as_matrix(now.R_WB, 0)
        if body.joint == FREE:
            Ic = as_rigid_inertia(now.Ic)
            for axis in range(3):
                moves, turns = Motion(ZERO, unit(axis)), Motion(unit(axis), ZERO)
                put_column(columns, k + axis, moves, momentum(Ic, moves))
                put_column(columns, k + 3 + axis, turns, momentum(Ic, turns))
        elif body.joint == BALL:
            for axis in range(3):
                z = Vector(now.R_WB[axis], now.R_WB[3 + axis], now.R_WB[6 + axis])
                put_direction(columns, k + axis, now, origin, Motion(z, ZERO))
        else:
            put_direction(columns, k, now, origin, along(axis_in_world(body, R), 1.0))


@kernel
def pair_in_order(tree, columns, M):
    """
    Fill M where qd is counted depth first: a row from the diagonal on, then the mirror image.

    Only the blocks of trees, not the zeros between them. In slices that start at the diagonal the
    compiler sees what it can do eight at a time.
    """
    for i in range(1, tree.size):
        body, trunk = tree[i], tree[tree[i].trunk]
        for j in range(body.column, body.next_column):
            row, n = M[j, j:], body.end_column - j
            a, b, c = columns[0, j], columns[1, j], columns[2, j]
            d, e, f = columns[3, j], columns[4, j], columns[5, j]
            n_x, n_y, n_z = columns[6, j:], columns[7, j:], columns[8, j:]
            f_x, f_y, f_z = columns[9, j:], columns[10, j:], columns[11, j:]
            for k in range(n):
                row[k] = (a * n_x[k] + b * n_y[k] + c * n_z[k]
                          + d * f_x[k] + e * f_y[k] + f * f_z[k])
            for k in range(n, trunk.end_column - j):
                row[k] = 0.0
    for t in range(1, tree.size):
        if tree[t].trunk == t:
            block = M[tree[t].column:tree[t].end_column, tree[t].column:tree[t].end_column]
            for j in range(1, block.shape[0]):
                for k in range(j):
                    block[j, k] = block[k, j]


@kernel
def clear(M):
    numbers = M.reshape(M.size)
    for k in range(M.size):
        numbers[k] = 0.0


@kernel
def pair_scattered(tree, columns, order, M):
    """Fill M where qd has another order: each number in its two places."""
    n_x, n_y, n_z = columns[6], columns[7], columns[8]
    f_x, f_y, f_z = columns[9], columns[10], columns[11]
    clear(M)
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint == FREE:
            pair_root(body, columns, order, M)
            continue
        for j in range(body.column, body.next_column):
            a, b, c = columns[0, j], columns[1, j], columns[2, j]
            d, e, f = columns[3, j], columns[4, j], columns[5, j]
            row = order[j]
            for k in range(j, body.end_column):
                column = order[k]
                felt = (a * n_x[k] + b * n_y[k] + c * n_z[k]
                        + d * f_x[k] + e * f_y[k] + f * f_z[k])
                M[row, column] = felt
                M[column, row] = felt


@inlined
def pair_root(body, columns, order, M):
    """Fill rows and columns of a free root, which feels each force as it is."""
    row = body.v
    for k in range(body.column, body.end_column):
        column = order[k]
        mirror = M[column]
        for axis in range(3):
            moment, force = columns[6 + axis, k], columns[9 + axis, k]
            M[row + axis, column] = force
            M[row + 3 + axis, column] = moment
            mirror[row + axis] = force
            mirror[row + 3 + axis] = moment


@kernel
def inertia_matrix(block, M):
    """Fill M with what each direction feels of all that another one carries, given these."""
    tree, columns = tree_of(block), columns_of(block)
    directions(tree, work_of(block), columns)
    if block[IN_ORDER] != 0:
        if tree.size > 1 and tree[1].end_column != M.shape[0]:
            clear(M)
        pair_in_order(tree, columns, M)
    else:
        pair_scattered(tree, columns, order_of(block), M)


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
    place(tree, work, trig_of(block), q)
    turn_inertias(tree, work)
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
    return gather_matrix(model, out) if reduced else out
