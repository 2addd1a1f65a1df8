"""
The constraint solver: one problem a step in the joint velocities v of an island.

    minimise  1/2 (v - v_free)^T A (v - v_free) + contacts N(u_n) + T(u_t; bound) + rows P(w)

with u = J v at contacts, and w = j v for limits and friction of joints and for closed loops.
Each impulse is an explicit function of v (`laws.py`). For a given bound on friction the problem
is convex (Castro et al. 2022, 2023). The law at the solution is Coulomb's own if the bound is
the normal impulse of the same v (De Saxce and Feng 1998, Acary et al. 2011). Three ways there,
each tried when the one before has not arrived:

* A, Newton on the convex problem, the bound being renewed before each step;
* B, Newton on the whole residual, in which friction follows the normal impulse;
* C, the convex problem to its end, then a new bound by Anderson's mixing, and again.

Where the budget ends before, all are tried again from the free velocity, with as much: the guess
may have led astray. At the end of that the convex problem is solved with the last bound: momentum
balances and friction only takes energy, but its bound is that of another velocity.
"""
import math

from spr_dynamics.contact.laws import (
    add_contact_slope, bound_turning, contact_cost, contact_impulse, cross_stiffness,
    normal_impulse, normal_stiffness, row_cost, row_cross_stiffness, row_impulse, row_stiffness,
    tangent_stiffness)
from spr_dynamics.contact.records import (
    CHANGE, FREE_VELOCITY, LAGGED, LEAST, RESIDUAL, SOLVED, STEP, STEP_MOMENTUM, UNSOLVED,
    VELOCITY)
from spr_dynamics.dynamics.cholesky import factor, solve_factored
from spr_dynamics.dynamics.lu import factor_lu, solve_lu
from spr_dynamics.jit import exact

CONVEX_STEPS = 4  # of way A
EXACT_STEPS = 8  # of way B, each time
HALVINGS = 6  # of a step of way B
SUFFICIENT = 1e-3  # of the decrease that a step of way B promises
MIXED = 0.7  # share of the first correction of a bound in way C
NEAR = 0.05  # share of the impulses that bounds may miss for way B to be worth a try
LINE_SEARCH = 20  # evaluations at most; a few are the rule
GOOD_ENOUGH_STEP = 0.05  # the full step is taken if it removes this much of the slope
LINE_TOLERANCE = 1e-6  # relative slope at which the line search ends
MAX_STEP = 4.0  # steps longer than this are taken in several iterations
ROUNDOFF = 1e-12  # [sqrt(J)] residual that is zero for every robot
FINAL_STEPS = 100  # Newton steps of a convex problem, which needs a few dozen at the worst


@exact
def relative_velocities(island, v, along):
    """Compute J v for each contact and row, into ``du`` and ``dw`` if along a direction."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    for m in range(members.size):
        c = members[m]
        contact = contacts[c]
        u_n, u_1, u_2 = 0.0, 0.0, 0.0
        for s in range(contact.n_support):
            x = v[support[c, s]]
            u_n += J[c, 0, s] * x
            u_1 += J[c, 1, s] * x
            u_2 += J[c, 2, s] * x
        target = contact.du if along else contact.u
        target[0], target[1], target[2] = u_n, u_1, u_2
    for r in range(rows.size):
        w, at = 0.0, rows[r].at
        for s in range(rows[r].n_support):
            w += J_rows[at, 0, s] * v[support_rows[at, s]]
        if along:
            rows[r].dw = w
        else:
            rows[r].w = w


@exact
def renew_bounds(island):
    """Bound friction by the normal impulse of the current velocity."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    for m in range(members.size):
        contact = contacts[members[m]]
        contact.bound = normal_impulse(contact, contact.u[0])
    bound_turning(rows, contacts)


