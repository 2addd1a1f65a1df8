"""Momentum and the centre of mass."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.bias import move_bodies
from spr_dynamics.dynamics.check import checked_position, checked_velocity, finite
from spr_dynamics.dynamics.work import tree_of, work_of, Workspace, zero_of
from spr_dynamics.jit import ADDRESSES, entry_point, VECTOR
from spr_dynamics.spatial import (
    add, add_forces, as_motion, as_rigid_inertia, as_vector, Force, momentum as momentum_of,
    put_vector, scale, shift_force, ZERO)


class Momentum(NamedTuple):
    """Of all that moves in a model, in world axes."""

    linear: np.ndarray
    """[kg m/s], shape (3,)."""
    angular: np.ndarray
    """About the world's origin [kg m^2/s], shape (3,)."""
    centre: np.ndarray
    """Centre of mass [m], shape (3,); nan if nothing moves."""
    mass: float
    """[kg]."""


@entry_point(ADDRESSES, VECTOR, VECTOR, VECTOR)
def add_momenta(block, q, qd, out):
    """Add up the linear and angular momentum, first moment and mass of all bodies."""
    tree, work = tree_of(block), work_of(block)
    move_bodies(block, q, qd, zero_of(block))
    total, moment, mass = Force(ZERO, ZERO), ZERO, 0.0
    for i in range(1, tree.size):
        now = work[i]
        inertia, p = as_rigid_inertia(now.inertia), as_vector(now.p_WB, 0)
        total = add_forces(total, shift_force(p, momentum_of(inertia, as_motion(now.v))))
        moment = add(moment, add(inertia.h, scale(p, inertia.mass)))
        mass += inertia.mass
    put_vector(out, 0, total.linear)
    put_vector(out, 3, total.moment)
    put_vector(out, 6, moment)
    out[9] = mass


def momentum(model, q, qd) -> Momentum:
    """
    Add up the momentum of all bodies.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    out = np.empty(10)
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    add_momenta(model.buffers[Workspace].block, q, qd, out)
    finite('momentum', out, q=q, qd=qd)
    linear, angular, moment, mass = out[:3], out[3:6], out[6:9], out[9]
    return Momentum(linear, angular, moment / mass if mass else np.full(3, np.nan), float(mass))
