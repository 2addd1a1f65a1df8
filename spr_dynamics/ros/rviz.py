"""
RViz for one robot: ``ros2 run spr_dynamics rviz --ros-args -p robot:=hopper``.

It takes the parameters of the node ``simulation``, writes a configuration with what that node
publishes, and becomes RViz. Topics are relative, so RViz looks at the robot of its namespace.
"""
import argparse
from collections.abc import Sequence
from pathlib import Path
import shutil
import sys
from typing import Any

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.companions import become, namesake, write, write_log, yaml_lines

RVIZ = 'rviz2'
DISTANCE = 3.0  # of the camera from the robot, in sizes of the robot
SHAFT = 0.02  # width of a wrench's arrow, in sizes of the robot
DOT = 0.02  # size of a point of a cloud, in sizes of the robot
GRID_HEIGHT = 0.002  # [m] in the ground itself, which is drawn, too, it would flicker
PRESSURE = 'fz'  # the field of a cloud that gives a point its colour


def configuration(*, wrenches: Sequence[str], clouds: Sequence[str], frame_prefix: str,
                  size: float, centre: Sequence[float], metres_per_newton: float) -> str:
    """
    Write a configuration of RViz, as YAML.

    :param wrenches: The topics of sensors that measure forces.
    :param clouds: The topics of contact sensors that say what presses where.
    :param frame_prefix: What stands before the name of each frame but ``world``.
    :param size: Of the robot [m].
    :param centre: What to look at [m], shape (3,).
    :param metres_per_newton: How long to draw a force.
    """
    x, y, z = map(float, centre)
    camera = {
        'Class': 'rviz_default_plugins/Orbit', 'Name': 'Current View', 'Value': 'Orbit (rviz)',
        'Distance': DISTANCE * size, 'Focal Point': {'X': x, 'Y': y, 'Z': z},
        'Pitch': 0.35, 'Yaw': 0.8, 'Target Frame': '<Fixed Frame>'}
    # RViz puts a / between a prefix and the name of a link, so of other prefixes it finds no frame
    robot_model = display('RobotModel', 'Robot as URDF', {
        'Description Source': 'Topic', 'TF Prefix': frame_prefix.removesuffix('/'),
        'Description Topic': topic('robot_description', is_latched=True)}, enabled=False)
    displays = [
        display('Grid', 'Grid', {
            'Reference Frame': '<Fixed Frame>', 'Plane Cell Count': 20, 'Cell Size': 0.5,
            'Offset': {'X': 0.0, 'Y': 0.0, 'Z': GRID_HEIGHT}}),
        display('TF', 'TF', {'Marker Scale': size / 4.0, 'Frame Timeout': 15}, enabled=False),
        *([robot_model] if frame_prefix.endswith('/') or not frame_prefix else []),
        display('MarkerArray', 'Robot', {'Topic': topic('visual_markers', is_latched=True)}),
        display('MarkerArray', 'Contacts', {'Topic': topic('contact_markers')}),
        *(display('Wrench', name, {
            'Topic': topic(name), 'Accept NaN Values': False,
            'History Length': 1, 'Force Arrow Scale': metres_per_newton,
            'Torque Arrow Scale': metres_per_newton / size, 'Arrow Width': SHAFT * size})
          for name in wrenches),
        *(display('PointCloud2', name, {
            'Topic': topic(name), 'Style': 'Spheres', 'Size (m)': DOT * size, 'Decay Time': 0,
            'Color Transformer': 'Intensity', 'Channel Name': PRESSURE,
            'Autocompute Intensity Bounds': True}) for name in clouds),
    ]
    return '\n'.join(yaml_lines({
        'Panels': [{'Class': f'rviz_common/{name}', 'Name': name}
                   for name in ('Displays', 'Views', 'Time')],
        'Visualization Manager': {
            'Class': '', 'Name': 'root', 'Enabled': True, 'Displays': displays,
            'Global Options': {'Background Color': '245; 246; 248', 'Fixed Frame': 'world',
                               'Frame Rate': 30},
            'Tools': [{'Class': f'rviz_default_plugins/{name}'}
                      for name in ('MoveCamera', 'Select', 'FocusCamera', 'Measure')],
            'Transformation': {'Current': {'Class': 'rviz_default_plugins/TF'}},
            'Views': {'Current': camera}},
        'Window Geometry': {'Height': 846, 'Width': 1200},
    })) + '\n'


