"""The torque taken apart: M qdd + c + g, by inverse dynamics with its inputs switched off."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.bias import motions
from spr_dynamics.dynamics.check import checked, checked_position, checked_velocity, finite
from spr_dynamics.dynamics.kinematics import place_inertias
from spr_dynamics.dynamics.reduced import gather, gather_matrix, is_reduced
from spr_dynamics.dynamics.rnea import forces_through_joints
from spr_dynamics.dynamics.work import (
    gravity_of, NV, tree_of, trig_of, work_of, Workspace, zero_of)
from spr_dynamics.jit import ADDRESSES, entry_point, kernel, MATRIX, VECTOR


class TorqueTerms(NamedTuple):
    """What each part of an effort is for; the three vectors add up to inverse dynamics."""

    mass_matrix: np.ndarray
    """M(q), shape (nv, nv); off the diagonal, what one joint feels when another accelerates."""
    inertial: np.ndarray
    """M qdd: what it takes to change speed."""
    velocity: np.ndarray
    """c(q, qd): centrifugal and Coriolis forces, quadratic in speed."""
    gravity: np.ndarray
    """g(q): what it takes to stand still."""


@kernel
def forces_in_place(tree, work, gravity, qd, qdd, tau):
    """
    Call inverse dynamics of bodies whose poses and inertias in world axes are known.

    :returns: One: a call.
    """
    motions(tree, work, gravity, qd, qdd)
    forces_through_joints(tree, work, tau)
    return 1


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR)
def take_apart(block, q, qd, weightless, M, velocity, gravity):
    """
    Call inverse dynamics nv + 2 times, each time with one of its inputs.

    :param weightless: No acceleration of free fall: zeros, shape (3,).
    :param M: The identity, shape (nv, nv); becomes the columns of the inertia matrix as rows,
        which are equal but for round-off.
    :returns: The number of calls.
    """
    tree, work, zero = tree_of(block), work_of(block), zero_of(block)
    place_inertias(tree, work, trig_of(block), q)
    calls = forces_in_place(tree, work, gravity_of(block), zero, zero, gravity)
    calls += forces_in_place(tree, work, weightless, qd, zero, velocity)
    for j in range(block[NV]):
        calls += forces_in_place(tree, work, weightless, zero, M[j], M[j])
    return calls


def torque_terms(model, q, qd, qdd, reduced=False) -> TorqueTerms:
    """
    Take the joint forces of a motion apart into M qdd, c(q, qd) and g(q).

    As with ``inverse_dynamics``, dampers, springs and dry friction are not part of it.
    Joints that close loops count as opened: what they carry is not part of it.
    Gravity is ``model.gravity``, whatever a simulation has been given; of another world:
    ``dataclasses.replace(model, gravity=...)``.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param qdd: Accelerations, shape (nv,).
    :param reduced: Give the parts, and the matrix, that the velocities of ``model.independent``
        feel: a leader has those of its followers added, and no follower has a row.
    :raises TypeError: If ``reduced`` is no truth value.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    qdd = checked('qdd', qdd, model.nv)
    M, (velocity, gravity) = np.eye(model.nv), np.empty((2, model.nv))
    take_apart(model.buffers[Workspace].block, q, qd, np.zeros(3), M, velocity, gravity)
    with np.errstate(over='ignore', invalid='ignore'):  # looked at right after
        M = 0.5 * (M + M.T)  # its halves differ by round-off
        inertial = M @ qdd
        finite('torque terms', inertial + velocity + gravity, q=q, qd=qd, qdd=qdd)
    terms = TorqueTerms(M, inertial, velocity, gravity)
    if is_reduced(reduced):
        return TorqueTerms(gather_matrix(model, M), *(gather(model, part) for part in terms[1:]))
    return terms
