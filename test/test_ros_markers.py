"""visual_markers, contact_markers and the configuration of RViz, over DDS."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip('rclpy')
yaml = pytest.importorskip('yaml')

from geometry_msgs.msg import WrenchStamped  # noqa: E402, I100
from rclpy.serialization import deserialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import ColorRGBA, String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

import mesh_files  # noqa: E402
import needs  # noqa: E402
from ros_harness import Client, LATCHED, NodeProcess  # noqa: E402
import spr_dynamics  # noqa: E402
from spr_dynamics.dynamics.kinematics import link_poses  # noqa: E402
from spr_dynamics.ros import contact_markers, markers, rviz  # noqa: E402
from spr_dynamics.ros.companions import yaml_lines  # noqa: E402
from spr_dynamics.ros.convert import WORLD_FRAME  # noqa: E402
from spr_dynamics.scene.shapes import shapes  # noqa: E402
from spr_dynamics.sdformat.poses import Pose  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

KINDS = """
<sdf version='1.12'>
  <model name='m'>
    <pose>0 0 2 0 0 0.5</pose>
    <link name='base'>
      <inertial><mass>1</mass></inertial>
      <visual name='box'><pose>1 2 3 0.1 0.2 0.3</pose>
        <geometry><box><size>1 2 3</size></box></geometry>
        <material><diffuse>0.25 0.5 0.75 0.5</diffuse></material></visual>
      <visual name='sphere'><geometry><sphere><radius>0.5</radius></sphere></geometry></visual>
      <visual name='cylinder'>
        <geometry><cylinder><radius>0.5</radius><length>3</length></cylinder></geometry></visual>
      <visual name='ellipsoid'>
        <geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></visual>
      <visual name='capsule'>
        <geometry><capsule><radius>0.5</radius><length>1</length></capsule></geometry></visual>
      <visual name='kept'>
        <geometry><mesh><uri>package://shapes/box.stl</uri><scale>1 2 3</scale></mesh></geometry>
      </visual>
      <visual name='read'><geometry><mesh><uri>box.stl</uri></mesh></geometry></visual>
      <visual name='lost'>
        <geometry><mesh><uri>package://nowhere/box.stl</uri></mesh></geometry></visual>
      <visual name='far'>
        <geometry><mesh><uri>https://example.org/box.stl</uri></mesh></geometry></visual>
      <visual name='part'>
        <geometry><mesh><uri>package://shapes/box.stl</uri><submesh><name>lid</name></submesh>
        </mesh></geometry></visual>
      <visual name='lying'><geometry><mesh><uri>lying.dae</uri></mesh></geometry></visual>
    </link>
  </model>
