"""The joint-space inertia matrix."""
import numpy as np

from spr_dynamics.dynamics.check import (
    BAD, checked_out, checked_position, is_position, OK)
from spr_dynamics.dynamics.kinematics import transforms, TREE_RECORDS
from spr_dynamics.dynamics.work import WORK_RECORDS, workspace_of
from spr_dynamics.jit import entry_point, inlined, kernel, MATRIX, VECTOR
from spr_dynamics.model.records import FREE
from spr_dynamics.spatial import (
    add_rigid, along, as_rigid_inertia, as_transform, Axis, component, momentum, Motion,
    put_rigid_inertia, times, transform_force_to_parent, transform_rigid_to_parent, transpose,
    Vector, ZERO)


@inlined
def world_direction(X, k):
    """Return column k of a free joint's S: a world axis, moving or turning, in the body."""
    E = X.E
    axis = (Vector(E.xx, E.yx, E.zx) if k % 3 == 0 else
            Vector(E.xy, E.yy, E.zy) if k % 3 == 1 else Vector(E.xz, E.yz, E.zz))
    return Motion(ZERO, axis) if k < 3 else Motion(axis, ZERO)


@inlined
def put_pair(M, row, column, value):
    M[row, column] = value
    M[column, row] = value


@inlined
def put_free_column(M, k, column, X, f):
    """Write S^T f of a free joint into its six rows of a column, and into the mirror image."""
    back = transpose(X.E)
    linear, moment = times(back, f.linear), times(back, f.moment)
    put_pair(M, k, column, linear.x)
    put_pair(M, k + 1, column, linear.y)
    put_pair(M, k + 2, column, linear.z)
    put_pair(M, k + 3, column, moment.x)
    put_pair(M, k + 4, column, moment.y)
    put_pair(M, k + 5, column, moment.z)


@kernel
def composite_inertias(tree, work):
    """Add up, inward, what each joint carries; needs the transforms."""
    for i in range(1, tree.size):
        put_rigid_inertia(work[i].Ic, as_rigid_inertia(tree[i].inertia))
    for i in range(tree.size - 1, 0, -1):
        if tree[i].parent > 0:
            now, up = work[i], work[tree[i].parent]
            put_rigid_inertia(up.Ic, add_rigid(
                as_rigid_inertia(up.Ic),
                transform_rigid_to_parent(as_transform(now.X), as_rigid_inertia(now.Ic))))


@kernel
def inertia_matrix(tree, work, M):
    """
    Fill M, given the transforms and the composite inertias.

    Column by column: the force that moves all a joint carries, seen by each joint on the way in.
    """
    for row in range(M.shape[0]):
        for column in range(M.shape[1]):
            M[row, column] = 0.0
    for i in range(1, tree.size):
        body = tree[i]
        X, Ic = as_transform(work[i].X), as_rigid_inertia(work[i].Ic)
        if body.joint == FREE:
            for k in range(6):
                put_free_column(M, body.v, body.v + k, X, momentum(Ic, world_direction(X, k)))
            continue
        S = Axis(body.turn, body.slide)
        f = momentum(Ic, along(S, 1.0))
        M[body.v, body.v] = component(S, f)
        while body.parent > 0:
            f = transform_force_to_parent(X, f)
            j = body.parent
            body, X = tree[j], as_transform(work[j].X)
            if body.joint == FREE:
                put_free_column(M, body.v, tree[i].v, X, f)
            else:
                put_pair(M, body.v, tree[i].v, component(Axis(body.turn, body.slide), f))


@entry_point(TREE_RECORDS, WORK_RECORDS, MATRIX, VECTOR, MATRIX)
def crba(tree, work, trig, q, M):
    """
    Composite-rigid-body algorithm (Featherstone 2008, table 6.2), O(nb depth).

    :param M: Result: the symmetric inertia matrix, shape (nv, nv).
    :returns: OK, or BAD if an argument has a wrong size or is not finite.
    """
    if not is_position(tree, q, trig.shape[1]):
        return BAD
    transforms(tree, work, trig, q)
    composite_inertias(tree, work)
    inertia_matrix(tree, work, M)
    return OK


def mass_matrix(model, q, out=None) -> np.ndarray:
    """
    Compute M(q), the inertia that joints feel: kinetic energy is qd M qd / 2.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param out: Array for the result, shape (nv, nv); a new one without it.
    :returns: The symmetric matrix, shape (nv, nv).
    :raises ValueError: If an argument has the wrong shape or is not finite; names it.
    """
    work = workspace_of(model)
    shape = model.nv, model.nv
    if out is None:
        out = np.empty(shape)
    elif getattr(out, 'shape', None) != shape:
        checked_out(out, shape)
    try:
        status = crba(model.tree, work.body, work.trig, q, out)
    except (TypeError, ValueError):  # not an array of doubles
        status = BAD
    if status != OK:
        crba(model.tree, work.body, work.trig, checked_position(model, q),
             checked_out(out, shape))
    return out
