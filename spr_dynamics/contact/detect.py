"""Where candidate pairs touch, or nearly do."""
import math

import numba
import numpy as np

from spr_dynamics.contact.boxes import touch_boxes, UNSURE
from spr_dynamics.contact.epa import penetration
from spr_dynamics.contact.geometry import (
    corners_of, DROPPED, FOUND, GEOMETRY_SIZE, N_SHAPES, next_pair_of, pair_of, pairs_of,
    placed_of, points_of, shapes_of, swept_of)
from spr_dynamics.contact.gjk import APART, FAR, nearest_point_of_a, walk
from spr_dynamics.contact.manifold import put_manifold
from spr_dynamics.contact.planes import touch_plane
from spr_dynamics.contact.records import CONTACT, OPTIONS
from spr_dynamics.contact.refine import tangents
from spr_dynamics.contact.rounds import touch_ball, touch_rounds
from spr_dynamics.contact.support import (
    core_radius, forget_vertex, length, orientation, origin, separation)
from spr_dynamics.dynamics.work import WORK
from spr_dynamics.jit import array_at, entry_point, exact, inlined
from spr_dynamics.model.records import (
    BOX, CAPSULE, CONE, PLANE, SPHERE)
from spr_dynamics.spatial import (
    add, as_columns, as_motion, as_transform, as_vector, compose, cross, dot, put_matrix,
    put_vector, scale, subtract, times, Vector)

UPRIGHT = 1e-6  # sine of the angle to the normal below which a direction of friction is none
SLOWEST_IMPACT = 1e-3  # [m/s] below this nothing bounces: what rests would be solved twice
CLEARLY = 2.0  # ratio of variances from which on the order of another axis is worth a new sort


@inlined
def z_axis(R):
    return Vector(R.xz, R.yz, R.zz)


@inlined
def velocity_at(body, p):
    """Return the velocity of a body's point at p, and the body's spin."""
    v = as_motion(body.v)
    arm = subtract(p, as_vector(body.p_WB, 0))
    return add(v.linear, cross(v.angular, arm)), v.angular


@exact
def place_shapes(geometry, work, dt, margin):
    """
    Find where each shape is, and a box around all that it can touch in a step and a half.

    Two shapes come into each other's margin only if these boxes overlap.
    """
    shapes, placed = shapes_of(geometry), placed_of(geometry)
    for k in range(geometry[N_SHAPES]):
        shape, now = shapes[k], placed[k]
        body = work[shape.body]
        R, p = compose(as_columns(body.R_WB), as_vector(body.p_WB, 0), as_transform(shape.X))
        put_matrix(now.R_WS, 0, R)
        put_vector(now.p_WS, 0, p)
        v, spin = velocity_at(body, p)
        size = shape.size
        extra = margin + 1.5 * dt * (length(v) + length(spin) * shape.radius)
        half = Vector(
            abs(R.xx) * size[0] + abs(R.xy) * size[1] + abs(R.xz) * size[2] + extra,
            abs(R.yx) * size[0] + abs(R.yy) * size[1] + abs(R.yz) * size[2] + extra,
            abs(R.zx) * size[0] + abs(R.zy) * size[1] + abs(R.zz) * size[2] + extra)
        put_vector(now.low, 0, subtract(p, half))
        put_vector(now.high, 0, add(p, half))


@inlined
def are_near(a, b):
    """Say whether two boxes along the world's axes overlap."""
    return (a.low[0] < b.high[0] and b.low[0] < a.high[0]
            and a.low[1] < b.high[1] and b.low[1] < a.high[1]
            and a.low[2] < b.high[2] and b.low[2] < a.high[2])


@exact
def widest_axis(placed, swept):
    """Return the axis of the world along which shapes are spread out most, or nearly so."""
    axis, widest = 0, 0.0
    for k in range(3):
        total, squares = 0.0, 0.0
        for i in range(swept.size):
            x = placed[swept[i].shape].p_WS[k]
            total += x
            squares += x * x
        spread = squares - total * total / swept.size
        if spread > CLEARLY * widest:
            axis, widest = k, spread
    return axis


@exact
def sort_along(placed, swept, axis):
    """Put shapes into the order in which their boxes begin; that of the last step is near it."""
    for i in range(swept.size):
        shape = swept[i].shape
        low, j = placed[shape].low[axis], i
        while j > 0 and swept[j - 1].low > low:
            swept[j] = swept[j - 1]
            j -= 1
        swept[j].shape, swept[j].low = shape, low


