"""
robot_state_publisher for one robot, beside a simulation with ``publish_tf`` at ``root``.

``ros2 run spr_dynamics robot_state_publisher --ros-args -p robot:=arm7``: it takes the parameters
of the node ``simulation``, writes the robot as URDF, and becomes robot_state_publisher.
"""
import argparse
from collections.abc import Mapping
from pathlib import Path
import sys
from typing import Any

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.companions import become, namesake, write_log, yaml_lines

PROGRAM = 'robot_state_publisher'  # of the package of the same name
LARGEST_FREQUENCY = 1000.0  # [Hz] that it takes


def main(args: list[str] | None = None) -> None:
    """
    Write the parameters for a robot, and start robot_state_publisher with them.

    :param args: The command line; None is that of the process.
    :raises SystemExit: With code 1 if it isn't installed, or the robot can't be used.
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    try:
        with namesake(args, parser) as (node, _):
            values, namespace = for_node(node), node.get_namespace()
        program = executable()
        file = write_log(namespace, f'_{PROGRAM}.yaml', parameter_file(values))
        become(str(program), '--ros-args', '--params-file', str(file), namespace=namespace,
               args=args)
    except SprDynamicsError as error:
        sys.exit(f'{PROGRAM}: {error}')


def for_node(node: Any) -> dict[str, Any]:
    """
    Return the parameters of robot_state_publisher for what those of a node describe.

    :param node: The node, of which none is declared yet.
    :raises SprDynamicsError: If the robot or a parameter can't be used.
    """
    from spr_dynamics.ros.description import describe
    from spr_dynamics.ros.loading import check_frame_prefix, load_model
    from spr_dynamics.ros.parameters import Parameters, TABLE
    parameters = Parameters(node, node._parameter_overrides)
    model = load_model(parameters)
    prefix, rate = (parameters.declare(TABLE[name]) for name in ('frame_prefix', 'tf_rate'))
    check_frame_prefix(prefix)
    return {
        'robot_description': describe(model).text,
        'frame_prefix': prefix,
        # 0, with us every step, is with it a division by zero
        'publish_frequency': min(rate or LARGEST_FREQUENCY, LARGEST_FREQUENCY),
    }


def parameter_file(values: Mapping[str, Any]) -> str:
    """
    Write parameters as a file for ``--params-file``.

    :param values: The parameters.
    """
    return '\n'.join(yaml_lines({'/**': {'ros__parameters': dict(values)}})) + '\n'


def executable() -> Path:
    """
    Find the program.

    :raises SprDynamicsError: If it isn't installed.
    """
    from ament_index_python.packages import get_package_prefix
    try:
        return Path(get_package_prefix(PROGRAM)) / 'lib' / PROGRAM / PROGRAM
    except (LookupError, OSError):  # no such package, or no ament index
        raise SprDynamicsError(
            f'the package {PROGRAM} is not here; it comes with a ROS installation '
            '(apt install ros-$ROS_DISTRO-robot-state-publisher)') from None


if __name__ == '__main__':
    main()
