"""The same bodies in Pinocchio, MuJoCo and DART."""
import dartpy as dart
import mujoco
import numpy as np
import pinocchio as pin

from side_by_side.bodies import bodies_of, change, drift, numbers_of, positions
from spr_dynamics.contact.pairs import candidate_pairs, inverse_inertias
from spr_dynamics.contact.records import DEFAULT_OPTIONS
from spr_dynamics.model.records import BOX, CAPSULE, PLANE, SPHERE
from spr_dynamics.sdformat.poses import Pose

WXYZ, XYZW = [0, 1, 2, 3], [1, 2, 3, 0]
SHAPES = {PLANE: mujoco.mjtGeom.mjGEOM_PLANE, SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
          CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE, BOX: mujoco.mjtGeom.mjGEOM_BOX}


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


def drive_of(ours, body):
    """Return damper and spring of the axis that a body moves along."""
    (drive,) = ours.drives[ours.drives['v'] == body.record['v']]
    return drive


def mujoco_model(ours, dt, *, has_passive_forces=True, has_limits=False,
                 cone=mujoco.mjtCone.mjCONE_PYRAMIDAL):
    """Build the bodies, dampers, springs and shapes; the same pairs are watched."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity, spec.option.cone = dt, ours.gravity, cone
    theirs = [spec.worldbody]
    for i, body in enumerate(bodies_of(ours), 1):
        added = theirs[body.parent].add_body(
            name=f'body{i}', pos=body.T_PB.p, quat=body.T_PB.quat_wxyz(), mass=body.mass,
            ipos=body.centre, fullinertia=body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
            explicitinertial=True)
        theirs.append(added)
        if body.is_free:
            added.add_freejoint()
            continue
        kind = mujoco.mjtJoint.mjJNT_SLIDE if body.slides else mujoco.mjtJoint.mjJNT_HINGE
        joint = added.add_joint(type=kind, axis=[0, 0, 1])
        if has_passive_forces:
            drive = drive_of(ours, body)
            joint.damping = [drive['damping'], 0.0, 0.0]  # a polynomial, since MuJoCo 4
            joint.stiffness = [drive['stiffness'], 0.0, 0.0]
            joint.springref = drive['rest']
        if has_limits:
            put_limits(ours, body, joint)
    put_shapes(ours, dt, spec, theirs)
    return spec.compile()


def put_limits(ours, body, joint):
    """Give a joint the limits of its position."""
    (axis,) = (axis for axis in ours.axes if axis.v == body.record['v'])
    if np.isfinite([axis.lower, axis.upper]).all():
        joint.limited, joint.range = True, [axis.lower, axis.upper]


def put_shapes(ours, dt, spec, theirs):
    """Give bodies their shapes, and leave out the pairs of bodies that we leave out."""
    numbers = numbers_of(ours)
    pairs = candidate_pairs(ours, DEFAULT_OPTIONS, dt, inverse_inertias(ours)[0])
    watched = {frozenset(numbers[ours.shapes['body'][[pair['a'], pair['b']]]]) for pair in pairs}
    only_planes = all(ours.shapes['kind'][pair['a']] == PLANE for pair in pairs)
    for shape in ours.shapes:
        is_plane = shape['kind'] == PLANE
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, shape['X'][:9].reshape(3, 3).T.ravel())
        size = np.array(shape['size'])
        if shape['kind'] == CAPSULE:
            size = np.array([size[0], size[2] - size[0], 0.0])  # half the length of its core
        theirs[numbers[shape['body']]].add_geom(
            type=SHAPES[int(shape['kind'])], pos=shape['X'][9:], quat=quat,
            size=[0.0, 0.0, 1.0] if is_plane else size,
            friction=[shape['mu'], 0.005, 0.0001],
            contype=is_plane or not only_planes, conaffinity=not is_plane)
    if only_planes:
        return
    with_shapes = sorted({int(numbers[body]) for body in ours.shapes['body']})
    for k, j in enumerate(with_shapes):
        for i in with_shapes[:k]:
            if frozenset((i, j)) not in watched:
                spec.add_exclude(bodyname1=theirs[i].name, bodyname2=theirs[j].name)


class DartTwin:
    """
    A model's bodies in DART, at one state, without what its joints do by themselves.

    DART keeps what positions made it compute until it is given others, so each call here sets
    them, those of the state and their mirror image in turns.
    """

    def __init__(self, ours, q, qd, tau, qdd):
        self.skeleton = dart_skeleton(ours, has_passive_forces=False)
        self.order = dart_order(ours)
        self.states = dart_positions(ours, q), -dart_positions(ours, q)
        self.skeleton.setVelocities(qd[self.order])
        self.tau, self.qdd = tau[self.order], qdd[self.order]

    def turn(self):
        """Set other positions than the last ones."""
        self.states = self.states[::-1]
        self.skeleton.setPositions(self.states[0])

    def accelerations(self):
        """Compute accelerations from the forces that are set."""
        self.turn()
        self.skeleton.computeForwardDynamics()

    def forces(self):
        """Compute joint forces from the accelerations that are set."""
        self.turn()
        self.skeleton.computeInverseDynamics()

    def masses(self):
        """Compute the mass matrix."""
        self.turn()
        return self.skeleton.getMassMatrix()

    def results(self):
        """Return accelerations, joint forces and mass matrix in our coordinates."""
        back = np.argsort(self.order)
        self.skeleton.setPositions(self.states[0])
        self.skeleton.setForces(self.tau)
        self.skeleton.computeForwardDynamics()
        qdd = self.skeleton.getAccelerations()
        self.skeleton.setAccelerations(self.qdd)
        self.skeleton.computeInverseDynamics()
        tau, M = self.skeleton.getForces(), self.skeleton.getMassMatrix()
        return qdd[back], tau[back], M[np.ix_(back, back)]


def dart_order(ours):
    """
    Return where each of DART's velocities is in ours.

    Those of a free body are in world axes, too, but the angular velocity comes first.
    """
    order = []
    for body in bodies_of(ours):
        k = body.record['v']
        order += [k + 3, k + 4, k + 5, k, k + 1, k + 2] if body.is_free else [k]
    return np.array(order)


def dart_positions(ours, q):
    """Write positions as DART's: of a free body its rotation vector, then its place."""
    theirs = []
    for body in bodies_of(ours):
        k = body.record['q']
        if body.is_free:
            pose = dart.math.Isometry3(Pose.from_quat_wxyz(q[k:k + 3], q[k + 3:k + 7]).R,
                                       q[k:k + 3])
            theirs += list(dart.dynamics.FreeJoint.convertToPositions(pose))
        else:
            theirs.append(q[k])
    return np.array(theirs)


