"""The force-torque sensor: signs, axes, fixed joints, contacts, loops, mimics, refusals."""
import dataclasses
import re

import numpy as np
import pytest

from builders import random_state
import spr_dynamics as spr
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.axis_noise import AxisNoise
from spr_dynamics.sensors.force_torque import placed_joint
from spr_dynamics.sensors.settings import SensorError

G = 9.81
ROUNDOFF = 1e-11
SENSOR = """<sensor name='{name}' type='force_torque'>{body}<pose>{pose}</pose>
<force_torque><frame>{frame}</frame><measure_direction>{direction}</measure_direction>{noise}
</force_torque></sensor>"""


def sensor(name='ft', pose='0 0 0 0 0 0', frame='child', direction='child_to_parent', noise='',
           body=''):
    return SENSOR.format(name=name, pose=pose, frame=frame, direction=direction, noise=noise,
                         body=body)


def link(name, pose='0 0 0 0 0 0', mass=2.0, com='0 0 0', more=''):
    return (f"<link name='{name}'><pose>{pose}</pose><inertial><pose>{com} .1 .2 .3</pose>"
            f'<mass>{mass}</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.25</izz><ixy>.01</ixy>'
            f'</inertia></inertial>{more}</link>')


def joint(kind, child, parent='world', axis='0 0 1', more='', in_axis='', pose='0 0 0 0 0 0'):
    return (f"<joint name='{parent}_{child}' type='{kind}'><pose>{pose}</pose>"
            f'<parent>{parent}</parent><child>{child}</child>'
            f'<axis><xyz>{axis}</xyz>{in_axis}</axis>{more}</joint>')


def world(*parts, around='', options=''):
    return spr.load(text=f"<sdf version='1.12'><world name='w'><gravity>0 0 -{G}</gravity>{around}"
                         f"<model name='m'>{options}{''.join(parts)}</model></world></sdf>")


def rotation(rpy):
    return Pose.from_rpy(np.zeros(3), rpy).R


# An arm of two links in the xz plane with a hand of 0.5 kg; turned by q they still hold it.
ARM = (link('upper', com='.2 0 0') + joint('revolute', 'upper', axis='0 1 0')
       + link('lower', '.4 0 0 0 0 0', com='.2 0 0')
       + joint('revolute', 'lower', 'upper', axis='0 1 0')
       + link('hand', '.8 0 0 0 0 0', 0.5, com='.1 0 0'))
Q = np.array([-0.3, 0.8, 0.4])


@pytest.mark.parametrize('kind', ['revolute', 'fixed'])
@pytest.mark.parametrize('frame', ['child', 'parent', 'sensor'])
@pytest.mark.parametrize('direction, sign', [('child_to_parent', 1), ('parent_to_child', -1)])
def test_wrist_of_an_arm_at_rest_feels_the_weight_of_the_hand(kind, frame, direction, sign):
    """By default it reads what the hand does to the arm: a pull downward."""
    model = world(ARM, joint(kind, 'hand', 'lower', axis='0 1 0', more=sensor(
        pose='.05 .02 0 .3 .2 .1', frame=frame, direction=direction)))
    sim = spr.Simulation(model)
    q = Q[:model.nq]
    sim.set_home(q)
    hold = spr.inverse_dynamics(model, q, 0 * q, 0 * q)
    sim.step(hold)
    R_WL, R_WH = (rotation([0, turn, 0]) for turn in (Q[:2].sum(), q.sum()))
    R = {'child': R_WH, 'parent': R_WL, 'sensor': R_WH @ rotation([.3, .2, .1])}[frame]
    weight = np.array([0, 0, -0.5 * G])
    arm = R_WH @ (np.array([.1, 0, 0]) - [.05, .02, 0])  # from the sensor to the centre of mass
    reading = sim.sensors['ft'].reading
    np.testing.assert_allclose(reading.force, sign * R.T @ weight, atol=1e-9)
    np.testing.assert_allclose(reading.torque, sign * R.T @ np.cross(arm, weight), atol=1e-9)


