"""How far the sides of a joint that closes a loop have parted, and what brings them together."""
import math

import numpy as np

from spr_dynamics.contact.records import LOOP, TIED
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.loops import body_poses, tie_jacobian
from spr_dynamics.model.records import VELOCITIES
from spr_dynamics.spatial import (
    add, as_columns, as_motion, as_vector, cross, dot, put_vector, subtract, times)

LEAST_SHARE = 1e-3  # of the largest inverse inertia of the ties
ROUNDOFF = 1e-16  # of the inverse inertia of joints, below which no tie can part


def loop_laws(model, options, dt, M_inv) -> np.ndarray:
    """
    Write how hard each tie holds, for steps of dt: as a rigid contact does.

    :param M_inv: Inverse of the inertia matrix at the pose of the file.
    :returns: ``LOOP`` records.
    """
    loops = np.zeros(model.ties.size, LOOP)
    loops['tie'] = model.ties
    J = tie_jacobian(model.tree, model.ties, body_poses(model.tree, model.home))
    w = np.sum(J @ M_inv * J, axis=1)
    largest, joints = w.max(initial=0.0), easiest(model, M_inv)
    # a direction in which the file's pose can't part is as soft as one that hardly can; where
    # none can, as of a door on two hinges, softness goes by the joints
    loops['R'] = (options.beta / (2.0 * math.pi)) ** 2 * np.maximum(
        w, LEAST_SHARE * (largest if largest > ROUNDOFF * joints else joints))
    loops['rate'] = 1.0 / (dt * (1.0 + options.beta / math.pi))
    loops['max_speed'] = options.recovery_speed
    return loops


def easiest(model, M_inv):
    """Return the largest inverse inertia of the velocities that move sides of ties."""
    found = 0.0
    for body in {*model.ties['a'].tolist(), *model.ties['b'].tolist()}:
        while body > 0:
            record = model.tree[body]
            own = slice(record['v'], record['v'] + VELOCITIES[record['joint']])
            found = max(found, np.diag(M_inv)[own].max())
            body = record['parent']
    return found


@inlined
def turning(omega, alpha, r):
    """Return the velocity and the acceleration of the end of an arm that turns with a body."""
    swing = cross(omega, r)
    return swing, add(cross(alpha, r), cross(omega, swing))


@inlined
def bend(e, d):
    """Return the second derivative of e . d, each given with its first two derivatives."""
    return dot(e[2], d[0]) + 2.0 * dot(e[1], d[1]) + dot(e[0], d[2])


@inlined
def start_tied_row(row, tie, point, e):
    """Let a row act between the bodies of a tie or hinge."""
    row.kind, row.is_angle, row.body_a, row.body_b = TIED, tie.is_angle, tie.a, tie.b
    put_vector(row.point, 0, point)
    put_vector(row.e, 0, e)


@inlined
def put_tie(row, tie, work):
    """
    Let a row hold what a tie does, in its direction as it lies now.

    A gap is not straight in the positions: it bends by what the velocities and accelerations make
    of it that the bodies have if no joint speeds up (``work``).

    :returns: The gap, and its second derivative if no joint speeds up.
    """
    a, b = work[tie.a], work[tie.b]
    R_WA, R_WB = as_columns(a.R_WB), as_columns(b.R_WB)
    (w_a, v_a), (alpha_a, acc_a) = as_motion(a.v), as_motion(a.a)
    (w_b, v_b), (alpha_b, acc_b) = as_motion(b.v), as_motion(b.a)
    e_a, r_b = times(R_WA, as_vector(tie.e_a, 0)), times(R_WB, as_vector(tie.p_b, 0))
    p_b = add(as_vector(b.p_WB, 0), r_b)
    e_rate, e_change = turning(w_a, alpha_a, e_a)
    if tie.is_angle:
        e_b = times(R_WB, as_vector(tie.e_b, 0))
        e_b_rate, e_b_change = turning(w_b, alpha_b, e_b)
        gap, e = dot(e_a, e_b) - tie.cosine, cross(e_b, e_a)
        bent = bend((e_a, e_rate, e_change), (e_b, e_b_rate, e_b_change))
    else:
        r_a = times(R_WA, as_vector(tie.p_a, 0))
        swing_a, pull_a = turning(w_a, alpha_a, r_a)
        swing_b, pull_b = turning(w_b, alpha_b, r_b)
        d = subtract(p_b, add(as_vector(a.p_WB, 0), r_a))
        d_rate = subtract(add(v_b, swing_b), add(v_a, swing_a))
        d_change = subtract(add(acc_b, pull_b), add(acc_a, pull_a))
        gap, e = dot(e_a, d), e_a
        bent = bend((e_a, e_rate, e_change), (d, d_rate, d_change))
    start_tied_row(row, tie, p_b, e)
    return gap, bent


@exact
def find_loop_rows(loops, work, dt, rows, count):
    """
    Add a row for each tie, with what it asks for: a closed loop at the end of the step.

    :returns: How many rows there are then.
    """
    for k in range(loops.size):
        row = rows[count]
        row.tie = k
        gap, bent = put_tie(row, loops[k].tie, work)
        speed, most = -gap * loops[k].rate, loops[k].max_speed
        row.R, row.b = loops[k].R, min(max(speed, -most), most) - 0.5 * dt * bent
        count += 1
    return count


@inlined
def put_hinge(row, hinge, work):
    """
    Let a row act along the axis of a closing joint.

    :returns: How far the joint has moved from the start [rad] or [m]; turns are not counted.
    """
    a, b = work[hinge.a], work[hinge.b]
    R_WA, R_WB = as_columns(a.R_WB), as_columns(b.R_WB)
    z = times(R_WA, as_vector(hinge.z_a, 0))
    p_b = add(as_vector(b.p_WB, 0), times(R_WB, as_vector(hinge.p_b, 0)))
    row.tie = hinge.tie
    start_tied_row(row, hinge, p_b, z)
    if hinge.is_angle:
        x_a, x_b = times(R_WA, as_vector(hinge.x_a, 0)), times(R_WB, as_vector(hinge.x_b, 0))
        return math.atan2(dot(z, cross(x_a, x_b)), dot(x_a, x_b))
    p_a = add(as_vector(a.p_WB, 0), times(R_WA, as_vector(hinge.p_a, 0)))
    return dot(z, subtract(p_b, p_a))


@exact
def find_hinge_rows(hinges, work, dt, rows, count):
    """
    Add a row for each damper and spring of a closing joint, taken at the end of the step.

    :returns: How many rows there are then.
    """
    for k in range(hinges.size):
        hinge, row = hinges[k], rows[count]
        stretch = put_hinge(row, hinge, work) - hinge.rest
        hold = hinge.damping + dt * hinge.stiffness
        row.R, row.b = 1.0 / (dt * hold), -hinge.stiffness * stretch / hold
        count += 1
    return count
