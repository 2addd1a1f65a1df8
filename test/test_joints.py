"""Each kind of joint against Lagrange's equations, and what each kind promises."""
import re

import numpy as np
import pytest

from builders import KINDS, random_state, random_tree
from lagrange import Lagrangian
import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy
from spr_dynamics.dynamics.kinematics import link_poses

# Of the largest number; that of central differences over 1e-5 is 1e-10.
LAGRANGE = 1e-8
ROUNDOFF = 1e-12
PRECESSION = 2.0533  # [rad/s]

LINK = """
<link name='{name}'><pose>{pose}</pose><inertial><pose>0.1 0.05 -0.2 0.3 0.2 0.1</pose>
  <mass>{mass}</mass><inertia><ixx>0.03</ixx><iyy>0.04</iyy><izz>0.05</izz>
  <ixy>0.004</ixy><ixz>-0.003</ixz><iyz>0.002</iyz></inertia></inertial></link>"""


def two_links(joint):
    """Load a hinge on the world that carries a link by some joint."""
    return spr.load(text=f"""
<sdf version='1.12'><model name='m'>
  {LINK.format(name='a', pose='0 0 1 0.1 0.2 0.3', mass=1.5)}
  {LINK.format(name='b', pose='0.3 0 0.8 0 0.4 0', mass=0.8)}
  <joint name='base' type='revolute'><parent>world</parent><child>a</child>
    <axis><xyz>0.2 1 0</xyz></axis></joint>
  {joint}
</model></sdf>""")


UNIVERSAL = two_links("""
<joint name='u' type='universal'><pose>0 0 0.1 0.2 0 0</pose><parent>a</parent><child>b</child>
  <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>""")
BALL = two_links("""
<joint name='s' type='ball'><pose>0 0 0.1 0.2 0 0</pose><parent>a</parent><child>b</child>
</joint>""")
SCREW = two_links("""
<joint name='s' type='screw'><parent>a</parent><child>b</child>
  <axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.02</screw_thread_pitch></joint>""")


def assert_lagrange(model, q, qd, tau):
    """Compare mass matrix, joint forces and accelerations with Lagrange's."""
    M, b = Lagrangian(model).equations(q, qd)
    for ours, theirs in (
            (spr.mass_matrix(model, q), M), (spr.inverse_dynamics(model, q, qd, 0.0 * qd), b),
            (spr.forward_dynamics(model, q, qd, tau), np.linalg.solve(M, tau - b))):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=LAGRANGE * np.abs(theirs).max())


@pytest.mark.parametrize('is_free', [False, True], ids=['held', 'free'])
@pytest.mark.parametrize('kind', KINDS)
def test_trees_of_one_kind_obey_lagrange(kind, is_free):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 1 + seed, kinds=[kind], is_free=is_free)
        assert_lagrange(model, *random_state(rng, model))


def test_mixed_trees_obey_lagrange():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 5, kinds=KINDS, n_trees=2, fixed_share=0.2)
        assert_lagrange(model, *random_state(rng, model))


@pytest.mark.parametrize('first', [0.0, 1.0, -2.5])
def test_universal_joint_is_right_far_from_zero(first):
    """The second axis turns with the first: without that rate, 80 % are wrong at 1 rad."""
    assert_lagrange(UNIVERSAL, np.array([0.4, first, 0.7]), np.array([0.5, 2.0, -3.0]),
                    np.array([0.3, -0.2, 0.1]))


@pytest.mark.parametrize('model', [BALL, SCREW, UNIVERSAL], ids=['ball', 'screw', 'universal'])
def test_joints_of_a_file_obey_lagrange(model):
    assert_lagrange(model, *random_state(np.random.default_rng(7), model))


@pytest.mark.parametrize('seed', range(10))
def test_links_are_where_the_joints_put_them(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12, kinds=KINDS, n_trees=2, is_free=True, fixed_share=0.2)
    q, *_ = random_state(rng, model)
    for T, (R, p) in zip(link_poses(model, q), Lagrangian(model).poses(q, np.zeros(model.nv))):
        np.testing.assert_allclose(T[:3, :3], R, atol=ROUNDOFF)
        np.testing.assert_allclose(T[:3, 3], p, atol=ROUNDOFF)


def test_screw_advances_by_its_pitch_in_a_turn():
    before, after = (link_poses(SCREW, [0.0, angle])[1] for angle in (0.0, 2.0 * np.pi))
    np.testing.assert_allclose(after[:3, :3], before[:3, :3], atol=ROUNDOFF)
    np.testing.assert_allclose(after[:3, 3] - before[:3, 3], 0.02 * before[:3, 2], atol=ROUNDOFF)


def test_screw_is_hindered_by_all_the_mass_that_it_lifts():
    """I a = tau - m (p / 2 pi)^2 a - m g p / 2 pi, the base being at rest."""
    model = spr.load(text=f"""
<sdf version='1.12'><model name='m'>{LINK.format(name='b', pose='0 0 0 0 0 0', mass=2)}
  <joint name='s' type='screw'><parent>world</parent><child>b</child>
    <axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.3</screw_thread_pitch></joint>
</model></sdf>""")
    lead = 0.3 / (2.0 * np.pi)
    about_axis = Lagrangian(model).inertia(np.zeros(1), np.zeros(1))[0, 0] - 2.0 * lead ** 2
    qdd, = spr.forward_dynamics(model, [0.0], [0.0], [1.5])
    expected = (1.5 - 2.0 * 9.8 * lead) / (about_axis + 2.0 * lead ** 2)
    np.testing.assert_allclose(qdd, expected, rtol=ROUNDOFF)


