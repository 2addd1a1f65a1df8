"""Inverse dynamics: joint forces from joint accelerations."""
import numpy as np

from spr_dynamics.dynamics.bias import subtract_external, velocities_and_bias
from spr_dynamics.dynamics.check import (
    BAD, checked, checked_forces, checked_out, checked_position, is_force_table, is_position,
    is_vector, NO_FORCES, OK)
from spr_dynamics.dynamics.kinematics import (
    joint_force, joint_motion, LINK_RECORDS, transforms, TREE_RECORDS)
from spr_dynamics.dynamics.work import WORK_RECORDS, workspace_of
from spr_dynamics.jit import entry_point, kernel, MATRIX, READ_VECTOR, VECTOR
from spr_dynamics.spatial import (
    add_forces, add_motions, as_force, as_motion, as_rigid_inertia, as_transform, momentum,
    put_force, put_motion, transform_force_to_parent, transform_motion)


@kernel
def forces(tree, work, qdd, tau):
    """Second half of the algorithm: accelerations outward, then forces inward."""
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        X = as_transform(now.X)
        a = transform_motion(X, as_motion(work[body.parent].a))
        a = add_motions(add_motions(a, as_motion(now.c)), joint_motion(body, X, qdd))
        put_motion(now.a, a)
        put_force(now.f, add_forces(momentum(as_rigid_inertia(body.inertia), a),
                                    as_force(now.pA)))

    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        X, f = as_transform(now.X), as_force(now.f)
        joint_force(body, X, f, tau)
        if body.parent > 0:
            up = work[body.parent]
            put_force(up.f, add_forces(as_force(up.f), transform_force_to_parent(X, f)))


@entry_point(TREE_RECORDS, LINK_RECORDS, WORK_RECORDS, MATRIX, READ_VECTOR, VECTOR, VECTOR,
             VECTOR, MATRIX, VECTOR)
def rnea(tree, link, work, trig, gravity, q, qd, qdd, f_ext, tau):
    """
    Recursive Newton-Euler algorithm (Featherstone 2008, table 5.1), O(nb).

    Arguments are those of ``aba``, with accelerations and forces changing places.
    """
    nv = tau.size
    if not (is_position(tree, q, trig.shape[1]) and is_vector(qd, nv) and is_vector(qdd, nv)
            and is_force_table(f_ext, link.size)):
        return BAD
    transforms(tree, work, trig, q)
    velocities_and_bias(tree, work, gravity, qd)
    subtract_external(tree, link, work, f_ext)
    forces(tree, work, qdd, tau)
    return OK


def inverse_dynamics(model, q, qd, qdd, f_ext=None, out=None) -> np.ndarray:
    """
    Compute the joint forces that a given motion needs: tau = M qdd + c + g - external.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param qdd: Accelerations, shape (nv,).
    :param f_ext: Torque, then force on each link, world axes, about the link's origin, shape
        (number of links, 6).
    :param out: Array for the result, shape (nv,); a new one without it.
    :returns: Joint forces tau [N m or N], shape (nv,).
    :raises ValueError: If an argument has the wrong shape or is not finite; names it.
    """
    work = workspace_of(model)
    if out is None:
        out = np.empty(model.nv)
    elif getattr(out, 'shape', None) != (model.nv,):
        checked_out(out, (model.nv,))
    try:
        status = rnea(model.tree, model.links, work.body, work.trig, model.gravity, q, qd, qdd,
                      NO_FORCES if f_ext is None else f_ext, out)
    except (TypeError, ValueError):  # not arrays of doubles
        status = BAD
    if status != OK:
        rnea(model.tree, model.links, work.body, work.trig, model.gravity,
             checked_position(model, q), checked('qd', qd, model.nv),
             checked('qdd', qdd, model.nv), checked_forces(model, f_ext),
             checked_out(out, (model.nv,)))
    return out
