"""The IMU: specific force, angular velocity and orientation; noise, schedule, snapshots."""
import dataclasses
import re

import numpy as np
import pytest

from builders import random_state
import spr_dynamics as spr
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.axis_noise import AxisNoise
from spr_dynamics.sensors.imu import ImuSettings
from spr_dynamics.sensors.settings import SensorError

G = 9.81
ROUNDOFF = 1e-11
INERTIAL = """<inertial><pose>{com} 0 0 0</pose><mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy>
<izz>.25</izz><ixy>.01</ixy></inertia></inertial>"""
SENSOR = "<sensor name='{name}' type='imu'><pose>{pose}</pose>{body}</sensor>"
TURN = '0.1 0.2 -0.3 0.4 -0.5 0.6'


def imu(pose='0 0 0 0 0 0', body='', name='imu'):
    return SENSOR.format(name=name, pose=pose, body=body)


def world(*parts, gravity=f'0 0 -{G}', around=''):
    return spr.load(text=f"<sdf version='1.12'><world name='w'><gravity>{gravity}</gravity>"
                         f"{around}<model name='m'>{''.join(parts)}</model></world></sdf>")


def link(*parts, name='a', com='0 0 0', pose='0 0 0 0 0 0'):
    return (f"<link name='{name}'><pose>{pose}</pose>{INERTIAL.format(com=com)}{''.join(parts)}"
            '</link>')


def joint(kind, child='a', parent='world', axis='0 0 1', more=''):
    return (f"<joint name='{child}_joint' type='{kind}'><parent>{parent}</parent>"
            f'<child>{child}</child><axis><xyz>{axis}</xyz>{more}</axis></joint>')


GROUND = """<model name='ground'><static>1</static><link name='ground'><collision name='c'>
<geometry><plane/></geometry></collision></link></model>"""
CUBE = """<collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>"""


def rotation(rpy):
    return Pose.from_rpy(np.zeros(3), rpy).R


def test_at_rest_it_reads_g_upward():
    sim = spr.Simulation(world(link(CUBE, imu(), pose='0 0 .5 0 0 1'), around=GROUND))
    sim.step(n=500)
    reading = sim.sensors['imu'].reading
    np.testing.assert_allclose(reading.linear_acceleration, [0, 0, G], atol=1e-9)
    np.testing.assert_allclose(reading.angular_velocity, 0, atol=1e-9)


def test_a_tilted_one_on_what_is_fixed_reads_g_in_its_own_axes():
    sim = spr.Simulation(world(link(imu(TURN), pose='1 2 3 .7 0 0'), joint('fixed')))
    sim.step()
    R_WS = rotation([.7, 0, 0]) @ rotation([.4, -.5, .6])
    np.testing.assert_allclose(sim.sensors['imu'].reading.linear_acceleration,
                               R_WS.T @ [0, 0, G], atol=ROUNDOFF)


@pytest.mark.parametrize('integrator', ['semi_implicit_euler', 'analytic', 'rk4',
                                        'implicit_midpoint'])
def test_in_fall_it_reads_nothing_though_the_link_tumbles(integrator):
    """At the centre of mass; it is away from the link's origin, and the spin wobbles."""
    sim = spr.Simulation(world(link(imu('.3 .2 .1 1 2 3'), com='.3 .2 .1')),
                         integrator=integrator)
    sim.qd[:] = 0.3, -0.2, 0.1, 3.0, 1.0, -5.0
    for _ in range(20):
        sim.step(n=20)
        np.testing.assert_allclose(sim.sensors['imu'].reading.linear_acceleration, 0, atol=1e-10)


