"""One simulated step, and n of them in a single compiled call."""
import numba
import numpy as np

from spr_dynamics.contact.anchors import recall_anchors
from spr_dynamics.contact.cones import find_cone_rows
from spr_dynamics.contact.geometry import GEOMETRY_SIZE
from spr_dynamics.contact.joints import are_idle, find_joint_rows
from spr_dynamics.contact.loops import find_hinge_rows, find_loop_rows
from spr_dynamics.contact.records import (
    CONE, CONTACT, ENDINGS, JOINT, LAGGED, LOOP, OPTIONS, ROW, UNSOLVED)
from spr_dynamics.contact.turning import find_turning_rows
from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import (
    are_moderate, BAD, is_position, is_vector, OK)
from spr_dynamics.dynamics.coupled import (
    expand_positions, expand_velocities, find_accelerations)
from spr_dynamics.dynamics.crba import composite_inertias
from spr_dynamics.dynamics.gyroscopic import take_gyroscopic_torque_in_the_middle
from spr_dynamics.dynamics.work import (
    drives_of, followers_of, NQ, NV, tree_of, work_of, zero_of)
from spr_dynamics.jit import ADDRESSES, array_at, call_at, entry_point, kernel, VECTOR
from spr_dynamics.model.records import AXIS, HINGE
from spr_dynamics.simulation.buffers import (
    ACCELERATION, CHANGE_AT, COMMAND, CONES_AT, CONSTRAIN_AT, COUNTERS_AT, DIAGONAL, EFFORT_AT,
    FEEL_CONTACTS_AT, FEEL_MOTION_AT, FOUND_AT, FREE_VELOCITY, GEOMETRY_AT, HINGES_AT, JOINTS_AT,
    KEPT_AT, LAG_AT, LIMITS_AT, LOOPS_AT, N_CONES, N_CONTACTS, N_HINGES, N_JOINTS, N_LIMITS,
    N_LOOPS, OPTIONS_AT, Q_AT, QD_AT, QDD_AT, ROWS, ROWS_AT, TAU, VELOCITY)
from spr_dynamics.simulation.integrate import add_passive_forces, move
from spr_dynamics.simulation.search import find_contacts
from spr_dynamics.simulation.state import (
    CONTACTS, COUNTERS, DROPPED, ITERATIONS, LAGGED_STEPS, STEPS, UNSOLVED_STEPS)

DIVERGED = 2


@kernel
def clamp_efforts(drives, tau, command):
    """Limit each effort to what its actuator gives."""
    for k in range(tau.size):
        command[k] = tau[k]
    for a in range(drives.size):
        k, limit = drives[a].v, drives[a].effort_limit
        command[k] = min(max(tau[k], -limit), limit)


@kernel
def has_spin(tree):
    """Say whether any body turns about more than an axis."""
    for i in range(1, tree.size):
        if tree[i].joint != AXIS:
            return True
    return False


@kernel
def free_velocities(block, q, qd, dt, x, has_spins):
    """
    Compute the velocities that the step would end with if nothing touched.

    :param has_spins: Whether any is free or on a ball; the composite inertias are made then.
    """
    tree, work = tree_of(block), work_of(block)
    lag = array_at(block[LAG_AT], block[NV], np.float64)
    move_bodies(block, q, qd, zero_of(block))
    add_passive_forces(drives_of(block), lag, q, qd, x[COMMAND], dt, x[TAU], x[DIAGONAL])
    find_accelerations(block, x[TAU], x[DIAGONAL], x[ACCELERATION])
    for k in range(qd.size):
        x[FREE_VELOCITY, k] = qd[k] + dt * x[ACCELERATION, k]
    if has_spins:
        composite_inertias(tree, work)
        take_gyroscopic_torque_in_the_middle(tree, work, qd, x[FREE_VELOCITY], dt)
    for k in range(qd.size):
        x[VELOCITY, k] = x[FREE_VELOCITY, k]


