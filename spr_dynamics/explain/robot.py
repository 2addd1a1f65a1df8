"""A robot as tables: links, masses, joints, limits, sensors."""
from collections.abc import Mapping, Sequence
from typing import Any

from spr_dynamics.model.model import Dof, Model
from spr_dynamics.sensors.contact import declared_sensors
from spr_dynamics.sensors.force_torque import declared_force_torques
from spr_dynamics.sensors.imu import declared_imus


def described(model: Model, sensors: Mapping[str, Any] | None = None) -> str:
    """
    Describe a robot.

    :param model: The robot.
    :param sensors: Settings of its contact sensors by name; those of its file without it.
    :returns: A line that sums up, then tables of links, joints and sensors.
    """
    masses = [link.element.inertial.mass for link in model.assembly.links
              if not link.is_static]
    lines = [f'{model.name}: {len(model.link_names)} links, {sum(masses):.4g} kg, '
             f'{model.nv} degrees of freedom, step {model.dt:g} s, '
             f'gravity {" ".join(f"{g:g}" for g in model.gravity)} m/s^2']
    lines += table(['link', 'mass [kg]', 'body', 'collisions', 'visuals'], [
        (name, f'{link.element.inertial.mass:.4g}' if not link.is_static else 'static',
         'world' if record['body'] == 0 else record['body'], len(link.collisions),
         len(link.visuals))
        for name, link, record in zip(model.link_names, model.assembly.links, model.links)])
    lines += table(['joint', 'type', 'parent', 'child', 'lower', 'upper', 'effort', 'damping'], [
        *((root.name, 'free', 'world', root.name, '', '', '', '') for root in model.free_roots),
        *((dof.name, model.joints[dof.joint].type, model.joints[dof.joint].parent,
           model.joints[dof.joint].child, f'{dof.lower:g}', f'{dof.upper:g}',
           f'{model.effort_limit[dof.v]:g}', f'{damping(model, dof):g}')
          for dof in model.dofs)])
    settings = declared_sensors(model) if sensors is None else sensors
    lines += table(['contact sensor', 'link', 'patch [m]', 'rate [Hz]', 'collisions'], [
        (name, sensor.link, f'{sensor.patch_min.tolist()} {sensor.patch_max.tolist()}',
         rate(sensor), ' '.join(sensor.collisions)) for name, sensor in settings.items()])
    lines += table(['imu', 'link', 'rate [Hz]', 'orientation from'], [
        (name, sensor.link, rate(sensor),
         sensor.localization if sensor.has_orientation else 'not reported')
        for name, sensor in declared_imus(model).items()])
    lines += table(['force_torque sensor', 'joint', 'rate [Hz]', 'axes', 'direction'], [
        (name, sensor.joint, rate(sensor), sensor.frame, sensor.measure_direction)
        for name, sensor in declared_force_torques(model).items()])
    return '\n'.join(lines)


def rate(sensor: Any) -> str:
    """Write how often a sensor samples."""
    return f'{sensor.rate:g}' if sensor.rate else 'each step'


def damping(model: Model, dof: Dof) -> float:
    """Return the damping of a joint axis; a ball has none."""
    return float(model.drives['damping'][model.drives['v'] == dof.v].sum())


def table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """
    Align rows below their titles.

    :param titles: Of the columns.
    :param rows: The cells.
    :returns: An empty line, then a line for each row; nothing if there are none.
    """
    if not rows:
        return []
    lines = [[*titles], *[[str(cell) for cell in row] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ['', *('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                  for line in lines)]
