"""Which pairs of shapes may touch, found once for a model."""
import math

import numpy as np

from spr_dynamics.contact.geometry import MANIFOLD
from spr_dynamics.contact.records import PAIR
from spr_dynamics.dynamics.crba import mass_matrix
from spr_dynamics.dynamics.jacobian import jacobian
from spr_dynamics.model.model import frozen
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, pose_from_transform, SPHERE)

POINTS = {PLANE: MANIFOLD, SPHERE: 1, CAPSULE: 2, BOX: MANIFOLD, CYLINDER: MANIFOLD,
          CONE: MANIFOLD, ELLIPSOID: 1, CONVEX: MANIFOLD}  # contacts that a shape can have
POINTS_A_SHAPE = 12  # room for contacts; Jacobians take memory, and no pile has so many


def candidate_pairs(model, options, dt, w) -> np.ndarray:
    """
    List the pairs that may touch, with their contact law for steps of dt.

    A pair is left out if both shapes are on one body, a joint joins their links or the bodies
    that these are welded into, their bitmasks have nothing in common, or they are links of one
    model that does not collide with itself.

    :param w: How easily each body is pushed [1/kg], a number a body.
    :returns: ``PAIR`` records in the order of a, then b.
    """
    joined = joined_links(model), joined_bodies(model)
    shapes = list(model.shapes)
    pairs = []
    for i, first in enumerate(shapes):
        for j, second in enumerate(shapes[:i]):
            a, b = sorted((j, i), key=lambda k: shapes[k]['kind'])
            if shapes[b]['kind'] != PLANE and may_touch(model, second, first, *joined):
                weight = w[first['body']] + w[second['body']]
                pairs.append(contact_law(a, b, shapes[a], shapes[b], weight, options, dt))
    pairs.sort(key=lambda pair: (pair['a'], pair['b']))
    return frozen(np.array(pairs, PAIR) if pairs else np.zeros(0, PAIR))


def capacity(model, pairs) -> int:
    """Return for how many contacts there is room."""
    kinds = model.shapes['kind']
    needed = sum(min(POINTS[int(kinds[pair['a']])], POINTS[int(kinds[pair['b']])])
                 for pair in pairs)
    return min(needed, POINTS_A_SHAPE * model.shapes.size)


def joined_links(model):
    """Return the pairs of links that a joint joins."""
    return {frozenset((joint.parent, joint.child)) for joint in model.assembly.joints}


def joined_bodies(model):
    """Return the pairs of bodies that a joint joins; the world is everybody's neighbour."""
    body = [*model.links['body'].tolist(), 0]  # the last stands for the world: index -1
    pairs = (frozenset((body[joint.parent], body[joint.child])) for joint in model.assembly.joints)
    return {pair for pair in pairs if 0 not in pair}


def may_touch(model, a, b, joined_links, joined_bodies):
    """Say whether a pair is to be watched."""
    if (a['body'] == b['body'] or frozenset((int(a['link']), int(b['link']))) in joined_links
            or frozenset((int(a['body']), int(b['body']))) in joined_bodies):
        return False
    if not (a['category_bitmask'] & b['collide_bitmask']
            or b['category_bitmask'] & a['collide_bitmask']):
        return False
    first, second = (model.assembly.links[shape['link']] for shape in (a, b))
    return first.model != second.model or first.self_collide or second.self_collide


def contact_law(a, b, first, second, w, options, dt) -> np.ndarray:
    """
    Combine two surfaces into one record of PAIR.

    The smaller friction and restitution win, of both, and slips add up (as in Gazebo).

    :param w: How easily the two are pushed apart [1/kg].
    """
    pair = np.zeros((), PAIR)
    pair['a'], pair['b'], pair['w'] = a, b, w
    put_normal_law(pair, first, second, options, dt)
    pair['mu'] = [min(first[mu], second[mu]) for mu in ('mu', 'mu2')]
    pair['R_stick'] = [max(options.sigma * w, (first[slip] + second[slip]) / dt)
                       for slip in ('slip1', 'slip2')]
    pair['is_round'] = np.ptp(pair['mu']) == np.ptp(pair['R_stick']) == 0.0
    pair['guide'] = guide(a, b, first, second)
    for what in ('restitution', 'bounce_speed'):
        pair[what] = min(first[what], second[what])
    return pair


def put_normal_law(pair, first, second, options, dt):
    """
    Write how two surfaces yield to a pressure.

    Springs are in series, dampers add up. Rigid shapes, and those that would be stiffer than
    beta allows, get a critically damped spring of period beta dt, and their overlaps are undone
    slowly.
    """
    R = (options.beta / (2.0 * math.pi)) ** 2 * pair['w']
    rate, max_speed = 1.0 / (dt * (1.0 + options.beta / math.pi)), np.inf
    softness, d = 1.0 / first['stiffness'] + 1.0 / second['stiffness'], (
        first['damping'] + second['damping'])
    if softness > 0.0 and 1.0 / (dt * (dt / softness + d)) > R:
        k = 1.0 / softness
        R, rate = 1.0 / (dt * (dt * k + d)), k / (dt * k + d)
    else:
        max_speed = np.fmin(options.recovery_speed,
                            np.fmin(first['max_speed'], second['max_speed']))
    pair['R'], pair['rate'], pair['max_speed'] = R, rate, max_speed
    pair['min_depth'] = max(first['min_depth'], second['min_depth'])


def guide(a, b, first, second) -> int:
    """
    Return the shape whose ``fdir1`` counts, or -1 if none has one.

    Of two it is that with the smaller friction (as in Gazebo).
    """
    given = [(shape['mu'], k) for k, shape in ((a, first), (b, second)) if shape['fdir1'].any()]
    return min(given)[1] if given else -1


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
