"""Where something is written, what is wrong with it, and the list of all that is wrong."""

from collections.abc import Iterable
from dataclasses import dataclass, field
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
