"""Things by name: a wrong one gives the near ones."""
from collections.abc import Iterator, Mapping
from typing import TypeVar

from spr_dynamics.errors import name_hint, SprDynamicsError

View = TypeVar('View')


class UnknownName(SprDynamicsError, KeyError):
    """There is nothing of that name; the message has the near ones."""

    __str__ = Exception.__str__  # that of KeyError shows quotes and escapes


class Named(Mapping[str, View]):
    """
    Views by name, in file order.

    :param what: What they are, for messages.
    :param views: By name.
    """

    def __init__(self, what: str, views: dict[str, View]):
        self._what, self._views = what, views

    def __getitem__(self, name: str) -> View:
        """
        Return the view of one.

        :raises UnknownName: If there is none; lists what there is.
        """
        try:
            return self._views[name]
        except (KeyError, TypeError):
            raise UnknownName(f"there is no {self._what} '{name}'"
                              f'{name_hint(str(name), self._views)}') from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)
