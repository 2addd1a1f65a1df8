"""Limits and dry friction of joints, and loops that joints close: all in the same solve."""
import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.errors import ModelError

MODELS = needs.REPOSITORY / 'models'

ARM = """
<sdf version='1.12'><world name='w'><gravity>0 0 {gravity}</gravity><model name='m'>
  <link name='bar'><inertial><pose>0 0 -0.5 0 0 0</pose><mass>1</mass>
    <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
  <joint name='j' type='{kind}'><parent>world</parent><child>bar</child>
    <axis><xyz>0 1 0</xyz>{axis}</axis></joint>
  {more}
</model></world></sdf>"""
INERTIA = 0.1 + 0.25  # about the joint


def arm(axis, gravity=0.0, kind='revolute', more=''):
    """Start a bar on a hinge about y, or on a slider along it."""
    return spr.Simulation(spr.load(text=ARM.format(axis=axis, gravity=gravity, kind=kind,
                                                   more=more)))


def limits(lower, upper, more=''):
    return f'<limit><lower>{lower}</lower><upper>{upper}</upper>{more}</limit>'


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_pendulum_comes_to_rest_on_its_limit(side):
    """contact_dynamics.md, test 27: overshoot under 1e-4 rad, and what holds it is m g l sin."""
    low, high = sorted((0.5 * side, 2.0 * side))
    sim = arm(limits(low, high), gravity=-9.81)
    sim.q[0], least = 1.5 * side, np.inf
    for _ in range(3000):
        sim.step()
        least = min(least, side * sim.q[0])
    assert least > 0.5 - 1e-4
    np.testing.assert_allclose(sim.q[0], 0.5 * side, atol=1e-6)
    # what holds it up is what inverse dynamics asks for
    held = spr.inverse_dynamics(sim.model, sim.q, sim.qd, sim.qdd)[0]
    np.testing.assert_allclose(held, 9.81 * 0.5 * np.sin(0.5) * side, rtol=1e-3)


def test_joint_that_starts_beyond_its_limit_comes_back_slowly():
    sim = arm(limits(-1, 0))
    sim.q[0] = 0.3
    sim.step(n=100)
    assert 0.15 < sim.q[0] < 0.25 and -1.01 < sim.qd[0] < 0.0


def test_soft_limit_is_the_spring_that_the_file_gives():
    sim = arm(limits(-1, 0, '<stiffness>100</stiffness><dissipation>10</dissipation>'))
    sim.step([5.0], n=5000)
    np.testing.assert_allclose(sim.q[0], 5.0 / 100.0, rtol=1e-6)


def test_reaction_of_a_limit_reaches_every_ancestor():
    """Springhead's limits act without reaction; here momentum of a free pair stays."""
    sim = spr.Simulation(spr.load(text="""
<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'>
  <link name='a'/><link name='b'><pose>1 0 0 0 0 0</pose></link>
  <joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
    <limit><lower>-0.1</lower><upper>0.1</upper></limit></axis></joint>
</model></world></sdf>"""))
    sim.qd[6] = 3.0
    before = spr.momentum(sim.model, sim.q, sim.qd)
    sim.step(n=200)
    after = spr.momentum(sim.model, sim.q, sim.qd)
    assert abs(sim.qd[6]) < 0.1
    np.testing.assert_allclose(after.linear, before.linear, atol=2e-3)
    np.testing.assert_allclose(after.angular, before.angular, atol=2e-3)


def test_dry_friction_holds_and_then_brakes():
    """contact_dynamics.md, test 28: no motion below; the bar stops at I w0 / tau_c."""
    sim = arm('<dynamics><friction>1</friction></dynamics>')
    for torque in (0.99, -0.99):
        sim.step([torque], n=500)
        assert abs(sim.qd[0]) < 1e-6
    sim.reset()
    sim.qd[0] = 2.0
    steps = 0
    while sim.qd[0] > 1e-6:
        last = sim.qd[0]
        sim.step()
        steps += 1
    # within its last step, when friction has taken what is left of the speed
    assert abs((steps - 1) * sim.dt + last * INERTIA - 2.0 * INERTIA) < 1e-12
    assert abs(steps * sim.dt - 2.0 * INERTIA) < sim.dt


def test_velocity_does_not_pass_its_limit():
    sim = arm('<limit><velocity>3</velocity></limit>')
    for torque in (5.0, -5.0):
        sim.step([torque], n=2000)
        np.testing.assert_allclose(sim.qd[0], np.copysign(3.0, torque), rtol=1e-5)


def test_limit_of_a_follower_holds_its_leader():
    sim = arm(limits(-9, 9), more="""
  <link name='rack'/><joint name='k' type='prismatic'><parent>world</parent><child>rack</child>
    <axis><xyz>1 0 0</xyz><limit><lower>-0.2</lower><upper>0.2</upper></limit>
      <mimic joint='j' axis='axis'><multiplier>-0.1</multiplier><offset>0</offset>
        <reference>0</reference></mimic></axis></joint>""")
    sim.step([1.0, 0.0], n=6000)
    np.testing.assert_allclose(sim.q, [2.0, -0.2], atol=1e-4)


