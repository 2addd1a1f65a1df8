"""The direction of contact between smooth surfaces, to the last digits."""
import math

from spr_dynamics.contact.geometry import MAX_CORNERS, shapes_of
from spr_dynamics.contact.support import length, put_difference
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import CONE, CYLINDER, ELLIPSOID
from spr_dynamics.spatial import add, cross, dot, scale, subtract, Vector

SCRATCH = MAX_CORNERS - 1  # corner that no other algorithm gets to
MAX_STEPS = 8  # Newton's method takes 2 to 4
LONGEST_STEP = 0.5  # [rad] beyond this the start was not near
SETTLED = 1e-9  # slope, relative to the smaller shape; the gap's error is about its square
NUDGE = 1e-4  # [rad] over which curvatures are measured


@inlined
def tangents(n):
    """Return two unit vectors across n: the first leans on the world axis least along n."""
    x, y, z = abs(n.x), abs(n.y), abs(n.z)
    if x <= y and x <= z:
        axis = Vector(1.0, 0.0, 0.0)
    elif y <= z:
        axis = Vector(0.0, 1.0, 0.0)
    else:
        axis = Vector(0.0, 0.0, 1.0)
    t1 = subtract(axis, scale(n, dot(n, axis)))
    t1 = scale(t1, 1.0 / math.sqrt(dot(t1, t1)))
    return t1, cross(n, t1)


@inlined
def are_curved(geometry, a, b):
    """Say whether one of two shapes has a core with round sides."""
    kind_a, kind_b = shapes_of(geometry)[a].kind, shapes_of(geometry)[b].kind
    return (kind_a == CYLINDER or kind_a == CONE or kind_a == ELLIPSOID
            or kind_b == CYLINDER or kind_b == CONE or kind_b == ELLIPSOID)


@exact
def refine(geometry, a, b, r, n, size):
    """
    Find the direction near n along which two shapes' cores are farthest apart.

    Newton's method on the sphere of directions: the overlap w . n has the slope t . w along a
    tangent t, and the curvature of the difference's surface less its distance bends it. Where
    the shapes meet at an edge or a corner it does not converge.

    :returns: Whether it converged, the direction, and a - b of the points that are farthest
        along it.
    """
    w = put_difference(geometry, a, b, r, n, SCRATCH)
    for _ in range(MAX_STEPS):
        t1, t2 = tangents(n)
        s1, s2 = dot(t1, w), dot(t2, w)
        if s1 * s1 + s2 * s2 <= SETTLED * SETTLED * size * size:
            return True, n, w
        d1 = subtract(put_difference(geometry, a, b, r, add(n, scale(t1, NUDGE)), SCRATCH), w)
        d2 = subtract(put_difference(geometry, a, b, r, add(n, scale(t2, NUDGE)), SCRATCH), w)
        overlap = dot(n, w)
        k11, k22 = dot(t1, d1) / NUDGE - overlap, dot(t2, d2) / NUDGE - overlap
        k12 = 0.5 * (dot(t1, d2) + dot(t2, d1)) / NUDGE
        determinant = k11 * k22 - k12 * k12
        if not (k11 > 0.0 and determinant > 0.0):
            break
        x = (k12 * s2 - k22 * s1) / determinant
        y = (k12 * s1 - k11 * s2) / determinant
        if x * x + y * y > LONGEST_STEP * LONGEST_STEP:
            break
        further = add(n, add(scale(t1, x), scale(t2, y)))
        further = scale(further, 1.0 / length(further))
        w_further = put_difference(geometry, a, b, r, further, SCRATCH)
        if dot(further, w_further) > overlap:
            break
        n, w = further, w_further
    return False, n, w
