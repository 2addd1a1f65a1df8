"""
Springhead's recursions, in its terms: child axes, at the child's centre of mass.

Motion vectors are [angular; linear], force vectors [force; torque], so an inertia is
[[0, m 1], [I, 0]] and the transpose S' of a motion column swaps its halves. Linear accelerations
are those of the centre of mass, as seen from the world (Mirtich 1996).
"""
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.build import skew
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.simulation.solids import FIXED, FREE, Solid, Solids


class SolidMotion(NamedTuple):
    """How a solid is placed and moves; the names are those of PHJointBase."""

    pRc: np.ndarray
    prc: np.ndarray
    R: np.ndarray
    p: np.ndarray
    v: np.ndarray
    w: np.ndarray
    pvc: np.ndarray
    pwc: np.ndarray
    S: np.ndarray
    c: np.ndarray

    @property
    def X(self) -> np.ndarray:
        """Takes motions of the parent, at its centre of mass, to the child's."""
        cRp = self.pRc.T
        return np.block([[cRp, np.zeros((3, 3))], [-skew(self.prc) @ cRp, cRp]])

    @property
    def X_force(self) -> np.ndarray:
        """Takes forces on the child, at its centre of mass, to the parent's."""
        return np.block([[self.pRc, np.zeros((3, 3))], [self.pRc @ skew(self.prc), self.pRc]])


class Inertia(NamedTuple):
    """What a solid and all that hangs on it feels like, its joints being free."""

    Ia: np.ndarray
    Za: np.ndarray
    tau: np.ndarray
    """Torques of the solid's own joint."""


class Acceleration(NamedTuple):
    """What ``calc_accel`` finds."""

    joint: np.ndarray
    """Of the joint: its entries of qdd, shape (dof,)."""
    a: np.ndarray
    """Of the child solid, [angular; linear] in its axes at its centre of mass, shape (6,)."""
    angular: np.ndarray
    """The same in world axes [rad/s^2], shape (3,)."""
    linear: np.ndarray
    """Of the centre of mass in world axes [m/s^2], shape (3,)."""


def cross(a, b) -> np.ndarray:
    """Return a x b: numpy's is made for many vectors and slow for one."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def swapped(S) -> np.ndarray:
    """Return S', the spatial transpose: the halves of each column change places."""
    return np.concatenate([S[3:], S[:3]]).T


def rotation_about(axis, angle) -> np.ndarray:
    """Return the rotation about a unit vector (Rodrigues)."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def joint_rotation(solid, q) -> np.ndarray:
    """Return J, from the joint's frame on the child to the one on the parent."""
    if solid.source.type == 'ball':
        return Pose.from_quat_wxyz(np.zeros(3), q).R
    J = np.eye(3)
    for axis, angle in zip(solid.turn, q):
        if axis.any():
            J = J @ rotation_about(axis / np.linalg.norm(axis), np.linalg.norm(axis) * angle)
    return J


def directions(solid, q):
    """Return the axes of turning and sliding in the child's joint frame, at positions q."""
    turn = solid.turn
    if solid.dof == 2:  # the first axis, as the child sees it
        turn = np.array([rotation_about(turn[1], -q[1]) @ turn[0], turn[1]])
    return turn, solid.slide