# A chain of all kinds of joints; what can turn is welded or not.
def chain(kind, more=''):
    return (link('a', com='.1 .2 .3') + joint('universal', 'a', axis='1 0 0', more=sensor('a'))
            .replace('</axis>', '</axis><axis2><xyz>0 1 0</xyz></axis2>')
            + link('b', '0 0 1 .1 .2 .3', com='0 .1 .2')
            + joint(kind, 'b', 'a', '0 .6 .8', sensor('b', '.1 .2 .3 .3 .2 .1', 'sensor')
                    + sensor('b_parent', '.1 .2 .3 0 0 0', 'parent', 'parent_to_child'))
            + link('c', '.5 0 1 .3 .2 .1', com='.2 0 0')
            + joint('ball', 'c', 'b', more=sensor('c'))
            + link('d', '1 0 1 0 0 .3') + joint('screw', 'd', 'b', '1 2 3', sensor('d')) + more)


def wrench_at(model, q, qd, qdd, joint_name, settings):
    """Work out by inverse dynamics what a sensor in a movable joint reads."""
    names = [joint.name for joint in model.joints]
    wrench = spr.joint_wrenches(model, q, qd, qdd)[names.index(joint_name)]
    item = model.joints[names.index(joint_name)]
    T_WL = spr.link_poses(model, q)
    T_WC = T_WL[model.link_names.index(item.child)]
    T_WS = T_WC @ settings.pose
    # joints stand at the origin of their child link here
    moment = wrench[:3] + np.cross(T_WC[:3, 3] - T_WS[:3, 3], wrench[3:])
    R_WP = (np.eye(3) if item.parent == 'world'
            else T_WL[model.link_names.index(item.parent), :3, :3])
    R = {'child': T_WC[:3, :3], 'parent': R_WP, 'sensor': T_WS[:3, :3]}[settings.frame]
    sign = 1.0 if settings.measure_direction == 'parent_to_child' else -1.0
    return sign * R.T @ wrench[3:], sign * R.T @ moment


def assert_reads(sensor, force, torque, tolerance=1e-10):
    np.testing.assert_allclose(sensor.reading.force, force, atol=tolerance)
    np.testing.assert_allclose(sensor.reading.torque, torque, atol=tolerance)


@pytest.mark.parametrize('name, joint_name', [
    ('a', 'world_a'), ('b', 'a_b'), ('b_parent', 'a_b'), ('c', 'b_c'), ('d', 'b_d')])
def test_in_motion_it_reads_what_inverse_dynamics_says(name, joint_name):
    """With efforts, friction and a limit that acts: all that the joint does is in it."""
    model = world(chain('prismatic').replace(
        '<xyz>0 .6 .8</xyz>', '<xyz>0 .6 .8</xyz><limit><lower>-.2</lower><upper>.2</upper>'
        '</limit><dynamics><damping>3</damping><friction>2</friction></dynamics>'))
    sim = spr.Simulation(model)
    q, qd, tau = random_state(np.random.default_rng(3), model)
    q[2] = 0.25  # beyond the limit
    sim.q, sim.qd = q, qd
    sim.step(tau)
    settings = sim.sensors[name].settings
    assert_reads(sim.sensors[name], *wrench_at(model, q, qd, sim.qdd, joint_name, settings))


@pytest.mark.parametrize('integrator', ['semi_implicit_euler', 'rk4'])
@pytest.mark.parametrize('name', ['b', 'b_parent'])
def test_a_fixed_joint_reads_as_one_that_could_move_and_does_not(name, integrator):
    """Two links move on beyond it. Its twin has a joint there that stands still."""
    model, twin = world(chain('fixed')), world(chain('revolute'))
    assert twin.nv == model.nv + 1
    sim = spr.Simulation(model, integrator=integrator)
    q, qd, tau = random_state(np.random.default_rng(3), model)
    sim.q, sim.qd = q, qd
    sim.step(tau)
    qdd = (sim.qdd if integrator == 'semi_implicit_euler'
           else spr.forward_dynamics(model, q, qd, tau))
    motion = (np.insert(x, 2, 0.0) for x in (q, qd, qdd))
    assert_reads(sim.sensors[name], *wrench_at(twin, *motion, 'a_b',
                                               sim.sensors[name].settings))


