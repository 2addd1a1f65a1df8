"""Joints that follow others: mimics and gears, exact by elimination."""
import dataclasses
import re

import numpy as np
import pytest

from builders import coupling, KINDS, random_state, random_tree
from lagrange import Lagrangian
import needs
import spr_dynamics as spr
from spr_dynamics.dynamics.coupled import FEW
from spr_dynamics.dynamics.energy import energy
from spr_dynamics.errors import ModelError, SdfError
from spr_dynamics.model.model import frozen

EXACT = 1e-12
LAGRANGE = 1e-8  # of the largest number, see test_joints.py


def link(name, inertia, mass=1.0, pose='0 0 0 0 0 0', inside=''):
    return (f"<link name='{name}'><pose>{pose}</pose><inertial><mass>{mass}</mass><inertia>"
            f'<ixx>{inertia}</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz></inertia></inertial>'
            f'{inside}</link>')


def joint(name, parent, child, mimic=None, kind='revolute', axis='0 0 1'):
    """
    Write a joint.

    :param mimic: Leader, multiplier, offset and reference.
    """
    follows = '' if mimic is None else (
        '<mimic joint="{}"><multiplier>{}</multiplier><offset>{}</offset>'
        '<reference>{}</reference></mimic>'.format(*mimic))
    return (f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
            f'<axis><xyz>{axis}</xyz>{follows}</axis></joint>')


def load(*parts, gravity='0 0 0', world=None):
    return spr.load(text=f"<sdf version='1.12'><world name='w'><gravity>{gravity}</gravity>"
                         f"<model name='m'>{''.join(parts)}</model>{world or ''}</world></sdf>")


def two_gears(mimic):
    """Load the gears of contact_dynamics.md, test 26: I = (.3, .02), n = -3."""
    tie = """
<joint name='g' type='gearbox'><parent>a</parent><child>b</child>
  <gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>frame</gearbox_reference_body>
  <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>"""
    return load(link('frame', 1.0), joint('hold', 'world', 'frame', kind='fixed'),
                link('a', 0.3), link('b', 0.02, pose='1 0 0 0 0 0'), joint('ja', 'frame', 'a'),
                joint('jb', 'frame', 'b', ('ja', -3, 0.5, 0.1) if mimic else None),
                '' if mimic else tie)


@pytest.mark.parametrize('mimic', [True, False], ids=['mimic', 'gearbox'])
def test_gear_gives_the_acceleration_and_the_torques_of_its_ratio(mimic):
    """It is tau / (I1 + n^2 I2); the follower takes n I2 a, the leader feels n times that."""
    model = two_gears(mimic)
    q, zero = model.neutral_q(), np.zeros(2)
    qdd = spr.forward_dynamics(model, q, zero, [1.2, 0.0])
    np.testing.assert_allclose(qdd, [2.5, -7.5], rtol=EXACT)
    needed = spr.inverse_dynamics(model, q, zero, qdd)
    np.testing.assert_allclose(needed, [0.75, -0.15], rtol=EXACT)
    np.testing.assert_allclose(1.2 - needed[0], -3 * needed[1], rtol=EXACT)
    # and a torque on the follower is one of n times that on the leader
    np.testing.assert_allclose(spr.forward_dynamics(model, q, zero, [0.0, -0.4]), qdd, rtol=EXACT)
    sim = spr.Simulation(model, dt=1e-3)
    sim.step([1.2, 0.0], n=1000)
    np.testing.assert_allclose(sim.qd, [2.5, -7.5], rtol=1e-10)


def test_gearbox_between_hinges_that_look_opposite_ways_turns_its_ratio_round():
    gearbox = ('<joint name="g" type="gearbox"><parent>a</parent><child>b</child><gearbox_ratio>2'
               '</gearbox_ratio><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>'
               '</joint>')
    model = load(link('a', 0.3), link('b', 0.02), joint('ja', 'world', 'a'),
                 joint('jb', 'world', 'b', axis='0 0 -1'), gearbox)
    np.testing.assert_allclose(model.followers['ratio'], [2.0])


