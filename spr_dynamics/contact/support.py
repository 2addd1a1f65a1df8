"""
What collision detection asks of a convex shape: its farthest point, its face, its corners.

Spheres and capsules are asked about their cores, a point and a segment. Points are given from
the origin of the shape, in world axes.
"""
import math

import numpy as np

from spr_dynamics.contact.geometry import (
    corners_of, faces_of, neighbours_of, OF_A, OF_B, placed_of, points_of, RIM, shapes_of,
    vertices_of)
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, SPHERE)
from spr_dynamics.spatial import (
    add, as_matrix, as_vector, dot, put_vector, scale, subtract, times, transpose, Vector)

ANGLES = 2.0 * math.pi * np.arange(RIM) / RIM
RIM_X, RIM_Y = np.round(np.cos(ANGLES), 15), np.round(np.sin(ANGLES), 15)
FIRST_END = 2 * RIM  # key of an end of a round side, then the other; the rims come before
MANY = 32  # vertices of a mesh from which on it is faster to climb it than to look at all
FACES_FROM = math.cos(math.radians(45.0))  # of a direction along the axis: a round side ends


@inlined
def length(a):
    return math.sqrt(dot(a, a))


@inlined
def orientation(geometry, k):
    return as_matrix(placed_of(geometry)[k].R_WS, 0)


@inlined
def origin(geometry, k):
    return as_vector(placed_of(geometry)[k].p_WS, 0)


@inlined
def core_radius(shape):
    """Return the thickness around the core of a round shape; others are all core."""
    return shape.size[0] if shape.kind == SPHERE or shape.kind == CAPSULE else 0.0


@inlined
def corner(size, i):
    """Return corner i of a box: bit 0 says whether x is positive, bit 1 y, bit 2 z."""
    return Vector(size[0] if i & 1 else -size[0], size[1] if i & 2 else -size[1],
                  size[2] if i & 4 else -size[2])


@inlined
def rim_point(size, d, z):
    """Return the point of the circle at height z that lies farthest along d."""
    across = math.sqrt(d.x * d.x + d.y * d.y)
    if across == 0.0:
        return Vector(size[0], 0.0, z)
    return Vector(size[0] * d.x / across, size[0] * d.y / across, z)


@inlined
def reaches_apex(size, d):
    """Say whether the apex of a cone lies farther along d than its rim."""
    return 2.0 * size[2] * d.z > size[0] * math.sqrt(d.x * d.x + d.y * d.y)


@inlined
def height_of(vertices, i, d):
    return vertices[i, 0] * d.x + vertices[i, 1] * d.y + vertices[i, 2] * d.z


@exact
def farthest_vertex(geometry, k, d):
    """
    Return which vertex of a convex mesh lies farthest along d, in the shape's axes.

    A large mesh is climbed from the vertex that was found before, always to the highest
    neighbour: a convex body has no other peak.
    """
    shape, now, vertices = shapes_of(geometry)[k], placed_of(geometry)[k], vertices_of(geometry)
    if shape.n_vertices > MANY:
        neighbours = neighbours_of(geometry)
        best = now.vertex
        highest, last = height_of(vertices, best, d), -1
        while best != last:
            last = best
            at = neighbours[last]
            while neighbours[at] >= 0:
                height = height_of(vertices, neighbours[at], d)
                if height > highest:
                    best, highest = neighbours[at], height
                at += 1
        now.vertex = best
        return best
    best, highest = shape.first_vertex, -math.inf
    for i in range(shape.first_vertex, shape.first_vertex + shape.n_vertices):
        height = height_of(vertices, i, d)
        if height > highest:
            best, highest = i, height
    return best


@inlined
def forget_vertex(geometry, k):
    """Let a search on a mesh begin where it always does: nothing hangs on what was before."""
    placed_of(geometry)[k].vertex = shapes_of(geometry)[k].first_vertex


@exact
def local_support(geometry, k, d):
    """Return the point of a shape's core that lies farthest along d, in the shape's axes."""
    shape = shapes_of(geometry)[k]
    size, kind = shape.size, shape.kind
    if kind == BOX:
        return Vector(math.copysign(size[0], d.x), math.copysign(size[1], d.y),
                      math.copysign(size[2], d.z))
    if kind == CYLINDER:
        return rim_point(size, d, math.copysign(size[2], d.z))
    if kind == CONVEX:
        vertices, i = vertices_of(geometry), farthest_vertex(geometry, k, d)
        return Vector(vertices[i, 0], vertices[i, 1], vertices[i, 2])
    if kind == CAPSULE:
        return Vector(0.0, 0.0, math.copysign(size[2] - size[0], d.z))
    if kind == CONE:
        if reaches_apex(size, d):
            return Vector(0.0, 0.0, size[2])
        return rim_point(size, d, -size[2])
    if kind == ELLIPSOID:
        s = Vector(size[0] * d.x, size[1] * d.y, size[2] * d.z)
        k = 1.0 / length(s)
        return Vector(k * size[0] * s.x, k * size[1] * s.y, k * size[2] * s.z)
    return Vector(0.0, 0.0, 0.0)


@inlined
def support(geometry, k, d):
    """Return the point of a shape's core that lies farthest along d."""
    R = orientation(geometry, k)
    return times(R, local_support(geometry, k, times(transpose(R), d)))


