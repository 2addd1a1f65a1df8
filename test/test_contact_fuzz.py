"""
Wild scenes: whatever is thrown at what, numbers stay finite and nothing comes out of nothing.

``make campaign`` throws many more than ``make test`` (SPR_FUZZ_SCENES).
"""
import os

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.contact.records import DEFAULT_OPTIONS
from spr_dynamics.dynamics.energy import energy

SCENES = int(os.environ.get('SPR_FUZZ_SCENES', '42'))
STEPS = 300
STEP_LENGTHS = (5e-4, 1e-3, 2e-3, 5e-3, 1e-2)  # [s]
FASTEST = 20.0  # [m/s] and [rad/s]
# Of steps: 0.0009 of 42 scenes (0.0005 of 150), most of them in scene 7, which jams. It is 0.0034
# without the solver's second start, and 0.0027 where way B is tried far from the solution, too.
LARGEST_SHARE_LAGGED = 0.002
ROUNDOFF = 1e-12  # of energies, in a step

WORLD = """
<sdf version='1.12'><world name='w'><gravity>0 0 {gravity}</gravity>
  {ground}{things}
</world></sdf>"""
GROUND = """
<model name='ground'><static>true</static><link name='ground'>
  <collision name='plane'><geometry><plane/></geometry></collision></link></model>"""
THING = """
<model name='thing{k}'><pose>{pose}</pose><link name='link'>
  <inertial><pose>{com} 0 0 0</pose><mass>{mass}</mass>
    <inertia><ixx>{i[0]}</ixx><iyy>{i[1]}</iyy><izz>{i[2]}</izz></inertia></inertial>
  <collision name='shape'><geometry>{shape}</geometry>
    <surface><friction><ode><mu>{mu}</mu><mu2>{mu2}</mu2></ode></friction></surface></collision>
</link></model>"""
SHAPES = {
    'sphere': '<sphere><radius>{0}</radius></sphere>',
    'capsule': '<capsule><radius>{0}</radius><length>{1}</length></capsule>',
    'box': '<box><size>{0} {1} {2}</size></box>',
    'cylinder': '<cylinder><radius>{0}</radius><length>{1}</length></cylinder>',
    'cone': '<cone><radius>{0}</radius><length>{1}</length></cone>',
    'ellipsoid': '<ellipsoid><radii>{0} {1} {2}</radii></ellipsoid>',
    'mesh': '<mesh><uri>{mesh}</uri><scale>{0} {1} {2}</scale></mesh>',
}


@pytest.fixture(scope='module')
def stone(tmp_path_factory):
    """Write a convex mesh of a few dozen corners, about a metre across."""
    trimesh, path = needs.module('trimesh'), tmp_path_factory.mktemp('meshes') / 'stone.stl'
    points = np.random.default_rng(0).normal(size=(40, 3))
    points /= 2.0 * np.linalg.norm(points, axis=1)[:, None]
    trimesh.PointCloud(points).convex_hull.export(path)
    return path


def thing(rng, k, kind, mesh, height):
    """Draw a thing of 1 g to 1 t, a few centimetres to half a metre large."""
    mass, d = 10 ** rng.uniform(-3, 3), rng.uniform(0.02, 0.5, 3)
    pose = [*rng.uniform(-1, 1, 2), rng.uniform(-0.1, height), *rng.uniform(-3, 3, 3)]
    com = rng.uniform(-0.1, 0.1, 3) * d
    mu, mu2 = rng.uniform(0, 2, 2)
    return THING.format(k=k, mass=mass, i=mass / 12 * (d @ d - d * d), mu=mu,
                        mu2=mu2 if rng.random() < 0.3 else mu,
                        pose=' '.join(map(str, pose)), com=' '.join(map(str, com)),
                        shape=SHAPES[kind].format(*d, mesh=mesh))


def wild_scene(seed, mesh):
    """
    Throw six things at each other, and two thirds of the time onto the ground.

    Many begin inside each other. Without a ground there is no gravity.
    """
    rng = np.random.default_rng(seed)
    has_ground = seed % 3 > 0
    kinds = [list(SHAPES)[k] for k in (np.arange(6) + seed) % len(SHAPES)]
    things = ''.join(thing(rng, k, kind, mesh, 1.0 if has_ground else 0.1)
                     for k, kind in enumerate(kinds))
    model = spr.load(text=WORLD.format(gravity=-9.81 * has_ground, things=things,
                                       ground=GROUND * has_ground))
    sim = spr.Simulation(model, dt=float(rng.choice(STEP_LENGTHS)))
    sim.qd[:] = rng.uniform(-FASTEST, FASTEST, model.nv)
    return sim


def total_energy(sim):
    return sum(energy(sim.model, sim.q, sim.qd))


def touching(sim):
    """Return the contacts of the last step as the solver left them."""
    return sim._state.contacts[:sim.counters.contacts]


def freed_by_overlaps(sim):
    """
    Return what those that overlap may get: the speed of being pushed out, and their way up [J].

    The speed alone is nearly enough. Of scenes 0 to 119, scene 4 needs something of the way: it
    gains 328.5 J, where the speed makes 325.5 J: what overlaps there weighs 0.65 t.
    """
    depth, mass = np.zeros(sim.model.tree.size), sim.model.tree['inertia'][:, 0]
    for side in ('body_a', 'body_b'):
        np.maximum.at(depth, touching(sim)[side], -touching(sim)['gap'])
    speed = 0.5 * DEFAULT_OPTIONS.recovery_speed ** 2
    return np.sum((mass * (speed - sim.gravity[2] * depth))[depth > 0.0])


def work_of_undoing(sim):
    """Return the most that contacts did in the last step by undoing overlap and creep [J]."""
    return np.sum(touching(sim)['impulse'] * touching(sim)['b'])


def run_wild(seed, mesh):
    """
    Run a scene, and check each step; return how often friction's bound lagged.

    No step adds energy but by undoing overlap and creep, and all of them together no more than
    gives each that overlaps at the start the speed of that, and lifts it out.
    """
    sim = wild_scene(seed, mesh)
    start = now = total_energy(sim)
    for k in range(STEPS):
        sim.step()
        if k == 0:
            freed = freed_by_overlaps(sim)
        assert np.isfinite(sim.q).all() and np.isfinite(sim.qd).all()
        before, now = now, total_energy(sim)
        where = f'scene {seed}, step {sim.step_count}'
        assert now <= before * (1.0 + ROUNDOFF) + work_of_undoing(sim), where
        assert now <= start * (1.0 + ROUNDOFF) + freed, where
    assert sim.counters.unsolved == 0, f'scene {seed}'
    return sim.counters.lagged


def test_wild_scenes_stay_finite_gain_nothing_and_hardly_ever_lag(stone):
    lagged = sum(run_wild(seed, stone) for seed in range(SCENES))
    assert lagged < LARGEST_SHARE_LAGGED * STEPS * SCENES
