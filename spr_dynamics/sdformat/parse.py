"""Read an XML tree of version 1.12 into elements, and note all that is wrong with it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spr_dynamics.sdformat.diagnostics import Location, Report
from spr_dynamics.sdformat.elements import (
    Collision, Frame, Inertial, Link, Model, Physics, Root, World)
from spr_dynamics.sdformat.fields import check_known, read_fields, read_pose
from spr_dynamics.sdformat.joints import parse_joint
from spr_dynamics.sdformat.schema import GRAVITY, PHYSICS_NAME
from spr_dynamics.sdformat.sensors import parse_sensor
from spr_dynamics.sdformat.shapes import parse_collision, parse_visual
from spr_dynamics.sdformat.values import frozen_array
from spr_dynamics.sdformat.versions import upgrade
from spr_dynamics.sdformat.xml import XmlElement

INERTIA_ROUNDOFF = 1e-12  # relative to the trace; eigenvalues of a flat body are off by that much
MIN_RESERVED = 4  # `__` is a name, `____` is reserved


def parse(sdf: XmlElement, report: Report) -> Root:
    """
    Read a document of any version.

    :param sdf: Its root element, which is converted to 1.12 in place.
    :param report: Takes errors and warnings.
    :returns: What the file says; complete only if there was no error.
    """
    version = sdf.attributes.get('version', '')
    if sdf.tag != 'sdf':
        report.error('ELEMENT_MISSING', sdf.location,
                     f"the root element is <{sdf.tag}> (needs <sdf version='1.12'>)")
        return Root(location=sdf.location, version='', models=(), worlds=(), warnings=())
    upgrade(sdf, report)
    check_known(sdf, report)
    _check_unique(sdf, ('model',), report)
    _check_unique(sdf, ('world',), report)
    models = tuple(_parse_model(model, report) for model in sdf.all('model'))
    for model in models:
        if model.relative_to:
            report.error('ATTRIBUTE_INVALID', model.relative_to.location,
                         f"model '{model.name}': relative_to '{model.relative_to}' means nothing "
                         'for a model outside a world')
    worlds = tuple(_parse_world(world, report) for world in sdf.all('world'))
    return Root(location=sdf.location, version=version, models=models, worlds=worlds,
                warnings=tuple(report.warnings))


def default_physics(location: Location) -> Physics:
    """
    Return the settings of a file that has none.

    :param location: What stands without them.
    :returns: SDFormat's defaults.
    """
    return _parse_physics(XmlElement('physics', {}, '', location), Report())


def default_gravity() -> np.ndarray:
    """Return SDFormat's gravity [m/s^2], which is Gazebo's for a model without a world."""
    return GRAVITY.default


def _parse_world(element: XmlElement, report: Report) -> World:
    _check_unique(element, ('model', 'joint', 'frame'), report)
    _check_unique(element, ('physics',), report)
    children = tuple(PARSERS[child.tag](child, report) for child in element.children
                     if child.tag in ('model', 'joint', 'frame'))
    # the one marked as default, else the first
    physics = sorted(element.all('physics'),
                     key=lambda physics: not read_fields(physics, Report())['default'])
    chosen = _parse_physics(physics[0] if physics else element.first_or_empty('physics'), report)
    return World(location=element.location, **read_fields(element, report), physics=chosen,
                 children=children)


def _parse_physics(element: XmlElement, report: Report) -> Physics:
    fields = read_fields(element, report)
    return Physics(
        location=element.location, name=fields['name'], max_step_size=fields['max_step_size'],
        real_time_factor=fields['real_time_factor'])


def _parse_model(element: XmlElement, report: Report) -> Model:
    _check_unique(element, ('model', 'link', 'joint', 'frame'), report)
    fields = read_fields(element, report)
    children = tuple(PARSERS[child.tag](child, report) for child in element.children
                     if child.tag in PARSERS)
    has_body = any(isinstance(child, (Link, Model)) for child in children)
    if not has_body and not fields['static'] and element.first('include') is None:
        report.error('MODEL_WITHOUT_LINK', element.location,
                     f'{element.owner}: a model needs at least one <link>, unless it is static')
    return Model(location=element.location, **fields, **read_pose(element, report),
                 children=children)


def _parse_frame(element: XmlElement, report: Report) -> Frame:
    return Frame(
        location=element.location, **read_fields(element, report), **read_pose(element, report))


def _parse_link(element: XmlElement, report: Report) -> Link:
    for tag in ('collision', 'visual', 'sensor'):
        _check_unique(element, (tag,), report)
    collisions: tuple[Collision, ...] = tuple(
        parse_collision(child, report) for child in element.all('collision'))
    return Link(
        location=element.location, **read_fields(element, report), **read_pose(element, report),
        inertial=_parse_inertial(element.first_or_empty('inertial'), report),
        collisions=collisions,
        visuals=tuple(parse_visual(child, report) for child in element.all('visual')),
        sensors=tuple(
            parse_sensor(child, collisions, report) for child in element.all('sensor')))


def _parse_inertial(element: XmlElement, report: Report) -> Inertial:
    fields = read_fields(element, report)
    moments = read_fields(element.first_or_empty('inertia'), report)
    inertia = frozen_array([
        [moments['ixx'], moments['ixy'], moments['ixz']],
        [moments['ixy'], moments['iyy'], moments['iyz']],
        [moments['ixz'], moments['iyz'], moments['izz']]])
    if not fields['auto']:
        _check_inertia(element, inertia, report)
    return Inertial(
        location=element.location, mass=fields['mass'], inertia=inertia, is_auto=fields['auto'],
        pose=read_pose(element, report)['pose'])


def _check_inertia(element: XmlElement, inertia: np.ndarray, report: Report) -> None:
    """Refuse moments that no distribution of mass can have."""
    low, middle, high = np.linalg.eigvalsh(inertia)
    roundoff = INERTIA_ROUNDOFF * abs(np.trace(inertia))
    place = element.first_or_empty('inertia').location
    shown = f'principal moments {low:g}, {middle:g}, {high:g}'
    if low < -roundoff:
        report.error('LINK_INERTIA_INVALID', place,
                     f'{element.owner}: the inertia is not positive definite ({shown})')
    elif low + middle + roundoff < high:
        report.error('LINK_INERTIA_INVALID', place,
                     f'{element.owner}: no body has this inertia: the largest of its {shown} '
                     'is above the sum of the others')


def _check_unique(scope: XmlElement, tags: tuple[str, ...], report: Report) -> None:
    """Refuse names that siblings share, that are reserved, or that look scoped."""
    first: dict[str, XmlElement] = {}
    for child in scope.children:
        name = child.attributes.get('name', '')
        if child.tag == 'physics':
            name = name or PHYSICS_NAME.default
        if child.tag not in tags or not name:
            continue
        _check_name(child, name, report)
        other = first.setdefault(name, child)
        if other is not child:
            report.error('DUPLICATE_NAME', child.location,
                         f"{scope.owner}: {child.tag} '{name}' has the name of the {other.tag} "
                         f'in line {other.location.line}')


def _check_name(element: XmlElement, name: str, report: Report) -> None:
    is_dunder = len(name) >= MIN_RESERVED and name.startswith('__') and name.endswith('__')
    if name == 'world' and element.tag != 'world' or is_dunder:
        report.error('RESERVED_NAME', element.location,
                     f"{element.tag} '{name}': the name is reserved by SDFormat")


PARSERS: dict[str, Callable[[XmlElement, Report], Any]] = {
    'model': _parse_model, 'link': _parse_link, 'joint': parse_joint, 'frame': _parse_frame}