def motion_from_parent(solid: Solid, parent: Solid, up: SolidMotion, q, qd) -> SolidMotion:
    """
    Continue from a parent solid to its child; the Coriolis acceleration c is part of it.

    :param q: Positions of the joint.
    :param qd: Velocities of the joint, shape (dof,).
    """
    (pRj, prj), (cRj, crj) = solid.pose_from_parent, solid.pose_from_child
    turn, slide = directions(solid, q)
    r = solid.centre - crj  # from the joint to the centre of mass
    slid = slide.T @ q[:solid.dof] if slide.any() else np.zeros(3)
    pRc = pRj @ joint_rotation(solid, q) @ cRj.T
    prc = pRc.T @ (prj - parent.centre) + cRj @ slid + r
    turn, slide = turn @ cRj.T, slide @ cRj.T
    S = np.vstack([turn.T, -skew(r) @ turn.T + slide.T])
    pwc, pvc = S[:3] @ qd, S[3:] @ qd
    w_p = pRc.T @ up.w
    v = pRc.T @ up.v + cross(w_p, prc) + pvc
    # of two axes the second is carried round by the first, which Springhead leaves out
    swing = qd[0] * qd[1] * cross(turn[0], turn[1]) if solid.dof == 2 else np.zeros(3)
    c_angular = cross(w_p, pwc) + swing
    c_linear = (cross(w_p, cross(w_p, prc)) + 2.0 * cross(w_p, pvc)
                + cross(pwc, cross(pwc, r)) + cross(swing, r))
    return SolidMotion(pRc, prc, up.R @ pRc, up.p + up.R @ pRc @ prc, v, w_p + pwc, pvc, pwc, S,
                       np.concatenate([c_angular, c_linear]))


def root_motion(solid: Solid, q, qd) -> SolidMotion:
    """Return how a root is placed and moves; it has no parent, so what relates to one is zero."""
    R, origin, velocity, spin = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    if solid.kind == FREE:
        R, origin = Pose.from_quat_wxyz(q[:3], q[3:])
        velocity, spin = qd[:3], qd[3:]
    arm, none = R @ solid.centre, np.zeros(3)
    return SolidMotion(np.eye(3), none, R, origin + arm, R.T @ (velocity + cross(spin, arm)),
                       R.T @ spin, none, none, np.zeros((6, 0)), np.zeros(6))


def own_part(x, solid, size) -> np.ndarray:
    """Return a joint's or root's entries of a vector as long as qd."""
    return x[solid.v:solid.v + size]


class Procedure:
    """
    The passes of the algorithm for one state: poses, velocities and Coriolis accelerations first.

    :param solids: Of the model.
    :param q: Positions, shape (nq,); copied, as are velocities, so a later step changes nothing.
    :param qd: Velocities, shape (nv,).
    :param wanted: Which solids, parents before children.
    """

    def __init__(self, solids: Solids, q, qd, wanted):
        self.solids = solids
        self.motions: dict[int, SolidMotion] = {}
        self.inertias: dict[int, Inertia] = {}
        q, qd = q.copy(), qd.copy()
        for k in wanted:
            self.motions[k] = self._move(solids.all[k], q, qd)

    def _move(self, solid, q, qd):
        source = solid.source
        if solid.parent >= 0:
            return motion_from_parent(
                solid, self.solids.all[solid.parent], self.motions[solid.parent],
                q[source.q:source.q + source.nq], own_part(qd, solid, solid.dof))
        if solid.kind == FIXED:
            return root_motion(solid, q, qd)
        return root_motion(solid, q[source.q:source.q + 7], own_part(qd, solid, 6))

    def articulate(self, tau, gravity, f_ext=None):
        """
        Find articulated inertias Ia and zero-acceleration forces Za, inward.

        :param tau: Joint torques, shape (nv,); of a free root force at its origin, then moment.
        :param gravity: [m/s^2], shape (3,).
        :param f_ext: Torque, then force on each link, as ``forward_dynamics`` takes them.
        :raises ModelError: If a joint follows another one, or closes a loop.
        """
        refuse_joined_joints(self.solids.model)
        Ia = {k: self.solids.all[k].Ii for k in self.motions}
        Za = {k: self._isolated(k, tau, gravity, f_ext) for k in self.motions}
        for k in reversed(list(self.motions)):
            solid, motion = self.solids.all[k], self.motions[k]
            torque = own_part(tau, solid, solid.dof)
            self.inertias[k] = Inertia(Ia[k], Za[k], torque)
            if solid.parent >= 0:
                felt, force = felt_through_joint(motion, self.inertias[k])
                Ia[solid.parent] = Ia[solid.parent] + motion.X_force @ felt @ motion.X
                Za[solid.parent] = Za[solid.parent] + motion.X_force @ force

    def _isolated(self, k, tau, gravity, f_ext):
        """Return [-F; -T + w x I w] of a solid alone; of a free root tau is part of F and T."""
        solid, motion = self.solids.all[k], self.motions[k]
        force, torque = solid.mass * gravity, np.zeros(3)
        if solid.kind == FREE:
            f, moment = np.split(own_part(tau, solid, 6), 2)
            force, torque = force + f, moment - cross(motion.R @ solid.centre, f)
        if f_ext is not None:
            for number, place in zip(solid.links, solid.places):
                moment, f = np.split(f_ext[number], 2)
                arm = motion.R @ (place - solid.centre)
                force, torque = force + f, torque + moment + cross(arm, f)
        gyroscopic = cross(motion.w, solid.inertia @ motion.w)
        return np.concatenate([-motion.R.T @ force, -motion.R.T @ torque + gyroscopic])

    def accelerate(self, number) -> Acceleration:
        """
        Find the acceleration of one solid, from the root out to it; of no others.

        :param number: Index of the solid; ``articulate`` has to come before.
        """
        for k in self.solids.path(number):
            solid, motion, inertia = self.solids.all[k], self.motions[k], self.inertias[k]
            if solid.kind == FIXED:
                a, qdd = np.zeros(6), np.zeros(0)
            elif solid.kind == FREE:
                a = -np.linalg.solve(inertia.Ia, inertia.Za)
                qdd = origin_acceleration(solid, motion, a)
            else:
                a_p = motion.X @ a
                St = swapped(motion.S)
                qdd = np.linalg.solve(St @ inertia.Ia @ motion.S, inertia.tau - St @ (
                    inertia.Za + inertia.Ia @ (motion.c + a_p)))
                a = a_p + motion.c + motion.S @ qdd
        return Acceleration(qdd, a, motion.R @ a[:3], motion.R @ a[3:])

    def follow(self, number, qdd) -> np.ndarray:
        """Return the acceleration a of a solid, given those of the joints."""
        for k in self.solids.path(number):
            solid, motion = self.solids.all[k], self.motions[k]
            if solid.kind == FIXED:
                a = np.zeros(6)
            elif solid.kind == FREE:
                a = centre_acceleration(solid, motion, own_part(qdd, solid, 6))
            else:
                a = motion.X @ a + motion.c + motion.S @ own_part(qdd, solid, solid.dof)
        return a


