"""Identities of the spatial algebra."""
import math

from hypothesis import given, settings, strategies as st
import numba
import numpy as np

from spr_dynamics import spatial as kernels
from spr_dynamics.dynamics.aba import own_inertia, put_inertia, shift_inertia

NUMBERS = st.floats(-10.0, 10.0)
ROUNDOFF = 1e-11  # sums of products of numbers below a hundred


class Callable:
    """The functions of the spatial algebra, each made callable when it is asked for."""

    def __getattr__(self, name):
        """Compile a way in; tuples and constants are what they are."""
        function = getattr(kernels, name)
        if isinstance(function, numba.core.dispatcher.Dispatcher):
            function = compiled(function)
        setattr(self, name, function)
        return function


def compiled(function):
    """Return an entry point to a kernel that only kernels can call."""
    return numba.njit(lambda *arguments: function(*arguments))


spatial = Callable()


def vectors(n):
    """Draw a tuple of n numbers."""
    return st.tuples(*[NUMBERS] * n)


def motion(numbers):
    return spatial.as_motion(np.array(numbers))


SEEDS = st.integers(0, 2 ** 32 - 1)


@settings(deadline=None)  # the first example compiles
@given(vectors(6), vectors(6), vectors(3))
def test_power_is_the_same_about_every_origin(v, f, r):
    r, f_child = spatial.Vector(*r), spatial.as_force(np.array(f))
    assert math.isclose(
        spatial.power(f_child, spatial.shift_motion(r, motion(v))),
        spatial.power(spatial.shift_force(r, f_child), motion(v)), abs_tol=1e4 * ROUNDOFF)


@settings(deadline=None)
@given(vectors(6), vectors(3))
def test_kinetic_energy_is_the_same_about_every_origin(v, r):
    r = spatial.Vector(*r)
    inertia = spatial.RigidInertia(2.0, spatial.Vector(0.3, -0.2, 0.5),
                                   spatial.Symmetric(1.2, 0.1, -0.2, 1.4, 0.05, 1.1))
    v_child = spatial.shift_motion(r, motion(v))
    moved = spatial.shift_rigid(r, inertia)
    expected = spatial.power(spatial.momentum(inertia, v_child), v_child)
    assert math.isclose(spatial.power(spatial.momentum(moved, motion(v)), motion(v)), expected,
                        rel_tol=1e-11, abs_tol=1e5 * ROUNDOFF)


@numba.njit
def shifted(r, rigid, IA):
    """Write an inertia of ten numbers as articulated inertias are, as seen from another origin."""
    put_inertia(IA, shift_inertia(r, own_inertia(rigid)))


@settings(deadline=None)
@given(vectors(6), vectors(3))
def test_an_articulated_inertia_moves_as_the_rigid_one_that_it_is(v, r):
    rigid = np.array([2.0, 0.3, -0.2, 0.5, 1.2, 0.1, -0.2, 1.4, 0.05, 1.1])
    IA = np.full(36, np.nan)
    shifted(spatial.Vector(*r), rigid, IA)
    J, H, M = spatial.as_articulated_inertia(IA)
    H = np.array(H).reshape(3, 3)
    matrix = np.block([[np.array(spatial.full(J)).reshape(3, 3), H],
                       [H.T, np.array(spatial.full(M)).reshape(3, 3)]])
    moved = spatial.shift_rigid(spatial.Vector(*r), spatial.as_rigid_inertia(rigid))
    momentum = spatial.momentum(moved, motion(v))
    np.testing.assert_allclose(
        matrix @ v, [*momentum.moment, *momentum.linear], rtol=0, atol=1e5 * ROUNDOFF)


@settings(deadline=None)
@given(st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=9))
def test_sines_and_cosines_are_those_of_the_library(angles):
    angles = np.array(angles)
    sine, cosine = np.empty((2, angles.size))
    spatial.sines_and_cosines(angles, sine, cosine)
    np.testing.assert_allclose(sine, np.sin(angles), rtol=0, atol=1e-15)
    np.testing.assert_allclose(cosine, np.cos(angles), rtol=0, atol=1e-15)


@settings(deadline=None)
@given(vectors(3))
def test_turning_there_and_back_changes_nothing(phi):
    there = spatial.turn_quaternion(1.0, 0.0, 0.0, 0.0, spatial.Vector(*phi))
    back = spatial.turn_quaternion(*there, spatial.Vector(*(-x for x in phi)))
    np.testing.assert_allclose(back, (1.0, 0.0, 0.0, 0.0), atol=1e-15)


def test_a_turn_is_about_the_axes_outside_or_within():
    half = math.sqrt(0.5)
    about_x = spatial.Vector(math.pi / 2, 0.0, 0.0)
    # a quarter turn about z, then one about the world's x: the body's x ends up along z
    R = spatial.rotation(*spatial.turn_quaternion(half, 0.0, 0.0, half, about_x))
    np.testing.assert_allclose((R.xx, R.yx, R.zx), (0.0, 0.0, 1.0), atol=1e-15)
    # about the body's own x, that axis stays where it is
    R = spatial.rotation(*spatial.turn_quaternion_within(half, 0.0, 0.0, half, about_x))
    np.testing.assert_allclose((R.xx, R.yx, R.zx), (0.0, 1.0, 0.0), atol=1e-15)


@settings(deadline=None)
@given(vectors(3))
def test_numbers_of_a_quaternion_change_as_a_small_turn_changes_them(spin):
    q, h = (0.5, 0.1, -0.7, 0.5), 1e-6
    q = np.array(q) / np.linalg.norm(q)
    after, before = (spatial.turn_quaternion(*q, spatial.Vector(*(s * h * x for x in spin)))
                     for s in (1, -1))
    np.testing.assert_allclose(spatial.quaternion_rate(*q, spatial.Vector(*spin)),
                               (np.array(after) - before) / (2 * h), atol=1e-8)
