"""Symmetric systems of equations, in place and always in the same order of sums."""
import math

from spr_dynamics.jit import exact

TINY = 1e-14  # share of a diagonal entry that is left by round-off where nothing should be left


@exact
def factor(H, least):
    """
    Factor H = L^T L in place, lower half, from the last row to the first.

    Where rows come parents first, a joint is gone before those that carry it, and no number
    appears between limbs where there was none (Featherstone 2008, section 6.5). A pivot that is
    not positive, which only round-off can bring about, is lifted to what round-off would leave.

    :param least: Scratch, shape (n,).
    """
    n = H.shape[0]
    for k in range(n):
        least[k] = TINY * H[k, k]
    for k in range(n - 1, -1, -1):
        row = H[k]
        d = math.sqrt(max(row[k], least[k]))
        row[k] = d
        for i in range(k):
            row[i] /= d
        for i in range(k):
            x = row[i]
            if x != 0.0:
                target = H[i]
                for j in range(i + 1):
                    target[j] -= x * row[j]


@exact
def solve_factored(H, b):
    """Solve L^T L x = b in place."""
    n = b.size
    for i in range(n - 1, -1, -1):
        b[i] /= H[i, i]
        x = b[i]
        row = H[i]
        for j in range(i):
            b[j] -= row[j] * x
    for i in range(n):
        for j in range(i):
            b[i] -= H[i, j] * b[j]
        b[i] /= H[i, i]
