"""The launch file, for real: the nodes come up, the robot moves, all end with exit code 0."""
from importlib.util import find_spec
import os
from pathlib import Path
import sys
import tempfile
import time
import unittest

import pytest

pytest.importorskip('launch_ros')  # first: a bare 'launch' may be a folder of that name
launch = pytest.importorskip('launch')
launch_testing = pytest.importorskip('launch_testing')
rclpy = pytest.importorskip('rclpy')

from launch.actions import (  # noqa: E402, I100
    IncludeLaunchDescription, SetEnvironmentVariable, TimerAction)
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
from launch_testing.actions import ReadyToTest  # noqa: E402
from launch_testing.asserts import assertExitCodes  # noqa: E402
from launch_testing.markers import keep_alive  # noqa: E402
from rcl_interfaces.srv import GetParameters  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import parameter_value_to_python  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

import interface_package  # noqa: E402
import needs  # noqa: E402
import state_publisher  # noqa: E402
import tf2_stand_in  # noqa: E402

LAUNCH_FILE = needs.REPOSITORY / 'launch' / 'simulation.launch.py'
PATIENCE = 120.0  # [s] a cold cache is filled by two processes at once
# each argument says something else
PARAMETERS = """
/**:
  ros__parameters: {robot: arm7, seed: 7}
/launched/simulation:
  ros__parameters: {robot: hopper, world: ground, paused: true, publish_tf: all, tf_rate: 100.0}
"""


@pytest.mark.launch_test
@keep_alive
def generate_test_description():
    """Start the shipped launch file, with a namespace, a robot, and stand-ins for others."""
    folder = Path(tempfile.mkdtemp())
    rviz = folder / 'rviz2'
    rviz.write_text('#!/bin/sh\necho "RViz: $@"\n')
    rviz.chmod(0o755)
    state_publisher.install(folder / 'prefix')
    if find_spec('tf2_msgs') is None:
        interface_package.build(needs.program('gcc'), folder / 'tf2_msgs', tf2_stand_in.SOURCES,
                                (*interface_package.FOUNDATION, 'geometry_msgs'))
        sys.path.insert(0, str(folder))
    params_file = folder / 'parameters.yaml'
    params_file.write_text(PARAMETERS)
    arguments = {'robot': 'double_pendulum', 'namespace': 'launched', 'world': 'empty',
                 'paused': 'false', 'rviz': 'true', 'robot_state_publisher': 'true',
                 'params_file': str(params_file)}
    simulation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH_FILE)), launch_arguments=arguments.items())
    return launch.LaunchDescription([
        *(SetEnvironmentVariable(name, os.pathsep.join([str(place), os.environ.get(name, '')]))
          for name, place in (('PATH', folder), ('PYTHONPATH', folder),
                              ('AMENT_PREFIX_PATH', folder / 'prefix'))),
        simulation,
        TimerAction(period=0.5, actions=[ReadyToTest()]),
    ])


class TestSimulation(unittest.TestCase):
    """While it runs."""

    def setUp(self):
        """Join the graph."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('listener', namespace='launched', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def tearDown(self):
        """Leave it."""
        self.node.destroy_node()
        self.context.try_shutdown()

    def receive(self, message_type, topic, count):
        """Return that many messages."""
        messages = []
        self.node.create_subscription(message_type, topic, messages.append, 10)
        end = time.monotonic() + PATIENCE
        while len(messages) < count:
            assert time.monotonic() < end, f'{len(messages)} on {topic}'
            self.executor.spin_once(timeout_sec=0.1)
        return messages

    def test_joint_states_arrive_and_move(self):
        """The pendulum swings under its own weight."""
        states = self.receive(JointState, 'joint_states', 100)
        assert list(states[0].position) != list(states[-1].position)

    def test_arguments_are_parameters(self):
        """With their types, whatever the file says of them; the rest is from there."""
        client = self.node.create_client(GetParameters, 'simulation/get_parameters')
        assert client.wait_for_service(PATIENCE)
        answer = client.call_async(GetParameters.Request(
            names=['robot', 'world', 'paused', 'publish_tf', 'use_sim_time', 'seed', 'tf_rate']))
        self.executor.spin_until_future_complete(answer, PATIENCE)
        assert [parameter_value_to_python(value) for value in answer.result().values] == [
            'double_pendulum', 'empty', False, 'root', False, 7, 100.0]

    def test_robot_state_publisher_publishes_all_that_moves(self, proc_output):
        """The simulation leaves it to that, which runs on simulated time."""
        from tf2_msgs.msg import TFMessage
        frames = {transform.child_frame_id for message in self.receive(TFMessage, '/tf', 20)
                  for transform in message.transforms}
        assert frames == {'upper_rod', 'lower_rod'}
        (publisher,) = self.node.get_publishers_info_by_topic('/tf')
        assert (publisher.node_name, publisher.node_namespace) == (
            'robot_state_publisher', '/launched')
        proc_output.assertWaitFor('Robot initialized, on simulated time', timeout=PATIENCE,
                                  stream='stdout')

    def test_rviz_starts_in_the_namespace_and_on_simulated_time(self, proc_output):
        """It has a configuration of its own, and what launch passes on."""
        for words in ('RViz: -d /', '--ros-args -r __ns:=/launched -p use_sim_time:=true'):
            proc_output.assertWaitFor(words, timeout=PATIENCE, stream='stdout')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """After SIGINT."""

    def test_exit_code_is_zero(self, proc_info):
        """Launch ends it as a person would."""
        assertExitCodes(proc_info, allowable_exit_codes=[os.EX_OK])
