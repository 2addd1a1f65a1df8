"""The topics of sensors."""
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from std_msgs.msg import Bool

from spr_dynamics.ros import convert
from spr_dynamics.ros.streams import LATCHED_QOS, Output, STATE_QOS


class SensorPublication:
    """The topics of one contact sensor."""

    def __init__(self, node: Node, topic: str, sensor: Any, frame_id: str) -> None:
        """
        Make the topics.

        :param node: The node.
        :param topic: The sensor's name in ROS.
        :param sensor: The sensor in the simulation.
        :param frame_id: The sensor's frame.
        """
        self.topic = f'contact_sensors/{topic}/wrench'
        self._sensor = sensor
        self._wrench = convert.wrench_message(frame_id)
        self._wrench_output = Output(node, WrenchStamped, self.topic, STATE_QOS)
        self._contact_publisher = node.create_publisher(
            Bool, f'contact_sensors/{topic}/contact', LATCHED_QOS)
        self._samples = 0
        self._contact: bool | None = None

    def publish_new(self) -> None:
        """Publish the newest sample, if it wasn't published yet."""
        if self._sensor.sample_count != self._samples:
            self.publish(self._sensor.sample_time_ns)

    def greet(self, is_still: bool) -> None:
        """Notice who has come to listen; while time stands still, show them the last sample."""
        if self._wrench_output.take_newcomers() and is_still:
            self.publish(self._sensor.sample_time_ns)

    def publish(self, time_ns: int) -> None:
        """
        Publish the reading; the flag only when it has changed.

        :param time_ns: The time that the reading stands for [ns].
        """
        self._samples = self._sensor.sample_count
        reading = self._sensor.reading
        force = np.where(self._sensor.settings.has_force, reading.force, 0.0)
        self._wrench_output.publish(
            convert.fill_wrench(self._wrench, time_ns, force, reading.torque))
        if reading.contact != self._contact:
            self._contact = bool(reading.contact)
            self._contact_publisher.publish(Bool(data=self._contact))
