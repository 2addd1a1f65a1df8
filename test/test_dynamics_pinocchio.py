"""Our kernels against Pinocchio's, on random trees."""
import numpy as np
import pytest

from builders import random_state, random_tree
from pinocchio_twin import Twin
import spr_dynamics as spr

TOLERANCE = 1e-10  # relative; both sides round off at some 1e-13 on 40 bodies
TREES = 200


def cases(is_free):
    """Yield random models of 1 to 40 bodies, a random state, and forces on every link."""
    for seed in range(TREES // 2):
        rng = np.random.default_rng((seed, is_free))
        model = random_tree(rng, 1 + seed * 40 // (TREES // 2), is_free=is_free,
                            fixed_share=0.2)
        yield model, *random_state(rng, model), rng.normal(size=(model.links.size, 6))


def assert_close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * np.abs(theirs).max())


@pytest.mark.parametrize('is_free', [False, True], ids=['fixed_root', 'free_root'])
def test_forward_dynamics_agrees_with_pinocchio(is_free):
    for model, q, qd, tau, f_ext in cases(is_free):
        assert_close(spr.forward_dynamics(model, q, qd, tau, f_ext),
                     Twin(model).forward_dynamics(q, qd, tau, f_ext))


@pytest.mark.parametrize('is_free', [False, True], ids=['fixed_root', 'free_root'])
def test_inverse_dynamics_agrees_with_pinocchio(is_free):
    for model, q, qd, qdd, f_ext in cases(is_free):
        assert_close(spr.inverse_dynamics(model, q, qd, qdd, f_ext),
                     Twin(model).inverse_dynamics(q, qd, qdd, f_ext))


@pytest.mark.parametrize('is_free', [False, True], ids=['fixed_root', 'free_root'])
def test_mass_matrix_agrees_with_pinocchio(is_free):
    for model, q, *_ in cases(is_free):
        assert_close(spr.mass_matrix(model, q), Twin(model).mass_matrix(q))
