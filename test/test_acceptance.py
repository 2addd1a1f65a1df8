"""
Acceptance tests of contact_dynamics.md, section 6, that are about whole scenes.

Others are beside what they test, and say their number: 1 and 23 to 29 in test_simulation,
test_integrators, test_joints, test_mimic_dynamics and test_joint_limits, most of 3 to 16 and 32
to 36 in test_contact.
"""
import numpy as np
import pytest

from builders import random_state
import mujoco_twin
import pinocchio_twin
import shipped
import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy

G = 9.81
WORLD = "<sdf version='1.12'><world name='w'><gravity>{} 0 {}</gravity>{}</world></sdf>"


def simulate(*things, slope=0.0, dt=1e-3, **chosen):
    """Put things into a world whose gravity is inclined towards +x."""
    text = WORLD.format(G * np.sin(slope), -G * np.cos(slope), ''.join(things))
    return spr.Simulation(spr.load(text=text), dt=dt, **chosen)


def surface(mu):
    return f'<surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>'


def plane(name='ground', normal='0 0 1', mu=10.0):
    """Write an endless plane through the world's origin."""
    return (f"<model name='{name}'><static>true</static><link name='{name}'>"
            f"<collision name='plane'><geometry><plane><normal>{normal}</normal></plane>"
            f'</geometry>{surface(mu)}</collision></link></model>')


def thing(name, pose, shape, mass=1.0, inertia=(0.01, 0.01, 0.01), mu=10.0, com='0 0 0', joint=''):
    """Write a model of one link with a shape; or with several, placed inside the link."""
    shapes = {'0 0 0 0 0 0': shape} if isinstance(shape, str) else shape
    ixx, iyy, izz = inertia
    collisions = ''.join(
        f"<collision name='c{k}'><pose>{at}</pose><geometry>{form}</geometry>{surface(mu)}"
        '</collision>' for k, (at, form) in enumerate(shapes.items()))
    return (f"<model name='{name}'><pose>{pose}</pose><link name='{name}'><inertial>"
            f'<pose>{com} 0 0 0</pose><mass>{mass}</mass><inertia><ixx>{ixx}</ixx><iyy>{iyy}</iyy>'
            f'<izz>{izz}</izz></inertia></inertial>{collisions}</link>{joint}</model>')


def box(x, y, z):
    return f'<box><size>{x} {y} {z}</size></box>'


def ball(radius):
    return f'<sphere><radius>{radius}</radius></sphere>'


def cube_inertia(mass, edge):
    return 3 * [mass * edge ** 2 / 6.0]


@pytest.mark.parametrize('shape, share, threshold', [
    (ball(0.1), 2 / 5, 2 / 7),
    ('<cylinder><radius>0.1</radius><length>0.2</length></cylinder>', 1 / 2, 1 / 3)])
def test_things_roll_or_slip_down_a_slope(shape, share, threshold):
    """Test 10: a = g sin / (1 + share); they slip if mu < 2/7 tan, 1/3 tan."""
    slope, inertia = 0.4, 3 * [share * 0.01]
    limit = threshold * np.tan(slope)
    rolling, slipping = G * np.sin(slope) / (1 + share), G * (
        np.sin(slope) - 0.95 * limit * np.cos(slope))
    for mu, expected, spins in ((1.05 * limit, rolling, True), (0.95 * limit, slipping, False)):
        sim = simulate(plane(mu=mu), thing('wheel', '0 0 0.1 1.5707963267948966 0 0', shape,
                                           inertia=inertia), slope=slope)
        sim.step(n=200)
        before = sim.qd.copy()
        sim.step(n=500)
        np.testing.assert_allclose((sim.qd[0] - before[0]) / 0.5, expected, rtol=0.005)
        assert (abs(sim.qd[4] * 0.1 - sim.qd[0]) < 1e-3 * sim.qd[0]) == spins


def test_stack_of_ten_stands_for_ten_seconds():
    """Test 15."""
    sim = spr.Simulation(shipped.load('box_stack'))
    home = sim.q.copy()
    deepest = 0.0
    for _ in range(20):
        sim.step(n=500)
        deepest = max(deepest, *(contact.depth for contact in sim.contacts))
    np.testing.assert_allclose(sim.links['ground'].contact_force, [0, 0, -10 * G], rtol=1e-5,
                               atol=1e-5)
    assert np.abs(sim.q - home).max() < 1e-4 and deepest < 2e-5


