"""Parameters: the table, the checks at the door, and what changes while the node runs."""
import dataclasses
import math
import re
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')
yaml = pytest.importorskip('yaml')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402, I100
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import (  # noqa: E402
    DescribeParameters, GetParameters, SetParameters, SetParametersAtomically)
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from ros_harness import BEST_EFFORT, Client, LATCHED, NodeProcess, time_ns  # noqa: E402
from spr_dynamics.model.load import load  # noqa: E402
from spr_dynamics.ros import contact_sensors, resources  # noqa: E402
from spr_dynamics.ros.parameters import (  # noqa: E402
    checked, descriptor, ParameterError, SENSOR_TABLE, TABLE)
from spr_dynamics.sensors.contact import ContactSensorSettings  # noqa: E402
from spr_dynamics.simulation.simulation import Simulation  # noqa: E402

MS = 1_000_000


# without a node

@pytest.mark.parametrize('name, given, taken', [
    ('dt', 1, 1.0),
    ('gravity', [0, 0, -9], [0.0, 0.0, -9.0]),
    ('paused', True, True),
    ('joints', ('a', 'b'), ['a', 'b']),
])
def test_integers_stand_for_numbers(name, given, taken):
    value = checked(TABLE[name], given)
    assert value == taken
    assert type(value) is type(taken)


@pytest.mark.parametrize('table, name, value, message', [
    (TABLE, 'dt', 2.0, r'dt = 2.0: out of range, expected a number from 0 to 1 \(finite\) \[s\]'),
    (TABLE, 'dt', True, 'dt = True: expected a number'),
    (TABLE, 'dt', math.nan, 'dt = nan: out of range'),
    (TABLE, 'paused', 1, 'paused = 1: expected true or false'),
    (TABLE, 'joints', 'a', "joints = 'a': expected texts"),
    (TABLE, 'gravity', [0.0, math.inf, 0.0], 'gravity = .*: out of range, expected 3 numbers'),
    (SENSOR_TABLE, 'has_force', [True], 'has_force = .*: expected 3 booleans'),
    (SENSOR_TABLE, 'force_saturation', [math.nan] * 3, 'force_saturation = .*: out of range'),
])
def test_values_that_make_no_sense_are_refused(table, name, value, message):
    with pytest.raises(ParameterError, match=message):
        checked(table[name], value)


@pytest.mark.parametrize('spec', [
    spec for spec in (*TABLE.values(), *SENSOR_TABLE.values())
    if spec.kind in ('number', 'integer') and not spec.infinite], ids=lambda spec: spec.name)
def test_a_number_that_may_not_be_infinite_has_a_finite_range(spec):
    described = descriptor(spec)
    range_, = (*described.floating_point_range, *described.integer_range)
    assert math.isfinite(range_.from_value) and math.isfinite(range_.to_value)
    for beyond in (range_.to_value * 2 + 1, range_.from_value - 1):
        with pytest.raises(ParameterError, match=f'^{spec.name} = .*: out of range'):
            checked(spec, beyond)


def test_infinite_saturation_is_a_value():
    assert checked(SENSOR_TABLE['force_saturation'], [math.inf] * 3) == [math.inf] * 3


def test_sensor_table_has_the_settings_of_a_sensor():
    fields = {field.name for field in dataclasses.fields(ContactSensorSettings)}
    assert set(SENSOR_TABLE) == fields - {'collisions'}


def test_sensor_settings_survive_as_parameters():
    settings = ContactSensorSettings(
        link='tip', patch_min=np.array([-1.0, -2.0]), patch_max=np.array([1.0, 2.0]),
        has_force=(True, False, True), rate=50.0).validated()
    values = contact_sensors.parameter_values(settings)
    assert values['patch_min'] == [-1.0, -2.0]
    assert values['has_force'] == [True, False, True]
    again = contact_sensors.with_values(ContactSensorSettings(), values).validated()
    for field in dataclasses.fields(settings):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(settings, field.name))


class Given:
    """Parameters as the command line gives them, without a node."""

    def __init__(self, overrides):
        self.overrides = overrides

    def declare(self, spec, *, name, default):
        return checked(spec, self.overrides.get(name, default), name=name)


def foot_sensor(hopper_model, **overrides):
    """Return the settings of the hopper's sensor, some of them given by parameters."""
    given = Given({f'contact_sensors.foot.{name}': value for name, value in overrides.items()})
    return contact_sensors.ContactSensorParameters(given, hopper_model).settings['foot']


