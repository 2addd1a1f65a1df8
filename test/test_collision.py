"""Collision detection: against coal, in closed form, at rest, and where it is degenerate."""
import math

import numba
import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.contact.detect import find_contacts, touch
from spr_dynamics.contact.geometry import FOUND, Geometry, placed_of, points_of
from spr_dynamics.contact.pairs import candidate_pairs
from spr_dynamics.contact.records import CONTACT, DEFAULT_OPTIONS
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE)

ROUNDOFF = 1e-12  # [m] of positions below a metre
PREFERENCE = 0.02  # share of its overlap that a flat face may be behind a better direction
SETTLED = 2e-6  # [m] in which a direction counts as good as another
COAL_ERROR = 1e-5  # [m] of coal at a tolerance of 1e-9, where it finds the right feature
POSES = 150  # of each two shapes; four or more of them make a pair of kinds

FORMS = {
    'plane': ['<plane/>'],
    'sphere': ['<sphere><radius>0.1</radius></sphere>', '<sphere><radius>0.02</radius></sphere>'],
    'capsule': ['<capsule><radius>0.06</radius><length>0.2</length></capsule>',
                '<capsule><radius>0.01</radius><length>0.3</length></capsule>'],
    'box': ['<box><size>0.2 0.3 0.15</size></box>', '<box><size>0.4 0.3 0.01</size></box>'],
    'cylinder': ['<cylinder><radius>0.09</radius><length>0.24</length></cylinder>',
                 '<cylinder><radius>0.15</radius><length>0.02</length></cylinder>'],
    'cone': ['<cone><radius>0.12</radius><length>0.25</length></cone>',
             '<cone><radius>0.15</radius><length>0.05</length></cone>'],
    'ellipsoid': ['<ellipsoid><radii>0.08 0.12 0.17</radii></ellipsoid>',
                  '<ellipsoid><radii>0.02 0.15 0.1</radii></ellipsoid>'],
    'mesh': ['<mesh><uri>{folder}/stone.stl</uri></mesh>',
             '<mesh><uri>{folder}/block.stl</uri></mesh>',
             '<mesh><uri>{folder}/pebble.stl</uri></mesh>'],
}
KINDS = list(FORMS)
PAIRS = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[max(i, 1):]]


@numba.njit
def touch_each(geometry, a, b, R_a, p_a, R_b, p_b, margin, found, points, keys):
    """Find the contacts of a pair at each pose."""
    placed, now = placed_of(geometry), points_of(geometry)[FOUND]
    for i in range(len(found)):
        placed[a].R_WS[:], placed[a].p_WS[:] = R_a[i], p_a[i]
        placed[b].R_WS[:], placed[b].p_WS[:] = R_b[i], p_b[i]
        count, n = touch(geometry, a, b, margin)
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = count, n.x, n.y, n.z
        for k in range(count):
            keys[i, k], points[i, k, 3] = now[k].key, now[k].gap
            for axis in range(3):
                points[i, k, axis] = now[k].p[axis] + p_a[i, axis]


@numba.njit
def find_all(geometry, work, options, contacts):
    return find_contacts(geometry, work, options, contacts)


def pairs_of(model):
    """List what may touch in a model, however heavy it is."""
    return candidate_pairs(model, DEFAULT_OPTIONS, 1e-3, np.ones((model.tree.size, 2)))


def scene(*geometries):
    """Load shapes, each in a model of its own; planes are fixed."""
    return spr.load(text="<sdf version='1.12'><world name='w'>" + ''.join(
        f"<model name='m{k}'><static>{'true' if 'plane' in text else 'false'}</static>"
        f"<link name='l'><collision name='c'><geometry>{text}</geometry></collision></link>"
        '</model>' for k, text in enumerate(geometries)) + '</world></sdf>')


