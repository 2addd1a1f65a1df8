"""The node's life: how it starts, keeps time, stops, and what it says when it can't start."""
import logging
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, MultiDOFJointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import (  # noqa: E402
    BEST_EFFORT, Client, NodeProcess, PENDULUM, time_ns)
from spr_dynamics.ros.executable import show_log  # noqa: E402

S = 1_000_000_000
MS = 1_000_000


@pytest.fixture
def pendulum(tmp_path):
    robot = tmp_path / 'pendulum.sdf'
    robot.write_text(PENDULUM)
    return robot


def start_and_listen(folder, *, listen_after=0.0, **parameters):
    """
    Start a node, listen some seconds later, and wait for its first joint state.

    :returns: The node, and how long that took.
    """
    node = NodeProcess(folder, **parameters)
    began = time.monotonic()
    time.sleep(listen_after)
    try:
        with Client(node.namespace) as client:
            states = client.listen(JointState, 'joint_states')
            client.wait_until(lambda: states)
            return node, time.monotonic() - began
    except BaseException:
        node.__exit__()
        raise


def test_first_joint_states_come_within_three_seconds(tmp_path):
    """
    With a warm cache, which the first start fills; the best start counts.

    A message may come 3 s late, since Fast DDS drops a quick answer to a new participant's first
    announcement (a bare rclpy talker shows the same), and the two find each other only with the
    next. So the listener comes at different times: when both announce themselves at the same time,
    they find each other at once. And others work on the machine, too.
    """
    received = []
    while len(received) < 2 or min(received[1:]) > 3.0 and len(received) < 12:
        node, took = start_and_listen(tmp_path, robot='arm7', listen_after=0.15 * len(received))
        with node:
            received.append(took)
    assert min(received[1:]) < 3.0, received


def test_what_the_library_tells_is_shown(capsys):
    """With a cold cache nothing was said for half a minute."""
    log = logging.getLogger('spr_dynamics')
    before = log.handlers[:], log.level
    try:
        show_log('simulation')
        log.info('compiled %s in %.1f s (once per machine)', 'step_many', 5.0)
        assert capsys.readouterr().err == (
            'simulation: compiled step_many in 5.0 s (once per machine)\n')
    finally:
        log.handlers[:] = before[0]
        log.setLevel(before[1])


@pytest.mark.parametrize('signals', [
    [signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT],
], ids=['INT', 'TERM', 'INT INT'])
@pytest.mark.parametrize('paused', [False, True])
def test_signals_end_it_cleanly_within_a_second(tmp_path, pendulum, signals, paused):
    node, *_ = start_and_listen(tmp_path, robot=pendulum, paused=False)
    with node, Client(node.namespace) as client:
        client.call(SetBool, 'simulation/pause', data=paused)
        began = time.monotonic()
        for number in signals:
            node.process.send_signal(number)
            time.sleep(0.003)
        assert node.exit_code(5.0) == 0
        assert time.monotonic() - began < 1.0
        assert 'Traceback' not in node.log


def test_a_signal_ends_it_while_it_runs_as_fast_as_it_can(tmp_path, pendulum):
    """Its timer is due again after each tick, and once kept it from looking at the request."""
    node, *_ = start_and_listen(tmp_path, robot=pendulum, real_time_factor=0.0,
                                publish_rate=100.0)
    with node:
        node.process.send_signal(signal.SIGINT)
        assert node.exit_code(5.0) == 0
        assert 'Traceback' not in node.log


@pytest.mark.parametrize('delay', [0.3, 0.6, 1.0])
def test_a_signal_while_it_starts_ends_it_cleanly(tmp_path, pendulum, delay):
    with NodeProcess(tmp_path, robot=pendulum) as node:
        time.sleep(delay)
        began = time.monotonic()
        node.process.send_signal(signal.SIGINT)
        node.process.send_signal(signal.SIGINT)
        assert node.exit_code(5.0) == 0, node.log
        assert time.monotonic() - began < 1.0
        assert 'Traceback' not in node.log


def test_a_signal_while_it_compiles_ends_it_cleanly():
    """
    An exception got lost in what machine code called back, or left the compiler in pieces.

    The node went on, or ended with a traceback or by a segmentation fault.
    """
    program = """
import ctypes, os, signal
from spr_dynamics.ros.executable import StopRequest
StopRequest()

@ctypes.CFUNCTYPE(None)
def called_back():
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass

called_back()
raise SystemExit('went on')
"""
    ended = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                           check=False)
    assert (ended.returncode, ended.stderr) == (0, '')


