"""/tf and /tf_static over DDS: where forward kinematics has the frames, at the same times."""
import re

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402, I100
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParametersAtomically  # noqa: E402
from sensor_msgs.msg import Imu, JointState, MultiDOFJointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from builders import random_state  # noqa: E402
import needs  # noqa: E402
from ros_harness import Client, LATCHED, NodeProcess, time_ns  # noqa: E402
import spr_dynamics  # noqa: E402
from spr_dynamics.ros.transforms import quaternions  # noqa: E402
from spr_dynamics.sdformat.poses import Pose  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

MS = 1_000_000
INERTIAL = """<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz>
    <ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"""
# what URDF can and can't say: a joint beside its child, a ball, a weld, a nested model, a table
MIXED = f"""
<sdf version='1.12'>
  <world name='w'>
    <model name='table'><static>true</static><pose>5 0 0 0 0 0</pose><link name='top'/></model>
    <model name='robot'>
      <pose>0 0 1  0.1 0.2 0.3</pose>
      <link name='base'>{INERTIAL}
        <sensor name='skin' type='contact'><pose>0.1 0 0.2 0 1 0</pose></sensor>
      </link>
      <link name='lid'><pose>0 0 0.3 0 0 1</pose>{INERTIAL}</link>
      <link name='arm'><pose>0.4 0 0 0 0.5 0</pose>{INERTIAL}
        <sensor name='gyro' type='imu'><pose>0 0.5 0 0 0 0</pose></sensor>
      </link>
      <link name='hand'><pose>0.8 0 0 0 0 0.7</pose>{INERTIAL}</link>
      <model name='tool'><pose>1.2 0 0 0 0 0</pose><link name='tip'>{INERTIAL}</link></model>
      <joint name='weld' type='fixed'><parent>base</parent><child>lid</child></joint>
      <joint name='hinge' type='revolute'>
        <pose relative_to='base'>0.2 0 0 0.3 0 0</pose>
        <parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis>
        <sensor name='load' type='force_torque'>
          <pose>0 0 0 0 0 1</pose><force_torque><frame>sensor</frame></force_torque>
        </sensor>
      </joint>
      <joint name='shoulder' type='ball'><parent>arm</parent><child>hand</child></joint>
      <joint name='slide' type='prismatic'>
        <parent>hand</parent><child>tool::tip</child><axis><xyz>1 0 0</xyz></axis>
      </joint>
    </model>
  </world>
</sdf>
"""
FRAMES = {'top', 'base', 'lid', 'arm', 'hand', 'tool/tip', 'hinge_frame',
          'contact_sensors/skin', 'imu/gyro', 'force_torque/load'}
SENSORS = {'contact_sensors/skin': 'base', 'imu/gyro': 'arm', 'force_torque/load': 'arm'}


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / 'mixed.sdf'
    path.write_text(MIXED)
    return path


class Tree:
    """What a consumer of TF knows at one moment."""

    def __init__(self, *messages):
        """Take the transforms of some messages."""
        self.holds = {}
        for message in messages:
            for transform in message.transforms:
                assert transform.child_frame_id not in self.holds
                self.holds[transform.child_frame_id] = transform

    def pose(self, frame):
        """Follow a frame down to the world."""
        if frame == 'world':
            return Pose.identity()
        hold = self.holds[frame]
        at, turn = hold.transform.translation, hold.transform.rotation
        return self.pose(hold.header.frame_id) @ Pose.from_quat_wxyz(
            [at.x, at.y, at.z], [turn.w, turn.x, turn.y, turn.z])


def positions(model, joint_state, multi_dof):
    """Put what two messages say together again."""
    q = model.neutral_q()
    of_axis = {axis.name: axis.q for axis in model.axes}
    for name, position in zip(joint_state.name, joint_state.position):
        q[of_axis[name]] = position
    roots = {root.name: root.q for root in model.free_roots}
    balls = {joint.name: joint.q for joint in model.joints if joint.type == 'ball'}
    for name, transform in zip(multi_dof.joint_names, multi_dof.transforms):
        at, turn = transform.translation, transform.rotation
        quat = [turn.w, turn.x, turn.y, turn.z]
        if name in roots:
            q[roots[name]:roots[name] + 7] = [at.x, at.y, at.z, *quat]
        else:
            q[balls[name]:balls[name] + 4] = quat
    return q


def by_stamp(messages):
    return {time_ns(message.header.stamp): message for message in messages}


