"""Values to messages, names and parameters, without a node."""
import numpy as np
import pytest

pytest.importorskip('rclpy')

from spr_dynamics.errors import SprDynamicsError  # noqa: E402
from spr_dynamics.ros import convert  # noqa: E402


def test_joint_state_is_filled_in_place():
    writer = convert.JointStateWriter(('a', 'b'), np.array([8, 7]), np.array([7, 6]))
    q, qd, effort = np.arange(9.0), np.arange(10.0, 18.0), np.arange(20.0, 28.0)
    msg = writer.fill(3_000_000_007, q, qd, effort)
    assert msg is writer.fill(3_000_000_007, q, qd, effort)
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (3, 7)
    assert list(msg.name) == ['a', 'b']
    assert list(msg.position) == [8.0, 7.0]
    assert list(msg.velocity) == [17.0, 16.0]
    assert list(msg.effort) == [27.0, 26.0]


def test_joint_state_of_no_joint_is_empty():
    writer = convert.JointStateWriter((), np.array([], dtype=int), np.array([], dtype=int))
    assert len(writer.fill(0, np.zeros(7), np.zeros(6), np.zeros(6)).position) == 0


def test_free_root_turns_the_quaternion_to_xyzw():
    writer = convert.FreeRootWriter([('torso', 1, 2)])
    q = np.array([9.0, 1.0, 2.0, 3.0, 0.5, 0.1, 0.2, 0.3])
    qd = np.array([9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    msg = writer.fill(1, q, qd)
    turn, twist = msg.transforms[0].rotation, msg.twist[0]
    assert list(msg.joint_names) == ['torso']
    assert msg.header.frame_id == 'world'
    assert msg.transforms[0].translation.z == 3.0
    assert (turn.x, turn.y, turn.z, turn.w) == (0.1, 0.2, 0.3, 0.5)
    assert (twist.linear.x, twist.linear.z, twist.angular.x, twist.angular.z) == (1., 3., 4., 6.)
    assert len(msg.wrench) == 1


def test_wrench_keeps_its_frame():
    msg = convert.wrench_message('arm/tip')
    convert.fill_wrench(msg, 2_500_000_000, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    assert msg.header.frame_id == 'arm/tip'
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (2, 500_000_000)
    assert (msg.wrench.force.z, msg.wrench.torque.x) == (3.0, 4.0)


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
