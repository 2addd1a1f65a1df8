"""Rows that resist the spin of two things about a contact's normal, and their rolling."""
import math

from spr_dynamics.contact.geometry import pairs_of
from spr_dynamics.contact.records import TURNING
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import as_motion, as_vector, cross, dot, put_vector, scale, subtract


@inlined
def add_turning_row(rows, count, contacts, c, e, arm, R):
    """Add a row that resists turning about e, with a torque of at most arm times the force."""
    row, contact = rows[count], contacts[c]
    row.kind, row.is_angle, row.contact, row.arm = TURNING, True, c, arm
    row.body_a, row.body_b = contact.body_a, contact.body_b
    put_vector(row.point, 0, as_vector(contact.point, 0))
    put_vector(row.e, 0, e)
    row.R, row.b = R, 0.0
    return count + 1


@inlined
def roll_axis(work, contact):
    """Return the direction across the normal about which two things turn on each other."""
    n = as_vector(contact.n, 0)
    spin = subtract(as_motion(work[contact.body_b].v).angular,
                    as_motion(work[contact.body_a].v).angular)
    across = subtract(spin, scale(n, dot(n, spin)))
    size = math.sqrt(dot(across, across))
    return scale(across, 1.0 / size) if size > 0.0 else as_vector(contact.t1, 0)


@exact
def find_turning_rows(geometry, work, contacts, n_contacts, rows, count):
    """
    Add a row against spin and two against rolling for each contact that asks for them.

    Of the two one is about the axis of rolling, so that friction is the same in all directions.

    :param rows: Result: ``ROW`` records.
    :returns: How many rows there are then.
    """
    pairs = pairs_of(geometry)
    for c in range(n_contacts):
        contact, pair = contacts[c], pairs[contacts[c].pair]
        if pair.torsion > 0.0:
            grown = math.sqrt(pair.surface_radius * max(-contact.gap, 0.0))
            arm = pair.torsion * max(pair.patch_radius, grown)
            count = add_turning_row(rows, count, contacts, c, as_vector(contact.n, 0), arm,
                                    pair.R_spin)
        if pair.rolling > 0.0:
            axis = roll_axis(work, contact)
            count = add_turning_row(rows, count, contacts, c, axis, pair.rolling, pair.R_roll)
            count = add_turning_row(rows, count, contacts, c, cross(as_vector(contact.n, 0), axis),
                                    pair.rolling, pair.R_roll)
    return count
