"""Forward dynamics: joint accelerations from joint forces."""
import numpy as np

from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import (
    BAD, block_with, checked, checked_out, checked_position, checked_velocity,
    finite, is_position, is_vector, is_velocity, not_a_model, OK, status_of)
from spr_dynamics.dynamics.coupled import find_accelerations
from spr_dynamics.dynamics.work import HAS_LOOPS, NQ, NV, tree_of, Workspace, zero_of
from spr_dynamics.jit import ADDRESSES, entry_point, VECTOR


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR, VECTOR)
def aba(block, q, qd, tau, qdd):
    """
    Articulated-body algorithm (Featherstone 2008, table 7.1), O(nb); O(nv^3) with followers.

    The first pass is that of ``rnea`` with qdd = 0, so that no body has a bias of its own.

    :param block: A ``Workspace``'s.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param tau: Joint forces, shape (nv,).
    :param qdd: Result: accelerations, shape (nv,).
    :returns: OK; BAD if an argument has a wrong size, or is not finite or too large, or joints
        close loops; OVERFLOWN if the result is not finite.
    """
    nv, zero = block[NV], zero_of(block)
    if not (is_position(tree_of(block), q, block[NQ]) and is_velocity(qd, nv)
            and is_vector(tau, nv) and qdd.size == nv) or block[HAS_LOOPS] != 0:
        return BAD
    move_bodies(block, q, qd, zero)
    find_accelerations(block, tau, zero, qdd)
    return status_of(qdd)


def forward_dynamics(model, q, qd, tau, f_ext=None, out=None) -> np.ndarray:
    """
    Compute the joint accelerations that given forces cause.

    Joints that follow others do so: a force on a follower acts on its leader. Damping, springs
    and dry friction are not part of it: add ``passive_forces`` to ``tau``.

    Gravity is ``model.gravity``, whatever a simulation has been given; of another world:
    ``dataclasses.replace(model, gravity=...)``.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param tau: Joint forces [N m or N], shape (nv,); of a free root: force at the link's origin,
        then moment, world axes.
    :param f_ext: Torque, then force on each link, world axes, about the link's origin, shape
        (number of links, 6).
    :param out: Array for the result, shape (nv,); a new one without it.
    :returns: Accelerations qdd, shape (nv,): the rate of change of qd.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it. And if joints close loops, which only a ``Simulation`` holds together.
    """
    try:
        block = model.buffers[Workspace].block if f_ext is None else block_with(model, f_ext)
    except AttributeError:
        raise not_a_model(model) from None
    if out is None:
        out = np.empty(model.nv)
    try:
        are_plain = type(q) is type(qd) is type(tau) is np.ndarray  # nothing is masked
        status = aba(block, q, qd, tau, out) if are_plain else BAD
    except (TypeError, ValueError):  # not contiguous, writable arrays of doubles
        status = BAD
    if status != OK:
        if model.ties.size:
            raise ValueError(f"joints of '{model.name}' close loops: step a Simulation of it")
        q, qd = checked_position(model, q), checked_velocity(model, qd)
        tau = checked('tau', tau, model.nv)
        aba(block, q, qd, tau, checked_out(out, (model.nv,)))
        finite('qdd', out, q=q, qd=qd, tau=tau, f_ext=f_ext)
    return out
