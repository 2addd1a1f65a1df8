"""
The constraint solver: one convex problem a step in the joint velocities v.

    minimise  1/2 (v - v_free)^T A (v - v_free) + sum over contacts of N(u_n) + T(u_t; bound)

with u = J v. Each impulse is an explicit function of v: the normal one of a spring and damper
taken implicitly, the tangential one of Coulomb's law with linear creep while it sticks. The
bound on friction is the normal impulse of the same v, renewed at each iteration, so that the law
at the solution is Coulomb's own (Castro et al. 2022, 2023; Acary et al. 2011). Should that not
settle, the bound is kept and the convex problem solved, which always has one solution.
"""
import math

from spr_dynamics.dynamics.cholesky import factor, solve_factored
from spr_dynamics.jit import exact

RENEWALS = 20  # iterations in which the bound on friction follows the normal impulse
LINE_SEARCH = 20  # evaluations at most; a few are the rule
GOOD_ENOUGH_STEP = 0.05  # the full step is taken if it removes this much of the slope
LINE_TOLERANCE = 1e-6  # relative slope at which the line search ends
MAX_STEP = 4.0  # steps longer than this are taken in several iterations
ROUNDOFF = 1e-12  # [sqrt(J)] residual that is zero for every robot


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
def relative_velocities(contacts, count, J, support, v, along):
    """Compute J v for each contact, into ``du`` if along a direction, else into ``u``."""
    for c in range(count):
        contact = contacts[c]
        u_n, u_1, u_2 = 0.0, 0.0, 0.0
        for s in range(contact.n_support):
            x = v[support[c, s]]
            u_n += J[c, 0, s] * x
            u_1 += J[c, 1, s] * x
            u_2 += J[c, 2, s] * x
        target = contact.du if along else contact.u
        target[0], target[1], target[2] = u_n, u_1, u_2


@exact
def renew_bounds(contacts, count):
    """Bound friction by the normal impulse of the current velocity."""
    for c in range(count):
        contacts[c].bound = normal_impulse(contacts[c], contacts[c].u[0])


@exact
def evaluate(contacts, count, J, support, Av, g):
    """Compute the impulses and the residual of momentum g = A (v - v_free) - J^T impulse."""
    for i in range(g.size):
        g[i] = Av[i]
    for c in range(count):
        contact = contacts[c]
        u = contact.u
        s = friction_scale(contact, math.hypot(u[1], u[2]), contact.bound)
        p_n, p_1, p_2 = normal_impulse(contact, u[0]), -s * u[1], -s * u[2]
        contact.impulse[0], contact.impulse[1], contact.impulse[2] = p_n, p_1, p_2
        for k in range(contact.n_support):
            g[support[c, k]] -= J[c, 0, k] * p_n + J[c, 1, k] * p_1 + J[c, 2, k] * p_2


@exact
def is_solved(A, Av, g, tolerance):
    """Compare the residual with the momenta it is the difference of, scaled by the inertias."""
    residual, size = 0.0, 0.0
    for i in range(g.size):
        d = 1.0 / A[i, i]
        contact_momentum = Av[i] - g[i]
        residual += d * g[i] * g[i]
        size += d * (Av[i] * Av[i] + contact_momentum * contact_momentum)
    return math.sqrt(residual) <= tolerance * math.sqrt(size) + ROUNDOFF


@exact
def fill_hessian(contacts, count, J, support, A, H):
    """Compute the lower half of H = A + J^T K J, K being each impulse's derivative."""
    for i in range(H.shape[0]):
        for j in range(i + 1):
            H[i, j] = A[i, j]
    for c in range(count):
        contact = contacts[c]
        u, limit = contact.u, contact.mu * contact.bound
        k_n = 1.0 / contact.R if contact.impulse[0] > 0.0 else 0.0
        slip = math.hypot(u[1], u[2])
        s = friction_scale(contact, slip, contact.bound)
        k_11, k_12, k_22 = s, 0.0, s
        if slip > contact.R_stick * limit:
            # a sliding impulse only turns with the slip: nothing changes along it
            t_1, t_2 = u[1] / slip, u[2] / slip
            k_11, k_12, k_22 = s * t_2 * t_2, -s * t_1 * t_2, s * t_1 * t_1
        for p in range(contact.n_support):
            w_n = k_n * J[c, 0, p]
            w_1 = k_11 * J[c, 1, p] + k_12 * J[c, 2, p]
            w_2 = k_12 * J[c, 1, p] + k_22 * J[c, 2, p]
            i = support[c, p]
            for q in range(contact.n_support):
                j = support[c, q]
                if j <= i:
                    H[i, j] += w_n * J[c, 0, q] + w_1 * J[c, 1, q] + w_2 * J[c, 2, q]


