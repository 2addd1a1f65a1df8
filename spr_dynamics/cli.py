"""`spr-dynamics`: look at a robot and run it, without ROS."""
import argparse
import csv
import json
import os
from pathlib import Path
import sys
import time

import numpy as np

from spr_dynamics.errors import SprDynamicsError

PROGRESS_WIDTH = 30  # characters
UPDATE_PERIOD = 0.1  # [s] of wall clock between two pictures of the progress bar


def main(arguments=None) -> int:
    """
    Run the command line.

    :param arguments: Words after the program's name; those of the process without it.
    :returns: Exit code: 0, or 1 if a file or option can't be used.
    """
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except SprDynamicsError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their arguments."""
    commands = argparse.ArgumentParser(
        prog='spr-dynamics', description='Simulate SDF robots without ROS.')
    each = commands.add_subparsers(dest='command', required=True)
    check_parser = each.add_parser(
        'check', help='say all that is wrong with an SDF file',
        description='Say all that is wrong with an SDF file, and with those that it includes.')
    check_parser.set_defaults(run=check)
    check_parser.add_argument('file', type=Path, help='an SDF or URDF file')
    check_parser.add_argument('--json', action='store_true',
                              help='print what the file says, and its errors, as JSON')
    add_reading_options(check_parser)
    show_parser = each.add_parser('show', help='print a robot as tables')
    show_parser.set_defaults(run=show)
    simulate_parser = each.add_parser('simulate', help='run a robot without efforts, headless')
    simulate_parser.set_defaults(run=simulate)
    explain_parser = each.add_parser(
        'explain', help='say what the efforts of a motion are for',
        description='Take the efforts of a state, or of a trajectory, apart: what changes the '
                    'speed, what speed itself costs, and what holds the weight; which of them is '
                    'largest, what cures it, and how much slower it would have to be to fit the '
                    'effort limits.')
    explain_parser.set_defaults(run=explain)
    for command in (show_parser, simulate_parser, explain_parser):
        command.add_argument('file', type=Path, help='an SDF or URDF file')
        add_reading_options(command)
        command.add_argument(
            '--world', default='auto', metavar='WORLD',
            help='ground, empty, or a world file to put the robot into (default: ground for a '
                 'robot with a free root that comes without a world)')
        command.add_argument('--fix-base', action='store_true',
                             help='weld what would be a free root to the world')
    simulate_parser.add_argument('--duration', type=positive, default=10.0, metavar='S',
                                 help='simulated time [s] (default: %(default)s)')
    simulate_parser.add_argument('--dt', type=positive, metavar='S',
                                 help='length of a step [s] (default: the file says)')
    simulate_parser.add_argument('--csv', type=Path, metavar='OUT',
                                 help='write time, positions, velocities and sensors here')
    simulate_parser.add_argument('--csv-rate', type=positive, default=100.0, metavar='HZ',
                                 help='rows a simulated second (default: %(default)s)')
    for option, what in (('--q', 'positions (default: home)'), ('--qd', 'velocities (default: 0)'),
                         ('--qdd', 'accelerations (default: 0)')):
        explain_parser.add_argument(option, nargs='+', action='extend', default=[],
                                    metavar='NAME=VALUE', help=f'{what}, as in elbow=1.2')
    explain_parser.add_argument(
        '--trajectory', type=Path, metavar='CSV',
        help='explain a motion with the columns that `simulate --csv` writes; '
             '<joint>.acceleration is taken where given')
    return commands


def add_reading_options(command):
    """Let a command look for included models in folders, and try what it doesn't know."""
    command.add_argument('--any-version', action='store_true',
                         help='try files of an SDFormat version that is not known')
    command.add_argument('--model-path', type=Path, action='append', default=[], metavar='DIR',
                         help='a folder of models that the file includes (may be repeated)')


def positive(text) -> float:
    """Read a positive, finite number."""
    number = float(text)
    if not 0.0 < number < np.inf:
        raise argparse.ArgumentTypeError(f'{text}: a positive number expected')
    return number


def check(options) -> int:
    """Say all that is wrong with a file; on stdout, if asked for, what is in it as JSON."""
    from spr_dynamics.sdformat.assemble import assemble
    from spr_dynamics.sdformat.describe import describe
    from spr_dynamics.sdformat.diagnostics import in_order, InvalidSdf
    from spr_dynamics.sdformat.read import examine
    root, report = examine(
        options.file, model_paths=options.model_path, any_version=options.any_version)
    if not report.errors:
        try:
            warn_of_meshes(assemble(root), options.model_path, report)
        except InvalidSdf as refusal:
            report.unsupported += refusal.diagnostics
    for code, message, location, _ in report.unsupported:
        report.warn(code, location, f"can't be simulated: {message}")
    errors, warnings = in_order(report.errors), in_order(report.warnings)
    for error in errors:
        print(f'error: {error}', file=sys.stderr)
    for warning in warnings:
        print(f'warning: {warning}', file=sys.stderr)
    if options.json:
        print(json.dumps(describe(root, report), allow_nan=False, indent=2))
    else:
        print(f'{options.file}: {counted(errors, "error")}, {counted(warnings, "warning")}')
    return 1 if errors else 0


