"""What joints do to their own velocities: limits of position and velocity, and dry friction."""
import math

import numpy as np

from spr_dynamics.contact.records import FRICTION, JOINT, LIMIT, RIGID_LIMIT
from spr_dynamics.jit import exact, inlined

REACH = 5.0  # [steps] in which a joint could get to its limit at its present speed
NEAR = 1e-3  # [rad] or [m] a limit that is nearer is watched even at rest
STICK = 1e-6  # softness of sticking joints: creep is STICK h times what the torque would give


def joint_laws(model, options, dt, inverse_inertia) -> np.ndarray:
    """
    Write what limits each axis, for steps of dt.

    SDF's stiffness and dissipation of a limit count where they are softer than what is rigid.

    :param inverse_inertia: How easily each velocity is changed, shape (nv,).
    :returns: ``JOINT`` records of the axes that have a limit or friction.
    """
    column = np.argsort(model.order)
    leader = {int(f['v']): (int(f['leader_v']), float(f['ratio'])) for f in model.followers}
    laws = []
    for dof in model.axes:
        if not dof.has_limits:
            continue
        v, ratio = leader.get(dof.v, (dof.v, 1.0))
        if ratio == 0.0:
            continue
        w = inverse_inertia[v] * ratio * ratio
        rigid = (options.beta / (2.0 * math.pi)) ** 2 * w
        R, rate, max_speed = rigid, 1.0 / (dt * (1.0 + options.beta / math.pi)), (
            options.recovery_speed)
        k, d = dof.limit_stiffness, dof.limit_dissipation
        if k < RIGID_LIMIT and 1.0 / (dt * (dt * k + d)) > R:
            R, rate, max_speed = 1.0 / (dt * (dt * k + d)), k / (dt * k + d), np.inf
        body = np.flatnonzero((model.tree['column'] <= column[v])
                              & (column[v] < model.tree['next_column']))[0]
        laws.append((dof.q, dof.v, body, column[v], ratio, dof.lower, dof.upper,
                     dof.velocity_limit, R, rate, max_speed, rigid, dt * dof.friction, STICK * w))
    return np.array(laws, JOINT) if laws else np.zeros(0, JOINT)


@inlined
def start_row(row, kind, joint, ratio):
    """Let a row feel a joint's velocity times a ratio."""
    row.kind, row.body_a, row.body_b = kind, 0, joint.body
    row.column, row.n_columns, row.e[0] = joint.column, 1, ratio


@exact
def add_limit(rows, count, joint, sign, gap, free, dt):
    """Add a row for a limit; a positive ``gap`` is the way that is left to it."""
    row = rows[count]
    start_row(row, LIMIT, joint, sign * joint.ratio)
    row.R = joint.R
    row.b = -gap / dt if gap >= 0.0 else min(-gap * joint.rate, joint.max_speed)
    row.w = sign * free[joint.v]
    return count + 1


@exact
def add_velocity_limit(rows, count, joint, sign, free):
    """Add a row that lets sign times the velocity not fall below minus its limit."""
    row = rows[count]
    start_row(row, LIMIT, joint, sign * joint.ratio)
    row.R, row.b = joint.R_rigid, -joint.velocity_limit
    row.w = sign * free[joint.v]
    return count + 1


@exact
def are_idle(rows, count):
    """Say whether no row acts at the velocities that the step would end with otherwise."""
    for r in range(count):
        if rows[r].kind != LIMIT or rows[r].w < rows[r].b:
            return False
    return True


@exact
def find_joint_rows(joints, q, qd, free, dt, rows):
    """
    List the limits that are near, and the joints with dry friction.

    :param free: Velocities that the step would end with otherwise, shape (nv,).
    :param rows: Result: ``ROW`` records.
    :returns: How many there are.
    """
    count = 0
    for a in range(joints.size):
        joint = joints[a]
        position = q[joint.q]
        speed = max(abs(qd[joint.v]), abs(free[joint.v]))
        reach = NEAR + REACH * dt * speed
        if position - joint.lower < reach:
            count = add_limit(rows, count, joint, 1.0, position - joint.lower, free, dt)
        if joint.upper - position < reach:
            count = add_limit(rows, count, joint, -1.0, joint.upper - position, free,
                              dt)
        if speed > 0.5 * joint.velocity_limit:
            count = add_velocity_limit(rows, count, joint, 1.0, free)
            count = add_velocity_limit(rows, count, joint, -1.0, free)
        if joint.friction > 0.0:
            row = rows[count]
            start_row(row, FRICTION, joint, joint.ratio)
            row.R, row.b, row.bound = joint.R_stick, 0.0, joint.friction
            count += 1
    return count
