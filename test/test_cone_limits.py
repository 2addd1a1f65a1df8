"""How far balls bend and twist: at rest, in an impact, near both poles, and with what reaction."""
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy

BALL = """
<sdf version='1.12'><world name='w'><gravity>0 0 {gravity}</gravity><model name='m'>
  <link name='bar'><inertial><pose>0 0 -0.5 0 0 0</pose><mass>1</mass>
    <inertia><ixx>{i[0]}</ixx><iyy>{i[1]}</iyy><izz>{i[2]}</izz></inertia></inertial></link>
  <joint name='j' type='ball'><parent>world</parent><child>bar</child>{limits}</joint>
</model></world></sdf>"""


def cone(swing=None, centre=None, twist=None):
    return ''.join(f'<spr:{name}>{value}</spr:{name}>' for name, value in (
        ('cone_limit', swing), ('cone_centre', centre), ('twist_limit', twist))
        if value is not None)


def ball(limits, gravity=0.0, i=(0.1, 0.1, 0.1), dt=1e-3):
    """Hang a bar on a ball that the world holds."""
    return spr.Simulation(spr.load(text=BALL.format(gravity=gravity, limits=limits, i=i)), dt=dt)


def turn(sim, *rotation_vector):
    x, y, z, w = Rotation.from_rotvec(rotation_vector).as_quat()
    sim.q[:4] = w, x, y, z


def swing_and_twist(q, centre=(0.0, 0.0, 1.0)):
    """Return the angle of z to the centre, and the turn about z that the shortest way leaves."""
    R, centre = Rotation.from_quat([*q[1:4], q[0]]), np.array(centre) / np.linalg.norm(centre)
    z = R.apply([0, 0, 1])
    there = way([0, 0, 1], centre)
    twist = (way(centre, z) * there).inv() * R
    return math.atan2(np.linalg.norm(np.cross(centre, z)), centre @ z), twist.as_rotvec()[2]


def way(a, b):
    """Return the shortest rotation from one direction to another."""
    axis = np.cross(a, b)
    length = np.linalg.norm(axis)
    angle = math.atan2(length, np.dot(a, b))
    return Rotation.from_rotvec(axis / length * angle if length > 0.0 else np.zeros(3))


def kinetic(sim):
    return energy(sim.model, sim.q, sim.qd).kinetic


@pytest.mark.parametrize('heading', [0.0, 2.0])
def test_pendulum_comes_to_rest_on_its_cone(heading):
    """As contact_dynamics.md, test 27, for a hinge: overshoot, and a torque of m g l sin."""
    side = np.array([math.cos(heading), math.sin(heading), 0.0])
    centre = [*(math.sin(1.0) * side[:2]), math.cos(1.0)]
    sim = ball(cone(0.5, '{} {} {}'.format(*centre)), gravity=-9.81)
    turn(sim, *np.cross([0, 0, 1], side))
    widest = 0.0
    for _ in range(3000):
        sim.step()
        widest = max(widest, swing_and_twist(sim.q, centre)[0])
    assert widest < 0.5 + 1e-4
    np.testing.assert_allclose(swing_and_twist(sim.q, centre)[0], 0.5, atol=1e-6)
    held = spr.inverse_dynamics(sim.model, sim.q, sim.qd, sim.qdd)
    np.testing.assert_allclose(np.linalg.norm(held), 9.81 * 0.5 * math.sin(0.5), rtol=1e-3)
    tilted = swing_and_twist(sim.q)[0]
    np.testing.assert_allclose(tilted, 0.5, atol=1e-6)


@pytest.mark.parametrize('speed', [1.0, 30.0, 300.0])
@pytest.mark.parametrize('twist, side', [('-1 2', 1), ('-1 2', -1), ('5 5.5', 1), ('0.5 4', -1)])
def test_twist_stops_where_it_should_whatever_its_speed(speed, twist, side):
    """Ranges may be counted from anywhere, and need no cone."""
    sim = ball(cone(twist=twist))
    lower, upper = map(float, twist.split())
    turn(sim, 0.0, 0.0, 0.5 * (lower + upper))
    sim.qd[2] = side * speed
    furthest = 0.0
    for _ in range(math.ceil(2.0 / (speed * sim.dt))):
        sim.step()
        away = math.remainder(swing_and_twist(sim.q)[1] - 0.5 * (lower + upper), 2 * math.pi)
        furthest = max(furthest, side * away)
    assert abs(furthest - 0.5 * (upper - lower)) < 1e-4
    assert abs(sim.qd[2]) < 0.05 * speed