@exact
def evaluate(island, Av, g):
    """Compute the impulses and the residual of momentum g = A (v - v_free) - J^T impulse."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    for i in range(g.size):
        g[i] = Av[i]
    for m in range(members.size):
        c = members[m]
        contact = contacts[c]
        p_n, p_1, p_2 = contact_impulse(contact)
        contact.impulse[0], contact.impulse[1], contact.impulse[2] = p_n, p_1, p_2
        for k in range(contact.n_support):
            g[support[c, k]] -= J[c, 0, k] * p_n + J[c, 1, k] * p_1 + J[c, 2, k] * p_2
    for r in range(rows.size):
        row = rows[r]
        row.impulse = row_impulse(row, row.w)
        for s in range(row.n_support):
            g[support_rows[row.at, s]] -= J_rows[row.at, 0, s] * row.impulse


@exact
def residual_norm(A, g):
    """Measure a residual of momentum by the inertias, so that turning and moving compare."""
    total = 0.0
    for i in range(g.size):
        total += g[i] * g[i] / A[i, i]
    return math.sqrt(total)


@exact
def is_solved(A, Av, g, tolerance):
    """Compare the residual with the momenta it is the difference of."""
    residual, size = 0.0, 0.0
    for i in range(g.size):
        d = 1.0 / A[i, i]
        contact_momentum = Av[i] - g[i]
        residual += d * g[i] * g[i]
        size += d * (Av[i] * Av[i] + contact_momentum * contact_momentum)
    return math.sqrt(residual) <= tolerance * math.sqrt(size) + ROUNDOFF


@exact
def fill_hessian(island, A, begin, H):
    """
    Compute the lower half of H = A + J^T K J, K being each impulse's derivative.

    :param begin: First column of each row of A that is not zero by its place in the tree.
    """
    contacts, members, J, support, rows, J_rows, support_rows = island
    for i in range(H.shape[0]):
        for j in range(begin[i]):
            H[i, j] = 0.0
        for j in range(begin[i], i + 1):
            H[i, j] = A[i, j]
    for m in range(members.size):
        c = members[m]
        contact = contacts[c]
        k_n, (k_11, k_12, k_22) = normal_stiffness(contact), tangent_stiffness(contact)
        if k_n == 0.0 and k_11 == 0.0 and k_22 == 0.0:
            continue
        for p in range(contact.n_support):
            w_n = k_n * J[c, 0, p]
            w_1 = k_11 * J[c, 1, p] + k_12 * J[c, 2, p]
            w_2 = k_12 * J[c, 1, p] + k_22 * J[c, 2, p]
            i = support[c, p]
            for q in range(contact.n_support):
                j = support[c, q]
                if j <= i:
                    H[i, j] += w_n * J[c, 0, q] + w_1 * J[c, 1, q] + w_2 * J[c, 2, q]
    for r in range(rows.size):
        stiffness, at = row_stiffness(rows[r], rows[r].w), rows[r].at
        if stiffness > 0.0:
            for p in range(rows[r].n_support):
                i, w = support_rows[at, p], stiffness * J_rows[at, 0, p]
                for q in range(rows[r].n_support):
                    j = support_rows[at, q]
                    if j <= i:
                        H[i, j] += w * J_rows[at, 0, q]


@exact
def fill_whole_jacobian(island, A, begin, H):
    """Compute how the whole residual changes with v, friction following the normal impulse."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    fill_hessian(island, A, begin, H)
    for i in range(H.shape[0]):
        for j in range(i):
            H[j, i] = H[i, j]
    for m in range(members.size):
        c = members[m]
        contact = contacts[c]
        f_1, f_2 = cross_stiffness(contact)
        if f_1 != 0.0 or f_2 != 0.0:
            for p in range(contact.n_support):
                w = f_1 * J[c, 1, p] + f_2 * J[c, 2, p]
                for q in range(contact.n_support):
                    H[support[c, p], support[c, q]] += w * J[c, 0, q]
    for r in range(rows.size):
        f, at, c = row_cross_stiffness(rows[r], contacts), rows[r].at, rows[r].contact
        if f != 0.0:
            for p in range(rows[r].n_support):
                i, w = support_rows[at, p], f * J_rows[at, 0, p]
                for q in range(contacts[c].n_support):
                    H[i, support[c, q]] += w * J[c, 0, q]


@exact
def times_inertia(A, begin, end, v, product):
    """Compute A v; a row of A is zero outside its own tree."""
    for i in range(v.size):
        total = 0.0
        for j in range(begin[i], end[i]):
            total += A[i, j] * v[j]
        product[i] = total


@exact
def slope(island, alpha, linear, quadratic):
    """Return first and second derivative of the cost along the search direction."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    first, second = linear + alpha * quadratic, quadratic
    for m in range(members.size):
        first, second = add_contact_slope(contacts[members[m]], alpha, first, second)
    for r in range(rows.size):
        w, dw = rows[r].w + alpha * rows[r].dw, rows[r].dw
        first -= row_impulse(rows[r], w) * dw
        second += row_stiffness(rows[r], w) * dw * dw
    return first, second


@exact
def line_search(island, linear, quadratic, start):
    """Find where the cost is least along the direction: Newton on its slope, kept in a bracket."""
    low, high, alpha = 0.0, math.inf, 1.0
    for evaluation in range(LINE_SEARCH):
        first, second = slope(island, alpha, linear, quadratic)
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
def cost(island, v, v_free, Av):
    """Return the cost at the current velocity, each friction bound being the one it implies."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    total = 0.0
    for i in range(v.size):
        total += 0.5 * Av[i] * (v[i] - v_free[i])
    for m in range(members.size):
        contact = contacts[members[m]]
        contact.bound = normal_impulse(contact, contact.u[0])
        total += contact_cost(contact)
    bound_turning(rows, contacts)
    for r in range(rows.size):
        total += row_cost(rows[r])
    return total


