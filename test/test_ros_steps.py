"""Many steps at once: the node goes on serving, and says what came of them."""
import signal

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402, I100
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.task import Future  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import BEST_EFFORT, Client, NodeProcess, time_ns  # noqa: E402

MANY = 1_000_000
MS = 1_000_000


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('steps')


@pytest.fixture(scope='module')
def node(folder):
    """Return a humanoid that falls to the ground: its steps take a while."""
    with NodeProcess(folder, robot='humanoid', paused=True, publish_rate=1000) as node:
        yield node


@pytest.fixture(autouse=True)
def client(node):
    """Return a client of a robot that stands still at the start, and is moved by steps only."""
    with Client(node.namespace) as client:
        client.call(Trigger, 'simulation/reset')
        client.call(SetBool, 'simulation/pause', data=True)
        client.step = client.node.create_client(Trigger, 'simulation/step')
        client.wait_until(client.step.service_is_ready)
        client.be_known()
        yield client


def ask_for_steps(client, n) -> Future:
    """Ask for steps; the answer is a future."""
    put(client, 'step_count', n)
    return client.step.call_async(Trigger.Request())


def put(client, name, value):
    result, = client.call(SetParameters, 'simulation/set_parameters', parameters=[
        Parameter(name, value=value).to_parameter_msg()]).results
    assert result.successful, result.reason


def answer_to(client, future):
    client.wait_until(future.done)
    return future.result()


def test_others_are_served_while_steps_are_taken(client):
    """It blocked the executor for the whole run: no clock, no parameter, no pause."""
    clocks = client.listen(Clock, '/clock', BEST_EFFORT)
    reports = client.listen(DiagnosticArray, '/diagnostics')
    future = ask_for_steps(client, MANY)
    client.wait_until(lambda: clocks and time_ns(clocks[-1].clock) > 0)
    assert client.call(GetParameters, 'simulation/get_parameters',
                       names=['step_count']).values[0].integer_value == MANY
    client.wait_until(  # one from before says that it is paused
        lambda: reports and reports[-1].status[0].message.startswith('takes steps: '))
    seen = time_ns(clocks[-1].clock)
    client.wait_until(lambda: time_ns(clocks[-1].clock) > seen)
    assert not future.done()
    assert client.call(SetBool, 'simulation/pause', data=True).message.startswith('paused at ')
    answer = answer_to(client, future)
    taken, rest = answer.message.split(maxsplit=1)
    assert (answer.success, rest) == (False, f'of {MANY} steps were taken, then came ~/pause')
    states = client.listen(JointState, 'joint_states')
    client.wait_until(lambda: states)  # who comes late is shown where it stands
    assert time_ns(states[-1].header.stamp) == int(taken) * MS


def test_one_request_at_a_time(client):
    future = ask_for_steps(client, MANY)
    second = client.call(Trigger, 'simulation/step')
    assert not second.success
    assert second.message.startswith('another request is on: ')
    assert f' of {MANY} steps are taken' in second.message
    assert not future.done()


@pytest.mark.parametrize('interrupt, by', [
    (lambda client: client.call(Trigger, 'simulation/reset'), '~/reset or ~/load_state'),
    (lambda client: client.call(SetBool, 'simulation/pause', data=False), '~/pause'),
    (lambda client: put(client, 'paused', True), '~/pause'),
])
def test_what_ends_steps_early_is_in_the_answer(client, interrupt, by):
    future = ask_for_steps(client, MANY)
    interrupt(client)
    answer = answer_to(client, future)
    assert not answer.success
    assert answer.message.endswith(f' of {MANY} steps were taken, then came {by}')


def test_what_does_not_concern_the_steps_leaves_them_alone(client):
    """A state file that is none, another factor: they go on."""
    put(client, 'state_file', '/nowhere/at/all')
    future = ask_for_steps(client, MANY)
    assert not client.call(Trigger, 'simulation/load_state').success
    put(client, 'real_time_factor', 2.0)
    assert not future.done()
    put(client, 'real_time_factor', 1.0)


def test_many_steps_at_once_are_as_many_single_ones(client, folder):
    """Though the executor comes in between, the state is the same in every byte."""
    put(client, 'state_file', str(folder / 'single'))
    for _ in range(40):
        assert answer_to(client, ask_for_steps(client, 1)).success
    assert client.call(Trigger, 'simulation/save_state').success
    client.call(Trigger, 'simulation/reset')
    put(client, 'state_file', str(folder / 'many'))
    assert answer_to(client, ask_for_steps(client, 40)).message == 'paused at 0.04 s'
    assert client.call(Trigger, 'simulation/save_state').success
    assert (folder / 'single').read_bytes() == (folder / 'many').read_bytes()


def test_a_long_run_of_steps_is_repeated_bit_for_bit(client, folder):
    ends = []
    for name in 'first', 'second':
        put(client, 'state_file', str(folder / name))
        client.call(Trigger, 'simulation/reset')
        future = ask_for_steps(client, 5_000)
        if name == 'first':
            while not future.done():  # keep the executor busy with other things
                client.call(GetParameters, 'simulation/get_parameters', names=['dt'])
        assert answer_to(client, future).message == 'paused at 5 s'
        assert client.call(Trigger, 'simulation/save_state').success
        ends.append((folder / name).read_bytes())
    assert ends[0] == ends[1]


def test_a_listener_sees_every_state_of_many_steps_once(client):
    states = client.listen(JointState, 'joint_states')
    client.wait_until(lambda: states)
    states.clear()
    for k in range(20):  # in parts, so that none is lost in a queue
        assert answer_to(client, ask_for_steps(client, 5)).success
        client.wait_until(lambda k=k: len(states) == 5 * (k + 1))
    client.spin(0.5)
    assert [time_ns(msg.header.stamp) for msg in states] == [MS * k for k in range(1, 101)]


def test_who_waits_for_steps_is_answered_when_the_node_ends(folder):
    with NodeProcess(folder, robot='humanoid', paused=True, step_count=MANY) as node, \
            Client(node.namespace) as client:
        clocks = client.listen(Clock, '/clock', BEST_EFFORT)
        step = client.node.create_client(Trigger, 'simulation/step')
        client.wait_until(step.service_is_ready)
        future = step.call_async(Trigger.Request())
        client.wait_until(lambda: clocks and time_ns(clocks[-1].clock))
        node.process.send_signal(signal.SIGTERM)
        answer = answer_to(client, future)
        assert answer.message.endswith('steps were taken, then came the end of the simulation')
        assert node.exit_code(5.0) == 0
        assert 'Traceback' not in node.log
