"""IMUs and force-torque sensors over DDS: topics, frames, stamps, rates, values."""
import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402, I100
from sensor_msgs.msg import Imu  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import Client, LATCHED, NodeProcess, time_ns  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

MS = 1_000_000
G = 9.8
ROBOT = """<sdf version='1.12'><model name='m'>
  <link name='base'><inertial><mass>3</mass></inertial>
    <sensor name='level' type='imu'><update_rate>200</update_rate><imu><linear_acceleration><z>
      <noise type='gaussian'><stddev>0.01</stddev></noise></z></linear_acceleration></imu></sensor>
    <sensor name='blind' type='imu'><topic>chest imu</topic><frame_id>chest</frame_id>
      <imu><enable_orientation>0</enable_orientation></imu></sensor>
  </link>
  <joint name='foot' type='fixed'><parent>world</parent><child>base</child>
    <sensor name='foot' type='force_torque'><update_rate>100</update_rate>
      <force_torque><frame>parent</frame></force_torque></sensor></joint>
  <link name='wheel'><pose>0 0 1 0 0 0</pose><inertial><mass>2</mass></inertial>
    <sensor name='rim' type='imu'><pose>.5 0 0 0 0 0</pose><topic>wheel/imu</topic></sensor>
  </link>
  <joint name='turn' type='continuous'><parent>base</parent><child>wheel</child>
    <axis><xyz>0 0 1</xyz></axis>
    <sensor name='hub' type='force_torque'><force_torque>
      <measure_direction>parent_to_child</measure_direction></force_torque></sensor></joint>
</model></sdf>"""


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def test_sensors_are_published_with_frames_stamps_and_values(tmp_path):
    robot = tmp_path / 'robot.sdf'
    robot.write_text(ROBOT)
    with NodeProcess(tmp_path, robot=robot, frame_prefix='r/', paused=True,
                     real_time_factor=0.1) as node, Client(node.namespace) as client:
        level, blind, rim = (client.listen(Imu, topic)
                             for topic in ('imu/level', 'imu/blind', 'wheel/imu'))
        foot, hub = (client.listen(WrenchStamped, f'force_torque/{name}')
                     for name in ('foot', 'hub'))
        client.call(Trigger, 'simulation/step')
        client.wait_until(lambda: all((level, blind, rim, foot, hub)))
        client.call(SetBool, 'simulation/pause', data=False)
        client.wait_until(lambda: len(level) > 30 and len(foot) > 15 and len(rim) > 150)

        assert {msg.header.frame_id for msg in level} == {'r/imu/level'}
        assert [messages[0].header.frame_id for messages in (blind, rim, foot, hub)] == [
            'r/chest', 'r/imu/rim', 'world', 'r/force_torque/hub']
        for messages, period in (level, 5), (rim, 1), (foot, 10):
            stamps = np.unique([time_ns(msg.header.stamp) for msg in messages])
            assert (stamps == np.arange(stamps.size) * period * MS).all()

        z = np.array([msg.linear_acceleration.z for msg in level])
        assert abs(z.mean() - G) < 0.01 and 0.004 < z.std() < 0.02
        assert level[-1].linear_acceleration_covariance.tolist() == [0] * 8 + [0.01 ** 2]
        assert level[-1].orientation.w == 1.0 and level[-1].orientation_covariance[0] == 0.0
        assert blind[-1].orientation_covariance[0] == -1.0
        np.testing.assert_allclose(xyz(rim[-1].linear_acceleration), [0, 0, G], atol=1e-9)
        np.testing.assert_allclose(xyz(foot[-1].wrench.force), [0, 0, -5 * G], atol=1e-9)
        np.testing.assert_allclose(xyz(hub[-1].wrench.force), [0, 0, 2 * G], atol=1e-9)
        assert "<topic> 'chest imu' is no name in ROS, so its topic is 'imu/blind'" in node.log


def test_frames_of_sensors_are_where_their_readings_are_right(tmp_path, tf2_msgs):  # noqa: F811
    """At the sensor's origin, in its axes, or those of the child link that a reading has."""
    robot = tmp_path / 'robot.sdf'
    tilted = '<pose>.1 .2 .3 .5 0 0</pose><force_torque><frame>sensor</frame></force_torque>'
    robot.write_text(ROBOT.replace(
        '</joint>\n</model>', "<sensor name='tilt' type='force_torque'>" + tilted + '</sensor>'
        "<sensor name='shifted' type='force_torque'><pose>.1 .2 .3 .5 0 0</pose></sensor>"
        '</joint></model>'))
    with NodeProcess(tmp_path, robot=robot, paused=True) as node, \
            Client(node.namespace) as client:
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        client.wait_until(lambda: static)
        frames = {frame.child_frame_id: frame for frame in static[-1].transforms}
        found = {name: (frame.header.frame_id, *xyz(frame.transform.translation),
                        round(2 * np.arcsin(frame.transform.rotation.x), 12))
                 for name, frame in frames.items() if '/' in name}
        assert found == {
            'imu/level': ('base', 0, 0, 0, 0), 'imu/rim': ('wheel', .5, 0, 0, 0),
            'force_torque/hub': ('wheel', 0, 0, 0, 0),
            'force_torque/tilt': ('wheel', .1, .2, .3, .5),
            'force_torque/shifted': ('wheel', .1, .2, .3, 0)}


def test_a_paused_robot_shows_its_last_sample_and_none_before_the_first(tmp_path):
    """An IMU that has felt nothing yet would seem to fall."""
    robot = tmp_path / 'robot.sdf'
    robot.write_text(ROBOT)
    with NodeProcess(tmp_path, robot=robot, paused=True) as node, \
            Client(node.namespace) as client:
        client.call(Trigger, 'simulation/reset')
        early = client.listen(Imu, 'wheel/imu')
        client.spin(0.5)
        assert not early
        client.call(Trigger, 'simulation/step')
        client.wait_until(lambda: early)
        late = client.listen(WrenchStamped, 'force_torque/hub')
        client.wait_until(lambda: late)
        assert time_ns(early[0].header.stamp) == time_ns(late[0].header.stamp) == 0
        assert late[0].wrench.force.z == pytest.approx(2 * G)