</sdf>
"""


def without_tf2_msgs(monkeypatch, folder):
    """Hide the package from the node, where it is installed."""
    (folder / 'tf2_msgs.py').write_text("raise ImportError('hidden')\n")
    monkeypatch.setenv('PYTHONPATH', str(folder), prepend=os.pathsep)


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """Return a robot of every kind of shape, in reach of a package with a mesh."""
    trimesh = needs.module('trimesh')
    needs.module('collada')
    share = tmp_path / 'prefix' / 'share' / 'shapes'
    index = tmp_path / 'prefix' / 'share' / 'ament_index' / 'resource_index' / 'packages'
    for folder in (share, index):
        folder.mkdir(parents=True)
    (index / 'shapes').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'), prepend=os.pathsep)
    box = trimesh.creation.box(extents=[0.1, 0.2, 0.3])
    box.export(share / 'box.stl')
    box.export(tmp_path / 'box.stl')
    lying = tmp_path / 'lying.dae'
    mesh_files.write_dae(lying, {'lid': mesh_files.box((0, 0, 0), (1, 1, 1))}, [(0, 0, 0)])
    lying.write_text(lying.read_text().replace('Z_UP', 'Y_UP'))
    path = tmp_path / 'kinds.sdf'
    path.write_text(KINDS)
    return path


def scale(marker):
    return [marker.scale.x, marker.scale.y, marker.scale.z]


def pose(marker):
    at, turn = marker.pose.position, marker.pose.orientation
    return Pose.from_quat_wxyz([at.x, at.y, at.z], [turn.w, turn.x, turn.y, turn.z])


def vector(point):
    return np.array([point.x, point.y, point.z])


def named(message, namespace):
    return [marker for marker in message.markers if marker.ns == namespace]


def assert_drawable(message):
    """Look for what RViz refuses: a name twice, no rotation, no size, numbers that are none."""
    names = [(marker.ns, marker.id) for marker in message.markers]
    assert len(set(names)) == len(names)
    for marker in message.markers:
        numbers = [*scale(marker), *pose(marker).p, *(
            x for point in marker.points for x in vector(point))]
        assert np.isfinite(numbers).all()
        turn = marker.pose.orientation
        assert np.linalg.norm([turn.w, turn.x, turn.y, turn.z]) == pytest.approx(1.0)
        if marker.action == Marker.ADD:
            assert marker.scale.x > 0.0
            assert marker.color.a > 0.0 or marker.mesh_use_embedded_materials


def test_shapes_of_every_kind_are_drawn_on_their_links(tmp_path, kinds, tf2_msgs):  # noqa: F811
    with NodeProcess(tmp_path, robot=kinds, world='empty', frame_prefix='r/') as node, \
            Client(node.namespace) as client:
        arrays = client.listen(MarkerArray, 'visual_markers', LATCHED)
        client.wait_until(lambda: arrays)
        # RViz has dropped it when it hears of the jump
        assert client.call(Trigger, 'simulation/reset').success
        count = len(arrays)
        client.wait_until(lambda: len(arrays) > count, patience=5.0)
        assert all(array == arrays[0] for array in arrays)
        assert "visual_markers: 'base::lost' is left out: it is not found" in node.log
        assert "visual_markers: 'base::far' is left out: it is in the network" in node.log
        assert "visual_markers: 'base::part' is left out: it is a <submesh>" in node.log
        assert "visual_markers: 'base::lying' is seen only on this machine, by programs that " \
            "read its file: it can't be read: its up_axis is Y_UP" in node.log
        texts = client.listen(String, 'robot_description', LATCHED)
        client.wait_until(lambda: texts)
    # RViz knows no relative paths, and other machines know no paths of this one
    assert re.findall('filename="([^"]*)"', texts[0].data) == [
        'package://shapes/box.stl', f'file://{tmp_path}/box.stl', 'package://nowhere/box.stl',
        'https://example.org/box.stl', f'file://{tmp_path}/lying.dae']
    assert_drawable(arrays[0])
    clear, box, sphere, cylinder, ellipsoid, capsule, kept, read, lying = \
        arrays[0].markers
    assert clear.action == Marker.DELETEALL
    for marker in arrays[0].markers[1:]:
        assert marker.header.frame_id == 'r/base'
        assert marker.frame_locked and marker.action == Marker.ADD
        assert marker.ns == 'base'
    assert (box.type, scale(box)) == (Marker.CUBE, [1, 2, 3])
    assert [box.color.r, box.color.g, box.color.b, box.color.a] == [0.25, 0.5, 0.75, 0.5]
    expected = Pose.from_rpy([1, 2, 3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(pose(box).p, expected.p, atol=1e-12)
    np.testing.assert_allclose(pose(box).R, expected.R, atol=1e-12)
    assert (sphere.type, scale(sphere)) == (Marker.SPHERE, [1, 1, 1])
    assert (cylinder.type, scale(cylinder)) == (Marker.CYLINDER, [1, 1, 3])
    assert (ellipsoid.type, scale(ellipsoid)) == (Marker.SPHERE, [2, 4, 6])
    assert (capsule.type, scale(capsule)) == (Marker.TRIANGLE_LIST, [1, 1, 1])
    assert max(point.z for point in capsule.points) == 1.0
    assert (kept.type, kept.mesh_resource, scale(kept)) == (
        Marker.MESH_RESOURCE, 'package://shapes/box.stl', [1, 2, 3])
    assert kept.mesh_use_embedded_materials
    assert kept.color == ColorRGBA(), 'any other would tint it'
    assert (read.type, len(read.points)) == (Marker.TRIANGLE_LIST, 36)
    assert max(point.z for point in read.points) == pytest.approx(0.15)
    assert (lying.type, lying.mesh_resource) == (
        Marker.MESH_RESOURCE, f'file://{tmp_path}/lying.dae')


def test_without_tf2_msgs_markers_are_in_the_world(tmp_path, kinds, monkeypatch):
    """One warning, and the robot is seen all the same, wherever it goes."""
    without_tf2_msgs(monkeypatch, tmp_path)
    model = spr_dynamics.load(kinds)
    with NodeProcess(tmp_path, robot=kinds, world='empty') as node, \
            Client(node.namespace) as client:
        arrays = client.listen(MarkerArray, 'visual_markers', LATCHED)
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: len(arrays) > 10)
        late = client.listen(MarkerArray, 'visual_markers', LATCHED)
        client.wait_until(lambda: len(late) > 10)
        assert not client.node.get_publishers_info_by_topic('/tf')
        assert node.log.count('/tf is not published: the package tf2_msgs is not installed') == 1
        assert states
    # who has come, in the place of another one perhaps, may still show another robot
    assert all(message.markers[0].action == Marker.DELETEALL for message in (*arrays, *late))
    first, last = arrays[0].markers[1], arrays[-1].markers[1]
    assert {marker.header.frame_id for marker in arrays[-1].markers} == {'world'}
    assert_drawable(arrays[-1])
    assert len({(marker.ns, marker.id) for array in arrays for marker in array.markers}) == 9
    T_WS = model.assembly.links[0].T_WL @ Pose.from_rpy([1, 2, 3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(pose(last).R, T_WS.R, atol=1e-12)
    np.testing.assert_allclose(pose(last).p[:2], T_WS.p[:2], atol=1e-12)
    assert pose(last).p[2] < pose(first).p[2]  # it falls


def test_markers_in_the_world_are_where_their_links_are():
    """Only the bytes of poses are written anew: of every shape, wherever its points end."""
    model = spr_dynamics.load(needs.REPOSITORY / 'models' / 'humanoid.sdf')
    drawn, _ = markers.shape_markers(model)
    writer, q = markers.WorldMarkers(drawn), model.neutral_q()
    for _ in range(2):
        q[7:] += np.linspace(0.1, 0.3, len(q) - 7)
        T_WL = link_poses(model, q)
        message = deserialize_message(writer.fill(T_WL), MarkerArray)
        assert message.markers[0].action == Marker.DELETEALL
        assert len(message.markers) == 1 + len(drawn) > 20
        for (shape, own), marker in zip(drawn, message.markers[1:]):
            T_WS = T_WL[shape.link] @ np.vstack([np.column_stack(shape.T_LS), [0, 0, 0, 1]])
            np.testing.assert_allclose(pose(marker).R, T_WS[:3, :3], atol=1e-12)
            np.testing.assert_allclose(pose(marker).p, T_WS[:3, 3], atol=1e-12)
            assert (marker.ns, marker.id, marker.points) == (own.ns, own.id, own.points)


def test_picture_comes_again_when_time_has_jumped_and_now_and_then(monkeypatch):
    """RViz drops what it shows when time jumps back or its fixed frame changes: no robot."""
    now, shown = [0.0], []
    monkeypatch.setattr(markers, 'monotonic', lambda: now[0])
    reminder = markers.Reminder(lambda: shown.append(now[0]))

    def wait(seconds):
        for _ in range(round(10 * seconds)):
            now[0] += 0.1
            reminder.greet(False)

    wait(12.0)
    np.testing.assert_allclose(shown, [5.0, 10.0], atol=0.25)
    reminder.publish_now(0)
    wait(6.0)
    np.testing.assert_allclose(shown[2:], [12.5, 17.5], atol=0.25)


def test_contacts_and_sensors_of_a_standing_robot(tmp_path):
    """Four arrows that carry the weight, and the foot's, which is all of it, the other way up."""
    with NodeProcess(tmp_path, robot='hopper') as node, Client(node.namespace) as client:
        wrenches = client.listen(WrenchStamped, 'contact_sensors/foot/wrench')
        arrays = client.listen(MarkerArray, 'contact_markers')
        client.wait_until(lambda: len(arrays) > 20)
        client.call(SetBool, 'simulation/pause', data=True)
        client.spin(0.2)
        count = len(arrays)
        late = client.listen(MarkerArray, 'contact_markers')
        client.wait_until(lambda: late)  # time stands still, and yet they see it
        assert len(arrays) <= count + 1
    message = late[-1]
    assert_drawable(message)
    assert message.markers[0].action == Marker.DELETEALL
    assert {marker.header.frame_id for marker in message.markers} == {'world'}
    (dots,) = named(message, 'contact_points')
    assert len(dots.points) == 4
    forces = named(message, 'contact_forces')
    starts = [vector(marker.points[0]) for marker in forces]
    np.testing.assert_allclose(starts, [vector(point) for point in dots.points])
    drawn = sum(vector(marker.points[1]) - vector(marker.points[0]) for marker in forces)
    (foot,) = named(message, 'contact_sensors/foot')  # its patch has no end: no outline
    of_sensor = vector(foot.points[1]) - vector(foot.points[0])
    np.testing.assert_allclose(of_sensor, drawn, atol=1e-6)
    force = vector(wrenches[-1].wrench.force)
    assert np.linalg.norm(drawn) / np.linalg.norm(force) == pytest.approx(0.0037, abs=0.0001)


