"""Our kernels against Pinocchio's, on random trees of all joints that it has."""
import functools

import numpy as np
import pytest

from builders import coupling, KINDS, random_state, random_tree
from pinocchio_twin import Twin
import spr_dynamics as spr

TOLERANCE = 1e-10  # relative; both sides round off at some 1e-13 on 40 bodies
TREES = 500
LINKS = 40  # of the largest


@functools.cache
def case(seed, mimic_share=0.0):
    """Make a model of 1 to 40 links in 1 to 3 trees, its twin, a state, and forces on links."""
    rng = np.random.default_rng(seed)
    n = 1 + seed * LINKS // TREES
    model = random_tree(rng, n, kinds=KINDS, n_trees=min(n, 1 + seed % 3),
                        is_free=bool(seed % 2), fixed_share=0.2, mimic_share=mimic_share)
    return model, Twin(model), *random_state(rng, model), rng.normal(size=(model.links.size, 6))


def assert_close(seed, ours, theirs):
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert error < TOLERANCE, f'tree {seed}: relative difference {error:.1e}'


def test_the_trees_have_every_kind_of_joint_and_of_root():
    models = [case(seed)[0] for seed in range(TREES)]
    assert {joint.type for model in models for joint in model.joints} == set(KINDS)
    assert {len(model.free_roots) for model in models} == {0, 1, 2, 3}


def test_forward_dynamics_agrees_with_pinocchio():
    for seed in range(TREES):
        model, twin, q, qd, tau, f_ext = case(seed)
        assert_close(seed, spr.forward_dynamics(model, q, qd, tau, f_ext),
                     twin.forward_dynamics(q, qd, tau, f_ext))


def test_inverse_dynamics_agrees_with_pinocchio():
    for seed in range(TREES):
        model, twin, q, qd, qdd, f_ext = case(seed)
        assert_close(seed, spr.inverse_dynamics(model, q, qd, qdd, f_ext),
                     twin.inverse_dynamics(q, qd, qdd, f_ext))


def test_mass_matrix_agrees_with_pinocchio():
    for seed in range(TREES):
        model, twin, q, *_ = case(seed)
        assert_close(seed, spr.mass_matrix(model, q), twin.mass_matrix(q))


@pytest.mark.parametrize('mimic_share', [0.1, 0.5])
def test_followers_move_as_pinocchio_says_when_they_are_eliminated(mimic_share):
    """G (G^T M G)^-1 G^T (tau - bias), of their M and bias and of G from the elements."""
    for seed in range(0, TREES, 5):
        model, twin, q, qd, tau, f_ext = case(seed, mimic_share)
        G = coupling(model)
        force = tau - twin.inverse_dynamics(q, qd, np.zeros(model.nv), f_ext)
        theirs = G @ np.linalg.solve(G.T @ twin.mass_matrix(q) @ G, G.T @ force)
        assert_close(seed, spr.forward_dynamics(model, q, qd, tau, f_ext), theirs)
