"""
What frames are called, and how they hang together.

Those of links are the links of ``robot_description``, with the same parents, so it makes no
difference to others whether this node or a robot_state_publisher speaks for a joint. A sensor's
frame is called as its topics are: ``contact_sensors/<name>``, ``imu/<name>``.
"""
from collections.abc import Iterable
from typing import NamedTuple

from spr_dynamics.model.model import Model
from spr_dynamics.ros.convert import WORLD_FRAME
from spr_dynamics.ros.parameters import SENSOR_PREFIX
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.urdf_write import Urdf


class MovingFrame(NamedTuple):
    """A frame that moves in the one that holds it."""

    name: str
    parent: str
    parent_link: int
    """Index of the link whose frame the parent is; -1: the world."""
    link: int
    """Index of the link that the frame goes with."""
    T_LF: Pose
    """Its pose in that link."""


class FixedFrame(NamedTuple):
    """A frame that stands still in the one that holds it."""

    name: str
    parent: str
    T_PF: Pose
    """Its pose there."""


class Frames:
    """
    The frames of a robot.

    :param model: The robot.
    :param urdf: The robot as URDF.
    :param prefix: Put before the name of each frame but ``world``.
    """

    def __init__(self, model: Model, urdf: Urdf, prefix: str) -> None:
        self._urdf, self._prefix = urdf, prefix
        self._of_link = dict(zip(model.link_names, urdf.link_frames))

    def link(self, name: str) -> str:
        """
        Return the frame of a link.

        :param name: The link, as in ``model.link_names``.
        """
        return self._prefix + self._of_link[name]

    def sensor(self, topic: str) -> str:
        """
        Return the frame of a contact sensor.

        :param topic: Its name in ROS.
        """
        return self.named(f'{SENSOR_PREFIX}/{topic}')

    def named(self, name: str) -> str:
        """
        Return a frame by the name that it has without the prefix.

        :param name: The name.
        """
        return self._prefix + name

    def moving(self) -> list[MovingFrame]:
        """List the frames that joints move."""
        return [MovingFrame(self._prefix + frame.name, self._parent(frame.parent),
                            frame.parent_link, frame.link, frame.T_LF)
                for frame in self._urdf.frames if frame.T_PF is None]

    def cut(self) -> list[MovingFrame]:
        """List those of them that move in a way that URDF can't say."""
        names = {self._prefix + frame.name for frame in self._urdf.frames if frame.is_cut}
        return [frame for frame in self.moving() if frame.name in names]

    def fixed(self) -> list[FixedFrame]:
        """List the frames that are welded to others."""
        return [FixedFrame(self._prefix + frame.name, self._parent(frame.parent), frame.T_PF)
                for frame in self._urdf.frames if frame.T_PF is not None]

    def root(self) -> Iterable[FixedFrame]:
        """Yield what joins the root of the URDF to the world, where that has another name."""
        if self._prefix:
            yield FixedFrame(self._prefix + WORLD_FRAME, WORLD_FRAME, Pose.identity())

    def _parent(self, name: str) -> str:
        return name if name == WORLD_FRAME else self._prefix + name
