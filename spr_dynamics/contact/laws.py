"""
What a contact or a row answers to a velocity: impulse, stiffness and cost.

The normal impulse is that of a spring and damper taken implicitly, the tangential one follows
Coulomb's law with linear creep while it sticks, bounded by ``mu * bound``. Each impulse is minus
the slope of a cost that is convex in the velocity as long as the bound stays.
"""
import math

from spr_dynamics.contact.records import FRICTION, TIED
from spr_dynamics.jit import exact


@exact
def normal_impulse(contact, u_n):
    """Return the normal impulse at a normal velocity: never a pull."""
    return max(0.0, (contact.b - u_n) / contact.R)


@exact
def friction_scale(contact, slip, bound):
    """Return s >= 0 such that the friction impulse is -s times the slip velocity."""
    limit = contact.mu * bound
    if slip <= contact.R_stick * limit:
        return 1.0 / contact.R_stick if limit > 0.0 else 0.0
    return limit / slip


@exact
def contact_impulse(contact):
    """Return the impulse along n, t1 and t2 at the contact's velocity."""
    u = contact.u
    s = friction_scale(contact, math.hypot(u[1], u[2]), contact.bound)
    return normal_impulse(contact, u[0]), -s * u[1], -s * u[2]


@exact
def normal_stiffness(contact):
    """Return how fast the normal impulse falls with the normal velocity."""
    return 1.0 / contact.R if contact.impulse[0] > 0.0 else 0.0


@exact
def tangent_stiffness(contact):
    """Return the entries 11, 12 and 22 of how friction falls with slip, for a fixed bound."""
    u, limit = contact.u, contact.mu * contact.bound
    slip = math.hypot(u[1], u[2])
    s = friction_scale(contact, slip, contact.bound)
    if slip > contact.R_stick * limit:
        # a sliding impulse only turns with the slip: nothing changes along it
        t_1, t_2 = u[1] / slip, u[2] / slip
        return s * t_2 * t_2, -s * t_1 * t_2, s * t_1 * t_1
    return s, 0.0, s


@exact
def cross_stiffness(contact):
    """Return how fast friction falls with the normal velocity where the bound follows that."""
    u = contact.u
    slip = math.hypot(u[1], u[2])
    if contact.impulse[0] > 0.0 and slip > contact.R_stick * contact.mu * contact.bound:
        return (-contact.mu * u[1] / (slip * contact.R), -contact.mu * u[2] / (slip * contact.R))
    return 0.0, 0.0


@exact
def add_contact_slope(contact, alpha, first, second):
    """Add what a contact gives to the slope and curvature of the cost along the direction."""
    u, du = contact.u, contact.du
    p_n = normal_impulse(contact, u[0] + alpha * du[0])
    if p_n > 0.0:
        first -= p_n * du[0]
        second += du[0] * du[0] / contact.R
    u_1, u_2 = u[1] + alpha * du[1], u[2] + alpha * du[2]
    slip = math.hypot(u_1, u_2)
    s = friction_scale(contact, slip, contact.bound)
    along, square = u_1 * du[1] + u_2 * du[2], du[1] * du[1] + du[2] * du[2]
    first += s * along
    second += s * square
    if slip > contact.R_stick * contact.mu * contact.bound:
        second -= s * (along / slip) ** 2
    return first, second


@exact
def contact_cost(contact):
    """Return the cost at the contact's velocity, with the bound that this implies."""
    p_n = normal_impulse(contact, contact.u[0])
    slip, limit = math.hypot(contact.u[1], contact.u[2]), contact.mu * p_n
    total = 0.5 * contact.R * p_n * p_n
    if slip <= contact.R_stick * limit:
        return total + 0.5 * slip * slip / contact.R_stick
    return total + limit * slip - 0.5 * contact.R_stick * limit * limit


@exact
def row_impulse(row, w):
    """Return the impulse of a row: a limit only pushes, dry friction has a bound, a tie holds."""
    if row.kind == FRICTION:
        return min(max(-w / row.R, -row.bound), row.bound)
    p = (row.b - w) / row.R
    return p if row.kind == TIED else max(0.0, p)


@exact
def row_stiffness(row, w):
    """Return how fast the impulse of a row falls with the velocity."""
    p = row_impulse(row, w)
    acts = (abs(p) < row.bound if row.kind == FRICTION else p > 0.0) or row.kind == TIED
    return 1.0 / row.R if acts else 0.0


@exact
def row_cost(row):
    """Return the cost at the row's velocity."""
    p = row_impulse(row, row.w)
    total = 0.5 * row.R * p * p
    return total + abs(row.w) * abs(p) - row.R * p * p if row.kind == FRICTION else total
