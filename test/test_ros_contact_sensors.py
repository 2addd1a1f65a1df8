"""Contact sensors over DDS: clouds, every setting as a parameter, rates, the release."""
import dataclasses
import math
import re

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402, I100
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParametersAtomically  # noqa: E402
from sensor_msgs.msg import PointCloud2  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from ros_harness import Client, LATCHED, NodeProcess, time_ns  # noqa: E402
from sensor_models import BLOCK, block, patch, SENSOR, WHOLE  # noqa: E402
import spr_dynamics as spr  # noqa: E402
from spr_dynamics.ros.parameters import SENSOR_TABLE  # noqa: E402
from spr_dynamics.ros.sensor_clouds import (  # noqa: E402
    Cloud, fill_points, fill_taxels, POINT, TAXEL)
from spr_dynamics.sdformat.schema import PATCH  # noqa: E402
from spr_dynamics.sensors.contact import (  # noqa: E402
    CONTACT_RULES, FALLOFF_MODES, MEASURES)

MS = 1_000_000
PREFIX = 'contact_sensors.foot.'
WEIGHT = 9.81  # [N]
PERIOD = 2  # [steps] of the foot's samples


# without a node

def test_points_are_what_the_sensor_sees():
    sim = spr.Simulation(block(foot=(0, patch(-0.06, -0.06, 0, 0.06, falloff_coefficient='1'))))
    sim.step(n=300)
    sensor = sim.sensors['foot']
    assert POINT.itemsize == 49
    rows = np.zeros((1, 4), POINT)
    fill_points(rows, sensor.contacts)
    force = np.stack([rows['fx'], rows['fy'], rows['fz']], axis=-1)[0]
    np.testing.assert_allclose((rows['weight'][0, :, None] * force).sum(0), sensor.reading.force,
                               atol=1e-5)
    np.testing.assert_allclose(rows['nz'], -1.0, atol=1e-6)
    np.testing.assert_allclose(np.abs([rows['x'], rows['y']]), 0.05, atol=1e-6)
    assert sorted(rows['status'][0]) == [0, 0, 1, 1]
    assert {sim.model.shape_names[k] for k in rows['partner'][0]} == {'ground::plane'}
    sim.q[2] += 1.0
    sim.step()
    assert sensor.contacts.size == 0


def test_taxels_are_an_organised_cloud_that_carries_the_force():
    sim = spr.Simulation(block(foot=(0, WHOLE + '<spr:taxels>3 5</spr:taxels>')))
    sim.step(n=300)
    sensor = sim.sensors['foot']
    rows = np.zeros((3, 5), TAXEL)
    fill_taxels(rows, sensor)
    np.testing.assert_allclose(rows['fz'].sum(), sensor.reading.force[2], rtol=1e-5)
    np.testing.assert_allclose(rows['x'][0], np.linspace(-0.048, 0.048, 5), atol=1e-6)
    np.testing.assert_allclose(rows['y'][:, 0], [-0.04, 0, 0.04], atol=1e-6)


def test_clouds_of_other_sizes_follow_one_another():
    """The rows of a message are used again, where there are as many of them."""
    with Client(NodeProcess.next_namespace()) as client:
        cloud = Cloud(client.node, 'cloud', 'tip', POINT)
        heard = client.listen(PointCloud2, 'cloud')
        client.wait_until(lambda: cloud.output.is_wanted)
        shapes = [(1, 3), (1, 3), (1, 0), (2, 3), (1, 1)]
        for number, shape in enumerate(shapes):
            cloud.rows(*shape)['x'] = number
            cloud.publish(number)
        client.wait_until(lambda: len(heard) == len(shapes))
    for number, (shape, message) in enumerate(zip(shapes, heard)):
        assert (message.height, message.width) == shape
        assert message.row_step == shape[1] * POINT.itemsize
        rows = np.frombuffer(message.data, POINT) if message.data else np.zeros(0, POINT)
        assert rows['x'].tolist() == [number] * (shape[0] * shape[1])


