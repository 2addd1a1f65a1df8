"""Many steps that somebody has asked for at once, with a turn for everything else in between."""
from collections.abc import Callable

from spr_dynamics.errors import SprDynamicsError

Ending = Callable[[SprDynamicsError | None], None]
"""Called once, at the end: None if all steps were taken, else why not."""
Progress = Callable[[int, int], None]
"""Called now and then, unless a step fails: how many steps were taken, how many are left."""


class MultiStep:
    """The steps that one request asks for; a second request waits until the first has ended."""

    def __init__(self) -> None:
        """Ask for nothing yet."""
        self.wanted = self.completed = 0
        self._on_end: Ending | None = None
        self._on_progress: Progress | None = None

    @property
    def is_active(self) -> bool:
        """Whether a request has not been answered."""
        return self._on_end is not None

    @property
    def remaining(self) -> int:
        """How many steps are still to be taken."""
        return self.wanted - self.completed

    def begin(self, n: int, on_end: Ending, on_progress: Progress | None) -> None:
        """
        Take up a request.

        :param n: How many steps it asks for.
        :param on_end: Called at the end.
        :param on_progress: Called now and then until the end; None if nobody wants to know.
        """
        self.wanted, self.completed = n, 0
        self._on_end, self._on_progress = on_end, on_progress

    def tell_progress(self) -> None:
        """Say how far it has come, to who wants to know."""
        if self._on_progress is not None:
            self._on_progress(self.completed, self.remaining)

    def end(self, failure: SprDynamicsError | None = None) -> None:
        """
        Answer the request; nothing happens if there is none.

        :param failure: Why there are fewer steps than asked for; None if there are not.
        """
        on_end, self._on_end, self._on_progress = self._on_end, None, None
        if on_end is not None:
            on_end(failure)

    def fail(self, failure: SprDynamicsError) -> None:
        """
        Answer the request when a step has failed.

        :param failure: Which, and why.
        """
        self.end(SprDynamicsError(
            f'{self.completed} of {self.wanted} steps were taken: {failure}'))

    def interrupt(self, by: str) -> None:
        """
        Answer the request before all of its steps are taken; nothing happens if there is none.

        :param by: What came in between.
        """
        self.end(SprDynamicsError(
            f'{self.completed} of {self.wanted} steps were taken, then came {by}'))