@exact
def list_near_pairs(geometry):
    """
    List the watched pairs whose boxes overlap, of each shape a in the order of shapes b.

    A sweep along an axis finds them in an order of its own, which nobody is to see: they are put
    into lists by b, and those, the last one first, into lists by a. It takes no longer than there
    are pairs found.
    """
    placed, pairs, swept = placed_of(geometry), pairs_of(geometry), swept_of(geometry)
    following, numbers = next_pair_of(geometry), pair_of(geometry)
    axis = widest_axis(placed, swept)
    sort_along(placed, swept, axis)
    for i in range(swept.size):
        one = swept[i].shape
        placed[one].pairs, end = -1, placed[one].high[axis]
        for j in range(i + 1, swept.size):
            if swept[j].low >= end:
                break
            other = swept[j].shape
            if are_near(placed[one], placed[other]) and numbers[one, other] >= 0:
                k = numbers[one, other]
                b = pairs[k].b
                following[k], placed[b].pairs_as_b = placed[b].pairs_as_b, k
    for b in range(placed.size - 1, -1, -1):
        k, placed[b].pairs_as_b = placed[b].pairs_as_b, -1
        while k >= 0:
            a, then = pairs[k].a, following[k]
            following[k], placed[a].pairs = placed[a].pairs, k
            k = then


@exact
def watched_gap(a, b, body_a, body_b, p_a, p_b, dt, margin):
    """
    Return the gap below which a pair is watched.

    It is what the pair could cross in a step and a half, so that nothing falls through.
    """
    if a.kind == PLANE:  # it has no centre: what counts is its motion where the other shape is
        v_a, spin_a = velocity_at(body_a, p_b)
        turning = length(spin_a) * b.radius
    else:
        v_a, spin_a = velocity_at(body_a, p_a)
        turning = length(spin_a) * a.radius
    v_b, spin_b = velocity_at(body_b, p_b)
    speed = length(subtract(v_b, v_a)) + turning + length(spin_b) * b.radius
    return max(margin, 1.5 * dt * speed)


@exact
def touch_convex(geometry, a, b, r, size, margin):
    """
    Find the contacts between any two shapes but planes, by their distance or penetration.

    :returns: How many there are, and the normal from a to b.
    """
    shapes, corners = shapes_of(geometry), corners_of(geometry)
    forget_vertex(geometry, a)
    forget_vertex(geometry, b)
    reach = margin + core_radius(shapes[a]) + core_radius(shapes[b])
    known, n_corners, n = walk(geometry, a, b, r, size, reach)
    if known == FAR:
        return 0, n
    if known == APART:
        apart, nearest = separation(geometry, a, b, r, n), nearest_point_of_a(corners, n_corners)
    else:
        n, apart, nearest = penetration(geometry, a, b, r, n_corners, size)
    return put_manifold(geometry, a, b, r, n, apart, nearest, size, margin)


@exact
def touch(geometry, a, b, margin):
    """
    Find the contacts of a pair of shapes, with gaps below a margin.

    :returns: How many points were written, from the origin of shape a, and the normal from a to
        b, which they share.
    """
    shapes = shapes_of(geometry)
    kind_a, kind_b = shapes[a].kind, shapes[b].kind
    r = subtract(origin(geometry, b), origin(geometry, a))
    if kind_a == PLANE:
        n = z_axis(orientation(geometry, a))
        if dot(n, r) - shapes[b].radius >= margin:
            return 0, n
        return touch_plane(geometry, b, r, n, margin), n
    reach = shapes[a].radius + shapes[b].radius + margin
    if dot(r, r) >= reach * reach:
        return 0, r
    if kind_b <= CAPSULE:
        return touch_rounds(geometry, a, b, r, margin)
    if kind_a == SPHERE and kind_b <= CONE:
        return touch_ball(geometry, a, b, r, margin)
    size = min(shapes[a].radius, shapes[b].radius)
    if kind_a == BOX and kind_b == BOX:
        count, n = touch_boxes(geometry, a, b, r, size, margin)
        if count != UNSURE:
            return count, n
    return touch_convex(geometry, a, b, r, size, margin)


@inlined
def guided_tangents(R, direction, n):
    """Return two unit vectors across n: the first leans on a direction in a shape's frame."""
    e = times(R, as_vector(direction, 0))
    t1 = subtract(e, scale(n, dot(n, e)))
    size = length(t1)
    if size <= UPRIGHT * length(e):
        return tangents(n)
    t1 = scale(t1, 1.0 / size)
    return t1, cross(n, t1)


@inlined
def bounce_velocity(pair, a, b, point, n):
    """Return the normal velocity with which bodies part after an impact; 0: it is too slow."""
    v_a, _ = velocity_at(a, point)
    v_b, _ = velocity_at(b, point)
    approach = dot(n, subtract(v_a, v_b))
    if approach <= max(pair.bounce_speed, SLOWEST_IMPACT):
        return 0.0
    return pair.restitution * approach


