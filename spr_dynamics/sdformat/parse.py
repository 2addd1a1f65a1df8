"""Read an XML tree of version 1.12 into elements, and note all that is wrong with it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from spr_dynamics.sdformat.diagnostics import Location, Report, UNREADABLE
from spr_dynamics.sdformat.elements import (
    Collision, Frame, Joint, Link, Model, Physics, Root, World)
from spr_dynamics.sdformat.fields import check_known, read_fields, read_pose
from spr_dynamics.sdformat.frames import ROOT_NAME
from spr_dynamics.sdformat.inertia import parse_inertial
from spr_dynamics.sdformat.joints import parse_joint
from spr_dynamics.sdformat.schema import GRAVITY, PHYSICS_NAME
from spr_dynamics.sdformat.sensors import parse_sensor
from spr_dynamics.sdformat.shapes import parse_collision, parse_visual
from spr_dynamics.sdformat.versions import upgrade
from spr_dynamics.sdformat.xml import XmlElement

ALONE = ('model', 'actor', 'light')  # a file holds one of them, unless it has a world
BAD_GRAPHS = ('FRAME_ATTACHED_TO_GRAPH_ERROR', 'POSE_RELATIVE_TO_GRAPH_ERROR')
DEFAULT_PHYSICS = {'type': 'ode'}  # the attributes of a <physics> that is not there
TAKEN = {'model': ('__model__',), 'world': ('world', ROOT_NAME), 'sdf': (ROOT_NAME,)}
MIN_RESERVED = 4  # `__` is a name, `____` is reserved


def parse(sdf: XmlElement, report: Report) -> Root:
    """
    Read a document of any version.

    :param sdf: Its root element, which is converted to 1.12 in place.
    :param report: Takes errors and warnings.
    :returns: What the file says; complete only if there was no error.
    """
    if sdf.tag != 'sdf':
        report.error('PARSING_ERROR', sdf.location,
                     f"the root element is <{sdf.tag}> (needs <sdf version='1.12'>)",
                     implied=('FILE_READ',))
        return Root(location=sdf.location, version='', models=(), worlds=(), warnings=())
    upgrade(sdf, report)
    return parse_latest(sdf, report)


def parse_latest(sdf: XmlElement, report: Report) -> Root:
    """
    Read a document of version 1.12, whose includes are in place.

    :param sdf: Its root element.
    :param report: Takes errors and warnings.
    :returns: What the file says; complete only if there was no error.
    """
    check_known(sdf, report)
    for tag in ('world', *ALONE):
        _check_unique(sdf, (tag,), report)
    _check_alone(sdf, report)
    models = tuple(_parse_model(model, report) for model in sdf.all('model'))
    for model in models:
        if model.relative_to:
            report.error('ATTRIBUTE_INVALID', model.relative_to.location,
                         f"model '{model.name}': relative_to '{model.relative_to}' means nothing "
                         'for a model outside a world', implied=UNREADABLE)
    worlds = tuple(_parse_world(world, report) for world in sdf.all('world'))
    return Root(location=sdf.location, version=sdf.attributes.get('version', ''), models=models,
                worlds=worlds, warnings=tuple(report.warnings))


def default_physics(location: Location) -> Physics:
    """
    Return the settings of a file that has none.

    :param location: What stands without them.
    :returns: SDFormat's defaults.
    """
    return _parse_physics(XmlElement('physics', DEFAULT_PHYSICS, '', location), Report())


def default_gravity() -> np.ndarray:
    """Return SDFormat's gravity [m/s^2], which is Gazebo's for a model without a world."""
    return GRAVITY.default


def _parse_world(element: XmlElement, report: Report) -> World:
    before = len(report.errors)
    _check_unique(element, ('model', 'joint', 'frame'), report)
    for tag in ('physics', 'light', 'actor'):
        _check_unique(element, (tag,), report)
    children = _parse_children(element, ('model', 'joint', 'frame'), report)
    # the one marked as default, else the first
    physics = sorted(element.all('physics'),
                     key=lambda physics: not read_fields(physics, Report())['default'])
    chosen = (_parse_physics(physics[0], report) if physics
              else default_physics(element.location))
    world = World(location=element.location, **read_fields(element, report), physics=chosen,
                  children=children)
    report.imply('ELEMENT_INVALID', since=before)
    return world


def _parse_physics(element: XmlElement, report: Report) -> Physics:
    fields = read_fields(element, report)
    return Physics(
        location=element.location, name=fields['name'], type=fields['type'],
        max_step_size=fields['max_step_size'], real_time_factor=fields['real_time_factor'])


def _parse_model(element: XmlElement, report: Report) -> Model:
    _check_unique(element, ('model', 'link', 'joint', 'frame'), report)
    fields = read_fields(element, report)
    children = _parse_children(element, tuple(PARSERS), report)
    return Model(location=element.location, **fields, **read_pose(element, report),
                 children=children)


def _parse_children(scope: XmlElement, tags: tuple[str, ...], report: Report) -> tuple:
    """Read what has a name; of those of a kind that share one, all but the first are left out."""
    first: dict[tuple[str, str], Any] = {}
    for child in scope.children:
        if child.tag in tags:
            parsed = PARSERS[child.tag](child, report)
            first.setdefault((child.tag, parsed.name), parsed)
    return tuple(first.values())


def _parse_frame(element: XmlElement, report: Report) -> Frame:
    return Frame(
        location=element.location, **read_fields(element, report), **read_pose(element, report))


def _parse_link(element: XmlElement, report: Report) -> Link:
    for tag in ('collision', 'visual', 'sensor', 'light', 'particle_emitter', 'projector'):
        _check_unique(element, (tag,), report)
    collisions: tuple[Collision, ...] = tuple(
        parse_collision(child, report) for child in element.all('collision'))
    return Link(
        location=element.location, **read_fields(element, report), **read_pose(element, report),
        inertial=parse_inertial(element.first_or_empty('inertial'), report),
        collisions=collisions,
        visuals=tuple(parse_visual(child, report) for child in element.all('visual')),
        sensors=tuple(
            parse_sensor(child, collisions, report) for child in element.all('sensor')))


def _parse_joint(element: XmlElement, report: Report) -> Joint:
    _check_unique(element, ('sensor',), report)
    return parse_joint(element, report)


def _check_alone(sdf: XmlElement, report: Report) -> None:
    """Refuse all but the first of what a file may hold one of."""
    tops = {(child.tag, child.attributes.get('name')): child
            for child in reversed(sdf.children) if child.tag in ALONE}
    *others, first = [*tops.values()] or [sdf]
    for other in reversed(others):
        report.error('ELEMENT_INCORRECT_TYPE', other.location,
                     f'{other.owner}: a file holds one model, and {first.owner} comes first '
                     '(write a <world> around several)')


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
                         f'in {_line(other.location, child.location.file)}',
                         implied=_implied_by_clash(scope, child.tag, other.tag))


def _implied_by_clash(scope: XmlElement, tag: str, other: str) -> tuple[str, ...]:
    """List what libsdformat says further of two siblings of one name."""
    if tag == other:
        return ()
    is_nested = scope.tag == 'model' and 'model' in (tag, other)
    return BAD_GRAPHS[1:] if is_nested else BAD_GRAPHS


def _line(location: Location, file: str) -> str:
    """Name a line, as seen from a file."""
    return f'line {location.line}' + (f' of {location.file}' if location.file != file else '')


def _check_name(element: XmlElement, name: str, report: Report) -> None:
    is_dunder = len(name) >= MIN_RESERVED and name.startswith('__') and name.endswith('__')
    if element.tag != 'actor' and (name == 'world' or is_dunder):
        report.error('RESERVED_NAME', element.location,
                     f"{element.tag} '{name}': the name is reserved by SDFormat",
                     implied=tuple(_implied_by_name(element, name)))


def _implied_by_name(element: XmlElement, name: str) -> Iterator[str]:
    """List what libsdformat says further of a reserved name, which its graphs may hold already."""
    scope = element.holder
    if element.tag == 'world':
        yield 'ELEMENT_INVALID'
    elif element.tag in PARSERS and name in TAKEN.get(scope.tag, ()):
        yield 'POSE_RELATIVE_TO_GRAPH_ERROR'
        if scope.tag != 'sdf':
            yield 'DUPLICATE_NAME'
        if element.tag in ('joint', 'frame') or name == ROOT_NAME:
            yield 'FRAME_ATTACHED_TO_GRAPH_ERROR'
        if (element.tag, name) == ('frame', 'world') or element is scope.first('link'):
            yield 'FRAME_ATTACHED_TO_CYCLE'


PARSERS: dict[str, Callable[[XmlElement, Report], Any]] = {
    'model': _parse_model, 'link': _parse_link, 'joint': _parse_joint, 'frame': _parse_frame}
