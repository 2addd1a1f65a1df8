"""What efforts and wrenches do to one link: Springhead's partial use of a joint tree."""
from typing import NamedTuple

import numba
import numpy as np

from spr_dynamics.dynamics.aba import accelerations, give_way
from spr_dynamics.dynamics.check import checked_position, checked_velocity
from spr_dynamics.dynamics.crba import mass_matrix, unit
from spr_dynamics.dynamics.forward import forward_dynamics
from spr_dynamics.dynamics.jacobian import arm_of, jacobian, link_index
from spr_dynamics.dynamics.kinematics import axis_in_world, place_inertias
from spr_dynamics.dynamics.links import link_accelerations
from spr_dynamics.dynamics.reduced import gather, spread
from spr_dynamics.dynamics.work import (
    links_of, tree_of, trig_of, work_of, Workspace, zero_of)
from spr_dynamics.jit import ADDRESSES, entry_point, inlined, kernel, MATRIX, VECTOR
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import (
    add, add_forces, as_articulated_inertia, as_columns, as_force, as_motion, as_symmetric,
    as_vector, component, Force, full, put_force, put_motion, put_vector, scale, scale_force,
    shift_force, shift_motion, times, transpose, ZERO)


class LinkResponse(NamedTuple):
    """The acceleration of a link's origin, a = K tau + D f + c: angular, then linear."""

    K: np.ndarray
    """For each unit of joint force, shape (6, nv)."""
    D: np.ndarray
    """For each unit of torque, then force, on the pushed link, shape (6, 6)."""
    c: np.ndarray
    """Without either: what gravity and velocities do, shape (6,)."""


@inlined
def passed_on(body, now, p):
    """Return the force that is felt through a joint without an effort."""
    if body.joint == BALL:
        u = scale(p.moment, -1.0)
        put_vector(now.u, 0, u)
        H = as_articulated_inertia(now.IA).H
        angular = times(full(as_symmetric(now.J_inv, 0)), u)
        return Force(ZERO, add(p.linear, times(transpose(H), angular)))
    u = -component(axis_in_world(body, as_columns(now.R_WB)), p)
    now.u[0] = u
    return add_forces(p, scale_force(as_force(now.U), u * now.inv_d))


@kernel
def respond(tree, work, pushed, wrench, zero, qdd):
    """
    Find what a wrench on one body does to a robot at rest, without weight or efforts.

    The force goes inward along one branch; all bodies may move. Needs the articulated inertias
    that ``accelerations`` leaves.

    :param pushed: Index of the body.
    :param wrench: On it, about its origin.
    :param qdd: Result, shape (nv,); the bodies' accelerations are in ``da``.
    """
    for i in range(1, tree.size):
        put_force(work[i].f, Force(ZERO, ZERO))
        put_vector(work[i].u, 0, ZERO)
    i, p = pushed, scale_force(wrench, -1.0)
    while i > 0:
        body, now = tree[i], work[i]
        if body.joint == FREE:
            put_force(now.f, p)
        else:
            p = shift_force(as_vector(now.r, 0), passed_on(body, now, p))
        i = body.parent
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        a = shift_motion(as_vector(now.r, 0), as_motion(work[body.parent].da))
        put_motion(now.da, give_way(body, now, a, zero, qdd))


@entry_point(ADDRESSES, VECTOR, numba.int64, numba.int64, MATRIX, MATRIX)
def fill_responses(block, q, link, pushed, K, D):
    """
    Fill K^T = M^-1 J^T by pushing the link itself in six directions; M^-1 is symmetric.

    One pass over the inertias, then O(nb) a direction.

    :param link: Index of the link that moves.
    :param pushed: Index of the link that ``D`` is for.
    """
    tree, work, zero = tree_of(block), work_of(block), zero_of(block)
    here, there = links_of(block)[link], links_of(block)[pushed]
    place_inertias(tree, work, trig_of(block), q)
    for i in range(1, tree.size):
        put_force(work[i].f, Force(ZERO, ZERO))
    accelerations(tree, work, zero, zero, K[0])
    arm, arm_there = arm_of(here, work[here.body]), arm_of(there, work[there.body])
    for k in range(6):
        wrench = shift_force(arm, Force(unit(k), unit(k - 3)))
        respond(tree, work, here.body, wrench, zero, K[k])
        put_motion(D[k], shift_motion(arm_there, as_motion(work[there.body].da)))


def responses_with_followers(model, q, link, pushed) -> tuple[np.ndarray, np.ndarray]:
    """Compute K and D where joints follow others: G (G^T M G)^-1 G^T in the place of M^-1."""
    felt = gather(model, jacobian(model, q, link).T)
    K = spread(model, np.linalg.solve(mass_matrix(model, q, reduced=True), felt)).T
    return K, K @ jacobian(model, q, pushed).T


def link_response(model, q, qd, link, pushed_link=None) -> LinkResponse:
    """
    Find how the acceleration of a link depends on efforts and on a wrench.

    Springhead's ``CalcAccel`` answers the same, a dynamics pass for each effort. Here it takes one
    over the inertias and O(nb) for each of six directions; where joints follow others, a dense
    solution with G^T M G. The state of a simulation is not touched. Dampers, springs, limits and
    contacts are not part of it.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param link: Name of the link whose acceleration is asked for.
    :param pushed_link: Name of the link that the wrench acts on, about its origin; ``link``
        without it.
    :returns: K, D and c of a = K tau + D f + c; a is angular, then linear, of the link's origin
        as seen from the world; f is torque, then force; all in world axes.
    :raises ValueError: If there is no such link, an argument has the wrong shape, or is not finite
        or too large; names it. And if joints close loops.
    """
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    pushed_link = link if pushed_link is None else pushed_link
    here, there = link_index(model, link), link_index(model, pushed_link)
    qdd = forward_dynamics(model, q, qd, np.zeros(model.nv))
    c = link_accelerations(model, q, qd, qdd)[here]
    if model.followers.size:
        return LinkResponse(*responses_with_followers(model, q, link, pushed_link), c)
    K, D = np.empty((6, model.nv)), np.empty((6, 6))
    fill_responses(model.buffers[Workspace].block, q, here, there, K, D)
    return LinkResponse(K, D, c)
