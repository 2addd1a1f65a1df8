"""Velocities, and the forces that come of them and from outside: where both algorithms begin."""
from spr_dynamics.dynamics.kinematics import joint_motion, poses
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import FREE
from spr_dynamics.spatial import (
    add, add_motions, as_force, as_matrix, as_motion, as_rigid_inertia, as_transform, as_vector,
    Axis, cross, cross_along, cross_force, Force, momentum, Motion, put_force, put_motion, scale,
    subtract_forces, times, transform_motion, transpose, ZERO)


@kernel
def velocities_and_bias(tree, work, gravity, qd):
    """
    First pass, outward: velocities, and the bias forces that they bring.

    Gravity enters as an upward acceleration of the world, so no body needs to know about it.
    """
    put_motion(work[0].v, Motion(ZERO, ZERO))
    put_motion(work[0].a, Motion(ZERO, scale(as_vector(gravity, 0), -1.0)))
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        X = as_transform(now.X)
        v = joint_motion(body, X, qd)
        if body.joint == FREE:
            # qd is in world axes, which turn backwards in the body's
            put_motion(now.c, Motion(ZERO, cross(v.linear, v.angular)))
        else:
            v = add_motions(transform_motion(X, as_motion(work[body.parent].v)), v)
            put_motion(now.c, cross_along(v, Axis(body.turn, body.slide), qd[body.v]))
        put_motion(now.v, v)
        put_force(now.pA, cross_force(v, momentum(as_rigid_inertia(body.inertia), v)))


@inlined
def force_on_body(link, work, f_ext, k):
    """Express a link's torque and force in the coordinates of its body."""
    back = transpose(as_matrix(work[link[k].body].R_WB, 0))
    linear = times(back, as_vector(f_ext[k], 3))
    moment = times(back, as_vector(f_ext[k], 0))
    return Force(add(moment, cross(as_transform(link[k].X).r, linear)), linear)


@kernel
def subtract_external(tree, link, work, f_ext):
    """
    Take external forces from the bodies' bias forces ``pA``.

    They are given on links in world axes, and felt by bodies in theirs.
    """
    if f_ext.shape[0] == 0:
        return
    poses(tree, work)
    for k in range(link.size):
        if link[k].body > 0:
            now = work[link[k].body]
            put_force(now.pA, subtract_forces(as_force(now.pA),
                                              force_on_body(link, work, f_ext, k)))
