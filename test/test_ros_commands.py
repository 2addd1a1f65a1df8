"""Efforts at the door: taken whole or not at all."""
import math

import numpy as np
import pytest

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros.commands import CommandRefused, Commands

# effort vector: a free root's six entries, then shoulder, elbow, wrist
NAMES = ('shoulder', 'elbow', 'wrist')
INDICES = np.array([6, 7, 8])


@pytest.fixture
def commands():
    held = Commands(NAMES, INDICES, 9, ('wrist', 'shoulder'))
    held.set_by_name(NAMES, [1.0, 2.0, 3.0], 0)
    return held


def test_names_address_joints_in_any_order(commands):
    commands.set_by_name(['wrist', 'shoulder'], [30.0, 10.0], 0)
    assert commands.efforts.tolist() == [0.0] * 6 + [10.0, 2.0, 30.0]
    commands.set_by_name(['shoulder', 'wrist'], [11.0, 31.0], 0)
    assert commands.efforts.tolist() == [0.0] * 6 + [11.0, 2.0, 31.0]


def test_nan_by_name_keeps_the_command(commands):
    commands.set_by_name(['wrist', 'shoulder'], [math.nan, 10.0], 0)
    assert commands.efforts[6:].tolist() == [10.0, 2.0, 3.0]


def test_order_is_that_of_joints(commands):
    commands.set_in_order([30.0, 10.0], 0)
    assert commands.efforts[6:].tolist() == [10.0, 2.0, 30.0]


@pytest.mark.parametrize('names, efforts, message', [
    (['wrist'], [], 'no effort in it; expected one effort for each name'),
    ([], [], 'no effort in it'),
    (['wrist', 'elbow'], [1.0], '1 effort for 2 names; expected one effort for each name'),
    (['wrist', 'elbw'], [9.0, 9.0], r"there is no joint 'elbw' \(did you mean 'elbow'\?\)"),
    (['wrist', 'knee'], [9.0, 9.0],
     r"there is no joint 'knee' \(known: 'shoulder', 'elbow', 'wrist'\)"),
    (['wrist', 'elbow'], [9.0, math.inf], "the effort of joint 'elbow' is infinite; expected a "
                                          'finite number, or NaN'),
    (['wrist', 'wrist'], [9.0, 9.0], "joint 'wrist' is named twice"),
])
def test_refusal_by_name_changes_nothing(commands, names, efforts, message):
    before = commands.efforts.copy()
    with pytest.raises(CommandRefused, match=message):
        commands.set_by_name(names, efforts, 0)
    np.testing.assert_array_equal(commands.efforts, before)


@pytest.mark.parametrize('efforts, message', [
    ([9.0], "1 value; expected 2, in the order of the parameter 'joints': wrist, shoulder"),
    ([9.0, math.nan], "the effort of joint 'shoulder' is nan; expected finite numbers"),
    ([-math.inf, 9.0], "the effort of joint 'wrist' is -inf"),
])
def test_refusal_in_order_changes_nothing(commands, efforts, message):
    before = commands.efforts.copy()
    with pytest.raises(CommandRefused, match=message):
        commands.set_in_order(efforts, 0)
    np.testing.assert_array_equal(commands.efforts, before)


@pytest.mark.parametrize('joints, message', [
    (('wrist', 'knee'), "joints: there is no joint 'knee'"),
    (('wrist', 'wrist'), 'joints: a joint is named twice'),
])
def test_joints_have_to_exist_once(joints, message):
    with pytest.raises(SprDynamicsError, match=message):
        Commands(NAMES, INDICES, 9, joints)


def test_commands_above_their_limits_are_found(commands):
    limit = np.array([math.inf] * 6 + [0.5, 5.0, 5.0])
    assert commands.above(limit) == {6}
    commands.set_by_name(['wrist'], [-6.0], 0)
    assert commands.above(limit) == {6, 8}
    commands.clear()
    assert commands.above(limit) == set()


@pytest.mark.parametrize('timeout, steps', [(0.05, 50), (0.0501, 51), (1e-9, 1)])
def test_a_command_expires_on_the_step_that_passes_the_timeout(commands, timeout, steps):
    commands.clear()
    commands.set_timeout(timeout, 0.001)
    commands.set_by_name(['elbow'], [2.0], 100)
    assert commands.steps_until_end(100) == steps
    assert commands.drop_old(100 + steps - 1) == []
    assert commands.efforts[7] == 2.0
    assert commands.drop_old(100 + steps) == ['elbow']
    assert not commands.efforts.any()
    assert commands.held() == []


def test_each_joint_has_a_timeout_of_its_own(commands):
    """One of two controllers dies: the joints of the other go on."""
    commands.set_timeout(0.05, 0.001)
    commands.set_by_name(['elbow'], [2.0], 100)
    commands.set_in_order([30.0, 10.0], 120)
    assert commands.drop_old(140) == []
    assert commands.drop_old(150) == ['elbow']
    assert commands.efforts[6:].tolist() == [10.0, 0.0, 30.0]
    assert commands.steps_until_end(150) == 20


def test_nan_does_not_keep_a_command_from_timing_out(commands):
    commands.set_timeout(0.05, 0.001)
    commands.set_by_name(['elbow', 'wrist'], [2.0, 3.0], 100)
    commands.set_by_name(['elbow', 'wrist'], [math.nan, 3.0], 140)
    assert commands.drop_old(160) == ['shoulder', 'elbow']
    assert commands.efforts[6:].tolist() == [0.0, 0.0, 3.0]


def test_it_is_known_since_when_and_by_which_topic_a_joint_is_commanded(commands):
    commands.clear()
    commands.set_by_name(['elbow'], [2.0], 100)
    commands.set_in_order([30.0, 10.0], 120)
    assert commands.held() == [('shoulder', 10.0, 120, 'effort_commands'),
                               ('elbow', 2.0, 100, 'joint_commands'),
                               ('wrist', 30.0, 120, 'effort_commands')]
    efforts = np.array([0.0] * 7 + [7.0, 8.0])
    commands.put_back(efforts, 130)
    assert commands.efforts.tolist() == efforts.tolist()
    assert commands.held() == [('elbow', 7.0, 130, '~/load_state'),
                               ('wrist', 8.0, 130, '~/load_state')]


def test_restored_efforts_time_out_like_commands(commands):
    commands.set_timeout(0.05, 0.001)
    commands.put_back(np.array([0.0] * 7 + [7.0, 8.0]), 10)
    assert commands.steps_until_end(10) == 50
    assert commands.drop_old(60) == ['elbow', 'wrist']
    assert not commands.efforts.any()
