"""The rooms of docs/architecture.md import one way."""
import ast

import pytest

import needs

PACKAGE = needs.REPOSITORY / 'spr_dynamics'
SOURCES = sorted(PACKAGE.rglob('*.py'))

# Each room may import those before it.
ROOMS = [
    'errors', 'cache', 'jit', 'spatial', 'sdformat', 'model', 'dynamics', 'contact', 'sensors',
    'simulation', 'explain', 'scene', 'ros', 'cli',
]
FRONT_DOOR = ['__init__', '__main__']  # no rooms: they hand out what the rooms hold

# Closed doors on top of the order: who may not import what.
SDFORMAT_STARTS_FAST = ['numba', 'spr_dynamics.jit', 'spr_dynamics.spatial']
ROS_ENDINGS = ('_msgs', '_srvs', '_interfaces')
ROS_MODULES = ['rclpy', 'ament_index_python', 'launch', 'launch_ros', 'rosidl_runtime_py']


def imported_modules(path):
    """Name every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: relative import'
            if node.module == 'spr_dynamics':
                yield from (f'spr_dynamics.{alias.name}' for alias in node.names)
            else:
                yield node.module


def is_ros(module):
    top = module.partition('.')[0]
    return top in ROS_MODULES or top.endswith(ROS_ENDINGS)


def complaints(room, modules):
    """Say which of these imports a room may not make."""
    for module in modules:
        if is_ros(module) and room != 'ros':
            yield f'{module}: only ros/ knows ROS'
        if room == 'sdformat' and any(
                module == closed or module.startswith(closed + '.')
                for closed in SDFORMAT_STARTS_FAST):
            yield f'{module}: sdformat/ starts fast'
        if room == 'cli' and module.startswith('spr_dynamics.ros'):
            yield f'{module}: the command line works without ROS'
        names = module.split('.')
        if names[0] == 'spr_dynamics' and len(names) > 1 and names[1] in ROOMS:
            if room in ROOMS and ROOMS.index(names[1]) > ROOMS.index(room):
                yield f'{module}: {names[1]} comes after {room}'


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix('.py')
    assert room in ROOMS + FRONT_DOOR, f'{room} has no place in docs/architecture.md'
    assert not list(complaints(room, imported_modules(path)))


@pytest.mark.parametrize('room, module', [
    ('model', 'spr_dynamics.simulation.step'),
    ('errors', 'spr_dynamics.spatial'),
    ('simulation', 'rclpy.node'),
    ('cli', 'sensor_msgs.msg'),
    ('cli', 'spr_dynamics.ros.convert'),
    ('sdformat', 'numba'),
    ('sdformat', 'spr_dynamics.spatial'),
])
def test_wrong_ways_are_seen(room, module):
    assert list(complaints(room, [module]))


def test_table_of_the_architecture_names_the_same_rooms():
    table = (needs.REPOSITORY / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    rows = [line.split('`')[1] for line in table.splitlines() if line.startswith('| `')]
    assert [row.strip('/').removesuffix('.py') for row in rows] == [
        room for room in ROOMS if room != 'errors']
