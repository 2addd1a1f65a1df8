"""The topics of IMUs and force-torque sensors."""
from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from sensor_msgs.msg import Imu

from spr_dynamics.ros import convert
from spr_dynamics.ros.parameters import Value
from spr_dynamics.ros.streams import NOT_DUE, Output, Source, STATE_QOS
from spr_dynamics.sdformat.elements import ForceTorqueSensor, ImuSensor
from spr_dynamics.sensors.declared import placed_sensors


class SamplePublication:
    """The topic of one sensor: each sample is published, on the step that took it."""

    def __init__(self, source: Source, name: str, topic: str, message_type: type,
                 fill: Callable[[int, Any], Any]) -> None:
        """
        Make the topic.

        :param source: What it is made for.
        :param name: The sensor's name.
        :param topic: The topic's.
        :param message_type: Its type.
        :param fill: Writes a time [ns] and a reading into the topic's message and returns that.
        """
        self.topic = topic
        self._sensor, self._fill = source.simulation.sensors[name], fill
        self.mount: str = getattr(self._sensor.settings, self._sensor.holder)
        """The link or joint that it is on."""
        self._output = Output(source.node, message_type, topic, STATE_QOS)
        self._samples = 0

    def steps_until_due(self, step: int) -> int:
        """Return how many steps can be taken in one call without missing a sample."""
        if not self._output.is_wanted:
            return NOT_DUE
        return max(1, self._sensor.next_step - step + 1)

    def publish_due(self, step: int) -> None:
        """Publish the newest sample, if it wasn't published yet."""
        if self._sensor.sample_count != self._samples:
            self.publish_now(step)

    def publish_now(self, step: int) -> None:
        """Publish the newest sample, if there is one and somebody listens."""
        self._samples = self._sensor.sample_count
        if self._samples and self._output.is_wanted:
            self._output.publish(
                self._fill(self._sensor.sample_time_ns, self._sensor.reading))

    def greet(self, is_still: bool) -> None:
        """Notice who has come to listen; while time stands still, show them the last sample."""
        if self._output.take_newcomers() and is_still:
            self.publish_now(0)

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """Do nothing: a sensor has its own rate, among its settings."""


def imu_topics(source: Source) -> list[SamplePublication]:
    """Make a topic for each IMU."""
    made = []
    elements = {name: element
                for name, _, _, element in placed_sensors(source.simulation.model, ImuSensor)}
    for name, topic in topic_names(source, 'imu', elements).items():
        settings = source.simulation.sensors[name].settings
        writer = convert.ImuWriter(frame_id(source, elements[name], name), settings)
        made.append(SamplePublication(source, name, topic, Imu, writer.fill))
    return made


def force_torque_topics(source: Source) -> list[SamplePublication]:
    """Make a topic for each force-torque sensor."""
    made = []
    model = source.simulation.model
    elements = {name: element
                for name, _, _, element in placed_sensors(model, ForceTorqueSensor)}
    for name, topic in topic_names(source, 'force_torque', elements).items():
        axes = source.simulation.sensors[name].settings.axes_of(model)
        message = convert.wrench_message(frame_id(source, elements[name], axes or name))

        def fill(time_ns: int, reading: Any, message: WrenchStamped = message) -> WrenchStamped:
            return convert.fill_wrench(message, time_ns, reading.force, reading.torque)

        made.append(SamplePublication(source, name, topic, WrenchStamped, fill))
    return made


def topic_names(source: Source, prefix: str, elements: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the topic of each sensor: what the file says, or ``prefix/name``.

    :param source: What they are for.
    :param prefix: What the names of topics begin with.
    :param elements: The sensors' elements, by name.
    """
    node, topics = source.node, {}
    for name, own in convert.topics_from_names(elements).items():
        asked = elements[name].topic
        topics[name] = f'{prefix}/{own}'
        if asked:
            try:
                expand_topic_name(asked, node.get_name(), node.get_namespace())
                topics[name] = asked
            except InvalidTopicNameException as error:
                node.get_logger().warning(
                    f"{elements[name].location.file}:{elements[name].location.line}: sensor "
                    f"'{name}': <topic> '{asked}' is no name in ROS, so its topic is "
                    f"'{topics[name]}' ({str(error).splitlines()[0]})")
    return topics


def frame_id(source: Source, element: Any, axes: str) -> str:
    """
    Return the frame of a sensor's messages: what the file says, or where their axes come from.

    :param source: What they are for.
    :param element: The sensor's element.
    :param axes: The sensor, link or world that has the axes.
    """
    if axes == convert.WORLD_FRAME and not element.frame_id:
        return axes
    return source.frame(element.frame_id or axes)
