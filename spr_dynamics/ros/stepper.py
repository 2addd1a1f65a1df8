"""Steps, with the commands that hold, the pushes that act and the messages that are due."""
import time
from typing import Any

from spr_dynamics.ros.commands import Commands
from spr_dynamics.ros.complaints import Complaints
from spr_dynamics.ros.publications import Publications
from spr_dynamics.ros.pushes import Pushes

LARGEST_BATCH = 100  # steps in one call
LONGEST_BATCH_NS = 5_000_000  # [ns] how long one call may take: no other callback interrupts it


class Stepper:
    """Takes steps, as many in one compiled call as nothing from outside has to do with."""

    def __init__(self, simulation: Any, commands: Commands, pushes: Pushes,
                 publications: Publications, complaints: Complaints) -> None:
        """
        Take no step yet.

        :param simulation: What moves.
        :param commands: The efforts that act.
        :param pushes: The wrenches that act.
        :param publications: What is published on the way.
        :param complaints: Where it is said that a command has timed out.
        """
        self._simulation = simulation
        self._commands, self._pushes = commands, pushes
        self._publications, self._complaints = publications, complaints
        self._batch = 1

    def take_for(self, budget_ns: int, n: int) -> None:
        """
        Take n steps, or as many as fit into some time; at least one.

        :param budget_ns: After this no more are begun [ns of wall time].
        :param n: How many.
        :raises SimulationDiverged: If one fails; the state is the one before it.
        """
        began_ns, end = time.monotonic_ns(), self._simulation.step_count + n
        while (left := end - self._simulation.step_count) > 0:
            self.take_some(left)
            if time.monotonic_ns() - began_ns > budget_ns:
                return

    def take(self, n: int) -> None:
        """
        Take n steps.

        :param n: How many.
        :raises SimulationDiverged: If one fails; the state is the one before it.
        """
        end = self._simulation.step_count + n
        while (left := end - self._simulation.step_count) > 0:
            self.take_some(left)

    def take_some(self, n: int) -> None:
        """
        Take the steps up to the next event, and publish what is due then.

        :param n: How many at most; at least one is taken.
        :raises SimulationDiverged: If one fails; the state is the one before it.
        """
        step = self._simulation.step_count
        self._drop_old_commands(step)
        n = min(n, self._batch, self._publications.steps_until_due(),
                self._commands.steps_until_end(step), self._pushes.steps_until_change(step))
        began_ns = time.monotonic_ns()
        self._simulation.step(self._commands.efforts, n)
        self._fit_batch(n, time.monotonic_ns() - began_ns)
        self._publications.publish_due()

    def _fit_batch(self, n: int, elapsed_ns: int) -> None:
        """Choose how many steps go into the next call by what n steps have taken."""
        fits = LONGEST_BATCH_NS * n // max(1, elapsed_ns)
        # not more than twice as many as before: contacts may come
        self._batch = max(1, min(LARGEST_BATCH, 2 * self._batch, fits))

    def _drop_old_commands(self, step: int) -> None:
        joints = self._commands.drop_old(step)
        if joints:
            self._complaints.add('command timeout', lambda: (
                f'no command for {", ".join(joints)} within command_timeout: no effort acts there '
                'now'))
