"""How the links move."""
import numpy as np

from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import (
    checked, checked_model, checked_position, checked_velocity, finite)
from spr_dynamics.dynamics.jacobian import arm_of
from spr_dynamics.dynamics.work import gravity_of, links_of, work_of, Workspace
from spr_dynamics.jit import ADDRESSES, entry_point, MATRIX, VECTOR
from spr_dynamics.spatial import (
    add, as_motion, as_vector, cross, Motion, put_motion, shift_motion)


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX)
def move_links(block, q, qd, qdd, velocity, acceleration):
    """
    Find how the origin of each link moves.

    :param velocity: Result: angular, then linear, shape (number of links, 6).
    :param acceleration: Result of the same shape.
    """
    work, links, gravity = work_of(block), links_of(block), gravity_of(block)
    move_bodies(block, q, qd, qdd)
    for k in range(links.size):
        now = work[links[k].body]
        arm, v, a = arm_of(links[k], now), as_motion(now.v), as_motion(now.a)
        swing = cross(v.angular, cross(v.angular, arm))
        fall = add(swing, as_vector(gravity, 0))  # to ``motions`` the world accelerates upward
        a = shift_motion(arm, a)
        put_motion(velocity[k], shift_motion(arm, v))
        put_motion(acceleration[k], Motion(a.angular, add(a.linear, fall)))


def link_motions(model, q, qd, qdd):
    """Return velocities and accelerations of all links."""
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    qdd = checked('qdd', qdd, model.nv)
    motions = np.empty((2, model.links.size, 6))
    move_links(model.buffers[Workspace].block, q, qd, qdd, *motions)
    return finite('motion of links', motions, q=q, qd=qd, qdd=qdd)


def link_velocities(model, q, qd) -> np.ndarray:
    """
    Compute the velocity of every link.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :returns: Angular velocity, then that of the link's origin, world axes, shape
        (number of links, 6).
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    return link_motions(model, q, qd, np.zeros(checked_model(model).nv))[0]


def link_accelerations(model, q, qd, qdd) -> np.ndarray:
    """
    Compute the acceleration of every link, as seen from the world.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param qdd: Accelerations, shape (nv,).
    :returns: Angular acceleration, then that of the link's origin, world axes, shape
        (number of links, 6). What an accelerometer feels is this less gravity.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    return link_motions(model, q, qd, qdd)[1]
