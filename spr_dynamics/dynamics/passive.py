"""What joints do by themselves: dampers and springs."""
import numpy as np

from spr_dynamics.dynamics.check import checked_position, checked_velocity, finite


def passive_forces(model, q, qd) -> np.ndarray:
    """
    Compute the joint forces of dampers and springs: -d qd - k (q - rest).

    Dry friction is not part of it, nor what joints do that close loops: they have no velocity.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :returns: Forces [N m or N], shape (nv,); zero for free roots.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    q, qd = checked_position(model, q), checked_velocity(model, qd)
    drives, tau = model.drives, np.zeros(model.nv)
    tau[drives['v']] = (-drives['damping'] * qd[drives['v']]
                        - drives['stiffness'] * (q[drives['q']] - drives['rest']))
    return finite('passive forces', tau, q=q, qd=qd)
