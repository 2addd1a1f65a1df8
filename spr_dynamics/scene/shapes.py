"""The shapes of a robot, each on its link and in its colour."""
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.model import Model
from spr_dynamics.sdformat.assemble import PlacedLink
from spr_dynamics.sdformat.elements import Empty, Geometry
from spr_dynamics.sdformat.poses import Pose

PLAIN = np.array([0.7, 0.7, 0.7, 1.0])  # what has no colour of its own
GHOST = np.array([0.9, 0.55, 0.2, 0.5])  # collisions that stand in for visuals


class Shape(NamedTuple):
    """One thing to draw."""

    name: str
    """``link::visual``; different for each."""
    link: int
    """Index of the link that carries it."""
    T_LS: Pose
    """Its pose on the link."""
    geometry: Geometry
    colour: np.ndarray
    """Red, green, blue, opacity in 0 to 1, shape (4,)."""
    has_colour: bool
    """Whether the file names that colour; a mesh may have others of its own."""


def shapes(model: Model) -> list[Shape]:
    """
    List what a robot looks like, in file order.

    A link that collides and has no visuals is drawn as it collides, half transparent, so that
    no robot is invisible.

    :param model: The robot.
    """
    return [shape for k, (name, link) in enumerate(zip(model.link_names, model.assembly.links))
            for shape in shapes_of_link(k, name, link)]


def shapes_of_link(k: int, name: str, link: PlacedLink) -> Iterator[Shape]:
    """
    Yield what one link looks like.

    :param k: Its index.
    :param name: Its unique name.
    :param link: The link.
    """
    drawn = False
    for placed in link.visuals:
        if isinstance(placed.element.geometry, Empty):
            continue
        drawn = True
        diffuse = placed.element.diffuse  # type: ignore[union-attr]  # a visual has one
        yield Shape(f'{name}::{placed.name}', k, placed.T_LS, placed.element.geometry,
                    PLAIN if diffuse is None else diffuse, diffuse is not None)
    if drawn:
        return
    for placed in link.collisions:
        if not isinstance(placed.element.geometry, Empty):
            yield Shape(f'{name}::{placed.name}', k, placed.T_LS, placed.element.geometry, GHOST,
                        True)
