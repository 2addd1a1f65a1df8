"""How the simulation is doing: ``/diagnostics`` once a second, a line in the log now and then."""
from collections.abc import Mapping
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import QoSProfile

from spr_dynamics.ros.commands import BY_NAME, IN_ORDER, RESTORED
from spr_dynamics.ros.schedule import NEVER
from spr_dynamics.ros.state_topics import CLOCK

OK, WARN, ERROR = range(3)  # levels of DiagnosticStatus
REPORTS_A_LINE = 10  # reports between two lines in the log


class Status(NamedTuple):
    """One of the things that are watched."""

    name: str
    level: int
    message: str
    values: Mapping[str, Any]


class Diagnostics:
    """Watches a node; nothing is built while nobody listens."""

    PERIOD = 1.0  # [s of wall time]

    def __init__(self, node: Any) -> None:
        """
        Make the topic.

        :param node: The `SimulationNode`.
        """
        self._node, self._simulation = node, node.simulation
        self._msg = DiagnosticArray()
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', QoSProfile(depth=10))
        self._reports = 0
        self._rivals = ''
        self._factor: float | None = None
        self.begin()

    def begin(self) -> None:
        """Look at what happens from now on."""
        self._told_wall, self._told_time = time.monotonic(), self._simulation.time
        self._mark()

    def tell(self) -> None:
        """Look at everything, publish it, and log a line now and then."""
        self._factor = self._factor_since(self._wall, self._time)
        rivals = self._rival_clocks()
        if rivals != self._rivals:
            self._rivals = rivals
            if rivals:
                self._node.get_logger().warning(f'{rivals} (said once)')
        if self._publisher.get_subscription_count():
            self._publish()
        self._reports += 1
        if self._reports % REPORTS_A_LINE == 0:
            if self._simulation.time != self._told_time:
                self._node.get_logger().info(self._line())
            self._told_wall, self._told_time = time.monotonic(), self._simulation.time
        self._mark()

    def _factor_since(self, wall: float, simulated: float) -> float | None:
        """Return how fast time has passed since a moment; None if it was set back."""
        advanced = self._simulation.time - simulated
        return advanced / (time.monotonic() - wall) if advanced >= 0.0 else None

    def statuses(self) -> list[Status]:
        """Return what there is to say."""
        return [self._run_status(), self._solver_status(), self._command_status(),
                *self._sensor_statuses()]

    def _mark(self) -> None:
        """Remember how things are, to say what has changed a second later."""
        self._wall, self._time = time.monotonic(), self._simulation.time
        self._overruns = self._node.pacer.overruns
        self._counters = self._simulation.counters
        self._counts = dict(self._node.complaints.counts)

    def _publish(self) -> None:
        self._msg.header.stamp = self._node.get_clock().now().to_msg()
        name = self._node.get_fully_qualified_name().lstrip('/')
        self._msg.status = [DiagnosticStatus(
            name=f'{name}: {status.name}', level=bytes([status.level]), message=status.message,
            hardware_id=self._simulation.model.name,
            values=[KeyValue(key=key, value=_text(value))
                    for key, value in status.values.items()])
            for status in self.statuses()]
        self._publisher.publish(self._msg)

    def _line(self) -> str:
        """Say in a line how the run goes."""
        counters, pacer = self._simulation.counters, self._node.pacer
        factor = self._factor_since(self._told_wall, self._told_time)
        return (f'{self._simulation.time:.3f} s, real-time factor {_text(factor)}, '
                f'{pacer.overruns} overruns, {counters.contacts} contacts, '
                f'{counters.iterations} iterations')

    def _run_status(self) -> Status:
        node, pacer = self._node, self._node.pacer
        if node.failure:
            level, message = ERROR, f'stopped: {node.failure}'
        elif self._rivals:
            level, message = WARN, self._rivals
        elif node.multi_step.is_active:
            level, message = OK, (f'takes steps: {node.multi_step.completed} of '
                                  f'{node.multi_step.wanted}')
        elif node.is_paused:
            level, message = OK, 'paused'
        elif pacer.overruns > self._overruns:
            level, message = WARN, 'simulated time falls behind the clock'
        else:
            level, message = OK, 'running'
        return Status('run', level, message, {
            'time [s]': self._simulation.time, 'steps': self._simulation.step_count,
            'real-time factor': self._factor,
            'wanted real-time factor': 'lock step' if node.is_in_lock_step else
            node.parameters.value('real_time_factor') or 'as fast as it can',
            'overruns': pacer.overruns, 'time given up [s]': pacer.lost_ns * 1e-9})

    def _solver_status(self) -> Status:
        counters, before = self._simulation.counters, self._counters
        troubles = [trouble for trouble, more in (
            ('contacts were not solved', counters.unsolved > before.unsolved),
            ('contacts were dropped for want of room', counters.dropped > before.dropped)) if more]
        return Status('solver', WARN if troubles else OK, ', '.join(troubles) or 'solves',
                      vars(counters))

    def _command_status(self) -> Status:
        node, simulation = self._node, self._simulation
        commanders = {topic: self._publishers(topic) for topic in (BY_NAME, IN_ORDER)}
        commanders[RESTORED] = sorted({*commanders[BY_NAME], *commanders[IN_ORDER]})
        values: dict[str, Any] = {}
        left_alone = []
        for joint, effort, step, topic in node.commands.held():
            age = (simulation.step_count - step) * simulation.dt
            values[joint] = f'{effort:g} for {age:.6g} s, by {topic} ' \
                            f'({_listed(commanders[topic])})'
            if effort and not commanders[topic]:
                left_alone.append(joint)
        for frame, steps in node.pushes.held(simulation.step_count):
            values[f'push on {frame}'] = 'until the next' if steps > NEVER // 2 else \
                f'{max(0, steps) * simulation.dt:.6g} s more'
        counts = node.complaints.counts
        values.update({f'trouble with {kind}': count for kind, count in counts.items()})
        troubles = [f'{kind} ({count - self._counts.get(kind, 0)} in the last second)'
                    for kind, count in counts.items() if count != self._counts.get(kind, 0)]
        if left_alone:
            troubles.append(f'the last command holds, and nobody publishes any more: '
                            f'{", ".join(left_alone)}')
        return Status('commands', WARN if troubles else OK,
                      '; '.join(troubles) or 'as they came', values)

    def _publishers(self, topic: str) -> list[str]:
        """Return the nodes that publish a topic: rclpy doesn't say which one a message is from."""
        return sorted(set(self._names(self._node.inputs[topic].topic_name)))

    def _names(self, topic: str) -> list[str]:
        return [f'{info.node_namespace.rstrip("/")}/{info.node_name}'
                for info in self._node.get_publishers_info_by_topic(topic)]

    def _rival_clocks(self) -> str:
        """Say who else publishes the clock: with two, time jumps to and fro for all who listen."""
        if not self._node.parameters.value('publish_clock'):
            return ''
        names = self._names(self._node.resolve_topic_name(CLOCK))
        own = self._node.get_fully_qualified_name()
        if own in names:  # another node may have the same name
            names.remove(own)
        # one that was killed is seen until its lease ends
        return f'{CLOCK} is also published by {_listed(sorted(names))}: set publish_clock to ' \
               'false on all nodes but one, unless it was killed just now' if names else ''

    def _sensor_statuses(self) -> list[Status]:
        return [Status(name, WARN if sensor.complaint else OK, sensor.complaint or 'measures',
                       sensor.facts) for name, sensor in self._simulation.sensors.items()]


def _listed(nodes: list[str]) -> str:
    return ' or '.join(nodes) or 'which is gone'


def _text(value: Any) -> str:
    if value is None:
        return 'unknown'
    return f'{value:.6g}' if isinstance(value, float) else str(value)
