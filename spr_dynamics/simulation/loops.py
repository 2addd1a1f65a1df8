"""Loops in steps of a higher order: what keeps them closed, and what takes back their drift."""
import numpy as np

from spr_dynamics.contact.loops import put_hinge, put_tie
from spr_dynamics.contact.records import LOOP, OPTIONS, ROW
from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.cholesky import factor, solve_factored
from spr_dynamics.dynamics.coupled import expand_velocities, factor_inertia, reduce_forces
from spr_dynamics.dynamics.crba import unit
from spr_dynamics.dynamics.kinematics import axis_in_world
from spr_dynamics.dynamics.work import coupled_of, followers_of, NV, tree_of, work_of, zero_of
from spr_dynamics.jit import accessor, array_at, exact, inlined
from spr_dynamics.model.records import BALL, FREE, HINGE
from spr_dynamics.simulation.buffers import (
    HINGES_AT, LOOPS_AT, N_HINGES, N_LOOPS, OPTIONS_AT, ROW_J_AT, SORTED_LIMITS_AT, TIE_MATRIX_AT,
    TIE_RESPONSES_AT, TIE_VECTORS, TIE_VECTORS_AT)
from spr_dynamics.simulation.integrate import turn_and_slide
from spr_dynamics.spatial import (
    along, as_columns, as_vector, dot, Motion, shift_motion, subtract, ZERO)

SOFTNESS = 1e-4  # of ties, in those of a step of first order: what two hold twice, they share
REFINEMENTS = 3  # solutions, each for what the one before left: the softness is gone then
CLOSED = 1e-12  # [m] and cosines: round-off of a robot that is some hundred metres away
LOOSE = 1e-9  # gaps that may be left where round-off is larger
NEWTON_STEPS = 5  # each squares what is open
OPEN = 1e-5  # [m] and cosines: what is more open is no drift
PARTING = 1e-9  # of the largest velocity, at which two sides part by more than round-off


@accessor
def jacobian_of(block):
    return array_at(block[ROW_J_AT], (block[N_LOOPS] + block[N_HINGES], block[NV]), np.float64)


@accessor
def rows_of(block):
    return array_at(block[SORTED_LIMITS_AT], block[N_LOOPS] + block[N_HINGES], ROW)


@accessor
def vectors_of(block):
    return array_at(block[TIE_VECTORS_AT], (TIE_VECTORS, block[N_LOOPS]), np.float64)


@inlined
def add_direction(J, k, sign, row, arm, S):
    """Add what a direction of motion S does along a row, ``arm`` away from where S is seen."""
    motion = shift_motion(arm, S)
    J[k] += sign * dot(as_vector(row.e, 0), motion.angular if row.is_angle else motion.linear)


@exact
def add_joints(tree, work, row, J, i, sign):
    """Add to a row what the joints between body i and the world do along its direction."""
    while i > 0:
        body, now = tree[i], work[i]
        k, arm = body.v, subtract(as_vector(row.point, 0), as_vector(now.p_WB, 0))
        if body.joint == FREE:
            for axis in range(3):
                add_direction(J, k + axis, sign, row, arm, Motion(ZERO, unit(axis)))
                add_direction(J, k + 3 + axis, sign, row, arm, Motion(unit(axis), ZERO))
        elif body.joint == BALL:
            for axis in range(3):
                z = as_vector(now.R_WB, 4 * axis)
                add_direction(J, k + axis, sign, row, arm, Motion(z, ZERO))
        else:
            S = along(axis_in_world(body, as_columns(now.R_WB)), 1.0)
            add_direction(J, k, sign, row, arm, S)
        i = body.parent


@exact
def fill_row(tree, work, followers, row, J):
    """Write how velocities move the sides of a row along it; followers' count as leaders'."""
    for v in range(J.size):
        J[v] = 0.0
    add_joints(tree, work, row, J, row.body_b, 1.0)
    add_joints(tree, work, row, J, row.body_a, -1.0)
    reduce_forces(followers, J)


@exact
def find_ties(block, J, gaps, bends):
    """
    Write a row for each tie, how velocities open it, how far it is open and how that bends.

    Needs the bodies' poses, velocities, and accelerations as if qdd were zero.

    :param J: Result, a row for each tie.
    :param gaps: Result, shape (number of ties,).
    :param bends: Result: second derivatives of the gaps if no joint speeds up, of the same shape.
    """
    tree, work, followers, n = tree_of(block), work_of(block), followers_of(block), block[N_LOOPS]
    loops, rows = array_at(block[LOOPS_AT], n, LOOP), rows_of(block)
    for k in range(n):
        gaps[k], bends[k] = put_tie(rows[k], loops[k].tie, work)
        rows[k].tie = k
        fill_row(tree, work, followers, rows[k], J[k])


@exact
def largest(x):
    size = 0.0
    for k in range(x.size):
        size = max(size, abs(x[k]))
    return size


@exact
def rate(J, k, x):
    """Return how fast velocities open a tie."""
    total = 0.0
    for v in range(x.size):
        total += J[k, v] * x[v]
    return total


