"""From parameters to a simulation at its start."""
from typing import NamedTuple

from spr_dynamics.dynamics.loops import closed_positions
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.model.load import load, WORLDS
from spr_dynamics.model.model import Model
from spr_dynamics.ros.commands import Commands
from spr_dynamics.ros.contact_sensors import ContactSensorParameters
from spr_dynamics.ros.parameters import ParameterError, Parameters, TABLE
from spr_dynamics.ros.resources import package_share, resolve, shipped_models
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.simulation.simulation import Simulation

BUILT_IN_WORLDS = ('', *WORLDS)


class Loaded(NamedTuple):
    """A robot that is ready to move."""

    simulation: Simulation
    """At its start."""
    commands: Commands
    """All zero."""
    sensors: ContactSensorParameters
    """The parameters of its contact sensors."""
    period: int | None
    """In lock step: how many steps it takes for each command; None otherwise."""


def load_simulation(parameters: Parameters) -> Loaded:
    """
    Declare all parameters and make what they describe.

    :param parameters: The node's parameters, none of them declared yet.
    :raises SprDynamicsError: If the robot or a parameter can't be used.
    """
    model = load_model(parameters)
    joints = parameters.declare(TABLE['joints'], default=list(model.dof_names))
    commands = Commands(model.dof_names, model.dof_v, model.nv, joints)
    _declare_rest(parameters, model)
    check_frame_prefix(parameters.value('frame_prefix'))
    dt = parameters.value('dt') or model.dt
    sensors = ContactSensorParameters(parameters, model)
    try:
        simulation = Simulation(model, dt, sensors.settings, seed=parameters.value('seed'))
    except ValueError as error:
        raise ParameterError(str(error)) from None
    simulation.gravity = parameters.value('gravity')
    _set_home(parameters, simulation)
    return Loaded(simulation, commands, sensors, _control_period(parameters, simulation.dt_ns))


def load_model(parameters: Parameters) -> Model:
    """
    Declare what says which robot it is, and where, and load it.

    :param parameters: The node's parameters, none of these declared yet.
    :raises SprDynamicsError: If the robot or a parameter can't be used.
    """
    robot, text, world, initial_pose, fix_base = (
        parameters.declare(TABLE[name])
        for name in ('robot', 'robot_description', 'world', 'initial_pose', 'fix_base'))
    if robot and text:
        raise ParameterError('give robot or robot_description, not both')
    if world not in BUILT_IN_WORLDS:
        world = resolve(world, WORLDS)
    if robot or text:
        pose = Pose.from_rpy(initial_pose[:3], initial_pose[3:]) if initial_pose else None
        try:
            return load(resolve(robot) if robot else None, text=text or None,
                        world=world or 'auto', pose=pose, fix_base=fix_base,
                        package_path=package_share)
        except SprDynamicsError as error:
            if '<text>' not in str(error):  # what is wrong is in a file, which it names
                raise
            raise ParameterError(f'robot_description: {error}') from None
    if initial_pose:
        raise ParameterError('initial_pose: places a robot, so it needs robot or '
                             'robot_description')
    if world in BUILT_IN_WORLDS:
        raise ParameterError('no robot: set the parameter robot to an SDF file or to a shipped '
                             f'model ({", ".join(shipped_models())})')
    return load(world, fix_base=fix_base, package_path=package_share)


def _declare_rest(parameters: Parameters, model: Model) -> None:
    """Declare the rest of the table, with the model's defaults."""
    home, q_index = model.neutral_q(), {axis.name: axis.q for axis in model.axes}
    from_model = {
        'initial_positions': [float(home[q_index[name]]) for name in parameters.value('joints')
                              if name in q_index],
        'gravity': model.gravity.tolist(),
        'real_time_factor': model.real_time_factor,
    }
    for name, spec in TABLE.items():
        if not parameters.is_declared(name):
            parameters.declare(spec, default=from_model.get(name))


def check_frame_prefix(prefix: str) -> None:
    """
    Refuse what makes names that are no frames.

    :param prefix: The parameter ``frame_prefix``.
    :raises ParameterError: If it does.
    """
    if prefix.startswith('/'):
        raise ParameterError(f'frame_prefix = {prefix!r}: tf2 knows no frames that begin with /; '
                             f'expected {prefix.lstrip("/")!r}')


def _control_period(parameters: Parameters, dt_ns: int) -> int | None:
    """Return how many steps make a control period in lock step; None without."""
    period_ns = round(parameters.value('control_period') * 1e9) or dt_ns
    if period_ns % dt_ns:
        raise ParameterError(f'control_period = {period_ns * 1e-9:g}: expected a whole number of '
                             f'steps of {dt_ns * 1e-9:g} s')
    return period_ns // dt_ns if parameters.value('lock_step') else None


def _set_home(parameters: Parameters, simulation: Simulation) -> None:
    """Start, and start again, from the initial positions."""
    model = simulation.model
    q_index = {axis.name: axis.q for axis in model.axes}
    joints = [name for name in parameters.value('joints') if name in q_index]
    positions = parameters.value('initial_positions')
    if len(positions) != len(joints):
        raise ParameterError(f'initial_positions: {len(positions)} values; expected '
                             f'{len(joints)}, in the order of joints: {", ".join(joints)}')
    home = model.neutral_q()
    q = home.copy()
    q[[q_index[name] for name in joints]] = positions
    chosen = [name for name in joints if q[q_index[name]] != home[q_index[name]]]
    try:
        simulation.set_home(closed_positions(model, q, chosen))
    except ValueError as error:
        raise ParameterError(f'initial_positions: {error}') from None
