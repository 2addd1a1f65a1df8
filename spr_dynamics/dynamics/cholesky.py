"""Symmetric systems of equations, in place and always in the same order of sums."""
import math

from spr_dynamics.jit import exact

TINY = 1e-9  # relative size of what is added to a pivot that is not positive


@exact
def factor(H, column):
    """
    Cholesky factor in place, lower half, right-looking: its inner loop needs no reordering.

    A pivot that is not positive, which only round-off can bring about, is lifted.

    :param column: Scratch, shape (n,).
    """
    n = H.shape[0]
    least = 0.0
    for k in range(n):
        least = max(least, TINY * H[k, k])
    for k in range(n):
        d = math.sqrt(max(H[k, k], least))
        H[k, k] = d
        for i in range(k + 1, n):
            H[i, k] /= d
            column[i] = H[i, k]
        for i in range(k + 1, n):
            x = column[i]
            if x != 0.0:
                for j in range(k + 1, i + 1):
                    H[i, j] -= x * column[j]


@exact
def solve_factored(H, b):
    """Solve L L^T x = b in place."""
    n = b.size
    for i in range(n):
        for j in range(i):
            b[i] -= H[i, j] * b[j]
        b[i] /= H[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= H[i, i]
        for j in range(i):
            b[j] -= H[i, j] * b[i]
