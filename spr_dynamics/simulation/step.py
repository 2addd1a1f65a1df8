"""One simulated step, and n of them in a single compiled call."""
import numba
import numpy as np

from spr_dynamics.contact.detect import find_contacts
from spr_dynamics.contact.geometry import GEOMETRY_SIZE
from spr_dynamics.contact.jacobian import fill_jacobians
from spr_dynamics.contact.records import CONTACT, OPTIONS
from spr_dynamics.contact.solve import RENEWALS, solve_contacts
from spr_dynamics.dynamics.bias import motions
from spr_dynamics.dynamics.check import (
    are_finite, are_moderate, BAD, is_position, is_vector, OK)
from spr_dynamics.dynamics.coupled import (
    expand_positions, expand_velocities, find_accelerations, reduce_matrix)
from spr_dynamics.dynamics.crba import composite_inertias, inertia_matrix
from spr_dynamics.dynamics.gyroscopic import take_gyroscopic_torque_at_the_end
from spr_dynamics.dynamics.kinematics import place, turn_inertias
from spr_dynamics.dynamics.work import (
    drives_of, followers_of, gravity_of, NQ, NV, tree_of, trig_of, work_of, zero_of)
from spr_dynamics.jit import ADDRESSES, array_at, entry_point, exact, kernel, VECTOR, woven
from spr_dynamics.model.records import FREE
from spr_dynamics.sensors.measure import read_sensors, READING, SENSOR
from spr_dynamics.simulation.buffers import (
    ACCELERATION, COMMAND, COUNTERS_AT, DIAGONAL, EULER, FELT_AT, FOUND_AT, FREE_VELOCITY,
    GEOMETRY_AT, INTEGRATOR, J_AT, KEPT_AT, LAG_AT, MATRICES_AT, N_CONTACTS, N_MATRIX, N_SENSORS,
    N_SHAPES, NUMBERS_AT, OPTIONS_AT, READINGS_AT, RK4, ROWS, ROWS_AT, SENSORS_AT, STAGES,
    STAGES_AT, SUPPORT_AT, TAU, VELOCITY, WATCHED_AT)
from spr_dynamics.simulation.integrate import (
    add_passive_forces, midpoint_step, move, rk4_step)
from spr_dynamics.simulation.state import CONTACTS, ITERATIONS, LAGGED, STEPS, UNSOLVED

DIVERGED, UNSETTLED = 2, 3


@kernel
def clamp_efforts(drives, tau, command):
    """Limit each effort to what its actuator gives."""
    for k in range(tau.size):
        command[k] = tau[k]
    for a in range(drives.size):
        k, limit = drives[a].v, drives[a].effort_limit
        command[k] = min(max(tau[k], -limit), limit)


@kernel
def has_free_body(tree):
    """Say whether any body is held by nothing."""
    for i in range(1, tree.size):
        if tree[i].joint == FREE:
            return True
    return False


@woven
def free_velocities(block, q, qd, dt, x, is_free):
    """
    Compute the velocities that the step would end with if nothing touched.

    :param is_free: Whether any body is held by nothing; the composite inertias are made then.
    """
    tree, work = tree_of(block), work_of(block)
    lag = array_at(block[LAG_AT], block[NV], np.float64)
    turn_inertias(tree, work)
    motions(tree, work, gravity_of(block), qd, zero_of(block))
    add_passive_forces(drives_of(block), lag, q, qd, x[COMMAND], dt, x[TAU], x[DIAGONAL])
    find_accelerations(block, x[TAU], x[DIAGONAL], x[ACCELERATION])
    for k in range(qd.size):
        x[FREE_VELOCITY, k] = qd[k] + dt * x[ACCELERATION, k]
    if is_free:
        composite_inertias(tree, work)
        take_gyroscopic_torque_at_the_end(tree, work, qd, x[FREE_VELOCITY], dt)
    for k in range(qd.size):
        x[VELOCITY, k] = x[FREE_VELOCITY, k]


@exact
def contact_velocities(block, contacts, count, x, qd, change, options):
    """
    Replace the free velocities by those that contacts allow; needs the composite inertias.

    :returns: Iterations taken, and whether the problem was solved.
    """
    nv, n_contacts = block[NV], block[N_CONTACTS]
    followers = followers_of(block)
    matrices = array_at(block[MATRICES_AT], (2, block[N_MATRIX], block[N_MATRIX]), np.float64)
    J = array_at(block[J_AT], (n_contacts, 3, nv), np.float64)
    support = array_at(block[SUPPORT_AT], (n_contacts, nv), np.int64)
    A, H = matrices[0], matrices[1]
    inertia_matrix(block, A)
    for k in range(nv):
        A[k, k] += x[DIAGONAL, k]
        x[VELOCITY, k] = qd[k] + change[k]
    reduce_matrix(followers, A)
    for f in range(followers.size):
        x[FREE_VELOCITY, followers[f].v] = x[VELOCITY, followers[f].v] = 0.0
    fill_jacobians(tree_of(block), work_of(block), followers, contacts, count, J, support)
    iterations, solved = solve_contacts(contacts, count, J, support, A, H, x, options)
    expand_velocities(followers, x[VELOCITY])
    for c in range(count):
        contact = contacts[c]
        p = contact.impulse
        for axis in range(3):
            contact.force[axis] = (p[0] * contact.n[axis] + p[1] * contact.t1[axis]
                                   + p[2] * contact.t2[axis]) / options[0].dt
    return iterations, solved