def stamps(messages):
    """Return the one stamp of all transforms of each message."""
    times = [{time_ns(transform.header.stamp) for transform in message.transforms}
             for message in messages]
    assert all(len(each) == 1 for each in times)
    return [time for each in times for time in each]


def of_robot(messages, frame):
    """Keep those that hold a frame: /tf is everybody's."""
    return [message for message in messages
            if frame in {transform.child_frame_id for transform in message.transforms}]


def test_frames_are_where_forward_kinematics_has_them(tmp_path, mixed, tf2_msgs):  # noqa: F811
    model = spr_dynamics.load(mixed)
    with Client(NodeProcess.next_namespace()) as client:
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        joints = client.listen(JointState, 'joint_states')
        multi = client.listen(MultiDOFJointState, 'multi_dof_joint_states')
        skin = client.listen(WrenchStamped, 'contact_sensors/skin/wrench')
        gyro = client.listen(Imu, 'imu/gyro')
        load = client.listen(WrenchStamped, 'force_torque/load')
        with NodeProcess(tmp_path, namespace=client.node.get_namespace(), robot=mixed,
                         tf_rate=100):
            client.wait_until(lambda: len(of_robot(tf, 'hand')) > 20)
        (fixed,) = of_robot(static, 'lid')
        states, roots = by_stamp(joints), by_stamp(multi)
        compared = 0
        for message, stamp in zip(tf, stamps(tf)):
            if not (stamp in states and stamp in roots):
                continue
            compared += 1
            tree = Tree(message, fixed)
            assert set(tree.holds) == FRAMES
            q = positions(model, states[stamp], roots[stamp])
            for name, T_WL in zip(model.link_names, spr_dynamics.link_poses(model, q)):
                T = tree.pose(name.replace('::', '/'))
                np.testing.assert_allclose(T.R, T_WL[:3, :3], atol=1e-9)
                np.testing.assert_allclose(T.p, T_WL[:3, 3], atol=1e-9)
        assert compared > 10
        T_LS = tree.pose('base').inverse() @ tree.pose('contact_sensors/skin')
        np.testing.assert_allclose(T_LS.p, [0.1, 0.0, 0.2], atol=1e-9)
        np.testing.assert_allclose(T_LS.R, Pose.from_rpy([0] * 3, [0, 1, 0]).R, atol=1e-9)
        # joints hang on what carries them, welds and sensors are said once
        assert {hold.child_frame_id: hold.header.frame_id for hold in message.transforms} == {
            'base': 'world', 'hinge_frame': 'base', 'hand': 'arm', 'tool/tip': 'hand'}
        assert {hold.child_frame_id: hold.header.frame_id for hold in fixed.transforms} == {
            'top': 'world', 'lid': 'base', 'arm': 'hinge_frame', **SENSORS}
        np.testing.assert_allclose((tree.pose('arm').inverse() @ tree.pose('imu/gyro')).p,
                                   [0.0, 0.5, 0.0], atol=1e-9)
        for messages in (skin, gyro, load):
            assert messages[0].header.frame_id in tree.holds


def test_no_gap_and_no_way_back_but_at_a_reset(tmp_path, tf2_msgs):  # noqa: F811
    with Client(NodeProcess.next_namespace()) as client:
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        with NodeProcess(tmp_path, namespace=client.node.get_namespace(), robot='arm7',
                         tf_rate=100):
            client.wait_until(lambda: len(tf) > 20)
            before = len(tf)
            assert client.call(Trigger, 'simulation/reset').success
            client.wait_until(lambda: len(tf) > before + 20)
            client.call(SetBool, 'simulation/pause', data=True)
            client.call(SetBool, 'simulation/pause', data=False)
            client.wait_until(lambda: len(tf) > before + 40)
    times = stamps(tf)
    (reset,) = [k for k, step in enumerate(np.diff(times)) if step <= 0]
    assert times[reset + 1] == 0
    due = [[at for at in run if at % (10 * MS) == 0]
           for run in (times[:reset + 1], times[reset + 1:])]
    assert all(set(np.diff(run)) == {10 * MS} for run in due)
    assert len(times) - sum(map(len, due)) <= 1  # where it was paused


