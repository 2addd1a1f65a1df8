"""``/tf`` and ``/tf_static``: where the frames of a robot and its sensors are."""
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geometry_msgs.msg import TransformStamped
import numpy as np
from rclpy.qos import QoSProfile

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.ros import convert
from spr_dynamics.ros.frames import FixedFrame, MovingFrame
from spr_dynamics.ros.motion_topics import mounted_frames
from spr_dynamics.ros.parameters import ALL, NONE, Value
from spr_dynamics.ros.streams import LATCHED_QOS, NOT_DUE, Publication, Source
from spr_dynamics.sdformat.poses import Pose

TF_QOS = QoSProfile(depth=100)  # what tf2 has; one publisher of several may be slow


def transform_topics(source: Source, sensor_topics: Mapping[str, str]) -> list[Publication]:
    """
    Make ``/tf`` and ``/tf_static``, as the parameter ``publish_tf`` asks.

    :param source: What they are made for.
    :param sensor_topics: The ROS name of each contact sensor.
    """
    publish_tf = source.parameters.value('publish_tf')
    if publish_tf == NONE:
        return []
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError:  # PyPI does not have it
        source.node.get_logger().warning(
            '/tf is not published: the package tf2_msgs is not installed')
        return []
    frames = source.frames
    moving, fixed = (frames.moving(), frames.fixed()) if publish_tf == ALL else (frames.cut(), [])
    topics: list[Publication] = [StaticTransforms(
        source, TFMessage, [*frames.root(), *fixed, *mounted_frames(source)], sensor_topics)]
    if moving:
        writer, simulation = TransformWriter(TFMessage, moving), source.simulation
        topics.append(source.topic(
            '/tf', TFMessage, TF_QOS, 'tf_rate', lambda: writer.fill(
                simulation.time_ns, link_poses(simulation.model, simulation.q))))
    return topics


class TransformWriter:
    """One TFMessage for the same moving frames again and again."""

    def __init__(self, message_type: type, frames: Sequence[MovingFrame]) -> None:
        """
        Make the message.

        :param message_type: ``tf2_msgs/TFMessage``.
        :param frames: The frames.
        """
        self._parent_link = np.array([frame.parent_link for frame in frames])
        self._link = np.array([frame.link for frame in frames])
        self._R_LF = np.stack([frame.T_LF.R for frame in frames])
        self._p_LF = np.stack([frame.T_LF.p for frame in frames])
        self.msg = message_type(transforms=[
            transform(frame.parent, frame.name) for frame in frames])

    def fill(self, time_ns: int, T_WL: np.ndarray) -> Any:
        """
        Write poses into the message and return it.

        :param time_ns: Simulated time [ns].
        :param T_WL: Pose of each link in the world, shape (n, 4, 4).
        """
        T_W = np.concatenate([T_WL, [np.eye(4)]])  # -1 is the world
        above, link = T_W[self._parent_link], T_W[self._link]
        R_PW = above[:, :3, :3].swapaxes(1, 2)
        R_WF = link[:, :3, :3] @ self._R_LF
        p_WF = link[:, :3, 3] + (link[:, :3, :3] @ self._p_LF[:, :, None])[:, :, 0]
        p_PF = (R_PW @ (p_WF - above[:, :3, 3])[:, :, None])[:, :, 0]
        quats = quaternions(R_PW @ R_WF)
        for msg, p, quat in zip(self.msg.transforms, p_PF, quats):
            convert.stamp_from_ns(msg.header.stamp, time_ns)
            convert.fill_vector(msg.transform.translation, p)
            convert.fill_quaternion(msg.transform.rotation, quat)
        return self.msg


class StaticTransforms:
    """``/tf_static``: said once, and again when a sensor gets another pose."""

    def __init__(self, source: Source, message_type: type,
                 fixed: Iterable[FixedFrame], sensor_topics: Mapping[str, str]) -> None:
        """
        Make the topic.

        :param source: What it is made for.
        :param message_type: ``tf2_msgs/TFMessage``.
        :param fixed: The frames that stand still, but for sensors.
        :param sensor_topics: The ROS name of each contact sensor.
        """
        self._publisher = source.node.create_publisher(message_type, '/tf_static', LATCHED_QOS)
        self._simulation, self._frames = source.simulation, source.frames
        self._topics = sensor_topics
        self._msg = message_type(transforms=[fixed_transform(frame) for frame in fixed])
        self._n_fixed = len(self._msg.transforms)
        self._poses: list[np.ndarray] | None = None

    def steps_until_due(self, step: int) -> int:
        """Return that steps change nothing here."""
        return NOT_DUE

    def publish_due(self, step: int) -> None:
        """Do nothing: what is fixed stays where it is."""

    def publish_now(self, step: int) -> None:
        """Publish, if anything has changed since the last time."""
        sensors = [self._simulation.sensors[name] for name in self._topics]
        poses = [sensor.settings.pose for sensor in sensors]
        if self._poses is not None and all(map(np.array_equal, poses, self._poses)):
            return
        self._poses = poses
        self._msg.transforms = [*self._msg.transforms[:self._n_fixed], *(
            fixed_transform(FixedFrame(
                self._frames.sensor(topic), self._frames.link(sensor.settings.link),
                Pose(sensor.settings.pose[:3, :3], sensor.settings.pose[:3, 3])))
            for topic, sensor in zip(self._topics.values(), sensors))]
        self._publisher.publish(self._msg)

    def greet(self, is_still: bool) -> None:
        """Do nothing: the middleware keeps what was said for those who come."""

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """Look whether a parameter that has changed moved a sensor."""
        self.publish_now(step)


def transform(parent: str, child: str) -> TransformStamped:
    """
    Return a transform from a frame to one that it holds, both at the same place.

    :param parent: The frame that holds.
    :param child: The frame that is held.
    """
    msg = TransformStamped(child_frame_id=child)
    msg.header.frame_id = parent
    return msg


def fixed_transform(frame: FixedFrame) -> TransformStamped:
    """
    Return the transform to a frame that stands still.

    :param frame: The frame.
    """
    msg = transform(frame.parent, frame.name)
    convert.fill_vector(msg.transform.translation, frame.T_PF.p)
    convert.fill_quaternion(msg.transform.rotation, frame.T_PF.quat_wxyz())
    return msg


def quaternions(R: np.ndarray) -> np.ndarray:
    """
    Return many rotations as quaternions w x y z with w >= 0.

    Of the four ways to write a quaternion by differences of entries of R, each takes the one
    with the largest divisor (Shepperd 1978).

    :param R: Rotation matrices, shape (n, 3, 3).
    :returns: Shape (n, 4).
    """
    trace = R[:, 0, 0] + R[:, 1, 1] + R[:, 2, 2]
    sums = np.empty((len(R), 4, 4))  # four times the products of the components
    sums[:, 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        sums[:, 1 + i, 1 + i] = 1.0 + 2.0 * R[:, i, i] - trace
        sums[:, 0, 1 + i] = sums[:, 1 + i, 0] = R[:, k, j] - R[:, j, k]
        sums[:, 1 + i, 1 + j] = sums[:, 1 + j, 1 + i] = R[:, j, i] + R[:, i, j]
    largest = np.argmax(np.diagonal(sums, axis1=1, axis2=2), axis=1)
    quats = sums[np.arange(len(R)), largest]
    quats *= np.where(quats[:, :1] < 0.0, -1.0, 1.0)
    return quats / np.linalg.norm(quats, axis=1, keepdims=True)
