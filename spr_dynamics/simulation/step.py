"""One simulated step, and n of them in a single compiled call."""
import numba

from spr_dynamics.contact.detect import find_contacts
from spr_dynamics.contact.jacobian import fill_jacobians
from spr_dynamics.contact.records import CONTACT, OPTIONS, PAIR
from spr_dynamics.contact.solve import RENEWALS, solve_contacts
from spr_dynamics.dynamics.aba import accelerations, velocities_and_bias
from spr_dynamics.dynamics.check import are_finite, BAD, is_position, is_vector, OK
from spr_dynamics.dynamics.crba import inertia_matrix
from spr_dynamics.dynamics.kinematics import poses, transforms, TREE_RECORDS
from spr_dynamics.dynamics.work import WORK_RECORDS
from spr_dynamics.jit import (
    CUBE, entry_point, exact, kernel, MATRIX, read_records, records, VECTOR)
from spr_dynamics.model.records import FREE, SHAPE
from spr_dynamics.sensors.measure import read_sensors, READING, SENSOR
from spr_dynamics.simulation.state import CONTACTS, DUE, ITERATIONS, LAGGED, STEPS
from spr_dynamics.spatial import add, as_vector, put_vector, scale, turn_quaternion

DIVERGED = 2
FREE_VELOCITY, VELOCITY = 0, 1  # rows of the solver's vectors; five more are its scratch
TAU, DIAGONAL, ACCELERATION, ROWS = 7, 8, 9, 10  # rows that the step adds to them


@kernel
def clamp_efforts(tree, tau, effort):
    """Limit each command to what its actuator gives."""
    for k in range(tau.size):
        effort[k] = tau[k]
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint != FREE:
            effort[body.v] = min(max(tau[body.v], -body.effort_limit), body.effort_limit)


@kernel
def add_passive_forces(tree, q, qd, effort, dt, tau, diagonal):
    """
    Add dampers and springs, at the end of the step rather than its start.

    With f = -d qd' - k (q' - rest), qd' = qd + dt qdd and q' = q + dt qd', the part that qdd
    multiplies goes to the diagonal of the inertia, which keeps stiff joints stable.
    """
    for k in range(effort.size):
        tau[k], diagonal[k] = effort[k], 0.0
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint != FREE:
            k, d, stiffness = body.v, body.damping, body.stiffness
            stretch = q[body.q] + dt * qd[k] - body.rest
            tau[k] -= d * qd[k] + stiffness * stretch
            diagonal[k] = dt * (d + dt * stiffness)


@kernel
def integrate(tree, q, qd, dt):
    """Move the positions by the velocities; orientations by the exponential map."""
    for i in range(1, tree.size):
        body = tree[i]
        j, k = body.q, body.v
        if body.joint == FREE:
            put_vector(q, j, add(as_vector(q, j), scale(as_vector(qd, k), dt)))
            q[j + 3], q[j + 4], q[j + 5], q[j + 6] = turn_quaternion(
                q[j + 3], q[j + 4], q[j + 5], q[j + 6], scale(as_vector(qd, k + 3), dt))
        else:
            q[j] += dt * qd[k]


@exact
def contact_velocities(tree, work, contacts, count, J, support, matrices, x, qd, change, options):
    """Replace the free velocity by the one that contacts allow; returns the iterations taken."""
    A, H = matrices[0], matrices[1]
    inertia_matrix(tree, work, A)
    for k in range(qd.size):
        A[k, k] += x[DIAGONAL, k]
        x[VELOCITY, k] = qd[k] + change[k]
    fill_jacobians(tree, work, contacts, count, J, support)
    iterations = solve_contacts(contacts, count, J, support, A, H, x, options)
    dt = options[0].dt
    for c in range(count):
        contact = contacts[c]
        p = contact.impulse
        for axis in range(3):
            contact.force[axis] = (p[0] * contact.n[axis] + p[1] * contact.t1[axis]
                                   + p[2] * contact.t2[axis]) / dt
    return iterations


@entry_point(TREE_RECORDS, read_records(SHAPE), read_records(PAIR), records(SENSOR),
             numba.boolean[:, ::1], records(OPTIONS), WORK_RECORDS, MATRIX, VECTOR, VECTOR,
             numba.int64[::1], records(READING), records(CONTACT), CUBE, numba.int64[:, ::1],
             CUBE, MATRIX, CUBE)
def step_many(tree, shapes, pairs, sensors, watched, options, work, trig, tau, numbers, counters,
              readings, contacts, J, support, matrices, x, felt):
    """
    Take the ``counters[DUE]`` steps that are due.

    :param numbers: The doubles of a ``State``; the other arguments are a ``Simulation``'s.
    :returns: OK; BAD if the command, or what a user wrote into the state, is no good; DIVERGED
        if a step gave numbers that are not finite, with the state that it started from.
    """
    nq, nv = trig.shape[1], x.shape[1]
    q, qd, qdd = numbers[:nq], numbers[nq:nq + nv], numbers[nq + nv:nq + 2 * nv]
    effort, change = numbers[nq + 2 * nv:nq + 3 * nv], numbers[nq + 3 * nv:nq + 4 * nv]
    gravity = numbers[nq + 4 * nv:]
    due, counters[DUE] = counters[DUE], 0
    if not (is_position(tree, q, nq) and are_finite(qd) and is_vector(tau, nv)):
        return BAD
    dt = options[0].dt
    clamp_efforts(tree, tau, effort)
    for _ in range(due):
        transforms(tree, work, trig, q)
        if pairs.size > 0 or sensors.size > 0:
            poses(tree, work)
        velocities_and_bias(tree, work, gravity, qd)
        add_passive_forces(tree, q, qd, effort, dt, x[TAU], x[DIAGONAL])
        accelerations(tree, work, qd, x[TAU], x[DIAGONAL], x[ACCELERATION])
        for k in range(nv):
            x[FREE_VELOCITY, k] = qd[k] + dt * x[ACCELERATION, k]
            x[VELOCITY, k] = x[FREE_VELOCITY, k]
        if not are_finite(x[VELOCITY]):
            return DIVERGED
        count = find_contacts(shapes, pairs, work, options, contacts)
        counters[CONTACTS], counters[ITERATIONS] = count, 0
        if count > 0:
            counters[ITERATIONS] = contact_velocities(
                tree, work, contacts, count, J, support, matrices, x, qd, change, options)
            counters[LAGGED] += counters[ITERATIONS] > RENEWALS
            if not are_finite(x[VELOCITY]):
                return DIVERGED
        read_sensors(sensors, watched, work, contacts, count, counters[STEPS], felt[0], felt[1],
                     readings)
        for k in range(nv):
            change[k] = x[VELOCITY, k] - qd[k]
            qdd[k] = change[k] / dt
            qd[k] = x[VELOCITY, k]
        integrate(tree, q, qd, dt)
        counters[STEPS] += 1
    return OK
