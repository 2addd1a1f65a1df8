"""Commands over DDS: the motion that they give, and what is refused."""
import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import (  # noqa: E402
    Client, NodeProcess, PENDULUM, PENDULUM_INERTIA, time_ns, twins)

DT = 0.001
ROUNDOFF = 1e-9


@pytest.fixture(scope='module')
def twins_node(tmp_path_factory):
    """Return two wheels of 1 kg m^2, paused; ``joints`` names the right one first."""
    folder = tmp_path_factory.mktemp('twins')
    robot = folder / 'twins.sdf'
    robot.write_text(twins())
    with NodeProcess(folder, robot=robot, paused=True, gravity='[0, 0, 0]',
                     joints='[right, left]') as node:
        yield node


@pytest.fixture
def client(twins_node):
    with Client(twins_node.namespace) as client:
        client.states = client.listen(JointState, 'joint_states')
        client.call(SetBool, 'simulation/pause', data=True)
        client.call(Trigger, 'simulation/reset')
        client.wait_until(lambda: client.states)
        yield client


def state_after_a_step(client):
    """Take one step while paused and return what it published, by joint name."""
    taken = len(client.states)
    assert client.call(Trigger, 'simulation/step').success
    client.wait_until(lambda: len(client.states) > taken)
    msg = client.states[-1]
    return {name: (msg.position[i], msg.velocity[i], msg.effort[i])
            for i, name in enumerate(msg.name)}


def effort_after_a_step(client):
    return {name: effort for name, (_, _, effort) in state_after_a_step(client).items()}


def test_constant_effort_gives_the_motion_of_the_textbook(tmp_path):
    """Without gravity q = a t^2 / 2; semi-implicit Euler has a dt^2 n (n + 1) / 2, exactly."""
    robot = tmp_path / 'pendulum.sdf'
    robot.write_text(PENDULUM)
    effort = 0.42
    with NodeProcess(tmp_path, robot=robot, paused=True, gravity='[0.0, 0.0, 0.0]') as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        commands = client.publisher(JointState, 'joint_commands')
        client.send(commands, JointState(name=['swing'], effort=[effort]))
        client.call(SetBool, 'simulation/pause', data=False)
        client.wait_until(lambda: states and time_ns(states[-1].header.stamp) >= 1_000_000_000)
    states = [msg for msg in states if time_ns(msg.header.stamp) > 0]
    n = np.array([time_ns(msg.header.stamp) for msg in states]) // 1_000_000
    np.testing.assert_array_equal(n, np.arange(n[0], n[0] + len(n)))
    acceleration = effort / PENDULUM_INERTIA
    assert all(list(msg.name) == ['swing'] for msg in states)
    np.testing.assert_allclose([msg.position[0] for msg in states],
                               acceleration * DT ** 2 * n * (n + 1) / 2, atol=ROUNDOFF)
    np.testing.assert_allclose([msg.velocity[0] for msg in states], acceleration * DT * n,
                               atol=ROUNDOFF)
    assert {msg.effort[0] for msg in states} == {effort}


def test_joint_commands_address_joints_by_name(client):
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['right', 'left'], effort=[2.0, 1.0]))
    state = state_after_a_step(client)
    assert state['left'] == pytest.approx((1.0 * DT ** 2, 1.0 * DT, 1.0))
    assert state['right'] == pytest.approx((2.0 * DT ** 2, 2.0 * DT, 2.0))
    client.send(commands, JointState(name=['left'], effort=[5.0]))
    assert effort_after_a_step(client) == {'left': 5.0, 'right': 2.0}


def test_nan_in_joint_commands_keeps_the_command_silently(client, twins_node):
    log = twins_node.log
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['right', 'left'], effort=[2.0, 1.0]))
    client.send(commands, JointState(name=['right', 'left'], effort=[math.nan, 3.0]))
    assert effort_after_a_step(client) == {'left': 3.0, 'right': 2.0}
    assert twins_node.log == log


