"""The topics of sensors."""
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool

from spr_dynamics.ros import convert

SAMPLES_QOS = QoSProfile(depth=10)
LATCHED_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class SensorPublication:
    """The topics of one contact sensor."""

    def __init__(self, node: Node, topic: str, sensor: Any) -> None:
        """
        Make the topics.

        :param node: The node.
        :param topic: The sensor's name in ROS; it names the sensor's frame too.
        :param sensor: The sensor in the simulation.
        """
        self.topic = f'contact_sensors/{topic}/wrench'
        self._sensor = sensor
        self._wrench = convert.wrench_message(topic)
        self._wrench_publisher = node.create_publisher(WrenchStamped, self.topic, SAMPLES_QOS)
        self._contact_publisher = node.create_publisher(
            Bool, f'contact_sensors/{topic}/contact', LATCHED_QOS)
        self._samples = 0
        self._contact: bool | None = None

    def publish_new(self) -> None:
        """Publish the newest sample, if it wasn't published yet."""
        if self._sensor.sample_count != self._samples:
            self.publish(self._sensor.sample_time_ns)

    def publish(self, time_ns: int) -> None:
        """
        Publish the reading; the flag only when it has changed.

        :param time_ns: The time that the reading stands for [ns].
        """
        self._samples = self._sensor.sample_count
        reading = self._sensor.reading
        force = np.where(self._sensor.settings.has_force, reading.force, 0.0)
        self._wrench_publisher.publish(
            convert.fill_wrench(self._wrench, time_ns, force, reading.torque))
        if reading.contact != self._contact:
            self._contact = bool(reading.contact)
            self._contact_publisher.publish(Bool(data=self._contact))
