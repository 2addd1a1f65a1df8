"""One simulated step, and n of them in a single compiled call."""
import numba

from spr_dynamics.contact.detect import find_contacts
from spr_dynamics.contact.jacobian import fill_jacobians
from spr_dynamics.contact.records import CONTACT, OPTIONS, PAIR
from spr_dynamics.contact.solve import RENEWALS, solve_contacts
from spr_dynamics.dynamics.aba import accelerations
from spr_dynamics.dynamics.bias import velocities_and_bias
from spr_dynamics.dynamics.check import (
    are_finite, are_moderate, BAD, is_position, is_vector, OK)
from spr_dynamics.dynamics.crba import composite_inertias, inertia_matrix
from spr_dynamics.dynamics.gyroscopic import take_gyroscopic_torque_at_the_end
from spr_dynamics.dynamics.kinematics import poses, transforms, TREE_RECORDS
from spr_dynamics.dynamics.work import WORK_RECORDS
from spr_dynamics.jit import (
    CUBE, entry_point, exact, inlined, kernel, MATRIX, read_records, records, VECTOR)
from spr_dynamics.model.records import FREE, SHAPE
from spr_dynamics.sensors.measure import read_sensors, READING, SENSOR
from spr_dynamics.simulation.state import CONTACTS, ITERATIONS, LAGGED, STEPS, UNSOLVED
from spr_dynamics.spatial import (
    add, as_rigid_inertia, as_vector, cross, put_vector, scale, subtract, times, transform_free,
    transpose, turn_quaternion)

DIVERGED = 2
FREE_VELOCITY, VELOCITY = 0, 1  # rows of the solver's vectors; five more are its scratch
COMMAND, TAU, DIAGONAL, ACCELERATION, ROWS = 7, 8, 9, 10, 11  # rows that the step adds to them


@kernel
def clamp_efforts(tree, tau, command):
    """Limit each effort to what its actuator gives."""
    for k in range(tau.size):
        command[k] = tau[k]
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint != FREE:
            command[body.v] = min(max(tau[body.v], -body.effort_limit), body.effort_limit)


@kernel
def add_passive_forces(tree, q, qd, command, dt, tau, diagonal):
    """
    Add dampers and springs, at the end of the step rather than its start.

    With f = -d qd' - k (q' - rest), qd' = qd + dt qdd and q' = q + dt qd', the part that qdd
    multiplies goes to the diagonal of the inertia, which keeps stiff joints stable.
    """
    for k in range(command.size):
        tau[k], diagonal[k] = command[k], 0.0
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint != FREE:
            k, d, stiffness = body.v, body.damping, body.stiffness
            stretch = q[body.q] + dt * qd[k] - body.rest
            tau[k] -= d * qd[k] + stiffness * stretch
            diagonal[k] = dt * (d + dt * stiffness)


@kernel
def has_free_body(tree):
    """Say whether any body is held by nothing."""
    for i in range(1, tree.size):
        if tree[i].joint == FREE:
            return True
    return False


@kernel
def free_velocities(tree, work, gravity, q, qd, dt, x, is_free):
    """
    Compute the velocities that the step would end with if nothing touched.

    :param is_free: Whether any body is held by nothing; the composite inertias are made then.
    """
    velocities_and_bias(tree, work, gravity, qd)
    add_passive_forces(tree, q, qd, x[COMMAND], dt, x[TAU], x[DIAGONAL])
    accelerations(tree, work, qd, x[TAU], x[DIAGONAL], x[ACCELERATION])
    for k in range(qd.size):
        x[FREE_VELOCITY, k] = qd[k] + dt * x[ACCELERATION, k]
    if is_free:
        composite_inertias(tree, work)
        take_gyroscopic_torque_at_the_end(tree, work, qd, x[FREE_VELOCITY], dt)
    for k in range(qd.size):
        x[VELOCITY, k] = x[FREE_VELOCITY, k]


@exact
def contact_velocities(tree, work, contacts, count, J, support, matrices, x, qd, change, options):
    """
    Replace the free velocities by those that contacts allow; needs the composite inertias.

    :returns: Iterations taken, and whether the problem was solved.
    """
    A, H = matrices[0], matrices[1]
    inertia_matrix(tree, work, A)
    for k in range(qd.size):
        A[k, k] += x[DIAGONAL, k]
        x[VELOCITY, k] = qd[k] + change[k]
    fill_jacobians(tree, work, contacts, count, J, support)
    iterations, solved = solve_contacts(contacts, count, J, support, A, H, x, options)
    for c in range(count):
        contact = contacts[c]
        p = contact.impulse
        for axis in range(3):
            contact.force[axis] = (p[0] * contact.n[axis] + p[1] * contact.t1[axis]
                                   + p[2] * contact.t2[axis]) / options[0].dt
    return iterations, solved


