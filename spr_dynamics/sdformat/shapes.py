"""Read collisions and visuals: shapes, surfaces, colours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import (
    Box, BulletFriction, Capsule, Collision, Cone, Cylinder, Ellipsoid, Empty, Geometry,
    Heightmap, Mesh, Plane, Polyline, Sphere, Surface, TorsionalFriction, Visual)
from spr_dynamics.sdformat.fields import read_fields, read_pose, read_text
from spr_dynamics.sdformat.values import frozen_array, number, several, unit_vector
from spr_dynamics.sdformat.xml import XmlElement

MIN_CORNERS = 3
SHADERS = (
    'pixel', 'vertex', 'normal_map_objectspace', 'normal_map_tangentspace',
    'normal_map_object_space', 'normal_map_tangent_space')
CUT = 'convex_decomposition'
OPTIMIZATIONS = ('convex_hull', CUT)
VOXELS_ALONG = 20, 100  # each side of a mesh, as CoACD can take them


def parse_collision(element: XmlElement, report: Report) -> Collision:
    """
    Read a collision.

    :param element: The ``<collision>``.
    :param report: Takes errors.
    :returns: The collision.
    """
    return Collision(
        location=element.location, **read_fields(element, report), **read_pose(element, report),
        geometry=_parse_geometry(element, report), surface=_parse_surface(element, report))


def parse_visual(element: XmlElement, report: Report) -> Visual:
    """
    Read a visual.

    :param element: The ``<visual>``.
    :param report: Takes errors.
    :returns: The visual.
    """
    material = element.first_or_empty('material')
    _check_material(material, report)
    return Visual(
        location=element.location, **read_fields(element, report), **read_pose(element, report),
        geometry=_parse_geometry(element, report), **read_fields(material, report))


def _check_material(material: XmlElement, report: Report) -> None:
    """Refuse what Gazebo refuses, though nothing here depends on it."""
    script, shader = material.first('script'), material.first('shader')
    for tag, code in (('uri', 'ELEMENT_INVALID'), ('name', 'ELEMENT_MISSING')):
        if script and script.first_or_empty(tag).text in ('', '__default__'):
            report.error(code, script.location,
                         f'{material.owner}: <script> of <material> needs a <{tag}>')
    if shader is None:
        return
    kind = shader.attributes.get('type', SHADERS[0])
    if kind not in SHADERS:
        report.error('ELEMENT_INVALID', shader.location,
                     f"{material.owner}: <shader> of type '{kind}' is unknown"
                     f'{name_hint(kind, SHADERS)}')
    elif kind.startswith('normal_map') and not shader.first_or_empty('normal_map').text:
        report.error('ELEMENT_MISSING', shader.location,
                     f"{material.owner}: <shader> of type '{kind}' needs a <normal_map>")


def _parse_geometry(element: XmlElement, report: Report) -> Geometry:
    geometry = element.first_or_empty('geometry')
    for tag, parse in SHAPES.items():
        shape = geometry.first(tag)
        if shape is not None:
            return parse(shape, report)
    return Empty(location=geometry.location)


def _parse_plain(shape: type) -> Callable[[XmlElement, Report], Geometry]:
    return lambda element, report: shape(
        location=element.location, **read_fields(element, report))


def _parse_plane(element: XmlElement, report: Report) -> Plane:
    normal = read_text(
        element.first_or_empty('normal'), '<normal>', unit_vector, frozen_array([0.0, 0.0, 1.0]),
        report)
    return Plane(location=element.location, normal=normal, **read_fields(element, report))


def _parse_mesh(element: XmlElement, report: Report) -> Mesh:
    submesh = element.first('submesh')
    part = read_fields(submesh or element.first_or_empty('submesh'), report)
    if submesh is not None and submesh.first('name') is None:
        report.error('ELEMENT_MISSING', submesh.location,
                     f'{element.owner}: <submesh> needs a <name>')
    fields = read_fields(element, report)
    wanted = fields['optimization']
    if wanted and wanted not in OPTIMIZATIONS:
        report.warn('WARNING', element.location,
                    f"{element.owner}: optimization='{wanted}' of <mesh> is unknown and is "
                    f'ignored{name_hint(wanted, OPTIMIZATIONS)}')
        fields['optimization'] = ''
    return Mesh(
        location=element.location, submesh=part['name'], center=part['center'], **fields,
        **_read_decomposition(element, fields['optimization'], report))


def _read_decomposition(element: XmlElement, optimization: str, report: Report
                        ) -> dict[str, Any]:
    """Read how a mesh is to be cut, and say what of that is not done."""
    settings = element.first_or_empty('convex_decomposition')
    fields = read_fields(settings, report)
    if optimization != CUT:
        if settings in element.children:
            report.warn('WARNING', settings.location,
                        f'{element.owner}: <convex_decomposition> is ignored: it needs '
                        f"optimization='{CUT}' of <mesh>")
        return fields
    few, many = (along ** 3 for along in VOXELS_ALONG)
    wanted = fields['voxel_resolution']
    if not few <= wanted <= many:
        fields['voxel_resolution'] = min(max(wanted, few), many)
        report.warn('WARNING', settings.first_or_empty('voxel_resolution').location,
                    f"{element.owner}: <voxel_resolution> '{wanted}' counts as "
                    f"{fields['voxel_resolution']} (possible: {few} to {many})")
    return fields


def _parse_polyline(element: XmlElement, report: Report) -> Polyline:
    points = [read_text(point, '<point>', several(number, 2), np.zeros(2), report)
              for point in element.all('point')]
    if len(points) < MIN_CORNERS:
        report.error('ELEMENT_MISSING', element.location,
                     f'{element.owner}: <polyline> needs at least {MIN_CORNERS} <point>')
        points = [np.zeros(2)] * MIN_CORNERS
    return Polyline(
        location=element.location, points=frozen_array(points), **read_fields(element, report))


# of two shapes in one geometry, libsdformat takes the first in this order
SHAPES = {
    'box': _parse_plain(Box), 'capsule': _parse_plain(Capsule), 'cone': _parse_plain(Cone),
    'cylinder': _parse_plain(Cylinder), 'ellipsoid': _parse_plain(Ellipsoid),
    'plane': _parse_plane, 'sphere': _parse_plain(Sphere), 'mesh': _parse_mesh,
    'heightmap': _parse_plain(Heightmap), 'polyline': _parse_polyline}


def _parse_surface(element: XmlElement, report: Report) -> Surface:
    surface = element.first_or_empty('surface')
    friction = surface.first_or_empty('friction')
    contact = surface.first_or_empty('contact')
    bounce = read_fields(surface.first_or_empty('bounce'), report)
    return Surface(
        location=surface.location, restitution=bounce['restitution_coefficient'],
        restitution_threshold=bounce['threshold'], **read_fields(contact, report),
        **read_fields(friction.first_or_empty('ode'), report),
        bullet=_parse_bullet(friction.first('bullet'), report),
        torsional=_parse_torsional(friction.first('torsional'), report),
        **read_fields(contact.first_or_empty('ode'), report))


def _parse_bullet(element: XmlElement | None, report: Report) -> BulletFriction | None:
    if element is None:
        return None
    return BulletFriction(location=element.location, **read_fields(element, report))


def _parse_torsional(element: XmlElement | None, report: Report) -> TorsionalFriction | None:
    if element is None:
        return None
    return TorsionalFriction(
        location=element.location, **read_fields(element, report),
        **read_fields(element.first_or_empty('ode'), report))