@pytest.fixture(scope='module')
def hopper_model():
    return load(resources.resolve('hopper'))


def test_a_sensor_on_its_link_feels_the_collisions_that_the_file_names(hopper_model):
    assert foot_sensor(hopper_model, link='foot').collisions == ('sole',)


def test_a_sensor_that_a_parameter_moves_feels_all_collisions_of_its_new_link(hopper_model):
    """It was refused: link 'torso' has no collision 'sole'."""
    moved = foot_sensor(hopper_model, link='torso', rate=50)
    assert (moved.link, moved.collisions, moved.rate) == ('torso', (), 50.0)
    assert Simulation(hopper_model, contact_sensors={'foot': moved}).sensors['foot']


@pytest.mark.parametrize('setting, value, message', [
    ('link', 'torsoo', r"link = 'torsoo': expected a link of the model \(did you mean 'torso'\?"),
    ('patch_min', [1.0, math.inf], r'patch_min = \[1.0, inf\]: expected less than'),
    ('rate', -1.0, 'rate = -1.0: out of range'),
])
def test_refused_settings_are_named_as_parameters(hopper_model, setting, value, message):
    with pytest.raises(ParameterError, match=rf'^contact_sensors\.foot\.{message}'):
        foot_sensor(hopper_model, **{setting: value})


# with a node

WEIGHT = 10.8 * 9.8  # [N] of models/hopper.sdf under SDFormat's default gravity


@pytest.fixture(scope='module')
def hopper(tmp_path_factory):
    """Return the hopper after it has come to rest on the ground, paused."""
    folder = tmp_path_factory.mktemp('hopper')
    with NodeProcess(folder, robot='hopper', real_time_factor=0.0, publish_rate=10.0) as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states and states[-1].header.stamp.sec >= 8)
        client.call(SetBool, 'simulation/pause', data=True)
        yield node


@pytest.fixture
def client(hopper):
    with Client(hopper.namespace) as client:
        client.wrenches = client.listen(WrenchStamped, 'contact_sensors/foot/wrench')
        client.contacts = client.listen(Bool, 'contact_sensors/foot/contact', LATCHED)
        client.wait_until(lambda: client.contacts and client.wrenches)  # the last ones
        yield client


def message(name, value):
    """Return a parameter of the type that its value has."""
    if isinstance(value, bool):
        content = ParameterValue(type=1, bool_value=value)
    elif isinstance(value, int):
        content = ParameterValue(type=2, integer_value=value)
    elif isinstance(value, float):
        content = ParameterValue(type=3, double_value=value)
    elif isinstance(value, str):
        content = ParameterValue(type=4, string_value=value)
    elif isinstance(value[0], int):
        content = ParameterValue(type=7, integer_array_value=value)
    else:
        content = ParameterValue(type=8, double_array_value=value)
    return Parameter(name=name, value=content)


def set_parameter(client, name, value):
    """Set one parameter and return the result."""
    return client.call(SetParameters, 'simulation/set_parameters',
                       parameters=[message(name, value)]).results[0]


def get_parameter(client, name):
    return client.call(GetParameters, 'simulation/get_parameters', names=[name]).values[0]


def next_sample(client):
    """Step until the foot's sensor has taken a sample, and return it."""
    taken = len(client.wrenches)
    for _ in range(10):  # 100 Hz at 1 ms
        assert client.call(Trigger, 'simulation/step').success
    client.wait_until(lambda: len(client.wrenches) > taken, patience=5.0)
    assert len(client.wrenches) == taken + 1
    return client.wrenches[-1]


def test_foot_sensor_reads_the_weight(client):
    msg = next_sample(client)
    assert msg.header.frame_id == 'contact_sensors/foot'
    assert time_ns(msg.header.stamp) % (10 * MS) == 0
    # z points out of the sole: standing presses against it
    assert msg.wrench.force.z == pytest.approx(-WEIGHT, rel=2e-3)
    assert abs(msg.wrench.force.x) < 1.0
    assert client.contacts[-1].data


def test_a_changed_patch_acts_on_the_next_sample(client):
    """Half of the sole: the reading is that of the contacts in it."""
    whole = next_sample(client).wrench
    name = 'contact_sensors.foot.patch_max'
    before = list(get_parameter(client, name).double_array_value)
    assert before == [math.inf, math.inf]
    assert set_parameter(client, name, [0.0, 1.0]).successful
    half = next_sample(client).wrench
    assert set_parameter(client, name, [math.inf, math.inf]).successful
    assert next_sample(client).wrench.force.z == pytest.approx(whole.force.z, rel=1e-3)
    assert 0.05 * WEIGHT < -half.force.z < 0.95 * WEIGHT


