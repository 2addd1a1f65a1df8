"""How free bodies and balls turn by themselves: the gyroscopic torque at the mean spin."""
import numpy as np

from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, as_columns, as_motion, as_rigid_inertia, as_vector, cross, cross_columns, dot, full,
    Matrix, outer, plus, put_vector, scale, subtract, Symmetric, times, transpose, Vector)

NEWTON_STEPS = 30  # round-off is reached in two or three at any speed that a step resolves
ENOUGH = 4  # steps after which CLOSE will do
FARTHEST_TURN = 1e6  # [rad] in a step, if it doesn't turn evenly
ROUNDOFF, CLOSE = 1e-30, 1e-25  # relative squares of a residual


@inlined
def about_centre(inertia):
    """Return a body's inertia about its centre of mass, and that centre."""
    centre = scale(inertia.h, 1.0 / inertia.mass)
    square = dot(inertia.h, centre)
    shift = outer(inertia.h, centre)
    A = inertia.about
    return Symmetric(A.xx - square + shift.xx, A.xy + shift.xy, A.xz + shift.xz,
                     A.yy - square + shift.yy, A.yz + shift.yz, A.zz - square + shift.zz), centre


@inlined
def solve_matrix(A, b):
    """Find x with A x = b by Cramer's rule."""
    x, y, z = Vector(A.xx, A.yx, A.zx), Vector(A.xy, A.yy, A.zy), Vector(A.xz, A.yz, A.zz)
    yz = cross(y, z)
    k = 1.0 / dot(x, yz)
    return Vector(k * dot(b, yz), k * dot(b, cross(z, x)), k * dot(b, cross(x, y)))


@inlined
def skew(a):
    return Matrix(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)


@inlined
def spin_after(inertia, w0, w, dt):
    """
    Find the spin at the end of a step, in the body's axes.

    The root of I w1 + dt m x I m = I w + dt w0 x I w0 with m = (w0 + w1) / 2, where w is the spin
    with the gyroscopic torque taken at the start. Without another torque w I w stays as it is.
    Where a body turns by several radians in a step, the root may not be found; the gyroscopic
    torque is left out then, which keeps w I w, too; of ``FARTHEST_TURN`` the result is not finite.

    :returns: It, and half of what the gyroscopic torque has to do with it.
    """
    A, h = full(inertia), 0.5 * dt
    target = add(times(A, w), scale(cross(w0, times(A, w0)), dt))
    square = dot(target, target)
    for k in range(NEWTON_STEPS):
        m = scale(add(w0, w), 0.5)
        momentum = times(A, m)
        torque = cross(m, momentum)
        residual = subtract(add(times(A, w), scale(torque, dt)), target)
        if dot(residual, residual) <= (ROUNDOFF if k < ENOUGH else CLOSE) * square:
            return w, scale(solve_matrix(A, torque), -h)
        turn = plus(cross_columns(scale(m, h), A), skew(scale(momentum, -h)))
        w = subtract(w, solve_matrix(plus(A, turn), residual))
    # round-off of the target grows with the turn, and the energy with it
    is_lost = dt * dt * dot(w0, w0) > FARTHEST_TURN * FARTHEST_TURN
    return scale(solve_matrix(A, target), np.inf if is_lost else 1.0), Vector(0.0, 0.0, 0.0)


@inlined
def turn_free_body(body, now, qd, velocity, dt):
    """
    Correct the velocities of a free body; those of its centre of mass are right already.

    The spin is the one at the end of the step as the body has it, not turned along with it yet:
    what contact then does to it is work on the body as it lies, and gives no energy.
    """
    k = body.v
    inertia, arm = about_centre(as_rigid_inertia(now.Ic))
    start, before = as_vector(qd, k + 3), as_vector(velocity, k + 3)
    after, half = spin_after(inertia, start, before, dt)
    turning = scale(cross(start, cross(start, arm)), dt)
    v = add(as_vector(velocity, k), subtract(turning, cross(subtract(after, before), arm)))
    put_vector(velocity, k, v)
    put_vector(velocity, k + 3, after)
    put_vector(now.half_turn, 0, half)


@inlined
def turn_ball(body, now, qd, velocity, dt):
    """Correct the angular velocity of a ball, which turns about its own centre."""
    k, R = body.v, as_columns(now.R_WB)
    start = as_motion(now.v).angular
    change = subtract(as_vector(velocity, k), as_vector(qd, k))
    before = add(start, times(R, change))
    after, half = spin_after(as_rigid_inertia(now.Ic).about, start, before, dt)
    correction = times(transpose(R), subtract(after, before))
    put_vector(velocity, k, add(as_vector(velocity, k), correction))
    put_vector(now.half_turn, 0, times(transpose(R), half))


@kernel
def take_gyroscopic_torque_in_the_middle(tree, work, qd, velocity, dt):
    """
    Correct the free velocities of free bodies and balls, with what they carry locked to them.

    Taken at the start of the step, the torque feeds energy into a fast spin until it explodes.
    The velocity of a free body's origin is made the one that belongs to the orientation at the
    start, since the turn of the way to the centre of mass comes with the positions. Needs the
    composite inertias; leaves ``half_turn``.

    :param qd: Velocities at the start of the step, shape (nv,).
    :param velocity: Velocities that the step would end with; corrected in place.
    """
    for i in range(1, tree.size):
        if tree[i].joint == FREE:
            turn_free_body(tree[i], work[i], qd, velocity, dt)
        elif tree[i].joint == BALL:
            turn_ball(tree[i], work[i], qd, velocity, dt)