def test_stack_with_ten_times_the_mass_at_each_floor_stands():
    """Test 15: 1, 10, 100, 1000 and 10000 kg, the lightest one at the bottom."""
    masses = 10.0 ** np.arange(5)
    sim = simulate(plane(), *(
        thing(f'b{k}', f'0 0 {0.1 + 0.2 * k} 0 0 0', box(0.2, 0.2, 0.2), mass,
              cube_inertia(mass, 0.2)) for k, mass in enumerate(masses)))
    home = sim.q.copy()
    sim.step(n=4000)
    np.testing.assert_allclose(-sim.links['ground'].contact_force[2], 108998.91, rtol=1e-5)
    assert np.abs(sim.q - home).max() < 1e-4
    assert max(contact.depth for contact in sim.contacts) < 2e-5


def test_light_box_carries_a_heavy_one():
    """The issue: 1000 kg on 1 kg penetrates under 1 mm."""
    sim = simulate(plane(), *(
        thing(f'b{k}', f'0 0 {0.1 + 0.2 * k} 0 0 0', box(0.2, 0.2, 0.2), mass,
              cube_inertia(mass, 0.2)) for k, mass in enumerate((1.0, 1000.0))), dt=2e-3)
    sim.step(n=1000)
    assert max(contact.depth for contact in sim.contacts) < 1e-4
    np.testing.assert_allclose(-sim.links['ground'].contact_force[2], 1001 * G, rtol=1e-5)


def test_quadruped_stands_by_forces_that_balance():
    """Test 17: the sum of forces, their moment about the centre of mass, and the motors."""
    sim = spr.Simulation(shipped.load('quadruped'))
    shipped.hold(sim, 3000)
    model, contacts = sim.model, sim.contacts
    np.testing.assert_allclose(contacts['force'].sum(0)[2], shipped.weight(model), rtol=1e-4)
    arms = contacts['point'] - centre_of_mass(model, sim.q)
    np.testing.assert_allclose(np.cross(arms, contacts['force']).sum(0), 0.0, atol=1e-3)
    needed = spr.inverse_dynamics(model, sim.q, sim.qd, sim.qdd, sim.contact_wrenches)
    given = sim.effort + spr.passive_forces(model, sim.q, sim.qd)
    np.testing.assert_allclose(needed[6:], given[6:], atol=1e-3)


def centre_of_mass(model, q):
    """Return the centre of mass of all that moves, from the elements."""
    moment, mass = np.zeros(3), 0.0
    for link, T in zip(model.assembly.links, spr.link_poses(model, q)):
        if not link.is_static:
            inertial = link.element.inertial
            moment += inertial.mass * (T @ [*inertial.pose.p, 1.0])[:3]
            mass += inertial.mass
    return moment / mass


@pytest.mark.parametrize('degrees', [20, 45, 70])
def test_walls_of_a_groove_share_the_weight(degrees):
    """Test 18: N = m g / (2 cos a) each, without friction."""
    sin, cos = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    sim = simulate(plane('left', f'{sin} 0 {cos}'), plane('right', f'{-sin} 0 {cos}'),
                   thing('ball', f'0 0 {0.1 / cos} 0 0 0', ball(0.1), mu=0.0))
    sim.step(n=1000)
    assert len(sim.contacts) == 2
    np.testing.assert_allclose(np.linalg.norm(sim.contacts['force'], axis=1), G / (2 * cos),
                               rtol=1e-4)


def test_pushed_box_tips_when_leverage_says_so():
    """Test 19: iff F z > m g b / 2, here at z = 0.3 m and b = 0.2 m."""
    limit = G * 0.1 / 0.3
    for share, tips in ((0.99, False), (1.01, True)):
        sim = simulate(plane(mu=0.9), thing('box', '0 0 0.2 0 0 0', box(0.2, 0.2, 0.4)))
        sim.step(n=200)
        force = share * limit
        sim.step([force, 0, 0, 0, 0.1 * force, 0], n=1000)
        assert (2.0 * sim.q[5] > 1e-3) == tips
        assert abs(sim.q[0]) < 1e-4 or tips


def test_pushed_box_slides_before_it_tips_where_friction_is_small():
    """Test 19: iff F > mu m g, which is less than what tips it."""
    for share, slides in ((0.99, False), (1.01, True)):
        sim = simulate(plane(mu=0.2), thing('box', '0 0 0.2 0 0 0', box(0.2, 0.2, 0.4)))
        sim.step(n=200)
        force = share * 0.2 * G
        sim.step([force, 0, 0, 0, 0.1 * force, 0], n=1000)
        assert (sim.qd[0] > 1e-3) == slides and abs(sim.q[5]) < 1e-4
        if slides:
            np.testing.assert_allclose(sim.qd[0], 0.01 * 0.2 * G, rtol=0.02)


