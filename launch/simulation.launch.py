"""Start one robot: ``ros2 launch spr_dynamics simulation.launch.py robot:=arm7``."""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, ThisLaunchFileDir
from launch_ros.actions import Node


def generate_launch_description():
    """Declare the arguments and start the node."""
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
            default_value=PathJoinSubstitution(
                [ThisLaunchFileDir(), '..', 'config', 'simulation.yaml']),
            description='YAML file with the parameters of the node'),
        DeclareLaunchArgument(
            'namespace', default_value='',
            description='Namespace of the node and of its topics'),
        DeclareLaunchArgument(
            'paused', default_value='', choices=['', 'true', 'false'],
            description='Whether to start paused; when empty, what params_file says'),
        OpaqueFunction(function=start_simulation),
    ])


def start_simulation(context):
    """Return the node, with those parameters that were given as arguments."""
    given = {name: LaunchConfiguration(name).perform(context)
             for name in ('robot', 'world', 'paused')}
    parameters = {name: text for name, text in given.items() if text}
    if 'paused' in parameters:
        parameters['paused'] = parameters['paused'] == 'true'
    return [Node(
        package='spr_dynamics',
        executable='simulation',
        name='simulation',
        namespace=LaunchConfiguration('namespace'),
        parameters=[LaunchConfiguration('params_file'), parameters],
        output='screen',
    )]
