"""How joints move a point of a link."""
import numba
import numpy as np

from spr_dynamics.dynamics.check import checked, checked_position, finite
from spr_dynamics.dynamics.crba import unit
from spr_dynamics.dynamics.kinematics import axis_in_world, place
from spr_dynamics.dynamics.work import links_of, tree_of, trig_of, work_of, Workspace
from spr_dynamics.errors import name_hint
from spr_dynamics.jit import ADDRESSES, entry_point, inlined, MATRIX, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, along, as_columns, as_transform, as_vector, compose, Motion, shift_motion, subtract,
    times, ZERO)


@inlined
def arm_of(link, now):
    """Return where a link's origin is, from that of its body."""
    return times(as_columns(now.R_WB), as_transform(link.X).r)


@inlined
def put_column(J, k, arm, S):
    """Write what a direction of motion S does to a point at ``arm`` from where S is seen."""
    m = shift_motion(arm, S)
    J[0, k], J[1, k], J[2, k] = m.angular
    J[3, k], J[4, k], J[5, k] = m.linear


@entry_point(ADDRESSES, VECTOR, numba.int64, VECTOR, MATRIX)
def fill_jacobian(block, q, link, point, J):
    """
    Write a column for each joint between a link and the world; the others are zero.

    :param link: Index of the link.
    :param point: In the link's frame, shape (3,).
    :param J: Result, shape (6, nv).
    """
    tree, work, record = tree_of(block), work_of(block), links_of(block)[link]
    place(tree, work, trig_of(block), q)
    J[:] = 0.0
    i = record.body
    R_WL, p_WL = compose(as_columns(work[i].R_WB), as_vector(work[i].p_WB, 0),
                         as_transform(record.X))
    p = add(p_WL, times(R_WL, as_vector(point, 0)))
    while i > 0:
        body, now = tree[i], work[i]
        k, arm = body.v, subtract(p, as_vector(now.p_WB, 0))
        if body.joint == FREE:
            for axis in range(3):
                put_column(J, k + axis, arm, Motion(ZERO, unit(axis)))
                put_column(J, k + 3 + axis, arm, Motion(unit(axis), ZERO))
        elif body.joint == BALL:
            for axis in range(3):
                put_column(J, k + axis, arm, Motion(as_vector(now.R_WB, 4 * axis), ZERO))
        else:
            put_column(J, k, arm, along(axis_in_world(body, as_columns(now.R_WB)), 1.0))
        i = body.parent


def link_index(model, name) -> int:
    """
    Find a link by name.

    :raises ValueError: If there is none; says which are near.
    """
    try:
        return model.link_names.index(name)
    except ValueError:
        raise ValueError(f'no link {name!r}{name_hint(str(name), model.link_names)}') from None


def jacobian(model, q, link, point=(0.0, 0.0, 0.0)) -> np.ndarray:
    """
    Compute how velocities move a point of a link: (angular, linear) = J qd.

    Its transpose takes a wrench at that point to the joint forces that do the same work.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param link: Name of the link.
    :param point: In the link's frame [m], shape (3,).
    :returns: Rows of angular velocity, then of the point's velocity, world axes, shape (6, nv).
    :raises ValueError: If there is no such link, or an argument has the wrong shape, or is not
        finite or too large; names it.
    """
    q, point = checked_position(model, q), checked('point', point, 3)
    J = np.empty((6, model.nv))
    fill_jacobian(model.buffers[Workspace].block, q, link_index(model, link), point, J)
    return finite('jacobian', J, q=q, point=point)
