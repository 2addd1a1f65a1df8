"""The efforts that act until the next command, and the checks at the door."""
from collections.abc import Iterable, Sequence
import math

import numpy as np

from spr_dynamics.errors import name_hint, SprDynamicsError


class CommandRefused(SprDynamicsError):
    """A command can't be used; nothing has changed. The message says what was expected."""


class Commands:
    """
    One effort for each degree of freedom, held until it is replaced.

    A command is checked in full before any of it is taken.
    """

    def __init__(self, dof_names: Sequence[str], dof_v: np.ndarray, nv: int,
                 joints: Sequence[str]) -> None:
        """
        Start with zero efforts.

        :param dof_names: The joints that a command can name.
        :param dof_v: The entry of the effort vector that belongs to each of them.
        :param nv: Length of the effort vector.
        :param joints: Names in the order of ``effort_commands``.
        :raises SprDynamicsError: If ``joints`` names something that is no joint, or a joint twice.
        """
        self._index = dict(zip(dof_names, (int(v) for v in dof_v)))
        self._names: list[str] = []
        self._indices = np.empty(0, dtype=np.intp)
        unknown = [name for name in joints if name not in self._index]
        if unknown:
            raise SprDynamicsError(f'joints: {self._unknown(unknown[0])}')
        if len(set(joints)) < len(joints):
            raise SprDynamicsError('joints: a joint is named twice')
        self.joints = tuple(joints)
        self._order = np.array([self._index[name] for name in joints], dtype=np.intp)
        self.efforts = np.zeros(nv)

    def clear(self) -> None:
        """Set all efforts to zero."""
        self.efforts[:] = 0.0

    def set_by_name(self, names: Sequence[str], efforts: Sequence[float]) -> None:
        """
        Take efforts for joints by name; NaN keeps the joint's present command.

        :param names: Names of degrees of freedom, in any order; the others keep their command.
        :param efforts: One effort for each name [N m or N].
        :raises CommandRefused: If the message can't be used as a whole.
        """
        if not len(efforts):
            raise CommandRefused('no effort in it; expected one effort for each name '
                                 '(this simulation takes efforts only)')
        if len(efforts) != len(names):
            raise CommandRefused(f'{_count(efforts, "effort")} for {_count(names, "name")}; '
                                 'expected one effort for each name')
        indices = self._indices_of(names)
        values = np.array(efforts, dtype=float)
        if np.isinf(values).any():
            name = names[int(np.flatnonzero(np.isinf(values))[0])]
            raise CommandRefused(f'the effort of joint {name!r} is infinite; expected a finite '
                                 "number, or NaN to keep the joint's command")
        given = ~np.isnan(values)
        self.efforts[indices[given]] = values[given]

    def set_in_order(self, efforts: Sequence[float]) -> None:
        """
        Take one effort for each of the parameter ``joints``, in that order.

        :param efforts: Efforts [N m or N].
        :raises CommandRefused: If the message can't be used as a whole.
        """
        if len(efforts) != len(self.joints):
            raise CommandRefused(f'{_count(efforts, "value")}; expected {len(self.joints)}, in '
                                 f"the order of the parameter 'joints': {_listed(self.joints)}")
        values = np.array(efforts, dtype=float)
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise CommandRefused(f'the effort of joint {self.joints[bad]!r} is {values[bad]}; '
                                 'expected finite numbers')
        self.efforts[self._order] = values

    def above(self, limit: np.ndarray) -> set[int]:
        """
        Return the entries of the effort vector whose command exceeds its limit.

        :param limit: Largest magnitude of each entry, infinite where there is none.
        """
        return set(np.flatnonzero(np.abs(self.efforts) > limit).tolist())

    def _indices_of(self, names: Sequence[str]) -> np.ndarray:
        # a controller names the same joints in every message
        if names == self._names:
            return self._indices
        unknown = [name for name in names if name not in self._index]
        if unknown:
            raise CommandRefused(self._unknown(unknown[0]))
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise CommandRefused(f'joint {twice!r} is named twice; expected each joint once')
        self._names = list(names)
        self._indices = np.array([self._index[name] for name in names], dtype=np.intp)
        return self._indices

    def _unknown(self, name: str) -> str:
        return f'there is no joint {name!r}{name_hint(name, self._index)}'


def expiry_step(step: int, timeout: float, dt: float) -> int | None:
    """
    Return the step count at which a command given now no longer holds; None: it holds for ever.

    :param step: The present step count.
    :param timeout: How long a command holds [s of simulated time]; 0 is for ever.
    :param dt: Length of a step [s].
    """
    if timeout == 0.0:
        return None
    return step + max(1, math.ceil(timeout / dt - 1e-9))  # 1e-9: round-off of the quotient


def _count(items: Sequence, noun: str) -> str:
    return f'{len(items)} {noun}{"" if len(items) == 1 else "s"}'


def _listed(names: Iterable[str]) -> str:
    return ', '.join(names) or '(none)'
