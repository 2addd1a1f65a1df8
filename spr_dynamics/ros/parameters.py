"""
Every parameter of the node, declared once: name, type, default, unit, range, description.

Numbers may be written as integers. A value is checked in full before anything changes, and
applied between two steps.
"""
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import math
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult)
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from spr_dynamics.errors import did_you_mean, SprDynamicsError

Value = Any  # bool, int, float, str, or a list of one of them, as the table says

SENSOR_PREFIX = 'contact_sensors'  # of parameters, topics and frames of contact sensors
ALL, ROOT, NONE = 'all', 'root', 'none'  # values of publish_tf
LARGEST_STEP_COUNT = 1_000_000  # keeps a typing error from running for days
LARGEST_FORCE = 1e12  # [N]
LARGEST_RATE = 100_000.0  # [Hz] keeps a typing error from looking like a rate

TYPES = {
    'bool': Parameter.Type.BOOL,
    'integer': Parameter.Type.INTEGER,
    'number': Parameter.Type.DOUBLE,
    'text': Parameter.Type.STRING,
    'bools': Parameter.Type.BOOL_ARRAY,
    'numbers': Parameter.Type.DOUBLE_ARRAY,
    'texts': Parameter.Type.STRING_ARRAY,
}


class ParameterError(SprDynamicsError):
    """A parameter has a value that can't be used; the message says what was possible."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One row of the table."""

    name: str
    kind: str
    """A key of ``TYPES``."""
    default: Value | None
    """None: the model says, when it is loaded."""
    description: str
    unit: str = ''
    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False
    """Whether infinity is a value."""
    length: int | None = None
    """Number of entries, where that is fixed."""
    choices: tuple[str, ...] = ()
    """The texts that are possible, where not all are."""
    live: bool = False
    """Whether it may change while the node runs."""


TABLE = {spec.name: spec for spec in (
    Spec(name='robot', kind='text', default='',
         description='SDF file of the robot: a path, package://PACKAGE/PATH, file://PATH, or '
                     'the name of a shipped model, such as arm7'),
    Spec(name='robot_description', kind='text', default='',
         description='SDF text of the robot, in place of a file'),
    Spec(name='world', kind='text', default='',
         description='What is around the robot: a world file, ground or empty; when not given, '
                     'ground for a robot with a free root that comes without a world'),
    Spec(name='initial_pose', kind='numbers', default=[], unit='m, rad', length=6,
         description='Pose of the robot at the start: x y z roll pitch yaw; when not given, that '
                     'of the file'),
    Spec(name='fix_base', kind='bool', default=False,
         description='Whether to weld free roots to the world'),
    Spec(name='joints', kind='texts', default=None,
         description='Order of effort_commands and initial_positions; default: all joints'),
    Spec(name='initial_positions', kind='numbers', default=None, unit='rad or m',
         description='Positions at the start and after a reset, in the order of joints'),
    Spec(name='dt', kind='number', default=0.0, unit='s', low=0.0, high=1.0,
         description='Length of a step; 0: what the file says (max_step_size), else 1 ms'),
    Spec(name='real_time_factor', kind='number', default=None, low=0.0, high=1000.0, live=True,
         description='Simulated seconds in a second, 0: as fast as it can; default: what the '
                     'file says, else 1'),
    Spec(name='paused', kind='bool', default=False, live=True,
         description='Whether simulated time stands still'),
    Spec(name='gravity', kind='numbers', default=None, unit='m/s^2', length=3, live=True,
         description='Gravity in world axes; default: what the file says, else 0 0 -9.8'),
    Spec(name='seed', kind='integer', default=0, low=0, high=1_000_000_000,
         description='Of the noise of sensors: equal seeds give equal runs'),
    Spec(name='lock_step', kind='bool', default=False,
         description='Whether time waits for the controller: it advances by control_period for '
                     'each message of joint_commands with the stamp of the newest joint_states'),
    Spec(name='control_period', kind='number', default=0.0, unit='s', low=0.0, high=10.0,
         description='What lock_step advances, a whole number of steps; 0: one step'),
    Spec(name='step_count', kind='integer', default=1, low=1, high=LARGEST_STEP_COUNT,
         live=True, description='How many steps ~/step takes'),
    Spec(name='state_file', kind='text', default='', live=True,
         description='File that ~/save_state writes and ~/load_state reads'),
    Spec(name='publish_rate', kind='number', default=0.0, unit='Hz of simulated time', low=0.0,
         high=LARGEST_RATE, live=True,
         description='Rate of joint_states, multi_dof_joint_states, odom and torque_terms; 0: '
                     'every step'),
    Spec(name='torque_terms', kind='bool', default=False,
         description='Whether to publish torque_terms/inertial, velocity, gravity and applied'),
    Spec(name='publish_clock', kind='bool', default=True,
         description='Whether to publish /clock; one node only may do that'),
    Spec(name='clock_rate', kind='number', default=100.0, unit='Hz of simulated time', low=0.0,
         high=LARGEST_RATE, live=True, description='Rate of /clock; 0: every step'),
    Spec(name='publish_tf', kind='text', default=ALL, choices=(ALL, ROOT, NONE),
         description='Which frames /tf holds: all; root, what robot_state_publisher does not '
                     'know, so that it can do the rest; or none'),
    Spec(name='tf_rate', kind='number', default=50.0, unit='Hz of simulated time', low=0.0,
         high=LARGEST_RATE, live=True, description='Rate of /tf; 0: every step'),
    Spec(name='marker_rate', kind='number', default=25.0, unit='Hz of simulated time', low=0.0,
         high=LARGEST_RATE, live=True, description='Rate of contact_markers; 0: every step'),
    Spec(name='frame_prefix', kind='text', default='',
         description='Put before the name of each frame but world, such as robot1/'),
    Spec(name='command_timeout', kind='number', default=0.0, unit='s of simulated time', low=0.0,
         high=1e6, live=True,
         description='The effort of a joint drops to zero this long after its last command; 0: it '
                     'holds'),
    Spec(name='external_wrench_duration', kind='number', default=0.1, unit='s of simulated time',
         low=0.0, high=1e6, live=True,
         description='How long an external_wrench pushes; 0: until the next one for that link'),
)}

