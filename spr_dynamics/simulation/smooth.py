"""Steps of a higher order, for models in which nothing can touch."""
import numba
import numpy as np

from spr_dynamics.contact.records import OPTIONS
from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import are_finite, are_moderate, BAD, OK
from spr_dynamics.dynamics.coupled import (
    accelerations_by_elimination, expand_positions, find_accelerations)
from spr_dynamics.dynamics.work import drives_of, followers_of, NQ, NV, tree_of, zero_of
from spr_dynamics.jit import ADDRESSES, array_at, entry_point, kernel, VECTOR
from spr_dynamics.simulation.buffers import (
    ACCELERATION, CHANGE_AT, COMMAND, COUNTERS_AT, DIAGONAL, INTEGRATOR, N_HINGES, N_LOOPS,
    OPTIONS_AT, Q_AT, QD_AT, QDD_AT, RK4, ROWS, ROWS_AT, STAGES, STAGES_AT, TAU)
from spr_dynamics.simulation.integrate import (
    add_passive_forces, normalise, position_rates, turn_and_slide, turn_back)
from spr_dynamics.simulation.loops import (
    add_hinge_forces, hold_together, largest, put_together, take_back_drift)
from spr_dynamics.simulation.motion import motion_is_sensed, sense_motion
from spr_dynamics.simulation.state import COUNTERS, STEPS
from spr_dynamics.simulation.step import DIVERGED, keep_command, take_command

UNSETTLED, PARTED = 3, 4
SETTLED = 1e-12  # change of velocity, relative, at which the implicit midpoint is found
STILL = 1e-13  # change of a position in a step, relative, below which what no longer falls is
# round-off: near rest, that of forces in balance is larger than SETTLED of the speed
ITERATIONS = 100
MOVING = 1e150  # [rad/s] or [m/s] beyond which squares are no numbers


@kernel
def accelerate(block, q, qd, command, tau, diagonal, qdd):
    """Compute the accelerations of a state, dampers and springs at their present forces."""
    move_bodies(block, q, qd, zero_of(block))
    add_passive_forces(drives_of(block), zero_of(block), q, qd, command, 0.0, tau, diagonal)
    if block[N_LOOPS] == 0:
        find_accelerations(block, tau, diagonal, qdd)
    else:
        add_hinge_forces(block, qd, tau)
        accelerations_by_elimination(block, tau, diagonal, qdd)
        hold_together(block, qdd)


@kernel
def rk4_step(block, q, qd, command, dt, tau, diagonal, qdd, stages):
    """
    Replace a state by the one after a step of the classical Runge-Kutta rule, of fourth order.

    :param qdd: Scratch, shape (nv,).
    :param stages: Scratch, shape (STAGES, nq + nv).
    """
    nq = q.size
    tree, followers = tree_of(block), followers_of(block)
    q_start, qd_start = stages[0, :nq], stages[0, nq:]
    q_sum, qd_sum = stages[1, :nq], stages[1, nq:]
    rates = stages[2, :nq]
    for j in range(nq):
        q_start[j], q_sum[j] = q[j], 0.0
    for k in range(qd.size):
        qd_start[k], qd_sum[k] = qd[k], 0.0
    for stage in range(4):
        accelerate(block, q, qd, command, tau, diagonal, qdd)
        position_rates(tree, q, qd, rates)
        weight = dt / 6.0 if stage == 0 or stage == 3 else dt / 3.0
        reach = 0.5 * dt if stage < 2 else dt
        for j in range(nq):
            q_sum[j] += weight * rates[j]
            q[j] = q_start[j] + (reach * rates[j] if stage < 3 else q_sum[j])
        for k in range(qd.size):
            qd_sum[k] += weight * qdd[k]
            qd[k] = qd_start[k] + (reach * qdd[k] if stage < 3 else qd_sum[k])
        normalise(tree, q)
        expand_positions(followers, q)


