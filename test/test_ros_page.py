"""docs/ros_interface.md and config/simulation.yaml say what a running node does."""
import importlib.util
import re

import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.srv import DescribeParameters, ListParameters  # noqa: E402
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy  # noqa: E402
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden  # noqa: E402

import needs  # noqa: E402
from ros_harness import Client, NodeProcess  # noqa: E402
from spr_dynamics.ros.parameters import SENSOR_TABLE, TABLE  # noqa: E402
from spr_dynamics.ros.sensor_clouds import POINT, TAXEL  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

PAGE = needs.REPOSITORY / 'docs' / 'ros_interface.py'
OF_OTHER_SENSORS = ('imu/', 'force_torque/')  # the hopper has none
OF_RCLPY = ('describe_parameters', 'get_parameter_types', 'get_parameters', 'get_type_description',
            'list_parameters', 'set_parameters', 'set_parameters_atomically')


@pytest.fixture(scope='module')
def page():
    spec = importlib.util.spec_from_file_location('ros_interface', PAGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def client(tmp_path_factory, tf2_msgs):  # noqa: F811
    """Return a client of a robot that has all topics."""
    folder = tmp_path_factory.mktemp('page')
    with NodeProcess(folder, robot='hopper', torque_terms=True, paused=True, **{
            'contact_sensors.foot.taxels': '[2.0, 3.0]',
            'contact_sensors.foot.patch_min': '[-0.1, -0.1]',
            'contact_sensors.foot.patch_max': '[0.1, 0.1]'}) as node, \
            Client(node.namespace) as client:
        client.wait_until(lambda: '/joint_commands' in node.log)
        client.start_up_report = node.log
        client.wait_until(lambda: client.node.count_publishers('joint_states'))
        client.spin(1.0)
        yield client


def qos_of(info):
    profile = info.qos_profile
    if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL:
        return 'latched'
    return {ReliabilityPolicy.RELIABLE: 'reliable',
            ReliabilityPolicy.BEST_EFFORT: 'best effort'}[profile.reliability]


def test_the_page_is_up_to_date(page):
    assert PAGE.with_suffix('.md').read_text(encoding='utf-8') == page.page()


def test_every_topic_is_there_with_its_type_and_quality_of_service(page, client):
    """Depths aren't told over DDS."""
    for topics, look in ((page.PUBLISHED, client.node.get_publishers_info_by_topic),
                         (page.TAKEN, client.node.get_subscriptions_info_by_topic)):
        for topic in topics:
            if topic.name.startswith(OF_OTHER_SENSORS):
                continue
            info, = [info for info in look(topic.name.replace('<name>', 'foot'))
                     if info.node_name == 'simulation']
            assert (info.topic_type, qos_of(info)) == (topic.type, topic.qos.partition(',')[0]), \
                topic.name


def test_the_node_says_what_it_has_loaded_when_it_starts(client):
    """Links and masses, joints and limits, sensors, solver and topics, as aligned tables."""
    for line in (r'hopper: step 1 ms, real-time factor 1, paused', r'torso +7 +1 ',
                 r'torso +free +world +torso', r'knee +revolute +thigh +shin +-0.9 +1.6 +150 +8',
                 r'foot +foot +\[-0.1, -0.1\] \[0.1, 0.1\] +100 +sole',
                 r'integrator +semi_implicit_euler',
                 r'\S*/joint_states +sensor_msgs/msg/JointState +out',
                 r'\S*/joint_commands +sensor_msgs/msg/JointState +in'):
        assert re.search(rf'^(\[.*\]: )?{line}', client.start_up_report, re.MULTILINE), line


def test_the_page_names_every_field_of_the_clouds(page):
    for name in (*POINT.names, *TAXEL.names):
        assert re.search(rf'\b{name}\b', page.CLOUDS), name


def test_there_is_no_topic_beyond_those_of_the_page(page, client):
    at = 'simulation', client.node.get_namespace()
    for topics, look in ((page.PUBLISHED, client.node.get_publisher_names_and_types_by_node),
                         (page.TAKEN, client.node.get_subscriber_names_and_types_by_node)):
        known = {topic.name.replace('<name>', 'foot') for topic in topics}
        found = {name.removeprefix(at[1] + '/') for name, _ in look(*at)
                 if not topic_or_service_is_hidden(name)}
        assert found - {'/rosout', '/parameter_events'} <= known


def test_every_service_is_there_and_no_other(page, client):
    at = 'simulation', client.node.get_namespace()
    found = {name.removeprefix(f'{at[1]}/simulation/'): types
             for name, types in client.node.get_service_names_and_types_by_node(*at)
             if not topic_or_service_is_hidden(name)}
    for name, (kind, _) in page.SERVICES.items():
        assert found.pop(name.removeprefix('~/')) == [kind]
    assert set(found) <= {*OF_RCLPY, *page.STANDARD_SERVICES}


def test_every_parameter_is_declared_as_the_tables_say(client):
    names = client.call(ListParameters, 'simulation/list_parameters').result.names
    specs = {**TABLE, **{f'contact_sensors.foot.{name}': spec
                         for name, spec in SENSOR_TABLE.items()}}
    others = {name for name in set(names) - set(specs)
              if not name.startswith(('qos_overrides.', 'use_sim_time', 'start_type_description'))}
    assert not others
    described = client.call(DescribeParameters, 'simulation/describe_parameters',
                            names=list(specs)).descriptors
    for (name, spec), descriptor in zip(specs.items(), described):
        assert descriptor.name == name
        assert descriptor.read_only is not spec.live
        assert descriptor.description.startswith(spec.description)
        assert spec.unit in descriptor.description
        for limits in (*descriptor.floating_point_range, *descriptor.integer_range):
            assert (limits.from_value, limits.to_value) == (spec.low, spec.high)
