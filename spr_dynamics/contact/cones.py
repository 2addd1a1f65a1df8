"""
How far balls bend and twist: rows over a ball's three velocities.

Frame C has the centre of the cone on z. The child's z axis may swing away from there up to an
angle; how far the child is turned about its own z, on top of the shortest way there, is its twist.
Both limits are distances between rotations, so each row is a unit vector wherever the ball is.
"""
import math

import numpy as np

from spr_dynamics.contact.joints import NEAR, REACH
from spr_dynamics.contact.records import CONE, LIMIT
from spr_dynamics.jit import exact
from spr_dynamics.spatial import (
    add, as_symmetric, as_vector, cross, dot, full, put_vector, rotation, scale, subtract, times,
    times_quaternion, transpose, Vector)

TINY = 1e-12  # lengths, squared, that give no direction


def cone_laws(model, options, dt, M_inv) -> np.ndarray:
    """
    Write how far each ball goes, for steps of dt; its limits are rigid.

    :param M_inv: Inverse of the inertia matrix at the pose of the file.
    :returns: ``CONE`` records.
    """
    column = np.argsort(model.order)
    laws = []
    for joint in model.joints:
        if joint.cone is None:
            continue
        body = int(np.flatnonzero(model.tree['v'][1:] == joint.v)[0]) + 1
        own = slice(joint.v, joint.v + 3)
        laws.append((joint.q, joint.v, body, column[joint.v], joint.cone.q_CJ,
                     joint.cone.swing, joint.cone.lower, joint.cone.upper,
                     M_inv[own, own][np.triu_indices(3)], (options.beta / (2.0 * math.pi)) ** 2,
                     1.0 / (dt * (1.0 + options.beta / math.pi)), options.recovery_speed))
    return np.array(laws, CONE) if laws else np.zeros(0, CONE)


@exact
def add_cone_row(rows, count, cone, rate, gap, spin, half, dt):
    """
    Add a row that lets an angle grow by ``gap`` at most.

    :param rate: How the angle grows with the ball's velocities.
    :param spin: Velocities that the step would end with otherwise.
    :param half: What the gyroscopic torque leaves out of those that turn the ball in the step. It
        may use the gap up, but a row does not push for it.
    """
    row = rows[count]
    gap = max(gap + dt * dot(rate, half), min(gap, 0.0))
    row.kind, row.body_a, row.body_b = LIMIT, 0, cone.body
    row.column, row.n_columns = cone.column, 3
    put_vector(row.e, 0, scale(rate, -1.0))
    row.R = cone.softness * dot(rate, times(full(as_symmetric(cone.inverse_inertia, 0)), rate))
    row.b = -gap / dt if gap >= 0.0 else min(-gap * cone.rate, cone.max_speed)
    row.w = -dot(rate, spin)
    return count + 1


@exact
def add_swing_rows(rows, count, cone, R, spin, half, reach, dt):
    """
    Hold the child's z axis in the cone.

    A narrow cone is met where the axis goes, and its other sides are watched in a square, so that
    one that is narrower than a step holds, too. A wide one is the outside of a narrow one, which
    is met where the axis is.

    :param R: Orientation of the child in C.
    """
    z = Vector(R.xz, R.yz, R.zz)
    is_narrow = cone.swing <= 0.5 * math.pi
    ahead = add(z, scale(cross(times(R, spin), z), dt)) if is_narrow else z
    length = math.hypot(ahead.x, ahead.y)
    x, y = (ahead.x / length, ahead.y / length) if length * length > TINY else (1.0, 0.0)
    for _ in range(4):
        # the angle in the plane of the centre and (x, y), and how it grows
        along, across = x * z.x + y * z.y, x * z.y - y * z.x
        gap = cone.swing - math.atan2(along, z.z)
        if gap < reach:
            share = across / max(along * along + z.z * z.z, TINY)
            rate = subtract(Vector(-y, x, 0.0), scale(Vector(along * x, along * y, z.z), share))
            count = add_cone_row(rows, count, cone, times(transpose(R), rate), gap, spin,
                                 half, dt)
        if not (is_narrow and z.z > 0.0):
            break
        x, y = -y, x
    return count


@exact
def add_twist_rows(rows, count, cone, w, x, y, z, spin, half, reach, dt):
    """
    Hold the twist between its bounds.

    Rotations of one twist are a great sphere among the quaternions, and the gap is the angle to
    it. Where the axis has swung by pi all twists are the same, and the gap is zero.

    :param w: Orientation of the child in C, a quaternion.
    """
    middle = 0.25 * (cone.lower + cone.upper)
    if w * math.cos(middle) + z * math.sin(middle) < 0.0:
        w, x, y, z = -w, -x, -y, -z
    for bound, sign in ((cone.upper, 1.0), (cone.lower, -1.0)):
        sine, cosine = sign * math.sin(0.5 * bound), sign * math.cos(0.5 * bound)
        share = min(max(sine * w - cosine * z, -1.0), 1.0)
        gap = 2.0 * math.asin(share)
        if gap < reach:
            rate = scale(Vector(sine * x - cosine * y, sine * y + cosine * x,
                                sine * z + cosine * w),
                         1.0 / math.sqrt(max(1.0 - share * share, TINY)))
            count = add_cone_row(rows, count, cone, rate, gap, spin, half, dt)
    return count


@exact
def find_cone_rows(cones, work, q, qd, free, dt, rows, count):
    """
    Add the limits of balls that are near.

    :param free: Velocities that the step would end with otherwise, shape (nv,).
    :param rows: Result: ``ROW`` records.
    :returns: How many rows there are then.
    """
    for k in range(cones.size):
        cone = cones[k]
        now, spin, to_C = as_vector(qd, cone.v), as_vector(free, cone.v), cone.q_CJ
        half = as_vector(work[cone.body].half_turn, 0)
        reach = NEAR + REACH * dt * math.sqrt(max(dot(now, now), dot(spin, spin)))
        w, x, y, z = times_quaternion(to_C[0], to_C[1], to_C[2], to_C[3], q[cone.q],
                                      q[cone.q + 1], q[cone.q + 2], q[cone.q + 3])
        count = add_swing_rows(rows, count, cone, rotation(w, x, y, z), spin, half, reach,
                               dt)
        if cone.upper < math.inf:
            count = add_twist_rows(rows, count, cone, w, x, y, z, spin, half, reach, dt)
    return count
