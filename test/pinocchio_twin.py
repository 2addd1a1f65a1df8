"""A model rebuilt in Pinocchio from its elements, and states carried across."""
import numpy as np

import needs


class Twin:
    """The same robot in Pinocchio: built from links and joints, not from our arrays."""

    def __init__(self, model):
        self.pin = needs.module('pinocchio')
        self.ours = model
        self.theirs = self.pin.Model()
        self.theirs.gravity.linear = np.array(model.gravity)
        self.holder = {}  # link -> (their joint, pose of the link in that joint's frame)
        self.joints_of = {}  # name -> their joints, a second one for an axis2 that turns freely
        self.entering = {joint.child: joint for joint in model.assembly.joints}
        for k in range(len(model.assembly.links)):
            if k not in self.entering or self.entering[k].parent < 0:
                self.add_tree(k)
        self.data = self.theirs.createData()

    def add_tree(self, k):
        """Add a link and what hangs on it, depth first, as their algorithms expect."""
        self.add_link(k)
        for child, joint in self.entering.items():
            if joint.parent == k:
                self.add_tree(child)

    def add_link(self, k):
        """Add a link whose parent is there."""
        pin, link, joint = self.pin, self.ours.assembly.links[k], self.entering.get(k)
        if joint is None:
            parent, T_PL = self.theirs.addJoint(
                0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), link.name), pin.SE3.Identity()
            self.joints_of[link.name] = [parent]
        elif joint.element.type == 'fixed':
            parent, T_PL = self.below(joint, link.T_WL)
        else:
            parent, placement = self.below(joint, joint.T_WJ)
            self.joints_of[joint.name] = []
            for kind in self.joint_models(joint):
                parent = self.theirs.addJoint(parent, kind, placement,
                                              f'{joint.name} {kind.shortname()}')
                self.joints_of[joint.name].append(parent)
                placement = pin.SE3.Identity()
            T_PL = se3(pin, joint.T_WJ).inverse() * se3(pin, link.T_WL)
        self.holder[k] = parent, T_PL
        inertial = link.element.inertial
        self.theirs.appendBodyToJoint(
            parent, pin.Inertia(inertial.mass, np.zeros(3), inertial.inertia),
            T_PL * se3(pin, inertial.pose))

    def joint_models(self, joint):
        """Choose their joints that move as one of ours does."""
        pin, kind, axes = self.pin, joint.element.type, joint.axes
        if kind == 'ball':
            return [pin.JointModelSpherical()]
        if kind == 'universal':
            return [pin.JointModelUniversal(*axes)]
        if kind == 'prismatic':
            return [pin.JointModelPrismaticUnaligned(*axes)]
        if kind == 'screw':
            advance = joint.element.screw_thread_pitch / (2.0 * np.pi)
            return [pin.JointModelHelicalUnaligned(*axes, advance)]
        return [pin.JointModelRevoluteUnaligned(axis) for axis in axes]

    def below(self, joint, T_WX):
        """Return the joint that holds a joint's parent, and a frame X seen from it."""
        if joint.parent < 0:
            return 0, se3(self.pin, T_WX)
        holder, T_HP = self.holder[joint.parent]
        T_WP = se3(self.pin, self.ours.assembly.links[joint.parent].T_WL)
        return holder, T_HP * T_WP.inverse() * se3(self.pin, T_WX)

    def entries(self):
        """Yield each of their joints, and where its numbers start in our q and qd."""
        for owner in (*self.ours.free_roots, *self.ours.joints):
            q, v = owner.q, owner.v
            for k in self.joints_of[owner.name]:
                joint = self.theirs.joints[k]
                yield joint, q, v
                q, v = q + joint.nq, v + joint.nv

    def position(self, q):
        """Carry positions across: their quaternions are x y z w."""
        theirs = np.zeros(self.theirs.nq)
        for joint, at, _ in self.entries():
            order = np.arange(joint.nq)
            if joint.nq in (4, 7):
                order[-4:] = joint.nq - 4 + np.array([1, 2, 3, 0])
            theirs[joint.idx_q:joint.idx_q + joint.nq] = q[at + order]
        return theirs

    def change(self, q):
        """
        Return the matrix C with their velocity = C times ours.

        A free root's velocity is in world axes here and in its own axes there.
        """
        C = np.zeros((self.theirs.nv, self.ours.nv))
        for joint, at, v in self.entries():
            change = np.eye(joint.nv)
            if joint.nv == 6:
                R_BW = rotation(q[at + 3:at + 7]).T
                change[:3, :3] = change[3:, 3:] = R_BW
            C[joint.idx_v:joint.idx_v + joint.nv, v:v + joint.nv] = change
        return C

    def drift(self, q, qd):
        """Return their acceleration when ours is zero: axes that turn with the root."""
        drift = np.zeros(self.theirs.nv)
        for joint, at, k in self.entries():
            if joint.nv == 6:
                R_BW = rotation(q[at + 3:at + 7]).T
                v, w = R_BW @ qd[k:k + 3], R_BW @ qd[k + 3:k + 6]
                drift[joint.idx_v:joint.idx_v + 3] = -np.cross(w, v)
        return drift

    def forces(self, q, f_ext):
        """Carry torques and forces on links over to forces in the frames of their joints."""
        pin = self.pin
        pin.forwardKinematics(self.theirs, self.data, self.position(q))
        forces = [pin.Force.Zero() for _ in range(self.theirs.njoints)]
        for k, (torque, force) in enumerate(f_ext.reshape(-1, 2, 3)):
            holder, T_HL = self.holder[k]
            R_HW = self.data.oMi[holder].rotation.T
            linear = R_HW @ force
            forces[holder] += pin.Force(
                linear, R_HW @ torque + np.cross(T_HL.translation, linear))
        return forces

    def forward_dynamics(self, q, qd, tau, f_ext):
        """Compute accelerations as we do, by their algorithm."""
        C = self.change(q)
        qdd = self.pin.aba(self.theirs, self.data, self.position(q), C @ qd,
                           np.linalg.solve(C.T, tau), self.forces(q, f_ext))
        return np.linalg.solve(C, qdd - self.drift(q, qd))

    def inverse_dynamics(self, q, qd, qdd, f_ext):
        """Compute joint forces as we do, by their algorithm."""
        C = self.change(q)
        tau = self.pin.rnea(self.theirs, self.data, self.position(q), C @ qd,
                            C @ qdd + self.drift(q, qd), self.forces(q, f_ext))
        return C.T @ tau

    def mass_matrix(self, q):
        """Compute the inertia matrix as we do, by their algorithm."""
        C = self.change(q)
        M = np.triu(self.pin.crba(self.theirs, self.data, self.position(q)))
        return C.T @ (M + np.triu(M, 1).T) @ C


def se3(pin, T):
    """Write a pose as theirs."""
    return pin.SE3(T.R, T.p)


def rotation(quat_wxyz):
    """Return the rotation matrix of a unit quaternion."""
    w, x, y, z = quat_wxyz
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
