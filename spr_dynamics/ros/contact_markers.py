"""``contact_markers``: points and forces of contacts, patches and readings of contact sensors."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile
from visualization_msgs.msg import Marker, MarkerArray

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.ros.convert import WORLD_FRAME
from spr_dynamics.ros.markers import clear, point, put_colour, put_scale
from spr_dynamics.ros.parameters import SENSOR_PREFIX
from spr_dynamics.ros.streams import Source, Stream
from spr_dynamics.scene.arrows import contact_arrows, metres_per_newton, size
from spr_dynamics.sensors.drawing import BOX_EDGES, drawing_of

NEWEST_QOS = QoSProfile(depth=1)  # a picture makes the one before it worthless
ORANGE, GREEN = (0.95, 0.45, 0.10), (0.10, 0.62, 0.35)
RED, BLUE = (0.90, 0.15, 0.15), (0.35, 0.55, 0.95)
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
        self._simulation, self._topics = simulation, sensor_topics
        self._size = size(simulation.model)
        self._metres_per_newton = metres_per_newton(simulation.model)
        self._points = self._marker('contact_points', 0, Marker.SPHERE_LIST, [DOT] * 3, ORANGE)
        self._arrows: list[Marker] = []

    def fill(self) -> MarkerArray:
        """Return the present picture."""
        simulation = self._simulation
        markers = [clear(), *self._contact_markers()]
        if self._topics:
            markers += self._sensor_markers(link_poses(simulation.model, simulation.q))
        return MarkerArray(markers=markers)

    def _contact_markers(self) -> Iterator[Marker]:
        """Yield where contacts are, and their forces."""
        arrows = contact_arrows(self._simulation.contacts)
        if arrows:
            self._points.points = [point(arrow.point) for arrow in arrows]
            yield self._points
        while len(self._arrows) < len(arrows):
            self._arrows.append(self._arrow('contact_forces', len(self._arrows), GREEN))
        for marker, arrow in zip(self._arrows, arrows):
            tip = arrow.point + self._metres_per_newton * arrow.force
            if self._put_arrow(marker, arrow.point, tip):
                yield marker

    def _sensor_markers(self, T_WL: np.ndarray) -> Iterator[Marker]:
        """Yield the patch of each sensor, red while it reports contact, and its force."""
        model = self._simulation.model
        for name, topic in self._topics.items():
            sensor, namespace = self._simulation.sensors[name], f'{SENSOR_PREFIX}/{topic}'
            T_WL_sensor = T_WL[model.link_names.index(sensor.settings.link)]
            drawing = drawing_of(sensor.settings, sensor.reading,
                                 T_WL_sensor @ sensor.settings.pose, self._metres_per_newton)
            colour = RED if sensor.reading.contact else BLUE
            lines = [drawing.outline[[0, 1, 1, 2, 2, 3, 3, 0]] if len(drawing.outline) else [],
                     drawing.tolerance_box[BOX_EDGES.ravel()] if len(drawing.tolerance_box)
                     else []]
            for number, (ends, width) in enumerate(zip(lines, (2.0 * LINE, LINE))):
                if len(ends):
                    marker = self._marker(namespace, number, Marker.LINE_LIST, [width, 0.0, 0.0],
                                          colour)
                    marker.points = [point(end) for end in ends]
                    yield marker
            arrow = self._arrow(namespace, len(lines), RED)
            if len(drawing.arrow) and self._put_arrow(arrow, *drawing.arrow):
                yield arrow

    def _put_arrow(self, marker: Marker, start: np.ndarray, tip: np.ndarray) -> bool:
        """Write an arrow into its marker; return whether it is long enough to be seen."""
        marker.points = [point(start), point(tip)]
        return float(np.linalg.norm(tip - start)) > SHORTEST_ARROW * self._size

    def _arrow(self, namespace: str, number: int, colour: Sequence[float]) -> Marker:
        return self._marker(namespace, number, Marker.ARROW, [SHAFT, HEAD, 0.0], colour)

    def _marker(self, namespace: str, number: int, kind: int, widths: Sequence[float],
                colour: Sequence[float]) -> Marker:
        """Return a marker in the world, with widths in sizes of the robot."""
        marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
        marker.header.frame_id = WORLD_FRAME
        marker.pose.orientation.w = 1.0
        put_scale(marker, [self._size * width for width in widths])
        put_colour(marker, colour, 1.0)
        return marker