def test_contact_flag_follows_the_sensitivity_and_is_latched(client, hopper):
    name = 'contact_sensors.foot.force_sensitivity'
    assert set_parameter(client, name, 1000).successful  # an integer for a number
    next_sample(client)
    client.wait_until(lambda: not client.contacts[-1].data)
    with Client(hopper.namespace) as late:
        contacts = late.listen(Bool, 'contact_sensors/foot/contact', LATCHED)
        late.wait_until(lambda: contacts)
        assert not contacts[-1].data
    assert set_parameter(client, name, 0.0).successful
    next_sample(client)
    client.wait_until(lambda: client.contacts[-1].data)


def test_axes_that_are_not_measured_read_zero(client):
    name = 'contact_sensors.foot.has_force'
    only_x = Parameter(name=name, value=ParameterValue(
        type=6, bool_array_value=[True, False, False]))
    everything = Parameter(name=name, value=ParameterValue(
        type=6, bool_array_value=[True, True, True]))
    for parameter, reads in ((only_x, False), (everything, True)):
        assert client.call(SetParameters, 'simulation/set_parameters',
                           parameters=[parameter]).results[0].successful
        assert (next_sample(client).wrench.force.z != 0.0) is reads


@pytest.mark.parametrize('name, value, reason', [
    ('robot', 'arm7', 'Trying to set a read-only parameter: robot'),
    ('contact_sensors.foot.link', 'shin', 'Trying to set a read-only parameter'),
    ('publish_rate', -1.0, 'out of range'),
    ('publish_rate', -1, 'out of range'),
    ('gravity', [0.0, 0.0], 'gravity = [0.0, 0.0]: expected 3 numbers'),
    ('contact_sensors.foot.rate', 200_000.0, 'out of range'),
    ('contact_sensors.foot.patch_tolerance', -1.0,
     'contact_sensors.foot.patch_tolerance = -1.0: out of range'),
    ('contact_sensors.foot.patch_min', [math.inf, 0.0],
     'contact_sensors.foot.patch_min = [inf, 0.0]: expected less than patch_max'),
    ('contact_sensors.foot.falloff_coefficient', 1.0, 'contact_sensors.foot.falloff_coeff'),
])
def test_refused_values_change_nothing(client, name, value, reason):
    before = get_parameter(client, name)
    result = set_parameter(client, name, value)
    assert not result.successful
    assert reason in result.reason
    assert get_parameter(client, name) == before


def test_settings_that_only_fit_together_are_set_together(client):
    prefix = 'contact_sensors.foot.'
    before = get_parameter(client, prefix + 'patch_min')
    wanted = [message(prefix + 'patch_min', [1.0, 1.0]),
              message(prefix + 'patch_max', [0.5, 2.0])]
    service = 'simulation/set_parameters_atomically'
    refused = client.call(SetParametersAtomically, service, parameters=wanted).result
    assert not refused.successful
    assert get_parameter(client, prefix + 'patch_min') == before
    wanted[1] = message(prefix + 'patch_max', [2.0, 2.0])
    assert client.call(SetParametersAtomically, service, parameters=wanted).result.successful
    assert next_sample(client).wrench.force.z == 0.0
    everywhere = [message(prefix + 'patch_min', [-math.inf] * 2),
                  message(prefix + 'patch_max', [math.inf] * 2)]
    assert client.call(SetParametersAtomically, service, parameters=everywhere).result.successful


def test_descriptions_tell_unit_range_and_what_is_live(client):
    rate, joints = client.call(DescribeParameters, 'simulation/describe_parameters',
                               names=['publish_rate', 'joints']).descriptors
    assert '[Hz of simulated time]' in rate.description
    assert rate.floating_point_range[0].to_value == TABLE['publish_rate'].high
    assert not rate.read_only
    assert joints.read_only


def test_gravity_is_live(client):
    assert set_parameter(client, 'gravity', [0, 0, 0]).successful
    assert list(get_parameter(client, 'gravity').double_array_value) == [0.0, 0.0, 0.0]
    assert set_parameter(client, 'gravity', [0.0, 0.0, -9.8]).successful


