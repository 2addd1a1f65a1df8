"""Identities that tie the kernels together, and what the public functions refuse."""
import dataclasses
import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import KINDS, random_state, random_tree
import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import ModelError
from spr_dynamics.model.build import build

ROUNDOFF = 1e-10  # of recursions over up to 12 bodies of order-one mass, relative
DRAWN = {'seed': st.integers(0, 2 ** 32 - 1), 'n': st.integers(1, 12), 'is_free': st.booleans()}


def draw(seed, n, is_free):
    """Make a model, a state, efforts, and forces on the links."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, kinds=KINDS, n_trees=min(n, 2), is_free=is_free,
                        fixed_share=0.2)
    return model, *random_state(rng, model), rng.normal(size=(n, 6))


@settings(deadline=None, max_examples=200)
@given(**DRAWN)
def test_aba_inverts_rnea(seed, n, is_free):
    """The accelerations that ABA finds need exactly the forces it was given."""
    model, q, qd, tau, f_ext = draw(seed, n, is_free)
    qdd = spr.forward_dynamics(model, q, qd, tau, f_ext)
    back = spr.inverse_dynamics(model, q, qd, qdd, f_ext)
    # round-off is that of the largest force that cancels, not of tau
    scale = 1.0 + np.abs(spr.mass_matrix(model, q) @ np.diag(np.abs(qdd))).sum(1).max()
    np.testing.assert_allclose(back, tau, rtol=0, atol=ROUNDOFF * scale)


@settings(deadline=None)
@given(**DRAWN)
def test_mass_matrix_is_the_slope_of_inverse_dynamics(seed, n, is_free):
    model, q, qd, qdd, _ = draw(seed, n, is_free)
    bias = spr.inverse_dynamics(model, q, qd, np.zeros(model.nv))
    M = spr.mass_matrix(model, q)
    full = spr.inverse_dynamics(model, q, qd, qdd)
    np.testing.assert_allclose(M @ qdd + bias, full, atol=ROUNDOFF * (1.0 + np.abs(full).max()))
    np.testing.assert_array_equal(M, M.T)


@settings(deadline=None)
@given(**DRAWN)
def test_mass_matrix_of_a_file_with_joints_before_those_that_carry_them(seed, n, is_free):
    assembly = draw(seed, n, is_free)[0].assembly
    model = build(dataclasses.replace(assembly, joints=assembly.joints[::-1]))
    q, _, qdd = random_state(np.random.default_rng(seed), model)
    rest = np.zeros(model.nv)
    M = spr.mass_matrix(model, q)
    felt = spr.inverse_dynamics(model, q, rest, qdd) - spr.inverse_dynamics(model, q, rest, rest)
    np.testing.assert_allclose(M @ qdd, felt, atol=ROUNDOFF * (1.0 + np.abs(felt).max()))
    np.testing.assert_array_equal(M, M.T)


@settings(deadline=None)
@given(**DRAWN)
def test_mass_matrix_writes_its_own_numbers_only(seed, n, is_free):
    """It is written in vectors of eight, which seldom fill a row."""
    model, q, *_ = draw(seed, n, is_free)
    room = np.full(model.nv ** 2 + 16, np.nan)
    M = room[8:-8].reshape(model.nv, model.nv)
    spr.mass_matrix(model, q, out=M)
    np.testing.assert_array_equal(M, spr.mass_matrix(model, q))
    assert np.isnan(room[:8]).all() and np.isnan(room[-8:]).all()


@settings(deadline=None)
@given(**DRAWN)
def test_kinetic_energy_is_half_qd_m_qd(seed, n, is_free):
    model, q, qd, *_ = draw(seed, n, is_free)
    expected = 0.5 * qd @ spr.mass_matrix(model, q) @ qd
    np.testing.assert_allclose(energy(model, q, qd).kinetic, expected, rtol=1e-11)


@settings(deadline=None)
@given(**DRAWN)
def test_gravity_is_the_slope_of_potential_energy(seed, n, is_free):
    """Power of the static joint forces equals the rate of potential energy."""
    model, q, qd, *_ = draw(seed, n, is_free)
    static = spr.inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))
    h = 1e-6
    rate = (energy(model, moved(model, q, h * qd), qd).potential
            - energy(model, moved(model, q, -h * qd), qd).potential) / (2 * h)
    np.testing.assert_allclose(static @ qd, rate, atol=1e-6 * (1.0 + np.abs(static).sum()))


def moved(model, q, step):
    """Move positions along a small step; orientations to second order, which is enough here."""
    q = q.copy()
    for root in model.free_roots:
        q[root.q:root.q + 3] += step[root.v:root.v + 3]
        turn(q[root.q + 3:root.q + 7], step[root.v + 3:root.v + 6], 1.0)
    for joint in model.joints:
        if joint.type == 'ball':
            turn(q[joint.q:joint.q + 4], step[joint.v:joint.v + 3], -1.0)
        else:
            q[joint.q:joint.q + joint.nq] += step[joint.v:joint.v + joint.nv]
    return q


def turn(quat_wxyz, w, side):
    """Turn an orientation in place: in outer axes with side 1, in its own with -1."""
    s, x = quat_wxyz[0], quat_wxyz[1:].copy()
    quat_wxyz[0] -= 0.5 * w @ x
    quat_wxyz[1:] += 0.5 * (s * w + side * np.cross(w, x))
    quat_wxyz /= np.linalg.norm(quat_wxyz)


def test_a_wrench_on_a_link_acts_at_the_link():
    """Power of a wrench on a link equals the power of the joint forces that replace it."""
    model, q, qd, _, f_ext = draw(5, 9, True)
    zero = np.zeros(model.nv)
    replaced = (spr.inverse_dynamics(model, q, qd, zero)
                - spr.inverse_dynamics(model, q, qd, zero, f_ext))
    h = 1e-6
    before, after = (link_poses(model, moved(model, q, s * h * qd)) for s in (-1, 1))
    now = link_poses(model, q)
    power = 0.0
    for k, wrench in enumerate(f_ext):
        rate = (after[k] - before[k]) / (2 * h)
        spin = rate[:3, :3] @ now[k, :3, :3].T
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        power += wrench[:3] @ w + wrench[3:] @ rate[:3, 3]
    np.testing.assert_allclose(replaced @ qd, power, rtol=1e-7)


def test_link_poses_at_home_are_those_of_the_file():
    model = random_tree(np.random.default_rng(3), 12, kinds=KINDS, is_free=True, fixed_share=0.3)
    for T, link in zip(link_poses(model, model.neutral_q()), model.assembly.links):
        np.testing.assert_allclose(T[:3, :3], link.T_WL.R, atol=1e-12)
        np.testing.assert_allclose(T[:3, 3], link.T_WL.p, atol=1e-12)


def test_out_takes_the_result():
    model, q, qd, tau, _ = draw(1, 5, False)
    out = np.empty(model.nv)
    assert spr.forward_dynamics(model, q, qd, tau, out=out) is out
    np.testing.assert_array_equal(out, spr.forward_dynamics(model, q, qd, tau))


def test_read_only_and_strided_arrays_are_taken():
    model, q, qd, tau, f_ext = draw(1, 5, True)
    expected = spr.forward_dynamics(model, q, qd, tau, f_ext)
    q.setflags(write=False)
    strided = np.stack([tau, tau], axis=1)[:, 0]
    assert not strided.flags.c_contiguous
    np.testing.assert_array_equal(
        spr.forward_dynamics(model, q, qd, strided, np.asfortranarray(f_ext)), expected)


def test_lists_and_integers_are_taken():
    model = random_tree(np.random.default_rng(2), 3)
    zero = [0] * model.nv
    np.testing.assert_array_equal(
        spr.forward_dynamics(model, zero, zero, zero),
        spr.forward_dynamics(model, *np.zeros((3, model.nv))))


REFUSED = [
    ({'q': np.zeros(3)}, 'q: shape (11,) expected, got (3,)'),
    ({'qd': np.zeros((10, 1))}, 'qd: shape (10,) expected, got (10, 1)'),
    ({'tau': np.full(10, np.nan)}, 'tau: finite numbers expected, got tau[0] = nan'),
    ({'tau': np.full(10, np.inf)}, 'tau: finite numbers expected, got tau[0] = inf'),
    ({'qd': ['fast'] * 10}, 'qd: numbers expected, got'),
    ({'qd': np.full(10, 1e200)}, 'qd: velocities up to 1e+100 expected, got qd[0] = 1e+200'),
    ({'tau': np.ma.array(np.zeros(10), mask=True)}, 'tau: numbers expected, got a masked array'),
    ({'tau': ['1'] * 10}, "tau: numbers expected, got ['1', '1'"),
    ({'tau': np.zeros(10, complex)}, 'tau: numbers expected, got array([0.+0.j'),
    ({'tau': [10 ** 400] * 10}, 'tau: numbers expected, got [1000000000'),
    ({'tau': None}, 'tau: numbers expected, got None'),
    ({'f_ext': np.ma.zeros((5, 6))}, 'f_ext: numbers expected, got a masked array'),
    ({'q': []}, 'q: shape (11,) expected, got (0,)'),
    ({'f_ext': 'abc'}, "f_ext: numbers expected, got 'abc'"),
    ({'q': np.ones(11)}, "q: unit quaternion w x y z expected for free root 'link0' in q[3:7]"),
    ({'f_ext': np.zeros((2, 6))}, 'f_ext: shape (5, 6) expected (a row for each of model.link'),
    ({'f_ext': np.full((5, 6), np.nan)}, 'f_ext: finite numbers expected, got [nan, nan, nan, '),
    ({'q': np.full(11, 1e200)}, 'q: positions up to 1e+100 expected, got q[0] = 1e+200'),
    ({'out': np.zeros(3)}, 'out: a writable, contiguous array of doubles of shape (10,)'),
    ({'out': np.zeros(10, int)}, 'out: a writable, contiguous array of doubles of shape (10,)'),
]


REFUSED_BY_MASS_MATRIX = [
    *[(wrong, message) for wrong, message in REFUSED if 'q' in wrong],
    ({'out': np.zeros((3, 3))}, 'out: a writable, contiguous array of doubles of shape (10, 10)'),
    ({'out': np.zeros((10, 10), order='F').T[:, ::-1]}, 'out: a writable, contiguous array of'),
]


@pytest.mark.parametrize('wrong, message', REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_wrong_arguments_are_named(wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    good = {'q': model.neutral_q(), 'qd': np.zeros(10), 'tau': np.zeros(10)}
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.forward_dynamics(model, **{**good, **wrong})
    swapped = {'qdd' if k == 'tau' else k: v for k, v in {**good, **wrong}.items()}
    with pytest.raises(ValueError, match=re.escape(message.replace('tau', 'qdd'))):
        spr.inverse_dynamics(model, **swapped)
    if not {'f_ext', 'out'} & set(wrong):
        with pytest.raises(ValueError, match=re.escape(message.replace('tau', 'qdd'))):
            spr.torque_terms(model, **swapped)


def test_other_gravity_makes_another_model():
    """That of a simulation is its own affair."""
    model, q, qd, tau, _ = draw(5, 4, True)
    sim, zero = spr.Simulation(model), np.zeros(model.nv)
    weight = spr.inverse_dynamics(model, q, zero, zero)
    sim.gravity = [0, 0, -2]
    np.testing.assert_array_equal(spr.inverse_dynamics(model, q, zero, zero), weight)
    moon = dataclasses.replace(model, gravity=[0, 0, -2])
    for i, expected in enumerate((weight, spr.inverse_dynamics(moon, q, zero, zero))):
        slope = spr.torque_terms((model, moon)[i], q, qd, zero).gravity
        np.testing.assert_allclose(slope, expected, atol=1e-12)
    np.testing.assert_allclose(
        spr.inverse_dynamics(moon, q, qd, spr.forward_dynamics(moon, q, qd, tau)), tau, atol=1e-9)
    up = dataclasses.replace(model, gravity=-np.array(model.gravity))
    np.testing.assert_allclose(spr.inverse_dynamics(up, q, zero, zero), -weight, atol=1e-12)
    with pytest.raises(ModelError, match='gravity: three finite numbers expected'):
        dataclasses.replace(model, gravity=[0, 0])


HUGE = [
    (lambda m, q, one: spr.forward_dynamics(m, q, one, 1e308 * one), 'qdd', 'tau', '1e+308'),
    (lambda m, q, one: spr.forward_dynamics(m, q, one, one, np.full((5, 6), 1e308)), 'qdd',
     'f_ext', '1e+308'),
    (lambda m, q, one: spr.inverse_dynamics(m, q, one, 1e308 * one), 'tau', 'qdd', '1e+308'),
    (lambda m, q, one: spr.torque_terms(m, q, one, 1e308 * one), 'torque terms', 'qdd', '1e+308'),
    (lambda m, q, one: spr.link_accelerations(m, q, one, 1e308 * one), 'motion of links', 'qdd',
     '1e+308'),
    (lambda m, q, one: spr.joint_wrenches(m, q, one, 1e308 * one), 'tau', 'qdd', '1e+308'),
    (lambda m, q, one: spr.jacobian(m, q, 'link4', [1.7e308] * 3), 'jacobian', 'point',
     '1.7e+308'),
]


@pytest.mark.parametrize('call, what, name, size', HUGE)
def test_results_beyond_all_numbers_are_refused(call, what, name, size):
    """They were returned, NaN after NaN."""
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    q = random_state(np.random.default_rng(4), model)[0]
    with pytest.raises(ValueError, match=re.escape(
            f'{what}: beyond all numbers; those in {name} are as large as {size}')):
        call(model, q, np.ones(model.nv))


def test_results_of_the_largest_positions_and_velocities_are_numbers_or_refused():
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    q = random_state(np.random.default_rng(4), model)[0]
    q[:3], qd = 1e100, np.full(model.nv, 1e100)
    for axis in model.axes:
        q[axis.q] = 1e100
    assert np.isfinite(spr.mass_matrix(model, q)).all()
    assert np.isfinite(spr.link_poses(model, q)).all()
    assert np.isfinite(spr.jacobian(model, q, 'link4')).all()
    for function in (spr.forward_dynamics, spr.inverse_dynamics, spr.torque_terms,
                     spr.link_accelerations):
        try:
            found = function(model, q, qd, np.zeros(model.nv))
        except ValueError as refusal:
            assert 'beyond all numbers' in str(refusal)
        else:
            assert np.isfinite(np.vstack(found)).all()


@pytest.mark.parametrize('call', [
    lambda m, q, v: spr.forward_dynamics(m, q, v, v), lambda m, q, v: spr.mass_matrix(m, q),
    lambda m, q, v: spr.inverse_dynamics(m, q, v, v),
    lambda m, q, v: spr.torque_terms(m, q, v, v),
    lambda m, q, v: spr.inverse_dynamics(m, q, v, v, np.zeros((5, 6))),
    lambda m, q, v: spr.link_poses(m, q), lambda m, q, v: spr.link_velocities(m, q, v),
    lambda m, q, v: spr.link_accelerations(m, q, v, v), lambda m, q, v: spr.momentum(m, q, v),
    lambda m, q, v: spr.energy(m, q, v), lambda m, q, v: spr.passive_forces(m, q, v),
    lambda m, q, v: spr.jacobian(m, q, 'link1'), lambda m, q, v: spr.joint_wrenches(m, q, v, v),
    lambda m, q, v: spr.link_response(m, q, v, 'link1'), lambda m, q, v: spr.loop_gaps(m, q),
    lambda m, q, v: spr.closed_positions(m, q),
])
def test_what_is_no_model_is_named(call):
    model = random_tree(np.random.default_rng(4), 5)
    for thing in (spr.Simulation(model), 'robot.sdf', None):
        with pytest.raises(TypeError, match='model: a Model expected, as spr_dynamics.load returns'
                                            ' and a Simulation has as .model, got '):
            call(thing, model.neutral_q(), np.zeros(model.nv))


@pytest.mark.parametrize('wrong, message', REFUSED_BY_MASS_MATRIX)
def test_wrong_arguments_of_the_mass_matrix_are_named(wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.mass_matrix(model, **{'q': model.neutral_q(), **wrong})


def test_passive_forces_are_those_of_dampers_and_springs():
    model = spr.load(text="""
      <sdf version='1.12'><model name='m'><link name='a'/>
        <joint name='j' type='prismatic'><parent>world</parent><child>a</child>
          <axis><dynamics><damping>2</damping><spring_stiffness>30</spring_stiffness>
            <spring_reference>0.1</spring_reference></dynamics></axis></joint>
      </model></sdf>""")
    np.testing.assert_allclose(spr.passive_forces(model, [0.3], [0.5]), [-2 * 0.5 - 30 * 0.2])


@pytest.mark.parametrize('call, message', [
    (lambda m: spr.passive_forces(m, [0.0], [0.0, 1.0]), 'qd: shape (1,) expected, got (2,)'),
    (lambda m: spr.passive_forces(m, [np.nan], [0.0]), 'q: finite numbers expected, got q[0] = n'),
    (lambda m: energy(m, [[0.0]], [0.0]), 'q: shape (1,) expected, got (1, 1)'),
    (lambda m: energy(m, [0.0], [np.inf]), 'qd: finite numbers expected, got qd[0] = inf'),
    (lambda m: link_poses(m, 'abc'), "q: numbers expected, got 'abc'"),
    (lambda m: link_poses(m, [0.0, 0.0]), 'q: shape (1,) expected, got (2,)'),
])
def test_wrong_arguments_of_read_outs_are_named(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(random_tree(np.random.default_rng(4), 1))
