"""
A simulation as a tree of joints and links, after Springhead's PHJointBase.

Everything is computed when it is asked for; a step knows nothing of it. Letters are those of
Springhead: p is the parent solid, c the child solid, j the joint; ``docs/springhead.md`` has all.
"""
from typing import Any

import numpy as np

from spr_dynamics.dynamics.check import as_doubles, checked, checked_forces
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import ModelError
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.simulation.edit import with_child, without
from spr_dynamics.simulation.named import FixedAttributes, Named
from spr_dynamics.simulation.numbers import (
    checked_index, Number, Numbers, numbers, rotation_vector)
from spr_dynamics.simulation.procedure import Acceleration, Inertia, Procedure, SolidMotion
from spr_dynamics.simulation.solids import FIXED, FREE, Solids


class JointView(FixedAttributes):
    """
    A joint, and the solid that it moves: all links that move as one with its child link.

    The solid's frame is that of the child link. Numbers with an index are in the order of qd.

    :param joints: The views that it is one of.
    :param number: Index of the solid.
    """

    __slots__ = '_joints', '_number', '_solid'

    def __init__(self, joints: 'JointViews', number: int):
        self._joints, self._number = joints, number
        self._solid = joints.solids.all[number]

    def __repr__(self) -> str:
        return f"<{self.type} '{self.name}' with {', '.join(link.name for link in self.links)}>"

    # The tree.

    @property
    def name(self) -> str:
        """Of the joint; of a free root, the link's; of the root of what is fixed, ``world``."""
        return 'world' if self._solid.kind == FIXED else self._solid.source.name

    @property
    def type(self) -> str:
        """SDF's name of the joint's type; ``free root`` or ``fixed root`` for a root."""
        return getattr(self._solid.source, 'type', self._solid.kind)

    @property
    def parent(self) -> 'JointView | None':
        """The joint, or root, that moves the parent solid; a root has none."""
        return self._joints.of_solid(self._solid.parent) if self._solid.parent >= 0 else None

    @property
    def children(self) -> tuple['JointView', ...]:
        """The joints whose parent is this one's child solid, in the order of the file."""
        return tuple(sorted(map(self._joints.of_solid, self._joints.solids.children(self._number)),
                            key=lambda child: child._solid.v))

    @property
    def root(self) -> 'RootView':
        """The root of this joint's tree."""
        return self._joints.root_of(self._number)

    @property
    def links(self) -> tuple['LinkView', ...]:
        """The links of the child solid, in file order."""
        return tuple(self._joints.links[k] for k in self._solid.links)

    @property
    def link(self) -> 'LinkView | None':
        """The link whose frame is the child solid's; the world is none."""
        return self._joints.links[self._solid.link] if self._solid.link >= 0 else None

    def search(self, link: 'LinkView | str') -> 'JointView | None':
        """
        Find the joint that moves a link.

        :param link: The link or its name.
        :returns: This joint or one that it carries; None if it carries no such link.
        :raises UnknownName: If the model has no link of that name.
        """
        name = link.name if isinstance(link, LinkView) else link
        found = self._joints.sim.links[name].joint
        carried = self._joints.solids.carried(self._number)
        return found if found._number in carried else None

    # Position, velocity, acceleration and torque of the joint.

    @property
    def dof(self) -> int:
        """Number of directions in which the joint moves; 6 of a free root, 0 of the world."""
        return self._solid.dof

    @property
    def position(self) -> Number | Numbers:
        """
        Angle [rad] or distance [m], counting turns; ``position(i)`` is that of an axis.

        Of a ball: the rotation vector from parent to child. Of a free root: the position of its
        origin in the world, then its rotation vector.
        """
        q = self._own_q()
        if self.type == 'ball':
            q = rotation_vector(q)
        elif self._solid.kind == FREE:
            q = np.concatenate([q[:3], rotation_vector(q[3:])])
        return numbers(q)

    @property
    def velocity(self) -> Number | Numbers:
        """Entries of qd, a copy; ``velocity(i)`` is one of them. ``sim.qd`` may be written to."""
        return numbers(self._own(self._joints.sim.qd))

    @property
    def acceleration(self) -> Number | Numbers:
        """Entries of qdd, the mean over the last step; ``acceleration(i)`` is one of them."""
        return numbers(self._own(self._joints.sim.qdd))

    @property
    def torque(self) -> Number | Numbers:
        """
        Torque [N m], or force [N], for the next step; ``torque(i)`` is that of an axis.

        The next call of ``step`` adds it to its ``tau``, clamps the sum to the effort limit, and
        begins anew from zero. What acted is in ``effort``. May be set as a whole; of an axis by
        ``set_torque``.
        """
        return numbers(self._own(self._joints.sim.torques.values))

    @torque.setter
    def torque(self, torque):
        for i, value in enumerate(checked(
                'torque', np.atleast_1d(as_doubles('torque', torque)), self.dof)):
            self.set_torque(value, i)

    def set_torque(self, value: float, i: int = 0):
        """
        Set the torque for the next step.

        :param value: [N m] or [N]; of a ball in the axes of the child's joint frame.
        :param i: The direction.
        :raises ValueError: If it is not finite.
        """
        value, = checked('torque', [value], 1)
        self._joints.sim.torques.put(self._solid.v + checked_index(i, self.dof), value)

    def add_torque(self, value: float, i: int = 0):
        """Add to the torque for the next step; arguments are those of ``set_torque``."""
        value, = checked('torque', [value], 1)
        self.set_torque(self.torque(i) + value, i)

    @property
    def effort(self) -> Number | Numbers:
        """Torque that acted in the last step, after the clamp; ``effort(i)`` is one of them."""
        return numbers(self._own(self._joints.sim.effort))

    def _own(self, x):
        return x[self._solid.v:self._solid.v + self.dof]

    def _own_q(self):
        source = self._solid.source
        if self._solid.kind == FIXED:
            return np.zeros(0)
        n = 7 if self._solid.kind == FREE else source.nq
        return self._joints.sim.q[source.q:source.q + n]

    # The child solid in the world.

    @property
    def solid_velocity(self) -> np.ndarray:
        """Of the child solid's centre of mass, world axes: v_abs [m/s], shape (3,)."""
        return self.v_abs

    @property
    def solid_angular_velocity(self) -> np.ndarray:
        """Of the child solid, world axes: w_abs [rad/s], shape (3,)."""
        return self.w_abs

    @property
    def solid_acceleration(self) -> np.ndarray:
        """Of its centre of mass as seen from the world, world axes: R a_linear [m/s^2]."""
        return self.R @ self.a[3:]

    @property
    def solid_angular_acceleration(self) -> np.ndarray:
        """Of the child solid, world axes: R a_angular [rad/s^2], shape (3,)."""
        return self.R @ self.a[:3]

    @property
    def orientation(self) -> np.ndarray:
        """Of the child solid in the world: R, shape (3, 3)."""
        return self.R

    # Springhead's members: read only, Fc is the child solid's axes at its centre of mass.

    @property
    def pose_from_parent(self) -> Pose:
        """Of the joint's frame, at position 0, in the parent solid's frame: (pRj, prj)."""
        return self._solid.pose_from_parent

    @property
    def pose_from_child(self) -> Pose:
        """Of the joint's frame in the child solid's frame: (cRj, crj)."""
        return self._solid.pose_from_child

    @property
    def pRj(self) -> np.ndarray:
        """Rotation of the joint's frame in the parent solid's, at position 0."""
        return self._solid.pose_from_parent.R

    @property
    def prj(self) -> np.ndarray:
        """Origin of the joint's frame in the parent solid's frame, at position 0 [m]."""
        return self._solid.pose_from_parent.p

    @property
    def cRj(self) -> np.ndarray:
        """Rotation of the joint's frame in the child solid's."""
        return self._solid.pose_from_child.R

    @property
    def crj(self) -> np.ndarray:
        """Origin of the joint's frame in the child solid's frame [m]."""
        return self._solid.pose_from_child.p

    @property
    def centre(self) -> np.ndarray:
        """Centre of mass of the child solid in its frame: ``solid->center`` [m]."""
        return self._solid.centre

    @property
    def pRc(self) -> np.ndarray:
        """Rotation of the child solid in the parent's: pRj J cRj', J being the joint's."""
        return self._motion().pRc

    @property
    def cRp(self) -> np.ndarray:
        """Rotation of the parent solid in the child's: pRc'."""
        return self._motion().pRc.T

    @property
    def prc(self) -> np.ndarray:
        """From the parent's centre to the child's, in Fc: cRp (prj - c_p) + slid + c_c - crj."""
        return self._motion().prc

    @property
    def R(self) -> np.ndarray:
        """Orientation of the child solid in the world: R_p pRc."""
        return self._motion().R

    @property
    def quat(self) -> np.ndarray:
        """The same as a quaternion w x y z."""
        return Pose(self.R, np.zeros(3)).quat_wxyz()

    @property
    def p(self) -> np.ndarray:
        """Child solid's centre of mass in the world: p_p + R prc [m]."""
        return self._motion().p

    @property
    def v(self) -> np.ndarray:
        """Velocity of that centre in Fc: cRp v_p + (cRp w_p) x prc + pvc [m/s]."""
        return self._motion().v

    @property
    def w(self) -> np.ndarray:
        """Angular velocity in Fc: cRp w_p + pwc [rad/s]."""
        return self._motion().w

    @property
    def v_abs(self) -> np.ndarray:
        """Velocity of that centre in world axes: R v [m/s]."""
        motion = self._motion()
        return motion.R @ motion.v

    @property
    def w_abs(self) -> np.ndarray:
        """Angular velocity in world axes: R w [rad/s]."""
        motion = self._motion()
        return motion.R @ motion.w

    @property
    def pvc(self) -> np.ndarray:
        """Velocity relative to the parent in Fc: S_linear qd [m/s]."""
        return self._motion().pvc

    @property
    def pwc(self) -> np.ndarray:
        """Angular velocity relative to the parent in Fc: S_angular qd [rad/s]."""
        return self._motion().pwc

    @property
    def S(self) -> np.ndarray:
        """Motion for each direction, [e; e x (c_c - crj)] of a hinge, in Fc, shape (6, dof)."""
        return self._motion().S

    @property
    def X(self) -> np.ndarray:
        """Takes motions of the parent to the child: [[cRp, 0], [-prc x cRp, cRp]]."""
        return self._motion().X

    @property
    def c(self) -> np.ndarray:
        """Acceleration of the child solid, [angular; linear] in Fc, if a_p and qdd were zero."""
        return self._motion().c

    @property
    def a(self) -> np.ndarray:
        """Acceleration in Fc, [angular; linear], by the last step's qdd: X a_p + c + S qdd."""
        return self._at(self._joints.solids.path(self._number)).follow(
            self._number, self._joints.sim.qdd)

    @property
    def Ii(self) -> np.ndarray:
        """Isolated inertia of the child solid in Fc: [[0, m 1], [I, 0]]."""
        return self._solid.Ii

    @property
    def Ia(self) -> np.ndarray:
        """Articulated inertia in Fc: Ii and what the joints beyond hand on, giving way."""
        return self._articulated().Ia

    @property
    def Za(self) -> np.ndarray:
        """Force [f; torque] in Fc that keeps a at zero; gravity and the torques that are set."""
        return self._articulated().Za

    def _at(self, wanted) -> Procedure:
        """Begin the procedure for the present state and some solids."""
        sim = self._joints.sim
        return Procedure(self._joints.solids, sim.q, sim.qd, wanted)

    def _motion(self) -> SolidMotion:
        return self._at(self._joints.solids.path(self._number)).motions[self._number]

    def _articulated(self) -> Inertia:
        solids, sim = self._joints.solids, self._joints.sim
        procedure = self._at(
            sorted({*solids.path(self._number), *solids.carried(self._number)}))
        procedure.articulate(sim.torques.values, sim.gravity)
        return procedure.inertias[self._number]

    def calc_accel(self) -> Acceleration:
        """
        Find the acceleration of the child solid, as the last two passes of the root have it.

        The parents' are found on the way, those of children are not. The simulation stays as it
        is, and so does what ``acceleration`` and ``a`` say.

        :raises ModelError: If the root has not made its passes.
        """
        procedure = self.root.procedure
        if procedure is None or not procedure.inertias:
            raise ModelError(f"calc_accel of '{self.name}': first call coriolis_pass() and "
                             'articulated_inertia_pass() of its root')
        return procedure.accelerate(self._number)

    # Other trees.

    def add_child(self, text: str):
        """
        Hang links and joints on the child solid.

        :param text: SDF ``<link>`` and ``<joint>`` elements, as if they stood in the model of
            the child link. The link's name leads to it; poses count from its frame. Joints may
            follow joints of the same text, and of that model.
        :returns: A simulation of the new model that goes on from this one's state; this one
            stays as it is.
        :raises SdfError: If the text can't be used.
        :raises ModelError: If nothing hangs on the child link, or a name is taken.
        """
        sim = self._joints.sim
        return sim.continued_with(with_child(sim.model, self._solid.link, text))

    def remove_child(self, child: 'JointView | str'):
        """
        Take off a joint with all that it carries.

        :param child: One of ``children``, or its name.
        :returns: A simulation of the model that is left, as ``add_child`` does.
        :raises UnknownName: If it is no child of this one.
        :raises ModelError: If a joint that stays follows one that goes, by mimic or gearbox.
        """
        children = Named(f"child of '{self.name}'", {view.name: view for view in self.children})
        view = children[child.name if isinstance(child, JointView) else child]
        solids, sim = self._joints.solids, self._joints.sim
        gone = [link for k in solids.carried(view._number) for link in solids.all[k].links]
        return sim.continued_with(without(sim.model, gone))


