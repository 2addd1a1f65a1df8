"""
Contact points of two shapes with one normal: faces cut by each other, and four points of many.

Points are counted from the origin of shape a, in world axes. A point's key names its features,
so that it is the same as long as the same features touch.
"""
import math

from spr_dynamics.contact.geometry import (
    FOUND, MANIFOLD, OF_A, OF_B, points_of, shapes_of, SPARE)
from spr_dynamics.contact.support import core_radius, put_faces, separation
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import (
    add, as_vector, cross, dot, put_vector, scale, subtract, Vector)

# How much less overlap an edge or a point has to have than a face to be preferred: of the
# overlap, and of the smaller shape. Choices that are nearly even must not change in each step.
FACE_PREFERENCE, LEEWAY = 0.02, 1e-6
CUT_LEEWAY = 1e-5  # how far beside a face a corner may be to stay, relative to the smaller shape
DEPTH_TIE = 1e-7  # difference of depths that decides nothing, relative to the smaller shape
TIE = 1e-6  # the same of lengths and areas, relative to them
PARALLEL = 1e-2  # sine of an angle below which two round sides touch along a line

GRAZING = -1  # count of contacts of shapes that pass each other by

# Keys: a corner's own below SIDE; a side's from there; two of them that cross; then flags.
SIDE = 1 << 22
CROSSING = 1 << 23
CUT_BY_B = 1 << 50  # the face of b is the one that cuts
NEAREST = 1 << 51  # the nearest points of the shapes, whatever they are features of
EDGES = 1 << 52  # two edges of boxes


@inlined
def put_point(points, count, p, gap, key):
    """Write a contact point; it lies halfway between the surfaces."""
    put_vector(points[count].p, 0, p)
    points[count].gap = gap
    points[count].key = key


@exact
def cut(corners, n, is_closed, normal, start, side_key, leeway, result):
    """
    Cut a polygon, or a segment, by the plane through a point; what is behind it stays.

    :param side_key: What is cut off ends here; new corners and edges are called after it.
    :returns: The number of corners that result.
    """
    count = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        here, there = corners[i], corners[j]
        p, q = as_vector(here.p, 0), as_vector(there.p, 0)
        d_p, d_q = dot(normal, subtract(p, start)), dot(normal, subtract(q, start))
        stays = d_p <= leeway
        if stays:
            result[count] = here
            count += 1
        if (j > i or is_closed) and stays != (d_q <= leeway):
            t = min(max(d_p / (d_p - d_q), 0.0), 1.0)
            put_vector(result[count].p, 0, add(p, scale(subtract(q, p), t)))
            result[count].key = (side_key + 1) * CROSSING + here.edge
            result[count].edge = SIDE + side_key if stays else here.edge
            count += 1
    return count


@exact
def cut_by_face(points, reference, n_reference, normal, incident, n_incident, size):
    """
    Keep of one face what is above or below the other.

    :param reference: Row of the face that cuts; its corners go counter-clockwise about its
        normal.
    :param incident: Row of the face that is cut.
    :returns: The row that holds what stays, and its number of corners.
    """
    row, other, n = incident, SPARE, n_incident
    for i in range(n_reference):
        here, there = points[reference, i], points[reference, (i + 1) % n_reference]
        start = as_vector(here.p, 0)
        outward = cross(subtract(as_vector(there.p, 0), start), normal)
        width = math.sqrt(dot(outward, outward))
        if width == 0.0:
            continue
        n = cut(points[row], n, n > 2, scale(outward, 1.0 / width), start, here.key,
                CUT_LEEWAY * size, points[other])
        row, other = other, row
        if n == 0:
            break
    return row, n


