"""
Start one robot: ``ros2 launch spr_dynamics simulation.launch.py robot:=arm7 rviz:=true``.

The node publishes all frames and ``robot_description`` itself. With ``robot_state_publisher`` it
leaves to that what is in ``robot_description``. What is started beside the simulation runs on
simulated time (``use_sim_time``), as controllers should; the simulation makes it.
"""
import json
from pathlib import Path
from tempfile import NamedTemporaryFile

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackagePrefix


def generate_launch_description():
    """Declare the arguments and start the nodes."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot', default_value='',
            description='SDF file of the robot: a path, package://PACKAGE/PATH, or the name of '
                        'a shipped model such as arm7; when empty, what params_file says'),
        DeclareLaunchArgument(
            'world', default_value='',
            description='A world file, ground or empty; when empty, what params_file says'),
        DeclareLaunchArgument(
            'params_file',
            default_value=str(Path(__file__).absolute().parents[1] / 'config' / 'simulation.yaml'),
            description='YAML file with the parameters of the node'),
        DeclareLaunchArgument(
            'namespace', default_value='',
            description='Namespace of the node and of its topics; for several robots, give each '
                        'a frame_prefix, and publish_clock to one of them, in their params_file'),
        DeclareLaunchArgument(
            'paused', default_value='', choices=['', 'true', 'false'],
            description='Whether to start paused; when empty, what params_file says'),
        DeclareLaunchArgument(
            'rviz', default_value='false', choices=['true', 'false'],
            description='Whether to open RViz, with displays for this robot and its sensors'),
        DeclareLaunchArgument(
            'robot_state_publisher', default_value='false', choices=['true', 'false'],
            description='Whether robot_state_publisher publishes the frames of the robot, from '
                        'joint_states; the simulation then has publish_tf at root, and publishes '
                        'the rest: free roots, joints that URDF does not have, sensors'),
        OpaqueFunction(function=start_nodes),
    ])


def start_nodes(context):
    """Return the nodes, with those parameters that were given as arguments."""
    given = {name: LaunchConfiguration(name).perform(context)
             for name in ('robot', 'world', 'paused')}
    parameters = {name: text for name, text in given.items() if text}
    if 'paused' in parameters:
        parameters['paused'] = parameters['paused'] == 'true'
    # these read the parameters of the node, and then become the programs of those names
    others = [name for name in ('rviz', 'robot_state_publisher')
              if LaunchConfiguration(name).perform(context) == 'true']
    if 'robot_state_publisher' in others:
        # where it is missing, nothing starts
        FindPackagePrefix('robot_state_publisher').perform(context)
        parameters['publish_tf'] = 'root'
    files = [LaunchConfiguration('params_file')]
    if parameters:
        files.append(parameter_file(parameters))
    return [Node(
        package='spr_dynamics',
        executable=executable,
        namespace=LaunchConfiguration('namespace'),
        parameters=files,
        output='screen',
    ) for executable in ['simulation', *others]]


def parameter_file(parameters):
    """
    Write parameters into a file, and return its path.

    They are for nodes of that name. Those that launch itself writes are for all nodes, and give
    way to what a params_file says for one.
    """
    with NamedTemporaryFile('w', prefix='launch_params_', suffix='.yaml', delete=False,
                            encoding='utf-8') as file:
        json.dump({'/**/simulation': {'ros__parameters': parameters}}, file, ensure_ascii=False)
    return file.name
