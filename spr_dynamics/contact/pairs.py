"""Which pairs of shapes may touch, found once for a model."""
import math

import numpy as np

from spr_dynamics.contact.geometry import MANIFOLD
from spr_dynamics.contact.records import PAIR
from spr_dynamics.dynamics.crba import mass_matrix
from spr_dynamics.dynamics.jacobian import fill_jacobian
from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.model.model import frozen
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, pose_from_transform, SPHERE)

POINTS = {PLANE: MANIFOLD, SPHERE: 1, CAPSULE: 2, BOX: MANIFOLD, CYLINDER: MANIFOLD,
          CONE: MANIFOLD, ELLIPSOID: 1, CONVEX: MANIFOLD}  # contacts that a shape can have
SURFACE = ('mu', 'mu2', 'slip1', 'slip2', 'stiffness', 'damping', 'max_speed', 'min_depth',
           'torsion', 'patch_radius', 'surface_radius', 'torsion_slip', 'rolling', 'restitution',
           'bounce_speed')  # fields of SHAPE that make the law of a pair
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
    kinds = model.shapes['kind']
    a, b = np.triu_indices(model.shapes.size, 1)
    comes_first = kinds[a] <= kinds[b]
    a, b = np.where(comes_first, a, b), np.where(comes_first, b, a)
    watched = (kinds[b] != PLANE) & may_touch(model, a, b)
    a, b = a[watched], b[watched]
    order = np.lexsort((b, a))
    return frozen(contact_laws(model.shapes, a[order], b[order], w, options, dt))


def capacity(model, pairs) -> int:
    """Return for how many contacts there is room."""
    return min(int(points_of_pairs(model, pairs).sum()), POINTS_A_SHAPE * model.shapes.size)


def joined_links(model):
    """Return the pairs of links that a joint joins, shape (number of joints, 2)."""
    pairs = [(joint.parent, joint.child) for joint in model.assembly.joints]
    return np.array(pairs, np.int64).reshape(-1, 2)


def joined_bodies(model):
    """Return the pairs of bodies that a joint joins; the world is everybody's neighbour."""
    body = np.append(model.links['body'], 0)  # the last stands for the world: index -1
    pairs = body[joined_links(model)]
    return pairs[(pairs != 0).all(axis=1)]


def are_among(pairs, first, second) -> np.ndarray:
    """Say which of the pairs (first, second) are among some others, whoever comes first."""
    one, other = np.minimum(first, second), np.maximum(first, second)
    size = 1 + max(pairs.max(initial=0), other.max(initial=0))
    return np.isin(one * size + other, pairs.min(axis=1) * size + pairs.max(axis=1))


def may_touch(model, a, b) -> np.ndarray:
    """Say which pairs of shapes are to be watched."""
    link, body, links = model.shapes['link'], model.shapes['body'], model.assembly.links
    owner = np.unique([link.model for link in links], return_inverse=True)[1][link]
    collides = np.array([link.self_collide for link in links], bool)[link]
    category, mask = model.shapes['category_bitmask'], model.shapes['collide_bitmask']
    return ((body[a] != body[b])
            & ~are_among(joined_links(model), link[a], link[b])
            & ~are_among(joined_bodies(model), body[a], body[b])
            & ((category[a] & mask[b] | category[b] & mask[a]) != 0)
            & ((owner[a] != owner[b]) | collides[a] | collides[b]))


def contact_laws(shapes, a, b, w, options, dt) -> np.ndarray:
    """
    Combine two surfaces into one record of PAIR, for each pair of shapes.

    The smaller friction and restitution win, of both, and slips add up (as in Gazebo).

    :param w: How easily each body is pushed [1/kg] and turned [1/(kg m^2)].
    """
    pairs = np.zeros(a.size, PAIR)
    pairs['a'], pairs['b'] = a, b
    pairs['w'], turned = (w[shapes['body'][a]] + w[shapes['body'][b]]).T
    a_and_b = np.array([a, b])
    both = {name: shapes[name][a_and_b] for name in SURFACE}
    put_normal_law(pairs, both, options, dt)
    for axis, (mu, slip) in enumerate((('mu', 'slip1'), ('mu2', 'slip2'))):
        pairs['mu'][:, axis] = both[mu].min(axis=0)
        pairs['R_stick'][:, axis] = np.maximum(options.sigma * pairs['w'],
                                               both[slip].sum(axis=0) / dt)
    pairs['is_round'] = (np.ptp(pairs['mu'], axis=1) == 0.0) & (
        np.ptp(pairs['R_stick'], axis=1) == 0.0)
    pairs['guide'] = guides(shapes, a, b)
    pairs['holds'] = options.anchor and ~(both['slip1'].any(axis=0) | both['slip2'].any(axis=0))
    put_turning_law(pairs, both, turned, options, dt)
    for what in ('restitution', 'bounce_speed'):
        pairs[what] = both[what].min(axis=0)
    return pairs


