"""Values to messages, names and parameters, without a node."""
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip('rclpy')

from spr_dynamics.errors import SprDynamicsError  # noqa: E402
from spr_dynamics.ros import convert  # noqa: E402
from spr_dynamics.sensors.axis_noise import AxisNoise  # noqa: E402
from spr_dynamics.sensors.imu import ImuReading, ImuSettings  # noqa: E402


class Axis(NamedTuple):
    """What the writers read of an axis, a joint or a free root."""

    name: str
    q: int
    v: int


def xyz(vector):
    return vector.x, vector.y, vector.z


def test_joint_state_is_filled_in_place():
    writer = convert.JointStateWriter([Axis('a', 8, 7), Axis('b', 7, 6)])
    q, qd, effort = np.arange(9.0), np.arange(10.0, 18.0), np.arange(20.0, 28.0)
    msg = writer.fill(3_000_000_007, q, qd, effort)
    assert msg is writer.fill(3_000_000_007, q, qd, effort)
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (3, 7)
    assert list(msg.name) == ['a', 'b']
    assert list(msg.position) == [8.0, 7.0]
    assert list(msg.velocity) == [17.0, 16.0]
    assert list(msg.effort) == [27.0, 26.0]


def test_joint_state_of_no_joint_is_empty():
    writer = convert.JointStateWriter([])
    assert len(writer.fill(0, np.zeros(7), np.zeros(6), np.zeros(6)).position) == 0


def test_free_roots_and_balls_turn_the_quaternion_to_xyzw():
    writer = convert.MultiDofWriter([Axis('torso', 1, 2)], [Axis('hip', 8, 8)])
    q = np.array([9.0, 1.0, 2.0, 3.0, 0.5, 0.1, 0.2, 0.3, 0.6, 0.4, 0.3, 0.2])
    qd = np.array([9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    msg = writer.fill(1, q, qd, 10.0 * qd)
    assert list(msg.joint_names) == ['torso', 'hip']
    assert msg.header.frame_id == 'world'
    (torso, hip), (torso_twist, hip_twist), (torso_wrench, hip_wrench) = \
        msg.transforms, msg.twist, msg.wrench
    assert xyz(torso.translation) == (1.0, 2.0, 3.0)
    assert (*xyz(torso.rotation), torso.rotation.w) == (0.1, 0.2, 0.3, 0.5)
    assert (xyz(torso_twist.linear), xyz(torso_twist.angular)) == ((1., 2., 3.), (4., 5., 6.))
    assert (xyz(torso_wrench.force), xyz(torso_wrench.torque)) == ((10., 20., 30.),
                                                                   (40., 50., 60.))
    assert (*xyz(hip.rotation), hip.rotation.w) == (0.4, 0.3, 0.2, 0.6)
    assert xyz(hip.translation) == xyz(hip_twist.linear) == xyz(hip_wrench.force) == (0., 0., 0.)
    assert xyz(hip_twist.angular) == (7.0, 8.0, 9.0)
    assert xyz(hip_wrench.torque) == (70.0, 80.0, 90.0)


def test_odometry_has_its_twist_in_the_axes_of_the_root():
    """A quarter turn about z: what moves along the world's x moves along the root's -y."""
    writer = convert.OdometryWriter(Axis('base', 0, 0), 'robot1/base')
    half = np.sqrt(0.5)
    q = np.array([1.0, 2.0, 3.0, half, 0.0, 0.0, half])
    msg = writer.fill(5, q, np.array([2.0, 0.0, 1.0, 0.0, 4.0, 3.0]))
    assert (msg.header.frame_id, msg.child_frame_id) == ('world', 'robot1/base')
    assert xyz(msg.pose.pose.position) == (1.0, 2.0, 3.0)
    assert msg.pose.pose.orientation.z == msg.pose.pose.orientation.w == half
    assert xyz(msg.twist.twist.linear) == pytest.approx((0.0, -2.0, 1.0))
    assert xyz(msg.twist.twist.angular) == pytest.approx((4.0, 0.0, 3.0))


def test_wrench_keeps_its_frame():
    msg = convert.wrench_message('arm/tip')
    convert.fill_wrench(msg, 2_500_000_000, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    assert msg.header.frame_id == 'arm/tip'
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (2, 500_000_000)
    assert (msg.wrench.force.z, msg.wrench.torque.x) == (3.0, 4.0)


def test_imu_has_the_covariances_of_its_noise():
    """White noise, spread of the bias, settled drift and rounding add up; else zeros."""
    x = AxisNoise(mean=9.0, stddev=0.3, bias_mean=9.0, bias_stddev=0.4, dynamic_bias_stddev=0.5,
                  dynamic_bias_correlation_time=8.0, precision=0.6)
    settings = ImuSettings(angular_velocity_noise=(x, AxisNoise(), AxisNoise(stddev=2.0)))
    writer = convert.ImuWriter('chest', settings)
    msg = writer.fill(1_500_000_000, ImuReading(
        np.array([.1, .2, .3, .4]), np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])))
    assert (msg.header.frame_id, msg.header.stamp.sec, msg.header.stamp.nanosec) == (
        'chest', 1, 500_000_000)
    turn, spin, felt = msg.orientation, msg.angular_velocity, msg.linear_acceleration
    assert (turn.w, turn.x, turn.y, turn.z) == (.1, .2, .3, .4)
    assert (spin.x, spin.y, spin.z, felt.x, felt.y, felt.z) == (1, 2, 3, 4, 5, 6)
    variances = np.diag([.09 + .16 + .25 * 8 / 2 + .36 / 12, 0, 4])
    np.testing.assert_allclose(msg.angular_velocity_covariance, variances.ravel())
    assert not msg.linear_acceleration_covariance.any()
    assert not msg.orientation_covariance.any()


def test_imu_without_orientation_says_so():
    msg = convert.ImuWriter('chest', ImuSettings(has_orientation=False)).fill(
        0, ImuReading(None, np.zeros(3), np.zeros(3)))
    assert msg.orientation_covariance.tolist() == [-1] + 8 * [0]


@pytest.mark.parametrize('name, topic, parameter', [
    ('fingertip', 'fingertip', 'fingertip'),
    ('arm::finger tip', 'arm/finger_tip', 'arm.finger_tip'),
    ('2nd-pad', '_2nd_pad', '_2nd_pad'),
])
def test_names_fit_ros(name, topic, parameter):
    assert convert.topic_from_name(name) == topic
    assert convert.parameter_from_name(name) == parameter


def test_names_that_become_the_same_are_refused():
    with pytest.raises(SprDynamicsError, match="'tip pad' and 'tip-pad' are both 'tip_pad'"):
        convert.topics_from_names(['tip pad', 'tip-pad'])


@pytest.mark.parametrize('pose', [
    [0.1, -0.2, 0.3, 0.4, -0.5, 0.6],
    [0.0, 0.0, 0.0, np.pi, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.3, 3.0],
])
def test_pose_round_trip(pose):
    matrix = convert.pose_from_xyz_rpy(pose)
    np.testing.assert_allclose(convert.xyz_rpy_from_pose(matrix), pose, atol=1e-12)


@pytest.mark.parametrize('pitch', [np.pi / 2, -np.pi / 2])
def test_pose_round_trip_where_pitch_hides_roll(pitch):
    matrix = convert.pose_from_xyz_rpy([0.0, 0.0, 0.0, 0.4, pitch, -0.7])
    again = convert.pose_from_xyz_rpy(convert.xyz_rpy_from_pose(matrix))
    np.testing.assert_allclose(again, matrix, atol=1e-12)
