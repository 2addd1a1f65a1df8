"""What setup.py and package.xml promise is there."""
import importlib
import os
import runpy
import subprocess
import sys

from lxml import etree
import pytest

import needs
import spr_dynamics
from test_layers import imported_modules, SOURCES

PACKAGE_XML = etree.parse(str(needs.REPOSITORY / 'package.xml')).getroot()

# Keys of package.xml whose Python module has another name.
MODULE_OF = {'python3-lxml': 'lxml', 'python3-numba': 'numba', 'python3-numpy': 'numpy'}

# What no file of ours imports, and why it is needed all the same.
USED_OTHERWISE = {
    'robot_state_publisher': 'the launch file starts it when asked',
    'ros2launch': 'runs launch files from the command line',
    'rviz2': 'the launch file opens it when asked',
}
FOLDERS_THAT_SHIP = ('config', 'launch', 'models')


@pytest.fixture(scope='module')
def setup_arguments():
    """Run setup.py, without building anything, for what it tells setuptools."""
    setuptools = needs.module('setuptools')
    told = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(needs.REPOSITORY)
        patch.setattr(setuptools, 'setup', told.update)
        runpy.run_path('setup.py')
    return told


def keys(tag):
    return [element.text for element in PACKAGE_XML.findall(tag)]


def third_parties(paths):
    """Name the modules outside the standard library that these files import."""
    tops = {module.partition('.')[0] for path in paths for module in imported_modules(path)}
    return tops - set(sys.stdlib_module_names) - {'spr_dynamics'}


def test_versions_agree(setup_arguments):
    assert setup_arguments['version'] == PACKAGE_XML.findtext('version')
    assert setup_arguments['version'] == spr_dynamics.__version__


def test_installed_files_exist(setup_arguments):
    files = [file for _, files in setup_arguments['data_files'] for file in files]
    assert [file for file in files if not (needs.REPOSITORY / file).is_file()] == []


def test_every_file_of_the_shipped_folders_is_installed(setup_arguments):
    installed = {
        (target, file) for target, files in setup_arguments['data_files'] for file in files}
    for folder in FOLDERS_THAT_SHIP:
        for path in (needs.REPOSITORY / folder).rglob('*'):
            file = path.relative_to(needs.REPOSITORY)
            if path.is_file() and '__pycache__' not in file.parts:
                assert (f'share/spr_dynamics/{file.parent}', str(file)) in installed


def test_executables_can_be_executed(setup_arguments):
    executables = dict(setup_arguments['data_files'])['lib/spr_dynamics']
    assert 'scripts/simulation' in executables
    assert all(os.access(needs.REPOSITORY / file, os.X_OK) for file in executables)


def test_every_folder_of_code_is_a_package(setup_arguments):
    folders = {path.parent.relative_to(needs.REPOSITORY) for path in SOURCES}
    assert {'.'.join(folder.parts) for folder in folders} == set(setup_arguments['packages'])


def test_python_requirements_are_the_same_for_pip_and_rosdep(setup_arguments):
    for_pip = {entry.partition('>')[0] for entry in setup_arguments['install_requires']}
    for_rosdep = {MODULE_OF[key] for key in keys('exec_depend') if key.startswith('python3-')}
    assert for_pip == for_rosdep


def test_what_is_imported_is_what_is_declared():
    launch_files = (needs.REPOSITORY / 'launch').glob('*.py')
    imported = third_parties([*SOURCES, *launch_files])
    declared = {MODULE_OF.get(key, key) for key in keys('exec_depend')} - set(USED_OTHERWISE)
    assert imported == declared


def test_ci_refuses_skips_whoever_runs_it(tmp_path):
    make = tmp_path / 'make'
    make.write_text('#!/bin/sh\necho "$1 with CI=$CI"\n')
    make.chmod(0o755)
    ran = subprocess.run([needs.REPOSITORY / '.ci' / 'run'], capture_output=True, text=True,
                         check=True, env={'PATH': f'{tmp_path}:{os.environ["PATH"]}'})
    assert 'test with CI=true' in ran.stdout.splitlines()


def test_package_xml_has_the_order_of_its_schema():
    order = ['name', 'version', 'description', 'maintainer', 'license', 'exec_depend',
             'test_depend', 'export']
    tags = [element.tag for element in PACKAGE_XML if isinstance(element.tag, str)]
    assert list(dict.fromkeys(tags)) == order
    assert PACKAGE_XML.get('format') == '3'
    assert PACKAGE_XML.findtext('export/build_type') == 'ament_python'


@pytest.mark.parametrize('name', spr_dynamics.__all__)
def test_public_name_can_be_imported(name):
    assert getattr(spr_dynamics, name).__name__ == name


def test_names_are_listed_once():
    assert spr_dynamics.load is not None  # it is among the globals from now on
    assert sorted(set(dir(spr_dynamics))) == dir(spr_dynamics)


def test_a_name_that_is_not_public_is_refused():
    assert not hasattr(spr_dynamics, 'walk')


def test_console_scripts_lead_to_functions(setup_arguments):
    for script in setup_arguments['entry_points']['console_scripts']:
        module, _, function = script.partition(' = ')[2].partition(':')
        assert callable(getattr(importlib.import_module(module), function))
