"""How much more time a motion needs to fit the effort limits."""
import numpy as np


def slowdown(moving, gravity, limit) -> float:
    """
    Find the least factor, one or more, by which to stretch time.

    Stretched by s, the efforts of a motion are ``moving / s^2 + gravity``: what is due to
    acceleration and speed goes down, what holds the weight stays. Each sample has an interval of
    1 / s^2 in which its effort is within the limit.

    :param moving: M qdd + c of samples, any shape.
    :param gravity: g of the same.
    :param limit: Largest effort, of a shape that goes with the others.
    :returns: The factor, or inf if no slowing helps.
    """
    moving, gravity, limit = (np.ravel(x) for x in np.broadcast_arrays(moving, gravity, limit))
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        ends = np.stack([-limit - gravity, limit - gravity]) / (moving + 0.0)  # 0, not -0
    ends = np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends)  # at the limit without moving
    least = ends.min(axis=0).max(initial=0.0)
    most = ends.max(axis=0).min(initial=1.0)
    return most ** -0.5 if 0.0 < most and least <= most else np.inf