class Pair:
    """Two shapes of a model, wherever they are put."""

    def __init__(self, model, a, b):
        self.model, self.a, self.b = model, a, b
        self.geometry = Geometry(model, pairs_of(model))

    def at(self, poses, margin):
        """Return counts, normals, points with gaps, and keys at (R_a, p_a, R_b, p_b)."""
        n = len(poses[1])
        found, keys = np.zeros((n, 4)), np.zeros((n, 4), np.int64)
        points = np.full((n, 4, 4), np.inf)
        R_a, p_a, R_b, p_b = (np.ascontiguousarray(x, float).reshape(n, -1) for x in poses)
        touch_each(self.geometry.block, self.a, self.b, R_a, p_a, R_b, p_b, margin, found, points,
                   keys)
        return found[:, 0].astype(int), found[:, 1:], points, keys

    def gap_along(self, poses, n):
        """Compute how far the shapes are apart along n, by their support functions."""
        R_a, p_a, R_b, p_b = poses
        return (-self._reach(self.b, R_b, p_b, -n) - self._reach(self.a, R_a, p_a, n))

    def _reach(self, k, R, p, n):
        local = np.einsum('kij,ki->kj', R, n)
        return np.einsum('ki,ki->k', p, n) + reach(self.model, self.model.shapes[k], local)


def reach(model, shape, d):
    """Return how far a shape reaches along unit vectors in its axes, shape (n, 3)."""
    kind, (x, _, z), across = shape['kind'], shape['size'], np.hypot(d[:, 0], d[:, 1])
    if kind == PLANE:
        return np.zeros(len(d))
    if kind == SPHERE:
        return np.full(len(d), x)
    if kind == CAPSULE:
        return x + (z - x) * np.abs(d[:, 2])
    if kind == BOX:
        return np.abs(d) @ shape['size']
    if kind == CYLINDER:
        return x * across + z * np.abs(d[:, 2])
    if kind == CONE:
        return np.maximum(z * d[:, 2], x * across - z * d[:, 2])
    if kind == ELLIPSOID:
        return np.linalg.norm(d * shape['size'], axis=1)
    return (d @ vertices_of_mesh(model, shape).T).max(axis=1)


def vertices_of_mesh(model, shape):
    first = shape['first_vertex']
    return model.vertices[first:first + shape['n_vertices']]


def rotations(rng, n):
    """Draw rotation matrices."""
    Q = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    return Q * np.linalg.det(Q)[:, None, None]


def random_poses(rng, n, far):
    """Draw poses at which two shapes' origins are up to ``far`` apart."""
    d = rng.normal(size=(n, 3))
    d *= far * rng.uniform(0.0, 1.0, (n, 1)) / np.linalg.norm(d, axis=1)[:, None]
    p = rng.uniform(-1.0, 1.0, (n, 3))
    return rotations(rng, n), p, rotations(rng, n), p + d


@pytest.fixture(scope='module')
def forms(tmp_path_factory):
    """Load two of each shape of FORMS, and say which shapes those are."""
    trimesh = needs.module('trimesh')
    needs.module('scipy')
    folder, rng = tmp_path_factory.mktemp('meshes'), np.random.default_rng(3)
    for name, n in (('stone', 30), ('pebble', 300)):  # looked through, and climbed
        points = rng.normal(size=(n, 3))
        points *= [[0.1, 0.15, 0.2]] / np.linalg.norm(points, axis=1)[:, None]
        trimesh.PointCloud(points).convex_hull.export(folder / f'{name}.stl')
    trimesh.creation.box((0.3125, 0.03125, 0.25)).export(folder / 'block.stl')
    texts = [(kind, text.format(folder=folder)) for kind in KINDS for text in 2 * FORMS[kind]]
    model = scene(*(text for _, text in texts))
    assert model.shapes.size == len(texts), model.warnings
    numbers = {kind: [k for k, (other, _) in enumerate(texts) if other == kind] for kind in KINDS}
    return model, numbers


def each_two(forms, a, b):
    """Yield the pairs of shapes of two kinds."""
    model, numbers = forms
    half_a, half_b = (len(FORMS[kind]) for kind in (a, b))
    for first in numbers[a][:half_a]:
        for second in numbers[b][half_b:]:
            yield Pair(model, first, second)


