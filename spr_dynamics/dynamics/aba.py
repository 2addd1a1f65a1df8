"""Forward dynamics: joint accelerations from joint forces."""
import numpy as np

from spr_dynamics.dynamics.bias import subtract_external, velocities_and_bias
from spr_dynamics.dynamics.check import (
    BAD, checked, checked_forces, checked_out, checked_position, is_force_table, is_position,
    is_vector, NO_FORCES, OK)
from spr_dynamics.dynamics.kinematics import LINK_RECORDS, transforms, TREE_RECORDS
from spr_dynamics.dynamics.work import WORK_RECORDS, workspace_of
from spr_dynamics.jit import entry_point, inlined, kernel, MATRIX, READ_VECTOR, VECTOR
from spr_dynamics.model.records import FREE
from spr_dynamics.spatial import (
    add_forces, add_inertias, add_motions, along, articulated, as_articulated_inertia, as_force,
    as_motion, as_rigid_inertia, as_transform, as_vector, Axis, component, Force, inertia_along,
    inertia_times, power, put_articulated_inertia, put_force, put_motion, put_vector, scale_force,
    solve, subtract_forces, subtract_motions, subtract_outer, times, transform_force_to_parent,
    transform_inertia_to_parent, transform_motion, transpose)


@inlined
def collected_inertia(body, now):
    """Return the body's own inertia plus what its children have handed over."""
    own = articulated(as_rigid_inertia(body.inertia))
    if body.is_leaf:
        return own
    return add_inertias(own, as_articulated_inertia(now.IA))


@inlined
def hand_over_inertia(body, up, IA):
    """Give IA to the parent: the first child to come writes, so nobody has to clear."""
    if not body.is_last_child:
        IA = add_inertias(IA, as_articulated_inertia(up.IA))
    put_articulated_inertia(up.IA, IA)


@kernel
def accelerations(tree, work, qd, tau, diagonal, qdd):
    """
    Second pass, inward: articulated inertias; third pass, outward: accelerations.

    :param diagonal: What is added to each joint's own inertia, shape (nv,).
    """
    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        if body.joint == FREE:
            continue
        k = body.v
        S = Axis(body.turn, body.slide)
        IA, pA = collected_inertia(body, now), as_force(now.pA)
        U = inertia_along(IA, S)
        inv_d = 1.0 / (component(S, U) + diagonal[k])
        u = tau[k] - component(S, pA)
        put_force(now.U, U)
        now.inv_d, now.u = inv_d, u
        if body.parent > 0:
            up, X, c = work[body.parent], as_transform(now.X), as_motion(now.c)
            Ia = subtract_outer(IA, U, inv_d)
            pa = add_forces(add_forces(pA, inertia_times(Ia, c)), scale_force(U, u * inv_d))
            hand_over_inertia(body, up, transform_inertia_to_parent(X, Ia))
            put_force(up.pA, add_forces(as_force(up.pA), transform_force_to_parent(X, pa)))

    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        k = body.v
        X = as_transform(now.X)
        a = add_motions(transform_motion(X, as_motion(work[body.parent].a)), as_motion(now.c))
        if body.joint == FREE:
            f = Force(times(X.E, as_vector(tau, k + 3)), times(X.E, as_vector(tau, k)))
            a_body = solve(collected_inertia(body, now), subtract_forces(f, as_force(now.pA)))
            across = subtract_motions(a_body, a)
            put_vector(qdd, k, times(transpose(X.E), across.linear))
            put_vector(qdd, k + 3, times(transpose(X.E), across.angular))
            put_motion(now.a, a_body)
        else:
            qdd[k] = (now.u - power(as_force(now.U), a)) * now.inv_d
            put_motion(now.a, add_motions(a, along(Axis(body.turn, body.slide), qdd[k])))


@entry_point(TREE_RECORDS, LINK_RECORDS, WORK_RECORDS, MATRIX, READ_VECTOR, VECTOR, VECTOR,
             VECTOR, MATRIX, VECTOR, VECTOR)
def aba(tree, link, work, trig, gravity, q, qd, tau, f_ext, diagonal, qdd):
    """
    Articulated-body algorithm (Featherstone 2008, table 7.1), O(nb).

    :param tree: Constants, ``TREE`` records, shape (nb + 1,).
    :param link: ``LINK`` records, in the order of ``f_ext``.
    :param work: Scratch, ``WORK`` records, shape (nb + 1,).
    :param trig: Scratch for the sines and cosines of ``q``, shape (2, nq).
    :param gravity: Acceleration of free fall in the world [m/s^2], shape (3,).
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param tau: Joint forces, shape (nv,).
    :param f_ext: Torque and force on each link, or no rows.
    :param diagonal: What is added to each joint's own inertia, shape (nv,).
    :param qdd: Result: accelerations, shape (nv,).
    :returns: OK, or BAD if an argument has a wrong size or is not finite.
    """
    nv = diagonal.size
    if not (is_position(tree, q, trig.shape[1]) and is_vector(qd, nv) and is_vector(tau, nv)
            and is_force_table(f_ext, link.size) and qdd.size == nv):
        return BAD
    transforms(tree, work, trig, q)
    velocities_and_bias(tree, work, gravity, qd)
    subtract_external(tree, link, work, f_ext)
    accelerations(tree, work, qd, tau, diagonal, qdd)
    return OK


def forward_dynamics(model, q, qd, tau, f_ext=None, out=None) -> np.ndarray:
    """
    Compute the joint accelerations that given forces cause.

    Damping, springs and dry friction are not part of it: add ``passive_forces`` to ``tau``.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param tau: Joint forces [N m or N], shape (nv,); of a free root: force at the link's origin,
        then moment, world axes.
    :param f_ext: Torque, then force on each link, world axes, about the link's origin, shape
        (number of links, 6).
    :param out: Array for the result, shape (nv,); a new one without it.
    :returns: Accelerations qdd, shape (nv,): the rate of change of qd.
    :raises ValueError: If an argument has the wrong shape or is not finite; names it.
    """
    work = workspace_of(model)
    if out is None:
        out = np.empty(model.nv)
    try:
        status = aba(model.tree, model.links, work.body, work.trig, model.gravity, q, qd, tau,
                     NO_FORCES if f_ext is None else f_ext, work.no_diagonal, out)
    except (TypeError, ValueError):  # not arrays of doubles
        status = BAD
    if status != OK:
        aba(model.tree, model.links, work.body, work.trig, model.gravity,
            checked_position(model, q), checked('qd', qd, model.nv),
            checked('tau', tau, model.nv), checked_forces(model, f_ext), work.no_diagonal,
            checked_out(out, (model.nv,)))
    return out
