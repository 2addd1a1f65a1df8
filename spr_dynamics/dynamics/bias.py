"""How the bodies move and what that takes: where both algorithms begin."""
from spr_dynamics.dynamics.kinematics import joint_motion, place_inertias
from spr_dynamics.dynamics.work import (
    forces_of, gravity_of, links_of, tree_of, trig_of, work_of)
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.spatial import (
    add, as_columns, as_force, as_motion, as_rigid_inertia, as_transform, as_vector, cross, Force,
    force_to_move, Motion, put_force, put_motion, scale, subtract_forces, times, ZERO)


@kernel
def motions(tree, work, gravity, qd, qdd):
    """
    Compute each body's velocity and acceleration, outward, and the force that it takes.

    Gravity enters as an upward acceleration of the world, so no body needs to know about it.
    """
    put_motion(work[0].a, Motion(ZERO, scale(as_vector(gravity, 0), -1.0)))
    for i in range(1, tree.size):
        body, now, up = tree[i], work[i], work[tree[i].parent]
        R, r = as_columns(now.R_WB), as_vector(now.r, 0)
        v_up, a_up = as_motion(up.v), as_motion(up.a)
        rate, change = joint_motion(body, R, qd), joint_motion(body, R, qdd)
        swing = cross(v_up.angular, r)
        v = Motion(add(v_up.angular, rate.angular), add(add(v_up.linear, swing), rate.linear))
        angular = add(add(a_up.angular, change.angular), cross(v_up.angular, rate.angular))
        linear = add(add(a_up.linear, cross(a_up.angular, r)), change.linear)
        linear = add(linear, cross(v_up.angular, add(swing, scale(rate.linear, 2.0))))
        a = Motion(angular, linear)
        put_motion(now.v, v)
        put_motion(now.a, a)
        put_force(now.f, force_to_move(as_rigid_inertia(now.inertia), v.angular, a))


@inlined
def force_on_body(link, now, wrench):
    """Take a link's torque and force about the origin of its body."""
    force = as_vector(wrench, 3)
    arm = times(as_columns(now.R_WB), as_transform(link.X).r)
    return Force(add(as_vector(wrench, 0), cross(arm, force)), force)


@kernel
def subtract_external(links, work, forces):
    """Let forces from outside, each on a link about its origin, take part of the burden."""
    for k in range(forces.shape[0]):
        now = work[links[k].body]
        put_force(now.f, subtract_forces(as_force(now.f),
                                         force_on_body(links[k], now, forces[k])))


@kernel
def move_bodies(block, q, qd, qdd):
    """Place the bodies, turn their inertias, and find how they move and what that takes."""
    tree, work = tree_of(block), work_of(block)
    place_inertias(tree, work, trig_of(block), q)
    motions(tree, work, gravity_of(block), qd, qdd)
    subtract_external(links_of(block), work, forces_of(block))