@woven
def euler_step(block, q, qd, qdd, change, counters, x, is_free):
    """
    Take a step of first order, contacts included; only the last lines change the state.

    :returns: OK, or DIVERGED.
    """
    tree, work = tree_of(block), work_of(block)
    geometry = array_at(block[GEOMETRY_AT], GEOMETRY_SIZE, np.int64)
    options = array_at(block[OPTIONS_AT], 1, OPTIONS)
    kept = array_at(block[KEPT_AT], block[N_CONTACTS], CONTACT)
    found = array_at(block[FOUND_AT], block[N_CONTACTS], CONTACT)
    lag = array_at(block[LAG_AT], block[NV], np.float64)
    felt = array_at(block[FELT_AT], (2, block[N_CONTACTS], 3), np.float64)
    dt = options[0].dt
    place(tree, work, trig_of(block), q)
    free_velocities(block, q, qd, dt, x, is_free)
    if not are_moderate(x[VELOCITY]):
        return DIVERGED
    count, _ = find_contacts(geometry, work, options, found)
    iterations, solved = 0, True
    if count > 0:
        if not is_free:
            composite_inertias(tree, work)
        iterations, solved = contact_velocities(block, found, count, x, qd, change, options)
        if not are_moderate(x[VELOCITY]):
            return DIVERGED

    # from here on nothing can fail: the step counts
    read_sensors(array_at(block[SENSORS_AT], block[N_SENSORS], SENSOR),
                 array_at(block[WATCHED_AT], (block[N_SENSORS], block[N_SHAPES]), np.bool_),
                 work, found, count, counters[STEPS], felt[0], felt[1],
                 array_at(block[READINGS_AT], block[N_SENSORS], READING))
    for c in range(count):
        kept[c] = found[c]
    counters[CONTACTS], counters[ITERATIONS] = count, iterations
    counters[LAGGED] += solved and iterations > RENEWALS
    counters[UNSOLVED] += not solved
    for k in range(qd.size):
        change[k] = x[VELOCITY, k] - qd[k]
        qdd[k] = change[k] / dt
        qd[k] = x[VELOCITY, k]
    move(tree, work, drives_of(block), followers_of(block), lag, q, qd, change, dt)
    return OK


@woven
def smooth_step(block, q, qd, qdd, change, x):
    """
    Take a step of a higher order, in which nothing touches.

    :returns: OK, DIVERGED or UNSETTLED; the state is not changed unless OK.
    """
    nq, nv = q.size, qd.size
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
    for j in range(nq):
        q[j] = q_new[j]
    for k in range(nv):
        change[k] = qd_new[k] - qd[k]
        qdd[k] = change[k] / dt
        qd[k] = qd_new[k]
    return OK


@entry_point(ADDRESSES, VECTOR, numba.int64)
def step_many(block, tau, n):
    """
    Take n steps.

    :param block: A simulation's: it names all that a step reads and writes.
    :param tau: Efforts, shape (nv,), held over the steps.
    :returns: OK; BAD if the command, or what a user wrote into the state, is no good; DIVERGED
        if a step gave numbers that are not finite, UNSETTLED if it found no middle: the state is
        the one that it started from.
    """
    tree, followers = tree_of(block), followers_of(block)
    nq, nv = block[NQ], block[NV]
    numbers = array_at(block[NUMBERS_AT], nq + 4 * nv + 3, np.float64)
    counters = array_at(block[COUNTERS_AT], UNSOLVED + 1, np.int64)
    x = array_at(block[ROWS_AT], (ROWS, nv), np.float64)
    q, qd, qdd = numbers[:nq], numbers[nq:nq + nv], numbers[nq + nv:nq + 2 * nv]
    effort, change = numbers[nq + 2 * nv:nq + 3 * nv], numbers[nq + 3 * nv:nq + 4 * nv]
    if not (is_position(tree, q, nq) and are_finite(qd) and is_vector(tau, nv)):
        return BAD
    clamp_efforts(drives_of(block), tau, x[COMMAND])
    expand_positions(followers, q)
    expand_velocities(followers, qd)
    is_free = has_free_body(tree)
    for _ in range(n):
        if block[INTEGRATOR] == EULER:
            status = euler_step(block, q, qd, qdd, change, counters, x, is_free)
        else:
            status = smooth_step(block, q, qd, qdd, change, x)
        if status != OK:
            return status
        counters[STEPS] += 1
    if n > 0:
        for k in range(nv):
            effort[k] = x[COMMAND, k]
    return OK