def test_patch_of_a_sensor_is_outlined(tmp_path):
    """The fingertip's, with the space in which contacts count; blue, since nothing touches it."""
    model = spr_dynamics.load(needs.REPOSITORY / 'models' / 'arm7.sdf')
    (tip,) = [link for link in model.assembly.links if link.name == 'fingertip']
    with NodeProcess(tmp_path, robot='arm7', paused=True) as node, \
            Client(node.namespace) as client:
        arrays = client.listen(MarkerArray, 'contact_markers')
        client.wait_until(lambda: arrays)
    assert_drawable(arrays[0])
    outline, box = named(arrays[0], 'contact_sensors/fingertip')
    assert (outline.type, len(outline.points)) == (Marker.LINE_LIST, 8)
    assert (box.type, len(box.points)) == (Marker.LINE_LIST, 24)
    assert outline.color.b > outline.color.r
    T_SW = (tip.T_WL @ Pose(np.eye(3), np.array([0.0, 0.0, 0.015]))).inverse()
    corners = np.array([T_SW.R @ vector(point) + T_SW.p for point in outline.points])
    np.testing.assert_allclose(np.abs(corners), 8 * [[0.015, 0.015, 0.0]], atol=1e-12)
    corners = np.array([T_SW.R @ vector(point) + T_SW.p for point in box.points])
    np.testing.assert_allclose(np.abs(corners), 0.015, atol=1e-12)


