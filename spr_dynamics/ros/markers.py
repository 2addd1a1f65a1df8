"""``visual_markers``: what a robot looks like, in RViz, without URDF; and how markers are made."""
from collections.abc import Callable, Mapping, Sequence
from struct import pack_into
from time import monotonic
from typing import Any, NamedTuple

from geometry_msgs.msg import Point
import numpy as np
from rclpy.serialization import serialize_message
from visualization_msgs.msg import Marker, MarkerArray

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.ros.convert import fill_quaternion, fill_vector, WORLD_FRAME
from spr_dynamics.ros.mesh_files import file_uri, mesh_files, portable_uri
from spr_dynamics.ros.parameters import Value
from spr_dynamics.ros.streams import LATCHED_QOS, NOT_DUE, Output, Publication, Source
from spr_dynamics.scene.shapes import Shape, shapes
from spr_dynamics.scene.surfaces import surface
from spr_dynamics.sdformat.elements import Box, Cylinder, Ellipsoid, Geometry, Mesh, Sphere
from spr_dynamics.sdformat.poses import Pose

Numbers = Sequence[float] | np.ndarray

PERIOD = 5.0  # [s of wall time] between two reminders
NOTICED = 0.5  # [s of wall time] after a jump of time everybody has noticed it
NOWHERE = np.array([1.25e-301, 2.5e-302, 3.75e-303])  # a position by which to find its bytes


class Drawn(NamedTuple):
    """A shape and its marker."""

    shape: Shape
    marker: Marker


class Reminder:
    """
    Publishes a picture again for those who have dropped it, and don't ask.

    RViz does so when simulated time jumps back, when its user chooses another fixed frame, and
    when they reset it. It hears of a jump by another topic, perhaps after it has the next picture.
    """

    def __init__(self, publish: Callable[[], None]) -> None:
        """
        Publish nothing yet.

        :param publish: Publishes the picture, if anybody listens.
        """
        self._publish, self._due = publish, monotonic() + PERIOD

    def steps_until_due(self, step: int) -> int:
        """Return that steps change nothing here."""
        return NOT_DUE

    def publish_due(self, step: int) -> None:
        """Do nothing: reminders follow wall time, as those whom they are for."""

    def publish_now(self, step: int) -> None:
        """Publish when everybody has noticed that time has jumped."""
        self._due = monotonic() + NOTICED

    def greet(self, is_still: bool) -> None:
        """Publish if a reminder is due; this is called every now and then."""
        if monotonic() >= self._due:
            self._due = monotonic() + PERIOD
            self._publish()

    def set_rates(self, rates: Mapping[str, Value], step: int) -> None:
        """Do nothing: there is no rate."""


def visual_topics(source: Source, *, has_frames: bool) -> list[Publication]:
    """
    Make ``visual_markers``: the same at all times, each locked to the frame of its link.

    Where nobody says where those frames are, the markers are in the world, again and again.

    :param source: What it is made for.
    :param has_frames: Whether somebody says where the frames of links are.
    """
    model = source.simulation.model
    drawn, problems = shape_markers(model)
    for problem in problems:
        source.node.get_logger().warning(f'visual_markers: {problem}')
    output = Output(source.node, MarkerArray, 'visual_markers', LATCHED_QOS)
    if has_frames:
        return [link_markers(source, drawn, output)]
    writer = WorldMarkers(drawn)
    stream = source.stream(lambda: output.publish(writer.fill(link_poses(
        model, source.simulation.q))), [output], 'marker_rate')
    return [stream, Reminder(stream.publish)]


