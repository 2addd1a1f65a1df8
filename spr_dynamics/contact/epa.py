"""
How deep two convex shapes are in each other (expanding polytope, van den Bergen 2001).

A polytope grows inside the difference of the shapes. Each direction that it looks in gives an
overlap that moving b along it would undo; the least of all is kept, so whenever the growth ends
there is an answer, and no answer is wrong by more than what a further look could find.

The origin may be outside, if rounding or the walk that came before says so: the facet that it
lies farthest outside of is what grows next.
"""
import math

import numpy as np

from spr_dynamics.contact.geometry import (
    corners_of, edges_of, facets_of, MAX_FACETS)
from spr_dynamics.contact.gjk import nearest_on_triangle, w_of
from spr_dynamics.contact.refine import are_curved, refine, SCRATCH
from spr_dynamics.contact.support import length, put_difference, support
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import (
    as_vector, cross, dot, put_vector, scale, subtract, Vector)

PRECISION = 1e-9  # of a depth, relative to the smaller shape
CLOSE = 1e-3  # the same, when the direction is near
COPLANAR = 1e-13  # height above a facet, relative to the smaller shape, that is round-off
SLIVER = 1e-20  # area of a facet that has no direction, relative to the smaller shape's

TETRAHEDRON = np.array([[0, 1, 2], [0, 2, 3], [2, 1, 3], [1, 0, 3]])  # corners of its facets


@inlined
def axis(i):
    """Return one of the six directions along the axes."""
    sign = 1.0 if i < 3 else -1.0
    return Vector(sign if i % 3 == 0 else 0.0, sign if i % 3 == 1 else 0.0,
                  sign if i % 3 == 2 else 0.0)


@inlined
def across(corners, n, i):
    """Return direction i, of six, that may lead out of the first n corners' line or plane."""
    if n == 1:
        return axis(i)
    along = subtract(w_of(corners, 1), w_of(corners, 0))
    if n == 3:
        normal = cross(along, subtract(w_of(corners, 2), w_of(corners, 0)))
        return normal if i < 3 else scale(normal, -1.0)
    return cross(along, axis(i))


@inlined
def extent(corners, n, w):
    """Return how far a point is from the first n corners' point, line or plane, as a product."""
    arm = subtract(w, w_of(corners, 0))
    if n == 1:
        return length(arm)
    along = subtract(w_of(corners, 1), w_of(corners, 0))
    if n == 2:
        return length(cross(along, arm))
    return abs(dot(arm, cross(along, subtract(w_of(corners, 2), w_of(corners, 0)))))


@exact
def complete(geometry, a, b, r, n):
    """
    Add corners until there are four that are not in a plane.

    :returns: Whether there are; a difference that is flat has none.
    """
    corners = corners_of(geometry)
    while n < 4:
        most = 0.0
        for i in range(6):
            d = across(corners, n, i)
            if dot(d, d) > 0.0:
                w = put_difference(geometry, a, b, r, d, n + 1)
                size = extent(corners, n, w)
                if size > most:
                    most = size
                    corners[n] = corners[n + 1]
        if most == 0.0:
            return False
        n += 1
    return True


@exact
def put_facet(corners, facet, i, j, k, tiny):
    """Write a triangle; without area it gets an offset that nothing is nearer than."""
    facet.corner[0], facet.corner[1], facet.corner[2] = i, j, k
    p = w_of(corners, i)
    normal = cross(subtract(w_of(corners, j), p), subtract(w_of(corners, k), p))
    size = length(normal)
    if size <= tiny:
        facet.offset = math.inf
        put_vector(facet.normal, 0, Vector(0.0, 0.0, 0.0))
    else:
        normal = scale(normal, 1.0 / size)
        put_vector(facet.normal, 0, normal)
        facet.offset = dot(normal, p)


@exact
def put_tetrahedron(corners, facets, tiny):
    """Write the four faces of the first four corners, looking outward; return their number."""
    p = w_of(corners, 0)
    normal = cross(subtract(w_of(corners, 1), p), subtract(w_of(corners, 2), p))
    if dot(normal, subtract(w_of(corners, 3), p)) > 0.0:
        corners[SCRATCH] = corners[1]
        corners[1] = corners[2]
        corners[2] = corners[SCRATCH]
    for f in range(len(TETRAHEDRON)):
        i, j, k = TETRAHEDRON[f]
        put_facet(corners, facets[f], i, j, k, tiny)
    return len(TETRAHEDRON)