@exact
def start_at(island, A, begin, end, x, v):
    """Make a velocity the current one: relative velocities, and momentum against free motion."""
    relative_velocities(island, v, False)
    for i in range(v.size):
        x[STEP, i] = v[i] - x[FREE_VELOCITY, i]
    times_inertia(A, begin, end, x[STEP], x[CHANGE])


@exact
def is_guessed(island, A, begin, end, x, tolerance):
    """Say whether the guess is the solution, as it is of what rests; begin there."""
    start_at(island, A, begin, end, x, x[VELOCITY])
    renew_bounds(island)
    evaluate(island, x[CHANGE], x[RESIDUAL])
    return is_solved(A, x[CHANGE], x[RESIDUAL], tolerance)


@exact
def start_free(island, A, begin, end, x):
    """Begin at the free velocity."""
    for i in range(x.shape[1]):
        x[VELOCITY, i] = x[FREE_VELOCITY, i]
    start_at(island, A, begin, end, x, x[VELOCITY])


@exact
def choose_start(island, A, begin, end, x):
    """Begin at the guess, unless the free velocity costs less."""
    v, v_free = x[VELOCITY], x[FREE_VELOCITY]
    start_at(island, A, begin, end, x, v_free)
    free_cost = cost(island, v_free, v_free, x[CHANGE])
    start_at(island, A, begin, end, x, v)
    if not cost(island, v, v_free, x[CHANGE]) <= free_cost:
        start_free(island, A, begin, end, x)