def test_effort_commands_come_in_the_order_of_joints(client):
    commands = client.publisher(Float64MultiArray, 'effort_commands')
    client.send(commands, Float64MultiArray(data=[2.0, 1.0]))
    assert effort_after_a_step(client) == {'left': 1.0, 'right': 2.0}


@pytest.mark.parametrize('topic, message, warning', [
    ('joint_commands', JointState(name=['left', 'right'], effort=[9.0]),
     'joint_commands refused: 1 effort for 2 names; expected one effort for each name'),
    ('joint_commands', JointState(name=['left', 'rigt'], effort=[9.0, 9.0]),
     "joint_commands refused: there is no joint 'rigt' (did you mean 'right'?)"),
    ('joint_commands', JointState(name=['left', 'right'], effort=[9.0, math.inf]),
     "joint_commands refused: the effort of joint 'right' is infinite; expected a finite number"),
    ('joint_commands', JointState(name=['left'], position=[9.0]),
     'joint_commands refused: no effort in it'),
    ('effort_commands', Float64MultiArray(data=[9.0, 9.0, 9.0]),
     'effort_commands refused: 3 values; expected 2, in the order of the parameter '
     "'joints': right, left"),
    ('effort_commands', Float64MultiArray(data=[9.0, -math.inf]),
     "effort_commands refused: the effort of joint 'left' is -inf; expected finite numbers"),
    ('effort_commands', Float64MultiArray(data=[math.nan, 9.0]),
     "effort_commands refused: the effort of joint 'right' is nan; expected finite numbers"),
], ids=['length', 'unknown', 'inf', 'no effort', 'order length', 'order inf', 'order nan'])
def test_refusal_warns_once_and_leaves_the_motion(client, twins_node, topic, message, warning):
    by_name = client.publisher(JointState, 'joint_commands')
    client.send(by_name, JointState(name=['left', 'right'], effort=[1.0, 2.0]))
    bad = by_name if topic == 'joint_commands' else client.publisher(type(message), topic)
    refused = twins_node.log.count('refused')
    for n in range(1, 6):
        client.send(bad, message)
        state = state_after_a_step(client)
        assert state['left'] == pytest.approx((DT ** 2 * n * (n + 1) / 2, DT * n, 1.0))
        assert state['right'] == pytest.approx((DT ** 2 * n * (n + 1), 2 * DT * n, 2.0))
    client.wait_until(lambda: warning in twins_node.log, patience=5.0)
    assert twins_node.log.count('refused') == refused + 1


def test_effort_limits_clamp_and_are_told_once(tmp_path):
    robot = tmp_path / 'twins.sdf'
    robot.write_text(twins(effort_limit=3.0))
    with NodeProcess(tmp_path, robot=robot, paused=True) as node, \
            Client(node.namespace) as client:
        client.states = client.listen(JointState, 'joint_states')
        commands = client.publisher(JointState, 'joint_commands')
        for effort in (10.0, -20.0, 10.0):
            client.send(commands, JointState(name=['left', 'right'], effort=[effort, 1.0]))
            assert effort_after_a_step(client) == {'left': math.copysign(3.0, effort),
                                                   'right': 1.0}
        client.wait_until(lambda: 'is above its limit' in node.log, patience=5.0)
        assert node.log.count('is above its limit') == 1
        assert "the effort 10 for joint 'left' is above its limit; 3 acts" in node.log


def test_a_command_times_out_in_simulated_time(tmp_path):
    robot = tmp_path / 'twins.sdf'
    robot.write_text(twins())
    with NodeProcess(tmp_path, robot=robot, paused=True, command_timeout=0.005) as node, \
            Client(node.namespace) as client:
        client.states = client.listen(JointState, 'joint_states')
        commands = client.publisher(JointState, 'joint_commands')
        client.send(commands, JointState(name=['left'], effort=[1.0]))
        efforts = [effort_after_a_step(client)['left'] for _ in range(7)]
        assert efforts == [1.0] * 5 + [0.0] * 2
        assert 'no command for left within command_timeout: no effort acts there now' in node.log
