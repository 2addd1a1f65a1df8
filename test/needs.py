"""
What the tests need from outside, in one place.

Where something is missing a test skips and says why. With CI set in the environment it fails
instead, unless what it misses is one of the ALLOWED_SKIPS.
"""
import importlib
import os
from pathlib import Path
import re
import shutil

import pytest

# Modules that PyPI does not have, since they come with a ROS installation, and one that it has,
# of 167 MB; and a compiler.
ALLOWED_SKIPS = (
    'ament_flake8',
    'ament_pep257',
    'ament_xmllint',
    'gcc',
    'launch',
    'launch_ros',
    'launch_testing',
    'launch_testing_ros',
    'pydrake',
    'ros2cli',
)

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / 'shared'


def module(name):
    """Import a module that is not part of every installation."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        reason = str(error)
    _skip(f"needs '{name}': {reason}")


def program(name):
    """Return the path of a program that is not part of every machine."""
    path = shutil.which(name)
    if path is None:
        _skip(f"needs '{name}': no such program")
    return path


def corpus():
    """Return the folder of SDF files that others wrote."""
    return _folder('corpus')


def sensor_cases():
    """Return the folder of recorded contact-sensor readings."""
    return _folder('contact_sensor_cases')


def refusal(reason):
    """
    Say why a test may not be skipped for this reason, or return None.

    Reasons are those of this module or of ``pytest.importorskip``: both quote the module.
    """
    if not os.environ.get('CI'):
        return None
    if any(name.partition('.')[0] in ALLOWED_SKIPS for name in re.findall(r"'([\w.]+)'", reason)):
        return None
    return f'skipped, which CI does not allow (test/needs.py): {reason}'


def _folder(name):
    path = SHARED / name
    if not path.is_dir():
        _skip(f'needs the folder {path}')
    return path


def _skip(reason):
    refused = refusal(reason)
    if refused:
        pytest.fail(refused, pytrace=False)
    pytest.skip(reason, allow_module_level=True)