SENSOR_TABLE = {spec.name: spec for spec in (
    Spec(name='link', kind='text', default=None, description='Link that carries the sensor'),
    Spec(name='pose', kind='numbers', default=None, unit='m, rad', length=6, live=True,
         description='Pose of the sensor in its link: x y z roll pitch yaw, z out of the skin'),
    Spec(name='patch_min', kind='numbers', default=None, unit='m', length=2, infinite=True,
         live=True, description='Smallest x and y of the patch, in the sensor frame'),
    Spec(name='patch_max', kind='numbers', default=None, unit='m', length=2, infinite=True,
         live=True, description='Largest x and y of the patch, in the sensor frame'),
    Spec(name='patch_tolerance', kind='number', default=None, unit='m', low=0.0, infinite=True,
         live=True, description='Contacts count up to this |z| in the sensor frame'),
    Spec(name='has_force', kind='bools', default=None, length=3, live=True,
         description='Which axes of the force are measured; the others read 0'),
    Spec(name='force_resolution', kind='numbers', default=None, unit='N', length=3, low=0.0,
         high=LARGEST_FORCE, live=True, description='Step of the readings of each axis; 0: none'),
    Spec(name='force_variance', kind='numbers', default=None, unit='N^2', length=3, low=0.0,
         high=LARGEST_FORCE ** 2, live=True,
         description='Variance of the noise on each axis; 0: none'),
    Spec(name='force_sensitivity', kind='number', default=None, unit='N', low=0.0,
         high=LARGEST_FORCE, live=True,
         description='There is contact when |force z| exceeds this'),
    Spec(name='release_sensitivity', kind='number', default=None, unit='N', low=0.0,
         infinite=True, live=True,
         description='Contact ends when |force z| does not exceed this, up to '
                     'force_sensitivity; .inf: the same'),
    Spec(name='force_saturation', kind='numbers', default=None, unit='N', length=3, low=0.0,
         infinite=True, live=True, description='Largest magnitude each axis can read; .inf: none'),
    Spec(name='falloff_coefficient', kind='number', default=None, low=0.0, high=1e6, live=True,
         description='Exponent of the loss of force towards the corners of the patch; 0: none'),
    Spec(name='falloff_mode', kind='text', default=None, choices=('klampt', 'edge'), live=True,
         description='Where force is lost: klampt, at the corners of the patch, or edge, all '
                     'around'),
    Spec(name='contact_rule', kind='text', default=None,
         choices=('normal_force', 'any_contact'), live=True,
         description='What is reported as contact: normal_force, as the sensitivities say, or '
                     'any_contact in the patch'),
    Spec(name='measure', kind='text', default=None, choices=('sample', 'mean', 'peak'), live=True,
         description='What a sample is made of: its own step (sample), or all steps since the '
                     'last one: their mean, or the peak'),
    Spec(name='noise_when_idle', kind='bool', default=None, live=True,
         description='Whether there is noise while nothing touches the link'),
    Spec(name='taxels', kind='numbers', default=None, length=2, low=0.0,
         description='Rows and columns of the grid of cells on the patch; 0, 0: none'),
    Spec(name='taxel_spread', kind='number', default=None, unit='m', low=0.0, high=1e6,
         live=True,
         description="Radius over which a force spreads; 0: 1.5 times a cell's longer side"),
    Spec(name='rate', kind='number', default=None, unit='Hz of simulated time', low=0.0,
         high=LARGEST_RATE, live=True,
         description='Samples a second, at most one a step; 0: every step'),
    Spec(name='enabled', kind='bool', default=None, live=True,
         description='Whether the sensor takes samples'),
)}


