"""An ament prefix that holds a program as robot_state_publisher, which PyPI does not have."""
import sys

import needs

NAME = 'robot_state_publisher'
SOURCE = needs.REPOSITORY / 'test' / 'state_publisher_stand_in.py'


def install(prefix, program=None):
    """
    Make the prefix.

    :param prefix: Its folder.
    :param program: The text of the program; None: what does as robot_state_publisher does.
    """
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / NAME).touch()
    path = prefix / 'lib' / NAME / NAME
    path.parent.mkdir(parents=True)
    path.write_text(program or f'#!{sys.executable}\n{SOURCE.read_text(encoding="utf-8")}',
                    encoding='utf-8')
    path.chmod(0o755)