def coal_shape(coal, model, shape):
    """Make the same shape for coal."""
    kind, (x, y, z) = shape['kind'], shape['size']
    if kind == CONVEX:
        vertices = coal.StdVec_Vec3s()
        for vertex in vertices_of_mesh(model, shape):
            vertices.append(vertex)
        return coal.Convex.convexHull(vertices, True, 'Qt')
    return {PLANE: lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
            SPHERE: lambda: coal.Sphere(x), CAPSULE: lambda: coal.Capsule(x, 2 * (z - x)),
            BOX: lambda: coal.Box(2 * x, 2 * y, 2 * z), CYLINDER: lambda: coal.Cylinder(x, 2 * z),
            CONE: lambda: coal.Cone(x, 2 * z), ELLIPSOID: lambda: coal.Ellipsoid(x, y, z),
            }[int(kind)]()


def coal_gaps(coal, pair, poses):
    """Return coal's signed distances."""
    first, second = (coal_shape(coal, pair.model, pair.model.shapes[k]) for k in (pair.a, pair.b))
    compute, request = coal.ComputeDistance(first, second), coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    gaps = []
    for R_a, p_a, R_b, p_b in zip(*poses):
        result = coal.DistanceResult()
        gaps.append(compute(coal.Transform3s(R_a, p_a), coal.Transform3s(R_b, p_b), request,
                            result))
    return np.maximum(gaps, -1.0)  # -1e308 where it gave up