def test_what_has_gone_is_cleared(tmp_path):
    """A ball that rolls off a table: each message is a whole picture, at last an empty one."""
    table = """
    <sdf version='1.12'><world name='w'>
      <model name='ball'><pose>0.08 0 0.6 0 0 0</pose><link name='l'>
        <inertial><mass>1</mass></inertial>
        <collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
      </link></model>
      <model name='table'><static>true</static><pose>0 0 0.25 0 0 0</pose><link name='l'>
        <collision name='c'><geometry><box><size>0.2 1 0.5</size></box></geometry></collision>
      </link></model></world></sdf>"""
    path = tmp_path / 'table.sdf'
    path.write_text(table.replace('0.08 0 0.6', '0.102 0 0.6'))
    with NodeProcess(tmp_path, robot=path, marker_rate=200) as node, \
            Client(node.namespace) as client:
        arrays = client.listen(MarkerArray, 'contact_markers')
        client.wait_until(lambda: len(arrays) > 1 and len(arrays[-1].markers) == 1)
    assert arrays[-1].markers[0].action == Marker.DELETEALL
    assert all(array.markers[0].action == Marker.DELETEALL for array in arrays)


@pytest.mark.parametrize('robot', ['hopper', 'arm7'])
def test_markers_that_are_used_again_are_as_new(robot):
    """On the ground, in the air and on the ground again: more points, fewer, and more."""
    sim = spr_dynamics.Simulation(spr_dynamics.load(
        needs.REPOSITORY / 'models' / f'{robot}.sdf', world='ground'))
    topics = {name: name for name in sim.sensors}
    kept = contact_markers.ContactMarkers(sim, topics)
    start, counts = sim.save(), []
    for lift in 0.0, 1.0, 0.0:
        sim.restore(start)
        sim.q[2] += lift
        sim.step(n=10)
        picture = kept.fill()
        assert picture == contact_markers.ContactMarkers(sim, topics).fill()
        counts.append(len(picture.markers))
    assert counts == {'hopper': [7, 1, 7], 'arm7': [3, 3, 3]}[robot]