@exact
def slope(contacts, count, alpha, linear, quadratic):
    """Return first and second derivative of the cost along the search direction."""
    first, second = linear + alpha * quadratic, quadratic
    for c in range(count):
        contact = contacts[c]
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
def line_search(contacts, count, linear, quadratic, start):
    """Find where the cost is least along the direction: Newton on its slope, kept in a bracket."""
    low, high, alpha = 0.0, math.inf, 1.0
    for evaluation in range(LINE_SEARCH):
        first, second = slope(contacts, count, alpha, linear, quadratic)
        enough = GOOD_ENOUGH_STEP if evaluation == 0 else LINE_TOLERANCE
        if abs(first) <= enough * abs(start):
            break
        if first < 0.0:
            low = alpha
        else:
            high = alpha
        alpha -= first / second
        if high == math.inf:
            alpha = min(alpha, 2.0 * low)
            if alpha >= MAX_STEP:
                return MAX_STEP
        elif not low < alpha < high:
            alpha = 0.5 * (low + high)
    return alpha


@exact
def cost(contacts, count, v, v_free, Av):
    """Return the cost at the current velocity, each friction bound being the one it implies."""
    total = 0.0
    for i in range(v.size):
        total += 0.5 * Av[i] * (v[i] - v_free[i])
    for c in range(count):
        contact = contacts[c]
        p_n = normal_impulse(contact, contact.u[0])
        slip, limit = math.hypot(contact.u[1], contact.u[2]), contact.mu * p_n
        total += 0.5 * contact.R * p_n * p_n
        if slip <= contact.R_stick * limit:
            total += 0.5 * slip * slip / contact.R_stick
        else:
            total += limit * slip - 0.5 * contact.R_stick * limit * limit
    return total


@exact
def start_at(contacts, count, J, support, A, v, v_free, Av):
    """Evaluate a starting velocity: relative velocities, and momentum against free motion."""
    relative_velocities(contacts, count, J, support, v, False)
    for i in range(v.size):
        total = 0.0
        for j in range(v.size):
            total += A[i, j] * (v[j] - v_free[j])
        Av[i] = total


@exact
def solve_contacts(contacts, count, J, support, A, H, x, options):
    """
    Find the velocity after contact.

    :param contacts: ``CONTACT`` records, the first ``count`` of them with their laws; their
        impulses are part of the result.
    :param A: Inertia plus what implicit dampers and springs add, shape (nv, nv).
    :param H: Scratch, shape (nv, nv).
    :param x: Vectors, shape (rows, nv): row 0 is the free velocity, row 1 the first guess and then
        the solution, the next five are scratch.
    :returns: Iterations taken, more than ``RENEWALS`` if the bound on friction is an earlier one;
        and whether the problem was solved within the budget.
    """
    v_free, v, Av, g, dv, Adv, column = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
    start_at(contacts, count, J, support, A, v_free, v_free, Av)
    free_cost = cost(contacts, count, v_free, v_free, Av)
    start_at(contacts, count, J, support, A, v, v_free, Av)
    if not cost(contacts, count, v, v_free, Av) <= free_cost:
        for i in range(v.size):
            v[i] = v_free[i]
        start_at(contacts, count, J, support, A, v, v_free, Av)
    iteration = 0
    while True:
        if iteration <= RENEWALS:
            renew_bounds(contacts, count)
        evaluate(contacts, count, J, support, Av, g)
        solved = is_solved(A, Av, g, options[0].tolerance)
        if solved or iteration == options[0].budget:
            return iteration, solved
        iteration += 1
        fill_hessian(contacts, count, J, support, A, H)
        factor(H, column)
        for i in range(v.size):
            dv[i] = -g[i]
        solve_factored(H, dv)
        relative_velocities(contacts, count, J, support, dv, True)
        linear, quadratic, start = 0.0, 0.0, 0.0
        for i in range(v.size):
            total = 0.0
            for j in range(v.size):
                total += A[i, j] * dv[j]
            Adv[i] = total
            linear += Av[i] * dv[i]
            quadratic += total * dv[i]
            start += g[i] * dv[i]
        alpha = line_search(contacts, count, linear, quadratic, start)
        for i in range(v.size):
            v[i] += alpha * dv[i]
            Av[i] += alpha * Adv[i]
        for c in range(count):
            for k in range(3):
                contacts[c].u[k] += alpha * contacts[c].du[k]
