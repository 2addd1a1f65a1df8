"""The solvers of linear equations, beside numpy's."""
import numba
import numpy as np
import pytest

from spr_dynamics.dynamics.lu import factor_lu, solve_lu


@numba.njit
def solve_by_lu(A, pivots, b):
    """Kernels are called by kernels only."""
    if not factor_lu(A, pivots):
        return False
    solve_lu(A, pivots, b)
    return True


@pytest.mark.parametrize('n', [1, 2, 3, 7, 40])
def test_lu_solves_whatever_rows_it_exchanges(n):
    """It solved other equations where a pivot had moved, and friction's exact way went astray."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A[rng.random((n, n)) < 0.3] = 0.0
        A += np.diag(rng.choice([0.0, 1e-3], n)) + np.roll(np.eye(n), 1, axis=0)
        x, pivots = b.copy(), np.zeros(n, np.int64)
        assert solve_by_lu(A.copy(), pivots, x)
        np.testing.assert_allclose(A @ x, b, atol=1e-9 * np.abs(A).max() * np.abs(x).max())
    assert n < 3 or (pivots != np.arange(n)).any()


def test_lu_says_that_a_matrix_is_singular():
    assert not solve_by_lu(np.ones((3, 3)), np.zeros(3, np.int64), np.ones(3))
