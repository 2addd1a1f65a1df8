"""Collision elements to SHAPE records."""
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.hull import Hull, place_of_centre
from spr_dynamics.model.pieces import mesh_pieces
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, FACE, PLANE, pose_from_transform, SHAPE,
    SPHERE, transform_from_pose)
from spr_dynamics.sdformat import elements
from spr_dynamics.sdformat.poses import Pose

RIGID = 1e12  # [N/m] SDF's default stiffness, which stands for none
NO_BOUNCE = 1e5  # [m/s] SDF's default threshold of bounces, which no robot gets to
TORSION = 1.0  # SDF's default coefficient of torsional friction; its default patch is a point
ROUND = {elements.Cylinder: CYLINDER, elements.Capsule: CAPSULE, elements.Cone: CONE}


class Shapes(NamedTuple):
    """The collisions of a model that take part in contacts."""

    records: np.ndarray
    """``SHAPE``, in file order."""
    names: tuple[str, ...]
    """Of each, ``link::collision``; pieces of a mesh share it."""
    vertices: np.ndarray
    """Of convex meshes: all of each, then the loops of its faces, shape (n, 3)."""
    neighbours: np.ndarray
    """Entry i is where in the same array the neighbours of vertex i are listed, up to a -1."""
    faces: np.ndarray
    """``FACE``."""
    warnings: tuple[str, ...]
    """What was read and is not simulated as it was asked for, a line each."""


def build_shapes(assembly, links, link_names, mesh_places) -> Shapes:
    """
    Write a record for each collision that takes part in contacts.

    :param links: ``LINK`` records of the assembly's links.
    :param link_names: Their names, each of them once.
    :param mesh_places: Gives the files that a mesh may mean, or raises ValueError.
    """
    records, names, hulls = [], [], Hulls()
    warnings: list[str] = []
    for k, link in enumerate(assembly.links):
        for placed in link.collisions:
            name, geometry = f'{link_names[k]}::{placed.name}', placed.element.geometry
            if isinstance(geometry, elements.Mesh):
                pieces = mesh_pieces(name, geometry, mesh_places)
                forms = [hulls.add(hull) for hull in pieces.hulls]
                warnings += pieces.warnings
            else:
                form = form_of(geometry)
                forms = [] if form is None else [(form, Pose.identity())]
            for record, T_CS in forms:
                put_place(record, k, links[k], placed.T_LS @ T_CS, geometry)
                put_surface(record, placed.element.surface)
                put_direction(record, links[k], placed)
                records.append(record)
                names.append(name)
    shapes = np.array(records, SHAPE) if records else np.zeros(0, SHAPE)
    return Shapes(shapes, tuple(names), *hulls.arrays(),
                  warnings=(*warnings, *surface_warnings(assembly)))


def form_of(geometry) -> np.ndarray | None:
    """Return a record with kind and size of what is no mesh; None if it is no shape at all."""
    record = np.zeros((), SHAPE)
    if isinstance(geometry, elements.Plane):
        record['kind'] = PLANE
    elif isinstance(geometry, elements.Sphere):
        record['kind'], record['size'] = SPHERE, geometry.radius
    elif isinstance(geometry, elements.Box):
        record['kind'], record['size'] = BOX, 0.5 * np.asarray(geometry.size)
    elif isinstance(geometry, elements.Ellipsoid):
        record['kind'], record['size'] = ELLIPSOID, geometry.radii
    elif type(geometry) in ROUND:
        record['kind'] = ROUND[type(geometry)]
        r, half = geometry.radius, 0.5 * geometry.length
        record['size'] = r, r, half + r if record['kind'] == CAPSULE else half
    else:
        return None
    record['radius'] = radius_of(int(record['kind']), record['size'])
    return record


def radius_of(kind, size) -> float:
    """Return how far a shape reaches from its origin."""
    if kind in (SPHERE, CAPSULE, ELLIPSOID):
        return max(size)
    if kind in (CYLINDER, CONE):
        return math.hypot(size[0], size[2])
    return math.hypot(*size)


