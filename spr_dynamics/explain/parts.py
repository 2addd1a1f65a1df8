"""What each effort of a motion is for, as numbers."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.terms import torque_terms
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.explain.columns import velocity_names
from spr_dynamics.explain.loops import velocity_map
from spr_dynamics.model.records import AXIS, FREE

ROUNDOFF = 1e-12  # what is smaller than this share of the largest number is none


class Parts(NamedTuple):
    """Efforts over a motion, a column for each velocity that leads."""

    names: list
    units: list
    """``N m`` or ``N``."""
    is_root: np.ndarray
    """Whether each is one of the six of a free root, which has no motor."""
    limit: np.ndarray
    """Largest effort of each, inf without a limit."""
    inertial: np.ndarray
    """M qdd, shape (samples, names)."""
    velocity: np.ndarray
    """c."""
    gravity: np.ndarray
    """g."""

    @property
    def total(self):
        """What inverse dynamics says."""
        return self.inertial + self.velocity + self.gravity

    def of_joints(self) -> 'Parts':
        """Leave out free roots."""
        kept = np.flatnonzero(~self.is_root)
        return Parts([self.names[k] for k in kept], [self.units[k] for k in kept],
                     *(values[..., kept] for values in self[2:]))


def parts_of(model, motion) -> Parts:
    """
    Take the efforts of a motion apart.

    A leader's include what its followers need, and what a closed loop makes move with it.

    :raises SprDynamicsError: If one is beyond all numbers, or a loop is at a dead centre.
    """
    chosen = motion.leaders
    found = np.array([felt(model, chosen, *state) for state in zip(*motion[:4])])
    found[np.abs(found) <= ROUNDOFF * np.abs(found).max(initial=0.0)] = 0.0
    names, units = velocity_names(model), effort_units(model)
    return Parts([names[k] for k in chosen], [units[k] for k in chosen],
                 are_of_roots(model)[chosen], effort_limits(model)[chosen],
                 *found.swapaxes(0, 1))


def felt(model, chosen, time, q, qd, qdd):
    """Return the three parts of what some velocities feel, shape (3, number of them)."""
    G = velocity_map(model, q, chosen)
    try:
        M, _, velocity, gravity = torque_terms(model, q, qd, qdd)
    except ValueError as problem:
        raise SprDynamicsError(f'at {time:g} s: {problem}') from None
    with np.errstate(over='ignore', invalid='ignore'):  # looked at right after
        by_bend = M @ (qdd - G @ qdd[chosen])  # how closed loops bend is quadratic in speed, too
        parts = np.array([M @ G @ qdd[chosen], velocity + by_bend, gravity]) @ G
    if not np.isfinite(parts).all():
        raise SprDynamicsError(f'at {time:g} s the motion is so fast that its efforts are '
                               'beyond all numbers')
    return parts


def are_of_roots(model):
    """Answer for each velocity whether it is one of a free root."""
    answers = np.zeros(model.nv, bool)
    for root in model.free_roots:
        answers[root.v:root.v + 6] = True
    return answers


def effort_limits(model):
    """
    Return the largest effort for each velocity; motors of followers help their leaders.

    A follower without a limit of its own counts as one without a motor.
    """
    limits = model.effort_limit.copy()
    for follower in model.followers:
        own = model.effort_limit[follower['v']]
        if np.isfinite(own):
            limits[follower['leader_v']] += abs(follower['ratio']) * own
    return limits


def effort_units(model):
    """Return the unit of the effort for each velocity."""
    units = ['N m'] * model.nv
    for body in model.tree[1:]:
        k = body['v']
        if body['joint'] == FREE:
            units[k:k + 3] = ['N'] * 3
        elif body['joint'] == AXIS and body['turn'] == 0.0:
            units[k] = 'N'
    return units
