"""Launch and config files name things that exist; launch itself isn't needed."""
import ast
import os
import stat

import pytest

yaml = pytest.importorskip('yaml')
pytest.importorskip('rclpy')

import needs  # noqa: E402
import ros_config  # noqa: E402
from spr_dynamics.ros.parameters import SENSOR_PREFIX, SENSOR_TABLE, TABLE  # noqa: E402

LAUNCH_FILE = needs.REPOSITORY / 'launch' / 'simulation.launch.py'
CONFIG_FILE = needs.REPOSITORY / 'config' / 'simulation.yaml'
PROGRAMS = ('rviz', 'robot_state_publisher')


def tree():
    """Return the launch file, taken apart."""
    return ast.parse(LAUNCH_FILE.read_text(encoding='utf-8'))


def calls(name):
    """Return the keyword arguments of each call of a function in the launch file."""
    return [({keyword.arg: keyword.value for keyword in node.keywords}, node.args)
            for node in ast.walk(tree())
            if isinstance(node, ast.Call) and getattr(node.func, 'id', None) == name]


def test_launch_starts_executables_that_are_installed():
    (node, _), = calls('Node')
    assert node['package'].value == 'spr_dynamics'
    (start,) = (node for node in ast.walk(tree())
                if isinstance(node, ast.FunctionDef) and node.name == 'start_nodes')
    named = {text.value for text in ast.walk(start) if isinstance(text, ast.Constant)}
    for script in ('simulation', *PROGRAMS):
        assert script in named
        assert os.stat(needs.REPOSITORY / 'scripts' / script).st_mode & stat.S_IXUSR


def test_launch_describes_every_argument():
    arguments = {args[0].value: keywords for keywords, args in calls('DeclareLaunchArgument')}
    assert set(arguments) == {
        'robot', 'world', 'params_file', 'namespace', 'paused', *PROGRAMS}
    for name, keywords in arguments.items():
        assert 'default_value' in keywords, name
        description = ast.literal_eval(keywords['description'])
        assert len(description) > 20, name


def test_launch_passes_on_parameters_that_exist():
    arguments = {args[0].value for _, args in calls('DeclareLaunchArgument')}
    assert arguments - {'params_file', 'namespace', *PROGRAMS} <= set(TABLE)


def test_config_is_up_to_date():
    """To bring it up to date: python test/ros_config.py > config/simulation.yaml."""
    assert CONFIG_FILE.read_text(encoding='utf-8') == ros_config.text()


def test_config_holds_the_defaults():
    parameters = yaml.safe_load(CONFIG_FILE.read_text())['/**']['ros__parameters']
    assert parameters.pop('robot') == 'arm7'
    for name, value in parameters.items():
        assert value == TABLE[name].default
        assert type(value) is type(TABLE[name].default), name


def test_config_shows_every_parameter_with_its_description():
    text = CONFIG_FILE.read_text(encoding='utf-8')
    for line in text.splitlines():
        assert len(line) < 100
    prose = ' '.join(line.strip().lstrip('# ') for line in text.splitlines())
    for spec in (*TABLE.values(), *SENSOR_TABLE.values()):
        assert spec.description in prose, spec.name
        assert f'{spec.name}: ' in prose, spec.name


def test_config_is_valid_with_everything_switched_on():
    """What is commented out is YAML too, so that it can be switched on line by line."""
    text = CONFIG_FILE.read_text(encoding='utf-8').split('/**:')[1]
    switched_on = [line.replace('# ', '', 1) if _is_switch(line) else line
                   for line in text.splitlines()]
    parameters = yaml.safe_load('\n'.join(switched_on))['ros__parameters']
    assert set(parameters) == {*TABLE, SENSOR_PREFIX}
    (settings,) = parameters[SENSOR_PREFIX].values()
    assert set(settings) == set(SENSOR_TABLE)


def _is_switch(line):
    words = line.strip().lstrip('# ').split(':')[0]
    return words in {*TABLE, *SENSOR_TABLE, SENSOR_PREFIX, 'fingertip'}


@pytest.mark.parametrize('spec', [*TABLE.values(), *SENSOR_TABLE.values()],
                         ids=lambda spec: spec.name)
def test_descriptions_are_sentences_without_a_stop(spec):
    assert spec.description[0].isupper()
    assert not spec.description.endswith('.')
