"""
Write config/simulation.yaml from the table of parameters.

To bring the file up to date: ``python test/ros_config.py > config/simulation.yaml``.
"""
import math
import textwrap

from spr_dynamics.ros.parameters import SENSOR_TABLE, TABLE

HEADING = """\
# Every parameter of the node `simulation`, with its default.
# Made from spr_dynamics/ros/parameters.py by: python test/ros_config.py > config/simulation.yaml
#
# "live" parameters may change while it runs: ros2 param set /simulation gravity "[0.0, 0.0, -1.6]"
# Integers are accepted for numbers, but in a list all or none: [0, 0, -9.8] is refused by ROS.
"""
SENSORS = """\

    # Contact sensors: one entry a sensor. A sensor of the SDF file has the file's settings as
    # defaults; a name that the file doesn't know makes a new sensor, and needs `link`.
    # contact_sensors:
    #   fingertip:
"""
# what stands for a value that comes from the model, by name
FROM_MODEL = {
    'joints': '[joint1, joint2]',
    'initial_positions': '[0.0, 0.0]',
    'gravity': '[0.0, 0.0, -9.8]',
    'real_time_factor': '1.0',
    'link': 'fingertip',
    'pose': '[0.0, 0.0, 0.015, 0.0, 0.0, 0.0]',
    'patch_min': '[-0.015, -0.015]',
    'patch_max': '[0.015, 0.015]',
    'patch_tolerance': '0.015',
    'has_force': '[true, true, true]',
    'force_resolution': '[0.01, 0.01, 0.01]',
    'force_variance': '[0.0, 0.0, 0.0]',
    'force_sensitivity': '0.05',
    'release_sensitivity': '.inf',
    'force_saturation': '[.inf, .inf, .inf]',
    'falloff_coefficient': '0.0',
    'falloff_mode': 'klampt',
    'contact_rule': 'normal_force',
    'measure': 'sample',
    'noise_when_idle': 'false',
    'taxels': '[0.0, 0.0]',
    'taxel_spread': '0.0',
    'rate': '100.0',
    'enabled': 'true',
}


def comment(spec):
    """Say what a parameter is, its unit, its range, and whether it is live."""
    notes = []
    if spec.unit:
        notes.append(f'[{spec.unit}]')
    if spec.high < math.inf:
        notes.append(f'{spec.low:g} to {spec.high:g}')
    elif spec.low > -math.inf:
        notes.append(f'not below {spec.low:g}')
    if spec.live:
        notes.append('live')
    return '; '.join([spec.description, *notes])


def written(value):
    """Write a default as YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def lines(spec, value, indent, commented):
    """Yield a parameter's comment, then its line."""
    for line in textwrap.wrap(comment(spec), 97 - len(indent)):
        yield f'{indent}# {line}'
    yield f'{indent}{"# " if commented else ""}{spec.name}: {value}'


def text():
    """Return the whole file."""
    rows = [HEADING + '/**:', '  ros__parameters:']
    for spec in TABLE.values():
        value = 'arm7' if spec.name == 'robot' else \
            FROM_MODEL.get(spec.name) or written(spec.default)
        rows += [*lines(spec, value, '    ', spec.default is None or spec.default == '' and
                        spec.name != 'robot'), '']
    rows[-1] = SENSORS.rstrip('\n')
    for spec in SENSOR_TABLE.values():
        rows += lines(spec, FROM_MODEL[spec.name], '    #     ', False)
    return '\n'.join(rows) + '\n'


if __name__ == '__main__':
    print(text(), end='')
