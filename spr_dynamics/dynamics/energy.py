"""Kinetic and potential energy."""
import math
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
    """Of gravity, zero at the world's origin, and of the springs, also of closing joints."""


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR)
def energies(block, q, qd, out):
    """Add up kinetic energy, then potential energy, of all bodies and springs of the tree."""
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


def in_closing_springs(hinges, body):
    """
    Add up what the springs of joints that close loops hold; turns are not counted.

    :param hinges: ``HINGE`` records.
    :param body: ``WORK`` records, poses being those of the state.
    """
    total = 0.0
    for hinge in hinges:
        a, b = body[hinge['a']], body[hinge['b']]
        R_WA, R_WB = (now['R_WB'].reshape(3, 4)[:, :3].T for now in (a, b))
        z = R_WA @ hinge['z_a']
        if hinge['is_angle']:
            x_a, x_b = R_WA @ hinge['x_a'], R_WB @ hinge['x_b']
            place = math.atan2(z @ np.cross(x_a, x_b), x_a @ x_b)
        else:
            place = float(z @ (b['p_WB'][:3] + R_WB @ hinge['p_b']
                               - a['p_WB'][:3] - R_WA @ hinge['p_a']))
        stretch = place - float(hinge['rest'])
        total += 0.5 * float(hinge['stiffness']) * stretch * stretch
    return total


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
    workspace = model.buffers[Workspace]
    energies(workspace.block, q, qd, out)
    out[1] += in_closing_springs(model.hinges, workspace.body)
    return Energy(*finite('energy', out, q=q, qd=qd).tolist())