# RViz

def configuration(tmp_path, *arguments, **parameters):
    """Let the executable write a configuration, and read it."""
    path = tmp_path / 'robot.rviz'
    command = [sys.executable, '-m', 'spr_dynamics.ros.rviz', '--output', str(path), '--ros-args',
               *arguments]
    for name, value in parameters.items():
        command += ['-p', f'{name}:={value}']
    subprocess.run(command, check=True, timeout=60)
    return yaml.safe_load(path.read_text())


def topics_of(config):
    """Return topic and durability of every display that listens."""
    found = {}
    for display in config['Visualization Manager']['Displays']:
        for key in ('Topic', 'Description Topic'):
            if key in display:
                found[display[key]['Value']] = display[key]
    return found


@pytest.mark.parametrize('robot', ['arm7', 'cart_pole'])
def test_every_topic_in_rviz_is_published(tmp_path, robot, tf2_msgs):  # noqa: F811
    """By the type that the display takes, and kept for late comers where RViz expects that."""
    extra = {'contact_sensors.extra.link': {'arm7': 'link7', 'cart_pole': 'cart'}[robot],
             'contact_sensors.extra.taxels': '[2, 3]',
             'contact_sensors.extra.patch_min': '[-0.1, -0.1]',
             'contact_sensors.extra.patch_max': '[0.1, 0.1]'}
    config = configuration(tmp_path, robot=robot, **extra)
    topics = topics_of(config)
    assert 'contact_sensors/extra/wrench' in topics
    assert len(topics) == 3 + 3 + 2 * (robot == 'arm7')
    with NodeProcess(tmp_path, robot=robot, **extra) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states and all(map(client.node.count_publishers, topics)))
        for topic, how in topics.items():
            (offered,) = client.node.get_publishers_info_by_topic(f'{node.namespace}/{topic}')
            is_kept = offered.qos_profile.durability == LATCHED.durability
            assert is_kept == (how['Durability Policy'] == 'Transient Local'), topic


def test_shipped_configuration_is_up_to_date(tmp_path):
    """To do so: python -m spr_dynamics.ros.rviz --output FILE --ros-args -p robot:=arm7."""
    shipped = (needs.REPOSITORY / 'config' / 'simulation.rviz').read_text()
    assert yaml.safe_load(shipped) == configuration(tmp_path, robot='arm7')