def dart_skeleton(ours, *, has_passive_forces=True):
    """Build the bodies, dampers and springs."""
    skeleton = dart.dynamics.Skeleton(ours.name)
    skeleton.setGravity(ours.gravity)
    theirs = [None]
    for i, body in enumerate(bodies_of(ours), 1):
        joint, added = dart_joint(skeleton, theirs[body.parent], body)
        joint.setName(f'joint{i}')
        added.setName(f'body{i}')
        added.setInertia(dart.dynamics.Inertia(body.mass, body.centre, body.inertia))
        if has_passive_forces and not body.is_free:
            drive = drive_of(ours, body)
            joint.setDampingCoefficient(0, drive['damping'])
            joint.setSpringStiffness(0, drive['stiffness'])
            joint.setRestPosition(0, drive['rest'])
        theirs.append(added)
    return skeleton


def dart_joint(skeleton, parent, body):
    """Add a body with its joint."""
    if body.is_free:
        return skeleton.createFreeJointAndBodyNodePair(parent)
    joint, added = (skeleton.createPrismaticJointAndBodyNodePair(parent) if body.slides
                    else skeleton.createRevoluteJointAndBodyNodePair(parent))
    joint.setAxis([0.0, 0.0, 1.0])
    joint.setTransformFromParentBodyNode(dart.math.Isometry3(body.T_PB.R, body.T_PB.p))
    return joint, added


def dart_world(ours, dt, q, qd):
    """Start a simulation of DART's from a state of ours."""
    world = dart.simulation.World()
    world.setTimeStep(dt)
    world.setGravity(ours.gravity)
    skeleton = dart_skeleton(ours)
    world.addSkeleton(skeleton)
    skeleton.setPositions(dart_positions(ours, q))
    skeleton.setVelocities(qd[dart_order(ours)])
    return world, skeleton
