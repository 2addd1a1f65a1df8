"""From accelerations to the next state: each rule moves positions and velocities by one step."""
from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.coupled import expand_positions, find_accelerations
from spr_dynamics.dynamics.work import drives_of, followers_of, tree_of, zero_of
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import AXIS, BALL, FREE
from spr_dynamics.spatial import (
    add, as_columns, as_rigid_inertia, as_vector, cross, exponential, normalised, put_quaternion,
    put_vector, quaternion_rate, rotation, scale, subtract, times, transpose, turn_quaternion,
    turn_quaternion_within)

SETTLED = 1e-12  # change of velocity, relative, at which the implicit midpoint is found
ITERATIONS = 100
MOVING = 1e150  # [rad/s] or [m/s] beyond which squares are no numbers


@kernel
def add_passive_forces(drives, lag, q, qd, command, dt, tau, diagonal):
    """
    Add dampers and springs, at the end of the step rather than its start.

    With f = -d qd' - k (q' - rest), qd' = qd + dt qdd and q' = q + dt qd', the part that qdd
    multiplies goes to the diagonal of the inertia, which keeps stiff joints stable. A joint that
    lags, as the analytic rule has it, takes them at the start.
    """
    for k in range(command.size):
        tau[k], diagonal[k] = command[k], 0.0
    for a in range(drives.size):
        drive = drives[a]
        k, d, stiffness = drive.v, drive.damping, drive.stiffness
        h = dt if lag[k] == 0.0 else 0.0
        stretch = q[drive.q] + h * qd[k] - drive.rest
        tau[k] -= d * qd[k] + stiffness * stretch
        diagonal[k] = h * (d + h * stiffness)


@inlined
def move_free_body(body, now, q, qd, turn, dt):
    """
    Turn a free body about the centre of mass of what it carries, and move that centre on.

    The origin follows, and the spin turns along. Were the origin moved by its own velocity, which
    turns with the body, a spinning body would not keep its momentum.

    :param turn: Rotation vector, world axes.
    """
    j, k = body.q, body.v
    carried = as_rigid_inertia(now.Ic)
    spin, arm = as_vector(qd, k + 3), scale(carried.h, 1.0 / carried.mass)
    arm_in_body = times(transpose(as_columns(now.R_WB)), arm)
    v_centre = add(as_vector(qd, k), cross(spin, arm))
    p_centre = add(add(as_vector(q, j), arm), scale(v_centre, dt))
    w, x, y, z = turn_quaternion(q[j + 3], q[j + 4], q[j + 5], q[j + 6], turn)
    put_quaternion(q, j + 3, w, x, y, z)
    arm = times(rotation(w, x, y, z), arm_in_body)
    spin = times(rotation(*exponential(turn)), spin)
    put_vector(q, j, subtract(p_centre, arm))
    put_vector(qd, k, subtract(v_centre, cross(spin, arm)))
    put_vector(qd, k + 3, spin)


@kernel
def move(tree, work, drives, followers, lag, q, qd, change, dt):
    """
    Move the positions by the velocities; orientations by the exponential map.

    Orientations turn by a spin that the gyroscopic torque has changed by half only.

    :param lag: For each velocity, how much of its change is taken back to get the one to move by.
    :param change: By how much the step has changed ``qd``.
    """
    for i in range(1, tree.size):
        body = tree[i]
        if body.joint == AXIS:
            continue
        j, k = body.q, body.v
        at = k + 3 if body.joint == FREE else k
        spin = as_vector(qd, at)
        if lag[at] != 0.0:
            spin = subtract(spin, scale(as_vector(change, at), lag[at]))
        else:
            spin = subtract(spin, as_vector(work[i].half_turn, 0))
        if body.joint == FREE:
            move_free_body(body, work[i], q, qd, scale(spin, dt), dt)
        else:
            w, x, y, z = turn_quaternion_within(q[j], q[j + 1], q[j + 2], q[j + 3],
                                                scale(spin, dt))
            put_quaternion(q, j, w, x, y, z)
    for a in range(drives.size):
        k = drives[a].v
        q[drives[a].q] += dt * (qd[k] - lag[k] * change[k])
    expand_positions(followers, q)


@kernel
def accelerate(block, q, qd, command, tau, diagonal, qdd):
    """Compute the accelerations of a state, dampers and springs at their present forces."""
    move_bodies(block, q, qd, zero_of(block))
    add_passive_forces(drives_of(block), zero_of(block), q, qd, command, 0.0, tau, diagonal)
    find_accelerations(block, tau, diagonal, qdd)


@kernel
def position_rates(tree, q, qd, rates):
    """Compute dq/dt, quaternions being four numbers."""
    for i in range(1, tree.size):
        body = tree[i]
        j, k = body.q, body.v
        if body.joint == FREE:
            put_vector(rates, j, as_vector(qd, k))
            w, x, y, z = quaternion_rate(q[j + 3], q[j + 4], q[j + 5], q[j + 6],
                                         as_vector(qd, k + 3))
            put_quaternion(rates, j + 3, w, x, y, z)
        elif body.joint == BALL:
            R = rotation(q[j], q[j + 1], q[j + 2], q[j + 3])
            w, x, y, z = quaternion_rate(q[j], q[j + 1], q[j + 2], q[j + 3],
                                         times(R, as_vector(qd, k)))
            put_quaternion(rates, j, w, x, y, z)
        else:
            rates[j] = qd[k]


@kernel
def normalise(tree, q):
    """Give quaternions the length one."""
    for i in range(1, tree.size):
        if tree[i].joint != AXIS:
            j = tree[i].q + (3 if tree[i].joint == FREE else 0)
            w, x, y, z = normalised(q[j], q[j + 1], q[j + 2], q[j + 3])
            put_quaternion(q, j, w, x, y, z)


@kernel
def turn_back(tree, spins, rates, dt, turned):
    """Copy rates of velocities, those of free bodies' spins being turned by their spins for dt."""
    for k in range(rates.size):
        turned[k] = rates[k]
    for i in range(1, tree.size):
        if tree[i].joint == FREE:
            k = tree[i].v + 3
            R = rotation(*exponential(scale(as_vector(spins, k), dt)))
            put_vector(turned, k, times(R, as_vector(rates, k)))


@kernel
def turn_and_slide(tree, followers, q, qd, dt, moved):
    """Move positions from q by constant velocities for a time, into ``moved``."""
    for j in range(q.size):
        moved[j] = q[j]
    for i in range(1, tree.size):
        body = tree[i]
        j, k = body.q, body.v
        if body.joint == FREE:
            put_vector(moved, j, add(as_vector(q, j), scale(as_vector(qd, k), dt)))
            w, x, y, z = turn_quaternion(q[j + 3], q[j + 4], q[j + 5], q[j + 6],
                                         scale(as_vector(qd, k + 3), dt))
            put_quaternion(moved, j + 3, w, x, y, z)
        elif body.joint == BALL:
            w, x, y, z = turn_quaternion_within(q[j], q[j + 1], q[j + 2], q[j + 3],
                                                scale(as_vector(qd, k), dt))
            put_quaternion(moved, j, w, x, y, z)
        else:
            moved[j] = q[j] + dt * qd[k]
    expand_positions(followers, moved)


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
        if change <= SETTLED * size:
            turn_and_slide(tree, followers, q, qd_middle, dt, q_middle)
            for j in range(nq):
                q[j] = q_middle[j]
            for k in range(qd.size):
                rates[k] = 2.0 * qd_middle[k] - qd[k]
            turn_back(tree, qd_middle, rates, dt, qd)
            return True
    return False
