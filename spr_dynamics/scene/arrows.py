"""Where forces act, as arrows of a length that suits the robot."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.model import Model
from spr_dynamics.sdformat.assemble import PlacedLink
from spr_dynamics.simulation.contacts import Contacts

WORLD_BODY = 0
STANDARD_GRAVITY = 9.81  # [m/s^2] arrows have a length in every world, also where nothing falls
WEIGHT_ARROW = 0.5  # how long the arrow of the robot's weight is, in sizes of the robot
SMALLEST = 0.01  # [m] size of what has none


class Arrow(NamedTuple):
    """A force at a point."""

    point: np.ndarray
    """Where it acts, world [m], shape (3,)."""
    force: np.ndarray
    """World [N], shape (3,)."""


def contact_arrows(contacts: Contacts) -> list[Arrow]:
    """
    List the forces of contacts: on the body that moves, else on the second of the pair.

    :param contacts: Those of a step.
    """
    return [Arrow(point, -force if body == WORLD_BODY else force) for body, point, force in zip(
        contacts['body_b'], contacts['point'], contacts['force'])]


def size(model: Model) -> float:
    """
    Return how large what moves is in its home pose: the diagonal of a box around its links [m].

    :param model: The robot.
    """
    points = _places(model)
    largest = max((2.0 * shape['radius'] for shape in model.shapes
                   if shape['body'] != WORLD_BODY), default=0.0)
    span = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    return max(span, float(largest), SMALLEST)


def centre(model: Model) -> np.ndarray:
    """
    Return the middle of what moves in its home pose, world [m], shape (3,).

    :param model: The robot.
    """
    points = _places(model)
    return 0.5 * (points.min(axis=0) + points.max(axis=0)) if len(points) else np.zeros(3)


def metres_per_newton(model: Model) -> float:
    """
    Return how long to draw a force, so that the robot's weight is as long as half the robot.

    :param model: The robot.
    """
    mass = sum(link.element.inertial.mass for link in _moving_links(model))
    return WEIGHT_ARROW * size(model) / (mass * STANDARD_GRAVITY) if mass else 1.0


def _moving_links(model: Model) -> list[PlacedLink]:
    return [link for link, record in zip(model.assembly.links, model.links)
            if record['body'] != WORLD_BODY]


def _places(model: Model) -> np.ndarray:
    """Return origins and centres of mass of the links that move, world [m], shape (n, 3)."""
    moving = _moving_links(model)
    return np.array([T.p for link in moving
                     for T in (link.T_WL, link.T_WL @ link.element.inertial.pose)]).reshape(-1, 3)
