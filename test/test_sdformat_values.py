"""Texts become numbers, masks, colours and poses, or a ValueError that says why not."""

import math

from hypothesis import given, strategies as st
import numpy as np
import pytest
from spr_dynamics.sdformat import Pose, values

ROUNDOFF = 1e-12
ANGLES = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
POSITIONS = st.tuples(*[st.floats(-10.0, 10.0)] * 3)


@pytest.mark.parametrize('text, value', [
    ('1', 1.0), (' -1.5e-3 ', -0.0015), ('+.5', 0.5), ('2.', 2.0), ('1E3', 1000.0)])
def test_numbers_are_read_as_in_c(text, value):
    """Blanks, signs and exponents are fine."""
    assert values.number(text) == value


@pytest.mark.parametrize('text', ['', '2kg', '2,5', '0x10', 'nan', 'inf', '1e999', '1 2', '１'])
def test_other_numbers_are_refused(text):
    """No prefix is taken for the whole."""
    with pytest.raises(ValueError):
        values.number(text)


@pytest.mark.parametrize('text, value', [
    ('1e16', math.inf), ('-1e16', -math.inf), ('inf', math.inf), ('-Infinity', -math.inf),
    ('1e15', 1e15)])
def test_limits_of_old_files_are_infinite(text, value):
    """1e16 was how files said that there is no limit."""
    assert values.effective_bound(values.extended_number(text)) == value


def test_negative_strength_means_unlimited():
    """Effort -1 is SDFormat's older default."""
    assert values.strength('-1') == math.inf
    assert values.strength('0') == 0


@pytest.mark.parametrize('text, value', [('1', True), ('TRUE', True), ('false', False)])
def test_booleans(text, value):
    """Case does not matter."""
    assert values.boolean(text) is value


def test_bitmasks_are_decimal_or_hexadecimal():
    """Both notations stand in files."""
    assert values.bitmask('255') == values.bitmask('0xFF') == 255
    with pytest.raises(ValueError, match='does not fit in 32 bits'):
        values.bitmask('4294967296')
    with pytest.raises(ValueError, match='is not a bitmask'):
        values.bitmask('-1')


def test_vectors_cannot_be_written_to():
    """Elements are frozen, and so is what they hold."""
    with pytest.raises(ValueError, match='read-only'):
        values.vector3('1 2 3')[0] = 0


def test_unit_vector_of_any_length():
    """Neither tiny nor huge vectors overflow on the way."""
    for scale in (1e-200, 1.0, 1e200):
        np.testing.assert_allclose(
            values.unit_vector(f'0 {3 * scale} {4 * scale}'), [0, 0.6, 0.8], atol=ROUNDOFF)


def test_degrees_scale_angles_only():
    """A pose of 90 degrees about z at x = 2."""
    T = values.pose('2 0 0 0 0 90', 'euler_rpy', True)
    np.testing.assert_allclose(T.R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=ROUNDOFF)
    np.testing.assert_allclose(T.p, [2, 0, 0])


def test_quaternions_are_xyzw_in_files():
    """Half a turn about x."""
    T = values.pose('0 0 0 2 0 0 0', 'quat_xyzw', False)
    np.testing.assert_allclose(T.R, np.diag([1, -1, -1]), atol=ROUNDOFF)


@given(POSITIONS, ANGLES)
def test_a_pose_times_its_inverse_is_the_identity(p, rpy):
    """T_AB T_BA = 1."""
    T = Pose.from_rpy(p, rpy)
    np.testing.assert_allclose((T @ T.inverse()).R, np.eye(3), atol=ROUNDOFF)
    np.testing.assert_allclose((T @ T.inverse()).p, 0, atol=1e-10)


@given(ANGLES)
def test_roll_pitch_yaw_turn_about_fixed_axes(rpy):
    """R = Rz Ry Rx, so a turn about z alone comes last."""
    roll, pitch, yaw = (
        Pose.from_rpy([0, 0, 0], np.where(np.arange(3) == k, rpy, 0.0)).R for k in range(3))
    np.testing.assert_allclose(
        Pose.from_rpy([0, 0, 0], rpy).R, yaw @ pitch @ roll, atol=ROUNDOFF)
