"""Where forces act, as arrows of a length that suits the robot."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.model import Model
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
    moving = [k for k, link in enumerate(model.links) if link['body'] != WORLD_BODY]
    places = [model.assembly.links[k].T_WL @ model.assembly.links[k].element.inertial.pose
              for k in moving]
    places += [model.assembly.links[k].T_WL for k in moving]
    largest = max((2.0 * shape['radius'] for shape in model.shapes
                   if shape['body'] != WORLD_BODY), default=0.0)
    points = np.array([place.p for place in places])
    span = float(np.linalg.norm(np.ptp(points, axis=0))) if places else 0.0
    return max(span, float(largest), SMALLEST)


def metres_per_newton(model: Model) -> float:
    """
    Return how long to draw a force, so that the robot's weight is as long as half the robot.

    :param model: The robot.
    """
    mass = sum(link.element.inertial.mass for k, link in enumerate(model.assembly.links)
               if model.links[k]['body'] != WORLD_BODY)
    return WEIGHT_ARROW * size(model) / (mass * STANDARD_GRAVITY) if mass else 1.0