def test_grid_is_above_the_ground():
    """Both were at a height of zero, where what is in front changes from pixel to pixel."""
    (ground,) = [shape for shape in shapes(spr_dynamics.load(
        needs.REPOSITORY / 'models' / 'hopper.sdf', world='ground')) if shape.link == 0]
    config = yaml.safe_load((needs.REPOSITORY / 'config' / 'simulation.rviz').read_text())
    grid = config['Visualization Manager']['Displays'][0]
    assert ground.T_LS.p[2] == 0.0 < grid['Offset']['Z'] < 0.005


def test_prefix_of_frames_reaches_the_robot_model():
    """But not the fixed frame, in which contacts are and on which prefixed frames hang."""
    config = yaml.safe_load(rviz.configuration(
        wrenches=[], clouds=[], frame_prefix='left/', size=1.0, centre=[0.0, 0.0, 0.5],
        metres_per_newton=0.01))
    assert config['Visualization Manager']['Global Options']['Fixed Frame'] == WORLD_FRAME
    (robot,) = [display for display in config['Visualization Manager']['Displays']
                if display['Class'].endswith('RobotModel')]
    assert robot['TF Prefix'] == 'left'


def test_robot_model_is_left_out_where_rviz_would_name_no_frame():
    """RViz looks for left_/base, and the frame is left_base."""
    config = yaml.safe_load(rviz.configuration(
        wrenches=[], clouds=[], frame_prefix='left_', size=1.0, centre=[0.0, 0.0, 0.5],
        metres_per_newton=0.01))
    assert 'rviz_default_plugins/RobotModel' not in [
        display['Class'] for display in config['Visualization Manager']['Displays']]


def test_rviz_starts_with_the_robot_in_its_namespace(tmp_path):
    """A stand-in says how it was called."""
    program = tmp_path / 'rviz2'
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    logs = tmp_path / 'logs'
    ran = run_rviz(f'{tmp_path}:{os.environ["PATH"]}', '-r', '__ns:=/lab', '-p', 'robot:=arm7',
                   '-r', 'odom:=odometry', ROS_LOG_DIR=str(logs))
    words = ran.stdout.split()
    assert words[:2] == ['-d', str(logs / 'spr_dynamics_lab.rviz')]
    assert words[2:] == ['--ros-args', '-r', '__ns:=/lab', '-p', 'use_sim_time:=true',
                         '-r', 'odom:=odometry']
    with open(words[1], encoding='utf-8') as file:
        assert 'contact_sensors/fingertip/wrench' in topics_of(yaml.safe_load(file))


@pytest.mark.parametrize('arguments, message', [
    (['-p', 'robot:=arm7'], 'rviz: rviz2 is not here; it comes with a ROS installation'),
    (['-p', 'robot:=arm8'], "rviz: arm8: no such file (did you mean 'arm7'?)"),
    (['--params-file', '/nowhere/a.yaml'],
     "rviz: failed to initialize rcl: Couldn't parse params file: '--params-file /nowhere/a"),
    (['-p', 'robot:=arm7', '--', '--output', '/nowhere/b.rviz'],
     'rviz: /nowhere/b.rviz: No such file or directory'),
])
def test_rviz_says_why_it_does_not_start(arguments, message):
    ran = run_rviz('/nowhere', *arguments)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert 'Traceback' not in ran.stderr


def run_rviz(path, *arguments, **environment):
    return subprocess.run(
        [sys.executable, '-m', 'spr_dynamics.ros.rviz', '--ros-args', *arguments],
        env={**os.environ, 'PATH': path, **environment}, capture_output=True, text=True,
        timeout=60)


def test_yaml_reads_back():
    values = {'a': {'b': 1, 'c': [{'d': '<x: "y">', 'e': {'f': True}}, {'g': 0.5}]}, 'h': '',
              'i': 'two\nlines, one \U0001f916'}
    assert yaml.safe_load('\n'.join(yaml_lines(values))) == values
