"""What joints do by themselves: dampers and springs."""
import numpy as np

from spr_dynamics.dynamics.check import checked, checked_position
from spr_dynamics.model.records import AXIS


def passive_forces(model, q, qd) -> np.ndarray:
    """
    Compute the joint forces of dampers and springs: -d qd - k (q - rest).

    Dry friction is not part of it.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :returns: Forces [N m or N], shape (nv,); zero for free roots.
    :raises ValueError: If an argument has the wrong shape or is not finite; names it.
    """
    q, qd = checked_position(model, q), checked('qd', qd, model.nv)
    held = model.tree[1:][model.tree['joint'][1:] == AXIS]
    tau = np.zeros(model.nv)
    tau[held['v']] = (-held['damping'] * qd[held['v']]
                      - held['stiffness'] * (q[held['q']] - held['rest']))
    return tau