def test_words_are_the_same_in_settings_files_and_parameters():
    for name, known in (('falloff_mode', FALLOFF_MODES), ('contact_rule', CONTACT_RULES),
                        ('measure', MEASURES)):
        assert SENSOR_TABLE[name].choices == tuple(known)
        assert all(PATCH[name](word) == word for word in known)


# with a node

@pytest.fixture(scope='module')
def node(tmp_path_factory):
    """Return a block at rest with three sensors, paused after their first sample."""
    folder = tmp_path_factory.mktemp('block')
    robot = folder / 'block.sdf'
    robot.write_text(BLOCK.format(sensors=''.join(
        SENSOR.format(name=name, rate=500, patch=elements) for name, elements in (
            ('foot', WHOLE + '<spr:taxels>4 4</spr:taxels>'), ('fast', ''),
            ('toe', '<topic>skin/toe</topic>')))), encoding='utf-8')
    with NodeProcess(folder, robot=str(robot), paused=True, seed=7) as node:
        with Client(node.namespace) as client:
            assert client.call(Trigger, 'simulation/step').success
        yield node


@pytest.fixture
def client(node):
    with Client(node.namespace) as client:
        client.wrenches = client.listen(WrenchStamped, 'contact_sensors/foot/wrench')
        client.contacts = client.listen(Bool, 'contact_sensors/foot/contact', LATCHED)
        client.wait_until(lambda: client.contacts and client.wrenches)  # who comes is greeted once
        yield client


def message(name, value):
    """Return a parameter of the type that its value has."""
    kinds = {bool: (1, 'bool_value', 6, 'bool_array_value'),
             int: (2, 'integer_value', 7, 'integer_array_value'),
             float: (3, 'double_value', 8, 'double_array_value'),
             str: (4, 'string_value', 9, 'string_array_value')}
    is_list = isinstance(value, list)
    one, field, many, fields = kinds[type(value[0] if is_list else value)]
    content = {'type': many, fields: value} if is_list else {'type': one, field: value}
    return Parameter(name=name, value=ParameterValue(**content))


def set_together(client, values):
    """Set some of the foot's parameters, all or none; return the result."""
    parameters = [message(PREFIX + name, value) for name, value in values.items()]
    return set_all(client, parameters)


def set_all(client, parameters):
    """Set parameters, all or none; return the result."""
    return client.call(SetParametersAtomically, 'simulation/set_parameters_atomically',
                       parameters=parameters).result


def present(client, names):
    """Return the values of some of the foot's parameters."""
    return client.call(GetParameters, 'simulation/get_parameters',
                       names=[PREFIX + name for name in names]).values


def next_sample(client):
    """Step until the foot's sensor has taken a sample, and return it with how long that took."""
    for steps in range(1, 1 + PERIOD):
        answer = client.call(Trigger, 'simulation/step')
        assert answer.success
        step = round(float(re.search(r'at (\S+) s', answer.message)[1]) * 1000) - 1
        if step % PERIOD == 0:
            client.wait_until(lambda stamp=step * MS: client.wrenches and time_ns(
                client.wrenches[-1].header.stamp) == stamp)
            return client.wrenches[-1], steps
    raise AssertionError('no sample within a period')


def test_topic_of_the_file_takes_the_place_of_the_sensors_name(client):
    wrenches = client.listen(WrenchStamped, 'skin/toe/wrench')
    contacts = client.listen(Bool, 'skin/toe/contact', LATCHED)
    client.wait_until(lambda: contacts)
    next_sample(client)
    client.wait_until(lambda: wrenches and wrenches[-1].wrench.force.z < 0.0)
    assert wrenches[-1].header.frame_id == 'contact_sensors/toe'
    assert not client.node.count_publishers('contact_sensors/toe/wrench')


