"""Inverse dynamics: joint forces from joint accelerations."""
import numpy as np

from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import (
    BAD, block_with, checked, checked_out, checked_position, checked_velocity, finite,
    is_position, is_vector, is_velocity, not_a_model, OK, status_of)
from spr_dynamics.dynamics.kinematics import joint_force
from spr_dynamics.dynamics.reduced import gather, is_reduced
from spr_dynamics.dynamics.work import NQ, NV, tree_of, work_of, Workspace
from spr_dynamics.jit import ADDRESSES, entry_point, kernel, VECTOR
from spr_dynamics.spatial import (
    add_forces, as_columns, as_force, as_vector, put_force, shift_force)


@kernel
def forces_through_joints(tree, work, tau):
    """Second pass, inward: each joint carries its body and what the joints beyond it carry."""
    for i in range(tree.size - 1, 0, -1):
        body, now = tree[i], work[i]
        f = as_force(now.f)
        joint_force(body, as_columns(now.R_WB), f, tau)
        if body.parent > 0:
            up = work[body.parent]
            put_force(up.f, add_forces(as_force(up.f), shift_force(as_vector(now.r, 0), f)))


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR, VECTOR)
def rnea(block, q, qd, qdd, tau):
    """
    Recursive Newton-Euler algorithm (Featherstone 2008, table 5.1), O(nb).

    Arguments are those of ``aba``, with accelerations and forces changing places.
    """
    tree, nv = tree_of(block), block[NV]
    if not (is_position(tree, q, block[NQ]) and is_velocity(qd, nv) and is_vector(qdd, nv)
            and tau.size == nv):
        return BAD
    move_bodies(block, q, qd, qdd)
    forces_through_joints(tree, work_of(block), tau)
    return status_of(tau)


def inverse_dynamics(model, q, qd, qdd, f_ext=None, out=None, reduced=False) -> np.ndarray:
    """
    Compute the joint forces that a given motion needs: tau = M qdd + c + g - external.

    Gravity is ``model.gravity``, whatever a simulation has been given; of another world:
    ``dataclasses.replace(model, gravity=...)``.

    Joints that close loops count as opened: what they carry is not part of it.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param qdd: Accelerations, shape (nv,).
    :param f_ext: Torque, then force on each link, world axes, about the link's origin, shape
        (number of links, 6).
    :param out: Array for the result, shape (nv,); a new one without it.
    :param reduced: Return G^T tau, what the velocities of ``model.independent`` feel; ``out``
        still takes tau.
    :returns: Joint forces tau [N m or N], shape (nv,).
    :raises TypeError: If ``reduced`` is no truth value.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    try:
        block = model.buffers[Workspace].block if f_ext is None else block_with(model, f_ext)
    except AttributeError:
        raise not_a_model(model) from None
    if out is None:
        out = np.empty(model.nv)
    try:
        are_plain = type(q) is type(qd) is type(qdd) is np.ndarray  # nothing is masked
        status = rnea(block, q, qd, qdd, out) if are_plain else BAD
    except (TypeError, ValueError):  # not contiguous, writable arrays of doubles
        status = BAD
    if status != OK:
        q, qd = checked_position(model, q), checked_velocity(model, qd)
        qdd = checked('qdd', qdd, model.nv)
        rnea(block, q, qd, qdd, checked_out(out, (model.nv,)))
        finite('tau', out, q=q, qd=qd, qdd=qdd, f_ext=f_ext)
    if reduced is False:  # the quick way
        return out
    return gather(model, out) if is_reduced(reduced) else out
