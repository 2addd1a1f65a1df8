"""
Values of the simulation to messages, names and parameters, and back.

Units and order change only here: seconds and nanoseconds of stamps, quaternions x y z w.
Messages are made once and filled in place, since building them costs more than publishing them.
"""
from array import array
from collections.abc import Iterable, Sequence
import re

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Transform, Twist, Wrench, WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState, MultiDOFJointState

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.sdformat.poses import Pose

NS = 1_000_000_000
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


class JointStateWriter:
    """One JointState for the same joints again and again."""

    def __init__(self, names: Sequence[str] = (), q_index: Sequence[int] = (),
                 v_index: Sequence[int] = ()) -> None:
        """
        Make the message.

        :param names: The names of the joint axes.
        :param q_index: Where the position of each is in q.
        :param v_index: Where the velocity and effort of each are in qd and the efforts.
        """
        self._q_index = np.asarray(q_index, dtype=np.intp)
        self._v_index = np.asarray(v_index, dtype=np.intp)
        self.msg = JointState(name=list(names))
        self.msg.position = array('d', bytes(8 * len(names)))
        self.msg.velocity = array('d', bytes(8 * len(names)))
        self.msg.effort = array('d', bytes(8 * len(names)))
        self._position, self._velocity, self._effort = (
            np.frombuffer(field) if len(names) else np.empty(0)
            for field in (self.msg.position, self.msg.velocity, self.msg.effort))

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


class FreeRootWriter:
    """One MultiDOFJointState for the free roots; poses and velocities in world axes."""

    def __init__(self, free_roots: Sequence[tuple[str, int, int]]) -> None:
        """
        Make the message.

        :param free_roots: Name of each root link, and where it starts in q and in qd.
        """
        self._starts = [(q, v) for _, q, v in free_roots]
        self.msg = MultiDOFJointState(joint_names=[name for name, _, _ in free_roots])
        self.msg.header.frame_id = WORLD_FRAME
        self.msg.transforms = [Transform() for _ in free_roots]
        self.msg.twist = [Twist() for _ in free_roots]
        self.msg.wrench = [Wrench() for _ in free_roots]

    def fill(self, time_ns: int, q: np.ndarray, qd: np.ndarray) -> MultiDOFJointState:
        """
        Write a state into the message and return it.

        :param time_ns: Simulated time [ns].
        :param q: Position, then quaternion w x y z, of each root, shape (nq,).
        :param qd: Linear velocity of the link's origin, then angular velocity, shape (nv,).
        """
        stamp_from_ns(self.msg.header.stamp, time_ns)
        for (i, j), transform, twist in zip(self._starts, self.msg.transforms, self.msg.twist):
            x, y, z, qw, qx, qy, qz = q[i:i + 7].tolist()
            at, turn = transform.translation, transform.rotation
            at.x, at.y, at.z = x, y, z
            turn.x, turn.y, turn.z, turn.w = qx, qy, qz, qw
            vx, vy, vz, wx, wy, wz = qd[j:j + 6].tolist()
            linear, angular = twist.linear, twist.angular
            linear.x, linear.y, linear.z = vx, vy, vz
            angular.x, angular.y, angular.z = wx, wy, wz
        return self.msg


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
    f, t = msg.wrench.force, msg.wrench.torque
    f.x, f.y, f.z = force.tolist()
    t.x, t.y, t.z = torque.tolist()
    return msg


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
