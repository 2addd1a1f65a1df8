"""Wrenches from outside on links, as long as they last."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import name_hint
from spr_dynamics.ros.commands import CommandRefused
from spr_dynamics.ros.schedule import NEVER

LARGEST = 1e100  # [N] or [N m]; beyond, squares are no numbers


class Push(NamedTuple):
    """What acts on a link, in the link's frame, which it turns with."""

    torque: np.ndarray
    """About the link's origin [N m], shape (3,)."""
    force: np.ndarray
    """[N], shape (3,)."""
    end: int
    """The step count from which it no longer acts."""


class Pushes:
    """The wrenches that act on links of a simulation, one a link."""

    def __init__(self, simulation: Any, frames: Mapping[str, str]) -> None:
        """
        Push nothing yet.

        :param simulation: What is pushed.
        :param frames: The frame of each link by the link's name.
        """
        self._simulation = simulation
        names = simulation.model.link_names
        self._links = {frame: names.index(name) for name, frame in frames.items()}
        self._active: dict[int, Push] = {}
        self._act()  # compiled now: the first push is on time

    def clear(self) -> None:
        """End all pushes."""
        if self._active:
            self._active = {}
            self._act()

    def put(self, frame: str, force: np.ndarray, torque: np.ndarray, end: int) -> None:
        """
        Push a link, in place of what pushed it before.

        :param frame: The link's frame: it gives origin and axes.
        :param force: [N], shape (3,).
        :param torque: About the frame's origin [N m], shape (3,).
        :param end: The step count at which it ends.
        :raises CommandRefused: If it can't be used; nothing has changed then.
        """
        k = self._links.get(frame)
        if k is None:
            raise CommandRefused('frame', lambda: (
                f'frame_id {frame!r} names no link{name_hint(frame, self._links)}; it says which '
                'link is pushed, and in which axes'))
        if self._simulation.model.links['body'][k] == 0:
            raise CommandRefused('fixed', lambda: (
                f'the link {frame!r} is fixed to the world, so nothing can push it'))
        if not (np.abs([*force, *torque]) < LARGEST).all():
            raise CommandRefused('not finite', lambda: (
                f'force {force.tolist()}, torque {torque.tolist()}; expected finite numbers'))
        self._active[k] = Push(np.array(torque), np.array(force), end)

    def steps_until_change(self, step: int) -> int:
        """
        Let the pushes act, and return for how many steps that is right: they turn with the links.

        :param step: The present step count.
        """
        if not self._active:
            return NEVER
        self._active = {k: push for k, push in self._active.items() if step < push.end}
        self._act()
        return 1 if self._active else NEVER

    def held(self, step: int) -> list[tuple[str, int]]:
        """
        Return the frame of each link that is pushed, and for how many steps more.

        :param step: The present step count.
        """
        names = {k: frame for frame, k in self._links.items()}
        return [(names[k], push.end - step if push.end < NEVER else NEVER)
                for k, push in self._active.items()]

    def _act(self) -> None:
        simulation = self._simulation
        wrenches = np.zeros((simulation.model.links.size, 6))
        R_WL = link_poses(simulation.model, simulation.q)[:, :3, :3]
        for k, push in self._active.items():
            wrenches[k] = *(R_WL[k] @ push.torque), *(R_WL[k] @ push.force)
        simulation.external_wrenches = wrenches
