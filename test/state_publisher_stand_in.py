"""
What robot_state_publisher, which is in C++ and not on PyPI, does with its parameters, in short.

It answers joint states with the transforms of joints by their names in the URDF, and says once
those of fixed joints. Floating joints are left to others.
"""
from xml.etree import ElementTree

from geometry_msgs.msg import TransformStamped
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MOVING = ('revolute', 'continuous', 'prismatic')


class RobotStatePublisher(Node):
    """The node."""

    def __init__(self):
        """Say what stands still, and listen."""
        super().__init__('robot_state_publisher')
        text = self.declare_parameter('robot_description', '').value
        self.prefix = self.declare_parameter('frame_prefix', '').value
        self.period = 1e9 / self.declare_parameter('publish_frequency', 20.0).value
        self.last = -self.period
        joints = ElementTree.fromstring(text).findall('joint')
        self.moving = {joint.get('name'): joint for joint in joints if joint.get('type') in MOVING}
        static = self.create_publisher(TFMessage, '/tf_static', LATCHED)
        static.publish(TFMessage(transforms=[
            self.transform(joint, 0.0) for joint in joints if joint.get('type') == 'fixed']))
        self.publisher = self.create_publisher(TFMessage, '/tf', 100)
        self.create_subscription(JointState, 'joint_states', self.answer, qos_profile_sensor_data)
        simulated = 'simulated' if self.get_parameter('use_sim_time').value else 'real'
        print(f'Robot initialized, on {simulated} time', flush=True)

    def answer(self, state):
        """Publish the transforms of the joints that move."""
        time = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
        if 0 <= time - self.last < self.period:
            return
        self.last = time
        transforms = [self.transform(self.moving[name], position)
                      for name, position in zip(state.name, state.position)
                      if name in self.moving]
        for transform in transforms:
            transform.header.stamp = state.header.stamp
        self.publisher.publish(TFMessage(transforms=transforms))

    def transform(self, joint, position):
        """Return where the child of a joint is in its parent."""
        origin = joint.find('origin')
        at, (roll, pitch, yaw) = numbers(origin.get('xyz')), numbers(origin.get('rpy'))
        turn = product(product(rotation([0, 0, 1], yaw), rotation([0, 1, 0], pitch)),
                       rotation([1, 0, 0], roll))
        if joint.get('type') == 'prismatic':
            step = np.append(0.0, position * numbers(joint.find('axis').get('xyz')))
            at = at + product(product(turn, step), turn * [1, -1, -1, -1])[1:]
        elif joint.get('type') in MOVING:
            turn = product(turn, rotation(numbers(joint.find('axis').get('xyz')), position))
        msg = TransformStamped(child_frame_id=self.prefix + joint.find('child').get('link'))
        msg.header.frame_id = self.prefix + joint.find('parent').get('link')
        for field, value in zip('xyz', at):
            setattr(msg.transform.translation, field, float(value))
        for field, value in zip('wxyz', turn):
            setattr(msg.transform.rotation, field, float(value))
        return msg


def numbers(text):
    """Return the numbers of an attribute."""
    return np.array([float(word) for word in text.split()])


def rotation(axis, angle):
    """Return the quaternion w x y z of a turn about an axis."""
    return np.append(np.cos(angle / 2), np.sin(angle / 2) * np.asarray(axis))


def product(p, q):
    """Return the product of two quaternions w x y z."""
    return np.append(p[0] * q[0] - p[1:] @ q[1:],
                     p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))


if __name__ == '__main__':
    rclpy.init()
    try:
        rclpy.spin(RobotStatePublisher())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    rclpy.try_shutdown()
