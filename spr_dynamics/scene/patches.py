"""The patches of contact sensors, as lines."""
import numpy as np

from spr_dynamics.sensors.contact import ContactSensorSettings


def outline(settings: ContactSensorSettings) -> np.ndarray:
    """
    Return the corners of a sensor's patch, the first one again at the end.

    :param settings: The sensor's.
    :returns: Sensor frame [m], shape (5, 3), or (0, 3) for a patch without an end.
    """
    x, y = np.stack([settings.patch_min, settings.patch_max], axis=1)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.zeros((0, 3))
    corners = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]
    return np.array([[x[i], y[j], 0.0] for i, j in corners])
