"""Steps of a higher order, for models in which nothing can touch."""
import numba
import numpy as np

from spr_dynamics.contact.records import OPTIONS
from spr_dynamics.dynamics.check import are_finite, are_moderate, BAD, OK
from spr_dynamics.dynamics.work import NQ, NV
from spr_dynamics.jit import ADDRESSES, array_at, entry_point, kernel, VECTOR
from spr_dynamics.simulation.buffers import (
    ACCELERATION, CHANGE_AT, COMMAND, COUNTERS_AT, DIAGONAL, INTEGRATOR, OPTIONS_AT, Q_AT, QD_AT,
    QDD_AT, RK4, ROWS, ROWS_AT, STAGES, STAGES_AT, TAU)
from spr_dynamics.simulation.integrate import accelerate, midpoint_step, rk4_step
from spr_dynamics.simulation.motion import motion_is_sensed, sense_motion
from spr_dynamics.simulation.state import COUNTERS, STEPS
from spr_dynamics.simulation.step import DIVERGED, keep_command, take_command

UNSETTLED = 3


@kernel
def smooth_step(block):
    """
    Take a step of a higher order, in which nothing touches.

    :returns: OK, DIVERGED or UNSETTLED; the state is not changed unless OK.
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
    for j in range(nq):
        q_new[j] = q[j]
    for k in range(nv):
        qd_new[k] = qd[k]
    settled = True
    if block[INTEGRATOR] == RK4:
        rk4_step(block, q_new, qd_new, x[COMMAND], dt, x[TAU], x[DIAGONAL], x[ACCELERATION],
                 stages)
    else:
        settled = midpoint_step(block, q_new, qd_new, x[COMMAND], dt, x[TAU], x[DIAGONAL],
                                x[ACCELERATION], stages)
    if not (are_finite(q_new) and are_moderate(qd_new)):
        return DIVERGED
    if not settled:
        return UNSETTLED
    if motion_is_sensed(block, counters[STEPS]):
        accelerate(block, q, qd, x[COMMAND], x[TAU], x[DIAGONAL], x[ACCELERATION])
        sense_motion(block, qd, x[ACCELERATION], x[TAU], 0, 0, counters[STEPS], dt)
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

    :returns: UNSETTLED, too, if a step found no middle: the state is the one it started from.
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
