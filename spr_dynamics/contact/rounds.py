"""Spheres and capsules, in closed form: against each other, box, cylinder and cone."""
import math

from spr_dynamics.contact.geometry import FOUND, points_of, shapes_of
from spr_dynamics.contact.manifold import NEAREST, put_point, put_side_by_side
from spr_dynamics.contact.support import length, orientation, put_faces
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import BOX, CAPSULE, CYLINDER
from spr_dynamics.spatial import (
    add, cross, dot, scale, subtract, times, transpose, Vector)

MEETING = 1e-12  # distance of two cores, relative to their radii, that has no direction


@inlined
def half_axis(geometry, k):
    """Return the vector from the centre of a sphere or capsule to the end of its core."""
    shape, R = shapes_of(geometry)[k], orientation(geometry, k)
    half = shape.size[2] - shape.size[0] if shape.kind == CAPSULE else 0.0
    return Vector(half * R.xz, half * R.yz, half * R.zz)


@inlined
def share(product, square):
    """Divide, and stay on a segment that goes from -1 to 1."""
    return min(max(product / square, -1.0), 1.0) if square > 0.0 else 0.0


@exact
def nearest_of_segments(r, e, f):
    """
    Find where two segments are nearest: s e of the first, and r + t f of the second.

    :returns: s and t, each from -1 to 1.
    """
    ee, ff, ef, er, fr = dot(e, e), dot(f, f), dot(e, f), dot(e, r), dot(f, r)
    free = ee * ff - ef * ef
    s = share(er * ff - ef * fr, free)
    t = share(s * ef - fr, ff)
    return share(er + t * ef, ee), t


@exact
def some_normal(e, f):
    """Return a direction across two segments that meet; either may be a point."""
    n = cross(e, f)
    if dot(n, n) == 0.0:
        along = e if dot(e, e) >= dot(f, f) else f
        x, y, z = abs(along.x), abs(along.y), abs(along.z)
        n = cross(along, Vector(1.0 if x <= y and x <= z else 0.0,
                                1.0 if y < x and y <= z else 0.0, 1.0 if z < x and z < y else 0.0))
    if dot(n, n) == 0.0:
        n = Vector(0.0, 0.0, 1.0)
    return scale(n, 1.0 / length(n))


@exact
def touch_rounds(geometry, a, b, r, margin):
    """
    Find the contacts between two spheres or capsules.

    :returns: How many there are, and the normal from a to b.
    """
    points, shapes = points_of(geometry), shapes_of(geometry)
    r_a, r_b = shapes[a].size[0], shapes[b].size[0]
    e, f = half_axis(geometry, a), half_axis(geometry, b)
    s, t = nearest_of_segments(r, e, f)
    on_a = scale(e, s)
    across = subtract(add(r, scale(f, t)), on_a)
    apart = length(across)
    gap = apart - r_a - r_b
    if gap >= margin:
        return 0, across
    n = some_normal(e, f)
    if apart > MEETING * (r_a + r_b):
        n = scale(across, 1.0 / apart)
    count = 0
    if shapes[a].kind == CAPSULE and shapes[b].kind == CAPSULE:
        put_faces(geometry, a, b, r, n)
        count = put_side_by_side(points, n, r_a, r_b, margin)
    if count == 0:
        put_point(points[FOUND], 0, add(on_a, scale(n, r_a + 0.5 * gap)), gap, NEAREST)
        count = 1
    return count, n


@exact
def outside_of_box(size, p):
    """Return the outward direction at the surface point nearest to p, and p's height above it."""
    d = Vector(p.x - min(max(p.x, -size[0]), size[0]), p.y - min(max(p.y, -size[1]), size[1]),
               p.z - min(max(p.z, -size[2]), size[2]))
    far = length(d)
    if far > 0.0:
        return scale(d, 1.0 / far), far
    x, y, z = abs(p.x) - size[0], abs(p.y) - size[1], abs(p.z) - size[2]
    if x >= y and x >= z:
        return Vector(math.copysign(1.0, p.x), 0.0, 0.0), x
    if y >= z:
        return Vector(0.0, math.copysign(1.0, p.y), 0.0), y
    return Vector(0.0, 0.0, math.copysign(1.0, p.z)), z


@inlined
def turned_out(across, height, p):
    """Return the vector with parts across and along the axis, turned to where p is."""
    rho = math.sqrt(p.x * p.x + p.y * p.y)
    if rho == 0.0:
        return Vector(across, 0.0, height)
    return Vector(across * p.x / rho, across * p.y / rho, height)


@exact
def outside_of_cylinder(size, p):
    """Return the outward direction at the surface point nearest to p, and p's height above it."""
    side = math.sqrt(p.x * p.x + p.y * p.y) - size[0]
    end = abs(p.z) - size[2]
    if side > 0.0 and end > 0.0:
        far = math.sqrt(side * side + end * end)
        return turned_out(side / far, math.copysign(end / far, p.z), p), far
    if side > end:
        return turned_out(1.0, 0.0, p), side
    return Vector(0.0, 0.0, math.copysign(1.0, p.z)), end


@exact
def outside_of_cone(size, p):
    """Return the outward direction at the surface point nearest to p, and p's height above it."""
    rho, height = math.sqrt(p.x * p.x + p.y * p.y), p.z + size[2]
    slant = math.sqrt(size[0] * size[0] + 4.0 * size[2] * size[2])
    across, along = 2.0 * size[2] / slant, size[0] / slant  # of the normal of the side
    side = (rho - size[0]) * across + height * along
    if side <= 0.0 and height >= 0.0:
        if side >= -height:
            return turned_out(across, along, p), side
        return Vector(0.0, 0.0, -1.0), -height
    if height < 0.0 and rho <= size[0]:
        return Vector(0.0, 0.0, -1.0), -height
    # how far down the side, from the apex; beyond its ends the apex or the rim is nearest
    down = min(max(rho * along - (p.z - size[2]) * across, 0.0), slant)
    x, z = rho - down * along, p.z - size[2] + down * across
    far = math.sqrt(x * x + z * z)
    if far == 0.0:
        return turned_out(across, along, p), 0.0
    return turned_out(x / far, z / far, p), far


@exact
def touch_ball(geometry, a, b, r, margin):
    """
    Find the contact between sphere a and a box, cylinder or cone b.

    :returns: 1 or 0, and the normal from a to b.
    """
    shape, R, radius = shapes_of(geometry)[b], orientation(geometry, b), (
        shapes_of(geometry)[a].size[0])
    p = times(transpose(R), scale(r, -1.0))
    if shape.kind == BOX:
        outward, height = outside_of_box(shape.size, p)
    elif shape.kind == CYLINDER:
        outward, height = outside_of_cylinder(shape.size, p)
    else:
        outward, height = outside_of_cone(shape.size, p)
    n = times(R, scale(outward, -1.0))
    gap = height - radius
    if gap >= margin:
        return 0, n
    put_point(points_of(geometry)[FOUND], 0, scale(n, radius + 0.5 * gap), gap, NEAREST)
    return 1, n
