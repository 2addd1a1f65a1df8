"""What a simulation says of its contacts: names, forces, states, ids, and sums by link."""
import numpy as np
import pytest

import shipped
import spr_dynamics as spr
from spr_dynamics.contact.records import SolverOptions

G = 9.81
WORLD = """
<sdf version='1.12'><world name='w'><gravity>0 0 -9.81</gravity>
  <model name='ground'><static>true</static><pose>0 0 0.3 0 0 0</pose>
    <link name='floor'><pose>0 0 -0.3 0 0 0</pose><collision name='plane'>
      <geometry><plane/></geometry></collision></link></model>
  {}
</world></sdf>"""
CRATE = """
  <model name='{name}'><pose>{pose}</pose><link name='{name}'>
    <pose>0 0 0.05 0 0 0</pose>
    <inertial><pose>0.01 0 0 0 0 0</pose><mass>{mass}</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy>
      <izz>0.01</izz></inertia></inertial>
    <collision name='sides'><geometry><box><size>0.2 0.2 0.2</size></box></geometry>
      <surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>
    </collision></link></model>"""


def crates(*poses, mu=0.5, **chosen):
    """Put boxes with half an edge of 0.1 m somewhere; their links' origins are their centres."""
    things = ''.join(CRATE.format(name=f'crate{k}', pose=pose, mass=1.0 + k, mu=mu)
                     for k, pose in enumerate(poses))
    return spr.Simulation(spr.load(text=WORLD.format(things)), **chosen)


def test_contact_says_what_touches_and_how():
    sim = crates('0 0 0.05 0 0 0')
    sim.step(n=300)
    assert len(sim.contacts) == 4
    for contact in sim.contacts:
        assert (contact.link_a, contact.link_b) == ('floor', 'crate0')
        assert (contact.collision_a, contact.collision_b) == ('floor::plane', 'crate0::sides')
        assert contact.state == 'sticking'
        assert 0.0 < contact.depth < 1e-6
        np.testing.assert_allclose(contact.normal, [0, 0, 1])
        np.testing.assert_allclose(np.abs(contact.point), [0.1, 0.1, 0.0], atol=1e-6)
        np.testing.assert_allclose(
            contact.force[2], G * (0.25 + np.sign(contact.point[0]) * 0.025), rtol=1e-3)
    lines = repr(sim.contacts).splitlines()
    assert lines[0] == '<4 contacts>'
    assert lines[1].startswith('floor::plane on crate0::sides: 2.2') and 'sticking' in lines[1]


def test_fields_of_all_contacts_are_arrays():
    sim = crates('0 0 0.05 0 0 0')
    sim.step()
    contacts = sim.contacts
    assert contacts['force'].shape == contacts['point'].shape == (4, 3)
    np.testing.assert_array_equal(contacts['force'], [contact.force for contact in contacts])
    np.testing.assert_array_equal(contacts[-1].point, contacts['point'][3])
    assert [contact.id for contact in contacts[1:3]] == [contacts[1].id, contacts[2].id]
    with pytest.raises(IndexError):
        contacts[4]
    with pytest.raises(ValueError, match='no field of name weight'):
        contacts['weight']


def test_contacts_of_a_step_outlive_it():
    sim = crates('0 0 0.05 0 0 0')
    sim.step(n=10)
    contacts = sim.contacts
    before = [contact.force.copy() for contact in contacts]
    sim.qd[0] = 3.0
    sim.step(n=10)
    np.testing.assert_array_equal([contact.force for contact in contacts], before)


def test_nothing_touches_before_the_first_step_and_in_flight():
    sim = crates('0 0 1 0 0 0')
    assert len(sim.contacts) == 0 and repr(sim.contacts) == '<0 contacts>'
    sim.step()
    assert list(sim.contacts) == []
    np.testing.assert_array_equal(sim.contact_wrenches, np.zeros((2, 6)))


def test_state_is_open_until_a_force_acts():
    sim = crates('0 0 0.0505 0 0 0')
    sim.step()
    assert len(sim.contacts) == 4
    for contact in sim.contacts:
        assert contact.state == 'open' and contact.depth < -4e-4
        np.testing.assert_array_equal(contact.force, np.zeros(3))


