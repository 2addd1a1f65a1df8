"""What each joint does in a step: its damper and spring, and how its position moves."""
from spr_dynamics.dynamics.coupled import expand_positions
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import AXIS, BALL, FREE
from spr_dynamics.spatial import (
    add, as_columns, as_rigid_inertia, as_vector, cross, exponential, normalised, put_quaternion,
    put_vector, quaternion_rate, rotation, scale, subtract, times, transpose, turn_quaternion,
    turn_quaternion_within)


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