@kernel
def euler_step(block, has_spins):
    """
    Take a step of first order, contacts included; only the last lines change the state.

    :returns: OK, or DIVERGED.
    """
    tree, work = tree_of(block), work_of(block)
    geometry = array_at(block[GEOMETRY_AT], GEOMETRY_SIZE, np.int64)
    joints = array_at(block[JOINTS_AT], block[N_JOINTS], JOINT)
    cones = array_at(block[CONES_AT], block[N_CONES], CONE)
    loops = array_at(block[LOOPS_AT], block[N_LOOPS], LOOP)
    hinges = array_at(block[HINGES_AT], block[N_HINGES], HINGE)
    rows = array_at(block[LIMITS_AT], block[N_LIMITS], ROW)
    options = array_at(block[OPTIONS_AT], 1, OPTIONS)
    kept = array_at(block[KEPT_AT], block[N_CONTACTS], CONTACT)
    found = array_at(block[FOUND_AT], block[N_CONTACTS], CONTACT)
    lag = array_at(block[LAG_AT], block[NV], np.float64)
    nv, dt = block[NV], options[0].dt
    q, qd = array_at(block[Q_AT], block[NQ], np.float64), array_at(block[QD_AT], nv, np.float64)
    qdd = array_at(block[QDD_AT], nv, np.float64)
    change = array_at(block[CHANGE_AT], nv, np.float64)
    x = array_at(block[ROWS_AT], (ROWS, nv), np.float64)
    counters = array_at(block[COUNTERS_AT], COUNTERS, np.int64)
    free_velocities(block, q, qd, dt, x, has_spins)
    if not are_moderate(x[VELOCITY]):
        return DIVERGED
    count, dropped = find_contacts(block, block[FOUND_AT], block[N_CONTACTS])
    recall_anchors(geometry, work, kept, counters[CONTACTS], found, count, dt)
    n_rows = find_joint_rows(joints, q, qd, x[FREE_VELOCITY], dt, rows)
    n_rows = find_cone_rows(cones, work, q, qd, x[FREE_VELOCITY], dt, rows, n_rows)
    n_rows = find_loop_rows(loops, work, dt, rows, n_rows)
    n_rows = find_hinge_rows(hinges, work, dt, rows, n_rows)
    n_rows = find_turning_rows(geometry, work, found, count, rows, n_rows)
    if count == 0 and are_idle(rows, n_rows):
        n_rows = 0
    ended = 0
    if count + n_rows > 0:
        if not has_spins:
            composite_inertias(tree, work)
        ended = call_at(block[CONSTRAIN_AT], (block.ctypes.data, count, n_rows))
        if not are_moderate(x[VELOCITY]):
            return DIVERGED

    # from here on nothing can fail: the step counts
    if block[FEEL_CONTACTS_AT] != 0:
        call_at(block[FEEL_CONTACTS_AT], (block.ctypes.data, count))
    if block[FEEL_MOTION_AT] != 0:
        call_at(block[FEEL_MOTION_AT], (block.ctypes.data, count, n_rows))
    for c in range(count):
        kept[c] = found[c]
    counters[CONTACTS], counters[ITERATIONS] = count, ended // ENDINGS
    counters[LAGGED_STEPS] += ended % ENDINGS == LAGGED
    counters[UNSOLVED_STEPS] += ended % ENDINGS == UNSOLVED
    counters[DROPPED] += dropped
    for k in range(qd.size):
        change[k] = x[VELOCITY, k] - qd[k]
        qdd[k] = qd[k]
        qd[k] = x[VELOCITY, k]
    move(tree, work, drives_of(block), followers_of(block), lag, q, qd, change, dt)
    for k in range(qd.size):
        qdd[k] = (qd[k] - qdd[k]) / dt
    counters[STEPS] += 1
    return OK


@kernel
def take_command(block, tau):
    """
    Make the command and what a user wrote into the state ready for steps.

    :returns: Whether they are any good; nothing has changed if not.
    """
    tree, followers, nq, nv = tree_of(block), followers_of(block), block[NQ], block[NV]
    q, qd = array_at(block[Q_AT], nq, np.float64), array_at(block[QD_AT], nv, np.float64)
    if not (is_position(tree, q, nq) and are_moderate(qd) and is_vector(tau, nv)):
        return False
    x = array_at(block[ROWS_AT], (ROWS, nv), np.float64)
    clamp_efforts(drives_of(block), tau, x[COMMAND])
    expand_positions(followers, q)
    expand_velocities(followers, qd)
    return True


@kernel
def keep_command(block):
    """Let the state tell the efforts of the last step."""
    x = array_at(block[ROWS_AT], (ROWS, block[NV]), np.float64)
    effort = array_at(block[EFFORT_AT], block[NV], np.float64)
    for k in range(effort.size):
        effort[k] = x[COMMAND, k]


@entry_point(ADDRESSES, VECTOR, numba.int64)
def step_many(block, tau, n):
    """
    Take n steps of first order.

    :param block: A simulation's: it names all that a step reads and writes.
    :param tau: Efforts, shape (nv,), held over the steps.
    :returns: OK; BAD if the command, or what a user wrote into the state, is no good; DIVERGED
        if a step gave numbers that are not finite: the state is the one that it started from.
    """
    if not take_command(block, tau):
        return BAD
    has_spins = has_spin(tree_of(block))
    for _ in range(n):
        status = euler_step(block, has_spins)
        if status != OK:
            return status
    if n > 0:
        keep_command(block)
    return OK
