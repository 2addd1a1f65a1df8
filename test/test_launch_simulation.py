"""The launch file, for real: the nodes come up, the robot moves, all end with exit code 0."""
import os
from pathlib import Path
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
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

import needs  # noqa: E402

LAUNCH_FILE = needs.REPOSITORY / 'launch' / 'simulation.launch.py'
PATIENCE = 60.0  # [s]


@pytest.mark.launch_test
@keep_alive
def generate_test_description():
    """Start the shipped launch file, with a namespace, a robot, and a stand-in for RViz."""
    program = Path(tempfile.mkdtemp()) / 'rviz2'
    program.write_text('#!/bin/sh\necho "RViz: $@"\n')
    program.chmod(0o755)
    simulation = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH_FILE)),
        launch_arguments={'robot': 'double_pendulum', 'namespace': 'launched',
                          'rviz': 'true'}.items())
    return launch.LaunchDescription([
        SetEnvironmentVariable('PATH', f'{program.parent}:{os.environ["PATH"]}'),
        simulation,
        TimerAction(period=0.5, actions=[ReadyToTest()]),
    ])


class TestSimulation(unittest.TestCase):
    """While it runs."""

    def test_joint_states_arrive_and_move(self):
        """The pendulum swings under its own weight."""
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node('listener', namespace='launched', context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        states = []
        node.create_subscription(JointState, 'joint_states', states.append, 10)
        end = time.monotonic() + PATIENCE
        while len(states) < 100 and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        node.destroy_node()
        context.try_shutdown()
        assert len(states) >= 100
        assert list(states[0].position) != list(states[-1].position)

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
