"""Things by name: a wrong one gives the near ones."""
from collections.abc import Iterator, Mapping
import inspect
from typing import TypeVar

from spr_dynamics.errors import did_you_mean, name_hint, SprDynamicsError

View = TypeVar('View')


class UnknownName(SprDynamicsError, KeyError):
    """There is nothing of that name; the message has the near ones."""

    __str__ = Exception.__str__  # that of KeyError shows quotes and escapes


class FixedAttributes:
    """
    Things whose attributes are set by properties alone: what else is set would do nothing.

    A public slot is filled once, by ``__init__``.
    """

    __slots__ = ()

    def __setattr__(self, name, value):
        """
        Set an attribute.

        :raises AttributeError: If there is none of that name, and says which is near; or if it is
            only read, and says which can be set.
        """
        kind = type(self)
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__} has no attribute '{name}'"
                                 f'{did_you_mean(name, public_names(kind))}')
        if not (name.startswith('_') or has_setter(kind, name)
                or inspect.ismemberdescriptor(getattr(kind, name)) and not hasattr(self, name)):
            settable = [other for other in public_names(kind) if has_setter(kind, other)]
            can_be_set = f'; what can be set: {", ".join(settable)}' if settable else ''
            raise AttributeError(f"{kind.__name__}: '{name}' is only read{can_be_set}")
        super().__setattr__(name, value)


def has_setter(kind, name) -> bool:
    """Say whether a class has a property of that name that can be set."""
    own = getattr(kind, name)
    return isinstance(own, property) and own.fset is not None


def public_names(kind) -> list[str]:
    """List the attributes of a class that are meant for users."""
    return [name for name in dir(kind) if not name.startswith('_')]


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