@exact
def put_difference(geometry, a, b, r, d, i):
    """
    Write as corner i the point of the difference that lies farthest along d.

    :param r: The origin of b, seen from that of a.
    :returns: It, a - b; the point of a is written beside it.
    """
    corner = corners_of(geometry)[i]
    point = support(geometry, a, d)
    put_vector(corner.a, 0, point)
    w = subtract(subtract(point, r), support(geometry, b, scale(d, -1.0)))
    put_vector(corner.w, 0, w)
    return w


@exact
def separation(geometry, a, b, r, n):
    """Return how far the cores of two shapes are apart along n, r being from a to b."""
    return dot(n, add(r, subtract(support(geometry, b, scale(n, -1.0)),
                                  support(geometry, a, n))))


@inlined
def put_corner(points, i, R, shift, local, key):
    """Write a corner of a face."""
    put_vector(points[i].p, 0, add(shift, times(R, local)))
    points[i].key = points[i].edge = key


@exact
def box_face(size, d, R, shift, points):
    """Write the face of a box that looks along d, in its axes."""
    x, y, z = abs(d.x), abs(d.y), abs(d.z)
    axis = 0 if x >= y and x >= z else (1 if y >= z else 2)
    along = d.x if axis == 0 else (d.y if axis == 1 else d.z)
    u, v, w = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3, 1 << axis
    sign = 1.0 if along >= 0.0 else -1.0
    if sign > 0.0:
        loop = (w, w | u, w | u | v, w | v)
    else:
        loop = (0, v, u | v, u)
    for i in range(4):
        put_corner(points, i, R, shift, corner(size, loop[i]), loop[i])
    return Vector(sign if axis == 0 else 0.0, sign if axis == 1 else 0.0,
                  sign if axis == 2 else 0.0)


@exact
def circle(radius, z, R, shift, points):
    """Write the polygon that stands for the face at height z, seen from outside."""
    for i in range(RIM):
        j = i if z > 0.0 else (RIM - i) % RIM
        key = j if z > 0.0 else RIM + j
        put_corner(points, i, R, shift, Vector(radius * RIM_X[j], radius * RIM_Y[j], z), key)


@exact
def mesh_face(shape, faces, vertices, d, R, shift, points):
    """Write the face of a convex mesh that looks most along d; return its size and normal."""
    best, most = shape.first_face, -math.inf
    for i in range(shape.first_face, shape.first_face + shape.n_faces):
        along = dot(as_vector(faces[i].normal, 0), d)
        if along > most:
            best, most = i, along
    face = faces[best]
    for i in range(face.n_corners):
        put_corner(points, i, R, shift, as_vector(vertices[face.first + i], 0), face.first + i)
    return face.n_corners, as_vector(face.normal, 0)


@exact
def put_face(geometry, k, d, shift, row):
    """
    Write the face of a shape's core that looks along d, or the segment, or the point.

    :param shift: The origin of the shape.
    :param row: Where in the points of the geometry; its corners go counter-clockwise, seen from
        outside.
    :returns: How many corners it has, and its outward normal; d itself if it is not flat.
    """
    shape, R, points = shapes_of(geometry)[k], orientation(geometry, k), points_of(geometry)[row]
    size, kind = shape.size, shape.kind
    local = times(transpose(R), d)
    if kind == BOX:
        return 4, times(R, box_face(size, local, R, shift, points))
    if kind == CONVEX:
        n, normal = mesh_face(shape, faces_of(geometry), vertices_of(geometry), local, R, shift,
                              points)
        return n, times(R, normal)
    if (kind == CYLINDER and abs(local.z) > FACES_FROM) or (
            kind == CONE and -local.z > FACES_FROM):
        z = math.copysign(size[2], local.z)
        circle(size[0], z, R, shift, points)
        return RIM, times(R, Vector(0.0, 0.0, math.copysign(1.0, z)))
    if kind == SPHERE or kind == ELLIPSOID:
        put_corner(points, 0, R, shift, local_support(geometry, k, local), 0)
        return 1, d
    for end in range(2):
        z = size[2] if end == 0 else -size[2]
        if kind == CAPSULE:
            p = Vector(0.0, 0.0, z - math.copysign(size[0], z))
        elif kind == CONE and end == 0:
            p = Vector(0.0, 0.0, z)
        else:
            p = rim_point(size, local, z)
        put_corner(points, end, R, shift, p, FIRST_END + end)
    return 2, d


@exact
def put_faces(geometry, a, b, r, n):
    """
    Write the faces, segments or points by which two shapes' cores look at each other.

    :param r: The origin of b, seen from that of a.
    :param n: Direction from a to b.
    :returns: Of each, a first: how many corners, and the outward normal.
    """
    n_a, n_b, normal_a, normal_b = 0, 0, n, scale(n, -1.0)
    for row in range(OF_A, OF_B + 1):
        if row == OF_A:
            n_a, normal_a = put_face(geometry, a, n, Vector(0.0, 0.0, 0.0), row)
        else:
            n_b, normal_b = put_face(geometry, b, scale(n, -1.0), r, row)
    return n_a, normal_a, n_b, normal_b