def test_root_leaves_the_rest_to_a_robot_state_publisher(tmp_path, mixed, tf2_msgs):  # noqa: F811
    """What URDF has as floating comes from here; all else is in robot_description."""
    with Client(NodeProcess.next_namespace()) as client:
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        texts = client.listen(String, 'robot_description', LATCHED)
        with NodeProcess(tmp_path, namespace=client.node.get_namespace(), robot=mixed,
                         publish_tf='root', frame_prefix='r1/'):
            client.wait_until(lambda: tf and static and texts)
    assert {hold.child_frame_id: hold.header.frame_id for hold in tf[0].transforms} == {
        'r1/base': 'world', 'r1/hand': 'r1/arm'}
    assert {hold.child_frame_id: hold.header.frame_id for hold in static[0].transforms} == {
        'r1/world': 'world', **{f'r1/{name}': f'r1/{link}' for name, link in SENSORS.items()}}
    links = {*re.findall('<link name="([^"]*)"', texts[0].data)}
    assert links == {'world', *FRAMES} - set(SENSORS)


def test_none_leaves_everything_to_others(tmp_path, tf2_msgs):  # noqa: F811
    with NodeProcess(tmp_path, robot='arm7', publish_tf='none') as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states)
        assert node.namespace not in {
            info.node_namespace for topic in ('/tf', '/tf_static')
            for info in client.node.get_publishers_info_by_topic(topic)}


def test_wrong_choice_is_refused_with_what_is_possible(tmp_path):
    with NodeProcess(tmp_path, robot='arm7', publish_tf='roots') as node:
        assert node.exit_code() == 1
        assert "publish_tf = 'roots': expected 'all', 'root' or 'none'" in node.log
        assert "did you mean 'root'" in node.log


def test_late_listener_of_a_paused_robot_sees_it(tmp_path, tf2_msgs):  # noqa: F811
    with NodeProcess(tmp_path, robot='arm7', paused=True) as node, \
            Client(node.namespace) as client:
        descriptions = client.listen(String, 'robot_description', LATCHED)
        client.wait_until(lambda: descriptions)
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        client.wait_until(lambda: tf and static)
        assert stamps(tf)[0] == 0


def test_moved_sensor_moves_its_frame(tmp_path, tf2_msgs):  # noqa: F811
    with NodeProcess(tmp_path, robot='arm7', paused=True) as node, \
            Client(node.namespace) as client:
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        client.wait_until(lambda: static)
        frame = 'contact_sensors/fingertip'
        assert Tree(static[0]).holds[frame].header.frame_id == 'fingertip'
        assert Tree(static[0]).holds[frame].transform.translation.z == 0.015
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY,
                               double_array_value=[0.0, 0.0, 0.02, 0.0, 0.0, 0.0])
        answer = client.call(SetParametersAtomically, 'simulation/set_parameters_atomically',
                             parameters=[Parameter(name='contact_sensors.fingertip.pose',
                                                   value=value)])
        assert answer.result.successful
        client.wait_until(lambda: len(static) == 2)
        assert Tree(static[1]).holds[frame].transform.translation.z == 0.02
        assert Tree(static[1]).holds.keys() == Tree(static[0]).holds.keys()


def test_robot_description_reads_back_as_the_robot(tmp_path):
    path = needs.REPOSITORY / 'models' / 'hopper.sdf'
    with NodeProcess(tmp_path, robot='hopper') as node, Client(node.namespace) as client:
        texts = client.listen(String, 'robot_description', LATCHED)
        client.wait_until(lambda: texts)
        assert 'robot_description leaves out' not in node.log
    ours = spr_dynamics.load(path, world='ground')
    theirs = spr_dynamics.load(text=texts[0].data)
    assert theirs.link_names == ours.link_names
    assert theirs.dof_names == ours.dof_names
    q, _, _ = random_state(np.random.default_rng(0), ours)
    np.testing.assert_allclose(spr_dynamics.link_poses(theirs, q),
                               spr_dynamics.link_poses(ours, q), atol=1e-9)


def test_what_urdf_cannot_say_is_named(tmp_path, mixed):
    with NodeProcess(tmp_path, robot=mixed) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states)
        assert ("robot_description leaves out: joint 'shoulder' is of type 'ball', which URDF "
                "doesn't have") in node.log


def test_quaternions_turn_as_their_matrices():
    rng = np.random.default_rng(0)
    rotations = [Pose.from_quat_wxyz([0] * 3, quat).R for quat in (
        *rng.normal(size=(50, 4)), *np.eye(4), [0, 1, 1, 0], [1e-9, 0, 0, 1], [1, 1, 1, 1],
        [-1, 2, 0, 0], [1e-12, 0.6, 0.8, 0])]
    for quat, R in zip(quaternions(np.array(rotations)), rotations):
        assert quat[0] >= 0.0
        assert np.linalg.norm(quat) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_allclose(Pose.from_quat_wxyz([0] * 3, quat).R, R, atol=1e-15 * 4)
