"""The efforts that act until the next command, and the checks at the door."""
from collections.abc import Callable, Iterable, Sequence
import math

import numpy as np

from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.ros.schedule import NEVER

BY_NAME, IN_ORDER = 'joint_commands', 'effort_commands'  # the topics
RESTORED = '~/load_state'
SOURCES = (BY_NAME, IN_ORDER, RESTORED)  # where an effort can come from


class CommandRefused(SprDynamicsError):
    """
    A command can't be used; nothing has changed. The message says what was expected.

    It is written when somebody reads it: of a storm of bad commands most are only counted.
    """

    def __init__(self, kind: str, explain: Callable[[], str]) -> None:
        """
        Refuse a command.

        :param kind: What is wrong, in a word; of one kind a moment's first is logged.
        :param explain: Writes the message.
        """
        super().__init__(kind)
        self.kind = kind
        self._explain = explain

    def __str__(self) -> str:
        return self._explain()


class Commands:
    """
    One effort for each degree of freedom, held until it is replaced or times out.

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
        self._since = np.zeros(nv, dtype=np.int64)
        self._is_held = np.zeros(nv, dtype=bool)
        self._source = np.zeros(nv, dtype=np.intp)
        self._timeout: int | None = None
        self._end = NEVER

    def clear(self) -> None:
        """Set all efforts to zero, and forget who gave them."""
        self.efforts[:] = 0.0
        self._is_held[:] = False
        self._end = NEVER

    def put_back(self, efforts: np.ndarray, step: int) -> None:
        """
        Hold efforts that acted before, as of a saved state, like commands that come now.

        :param efforts: Efforts [N m or N], shape (nv,).
        :param step: The present step count.
        """
        self.clear()
        acting = np.flatnonzero(efforts)
        self._take(acting, efforts[acting], step, RESTORED)

    def set_by_name(self, names: Sequence[str], efforts: Sequence[float], step: int) -> None:
        """
        Take efforts for joints by name; NaN keeps the joint's present command.

        :param names: Names of degrees of freedom, in any order; the others keep their command.
            None of them only where there are none to name.
        :param efforts: One effort for each name [N m or N].
        :param step: The present step count.
        :raises CommandRefused: If the message can't be used as a whole.
        """
        if not len(efforts) and self._index:
            raise CommandRefused('empty', lambda: (
                'no effort in it; expected one effort for each name (this simulation takes '
                'efforts only)'))
        if len(efforts) != len(names):
            raise CommandRefused('length', lambda: (
                f'{_count(efforts, "effort")} for {_count(names, "name")}; expected one effort '
                'for each name'))
        indices = self._indices_of(names)
        values = np.array(efforts, dtype=float)
        if np.isinf(values).any():
            raise CommandRefused('infinite', lambda: (
                f'the effort of joint {names[int(np.flatnonzero(np.isinf(values))[0])]!r} is '
                "infinite; expected a finite number, or NaN to keep the joint's command"))
        given = ~np.isnan(values)
        if not given.all():
            indices, values = indices[given], values[given]
        self._take(indices, values, step, BY_NAME)

    def set_in_order(self, efforts: Sequence[float], step: int) -> None:
        """
        Take one effort for each of the parameter ``joints``, in that order.

        :param efforts: Efforts [N m or N].
        :param step: The present step count.
        :raises CommandRefused: If the message can't be used as a whole.
        """
        if len(efforts) != len(self.joints):
            raise CommandRefused('length', lambda: (
                f'{_count(efforts, "value")}; expected {len(self.joints)}, in the order of the '
                f"parameter 'joints': {_listed(self.joints)}"))
        values = np.array(efforts, dtype=float)
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            kind = 'nan' if np.isnan(values[bad]) else 'infinite'
            raise CommandRefused(kind, lambda: (
                f'the effort of joint {self.joints[bad]!r} is {values[bad]}; expected finite '
                'numbers'))
        self._take(self._order, values, step, IN_ORDER)

    def above(self, limit: np.ndarray) -> set[int]:
        """
        Return the entries of the effort vector whose command exceeds its limit.

        :param limit: Largest magnitude of each entry, infinite where there is none.
        """
        return set(np.flatnonzero(np.abs(self.efforts) > limit).tolist())

    def set_timeout(self, timeout: float, dt: float) -> None:
        """
        Choose how long the command of a joint holds.

        :param timeout: [s of simulated time]; 0 is for ever.
        :param dt: Length of a step [s].
        """
        # 1e-9: round-off of the quotient
        self._timeout = max(1, math.ceil(timeout / dt - 1e-9)) if timeout else None
        self._find_end()

    def steps_until_end(self, step: int) -> int:
        """
        Return after how many steps the first command times out, at least 1.

        :param step: The present step count.
        """
        return max(1, self._end - step)

    def drop_old(self, step: int) -> list[str]:
        """
        Set the efforts to zero whose command has timed out, and return the joints.

        :param step: The present step count.
        """
        if step < self._end or self._timeout is None:
            return []
        is_old = self._is_held & (self._since + self._timeout <= step)
        self.efforts[is_old] = 0.0
        self._is_held &= ~is_old
        self._find_end()
        return [name for name, entry in self._index.items() if is_old[entry]]

    def held(self) -> list[tuple[str, float, int, str]]:
        """Return joint, effort, step and source, one of `SOURCES`, of each command that holds."""
        return [(name, float(self.efforts[v]), int(self._since[v]),
                 SOURCES[self._source[v]])
                for name, v in self._index.items() if self._is_held[v]]

    def _take(self, indices: np.ndarray, values: np.ndarray, step: int, source: str) -> None:
        self.efforts[indices] = values
        self._since[indices] = step
        self._is_held[indices] = True
        self._source[indices] = SOURCES.index(source)
        if self._timeout is not None:
            self._find_end()

    def _find_end(self) -> None:
        held = self._since[self._is_held]
        self._end = int(held.min()) + self._timeout if self._timeout and held.size else NEVER

    def _indices_of(self, names: Sequence[str]) -> np.ndarray:
        # a controller names the same joints in every message
        if names == self._names:
            return self._indices
        unknown = [name for name in names if name not in self._index]
        if unknown:
            raise CommandRefused('unknown', lambda: self._unknown(unknown[0]))
        if len(set(names)) < len(names):
            raise CommandRefused('twice', lambda: (
                f'joint {next(name for name in names if list(names).count(name) > 1)!r} is named '
                'twice; expected each joint once'))
        self._names = list(names)
        self._indices = np.array([self._index[name] for name in names], dtype=np.intp)
        return self._indices

    def _unknown(self, name: str) -> str:
        return f'there is no joint {name!r}{name_hint(name, self._index)}'


def _count(items: Sequence, noun: str) -> str:
    return f'{len(items)} {noun}{"" if len(items) == 1 else "s"}'


def _listed(names: Iterable[str]) -> str:
    return ', '.join(names) or '(none)'
