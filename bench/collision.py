"""Time of each pair of shapes in collision detection, and of looking through many pairs."""
from pathlib import Path
import tempfile
import timeit

import numba
import numpy as np

from side_by_side.clock import print_machine, stay_on_one_core
import spr_dynamics as spr
from spr_dynamics.contact.detect import find_contacts, touch
from spr_dynamics.contact.geometry import FOUND, Geometry, placed_of, points_of
from spr_dynamics.contact.pairs import candidate_pairs, capacity
from spr_dynamics.contact.records import CONTACT, DEFAULT_OPTIONS
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.dynamics.work import Workspace

POSES = 400
BLOCKS = 20  # the best of so many counts
TOUCHING, APART, MARGIN = -1e-5, 5e-4, 1e-3  # [m]
DEPTH = 1e-8  # [m] of a thing at rest
SHAPES = {
    'plane': '<plane/>',
    'sphere': '<sphere><radius>0.1</radius></sphere>',
    'capsule': '<capsule><radius>0.06</radius><length>0.2</length></capsule>',
    'box': '<box><size>0.2 0.3 0.15</size></box>',
    'cylinder': '<cylinder><radius>0.09</radius><length>0.24</length></cylinder>',
    'cone': '<cone><radius>0.12</radius><length>0.25</length></cone>',
    'ellipsoid': '<ellipsoid><radii>0.08 0.12 0.17</radii></ellipsoid>',
    'mesh of 21': '<mesh><uri>{folder}/21.obj</uri></mesh>',
    'mesh of 201': '<mesh><uri>{folder}/201.obj</uri></mesh>',
}
SLAB = '<box><size>1 1 0.1</size></box>'
AT_REST = {  # on the slab: shape, height of its origin, whether it lies on its side
    'sphere': (SHAPES['sphere'], 0.1, False),
    'capsule, lying': (SHAPES['capsule'], 0.06, True),
    'box': (SHAPES['box'], 0.075, False),
    'cylinder': (SHAPES['cylinder'], 0.12, False),
    'cylinder, lying': (SHAPES['cylinder'], 0.09, True),
    'cone': (SHAPES['cone'], 0.125, False),
    'ellipsoid': (SHAPES['ellipsoid'], 0.17, False),
}
LYING = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0])  # z of the shape is x
PILES = {'box on the ground': 1, '10 boxes': 10, '50 boxes': 50}


@numba.njit
def touch_all(geometry, a, b, R, p, margin, found):
    """Find the contacts of a pair at each pose; the orientations of a and b are beside them."""
    placed, points = placed_of(geometry), points_of(geometry)[FOUND]
    for i in range(len(p)):
        placed[a].R_WS[:], placed[b].R_WS[:], placed[b].p_WS[:] = R[i, 0], R[i, 1], p[i]
        count, n = touch(geometry, a, b, margin)
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = count, n.x, n.y, n.z
        found[i, 4] = np.inf
        for k in range(count):
            found[i, 4] = min(found[i, 4], points[k].gap)


@numba.njit
def search(geometry, work, options, contacts):
    return find_contacts(geometry, work, options, contacts)


def pairs_of(model):
    """List what may touch in a model, however heavy it is."""
    return candidate_pairs(model, DEFAULT_OPTIONS, 1e-3, np.ones((model.tree.size, 2)))


def link(name, k, geometry, x=0.0):
    """Write a link with one collision, as a model of its own."""
    return (f"<model name='{name} {k}'><static>{str(name == 'plane').lower()}</static>"
            f"<pose>{x} 0 0.1 0 0 0</pose><link name='l'><collision name='c'><geometry>{geometry}"
            '</geometry></collision></link></model>')


def world(*models):
    return spr.load(text=f"<sdf version='1.12'><world name='w'>{''.join(models)}</world></sdf>")


def all_shapes(folder):
    """Load two of each shape."""
    rng = np.random.default_rng(0)
    for n in (21, 201):
        points = rng.normal(size=(n, 3))
        points *= [[0.1, 0.15, 0.2]] / np.linalg.norm(points, axis=1)[:, None]
        lines = [f'v {x} {y} {z}' for x, y, z in points]
        lines += [f'f {k} {k + 1} {k + 2}' for k in range(1, n, 3)]  # only corners count
        Path(folder, f'{n}.obj').write_text('\n'.join(lines))
    return world(*(link(name, k, text.format(folder=folder))
                   for name, text in SHAPES.items() for k in range(2)))