@exact
def toggle_edge(edges, n, i, j):
    """Add an edge of a removed facet, or take it away if its other side was removed, too."""
    for e in range(n):
        if edges[e, 0] == j and edges[e, 1] == i:
            edges[e, 0], edges[e, 1] = edges[n - 1, 0], edges[n - 1, 1]
            return n - 1
    edges[n, 0], edges[n, 1] = i, j
    return n + 1


@exact
def grow(corners, facets, edges, n_facets, new, height, tiny):
    """
    Put a new corner on the polytope: what it sees is replaced by a cone up to it.

    :returns: The number of facets, or 0 if there is no room or rounding leaves no rim.
    """
    w, n_edges, kept = w_of(corners, new), 0, 0
    for f in range(n_facets):
        facet = facets[f]
        if facet.offset < math.inf and dot(as_vector(facet.normal, 0), w) > facet.offset + height:
            for m in range(3):
                n_edges = toggle_edge(edges, n_edges, facet.corner[m], facet.corner[(m + 1) % 3])
        else:
            if kept < f:
                facets[kept] = facet
            kept += 1
    if n_edges == 0 or kept + n_edges > MAX_FACETS:
        return 0
    for e in range(n_edges):
        put_facet(corners, facets[kept + e], edges[e, 0], edges[e, 1], new, tiny)
    return kept + n_edges


@exact
def nearest_facet(facets, n_facets):
    """Return the facet whose plane is least far out."""
    best = 0
    for f in range(1, n_facets):
        if facets[f].offset < facets[best].offset:
            best = f
    return best


@exact
def penetration(geometry, a, b, r, n, size):
    """
    Find the shortest way to take two shapes' cores apart.

    :param n: The number of corners to start from.
    :returns: The direction in which b leaves a, how far they are apart along it (negative:
        overlap), and the point of a that is deepest in b.
    """
    corners, facets, edges = corners_of(geometry), facets_of(geometry), edges_of(geometry)
    tiny = SLIVER * size * size
    direction, apart = Vector(0.0, 0.0, 1.0), -math.inf
    point = Vector(0.0, 0.0, 0.0)
    if not complete(geometry, a, b, r, n):
        return direction, 0.0, point
    n_facets = put_tetrahedron(corners, facets, tiny)
    may_refine = are_curved(geometry, a, b)
    i, j, k = 0, 1, 2
    for new in range(4, SCRATCH):
        facet = facets[nearest_facet(facets, n_facets)]
        if facet.offset == math.inf:
            break
        normal, offset = as_vector(facet.normal, 0), facet.offset
        w = put_difference(geometry, a, b, r, normal, new)
        overlap = dot(normal, w)
        if -overlap > apart:
            direction, apart = normal, -overlap
            i, j, k = facet.corner[0], facet.corner[1], facet.corner[2]
        if -apart - offset <= PRECISION * size:
            break
        if may_refine and -apart - offset <= CLOSE * size:
            may_refine = False
            converged, n_refined, w = refine(geometry, a, b, r, direction, size)
            if converged:
                return n_refined, -dot(n_refined, w), support(geometry, a, n_refined)
        n_facets = grow(corners, facets, edges, n_facets, new, COPLANAR * size, tiny)
        if n_facets == 0:
            break
    at = scale(direction, apart)
    shares = nearest_on_triangle(*shifted(corners, i, j, k, at))
    for m in range(3):
        corner = corners[(i, j, k)[m]]
        point = Vector(point.x + shares[m] * corner.a[0], point.y + shares[m] * corner.a[1],
                       point.z + shares[m] * corner.a[2])
    return direction, apart, point


@inlined
def shifted(corners, i, j, k, at):
    """Return a facet's corners as seen from where the nearest point of its plane is."""
    return (Vector(corners[i].w[0] + at.x, corners[i].w[1] + at.y, corners[i].w[2] + at.z),
            Vector(corners[j].w[0] + at.x, corners[j].w[1] + at.y, corners[j].w[2] + at.z),
            Vector(corners[k].w[0] + at.x, corners[k].w[1] + at.y, corners[k].w[2] + at.z))