def test_a_fixed_joint_may_be_written_from_the_hand_to_the_arm():
    """What moves the body is on the child's side then; it reads the opposite force."""
    body = "<joint name='f' type='fixed'><parent>{}</parent><child>{}</child>{}</joint>"
    readings = []
    for parent, child in ('lower', 'hand'), ('hand', 'lower'):
        model = world(ARM, body.format(parent, child, sensor(frame=(
            'child' if child == 'hand' else 'parent'))))
        sim = spr.Simulation(model)
        sim.q, sim.qd = Q[:2], [1.0, 2.0]
        sim.step([1.0, 3.0])
        T_WL = spr.link_poses(model, Q[:2])
        R, p = T_WL[2, :3, :3], T_WL[model.link_names.index(child), :3, 3]
        force, torque = (R @ part for part in sim.sensors['ft'].reading)
        readings.append((force, torque + np.cross(p, force)))
    np.testing.assert_allclose(readings[0], -np.array(readings[1]), atol=1e-10)
    assert np.linalg.norm(readings[0][0]) > 1.0


@pytest.mark.parametrize('fix_base', [False, True])
def test_what_stands_on_the_world_weighs_on_it(fix_base):
    """The base is a fixed joint to the world; or held by ``fix_base``, under a fixed joint."""
    base = '' if fix_base else joint('fixed', 'base', more=sensor('ground'))
    text = (link('base', '0 0 1 0 0 0', 7.0) + base + link('column', '0 0 1 0 0 0', 3.0)
            + joint('fixed', 'column', 'base', more=sensor('column'))
            + link('beam', '0 0 2 0 0 0', 2.0, com='.5 0 0')
            + joint('revolute', 'beam', 'column', axis='0 0 1'))
    model = spr.load(text=f"<sdf version='1.12'><model name='m'>{text}</model></sdf>",
                     fix_base=fix_base)
    sim = spr.Simulation(model)
    sim.step()
    assert_reads(sim.sensors['column'], [0, 0, -5 * 9.8], [0, 2 * 9.8 * .5, 0])
    if not fix_base:
        assert_reads(sim.sensors['ground'], [0, 0, -12 * 9.8], [0, 2 * 9.8 * .5, 0])


BOX = "<collision name='c'><geometry><box><size>{}</size></box></geometry></collision>"
PLANE = ("<model name='ground'><static>1</static><link name='g'><collision name='c'><geometry>"
         '<plane/></geometry></collision></link></model>')


def test_a_table_feels_what_stands_on_it():
    """Through a contact; the table itself is part of the world."""
    block = ("<model name='block'>"
             + link('block', '.3 .1 .6 0 0 0', 4.0, more=BOX.format('.2 .2 .2')) + '</model>')
    model = world(link('table', '0 0 0 0 0 0', 10.0, more=BOX.format('1 1 1')),
                  joint('fixed', 'table', more=sensor()), around=block)
    sim = spr.Simulation(model)
    sim.step(n=500)
    weight = np.array([0, 0, -4 * G])
    np.testing.assert_allclose(sim.sensors['ft'].reading.force, [0, 0, -14 * G], atol=1e-6)
    np.testing.assert_allclose(sim.sensors['ft'].reading.torque,
                               np.cross([.3, .1, 0], weight), atol=1e-6)


@pytest.mark.parametrize('kind', ['fixed', 'prismatic'])
def test_an_ankle_carries_the_body_but_not_the_foot(kind):
    """The foot pushes the body up; the ground's push on the foot is from outside."""
    more = '<limit><lower>0</lower><upper>0.1</upper></limit>' if kind == 'prismatic' else ''
    model = world(link('body', '0 0 1 0 0 0', 5.0),
                  link('foot', '0 0 .1 0 0 0', 2.0, more=BOX.format('.4 .4 .2')),
                  joint(kind, 'foot', 'body', axis='0 0 -1', more=sensor(), in_axis=more),
                  around=PLANE)
    sim = spr.Simulation(model)
    sim.step(n=1000)
    np.testing.assert_allclose(sim.sensors['ft'].reading.force, [0, 0, 5 * G], atol=1e-4)


