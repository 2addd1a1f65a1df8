"""
How far two convex shapes are apart (Gilbert, Johnson and Keerthi 1988).

The points a - b of two shapes a and b form a convex body, too, and its distance from the origin
is that of the shapes. A simplex of its corners walks to the nearest point.
"""
import math

from spr_dynamics.contact.geometry import corners_of
from spr_dynamics.contact.refine import are_curved, refine
from spr_dynamics.contact.support import length, put_difference, support
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import (
    add, as_vector, cross, dot, put_vector, scale, subtract, Vector)

APART, FAR, TOGETHER = 0, 1, 2  # what is known of two shapes

MAX_WALK = 64  # steps; polytopes take about 6, round shapes up to 30
PRECISION = 1e-11  # of a distance, relative to the smaller shape
UNSETTLED = 1e-6  # error of a distance that is too large to be round-off, likewise
CLOSE = 1e-3  # error of a distance whose direction is near the right one, likewise
REFINEMENTS = 2  # times that Newton's method is tried from there
FLAT = 1e-12  # height of a tetrahedron without volume, relative to its other lengths


@inlined
def w_of(corners, i):
    return as_vector(corners[i].w, 0)


@inlined
def nearest_on_segment(p, q):
    """Return the share of q in the point between p and q that is nearest to the origin."""
    along = subtract(q, p)
    square = dot(along, along)
    if square == 0.0:
        return 0.0
    return min(max(-dot(p, along) / square, 0.0), 1.0)


@inlined
def between(p, q, t):
    return Vector(p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z))


@exact
def nearest_on_triangle(p, q, s):
    """
    Return the shares of three corners in the point of their triangle nearest to the origin.

    Its inside counts only if it is nearer than its edges: of a needle rounding says anything.
    """
    t_pq, t_qs, t_sp = nearest_on_segment(p, q), nearest_on_segment(q, s), nearest_on_segment(s, p)
    pq, qs, sp = between(p, q, t_pq), between(q, s, t_qs), between(s, p, t_sp)
    to_pq, to_qs, to_sp = dot(pq, pq), dot(qs, qs), dot(sp, sp)
    normal = cross(subtract(q, p), subtract(s, p))
    of_p, of_q, of_s = (dot(normal, cross(q, s)), dot(normal, cross(s, p)),
                        dot(normal, cross(p, q)))
    total = of_p + of_q + of_s
    if of_p >= 0.0 and of_q >= 0.0 and of_s >= 0.0 and total > 0.0:
        x, y = of_q / total, of_s / total
        inside = add(scale(p, 1.0 - x - y), add(scale(q, x), scale(s, y)))
        if dot(inside, inside) < min(to_pq, min(to_qs, to_sp)):
            return 1.0 - x - y, x, y
    if to_pq <= to_qs and to_pq <= to_sp:
        return 1.0 - t_pq, t_pq, 0.0
    if to_qs <= to_sp:
        return 0.0, 1.0 - t_qs, t_qs
    return t_sp, 0.0, 1.0 - t_sp


@exact
def keep_nearest_face(corners):
    """
    Reduce a tetrahedron to its face that is nearest to the origin.

    :returns: Whether the origin is outside; the three corners have their shares then.
    """
    least = math.inf
    best = 0
    best_shares = 0.0, 0.0, 0.0
    for i in range(4):
        j, k, m = (i + 1) & 3, (i + 2) & 3, (i + 3) & 3
        p, q, s = w_of(corners, j), w_of(corners, k), w_of(corners, m)
        normal = cross(subtract(q, p), subtract(s, p))
        height = dot(normal, subtract(w_of(corners, i), p))
        beyond = -dot(normal, p)
        size = length(normal) * length(subtract(w_of(corners, i), p))
        if beyond * height > 0.0 and abs(height) > FLAT * size:
            continue
        shares = nearest_on_triangle(p, q, s)
        v = add(add(scale(p, shares[0]), scale(q, shares[1])), scale(s, shares[2]))
        if dot(v, v) < least:
            least, best, best_shares = dot(v, v), i, shares
    if least == math.inf:
        return False
    for m in range(3):
        corners[(best + 1 + m) & 3].weight = best_shares[m]
    corners[best].weight = 0.0
    return True


@exact
def keep_nearest(corners, n):
    """
    Keep the corners of a simplex that carry its point nearest to the origin, with their shares.

    :param n: The number of its corners, 2 to 4.
    :returns: How many those are, and that point; 4 if the origin is inside.
    """
    if n == 2:
        t = nearest_on_segment(w_of(corners, 0), w_of(corners, 1))
        corners[0].weight, corners[1].weight = 1.0 - t, t
    elif n == 3:
        corners[0].weight, corners[1].weight, corners[2].weight = nearest_on_triangle(
            w_of(corners, 0), w_of(corners, 1), w_of(corners, 2))
    elif not keep_nearest_face(corners):
        return 4, Vector(0.0, 0.0, 0.0)
    kept, v = 0, Vector(0.0, 0.0, 0.0)
    for i in range(n):
        if corners[i].weight > 0.0:
            if kept < i:
                corners[kept] = corners[i]
            v = add(v, scale(w_of(corners, kept), corners[kept].weight))
            kept += 1
    return kept, v


@inlined
def is_among(corners, n, w):
    """Say whether a corner is there already."""
    for i in range(n):
        if corners[i].w[0] == w.x and corners[i].w[1] == w.y and corners[i].w[2] == w.z:
            return True
    return False


@exact
def walk(geometry, a, b, r, size, reach):
    """
    Find the direction in which two shapes' cores are apart.

    :param r: The origin of b, seen from that of a.
    :param size: A length that they have [m]; precision is relative to it.
    :param reach: Distance beyond which it is enough to know that they are apart [m].
    :returns: APART, FAR, or TOGETHER, which includes all that rounding leaves open; the number
        of corners that were kept; and, if APART, the direction from a to b.
    """
    corners = corners_of(geometry)
    start = r
    if dot(r, r) == 0.0:
        start = Vector(0.0, 0.0, 1.0)
    n, v = 1, put_difference(geometry, a, b, r, start, 0)
    corners[0].weight = 1.0
    tries = REFINEMENTS if are_curved(geometry, a, b) else 0
    for _ in range(MAX_WALK):
        square = dot(v, v)
        far = math.sqrt(square)
        if far <= PRECISION * size:
            return TOGETHER, n, v
        direction = scale(v, -1.0 / far)
        w = put_difference(geometry, a, b, r, direction, n)
        apart = -dot(direction, w)
        if apart > reach:
            return FAR, n, direction
        missing = far - apart
        if missing <= PRECISION * size:
            return APART, n, direction
        if tries > 0 and missing <= CLOSE * size:
            tries -= 1
            converged, refined, overlap = refine(geometry, a, b, r, direction, size)
            if converged and dot(refined, overlap) <= CLOSE * size:
                put_vector(corners[0].a, 0, support(geometry, a, refined))
                corners[0].weight = 1.0
                return APART, 1, refined
        repeated = is_among(corners, n, w)
        kept, closer = keep_nearest(corners, n + 1)
        if kept == 4:
            return TOGETHER, kept, closer
        if repeated or dot(closer, closer) >= square:
            return APART if missing <= UNSETTLED * size else TOGETHER, kept, direction
        n, v = kept, closer
    return TOGETHER, n, v


@exact
def nearest_point_of_a(corners, n):
    """Return the point of a that the corners' shares stand for."""
    point = Vector(0.0, 0.0, 0.0)
    for i in range(n):
        point = add(point, scale(as_vector(corners[i].a, 0), corners[i].weight))
    return point
