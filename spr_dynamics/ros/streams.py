"""
Topics with schedules in simulated time.

A publication knows whether anybody listens, when it is due, and how to fill its message, which it
keeps.
"""
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.description import describe
from spr_dynamics.ros.frames import Frames
from spr_dynamics.ros.parameters import Parameters, Value
from spr_dynamics.ros.schedule import NEVER, Schedule

STATE_QOS = QoSProfile(depth=10)
CLOCK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NOT_DUE = NEVER  # nobody listens
UNLISTED = (  # topics that the node has, though rclpy does not list them among its publishers
    '/rosout', '~/simulate_steps/_action/feedback', '~/simulate_steps/_action/status')


class Publication(Protocol):
    """Topics that are due together."""

    def steps_until_due(self, step: int) -> int:
        """
        Return how many steps can be taken in one call without missing a message.

        :param step: The present step count.
        """

    def publish_due(self, step: int) -> None:
        """
        Publish what is due now.

        :param step: The present step count.
        """

    def publish_now(self, step: int) -> None:
        """
        Publish the present state, due or not, and go on from here: time may have jumped.

        :param step: The present step count.
        """

    def greet(self, is_still: bool) -> None:
        """
        Notice who has come to listen; while time stands still, show them the present state.

        :param is_still: Whether time stands still.
        """

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """
        Take over new values of parameters, where one of them is a rate of this publication.

        :param rates: New values by full name.
        :param step: The present step count.
        """


class Output:
    """A topic that knows who listens."""

    def __init__(self, node: Node, message_type: type, name: str, qos: QoSProfile) -> None:
        """
        Make the topic.

        :param node: The node.
        :param message_type: Its type.
        :param name: Its name.
        :param qos: Its quality of service.
        """
        self._has_newcomers = False
        self._publisher = node.create_publisher(
            message_type, name, qos,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched))
        self.publish = self._publisher.publish

    @property
    def is_wanted(self) -> bool:
        """Whether anybody listens."""
        return self._publisher.get_subscription_count() > 0

    def take_newcomers(self) -> bool:
        """Return whether somebody has come to listen since the last call."""
        had, self._has_newcomers = self._has_newcomers, False
        return had

    def _on_matched(self, change: Any) -> None:
        self._has_newcomers |= change.total_count_change > 0


class Stream:
    """
    Topics at a rate of simulated time; nothing is built while nobody listens.

    What is due while nobody listens is left out, so the next one falls on the schedule again.
    """

    def __init__(self, publish: Callable[[], None], outputs: list[Output], dt_ns: int,
                 rate_name: str, rate: float) -> None:
        """
        Make a stream that is first due on the step after 0.

        :param publish: Fills the messages from the present state and publishes them.
        :param outputs: Where it publishes them: one listener of any makes it work.
        :param dt_ns: Length of a step [ns].
        :param rate_name: The parameter that holds the rate.
        :param rate: Its value: messages a second [Hz]; 0 is every step.
        """
        self._publish, self._outputs = publish, outputs
        self._dt_ns, self._rate_name = dt_ns, rate_name
        self._schedule = Schedule(rate, dt_ns)
        self._next_step, self._last_step = self._schedule.next_step(0), 0

    @property
    def is_wanted(self) -> bool:
        """Whether anybody listens."""
        return any(output.is_wanted for output in self._outputs)

    def steps_until_due(self, step: int) -> int:
        """Return how many steps can be taken in one call without missing a message."""
        if not self.is_wanted:
            return NOT_DUE
        if self._next_step <= step:  # nobody listened until now
            self._next_step = self._schedule.next_step(step)
        return self._next_step - step

    def publish_due(self, step: int) -> None:
        """Publish what is due now."""
        if step < self._next_step:
            return
        is_due = step == self._next_step
        self._next_step = self._schedule.next_step(step)
        if is_due and self.is_wanted:
            self._last_step = step
            self._publish()

    def publish_now(self, step: int) -> None:
        """
        Publish the present state, due or not, and go on from here.

        Also if nobody listens: at the start that compiles what the messages need.
        """
        self._next_step, self._last_step = self._schedule.next_step(step), step
        self._publish()

    def publish(self) -> None:
        """Publish the present state, and leave the schedule as it is."""
        if self.is_wanted:
            self._publish()

    def catch_up(self, step: int) -> None:
        """
        Publish the present state unless that was done, and leave the schedule as it is.

        :param step: The present step count.
        """
        if self._last_step != step:
            self._last_step = step
            self.publish()

    def greet(self, is_still: bool) -> None:
        """Notice who has come to listen; while time stands still, show them the state."""
        newcomers = [output.take_newcomers() for output in self._outputs]
        if any(newcomers) and is_still:
            self._publish()

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """Take over a new rate, if it is among some new values of parameters."""
        if self._rate_name in rates:
            self._schedule = Schedule(rates[self._rate_name], self._dt_ns)
            self._next_step = self._schedule.next_step(step)


class Source:
    """Where publications come from: a node, its simulation and its parameters."""

    def __init__(self, node: Node, simulation: Any, parameters: Parameters) -> None:
        """
        Make no topic yet.

        :param node: The node.
        :param simulation: The simulation to publish.
        :param parameters: The node's parameters, all declared.
        """
        self.node, self.simulation, self.parameters = node, simulation, parameters
        self._claimed: dict[str, str] = {}
        self.urdf = describe(simulation.model)
        self.frames = Frames(simulation.model, self.urdf, parameters.value('frame_prefix'))

    def claim(self, topic: str, sensor: str) -> None:
        """
        See that nobody else has the topic of a sensor, whose name may come from the file.

        :param topic: Its name.
        :param sensor: The sensor, for messages.
        :raises SprDynamicsError: If the node has it for something else.
        """
        full = self.node.resolve_topic_name(topic)
        listed: list[Any] = [*self.node.publishers, *self.node.subscriptions]
        if full in {*self._claimed, *(other.topic_name for other in listed),
                    *map(self.node.resolve_topic_name, UNLISTED)}:
            raise SprDynamicsError(f"{sensor}: its topic '{full}' is also that of "
                                   f"{self._claimed.get(full, 'the node itself')}")
        self._claimed[full] = sensor

    def topic(self, name: str, message_type: type, qos: QoSProfile, rate_name: str,
              fill: Callable[[], Any]) -> Stream:
        """
        Make a topic.

        :param name: Its name.
        :param message_type: Its type.
        :param qos: Its quality of service.
        :param rate_name: The parameter that holds its rate.
        :param fill: Writes the present state into the topic's message and returns that.
        """
        output = Output(self.node, message_type, name, qos)
        return self.stream(lambda: output.publish(fill()), [output], rate_name)

    def stream(self, publish: Callable[[], None], outputs: list[Output], rate_name: str) -> Stream:
        """
        Put topics on a schedule.

        :param publish: Fills their messages and publishes them.
        :param outputs: The topics.
        :param rate_name: The parameter that holds their rate.
        """
        return Stream(publish, outputs, self.simulation.dt_ns, rate_name,
                      self.parameters.value(rate_name))