@pytest.mark.parametrize('mu', [0.3, 0.5, 0.8])
def test_ladder_slips_below_its_angle(mu):
    """Test 20: on a smooth wall it stands iff tan(theta) > 1 / (2 mu), to 0.3 degrees."""
    limit = np.degrees(np.arctan(1 / (2 * mu)))
    for degrees, slips in ((limit + 0.3, False), (limit - 0.3, True)):
        angle, r = np.radians(degrees), 1e-3
        x, z = np.cos(angle), np.sin(angle)
        ladder = thing(
            'ladder', f'{-r - x / 2} 0 {r + z / 2} 0 {-angle} 0',
            {'-0.5 0 0 0 0 0': ball(r), '0.5 0 0 0 0 0': ball(r)}, inertia=(1e-4, 1 / 12, 1 / 12))
        sim = simulate(plane(mu=mu), plane('wall', '-1 0 0', mu=0.0), ladder)
        sim.step(n=500)
        assert (np.linalg.norm(sim.qd[:3]) > 1e-3) == slips


@pytest.mark.parametrize('force, top', [(9.0, 3.0), (30.0, 0.5 * G)])
def test_block_is_carried_along_as_fast_as_friction_can(force, top):
    """Test 21: a_top = min(a, mu g), and the bottom one feels it."""
    slide = ("<joint name='slide' type='prismatic'><parent>world</parent><child>bottom</child>"
             '<axis><xyz>1 0 0</xyz></axis></joint>')
    sim = simulate(thing('bottom', '0 0 0.1 0 0 0', box(4, 0.2, 0.2), 2.0, mu=0.5, joint=slide),
                   thing('top', '0 0 0.3 0 0 0', box(0.2, 0.2, 0.2), 1.0))
    entry, root = sim.model.joints[0].v, sim.model.free_roots[0].v
    tau = np.zeros(sim.model.nv)
    tau[entry] = force
    sim.step(n=100)
    before = sim.qd.copy()
    sim.step(tau, n=200)
    gained = (sim.qd - before) / 0.2
    np.testing.assert_allclose(gained[root], top, rtol=1e-3)
    np.testing.assert_allclose(gained[entry], (force - top) / 2.0, rtol=1e-3)


@pytest.mark.parametrize('degrees', [45, 55, 65])
def test_rod_that_digs_in_comes_to_rest(degrees):
    """Test 22: Painleve's rod, mu 1.5, which no rigid law with a fixed bound can answer."""
    angle = np.radians(degrees)
    rod = thing('rod', f'0 0 {0.5 * np.sin(angle) + 0.0101} 0 {angle} 0',
                {'0 0 0 0 1.5707963267948966 0':
                    '<capsule><radius>0.01</radius><length>1</length></capsule>'},
                inertia=(1e-4, 1 / 12, 1 / 12))
    sim = simulate(plane(mu=1.5), rod)
    sim.qd[0] = 3.0
    most = sum(energy(sim.model, sim.q, sim.qd))
    for _ in range(4000):
        sim.step()
        now = sum(energy(sim.model, sim.q, sim.qd))
        assert now < most + 1e-3
        most = min(most, now)
    assert np.abs(sim.qd).max() < 1e-3 and abs(sim.q[2] - 0.01) < 1e-5
    assert sim.counters.unsolved == 0


@pytest.mark.parametrize('offset', [0.0, 0.13, -0.2])
def test_centre_of_pressure_is_below_the_centre_of_mass(offset):
    """Test 31: a bar on two points."""
    bar = thing('bar', '0 0 0.05 0 1.5707963267948966 0',
                '<capsule><radius>0.05</radius><length>0.5</length></capsule>',
                com=f'0 0 {offset}')
    sim = simulate(plane(), bar)
    sim.step(n=500)
    contacts = sim.contacts
    assert len(contacts) == 2
    pressure = contacts['force'][:, 2] @ contacts['point'] / contacts['force'][:, 2].sum()
    np.testing.assert_allclose(pressure[:2], [sim.q[0] + offset, sim.q[1]], atol=1e-5)


