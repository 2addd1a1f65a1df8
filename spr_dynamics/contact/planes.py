"""Planes against all other shapes."""
from spr_dynamics.contact.geometry import FOUND, points_of, shapes_of, vertices_of
from spr_dynamics.contact.manifold import choose, NEAREST, put_point
from spr_dynamics.contact.support import (
    core_radius, corner, FIRST_END, local_support, orientation, rim_point)
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONVEX, CYLINDER, ELLIPSOID, SPHERE)
from spr_dynamics.spatial import add, dot, scale, subtract, times, transpose, Vector

FIXED = 4  # points of a rim that turn with the shape; a flat face at rest stands on these
TILTED = 1e-6  # sine of an angle from which on the rim rolls: its deepest point counts as well


@inlined
def fixed_point(size, i, z):
    """Return one of four points of a rim at height z."""
    along = size[0] if i < 2 else -size[0]
    return Vector(along if i % 2 == 0 else 0.0, along if i % 2 == 1 else 0.0, z)


@inlined
def add_point(points, count, R, r, local, n, radius, margin, key):
    """Write the contact of a point of shape b's core, if it is near enough to the plane."""
    p = add(r, times(R, local))
    height = dot(n, p)
    if height - radius >= margin:
        return count
    put_point(points, count, subtract(p, scale(n, 0.5 * (height + radius))), height - radius, key)
    return count + 1


@exact
def add_rim(points, count, R, r, size, z, down, n, margin, key):
    """Write the contacts of a rim at height z: four fixed points, and the deepest one."""
    for i in range(FIXED):
        count = add_point(points, count, R, r, fixed_point(size, i, z), n, 0.0, margin, key + i)
    if down.x * down.x + down.y * down.y > TILTED * TILTED:
        count = add_point(points, count, R, r, rim_point(size, down, z), n, 0.0, margin,
                          NEAREST + key)
    return count


@exact
def touch_plane(geometry, b, r, n, margin):
    """
    Find the contacts between a plane and shape b.

    :param r: The origin of b, seen from a point of the plane.
    :param n: The normal of the plane.
    :returns: How many there are.
    """
    shape, R, points = shapes_of(geometry)[b], orientation(geometry, b), points_of(geometry)[FOUND]
    size, kind, count = shape.size, shape.kind, 0
    down = times(transpose(R), scale(n, -1.0))
    if kind == BOX:
        for i in range(8):
            count = add_point(points, count, R, r, corner(size, i), n, 0.0, margin, i)
    elif kind == CAPSULE:
        for i in range(2):
            end = Vector(0.0, 0.0, (size[2] - size[0]) * (1 - 2 * i))
            count = add_point(points, count, R, r, end, n, size[0], margin, FIRST_END + i)
    elif kind == SPHERE or kind == ELLIPSOID:
        count = add_point(points, count, R, r, local_support(geometry, b, down), n,
                          core_radius(shape), margin, 0)
    elif kind == CONVEX:
        vertices = vertices_of(geometry)
        for i in range(shape.first_vertex, shape.first_vertex + shape.n_vertices):
            count = add_point(points, count, R, r, Vector(
                vertices[i, 0], vertices[i, 1], vertices[i, 2]), n, 0.0, margin, i)
    else:
        if kind == CYLINDER:
            count = add_rim(points, count, R, r, size, size[2], down, n, margin, FIXED)
        else:
            count = add_point(points, count, R, r, Vector(0.0, 0.0, size[2]), n, 0.0, margin,
                              FIRST_END)
        count = add_rim(points, count, R, r, size, -size[2], down, n, margin, 0)
    return choose(points, count, n, shape.radius)