def test_pause_is_a_parameter_too(client):
    assert get_parameter(client, 'paused').bool_value
    assert set_parameter(client, 'paused', False).successful
    assert not client.call(Trigger, 'simulation/step').success
    client.call(SetBool, 'simulation/pause', data=True)
    assert get_parameter(client, 'paused').bool_value


def test_publish_rate_is_live(client):
    states = client.listen(JointState, 'joint_states')
    client.spin(0.3)
    assert set_parameter(client, 'publish_rate', 500.0).successful
    taken = len(states)
    assert set_parameter(client, 'step_count', 9).successful
    assert client.call(Trigger, 'simulation/step').success
    assert set_parameter(client, 'step_count', 1).successful
    client.wait_until(lambda: len(states) >= taken + 5)
    *due, last = [time_ns(msg.header.stamp) for msg in states[taken:]]
    assert due == [due[0] + 2 * k * MS for k in range(4)] and due[0] % (2 * MS) == 0
    assert last - due[0] in (7 * MS, 8 * MS)  # where time stands, due or not


@pytest.mark.parametrize('name, topic, message_type, qos', [
    ('clock_rate', '/clock', Clock, BEST_EFFORT),
    ('marker_rate', 'contact_markers', MarkerArray, 10),
])
def test_rates_are_live(client, name, topic, message_type, qos):
    """A message each 1 / rate of simulated time, and one for where time stands in the end."""
    before = get_parameter(client, name).double_value
    heard = client.listen(message_type, topic, qos)
    client.wait_until(lambda: heard)  # newcomers are greeted
    for rate, count in (50.0, 2), (200.0, 8):
        assert set_parameter(client, name, rate).successful
        assert set_parameter(client, 'step_count', 40).successful
        client.spin(0.3)
        taken = len(heard)
        assert client.call(Trigger, 'simulation/step').success
        client.spin(0.3)
        assert len(heard) - taken in (count, count + 1)
    assert set_parameter(client, 'step_count', 1).successful
    assert set_parameter(client, name, before).successful


def test_the_real_time_factor_is_live(client):
    states = client.listen(JointState, 'joint_states')
    client.wait_until(lambda: states)
    assert get_parameter(client, 'real_time_factor').double_value == 0.0
    assert set_parameter(client, 'real_time_factor', 0.1).successful
    assert set_parameter(client, 'paused', False).successful
    for factor in 0.1, 0.4:
        assert set_parameter(client, 'real_time_factor', factor).successful
        client.spin(0.2)
        began, first = time.monotonic(), time_ns(states[-1].header.stamp)
        client.spin(1.0)
        simulated = (time_ns(states[-1].header.stamp) - first) * 1e-9
        assert simulated / (time.monotonic() - began) == pytest.approx(factor, rel=0.25)
    assert set_parameter(client, 'paused', True).successful
    assert set_parameter(client, 'real_time_factor', 0.0).successful


def test_sensors_by_parameters_alone_and_over_those_of_the_file(tmp_path):
    with NodeProcess(tmp_path, robot='hopper', **{
            'contact_sensors.heel.link': 'foot',
            'contact_sensors.heel.pose': '[-0.1, 0.0, -0.06, 3.141592653589793, 0.0, 0.0]',
            'contact_sensors.heel.rate': 50,
            'contact_sensors.foot.rate': 200}) as node, Client(node.namespace) as client:
        heel = client.listen(WrenchStamped, 'contact_sensors/heel/wrench')
        foot = client.listen(WrenchStamped, 'contact_sensors/foot/wrench')
        client.wait_until(lambda: len(heel) > 5 and len(foot) > 20)
        assert {time_ns(msg.header.stamp) % (20 * MS) for msg in heel[1:]} == {0}
        assert {time_ns(msg.header.stamp) % (5 * MS) for msg in foot[1:]} == {0}
        steps = np.diff([time_ns(msg.header.stamp) for msg in foot[1:]])
        assert set(steps.tolist()) == {5 * MS}
        assert get_parameter(client, 'contact_sensors.foot.rate').double_value == 200.0
        assert 'contact_sensors/heel/wrench' in node.log


