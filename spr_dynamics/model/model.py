"""What never changes while a robot is simulated."""
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.records import FREE
from spr_dynamics.sdformat.assemble import Assembly


class FreeRoot(NamedTuple):
    """A link that no joint holds: its six directions are coordinates of their own."""

    name: str
    """The link."""
    q: int
    """First entry in q: position in the world, then quaternion w x y z."""
    v: int
    """First entry in qd: velocity of the link's origin, then angular velocity, world axes."""


class Joint(NamedTuple):
    """A movable joint by name, and where its numbers are."""

    name: str
    type: str
    parent: str
    """The parent link, or ``world``."""
    child: str
    q: int
    v: int
    lower: float
    upper: float
    velocity_limit: float
    friction: float


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
    """Number of velocities; a free root has seven positions and six velocities."""
    tree: np.ndarray
    """``TREE`` records, one a body; record 0 is the world."""
    links: np.ndarray
    """``LINK`` records in file order."""
    shapes: np.ndarray
    """``SHAPE`` records in file order."""
    gravity: np.ndarray
    """Acceleration of free fall in the world [m/s^2], shape (3,)."""
    dt: float
    """The file's step [s]."""
    real_time_factor: float
    """What the file asks for; 0 means as fast as it can."""
    link_names: tuple[str, ...]
    shape_names: tuple[str, ...]
    joints: tuple[Joint, ...]
    """Movable joints in file order."""
    free_roots: tuple[FreeRoot, ...]
    home: np.ndarray
    """Positions as the file poses the robot, shape (nq,)."""
    warnings: tuple[str, ...]
    """What was read and is not simulated, a line each."""
    assembly: Assembly
    """The elements that this model was built from."""
    buffers: dict = field(default_factory=dict, repr=False)
    """Where algorithms keep their scratch for this model; emptying it loses nothing."""

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Movable joints in file order; names that occur twice are ``model::joint``."""
        return tuple(joint.name for joint in self.joints)

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Names by which a command addresses an entry of tau."""
        return self.joint_names

    @cached_property
    def dof_q(self) -> np.ndarray:
        """Index into q for each of ``dof_names``."""
        return frozen(np.array([joint.q for joint in self.joints], np.int64))

    @cached_property
    def dof_v(self) -> np.ndarray:
        """Index into qd, tau and qdd for each of ``dof_names``."""
        return frozen(np.array([joint.v for joint in self.joints], np.int64))

    @cached_property
    def effort_limit(self) -> np.ndarray:
        """Largest effort an actuator gives [N m] or [N], inf where there is none, shape (nv,)."""
        limit = np.full(self.nv, np.inf)
        held = self.tree[1:][self.tree['joint'][1:] != FREE]
        limit[held['v']] = held['effort_limit']
        return frozen(limit)

    def neutral_q(self) -> np.ndarray:
        """Return the positions that the file poses the robot in: joints 0, roots where placed."""
        return self.home.copy()


def frozen(array):
    """Make an array read-only: a kernel is compiled for that, and no one else can write."""
    array.setflags(write=False)
    return array
