"""What never changes while a robot is simulated."""
from dataclasses import dataclass, field
from functools import cached_property
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.sdformat.assemble import Assembly


OPPOSITE = -1.0 + 1e-12  # cosine to an axis below which there is no shortest turn to it


class FreeRoot(NamedTuple):
    """A link that no joint holds: its six directions are coordinates of their own."""

    name: str
    """The link."""
    q: int
    """First entry in q: position in the world, then quaternion w x y z."""
    v: int
    """First entry in qd: velocity of the link's origin, then angular velocity, world axes."""


class Cone(NamedTuple):
    """How far a ball bends and twists against its joint frame in the parent."""

    centre: np.ndarray
    """Where the child's z axis points in the middle of the cone, in the parent's joint frame."""
    swing: float
    """How far it may turn away from there [rad], inf if any far."""
    lower: float
    """Least turn about it from the shortest way there [rad], -inf if there is none."""
    upper: float

    @property
    def q_CJ(self) -> tuple[float, float, float, float]:
        """Joint frame in the parent, seen from one with the centre on z: quaternion w x y z."""
        x, y, z = self.centre
        if z < OPPOSITE:
            return 0.0, 1.0, 0.0, 0.0
        w = math.sqrt(0.5 * (1.0 + z))
        return w, 0.5 * y / w, -0.5 * x / w, 0.0


class Joint(NamedTuple):
    """A movable joint by name, and where its numbers are."""

    name: str
    type: str
    parent: str
    """The parent link, or ``world``."""
    child: str
    q: int
    """First entry in q."""
    v: int
    """First entry in qd, tau and qdd."""
    nq: int
    """Number of positions: one for each axis, and a quaternion for a ball."""
    nv: int
    cone: Cone | None
    """Of a ball that has limits."""


class Dof(NamedTuple):
    """One of the directions in which a joint moves, with the name that commands use."""

    name: str
    """``joint``; of two axes ``joint_axis``, ``joint_axis2``; of a ball ``joint_x`` to ``_z``."""
    joint: int
    """Index into ``Model.joints``."""
    q: int | None
    """Entry in q; None for those of a ball, whose position is a quaternion."""
    v: int
    """Entry in qd, tau and qdd."""
    lower: float
    upper: float
    velocity_limit: float
    friction: float
    limit_stiffness: float
    limit_dissipation: float

    @property
    def has_limits(self) -> bool:
        """Whether anything limits its position or velocity, or dry friction holds it."""
        return (self.lower > -np.inf or self.upper < np.inf or self.velocity_limit < np.inf
                or self.friction > 0.0)


class Buffers(dict):
    """Scratch for a model by its class, made when somebody first asks for it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def __missing__(self, kind):
        """Make it; the first one made stays, since somebody may hold its addresses."""
        return self.setdefault(kind, kind(self.model))


@dataclass(frozen=True, eq=False)
class Model:
    """
    A robot, or every model of a world, as read-only arrays with the names beside them.

    Public arrays are in file order. For each model: its free roots, then its joints.
    """

    name: str
    nq: int
    """Number of positions."""
    nv: int
    """Number of velocities; a free root has 7 positions and 6 velocities, a ball 4 and 3."""
    tree: np.ndarray
    """``TREE`` records, one a body; record 0 is the world."""
    links: np.ndarray
    """``LINK`` records in file order."""
    shapes: np.ndarray
    """``SHAPE`` records in file order."""
    vertices: np.ndarray
    """Of convex meshes, each in its own frame, shape (n, 3); ``SHAPE`` and ``FACE`` count them."""
    neighbours: np.ndarray
    """Entry i is where in the same array the neighbours of vertex i are listed, up to a -1."""
    faces: np.ndarray
    """``FACE`` records of convex meshes."""
    gravity: np.ndarray
    """Acceleration of free fall in the world [m/s^2], shape (3,)."""
    dt: float
    """The file's step [s]."""
    real_time_factor: float
    """What the file asks for; 0 means as fast as it can."""
    link_names: tuple[str, ...]
    shape_names: tuple[str, ...]
    """Of each of ``shapes``, ``link::collision``; the pieces of a mesh share it."""
    drives: np.ndarray
    """``DRIVE`` records, one a joint axis."""
    followers: np.ndarray
    """``FOLLOWER`` records: the mimics and gears."""
    ties: np.ndarray
    """``TIE`` records: what joints that close loops hold together."""
    hinges: np.ndarray
    """``HINGE`` records: dampers and springs of joints that close loops."""
    loop_names: tuple[str, ...]
    """The joints that close loops, in file order."""
    order: np.ndarray
    """Index into qd of each velocity, counted depth first, shape (nv,)."""
    joints: tuple[Joint, ...]
    """Movable joints in file order."""
    dofs: tuple[Dof, ...]
    """The directions in which they move, in the same order."""
    free_roots: tuple[FreeRoot, ...]
    home: np.ndarray
    """Positions as the file poses the robot, shape (nq,)."""
    warnings: tuple[str, ...]
    """What was read and is not simulated, a line each."""
    assembly: Assembly
    """The elements that this model was built from."""
    buffers: 'Buffers' = field(init=False, repr=False)
    """Where algorithms keep their scratch for this model: one thread at a time may use it."""

    def __post_init__(self):
        """Begin without scratch; kernels take gravity as it lies in memory."""
        gravity = np.array(self.gravity, float)
        if gravity.shape != (3,) or not np.isfinite(gravity).all():
            raise ModelError(f'gravity: three finite numbers expected, got {self.gravity}')
        object.__setattr__(self, 'gravity', frozen(gravity))
        object.__setattr__(self, 'buffers', Buffers(self))

    def __getstate__(self):
        """Leave scratch out of copies: it holds addresses."""
        return {name: value for name, value in vars(self).items() if name != 'buffers'}

    def __setstate__(self, state):
        """Begin without scratch."""
        vars(self).update(state)
        for array in state.values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
        self.__post_init__()

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Movable joints in file order; names that occur twice are ``model::joint``."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """Names by which a command addresses an entry of tau."""
        return tuple(dof.name for dof in self.dofs)

    @cached_property
    def dof_v(self) -> np.ndarray:
        """Index into qd, tau and qdd for each of ``dof_names``."""
        return frozen(np.array([dof.v for dof in self.dofs], np.int64))

    @cached_property
    def axes(self) -> tuple[Dof, ...]:
        """Those of ``dofs`` that have a position of their own."""
        return tuple(dof for dof in self.dofs if dof.q is not None)

    @cached_property
    def quaternions(self) -> tuple[tuple[str, int], ...]:
        """What is turned by a quaternion, in words, and where that starts in q."""
        return (*((f"free root '{root.name}'", root.q + 3) for root in self.free_roots),
                *((f"ball joint '{joint.name}'", joint.q) for joint in self.joints
                  if joint.type == 'ball'))

    @cached_property
    def independent(self) -> np.ndarray:
        """Index into qd, tau and qdd of the velocities that follow nobody."""
        return frozen(np.setdiff1d(np.arange(self.nv), self.followers['v']))

    @cached_property
    def effort_limit(self) -> np.ndarray:
        """Largest effort an actuator gives [N m] or [N], inf where there is none, shape (nv,)."""
        limit = np.full(self.nv, np.inf)
        limit[self.drives['v']] = self.drives['effort_limit']
        return frozen(limit)

    def neutral_q(self) -> np.ndarray:
        """Return the positions that the file poses the robot in: joints 0, roots where placed."""
        return self.home.copy()


def frozen(array):
    """Make an array read-only: a kernel is compiled for that, and no one else can write."""
    array.setflags(write=False)
    return array