def test_state_is_sliding_until_friction_has_stopped_the_box():
    """From 0.5 m/s with mu 0.5 that takes 0.5 / (mu g) = 0.102 s."""
    sim = crates('0 0 0.05 0 0 0')
    sim.step(n=50)
    ids = [contact.id for contact in sim.contacts]
    sim.qd[1] = 0.5
    states = []
    for _ in range(150):
        sim.step()
        states.append({contact.state for contact in sim.contacts})
        assert [contact.id for contact in sim.contacts] == ids
        for contact in sim.contacts:
            if contact.state == 'sliding':
                assert contact.force[1] < 0.0
                np.testing.assert_allclose(
                    np.hypot(*contact.force[:2]), 0.5 * contact.force[2], rtol=1e-5)
    assert states[:100] == 100 * [{'sliding'}] and states[105:] == 45 * [{'sticking'}]


def test_without_friction_all_that_moves_slides():
    sim = crates('0 0 0.05 0 0 0', mu=0.0)
    sim.step(n=50)
    sim.qd[1] = 0.5
    sim.step()
    assert {contact.state for contact in sim.contacts} == {'sliding'}


def test_wrenches_of_both_sides_are_opposite_and_about_the_origins_of_links():
    """The weight of 1 kg at x = 0.01 is carried; the floor's origin lies at the world's."""
    sim = crates('0.5 0 0.05 0 0 0')
    sim.step(n=300)
    floor, crate = sim.contact_wrenches
    np.testing.assert_allclose(crate, [0, -0.01 * G, 0, 0, 0, G], atol=2e-6)
    np.testing.assert_allclose(floor, [0, 0.51 * G, 0, 0, 0, -G], atol=2e-6)
    np.testing.assert_array_equal(sim.links['crate0'].contact_force, crate[3:])
    np.testing.assert_array_equal(sim.links['floor'].contact_torque, floor[:3])


def test_forces_on_each_link_change_its_momentum():
    """The sum of f dt is m dv + m g T (contact_dynamics.md, test 16), for each of five boxes."""
    sim = crates('0 0 0.05 0 0 0', '0.05 0.02 0.3 0.2 0.3 0.1', '-0.07 0.05 0.6 0.4 0 0.3',
                 '0.1 0.1 0.85 0 0.2 1', '0.3 -0.02 0.2 0.1 0.1 0.1',
                 options=SolverOptions(tolerance=1e-12))
    mass = 1.0 + np.arange(5)
    roots = [slice(root.v, root.v + 6) for root in sim.model.free_roots]
    before, total, most = velocities(sim, roots), np.zeros((5, 3)), 0.0
    for _ in range(700):
        sim.step()
        total += sim.dt * sim.contact_wrenches[1:, 3:]
        most += sim.dt * np.linalg.norm(sim.contacts['force'], axis=1).sum()
    gained = velocities(sim, roots) - before + np.array([0, 0, G]) * sim.time
    assert most > 100.0 and sim.counters.contacts >= 12
    np.testing.assert_allclose(total, mass[:, None] * gained, atol=1e-9 * most)


def velocities(sim, roots):
    """Return the velocities of the boxes' centres of mass, shape (5, 3)."""
    return np.array([spr.momentum(sim.model, sim.q, on_one(sim.qd, root)).linear
                     / (k + 1.0) for k, root in enumerate(roots)])


def on_one(qd, root):
    """Keep the velocity of one free root."""
    kept = np.zeros_like(qd)
    kept[root] = qd[root]
    return kept


def test_wrenches_are_what_inverse_dynamics_takes():
    """Of a standing robot they leave nothing for the joints but what the motors give."""
    sim = spr.Simulation(shipped.load('quadruped'), options=SolverOptions(tolerance=1e-12))
    shipped.hold(sim, 1500)
    tau = spr.inverse_dynamics(sim.model, sim.q, sim.qd, sim.qdd, sim.contact_wrenches)
    passive = spr.passive_forces(sim.model, sim.q, sim.qd)
    np.testing.assert_allclose(tau, sim.effort + passive, atol=1e-3)
