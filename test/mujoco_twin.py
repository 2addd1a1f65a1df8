"""A model rebuilt in MuJoCo from its elements, and states carried across."""
import numpy as np

import needs

JOINTS = {'revolute': 'hinge', 'continuous': 'hinge', 'prismatic': 'slide'}


def mjcf(model):
    """
    Write links, joints and inertias as MJCF, without limits, dampers and shapes.

    :param model: Of joints with one axis, fixed ones, and free roots.
    """
    joints = {joint.child: joint for joint in model.assembly.joints}
    roots = [k for k in range(len(model.assembly.links))
             if k not in joints and not model.assembly.links[k].is_static]
    held = [k for k, joint in joints.items() if joint.parent < 0]
    gravity = ' '.join(map(repr, map(float, model.gravity)))
    bodies = ''.join(body(model, joints, k, np.eye(3), np.zeros(3)) for k in (*roots, *held))
    return (f"<mujoco><compiler angle='radian'/><option gravity='{gravity}' timestep='0.001'/>"
            f'<worldbody>{bodies}</worldbody></mujoco>')


def body(model, joints, k, R_WP, p_WP):
    """Write a link, and inside it the links that it carries."""
    link, joint = model.assembly.links[k], joints.get(k)
    R_PL, p_PL = R_WP.T @ link.T_WL.R, R_WP.T @ (link.T_WL.p - p_WP)
    inertial = link.element.inertial
    moves = '<freejoint/>'
    if joint is not None:
        moves = ''
        if joint.element.type != 'fixed':
            axis = link.T_WL.R.T @ joint.T_WJ.R @ joint.axes[0]
            at = link.T_WL.R.T @ (joint.T_WJ.p - link.T_WL.p)
            moves = (f"<joint name='{joint.name}' type='{JOINTS[joint.element.type]}' "
                     f"axis='{numbers(axis)}' pos='{numbers(at)}'/>")
    carried = ''.join(body(model, joints, child, link.T_WL.R, link.T_WL.p)
                      for child, other in joints.items() if other.parent == k)
    # inertia is given about the centre of mass, in axes that the inertial's own pose turns
    about = inertial.pose.R @ inertial.inertia @ inertial.pose.R.T
    at = f"pos='{numbers(p_PL)}' quat='{numbers(quaternion(R_PL))}'"
    return (f"<body name='{link.name}' {at}>{moves}"
            f"<inertial mass='{inertial.mass!r}' pos='{numbers(inertial.pose.p)}' "
            f"fullinertia='{numbers(about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])}'/>"
            f'{carried}</body>')


def numbers(x):
    """Write numbers with all their digits."""
    return ' '.join(repr(float(value)) for value in x)


def quaternion(R):
    """Return a rotation as w x y z."""
    mujoco = needs.module('mujoco')
    quat_wxyz = np.zeros(4)
    mujoco.mju_mat2Quat(quat_wxyz, np.ascontiguousarray(R).ravel())
    return quat_wxyz


class Twin:
    """The same robot in MuJoCo; its free root, if it has one, comes first."""

    def __init__(self, model):
        self.mujoco = needs.module('mujoco')
        self.theirs = self.mujoco.MjModel.from_xml_string(mjcf(model))
        self.data = self.mujoco.MjData(self.theirs)
        self.places = [(joint, self.theirs.joint(joint.name)) for joint in model.joints]
        self.is_free = bool(model.free_roots)

    def forward_dynamics(self, q, qd, tau):
        """Compute accelerations as we do, by their algorithm."""
        data = self.data
        if self.is_free:
            data.qpos[:7], data.qvel[:3], data.qfrc_applied[:3] = q[:7], qd[:3], tau[:3]
            R_BW = self.axes(q).T  # angular velocity and moment are in the body's axes there
            data.qvel[3:6], data.qfrc_applied[3:6] = R_BW @ qd[3:6], R_BW @ tau[3:6]
        for ours, theirs in self.places:
            data.qpos[theirs.qposadr], data.qvel[theirs.dofadr] = q[ours.q], qd[ours.v]
            data.qfrc_applied[theirs.dofadr] = tau[ours.v]
        self.mujoco.mj_forward(self.theirs, data)
        qdd = np.zeros_like(qd)
        if self.is_free:
            qdd[:3], qdd[3:6] = data.qacc[:3], self.axes(q) @ data.qacc[3:6]
        for ours, theirs in self.places:
            qdd[ours.v] = data.qacc[theirs.dofadr[0]]
        return qdd

    def axes(self, q):
        """Return the rotation of the free root."""
        R = np.zeros(9)
        self.mujoco.mju_quat2Mat(R, q[3:7])
        return R.reshape(3, 3)
