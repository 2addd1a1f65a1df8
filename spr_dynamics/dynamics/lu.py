"""Systems of equations without symmetry, in place and always in the same order of sums."""
from spr_dynamics.jit import exact


@exact
def factor_lu(A, pivots):
    """
    Factor P A = L U in place, rows exchanged for the largest pivot.

    :param pivots: Result: the row that each one was exchanged with, shape (n,).
    :returns: Whether no pivot is zero.
    """
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        pivots[k] = best
        if A[best, k] == 0.0:
            return False
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                ratio = A[i, k] / A[k, k]
                A[i, k] = ratio
                for j in range(k + 1, n):
                    A[i, j] -= ratio * A[k, j]
    return True


@exact
def solve_lu(A, pivots, b):
    """Solve for b in place, given the factors; what was exchanged last is part of all of L."""
    n = b.size
    for k in range(n):
        b[k], b[pivots[k]] = b[pivots[k]], b[k]
    for k in range(n):
        for i in range(k + 1, n):
            b[i] -= A[i, k] * b[k]
    for k in range(n - 1, -1, -1):
        b[k] /= A[k, k]
        for i in range(k):
            b[i] -= A[i, k] * b[k]
