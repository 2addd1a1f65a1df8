"""What every twin is made from: a model's merged bodies, and how coordinates carry over."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.records import FREE
from spr_dynamics.sdformat.poses import Pose


class Body(NamedTuple):
    """A body of a model: its joint turns about, or slides along, its own z axis."""

    parent: int
    """Number of the parent, counted depth first; 0 is the world."""
    T_PB: Pose
    """Pose in the parent at q = 0."""
    is_free: bool
    slides: bool
    mass: float
    centre: np.ndarray
    inertia: np.ndarray
    """About the centre of mass, in the body's axes, shape (3, 3)."""
    record: np.void
    """The ``TREE`` record."""


def numbers_of(model):
    """Count the bodies depth first, as other engines do: a number for each record of the tree."""
    order = np.argsort(model.tree['column'][1:], kind='stable') + 1
    numbers = np.zeros(model.tree.size, int)
    numbers[order] = np.arange(1, model.tree.size)
    return numbers


def bodies_of(model):
    """List the bodies without the world, depth first."""
    numbers = numbers_of(model)
    return [body_of(model.tree[i], numbers) for i in np.argsort(numbers)[1:]]


def body_of(record, numbers):
    """Read a ``TREE`` record."""
    mass, h, about = record['inertia'][0], record['inertia'][1:4], np.zeros((3, 3))
    about[np.triu_indices(3)] = record['inertia'][4:]
    about += np.triu(about, 1).T
    c = h / mass
    return Body(
        int(numbers[record['parent']]), Pose(record['X'][:9].reshape(3, 3).T, record['X'][9:]),
        record['joint'] == FREE, record['slide'] == 1.0, mass, c,
        about - mass * (c @ c * np.eye(3) - np.outer(c, c)), record)


def positions(model, q, quaternion):
    """
    Write positions in the order of the bodies.

    :param quaternion: How theirs is ordered, as indices into w x y z.
    """
    theirs = []
    for body in bodies_of(model):
        k = body.record['q']
        theirs += ([*q[k:k + 3], *q[k + 3:k + 7][quaternion]] if body.is_free else [q[k]])
    return np.array(theirs)


def change(model, q, linear_is_local):
    """
    Return C with their velocity = C times ours, of which a free root's is in world axes.

    Their angular velocity is in the body's axes; their linear one is, too, if they say so.
    """
    C = np.zeros((model.nv, model.nv))
    row = 0
    for body in bodies_of(model):
        k = body.record['v']
        if not body.is_free:
            C[row, k] = 1.0
            row += 1
            continue
        j = body.record['q']
        R_BW = Pose.from_quat_wxyz(q[j:j + 3], q[j + 3:j + 7]).R.T
        C[row:row + 3, k:k + 3] = R_BW if linear_is_local else np.eye(3)
        C[row + 3:row + 6, k + 3:k + 6] = R_BW
        row += 6
    return C


def drift(model, q, qd):
    """Return their acceleration when ours is zero, for linear velocities in the body's axes."""
    C = change(model, q, True)
    v, drift = C @ qd, np.zeros(model.nv)
    row = 0
    for body in bodies_of(model):
        if body.is_free:
            drift[row:row + 3] = -np.cross(v[row + 3:row + 6], v[row:row + 3])
        row += 6 if body.is_free else 1
    return drift