def link_markers(source: Source, drawn: Sequence[Drawn], output: Output) -> Reminder:
    """
    Publish shapes where their links are, now and again.

    :param source: Whose shapes they are.
    :param drawn: The shapes and their markers.
    :param output: The topic.
    """
    for shape, marker in drawn:
        marker.header.frame_id = source.frames.link(source.simulation.model.link_names[shape.link])
        marker.frame_locked = True
        put_pose(marker, shape.T_LS)
    picture = picture_of(drawn)  # time would stand still each time that meshes are converted
    output.publish(picture)
    return Reminder(lambda: output.publish(picture) if output.is_wanted else None)


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
            match shape.geometry:
                case Mesh() as mesh if uri := file_uri(mesh):
                    marker = mesh_marker(shape, mesh, uri)
                    problems.append(f"'{shape.name}' is seen only on this machine, by programs "
                                    f'that read its file: it {problem}')
                case _:
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
    if isinstance(shape.geometry, Mesh) and (uri := portable_uri(shape.geometry)):
        return mesh_marker(shape, shape.geometry, uri)
    marker = Marker(action=Marker.ADD)
    put_colour(marker, shape.colour[:3], shape.colour[3])
    if (kind := solid(shape.geometry)) is not None:
        marker.type = kind[0]
        put_scale(marker, kind[1])
    else:
        marker.type = Marker.TRIANGLE_LIST
        marker.points = triangle_corners(shape.geometry)
        put_scale(marker, (1.0, 1.0, 1.0))
    return marker


def mesh_marker(shape: Shape, mesh: Mesh, uri: str) -> Marker:
    """
    Make the marker of a mesh that others read, without name, frame and pose.

    :param shape: The shape.
    :param mesh: Its mesh.
    :param uri: Where they find it.
    """
    marker = Marker(action=Marker.ADD, type=Marker.MESH_RESOURCE, mesh_resource=uri)
    marker.mesh_use_embedded_materials = not shape.has_colour
    if shape.has_colour:  # RViz would tint the colours of the file by any other than none
        put_colour(marker, shape.colour[:3], shape.colour[3])
    put_scale(marker, mesh.scale)
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
    """
    The shapes of a robot in the world, in one message again and again.

    Each message clears the one before: who gets it may still show another robot. Of its bytes only
    those of poses are written anew; to convert it takes a microsecond for each corner of a mesh.
    """

    def __init__(self, drawn: Sequence[Drawn]) -> None:
        """
        Make the message.

        :param drawn: The shapes and their markers.
        """
        for _, marker in drawn:
            marker.header.frame_id = WORLD_FRAME
            fill_vector(marker.pose.position, NOWHERE)
        picture = picture_of(drawn)
        self._shapes = [shape for shape, _ in drawn]
        self._bytes, self._places = bytearray(picture), list[int]()
        for _ in drawn:
            start = self._places[-1] + 1 if self._places else 0
            self._places.append(picture.index(NOWHERE.tobytes(), start))

    def fill(self, T_WL: np.ndarray) -> bytes:
        """
        Write poses into the message and return it, serialised.

        :param T_WL: Pose of each link in the world, shape (n, 4, 4).
        """
        for shape, place in zip(self._shapes, self._places):
            T = T_WL[shape.link]
            T_WS = Pose(T[:3, :3], T[:3, 3]) @ shape.T_LS
            w, x, y, z = T_WS.quat_wxyz()
            pack_into('=7d', self._bytes, place, *T_WS.p, x, y, z, w)
        return bytes(self._bytes)


def picture_of(drawn: Sequence[Drawn]) -> bytes:
    """
    Return the message that shows shapes and nothing else, serialised.

    :param drawn: The shapes and their markers.
    """
    return serialize_message(MarkerArray(markers=[clear(), *(marker for _, marker in drawn)]))


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


def put_points(marker: Marker, positions: Sequence[Numbers] | np.ndarray) -> None:
    """
    Write points into a marker, in place of those that it has.

    :param marker: The marker.
    :param positions: Positions in the marker's frame [m].
    """
    points = marker.points
    del points[len(positions):]
    points += [Point() for _ in range(len(positions) - len(points))]
    for point, p in zip(points, positions):
        fill_vector(point, p)


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
    color = marker.color
    color.r, color.g, color.b, color.a = map(float, (*rgb, opacity))
