"""What /diagnostics and the line in the log say, of a node that only seems to run."""
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from spr_dynamics.ros import diagnostics  # noqa: E402
from spr_dynamics.ros.diagnostics import Diagnostics, ERROR, OK, WARN  # noqa: E402


class Node:
    """A node whose simulation and clock are moved by hand; it keeps what it would log."""

    def __init__(self):
        self.now, self.lines = 100.0, []
        self.simulation = SimpleNamespace(
            time=0.0, step_count=0, sensors={}, model=SimpleNamespace(name='m'),
            counters=SimpleNamespace(contacts=3, iterations=5, unsolved=0, dropped=0))
        self.pacer = SimpleNamespace(overruns=0, lost_ns=0.0)
        self.complaints = SimpleNamespace(counts={})
        self.multi_step = SimpleNamespace(is_active=False, completed=0, wanted=0)
        self.failure, self.is_paused, self.is_in_lock_step = '', False, False
        self.commands = SimpleNamespace(held=lambda: [])
        self.pushes = SimpleNamespace(held=lambda step: [])
        self.inputs = {name: SimpleNamespace(topic_name=f'/r/{name}')
                       for name in ('joint_commands', 'effort_commands')}
        self.parameters = SimpleNamespace(
            value={'publish_clock': True, 'real_time_factor': 1.0}.get)
        self.clocks = [SimpleNamespace(node_namespace='/r', node_name='simulation')]

    def create_publisher(self, *what):
        return SimpleNamespace(get_subscription_count=lambda: 0)

    def get_logger(self):
        return SimpleNamespace(info=self.lines.append, warning=self.lines.append)

    def get_fully_qualified_name(self):
        return '/r/simulation'

    def resolve_topic_name(self, name):
        return name

    def get_publishers_info_by_topic(self, topic):
        return self.clocks if topic == '/clock' else []


@pytest.fixture
def node(monkeypatch):
    node = Node()
    monkeypatch.setattr(diagnostics, 'time', SimpleNamespace(monotonic=lambda: node.now))
    node.diagnostics = Diagnostics(node)
    assert time.monotonic() != node.now
    return node


def pass_second(node, simulated):
    """Let a second pass, and some simulated time, and look."""
    node.now += 1.0
    node.simulation.time += simulated
    node.simulation.step_count += round(simulated * 1000)
    node.diagnostics.tell()


def run_status(node):
    return node.diagnostics.statuses()[0]


def test_the_line_in_the_log_tells_of_the_ten_seconds_before_it(node):
    """It told of the last second only."""
    for _ in range(9):
        pass_second(node, 0.5)
    assert not node.lines
    node.pacer.overruns = 2
    pass_second(node, 0.0)
    assert node.lines == [
        '4.500 s, real-time factor 0.45, 2 overruns, 3 contacts, 5 iterations']
    for _ in range(10):
        pass_second(node, 1.0)
    assert node.lines[1:] == [
        '14.500 s, real-time factor 1, 2 overruns, 3 contacts, 5 iterations']


def test_there_is_no_line_while_time_stands_still(node):
    for _ in range(30):
        pass_second(node, 0.0)
    assert not node.lines
    for _ in range(10):
        pass_second(node, 2.0)
    assert len(node.lines) == 1 and 'real-time factor 2,' in node.lines[0]


def test_the_factor_is_that_of_the_last_second(node):
    assert run_status(node).values['real-time factor'] is None
    for simulated in 1.0, 0.25, 0.0:
        pass_second(node, simulated)
        assert run_status(node).values['real-time factor'] == pytest.approx(simulated)
    assert run_status(node).values['wanted real-time factor'] == 1.0
    pass_second(node, 5.0)
    pass_second(node, -6.25)  # a reset
    assert run_status(node).values['real-time factor'] is None
    assert run_status(node).values['time [s]'] == 0.0


def test_an_overrun_is_warned_of_in_the_second_that_it_happens(node):
    pass_second(node, 1.0)
    assert run_status(node)[1:3] == (OK, 'running')
    node.pacer.overruns, node.pacer.lost_ns = 1, 5e8
    status = run_status(node)
    assert status[1:3] == (WARN, 'simulated time falls behind the clock')
    assert (status.values['overruns'], status.values['time given up [s]']) == (1, 0.5)
    pass_second(node, 0.7)
    assert run_status(node)[1:3] == (OK, 'running')
    assert run_status(node).values['overruns'] == 1


def test_what_stops_time_is_said_first(node):
    node.is_paused, node.pacer.overruns = True, 1
    assert run_status(node)[1:3] == (OK, 'paused')
    node.multi_step = SimpleNamespace(is_active=True, completed=3, wanted=7)
    assert run_status(node)[1:3] == (OK, 'takes steps: 3 of 7')
    node.failure = "joint 'elbow': its velocity is not finite"
    assert run_status(node)[1:3] == (
        ERROR, "stopped: joint 'elbow': its velocity is not finite")


@pytest.mark.parametrize('counter, message', [
    ('unsolved', 'contacts were not solved'),
    ('dropped', 'contacts were dropped for want of room')])
def test_trouble_of_the_solver_is_warned_of(node, counter, message):
    counters = vars(node.simulation.counters)
    assert node.diagnostics.statuses()[1][1:3] == (OK, 'solves')
    node.simulation.counters = SimpleNamespace(**{**counters, counter: 4})
    status = node.diagnostics.statuses()[1]
    assert status[1:3] == (WARN, message) and status.values[counter] == 4
    pass_second(node, 1.0)
    assert node.diagnostics.statuses()[1][1:3] == (OK, 'solves')


def test_a_second_clock_is_warned_of_once(node):
    node.clocks.append(SimpleNamespace(node_namespace='/other/', node_name='simulation'))
    for _ in range(3):
        pass_second(node, 1.0)
    said = '/clock is also published by /other/simulation: set publish_clock to false'
    assert len(node.lines) == 1 and node.lines[0].startswith(said)
    assert run_status(node).level == WARN and run_status(node).message.startswith(said)
    node.clocks.pop()
    pass_second(node, 1.0)
    assert run_status(node)[1:3] == (OK, 'running')