class Hulls:
    """The vertices and faces of convex meshes, one mesh after the other."""

    def __init__(self) -> None:
        self._vertices: list[np.ndarray] = []
        self._faces: list[tuple] = []
        self._lists: dict[int, list[int]] = {}
        self._n = 0

    def add(self, hull: Hull) -> tuple[np.ndarray, Pose]:
        """Add a hull, and return a record with its kind and size, and the pose of its centre."""
        record, T = np.zeros((), SHAPE), place_of_centre(hull)
        vertices = hull.vertices - T.p
        record['kind'], record['size'] = CONVEX, np.abs(vertices).max(axis=0)
        record['radius'] = np.sqrt((vertices ** 2).sum(axis=1).max())
        record['first_vertex'], record['n_vertices'] = self._n, len(vertices)
        record['first_face'], record['n_faces'] = len(self._faces), len(hull.loops)
        for i, j in hull.edges + self._n:
            self._lists.setdefault(int(i), []).append(int(j))
        self._append(vertices)
        for normal, loop in zip(hull.normals, hull.loops):
            self._faces.append((normal, self._n, len(loop)))
            self._append(vertices[loop])
        return record, T

    def _append(self, vertices):
        self._vertices.append(vertices)
        self._n += len(vertices)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all vertices, who their neighbours are, and all FACE records."""
        starts: list[int] = []
        lists: list[int] = []
        for i in range(self._n):
            starts.append(self._n + len(lists))
            lists += [*self._lists.get(i, ()), -1]
        return (np.concatenate([np.zeros((0, 3)), *self._vertices]),
                np.array(starts + lists, np.int64),
                np.array(self._faces, FACE) if self._faces else np.zeros(0, FACE))


def put_place(record, k, link, T_LS, geometry):
    """Write whose shape it is, and where it sits; the z axis of a plane is its normal."""
    turn = rotation_to(geometry.normal) if isinstance(geometry, elements.Plane) else np.eye(3)
    T_BS = pose_from_transform(link['X']) @ T_LS @ Pose(turn, np.zeros(3))
    record['link'], record['body'] = k, link['body']
    record['X'] = transform_from_pose(T_BS)


def put_surface(record, surface):
    """Write how it rubs and yields."""
    record['mu'], record['mu2'] = surface.mu, surface.mu2
    record['slip1'], record['slip2'] = surface.slip1, surface.slip2
    if surface.torsional is not None:
        torsional = surface.torsional
        record['torsion'], record['torsion_slip'] = torsional.coefficient, torsional.slip
        arm = 'patch_radius' if torsional.use_patch_radius else 'surface_radius'
        record[arm] = getattr(torsional, arm)
    else:
        record['torsion'] = TORSION
    if surface.bullet is not None and surface.bullet.rolling_friction is not None:
        record['rolling'] = surface.bullet.rolling_friction
    record['restitution'] = surface.restitution
    record['bounce_speed'] = surface.restitution_threshold
    record['stiffness'] = surface.kp if surface.kp < RIGID else np.inf
    record['damping'] = surface.kd
    record['max_speed'] = np.nan if surface.max_vel is None else surface.max_vel
    record['min_depth'] = surface.min_depth
    record['collide_bitmask'] = surface.collide_bitmask
    record['category_bitmask'] = (
        surface.collide_bitmask if surface.category_bitmask is None else surface.category_bitmask)


def put_direction(record, link, placed):
    """Write the first direction of friction, which is given in the frame of the collision."""
    R_BC = pose_from_transform(link['X']).R @ placed.T_LS.R
    record['fdir1'] = pose_from_transform(record['X']).R.T @ R_BC @ placed.element.surface.fdir1


def rotation_to(z):
    """Return a rotation that takes the z axis to the unit vector given."""
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def surface_warnings(assembly):
    """Name what surfaces ask for and don't get."""
    surfaces = [placed.element.surface for link in assembly.links for placed in link.collisions]
    lively = [surface for surface in surfaces if surface.restitution > 0.0]
    other_friction = [surface for surface in surfaces if surface.bullet is not None and not (
        surface.bullet.friction == surface.mu and surface.bullet.friction2 == surface.mu2
        and np.array_equal(surface.bullet.fdir1, surface.fdir1))]
    warnings = []
    if lively and all(surface.restitution_threshold >= NO_BOUNCE for surface in lively):
        warnings.append(f'restitution of {len(lively)} collision surfaces lets nothing bounce: '
                        f'their <threshold> is {NO_BOUNCE:g} m/s, which is the default')
    if other_friction:
        warnings.append(f'friction of {len(other_friction)} collision surfaces is that of their '
                        '<ode>, which differs from that of their <bullet>')
    return warnings
