"""
Programs of others that run beside the node ``simulation``: RViz, robot_state_publisher.

An executable of ours takes the node's parameters, writes a file for the program, and becomes it.
"""
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
import json
import os
from pathlib import Path
import re
import sys
from typing import Any

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.executable import start_ros

PARAMETERS = '-p', '--param', '--params-file'
REMAPS = '-r', '--remap'
NAMING = re.compile(r'(\w+:)?__(ns|node|name):=')  # rules that say what the node is called


@contextmanager
def namesake(args: list[str] | None, parser: ArgumentParser) -> Iterator[tuple[Any, Namespace]]:
    """
    Bring ROS up with a node that gets the parameters of ``simulation``, and down again.

    It has the same name, so that a parameter file for that node holds here, too.

    :param args: The command line; None is that of the process.
    :param parser: Of what is not for ROS.
    :returns: The node, and what the parser found.
    :raises SprDynamicsError: If the command line or a parameter file can't be used.
    """
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import remove_ros_args
    try:
        start_ros(args, SignalHandlerOptions.ALL)
        own = parser.parse_args(remove_ros_args(sys.argv if args is None else args)[1:])
        yield Node('simulation', start_parameter_services=False, enable_rosout=False), own
    finally:
        rclpy.try_shutdown()


def write(file: Path, text: str) -> None:
    """
    Write a file.

    :param file: The file.
    :param text: What to write.
    :raises SprDynamicsError: If it can't be written.
    """
    try:
        file.write_text(text, encoding='utf-8')
    except OSError as error:
        raise SprDynamicsError(f'{file}: {error.strerror}') from None


def write_log(namespace: str, ending: str, text: str) -> Path:
    """
    Write a file into the folder of ROS's logs, and return it.

    There is one for each namespace, written anew each time, as nobody is left to delete it.

    :param namespace: That of the robot.
    :param ending: How its name ends, with what it is for.
    :param text: What to write.
    :raises SprDynamicsError: If it can't be written.
    """
    from rclpy.logging import get_logging_directory
    file = Path(get_logging_directory()) / f'spr_dynamics{namespace.replace("/", "_")}{ending}'
    write(file, text)
    return file


def become(program: str, *arguments: str, namespace: str, args: list[str] | None) -> None:
    """
    Start a program in place of this process, on simulated time.

    :param program: The program.
    :param arguments: What it is called with.
    :param namespace: That of the robot, and of the program's node.
    :param args: The command line of this process, as `namesake` has taken it.
    :raises SprDynamicsError: If it can't be started.
    """
    try:
        os.execvp(program, [
            program, *arguments, '--ros-args', '-r', f'__ns:={namespace}', '-p',
            'use_sim_time:=true', *passed_on(sys.argv if args is None else args)])
    except OSError as error:
        raise SprDynamicsError(f'{program}: {error.strerror}') from None


def passed_on(args: list[str]) -> list[str]:
    """
    Return those ROS arguments of a command line that hold for another program, too.

    These are all but parameters, which are those of ``simulation``, and what names its node.

    :param args: The command line; ROS has found no fault with it.
    """
    kept, words, is_for_ros = [], iter(args), False
    for word in words:
        if word in ('--ros-args', '--'):
            is_for_ros = word == '--ros-args'
        elif is_for_ros and word in PARAMETERS:
            next(words)
        elif is_for_ros and word in REMAPS:
            rule = next(words)
            kept += [] if NAMING.match(rule) else [word, rule]
        elif is_for_ros:
            kept.append(word)
    return kept


def yaml_lines(values: dict[str, Any], indent: str = '') -> Iterator[str]:
    """
    Yield dictionaries, lists of dictionaries and plain values as lines of YAML.

    :param values: The values by key.
    :param indent: What each line begins with.
    """
    for key, value in values.items():
        if isinstance(value, dict):
            yield f'{indent}{key}:'
            yield from yaml_lines(value, indent + '  ')
        elif isinstance(value, list):
            yield f'{indent}{key}:'
            for entry in value:
                first, *rest = yaml_lines(entry, indent + '    ')
                yield f'{indent}  - {first.lstrip()}'
                yield from rest
        else:
            # JSON is YAML, but not where it splits a character in two
            yield f'{indent}{key}: {json.dumps(value, ensure_ascii=False)}'