GRIPPING = ('<surface><friction><torsional><coefficient>1</coefficient><patch_radius>.1'
            '</patch_radius></torsional></friction></surface>')
BALL = ("<collision name='ball'><geometry><sphere><radius>.1</radius></sphere></geometry>"
        f'{GRIPPING}</collision>')
GRIPPED = PLANE.replace('</collision>', f'{GRIPPING}</collision>')


@pytest.mark.parametrize('kind', ['fixed', 'revolute'])
def test_friction_that_holds_a_foot_against_turning_is_from_outside(kind):
    """A ball of a foot is held by spin friction alone: the ankle passes on what turns the body."""
    model = world(link('body', '0 0 .1 0 0 0', 5.0), link('foot', '0 0 .1 0 0 0', more=BALL),
                  joint(kind, 'foot', 'body', axis='0 1 0', more=sensor()), around=GRIPPED)
    sim = spr.Simulation(model)
    sim.links['body'].external_wrench = [0, 0, 0.8, 0, 0, 0]
    sim.step(n=200)
    assert np.abs(sim.qd).max() < 1e-3  # it would turn by 0.4 rad
    np.testing.assert_allclose(sim.sensors['ft'].reading.force, [0, 0, 5 * G], atol=1e-3)
    np.testing.assert_allclose(sim.sensors['ft'].reading.torque, [0, 0, -0.8], atol=1e-3)


# Four bars in the xz plane: two cranks that hang on the world, and a coupler between them, whose
# second joint closes the loop.
FOUR_BARS = (
    link('left', '0 0 0 0 1.2 0', 1.0, '.5 0 0')
    + joint('revolute', 'left', axis='0 1 0', more=sensor('left'))
    + link('right', '2 0 0 0 1.2 0', 2.0, '.5 0 0')
    + joint('revolute', 'right', axis='0 1 0', more=sensor('right'))
    + link('coupler', '.362357754 0 -.932039086 0 0 0', 3.0, '1 0 0')
    + joint('revolute', 'coupler', 'left', '0 1 0', sensor('near'))
    + '<joint name="close" type="revolute"><pose relative_to="coupler">2 0 0 0 0 0</pose>'
      '<parent>right</parent><child>coupler</child><axis><xyz>0 1 0</xyz></axis>'
    + sensor('far', frame='parent') + '</joint>'
    + link('rider', '1 0 -.8 0 0 0', .7)
    + joint('fixed', 'rider', 'coupler', more=sensor('rider')))


def world_wrench(model, q, name, sim):
    """Return what a joint does to its child, from a reading in link axes: force, and moment."""
    settings = sim.sensors[name].settings
    joint = placed_joint(model, settings.joint)
    T_WL = spr.link_poses(model, q)
    R = T_WL[model.link_names.index(settings.axes_of(model)), :3, :3]
    force, moment = (-R @ part for part in sim.sensors[name].reading)
    return np.array([force, moment + np.cross((T_WL[joint.child] @ settings.pose)[:3, 3], force)])


def needed_wrench(model, q, qd, qdd, name):
    """Return what a link needs for its motion against gravity: force, and moment about world."""
    k = model.link_names.index(name)
    inertial = model.assembly.links[k].element.inertial
    T_WL, (dw, a) = spr.link_poses(model, q)[k], np.split(
        spr.link_accelerations(model, q, qd, qdd)[k], 2)
    w, arm = spr.link_velocities(model, q, qd)[k, :3], T_WL[:3, :3] @ inertial.pose.p
    R = T_WL[:3, :3] @ inertial.pose.R
    inertia = R @ inertial.inertia @ R.T
    force = inertial.mass * (a + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) + [0, 0, G])
    moment = inertia @ dw + np.cross(w, inertia @ w)
    return np.array([force, moment + np.cross(T_WL[:3, 3] + arm, force)])


def mean_acceleration(model, q, qd, tau, dt):
    """Return what a short step makes of a state; without contacts it is smooth in dt."""
    sim = spr.Simulation(model, dt=dt, integrator='rk4')
    sim.q, sim.qd = q, qd
    sim.step(tau)
    return sim.qdd.copy()


