"""Mass properties of links: read, checked, and computed from collisions where a file asks to."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Collision, Inertial, Link, Mesh, Root
from spr_dynamics.sdformat.fields import read_fields, read_pose
from spr_dynamics.sdformat.frames import FrameGraph
from spr_dynamics.sdformat.meshes import mesh_solid
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.schema import ADDED_MASS_TERMS
from spr_dynamics.sdformat.solids import Solid, SOLIDS
from spr_dynamics.sdformat.values import frozen_array
from spr_dynamics.sdformat.xml import XmlElement

MeshPlaces = Callable[[Mesh], list[Path]]
BEYOND_NUMBERS = 'comes to a mass that is too large or too small for a number'
DEFAULT_DENSITY = 1000.0  # [kg/m^3] SDFormat's default, that of water
INERTIA_ROUNDOFF = 1e-12  # relative to the trace; eigenvalues of a flat body are off by that much


def parse_inertial(element: XmlElement, report: Report) -> Inertial:
    """
    Read and check the mass properties of a link.

    :param element: The ``<inertial>``.
    :param report: Takes errors.
    :returns: What is written; `with_auto_inertia` computes the rest where that is asked for.
    """
    fields = read_fields(element, report)
    moments = read_fields(element.first_or_empty('inertia'), report)
    inertia = frozen_array([
        [moments['ixx'], moments['ixy'], moments['ixz']],
        [moments['ixy'], moments['iyy'], moments['iyz']],
        [moments['ixz'], moments['iyz'], moments['izz']]])
    is_auto, mass = fields['auto'], element.first('mass')
    if fields['mass'] < 0 and mass is not None:
        report.error('LINK_INERTIA_INVALID', mass.location,
                     f"{element.owner}: <mass> '{mass.text}' is out of range (needs at least 0)")
    if not is_auto:
        _check_inertia(element, inertia, report)
    elif element.first('pose') is not None or element.first('inertia') is not None:
        report.warn('WARNING', element.location,
                    f"{element.owner}: <inertial auto='true'> computes the pose and the inertia; "
                    'what is written is not used')
    return Inertial(
        location=element.location, mass=fields['mass'], inertia=inertia, is_auto=is_auto,
        pose=read_pose(element, report)['pose'], density=fields['density'],
        auto_mass=fields['mass'] if is_auto and mass is not None else None,
        fluid_added_mass=_parse_added_mass(element.first('fluid_added_mass'), report))


def with_auto_inertia(root: Root, graph: FrameGraph, report: Report,
                      mesh_places: MeshPlaces) -> Root:
    """
    Compute the mass properties that a file leaves to its collisions.

    :param root: What the file says.
    :param graph: Its frames.
    :param report: Takes an error for each collision that has no volume, and a warning where
        SDFormat's density is used since the file names none.
    :param mesh_places: Gives the files that the URI of a mesh may mean.
    :returns: The same, with ``Inertial`` of these links filled in.
    """
    links = [vertex.element for vertex in graph.each(Link) if vertex.element.inertial.is_auto]
    # what is too large or too small for a number becomes infinite or NaN, which is refused
    with np.errstate(all='ignore'):
        filled = {link: replace(link, inertial=_auto_inertial(link, graph, report, mesh_places))
                  for link in links}
    return _replaced(root, filled) if filled else root


def _replaced(element: Any, filled: dict[Link, Link]) -> Any:
    """Rebuild a file, world or model with other links."""
    if isinstance(element, Root):
        return replace(element, models=tuple(_replaced(model, filled) for model in element.models),
                       worlds=tuple(_replaced(world, filled) for world in element.worlds))
    if hasattr(element, 'children'):
        return replace(
            element, children=tuple(_replaced(child, filled) for child in element.children))
    return filled.get(element, element)


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


def _parse_added_mass(element: XmlElement | None, report: Report) -> np.ndarray | None:
    if element is None:
        return None
    terms = read_fields(element, report)
    upper = np.zeros((6, 6))
    upper[np.triu_indices(6)] = [terms[name] for name in ADDED_MASS_TERMS]
    return frozen_array(upper + np.triu(upper, 1).T)


def _auto_inertial(link: Link, graph: FrameGraph, report: Report,
                   mesh_places: MeshPlaces) -> Inertial:
    """Add up what the collisions weigh, as if they were bodies that do not overlap."""
    inertial, owner = link.inertial, f"link '{link.name}'"
    if not link.collisions:
        report.error('ELEMENT_MISSING', inertial.location,
                     f"{owner}: <inertial auto='true'> needs a <collision> to compute from")
        return inertial
    masses, centres, abouts = [], [], []
    for collision in link.collisions:
        solid = _solid(collision, report, mesh_places)
        density = _density(collision, inertial, report)
        base = graph.part_base(collision, graph[link])
        if solid is None or density is None or base is None or report.errors:
            continue
        T_LS = graph.T_in_holder(collision, graph[link])
        masses.append(density * solid.volume)
        centres.append(T_LS.R @ solid.centre + T_LS.p)
        abouts.append(masses[-1] * T_LS.R @ solid.inertia @ T_LS.R.T)
    if len(masses) < len(link.collisions):
        return inertial
    return _added_up(link, masses, centres, abouts, report)


def _added_up(link: Link, masses: list[float], centres: list[np.ndarray],
              abouts: list[np.ndarray], report: Report) -> Inertial:
    """Return the inertial of bodies whose inertias are about their own centres."""
    inertial, mass = link.inertial, np.sum(masses)
    centre = sum(m * c for m, c in zip(masses, centres)) / mass
    inertia = sum(about + m * _point_inertia(c - centre)
                  for m, c, about in zip(masses, centres, abouts))
    share = 1.0 if inertial.auto_mass is None else inertial.auto_mass / mass
    if not np.isfinite(share * mass) or not np.isfinite(share * inertia).all():
        report.error('LINK_INERTIA_INVALID', inertial.location,
                     f"link '{link.name}': <inertial auto='true'> {BEYOND_NUMBERS}")
        return inertial
    return replace(
        inertial, mass=float(share * mass), inertia=frozen_array(share * inertia),
        pose=Pose(frozen_array(np.eye(3)), frozen_array(centre)))


def _point_inertia(c: np.ndarray) -> np.ndarray:
    """Return the inertia of a unit mass at c about the origin."""
    return c @ c * np.eye(3) - np.outer(c, c)


def _density(collision: Collision, inertial: Inertial, report: Report) -> float | None:
    """Return the density of a collision [kg/m^3]: its own, else that of the link's inertial."""
    density = inertial.density if collision.density is None else collision.density
    if density is None:
        if inertial.auto_mass is None:
            report.warn('WARNING', collision.location,
                        f"collision '{collision.name}': <density> is missing for <inertial "
                        f"auto='true'>; {DEFAULT_DENSITY:g} kg/m^3 is used")
        return DEFAULT_DENSITY
    if density > 0:
        return density
    report.error('LINK_INERTIA_INVALID', collision.location,
                 f"collision '{collision.name}': <density> '{density:g}' is not above zero")
    return None


def _solid(collision: Collision, report: Report, mesh_places: MeshPlaces) -> Solid | None:
    shape = collision.geometry
    problem = f'needs shapes with a volume, and this one is <{type(shape).__name__.lower()}>'
    if isinstance(shape, Mesh):
        try:
            return mesh_solid(shape, mesh_places(shape))
        except ValueError as error:
            problem = f"can't use mesh '{shape.uri}', which {error}"
    elif type(shape) in SOLIDS:
        try:
            return SOLIDS[type(shape)](shape)
        except OverflowError:
            problem = BEYOND_NUMBERS
    report.error('LINK_INERTIA_INVALID', shape.location,
                 f"collision '{collision.name}': <inertial auto='true'> {problem}")
    return None