def test_away_from_the_centre_of_a_tumbling_link_it_reads_the_turn():
    """By w x (w x r) + dw/dt x r; of first order in the step, like the motion."""
    sim = spr.Simulation(world(link(imu('.3 .2 1.1 0 0 0'), com='.3 .2 .1')), dt=1e-5)
    sim.qd[:] = 0.3, -0.2, 0.1, 3.0, 1.0, -5.0
    w = sim.qd[3:].copy()
    sim.step()
    reading, arm = sim.sensors['imu'].reading, np.array([0, 0, 1.0])
    inertia = np.array([[.1, .01, 0], [.01, .2, 0], [0, 0, .25]])
    change = np.linalg.solve(inertia, -np.cross(w, inertia @ w))
    np.testing.assert_allclose(reading.angular_velocity, w, atol=ROUNDOFF)
    np.testing.assert_allclose(
        reading.linear_acceleration, np.cross(w, np.cross(w, arm)) + np.cross(change, arm),
        atol=1e-3)


@pytest.mark.parametrize('integrator', ['semi_implicit_euler', 'rk4'])
def test_on_a_disc_it_reads_the_pull_to_the_centre_and_the_push_of_the_motor(integrator):
    w, r, torque = 3.0, 0.5, 2.0
    model = world(link(imu('.5 0 0 0 0 0')), joint('revolute'))
    sim = spr.Simulation(model, integrator=integrator)
    sim.qd[0] = w
    sim.step()
    np.testing.assert_allclose(sim.sensors['imu'].reading.linear_acceleration,
                               [-w ** 2 * r, 0, G], atol=ROUNDOFF)
    np.testing.assert_allclose(sim.sensors['imu'].reading.angular_velocity, [0, 0, w])
    sim.step([torque])
    np.testing.assert_allclose(sim.sensors['imu'].reading.linear_acceleration,
                               [-w ** 2 * r, torque / .25 * r, G], atol=ROUNDOFF)


LIMB = (link(name='a', com='.1 .2 .3') + joint('universal', axis='1 0 0').replace(
            '</joint>', '<axis2><xyz>0 1 0</xyz></axis2></joint>')
        + link(name='b', com='0 .1 .2', pose='0 0 1 .1 .2 .3')
        + joint('prismatic', 'b', 'a', '0 .6 .8')
        + link(imu(TURN), name='c', com='.2 0 0', pose='.5 0 1 .3 .2 .1')
        + joint('ball', 'c', 'b')
        + link(imu(TURN, name='d_imu'), name='d', pose='.5 1 1 0 0 2') + joint('fixed', 'd', 'c'))


@pytest.mark.parametrize('name', ['imu', 'd_imu'])
def test_it_reads_what_the_accelerations_of_its_link_say(name):
    """The read-out of dynamics/, at the start of the step, with the mean acceleration of it."""
    model = world(LIMB)
    sim = spr.Simulation(model)
    q, qd, tau = random_state(np.random.default_rng(3), model)
    sim.q, sim.qd = q, qd
    sim.step(tau)
    settings = sim.sensors[name].settings
    k = model.link_names.index(settings.link)
    T_WS = spr.link_poses(model, q)[k] @ settings.pose
    arm = T_WS[:3, 3] - spr.link_poses(model, q)[k, :3, 3]
    w = spr.link_velocities(model, q, qd)[k, :3]
    dw, a = np.split(spr.link_accelerations(model, q, qd, sim.qdd)[k], 2)
    felt = a + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)) + [0, 0, G]
    reading = sim.sensors[name].reading
    np.testing.assert_allclose(reading.linear_acceleration, T_WS[:3, :3].T @ felt, atol=1e-10)
    np.testing.assert_allclose(reading.angular_velocity, T_WS[:3, :3].T @ w, atol=ROUNDOFF)


