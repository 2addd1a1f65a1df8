"""Kinetic and potential energy."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.bias import velocities_and_bias
from spr_dynamics.dynamics.check import checked, checked_position
from spr_dynamics.dynamics.kinematics import poses, transforms, TREE_RECORDS
from spr_dynamics.dynamics.work import WORK_RECORDS, workspace_of
from spr_dynamics.jit import entry_point, MATRIX, READ_VECTOR, VECTOR
from spr_dynamics.spatial import (
    add, as_matrix, as_motion, as_rigid_inertia, as_vector, dot, momentum, power, scale, times)


class Energy(NamedTuple):
    """Mechanical energy [J]."""

    kinetic: float
    potential: float
    """Of gravity, zero at the world's origin, and of the springs."""


@entry_point(TREE_RECORDS, WORK_RECORDS, MATRIX, READ_VECTOR, VECTOR, VECTOR, VECTOR)
def energies(tree, work, trig, gravity, q, qd, out):
    """Add up kinetic energy, then potential energy, of all bodies and springs."""
    transforms(tree, work, trig, q)
    poses(tree, work)
    velocities_and_bias(tree, work, gravity, qd)
    kinetic = 0.0
    potential = 0.0
    for i in range(1, tree.size):
        body, now = tree[i], work[i]
        inertia, v = as_rigid_inertia(body.inertia), as_motion(now.v)
        kinetic += 0.5 * power(momentum(inertia, v), v)
        moment = add(times(as_matrix(now.R_WB, 0), inertia.h),
                     scale(as_vector(now.p_WB, 0), inertia.mass))
        potential -= dot(as_vector(gravity, 0), moment)
        stretch = q[body.q] - body.rest
        potential += 0.5 * body.stiffness * stretch * stretch
    out[0] = kinetic
    out[1] = potential


def energy(model, q, qd) -> Energy:
    """
    Compute the mechanical energy of a state.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :raises ValueError: If an argument has the wrong shape or is not finite; names it.
    """
    work, out = workspace_of(model), np.empty(2)
    energies(model.tree, work.body, work.trig, model.gravity, checked_position(model, q),
             checked('qd', qd, model.nv), out)
    return Energy(*out.tolist())
