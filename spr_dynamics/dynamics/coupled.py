"""
Joints that follow others, by elimination: v = G v_independent.

A follower has one leader, so a column of G has the leader's 1 and each follower's ratio. Vectors
and matrices keep their size: of a reduced one, the entries of followers are zero, and one on the
diagonal.
"""
from spr_dynamics.dynamics.aba import accelerations
from spr_dynamics.dynamics.cholesky import factor, solve_factored
from spr_dynamics.dynamics.crba import composite_inertias, inertia_matrix
from spr_dynamics.dynamics.rnea import forces_through_joints
from spr_dynamics.dynamics.work import (
    columns_of, coupled_of, followers_of, N_FOLLOWERS, tree_of, work_of)
from spr_dynamics.jit import kernel


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
def coupled_accelerations(block, tau, diagonal, qdd):
    """
    Find the accelerations of joints some of which follow others: G^T M G z = G^T (tau - c - g).

    Arguments, and what has to be there, are those of ``find_accelerations``.
    """
    tree, work, followers = tree_of(block), work_of(block), followers_of(block)
    M, columns = coupled_of(block), columns_of(block)
    composite_inertias(tree, work)
    inertia_matrix(block, M)
    bias, least = columns[0], columns[1]  # what they held is in M now
    forces_through_joints(tree, work, bias)
    for k in range(qdd.size):
        qdd[k] = tau[k] - bias[k]
        M[k, k] += diagonal[k]
    reduce_forces(followers, qdd)
    reduce_matrix(followers, M)
    factor(M, least)
    solve_factored(M, qdd)
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
    else:
        coupled_accelerations(block, tau, diagonal, qdd)