def test_rack_and_pinion_share_their_inertia():
    """(I + r^2 m) a = tau - r m g, the rack going up."""
    model = load(link('pinion', 0.3), link('rack', 1.0, mass=4.0),
                 joint('turn', 'world', 'pinion', axis='0 1 0'),
                 joint('lift', 'world', 'rack', ('turn', 0.05, 0.2, 0), 'prismatic'),
                 gravity='0 0 -9.81')
    qdd = spr.forward_dynamics(model, model.neutral_q(), [0, 0], [3.0, 0.0])
    expected = (3.0 - 0.05 * 4.0 * 9.81) / (0.3 + 0.05 ** 2 * 4.0)
    np.testing.assert_allclose(qdd, [expected, 0.05 * expected], rtol=EXACT)
    np.testing.assert_allclose(model.neutral_q(), [0.0, 0.2])


@pytest.mark.parametrize('seed', range(20))
def test_trees_with_followers_of_every_kind_obey_lagrange(seed):
    """Lagrange's equations of the independent coordinates alone."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5, kinds=KINDS, n_trees=1 + seed % 2, is_free=bool(seed % 3 == 0),
                        mimic_share=0.6)
    G = coupling(model)
    q, *_ = random_state(rng, model)
    rates, tau = rng.normal(size=G.shape[1]), rng.normal(size=model.nv)
    M, b = Lagrangian(model, G).equations(q, rates)
    theirs = G @ np.linalg.solve(M, G.T @ tau - b)
    ours = spr.forward_dynamics(model, q, G @ rates, tau)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=LAGRANGE * np.abs(theirs).max())


def is_sparse(model):
    """Say whether few joints follow, which is another way through ``dynamics/coupled.py``."""
    return 0 < FEW * model.followers.size <= model.nv


@pytest.mark.parametrize('seed', range(8))
def test_few_followers_among_many_joints_of_every_kind(seed):
    """Their torques are found one by one then; the inertia matrix knows nothing of that."""
    rng = np.random.default_rng(seed)
    drawn = (random_tree(rng, 30, kinds=KINDS, n_trees=1 + seed % 2, is_free=bool(seed % 3 == 0),
                         mimic_share=0.07) for _ in range(20))
    model = next(filter(is_sparse, drawn))
    G = coupling(model)
    q, _, tau = random_state(rng, model)
    qd = G @ rng.normal(size=G.shape[1])
    free = G.T @ (tau - spr.inverse_dynamics(model, q, qd, 0 * qd))
    theirs = G @ np.linalg.solve(spr.mass_matrix(model, q, reduced=True), free)
    np.testing.assert_allclose(spr.forward_dynamics(model, q, qd, tau), theirs, rtol=0,
                               atol=1e-10 * np.abs(theirs).max())


def test_few_followers_among_damped_joints():
    """A step takes dampers at its end: they are part of the inertia, also of a follower's."""
    rng = np.random.default_rng(0)
    model = random_tree(rng, 20, mimic_share=0.08)
    drives = model.drives.copy()
    drives['damping'] = rng.uniform(0.0, 50.0, model.nv)
    model = dataclasses.replace(model, drives=frozen(drives))
    assert is_sparse(model)
    G = coupling(model)
    sim = spr.Simulation(model)
    sim.q, _, tau = random_state(rng, model)
    sim.qd = G @ rng.normal(size=G.shape[1])
    sim.step(n=0)  # positions of followers follow
    q, qd, D = sim.q.copy(), sim.qd.copy(), np.diag(drives['damping'])
    free = G.T @ (tau - D @ qd - spr.inverse_dynamics(model, q, qd, 0 * qd))
    M = spr.mass_matrix(model, q) + sim.dt * D
    sim.step(tau)
    theirs = G @ np.linalg.solve(G.T @ M @ G, free)
    np.testing.assert_allclose(sim.qdd, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def test_chains_compose_whatever_the_order_of_the_file():
    model = load(link('a', 0.1), link('b', 0.1), link('c', 0.1), link('d', 0.1),
                 joint('third', 'b', 'c', ('second', 3, 0.1, 0.2)), joint('first', 'world', 'a'),
                 joint('second', 'a', 'b', ('first', -2, 0.5, 0.0)),
                 joint('fourth', 'c', 'd', ('third', 0.5, 0, 0)))
    q = dict(zip(model.joint_names, model.neutral_q()))
    second = 0.5
    third = 3 * (second - 0.2) + 0.1
    assert q == pytest.approx({'first': 0.0, 'second': second, 'third': third,
                               'fourth': 0.5 * third})
    qdd = dict(zip(model.joint_names, spr.forward_dynamics(
        model, model.neutral_q(), np.zeros(4), [0.0, 1.0, 0.0, 0.0])))
    assert qdd['first'] > 0.0
    ratios = [qdd[name] / qdd['first'] for name in ('second', 'third', 'fourth')]
    np.testing.assert_allclose(ratios, [-2, -6, -3], rtol=EXACT)


@pytest.mark.parametrize('integrator', ['rk4', 'implicit_midpoint'])
def test_anchor_is_met(integrator):
    """Reduced coordinates, integrated to 1e-10 (corpus/anchors/README.md)."""
    model = spr.load(needs.corpus() / 'anchors' / 'mimdyn_sdf.sdf')
    sim = spr.Simulation(model, dt=1e-4, integrator=integrator)
    sim.gravity = (0, 0, -9.81)
    sim.set_home([1.0, 0.0])
    np.testing.assert_allclose(sim.q, [1.0, -0.4])
    sim.step(n=10_000)
    np.testing.assert_allclose(sim.q, [-0.99466874, 0.99626812], atol=1e-6)
    np.testing.assert_allclose(sim.qd, [-0.5154594, 0.36082158], atol=1e-6)


@pytest.mark.parametrize('integrator', [
    'semi_implicit_euler', 'analytic', 'rk4', 'implicit_midpoint'])
def test_ratio_holds_to_round_off_over_ten_seconds(integrator):
    model = two_swings()
    sim = spr.Simulation(model, dt=1e-3, integrator=integrator)
    sim.set_home([1.0, 0.0, 0.0])
    for _ in range(100):
        sim.step([0.5 * np.sin(sim.time), 0.0, 0.1], n=100)
        np.testing.assert_allclose(sim.q[1], -0.7 * (sim.q[0] - 0.1) + 0.3, atol=EXACT)
        np.testing.assert_allclose(sim.q[2], 0.4 * sim.q[1], atol=EXACT)
        np.testing.assert_allclose(sim.qd[1:], [-0.7 * sim.qd[0], -0.28 * sim.qd[0]], atol=EXACT)


def two_swings():
    """Load a pendulum, one on it that follows, and a rack that follows that one."""
    return load(link('a', 0.1, pose='0 0 -1 0 0 0'), link('b', 0.1, pose='0.3 0 -1.5 0 0 0'),
                link('c', 0.1, pose='0.3 0 -2 0 0 0'),
                joint('ja', 'world', 'a', axis='0 1 0').replace(
                    '<parent>', '<pose>0 0 1 0 0 0</pose><parent>'),
                joint('jb', 'a', 'b', ('ja', -0.7, 0.3, 0.1), axis='0 1 0'),
                joint('jc', 'b', 'c', ('jb', 0.4, 0, 0), 'prismatic', '1 0 0'),
                gravity='0 0 -9.81')


def test_energy_of_coupled_pendulums_is_kept():
    model = two_swings()
    sim = spr.Simulation(model, dt=1e-3, integrator='rk4')
    sim.set_home([1.0, 0.0, 0.0])
    before = sum(energy(model, sim.q, sim.qd))
    sim.step(n=10_000)
    assert abs(sum(energy(model, sim.q, sim.qd)) - before) < 1e-6


def test_damper_and_spring_of_a_follower_are_felt_by_the_leader():
    """w_n = w0 / (1 + h n^2 c / I)^n, taken at the end of the step."""
    model = load(link('a', 0.3), link('b', 0.02), joint('ja', 'world', 'a'),
                 joint('jb', 'world', 'b', ('ja', -3, 0, 0)).replace(
                     '</axis>', '<dynamics><damping>0.1</damping></dynamics></axis>'))
    sim = spr.Simulation(model, dt=1e-3)
    sim.qd[:] = 2.0, -6.0
    sim.step(n=20)
    expected = 2.0 / (1 + 1e-3 * 9 * 0.1 / (0.3 + 9 * 0.02)) ** 20
    np.testing.assert_allclose(sim.qd, [expected, -3 * expected], rtol=1e-12)


def test_leader_feels_the_ground_under_the_link_of_its_follower():
    """At rest 2 N = (m_a + 2 m_b) g: the follower goes up twice as far as its leader."""
    ball = '<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry>' \
           '</collision>'
    ground = ('<model name="ground"><static>true</static><link name="g"><collision name="p">'
              '<geometry><plane/></geometry></collision></link></model>')
    model = load(link('a', 0.1, mass=2.0, pose='0 0 2 0 0 0'),
                 link('b', 0.1, mass=3.0, pose='0 0 0.12 0 0 0', inside=ball),
                 joint('ja', 'world', 'a', kind='prismatic'),
                 joint('jb', 'world', 'b', ('ja', 2, 0, 0), 'prismatic'),
                 gravity='0 0 -10', world=ground)
    sim = spr.Simulation(model, dt=1e-3)
    sim.step(n=2000)
    np.testing.assert_allclose(sim.qd, 0.0, atol=1e-9)
    np.testing.assert_allclose(sim.q, [-0.01, -0.02], atol=1e-4)
    force = np.abs(sim.contacts['force'][:, 2]).sum()
    np.testing.assert_allclose(force, (2.0 + 2 * 3.0) * 10 / 2, rtol=1e-6)


def test_circle_of_followers_is_refused_with_its_path():
    with pytest.raises(SdfError, match=re.escape(
            "<mimic> runs in a circle: joint 'ja' -> joint 'jb' -> joint 'ja'")):
        load(link('a', 1), link('b', 1), joint('ja', 'world', 'a', ('jb', 1, 0, 0)),
             joint('jb', 'world', 'b', ('ja', 1, 0, 0)))


def test_circle_through_a_gearbox_is_refused():
    gearbox = ('<joint name="g" type="gearbox"><parent>a</parent><child>b</child>'
               '<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>')
    with pytest.raises(ModelError, match="joint 'j[ab]' follows joint 'j[ab]', which follows "
                                         'itself'):
        load(link('a', 1), link('b', 1), joint('ja', 'world', 'a', ('jb', 1, 0, 0)),
             joint('jb', 'world', 'b'), gearbox)


def gear(axis='0 0 1', body=''):
    """Write a gearbox from a to b; one axis of it is given."""
    return ('<joint name="g" type="gearbox"><parent>a</parent><child>b</child>'
            f'<gearbox_reference_body>{body}</gearbox_reference_body>'
            f'<axis><xyz>{axis}</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>')


@pytest.mark.parametrize('joints, message', [
    ((joint('ja', 'world', 'a'), gear()),
     "gearbox 'g' needs a revolute joint that turns link 'b'"),
    ((joint('ja', 'world', 'a', kind='prismatic'), joint('jb', 'world', 'b'), gear()),
     "gearbox 'g' needs a revolute joint that turns link 'a'"),
    ((joint('ja', 'world', 'a'), joint('jb', 'world', 'b'), gear(axis='1 0 0')),
     "gearbox 'g': its axis for link 'a' is not that of joint 'ja'"),
    ((joint('ja', 'world', 'a'), joint('jb', 'c', 'b'), gear()),
     "gearbox 'g': joints 'ja' and 'jb' are not both carried by one link"),
    ((joint('ja', 'world', 'a'), joint('jb', 'world', 'b'), gear(body='c')),
     "gearbox 'g': joints 'ja' and 'jb' are not both carried by link 'c'"),
    ((joint('ja', 'world', 'a'), joint('jb', 'world', 'b', ('ja', 2, 0, 0)), gear()),
     "gearbox 'g' drives joint 'jb', which follows another one already"),
])
def test_gearbox_that_can_not_tell_whose_angles_it_ties_is_refused(joints, message):
    with pytest.raises(ModelError, match='<text>:1: ' + re.escape(message)):
        load(link('a', 1), link('b', 1), link('c', 1), *joints)


def test_leader_that_does_not_move_is_refused():
    with pytest.raises(ModelError, match="joint 'jb' can't follow joint 'ja', which does not"):
        spr.load(text=f"""<sdf version='1.12'><world name='w'>
          <model name='still'><static>true</static>{link('s', 1)}{link('a', 1)}
            {joint('ja', 's', 'a')}</model>
          <model name='m'>{link('b', 1)}{link('c', 1)}</model>
          {joint('jb', 'm::b', 'm::c', ('still::ja', 1, 0, 0))}</world></sdf>""")