@exact
def tighten(block, J, target, x, forces):
    """
    Change velocities, or the like, to what ties ask for: J x = target, by their forces.

    Of all changes that do so it is the one of least energy. Ties that hold the same direction
    share it. Needs the factors of the inertia matrix.

    :param target: Shape (number of ties,).
    :param x: Changed in place, shape (nv,).
    :param forces: Result: what each tie has done, shape (number of ties,).
    """
    n, followers = block[N_LOOPS], followers_of(block)
    loops = array_at(block[LOOPS_AT], n, LOOP)
    responses = array_at(block[TIE_RESPONSES_AT], (n, x.size), np.float64)
    A = array_at(block[TIE_MATRIX_AT], (n, n), np.float64)
    least, left = vectors_of(block)[0], vectors_of(block)[1]
    for k in range(n):
        forces[k] = 0.0
        for v in range(x.size):
            responses[k, v] = J[k, v]
        solve_factored(coupled_of(block), responses[k])
        for i in range(k + 1):
            A[k, i] = rate(J, i, responses[k])
        A[k, k] += SOFTNESS * loops[k].R
    factor(A, least)
    for _ in range(REFINEMENTS):
        for k in range(n):
            left[k] = target[k] - rate(J, k, x)
        solve_factored(A, left)
        for k in range(n):
            forces[k] += left[k]
            for v in range(x.size):
                x[v] += left[k] * responses[k, v]
    expand_velocities(followers, x)


@exact
def add_hinge_forces(block, qd, tau):
    """
    Add what dampers and springs of closing joints do; leaves their rows, after those of ties.

    Needs the bodies' poses.

    :param tau: Joint forces, added to in place, shape (nv,).
    """
    n, rows, J = block[N_LOOPS], rows_of(block), jacobian_of(block)
    hinges = array_at(block[HINGES_AT], block[N_HINGES], HINGE)
    for h in range(hinges.size):
        hinge, k = hinges[h], n + h
        stretch = put_hinge(rows[k], hinge, work_of(block)) - hinge.rest
        fill_row(tree_of(block), work_of(block), followers_of(block), rows[k], J[k])
        force = -hinge.stiffness * stretch - hinge.damping * rate(J, k, qd)
        rows[k].impulse = force * array_at(block[OPTIONS_AT], 1, OPTIONS)[0].dt
        for v in range(tau.size):
            tau[v] += force * J[k, v]


@exact
def hold_together(block, qdd):
    """
    Let accelerations keep the loops closed; leaves the rows with what they do in a step.

    Needs what ``find_ties`` does, and the factors of the inertia matrix.

    :param qdd: Accelerations that there would be without loops, changed in place, shape (nv,).
    """
    n, J, vectors = block[N_LOOPS], jacobian_of(block), vectors_of(block)
    gaps, target, forces = vectors[2], vectors[3], vectors[4]
    find_ties(block, J, gaps, target)
    for k in range(n):
        target[k] = -target[k]
    tighten(block, J, target, qdd, forces)
    rows = rows_of(block)
    for k in range(n):
        rows[k].impulse = forces[k] * array_at(block[OPTIONS_AT], 1, OPTIONS)[0].dt


@exact
def put_together(block, q, qd):
    """
    Let velocities that a user wrote keep the loops closed, as a blow would.

    :returns: Whether the loops are closed; more than drift is left as it is.
    """
    n, J, vectors = block[N_LOOPS], jacobian_of(block), vectors_of(block)
    gaps, target, forces = vectors[2], vectors[3], vectors[4]
    move_bodies(block, q, qd, zero_of(block))
    find_ties(block, J, gaps, target)
    parting = 0.0
    for k in range(n):
        target[k] = 0.0
        parting = max(parting, abs(rate(J, k, qd)))
    if parting > PARTING * largest(qd):
        factor_inertia(block, zero_of(block))
        tighten(block, J, target, qd, forces)
    return largest(gaps) <= OPEN


@exact
def take_back_drift(block, q, qd, moved, change):
    """
    Close loops that a step has opened, by moves of least energy, and stop their opening.

    :param moved: Scratch, shape (nq,).
    :param change: Scratch, shape (nv,).
    :returns: Whether they are closed then.
    """
    n, J, vectors = block[N_LOOPS], jacobian_of(block), vectors_of(block)
    gaps, target, forces = vectors[2], vectors[3], vectors[4]
    for step in range(NEWTON_STEPS):
        move_bodies(block, q, qd, zero_of(block))
        find_ties(block, J, gaps, target)
        factor_inertia(block, zero_of(block))
        if largest(gaps) <= CLOSED or step == NEWTON_STEPS - 1:
            break
        for k in range(n):
            target[k] = -gaps[k]
        for v in range(qd.size):
            change[v] = 0.0
        tighten(block, J, target, change, forces)
        turn_and_slide(tree_of(block), followers_of(block), q, change, 1.0, moved)
        for j in range(q.size):
            q[j] = moved[j]
    for k in range(n):
        target[k] = 0.0
    tighten(block, J, target, qd, forces)
    return largest(gaps) <= LOOSE
