"""
Values of the simulation to messages, names and parameters, and back.

Units and order change only here: seconds and nanoseconds of stamps, quaternions x y z w.
Messages are made once and filled in place, since building them costs more than publishing them.
"""
from array import array
from collections.abc import Iterable, Sequence
import re
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Transform, Twist, Wrench, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import Imu, JointState, MultiDOFJointState

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.schedule import NS
from spr_dynamics.sdformat.poses import Pose

WORLD_FRAME = 'world'


def topic_from_name(name: str) -> str:
    """
    Return an SDF name as ROS allows it in topics and frames: ``arm::tip pad`` is ``arm/tip_pad``.

    :param name: A name, scoped with ``::`` perhaps.
    """
    tokens = [re.sub(r'[^A-Za-z0-9_]', '_', token) for token in name.split('::')]
    return '/'.join('_' + token if token[:1].isdigit() else token for token in tokens)


def parameter_from_name(name: str) -> str:
    """
    Return an SDF name as ROS allows it in parameters: ``arm::tip pad`` is ``arm.tip_pad``.

    :param name: A name, scoped with ``::`` perhaps.
    """
    return topic_from_name(name).replace('/', '.')


def topics_from_names(names: Iterable[str]) -> dict[str, str]:
    """
    Return the topic form of each name.

    :param names: Names, scoped with ``::`` perhaps.
    :raises SprDynamicsError: If two of them become the same.
    """
    owners: dict[str, str] = {}
    for name in names:
        topic = topic_from_name(name)
        if topic in owners:
            raise SprDynamicsError(f'the names {owners[topic]!r} and {name!r} are both {topic!r} '
                                   'in ROS; rename one of them')
        owners[topic] = name
    return {name: topic for topic, name in owners.items()}


def stamp_from_ns(stamp: Time, time_ns: int) -> None:
    """
    Write a time into a stamp.

    :param stamp: The stamp to fill.
    :param time_ns: Simulated time [ns].
    """
    stamp.sec, stamp.nanosec = divmod(time_ns, NS)


def ns_from_stamp(stamp: Time) -> int:
    """
    Return a stamp as a time [ns].

    :param stamp: The stamp.
    """
    return stamp.sec * NS + stamp.nanosec


