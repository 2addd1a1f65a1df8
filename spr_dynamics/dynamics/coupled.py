"""
Joints that follow others: v = G v_independent.

A follower has one leader, so a column of G has the leader's 1 and each follower's ratio. Vectors
and matrices keep their size: of a reduced one, the entries of followers are zero, and one on the
diagonal. Where few follow, their torques are found instead, so that all takes O(n) still.
"""
import numpy as np

from spr_dynamics.dynamics.aba import accelerations, give_way
from spr_dynamics.dynamics.cholesky import factor, solve_factored
from spr_dynamics.dynamics.crba import composite_inertias, inertia_matrix
from spr_dynamics.dynamics.kinematics import axis_in_world
from spr_dynamics.dynamics.rnea import forces_through_joints
from spr_dynamics.dynamics.work import (
    columns_of, COUPLED_AT, coupled_of, followers_of, N_FOLLOWERS, NV, tree_of, work_of)
from spr_dynamics.jit import array_at, inlined, kernel
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, add_forces, as_articulated_inertia, as_columns, as_force, as_motion, as_symmetric,
    as_vector, component, Force, full, put_force, put_motion, put_vector, scale, scale_force,
    shift_force, shift_motion, times, transpose, ZERO)

FEW = 8  # velocities for each follower, from which on torques are found faster than G is applied


@kernel
def reduce_forces(followers, tau):
    """Replace tau by G^T tau: a force on a follower is felt by its leader."""
    for f in range(followers.size):
        follower = followers[f]
        tau[follower.leader_v] += follower.ratio * tau[follower.v]
        tau[follower.v] = 0.0


@kernel
def reduce_matrix(followers, M):
    """Replace M by G^T M G, with ones on the diagonal for the followers."""
    n = M.shape[0]
    for f in range(followers.size):
        follower = followers[f]
        i, k, ratio = follower.leader_v, follower.v, follower.ratio
        for j in range(n):
            M[i, j] += ratio * M[k, j]
            M[k, j] = 0.0
        for j in range(n):
            M[j, i] += ratio * M[j, k]
            M[j, k] = 0.0
        M[k, k] = 1.0


@kernel
def expand_velocities(followers, qd):
    """Let velocities, or accelerations, of followers follow."""
    for f in range(followers.size):
        follower = followers[f]
        qd[follower.v] = follower.ratio * qd[follower.leader_v]


@kernel
def expand_positions(followers, q):
    """Let the positions of followers follow."""
    for f in range(followers.size):
        follower = followers[f]
        q[follower.q] = follower.ratio * q[follower.leader_q] + follower.offset


@kernel
def factor_inertia(block, diagonal):
    """
    Leave the factors of G^T M G in the block's matrix for coupled joints.

    Needs the bodies' inertias in world axes.

    :param diagonal: What is added to the own inertia of joints with one axis, shape (nv,).
    """
    M, columns = coupled_of(block), columns_of(block)
    composite_inertias(tree_of(block), work_of(block))
    inertia_matrix(block, M)
    for k in range(diagonal.size):
        M[k, k] += diagonal[k]
    reduce_matrix(followers_of(block), M)
    factor(M, columns[1])  # what the columns held is in M now


@kernel
def accelerations_by_elimination(block, tau, diagonal, qdd):
    """
    Find the accelerations of joints many of which follow: G^T M G z = G^T (tau - c - g).

    Arguments, and what has to be there, are those of ``find_accelerations``; it leaves the
    factors of G^T M G.
    """
    followers, bias = followers_of(block), columns_of(block)[0]
    factor_inertia(block, diagonal)
    forces_through_joints(tree_of(block), work_of(block), bias)
    for k in range(qdd.size):
        qdd[k] = tau[k] - bias[k]
    reduce_forces(followers, qdd)
    solve_factored(coupled_of(block), qdd)
    expand_velocities(followers, qdd)


@inlined
def passed_on(body, now, p, efforts):
    """Return the force that is felt through a joint, given that on the body and its effort."""
    if body.joint == BALL:
        u = scale(p.moment, -1.0)
        put_vector(now.u, 0, u)
        angular = times(full(as_symmetric(now.J_inv, 0)), u)
        H = as_articulated_inertia(now.IA).H
        return Force(ZERO, add(p.linear, times(transpose(H), angular)))
    u = efforts[body.v] - component(axis_in_world(body, as_columns(now.R_WB)), p)
    now.u[0] = u
    return add_forces(p, scale_force(as_force(now.U), u * now.inv_d))


@kernel
def respond_to_efforts(tree, work, efforts, qdd):
    """
    Find what efforts of joints with one axis do to a robot at rest and without weight.

    Needs the articulated inertias that ``accelerations`` leaves.
    """
    for i in range(1, tree.size):
        put_force(work[i].f, Force(ZERO, ZERO))
    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        if body.parent > 0:
            up = work[body.parent]
            f = shift_force(as_vector(now.r, 0), passed_on(body, now, as_force(now.f), efforts))
            put_force(up.f, add_forces(as_force(up.f), f))
        elif body.joint != FREE:
            passed_on(body, now, as_force(now.f), efforts)
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        a = shift_motion(as_vector(now.r, 0), as_motion(work[body.parent].da))
        put_motion(now.da, give_way(body, now, a, efforts, qdd))


@kernel
def accelerations_by_multipliers(block, tau, diagonal, qdd):
    """
    Find the accelerations of joints few of which follow, each by a torque that makes it follow.

    The articulated-body algorithm gives those without, then for each follower what a torque 1 on
    it, with -ratio on its leader, does to all: a column of M^-1 J^T, in which J qd = 0 says that
    all follow. The torques are the solution of J M^-1 J^T x = -J qdd.

    Arguments, and what has to be there, are those of ``find_accelerations``.
    """
    tree, work, followers = tree_of(block), work_of(block), followers_of(block)
    n = followers.size
    responses, columns = coupled_of(block), columns_of(block)
    torques, least, efforts = columns[0, :n], columns[1, :n], columns[2]
    A = array_at(block[COUPLED_AT] + n * responses.strides[0], (n, n), np.float64)
    accelerations(tree, work, tau, diagonal, qdd)
    for k in range(qdd.size):
        efforts[k] = 0.0
    for f in range(n):
        follower = followers[f]
        efforts[follower.v], efforts[follower.leader_v] = 1.0, -follower.ratio
        respond_to_efforts(tree, work, efforts, responses[f])
        efforts[follower.v] = efforts[follower.leader_v] = 0.0
        torques[f] = follower.ratio * qdd[follower.leader_v] - qdd[follower.v]
    for f in range(n):
        follower = followers[f]
        for g in range(n):
            A[f, g] = responses[g, follower.v] - follower.ratio * responses[g, follower.leader_v]
    factor(A, least)
    solve_factored(A, torques)
    for f in range(n):
        for k in range(qdd.size):
            qdd[k] += torques[f] * responses[f, k]
    expand_velocities(followers, qdd)


@kernel
def find_accelerations(block, tau, diagonal, qdd):
    """
    Find what joint forces do, mimics and gears included.

    Needs the bodies' inertias in world axes, and their forces as if qdd were zero.

    :param diagonal: What is added to the own inertia of joints with one axis, shape (nv,).
    """
    if block[N_FOLLOWERS] == 0:
        accelerations(tree_of(block), work_of(block), tau, diagonal, qdd)
    elif FEW * block[N_FOLLOWERS] <= block[NV]:
        accelerations_by_multipliers(block, tau, diagonal, qdd)
    else:
        accelerations_by_elimination(block, tau, diagonal, qdd)