def test_order_of_the_file_changes_round_off_only():
    """
    Test 34: the same things in another order end where they did, to 1e-9.

    They are of four kinds, since of two boxes the first one's face is preferred where they touch;
    and no step lags, as the answer of one that does depends on how it was sought.
    """
    things = [thing(f'thing{k}', pose, shape, mu=0.6) for k, (shape, pose) in enumerate((
        (box(0.3, 0.3, 0.2), '0 0 0.1 0 0 0'),
        ('<capsule><radius>0.08</radius><length>0.2</length></capsule>',
         '0.04 0.03 0.281 0 1.5708 0'),
        ('<cylinder><radius>0.1</radius><length>0.2</length></cylinder>',
         '-0.02 0.01 0.5 0 0 0'),
        (ball(0.1), '0.03 0 0.72 0 0 0')))]
    ends = []
    for order in (range(4), (2, 0, 3, 1)):
        sim = simulate(plane(), *(things[k] for k in order))
        sim.step(n=400)
        assert len(sim.contacts) == 9 and sim.counters.lagged == 0
        ends.append({root.name: sim.q[root.q:root.q + 7] for root in sim.model.free_roots})
    for name, q in ends[0].items():
        np.testing.assert_allclose(q, ends[1][name], rtol=0, atol=1e-9)


@pytest.mark.parametrize('name', ['arm7', 'quadruped', 'humanoid'])
def test_robots_in_the_air_accelerate_as_other_engines_say(name):
    """Test 37: qacc of MuJoCo and of Pinocchio, from twins that are made of the elements."""
    model = spr.load(shipped.MODELS / f'{name}.sdf')
    engines = mujoco_twin.Twin(model), pinocchio_twin.Twin(model)
    rng = np.random.default_rng(7)
    no_forces = np.zeros((model.links.size, 6))
    for _ in range(20):
        q, qd, tau = random_state(rng, model)
        qdd = spr.forward_dynamics(model, q, qd, tau)
        for theirs in (engines[0].forward_dynamics(q, qd, tau),
                       engines[1].forward_dynamics(q, qd, tau, no_forces)):
            np.testing.assert_allclose(qdd, theirs, rtol=0, atol=1e-9 * np.abs(qdd).max())


LIFTED, RAISE_SPEED = 0.15, 0.2  # [m], [m/s]
HAND, BLOCK = 1.5, 0.3  # [kg] the hand with its fingers, and what it lifts


def lift_and_hold(sim, height, speed, n):
    """Press the fingers together, and draw the lift along a ramp, for n steps of a controller."""
    entry = {joint.name: (joint.q, joint.v) for joint in sim.model.joints}
    (q, v), tau = entry['lift'], np.zeros(sim.model.nv)
    tau[entry['left_slide'][1]] = 40.0
    for _ in range(n):
        height = min(height + speed * 5 * sim.dt, LIFTED)
        rate = speed if height < LIFTED else 0.0
        tau[v] = HAND * G + 2000.0 * (height - sim.q[q]) + 100.0 * (rate - sim.qd[v])
        sim.step(tau, n=5)


def test_gripper_lifts_its_block_and_holds_it_for_a_minute():
    """The issue allows a slip of 1e-4 m; its contacts remember where they stick."""
    sim = spr.Simulation(shipped.load('gripper'))
    lift = next(joint.q for joint in sim.model.joints if joint.name == 'lift')
    lift_and_hold(sim, 0.0, 0.0, 60)
    assert {contact.link_b for contact in sim.contacts if contact.link_a == 'table'} == {'block'}
    lift_and_hold(sim, 0.0, RAISE_SPEED, 200)
    block = next(root.q for root in sim.model.free_roots if root.name == 'block')
    assert abs(sim.q[lift] - LIFTED) < 5e-3
    assert 'table' not in {contact.link_a for contact in sim.contacts}
    held = sim.q[block:block + 3] - [0, 0, sim.q[lift]]
    quaternion = sim.q[block + 3:block + 7].copy()
    lift_and_hold(sim, LIFTED, 0.0, 12000)
    slip = sim.q[block:block + 3] - [0, 0, sim.q[lift]] - held
    assert np.abs(slip).max() < 1e-6
    np.testing.assert_allclose(sim.q[block + 3:block + 7], quaternion, atol=1e-3)
    for pad in ('left_pad', 'right_pad'):
        np.testing.assert_allclose(sim.sensors[pad].reading.force[2], -20.0, rtol=0.01)
    np.testing.assert_allclose(sim.links['block'].contact_force, [0, 0, BLOCK * G], atol=1e-4)
