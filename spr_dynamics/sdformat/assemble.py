"""Flatten what a file says into links and joints placed in the world."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spr_dynamics.sdformat.diagnostics import Diagnostic, Report
from spr_dynamics.sdformat.elements import (
    Axis, Collision, ContactSensor, ForceTorqueSensor, Heightmap, ImuSensor, Joint, Link,
    MimicConstraint, Model, Physics, Polyline, Root, Visual)
from spr_dynamics.sdformat.frames import FrameGraph, resolved, Vertex
from spr_dynamics.sdformat.mimic import AXIS_TAGS, JointAxis, resolve_mimics
from spr_dynamics.sdformat.parse import default_gravity, default_physics
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.schema import AXES_OF_TYPE

WORLD = -1


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A collision or visual on its link."""

    name: str
    T_LS: Pose
    """Pose of the shape S in its link's frame L."""
    element: Collision | Visual


@dataclass(frozen=True, eq=False)
class PlacedSensor:
    """A sensor that is simulated, on its link or in its joint."""

    name: str
    T_LS: Pose
    """Pose of the sensor S in its link's frame L; of one in a joint: in that of the child link."""
    element: ContactSensor | ImuSensor | ForceTorqueSensor


@dataclass(frozen=True, eq=False)
class PlacedLink:
    """A link in the world."""

    name: str
    """Unique in its top-level model: ``link``, or ``sub::link`` in a nested model."""
    model: str
    """Name of the top-level model."""
    T_WL: Pose
    is_static: bool
    """Whether its model, or a model around that, is static."""
    self_collide: bool
    """Whether it touches the other links of its model."""
    collisions: tuple[PlacedShape, ...]
    visuals: tuple[PlacedShape, ...]
    sensors: tuple[PlacedSensor, ...]
    """Contact sensors and inertial ones."""
    element: Link


@dataclass(frozen=True, eq=False)
class PlacedMimic:
    """Whom an axis follows: ``q = multiplier * (q of the leader - reference) + offset``."""

    leader: int
    """Index into the assembly's joints."""
    axis: int
    """Index into the leader's axes."""
    element: MimicConstraint


