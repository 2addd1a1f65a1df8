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

    :param w: How easily each body is pushed [1/kg] and turned [1/(kg m^2)], shape
        (number of bodies, 2).
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
    needed = sum(points_of_pair(kinds, pair) for pair in pairs)
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

    :param w: How easily the two are pushed [1/kg] and turned [1/(kg m^2)] against each other.
    """
    pair = np.zeros((), PAIR)
    pair['a'], pair['b'], pair['w'] = a, b, w[0]
    put_normal_law(pair, first, second, options, dt)
    pair['mu'] = [min(first[mu], second[mu]) for mu in ('mu', 'mu2')]
    slips = [first[slip] + second[slip] for slip in ('slip1', 'slip2')]
    pair['R_stick'] = np.maximum(options.sigma * w[0], np.array(slips) / dt)
    pair['is_round'] = np.ptp(pair['mu']) == np.ptp(pair['R_stick']) == 0.0
    pair['guide'] = guide(a, b, first, second)
    pair['holds'] = options.anchor and not any(slips)
    put_turning_law(pair, first, second, w[1], options, dt)
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


def put_turning_law(pair, first, second, w, options, dt):
    """
    Write how two surfaces resist to spin and to roll on each other.

    The patch is the larger of the two, or what those that give the radius of their surface make
    of it (curvatures add up); the smaller coefficient wins, slips add up, and of two arms of
    rolling friction it is the greater one.

    :param w: How easily the two are turned against each other [1/(kg m^2)].
    """
    curvature = sum(1.0 / s['surface_radius'] for s in (first, second) if s['surface_radius'] > 0)
    pair['torsion'] = min(first['torsion'], second['torsion'])
    pair['patch_radius'] = max(first['patch_radius'], second['patch_radius'])
    pair['surface_radius'] = 1.0 / curvature if curvature else 0.0
    if not (pair['patch_radius'] > 0.0 or curvature):
        pair['torsion'] = 0.0
    pair['R_spin'] = max(options.sigma * w, (first['torsion_slip'] + second['torsion_slip']) / dt)
    pair['rolling'] = max(first['rolling'], second['rolling'])
    pair['R_roll'] = options.sigma * w


def turning_rows(model, pairs) -> int:
    """Return for how many rows against spin and rolling there is room."""
    kinds = model.shapes['kind']
    needed = sum(points_of_pair(kinds, pair) * (
        int(pair['torsion'] > 0.0) + 2 * int(pair['rolling'] > 0.0)) for pair in pairs)
    return min(needed, 3 * capacity(model, pairs))


def points_of_pair(kinds, pair) -> int:
    """Return how many contacts a pair of shapes can have."""
    return min(POINTS[int(kinds[pair['a']])], POINTS[int(kinds[pair['b']])])


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

    Of a body the mean over the directions of J M^-1 J^T at the centre of mass, of forces [1/kg]
    and of torques [1/(kg m^2)], but not less than those of the mass of the whole tree, and of
    that mass a metre away (a body in a tree can look immovable at one pose); only for those with
    shapes, else 0. Of joints, M^-1.

    :returns: Two numbers a body, shape (number of bodies, 2), and M^-1.
    """
    w = np.zeros((model.tree.size, 2))
    if model.nv == 0:
        return w, np.zeros((0, 0))
    M_inv, mass = np.linalg.inv(mass_matrix(model, model.home)), tree_masses(model)
    for k in sorted(set(model.shapes['link'].tolist())):
        i, inertia = model.links[k]['body'], model.tree[model.links[k]['body']]['inertia']
        if i == 0:
            continue
        centre = inertia[1:4] / inertia[0] if inertia[0] > 0.0 else np.zeros(3)
        T_LB = pose_from_transform(model.links[k]['X']).inverse()
        J = jacobian(model, model.home, model.link_names[k], T_LB.R @ centre + T_LB.p)
        for part, rows in enumerate((J[3:], J[:3])):
            w[i, part] = max(np.trace(rows @ M_inv @ rows.T) / 3.0, 1.0 / mass[i])
    return w, M_inv


def tree_masses(model) -> np.ndarray:
    """Return for each body the mass of the tree that it is part of [kg]."""
    trunk = model.tree['trunk']
    return np.bincount(trunk, model.tree['inertia'][:, 0])[trunk]