def put_normal_law(pairs, both, options, dt):
    """
    Write how two surfaces yield to a pressure.

    Springs are in series, dampers add up. Rigid shapes, and those that would be stiffer than
    beta allows, get a critically damped spring of period beta dt, and their overlaps are undone
    slowly.

    :param both: Fields of the shapes a and of the shapes b, shape (2, number of pairs).
    """
    R = (options.beta / (2.0 * math.pi)) ** 2 * pairs['w']
    with np.errstate(divide='ignore', invalid='ignore'):  # of rigid shapes, which are not soft
        k, d = 1.0 / (1.0 / both['stiffness']).sum(axis=0), both['damping'].sum(axis=0)
        soft, soft_rate = 1.0 / (dt * (dt * k + d)), k / (dt * k + d)
    is_soft = soft > R
    pairs['R'] = np.where(is_soft, soft, R)
    pairs['rate'] = np.where(is_soft, soft_rate, 1.0 / (dt * (1.0 + options.beta / math.pi)))
    pairs['max_speed'] = np.where(is_soft, np.inf, np.fmin(
        options.recovery_speed, np.fmin(*both['max_speed'])))
    pairs['min_depth'] = both['min_depth'].max(axis=0)


def put_turning_law(pairs, both, w, options, dt):
    """
    Write how two surfaces resist to spin and to roll on each other.

    The patch is the larger of the two, or what those that give the radius of their surface make
    of it (curvatures add up); the smaller coefficient wins, slips add up, and of two arms of
    rolling friction it is the greater one.

    :param both: Fields of the shapes a and of the shapes b, shape (2, number of pairs).
    :param w: How easily the two are turned against each other [1/(kg m^2)].
    """
    radius = both['surface_radius']
    curvature = np.divide(1.0, radius, out=np.zeros(radius.shape), where=radius > 0.0).sum(axis=0)
    pairs['patch_radius'] = both['patch_radius'].max(axis=0)
    np.divide(1.0, curvature, out=pairs['surface_radius'], where=curvature > 0.0)
    pairs['torsion'] = np.where((pairs['patch_radius'] > 0.0) | (curvature > 0.0),
                                both['torsion'].min(axis=0), 0.0)
    pairs['R_spin'] = np.maximum(options.sigma * w, both['torsion_slip'].sum(axis=0) / dt)
    pairs['rolling'] = both['rolling'].max(axis=0)
    pairs['R_roll'] = options.sigma * w


def turning_rows(model, pairs) -> int:
    """Return for how many rows against spin and rolling there is room."""
    rows = (pairs['torsion'] > 0.0) + 2 * (pairs['rolling'] > 0.0)
    return min(int((points_of_pairs(model, pairs) * rows).sum()), 3 * capacity(model, pairs))


def points_of_pairs(model, pairs) -> np.ndarray:
    """Return how many contacts each pair of shapes can have."""
    points = np.array([POINTS[int(kind)] for kind in model.shapes['kind']], np.int64)
    return np.minimum(points[pairs['a']], points[pairs['b']])


def guides(shapes, a, b) -> np.ndarray:
    """
    Return the shape of each pair whose ``fdir1`` counts, or -1 if none has one.

    Of two it is that with the smaller friction (as in Gazebo), or the first of the file.
    """
    given, mu = shapes['fdir1'].any(axis=1), shapes['mu']
    prefers_a = (mu[a] < mu[b]) | ((mu[a] == mu[b]) & (a < b))
    return np.where(given[a] & (prefers_a | ~given[b]), a, np.where(given[b], b, -1))


def inverse_inertias(model) -> tuple[np.ndarray, np.ndarray]:
    """
    Estimate how easily bodies and joints are moved, at the pose of the file.

    Of a body the mean over the directions of J M^-1 J^T at the centre of mass, of forces [1/kg]
    and of torques [1/(kg m^2)], but not less than those of the mass of the whole tree, and of
    that mass a metre away (a body in a tree can look immovable at one pose); only for those with
    shapes, else 0. Of joints, M^-1, a block for each tree.

    :returns: Two numbers a body, shape (number of bodies, 2), and M^-1.
    """
    w, M_inv = np.zeros((model.tree.size, 2)), np.zeros((model.nv, model.nv))
    if model.nv == 0:
        return w, M_inv
    M, mass, own = mass_matrix(model, model.home), tree_masses(model), {}
    for trunk in np.unique(model.tree['trunk'][1:]).tolist():
        first, end = (model.tree[trunk][name] for name in ('column', 'end_column'))
        own[trunk] = np.sort(model.order[first:end])
        block = np.ix_(own[trunk], own[trunk])
        M_inv[block] = np.linalg.inv(M[block])
    q, J = model.neutral_q(), np.empty((6, model.nv))
    for k in np.unique(model.shapes['link']).tolist():
        i = int(model.links[k]['body'])
        if i == 0:
            continue
        inertia, columns = model.tree[i]['inertia'], own[int(model.tree[i]['trunk'])]
        centre = inertia[1:4] / inertia[0] if inertia[0] > 0.0 else np.zeros(3)
        T_LB = pose_from_transform(model.links[k]['X']).inverse()
        fill_jacobian(model.buffers[Workspace].block, q, k, T_LB.R @ centre + T_LB.p, J)
        of_tree, inverse = J.take(columns, axis=1), M_inv[np.ix_(columns, columns)]
        for part, rows in enumerate((of_tree[3:], of_tree[:3])):
            w[i, part] = max(np.trace(rows @ inverse @ rows.T) / 3.0, 1.0 / mass[i])
    return w, M_inv


def tree_masses(model) -> np.ndarray:
    """Return for each body the mass of the tree that it is part of [kg]."""
    trunk = model.tree['trunk']
    return np.bincount(trunk, model.tree['inertia'][:, 0])[trunk]