def sensor_parameter(topic: str, setting: str) -> str:
    """
    Return the full name of a sensor's parameter.

    :param topic: The sensor's name in ROS, as in its topics.
    :param setting: A name of ``SENSOR_TABLE``.
    """
    return '.'.join((SENSOR_PREFIX, topic.replace('/', '.'), setting))


def checked(spec: Spec, value: Value, *, name: str | None = None) -> Value:
    """
    Return a value in the type of its parameter.

    :param spec: The parameter.
    :param value: What was given; integers stand for numbers.
    :param name: The parameter's full name, where it isn't that of the table.
    :raises ParameterError: If the value isn't of the type, length or range.
    """
    name = name or spec.name
    value = _with_numbers(spec, value)
    kind = spec.kind.removesuffix('s')
    if spec.kind == kind:
        entries = [value]
    elif isinstance(value, list):
        entries = value
    else:
        raise ParameterError(f'{name} = {value!r}: expected {_wanted(spec)}')
    accepted = {'bool': bool, 'integer': int, 'number': float, 'text': str}[kind]
    fits = all(type(entry) is accepted for entry in entries)
    if not fits or spec.length not in (None, len(entries)) and value != spec.default:
        raise ParameterError(f'{name} = {value!r}: expected {_wanted(spec)}')
    if kind in ('integer', 'number') and not all(_in_range(spec, entry) for entry in entries):
        raise ParameterError(f'{name} = {value!r}: out of range, expected {_wanted(spec)}')
    if spec.choices and value not in spec.choices:
        raise ParameterError(f'{name} = {value!r}: expected {_wanted(spec)}'
                             f'{did_you_mean(value, spec.choices)}')
    return value


def _with_numbers(spec: Spec, value: Value) -> Value:
    """Return the value with integers made floats, where floats are wanted."""
    def number(entry):
        is_integer = isinstance(entry, int) and not isinstance(entry, bool)
        return float(entry) if is_integer else entry

    if spec.kind == 'number':
        return number(value)
    if isinstance(value, str | bool | int | float):
        return value
    return [number(entry) for entry in value] if spec.kind == 'numbers' else list(value)


def _in_range(spec: Spec, entry: float) -> bool:
    return spec.low <= entry <= spec.high and (spec.infinite or math.isfinite(entry))


def _wanted(spec: Spec) -> str:
    """Say in words what a parameter takes."""
    if spec.choices:
        *most, last = map(repr, spec.choices)
        return f'{", ".join(most)} or {last}'
    nouns = {'bool': 'true or false', 'integer': 'a whole number', 'number': 'a number',
             'text': 'text', 'bools': 'booleans', 'numbers': 'numbers', 'texts': 'texts'}
    words = [nouns[spec.kind]]
    if spec.length is not None:
        words.insert(0, str(spec.length))
    if spec.low > -math.inf:
        words.append(f'from {spec.low:g}' + (f' to {spec.high:g}' if spec.high < math.inf else ''))
    if 'number' in spec.kind and not spec.infinite:
        words.append('(finite)')
    return ' '.join(words) + (f' [{spec.unit}]' if spec.unit else '')


