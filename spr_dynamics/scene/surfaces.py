"""Shapes as triangles, for whoever can draw nothing else."""
from collections.abc import Sequence
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spr_dynamics.sdformat.elements import (
    Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Polyline, Sphere)
from spr_dynamics.sdformat.meshes import mesh_triangles

SIDES = 24  # of what stands for a circle


class Surface(NamedTuple):
    """Triangles, counter-clockwise seen from outside."""

    points: np.ndarray
    """Corners in the frame of the shape [m], shape (n, 3)."""
    triangles: np.ndarray
    """Three indices into ``points`` each, shape (m, 3)."""


def surface(geometry: Geometry, places: Sequence[Path] = ()) -> Surface:
    """
    Cover a shape with triangles; round ones get corners on their surface.

    :param geometry: The shape.
    :param places: Of a mesh, the files that it may mean, the one to prefer first.
    :raises ValueError: If that can't be done; the end of a sentence.
    """
    match geometry:
        case Box():
            return _box(geometry.size)
        case Sphere():
            return revolved(_arc(geometry.radius, -90.0, 90.0))
        case Ellipsoid():
            ball = revolved(_arc(1.0, -90.0, 90.0))
            return Surface(ball.points * geometry.radii, ball.triangles)
        case Capsule():
            up = np.array([0.0, 0.5 * geometry.length])
            return revolved(np.vstack([_arc(geometry.radius, -90.0, 0.0) - up,
                                       _arc(geometry.radius, 0.0, 90.0) + up]))
        case Cylinder():
            r, half = geometry.radius, 0.5 * geometry.length
            return revolved(np.array([[0.0, -half], [r, -half], [r, half], [0.0, half]]))
        case Cone():
            r, half = geometry.radius, 0.5 * geometry.length
            return revolved(np.array([[0.0, -half], [r, -half], [0.0, half]]))
        case Plane():
            return _sheet(geometry)
        case Polyline():
            return _prism(geometry.points, geometry.height)
        case Mesh():
            return Surface(*mesh_triangles(geometry, list(places)))
    raise ValueError(f'is of type {type(geometry).__name__.lower()}, which is not drawn yet')


def revolved(profile: np.ndarray) -> Surface:
    """
    Turn a line about the z axis.

    :param profile: Distances from the axis, and heights, upwards along the outside; shape (n, 2),
        the first and last on the axis.
    """
    rings, step = profile[1:-1], 2.0 * math.pi / SIDES
    turn = step * np.arange(SIDES)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = [np.array([[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]])]
    points += [np.column_stack([r * ring, np.full(SIDES, z)]) for r, z in rings]
    here = np.arange(SIDES)
    after = (here + 1) % SIDES
    first, last = 2, 2 + (len(rings) - 1) * SIDES
    triangles = [np.column_stack([np.full(SIDES, 0), first + after, first + here]),
                 np.column_stack([np.full(SIDES, 1), last + here, last + after])]
    for low in range(first, last, SIDES):
        high = low + SIDES
        triangles += [np.column_stack([low + here, low + after, high + after]),
                      np.column_stack([low + here, high + after, high + here])]
    return Surface(np.vstack(points), np.vstack(triangles))


def _arc(radius: float, start: float, end: float) -> np.ndarray:
    """Return points on half a circle from the south, by their latitude in degrees."""
    n = round(SIDES * (end - start) / 360.0)
    latitude = np.radians(np.linspace(start, end, n + 1))
    arc = radius * np.column_stack([np.cos(latitude), np.sin(latitude)])
    arc[[abs(at) == math.pi / 2 for at in latitude], 0] = 0.0
    return arc


def _box(size: np.ndarray) -> Surface:
    corners = 0.5 * size * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Surface(corners, np.array(
        [triangle for a, b, c, d in faces for triangle in ((a, b, c), (a, c, d))]))


def _sheet(plane: Plane) -> Surface:
    """Return the part of a plane that is drawn."""
    z = plane.normal
    x = np.cross(np.eye(3)[1] if abs(z[1]) < 0.9 else np.eye(3)[2], z)
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    a, b = 0.5 * plane.size[0] * x, 0.5 * plane.size[1] * y
    return Surface(np.array([-a - b, a - b, a + b, b - a]), np.array([[0, 1, 2], [0, 2, 3]]))


def _prism(outline: np.ndarray, height: float) -> Surface:
    """Raise a polygon from z = 0 to a height."""
    outline = outline[np.any(outline != np.roll(outline, 1, axis=0), axis=1)]
    if _turn(outline) < 0.0:
        outline = outline[::-1]
    n = len(outline)
    points = np.vstack([np.column_stack([outline, np.full(n, z)]) for z in (0.0, height)])
    top = np.array(ears(outline)) + n
    here = np.arange(n)
    after = (here + 1) % n
    return Surface(points, np.vstack([
        top, top[:, ::-1] - n, np.column_stack([here, after, after + n]),
        np.column_stack([here, after + n, here + n])]))


def ears(outline: np.ndarray) -> list[tuple[int, int, int]]:
    """
    Cut a polygon into triangles, one ear after the other.

    :param outline: Its corners, counter-clockwise, shape (n, 2).
    :returns: Three indices for each triangle.
    :raises ValueError: If its sides cross each other; the end of a sentence.
    """
    left, triangles = list(range(len(outline))), []
    while len(left) > 2:
        at = next((at for at in range(len(left)) if _is_ear(outline, left, at)), None)
        if at is None:
            raise ValueError('is a polyline without an inside, or one whose sides cross')
        triangles.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return triangles


def _is_ear(outline: np.ndarray, left: list[int], at: int) -> bool:
    """Say whether a corner can be cut off: it points out, and no other corner is inside."""
    corners = left[at - 1], left[at], left[(at + 1) % len(left)]
    a, b, c = outline[list(corners)]
    if _cross(b - a, c - b) <= 0.0:
        return False
    return not any(
        min(_cross(b - a, p - a), _cross(c - b, p - b), _cross(a - c, p - c)) >= 0.0
        for p in outline[[k for k in left if k not in corners]])


def _turn(outline: np.ndarray) -> float:
    """Return twice the area of a polygon, negative if it is clockwise."""
    return sum(_cross(a, b) for a, b in zip(outline, np.roll(outline, -1, axis=0)))


def _cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
