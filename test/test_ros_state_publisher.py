"""robot_state_publisher beside the simulation: what it is given, and that both fit together."""
import os
import signal
import subprocess
import sys

from lxml import etree
import numpy as np
import pytest

yaml = pytest.importorskip('yaml')
pytest.importorskip('rclpy')

from rclpy.qos import QoSProfile  # noqa: E402, I100
from sensor_msgs.msg import JointState, MultiDOFJointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

import needs  # noqa: E402
from ros_harness import Client, LATCHED, NodeProcess, time_ns  # noqa: E402
import spr_dynamics  # noqa: E402
from spr_dynamics.ros.description import describe  # noqa: E402
from spr_dynamics.sdformat.urdf_write import AXIS_TYPES  # noqa: E402
from state_publisher import install, NAME  # noqa: E402
from test_ros_tf import by_stamp, FRAMES, MIXED, positions, Tree  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

MODULE = f'spr_dynamics.ros.{NAME}'
SHIPPED = sorted((needs.REPOSITORY / 'models').glob('*.sdf'))
TWO_OF_A_KIND = "<sdf version='1.12'><world name='w'>{}{}</world></sdf>".format(*(f"""
    <model name='{name}'>
      <link name='base'><inertial><mass>1</mass></inertial></link>
      <link name='tip'><inertial><mass>1</mass></inertial></link>
      <joint name='hinge' type='revolute'><pose>0 0 0.1 0 0 0</pose>
        <parent>base</parent><child>tip</child><axis><xyz>0 0 1</xyz></axis></joint>
    </model>""" for name in ('left', 'right')))


def run(prefix, *arguments, **environment):
    return subprocess.run(
        [sys.executable, '-m', MODULE, '--ros-args', *arguments], capture_output=True, text=True,
        env={**os.environ, 'AMENT_PREFIX_PATH': str(prefix), **environment}, timeout=60)


def test_both_together_have_every_frame_once_where_forward_kinematics_has_it(
        tmp_path, tf2_msgs):  # noqa: F811
    robot = tmp_path / 'mixed.sdf'
    robot.write_text(MIXED)
    model = spr_dynamics.load(robot)
    install(tmp_path / 'prefix')
    described = {'robot': robot, 'frame_prefix': 'r1/', 'tf_rate': '0.0'}
    with Client(NodeProcess.next_namespace()) as client:
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', QoSProfile(
            depth=2, durability=LATCHED.durability))
        joints = client.listen(JointState, 'joint_states')
        multi = client.listen(MultiDOFJointState, 'multi_dof_joint_states')
        texts = client.listen(String, 'robot_description', LATCHED)
        namespace = client.node.get_namespace()
        command = [sys.executable, '-m', MODULE, '--ros-args', '-r', f'__ns:={namespace}']
        for name, value in described.items():
            command += ['-p', f'{name}:={value}']
        publisher = subprocess.Popen(command, env={
            **os.environ, 'AMENT_PREFIX_PATH': str(tmp_path / 'prefix')})
        try:
            with NodeProcess(tmp_path, namespace=namespace, publish_tf='root', **described):
                client.wait_until(lambda: len(static) == 2 and texts and len(complete(tf)) > 10)
            publisher.send_signal(signal.SIGINT)
            assert publisher.wait(10.0) == 0
        finally:
            publisher.kill()
    states, roots, compared = by_stamp(joints), by_stamp(multi), 0
    for stamp, messages in complete(tf).items():
        if not (stamp in states and stamp in roots):
            continue
        compared += 1
        tree = Tree(*messages, *static)  # which refuses a frame that two of them hold
        assert set(tree.holds) == {'r1/world', *(f'r1/{name}' for name in FRAMES)}
        q = positions(model, states[stamp], roots[stamp])
        for name, T_WL in zip(model.link_names, spr_dynamics.link_poses(model, q)):
            T = tree.pose(f'r1/{name.replace("::", "/")}')
            np.testing.assert_allclose(T.R, T_WL[:3, :3], atol=1e-9)
            np.testing.assert_allclose(T.p, T_WL[:3, 3], atol=1e-9)
    assert compared > 5


def complete(tf):
    """Return the messages of those times at which both have spoken."""
    at = {}
    for message in tf:
        if message.transforms:
            at.setdefault(time_ns(message.transforms[0].header.stamp), []).append(message)
    return {stamp: messages for stamp, messages in at.items() if len(messages) == 2}