def test_light_joint_keeps_its_digits_beside_a_heavy_one():
    """A pivot was lifted by the largest inertia of the model, and a gear hardly moved."""
    heavy = """
  <link name='rock'><pose>0 0 9 0 0 0</pose><inertial><mass>1e4</mass><inertia><ixx>1e4</ixx>
    <iyy>1e4</iyy><izz>1e4</izz></inertia></inertial></link>
  <link name='gear'><inertial><mass>0.001</mass><inertia><ixx>1e-7</ixx><iyy>1e-7</iyy>
    <izz>1e-7</izz></inertia></inertial></link>
  <joint name='g' type='revolute'><parent>world</parent><child>gear</child>
    <axis><xyz>0 1 0</xyz>{}</axis></joint>"""
    follow = ("<mimic joint='j' axis='axis'><multiplier>0</multiplier><offset>0</offset>"
              '<reference>0</reference></mimic>')
    for axis in (limits(-1e-4, 9), '<dynamics><friction>1e-15</friction></dynamics>'):
        sim = arm(follow.replace("joint='j'", "joint='g'"), more=heavy.format(axis))
        entry = {joint.name: joint.v for joint in sim.model.joints}['g']
        tau = np.zeros(sim.model.nv)
        tau[entry] = 1e-7
        qdd = spr.forward_dynamics(sim.model, sim.q, sim.qd, tau)
        np.testing.assert_allclose(qdd[entry], 1.0, rtol=1e-6)
        sim.step(tau)
        np.testing.assert_allclose(sim.qdd[entry], 1.0, rtol=1e-6)


def test_result_may_take_the_place_of_an_argument():
    sim = arm('', more="""
  <link name='b'/><joint name='k' type='revolute'><parent>world</parent><child>b</child>
    <axis><xyz>1 0 0</xyz><mimic joint='j' axis='axis'><multiplier>2</multiplier>
      <offset>0</offset><reference>0</reference></mimic></axis></joint>""")
    tau = np.array([1.0, 0.3])
    expected = spr.forward_dynamics(sim.model, sim.q, sim.qd, tau)
    np.testing.assert_array_equal(
        spr.forward_dynamics(sim.model, sim.q, sim.qd, tau, out=tau), expected)


def link(name, pose, length):
    """Write a bar along its own x axis."""
    inertia = length ** 2 / 12.0
    return (f"<link name='{name}'><pose>{pose}</pose><inertial><pose>{length / 2} 0 0 0 0 0</pose>"
            f'<mass>1</mass><inertia><ixx>0.001</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz>'
            '</inertia></inertial></link>')


SECOND_AXIS = {'universal': '1 0 0', 'revolute2': '0.8 0.6 0'}


def joint(name, parent, child, x=0.0, kind='revolute', more=''):
    axis = '' if kind == 'ball' else f'<axis><xyz>0 1 0</xyz>{more}</axis>'
    if kind in SECOND_AXIS:
        axis += f'<axis2><xyz>{SECOND_AXIS[kind]}</xyz></axis2>'
    return (f"<joint name='{name}' type='{kind}'><pose>{x} 0 0 0 0 0</pose><parent>{parent}"
            f'</parent><child>{child}</child>{axis}</joint>')


def parallelogram(kind='revolute', more=''):
    """Hang two bars of 0.2 m from the world, half a metre apart, and join their ends by one."""
    return spr.load(text="<sdf version='1.12'><model name='m'>" + link(
        'left', '0 0 0 0 1.5707963267948966 0', 0.2) + link(
        'bar', '0 0 -0.2 0 0 0', 0.5) + link('right', '0.5 0 0 0 1.5707963267948966 0', 0.2)
        + joint('a', 'world', 'left') + joint('b', 'left', 'bar') + joint('c', 'world', 'right')
        + joint('d', 'right', 'bar', 0.5, kind, more) + '</model></sdf>')


def gap(sim):
    """Return how far the two sides of the closing joint have parted [m]."""
    bar, right = spr.link_poses(sim.model, sim.q)[1:3]
    return np.abs(bar @ [0.5, 0, 0, 1] - right @ [0.2, 0, 0, 1])[:3].max()


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'ball', 'universal', 'revolute2'])
def test_loop_stays_closed_and_moves_as_one_coordinate_would(kind):
    """A parallelogram: all bars swing alike, the upper ones turning, the lower one not."""
    model = parallelogram(kind)
    assert model.joint_names == ('a', 'b', 'c')
    assert "which close the loop world [a] left [b] bar [d] right [c] world: 'd' is a cons" in (
        model.warnings[0])
    sim = spr.Simulation(model, dt=5e-4)
    angle = 1.0
    sim.q[:] = angle, -angle, angle
    assert gap(sim) < 1e-12
    # one coordinate: two bars about their ends, and the third moving along with them
    inertia, moment = 2.0 * (0.2 ** 2 / 3.0) + 0.2 ** 2, 9.8 * (2.0 * 0.1 + 0.2)
    speed, worst = 0.0, 0.0
    for _ in range(2000):
        sim.step()
        speed -= sim.dt * moment * np.sin(angle) / inertia
        angle += sim.dt * speed
        worst = max(worst, gap(sim))
    assert worst < 1e-6
    np.testing.assert_allclose(sim.q, [angle, -angle, angle], atol=1e-4)
    assert sim.counters.unsolved == sim.counters.lagged == 0


def test_what_a_closing_joint_leaves_out_is_named():
    model = parallelogram(more='<dynamics><damping>1</damping><friction>2</friction></dynamics>')
    assert [w for w in model.warnings if "joint 'd' closes a loop; of it friction are not" in w]
    with pytest.raises(ModelError, match="joint 'd' of type 'screw' closes a loop, which is not"):
        parallelogram('screw')


def test_forward_dynamics_of_a_loop_is_refused():
    model = parallelogram()
    with pytest.raises(ValueError, match="joints of '.*' close loops: step a Simulation of it"):
        spr.forward_dynamics(model, *np.zeros((3, model.nv)))