def felt_through_joint(motion, inertia):
    """Return inertia and force that the parent feels, the joint giving way."""
    Ia, Za, tau = inertia
    U, St = Ia @ motion.S, swapped(motion.S)
    Za = Za + Ia @ motion.c
    yielding = np.linalg.solve(St @ U, np.column_stack([St @ Ia, tau - St @ Za]))
    return Ia - U @ yielding[:, :6], Za + U @ yielding[:, 6]


def centre_acceleration(solid, motion, qdd):
    """Return a of a free root, given how its origin and orientation accelerate in the world."""
    arm, w = motion.R @ solid.centre, motion.R @ motion.w
    linear = qdd[:3] + cross(qdd[3:], arm) + cross(w, cross(w, arm))
    return np.concatenate([motion.R.T @ qdd[3:], motion.R.T @ linear])


def origin_acceleration(solid, motion, a):
    """Return how origin and orientation of a free root accelerate in the world, given its a."""
    arm, w, angular = motion.R @ solid.centre, motion.R @ motion.w, motion.R @ a[:3]
    linear = motion.R @ a[3:] - cross(angular, arm) - cross(w, cross(w, arm))
    return np.concatenate([linear, angular])


def refuse_joined_joints(model):
    """
    Stop where joints don't move each for itself, as the recursion takes them to.

    :raises ModelError: Names the first joint that closes a loop, or follows.
    """
    if model.ties.size:
        raise ModelError(f"joint '{model.loop_names[0]}' closes a loop, and Springhead's "
                         'recursion has no such joints; a step of the simulation takes them into '
                         'account')
    if model.followers.size:
        v = model.followers['v'][0]
        name = next(dof.name for dof in model.dofs if dof.v == v)
        raise ModelError(f"joint '{name}' follows another one, and Springhead's recursion has no "
                         'such joints; forward_dynamics takes them into account')