class RootView(JointView):
    """The root of a tree: the world and what is fixed to it, or a link that nothing holds."""

    __slots__ = ('_procedure',)

    def __init__(self, joints: 'JointViews', number: int):
        super().__init__(joints, number)
        self._procedure: Procedure | None = None

    @property
    def procedure(self) -> Procedure | None:
        """Where ``coriolis_pass`` and ``articulated_inertia_pass`` leave their results."""
        return self._procedure

    def coriolis_pass(self):
        """Begin the procedure: keep the present state, and find c of all joints of this tree."""
        self._procedure = self._at(self._joints.solids.carried(self._number))

    def articulated_inertia_pass(self, tau=None, f_ext=None):
        """
        Find Ia and Za of the whole tree, for ``calc_accel``.

        Dampers and springs are not part of it: add ``passive_forces`` to ``tau``.

        :param tau: Efforts, shape (nv,); without it the torques that are set on joints.
        :param f_ext: Torque, then force on each link, as ``forward_dynamics`` takes them.
        :raises ModelError: If ``coriolis_pass`` was not called, or a joint follows another one or
            closes a loop.
        :raises ValueError: If an argument has the wrong shape or is not finite.
        """
        sim = self._joints.sim
        if self._procedure is None:
            raise ModelError(f"articulated_inertia_pass of '{self.name}': first call "
                             'coriolis_pass()')
        tau = sim.torques.values if tau is None else checked('tau', tau, sim.model.nv)
        if f_ext is not None:
            f_ext = checked_forces(sim.model, f_ext)
        self._procedure.articulate(tau, sim.gravity, f_ext)


