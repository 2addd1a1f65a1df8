"""Where the bodies and links are."""
import numpy as np

from spr_dynamics.dynamics.check import checked_position
from spr_dynamics.dynamics.lanes import combine, lane, put_quad, quad_at
from spr_dynamics.dynamics.work import links_of, tree_of, trig_of, work_of, Workspace
from spr_dynamics.jit import ADDRESSES, CUBE, entry_point, inlined, kernel, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    along, as_columns, as_transform, as_vector, axis_of, component, compose, Motion, put_columns,
    put_vector, rotation, sines_and_cosines, times, transpose, ZERO)


@kernel
def take_sines(trig, q):
    """Look up the sine and cosine of every position, also of those that are no angles."""
    angle, sine, cosine = trig[0], trig[1], trig[2]
    for j in range(q.size):
        angle[j] = q[j]
    sines_and_cosines(angle, sine, cosine)


@inlined
def place_next(body, now, up, trig, q):
    """
    Write where a body is, given its parent's place (Featherstone 2008, section 4.4).

    :returns: The columns of its orientation.
    """
    j, X = body.q, body.X
    if body.joint == FREE:
        put_columns(now.R_WB, rotation(q[j + 3], q[j + 4], q[j + 5], q[j + 6]))
        r = quad_at(q, j)
        x, y, z = quad_at(now.R_WB, 0), quad_at(now.R_WB, 4), quad_at(now.R_WB, 8)
    else:
        up_axes = quad_at(up.R_WB, 0), quad_at(up.R_WB, 4), quad_at(up.R_WB, 8)
        x = combine(up_axes, (X[0], X[1], X[2]))
        y = combine(up_axes, (X[3], X[4], X[5]))
        z = combine(up_axes, (X[6], X[7], X[8]))
        r = combine(up_axes, (X[9], X[10], X[11]))
        if body.joint == BALL:
            R = rotation(q[j], q[j + 1], q[j + 2], q[j + 3])
            x, y, z = (combine((x, y, z), (R.xx, R.yx, R.zx)),
                       combine((x, y, z), (R.xy, R.yy, R.zy)),
                       combine((x, y, z), (R.xz, R.yz, R.zz)))
        else:
            if body.slide != 0.0:
                r = combine((r, z), (1.0, body.slide * q[j]))
            if body.turn != 0.0:
                sine, cosine = trig[1, j], trig[2, j]
                x, y = combine((x, y), (cosine, sine)), combine((y, x), (cosine, -sine))
    put_quad(now.R_WB, 0, x)
    put_quad(now.R_WB, 4, y)
    put_quad(now.R_WB, 8, z)
    put_quad(now.r, 0, r)
    put_quad(now.p_WB, 0, combine((quad_at(up.p_WB, 0), r), (1.0, 1.0)))
    return x, y, z


@kernel
def place(tree, work, trig, q):
    """Chain the joints to each body's pose in the world."""
    take_sines(trig, q)
    for i in range(1, tree.size):
        place_next(tree[i], work[i], work[tree[i].parent], trig, q)


@inlined
def turn_inertia(own, axes, inertia):
    """
    Turn a body's inertia R I R^T into world axes.

    :param own: Mass, first moment and inertia in its own axes.
    :param axes: Columns of R.
    :param inertia: Result: the same in world axes.
    """
    x, y, z = axes
    half = (combine(axes, (own[4], own[5], own[6])), combine(axes, (own[5], own[7], own[8])),
            combine(axes, (own[6], own[8], own[9])))
    first = combine(half, (lane(x, 0), lane(y, 0), lane(z, 0)))
    second = combine(half, (lane(x, 1), lane(y, 1), lane(z, 1)))
    xx, yy = lane(first, 0), lane(second, 1)
    inertia[0] = own[0]
    put_quad(inertia, 1, combine(axes, (own[1], own[2], own[3])))
    put_quad(inertia, 4, first)  # over the fourth number, which means nothing
    inertia[7], inertia[8] = yy, lane(second, 2)
    inertia[9] = (own[4] + own[7] + own[9]) - (xx + yy)  # turning keeps the trace


@kernel
def place_inertias(tree, work, trig, q):
    """Chain the joints to each body's pose, and turn its inertia into world axes."""
    take_sines(trig, q)
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        axes = place_next(body, now, work[body.parent], trig, q)
        turn_inertia(body.inertia, axes, now.inertia)


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
        R, p = compose(as_columns(now.R_WB), as_vector(now.p_WB, 0), as_transform(links[k].X))
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