def test_one_kilohertz_holds_for_thirty_seconds(tmp_path, pendulum):
    """1 kHz steps and joint states, within 0.1 % of simulated time and of the clock."""
    with NodeProcess(tmp_path, robot=pendulum) as node, Client(node.namespace) as client:
        arrivals = []
        stamps = []

        def take(msg):
            arrivals.append(time.monotonic())
            stamps.append(time_ns(msg.header.stamp))

        client.node.create_subscription(JointState, 'joint_states', take, 1000)
        client.wait_until(lambda: len(stamps) > 100)
        arrivals.clear()
        stamps.clear()
        client.spin(30.0)
        simulated = (stamps[-1] - stamps[0]) / S
        elapsed = arrivals[-1] - arrivals[0]
        assert elapsed > 29.0
        assert (len(stamps) - 1) / simulated == pytest.approx(1000.0, rel=1e-3)
        assert (len(stamps) - 1) / elapsed == pytest.approx(1000.0, rel=1e-3)
        assert 'lost in' not in node.log  # what it says of overruns


@pytest.mark.parametrize('factor, share, steps', [(0.1, 0.99, 1), (1.0, 0.5, 2)])
def test_a_command_acts_on_the_step_after_the_state_that_it_answers(
        tmp_path, pendulum, factor, share, steps):
    """A second of answers, at 100 Hz nearly all in time; at 1 kHz a busy machine is slower."""
    with NodeProcess(tmp_path, robot=pendulum, real_time_factor=factor) as node, \
            Client(node.namespace) as client:
        commands = client.publisher(JointState, 'joint_commands')
        sent, delays = {}, []

        def answer(state):
            stamp_ns = time_ns(state.header.stamp)
            if state.effort[0] in sent:  # the first state that it has acted on
                delays.append((stamp_ns - sent.pop(state.effort[0])) // MS)
            effort = 1e-3 + stamp_ns / S  # not that of the start
            sent[effort] = stamp_ns
            commands.publish(JointState(name=['swing'], effort=[effort]))

        client.node.create_subscription(JointState, 'joint_states', answer, 10)
        n = round(1000 * factor)
        client.wait_until(lambda: len(delays) >= n and np.quantile(
            delays[-n:], share, method='lower') <= steps)
        assert min(delays) >= 1


def test_pause_step_and_reset(tmp_path, pendulum):
    with NodeProcess(tmp_path, robot=pendulum, initial_positions='[0.5]') as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: len(states) > 10)
        refused = client.call(Trigger, 'simulation/step')
        assert not refused.success
        assert 'running; pause it first' in refused.message

        assert client.call(SetBool, 'simulation/pause', data=True).message.startswith('paused')
        client.spin(0.3)  # who has just come may be greeted
        standing = len(states)
        client.spin(0.2)
        assert len(states) == standing

        before = time_ns(states[-1].header.stamp)
        assert client.call(Trigger, 'simulation/step').success
        client.wait_until(lambda: len(states) > standing)
        client.spin(0.1)
        assert [time_ns(msg.header.stamp) for msg in states[standing:]] == [before + MS]
        assert states[-1].position[0] != 0.5

        standing = len(states)
        assert client.call(Trigger, 'simulation/reset').success
        client.wait_until(lambda: len(states) > standing)
        assert [time_ns(msg.header.stamp) for msg in states[standing:]] == [0]
        assert states[-1].position[0] == 0.5
        assert states[-1].velocity[0] == 0.0

        assert client.call(SetBool, 'simulation/pause', data=False).message.startswith('running')
        client.wait_until(lambda: time_ns(states[-1].header.stamp) > 20 * MS)


def test_time_stands_still_as_soon_as_pause_has_answered(tmp_path, pendulum):
    """A tick that waited beside the request is not taken any more."""
    with NodeProcess(tmp_path, robot=pendulum, real_time_factor=0.0) as node, \
            Client(node.namespace) as client:
        for _ in range(10):
            client.call(SetBool, 'simulation/pause', data=False)
            told = client.call(SetBool, 'simulation/pause', data=True).message
            client.spin(0.02)
            assert client.call(SetBool, 'simulation/pause', data=True).message == told


