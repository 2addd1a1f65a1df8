"""When a stream of messages is due (simulated time), and how many steps are due (wall time)."""
from fractions import Fraction
import sys

NS = 1_000_000_000
NEVER = sys.maxsize  # [steps]
LONGEST_STEP_NS = 1e18  # [ns of wall time] 30 years: the smallest factors give infinity
LARGEST_LAG_NS = 200_000_000  # [ns of wall time] what a stall may cost before time is given up
MAX_RATE_DENOMINATOR = 1_000_000  # a rate in Hz is kept as a fraction this fine: 30, 0.1, 33.333


class Schedule:
    """
    The steps on which a stream with a rate in simulated time is due.

    Sample k is due on the first step at or after time k / rate. Integers throughout, so nothing
    drifts, and nothing has to be remembered.
    """

    def __init__(self, rate: float, dt_ns: int) -> None:
        """
        Make a schedule.

        :param rate: Samples a second of simulated time [Hz]; 0 is every step.
        :param dt_ns: Length of a step [ns].
        """
        # a rate so low that the fine fraction is none is kept as it is
        fraction = Fraction(rate).limit_denominator(MAX_RATE_DENOMINATOR) or Fraction(rate)
        self._every_step = fraction == 0
        # step * _num // _den counts the samples due up to a step
        self._num = fraction.numerator * dt_ns
        self._den = fraction.denominator * NS

    def next_step(self, step: int) -> int:
        """
        Return the first step after ``step`` on which a sample is due.

        :param step: A step count.
        """
        if self._every_step:
            return step + 1
        sample = step * self._num // self._den + 1
        return max(step + 1, -(-sample * self._den // self._num))


class Pacer:
    """
    How many steps are due, so that simulated time follows the wall clock.

    A late call gets all the steps that it missed. When the lag exceeds ``LARGEST_LAG_NS``, the
    rest of it is given up and counted as an overrun.
    """

    def __init__(self, dt_ns: int) -> None:
        """
        Make a pacer; `restart` has to be called before the first `steps_due`.

        :param dt_ns: Length of a step in simulated time [ns].
        """
        self._dt_ns = dt_ns
        self._real_time_factor = 0.0
        self._wall_ns = 0.0
        self._step = 0
        self.overruns = 0
        self.lost_ns = 0.0

    def restart(self, now_ns: int, step: int, real_time_factor: float) -> None:
        """
        Start counting here, owing nothing.

        :param now_ns: The wall clock [ns].
        :param step: The simulation's step count.
        :param real_time_factor: Simulated seconds in a second; 0 is as fast as it can.
        """
        self._wall_ns = float(now_ns)
        self._step = step
        self._real_time_factor = real_time_factor

    def change_pace(self, now_ns: int, step: int, real_time_factor: float) -> None:
        """
        Go on with another factor, owing the same steps; fewer if that were too late a start.

        :param now_ns: The wall clock [ns].
        :param step: The simulation's step count.
        :param real_time_factor: As in `restart`.
        """
        owed = self._lag_ns(now_ns, step) / self._step_ns if self._real_time_factor else 0.0
        self.restart(now_ns, step, real_time_factor)
        if real_time_factor:
            self._wall_ns -= min(owed * self._step_ns, self._largest_lag_ns)

    @property
    def _step_ns(self) -> float:
        """How long a step takes [ns of wall time]."""
        return min(self._dt_ns / self._real_time_factor, LONGEST_STEP_NS)

    @property
    def _largest_lag_ns(self) -> float:
        """What the simulation may be late by before time is given up [ns of wall time]."""
        return max(LARGEST_LAG_NS, 2.0 * self._step_ns)

    def _lag_ns(self, now_ns: int, step: int) -> float:
        """Return by how much the simulation is late [ns of wall time]."""
        return now_ns - self._wall_ns - (step - self._step) * self._step_ns

    def steps_due(self, now_ns: int, step: int) -> int:
        """
        Return the number of steps that are due; very many where no limit is set.

        :param now_ns: The wall clock [ns].
        :param step: The simulation's step count.
        """
        if self._real_time_factor == 0.0:
            return NEVER
        step_ns, lag_ns = self._step_ns, self._lag_ns(now_ns, step)
        excess_ns = lag_ns - self._largest_lag_ns
        if excess_ns > 0.0:
            self._wall_ns += excess_ns
            self.lost_ns += excess_ns
            self.overruns += 1
            lag_ns -= excess_ns
        return int(lag_ns // step_ns)