def display(kind: str, name: str, settings: dict[str, Any], *, enabled: bool = True
            ) -> dict[str, Any]:
    """
    Return one display.

    :param kind: Its class in ``rviz_default_plugins``.
    :param name: What RViz calls it.
    :param settings: What only its class has.
    :param enabled: Whether it is switched on.
    """
    return {'Class': f'rviz_default_plugins/{kind}', 'Name': name, 'Enabled': enabled,
            'Value': enabled, **settings}


def topic(name: str, *, is_latched: bool = False) -> dict[str, Any]:
    """
    Return how a display listens.

    :param name: The topic.
    :param is_latched: Whether it is said once for all who come later.
    """
    return {'Value': name, 'Depth': 5, 'History Policy': 'Keep Last',
            'Reliability Policy': 'Reliable',
            'Durability Policy': 'Transient Local' if is_latched else 'Volatile'}


def main(args: list[str] | None = None) -> None:
    """
    Write the configuration for a robot, and show it.

    :param args: The command line; None is that of the process.
    :raises SystemExit: With code 1 if there is no RViz, or the robot can't be used.
    """
    parser = argparse.ArgumentParser(prog='rviz', description=__doc__)
    parser.add_argument('--output', help='write the configuration there, and do not start RViz')
    try:
        with namesake(args, parser) as (node, own):
            text, namespace = for_node(node), node.get_namespace()
        if own.output:
            write(Path(own.output), text)
        else:
            become_rviz(text, namespace, args)
    except SprDynamicsError as error:
        sys.exit(f'rviz: {error}')


def for_node(node: Any) -> str:
    """
    Return the configuration for what the parameters of a node describe.

    :param node: The node, of which none is declared yet.
    :raises SprDynamicsError: If the robot or a parameter can't be used.
    """
    from spr_dynamics.ros.contact_sensors import ContactSensorParameters
    from spr_dynamics.ros.loading import check_frame_prefix, load_model
    from spr_dynamics.ros.motion_topics import declared, topic_of
    from spr_dynamics.ros.parameters import Parameters, TABLE
    from spr_dynamics.ros.sensor_topics import places_of
    from spr_dynamics.scene.arrows import centre, metres_per_newton, size
    from spr_dynamics.sdformat.elements import ForceTorqueSensor
    # no simulation is made of them, as that may have to be compiled first
    parameters = Parameters(node, node._parameter_overrides)
    model = load_model(parameters)
    frame_prefix = parameters.declare(TABLE['frame_prefix'])
    check_frame_prefix(frame_prefix)
    sensors = ContactSensorParameters(parameters, model)
    places = {place: sensors.settings[name]
              for name, place in places_of(node, model, sensors.topics).items()}
    return configuration(
        wrenches=[*(f'{place}/wrench' for place in places),
                  *(topic_of(node, f'force_torque/{own}', element, element.topic)
                    for own, element in declared(model, ForceTorqueSensor).values())],
        clouds=[*(f'{place}/points' for place in places),
                *(f'{place}/taxels' for place, settings in places.items()
                  if any(settings.taxels))],
        frame_prefix=frame_prefix, size=size(model), centre=centre(model).tolist(),
        metres_per_newton=metres_per_newton(model))


def become_rviz(text: str, namespace: str, args: list[str] | None) -> None:
    """
    Start RViz in place of this process.

    :param text: The configuration.
    :param namespace: That of the robot.
    :param args: The command line of this process.
    :raises SprDynamicsError: If there is no RViz, or the configuration can't be written.
    """
    if shutil.which(RVIZ) is None:
        raise SprDynamicsError(
            f'{RVIZ} is not here; it comes with a ROS installation '
            '(apt install ros-$ROS_DISTRO-rviz2). --output FILE writes the configuration for one '
            'on another machine.')
    become(RVIZ, '-d', str(write_log(namespace, '.rviz', text)), namespace=namespace, args=args)


if __name__ == '__main__':
    main()
