"""Where something is written, what is wrong with it, and the list of all that is wrong."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from spr_dynamics.errors import SdfError


LONGEST_MESSAGE = 1000  # characters; what is longer quotes something that is no name


class Location(NamedTuple):
    """A place in an SDF file."""

    file: str
    line: int
    """Counted from 1; 0 means the file as a whole."""
    path: str
    """XML path such as ``/sdf/model[@name="m"]/joint[@name="j"]/axis``."""
    included_from: 'Location | None' = None
    """The ``<include>`` that brought this file in; None for the file that was asked for."""


class Diagnostic(NamedTuple):
    """One error or warning; ``str()`` gives the line that users read."""

    code: str
    """Name of an SDFormat error code, such as ``ELEMENT_INVALID``."""
    message: str
    location: Location
    implied: tuple[str, ...] = ()
    """Further codes that libsdformat gives for the same mistake."""

    @property
    def is_fatal(self) -> bool:
        """Whether libsdformat gives up reading the file for it."""
        return FILE_READ in (self.code, *self.implied)

    def __str__(self) -> str:
        """Return ``file:line: message`` in one line, and from where the file was included."""
        message = ' '.join(self.message.split())  # it may quote what somebody wrote in many
        if len(message) > LONGEST_MESSAGE:
            message = f'{message[:LONGEST_MESSAGE]} ...'
        text = f'{_place(self.location)}: {message}'
        place = self.location.included_from
        while place is not None:
            text += f' (included from {_place(place)})'
            place = place.included_from
        return text


# what libsdformat adds when it gives up reading the whole file
FILE_READ = 'FILE_READ'
UNREADABLE = ('ELEMENT_INVALID', FILE_READ)
PARAMS = '/experimental:params/'  # in the path of what an include changes in its model


class InvalidSdf(SdfError):
    """
    All that is wrong with a file, one line a problem.

    :param diagnostics: The problems.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        super().__init__('\n'.join(str(diagnostic) for diagnostic in self.diagnostics))


@dataclass
class Report:
    """Collects errors and warnings, so that a user sees all of a file's problems at once."""

    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    unsupported: list[Diagnostic] = field(default_factory=list)
    """What is right, but can't be simulated."""
    of_includes: int = 0
    """How many of the errors, the first ones, came up before anything was parsed."""

    def error(self, code: str, location: Location, message: str, *,
              implied: tuple[str, ...] = ()) -> None:
        """Note a problem that makes the file unusable."""
        if PARAMS in location.path:  # libsdformat reads on without such a value
            implied = tuple(code for code in implied if code != FILE_READ)
        self.errors.append(Diagnostic(code, message, location, implied))

    def warn(self, code: str, location: Location, message: str) -> None:
        """Note something that the simulation does without."""
        self.warnings.append(Diagnostic(code, message, location))

    def refuse(self, location: Location, message: str) -> None:
        """Note something that the file may say, but without which the motion is wrong."""
        self.unsupported.append(Diagnostic('ELEMENT_INVALID', message, location))

    def imply(self, code: str, *, since: int) -> None:
        """
        Note that libsdformat gives a further code for each of the last errors.

        :param code: That code.
        :param since: How many errors were there before them.
        """
        self.errors[since:] = [
            error if code in (error.code, *error.implied)
            else error._replace(implied=(*error.implied, code)) for error in self.errors[since:]]

    def by_reach(self) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """
        Part the errors where libsdformat gives up reading the file.

        It reads and includes from top to bottom, and judges names and values at the end.

        :returns: What it says too, up to its fatal error; and what it does not come to.
        """
        fatal = [_order(error) for error in self.errors if error.is_fatal]
        if not fatal:
            return self.errors, []
        last = min(fatal)
        parts: tuple[list[Diagnostic], list[Diagnostic]] = [], []
        for i, error in enumerate(self.errors):
            order = _order(error)
            is_reached = order == last if error.is_fatal else (
                i < self.of_includes and order <= last)
            parts[not is_reached].append(error)
        return parts

    def raise_errors(self) -> None:
        """
        Stop here if anything was wrong.

        :raises InvalidSdf: If there is an error; it lists them all, from top to bottom.
        """
        if self.errors:
            raise InvalidSdf(in_order(self.errors))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """
    Sort by file, and from top to bottom.

    :param diagnostics: Errors or warnings.
    :returns: Each of them once.
    """
    return said_once(sorted(diagnostics, key=lambda diagnostic: diagnostic.location[:2]))


def said_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """
    Drop what a file that is included several times would say as often.

    :param diagnostics: Errors or warnings.
    :returns: The first of each that say the same of the same place.
    """
    first: dict[tuple, Diagnostic] = {}
    for diagnostic in diagnostics:
        key = (diagnostic.code, diagnostic.message, *diagnostic.location[:3])
        first.setdefault(key, diagnostic)
    return list(first.values())


def _order(error: Diagnostic) -> tuple[bool, list[int]]:
    """Tell when libsdformat comes to an error: names with ``::`` last, a whole file first."""
    lines = [] if error.code == FILE_READ else [error.location.line]
    place = error.location.included_from
    while place is not None:
        lines.append(place.line)
        place = place.included_from
    return error.code == 'RESERVED_NAME', lines[::-1]


def _place(location: Location) -> str:
    return f'{location.file}:{location.line}' if location.line else location.file
