"""The forces that joints carry."""
import numpy as np

from spr_dynamics.dynamics.rnea import inverse_dynamics
from spr_dynamics.dynamics.work import Workspace


def joint_wrenches(model, q, qd, qdd, f_ext=None) -> np.ndarray:
    """
    Compute what each joint carries, as a force-torque sensor in it would feel.

    Joints that close loops count as opened: the others carry all. (Force-torque sensors in a
    simulation know what those carry.)

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param qd: Velocities, shape (nv,).
    :param qdd: Accelerations, shape (nv,).
    :param f_ext: Torque, then force on each link, world axes, about the link's origin, shape
        (number of links, 6).
    :returns: Torque, then force through the joint on its child, world axes, about the joint's
        origin, a row for each of ``model.joints``. Of a joint with two axes: through the second.
    :raises ValueError: If an argument has the wrong shape, or is not finite or too large; names
        it.
    """
    inverse_dynamics(model, q, qd, qdd, f_ext)
    bodies = dict(zip(model.link_names, model.links['body'].tolist()))
    children = [bodies[joint.child] for joint in model.joints]
    return model.buffers[Workspace].body['f'][children]