def test_reset_while_running_starts_again_at_zero(tmp_path, pendulum):
    with NodeProcess(tmp_path, robot=pendulum) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states and time_ns(states[-1].header.stamp) > S // 2)
        assert client.call(Trigger, 'simulation/reset').success
        client.wait_until(lambda: time_ns(states[-1].header.stamp) < S // 2)
        client.wait_until(lambda: time_ns(states[-1].header.stamp) > S // 2)


def test_use_sim_time_on_the_simulation_itself_does_no_harm(tmp_path, pendulum):
    with NodeProcess(tmp_path, robot=pendulum, use_sim_time=True) as node, \
            Client(node.namespace) as client:
        clock = client.listen(Clock, '/clock', BEST_EFFORT)
        client.wait_until(lambda: clock and time_ns(clock[-1].clock) > S // 5)
        times = [time_ns(msg.clock) for msg in clock]
        assert all(at % (10 * MS) == 0 for at in times)  # clock_rate is 100 Hz


def test_as_fast_as_it_can(tmp_path):
    """The seven joints of an arm, and 100 joint states in a simulated second."""
    with NodeProcess(tmp_path, robot='arm7', real_time_factor=0.0, publish_rate=100.0) as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: len(states) > 2)
        first, began = time_ns(states[-1].header.stamp), time.monotonic()
        client.spin(1.0)
        simulated = (time_ns(states[-1].header.stamp) - first) / S
        factor = simulated / (time.monotonic() - began)
        print(f'{factor:.0f} times real time')
        assert factor > 20.0
        assert (np.diff([time_ns(msg.header.stamp) for msg in states]) % (S // 100) == 0).all()
        assert client.call(SetBool, 'simulation/pause', data=True).success


def test_free_roots_are_published_with_pose_and_twist(tmp_path):
    with NodeProcess(tmp_path, robot='hopper', world='empty') as node, \
            Client(node.namespace) as client:
        roots = client.listen(MultiDOFJointState, 'multi_dof_joint_states')
        client.wait_until(lambda: roots and time_ns(roots[-1].header.stamp) > S // 5)
        msg = roots[-1]
        t = time_ns(msg.header.stamp) / S
        assert list(msg.joint_names) == ['torso']
        assert msg.header.frame_id == 'world'
        assert len(msg.transforms) == len(msg.twist) == len(msg.wrench) == 1
        # all of it falls; the springs move the torso a little within it
        assert msg.twist[0].linear.z == pytest.approx(-9.8 * t, rel=0.1)
        turn = msg.transforms[0].rotation
        assert turn.x ** 2 + turn.y ** 2 + turn.z ** 2 + turn.w ** 2 == pytest.approx(1.0)


def broken(old, new):
    assert old in PENDULUM
    return PENDULUM.replace(old, new, 1)


BOMB = """<?xml version='1.0'?>
<!DOCTYPE sdf [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>
<sdf version='1.9'><model name='m'><link name='&c;'/></model></sdf>
"""


@pytest.mark.parametrize('text, line', [
    (None, None),
    ('this is no XML', 1),
    ('<robot name="urdf"/>', 1),
    (broken("type='continuous'", "type='elastic'"), 13),
    (broken('<child>bob</child>', '<child>bub</child>'), 15),
    (broken('<xyz>1 0 0</xyz>', '<xyz>0 0 0</xyz>'), 16),
    (broken('<mass>2</mass>', '<mass>-2</mass>'), 7),
    (broken('<ixx>0.1</ixx>', '<ixx>9</ixx>'), 8),
    (BOMB, 2),
], ids=['missing', 'not XML', 'no sdf', 'joint type', 'missing link', 'zero axis', 'mass',
        'inertia', 'bomb'])
def test_bad_files_end_it_with_one_line(tmp_path, text, line):
    robot = tmp_path / 'robot.sdf'
    if text is not None:
        robot.write_text(text)
    with NodeProcess(tmp_path, robot=robot) as node:
        assert node.exit_code() == 1
        printed = node.log.strip().splitlines()
        assert len(printed) == 1, node.log
        place = robot if line is None else f'{robot}:{line}'
        assert printed[0].startswith(f'simulation: {place}: ')


@pytest.mark.parametrize('parameters, message', [
    ({}, 'no robot: set the parameter robot to an SDF file or to a shipped model (arm7,'),
    ({'robot': 'arm8'}, "arm8: no such file (did you mean 'arm7'?)"),
    ({'robot': 'arm7', 'robot_description': '<sdf/>'},
     'give robot or robot_description, not both'),
    ({'robot': 'arm7', 'dt': -1.0}, 'dt = -1.0: out of range, expected a number from 0 to 1'),
    ({'robot': 'arm7', 'dt': 'fast'}, "dt = 'fast': expected a number from 0 to 1"),
    ({'robot': 'arm7', 'gravity': '[0.0, 0.0]'}, 'gravity = [0.0, 0.0]: expected 3 numbers'),
    ({'robot': 'arm7', 'joints': '[joint1, joint9]'}, "joints: there is no joint 'joint9'"),
    ({'robot': 'arm7', 'initial_positions': '[1.0]'}, 'initial_positions: 1 values; expected 7'),
    ({'robot': 'arm7', 'contact_sensors.fingertip.patch_mx': '[1.0, 1.0]'},
     "a contact sensor has no setting 'patch_mx' (did you mean 'patch_max'?)"),
    ({'robot': 'arm7', 'contact_sensors.palm.rate': 10.0},
     "contact_sensors.palm.link is missing: the SDF has no contact sensor 'palm'"),
    ({'robot': 'arm7', 'contact_sensors.palm.link': 'hnad'},
     "contact_sensors.palm.link = 'hnad': expected a link"),
], ids=lambda value: ' '.join(value) if isinstance(value, dict) else '')
def test_bad_parameters_end_it_with_one_line(tmp_path, parameters, message):
    with NodeProcess(tmp_path, **parameters) as node:
        assert node.exit_code() == 1
        printed = [line for line in node.log.strip().splitlines()
                   if not line.endswith('(once per machine)')]  # with a cold cache
        assert len(printed) == 1, node.log
        assert printed[0].startswith('simulation: ')
        assert message in printed[0]


def test_a_list_that_ros_cannot_read_ends_it_without_a_traceback(tmp_path):
    with NodeProcess(tmp_path, robot='arm7', gravity='[0, 0, -9.8]') as node:
        assert node.exit_code() == 1
        assert 'Sequence should be of same type' in node.log.splitlines()[-1]
        assert 'Traceback' not in node.log


def test_parameters_of_other_nodes_are_named_and_ignored(tmp_path, pendulum):
    override = 'qos_overrides./joint_states.publisher.reliability'
    node, *_ = start_and_listen(tmp_path, robot=pendulum, publish_rte=10.0,
                                **{override: 'best_effort'})
    with node:
        assert "'publish_rte' is not known (did you mean 'publish_rate'?); ignored" in node.log
        assert f'{override!r} is not known' in node.log


STATUS = re.compile(r'joints \[rad\] +(.*?) +fingertip +(\S+) N')


def has_tapped(printed):
    """Say whether the demo's status lines show joints that move and a fingertip that presses."""
    joints, forces = zip(*STATUS.findall(printed) or [('', '0')])
    return len(set(joints)) >= 2 and min(map(float, forces)) < 0.0


def test_demo_moves_and_stops_cleanly(tmp_path):
    log = tmp_path / 'demo.txt'
    with log.open('w') as file:
        demo = subprocess.Popen([sys.executable, '-m', 'spr_dynamics.ros.demo'], stdout=file,
                                stderr=subprocess.STDOUT, start_new_session=True)
        try:
            end = time.monotonic() + 60.0
            while not has_tapped(log.read_text()) and time.monotonic() < end:
                time.sleep(0.1)
            demo.send_signal(signal.SIGINT)
            assert demo.wait(3.0) == 0
        finally:
            if demo.poll() is None:
                demo.kill()
    printed = log.read_text()
    assert has_tapped(printed), printed
    assert 'Traceback' not in printed
    assert 'joint_states' in printed
    assert 'contact_sensors/fingertip/wrench' in printed


def test_without_ros_it_says_what_to_install():
    program = ("import sys; sys.modules['rclpy'] = None\n"
               'from spr_dynamics.ros.simulation_node import main; main()')
    ended = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith('simulation: ROS 2 is not here') and '[jazzy]' in line
