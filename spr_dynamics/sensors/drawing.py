"""What can be drawn of a contact sensor, as plain arrays."""
from typing import NamedTuple

import numpy as np

METRES_PER_NEWTON = 0.01  # of the arrow
FILL_THICKNESS = 0.001  # [m]
UNIT_BOX = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
NOTHING = np.zeros((0, 3))

BOX_EDGES = np.array([(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4),
                      (1, 5), (2, 6), (3, 7)])
"""Corners of a box that an edge joins, shape (12, 2)."""


class ContactDrawing(NamedTuple):
    """
    A contact sensor in the world [m].

    An empty array stands for what is not there: a patch without end has neither outline nor box.
    """

    T_WS: np.ndarray
    """Pose of the sensor, shape (4, 4)."""
    outline: np.ndarray
    """Corners of the patch, in turn, shape (4, 3)."""
    tolerance_box: np.ndarray
    """Corners of the space in which contacts count, shape (8, 3); ``BOX_EDGES`` joins them."""
    fill: np.ndarray
    """Corners of a thin plate on the patch while there is contact, shape (8, 3)."""
    arrow: np.ndarray
    """From the centre of pressure along the measured force, shape (2, 3)."""


def drawing_of(settings, reading, T_WS, metres_per_newton=METRES_PER_NEWTON) -> ContactDrawing:
    """
    Return what a contact sensor looks like.

    :param settings: Validated settings.
    :param reading: A ``ContactReading``.
    :param T_WS: Pose of the sensor in the world, shape (4, 4).
    :param metres_per_newton: Length of the arrow for each newton.
    """
    def placed(points):
        return points @ T_WS[:3, :3].T + T_WS[:3, 3]

    def box(half_height):
        if not np.isfinite([*settings.patch_min, *settings.patch_max, half_height]).all():
            return NOTHING
        low = np.append(settings.patch_min, -half_height)
        return placed(low + UNIT_BOX * (np.append(settings.patch_max, half_height) - low))

    flat = box(0.0)
    force = np.where(settings.has_force, reading.force, 0.0)
    tip = reading.centre_of_pressure + metres_per_newton * force
    return ContactDrawing(
        T_WS=T_WS, outline=flat[[0, 1, 3, 2]] if flat.size else NOTHING,
        tolerance_box=box(settings.patch_tolerance),
        fill=box(0.5 * FILL_THICKNESS) if reading.contact else NOTHING,
        arrow=placed(np.stack([reading.centre_of_pressure, tip])) if force.any() else NOTHING)
