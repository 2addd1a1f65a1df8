"""The torque taken apart, and what is left of it where joints follow others."""
import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import coupling, KINDS, random_state, random_tree
import spr_dynamics as spr
from spr_dynamics.dynamics import terms
from spr_dynamics.dynamics.work import Workspace

ROUNDOFF = 1e-12  # relative to the largest part
DRAWN = {'seed': st.integers(0, 2 ** 32 - 1), 'n': st.integers(1, 12), 'is_free': st.booleans()}
drawn = settings(deadline=None, max_examples=60)


def draw(seed, n, is_free, mimic_share=0.0):
    """Make a model of all kinds of joints, a state and accelerations."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, kinds=KINDS, is_free=is_free, fixed_share=0.1,
                        mimic_share=mimic_share)
    return model, *random_state(rng, model)


def largest(found):
    """Return the size of the largest part; at least one, where a model has nothing to move."""
    return max(1.0, *(np.abs(part).max(initial=0.0) for part in found[1:]))


@drawn
@given(**DRAWN)
def test_parts_add_up_to_inverse_dynamics(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free)
    found = spr.torque_terms(model, q, qd, qdd)
    np.testing.assert_allclose(
        found.inertial + found.velocity + found.gravity,
        spr.inverse_dynamics(model, q, qd, qdd), rtol=0, atol=ROUNDOFF * largest(found))


@drawn
@given(**DRAWN)
def test_the_matrix_is_that_of_composite_bodies(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free)
    M = spr.torque_terms(model, q, qd, qdd).mass_matrix
    np.testing.assert_allclose(M, spr.mass_matrix(model, q), rtol=0,
                               atol=ROUNDOFF * np.abs(M).max(initial=1.0))


@drawn
@given(**DRAWN)
def test_velocity_part_is_quadratic_in_speed(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free)
    once, twice = (spr.torque_terms(model, q, k * qd, qdd) for k in (1.0, 2.0))
    np.testing.assert_allclose(twice.velocity, 4.0 * once.velocity, rtol=0,
                               atol=ROUNDOFF * largest(twice))


@drawn
@given(**DRAWN)
def test_each_part_is_zero_without_its_cause(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free)
    still = np.zeros(model.nv)
    assert not spr.torque_terms(model, q, still, qdd).velocity.any()
    assert not spr.torque_terms(model, q, qd, still).inertial.any()


def test_gravity_part_is_zero_without_gravity():
    model = random_tree(np.random.default_rng(1), 6, kinds=KINDS, gravity=(0.0, 0.0, 0.0))
    q, qd, qdd = random_state(np.random.default_rng(2), model)
    assert not spr.torque_terms(model, q, qd, qdd).gravity.any()


@pytest.mark.parametrize('n, is_free', [(1, False), (5, True), (12, False)])
def test_it_takes_n_plus_2_calls_of_inverse_dynamics(n, is_free):
    model, q, qd, _ = draw(7, n, is_free)
    M, parts = np.eye(model.nv), np.empty((2, model.nv))
    calls = terms.take_apart(model.buffers[Workspace].block, q, qd, np.zeros(3), M, *parts)
    assert calls == model.nv + 2
    np.testing.assert_allclose(M, spr.mass_matrix(model, q), rtol=0, atol=1e-12)


@drawn
@given(**DRAWN)
def test_reduced_is_what_the_leaders_feel(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free, mimic_share=0.5)
    G, M = coupling(model), spr.mass_matrix(model, q)
    scale = np.abs(M).max(initial=1.0) * max(1.0, np.abs(G).max(initial=0.0)) ** 2
    found = spr.torque_terms(model, q, qd, qdd, reduced=True)
    tau = spr.inverse_dynamics(model, q, qd, qdd)
    for matrix in (found.mass_matrix, spr.mass_matrix(model, q, reduced=True)):
        np.testing.assert_allclose(matrix, G.T @ M @ G, rtol=0, atol=10 * ROUNDOFF * scale)
    for ours, full in zip(found[1:], spr.torque_terms(model, q, qd, qdd)[1:]):
        np.testing.assert_allclose(ours, G.T @ full, rtol=1e-12, atol=10 * ROUNDOFF * scale)
    np.testing.assert_allclose(spr.inverse_dynamics(model, q, qd, qdd, reduced=True), G.T @ tau,
                               rtol=1e-12, atol=10 * ROUNDOFF * scale)


def test_reduced_changes_nothing_where_nobody_follows():
    model, q, qd, qdd = draw(3, 8, True)
    np.testing.assert_array_equal(model.independent, np.arange(model.nv))
    for ours, full in zip(spr.torque_terms(model, q, qd, qdd, reduced=True),
                          spr.torque_terms(model, q, qd, qdd)):
        np.testing.assert_array_equal(ours, full)


@pytest.mark.parametrize('reduced', ['no', 1, None])
def test_reduced_is_true_or_false(reduced):
    model, q, qd, qdd = draw(3, 8, True)
    for call in (lambda: spr.torque_terms(model, q, qd, qdd, reduced=reduced),
                 lambda: spr.inverse_dynamics(model, q, qd, qdd, reduced=reduced),
                 lambda: spr.mass_matrix(model, q, reduced=reduced)):
        with pytest.raises(TypeError, match=f'reduced = {reduced!r}: expected True or False'):
            call()


def test_out_takes_what_is_not_reduced():
    model, q, qd, qdd = draw(11, 9, False, mimic_share=0.5)
    assert model.followers.size
    tau, M = np.empty(model.nv), np.empty((model.nv, model.nv))
    assert spr.inverse_dynamics(model, q, qd, qdd, out=tau, reduced=True).size < model.nv
    assert spr.mass_matrix(model, q, out=M, reduced=True).shape[0] < model.nv
    np.testing.assert_array_equal(tau, spr.inverse_dynamics(model, q, qd, qdd))
    np.testing.assert_array_equal(M, spr.mass_matrix(model, q))


@pytest.mark.parametrize('wrong, message', [
    ({'q': [0.0]}, 'q: shape (11,) expected, got (1,)'),
    ({'q': np.ones(11)}, "q: unit quaternion w x y z expected for free root 'link0'"),
    ({'q': 'home'}, "q: numbers expected, got 'home'"),
    ({'qd': np.zeros((10, 1))}, 'qd: shape (10,) expected, got (10, 1)'),
    ({'qd': np.full(10, np.nan)}, 'qd: finite numbers expected, got qd[0] = nan'),
    ({'qdd': np.full(10, np.inf)}, 'qdd: finite numbers expected, got qdd[0] = inf'),
    ({'qdd': []}, 'qdd: shape (10,) expected, got (0,)'),
])
def test_wrong_arguments_are_named(wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    good = {'q': model.neutral_q(), 'qd': np.zeros(10), 'qdd': np.zeros(10)}
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.torque_terms(model, **{**good, **wrong})