CLOSING = '<child>coupler</child><axis><xyz>0 1 0</xyz>'
SPRING = '<dynamics><damping>2</damping><spring_stiffness>30</spring_stiffness></dynamics>'


@pytest.mark.parametrize('spring', ['', SPRING])
@pytest.mark.parametrize('integrator', ['semi_implicit_euler', 'rk4', 'implicit_midpoint'])
def test_closed_loops_carry_their_part(integrator, spring):
    """
    What acts on each bar at its joints adds up to what it needs, moments too, in motion too.

    The centres of mass are off the plane, so that the joints carry moments across it. Rules of
    higher order read the acceleration at the start of the step, which two means lead back to.
    """
    model = world(FOUR_BARS.replace('<pose>.5 0 0 ', '<pose>.5 .3 0 ').replace(
        '<parent>right</parent>' + CLOSING, '<parent>right</parent>' + CLOSING + spring))
    assert model.hinges.size == bool(spring)
    sim = spr.Simulation(model, integrator=integrator)
    tau = [3.0, -1.0, 0.5]
    sim.step(tau, n=50)
    q, qd = sim.q.copy(), sim.qd.copy()
    assert np.abs(qd).max() > 0.1
    sim.step(tau)
    qdd = sim.qdd if integrator == 'semi_implicit_euler' else (
        2.0 * mean_acceleration(model, q, qd, tau, 1e-5)
        - mean_acceleration(model, q, qd, tau, 2e-5))
    left, right, near, far, rider = (world_wrench(model, q, name, sim) for name in (
        'left', 'right', 'near', 'far', 'rider'))
    for name, found in (('left', left - near), ('right', right - far),
                        ('coupler', near + far - rider), ('rider', rider)):
        np.testing.assert_allclose(found, needed_wrench(model, q, qd, qdd, name), atol=1e-9)
    assert np.abs(far).max() > 1.0
    assert (np.abs(sim.sensors['far'].reading.torque[1]) > 0.1) == bool(spring)


def test_closed_loops_are_told_from_friction_against_turning():
    """What a ball feels beside two loops is none of theirs."""
    stone = link('stone', '0 5 .1 0 0 0', more=BALL)
    loops = (FOUR_BARS, link('bar', '0 9 1 0 0 0') + joint('ball', 'bar') + (
        "<joint name='hinge' type='revolute'><pose>1 0 0 0 0 0</pose><parent>world</parent>"
        '<child>bar</child><axis><xyz>1 0 0</xyz></axis></joint>'))
    alone, beside = (spr.Simulation(world(*parts, around=GRIPPED)) for parts in (
        loops, [*loops, stone]))
    beside.qd[beside.model.free_roots[0].v + 5] = 3.0
    for sim in alone, beside:
        sim.step(n=20)
    assert beside.counters.contacts == 1
    for name in alone.sensors:
        np.testing.assert_allclose(beside.sensors[name].reading, alone.sensors[name].reading,
                                   atol=1e-9)


def test_a_joint_that_closes_a_loop_carries_moments():
    """A hinge and a ball hold a bar along the hinge's axis: it turns and carries moments."""
    model = world(
        link('bar', '0 0 1 0 0 0', com='.5 .3 .1') + joint('ball', 'bar', more=sensor('ball'))
        + "<joint name='hinge' type='revolute'><pose>1 0 0 0 0 0</pose><parent>world</parent>"
        f"<child>bar</child><axis><xyz>1 0 0</xyz></axis>{sensor('hinge')}</joint>")
    sim = spr.Simulation(model)
    sim.step(n=100)
    q, qd = sim.q.copy(), sim.qd.copy()
    assert abs(qd[0]) > 0.1
    sim.step()
    hinge = world_wrench(model, q, 'hinge', sim)
    np.testing.assert_allclose(world_wrench(model, q, 'ball', sim) + hinge,
                               needed_wrench(model, q, qd, sim.qdd, 'bar'), atol=1e-9)
    assert np.linalg.norm(sim.sensors['hinge'].reading.torque) > 0.1  # about the hinge itself
    np.testing.assert_allclose(sim.sensors['ball'].reading.torque, 0.0, atol=0.02)


