"""The same bodies in Pinocchio and MuJoCo."""
import mujoco
import numpy as np
import pinocchio as pin

from side_by_side.bodies import bodies_of, change, drift, numbers_of, positions
from spr_dynamics.model.records import BOX, PLANE, SPHERE

WXYZ, XYZW = [0, 1, 2, 3], [1, 2, 3, 0]
SHAPES = {PLANE: mujoco.mjtGeom.mjGEOM_PLANE, SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
          BOX: mujoco.mjtGeom.mjGEOM_BOX}


class PinocchioTwin:
    """
    A model's bodies in Pinocchio, at one state.

    :param q: Positions as ours, and so ``qd``, ``tau`` and ``qdd``.
    """

    def __init__(self, ours, q, qd, tau, qdd):
        self.model = pinocchio_model(ours)
        self.data = self.model.createData()
        self.C, self.drift = change(ours, q, True), drift(ours, q, qd)
        self.q, self.qd = positions(ours, q, XYZW), self.C @ qd
        self.tau, self.qdd = np.linalg.solve(self.C.T, tau), self.C @ qdd + self.drift

    def results(self):
        """Return accelerations, joint forces and mass matrix in our coordinates."""
        qdd = pin.aba(self.model, self.data, self.q, self.qd, self.tau)
        tau = pin.rnea(self.model, self.data, self.q, self.qd, self.qdd)
        M = np.triu(pin.crba(self.model, self.data, self.q))
        return (np.linalg.solve(self.C, qdd - self.drift), self.C.T @ tau,
                self.C.T @ (M + np.triu(M, 1).T) @ self.C)


def pinocchio_model(ours):
    """Build the bodies with Pinocchio's joints about and along z."""
    theirs = pin.Model()
    theirs.gravity.linear = np.array(ours.gravity)
    for i, body in enumerate(bodies_of(ours), start=1):
        joint = (pin.JointModelFreeFlyer() if body.is_free else
                 pin.JointModelPZ() if body.slides else pin.JointModelRZ())
        placement = pin.SE3.Identity() if body.is_free else pin.SE3(*body.T_PB)
        k = theirs.addJoint(body.parent, joint, placement, f'joint{i}')
        theirs.appendBodyToJoint(k, pin.Inertia(body.mass, body.centre, body.inertia),
                                 pin.SE3.Identity())
    return theirs


class MujocoTwin:
    """A model's bodies in MuJoCo, at one state, without what its joints do by themselves."""

    def __init__(self, ours, q, qd, tau, qdd):
        self.model = mujoco_model(ours, 1e-3, has_passive_forces=False)
        self.data = mujoco.MjData(self.model)
        self.C = change(ours, q, False)
        put_state(ours, self.data, q, qd, tau)
        self.qdd, self.tau = self.C @ qdd, np.zeros(ours.nv)

    def forces(self):
        """Compute joint forces by the stages that this takes, without others."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)
        mujoco.mj_rne(self.model, self.data, 1, self.tau)

    def masses(self):
        """Compute the mass matrix, sparse, by the stages that this takes."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_crb(self.model, self.data)

    def results(self):
        """Return accelerations, joint forces and mass matrix in our coordinates."""
        mujoco.mj_forward(self.model, self.data)
        qdd = np.linalg.solve(self.C, self.data.qacc)
        self.data.qacc = self.qdd
        mujoco.mj_inverse(self.model, self.data)
        M = np.zeros(self.C.shape)
        mujoco.mj_fullM(self.model, self.data, M)
        return qdd, self.C.T @ self.data.qfrc_inverse, self.C.T @ M @ self.C


def put_state(ours, data, q, qd, tau):
    """Write a state of ours into MuJoCo's data."""
    C = change(ours, q, False)
    data.qpos, data.qvel = positions(ours, q, WXYZ), C @ qd
    data.qfrc_applied = np.linalg.solve(C.T, tau)


def mujoco_model(ours, dt, *, has_passive_forces=True, cone=mujoco.mjtCone.mjCONE_PYRAMIDAL):
    """Build the bodies, dampers, springs and shapes; only planes touch other shapes."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity, spec.option.cone = dt, ours.gravity, cone
    theirs = [spec.worldbody]
    for body in bodies_of(ours):
        added = theirs[body.parent].add_body(
            pos=body.T_PB.p, quat=body.T_PB.quat_wxyz(), mass=body.mass, ipos=body.centre,
            fullinertia=body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
            explicitinertial=True)
        theirs.append(added)
        if body.is_free:
            added.add_freejoint()
            continue
        kind = mujoco.mjtJoint.mjJNT_SLIDE if body.slides else mujoco.mjtJoint.mjJNT_HINGE
        joint = added.add_joint(type=kind, axis=[0, 0, 1])
        if has_passive_forces:
            (drive,) = ours.drives[ours.drives['v'] == body.record['v']]
            joint.damping = [drive['damping'], 0.0, 0.0]  # a polynomial, since MuJoCo 4
            joint.stiffness = [drive['stiffness'], 0.0, 0.0]
            joint.springref = drive['rest']
    numbers = numbers_of(ours)
    for shape in ours.shapes:
        is_plane = shape['kind'] == PLANE
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, shape['X'][:9].reshape(3, 3).T.ravel())
        theirs[numbers[shape['body']]].add_geom(
            type=SHAPES[int(shape['kind'])], pos=shape['X'][9:], quat=quat,
            size=[0.0, 0.0, 1.0] if is_plane else shape['size'],
            friction=[shape['mu'], 0.005, 0.0001], contype=is_plane, conaffinity=not is_plane)
    return spec.compile()