def test_clouds_come_with_the_samples(client):
    points = client.listen(PointCloud2, 'contact_sensors/foot/points')
    taxels = client.listen(PointCloud2, 'contact_sensors/foot/taxels')
    client.spin(0.5)
    wrench, _ = next_sample(client)
    client.wait_until(lambda: points and taxels)
    for cloud, dtype, shape in ((points[-1], POINT, (1, 4)), (taxels[-1], TAXEL, (4, 4))):
        assert cloud.header == wrench.header and (cloud.height, cloud.width) == shape
        assert cloud.point_step == dtype.itemsize
        assert cloud.row_step == cloud.width * dtype.itemsize
        assert [(field.name, field.offset) for field in cloud.fields] == [
            (name, dtype.fields[name][1]) for name in dtype.names]
        rows = np.frombuffer(cloud.data, dtype)
        np.testing.assert_allclose(rows['fz'].sum(), wrench.wrench.force.z, rtol=1e-5)


@pytest.mark.parametrize('values, expected', [
    ({'force_resolution': [0.0, 0.0, 7.0]}, -7.0),
    ({'force_saturation': [1.0, 1.0, 2.5]}, -2.5),
    ({'patch_max': [0.0, 0.06]}, -WEIGHT / 2),
    ({'patch_min': [0.0, 0.0]}, -WEIGHT / 4),
    ({'patch_min': [-0.05, -0.05], 'patch_max': [0.05, 0.05], 'falloff_coefficient': 1.0}, 0.0),
    ({'falloff_mode': 'edge', 'falloff_coefficient': 2.0}, -WEIGHT * (11 / 36) ** 4),
    ({'pose': [0.0, 0.0, 0.05, math.pi, 0.0, 0.0]}, 0.0),
    ({'pose': [0.0, 0.0, -0.05, 0.0, 0.0, 0.0]}, WEIGHT),
    ({'patch_tolerance': 0.0, 'pose': [0.0, 0.0, -0.051, math.pi, 0.0, 0.0]}, 0.0),
    ({'has_force': [True, True, False]}, 0.0),
])
def test_setting_acts_on_the_next_sample(client, values, expected):
    before = [Parameter(name=PREFIX + name, value=value)
              for name, value in zip(values, present(client, values))]
    for _ in range(10):  # a block that is just put down is not at rest
        client.call(Trigger, 'simulation/step')
    assert set_together(client, values).successful
    wrench, steps = next_sample(client)
    assert steps <= PERIOD
    assert wrench.wrench.force.z == pytest.approx(expected, abs=2e-2)
    assert set_all(client, before).successful
    assert next_sample(client)[0].wrench.force.z == pytest.approx(-WEIGHT, abs=2e-2)


@pytest.mark.parametrize('values, is_contact', [
    ({'force_sensitivity': 2.0 * WEIGHT}, False),
    ({'force_sensitivity': 2.0 * WEIGHT, 'contact_rule': 'any_contact'}, True),
    ({'force_sensitivity': 0.9 * WEIGHT, 'release_sensitivity': 0.0}, True),
])
def test_what_is_contact_is_live(client, values, is_contact):
    before = [Parameter(name=PREFIX + name, value=value)
              for name, value in zip(values, present(client, values))]
    assert set_together(client, values).successful
    next_sample(client)
    client.wait_until(lambda: client.contacts[-1].data is is_contact)
    client.spin(0.05)
    assert client.contacts[-1].data is is_contact
    assert set_all(client, before).successful
    next_sample(client)
    client.wait_until(lambda: client.contacts[-1].data)


def test_contact_is_held_down_to_the_release_sensitivity(client):
    """A third of the weight is less than what it takes to begin, and more than to end it."""
    held = {'force_sensitivity': 0.5 * WEIGHT, 'release_sensitivity': 0.1 * WEIGHT}
    before = [Parameter(name=PREFIX + name, value=value)
              for name, value in zip(held, present(client, held))]
    assert set_together(client, held).successful
    for release, is_contact in ((0.1, True), (0.4, False)):
        next_sample(client)
        assert client.contacts[-1].data
        assert set_all(client, [message('gravity', [0.0, 0.0, -WEIGHT / 3.0]),
                                message(PREFIX + 'release_sensitivity', release * WEIGHT)]
                       ).successful
        for _ in range(5):
            next_sample(client)
        client.spin(0.1)
        assert client.contacts[-1].data is is_contact
        assert set_all(client, [message('gravity', [0.0, 0.0, -WEIGHT])]).successful
        for _ in range(5):
            next_sample(client)
    assert set_all(client, before).successful
    next_sample(client)


