"""Identities of the spatial algebra."""
import math

from hypothesis import given, settings, strategies as st
import numpy as np

from spr_dynamics import spatial

NUMBERS = st.floats(-10.0, 10.0)
ROUNDOFF = 1e-11  # sums of products of numbers below a hundred


def vectors(n):
    """Draw a tuple of n numbers."""
    return st.tuples(*[NUMBERS] * n)


def motion(numbers):
    return spatial.as_motion(np.array(numbers))


def unit_transform(seed):
    """Make a transform with a random rotation."""
    rng = np.random.default_rng(seed)
    w, x, y, z = (quat := rng.normal(size=4)) / np.linalg.norm(quat)
    return spatial.transform_free(spatial.Vector(*rng.normal(size=3)), w, x, y, z)


SEEDS = st.integers(0, 2 ** 32 - 1)


@settings(deadline=None)  # the first example compiles
@given(vectors(6), vectors(6), SEEDS)
def test_power_is_the_same_in_every_frame(v, f, seed):
    X = unit_transform(seed)
    v_child = spatial.transform_motion(X, motion(v))
    f_child = spatial.as_force(np.array(f))
    f_parent = spatial.transform_force_to_parent(X, f_child)
    assert math.isclose(spatial.power(f_child, v_child), spatial.power(f_parent, motion(v)),
                        abs_tol=1e3 * ROUNDOFF)


@settings(deadline=None)
@given(vectors(6), SEEDS)
def test_kinetic_energy_is_the_same_about_every_origin(v, seed):
    X = unit_transform(seed)
    inertia = spatial.RigidInertia(2.0, spatial.Vector(0.3, -0.2, 0.5),
                                   spatial.Symmetric(1.2, 0.1, -0.2, 1.4, 0.05, 1.1))
    v_child = spatial.transform_motion(X, motion(v))
    moved = spatial.transform_rigid_to_parent(X, inertia)
    assert math.isclose(spatial.power(spatial.momentum(inertia, v_child), v_child),
                        spatial.power(spatial.momentum(moved, motion(v)), motion(v)),
                        rel_tol=1e-12, abs_tol=1e3 * ROUNDOFF)


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


def test_a_turn_is_about_world_axes():
    half = math.sqrt(0.5)
    # first a quarter turn about z, then one about the world's x: body x ends up along z
    w, x, y, z = spatial.turn_quaternion(half, 0.0, 0.0, half,
                                         spatial.Vector(math.pi / 2, 0.0, 0.0))
    E = spatial.transform_free(spatial.ZERO, w, x, y, z).E
    np.testing.assert_allclose((E.xx, E.xy, E.xz), (0.0, 0.0, 1.0), atol=1e-15)
