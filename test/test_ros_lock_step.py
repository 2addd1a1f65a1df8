"""Lock step over DDS: time waits for the controller, and two runs are the same."""
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import Client, NodeProcess, time_ns, twins  # noqa: E402
import spr_dynamics as spr  # noqa: E402
from spr_dynamics.ros.streams import Stream  # noqa: E402

MS = 1_000_000
PERIOD = 4  # steps
PERIODS = 150


def law(name, position, velocity):
    """Return the effort that a controller answers with."""
    target = {'left': 0.4, 'right': -0.9}[name]
    return 30.0 * (target - position) - 4.0 * velocity


class Controller:
    """Answers to each joint state, also when it is shown again, and to each of them twice."""

    def __init__(self, client, *, is_exact=False):
        """Begin; an exact one answers once to each."""
        self.client, self.is_exact = client, is_exact
        self.stamps = []
        self.states = {}
        self.publisher = client.publisher(JointState, 'joint_commands')
        client.node.create_subscription(JointState, 'joint_states', self.on_state, 1000)

    def on_state(self, msg):
        at = time_ns(msg.header.stamp)
        if self.is_exact and at in self.states:
            return
        self.stamps.append(at)
        self.states[at] = dict(zip(msg.name, zip(msg.position, msg.velocity, msg.effort)))
        command = JointState(name=list(msg.name))
        command.header.stamp = msg.header.stamp
        command.effort = [law(*joint) for joint in zip(msg.name, msg.position, msg.velocity)]
        for _ in range(1 if self.is_exact else 2):
            self.publisher.publish(command)

    def run_until(self, at):
        self.client.wait_until(lambda: at in self.states)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('lock_step')
    (folder / 'twins.sdf').write_text(twins())
    return folder


@pytest.fixture
def node(folder):
    with NodeProcess(folder, robot=folder / 'twins.sdf', lock_step=True,
                     control_period=PERIOD * 1e-3) as node:
        yield node


def test_each_command_advances_a_period_and_the_motion_is_that_of_the_law(node, folder):
    """Bit for bit, with commands that come late, twice, and for states in between."""
    with Client(node.namespace) as client:
        client.call(SetBool, 'simulation/pause', data=False)
        client.spin(0.5)  # nobody commands: time waits
        controller = Controller(client)
        controller.run_until(PERIODS * PERIOD * MS)
    sim = spr.Simulation(spr.load(folder / 'twins.sdf'))
    model, tau = sim.model, [0.0, 0.0]
    for step in range(PERIODS * PERIOD + 1):
        for axis in model.axes:
            q, qd = sim.q[axis.q], sim.qd[axis.v]
            if step and step in (1, PERIODS * PERIOD) or step % PERIOD == 0:
                assert controller.states[step * MS][axis.name] == (q, qd, sim.effort[axis.v])
            if step % PERIOD == 0:
                tau[axis.v] = law(axis.name, q, qd)
        sim.step(tau)
    new = sorted(set(controller.stamps))
    assert new == [step * MS for step in range(new[-1] // MS + 1)]  # every step, none beyond
    assert 'joint_commands ignored: its stamp' in node.log


def test_a_robot_without_joints_advances_by_empty_commands(tmp_path):
    with NodeProcess(tmp_path, robot='rolling_shapes', lock_step=True) as node, \
            Client(node.namespace) as client:
        controller = Controller(client)
        controller.run_until(10 * MS)
        assert 'refused' not in node.log


def test_answers_to_the_states_in_a_period_are_passed_over(node):
    with Client(node.namespace) as client:
        controller = Controller(client, is_exact=True)
        controller.run_until(20 * PERIOD * MS)
        shown = [at for at in sorted(controller.states) if at <= 20 * PERIOD * MS]
        assert shown == [step * MS for step in range(20 * PERIOD + 1)]
        assert 'ignored' not in node.log


def test_time_waits_while_paused_and_starts_again_after_a_reset(node):
    with Client(node.namespace) as client:
        controller = Controller(client)
        controller.run_until(20 * PERIOD * MS)
        assert client.call(SetBool, 'simulation/pause', data=True).success
        client.spin(0.3)
        standing = max(controller.stamps)
        client.spin(0.3)
        assert max(controller.stamps) == standing
        first = {at: state for at, state in controller.states.items() if at <= 20 * PERIOD * MS}
        controller.states.clear()
        assert client.call(Trigger, 'simulation/reset').message == 'paused at 0 s'
        assert client.call(SetBool, 'simulation/pause', data=False).success
        controller.run_until(20 * PERIOD * MS)
        assert {at: state for at, state in controller.states.items()
                if at in first} == first  # also bit for bit


def test_a_stream_forgets_after_a_reset_what_it_has_published():
    """Else the state at the end of a period is left out where one was shown before."""
    shown, step = [], 0
    stream = Stream(lambda: shown.append(step), [SimpleNamespace(is_wanted=True)], MS,
                    'publish_rate', 100.0)
    for step in range(1, 11):
        stream.publish_due(step)
    stream.catch_up(10)
    step = 0
    stream.publish_now(0)
    for step in range(1, 10):
        stream.publish_due(step)
    stream.catch_up(9)
    stream.catch_up(9)
    step = 10
    stream.publish_due(10)
    assert shown == [10, 0, 9, 10]


def test_a_stream_is_filled_at_the_start_though_nobody_listens():
    """That compiles what its messages need, before the first step."""
    shown = []
    stream = Stream(lambda: shown.append('state'), [SimpleNamespace(is_wanted=False)], MS,
                    'publish_rate', 0.0)
    stream.publish_now(0)
    stream.publish_due(1)
    assert shown == ['state']


def test_commands_without_a_stamp_are_refused(node):
    with Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: len(states) > 3)  # it asks again and again
        commands = client.publisher(Float64MultiArray, 'effort_commands')
        client.send(commands, Float64MultiArray(data=[1.0, 1.0]))
        client.wait_until(lambda: 'effort_commands refused: lock_step needs commands with a stamp'
                          in node.log, patience=5.0)
        assert {time_ns(msg.header.stamp) for msg in states} == {0}


def test_a_control_period_is_a_whole_number_of_steps(folder):
    with NodeProcess(folder, robot=folder / 'twins.sdf', lock_step=True,
                     control_period=0.0015) as node:
        assert node.exit_code() == 1
        assert 'control_period = 0.0015: expected a whole number of steps of 0.001 s' in node.log