def test_it_reads_the_second_difference_of_its_positions():
    """Of a motion of fourth order: nothing here but positions, one step apart."""
    model, h = world(LIMB), 1e-3
    sim = spr.Simulation(model, dt=h, integrator='rk4')
    sim.q, sim.qd, tau = random_state(np.random.default_rng(3), model)
    path = []
    for _ in range(4):
        path.append(spr.link_poses(model, sim.q)[2] @ sim.sensors['imu'].settings.pose)
        sim.step(tau)
        if len(path) == 2:
            felt = sim.sensors['imu'].reading.linear_acceleration
            turn = sim.sensors['imu'].reading.angular_velocity
    a = (path[2][:3, 3] - 2 * path[1][:3, 3] + path[0][:3, 3]) / h ** 2 + [0, 0, G]
    R = path[1][:3, :3]
    spin = (path[2][:3, :3] - path[0][:3, :3]) @ R.T / (2 * h)
    np.testing.assert_allclose(felt, R.T @ a, atol=1e-3)
    np.testing.assert_allclose(turn, R.T @ [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-3)


def test_an_impact_is_in_the_mean_of_the_step():
    """What it reads less g, added up over the fall and the landing, is the change of speed."""
    sim = spr.Simulation(world(link(CUBE, imu(), pose='0 0 .6 0 0 0'), around=GROUND))
    sim.qd[2] = -1.0
    total, largest = 0.0, 0.0
    for _ in range(300):
        sim.step()
        a = sim.sensors['imu'].reading.linear_acceleration
        total += (a[2] - G) * sim.dt
        largest = max(largest, a[2])
    assert total == pytest.approx(sim.qd[2] + 1.0, abs=1e-9)
    assert sim.qd[2] == pytest.approx(0.0, abs=1e-6)
    assert largest > 50 * G


def reference(body):
    return f'<imu><orientation_reference_frame>{body}</orientation_reference_frame></imu>'


R_START = rotation([.7, 0, 0]) @ rotation([.4, -.5, .6])  # of the sensor below


@pytest.mark.parametrize('body, R_WR', [
    ('', R_START),
    ('<custom_rpy>.1 .2 .3</custom_rpy>', R_START @ rotation([.1, .2, .3])),
    ("<custom_rpy parent_frame='world'>.1 .2 .3</custom_rpy>", rotation([.1, .2, .3])),
    ("<custom_rpy parent_frame='a'>.1 .2 .3</custom_rpy>",
     rotation([.7, 0, 0]) @ rotation([.1, .2, .3])),
    ("<custom_rpy parent_frame='world'>0 0 0</custom_rpy>", np.eye(3)),
    ('<localization>ENU</localization>', np.eye(3)),
    # x north, y east, z down; x north, y west, z up: of a world with x east and y north
    ('<localization>NED</localization>', np.transpose([[0, 1, 0], [1, 0, 0], [0, 0, -1]])),
    ('<localization>NWU</localization>', np.transpose([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])),
    ("<localization>GRAV_UP</localization><grav_dir_x parent_frame='world'>0 2 1</grav_dir_x>",
     np.transpose([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])),
    ("<localization>GRAV_DOWN</localization><grav_dir_x parent_frame='world'>3 0 1</grav_dir_x>",
     np.transpose([[1, 0, 0], [0, -1, 0], [0, 0, -1]])),
])
def test_orientation_counts_from_the_frame_that_is_asked_for(body, R_WR):
    """At the start, and after the link has turned by a radian about the joint's axis."""
    sim = spr.Simulation(world(link(imu(TURN, reference(body)), pose='1 2 3 .7 0 0'),
                               joint('revolute', axis='0 0 1')))
    for angle in 0.0, 1.0:
        sim.q[0] = angle
        sim.step()
        expected = R_WR.T @ rotation([.7, 0, 0]) @ rotation([0, 0, angle]) @ rotation(
            [.4, -.5, .6])
        w, x, y, z = sim.sensors['imu'].reading.orientation
        got = Pose.from_quat_wxyz(np.zeros(3), [w, x, y, z]).R
        np.testing.assert_allclose(got, expected, atol=1e-12)
        assert np.linalg.norm([w, x, y, z]) == pytest.approx(1.0, abs=1e-14)


def test_orientation_counts_from_the_pose_at_the_reset():
    sim = spr.Simulation(world(link(imu()), joint('revolute')))
    sim.set_home([0.5])
    sim.q[0] = 0.9
    sim.step()
    angle = 2 * np.arctan2(sim.sensors['imu'].reading.orientation[3],
                           sim.sensors['imu'].reading.orientation[0])
    assert angle == pytest.approx(0.4, abs=1e-12)


def test_without_orientation_there_is_none():
    sim = spr.Simulation(world(
        link(imu(body='<imu><enable_orientation>0</enable_orientation></imu>'))))
    sim.step()
    assert sim.sensors['imu'].reading.orientation is None


@pytest.mark.parametrize('body, message', [
    ("<custom_rpy parent_frame='aa'>0 0 0</custom_rpy>",
     "imu sensor 'imu': custom_rpy_parent_frame = aa: expected a link, world, or nothing for the "
     "sensor itself (did you mean 'a'?)"),
    ("<localization>GRAV_UP</localization><grav_dir_x parent_frame='world'>0 0 1</grav_dir_x>",
     'grav_dir_x = [0.0, 0.0, 1.0]: expected a direction that is not along gravity (0 0 -9.81)'),
    ('<localization>GRAV_DOWN</localization><grav_dir_x>0 0 0</grav_dir_x>',
     'grav_dir_x = [0.0, 0.0, 0.0]: expected a direction'),
    ('<localization>ENV</localization>', 'localization = ENV: expected one of CUSTOM, ENU, NED'),
])
def test_frames_that_are_none_are_refused(body, message):
    with pytest.raises(SensorError, match=re.escape(message)):
        spr.Simulation(world(link(imu(body=reference(body)))))


def test_no_direction_is_up_without_gravity():
    with pytest.raises(SensorError, match='not along gravity'):
        spr.Simulation(world(link(imu(body=reference('<localization>GRAV_UP</localization>'))),
                             gravity='0 0 0'))


@pytest.mark.parametrize('change, message', [
    ({'link': 'b'}, "link = 'b': expected a link of the model"),
    ({'rate': -1.0}, 'rate = -1.0: expected 0 or more, finite'),
    ({'enabled': 1}, 'enabled = 1: expected true or false'),
    ({'has_orientation': 'no'}, 'has_orientation = no: expected true or false'),
    ({'rate': 'fast'}, 'rate = fast: expected 0 or more, finite'),
    ({'pose': 2 * np.eye(4)}, 'expected a rotation and a position'),
    ({'custom_rpy': [0, np.nan, 0]}, 'custom_rpy = [0, nan, 0]: expected finite numbers'),
    ({'grav_dir_x': [0, 1]}, 'grav_dir_x = [0, 1]: expected shape (3,), not (2,)'),
    ({'angular_velocity_noise': 'none'}, 'angular_velocity_noise = none: expected numbers of'),
    ({'linear_acceleration_noise': (AxisNoise(), AxisNoise(stddev=-1.0), AxisNoise())},
     'expected stddev of 0 or more'),
])
def test_senseless_settings_are_refused_and_change_nothing(change, message):
    sim = spr.Simulation(world(link(imu(TURN))))
    sensor = sim.sensors['imu']
    before = sim.save()
    with pytest.raises(SensorError, match=re.escape(message)):
        sensor.settings = dataclasses.replace(sensor.settings, **change)
    assert sim.save() == before


def noisy(x='', y='', z='', kind='gaussian'):
    axes = ''.join(f"<{axis}><noise type='{kind}'>{noise}</noise></{axis}>"
                   for axis, noise in zip('xyz', (x, y, z)) if noise)
    return f'<imu><angular_velocity>{axes}</angular_velocity></imu>'


def angular_velocities(sim, n):
    """Collect what a sensor at rest reads, sample by sample."""
    readings = np.empty((n, 3))
    for k in range(n):
        sim.step()
        readings[k] = sim.sensors['imu'].reading.angular_velocity
    return readings


def at_rest(body, **options):
    return spr.Simulation(world(link(imu(body=body)), joint('fixed')), **options)


def test_white_noise_has_the_mean_and_deviation_that_are_asked_for():
    """Each bound is five standard deviations of what it bounds."""
    n = 20_000
    x, y, z = angular_velocities(at_rest(noisy(
        '<mean>.3</mean><stddev>.2</stddev>', '<mean>-1</mean>')), n).T
    assert abs(x.mean() - .3) < 5 * .2 / np.sqrt(n)
    assert abs(x.std() - .2) < 5 * .2 / np.sqrt(2 * n)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 5 / np.sqrt(n)
    assert (y == -1.0).all() and (z == 0.0).all()


def test_a_bias_is_drawn_once():
    body = noisy('<bias_mean>2</bias_mean><bias_stddev>.5</bias_stddev>',
                 '<bias_mean>2</bias_mean><bias_stddev>.5</bias_stddev>')
    biases = []
    for seed in range(150):
        readings = angular_velocities(at_rest(body, seed=seed), 3)
        assert (readings == readings[0]).all()
        biases.append(readings[0, :2])
    x, y = np.transpose(biases)
    assert abs(np.mean(biases) - 2) < 5 * .5 / np.sqrt(300)
    assert abs(np.std(biases) - .5) < 5 * .5 / np.sqrt(600)
    assert abs(np.corrcoef(x, y)[0, 1]) < 5 / np.sqrt(150)


def test_a_drift_has_the_deviation_and_the_memory_that_are_asked_for():
    """A Gauss-Markov process, seen at two rates: deviation s sqrt(T / 2), memory exp(-t / T)."""
    T, s, n = 0.02, 3.0, 20_000
    drift = noisy(f'<dynamic_bias_stddev>{s}</dynamic_bias_stddev>'
                  f'<dynamic_bias_correlation_time>{T}</dynamic_bias_correlation_time>')
    fast = angular_velocities(at_rest(drift), n)[:, 0]
    slow = angular_velocities(at_rest('<update_rate>250</update_rate>' + drift), n)[::4, 0]
    assert fast[0] == 0.0 and fast[1] != 0.0
    for x, dt in (fast, 1e-3), (slow, 4e-3):
        x = x[100:]
        settled, keep = s * np.sqrt(T / 2), np.exp(-dt / T)
        n_independent = x.size * dt / (2 * T)
        assert abs(x.std() / settled - 1) < 5 / np.sqrt(2 * n_independent)
        assert abs(np.corrcoef(x[1:], x[:-1])[0, 1] - keep) < 5 * np.sqrt(
            (1 - keep ** 2) / x.size)


def test_quantised_readings_are_multiples_of_the_precision():
    noise = '<stddev>.2</stddev><precision>.25</precision>'
    x, y, _ = angular_velocities(at_rest(noisy(noise, '<mean>.13</mean><precision>.25</precision>',
                                               kind='gaussian_quantized')), 500).T
    assert (x == .25 * np.round(x / .25)).all() and len(set(x)) > 3
    assert (y == .25).all()
    smooth = angular_velocities(at_rest(noisy(noise)), 10)[:, 0]
    assert (smooth != .25 * np.round(smooth / .25)).all()


def test_noise_depends_on_the_seed_and_the_name_alone():
    noise = noisy('<stddev>1</stddev>')
    first, again, other = (angular_velocities(at_rest(noise, seed=seed), 20) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first[:, 0] != other[:, 0]).all()
    with_more = spr.Simulation(world(link(imu(body=noise, name='z'), imu(body=noise)),
                                     joint('fixed')), seed=1)
    np.testing.assert_array_equal(angular_velocities(with_more, 20), first)


def test_a_snapshot_repeats_the_rest_of_a_noisy_run():
    drift = ('<stddev>1</stddev><bias_stddev>1</bias_stddev><dynamic_bias_stddev>1'
             '</dynamic_bias_stddev><dynamic_bias_correlation_time>1'
             '</dynamic_bias_correlation_time>')
    body = '<update_rate>333</update_rate>' + noisy(drift)
    model = world(link(imu(TURN, body)), joint('revolute', axis='1 0 0'))
    sim = spr.Simulation(model, seed=5)
    sim.set_home([0.7])
    sim.step(n=100)
    snapshot = sim.save()
    rest = angular_velocities(sim, 50)
    end = sim.save()
    other = spr.Simulation(model, seed=5)
    other.restore(snapshot)
    np.testing.assert_array_equal(angular_velocities(other, 50), rest)
    assert other.save() == end
    assert other.sensors['imu'].settings.angular_velocity_noise[0].stddev == 1.0


@pytest.mark.parametrize('rate', [30, 100, 333])
def test_samples_come_at_the_rate_of_the_sensor(rate):
    sim = spr.Simulation(world(link(imu(body=f'<update_rate>{rate}</update_rate>'))))
    sensor, times = sim.sensors['imu'], []
    for _ in range(2000):
        sim.step()
        if sensor.sample_count > len(times):
            times.append(sensor.sample_time_ns)
    assert np.abs(np.array(times) * 1e-9 - np.arange(len(times)) / rate).max() < sim.dt
    assert len(times) == 2 * rate
    assert sim.steps_until_sample() == sensor.next_step - 1999


def test_too_fast_a_rate_is_named():
    sim = spr.Simulation(world(link(imu(body='<update_rate>5000</update_rate>'))))
    assert sim.warnings == ("imu sensor 'imu' asks for 5000 Hz and samples each step, "
                            'at 1000 Hz',)


def test_settings_may_change_while_it_runs():
    sim = spr.Simulation(world(link(imu()), joint('fixed')))
    sensor = sim.sensors['imu']
    sim.step(n=10)
    sensor.settings = dataclasses.replace(
        sensor.settings, rate=100.0, linear_acceleration_noise=3 * (AxisNoise(mean=1.0),))
    sim.step(n=20)
    assert sensor.sample_count == 12
    np.testing.assert_allclose(sensor.reading.linear_acceleration, [1, 1, 1 + G])


def test_gravity_of_the_simulation_is_what_it_feels():
    sim = spr.Simulation(world(link(imu()), joint('fixed')))
    sim.gravity = [1.0, 0.0, 0.0]
    sim.step()
    np.testing.assert_allclose(sim.sensors['imu'].reading.linear_acceleration, [-1, 0, 0])


def test_names_that_occur_twice_are_told_apart():
    sim = spr.Simulation(world(link(imu()), link(imu(), name='b', pose='0 0 9 0 0 0')))
    assert list(sim.sensors) == ['a::imu', 'b::imu']
    assert sim.sensors['b::imu'].settings.link == 'b'


def test_it_goes_on_when_the_robot_is_edited():
    sim = spr.Simulation(world(link(imu(body=noisy('<bias_stddev>1</bias_stddev>'))),
                               joint('revolute')))
    sim.qd[0] = 1.0
    sim.step(n=300)
    edited = sim.joints['a_joint'].add_child(
        link(imu(), name='b') + joint('fixed', 'b', 'a'))
    bias = sim.sensors['imu'].reading.angular_velocity
    sim.step()
    edited.step()
    assert list(edited.sensors) == ['a::imu', 'b::imu']
    np.testing.assert_allclose(edited.sensors['a::imu'].reading.orientation,
                               sim.sensors['imu'].reading.orientation, atol=1e-12)
    assert bias[0] != 0.0


def test_defaults_are_those_of_sdformat():
    settings = spr.Simulation(world(link(imu()))).sensors['imu'].settings
    for name, value in vars(ImuSettings(link='a').validated()).items():
        np.testing.assert_array_equal(getattr(settings, name), value, err_msg=name)
