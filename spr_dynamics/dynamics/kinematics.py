"""Where the bodies and links are, and how fast they move."""
import numpy as np

from spr_dynamics.dynamics.check import checked_position
from spr_dynamics.dynamics.work import WORK_RECORDS, workspace_of
from spr_dynamics.jit import CUBE, entry_point, inlined, kernel, MATRIX, read_records, VECTOR
from spr_dynamics.model.records import FREE, LINK, TREE
from spr_dynamics.spatial import (
    along, as_matrix, as_transform, as_vector, Axis, component, compose, Matrix, Motion,
    put_matrix, put_transform, put_vector, sines_and_cosines, times, transform_axis,
    transform_free, transpose, Vector)

TREE_RECORDS = read_records(TREE)
LINK_RECORDS = read_records(LINK)


@kernel
def transforms(tree, work, trig, q):
    """Compute each body's transform from its parent (Featherstone 2008, section 4.4)."""
    sine, cosine = trig[0], trig[1]
    sines_and_cosines(q, sine, cosine)
    for i in range(1, tree.size):
        body = tree[i]
        j = body.q
        if body.joint == FREE:
            X = transform_free(as_vector(q, j), q[j + 3], q[j + 4], q[j + 5], q[j + 6])
        else:
            S = Axis(body.turn, body.slide)
            X = transform_axis(as_transform(body.X), S, q[j], sine[j], cosine[j])
        put_transform(work[i].X, X)


@kernel
def poses(tree, work):
    """Chain the transforms to each body's pose in the world."""
    put_matrix(work[0].R_WB, 0, Matrix(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put_vector(work[0].p_WB, 0, Vector(0.0, 0.0, 0.0))
    for i in range(1, tree.size):
        now, up = work[i], work[tree[i].parent]
        R, p = compose(as_matrix(up.R_WB, 0), as_vector(up.p_WB, 0), as_transform(now.X))
        put_matrix(now.R_WB, 0, R)
        put_vector(now.p_WB, 0, p)


@inlined
def joint_motion(body, X, qd):
    """Compute S qd, the motion across the joint, in body coordinates."""
    k = body.v
    if body.joint == FREE:
        return Motion(times(X.E, as_vector(qd, k + 3)), times(X.E, as_vector(qd, k)))
    return along(Axis(body.turn, body.slide), qd[k])


@inlined
def joint_force(body, X, f, tau):
    """Write S^T f, the part of a body's force that its joint feels, into tau."""
    k = body.v
    if body.joint == FREE:
        put_vector(tau, k, times(transpose(X.E), f.linear))
        put_vector(tau, k + 3, times(transpose(X.E), f.moment))
    else:
        tau[k] = component(Axis(body.turn, body.slide), f)


@entry_point(TREE_RECORDS, LINK_RECORDS, WORK_RECORDS, MATRIX, VECTOR, CUBE)
def forward_kinematics(tree, link, work, trig, q, T_WL):
    """
    Compute the pose of every link.

    :param T_WL: Result: homogeneous transforms, shape (number of links, 4, 4).
    """
    transforms(tree, work, trig, q)
    poses(tree, work)
    for k in range(link.size):
        now = work[link[k].body]
        R, p = compose(as_matrix(now.R_WB, 0), as_vector(now.p_WB, 0), as_transform(link[k].X))
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
    :raises ValueError: If ``q`` has another shape or is not finite.
    """
    work = workspace_of(model)
    T_WL = np.empty((model.links.size, 4, 4))
    forward_kinematics(model.tree, model.links, work.body, work.trig,
                       checked_position(model, q), T_WL)
    return T_WL
