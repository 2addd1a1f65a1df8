"""What the launch file does with arguments that can't be used: it starts nothing and says why."""
import os
import re
import subprocess
import sys

import pytest

pytest.importorskip('launch_ros')  # first: a bare 'launch' may be a folder of that name

import needs  # noqa: E402

LAUNCH_FILE = needs.REPOSITORY / 'launch' / 'simulation.launch.py'
PROGRAM = f"""
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource({str(LAUNCH_FILE)!r}),
    launch_arguments=[word.split(':=') for word in sys.argv[1:]])]))
sys.exit(service.run())
"""


@pytest.mark.parametrize('arguments, message', [
    (['robot:=arm7', 'robot_state_publisher:=true'],
     r"package 'robot_state_publisher' not found, searching: \['.*/nothing'\]"),
    (['robot:=arm7', 'rviz:=yes'], '"rviz" provided value "yes" is not valid'),
    (['robot:=arm7', 'paused:=1'], '"paused" provided value "1" is not valid'),
])
def test_what_cannot_be_is_said_before_anything_starts(tmp_path, arguments, message):
    (tmp_path / 'nothing').mkdir()
    ended = subprocess.run(
        [sys.executable, '-c', PROGRAM, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, 'AMENT_PREFIX_PATH': str(tmp_path / 'nothing')})
    assert ended.returncode == 1
    assert re.search(message, ended.stdout + ended.stderr, re.DOTALL)
    assert 'process started' not in ended.stdout + ended.stderr