def test_both_limits_hold_from_a_start_outside_and_bring_it_back_slowly():
    sim = ball(cone(0.3, twist='-0.2 0.1'))
    turn(sim, *(Rotation.from_rotvec([0.5, 0.3, 0]) * Rotation.from_rotvec([0, 0, 0.6]))
         .as_rotvec())
    for _ in range(1000):
        sim.step()
        assert np.linalg.norm(sim.qd) < 2.0
    swing, twist = swing_and_twist(sim.q)
    assert swing < 0.3 + 1e-6 and -0.2 - 1e-6 < twist < 0.1 + 1e-6


@pytest.mark.parametrize('swing', [0.0, 1e-3])
def test_axis_that_may_hardly_swing_turns_about_itself(swing):
    """Where the axis is in the middle of its cone no direction is the way out."""
    sim = ball(cone(swing), i=(0.3, 0.2, 0.4))
    tau, widest = np.zeros(3), 0.0
    for k in range(1500):
        tau[:2] = 5.0 * math.cos(0.01 * k), 5.0 * math.sin(0.023 * k)
        tau[2] = 0.4
        sim.step(tau)
        widest = max(widest, swing_and_twist(sim.q)[0])
    assert widest < swing + 1e-4
    np.testing.assert_allclose(sim.qd[2], 1.5, rtol=1e-3)


@pytest.mark.parametrize('aim', [0.0, 0.003])
def test_axis_does_not_pass_a_pole_that_is_narrower_than_a_step(aim):
    """The cone leaves out 0.01 rad around the south pole; a step covers 0.05 rad."""
    sim = ball(cone(math.pi - 0.01), i=(0.1, 0.1, 0.05))
    turn(sim, 2.0, 0.0, 0.0)
    sim.qd[:] = 50.0, aim, 0.0
    before, widest = kinetic(sim), 0.0
    for _ in range(500):
        sim.step()
        assert kinetic(sim) < before * (1.0 + 1e-9)
        widest = max(widest, swing_and_twist(sim.q)[0])
    assert widest < math.pi - 0.01 + 1e-4


@pytest.mark.parametrize('seed', range(10))
def test_limits_take_energy_only_and_nothing_jumps(seed):
    """Thrown at 20 rad/s, through the south pole, too, where all twists are one."""
    rng = np.random.default_rng(seed)
    i = rng.uniform(0.1, 0.3, 3)
    sim = ball(cone(rng.choice([0.3, 1.5, 2.8, math.pi]), twist='-1 0.5'), i=i,
               dt=float(rng.choice([1e-3, 4e-3])))
    sim.qd[:] = rng.uniform(-20, 20, 3)
    before, q = kinetic(sim), sim.q.copy()
    for _ in range(500):
        sim.step()
        assert kinetic(sim) < before + 1e-5
        turned = 2.0 * math.acos(min(1.0, abs(sim.q @ q)))
        assert turned < 1.01 * sim.dt * math.sqrt(2.0 * before / 0.1)
        q = sim.q.copy()
        swing, twist = swing_and_twist(q)
        assert swing < sim.model.joints[0].cone.swing + 1e-4
        reach = math.cos(0.5 * swing)  # what a twist means, the nearer to the pole the less
        assert reach * math.sin(0.5 * (twist - 0.5)) < 1e-4
        assert reach * math.sin(0.5 * (-1.0 - twist)) < 1e-4


def test_reaction_of_a_cone_reaches_every_ancestor():
    """Springhead's limits act without reaction; here momentum of a free pair stays."""
    sim = spr.Simulation(spr.load(text=f"""
<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'>
  <link name='a'/><link name='b'><pose>1 0 0 0 0 0</pose></link>
  <joint name='j' type='ball'><parent>a</parent><child>b</child>
    {cone(0.1, twist='-0.1 0.1')}</joint></model></world></sdf>"""))
    sim.qd[6:9] = 3.0, 2.0, 4.0
    before = spr.momentum(sim.model, sim.q, sim.qd)
    sim.step(n=200)
    after = spr.momentum(sim.model, sim.q, sim.qd)
    assert np.abs(sim.qd[6:9]).max() < 0.4
    np.testing.assert_allclose(after.linear, before.linear, atol=2e-3)
    np.testing.assert_allclose(after.angular, before.angular, atol=5e-3)


def test_start_outside_and_limits_that_are_none_are_said():
    model = spr.load(text=BALL.format(gravity=0, i=(1, 1, 1), limits=cone(
        0.5, '1 0 1', '0.1 0.3')))
    assert model.warnings == (
        "ball joint 'j' begins 0.785398 rad from the centre of its cone, which is 0.5 wide",
        "ball joint 'j' begins at a twist of 0 rad, outside its limits 0.1 to 0.3")
    assert spr.load(text=BALL.format(gravity=0, i=(1, 1, 1), limits=cone(
        twist='-100 100'))).joints[0].cone is None
