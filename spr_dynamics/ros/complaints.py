"""Warnings that don't flood the log: of each kind one in a while, the rest is counted."""
from collections.abc import Callable
import time
from typing import Any

QUIET_TIME_NS = 5_000_000_000  # [ns] between two warnings of the same kind


class Complaints:
    """The warnings of a node."""

    def __init__(self, logger: Any) -> None:
        """
        Begin with none.

        :param logger: Where they go.
        """
        self._logger = logger
        self._logged_ns: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        """How many there were of each kind, logged or not."""

    def add(self, kind: str, explain: Callable[[], str]) -> None:
        """
        Count a warning, and log it unless one of its kind was logged a moment ago.

        :param kind: What it is about: one of a few words, since each is remembered.
        :param explain: Writes the text, if it is logged.
        """
        self.counts[kind] = self.counts.get(kind, 0) + 1
        now_ns = time.monotonic_ns()
        if now_ns - self._logged_ns.get(kind, -QUIET_TIME_NS) >= QUIET_TIME_NS:
            self._logged_ns[kind] = now_ns
            self._logger.warning(explain())
