"""When messages and steps are due."""
import sys
import time

import pytest

pytest.importorskip('rclpy')

from spr_dynamics.ros.schedule import LARGEST_LAG_NS, NS, Pacer, Schedule  # noqa: E402
from spr_dynamics.ros.stepper import Stepper  # noqa: E402

MS = 1_000_000


def due_steps(rate, dt_ns, last):
    schedule, step, steps = Schedule(rate, dt_ns), 0, []
    while (step := schedule.next_step(step)) <= last:
        steps.append(step)
    return steps


def test_who_slows_down_what_is_late_is_not_told_of_an_overrun():
    pacer = Pacer(MS)
    pacer.restart(0, 0, 1.0)
    pacer.change_pace(150 * MS, 0, 0.1)
    assert pacer.steps_due(150 * MS, 0) == LARGEST_LAG_NS // (10 * MS)
    assert (pacer.overruns, pacer.lost_ns) == (0, 0.0)


def test_rate_zero_is_every_step():
    assert due_steps(0.0, MS, 5) == [1, 2, 3, 4, 5]


def test_rate_above_the_step_rate_is_every_step():
    assert due_steps(5000.0, MS, 5) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize('rate', [1000.0, 100.0, 30.0, 0.1, 33.3, 700.0])
def test_every_sample_falls_on_the_first_step_at_its_time(rate):
    steps = due_steps(rate, MS, 100_000)
    assert len(steps) == int(100.0 * rate + 1e-9)
    for sample, step in enumerate(steps, start=1):
        assert -1e-9 <= step * 1e-3 - sample / rate < 1e-3 + 1e-9


@pytest.mark.parametrize('rate', [4e-7, 1e-9, 5e-324])
def test_the_lowest_rates_are_not_every_step(rate):
    first = Schedule(rate, MS).next_step(0)
    assert first * 1e-3 >= 1.0 / rate if rate > 1e-300 else first > 10 ** 300
    assert first - 1 <= 1000.0 / rate


def test_a_schedule_needs_no_memory():
    schedule = Schedule(30.0, MS)
    assert [schedule.next_step(step) for step in (0, 33, 34, 66, 67)] == [34, 34, 67, 67, 100]


@pytest.mark.parametrize('factor', [1.0, 0.5, 7.3])
def test_late_calls_lose_no_step(factor):
    pacer, step, now = Pacer(MS), 0, 123 * NS
    pacer.restart(now, step, factor)
    for wait in (1.0, 0.4, 3.7, 20.0, 150.0, 0.1) * 50:
        now += int(wait * MS)
        step += pacer.steps_due(now, step)
    assert abs(step - (now - 123 * NS) * factor / MS) <= 1.0
    assert pacer.overruns == 0


def test_changes_of_the_pace_lose_no_step():
    """Each change once threw away what was owed: a storm of them stopped simulated time."""
    pacer, step, now, wanted = Pacer(MS), 0, 123 * NS, 0.0
    pacer.restart(now, step, 1.0)
    for change in range(1000):
        factor = 1.0 + change % 2
        pacer.change_pace(now, step, factor)
        wait = (0.02, 0.4, 1.7, 30.0)[change % 4]  # [ms]
        now += int(wait * MS)
        wanted += wait * factor
        if change % 3 == 0:  # others come before there is time for steps
            step += pacer.steps_due(now, step)
    step += pacer.steps_due(now, step)
    assert abs(step - wanted) <= 1.0
    assert pacer.overruns == 0


def test_the_present_pace_again_changes_nothing():
    pacer = Pacer(MS)
    pacer.restart(0, 0, 0.3)
    for now in range(0, 100 * MS, 10_000):
        pacer.change_pace(now, 0, 0.3)
    assert pacer.steps_due(100 * MS, 0) == 30