@exact
def put_cut_points(geometry, a, b, is_a, n_a, n_b, n, size, margin):
    """
    Write the contact points between a flat face and the other shape's face, segment or point.

    What they have in common may be so narrow, and the overlap so small, that one would pass
    beside the other as well: so it is where a thing slides over the seam of two even shapes.

    :param is_a: Whether the flat face is that of shape a.
    :param n: The normal from a to b.
    :returns: How many there are, or ``GRAZING``.
    """
    points, shapes = points_of(geometry), shapes_of(geometry)
    reference, incident, n_reference, n_incident, normal = (
        (OF_A, OF_B, n_a, n_b, n) if is_a else (OF_B, OF_A, n_b, n_a, scale(n, -1.0)))
    r_reference = core_radius(shapes[a if is_a else b])
    r_incident = core_radius(shapes[b if is_a else a])
    start = as_vector(points[reference, 0].p, 0)
    row, n_points = cut_by_face(points, reference, n_reference, normal, incident, n_incident,
                                size)
    count = 0
    for i in range(n_points):
        p = as_vector(points[row, i].p, 0)
        height = dot(normal, subtract(p, start))
        gap = height - r_reference - r_incident
        if gap < margin:
            middle = subtract(p, scale(normal, 0.5 * (r_incident - r_reference + height)))
            key = points[row, i].key + (0 if is_a else CUT_BY_B)
            put_point(points[FOUND], count, middle, gap, key)
            count += 1
    leeway = CUT_LEEWAY * size
    if count > 0 and n_incident > 1 and is_narrow(points[row], n_points, leeway) and (
            deepest_of(points[FOUND], count) > -leeway):
        return GRAZING
    return count


@exact
def is_narrow(corners, n, width):
    """Say whether a polygon is narrower than a width, or a segment shorter: about, if not long."""
    start, squares = as_vector(corners[0].p, 0), 0.0
    area = Vector(0.0, 0.0, 0.0)  # twice that
    for i in range(n):
        p, q = as_vector(corners[i].p, 0), as_vector(corners[(i + 1) % n].p, 0)
        side = subtract(q, p)
        squares += dot(side, side)
        area = add(area, cross(subtract(p, start), side))
    # a long rectangle has an area of width times length, and sides of twice that length
    return (dot(area, area) if n > 2 else squares * squares) < 2.0 * width * width * squares


@exact
def deepest_of(points, count):
    """Return the least gap."""
    least = math.inf
    for i in range(count):
        least = min(least, points[i].gap)
    return least


@exact
def swap(points, i, j):
    """Let two points change places."""
    for axis in range(3):
        points[i].p[axis], points[j].p[axis] = points[j].p[axis], points[i].p[axis]
    points[i].gap, points[j].gap = points[j].gap, points[i].gap
    points[i].key, points[j].key = points[j].key, points[i].key


@inlined
def spread(points, kept, p, normal):
    """Return what point number ``kept`` would add to those that are kept: length, then area."""
    arm = subtract(p, as_vector(points[0].p, 0))
    if kept == 1:
        return math.sqrt(dot(arm, arm))
    base = subtract(as_vector(points[1].p, 0), as_vector(points[0].p, 0))
    area = dot(normal, cross(base, arm))
    if kept == 2:
        return abs(area)
    return beyond(points, p, normal)


@exact
def beyond(points, p, normal):
    """Return the area that a fourth point adds to the triangle of the first three."""
    a, b, c = as_vector(points[0].p, 0), as_vector(points[1].p, 0), as_vector(points[2].p, 0)
    turn = 1.0 if dot(normal, cross(subtract(b, a), subtract(c, a))) > 0.0 else -1.0
    ab = -turn * dot(normal, cross(subtract(b, a), subtract(p, a)))
    bc = -turn * dot(normal, cross(subtract(c, b), subtract(p, b)))
    ca = -turn * dot(normal, cross(subtract(a, c), subtract(p, c)))
    return max(ab, max(bc, ca))


@exact
def choose(points, count, normal, size):
    """
    Reduce a manifold to the deepest point and those that span most with it, ordered by key.

    What is nearly even is decided by the order of the candidates, so that a shape at rest keeps
    its points.

    :returns: How many there are, at most ``MANIFOLD``.
    """
    if count > MANIFOLD:
        least = deepest_of(points, count)
        for i in range(count):
            if points[i].gap <= least + DEPTH_TIE * size:
                swap(points, 0, i)
                break
        for kept in range(1, MANIFOLD):
            most = 0.0
            best = kept
            for i in range(kept, count):
                more = spread(points, kept, as_vector(points[i].p, 0), normal)
                if more > most * (1.0 + TIE):
                    most, best = more, i
            swap(points, kept, best)
        count = MANIFOLD
    for i in range(1, count):
        j = i
        while j > 0 and points[j - 1].key > points[j].key:
            swap(points, j - 1, j)
            j -= 1
    return count


