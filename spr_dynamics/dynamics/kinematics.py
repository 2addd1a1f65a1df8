"""Where the bodies and links are."""
import numpy as np

from spr_dynamics.dynamics.check import checked_position
from spr_dynamics.dynamics.work import links_of, tree_of, trig_of, work_of, Workspace
from spr_dynamics.jit import ADDRESSES, CUBE, entry_point, inlined, kernel, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, along, as_matrix, as_rigid_inertia, as_transform, as_vector, axis_of, component, compose,
    Motion, product, put_matrix, put_rigid_inertia, put_vector, RigidInertia, rotation, scale,
    sines_and_cosines, times, transpose, turn_about_z, turned, Vector, ZERO)


@kernel
def place(tree, work, trig, q):
    """Chain the joints to each body's pose in the world (Featherstone 2008, section 4.4)."""
    angle, sine, cosine = trig[0], trig[1], trig[2]
    for j in range(q.size):
        angle[j] = q[j]
    sines_and_cosines(angle, sine, cosine)
    for i in range(1, tree.size):
        body, now, up = tree[i], work[i], work[tree[i].parent]
        j = body.q
        if body.joint == FREE:
            R, r = rotation(q[j + 3], q[j + 4], q[j + 5], q[j + 6]), as_vector(q, j)
        else:
            X, R_WP = as_transform(body.X), as_matrix(up.R_WB, 0)
            R, r = product(R_WP, transpose(X.E)), times(R_WP, X.r)
            if body.joint == BALL:
                R = product(R, rotation(q[j], q[j + 1], q[j + 2], q[j + 3]))
            else:
                if body.slide != 0.0:
                    r = add(r, scale(Vector(R.xz, R.yz, R.zz), body.slide * q[j]))
                if body.turn != 0.0:
                    R = turn_about_z(R, sine[j], cosine[j])
        put_matrix(now.R_WB, 0, R)
        put_vector(now.r, 0, r)
        put_vector(now.p_WB, 0, add(as_vector(up.p_WB, 0), r))


@kernel
def turn_inertias(tree, work):
    """Turn each body's inertia into world axes."""
    for i in range(1, tree.size):
        m, h, about = as_rigid_inertia(tree[i].inertia)
        R = as_matrix(work[i].R_WB, 0)
        put_rigid_inertia(work[i].inertia, RigidInertia(m, times(R, h), turned(R, about)))


@inlined
def axis_in_world(body, R):
    """Return S of a joint with one axis."""
    return axis_of(R, body.turn, body.slide)


@inlined
def joint_motion(body, R, rates):
    """Compute S rate, the motion across the joint."""
    k = body.v
    if body.joint == FREE:
        return Motion(as_vector(rates, k + 3), as_vector(rates, k))
    if body.joint == BALL:
        return Motion(times(R, as_vector(rates, k)), ZERO)
    return along(axis_in_world(body, R), rates[k])


@inlined
def joint_force(body, R, f, tau):
    """Write S^T f, the part of a body's force that its joint feels, into tau."""
    k = body.v
    if body.joint == FREE:
        put_vector(tau, k, f.linear)
        put_vector(tau, k + 3, f.moment)
    elif body.joint == BALL:
        put_vector(tau, k, times(transpose(R), f.moment))
    else:
        tau[k] = component(axis_in_world(body, R), f)


@entry_point(ADDRESSES, VECTOR, CUBE)
def forward_kinematics(block, q, T_WL):
    """
    Compute the pose of every link.

    :param T_WL: Result: homogeneous transforms, shape (number of links, 4, 4).
    """
    tree, work, links = tree_of(block), work_of(block), links_of(block)
    place(tree, work, trig_of(block), q)
    for k in range(links.size):
        now = work[links[k].body]
        R, p = compose(as_matrix(now.R_WB, 0), as_vector(now.p_WB, 0), as_transform(links[k].X))
        T_WL[k, 0, 0], T_WL[k, 0, 1], T_WL[k, 0, 2], T_WL[k, 0, 3] = R.xx, R.xy, R.xz, p.x
        T_WL[k, 1, 0], T_WL[k, 1, 1], T_WL[k, 1, 2], T_WL[k, 1, 3] = R.yx, R.yy, R.yz, p.y
        T_WL[k, 2, 0], T_WL[k, 2, 1], T_WL[k, 2, 2], T_WL[k, 2, 3] = R.zx, R.zy, R.zz, p.z
        T_WL[k, 3, 0], T_WL[k, 3, 1], T_WL[k, 3, 2], T_WL[k, 3, 3] = 0.0, 0.0, 0.0, 1.0


def link_poses(model, q) -> np.ndarray:
    """
    Compute the pose of every link in the world.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :returns: Homogeneous transforms T_WL, shape (number of links, 4, 4).
    :raises ValueError: If ``q`` has another shape, or is not finite or too large.
    """
    q = checked_position(model, q)
    T_WL = np.empty((model.links.size, 4, 4))
    forward_kinematics(model.buffers[Workspace].block, q, T_WL)
    return T_WL