def descriptor(spec: Spec) -> ParameterDescriptor:
    """
    Return what ``ros2 param describe`` shows.

    :param spec: The parameter.
    """
    unit = f' [{spec.unit}]' if spec.unit else ''
    result = ParameterDescriptor(description=spec.description + unit, read_only=not spec.live,
                                 additional_constraints=f'expected {_wanted(spec)}')
    if spec.kind == 'number' and spec.high < math.inf:
        result.floating_point_range = [
            FloatingPointRange(from_value=spec.low, to_value=spec.high)]
    if spec.kind == 'integer':
        result.integer_range = [
            IntegerRange(from_value=int(spec.low), to_value=int(spec.high))]
    return result


class Parameters:
    """
    The parameters of a node: declared with what the user gave, and applied when they change.

    ``check`` functions see all the new values of one request before any is stored; they raise
    `SprDynamicsError` to refuse it. ``apply`` functions get them after.
    """

    def __init__(self, node: Node, overrides: Mapping[str, Parameter]) -> None:
        """
        Declare nothing yet.

        :param node: The node.
        :param overrides: What the command line and parameter files say, by full name.
        """
        self._node = node
        # an empty list in a YAML file arrives without a type: it says nothing
        self.overrides = {name: parameter.value for name, parameter in overrides.items()
                          if parameter.type_ != Parameter.Type.NOT_SET}
        self._specs: dict[str, Spec] = {}
        self._check: Callable[[dict[str, Value]], None] = lambda values: None
        self._apply: Callable[[dict[str, Value]], None] = lambda values: None

    def declare(self, spec: Spec, *, name: str | None = None, default: Value | None = None
                ) -> Value:
        """
        Declare a parameter and return its value.

        :param spec: Its row of the table.
        :param name: Its full name, where it isn't that of the table.
        :param default: What the model says, where the table leaves it to the model.
        :raises ParameterError: If the user gave a value that can't be used.
        """
        name = name or spec.name
        default = spec.default if spec.default is not None else default
        value = checked(spec, self.overrides.get(name, default), name=name)
        parameter = Parameter(name, TYPES[spec.kind], value)
        try:
            self._node.declare_parameter(name, parameter.value, descriptor(spec),
                                         ignore_override=True)
        except ParameterException as error:
            raise ParameterError(f'{name}: {error}') from None
        self._specs[name] = spec
        return value

    def value(self, name: str) -> Value:
        """
        Return the present value of a declared parameter.

        :param name: Its full name.
        """
        value = self._node.get_parameter(name).value
        return value if isinstance(value, bool | int | float | str) else list(value)

    def put(self, values: Mapping[str, Value]) -> None:
        """
        Write values that hold already, as after loading a state; nothing is checked or applied.

        :param values: Values of live parameters by full name.
        """
        apply, self._apply = self._apply, lambda values: None
        try:
            self._node.set_parameters([
                Parameter(name, value=value) for name, value in values.items()
                if value != self.value(name)])
        finally:
            self._apply = apply

    def is_declared(self, name: str) -> bool:
        """
        Return whether a parameter is declared.

        :param name: Its full name.
        """
        return name in self._specs

    def unknown(self) -> list[str]:
        """Return a sentence for each override that nothing has declared."""
        return [f'the parameter {name!r} is not known{did_you_mean(name, self._specs)}; ignored'
                for name in self.overrides if not self._node.has_parameter(name)]

    def watch(self, check: Callable[[dict[str, Value]], None],
              apply: Callable[[dict[str, Value]], None]) -> None:
        """
        Begin to pass changes on.

        :param check: Raises `SprDynamicsError` if the new values can't be used together.
        :param apply: Puts new values into effect; called between two steps.
        """
        self._check, self._apply = check, apply
        self._node.add_pre_set_parameters_callback(self._with_types)
        self._node.add_on_set_parameters_callback(self._on_set)
        self._node.add_post_set_parameters_callback(
            lambda parameters: self._apply(self._ours(parameters)))

    def _with_types(self, parameters: list[Parameter]) -> list[Parameter]:
        """Turn integers into floats, before rclpy compares types."""
        typed = []
        for parameter in parameters:
            spec = self._specs.get(parameter.name)
            if spec is not None and parameter.type_ != Parameter.Type.NOT_SET:
                value = _with_numbers(spec, parameter.value)
                parameter = Parameter(parameter.name, value=value)
            typed.append(parameter)
        return typed

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            self._check(self._ours(parameters))
        except SprDynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _ours(self, parameters: list[Parameter]) -> dict[str, Value]:
        """Return the checked values of those parameters that were declared here."""
        return {parameter.name: checked(self._specs[parameter.name], parameter.value,
                                        name=parameter.name)
                for parameter in parameters if parameter.name in self._specs}