def test_a_rate_above_that_of_the_steps_samples_every_step(tmp_path):
    """Gazebo takes it so; a long dt was refused for a rate that the user never set."""
    with NodeProcess(tmp_path, robot='arm7', dt=0.02, paused=True) as node, \
            Client(node.namespace) as client:
        contacts = client.listen(Bool, 'contact_sensors/fingertip/contact', LATCHED)
        wrenches = client.listen(WrenchStamped, 'contact_sensors/fingertip/wrench')
        client.wait_until(lambda: contacts)
        client.be_known()
        assert not wrenches  # before the first sample there is the flag alone
        assert get_parameter(client, 'contact_sensors.fingertip.rate').double_value == 100.0
        for rate in (100.0, 99_999.0):
            assert set_parameter(client, 'contact_sensors.fingertip.rate', rate).successful
            for _ in range(3):
                assert client.call(Trigger, 'simulation/step').success
        client.wait_until(lambda: wrenches and wrenches[-1].header.stamp.nanosec >= 100 * MS)
        stamps = [time_ns(msg.header.stamp) for msg in wrenches]
        stamps = sorted(set(stamps))  # one may come again, as a greeting
        assert stamps == [step * 20 * MS for step in range(6)]
        assert "'fingertip' asks for 100 Hz and samples each step, at 50 Hz" in node.log


def test_a_parameter_file_sets_them(tmp_path):
    params_file = tmp_path / 'params.yaml'
    params_file.write_text("""
/**:
  ros__parameters:
    robot: arm7
    dt: 0.002
    paused: true
    joints: []
    contact_sensors:
      fingertip:
        force_saturation: [.inf, .inf, 5.0]
""")
    with NodeProcess(tmp_path, params_file=params_file) as node, \
            Client(node.namespace) as client:
        saturation = get_parameter(client, 'contact_sensors.fingertip.force_saturation')
        assert list(saturation.double_array_value) == [math.inf, math.inf, 5.0]
        assert len(get_parameter(client, 'joints').string_array_value) == 7
        assert 'arm7: step 2 ms, real-time factor 1, paused' in node.log


def test_a_robot_comes_as_text_and_its_base_can_be_welded(tmp_path):
    hopper = (resources.shipped_models()['hopper']).read_text(encoding='utf-8')
    params_file = tmp_path / 'params.yaml'
    params_file.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': hopper, 'fix_base': True, 'world': 'empty', 'paused': True}}}))
    with NodeProcess(tmp_path, params_file=params_file) as node, \
            Client(node.namespace) as client:
        assert get_parameter(client, 'fix_base').bool_value
        assert list(get_parameter(client, 'joints').string_array_value) == [
            'hip', 'knee', 'ankle']
        assert 'free root' not in node.log


def test_a_simulation_that_diverges_pauses_and_can_start_again(tmp_path):
    with NodeProcess(tmp_path, robot='double_pendulum', initial_positions='[0.5, 0.0]',
                     publish_clock=False,  # the hopper may be there, too
                     paused=True) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states)
        assert set_parameter(client, 'gravity', [0.0, 0.0, -1e308]).successful
        assert client.call(SetBool, 'simulation/pause', data=False).success
        client.wait_until(lambda: get_parameter(client, 'paused').bool_value)
        client.wait_until(lambda: 'paused (~/reset goes back to the start, '
                          '~/pause with data false runs on)' in node.log)
        assert np.isfinite(states[-1].position).all()
        messages = client.listen(DiagnosticArray, '/diagnostics')
        name = f'{node.namespace[1:]}/simulation: run'

        def newest():
            return next((status for msg in reversed(messages) for status in msg.status
                         if status.name == name), None)

        client.wait_until(newest)
        assert newest().level == b'\x02'
        assert re.match("stopped: step .*joint '(shoulder|elbow)' of link '(upper|lower)_rod'",
                        newest().message)
        assert newest().message.removeprefix('stopped: ') in node.log
        assert not client.call(Trigger, 'simulation/step').success
        assert node.log.count('paused (~/reset goes back') == 2  # the tick and the service
        assert set_parameter(client, 'gravity', [0.0, 0.0, -9.8]).successful
        assert client.call(SetBool, 'simulation/pause', data=False).message.startswith('running')
        client.wait_until(lambda: newest().message == 'running')
        assert newest().level == b'\x00'
        assert client.call(SetBool, 'simulation/pause', data=True).success
        assert client.call(Trigger, 'simulation/reset').message == 'paused at 0 s'
        assert client.call(SetBool, 'simulation/pause', data=False).message.startswith('running')
        taken = len(states)
        client.wait_until(lambda: len(states) > taken + 100)
        assert np.isfinite(states[-1].position).all()