@inlined
def to_centre(q, j, centre):
    """Return the way from a free body's origin to its centre of mass, in world axes."""
    X = transform_free(as_vector(q, j), q[j + 3], q[j + 4], q[j + 5], q[j + 6])
    return times(transpose(X.E), centre)


@inlined
def move_free_body(q, j, qd, k, centre, dt):
    """
    Turn a free body about the centre of mass of what it carries, and move that centre on.

    The origin follows. Were it moved by its own velocity, which turns with the body, a spinning
    body would not keep its momentum.
    """
    spin = as_vector(qd, k + 3)
    arm = to_centre(q, j, centre)
    v_centre = add(as_vector(qd, k), cross(spin, arm))
    p_centre = add(add(as_vector(q, j), arm), scale(v_centre, dt))
    q[j + 3], q[j + 4], q[j + 5], q[j + 6] = turn_quaternion(
        q[j + 3], q[j + 4], q[j + 5], q[j + 6], scale(spin, dt))
    arm = to_centre(q, j, centre)
    put_vector(q, j, subtract(p_centre, arm))
    put_vector(qd, k, subtract(v_centre, cross(spin, arm)))


@kernel
def integrate(tree, work, q, qd, dt):
    """Move the positions by the velocities; orientations by the exponential map."""
    for i in range(1, tree.size):
        body = tree[i]
        j, k = body.q, body.v
        if body.joint == FREE:
            carried = as_rigid_inertia(work[i].Ic)
            move_free_body(q, j, qd, k, scale(carried.h, 1.0 / carried.mass), dt)
        else:
            q[j] += dt * qd[k]


@entry_point(TREE_RECORDS, read_records(SHAPE), read_records(PAIR), records(SENSOR),
             numba.boolean[:, ::1], records(OPTIONS), WORK_RECORDS, MATRIX, VECTOR, VECTOR,
             numba.int64[::1], records(READING), records(CONTACT), records(CONTACT), CUBE,
             numba.int64[:, ::1], CUBE, MATRIX, CUBE, numba.int64)
def step_many(tree, shapes, pairs, sensors, watched, options, work, trig, tau, numbers, counters,
              readings, kept, found, J, support, matrices, x, felt, n):
    """
    Take n steps.

    :param numbers: The doubles of a ``State``; it has ``counters``, ``readings`` and the contacts
        ``kept``, too. The other arguments are a ``Simulation``'s.
    :returns: OK; BAD if the command, or what a user wrote into the state, is no good; DIVERGED
        if a step gave numbers that are not finite: the state is the one that it started from.
    """
    nq, nv = trig.shape[1], x.shape[1]
    q, qd, qdd = numbers[:nq], numbers[nq:nq + nv], numbers[nq + nv:nq + 2 * nv]
    effort, change = numbers[nq + 2 * nv:nq + 3 * nv], numbers[nq + 3 * nv:nq + 4 * nv]
    gravity = numbers[nq + 4 * nv:]
    if not (is_position(tree, q, nq) and are_finite(qd) and is_vector(tau, nv)):
        return BAD
    dt = options[0].dt
    clamp_efforts(tree, tau, x[COMMAND])
    is_free = has_free_body(tree)
    for _ in range(n):
        transforms(tree, work, trig, q)
        if pairs.size > 0 or sensors.size > 0:
            poses(tree, work)
        free_velocities(tree, work, gravity, q, qd, dt, x, is_free)
        if not are_moderate(x[VELOCITY]):
            return DIVERGED
        count = find_contacts(shapes, pairs, work, options, found)
        iterations, solved = 0, True
        if count > 0:
            if not is_free:
                composite_inertias(tree, work)
            iterations, solved = contact_velocities(
                tree, work, found, count, J, support, matrices, x, qd, change, options)
            if not are_moderate(x[VELOCITY]):
                return DIVERGED

        # from here on nothing can fail: the step counts
        read_sensors(sensors, watched, work, found, count, counters[STEPS], felt[0], felt[1],
                     readings)
        for c in range(count):
            kept[c] = found[c]
        counters[CONTACTS], counters[ITERATIONS] = count, iterations
        counters[LAGGED] += solved and iterations > RENEWALS
        counters[UNSOLVED] += not solved
        for k in range(nv):
            effort[k] = x[COMMAND, k]
            change[k] = x[VELOCITY, k] - qd[k]
            qdd[k] = change[k] / dt
            qd[k] = x[VELOCITY, k]
        integrate(tree, work, q, qd, dt)
        counters[STEPS] += 1
    return OK
