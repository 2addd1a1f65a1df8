"""How much volume a shape has, and how that lies about its centre."""

from collections.abc import Callable
import math
from typing import Any, NamedTuple

import numpy as np

from spr_dynamics.sdformat.elements import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere


class Solid(NamedTuple):
    """A body of uniform density, in the frame of its shape."""

    volume: float
    """[m^3]"""
    centre: np.ndarray
    """Of mass [m], shape (3,)."""
    inertia: np.ndarray
    """About that centre, for a mass of one [m^2], shape (3, 3)."""


def _solid(volume: float, moments, height: float = 0.0) -> Solid:
    """Make a solid of its moments along the axes and the height of its centre on z."""
    return Solid(volume, np.array([0.0, 0.0, height]), np.diag(moments))


def _box(box: Box) -> Solid:
    squares = box.size**2
    return _solid(float(np.prod(box.size)), (np.sum(squares) - squares) / 12)


def _sphere(sphere: Sphere) -> Solid:
    r = sphere.radius
    return _solid(4 / 3 * math.pi * r**3, np.full(3, 2 / 5 * r**2))


def _ellipsoid(ellipsoid: Ellipsoid) -> Solid:
    squares = ellipsoid.radii**2
    return _solid(float(4 / 3 * math.pi * np.prod(ellipsoid.radii)),
                  (np.sum(squares) - squares) / 5)


def _cylinder(cylinder: Cylinder | Capsule) -> Solid:
    r, length = cylinder.radius, cylinder.length
    across = r**2 / 4 + length**2 / 12
    return _solid(math.pi * r**2 * length, [across, across, r**2 / 2])


def _capsule(capsule: Capsule) -> Solid:
    """Put a half sphere, which has its centre 3/8 r above its base, on each end of a cylinder."""
    r, length = capsule.radius, capsule.length
    middle, ends = _cylinder(capsule), 4 / 3 * math.pi * r**3
    across = 2 / 5 * r**2 + length**2 / 4 + 3 / 8 * length * r
    volume = middle.volume + ends
    round_ends = np.diag([across, across, 2 / 5 * r**2])
    return Solid(volume, np.zeros(3),
                 (middle.volume * middle.inertia + ends * round_ends) / volume)


def _cone(cone: Cone) -> Solid:
    r, length = cone.radius, cone.length
    across = 3 / 80 * (4 * r**2 + length**2)
    return _solid(math.pi * r**2 * length / 3, [across, across, 3 / 10 * r**2], -length / 4)


SOLIDS: dict[type, Callable[[Any], Solid]] = {
    Box: _box, Sphere: _sphere, Ellipsoid: _ellipsoid, Cylinder: _cylinder, Capsule: _capsule,
    Cone: _cone}
