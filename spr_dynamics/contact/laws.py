"""
What a contact or a row answers to a velocity: impulse, stiffness and cost.

The normal impulse is that of a spring and damper taken implicitly. The tangential one p takes
most energy from the slip velocity v among those inside of the ellipse
``|(p_1 / mu_1, p_2 / mu_2)| <= bound``, with linear creep while it sticks:

    maximise  - p . v - 1/2 p . R_stick p

so p = -(s_1 v_1, s_2 v_2). Each impulse is minus the slope of a cost that is convex in the
velocity as long as the bound stays. Velocities count from ``b``, what the contact asks for.
"""
import math

from spr_dynamics.contact.records import FRICTION, OPEN, SLIDING, STICKING, TIED, TURNING
from spr_dynamics.jit import exact, inlined

ELLIPSE_STEPS = 30  # of Newton's method, which takes about 4
ELLIPSE_TOLERANCE = 1e-15  # of a softness


@exact
def normal_impulse(contact, u_n):
    """Return the normal impulse at a normal velocity: never a pull."""
    return max(0.0, (contact.b[0] - u_n) / contact.R)


@exact
def friction(contact, v_1, v_2, bound):
    """
    Find how friction answers a slip velocity: its impulse is -(s_1 v_1, s_2 v_2).

    :returns: s_1 and s_2, not negative, and whether it slides, held back with all that friction
        can give.
    """
    if not contact.is_round:
        return friction_in_ellipse(contact, v_1, v_2, bound)
    limit, R = contact.mu[0] * bound, contact.R_stick[0]
    if limit == 0.0:
        return 0.0, 0.0, False
    square = v_1 * v_1 + v_2 * v_2
    if square <= R * limit * (R * limit):
        return 1.0 / R, 1.0 / R, False
    s = limit / math.sqrt(square)
    return s, s, True


@exact
def friction_in_ellipse(contact, v_1, v_2, bound):
    """
    Find the same where friction differs between t1 and t2.

    On the ellipse s_i = mu_i^2 / (mu_i^2 R_i + x), with the x > 0 that makes
    size(x) = |(p_1 / mu_1, p_2 / mu_2)| the bound. Newton's method on 1 / size, which is nearly
    a line, comes from below and never goes beyond.
    """
    mu_1, mu_2 = contact.mu[0], contact.mu[1]
    if bound == 0.0 or mu_1 == mu_2 == 0.0:
        return 0.0, 0.0, False
    # what has no friction adds nothing to the size, whatever its softness
    c_1 = contact.R_stick[0] * mu_1 * mu_1 if mu_1 > 0.0 else 1.0
    c_2 = contact.R_stick[1] * mu_2 * mu_2 if mu_2 > 0.0 else 1.0
    g_1, g_2 = (mu_1 * v_1) ** 2, (mu_2 * v_2) ** 2
    if g_1 / (c_1 * c_1) + g_2 / (c_2 * c_2) <= bound * bound:
        return mu_1 * mu_1 / c_1, mu_2 * mu_2 / c_2, False
    x = max(0.0, math.sqrt(g_1 + g_2) / bound - max(c_1, c_2))
    for _ in range(ELLIPSE_STEPS):
        f_1, f_2 = 1.0 / (c_1 + x), 1.0 / (c_2 + x)
        a_1, a_2 = g_1 * f_1 * f_1, g_2 * f_2 * f_2
        square = a_1 + a_2
        change = square * (math.sqrt(square) / bound - 1.0) / (a_1 * f_1 + a_2 * f_2)
        x += change
        if not change > ELLIPSE_TOLERANCE * (min(c_1, c_2) + x):
            break
    return mu_1 * mu_1 / (c_1 + x), mu_2 * mu_2 / (c_2 + x), True


@exact
def along_limit(contact, v_1, v_2, s_1, s_2):
    """
    Return z and D such that the stiffness of what slides is diag(s) - z z^T / D.

    A sliding impulse stays on its ellipse: it turns with the slip v, and grows only with the
    bound, by -z bound / (D |v|).
    """
    slip = math.hypot(v_1, v_2)
    t_1, t_2 = v_1 / slip, v_2 / slip
    mu_1, mu_2 = contact.mu[0], contact.mu[1]
    f_1 = s_1 / (mu_1 * mu_1) if mu_1 > 0.0 else 0.0
    f_2 = s_2 / (mu_2 * mu_2) if mu_2 > 0.0 else 0.0
    z_1, z_2 = t_1 * s_1 * f_1, t_2 * s_2 * f_2
    return z_1, z_2, t_1 * f_1 * z_1 + t_2 * f_2 * z_2


@exact
def slip_velocity(contact, alpha):
    """Return the slip that friction answers, ``alpha`` steps along the search direction."""
    u, du, b = contact.u, contact.du, contact.b
    return u[1] + alpha * du[1] - b[1], u[2] + alpha * du[2] - b[2]