@pytest.mark.parametrize('given, prefix, frequency', [
    ({}, '', 50.0), ({'tf_rate': '0.0', 'frame_prefix': 'left/'}, 'left/', 1000.0),
])
def test_it_gets_the_robot_and_what_the_node_has(tmp_path, given, prefix, frequency):
    install(tmp_path / 'prefix', '#!/bin/sh\necho "$@"\n')
    arguments = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    ran = run(tmp_path / 'prefix', '-r', '__ns:=/lab', '-p', 'robot:=hopper', *arguments,
              ROS_LOG_DIR=str(tmp_path / 'logs'))
    file = tmp_path / 'logs' / 'spr_dynamics_lab_robot_state_publisher.yaml'
    assert ran.stdout.split() == [
        '--ros-args', '--params-file', str(file), '--ros-args', '-r', '__ns:=/lab', '-p',
        'use_sim_time:=true'], ran.stderr
    parameters = yaml.safe_load(file.read_text(encoding='utf-8'))['/**']['ros__parameters']
    hopper = spr_dynamics.load(needs.REPOSITORY / 'models' / 'hopper.sdf', world='auto')
    assert parameters == {'robot_description': describe(hopper).text, 'frame_prefix': prefix,
                          'publish_frequency': frequency}


@pytest.mark.parametrize('given, passed', [
    (['-r', 'a:=b', '--log-level', 'debug'], ['-r', 'a:=b', '--log-level', 'debug']),
    (['--remap', '__node:=simulation', '--remap', 'simulation:a:=b', '--disable-rosout-logs'],
     ['--remap', 'simulation:a:=b', '--disable-rosout-logs']),
    (['-r', 'simulation:__ns:=/other', '--param', 'tf_rate:=10.0', '--', '--ros-args', '-r',
      '/c:=d'], ['-r', '/c:=d']),
])
def test_it_gets_what_else_is_said_to_ros(tmp_path, given, passed):
    """Remaps and log levels were lost in silence."""
    install(tmp_path / 'prefix', '#!/bin/sh\necho "$@"\n')
    ran = run(tmp_path / 'prefix', '-p', 'robot:=arm7', *given,
              ROS_LOG_DIR=str(tmp_path / 'logs'))
    assert ran.stdout.partition(' use_sim_time:=true')[2].split() == passed, ran.stderr


@pytest.mark.parametrize('prefix, arguments, message', [
    ('/nowhere', ['-p', 'robot:=arm7'], f'the package {NAME} is not here; it comes with a ROS'),
    ('', ['-p', 'robot:=arm7'], f'the package {NAME} is not here; it comes with a ROS'),
    ('/nowhere', ['-p', 'robot:=arm7', '-p', 'frame_prefix:=/a'], "frame_prefix = '/a': tf2 kno"),
])
def test_it_says_why_it_does_not_start(prefix, arguments, message):
    ran = run(prefix, *arguments)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f'{NAME}: {message}')
    assert len(ran.stderr.splitlines()) == 1


def test_it_says_that_the_program_is_not_where_the_package_is(tmp_path):
    install(tmp_path)
    program = tmp_path / 'lib' / NAME / NAME
    program.unlink()
    ran = run(tmp_path, '-p', 'robot:=arm7', ROS_LOG_DIR=str(tmp_path / 'logs'))
    assert (ran.returncode, ran.stderr) == (1, f'{NAME}: {program}: No such file or directory\n')


@pytest.mark.parametrize('robot', [*SHIPPED, TWO_OF_A_KIND],
                         ids=lambda robot: getattr(robot, 'stem', 'two of a kind'))
def test_joints_are_called_as_in_joint_states(robot):
    """Else robot_state_publisher lets them stand."""
    is_file = robot is not TWO_OF_A_KIND
    model = spr_dynamics.load(robot if is_file else None, text=None if is_file else robot)
    urdf = etree.fromstring(describe(model).text)
    called = {joint.get('name') for joint in urdf.iter('joint') if joint.get('type') in AXIS_TYPES}
    assert called <= {axis.name for axis in model.axes}
    assert len(called) == sum(joint.type in AXIS_TYPES for joint in model.joints)
