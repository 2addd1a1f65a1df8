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
UNREADABLE = ('ELEMENT_INVALID', 'FILE_READ')


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

    def error(self, code: str, location: Location, message: str, *,
              implied: tuple[str, ...] = ()) -> None:
        """Note a problem that makes the file unusable."""
        self.errors.append(Diagnostic(code, message, location, implied))

    def warn(self, code: str, location: Location, message: str) -> None:
        """Note something that the simulation does without."""
        self.warnings.append(Diagnostic(code, message, location))

    def imply(self, code: str, *, since: int) -> None:
        """
        Note that libsdformat gives a further code for each of the last errors.

        :param code: That code.
        :param since: How many errors were there before them.
        """
        self.errors[since:] = [
            error if code in (error.code, *error.implied)
            else error._replace(implied=(*error.implied, code)) for error in self.errors[since:]]

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


def _place(location: Location) -> str:
    return f'{location.file}:{location.line}' if location.line else location.file