class LinkView(FixedAttributes):
    """
    A link; unlike the solid of a joint it is seen at its own origin.

    :param joints: The views of the simulation's joints.
    :param index: Of the link.
    """

    __slots__ = '_index', '_joints'

    def __init__(self, joints: 'JointViews', index: int):
        self._joints, self._index = joints, index

    def __repr__(self) -> str:
        return f"<link '{self.name}'>"

    @property
    def name(self) -> str:
        """As in ``model.link_names``."""
        return self._joints.sim.model.link_names[self._index]

    @property
    def joint(self) -> JointView:
        """The joint that moves it, or the root it is part of."""
        return self._joints.of_solid(self._joints.solids.with_link(self._index))

    @property
    def pose(self) -> Pose:
        """In the world: T_WL."""
        sim = self._joints.sim
        T_WL = link_poses(sim.model, sim.q)[self._index]
        return Pose(T_WL[:3, :3], T_WL[:3, 3])

    @property
    def velocity(self) -> np.ndarray:
        """Of the link's origin, world axes [m/s], shape (3,)."""
        joint = self.joint
        return joint.v_abs + np.cross(joint.w_abs, self._arm(joint))

    @property
    def angular_velocity(self) -> np.ndarray:
        """World axes [rad/s], shape (3,)."""
        return self.joint.w_abs

    @property
    def acceleration(self) -> np.ndarray:
        """Of the link's origin as seen from the world, world axes, by the last step's qdd."""
        joint = self.joint
        arm, w = self._arm(joint), joint.w_abs
        return (joint.solid_acceleration + np.cross(joint.solid_angular_acceleration, arm)
                + np.cross(w, np.cross(w, arm)))

    @property
    def angular_acceleration(self) -> np.ndarray:
        """World axes, by the last step's qdd [rad/s^2], shape (3,)."""
        return self.joint.solid_angular_acceleration

    @property
    def contact_force(self) -> np.ndarray:
        """Of all contacts of the last step on this link, world axes [N], shape (3,)."""
        return self._joints.sim.contact_wrenches[self._index, 3:]

    @property
    def contact_torque(self) -> np.ndarray:
        """Of the same, about the link's origin where it is now, world axes [N m], shape (3,)."""
        return self._joints.sim.contact_wrenches[self._index, :3]

    @property
    def external_wrench(self) -> np.ndarray:
        """
        Torque, then force on the link from outside.

        World axes, about the link's origin [N m, N], shape (6,); it acts in every step until it
        is set anew. A read-only copy, and may be set as a whole.
        """
        return self._joints.sim.external_wrenches[self._index]

    @external_wrench.setter
    def external_wrench(self, wrench):
        wrenches = self._joints.sim.external_wrenches.copy()
        wrenches[self._index] = checked('external_wrench', wrench, 6)
        self._joints.sim.external_wrenches = wrenches

    def _arm(self, joint):
        """Return the way from the solid's centre of mass to the link's origin, world axes."""
        return self.pose.p - joint.p


