"""Collision elements to SHAPE records."""
from collections import Counter
import math

import numpy as np

from spr_dynamics.model.records import (
    BOX, PLANE, pose_from_transform, SHAPE, SPHERE, transform_from_pose)
from spr_dynamics.sdformat import elements
from spr_dynamics.sdformat.poses import Pose

RIGID = 1e12  # [N/m] SDF's default stiffness, which stands for none


def build_shapes(assembly, links, link_names):
    """
    Write a record for each collision that takes part in contacts.

    :param links: ``LINK`` records of the assembly's links.
    :param link_names: Their names, each of them once.
    :returns: Records, their names (``link::collision``), and a warning for each kind of thing
        that was read and has no effect yet.
    """
    records, names, ignored = [], [], Counter()
    for k, link in enumerate(assembly.links):
        for placed in link.collisions:
            record = shape_record(placed, k, links[k])
            if record is None:
                ignored[type(placed.element.geometry).__name__.lower()] += 1
                continue
            records.append(record)
            names.append(f'{link_names[k]}::{placed.name}')
    ignored.pop('empty', None)
    warnings = [f'{count} collision shapes of type {kind} are read but touch nothing yet '
                '(simulated: plane against sphere and box)' for kind, count in ignored.items()]
    shapes = np.array(records, SHAPE) if records else np.zeros(0, SHAPE)
    return shapes, tuple(names), (*warnings, *surface_warnings(assembly))


def shape_record(placed, k, link):
    """Return the record of one collision, or None if its geometry is not simulated."""
    geometry, surface = placed.element.geometry, placed.element.surface
    size, radius, turn = np.zeros(3), 0.0, np.eye(3)
    if isinstance(geometry, elements.Plane):
        kind, turn = PLANE, rotation_to(geometry.normal)
    elif isinstance(geometry, elements.Sphere):
        kind, radius = SPHERE, geometry.radius
        size[:] = radius
    elif isinstance(geometry, elements.Box):
        kind, size = BOX, 0.5 * np.asarray(geometry.size)
        radius = math.sqrt(size @ size)
    else:
        return None
    T_BS = pose_from_transform(link['X']) @ placed.T_LS @ Pose(turn, np.zeros(3))
    record = np.zeros((), SHAPE)
    record['kind'], record['link'], record['body'] = kind, k, link['body']
    record['size'], record['radius'] = size, radius
    record['X'] = transform_from_pose(T_BS)
    record['mu'] = surface.mu
    record['stiffness'] = surface.kp if surface.kp < RIGID else np.inf
    record['damping'] = surface.kd
    record['max_speed'] = np.nan if surface.max_vel is None else surface.max_vel
    record['min_depth'] = surface.min_depth
    record['collide_bitmask'] = surface.collide_bitmask
    record['category_bitmask'] = (
        surface.collide_bitmask if surface.category_bitmask is None else surface.category_bitmask)
    return record


def rotation_to(z):
    """Return a rotation that takes the z axis to the unit vector given."""
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def surface_warnings(assembly):
    """Name what surfaces ask for and the contact solver does not do yet."""
    asks = Counter()
    for link in assembly.links:
        for placed in link.collisions:
            surface = placed.element.surface
            asks['a second friction coefficient (mu2)'] += surface.mu2 != surface.mu
            asks['slip'] += surface.slip1 != 0.0 or surface.slip2 != 0.0
            torsional = surface.torsional
            asks['torsional friction'] += torsional is not None and torsional.coefficient * (
                torsional.patch_radius if torsional.use_patch_radius
                else torsional.surface_radius) > 0.0
            asks['restitution'] += surface.restitution > 0.0
    return [f'{what} of {count} collision surfaces is read but not simulated yet'
            for what, count in asks.items() if count]
