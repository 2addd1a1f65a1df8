"""The topics of sensors."""
from collections.abc import Mapping

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from std_msgs.msg import Bool

from spr_dynamics.model.model import Model
from spr_dynamics.ros import convert
from spr_dynamics.ros.motion_topics import said, topic_of
from spr_dynamics.ros.parameters import SENSOR_PREFIX, Value
from spr_dynamics.ros.sensor_clouds import SensorClouds
from spr_dynamics.ros.streams import LATCHED_QOS, NOT_DUE, Output, Source, STATE_QOS
from spr_dynamics.sdformat.elements import ContactSensor
from spr_dynamics.sensors.contact import ContactReading
from spr_dynamics.sensors.declared import placed_sensors

TOPICS = 'wrench', 'contact', 'points', 'taxels'  # of a sensor


class SensorPublication:
    """The topics of one contact sensor."""

    def __init__(self, source: Source, name: str, topic: str, place: str) -> None:
        """
        Make the topics.

        :param source: What they are made for.
        :param name: The sensor's name.
        :param topic: Its name in ROS; it names the sensor's frame too.
        :param place: What the names of its topics begin with.
        """
        node = source.node
        self.topic = f'{place}/wrench'
        self._sensor = source.simulation.sensors[name]
        self._wrench = convert.wrench_message(source.frames.sensor(topic))
        self._wrench_output = Output(node, WrenchStamped, self.topic, STATE_QOS)
        self._contact_publisher = node.create_publisher(
            Bool, f'{place}/contact', LATCHED_QOS)
        self._clouds = SensorClouds(node, place, source.frames.sensor(topic), self._sensor)
        self._samples = 0
        self._contact: bool | None = None

    def publish_new(self) -> None:
        """Publish the newest sample, if it wasn't published yet."""
        if self._sensor.sample_count != self._samples:
            self.publish()

    def greet(self, is_still: bool) -> None:
        """Notice who has come to listen; while time stands still, show them the last sample."""
        if self._wrench_output.take_newcomers() and is_still:
            self.publish()
        self._clouds.greet(is_still)

    def publish(self) -> None:
        """
        Publish the newest sample where somebody listens; the flag only when it has changed.

        Before the first sample there is the flag alone: a wrench would have that sample's stamp.
        """
        self._samples = self._sensor.sample_count
        reading = self._sensor.reading
        if self._samples:
            self._publish_sample(self._sensor.sample_time_ns, reading)
        if reading.contact != self._contact:
            self._contact = bool(reading.contact)
            self._contact_publisher.publish(Bool(data=self._contact))

    def _publish_sample(self, time_ns: int, reading: ContactReading) -> None:
        if self._wrench_output.is_wanted:
            force = np.where(self._sensor.settings.has_force, reading.force, 0.0) + 0.0  # no -0
            self._wrench_output.publish(
                convert.fill_wrench(self._wrench, time_ns, force, reading.torque))
        self._clouds.publish(time_ns)


class SensorPublications:
    """The topics of all contact sensors: each sample is published, on the step that took it."""

    def __init__(self, source: Source, topics: Mapping[str, str]) -> None:
        """
        Make the topics.

        :param source: What they are made for.
        :param topics: The ROS name of each contact sensor.
        """
        self._simulation = source.simulation
        model = source.simulation.model
        places, elements = places_of(source.node, model, topics), elements_of(model)
        for name, place in places.items():
            for each in TOPICS:
                source.claim(f'{place}/{each}', said(name, elements.get(name)))
        self.by_name = {name: SensorPublication(source, name, topic, places[name])
                        for name, topic in topics.items()}

    def steps_until_due(self, step: int) -> int:
        """Return how many steps can be taken in one call without missing a sample."""
        sensors = self._simulation.sensors
        due = min((sensors[name].next_step for name in self.by_name), default=NOT_DUE)
        return max(1, due - step + 1)

    def publish_due(self, step: int) -> None:
        """Publish what was sampled in the last step."""
        for sensor in self.by_name.values():
            sensor.publish_new()

    def publish_now(self, step: int) -> None:
        """Publish the last samples."""
        for sensor in self.by_name.values():
            sensor.publish()

    def greet(self, is_still: bool) -> None:
        """Show those who have come to listen the last samples, while time stands still."""
        for sensor in self.by_name.values():
            sensor.greet(is_still)

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """Do nothing: a sensor has its own rate, among its settings."""


def places_of(node: Node, model: Model, topics: Mapping[str, str]) -> dict[str, str]:
    """
    Return what the topics of each contact sensor begin with: the file's topic, if it names one.

    Of two topics in the file the one in ``<contact>`` counts, as in Gazebo.

    :param node: The node.
    :param model: The robot.
    :param topics: The ROS name of each contact sensor.
    """
    elements = elements_of(model)
    places = {name: f'{SENSOR_PREFIX}/{topic}' for name, topic in topics.items()}
    for name in elements.keys() & topics.keys():
        element = elements[name]
        places[name] = topic_of(node, places[name], element,
                                element.contact_topic or element.topic)
    return places


def elements_of(model: Model) -> dict[str, ContactSensor]:
    """
    Return the elements of those contact sensors that files declare, by name.

    :param model: The robot.
    """
    return {name: element for name, _, _, element in placed_sensors(model, ContactSensor)}