@exact
def put_manifold(geometry, a, b, r, n, apart, nearest, size, margin):
    """
    Write the contact points of two shapes, given how their cores are apart.

    Where a flat face is nearly as good a choice as the direction given, it is taken, and cut.

    :param n: Direction from a to b.
    :param apart: How far the cores are apart along it.
    :param nearest: Where they are nearest, on the core of a.
    :returns: How many points there are, and the normal from a to b.
    """
    shapes, points = shapes_of(geometry), points_of(geometry)
    r_a, r_b = core_radius(shapes[a]), core_radius(shapes[b])
    n_a, normal_a, n_b, normal_b = put_faces(geometry, a, b, r, n)
    enough = apart - LEEWAY * size
    if n_a > 1 and n_b > 1:
        enough -= FACE_PREFERENCE * abs(apart - r_a - r_b)
    count = 0
    if n_a > 2 or n_b > 2:
        opposite = scale(normal_b, -1.0)
        by_a = separation(geometry, a, b, r, normal_a) if n_a > 2 else -math.inf
        by_b = separation(geometry, a, b, r, opposite) if n_b > 2 else -math.inf
        is_a = by_a >= enough
        if is_a or by_b >= enough:
            n, apart = (normal_a, by_a) if is_a else (opposite, by_b)
            count = put_cut_points(geometry, a, b, is_a, n_a, n_b, n, size, margin)
            if count == GRAZING:
                return 0, n
    elif n_a == 2 and n_b == 2:
        m = across_segments(points, r, n)
        by_both = separation(geometry, a, b, r, m)
        if by_both >= apart - LEEWAY * size:
            n, apart = m, by_both
            put_faces(geometry, a, b, r, n)
        count = put_side_by_side(points, n, r_a, r_b, margin)
    gap = apart - r_a - r_b
    if count == 0 or deepest_of(points[FOUND], count) > gap + DEPTH_TIE * size:
        if gap < margin:
            middle = add(nearest, scale(n, r_a + 0.5 * gap))
            put_point(points[FOUND], count, middle, gap, NEAREST)
            count += 1
    return choose(points[FOUND], count, n, size), n


@inlined
def along_segment(corners):
    return subtract(as_vector(corners[1].p, 0), as_vector(corners[0].p, 0))


@exact
def across_segments(points, r, n):
    """Return the direction across two segments; if they are parallel, that from axis to axis."""
    e, f = along_segment(points[OF_A]), along_segment(points[OF_B])
    m, square = cross(e, f), dot(e, e)
    if dot(m, m) <= PARALLEL * PARALLEL * square * dot(f, f):
        m = subtract(r, scale(e, dot(e, r) / square))
    if dot(m, m) == 0.0:
        return n
    return scale(m, math.copysign(1.0 / math.sqrt(dot(m, m)), dot(m, n)))


@exact
def put_side_by_side(points, n, r_a, r_b, margin):
    """
    Write the ends of where two segments, nearly parallel, are beside each other.

    :returns: 2, or 0 if they cross or are not beside each other.
    """
    p, s = as_vector(points[OF_A, 0].p, 0), as_vector(points[OF_B, 0].p, 0)
    along, other = along_segment(points[OF_A]), along_segment(points[OF_B])
    square, square_b = dot(along, along), dot(other, other)
    turned = cross(along, other)
    if dot(turned, turned) >= PARALLEL * PARALLEL * square * square_b or square == 0.0:
        return 0
    t_0, t_1 = dot(subtract(s, p), along) / square, dot(
        subtract(add(s, other), p), along) / square
    low, high = max(min(t_0, t_1), 0.0), min(max(t_0, t_1), 1.0)
    if high - low <= TIE:
        return 0
    count = 0
    for end in range(2):
        t = low if end == 0 else high
        on_a = add(p, scale(along, t))
        on_b = add(s, scale(other, (t - t_0) / (t_1 - t_0)))
        height = dot(n, subtract(on_b, on_a))
        if height - r_a - r_b < margin:
            middle = add(on_a, scale(n, 0.5 * (r_a + height - r_b)))
            put_point(points[FOUND], count, middle, height - r_a - r_b, end)
            count += 1
    return count
