"""``visual_markers``: what a robot looks like, in RViz, without URDF; and how markers are made."""
from collections.abc import Sequence
from typing import Any, NamedTuple

from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.ros.convert import fill_quaternion, fill_vector, WORLD_FRAME
from spr_dynamics.ros.mesh_files import mesh_files, portable_uri
from spr_dynamics.ros.streams import LATCHED_QOS, Output, Source, Stream
from spr_dynamics.scene.shapes import Shape, shapes
from spr_dynamics.scene.surfaces import surface
from spr_dynamics.sdformat.elements import Box, Cylinder, Ellipsoid, Geometry, Mesh, Sphere
from spr_dynamics.sdformat.poses import Pose

Numbers = Sequence[float] | np.ndarray


def visual_topics(source: Source, *, has_frames: bool) -> list[Stream]:
    """
    Make ``visual_markers``: said once, each marker locked to the frame of its link.

    Where nobody says where those frames are, the markers are in the world, again and again.

    :param source: What it is made for.
    :param has_frames: Whether somebody says where the frames of links are.
    """
    model = source.simulation.model
    drawn, problems = shape_markers(model)
    for problem in problems:
        source.node.get_logger().warning(f'visual_markers: {problem}')
    output = Output(source.node, MarkerArray, 'visual_markers', LATCHED_QOS)
    if not has_frames:
        writer, shown_to = WorldMarkers(drawn), 0

        def publish() -> None:
            nonlocal shown_to
            message = writer.fill(link_poses(model, source.simulation.q))
            if output.listeners > shown_to:  # they may still show another robot
                message = MarkerArray(markers=[clear(), *message.markers])
            shown_to = output.listeners
            output.publish(message)

        return [source.stream(publish, [output], 'marker_rate')]
    for shape, marker in drawn:
        marker.header.frame_id = source.frames.link(model.link_names[shape.link])
        marker.frame_locked = True
        put_pose(marker, shape.T_LS)
    output.publish(MarkerArray(markers=[clear(), *(marker for _, marker in drawn)]))
    return []


class Drawn(NamedTuple):
    """A shape and its marker."""

    shape: Shape
    marker: Marker


def shape_markers(model: Any) -> tuple[list[Drawn], list[str]]:
    """
    Make a marker for each shape of a robot, without frame and pose.

    :param model: The robot.
    :returns: The markers, and a sentence for each shape that can't be drawn.
    """
    drawn, problems = [], []
    for number, shape in enumerate(shapes(model)):
        try:
            marker = shape_marker(shape)
        except ValueError as problem:
            problems.append(f"'{shape.name}' is left out: it {problem}")
            continue
        marker.ns, marker.id = model.link_names[shape.link], number
        drawn.append(Drawn(shape, marker))
    return drawn, problems


def shape_marker(shape: Shape) -> Marker:
    """
    Make the marker of a shape, without name, frame and pose.

    :param shape: The shape.
    :raises ValueError: If it can't be drawn; the end of a sentence.
    """
    marker = Marker(action=Marker.ADD)
    put_colour(marker, shape.colour[:3], shape.colour[3])
    if isinstance(shape.geometry, Mesh) and (uri := portable_uri(shape.geometry)):
        marker.type, marker.mesh_resource = Marker.MESH_RESOURCE, uri
        marker.mesh_use_embedded_materials = not shape.has_colour
        put_scale(marker, shape.geometry.scale)
    elif (kind := solid(shape.geometry)) is not None:
        marker.type = kind[0]
        put_scale(marker, kind[1])
    else:
        marker.type = Marker.TRIANGLE_LIST
        marker.points = triangle_corners(shape.geometry)
        put_scale(marker, (1.0, 1.0, 1.0))
    return marker


def solid(geometry: Geometry) -> tuple[int, Numbers] | None:
    """
    Return type and size of the marker for a shape that RViz has; None for others.

    :param geometry: The shape.
    """
    match geometry:
        case Box():
            return Marker.CUBE, geometry.size
        case Sphere():
            return Marker.SPHERE, [2.0 * geometry.radius] * 3
        case Ellipsoid():
            return Marker.SPHERE, 2.0 * geometry.radii
        case Cylinder():
            return Marker.CYLINDER, [2.0 * geometry.radius, 2.0 * geometry.radius,
                                     geometry.length]
    return None


def triangle_corners(geometry: Geometry) -> list[Point]:
    """
    Return the corners of the triangles that cover a shape, three after three.

    :param geometry: The shape.
    :raises ValueError: If it can't be covered; the end of a sentence.
    """
    places = mesh_files(geometry) if isinstance(geometry, Mesh) else []
    covering = surface(geometry, places)
    points = [point(p) for p in covering.points]
    return [points[k] for k in covering.triangles.ravel()]


class WorldMarkers:
    """The shapes of a robot in the world, in one message again and again."""

    def __init__(self, drawn: Sequence[Drawn]) -> None:
        """
        Make the message.

        :param drawn: The shapes and their markers.
        """
        self._shapes = [shape for shape, _ in drawn]
        for _, marker in drawn:
            marker.header.frame_id = WORLD_FRAME
        self.msg = MarkerArray(markers=[marker for _, marker in drawn])

    def fill(self, T_WL: np.ndarray) -> MarkerArray:
        """
        Write poses into the message and return it.

        :param T_WL: Pose of each link in the world, shape (n, 4, 4).
        """
        for shape, marker in zip(self._shapes, self.msg.markers):
            T = T_WL[shape.link]
            put_pose(marker, Pose(T[:3, :3], T[:3, 3]) @ shape.T_LS)
        return self.msg


def clear() -> Marker:
    """Return the marker that takes away all those that were there before."""
    marker = Marker(action=Marker.DELETEALL)
    marker.header.frame_id = WORLD_FRAME
    marker.pose.orientation.w = 1.0
    return marker


def point(p: Numbers) -> Point:
    """
    Return a position as a message.

    :param p: The position [m].
    """
    x, y, z = p
    return Point(x=float(x), y=float(y), z=float(z))


def put_pose(marker: Marker, T: Pose) -> None:
    """
    Write a pose into a marker.

    :param marker: The marker.
    :param T: Its pose in the marker's frame.
    """
    fill_vector(marker.pose.position, T.p)
    fill_quaternion(marker.pose.orientation, T.quat_wxyz())


def put_scale(marker: Marker, scale: Numbers) -> None:
    """
    Write a size into a marker.

    :param marker: The marker.
    :param scale: Along x, y and z [m]; what else it means depends on the marker's type.
    """
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)


def put_colour(marker: Marker, rgb: Numbers, opacity: float) -> None:
    """
    Write a colour into a marker.

    :param marker: The marker.
    :param rgb: Red, green and blue in 0 to 1.
    :param opacity: In 0 to 1.
    """
    red, green, blue = map(float, rgb)
    marker.color = ColorRGBA(r=red, g=green, b=blue, a=float(opacity))
