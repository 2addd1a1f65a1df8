"""
What joints move, and the frames at both ends of each joint, as Springhead's PHJointBase has them.

A *solid* is all that moves as one: links that fixed joints connect. Its frame is that of the link
which its joint, or a free root, is named for; the world is a solid too, with the world's frame.
The massless body between the two axes of a universal joint is none.
"""
from dataclasses import dataclass

import numpy as np

from spr_dynamics.model.build import skew
from spr_dynamics.model.model import FreeRoot, Joint, Model
from spr_dynamics.model.records import pose_from_transform
from spr_dynamics.sdformat.poses import Pose

FIXED, HELD, FREE = 'fixed root', 'joint', 'free root'


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid and the joint that moves it; vectors in the solid's frame unless they say more."""

    kind: str
    """FIXED, HELD or FREE."""
    source: Joint | FreeRoot | None
    """Its row in the model's tables; None for the world."""
    parent: int
    """Index of the parent solid; -1 for a root."""
    link: int
    """Index of the link whose frame is the solid's; -1 for the world."""
    links: tuple[int, ...]
    """All links that are part of it, in file order."""
    places: np.ndarray
    """Where their origins are, shape (number of links, 3)."""
    mass: float
    centre: np.ndarray
    """Of mass [m], shape (3,)."""
    inertia: np.ndarray
    """About that centre [kg m^2], shape (3, 3)."""
    pose_from_parent: Pose
    """Of the joint's frame at position 0, in the parent solid's frame: pRj and prj."""
    pose_from_child: Pose
    """Of the joint's frame: cRj and crj."""
    turn: np.ndarray
    """Axes that the joint turns about, joint frame, at position 0, shape (dof, 3)."""
    slide: np.ndarray
    """How far it slides for each unit of position, joint frame, shape (dof, 3)."""

    @property
    def dof(self) -> int:
        """Number of directions in which the joint, or free root, moves."""
        return len(self.turn)

    @property
    def v(self) -> int:
        """First entry in qd, tau and qdd."""
        return self.source.v if self.source else 0

    @property
    def Ii(self) -> np.ndarray:
        """Isolated inertia [[0, m 1], [I, 0]], from motion [angular; linear] to [f; torque]."""
        none = np.zeros((3, 3))
        return np.block([[none, self.mass * np.eye(3)], [self.inertia, none]])


class Solids:
    """
    The solids of a model, parents before children; made once for a model.

    :param model: The robot.
    """

    def __init__(self, model: Model):
        self.model = model
        self.number_of_body = {0: 0}
        """Index of a solid by that of its body in ``model.tree``."""
        self._T_BS = [Pose.identity()]  # where in its body the solid's frame is
        self.all = [self._world()]
        index = {name: k for k, name in enumerate(model.link_names)}
        moved = [*((index[root.name], root) for root in model.free_roots),
                 *((index[joint.child], joint) for joint in model.joints)]
        for link, source in sorted(moved, key=lambda pair: model.links[pair[0]]['body']):
            self._add(link, source)

    def with_link(self, link: int) -> int:
        """Return the index of the solid that a link is part of."""
        return self.number_of_body[int(self.model.links[link]['body'])]

    def path(self, number: int) -> list[int]:
        """Return the solids from the root to one, that one included."""
        path = [number]
        while self.all[path[-1]].parent >= 0:
            path.append(self.all[path[-1]].parent)
        return path[::-1]

    def children(self, number: int) -> list[int]:
        """Return the solids that hang on one."""
        return [k for k, solid in enumerate(self.all) if solid.parent == number]

    def carried(self, number: int) -> list[int]:
        """Return a solid and all that hang on it, parents before children."""
        carried = {number}
        for k, solid in enumerate(self.all):
            if solid.parent in carried:
                carried.add(k)
        return sorted(carried)

    def _world(self):
        here, no_axes = Pose.identity(), np.zeros((0, 3))
        return Solid(FIXED, None, -1, -1, *self._links_of(0, here), 0.0, np.zeros(3),
                     np.zeros((3, 3)), here, here, no_axes, no_axes)

    def _links_of(self, body, T_SB):
        """Return the links of a body, and where they are in the frame of its solid."""
        links = np.flatnonzero(self.model.links['body'] == body)
        places = self.model.links['X'][links, 9:] @ T_SB.R.T + T_SB.p
        return tuple(links.tolist()), places

    def _add(self, link, source):
        """Add the solid that a joint or free root moves."""
        body = int(self.model.links[link]['body'])
        T_BS = pose_from_transform(self.model.links[link]['X'])
        mass, centre, inertia = mass_properties(self.model.tree[body]['inertia'], T_BS.inverse())
        common = link, *self._links_of(body, T_BS.inverse()), mass, centre, inertia
        self.number_of_body[body] = len(self.all)
        self._T_BS.append(T_BS)
        if isinstance(source, FreeRoot):
            self.all.append(Solid(FREE, source, -1, *common, Pose.identity(), Pose.identity(),
                                  np.zeros((6, 3)), np.zeros((6, 3))))
            return
        T_PB, parent_body, T_BJ, turn, slide = joint_frame(self.model.tree, body, source)
        parent = self.number_of_body[parent_body]
        self.all.append(Solid(
            HELD, source, parent, *common, self._T_BS[parent].inverse() @ T_PB @ T_BJ,
            T_BS.inverse() @ T_BJ, turn, slide))


def mass_properties(record, T_SB):
    """Return mass, centre and inertia about that centre, from a body's record to frame S."""
    mass, h = float(record[0]), record[1:4]
    about = np.zeros((3, 3))
    about[np.triu_indices(3)] = record[4:]
    about += np.triu(about, 1).T
    centre = h / mass if mass > 0.0 else np.zeros(3)
    inertia = about + mass * skew(centre) @ skew(centre)
    return mass, T_SB.R @ centre + T_SB.p, T_SB.R @ inertia @ T_SB.R.T


def joint_frame(tree, body, joint):
    """
    Return where a joint is and how it moves.

    Z is the axis of a hinge, slider or screw, as Springhead has it; of two axes X is the first,
    and Y the second, less what of it is along the first. A ball has the frame of the file.

    :returns: Pose of the body at position 0 in the parent's, that parent, pose of the joint's
        frame J in the body, and axes of turning and sliding in J.
    """
    record = tree[body]
    T_PB, parent = pose_from_transform(record['X']), int(record['parent'])
    if joint.type == 'ball':
        return T_PB, parent, Pose.identity(), np.eye(3), np.zeros((3, 3))
    if joint.nv == 1:
        z = np.array([[0.0, 0.0, 1.0]])
        return T_PB, parent, Pose.identity(), record['turn'] * z, record['slide'] * z
    first = T_PB.R[2]  # the first axis, seen from the body that the second one moves
    T_PB, parent = (pose_from_transform(tree[parent]['X']) @ T_PB, int(tree[parent]['parent']))
    second = np.array([0.0, 0.0, 1.0])
    across = np.cross(first, second)  # not zero: the loader refuses two axes that are one
    across /= np.linalg.norm(across)
    T_BJ = Pose(np.column_stack([first, np.cross(across, first), across]), np.zeros(3))
    return T_PB, parent, T_BJ, np.array([first, second]) @ T_BJ.R, np.zeros((2, 3))