@exact
def contact_impulse(contact):
    """Return the impulse along n, t1 and t2 at the contact's velocity."""
    v_1, v_2 = slip_velocity(contact, 0.0)
    s_1, s_2, _ = friction(contact, v_1, v_2, contact.bound)
    return normal_impulse(contact, contact.u[0]), -s_1 * v_1, -s_2 * v_2


@exact
def contact_state(contact):
    """Say whether a contact is open, sticks or slides; without friction it slides."""
    if contact.impulse[0] <= 0.0:
        return OPEN
    v_1, v_2 = slip_velocity(contact, 0.0)
    s_1, s_2, slides = friction(contact, v_1, v_2, contact.bound)
    return SLIDING if slides or s_1 == s_2 == 0.0 else STICKING


@exact
def normal_stiffness(contact):
    """Return how fast the normal impulse falls with the normal velocity."""
    return 1.0 / contact.R if contact.impulse[0] > 0.0 else 0.0


@exact
def tangent_stiffness(contact):
    """Return the entries 11, 12 and 22 of how friction falls with slip, for a fixed bound."""
    v_1, v_2 = slip_velocity(contact, 0.0)
    s_1, s_2, slides = friction(contact, v_1, v_2, contact.bound)
    if not slides:
        return s_1, 0.0, s_2
    z_1, z_2, D = along_limit(contact, v_1, v_2, s_1, s_2)
    return s_1 - z_1 * z_1 / D, -z_1 * z_2 / D, s_2 - z_2 * z_2 / D


@exact
def cross_stiffness(contact):
    """Return how fast friction falls with the normal velocity where the bound follows that."""
    v_1, v_2 = slip_velocity(contact, 0.0)
    s_1, s_2, slides = friction(contact, v_1, v_2, contact.bound)
    if not slides or contact.impulse[0] <= 0.0:
        return 0.0, 0.0
    z_1, z_2, D = along_limit(contact, v_1, v_2, s_1, s_2)
    share = contact.bound / (D * math.hypot(v_1, v_2) * contact.R)
    return -share * z_1, -share * z_2


@exact
def add_contact_slope(contact, alpha, first, second):
    """Add what a contact gives to the slope and curvature of the cost along the direction."""
    u, du = contact.u, contact.du
    p_n = normal_impulse(contact, u[0] + alpha * du[0])
    if p_n > 0.0:
        first -= p_n * du[0]
        second += du[0] * du[0] / contact.R
    v_1, v_2 = slip_velocity(contact, alpha)
    s_1, s_2, slides = friction(contact, v_1, v_2, contact.bound)
    first += s_1 * v_1 * du[1] + s_2 * v_2 * du[2]
    second += s_1 * du[1] * du[1] + s_2 * du[2] * du[2]
    if slides:
        z_1, z_2, D = along_limit(contact, v_1, v_2, s_1, s_2)
        second -= (z_1 * du[1] + z_2 * du[2]) ** 2 / D
    return first, second


@exact
def contact_cost(contact):
    """Return the cost at the contact's velocity, whose normal impulse is the bound."""
    p_n = contact.bound
    v_1, v_2 = slip_velocity(contact, 0.0)
    s_1, s_2, _ = friction(contact, v_1, v_2, p_n)
    p_1, p_2, R = s_1 * v_1, s_2 * v_2, contact.R_stick
    return (0.5 * contact.R * p_n * p_n + p_1 * v_1 + p_2 * v_2
            - 0.5 * (R[0] * p_1 * p_1 + R[1] * p_2 * p_2))


@exact
def is_bounded(row):
    """Say whether a row acts both ways up to a bound."""
    return row.kind == FRICTION or row.kind == TURNING


@inlined
def bound_turning(rows, contacts):
    """Bound friction against turning by the bound of its contact."""
    for r in range(rows.size):
        if rows[r].kind == TURNING:
            rows[r].bound = rows[r].arm * contacts[rows[r].contact].bound


@exact
def row_impulse(row, w):
    """Return the impulse of a row: a limit only pushes, dry friction has a bound, a tie holds."""
    if is_bounded(row):
        return min(max(-w / row.R, -row.bound), row.bound)
    p = (row.b - w) / row.R
    return p if row.kind == TIED else max(0.0, p)


@exact
def row_stiffness(row, w):
    """Return how fast the impulse of a row falls with the velocity."""
    p = row_impulse(row, w)
    acts = (abs(p) < row.bound if is_bounded(row) else p > 0.0) or row.kind == TIED
    return 1.0 / row.R if acts else 0.0


@exact
def row_cross_stiffness(row, contacts):
    """Return how fast friction against turning falls with the normal velocity of its contact."""
    if row.kind != TURNING or abs(row.impulse) < row.bound:
        return 0.0
    contact = contacts[row.contact]
    return -math.copysign(row.arm / contact.R, row.w) if contact.impulse[0] > 0.0 else 0.0


@exact
def row_cost(row):
    """Return the cost at the row's velocity."""
    p = row_impulse(row, row.w)
    total = 0.5 * row.R * p * p
    return total + abs(row.w) * abs(p) - row.R * p * p if is_bounded(row) else total