class JointStateWriter:
    """One JointState for the same joints again and again."""

    def __init__(self, axes: Sequence[Any]) -> None:
        """
        Make the message.

        :param axes: ``Dof`` entries of a model, those with a position.
        """
        names = [axis.name for axis in axes]
        zeros = [0.0] * len(names)
        self._q_index = np.array([axis.q for axis in axes], dtype=np.intp)
        self._v_index = np.array([axis.v for axis in axes], dtype=np.intp)
        self.msg = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
        self._position, self._velocity, self._effort = map(
            entries, (self.msg.position, self.msg.velocity, self.msg.effort))

    def fill(self, time_ns: int, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> JointState:
        """
        Write a state into the message and return it.

        :param time_ns: Simulated time [ns].
        :param q: Positions [rad or m], shape (nq,).
        :param qd: Velocities, shape (nv,).
        :param effort: What acts on each joint [N m or N], shape (nv,).
        """
        stamp_from_ns(self.msg.header.stamp, time_ns)
        self._position[:] = q[self._q_index]
        self._velocity[:] = qd[self._v_index]
        self._effort[:] = effort[self._v_index]
        return self.msg


class MultiDofWriter:
    """
    One MultiDOFJointState for free roots and ball joints.

    Of a free root: pose, velocities and force in world axes. Of a ball: the child's joint frame
    in the parent's, angular velocity and torque in the child's joint frame.
    """

    def __init__(self, free_roots: Sequence[Any], balls: Sequence[Any]) -> None:
        """
        Make the message.

        :param free_roots: ``FreeRoot`` entries of a model.
        :param balls: Those ``Joint`` entries of a model that are balls.
        """
        self._roots = [(root.q, root.v) for root in free_roots]
        self._balls = [(ball.q, ball.v) for ball in balls]
        names = [entry.name for entry in (*free_roots, *balls)]
        self.msg = MultiDOFJointState(joint_names=names)
        self.msg.header.frame_id = WORLD_FRAME
        self.msg.transforms = [Transform() for _ in names]
        self.msg.twist = [Twist() for _ in names]
        self.msg.wrench = [Wrench() for _ in names]

    def fill(self, time_ns: int, q: np.ndarray, qd: np.ndarray, effort: np.ndarray
             ) -> MultiDOFJointState:
        """
        Write a state into the message and return it.

        :param time_ns: Simulated time [ns].
        :param q: Positions, shape (nq,).
        :param qd: Velocities, shape (nv,).
        :param effort: What acts, shape (nv,).
        """
        msg = self.msg
        stamp_from_ns(msg.header.stamp, time_ns)
        parts = list(zip(msg.transforms, msg.twist, msg.wrench))
        for (i, j), (transform, twist, wrench) in zip(self._roots, parts):
            fill_vector(transform.translation, q[i:i + 3])
            fill_quaternion(transform.rotation, q[i + 3:i + 7])
            fill_vector(twist.linear, qd[j:j + 3])
            fill_vector(twist.angular, qd[j + 3:j + 6])
            fill_vector(wrench.force, effort[j:j + 3])
            fill_vector(wrench.torque, effort[j + 3:j + 6])
        for (i, j), (transform, twist, wrench) in zip(self._balls, parts[len(self._roots):]):
            fill_quaternion(transform.rotation, q[i:i + 4])
            fill_vector(twist.angular, qd[j:j + 3])
            fill_vector(wrench.torque, effort[j:j + 3])
        return msg


class OdometryWriter:
    """One Odometry: pose of a free root in the world, velocity in the root's own axes."""

    def __init__(self, root: Any, frame_id: str) -> None:
        """
        Make the message; what is published is exact, so covariances stay zero.

        :param root: ``FreeRoot`` entry of a model.
        :param frame_id: The root's frame.
        """
        self._q, self._v = root.q, root.v
        self.msg = Odometry()
        self.msg.header.frame_id = WORLD_FRAME
        self.msg.child_frame_id = frame_id

    def fill(self, time_ns: int, q: np.ndarray, qd: np.ndarray) -> Odometry:
        """
        Write a state into the message and return it.

        :param time_ns: Simulated time [ns].
        :param q: Positions, shape (nq,).
        :param qd: Velocities, shape (nv,).
        """
        msg, i, j = self.msg, self._q, self._v
        stamp_from_ns(msg.header.stamp, time_ns)
        R_BW = Pose.from_quat_wxyz(q[i:i + 3], q[i + 3:i + 7]).R.T
        fill_vector(msg.pose.pose.position, q[i:i + 3])
        fill_quaternion(msg.pose.pose.orientation, q[i + 3:i + 7])
        fill_vector(msg.twist.twist.linear, R_BW @ qd[j:j + 3])
        fill_vector(msg.twist.twist.angular, R_BW @ qd[j + 3:j + 6])
        return msg


def entries(field: array) -> np.ndarray:
    """
    Return the numbers of a message's field, to be written in place: it can't grow any more.

    :param field: The field, as the message has it.
    """
    return np.frombuffer(field) if field else np.empty(0)


def fill_vector(vector: Any, values: np.ndarray) -> None:
    """
    Write three numbers into a message's x, y, z.

    :param vector: A ``Vector3`` or ``Point``.
    :param values: The numbers, shape (3,).
    """
    vector.x, vector.y, vector.z = values.tolist()


def fill_quaternion(rotation: Any, quat_wxyz: np.ndarray) -> None:
    """
    Write a quaternion into a message, which wants x y z w.

    :param rotation: A ``Quaternion`` message.
    :param quat_wxyz: The quaternion w x y z, shape (4,).
    """
    rotation.w, rotation.x, rotation.y, rotation.z = quat_wxyz.tolist()


def wrench_message(frame_id: str) -> WrenchStamped:
    """
    Return a zero wrench in a frame.

    :param frame_id: The frame.
    """
    msg = WrenchStamped()
    msg.header.frame_id = frame_id
    return msg


def fill_wrench(msg: WrenchStamped, time_ns: int, force: np.ndarray, torque: np.ndarray
                ) -> WrenchStamped:
    """
    Write a wrench into a message and return it.

    :param msg: The message to fill.
    :param time_ns: Simulated time of the sample [ns].
    :param force: Force in the message's frame [N], shape (3,).
    :param torque: Torque about the frame's origin [N m], shape (3,).
    """
    stamp_from_ns(msg.header.stamp, time_ns)
    fill_vector(msg.wrench.force, force)
    fill_vector(msg.wrench.torque, torque)
    return msg


class ImuWriter:
    """One Imu for the same sensor again and again."""

    def __init__(self, frame_id: str, settings: Any) -> None:
        """
        Make the message; its covariances are those of the sensor's noise.

        Those of an orientation are zero, which means unknown, as SDF knows no noise for it; the
        first is -1 if no orientation is reported.

        :param frame_id: The sensor's frame.
        :param settings: ``ImuSettings``.
        """
        self.msg = Imu()
        self.msg.header.frame_id = frame_id
        self.msg.angular_velocity_covariance = np.diag(
            [noise.variance for noise in settings.angular_velocity_noise]).ravel()
        self.msg.linear_acceleration_covariance = np.diag(
            [noise.variance for noise in settings.linear_acceleration_noise]).ravel()
        if not settings.has_orientation:
            self.msg.orientation_covariance[0] = -1.0

    def fill(self, time_ns: int, reading: Any) -> Imu:
        """
        Write a reading into the message and return it.

        :param time_ns: Simulated time of the sample [ns].
        :param reading: ``ImuReading``.
        """
        stamp_from_ns(self.msg.header.stamp, time_ns)
        if reading.orientation is not None:
            turn = self.msg.orientation
            turn.w, turn.x, turn.y, turn.z = reading.orientation.tolist()
        spin, felt = self.msg.angular_velocity, self.msg.linear_acceleration
        spin.x, spin.y, spin.z = reading.angular_velocity.tolist()
        felt.x, felt.y, felt.z = reading.linear_acceleration.tolist()
        return self.msg


def pose_from_xyz_rpy(values: Sequence[float]) -> np.ndarray:
    """
    Return the homogeneous matrix of x y z roll pitch yaw.

    :param values: Position [m], then rotations about the fixed x, y and z axis in turn [rad].
    """
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Pose.from_rpy(values[:3], values[3:])
    return T


def xyz_rpy_from_pose(pose: np.ndarray) -> list[float]:
    """
    Return x y z roll pitch yaw of a homogeneous matrix; roll is 0 where pitch is +-90 degrees.

    :param pose: Homogeneous matrix, shape (4, 4).
    """
    R = pose[:3, :3]
    cos_pitch = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], cos_pitch)
    if cos_pitch > 1e-9:  # below, roll and yaw turn about the same axis
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    return [float(value) for value in (*pose[:3, 3], roll, pitch, yaw)]