def test_a_weld_beside_a_closed_loop_reads_its_own_side():
    """The loop closes on the rider now, so that the weld carries what the loop does there."""
    model = world(FOUR_BARS.replace('<child>coupler</child><axis><xyz>0 1 0</xyz></axis><sensor '
                                    "name='far'", '<child>rider</child><axis><xyz>0 1 0</xyz>'
                                    "</axis><sensor name='far'"))
    sim = spr.Simulation(model)
    sim.step()
    q, qd = sim.q.copy(), sim.qd.copy()
    sim.step()
    found = world_wrench(model, q, 'rider', sim) + world_wrench(model, q, 'far', sim)
    np.testing.assert_allclose(found, needed_wrench(model, q, qd, sim.qdd, 'rider'), atol=1e-9)
    assert np.abs(world_wrench(model, q, 'far', sim)).max() > 1.0


def test_a_mimic_carries_what_inverse_dynamics_says():
    follow = "<mimic joint='world_a'><multiplier>-2</multiplier></mimic>"
    model = world(link('a', com='.3 0 0') + joint('revolute', 'a', axis='0 1 0',
                                                  more=sensor('leader'))
                  + link('b', '.6 0 0 0 0 0', com='.3 0 0')
                  + joint('revolute', 'b', 'a', '0 1 0', sensor('follower'), follow))
    sim = spr.Simulation(model)
    sim.set_home([.3, -.6])
    sim.qd[:] = 1.0, -2.0
    q, qd = sim.q.copy(), sim.qd.copy()
    sim.step([1.0, 2.0])
    assert sim.qdd[1] == pytest.approx(-2 * sim.qdd[0])
    for name, joint_name in ('leader', 'world_a'), ('follower', 'a_b'):
        assert_reads(sim.sensors[name], *wrench_at(model, q, qd, sim.qdd, joint_name,
                                                   sim.sensors[name].settings))


@pytest.mark.parametrize('kind', ['fixed', 'prismatic'])
def test_a_push_from_outside_is_none_of_its_own(kind):
    """On the hand it is carried on; on the arm it is not felt."""
    model = world(link('arm'), joint('fixed', 'arm'), link('hand', '1 0 0 0 0 0', com='.1 0 0'),
                  joint(kind, 'hand', 'arm', '1 0 0', sensor(direction='parent_to_child')))
    sim = spr.Simulation(model)
    sim.step()
    before = np.concatenate(sim.sensors['ft'].reading)
    sim.links['arm'].external_wrench = [5, 6, 7, 1, 2, 3]
    sim.links['hand'].external_wrench = [.5, .6, .7, 0, 20, 30]
    sim.step()
    np.testing.assert_allclose(np.concatenate(sim.sensors['ft'].reading) - before,
                               [0, -20, -30, -.5, -.6, -.7], atol=1e-9)


def test_in_flight_it_carries_nothing_but_the_turn():
    """A free body of two welded links falls: nothing; spins: the pull to the centre."""
    model = world(*(text.replace('.1 .2 .3</pose>', '0 0 0</pose>').replace(
        '<ixy>.01</ixy>', '') for text in (
        link('a', mass=3.0), link('b', '1 0 0 0 0 0'), joint('fixed', 'b', 'a', more=sensor()))))
    sim = spr.Simulation(model, dt=1e-5)
    sim.step()
    assert_reads(sim.sensors['ft'], np.zeros(3), np.zeros(3))
    sim.qd[5] = 4.0
    sim.step()
    # b is at 0.6 m from the common centre of mass, and pulls outward
    assert_reads(sim.sensors['ft'], [16 * 2 * .6, 0, 0], np.zeros(3), 1e-3)


