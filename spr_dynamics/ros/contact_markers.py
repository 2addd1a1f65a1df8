"""``contact_markers``: points and forces of contacts, patches and readings of contact sensors."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile
from visualization_msgs.msg import Marker, MarkerArray

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.ros.convert import WORLD_FRAME
from spr_dynamics.ros.markers import clear, put_colour, put_points, put_scale
from spr_dynamics.ros.parameters import SENSOR_PREFIX
from spr_dynamics.ros.streams import Source, Stream
from spr_dynamics.scene.arrows import contact_arrows, metres_per_newton, size
from spr_dynamics.sensors.drawing import BOX_EDGES, drawing_of

NEWEST_QOS = QoSProfile(depth=1)  # a picture makes the one before it worthless
ORANGE, GREEN = (0.95, 0.45, 0.10), (0.10, 0.62, 0.35)
RED, BLUE = (0.90, 0.15, 0.15), (0.35, 0.55, 0.95)
OUTLINE_EDGES = [0, 1, 1, 2, 2, 3, 3, 0]  # corners that a side joins, two for each
SHAFT, HEAD, DOT, LINE = 0.012, 0.03, 0.02, 0.002  # widths, in sizes of the robot
SHORTEST_ARROW = 1e-3  # in sizes of the robot; RViz refuses arrows without a direction


def contact_topics(source: Source, sensor_topics: Mapping[str, str]) -> list[Stream]:
    """
    Make ``contact_markers``.

    :param source: What it is made for.
    :param sensor_topics: The ROS name of each contact sensor.
    """
    writer = ContactMarkers(source.simulation, sensor_topics)
    return [source.topic('contact_markers', MarkerArray, NEWEST_QOS, 'marker_rate', writer.fill)]


class ContactMarkers:
    """
    The contacts of a simulation and what its sensors read, in the world.

    Each message is a whole picture: it clears the one before, so that nothing that has gone
    stays, whichever messages are lost.
    """

    def __init__(self, simulation: Any, sensor_topics: Mapping[str, str]) -> None:
        """
        Make the markers.

        :param simulation: The simulation.
        :param sensor_topics: The ROS name of each contact sensor.
        """
        model = simulation.model
        self._simulation = simulation
        self._size, self._metres_per_newton = size(model), metres_per_newton(model)
        self._clear = clear()
        self._points = world_marker('contact_points', 0, Marker.SPHERE_LIST,
                                    [DOT * self._size] * 3, ORANGE)
        self._arrows: list[ArrowMarker] = []
        self._sensors = [
            SensorMarkers(simulation.sensors[name], f'{SENSOR_PREFIX}/{topic}', self._size,
                          self._metres_per_newton) for name, topic in sensor_topics.items()]
        self._msg = MarkerArray()

    def fill(self) -> MarkerArray:
        """Return the present picture."""
        self._msg.markers = [self._clear, *self._contact_markers(), *self._sensor_markers()]
        return self._msg

    def _contact_markers(self) -> Iterator[Marker]:
        """Yield where contacts are, and their forces."""
        arrows = contact_arrows(self._simulation.contacts)
        if arrows:
            put_points(self._points, [arrow.point for arrow in arrows])
            yield self._points
        while len(self._arrows) < len(arrows):
            self._arrows.append(
                ArrowMarker('contact_forces', len(self._arrows), self._size, GREEN))
        for marker, arrow in zip(self._arrows, arrows):
            yield from marker.drawn(
                [arrow.point, arrow.point + self._metres_per_newton * arrow.force])

    def _sensor_markers(self) -> Iterator[Marker]:
        """Yield what is drawn of each sensor."""
        if self._sensors:
            model = self._simulation.model
            T_WL = link_poses(model, self._simulation.q)
            for sensor in self._sensors:
                yield from sensor.drawn(T_WL[model.link_names.index(sensor.link)])


class SensorMarkers:
    """The patch of a contact sensor, red while it reports contact, and its force."""

    def __init__(self, sensor: Any, namespace: str, robot_size: float,
                 metres_per_newton: float) -> None:
        """
        Make the markers.

        :param sensor: The sensor in the simulation.
        :param namespace: Of the markers.
        :param robot_size: Of the robot [m].
        :param metres_per_newton: How long to draw a force.
        """
        self._sensor, self._metres_per_newton = sensor, metres_per_newton
        self._outline, self._box = (
            world_marker(namespace, number, Marker.LINE_LIST, [width * robot_size, 0.0, 0.0],
                         BLUE)
            for number, width in enumerate((2.0 * LINE, LINE)))
        self._arrow = ArrowMarker(namespace, 2, robot_size, RED)

    @property
    def link(self) -> str:
        """The link that carries the sensor."""
        return self._sensor.settings.link

    def drawn(self, T_WL: np.ndarray) -> Iterator[Marker]:
        """
        Yield what is to be seen now.

        :param T_WL: Pose of the sensor's link in the world, shape (4, 4).
        """
        settings, reading = self._sensor.settings, self._sensor.reading
        drawing = drawing_of(settings, reading, T_WL @ settings.pose, self._metres_per_newton)
        for marker, corners, ends in ((self._outline, drawing.outline, OUTLINE_EDGES),
                                      (self._box, drawing.tolerance_box, BOX_EDGES.ravel())):
            if len(corners):
                put_points(marker, corners[ends])
                put_colour(marker, RED if reading.contact else BLUE, 1.0)
                yield marker
        if len(drawing.arrow):
            yield from self._arrow.drawn(drawing.arrow)


class ArrowMarker:
    """An arrow, as long as it can be seen."""

    def __init__(self, namespace: str, number: int, robot_size: float,
                 colour: Sequence[float]) -> None:
        """
        Make the marker.

        :param namespace: Of the marker.
        :param number: Its number there.
        :param robot_size: Of the robot [m].
        :param colour: Red, green and blue in 0 to 1.
        """
        self._marker = world_marker(
            namespace, number, Marker.ARROW, [SHAFT * robot_size, HEAD * robot_size, 0.0], colour)
        self._shortest = SHORTEST_ARROW * robot_size

    def drawn(self, ends: Sequence[np.ndarray] | np.ndarray) -> Iterator[Marker]:
        """
        Yield the arrow, unless it is too short to be seen.

        :param ends: Where it starts, and its tip, world [m].
        """
        start, tip = ends
        if float(np.linalg.norm(tip - start)) > self._shortest:
            put_points(self._marker, ends)
            yield self._marker


def world_marker(namespace: str, number: int, kind: int, widths: Sequence[float],
                 colour: Sequence[float]) -> Marker:
    """
    Return a marker in the world.

    :param namespace: Its namespace.
    :param number: Its number there.
    :param kind: Its type.
    :param widths: What its type makes of x, y and z [m].
    :param colour: Red, green and blue in 0 to 1.
    """
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.header.frame_id = WORLD_FRAME
    marker.pose.orientation.w = 1.0
    put_scale(marker, widths)
    put_colour(marker, colour, 1.0)
    return marker