def warn_of_meshes(assembly, model_paths, report):
    """Say which collisions are not the mesh that a file names, as a simulation will."""
    from spr_dynamics.sdformat.assemble import unique_names
    from spr_dynamics.sdformat.elements import Mesh
    from spr_dynamics.sdformat.meshes import mesh_places
    from spr_dynamics.sdformat.uris import SearchPath
    places = mesh_places(SearchPath.of(model_paths))
    for name, link in zip(unique_names(assembly.links), assembly.links):
        for placed in link.collisions:
            mesh = placed.element.geometry
            if isinstance(mesh, Mesh):
                from spr_dynamics.model.pieces import mesh_pieces
                for warning in mesh_pieces(f'{name}::{placed.name}', mesh, places).warnings:
                    report.warn('WARNING', mesh.location, warning)


def counted(things, noun) -> str:
    """Say how many there are."""
    return f'{len(things)} {noun}{"" if len(things) == 1 else "s"}'


def load(options):
    """Load the file that a command names, and print its warnings."""
    from spr_dynamics.model.load import load as load_model
    model = load_model(options.file, world=options.world, fix_base=options.fix_base,
                       model_paths=options.model_path, any_version=options.any_version)
    for warning in model.warnings:
        print(f'warning: {warning}', file=sys.stderr)
    return model


def show(options) -> int:
    """Print a robot: links, joints, sensors."""
    from spr_dynamics.explain.robot import described
    print(described(load(options)))
    return 0


def simulate(options) -> int:
    """Run a robot for a while and say how fast that was."""
    from spr_dynamics.simulation.simulation import Simulation
    model = load(options)
    try:
        sim = Simulation(model, options.dt)
    except ValueError as error:
        raise SprDynamicsError(f'--dt: {error}') from None
    for warning in sim.warnings:
        print(f'warning: {warning}', file=sys.stderr)
    steps = max(1, round(options.duration / sim.dt))
    every = max(1, round(1.0 / (options.csv_rate * sim.dt)))
    start = time.perf_counter()
    if options.csv is None:
        for _ in progress(sim, steps, every):
            pass
    else:
        with new_csv(options.csv) as file:
            writer = csv.writer(file)
            writer.writerow(column_names(sim))
            writer.writerow(row(sim))
            for _ in progress(sim, steps, every):
                writer.writerow(row(sim))
    elapsed = time.perf_counter() - start
    print(f'{sim.time:.3f} s simulated in {elapsed:.3f} s, real-time factor '
          f'{sim.time / elapsed:.1f}, {1e6 * elapsed / steps:.2f} us a step, '
          f'{sim.counters.contacts} contacts at the end')
    return 0


def explain(options) -> int:
    """Print what the efforts of a state or of a trajectory are for."""
    from spr_dynamics.explain.motion import state, trajectory
    from spr_dynamics.explain.report import explain as explained
    model = load(options)
    if options.trajectory is None:
        motion = state(model, options.q, options.qd, options.qdd)
    elif options.q or options.qd or options.qdd:
        raise SprDynamicsError('--trajectory: has positions, velocities and accelerations of its '
                               'own; give no --q, --qd or --qdd with it')
    else:
        motion = trajectory(model, options.trajectory)
    print(explained(model, motion))
    return 0


def new_csv(path):
    """Open the file that --csv names, for writing."""
    try:
        return open(path, 'w', newline='', encoding='utf-8')
    except OSError as error:
        raise SprDynamicsError(f'--csv: {path}: {error.strerror}') from None


def progress(sim, steps, every):
    """Step on, yielding after each few steps and drawing a bar on a terminal meanwhile."""
    shown = -np.inf
    while sim.step_count < steps:
        sim.step(n=min(every, steps - sim.step_count))
        yield
        now = time.perf_counter()
        if sys.stderr.isatty() and (now - shown > UPDATE_PERIOD or sim.step_count == steps):
            shown = now
            filled = PROGRESS_WIDTH * sim.step_count // steps
            bar = '#' * filled + '-' * (PROGRESS_WIDTH - filled)
            end = '\n' if sim.step_count == steps else ''
            print(f'\r[{bar}] {sim.time:.2f} s', end=end, file=sys.stderr, flush=True)


def column_names(sim) -> list[str]:
    """Name the columns of the CSV: SI units, file order."""
    from spr_dynamics.explain.columns import position_columns, velocity_columns
    sensors = [f'{name}.{part}' for name, sensor in sim.sensors.items()
               for part in sensor.measurement_names]
    return ['time', *position_columns(sim.model), *velocity_columns(sim.model), *sensors]


def row(sim) -> list[str]:
    """Return the state as the columns say, with all digits."""
    values = [sim.time, *sim.q, *sim.qd]
    for sensor in sim.sensors.values():
        values += [*sensor.measurements]
    return [repr(float(value)) for value in values]