def test_the_spread_of_a_force_over_taxels_is_live(client):
    taxels = client.listen(PointCloud2, 'contact_sensors/foot/taxels')
    felt = {}
    client.spin(0.3)
    for spread in 0.022, 0.08:
        assert set_together(client, {'taxel_spread': spread}).successful
        sample, _ = next_sample(client)
        client.wait_until(lambda sample=sample: taxels and taxels[-1].header == sample.header)
        felt[spread] = np.frombuffer(taxels[-1].data, TAXEL)['fz']
        assert felt[spread].sum() == pytest.approx(-WEIGHT, rel=1e-3)
    assert felt[0.022].min() < felt[0.08].min() - 0.05 * WEIGHT  # the corners carry it
    assert set_together(client, {'taxel_spread': 0.0}).successful


def test_a_sensor_that_is_not_enabled_takes_no_samples(client):
    next_sample(client)
    assert set_together(client, {'enabled': False}).successful
    client.spin(0.1)
    taken = len(client.wrenches)
    for _ in range(3 * PERIOD - 1):
        assert client.call(Trigger, 'simulation/step').success
    client.spin(0.2)
    assert len(client.wrenches) == taken
    assert set_together(client, {'enabled': True}).successful
    _, steps = next_sample(client)
    assert (steps, len(client.wrenches)) == (1, taken + 1)


def test_a_loaded_state_shows_the_sample_with_its_own_time(client, tmp_path):
    sample, _ = next_sample(client)
    taken = time_ns(sample.header.stamp)
    client.call(Trigger, 'simulation/step')  # the present is another time now
    assert set_all(client, [message('state_file', str(tmp_path / 'block.state'))]).successful
    assert client.call(Trigger, 'simulation/save_state').success
    next_sample(client)
    assert client.call(Trigger, 'simulation/load_state').success
    client.wait_until(lambda: time_ns(client.wrenches[-1].header.stamp) == taken)
    assert client.wrenches[-1].wrench == sample.wrench


def test_noise_and_measure_are_live(client):
    assert set_together(client, {'force_variance': [0.0, 0.0, 4.0], 'measure': 'mean',
                                 'noise_when_idle': True}).successful
    noisy = [next_sample(client)[0].wrench.force.z for _ in range(4)]
    assert len(set(noisy)) == 4 and np.abs(np.array(noisy) + WEIGHT).max() > 0.05
    # they are those of the seed, of which earlier samples of this node have drawn none
    twin = spr.Simulation(block(foot=(500, WHOLE)), seed=7)
    twin.step(n=100)
    twin.sensors['foot'].settings = dataclasses.replace(
        twin.sensors['foot'].settings, force_variance=[0, 0, 4.0], measure='mean')
    same = []
    for _ in noisy:
        twin.step(n=twin.steps_until_sample())
        same.append(twin.sensors['foot'].reading.force[2])
    np.testing.assert_allclose(noisy, same, atol=0.02)
    assert set_together(client, {'force_variance': [0.0, 0.0, 0.0], 'measure': 'sample',
                                 'noise_when_idle': False}).successful


