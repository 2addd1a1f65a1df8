"""Which pairs of shapes may touch, found once for a model."""
import math

import numpy as np

from spr_dynamics.contact.records import PAIR
from spr_dynamics.dynamics.crba import mass_matrix
from spr_dynamics.dynamics.jacobian import jacobian
from spr_dynamics.model.model import frozen
from spr_dynamics.model.records import BOX, PLANE, pose_from_transform, SPHERE

POINTS = {SPHERE: 1, BOX: 8}  # contacts that a shape can have with a plane


def candidate_pairs(model, options, dt, w) -> np.ndarray:
    """
    List the pairs that may touch, with their contact law for steps of dt.

    A pair is left out if both shapes are on one body, a joint joins their links, their bitmasks
    have nothing in common, or they are links of one model that does not collide with itself.

    :param w: How easily each body is pushed [1/kg], a number a body.
    :returns: ``PAIR`` records.
    """
    neighbours = joined_links(model)
    pairs = []
    for a, plane in enumerate(model.shapes):
        if plane['kind'] != PLANE:
            continue
        for b, shape in enumerate(model.shapes):
            if shape['kind'] != PLANE and may_touch(model, plane, shape, neighbours):
                weight = w[plane['body']] + w[shape['body']]
                pairs.append(contact_law(a, b, plane, shape, weight, options, dt))
    return frozen(np.array(pairs, PAIR) if pairs else np.zeros(0, PAIR))


def capacity(model, pairs) -> int:
    """Return how many contacts there can be at most."""
    return sum(POINTS[int(model.shapes[pair['b']]['kind'])] for pair in pairs)


def joined_links(model):
    """Return the pairs of links that a joint joins."""
    return {frozenset((joint.parent, joint.child)) for joint in model.assembly.joints}


def may_touch(model, a, b, neighbours):
    """Say whether a pair is to be watched."""
    if a['body'] == b['body'] or frozenset((int(a['link']), int(b['link']))) in neighbours:
        return False
    if not (a['category_bitmask'] & b['collide_bitmask']
            or b['category_bitmask'] & a['collide_bitmask']):
        return False
    first, second = (model.assembly.links[shape['link']] for shape in (a, b))
    return first.model != second.model or first.self_collide or second.self_collide


def contact_law(a, b, plane, shape, w, options, dt):
    """
    Combine two surfaces into one record of PAIR.

    Springs are in series, dampers add up, the smaller friction wins (as in Gazebo). Rigid shapes,
    and those that would be stiffer than beta allows, get a critically damped spring of period
    beta dt, and their overlaps are undone slowly.
    """
    R = (options.beta / (2.0 * math.pi)) ** 2 * w
    rate, max_speed = 1.0 / (dt * (1.0 + options.beta / math.pi)), np.inf
    softness, d = 1.0 / plane['stiffness'] + 1.0 / shape['stiffness'], (
        plane['damping'] + shape['damping'])
    if softness > 0.0 and 1.0 / (dt * (dt / softness + d)) > R:
        k = 1.0 / softness
        R, rate = 1.0 / (dt * (dt * k + d)), k / (dt * k + d)
    else:
        max_speed = np.fmin(options.recovery_speed,
                            np.fmin(plane['max_speed'], shape['max_speed']))
    return (a, b, min(plane['mu'], shape['mu']), R, options.sigma * w, rate, max_speed,
            max(plane['min_depth'], shape['min_depth']))


def inverse_inertias(model) -> tuple[np.ndarray, np.ndarray]:
    """
    Estimate how easily bodies and joints are moved, at the pose of the file.

    Of a body [1/kg] the mean over the directions of J M^-1 J^T at the centre of mass, but not
    less than one over the mass of the whole tree (a body in a tree can look immovable at one
    pose); only for those with shapes, else 0. Of joints, M^-1.

    :returns: One number a body, and M^-1.
    """
    w = np.zeros(model.tree.size)
    if model.nv == 0:
        return w, np.zeros((0, 0))
    M_inv, mass = np.linalg.inv(mass_matrix(model, model.home)), tree_masses(model)
    for k in sorted(set(model.shapes['link'].tolist())):
        i, inertia = model.links[k]['body'], model.tree[model.links[k]['body']]['inertia']
        if i == 0:
            continue
        centre = inertia[1:4] / inertia[0] if inertia[0] > 0.0 else np.zeros(3)
        T_LB = pose_from_transform(model.links[k]['X']).inverse()
        J = jacobian(model, model.home, model.link_names[k], T_LB.R @ centre + T_LB.p)[3:]
        w[i] = max(np.trace(J @ M_inv @ J.T) / 3.0, 1.0 / mass[i])
    return w, M_inv


def tree_masses(model) -> np.ndarray:
    """Return for each body the mass of the tree that it is part of [kg]."""
    trunk = model.tree['trunk']
    return np.bincount(trunk, model.tree['inertia'][:, 0])[trunk]
