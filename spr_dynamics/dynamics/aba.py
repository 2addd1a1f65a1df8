"""The articulated-body algorithm: what joint forces do (Featherstone 2008, table 7.1)."""
from spr_dynamics.dynamics.kinematics import axis_in_world
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, add_forces, add_inertias, add_motions, along, articulated, ArticulatedInertia,
    as_articulated_inertia, as_columns, as_force, as_motion, as_rigid_inertia, as_symmetric,
    as_vector, component, Force, full, inertia_along, inverse, Matrix, Motion, power, product,
    put_articulated_inertia, put_force, put_motion, put_symmetric, put_vector, scale_force,
    shift_force, shift_inertia, shift_motion, solve, subtract, subtract_forces, subtract_outer,
    Symmetric, times, transpose, ZERO)


@inlined
def collected_inertia(body, now):
    """Return the body's own inertia plus what its children have handed over."""
    own = articulated(as_rigid_inertia(now.inertia))
    if body.is_leaf:
        return own
    return add_inertias(own, as_articulated_inertia(now.IA))


@inlined
def hand_over(body, now, up, Ia, pa):
    """Give inertia and force to the parent: the first child to come needs no one to clear."""
    r = as_vector(now.r, 0)
    Ia = shift_inertia(r, Ia)
    if not body.is_last_child:
        Ia = add_inertias(Ia, as_articulated_inertia(up.IA))
    put_articulated_inertia(up.IA, Ia)
    put_force(up.f, add_forces(as_force(up.f), shift_force(r, pa)))


@inlined
def through_axis(body, now, IA, pA, tau, diagonal):
    """Return inertia and force that are felt through a joint with one axis."""
    S = axis_in_world(body, as_columns(now.R_WB))
    U = inertia_along(IA, S)
    inv_d = 1.0 / (component(S, U) + diagonal[body.v])
    u = tau[body.v] - component(S, pA)
    put_force(now.U, U)
    now.inv_d, now.u[0] = inv_d, u
    return subtract_outer(IA, U, inv_d), add_forces(pA, scale_force(U, u * inv_d))


@inlined
def through_ball(body, now, IA, pA, tau):
    """Return inertia and force that are felt through a ball joint, which passes no moment on."""
    torque = times(as_columns(now.R_WB), as_vector(tau, body.v))
    J_inv = inverse(IA.J)
    u = subtract(torque, pA.moment)
    put_articulated_inertia(now.IA, IA)
    put_symmetric(now.J_inv, 0, J_inv)
    put_vector(now.u, 0, u)
    J_inv_H = product(full(J_inv), IA.H)
    lost = product(transpose(IA.H), J_inv_H)
    M = full(IA.M)
    left = Symmetric(M.xx - lost.xx, M.xy - lost.xy, M.xz - lost.xz,
                     M.yy - lost.yy, M.yz - lost.yz, M.zz - lost.zz)
    none = Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    linear = add(pA.linear, times(transpose(J_inv_H), u))
    return (ArticulatedInertia(none, Matrix(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), left),
            Force(torque, linear))


@inlined
def give_way(body, now, a, tau, qdd):
    """Compute the acceleration across a joint, given what its parent's does to the body."""
    k = body.v
    if body.joint == FREE:
        f = Force(as_vector(tau, k + 3), as_vector(tau, k))
        a = solve(as_articulated_inertia(now.IA), subtract_forces(f, as_force(now.f)))
        put_vector(qdd, k, a.linear)
        put_vector(qdd, k + 3, a.angular)
        return a
    R = as_columns(now.R_WB)
    if body.joint == BALL:
        H = as_articulated_inertia(now.IA).H
        angular = times(full(as_symmetric(now.J_inv, 0)),
                        subtract(as_vector(now.u, 0), times(H, a.linear)))
        put_vector(qdd, k, times(transpose(R), subtract(angular, a.angular)))
        return Motion(angular, a.linear)
    qdd[k] = (now.u[0] - power(as_force(now.U), a)) * now.inv_d
    return add_motions(a, along(axis_in_world(body, R), qdd[k]))


@kernel
def accelerations(tree, work, tau, diagonal, qdd):
    """
    Find what joint forces do to bodies that move as if qdd were zero, and need ``f`` for it.

    Second pass, inward: articulated inertias; third pass, outward: accelerations.

    :param diagonal: What is added to the own inertia of joints with one axis, shape (nv,).
    """
    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        IA, pA = collected_inertia(body, now), as_force(now.f)
        if body.joint == FREE:
            put_articulated_inertia(now.IA, IA)
            continue
        if body.joint == BALL:
            Ia, pa = through_ball(body, now, IA, pA, tau)
        else:
            Ia, pa = through_axis(body, now, IA, pA, tau, diagonal)
        if body.parent > 0:
            hand_over(body, now, work[body.parent], Ia, pa)

    put_motion(work[0].da, Motion(ZERO, ZERO))
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        a = shift_motion(as_vector(now.r, 0), as_motion(work[body.parent].da))
        put_motion(now.da, give_way(body, now, a, tau, qdd))
