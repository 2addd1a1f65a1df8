"""Kinetic and potential energy."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import checked_position, checked_velocity, finite
from spr_dynamics.dynamics.work import (
    drives_of, gravity_of, tree_of, work_of, Workspace, zero_of)
from spr_dynamics.jit import ADDRESSES, entry_point, VECTOR
from spr_dynamics.spatial import (
    add, as_motion, as_rigid_inertia, as_vector, dot, momentum, power, scale)


class Energy(NamedTuple):
    """Mechanical energy [J]."""

    kinetic: float
    potential: float
    """Of gravity, zero at the world's origin, and of the springs."""


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR)
def energies(block, q, qd, out):
    """Add up kinetic energy, then potential energy, of all bodies and springs."""
    tree, work, gravity = tree_of(block), work_of(block), gravity_of(block)
    drives = drives_of(block)
    move_bodies(block, q, qd, zero_of(block))
    kinetic = 0.0
    potential = 0.0
    for i in range(1, tree.size):
        now = work[i]
        inertia, v = as_rigid_inertia(now.inertia), as_motion(now.v)
        kinetic += 0.5 * power(momentum(inertia, v), v)
        moment = add(inertia.h, scale(as_vector(now.p_WB, 0), inertia.mass))
        potential -= dot(as_vector(gravity, 0), moment)
    for a in range(drives.size):
        stretch = q[drives[a].q] - drives[a].rest
        potential += 0.5 * drives[a].stiffness * stretch * stretch
    out[0] = kinetic
    out[1] = potential


def energy(model, q, qd) -> Energy:
    """
    Compute the mechanical energy of a state.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    out = np.empty(2)
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    energies(model.buffers[Workspace].block, q, qd, out)
    return Energy(*finite('energy', out, q=q, qd=qd).tolist())
