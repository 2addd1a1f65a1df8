"""How a free body turns by itself: the gyroscopic torque, taken at the end of the step."""
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import FREE
from spr_dynamics.spatial import (
    add, as_rigid_inertia, as_vector, cross, cross_columns, dot, full, Matrix, outer,
    plus, put_vector, scale, subtract, Symmetric, times, Vector)

NEWTON_STEPS = 4  # round-off is reached in two or three at any speed that a step resolves
ROUNDOFF = 1e-30  # relative square of a residual


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
def implicit_spin(inertia, w0, w, dt):
    """
    Find the spin at the end of a step, in the axes of its start.

    The root of I w1 + dt w1 x I w1 = I w + dt w0 x I w0, where w is the spin with the gyroscopic
    torque taken at the start. Without a torque the energy w I w then never grows.
    """
    A = full(inertia)
    target = add(times(A, w), scale(cross(w0, times(A, w0)), dt))
    for _ in range(NEWTON_STEPS):
        momentum = times(A, w)
        residual = subtract(add(momentum, scale(cross(w, momentum), dt)), target)
        if dot(residual, residual) <= ROUNDOFF * dot(target, target):
            break
        turn = plus(cross_columns(scale(w, dt), A), skew(scale(momentum, -dt)))
        w = subtract(w, solve_matrix(plus(A, turn), residual))
    return w


@kernel
def take_gyroscopic_torque_at_the_end(tree, work, qd, velocity, dt):
    """
    Correct the free velocities of free bodies, with what they carry locked to them.

    Taken at the start of the step, the torque feeds energy into a fast spin until it explodes.
    The centre of mass keeps its velocity; that of the origin is made the one that belongs to the
    orientation at the start, since the turn of the way between them comes with the positions.
    Needs the composite inertias.

    :param qd: Velocities at the start of the step, shape (nv,).
    :param velocity: Velocities that the step would end with; corrected in place.
    """
    for i in range(1, tree.size):
        if tree[i].joint != FREE:
            continue
        k = tree[i].v
        inertia, arm = about_centre(as_rigid_inertia(work[i].Ic))
        start, before = as_vector(qd, k + 3), as_vector(velocity, k + 3)
        after = implicit_spin(inertia, start, before, dt)
        turning = scale(cross(start, cross(start, arm)), dt)
        v = add(as_vector(velocity, k), subtract(turning, cross(subtract(after, before), arm)))
        put_vector(velocity, k, v)
        put_vector(velocity, k + 3, after)
