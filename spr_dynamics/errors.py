"""The exceptions that users meet: each message says where, what, and what was possible."""
from collections.abc import Iterable
import difflib
import itertools

MAX_LENGTH_DIFFERENCE = 3  # a name that is longer or shorter by more is no typing error
MAX_NAMES_COMPARED = 60  # comparing takes long, and a file may hold thousands of wrong names
MAX_NAMES_LISTED = 12  # a longer list hides the name that is looked for


class SprDynamicsError(Exception):
    """Base of all errors that this package raises on purpose."""


class SdfError(SprDynamicsError):
    """A robot or world file can't be used; the message lists every problem, a line each."""


class ModelError(SprDynamicsError):
    """The elements are well formed but don't make a model that can be simulated."""


class SimulationDiverged(SprDynamicsError):
    """A step gave numbers that are not finite; the state before it was kept."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """
    Say which known name is near, for the end of a message.

    :param name: The name that was not found.
    :param known: The names that are.
    :returns: ``" (did you mean 'arm'?)"``, or nothing.
    """
    alike = (other for other in known if abs(len(other) - len(name)) <= MAX_LENGTH_DIFFERENCE)
    near = difflib.get_close_matches(name, itertools.islice(alike, MAX_NAMES_COMPARED), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ''


def name_hint(name: str, known: Iterable[str]) -> str:
    """
    Say what could have been meant, for the end of a message.

    :param name: The name that was not found.
    :param known: The names that are.
    :returns: ``" (did you mean 'arm'?)"``, ``" (known: 'arm', 'hand')"`` or a like.
    """
    known = list(dict.fromkeys(known))
    if not known:
        return ' (there is none)'
    listed = ', '.join(f"'{other}'" for other in known[:MAX_NAMES_LISTED])
    more = len(known) - MAX_NAMES_LISTED
    rest = f' and {more} more' if more > 0 else ''
    return did_you_mean(name, known) or f' (known: {listed}{rest})'
