"""The topics of IMUs and force-torque sensors."""
from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from sensor_msgs.msg import Imu

from spr_dynamics.model.model import Model
from spr_dynamics.ros import convert
from spr_dynamics.ros.frames import FixedFrame
from spr_dynamics.ros.parameters import Value
from spr_dynamics.ros.streams import NOT_DUE, Output, Source, STATE_QOS
from spr_dynamics.sdformat.elements import ForceTorqueSensor, ImuSensor
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.declared import placed_sensors
from spr_dynamics.sensors.force_torque import placed_joint


class SamplePublication:
    """The topic of one sensor: each sample is published, on the step that took it."""

    def __init__(self, source: Source, name: str, element: Any, topic: str, message_type: type,
                 fill: Callable[[int, Any], Any]) -> None:
        """
        Make the topic.

        :param source: What it is made for.
        :param name: The sensor's name.
        :param element: Its element.
        :param topic: The topic's name.
        :param message_type: Its type.
        :param fill: Writes a time [ns] and a reading into the topic's message and returns that.
        """
        self._sensor, self._fill = source.simulation.sensors[name], fill
        source.claim(topic, said(name, element))
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
    """
    Make a topic for each IMU.

    :param source: What they are made for.
    """
    made = []
    for name, (own, element) in declared(source.simulation.model, ImuSensor).items():
        writer = convert.ImuWriter(frame_id(source, f'imu/{own}', element),
                                   source.simulation.sensors[name].settings)
        topic = topic_of(source.node, f'imu/{own}', element, element.topic)
        made.append(SamplePublication(source, name, element, topic, Imu, writer.fill))
    return made


def force_torque_topics(source: Source) -> list[SamplePublication]:
    """
    Make a topic for each force-torque sensor.

    :param source: What they are made for.
    """
    made = []
    for name, (own, element) in declared(source.simulation.model, ForceTorqueSensor).items():
        topic = topic_of(source.node, f'force_torque/{own}', element, element.topic)
        message = convert.wrench_message(force_torque_frame(source, name, own, element))

        def fill(time_ns: int, reading: Any, message: WrenchStamped = message) -> WrenchStamped:
            return convert.fill_wrench(message, time_ns, reading.force, reading.torque)

        made.append(SamplePublication(source, name, element, topic, WrenchStamped, fill))
    return made


def mounted_frames(source: Source) -> list[FixedFrame]:
    """
    List the frames of the sensors that have one of their own, each on its link.

    That of a force-torque sensor has the axes of its readings; those in the axes of a joint's
    parent have none of their own, and neither has a sensor whose frame the file names.

    :param source: What they are for.
    """
    frames, model = [], source.simulation.model
    for name, (own, element) in declared(source.simulation.model, ImuSensor).items():
        settings = source.simulation.sensors[name].settings
        if not element.frame_id:
            frames.append(FixedFrame(frame_id(source, f'imu/{own}', element),
                                     source.frames.link(settings.link), pose_of(settings)))
    for name, (own, element) in declared(source.simulation.model, ForceTorqueSensor).items():
        settings = source.simulation.sensors[name].settings
        if not element.frame_id and element.frame != 'parent':
            T_LS, child = pose_of(settings), placed_joint(model, settings.joint).child
            frames.append(FixedFrame(
                force_torque_frame(source, name, own, element),
                source.frames.link(model.link_names[child]),
                T_LS if element.frame == 'sensor' else Pose(np.eye(3), T_LS.p)))
    return frames


def declared(model: Model, kind: type) -> dict[str, tuple[str, Any]]:
    """
    Return the ROS name and the element of each sensor of a kind, by name.

    :param model: The robot.
    :param kind: The class of elements.
    """
    elements = {name: element for name, _, _, element in placed_sensors(model, kind)}
    return {name: (own, elements[name])
            for name, own in convert.topics_from_names(elements).items()}


def topic_of(node: Node, own: str, element: Any, wanted: str) -> str:
    """
    Return the topic of a sensor: that of the file, if it is a name in ROS.

    :param node: The node.
    :param own: The topic if the file doesn't say.
    :param element: The sensor's element.
    :param wanted: The topic that it names; empty if it names none.
    """
    if not wanted:
        return own
    try:
        validate_full_topic_name(
            expand_topic_name(wanted, node.get_name(), node.get_namespace()))
    except (InvalidTopicNameException, ValueError) as error:
        node.get_logger().warning(
            f"{said(element.name, element)}: <topic> '{wanted}' is no "
            f"name in ROS, so its topic is '{own}' ({str(error).splitlines()[0]})")
        return own
    return wanted


def said(name: str, element: Any) -> str:
    """
    Return a sensor as messages call it.

    :param name: Its name.
    :param element: Its element; None if it is no file that declares it.
    """
    return f"sensor '{name}'" if element is None else \
        f"{element.location.file}:{element.location.line}: sensor '{name}'"


def frame_id(source: Source, own: str, element: Any) -> str:
    """
    Return the frame of a sensor's messages: that of the file, if it names one.

    :param source: What it is for.
    :param own: The frame if the file doesn't say.
    :param element: The sensor's element.
    """
    return source.frames.named(element.frame_id or own)


def force_torque_frame(source: Source, name: str, own: str, element: Any) -> str:
    """
    Return the frame whose axes the readings of a force-torque sensor have.

    :param source: What it is for.
    :param name: The sensor's name.
    :param own: Its name in ROS.
    :param element: Its element.
    """
    if element.frame_id or element.frame != 'parent':
        return frame_id(source, f'force_torque/{own}', element)
    parent = source.simulation.sensors[name].settings.axes_of(source.simulation.model)
    return parent if parent == convert.WORLD_FRAME else source.frames.link(parent)


def pose_of(settings: Any) -> Pose:
    """
    Return the pose of a sensor on its link.

    :param settings: The sensor's.
    """
    return Pose(settings.pose[:3, :3], settings.pose[:3, 3])
