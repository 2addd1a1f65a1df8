"""Narrow phase: where candidate pairs touch, or nearly do."""
import math

from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import BOX
from spr_dynamics.spatial import (
    add, as_matrix, as_motion, as_transform, as_vector, compose, cross, dot, put_vector, scale,
    subtract, times, Vector)


@inlined
def shape_pose(shape, work):
    """Return the orientation and position of a shape in the world."""
    now = work[shape.body]
    return compose(as_matrix(now.R_WB, 0), as_vector(now.p_WB, 0), as_transform(shape.X))


@inlined
def z_axis(R):
    return Vector(R.xz, R.yz, R.zz)


@inlined
def length(a):
    return math.sqrt(dot(a, a))


@inlined
def velocity_at(body, p):
    """Return the velocity of a body's point at p, and the body's spin."""
    v = as_motion(body.v)
    arm = subtract(p, as_vector(body.p_WB, 0))
    return add(v.linear, cross(v.angular, arm)), v.angular


@inlined
def speed_bound(plane_body, body, p, radius):
    """Return a speed that no point within a radius of p has against the plane [m/s]."""
    v_plane, spin_plane = velocity_at(plane_body, p)
    v, spin = velocity_at(body, p)
    return length(subtract(v, v_plane)) + (length(spin) + length(spin_plane)) * radius


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
def corner(size, i):
    """Return corner i of a box: bit 0 says whether x is positive, bit 1 y, bit 2 z."""
    return Vector(size[0] if i & 1 else -size[0], size[1] if i & 2 else -size[1],
                  size[2] if i & 4 else -size[2])


@exact
def put_contact(contact, pair, shapes, key, point, n, gap, dt):
    """Write a contact and what its law asks for at this gap."""
    t1, t2 = tangents(n)
    contact.key = key
    contact.shape_a, contact.shape_b = pair.a, pair.b
    contact.body_a, contact.body_b = shapes[pair.a].body, shapes[pair.b].body
    put_vector(contact.point, 0, subtract(point, scale(n, 0.5 * gap)))
    put_vector(contact.n, 0, n)
    put_vector(contact.t1, 0, t1)
    put_vector(contact.t2, 0, t2)
    contact.gap, contact.mu = gap, pair.mu
    contact.R, contact.R_stick = pair.R, pair.R_stick
    if gap >= 0.0:
        contact.b = -gap / dt  # acts only if the surfaces would meet within this step
    else:
        contact.b = min(-min(gap + pair.min_depth, 0.0) * pair.rate, pair.max_speed)


@exact
def find_contacts(shapes, pairs, work, options, contacts):
    """
    Fill in the contacts of all pairs, in the order of pairs and features.

    A pair is watched within a margin that its speed could cross in a step and a half, so that
    nothing falls through.

    :returns: How many there are.
    """
    dt = options[0].dt
    count = 0
    for k in range(pairs.size):
        pair = pairs[k]
        plane, shape = shapes[pair.a], shapes[pair.b]
        R, p = shape_pose(plane, work)
        n = z_axis(R)
        offset = dot(n, p)
        R, p = shape_pose(shape, work)
        centre_gap = dot(n, p) - offset
        speed = speed_bound(work[plane.body], work[shape.body], p, shape.radius)
        margin = max(options[0].margin, 1.5 * dt * speed)
        if centre_gap - shape.radius >= margin:
            continue
        if shape.kind == BOX:
            for i in range(8):
                point = add(p, times(R, corner(shape.size, i)))
                gap = dot(n, point) - offset
                if gap < margin:
                    put_contact(contacts[count], pair, shapes, i, point, n, gap, dt)
                    count += 1
        else:
            gap = centre_gap - shape.radius
            point = subtract(p, scale(n, shape.radius))
            put_contact(contacts[count], pair, shapes, 0, point, n, gap, dt)
            count += 1
    return count
