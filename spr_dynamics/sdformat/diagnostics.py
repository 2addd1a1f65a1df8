"""Where something is written, what is wrong with it, and the list of all that is wrong."""

from collections.abc import Iterable
from dataclasses import dataclass, field
import difflib
from typing import NamedTuple

from spr_dynamics.errors import SdfError


class Location(NamedTuple):
    """A place in an SDF file."""

    file: str
    line: int
    """Counted from 1; 0 means the file as a whole."""
    path: str
    """XML path such as ``/sdf/model[@name="m"]/joint[@name="j"]/axis``."""


class Diagnostic(NamedTuple):
    """One error or warning; ``str()`` gives the line that users read."""

    code: str
    """Name of an SDFormat error code, such as ``ELEMENT_INVALID``."""
    message: str
    location: Location

    def __str__(self) -> str:
        """Return ``file:line: message``."""
        file, line, _ = self.location
        return f'{file}:{line}: {self.message}' if line else f'{file}: {self.message}'


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

    def error(self, code: str, location: Location, message: str) -> None:
        """Note a problem that makes the file unusable."""
        self.errors.append(Diagnostic(code, message, location))

    def warn(self, code: str, location: Location, message: str) -> None:
        """Note something that the simulation does without."""
        self.warnings.append(Diagnostic(code, message, location))

    def raise_errors(self) -> None:
        """
        Stop here if anything was wrong.

        :raises InvalidSdf: If there is an error; it lists them all, from top to bottom.
        """
        if self.errors:
            raise InvalidSdf(sorted(self.errors, key=lambda error: error.location[:2]))


MAX_NAMES_LISTED = 12  # a longer list hides the name that is looked for


def name_hint(name: str, known: Iterable[str]) -> str:
    """
    Say what could have been meant, for the end of an error message.

    :param name: The name that was not found.
    :param known: The names that are.
    :returns: ``" (did you mean 'arm'?)"``, ``" (known: 'arm', 'hand')"`` or a like.
    """
    known = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f" (did you mean '{near[0]}'?)"
    if not known:
        return ' (there is none)'
    listed = ', '.join(f"'{other}'" for other in known[:MAX_NAMES_LISTED])
    more = len(known) - MAX_NAMES_LISTED
    return f' (known: {listed}{f" and {more} more" if more > 0 else ""})'