@kernel
def midpoint_step(block, q, qd, command, dt, tau, diagonal, qdd, stages):
    """
    Replace a state by the one after a step of the implicit midpoint rule, of second order.

    It is its own mirror image in time. Spins of free bodies have their mean in the body's axes.
    The middle is found by repeating: dt has to be shorter than the stiffest spring's period.

    :returns: Whether the middle was found; the state is not changed otherwise.
    """
    nq = q.size
    tree, followers = tree_of(block), followers_of(block)
    q_middle, qd_middle, rates = stages[0, :nq], stages[0, nq:], stages[1, nq:]
    for k in range(qd.size):
        qd_middle[k] = qd[k]
    least, reach = np.inf, max(1.0, largest(q))
    for _ in range(ITERATIONS):
        turn_and_slide(tree, followers, q, qd_middle, 0.5 * dt, q_middle)
        accelerate(block, q_middle, qd_middle, command, tau, diagonal, qdd)
        turn_back(tree, qd_middle, qdd, -0.5 * dt, rates)
        change, size = 0.0, 0.0
        for k in range(qd.size):
            v = qd[k] + 0.5 * dt * rates[k]
            change = max(change, abs(v - qd_middle[k]))
            size = max(size, abs(v))
            qd_middle[k] = v
        if not size < MOVING:
            return False
        stalled = change >= least and change * dt <= STILL * reach
        if change <= SETTLED * size or stalled:
            turn_and_slide(tree, followers, q, qd_middle, dt, q_middle)
            for j in range(nq):
                q[j] = q_middle[j]
            for k in range(qd.size):
                rates[k] = 2.0 * qd_middle[k] - qd[k]
            turn_back(tree, qd_middle, rates, dt, qd)
            return True
        least = min(least, change)
    return False


@kernel
def smooth_step(block):
    """
    Take a step of a higher order, in which nothing touches.

    :returns: OK, DIVERGED, UNSETTLED or PARTED; the state is not changed unless OK.
    """
    nq, nv = block[NQ], block[NV]
    q, qd = array_at(block[Q_AT], nq, np.float64), array_at(block[QD_AT], nv, np.float64)
    qdd = array_at(block[QDD_AT], nv, np.float64)
    change = array_at(block[CHANGE_AT], nv, np.float64)
    x = array_at(block[ROWS_AT], (ROWS, nv), np.float64)
    counters = array_at(block[COUNTERS_AT], COUNTERS, np.int64)
    stages = array_at(block[STAGES_AT], (STAGES, nq + nv), np.float64)
    options = array_at(block[OPTIONS_AT], 1, OPTIONS)
    dt = options[0].dt
    q_new, qd_new = stages[STAGES - 1, :nq], stages[STAGES - 1, nq:]
    qd_start = stages[STAGES - 2, nq:]  # what a user wrote, struck into line
    for j in range(nq):
        q_new[j] = q[j]
    for k in range(nv):
        qd_new[k] = qd[k]
    settled, closed, has_loops = True, True, block[N_LOOPS] > 0
    if has_loops and not put_together(block, q_new, qd_new):
        return PARTED
    for k in range(nv):
        qd_start[k] = qd_new[k]
    if block[INTEGRATOR] == RK4:
        rk4_step(block, q_new, qd_new, x[COMMAND], dt, x[TAU], x[DIAGONAL], x[ACCELERATION],
                 stages)
    else:
        settled = midpoint_step(block, q_new, qd_new, x[COMMAND], dt, x[TAU], x[DIAGONAL],
                                x[ACCELERATION], stages)
    if has_loops and settled:
        closed = take_back_drift(block, q_new, qd_new, stages[0, :nq], stages[0, nq:])
    if not (are_finite(q_new) and are_moderate(qd_new)):
        return DIVERGED
    if not settled:
        return UNSETTLED
    if not closed:
        return PARTED
    if motion_is_sensed(block, counters[STEPS]):
        accelerate(block, q, qd_start, x[COMMAND], x[TAU], x[DIAGONAL], x[ACCELERATION])
        sense_motion(block, qd_start, x[ACCELERATION], x[TAU], 0, block[N_LOOPS] + block[N_HINGES],
                     counters[STEPS], dt)
    for j in range(nq):
        q[j] = q_new[j]
    for k in range(nv):
        change[k] = qd_new[k] - qd[k]
        qdd[k] = change[k] / dt
        qd[k] = qd_new[k]
    counters[STEPS] += 1
    return OK


@entry_point(ADDRESSES, VECTOR, numba.int64)
def step_smoothly(block, tau, n):
    """
    Take n steps of a higher order: ``step_many`` for models in which nothing can touch.

    :returns: UNSETTLED, too, if a step found no middle, and PARTED if a closed loop is open or a
        step could not keep it closed: the state is the one that step started from.
    """
    if not take_command(block, tau):
        return BAD
    for _ in range(n):
        status = smooth_step(block)
        if status != OK:
            return status
    if n > 0:
        keep_command(block)
    return OK