def test_no_limit_owes_nothing():
    pacer = Pacer(MS)
    pacer.restart(0, 0, 1.0)
    pacer.change_pace(50 * MS, 0, 0.0)
    assert pacer.steps_due(50 * MS, 0) == sys.maxsize
    pacer.change_pace(60 * MS, 7000, 0.5)  # as fast as it could, it took 7000 meanwhile
    assert pacer.steps_due(60 * MS, 7000) == 0
    assert pacer.steps_due(80 * MS, 7000) == 10
    assert pacer.overruns == 0


@pytest.mark.parametrize('factor', [0.25, 5e-324, 1e-310, 1e-30])
def test_what_is_owed_is_due_after_a_change(factor):
    pacer = Pacer(MS)
    pacer.restart(0, 0, 1.0)
    pacer.change_pace(2 * MS - MS // 2, 0, factor)
    assert pacer.steps_due(2 * MS - MS // 2, 0) == 1
    pacer.change_pace(2 * MS - MS // 2, 1, 1.0)
    assert pacer.steps_due(2 * MS - MS // 4, 1) == 0
    assert pacer.steps_due(2 * MS + MS // 4, 1) == 1
    assert pacer.overruns == 0


def test_a_stall_costs_what_exceeds_the_largest_lag():
    pacer = Pacer(MS)
    pacer.restart(0, 0, 1.0)
    assert pacer.steps_due(LARGEST_LAG_NS + 300 * MS, 0) == LARGEST_LAG_NS // MS
    assert pacer.overruns == 1
    assert pacer.lost_ns == pytest.approx(300 * MS)
    assert pacer.steps_due(LARGEST_LAG_NS + 301 * MS, LARGEST_LAG_NS // MS) == 1


def test_steps_longer_than_the_largest_lag_are_no_overrun():
    pacer = Pacer(LARGEST_LAG_NS)
    pacer.restart(0, 0, 0.1)
    assert pacer.steps_due(int(9.9 * LARGEST_LAG_NS), 0) == 0
    assert pacer.steps_due(int(10.1 * LARGEST_LAG_NS), 0) == 1
    assert pacer.overruns == 0


def test_factor_zero_sets_no_limit():
    pacer = Pacer(MS)
    pacer.restart(0, 0, 0.0)
    assert pacer.steps_due(1, 10**9) == sys.maxsize


class SlowSimulation:
    """Its steps take some time by a clock of its own, and have nothing to do with anything."""

    def __init__(self, step_ns):
        self.now_ns, self.step_ns, self.step_count, self.calls = 0, step_ns, 0, []

    def step(self, efforts, n):
        self.now_ns += n * self.step_ns
        self.step_count += n
        self.calls.append(n)

    def __getattr__(self, name):
        """Be commands, pushes and publications, too, which are never due."""
        return {'efforts': None, 'drop_old': lambda step: [], 'publish_due': lambda: None}.get(
            name, lambda *step: sys.maxsize)


@pytest.mark.parametrize('step_ns, calls', [
    (2_000, [1, 2, 4, 8, 16, 32, 64, 100, 100]),
    (1_000_000, [1, 2, 4, 5, 5, 5, 5, 5, 5]),
    (50_000_000, [1] * 9),
])
def test_no_call_takes_longer_than_others_may_wait(monkeypatch, step_ns, calls):
    """A hundred steps of 50 ms went into one call, while nothing was answered for 5 s."""
    sim = SlowSimulation(step_ns)
    monkeypatch.setattr(time, 'monotonic_ns', lambda: sim.now_ns)
    stepper = Stepper(sim, sim, sim, sim, None)
    for _ in calls:
        stepper.take_some(10_000)
    assert sim.calls == calls
    sim.calls.clear()
    stepper.take_for(20_000_000, 10_000)
    assert sum(sim.calls) * step_ns <= 20_000_000 + max(5_000_000, step_ns)


@pytest.mark.parametrize('factor', [5e-324, 1e-310, 1e-30])
def test_a_factor_next_to_nothing_lets_time_stand_still(factor):
    """A step of infinite length gave NaN steps, which ended the node."""
    pacer = Pacer(MS)
    pacer.restart(0, 7, factor)
    assert pacer.steps_due(10**15, 7) == 0
    assert pacer.overruns == 0
