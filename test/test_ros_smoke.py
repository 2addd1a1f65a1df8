"""
The node in short, for each ROS 2 that is supported.

``make test`` has Jazzy and runs this among all; ``make test-kilted`` runs it alone, on Kilted.
"""
import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402, I100
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import BEST_EFFORT, Client, LATCHED, NodeProcess, time_ns  # noqa: E402

MS = 1_000_000
KNEE = 'front_left_knee'


def test_a_robot_is_loaded_stepped_commanded_and_stopped(tmp_path):
    with NodeProcess(tmp_path, robot='quadruped', paused=True, step_count=20,
                     publish_rate=500.0) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        clock = client.listen(Clock, '/clock', BEST_EFFORT)
        descriptions = client.listen(String, 'robot_description', LATCHED)
        feet = client.listen(WrenchStamped, 'contact_sensors/front_left_foot/wrench')
        commands = client.publisher(JointState, 'joint_commands')
        client.wait_until(lambda: states and descriptions)
        assert len(states[0].name) == 12

        def knee_after_steps():
            """Start again and return speed and effort of a knee 20 ms later."""
            assert client.call(Trigger, 'simulation/reset').success
            client.send(commands, command)
            assert client.call(Trigger, 'simulation/step').success
            client.wait_until(lambda: time_ns(states[-1].header.stamp) == 20 * MS)
            knee = states[-1].name.index(KNEE)
            return states[-1].velocity[knee], states[-1].effort[knee]

        command = JointState(name=[KNEE], effort=[0.0])
        free, none = knee_after_steps()
        command.effort = [-5.0]
        pushed, effort = knee_after_steps()
        assert (none, effort) == (0.0, -5.0)
        assert pushed < free - 0.1

        faster = Parameter(name='real_time_factor', value=ParameterValue(
            type=ParameterType.PARAMETER_DOUBLE, double_value=2.0))
        (answer,) = client.call(SetParameters, 'simulation/set_parameters',
                                parameters=[faster]).results
        assert answer.successful, answer.reason
        states.clear()
        assert client.call(SetBool, 'simulation/pause', data=False).success
        client.wait_until(lambda: len(states) > 500 and feet and clock)
        stamps = [time_ns(state.header.stamp) for state in states]
        assert set(np.diff(stamps[1:])) == {2 * MS}
        assert feet[-1].header.frame_id == 'contact_sensors/front_left_foot'

        node.process.send_signal(signal.SIGINT)
        assert node.exit_code(5.0) == 0
        assert 'Traceback' not in node.log