@exact
def go_on(island, x, alpha):
    """Move along the direction; all that is linear in v moves with it."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    for i in range(x.shape[1]):
        x[VELOCITY, i] += alpha * x[STEP, i]
        x[CHANGE, i] += alpha * x[STEP_MOMENTUM, i]
    for m in range(members.size):
        contact = contacts[members[m]]
        for k in range(3):
            contact.u[k] += alpha * contact.du[k]
    for r in range(rows.size):
        rows[r].w += alpha * rows[r].dw


@exact
def convex_step(island, A, begin, end, H, x):
    """Take a Newton step of the convex problem; the residual is that of the current velocity."""
    dv, Adv, g = x[STEP], x[STEP_MOMENTUM], x[RESIDUAL]
    fill_hessian(island, A, begin, H)
    factor(H, x[LEAST])
    for i in range(dv.size):
        dv[i] = -g[i]
    solve_factored(H, dv)
    relative_velocities(island, dv, True)
    times_inertia(A, begin, end, dv, Adv)
    linear, quadratic, start = 0.0, 0.0, 0.0
    for i in range(dv.size):
        linear += x[CHANGE, i] * dv[i]
        quadratic += Adv[i] * dv[i]
        start += g[i] * dv[i]
    go_on(island, x, line_search(island, linear, quadratic, start))


@exact
def exact_step(island, A, begin, end, H, pivots, x):
    """
    Take a Newton step on the whole residual, short enough to make it smaller.

    :returns: Whether there is such a step; else nothing has changed but the impulses.
    """
    dv, Adv, g = x[STEP], x[STEP_MOMENTUM], x[RESIDUAL]
    before = residual_norm(A, g)
    fill_whole_jacobian(island, A, begin, H)
    if not factor_lu(H, pivots):
        return False
    for i in range(dv.size):
        dv[i] = -g[i]
    solve_lu(H, pivots, dv)
    relative_velocities(island, dv, True)
    times_inertia(A, begin, end, dv, Adv)
    moved, alpha = 0.0, 1.0
    for _ in range(HALVINGS):
        go_on(island, x, alpha - moved)
        moved = alpha
        renew_bounds(island)
        evaluate(island, x[CHANGE], g)
        after = residual_norm(A, g)
        if after * after <= (1.0 - SUFFICIENT * alpha) * before * before:
            return True
        alpha *= 0.5
    go_on(island, x, -moved)
    renew_bounds(island)
    evaluate(island, x[CHANGE], g)
    return False


@exact
def exact_steps(island, A, begin, end, H, pivots, x, tolerance, left):
    """
    Go way B as far as it leads.

    :param left: Factorisations that may be taken.
    :returns: How many were, and whether the problem is solved.
    """
    renew_bounds(island)
    evaluate(island, x[CHANGE], x[RESIDUAL])
    for used in range(min(EXACT_STEPS, left) + 1):
        if is_solved(A, x[CHANGE], x[RESIDUAL], tolerance):
            return used, True
        if used == min(EXACT_STEPS, left):
            break
        if not exact_step(island, A, begin, end, H, pivots, x):
            return used + 1, False
    return min(EXACT_STEPS, left), False


@exact
def convex_steps(island, A, begin, end, H, x, tolerance, left):
    """
    Solve the convex problem for the bounds as they are.

    :returns: Factorisations taken, and whether it is solved.
    """
    for used in range(left + 1):
        evaluate(island, x[CHANGE], x[RESIDUAL])
        if is_solved(A, x[CHANGE], x[RESIDUAL], tolerance):
            return used, True
        if used < left:
            convex_step(island, A, begin, end, H, x)
    return left, False


@exact
def mix_bounds(island, is_first):
    """
    Choose new bounds from those that were used and the impulses that they led to.

    Anderson's mixing with one earlier pair (``bound_before``, ``miss_before``). They are kept
    (``bound_mixed``) while way B is tried, which has bounds of its own.

    :returns: Whether those that were used are near the impulses.
    """
    contacts, members, J, support, rows, J_rows, support_rows = island
    along, square, missed, size = 0.0, 0.0, 0.0, 0.0
    for m in range(members.size):
        contact = contacts[members[m]]
        miss = contact.impulse[0] - contact.bound
        turn = miss - contact.miss_before
        along += miss * turn
        square += turn * turn
        missed += miss * miss
        size += contact.impulse[0] * contact.impulse[0]
    share = 0.0 if is_first or square == 0.0 else along / square
    for m in range(members.size):
        contact = contacts[members[m]]
        bound, miss = contact.bound, contact.impulse[0] - contact.bound
        mixed = bound + (MIXED if is_first else 1.0) * miss
        mixed -= share * ((bound - contact.bound_before) + (miss - contact.miss_before))
        contact.bound_before, contact.miss_before = bound, miss
        contact.bound_mixed = max(0.0, mixed)
    return missed <= NEAR * NEAR * size


@exact
def take_mixed_bounds(island):
    """Bound friction by what was mixed from earlier bounds."""
    contacts, members, J, support, rows, J_rows, support_rows = island
    for m in range(members.size):
        contacts[members[m]].bound = contacts[members[m]].bound_mixed
    bound_turning(rows, contacts)


@exact
def go_ways(island, A, begin, end, H, pivots, x, tolerance, budget):
    """
    Go way A, then B and C in turns.

    :param budget: Factorisations that may be taken, those of way A included, which are taken in
        any case.
    :returns: How many were, and whether the problem is solved.
    """
    used = 0
    while True:
        renew_bounds(island)
        evaluate(island, x[CHANGE], x[RESIDUAL])
        if is_solved(A, x[CHANGE], x[RESIDUAL], tolerance):
            return used, True
        if used == CONVEX_STEPS:
            break
        used += 1
        convex_step(island, A, begin, end, H, x)
    is_first, is_near = True, True
    while used < budget:
        steps, solved = exact_steps(island, A, begin, end, H, pivots, x, tolerance,
                                    budget - used if is_near else 0)
        used += steps
        if solved:
            return used, True
        if used >= budget:
            break
        if not is_first:
            take_mixed_bounds(island)
        steps, solved = convex_steps(island, A, begin, end, H, x, tolerance, budget - used)
        used += steps
        if solved:
            is_near = mix_bounds(island, is_first)
            is_first = False
    return used, False


@exact
def solve_island(island, A, begin, end, H, pivots, x, tolerance, budget):
    """
    Find the velocity after contact.

    :param island: Contacts, the indices of those that count here, their Jacobians and which
        velocities these belong to, and the joints' rows. Impulses are part of the result.
    :param A: Inertia plus what implicit dampers and springs add, shape (n, n); a row is defined
        from ``begin`` to ``end`` and zero elsewhere.
    :param H: Scratch, shape (n, n).
    :param pivots: Scratch, shape (n,).
    :param x: Vectors, shape (SOLVER_ROWS, n): FREE_VELOCITY is given, VELOCITY the first guess
        and then the solution.
    :param budget: Factorisations that may be taken from each of two starts before friction's
        bound is left as it is.
    :returns: Factorisations taken, and SOLVED, LAGGED or UNSOLVED.
    """
    if is_guessed(island, A, begin, end, x, tolerance):
        return 0, SOLVED
    choose_start(island, A, begin, end, x)
    used, solved = go_ways(island, A, begin, end, H, pivots, x, tolerance, budget)
    if not solved:
        start_free(island, A, begin, end, x)
        steps, solved = go_ways(island, A, begin, end, H, pivots, x, tolerance, budget)
        used += steps
    if solved:
        return used, SOLVED
    steps, solved = convex_steps(island, A, begin, end, H, x, tolerance, FINAL_STEPS)
    return used + steps, LAGGED if solved else UNSOLVED
