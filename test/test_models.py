"""What the files of the robots that ship promise in their first lines."""
import re

import numpy as np
import pytest

import shipped
import spr_dynamics as spr
from spr_dynamics.cli import main

G = 9.81
NAMES = sorted(path.stem for path in shipped.MODELS.glob('*.sdf'))


@pytest.mark.parametrize('name', NAMES)
def test_check_finds_nothing_wrong(name, capsys):
    assert main(['check', str(shipped.MODELS / f'{name}.sdf')]) == 0
    assert capsys.readouterr().err == ''


@pytest.mark.parametrize('name', NAMES)
def test_model_is_simulated_as_it_asks(name):
    """Of closing joints it is said that they are constraints; that is no complaint."""
    model = shipped.load(name)
    assert [line for line in model.warnings if not line.endswith('is a constraint')] == []
    sim = spr.Simulation(model)
    assert sim.warnings == ()
    sim.step(n=20)
    assert sim.counters.unsolved == sim.counters.dropped == 0


@pytest.mark.parametrize('name, mass, nv', [('quadruped', 13.2, 18), ('humanoid', 45.0, 27)])
def test_free_robots_have_the_mass_and_the_freedom_that_is_said(name, mass, nv):
    model = shipped.load(name)
    np.testing.assert_allclose(shipped.weight(model) / 9.8, mass, atol=0.5)
    assert model.nv == nv


def presses(sim):
    """Return what each contact sensor reads along its z, out of the skin [N]."""
    return np.array([sensor.reading.force[2] for sensor in sim.sensors.values()
                     if sensor.type == 'contact'])


def test_quadruped_stands_on_four_feet():
    sim = spr.Simulation(shipped.load('quadruped'))
    shipped.hold(sim, 2500)
    assert np.abs(sim.q[7:]).max() < 0.04 and np.abs(sim.qd).max() < 1e-3
    assert abs(sim.q[2] - 0.31) < 5e-3
    loads = presses(sim)
    assert sim.counters.contacts == len(loads) == 4
    np.testing.assert_allclose(loads, -shipped.weight(sim.model) / 4, rtol=0.1)


def test_humanoid_stands_upright_after_a_push():
    """At 0.1 m/s it sways by some centimetres, there and back."""
    sim = spr.Simulation(shipped.load('humanoid'))
    sim.qd[0] = 0.1
    places = []
    for _ in range(40):
        shipped.hold(sim, 50)
        places.append(sim.q[0])
    assert 0.01 < max(places) < 0.06 and -0.06 < min(places) < -0.01
    assert abs(sim.q[2] - 0.95) < 2e-3 and np.abs(sim.q[7:]).max() < 0.1
    np.testing.assert_allclose(presses(sim), -shipped.weight(sim.model) / 2, rtol=0.05)


def test_humanoid_touches_nothing_but_the_ground_at_home():
    sim = spr.Simulation(shipped.load('humanoid'))
    sim.step()
    assert [contact.link_a for contact in sim.contacts] == 8 * ['ground']


def test_humanoid_meets_itself_but_no_thigh_the_pelvis():
    """With its knees together the legs touch; the thighs begin just inside the pelvis."""
    sim = spr.Simulation(shipped.load('humanoid'))
    entry = {joint.name: joint.q for joint in sim.model.joints}
    sim.q[2] = 2.0
    for side, sign in (('left', -1.0), ('right', 1.0)):
        sim.q[entry[f'{side}_hip_roll']] = 0.4 * sign
        sim.q[entry[f'{side}_hip_pitch']] = -0.3
    sim.step()
    met = {(contact.link_a, contact.link_b) for contact in sim.contacts}
    assert ('left_thigh', 'right_thigh') in met
    assert 'pelvis' not in {name for pair in met for name in pair}


def test_fingers_of_the_gripper_move_as_one():
    sim = spr.Simulation(shipped.load('gripper'))
    entry = {joint.name: joint.q for joint in sim.model.joints}
    tau = np.zeros(sim.model.nv)
    tau[sim.model.dof_v[sim.model.dof_names.index('left_slide')]] = 20.0
    tau[sim.model.dof_v[sim.model.dof_names.index('lift')]] = 1.5 * G
    sim.step(tau, n=300)
    assert abs(sim.q[entry['left_slide']] - 0.015) < 1e-4
    assert sim.q[entry['right_slide']] == sim.q[entry['left_slide']]
    for name in ('left_pad', 'right_pad'):
        force = sim.sensors[name].reading.force
        np.testing.assert_allclose(force[2], -10.0, rtol=0.01)


def test_ring_of_the_four_bar_is_closed_where_it_starts():
    model = shipped.load('four_bar')
    poses = dict(zip(model.link_names, spr.link_poses(model, model.neutral_q())))
    ends = [poses[name] @ [length, 0, 0, 1] for name, length in (('coupler', 0.4),
                                                                 ('rocker', 0.3))]
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_crank_of_the_four_bar_turns_all_the_way_round():
    sim = spr.Simulation(shipped.load('four_bar'))
    rocker = []
    for _ in range(400):
        sim.step([1.5, 0.0, 0.0], n=5)
        rocker.append(sim.q[2])
    assert sim.q[0] > 4 * np.pi
    assert max(rocker) - min(rocker) < np.pi


def test_stack_stays_where_it_is():
    sim = spr.Simulation(shipped.load('box_stack'))
    home = sim.q.copy()
    sim.step(n=1000)
    np.testing.assert_allclose(sim.q, home, atol=1e-6)
    on_ground = sim.contacts['force'][sim.contacts['body_a'] == 0]
    np.testing.assert_allclose(on_ground[:, 2].sum(), 10 * G, rtol=1e-6)


def test_shapes_roll_as_their_inertia_says():
    """The distance is a t^2 / 2, with a = g sin / (1 + I / (m r^2))."""
    sim = spr.Simulation(shipped.load('rolling_shapes'))
    start = sim.q.copy()
    sim.step(n=1000)
    for root in sim.model.free_roots:
        if root.name == 'cone':
            continue
        link = next(link for link in sim.model.assembly.links if link.name == root.name)
        radius = {'sphere': 0.1, 'cylinder': 0.1, 'capsule': 0.08, 'ellipsoid': 0.07}[root.name]
        axis = 2 if root.name in ('cylinder', 'capsule') else 1
        inertial = link.element.inertial
        a = G * np.sin(0.2) / (1 + inertial.inertia[axis, axis] / (inertial.mass * radius ** 2))
        moved = np.linalg.norm(sim.q[root.q:root.q + 3] - start[root.q:root.q + 3])
        np.testing.assert_allclose(moved, a / 2, rtol=3e-3)
    cone = next(root for root in sim.model.free_roots if root.name == 'cone')
    apex = apex_of(sim.q, cone.q)
    np.testing.assert_allclose(apex, apex_of(start, cone.q), atol=5e-3)


def apex_of(q, k):
    """Return where the tip of the cone is."""
    w, x, y, z = q[k + 3:k + 7]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    return q[k:k + 3] + 0.1 * axis


def test_examples_of_the_page_on_models_run(monkeypatch, capsys):
    monkeypatch.chdir(shipped.MODELS.parent)
    page = (shipped.MODELS.parent / 'docs' / 'models.md').read_text(encoding='utf-8')
    names = {}
    for example in re.findall('```python\n(.*?)```', page, re.DOTALL):
        exec(example, names)
    assert capsys.readouterr().out.startswith('<4 contacts>')
    foot = names['sim'].links['front_left_foot']
    assert 25.0 < foot.contact_force[2] < 35.0
    for name in NAMES:
        assert f'`{name}`' in page