def rotations(rng, n):
    """Draw rotation matrices, row by row."""
    Q = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    return (Q * np.linalg.det(Q)[:, None, None]).reshape(n, 9)


def best_time(call, n):
    """Return the time of one of n [ns] in the best block."""
    return 1e9 * min(timeit.repeat(call, number=1, repeat=BLOCKS)) / n


def pair_times(geometry, a, b):
    """Move shapes along their normals until they touch, or nearly do; time both."""
    rng, block, found = np.random.default_rng(0), geometry.block, np.zeros((POSES, 5))
    R = np.stack([rotations(rng, POSES), rotations(rng, POSES)], axis=1)
    p = 0.05 * rng.normal(size=(POSES, 3))
    times = []
    for gap in (TOUCHING, APART):
        for _ in range(3):
            touch_all(block, a, b, R, p, np.inf, found)
            p += found[:, 1:4] * (gap - found[:, 4:])
        touch_all(block, a, b, R, p, MARGIN, found)
        call = (block, a, b, R, p, MARGIN, found)
        times.append(best_time(lambda call=call: touch_all(*call), POSES))
        times.append(found[:, 0].mean())
    return times


def print_pairs():
    print('\n### A pair of shapes, at random angles\n\n'
          '| ns | 10 um deep | points | 0.5 mm apart | points |\n'
          '| --- | ---: | ---: | ---: | ---: |')
    with tempfile.TemporaryDirectory() as folder:
        model = all_shapes(folder)
    geometry = Geometry(model, pairs_of(model))
    names = list(SHAPES)
    for i, first in enumerate(names):
        for j, second in enumerate(names[max(i, 1):], max(i, 1)):
            deep, n_deep, near, n_near = pair_times(geometry, 2 * i, 2 * j + 1)
            print(f'| {first}, {second} | {deep:.0f} | {n_deep:.1f} | {near:.0f} | {n_near:.1f} |',
                  flush=True)


def print_at_rest():
    print('\n### A thing at rest on a box\n\n| ns | time | points |\n| --- | ---: | ---: |')
    for name, (text, height, lies) in AT_REST.items():
        model = world(link('slab', 0, SLAB), link('thing', 0, text))
        geometry = Geometry(model, pairs_of(model))
        up, R = np.array([0.0, 0.0, 0.05 + height - DEPTH]), np.tile(np.eye(3).ravel(), (2, 1))
        if lies:
            R[1] = LYING
        a, b = sorted((0, 1), key=lambda k: model.shapes['kind'][k])
        p, found = np.tile(up if a == 0 else -up, (POSES, 1)), np.zeros((POSES, 5))
        call = (geometry.block, a, b, np.tile(R[[a, b]], (POSES, 1, 1)), p, MARGIN, found)
        touch_all(*call)
        time = best_time(lambda call=call: touch_all(*call), POSES)
        print(f'| {name} | {time:.0f} | {found[0, 0]:.0f} |', flush=True)


def print_piles():
    print('\n### All pairs of a scene\n\n| us | pairs | contacts | time |\n'
          '| --- | ---: | ---: | ---: |')
    for name, n in PILES.items():
        model = world(link('plane', 0, '<plane/>').replace('0.1', '0'), *(
            link('box', k, '<box><size>0.2 0.2 0.2</size></box>', 0.2 * k) for k in range(n)))
        pairs = pairs_of(model)
        geometry, contacts = Geometry(model, pairs), np.zeros(capacity(model, pairs), CONTACT)
        link_poses(model, model.home)
        work = model.buffers[Workspace].body
        work['v'] = 0.0
        call = (geometry.block, work, DEFAULT_OPTIONS.record(1e-3), contacts)
        count, _ = search(*call)
        time = best_time(lambda call=call: [search(*call) for _ in range(100)], 100)
        print(f'| {name} | {pairs.size} | {count} | {time / 1e3:.2f} |', flush=True)


def main():
    stay_on_one_core()
    print_machine(np, numba)
    print_pairs()
    print_at_rest()
    print_piles()


if __name__ == '__main__':
    main()