@pytest.mark.parametrize('a, b', PAIRS, ids=[f'{a}-{b}' for a, b in PAIRS])
def test_every_pair_agrees_with_coal(forms, a, b):
    """
    The gap is what lies between the shapes along the normal, and no other normal is better.

    A gap along any normal is a lower bound of the distance. So the first line proves that ours
    is no more than the truth, and where coal's is less, coal has missed it (it does for some
    deep overlaps of round shapes). That ours is not less than coal's is the rest; flat faces may
    be preferred to a direction that is better by 2 %.
    """
    coal, rng, margin = needs.module('coal'), np.random.default_rng(1), 0.05
    for pair in each_two(forms, a, b):
        sizes = pair.model.shapes['radius'][[pair.a, pair.b]]
        poses = random_poses(rng, POSES, sizes.sum() + margin)
        counts, normals, points, keys = pair.at(poses, margin)
        theirs, hit = coal_gaps(coal, pair, poses), counts > 0
        ours = points[:, :, 3].min(axis=1)
        hit_poses = [x[hit] for x in poses]
        np.testing.assert_allclose(np.linalg.norm(normals[hit], axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(ours[hit], pair.gap_along(hit_poses, normals[hit]),
                                   atol=SETTLED)
        allowed = PREFERENCE * np.abs(theirs) + COAL_ERROR
        assert (ours >= theirs - allowed)[hit].all()
        assert (theirs >= margin - allowed)[~hit].all()
        assert (theirs < margin + allowed)[hit].all()
        assert (np.abs(ours - theirs) <= allowed)[hit & (np.abs(theirs) < 0.01)].mean() > 0.97
        for k in range(len(counts)):
            assert len(set(keys[k, :counts[k]])) == counts[k]


def pair_of(first, second):
    model = scene(first, second)
    return Pair(model, *sorted((0, 1), key=lambda k: model.shapes['kind'][k]))


def single(pair, p, R=None, margin=0.01):
    """Return normal, points, gaps and keys; the first shape is at the origin, the second at p."""
    poses, sign = [[np.eye(3)], [np.zeros(3)], [np.eye(3) if R is None else R], [p]], 1
    if pair.a > pair.b:  # shapes go by kind, tests by what they put where
        poses, sign = poses[2:] + poses[:2], -1
    counts, normals, points, keys = pair.at(poses, margin)
    n = counts[0]
    return sign * normals[0], points[0, :n, :3], points[0, :n, 3], keys[0, :n]


def turn(axis, angle):
    """Return a rotation about a coordinate axis."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


CUBE = '<box><size>0.2 0.2 0.2</size></box>'
SLAB = '<box><size>1 1 0.1</size></box>'
BALL = '<sphere><radius>0.1</radius></sphere>'
ROD = '<capsule><radius>0.05</radius><length>0.2</length></capsule>'
CAN = '<cylinder><radius>0.1</radius><length>0.2</length></cylinder>'
HAT = '<cone><radius>0.1</radius><length>0.2</length></cone>'
EGG = '<ellipsoid><radii>0.1 0.1 0.2</radii></ellipsoid>'
UPSIDE_DOWN = turn(0, math.pi)


@pytest.mark.parametrize('first, second, p_b, R_b, n, gap', [
    (BALL, BALL, [0.12, 0, 0.16], None, [0.6, 0, 0.8], 0.0),
    (BALL, CUBE, [0, 0.19, 0], None, [0, 1, 0], -0.01),
    (BALL, CUBE, [0.03, 0, 0], None, [1, 0, 0], -0.17),
    (BALL, CAN, [0.1 + 0.06, 0, 0.1 + 0.08], None, [0.6, 0, 0.8], 0.0),
    (BALL, HAT, [0, 0, -0.195], None, [0, 0, -1], -0.005),
    (ROD, ROD, [0, 0, 0.095], turn(0, 0.5 * math.pi), [1, 0, 0], -0.1),
    (ROD, ROD, [0.095, 0, 0], turn(0, 0.5 * math.pi), [1, 0, 0], -0.005),
    (CUBE, CUBE, [0.2 * math.sqrt(2) - 0.01, 0, 0], turn(2, 0.25 * math.pi) @ turn(
        1, 0.25 * math.pi), None, None),
    (CAN, CAN, [0.195, 0, 0.03], turn(0, 0.5 * math.pi), [1, 0, 0], -0.005),
    (CAN, HAT, [0, 0, 0.195], UPSIDE_DOWN, [0, 0, 1], -0.005),
    (CUBE, EGG, [0.03, 0.05, 0.299], None, [0, 0, 1], -0.001),
    (CAN, EGG, [0.199, 0, 0.02], None, [1, 0, 0], -0.001),
    (EGG, EGG, [0.2005, 0, 0], None, [1, 0, 0], 0.0005),
    (EGG, EGG, [0, 0, 0.3999], None, [0, 0, 1], -0.0001),
])
def test_normal_and_gap_are_those_of_geometry(first, second, p_b, R_b, n, gap):
    pair = pair_of(first, second)
    normal, points, gaps, _ = single(pair, p_b, R_b)
    if n is None:  # whatever they are, they belong together
        poses = np.eye(3)[None], np.zeros((1, 3)), R_b[None], np.array([p_b])
        n, gap = normal, pair.gap_along(poses, normal[None])[0]
    np.testing.assert_allclose(np.abs(normal @ n), 1.0, atol=1e-12)
    np.testing.assert_allclose(gaps.min(), gap, atol=1e-11)


def square(half, z):
    return [[x, y, z] for x in (-half, half) for y in (-half, half)]


RIM = [[-0.1, 0, 0.05], [0.1, 0, 0.05], [0, -0.1, 0.05], [0, 0.1, 0.05]]
LYING = turn(1, 0.5 * math.pi)


@pytest.mark.parametrize('first, second, p_b, R_b, expected', [
    (SLAB, CUBE, [0, 0, 0.15], None, square(0.1, 0.05)),
    (CUBE, CUBE, [0, 0, 0.2], None, square(0.1, 0.1)),
    (CUBE, CUBE, [0.1, 0, 0.2], None, [[x, y, 0.1] for x in (0.0, 0.1) for y in (-0.1, 0.1)]),
    (SLAB, CAN, [0, 0, 0.15], None, RIM),
    (SLAB, HAT, [0, 0, 0.15], None, RIM),
    (SLAB, CAN, [0, 0, 0.15], LYING, [[-0.1, 0, 0.05], [0.1, 0, 0.05]]),
    (SLAB, ROD, [0, 0, 0.1], LYING, [[-0.1, 0, 0.05], [0.1, 0, 0.05]]),
    (CAN, CAN, [0, 0, 0.2], None, [[x, y, 0.1] for x, y, _ in RIM]),
    (CAN, CAN, [0.2, 0, 0.05], None, [[0.1, 0, -0.05], [0.1, 0, 0.1]]),
    (ROD, ROD, [0.1, 0, 0.05], None, [[0.05, 0, -0.05], [0.05, 0, 0.1]]),
])
@pytest.mark.parametrize('depth', [0.0, 1e-9, -1e-9, 1e-6, 1e-4])
def test_faces_that_rest_on_each_other_touch_at_their_corners(first, second, p_b, R_b, expected,
                                                              depth):
    pair, points_at = pair_of(first, second), np.array(sorted(expected))
    across = np.ptp(points_at, axis=0)
    away = np.eye(3)[np.argmin(across + [0.0, 1.0, 0.0])]  # none lies along y
    normal, points, gaps, _ = single(pair, np.array(p_b) - depth * away, R_b)
    np.testing.assert_allclose(normal, away, atol=1e-12)
    np.testing.assert_allclose(gaps, -depth, atol=ROUNDOFF)
    order = np.lexsort(np.round(points, 6).T[::-1])
    # where a round side rests, a shift of 1e-8 changes the gap by less than its round-off
    np.testing.assert_allclose(points[order] + 0.5 * depth * away, points_at, atol=2e-8)


def test_mesh_rests_on_a_box_at_the_corners_of_its_face(forms):
    model, numbers = forms
    pair = Pair(model, numbers['box'][0], numbers['mesh'][1])
    normal, points, gaps, keys = single(pair, [0.0, 0.0, 0.075 + 0.125])
    np.testing.assert_allclose(normal, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(gaps, 0.0, atol=ROUNDOFF)
    corners = [[x, y, 0.075] for x in (-0.1, 0.1) for y in (-0.015625, 0.015625)]
    order = np.lexsort(np.round(points, 6).T[::-1])
    np.testing.assert_allclose(points[order], corners, atol=ROUNDOFF)
    assert len(set(keys)) == 4


def test_ids_stay_while_a_box_slides_and_turns_a_little():
    pair, rng = pair_of(SLAB, CUBE), np.random.default_rng(0)
    seen = set()
    for step in range(300):
        tilt = turn(0, 1e-9 * rng.normal()) @ turn(1, 1e-9 * rng.normal()) @ turn(2, 0.2)
        p = [-0.3 + 0.002 * step, 0.1, 0.15 + 1e-9 * rng.normal()]
        seen.add(tuple(single(pair, p, tilt)[3]))
    assert len(seen) == 1 and len(next(iter(seen))) == 4


@pytest.mark.parametrize('second', [CUBE, CAN, HAT])
def test_ids_stay_where_sides_are_flush(second):
    """Corners right above the sides of the face below are neither in nor out."""
    pair, rng = pair_of(CUBE, second), np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        p = np.array([0.0, 0.0, 0.2]) + 1e-9 * rng.normal(size=3)
        tilt = turn(0, 1e-9 * rng.normal()) @ turn(1, 1e-9 * rng.normal()) @ turn(
            2, 1e-9 * rng.normal())
        seen.add(tuple(single(pair, p, tilt)[3]))
    assert len(seen) == 1


@pytest.mark.parametrize('shape', [CUBE, CAN, HAT, EGG, ROD, BALL])
def test_ids_stay_while_things_rest_on_each_other(shape):
    """Each stands on a slab that stands on the ground."""
    text = f"""<sdf version='1.12'><world name='w'>
      <model name='g'><static>true</static><link name='l'><collision name='c'><geometry><plane/>
        </geometry></collision></link></model>
      <model name='slab'><pose>0 0 0.05 0 0 0</pose><link name='l'><collision name='c'><geometry>
        {SLAB}</geometry></collision></link></model>
      <model name='top'><pose>0.1 0.05 {0.1 + {EGG: 0.2, ROD: 0.15}.get(shape, 0.1)} 0 0 0.3
        </pose><link name='l'><collision name='c'><geometry>{shape}</geometry></collision></link>
      </model></world></sdf>"""
    sim = spr.Simulation(spr.load(text=text))
    sim.step(n=100)
    keys = sim.contacts[['shape_a', 'shape_b', 'key']]
    for _ in range(100):
        sim.step()
        assert (sim.contacts[['shape_a', 'shape_b', 'key']] == keys).all()
    assert (sim.contacts['gap'] > -1e-6).all()


@pytest.mark.parametrize('a, b', PAIRS, ids=[f'{a}-{b}' for a, b in PAIRS])
def test_shapes_inside_each_other_get_a_normal_that_parts_them(forms, a, b):
    """At one point, turned alike, turned, and nearly at one point."""
    rng = np.random.default_rng(2)
    for pair in each_two(forms, a, b):
        R = np.stack([np.eye(3), np.eye(3), turn(0, 0.5 * math.pi), *rotations(rng, 9)])
        p = np.zeros((12, 3))
        p[1], p[-3:] = [1e-12, 0, 0], 1e-9 * rng.normal(size=(3, 3))
        poses = np.stack([np.eye(3)] * 12), np.zeros((12, 3)), R, p
        counts, normals, points, _ = pair.at(poses, 0.01)
        assert (counts > 0).all()
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
        gaps = points[:, :, 3].min(axis=1)
        np.testing.assert_allclose(gaps, pair.gap_along(poses, normals), atol=SETTLED)
        sizes = pair.model.shapes['radius'][[pair.a, pair.b]]
        assert (gaps > -sizes.sum() - 1e-8).all()
        inside = np.arange(4)[None, :] < counts[:, None]
        assert np.isfinite(points[inside]).all()


@pytest.mark.parametrize('size', [1e-6, 1e3])
def test_tiny_and_huge_shapes_touch_as_others_do(size):
    """What is scaled by a power of ten has scaled gaps and the same normals."""
    texts = [f'<box><size>{size} {size} {size}</size></box>',
             f'<cylinder><radius>{0.5 * size}</radius><length>{size}</length></cylinder>',
             f'<ellipsoid><radii>{0.3 * size} {0.5 * size} {0.8 * size}</radii></ellipsoid>',
             f'<cone><radius>{0.5 * size}</radius><length>{size}</length></cone>',
             f'<capsule><radius>{0.3 * size}</radius><length>{size}</length></capsule>']
    model = scene(*texts, *texts)
    for a in range(5):
        for b in range(5):
            pair = Pair(model, *sorted((a, b + 5), key=lambda k: model.shapes['kind'][k]))
            poses = random_poses(np.random.default_rng(a), 100, size)
            poses[1][:] *= size
            poses[3][:] = poses[1] + random_poses(np.random.default_rng(b), 100, size)[3] - (
                random_poses(np.random.default_rng(b), 100, size)[1])
            counts, normals, points, _ = pair.at(poses, 0.1 * size)
            hit = counts > 0
            assert hit.sum() > 50
            np.testing.assert_allclose(
                points[hit, :, 3].min(axis=1) / size,
                pair.gap_along([x[hit] for x in poses], normals[hit]) / size, atol=SETTLED)


def test_huge_slab_and_tiny_ball():
    pair = pair_of('<box><size>1000 1000 1</size></box>', CUBE.replace('0.2', '0.001'))
    normal, points, gaps, _ = single(pair, [400.0, 300.0, 0.5005])
    np.testing.assert_allclose(normal, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(gaps, 0.0, atol=1e-12)
    assert len(points) == 4 and np.ptp(points[:, 0]) > 0.9e-3


def test_answers_do_not_depend_on_what_was_asked_before(forms):
    rng = np.random.default_rng(5)
    for a, b in (('box', 'box'), ('cylinder', 'mesh'), ('cone', 'ellipsoid')):
        pair = next(each_two(forms, a, b))
        poses = random_poses(rng, 100, 0.3)
        there = pair.at(poses, 0.01)
        back = pair.at([x[::-1] for x in poses], 0.01)
        for first, second in zip(there, back):
            assert (first == second[::-1]).all()


def test_what_finds_no_room_is_the_shallowest_and_is_counted():
    cubes = ''.join(
        f"<model name='m{k}'><pose>{k} 0 {0.1 - 1e-4 * k} 0 0 0</pose><link name='l'>"
        f"<collision name='c'><geometry>{CUBE}</geometry></collision></link></model>"
        for k in range(3))
    model = spr.load(text="<sdf version='1.12'><world name='w'><model name='g'>"
                     "<static>true</static><link name='l'><collision name='c'><geometry><plane/>"
                     f"</geometry></collision></link></model>{cubes}</world></sdf>")
    geometry = Geometry(model, pairs_of(model))
    link_poses(model, model.home)
    work, options = model.buffers[Workspace].body, DEFAULT_OPTIONS.record(1e-3)
    work['v'] = 0.0
    contacts = np.zeros(6, CONTACT)
    count, dropped = find_all(geometry.block, work, options, contacts)
    assert (count, dropped) == (6, 6)
    assert contacts['shape_b'].tolist() == [2, 2, 3, 3, 3, 3]
    assert find_all(geometry.block, work, options, np.zeros(12, CONTACT)) == (12, 0)


def test_link_welded_to_a_neighbour_is_a_neighbour():
    """A flange on link b overlaps link a, which carries b."""
    model = spr.load(text=f"""<sdf version='1.12'><model name='m'>
      <self_collide>true</self_collide>
      {''.join(f"<link name='{name}'><collision name='c'><geometry>{BALL}</geometry></collision>"
               '</link>' for name in ('a', 'b', 'flange', 'far'))}
      <joint name='ab' type='revolute'><parent>a</parent><child>b</child><axis/></joint>
      <joint name='weld' type='fixed'><parent>b</parent><child>flange</child></joint>
      <joint name='bf' type='revolute'><parent>flange</parent><child>far</child><axis/></joint>
      </model></sdf>""")
    names = [(model.shape_names[pair['a']], model.shape_names[pair['b']])
             for pair in pairs_of(model)]
    assert names == [('a::c', 'far::c')]


def mesh_model(path, more=''):
    return scene(f'<mesh{more}><uri>{path}</uri></mesh>')


def test_mesh_counts_as_its_hull_and_says_so(tmp_path):
    trimesh = needs.module('trimesh')
    needs.module('collada')
    ring = trimesh.creation.annulus(r_min=0.1, r_max=0.2, height=0.1)
    ring.export(tmp_path / 'ring.stl')
    model = mesh_model(tmp_path / 'ring.stl')
    assert model.shapes['kind'].tolist() == [CONVEX]
    assert ['is not convex; its convex hull is used, of which it fills 75 %' in warning
            for warning in model.warnings].count(True) == 1, model.warnings
    hull = mesh_model(tmp_path / 'ring.stl', " optimization='convex_hull'")
    assert not any('convex' in warning for warning in hull.warnings)


def test_mesh_away_from_its_origin_stays_where_it_is(tmp_path):
    trimesh = needs.module('trimesh')
    needs.module('collada')
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    box.apply_translation((1.0, 2.0, 3.0))
    box.export(tmp_path / 'box.stl')
    model = mesh_model(tmp_path / 'box.stl')
    shape = model.shapes[0]
    np.testing.assert_allclose(shape['X'][9:], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(shape['radius'], 0.1 * math.sqrt(3.0), rtol=1e-6)
    assert (shape['n_vertices'], shape['n_faces']) == (8, 6)
    corners = model.vertices[model.faces['first'][0]:][:4]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
    assert normal @ model.faces['normal'][0] > 0.0


def test_mesh_that_is_not_there_touches_nothing_and_is_named():
    model = mesh_model('nowhere.stl')
    assert model.shapes.size == 0
    assert any("collision 'l::c' touches nothing: mesh 'nowhere.stl' is not found" in warning
               for warning in model.warnings), model.warnings


def test_flat_mesh_touches_nothing_and_is_named(tmp_path):
    trimesh = needs.module('trimesh')
    needs.module('collada')
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]]).export(
        tmp_path / 'sheet.stl')
    assert any('is flat, or has less than four points' in warning
               for warning in mesh_model(tmp_path / 'sheet.stl').warnings)
