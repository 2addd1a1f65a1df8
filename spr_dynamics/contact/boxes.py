"""
Boxes against boxes, by separating axes.

Two boxes are apart as far as along one of 15 directions: the axes of each, and what is across
one edge of each.
"""
import math

from spr_dynamics.contact.geometry import FOUND, points_of, shapes_of
from spr_dynamics.contact.manifold import (
    choose, deepest_of, DEPTH_TIE, EDGES, FACE_PREFERENCE, GRAZING, LEEWAY, put_cut_points,
    put_point)
from spr_dynamics.contact.support import orientation, put_faces
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import (
    add, cross, dot, scale, subtract, Vector)

PARALLEL = 1e-6  # sine of the angle between two edges that have no direction across both
NOTHING, UNSURE = 0, -1  # counts of contacts: the second asks for the general way


@inlined
def column(R, i):
    """Return an axis of a frame."""
    if i == 0:
        return Vector(R.xx, R.yx, R.zx)
    if i == 1:
        return Vector(R.xy, R.yy, R.zy)
    return Vector(R.xz, R.yz, R.zz)


@inlined
def reach(R, size, n):
    """Return how far a box reaches from its centre along n."""
    return (abs(dot(column(R, 0), n)) * size[0] + abs(dot(column(R, 1), n)) * size[1]
            + abs(dot(column(R, 2), n)) * size[2])


@inlined
def edge_centre(R, size, i, n):
    """Return the middle of the edge along axis i that lies farthest along n."""
    middle = Vector(0.0, 0.0, 0.0)
    for k in range(3):
        if k != i:
            e = column(R, k)
            middle = add(middle, scale(e, math.copysign(size[k], dot(e, n))))
    return middle


@exact
def touch_edges(points, R_a, R_b, size_a, size_b, r, i, j, n, gap):
    """Write the contact of two edges that cross."""
    p = edge_centre(R_a, size_a, i, n)
    q = add(r, edge_centre(R_b, size_b, j, scale(n, -1.0)))
    u, v, across = column(R_a, i), column(R_b, j), subtract(q, p)
    uv = dot(u, v)
    s = (dot(u, across) - uv * dot(v, across)) / (1.0 - uv * uv)
    s = min(max(s, -size_a[i]), size_a[i])
    put_point(points, 0, add(add(p, scale(u, s)), scale(n, 0.5 * gap)), gap, EDGES + 3 * i + j)
    return 1


@inlined
def apart_along(R_a, size_a, R_b, size_b, r, e):
    """Return how far two boxes are apart along a unit vector, and it, turned from a to b."""
    along = dot(e, r)
    gap = abs(along) - reach(R_a, size_a, e) - reach(R_b, size_b, e)
    return gap, scale(e, math.copysign(1.0, along))


@exact
def touch_boxes(geometry, a, b, r, size, margin):
    """
    Find the contacts between two boxes.

    :returns: How many there are, and the normal from a to b; ``UNSURE`` if they are apart and
        nearest at an edge or a corner.
    """
    shapes, points = shapes_of(geometry), points_of(geometry)
    R_a, R_b, size_a, size_b = (orientation(geometry, a), orientation(geometry, b),
                                shapes[a].size, shapes[b].size)
    by_a, by_b, n_a, n_b = -math.inf, -math.inf, r, r
    for i in range(3):
        gap, n = apart_along(R_a, size_a, R_b, size_b, r, column(R_a, i))
        if gap > by_a:
            by_a, n_a = gap, n
        gap, n = apart_along(R_a, size_a, R_b, size_b, r, column(R_b, i))
        if gap > by_b:
            by_b, n_b = gap, n
    if by_a >= margin or by_b >= margin:
        return NOTHING, n_a
    is_a = by_b <= by_a + FACE_PREFERENCE * abs(by_a) + LEEWAY * size
    by_face, n = (by_a, n_a) if is_a else (by_b, n_b)
    by_edge, first, second, across = -math.inf, 0, 0, n
    for i in range(3):
        for j in range(3):
            e = cross(column(R_a, i), column(R_b, j))
            sine = math.sqrt(dot(e, e))
            if sine > PARALLEL:
                gap, m = apart_along(R_a, size_a, R_b, size_b, r, scale(e, 1.0 / sine))
                if gap > by_edge:
                    by_edge, first, second, across = gap, i, j, m
    if by_edge >= margin:
        return NOTHING, across
    if by_edge > by_face + FACE_PREFERENCE * abs(by_face) + LEEWAY * size:
        if by_edge > 0.0:
            return UNSURE, across
        count = touch_edges(points[FOUND], R_a, R_b, size_a, size_b, r, first, second, across,
                            by_edge)
        return count, across
    corners_a, _, corners_b, _ = put_faces(geometry, a, b, r, n)
    count = put_cut_points(geometry, a, b, is_a, corners_a, corners_b, n, size, margin)
    if count == GRAZING:
        return NOTHING, n
    if count == 0 or deepest_of(points[FOUND], count) > by_face + DEPTH_TIE * size:
        return UNSURE, n
    return choose(points[FOUND], count, n, size), n
