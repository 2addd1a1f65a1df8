"""The convex hull of points, with its flat faces as loops of corners."""
import importlib
from typing import NamedTuple

import numpy as np

from spr_dynamics.sdformat.meshes import NEEDED
from spr_dynamics.sdformat.poses import Pose

COPLANAR = 1e-9  # one less the cosine between triangles of one face


class Hull(NamedTuple):
    """A convex polyhedron."""

    vertices: np.ndarray
    """[m], shape (n, 3)."""
    normals: np.ndarray
    """Of each face, outward, shape (faces, 3)."""
    loops: tuple[np.ndarray, ...]
    """Vertices of each face, counter-clockwise seen from outside."""
    edges: np.ndarray
    """Pairs of vertices, both ways, sorted, shape (n, 2); faces are cut into triangles."""
    volume: float
    """[m^3]"""


def convex_hull(points) -> Hull:
    """
    Wrap points.

    :param points: Shape (n, 3).
    :raises ValueError: If they enclose nothing; the end of a sentence.
    """
    try:
        spatial = importlib.import_module('scipy.spatial')
    except ImportError:
        raise ValueError(NEEDED) from None
    try:
        hull = spatial.ConvexHull(points)
    except (spatial.QhullError, ValueError):
        raise ValueError('is flat, or has less than four points') from None
    number = np.zeros(len(points), int)
    number[hull.vertices] = np.arange(len(hull.vertices))
    vertices = points[hull.vertices]
    normals, loops = [], []
    for group in coplanar(hull):
        normal = hull.equations[group[0], :3]
        corners = np.unique(number[hull.simplices[group]])
        normals.append(normal)
        loops.append(ordered(vertices, corners, normal))
    sides = number[hull.simplices][:, [[0, 1], [1, 2], [2, 0], [1, 0], [2, 1], [0, 2]]]
    return Hull(vertices, np.array(normals), tuple(loops), np.unique(sides.reshape(-1, 2), axis=0),
                float(hull.volume))


def coplanar(hull):
    """Collect the triangles of each flat face: those that hang together and look the same way."""
    normals, taken, groups = hull.equations[:, :3], np.zeros(len(hull.simplices), bool), []
    for first in range(len(hull.simplices)):
        if taken[first]:
            continue
        taken[first] = True
        group = [first]
        for triangle in group:
            for other in hull.neighbors[triangle]:
                if not taken[other] and normals[other] @ normals[first] > 1.0 - COPLANAR:
                    taken[other] = True
                    group.append(other)
        groups.append(group)
    return groups


def ordered(vertices, corners, normal):
    """Sort the corners of a face by their angle about its middle."""
    arms = vertices[corners] - vertices[corners].mean(axis=0)
    x = arms[np.argmax((arms ** 2).sum(axis=1))]
    angles = np.arctan2(arms @ np.cross(normal, x), arms @ x)
    return corners[np.argsort(angles)]


def height_above(hull, points):
    """Return how far points are above the faces of a hull [m]; negative: how deep inside."""
    heights = np.full(len(points), -np.inf)
    for normal, loop in zip(hull.normals, hull.loops):
        np.maximum(heights, (points - hull.vertices[loop[0]]) @ normal, out=heights)
    return heights


def place_of_centre(hull) -> Pose:
    """Return the pose of the middle of the box around a hull."""
    middle = 0.5 * (hull.vertices.min(axis=0) + hull.vertices.max(axis=0))
    return Pose(np.eye(3), middle)
