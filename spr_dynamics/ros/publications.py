"""What the node publishes, and when."""
import sys
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState

from spr_dynamics.ros import convert
from spr_dynamics.ros.schedule import Schedule
from spr_dynamics.ros.sensor_topics import SensorPublication

STATE_QOS = QoSProfile(depth=10)
CLOCK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Stream:
    """Messages at a rate of simulated time."""

    def __init__(self, rate: float, dt_ns: int) -> None:
        """
        Make a stream that is first due on the step after 0.

        :param rate: Messages a second [Hz]; 0 is every step.
        :param dt_ns: Length of a step [ns].
        """
        self._dt_ns = dt_ns
        self.set_rate(rate, 0)

    def set_rate(self, rate: float, step: int) -> None:
        """
        Change the rate.

        :param rate: Messages a second [Hz]; 0 is every step.
        :param step: The present step count.
        """
        self._schedule = Schedule(rate, self._dt_ns)
        self.restart(step)

    def restart(self, step: int) -> None:
        """
        Wait for the first message after a step.

        :param step: The step count.
        """
        self.next_step = self._schedule.next_step(step)

    def is_due(self, step: int) -> bool:
        """
        Return whether a message is due, and if so, wait for the next.

        :param step: The present step count.
        """
        if step < self.next_step:
            return False
        self.restart(step)
        return True


class Publications:
    """All topics of a simulation."""

    def __init__(self, node: Node, simulation: Any, sensor_topics: dict[str, str], *,
                 publish_rate: float, clock_rate: float | None) -> None:
        """
        Make the topics.

        :param node: The node.
        :param simulation: The simulation to publish.
        :param sensor_topics: The ROS name of each contact sensor.
        :param publish_rate: Rate of joint states [Hz]; 0 is every step.
        :param clock_rate: Rate of ``/clock`` [Hz]; 0 is every step, None: not at all.
        """
        model = simulation.model
        self._simulation = simulation
        self._joint_state = convert.JointStateWriter(
            *zip(*((axis.name, axis.q, axis.v) for axis in model.axes)))
        self._joint_state_publisher = node.create_publisher(JointState, 'joint_states', STATE_QOS)
        self._free_root = convert.FreeRootWriter(model.free_roots)
        self._free_root_publisher = node.create_publisher(
            MultiDOFJointState, 'multi_dof_joint_states', STATE_QOS) if model.free_roots else None
        self._clock = Clock()
        self._clock_publisher = None if clock_rate is None else node.create_publisher(
            Clock, '/clock', CLOCK_QOS)
        self.sensors = {name: SensorPublication(node, topic, simulation.sensors[name])
                        for name, topic in sensor_topics.items()}
        self.states = Stream(publish_rate, simulation.dt_ns)
        self.clock = Stream(clock_rate or 0.0, simulation.dt_ns)

    def steps_until_due(self) -> int:
        """Return how many steps can be taken in one call without missing a message."""
        step = self._simulation.step_count
        until = min(self.states.next_step, self.clock.next_step) - step
        return min(until, self._simulation.steps_until_sample() if self.sensors else sys.maxsize)

    def publish_due(self) -> None:
        """Publish what is due on this step."""
        step = self._simulation.step_count
        if self.clock.is_due(step):
            self._publish_clock()
        if self.states.is_due(step):
            self._publish_states()
        for sensor in self.sensors.values():
            sensor.publish_new()

    def publish_all(self) -> None:
        """Publish everything as it is now, and wait for what comes after."""
        self.clock.restart(self._simulation.step_count)
        self.states.restart(self._simulation.step_count)
        self._publish_clock()
        self._publish_states()
        for sensor in self.sensors.values():
            sensor.publish(self._simulation.time_ns)

    def _publish_clock(self) -> None:
        if self._clock_publisher is None:
            return
        convert.stamp_from_ns(self._clock.clock, self._simulation.time_ns)
        self._clock_publisher.publish(self._clock)

    def _publish_states(self) -> None:
        simulation = self._simulation
        time_ns, q, qd = simulation.time_ns, simulation.q, simulation.qd
        self._joint_state_publisher.publish(
            self._joint_state.fill(time_ns, q, qd, simulation.effort))
        if self._free_root_publisher is not None:
            self._free_root_publisher.publish(self._free_root.fill(time_ns, q, qd))