def test_diagnostics_say_why_a_sensor_is_silent(client, node):
    messages = client.listen(DiagnosticArray, '/diagnostics')
    next_sample(client)

    def newest():
        return next((status for msg in messages[-1:] for status in msg.status
                     if status.name == f'{node.namespace[1:]}/simulation: foot'), None)

    client.wait_until(newest)
    assert (newest().level, newest().message) == (b'\x00', 'measures')
    assert set_together(client, {'pose': [0.0, 0.0, -0.0475, math.pi, 0.0, 0.0]}).successful
    next_sample(client)
    client.wait_until(lambda: newest().level == b'\x01')
    assert newest().message == ('link touches 4 contacts, none within the patch; nearest misses '
                                'by 1.5 mm in z')
    values = {pair.key: pair.value for pair in newest().values}
    assert (values['seen'], values['rejected_by_tolerance']) == ('4', '4')
    assert values['touches'] == 'ground::plane (0)' and values['virtual'] == 'True'
    assert set_together(client, {'pose': [0.0, 0.0, -0.05, math.pi, 0.0, 0.0]}).successful
    next_sample(client)


@pytest.mark.parametrize('values, reason', [
    ({'force_variance': [0.0, -1.0, 0.0]}, 'force_variance = [0.0, -1.0, 0.0]: out of range'),
    ({'force_variance': [1.0, 1.0]}, 'force_variance = [1.0, 1.0]: expected 3 numbers'),
    ({'force_variance': 1.0}, 'Wrong parameter type'),
    ({'release_sensitivity': 1.0}, 'release_sensitivity = 1.0: expected 0 to force_sensitivity'),
    ({'release_sensitivity': math.nan}, 'release_sensitivity = nan: out of range'),
    ({'falloff_mode': 'round'}, "falloff_mode = 'round': expected 'klampt' or 'edge'"),
    ({'falloff_mode': 1.0}, 'Wrong parameter type'),
    ({'contact_rule': ''}, "contact_rule = '': expected 'normal_force' or 'any_contact'"),
    ({'measure': 'max'}, "measure = 'max': expected 'sample', 'mean' or 'peak'"),
    ({'noise_when_idle': 1}, 'Wrong parameter type'),
    ({'taxels': [2.0, 2.0]}, 'read-only parameter'),
    ({'taxel_spread': 0.001}, 'taxel_spread = 0.001: expected 0, or more than half a cell'),
    ({'pose': [0.0, 0.0, 0.0, math.inf, 0.0, 0.0]}, 'out of range'),
    ({'measure': 'mean', 'force_sensitivity': 2.0, 'rate': -1.0}, 'rate'),
])
def test_refused_settings_change_nothing(client, values, reason):
    before = present(client, values)
    result = set_together(client, values)
    assert not result.successful and reason in result.reason
    assert present(client, values) == before


def test_release_is_announced_within_a_period(client):
    next_sample(client)
    assert client.contacts[-1].data
    flags = len(client.contacts)
    assert set_all(client, [message('gravity', [0.0, 0.0, 200.0])]).successful
    for _ in range(1 + PERIOD):  # the first of these steps lifts it off
        client.call(Trigger, 'simulation/step')
    client.wait_until(lambda: len(client.contacts) > flags)
    assert not client.contacts[-1].data
    client.wait_until(lambda: client.wrenches[-1].wrench.force.z == 0.0)
    assert client.call(Trigger, 'simulation/reset').success
    assert set_all(client, [message('gravity', [0.0, 0.0, -WEIGHT])]).successful


@pytest.mark.parametrize('rate', [333.0, 30.0])
def test_rate_over_dds_is_the_one_that_was_set(node, rate):
    """No interval differs by more than a step from the ideal, and no sample is lost."""
    with Client(node.namespace) as client:
        wrenches = client.listen(WrenchStamped, 'contact_sensors/fast/wrench')
        client.spin(0.5)
        name = 'contact_sensors.fast.rate'
        assert set_all(client, [message(name, rate), message('paused', False)]).successful
        start = len(wrenches)
        client.wait_until(lambda: len(wrenches) > start + 40)
        assert set_all(client, [message('paused', True)]).successful
        stamps = np.array([time_ns(msg.header.stamp) for msg in wrenches[start + 2:]])
        assert abs((len(stamps) - 1) / (stamps[-1] - stamps[0]) * 1e9 / rate - 1) < 0.01
        assert np.abs(np.diff(stamps) - 1e9 / rate).max() <= MS