@exact
def put_contacts(geometry, work, k, count, n, dt, contacts, first):
    """Write the contacts of pair k, and what their law asks for at their gaps."""
    shapes, points, pair = shapes_of(geometry), points_of(geometry)[FOUND], pairs_of(geometry)[k]
    if pair.guide >= 0:
        t1, t2 = guided_tangents(orientation(geometry, pair.guide), shapes[pair.guide].fdir1, n)
    else:
        t1, t2 = tangents(n)
    from_a = origin(geometry, pair.a)
    for i in range(count):
        contact, gap = contacts[first + i], points[i].gap
        contact.key, contact.pair = points[i].key, k
        contact.shape_a, contact.shape_b = pair.a, pair.b
        contact.body_a, contact.body_b = shapes[pair.a].body, shapes[pair.b].body
        put_vector(contact.point, 0, add(from_a, as_vector(points[i].p, 0)))
        put_vector(contact.n, 0, n)
        put_vector(contact.t1, 0, t1)
        put_vector(contact.t2, 0, t2)
        contact.gap, contact.R, contact.is_round = gap, pair.R, pair.is_round
        if gap >= 0.0:
            contact.b_calm = -gap / dt  # acts only if the surfaces would meet within this step
        else:
            contact.b_calm = min(-min(gap + pair.min_depth, 0.0) * pair.rate, pair.max_speed)
        contact.b[0], contact.bounce = contact.b_calm, 0.0
        for axis in range(2):
            contact.mu[axis], contact.R_stick[axis] = pair.mu[axis], pair.R_stick[axis]
            contact.b[1 + axis] = 0.0
        if pair.restitution > 0.0:
            contact.bounce = bounce_velocity(pair, work[contact.body_a], work[contact.body_b],
                                             as_vector(contact.point, 0), n)


@exact
def drop_shallowest(geometry, contacts, count, n_found):
    """
    Make room for deeper points among those found, at the cost of the shallowest of all.

    :returns: How many contacts stay, in their order, and how many points found stay.
    """
    points = points_of(geometry)[FOUND]
    while count + n_found > contacts.size:
        worst, shallowest = -1, -math.inf
        for c in range(count):
            if contacts[c].gap > shallowest:
                worst, shallowest = c, contacts[c].gap
        is_new = False
        for i in range(n_found):
            if points[i].gap >= shallowest:
                worst, shallowest, is_new = i, points[i].gap, True
        if is_new:
            for i in range(worst + 1, n_found):
                points[i - 1] = points[i]
            n_found -= 1
        else:
            for c in range(worst + 1, count):
                contacts[c - 1] = contacts[c]
            count -= 1
    return count, n_found


@exact
def find_contacts(geometry, work, options, contacts):
    """
    Fill in the contacts of all pairs, in the order of pairs and keys.

    :param geometry: The block of a ``Geometry``.
    :returns: How many there are, and how many more there would be with more room: those that
        were dropped had the largest gaps.
    """
    dt, margin = options[0].dt, options[0].margin
    shapes, pairs, placed = shapes_of(geometry), pairs_of(geometry), placed_of(geometry)
    following = next_pair_of(geometry)
    place_shapes(geometry, work, dt, margin)
    if swept_of(geometry).size > 0:
        list_near_pairs(geometry)
    count, dropped = 0, 0
    for a in range(shapes.size):
        k = placed[a].pairs
        while k >= 0:
            b = pairs[k].b
            watched = watched_gap(shapes[a], shapes[b], work[shapes[a].body], work[shapes[b].body],
                                  origin(geometry, a), origin(geometry, b), dt, margin)
            n_found, n = touch(geometry, a, b, watched)
            if n_found > 0:
                before = count + n_found
                if before > contacts.size:
                    count, n_found = drop_shallowest(geometry, contacts, count, n_found)
                    dropped += before - count - n_found
                put_contacts(geometry, work, k, n_found, n, dt, contacts, count)
                count += n_found
            k = following[k]
    return count, dropped


@entry_point(*[numba.int64] * 6)
def search(geometry, work, n_bodies, options, contacts, n_contacts):
    """
    Find contacts for who knows addresses only: a step is compiled without all this.

    How many there was no room for is left in ``geometry``.

    :returns: How many there are.
    """
    block = array_at(geometry, GEOMETRY_SIZE, np.int64)
    count, block[DROPPED] = find_contacts(
        block, array_at(work, n_bodies, WORK), array_at(options, 1, OPTIONS),
        array_at(contacts, n_contacts, CONTACT))
    return count