class JointViews(Named[JointView]):
    """
    The movable joints of a simulation by name, and the roots of its trees.

    :param sim: The simulation.
    """

    def __init__(self, sim) -> None:
        self.sim = sim
        self.solids = sim.model.buffers[Solids]
        self.links = [LinkView(self, k) for k in range(sim.model.links.size)]
        self._all = [JointView(self, k) if solid.parent >= 0 else RootView(self, k)
                     for k, solid in enumerate(self.solids.all)]
        moved = sorted(self._all, key=lambda view: view._solid.v)
        super().__init__('joint', {view.name: view for view in moved
                                   if not isinstance(view, RootView)})
        self.roots: Named[RootView] = Named('root', {view.name: view for view in self._all
                                                     if isinstance(view, RootView)})
        """``world`` with all that is fixed, and each free root by the name of its link."""

    def of_solid(self, number: int) -> JointView:
        """Return the view of the joint, or root, that moves a solid."""
        return self._all[number]

    def root_of(self, number: int) -> RootView:
        """Return the root of the tree that a solid is part of."""
        root: Any = self._all[self.solids.path(number)[0]]
        return root


def link_views(joints: JointViews) -> Named[LinkView]:
    """Return the links of a simulation by name, in file order."""
    return Named('link', {link.name: link for link in joints.links})
