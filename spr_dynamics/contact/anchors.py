"""
What a contact that sticks remembers: how far it has given way since then.

Sticking is a creep in proportion to the force, so by itself a box on a slope goes down, slowly.
A contact that was there and stuck in the step before is asked to undo its way since it began to,
which is what a stiff spring between the two surfaces does, taken implicitly. One at the limit of
friction, but hardly moving, keeps as much of its way as gives that limit: of a box on a slope the
upper corners come to it first, and the lower ones hold on for all. The way is measured
by the material points that met, so what two bodies part while they turn together is undone, too.
"""
import math

from spr_dynamics.contact.geometry import pairs_of, placed_of
from spr_dynamics.contact.records import OPEN, SLIDING
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import (
    add, as_matrix, as_motion, as_vector, dot, put_vector, scale, subtract, times, transpose,
    Vector)

ROLLING = 1e-3  # [rad] in a step; what meets parts by a sixth of its cube times the radius


@inlined
def in_shape(shape, body, p):
    """Return a point of the world in the frame of a body's shape; the world's stay as they are."""
    if body == 0:
        return p
    return times(transpose(as_matrix(shape.R_WS, 0)), subtract(p, as_vector(shape.p_WS, 0)))


@inlined
def in_world(shape, body, p):
    """Return a point of a body's shape in the world."""
    if body == 0:
        return p
    return add(as_vector(shape.p_WS, 0), times(as_matrix(shape.R_WS, 0), p))


@inlined
def turned_with(shape, body, v):
    """Return a vector of a body's shape in world axes."""
    return v if body == 0 else times(as_matrix(shape.R_WS, 0), v)


@inlined
def turned_back(shape, body, v):
    """Return a vector in world axes as one of a body's shape."""
    return v if body == 0 else times(transpose(as_matrix(shape.R_WS, 0)), v)


@inlined
def is_rolling(work, contact, dt):
    """Say whether two things turn on each other so fast that other points meet in each step."""
    n = as_vector(contact.n, 0)
    spin = subtract(as_motion(work[contact.body_b].v).angular,
                    as_motion(work[contact.body_a].v).angular)
    along = dot(n, spin)
    return (dot(spin, spin) - along * along) * dt * dt > ROLLING * ROLLING


@inlined
def share_within_limit(contact, s_1, s_2, reach):
    """Return what share of the way (s_1, s_2) from an anchor gives friction up to its limit."""
    x = s_1 / (contact.R_stick[0] * contact.mu[0]) if s_1 != 0.0 else 0.0
    y = s_2 / (contact.R_stick[1] * contact.mu[1]) if s_2 != 0.0 else 0.0
    size = math.sqrt(x * x + y * y)
    return reach / size if size > reach else 1.0


@exact
def hold(pair, before, contact, a, b, dt):
    """
    Ask a contact to undo its way, if friction could do so within a step; else forget the way.

    :param before: The same contact in the step before.
    :param a: Where shape a is now (``PLACED``).
    """
    body_a, body_b = contact.body_a, contact.body_b
    way = add(turned_with(a, body_a, as_vector(before.stretch, 0)),
              subtract(in_world(b, body_b, as_vector(before.at_b, 0)),
                       in_world(a, body_a, as_vector(before.at_a, 0))))
    t1, t2 = as_vector(contact.t1, 0), as_vector(contact.t2, 0)
    s_1 = dot(t1, way) if pair.mu[0] > 0.0 else 0.0
    s_2 = dot(t2, way) if pair.mu[1] > 0.0 else 0.0
    reach = dt * max(pair.mu[0], pair.mu[1]) * pair.w * before.impulse[0]
    if s_1 * s_1 + s_2 * s_2 <= reach * reach:
        if before.state == SLIDING:
            share = share_within_limit(contact, s_1, s_2, dt * before.impulse[0])
            s_1, s_2 = share * s_1, share * s_2
        contact.b[1], contact.b[2] = -s_1 / dt, -s_2 / dt
        put_vector(contact.stretch, 0,
                   turned_back(a, body_a, add(scale(t1, s_1), scale(t2, s_2))))


@exact
def recall_anchors(geometry, work, kept, n_kept, contacts, count, dt):
    """
    Find contacts again among those of the step before, and hold on to those that carried.

    :param kept: Contacts of the step before, in the order of pairs.
    :param contacts: Those of this step, in the same order.
    """
    pairs, placed = pairs_of(geometry), placed_of(geometry)
    first = 0
    for c in range(count):
        contact, pair = contacts[c], pairs[contacts[c].pair]
        put_vector(contact.stretch, 0, Vector(0.0, 0.0, 0.0))
        a, b = placed[pair.a], placed[pair.b]
        point = as_vector(contact.point, 0)
        put_vector(contact.at_a, 0, in_shape(a, contact.body_a, point))
        put_vector(contact.at_b, 0, in_shape(b, contact.body_b, point))
        if not pair.holds:
            continue
        while first < n_kept and kept[first].pair < contact.pair:
            first += 1
        for k in range(first, n_kept):
            if kept[k].pair != contact.pair:
                break
            if (kept[k].key == contact.key and kept[k].state != OPEN
                    and not is_rolling(work, contact, dt)):
                hold(pair, kept[k], contact, a, b, dt)