def test_velocity_of_a_ball_is_in_child_joint_axes():
    """A spin about one of them leaves that axis of the child where it is."""
    sim = spr.Simulation(BALL, dt=1e-4)
    sim.gravity = (0, 0, 0)
    sim.q[1:] = np.array([0.5, 0.1, -0.7, 0.5]) / np.linalg.norm([0.5, 0.1, -0.7, 0.5])
    joint = BALL.assembly.joints[1]
    R_LJ = BALL.assembly.links[1].T_WL.R.T @ joint.T_WJ.R  # child link to joint axes
    sim.qd[3] = 2.0
    before = link_poses(BALL, sim.q)[1, :3, :3] @ R_LJ
    sim.step()
    after = link_poses(BALL, sim.q)[1, :3, :3] @ R_LJ
    # the hinge below gives way by what the gyroscopic force of one step moves it
    np.testing.assert_allclose(after[:, 2], before[:, 2], atol=1e-6)
    np.testing.assert_allclose(after[:, 0] @ before[:, 1], np.sin(2e-4), rtol=1e-2)


def test_angles_count_turns_and_dynamics_do_not_care():
    q, qd, tau = random_state(np.random.default_rng(3), UNIVERSAL)
    far = q + 2.0 * np.pi * np.array([1000, -2000, 3000])
    np.testing.assert_allclose(spr.forward_dynamics(UNIVERSAL, far, qd, tau),
                               spr.forward_dynamics(UNIVERSAL, q, qd, tau), rtol=1e-9)
    sim = spr.Simulation(random_tree(np.random.default_rng(3), 1, kinds=['revolute']), dt=1e-3)
    sim.gravity = (0, 0, 0)
    sim.qd[0] = 10.0
    sim.step(n=4000)
    np.testing.assert_allclose(sim.q[0], 40.0, rtol=1e-9)  # six turns and a bit


def test_quaternions_keep_their_length_over_ten_thousand_steps():
    sim = spr.Simulation(BALL)
    sim.qd[:] = 1.0, 5.0, -20.0, 8.0
    sim.step(n=10_000)
    np.testing.assert_allclose(np.linalg.norm(sim.q[1:]), 1.0, atol=1e-14)


def precession(integrator, dt):
    """Measure how fast the top of contact_dynamics.md, test 24, precesses [rad/s]."""
    model = spr.load(text="""
<sdf version='1.12'><world name='w'><gravity>0 0 -9.81</gravity><model name='top'>
  <link name='top'><inertial><pose>0 0 0.1 0 0 0</pose><mass>1</mass><inertia>
    <ixx>0.0025</ixx><iyy>0.0025</iyy><izz>0.005</izz></inertia></inertial></link>
  <joint name='tip' type='ball'><parent>world</parent><child>top</child></joint>
</model></world></sdf>""")
    sim = spr.Simulation(model, dt=dt, integrator=integrator)
    tilt = np.radians(30.0)
    sim.q[:] = np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0
    sim.qd[:] = 0.0, PRECESSION * np.sin(tilt), 100.0
    turned, last = 0.0, heading(sim)
    for _ in range(200):
        sim.step(n=round(0.01 / dt))
        now = heading(sim)
        turned += (now - last + np.pi) % (2.0 * np.pi) - np.pi
        last = now
    return turned / 2.0


@pytest.mark.parametrize('integrator, tolerance', [
    ('rk4', 1e-4), ('implicit_midpoint', 5e-3), ('semi_implicit_euler', 2e-3)])
def test_heavy_top_precesses_at_its_slow_rate(integrator, tolerance):
    """At 1 ms it turns by a tenth of a radian in each step: with explicit terms nutation grows."""
    np.testing.assert_allclose(precession(integrator, 1e-3), PRECESSION, rtol=tolerance)


def heading(sim):
    """Return the direction in which the top leans."""
    x, y, _ = link_poses(sim.model, sim.q)[0, :3, 2]
    return np.arctan2(y, x)


@pytest.mark.parametrize('call', [
    lambda q: spr.mass_matrix(BALL, q), lambda q: energy(BALL, q, np.zeros(4)),
    lambda q: spr.forward_dynamics(BALL, q, np.zeros(4), np.zeros(4)),
    lambda q: spr.inverse_dynamics(BALL, q, np.zeros(4), np.zeros(4)),
    lambda q: spr.passive_forces(BALL, q, np.zeros(4)),
    lambda q: link_poses(BALL, q), lambda q: spr.Simulation(BALL).set_home(q),
])
def test_ball_whose_quaternion_is_no_unit_is_named(call):
    message = "q: unit quaternion w x y z expected for ball joint 's' in q[1:5], got [2.0, 0.0"
    with pytest.raises(ValueError, match=re.escape(message)):
        call([0.0, 2.0, 0.0, 0.0, 0.0])


def test_quaternion_written_into_a_simulation_is_looked_at():
    sim = spr.Simulation(BALL)
    sim.q[1] = 2.0
    with pytest.raises(ValueError, match="unit quaternion w x y z expected for ball joint 's'"):
        sim.step()
    assert sim.step_count == 0
