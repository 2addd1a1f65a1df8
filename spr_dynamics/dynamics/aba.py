"""The articulated-body algorithm: what joint forces do (Featherstone 2008, table 7.1)."""
from typing import NamedTuple

from spr_dynamics.dynamics.kinematics import axis_in_world
from spr_dynamics.dynamics.lanes import combine, multiply, quad, quad_at, swizzle
from spr_dynamics.dynamics.quads import (
    add_columns, add_outer, columns_at, cross, plus, put_columns_at, quad_of, times_vector,
    transposed, vector_of)
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, add_forces, add_motions, along, as_articulated_inertia, as_columns, as_force, as_motion,
    as_symmetric, as_vector, component, Force, full, inverse, Motion, power, product, put_force,
    put_motion, put_symmetric, put_vector, scale, scale_force, shift_force, shift_motion, solve,
    subtract, subtract_forces, times, transpose, ZERO)


class Inertia(NamedTuple):
    """The symmetric 6x6 matrix [[J, H], [H^T, M]]: columns of J, H^T and M, in quads."""

    J: tuple
    Ht: tuple
    M: tuple


@inlined
def inertia_at(IA):
    return Inertia(columns_at(IA, 0), columns_at(IA, 12), columns_at(IA, 24))


@inlined
def put_inertia(IA, inertia):
    put_columns_at(IA, 0, inertia.J)
    put_columns_at(IA, 12, inertia.Ht)
    put_columns_at(IA, 24, inertia.M)


@inlined
def add_inertias(A, B):
    return Inertia(add_columns(A.J, B.J), add_columns(A.Ht, B.Ht), add_columns(A.M, B.M))


@inlined
def own_inertia(rigid):
    """Read a rigid inertia as a 6x6 matrix."""
    m, h = rigid[0], quad_at(rigid, 1)
    J = (quad_at(rigid, 4), swizzle(quad_at(rigid, 5), 0, 2, 3),
         swizzle(quad_at(rigid, 6), 0, 2, 3))
    Ht = (multiply(swizzle(h, 0, 2, 1), quad(0.0, -1.0, 1.0)),
          multiply(swizzle(h, 2, 1, 0), quad(1.0, 0.0, -1.0)),
          multiply(swizzle(h, 1, 0, 2), quad(-1.0, 1.0, 0.0)))
    return Inertia(J, Ht, (quad(m, 0.0, 0.0), quad(0.0, m, 0.0), quad(0.0, 0.0, m)))


@inlined
def shift_inertia(r, inertia):
    """Take an inertia about the parent's origin, the child's being at r."""
    J, Ht, M = inertia
    arm = quad_of(r)
    moved = (combine((M[2], M[1]), (r.y, -r.z)), combine((M[0], M[2]), (r.z, -r.x)),
             combine((M[1], M[0]), (r.x, -r.y)))  # -M (r x)
    half = (cross(arm, combine((Ht[0], moved[0]), (1.0, 0.5))),
            cross(arm, combine((Ht[1], moved[1]), (1.0, 0.5))),
            cross(arm, combine((Ht[2], moved[2]), (1.0, 0.5))))
    return Inertia(add_columns(J, add_columns(half, transposed(half))), add_columns(Ht, moved), M)


@inlined
def inertia_along(IA, S):
    """Compute IA S, moment and force; most joints only turn, and then half of it is enough."""
    turn = scale(S.z, S.turn)
    n, f = times_vector(IA.J, turn), times_vector(IA.Ht, turn)
    if S.slide != 0.0:
        slide = scale(S.z, S.slide)
        n = plus(n, times_vector(transposed(IA.Ht), slide))
        f = plus(f, times_vector(IA.M, slide))
    return n, f


@inlined
def collected_inertia(body, now):
    """Return the body's own inertia plus what its children have handed over."""
    own = own_inertia(now.inertia)
    if body.is_leaf:
        return own
    return add_inertias(own, inertia_at(now.IA))


@inlined
def hand_over(body, up, Ia, pa):
    """Give inertia and force to the parent: the first child to come needs no one to clear."""
    if not body.is_last_child:
        Ia = add_inertias(Ia, inertia_at(up.IA))
    put_inertia(up.IA, Ia)
    put_force(up.f, add_forces(as_force(up.f), pa))


@inlined
def through_axis(body, now, IA, pA, tau, diagonal):
    """
    Return inertia and force that the parent feels through a joint with one axis.

    What is subtracted comes last: all else need not wait for the division.
    """
    S, r = axis_in_world(body, as_columns(now.R_WB)), as_vector(now.r, 0)
    n, f = inertia_along(IA, S)
    U = Force(vector_of(n), vector_of(f))
    inv_d = 1.0 / (component(S, U) + diagonal[body.v])
    u = tau[body.v] - component(S, pA)
    put_force(now.U, U)
    now.inv_d, now.u[0] = inv_d, u
    J, Ht, M = shift_inertia(r, IA)
    n = plus(n, cross(quad_of(r), f))
    kn, kf = combine((n,), (-inv_d,)), combine((f,), (-inv_d,))
    return (Inertia(add_outer(J, kn, n), add_outer(Ht, kf, n), add_outer(M, kf, f)),
            shift_force(r, add_forces(pA, scale_force(U, u * inv_d))))


@inlined
def through_ball(body, now, IA, pA, tau):
    """Return inertia and force that the parent feels through a ball, which passes no moment on."""
    torque, r = times(as_columns(now.R_WB), as_vector(tau, body.v)), as_vector(now.r, 0)
    put_inertia(now.IA, IA)
    J, H, _ = as_articulated_inertia(now.IA)
    J_inv = inverse(J)
    u = subtract(torque, pA.moment)
    put_symmetric(now.J_inv, 0, J_inv)
    put_vector(now.u, 0, u)
    J_inv_H = product(full(J_inv), H)
    lost = product(transpose(H), J_inv_H)
    lost_columns = (quad(-lost.xx, -lost.xy, -lost.xz), quad(-lost.xy, -lost.yy, -lost.yz),
                    quad(-lost.xz, -lost.yz, -lost.zz))
    nothing = quad(0.0, 0.0, 0.0)
    none = nothing, nothing, nothing
    linear = add(pA.linear, times(transpose(J_inv_H), u))
    return (shift_inertia(r, Inertia(none, none, add_columns(IA.M, lost_columns))),
            shift_force(r, Force(torque, linear)))


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
            put_inertia(now.IA, IA)
            continue
        if body.joint == BALL:
            Ia, pa = through_ball(body, now, IA, pA, tau)
        else:
            Ia, pa = through_axis(body, now, IA, pA, tau, diagonal)
        if body.parent > 0:
            hand_over(body, work[body.parent], Ia, pa)

    put_motion(work[0].da, Motion(ZERO, ZERO))
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        a = shift_motion(as_vector(now.r, 0), as_motion(work[body.parent].da))
        put_motion(now.da, give_way(body, now, a, tau, qdd))