@dataclass(frozen=True, eq=False)
class PlacedJoint:
    """A joint between two links, or a link and the world."""

    name: str
    """Unique in its top-level model, scoped as links are."""
    model: str
    """Name of the top-level model; empty for a joint of the world itself."""
    parent: int
    """Index into the assembly's links; -1: the world."""
    child: int
    T_WJ: Pose
    axes: tuple[np.ndarray, ...]
    """Unit vectors in the joint's frame, one for each axis that the type has."""
    element: Joint
    mimics: tuple[PlacedMimic | None, ...] = ()
    """For each axis whom it follows; empty if none of them follows any."""
    sensors: tuple[PlacedSensor, ...] = ()
    """Those for force and torque."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """All that a file puts into the world, in the order in which it is written."""

    name: str
    """Of the world, else of the first model."""
    gravity: np.ndarray
    """[m/s^2], shape (3,)."""
    physics: Physics
    has_world: bool
    links: tuple[PlacedLink, ...]
    joints: tuple[PlacedJoint, ...]
    """Model by model, then the joints of the world itself."""
    warnings: tuple[Diagnostic, ...]


def assemble(root: Root) -> Assembly:
    """
    Resolve names and frames, and flatten models and worlds.

    :param root: What a file says.
    :returns: Its links and joints, in the order in which they are written.
    :raises SdfError: If a name leads nowhere, frames run in a circle, or something would move
        otherwise than the file says; lists all of these.
    """
    report = Report(warnings=list(root.warnings))
    graph = FrameGraph(root, report)
    leaders = resolve_mimics(graph, report)
    world = root.worlds[0] if root.worlds else None
    for other in root.worlds[1:]:
        report.warn('WARNING', other.location,
                    f"world '{other.name}' is left out, since world '{root.worlds[0].name}' "
                    'comes first')
    models = (*(world.models if world else ()), *root.models)
    if not root.models and not root.worlds:
        report.error('ELEMENT_MISSING', root.location, '<sdf> holds no <model> and no <world>')
    _check_model_names(models, report)
    flat = [item for model in models for item in _flatten(model, '', model.name, False)]
    if world:
        flat += [_Flat(joint, joint.name, '', False, False) for joint in world.joints]
    _refuse_unsupported(flat, report)
    report.raise_errors()
    links = [item for item in flat if isinstance(item.element, Link)]
    joints = [item for item in flat if isinstance(item.element, Joint)]
    index_of = {graph[item.element]: index for index, item in enumerate(links)}
    index_of |= {graph[item.element]: index for index, item in enumerate(joints)}
    with np.errstate(all='ignore'):  # what is too large for a number is refused below
        placed = tuple(_place_link(item, graph) for item in links)
        held = tuple(_place_joint(item, graph, index_of, leaders) for item in joints)
    _check_finite(placed, held, report)
    return Assembly(
        name=world.name if world else models[0].name,
        gravity=world.gravity if world else default_gravity(),
        physics=world.physics if world else default_physics(root.location),
        has_world=world is not None,
        links=placed, joints=held,
        warnings=tuple(report.warnings))


class _Flat(NamedTuple):
    """A link or joint out of its nest."""

    element: Any
    name: str
    model: str
    is_static: bool
    self_collide: bool


def _check_model_names(models: tuple[Model, ...], report: Report) -> None:
    taken: dict[str, Model] = {}
    for model in models:
        other = taken.setdefault(model.name, model)
        if other is not model:
            report.error('DUPLICATE_NAME', model.location,
                         f"model '{model.name}' has the name of the model in line "
                         f'{other.location.line}')


def _flatten(model: Model, scope: str, top: str, is_static: bool) -> Iterator[_Flat]:
    is_static = is_static or model.static
    for child in model.children:
        name = scope + child.name
        if isinstance(child, Model):
            yield from _flatten(child, f'{name}::', top, is_static)
        elif isinstance(child, (Link, Joint)):
            self_collide = model.self_collide or getattr(child, 'self_collide', False)
            yield _Flat(child, name, top, is_static, self_collide)


def _place_link(item: _Flat, graph: FrameGraph) -> PlacedLink:
    link, vertex = item.element, graph[item.element]
    return PlacedLink(
        name=item.name, model=item.model, T_WL=graph.T_W(vertex), is_static=item.is_static,
        self_collide=item.self_collide, element=link,
        collisions=_place_parts(PlacedShape, link.collisions, vertex, graph),
        visuals=_place_parts(PlacedShape, link.visuals, vertex, graph),
        sensors=_place_parts(
            PlacedSensor, [sensor for sensor in link.sensors
                           if isinstance(sensor, (ContactSensor, ImuSensor))], vertex, graph))


def _place_parts(kind: type, parts: Iterable, link: Vertex, graph: FrameGraph) -> tuple:
    return tuple(kind(name=part.name, T_LS=graph.T_in_holder(part, link), element=part)
                 for part in parts)


def _place_joint(item: _Flat, graph: FrameGraph, index_of: dict[Vertex, int],
                 leaders: dict[JointAxis, JointAxis]) -> PlacedJoint:
    joint, vertex = item.element, graph[item.element]
    parent = graph.body(resolved(graph.joint_end(vertex, 'parent')))
    child, T_WJ = graph.body(vertex), graph.T_W(vertex)
    T_LJ = graph.T_W(child).inverse() @ T_WJ
    axes = (joint.axis, joint.axis2)[:AXES_OF_TYPE[joint.type]]
    return PlacedJoint(
        name=item.name, model=item.model, element=joint, parent=index_of.get(parent, WORLD),
        child=index_of[child], T_WJ=T_WJ,
        axes=tuple(_axis_in_joint(axis, vertex, graph) for axis in axes),
        mimics=_place_mimics(vertex, index_of, leaders),
        sensors=tuple(PlacedSensor(part.name, T_LJ @ graph.T_in_holder(part, vertex), part)
                      for part in joint.sensors if isinstance(part, ForceTorqueSensor)))


def _place_mimics(joint: Vertex, index_of: dict[Vertex, int],
                  leaders: dict[JointAxis, JointAxis]) -> tuple[PlacedMimic | None, ...]:
    mimics: list[PlacedMimic | None] = []
    for number in range(AXES_OF_TYPE[joint.element.type]):
        leader = leaders.get(JointAxis(joint, number))
        mimics.append(leader and PlacedMimic(
            index_of[leader.joint], leader.number,
            getattr(joint.element, AXIS_TAGS[number]).mimic))
    return tuple(mimics) if any(mimics) else ()


def _axis_in_joint(axis: Axis, joint: Vertex, graph: FrameGraph) -> np.ndarray:
    if not axis.expressed_in:
        return axis.xyz
    frame = resolved(graph.find(axis.expressed_in, joint.scope))
    return graph.T_W(joint).R.T @ (graph.T_W(frame).R @ axis.xyz)


def _refuse_unsupported(flat: list[_Flat], report: Report) -> None:
    """Refuse what the elements hold but nothing after this room can simulate yet."""
    for item in flat:
        if isinstance(item.element, Link):
            _refuse_link(item.element, report)
            continue
        joint = item.element
        for tag in AXIS_TAGS[:AXES_OF_TYPE[joint.type]]:
            if getattr(joint, tag) is None:
                report.error('ELEMENT_MISSING', joint.location,
                             f"joint '{joint.name}': <{tag}> is missing (needed for type "
                             f"'{joint.type}'; write <{tag}><xyz>0 0 1</xyz></{tag}>)")


def _refuse_link(link: Link, report: Report) -> None:
    reasons = {
        '<gravity>false': not link.gravity,
        '<kinematic>true': link.kinematic,
        '<enable_wind>true': link.enable_wind}
    for what, is_asked in reasons.items():
        if is_asked:
            report.error('ELEMENT_INVALID', link.location,
                         f"link '{link.name}': {what} is not supported yet")
    for collision in link.collisions:
        shape = collision.geometry
        if isinstance(shape, Heightmap | Polyline):
            report.error('ELEMENT_INVALID', shape.location,
                         f"link '{link.name}': collision '{collision.name}': "
                         f'<{type(shape).__name__.lower()}> is not supported yet, and things '
                         'would fall through it (possible: plane, sphere, capsule, box, cylinder, '
                         'cone, ellipsoid, mesh)')


def _check_finite(links: tuple[PlacedLink, ...], joints: tuple[PlacedJoint, ...],
                  report: Report) -> None:
    """Refuse poses that are finite one by one, but not together."""
    placed: list[tuple[str, Any, Pose]] = [
        *(('link', link.element, link.T_WL) for link in links),
        *(('joint', joint.element, joint.T_WJ) for joint in joints)]
    for link in links:
        placed += [('collision', part.element, part.T_LS) for part in link.collisions]
        placed += [('visual', part.element, part.T_LS) for part in link.visuals]
    placed += [('sensor', part.element, part.T_LS)
               for part in [part for link in links for part in link.sensors]
               + [part for joint in joints for part in joint.sensors]]
    for kind, element, T in placed:
        if not np.isfinite(T.p).all():
            report.error('ELEMENT_INVALID', element.location,
                         f"{kind} '{element.name}': its pose, with those that it hangs on, comes "
                         'to more than a number can hold')
    report.raise_errors()


def unique_names(placed: Sequence[PlacedLink | PlacedJoint]) -> tuple[str, ...]:
    """
    Name links or joints; those whose names could mean two things become ``model::name``.

    :param placed: The links or joints of an assembly.
    :returns: A name for each, all different.
    """
    count = Counter(item.name for item in placed)
    qualified = [f'{item.model}::{item.name}' if item.model else item.name for item in placed]
    taken = set(qualified)
    return tuple(item.name if count[item.name] == 1 and item.name not in taken else name
                 for item, name in zip(placed, qualified))