@pytest.mark.parametrize('parts, message', [
    ((link('a'), joint('fixed', 'a'), link('b'), joint('fixed', 'b', 'a', more=sensor()),
      "<joint name='second' type='fixed'><parent>world</parent><child>b</child></joint>"),
     "force_torque sensor 'ft': joint = a_b: expected one that is not the only way"),
    ((link('a'), link('b'), joint('revolute', 'a'), joint('revolute', 'b'),
      "<joint name='gear' type='gearbox'><parent>a</parent><child>b</child><gearbox_ratio>2"
      '</gearbox_ratio><gearbox_reference_body>world</gearbox_reference_body>'
      f'<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>{sensor()}</joint>'),
     'joint = gear: expected one that carries a force: a gearbox'),
    (('<static>1</static>', link('a'), link('b'), joint('revolute', 'b', 'a', more=sensor())),
     'joint = a_b: expected one that carries a force: a gearbox, or a joint of a static model'),
    (('<static>1</static>', link('a'), link('b'), joint('fixed', 'b', 'a', more=sensor())),
     'joint = a_b: expected one that is not the only way between its links: other fixed joints, '
     'or a static model'),
])
def test_forces_that_nothing_tells_are_refused_by_name(parts, message):
    with pytest.raises(SensorError, match=re.escape(message)):
        spr.Simulation(world(*parts))


@pytest.mark.parametrize('change, message', [
    ({'joint': 'a_c'}, 'joint = a_c: expected a joint of the model (did you mean'),
    ({'frame': 'link'}, 'frame = link: expected one of child, parent, sensor'),
    ({'measure_direction': 'up'}, 'measure_direction = up: expected one of parent_to_child, ch'),
    ({'enabled': None}, 'enabled = None: expected true or false'),
    ({'rate': np.inf}, 'rate = inf: expected 0 or more, finite'),
    ({'pose': np.zeros((4, 4))}, 'expected a rotation and a position'),
    ({'force_noise': 3 * (AxisNoise(precision=-1.0),)}, 'expected precision of 0 or more'),
])
def test_senseless_settings_are_refused(change, message):
    sim = spr.Simulation(world(chain('fixed')))
    settings = sim.sensors['b'].settings
    with pytest.raises(SensorError, match=re.escape(message)):
        sim.sensors['b'].settings = dataclasses.replace(settings, **change)
    assert sim.sensors['b'].settings is settings


def test_noise_is_on_the_axes_of_the_reading():
    noise = ("<force><y><noise type='gaussian'><mean>100</mean></noise></y></force>"
             "<torque><z><noise type='gaussian_quantized'><mean>7</mean><precision>5</precision>"
             '</noise></z></torque>')
    model = world(link('a', '0 0 0 1 2 3'), joint('fixed', 'a', more=sensor(
        frame='parent', noise=noise)))
    sim = spr.Simulation(model)
    sim.step()
    np.testing.assert_allclose(sim.sensors['ft'].reading.force, [0, 100, -2 * G])
    np.testing.assert_allclose(sim.sensors['ft'].reading.torque, [0, 0, 5], atol=1e-12)


def test_a_snapshot_repeats_the_rest_of_a_noisy_run():
    noise = "<force><x><noise type='gaussian'><stddev>1</stddev></noise></x></force>"
    model = world(link('a', com='.1 .2 .3'), joint('ball', 'a', more=sensor(
        noise=noise, body='<update_rate>300</update_rate>')))
    sim = spr.Simulation(model, seed=1)
    sim.step(n=50)
    snapshot = sim.save()

    def rest(sim):
        readings = []
        for _ in range(20):
            sim.step()
            readings += [*sim.sensors['ft'].reading.force, *sim.sensors['ft'].reading.torque]
        return readings

    first = rest(sim)
    assert sim.sensors['ft'].sample_count == 21 and len(set(first)) > 6 * 5
    other = spr.Simulation(model, seed=1)
    other.restore(snapshot)
    assert rest(other) == first


def test_sensors_do_not_change_the_motion():
    """Bit for bit: they read what the step has computed, and write nothing that it needs."""
    text = FOUR_BARS + link('free', '0 3 1 0 0 0', com='.2 0 0')
    with_sensors, without = world(text), world(re.sub('<sensor.*?</sensor>', '', text,
                                                      flags=re.DOTALL))
    sims = spr.Simulation(with_sensors), spr.Simulation(without)
    for sim in sims:
        sim.qd[:] = np.linspace(-1, 2, sim.model.nv)
        sim.step(n=100)
    assert len(sims[0].sensors) == 5 and not sims[1].sensors
    np.testing.assert_array_equal(sims[0].q, sims[1].q)
    np.testing.assert_array_equal(sims[0].qd, sims[1].qd)
