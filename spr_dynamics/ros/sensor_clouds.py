"""What a contact sensor feels as point clouds: each contact, and the grid of taxels."""
from array import array
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2, PointField

from spr_dynamics.ros import convert
from spr_dynamics.ros.streams import Output, STATE_QOS
from spr_dynamics.sensors.taxels import cell_centres

XYZ, NORMAL, FORCE = ([f'{letter}{axis}' for axis in 'xyz'] for letter in ('', 'n', 'f'))

# A row of ``points``: a contact in the sensor's frame, seen from its link.
POINT = np.dtype([*((name, '<f4') for name in (*XYZ, *NORMAL, *FORCE, 'depth', 'weight')),
                  ('partner', '<u4'),            # the other shape: an index into shape_names
                  ('status', 'u1')])             # 0 counted, 1 beside the patch, 2 off tolerance
# A cell of ``taxels``: its centre and its force, in the sensor's frame.
TAXEL = np.dtype([(name, '<f4') for name in (*XYZ, *FORCE)])

DATATYPES = {'<f4': PointField.FLOAT32, '<u4': PointField.UINT32, '|u1': PointField.UINT8}


class Cloud:
    """A topic of point clouds with rows of one kind."""

    def __init__(self, node: Node, topic: str, frame_id: str, dtype: np.dtype) -> None:
        """
        Make the topic.

        :param node: The node.
        :param topic: Its name.
        :param frame_id: The frame that the points are in.
        :param dtype: A row: packed fields, little-endian.
        """
        self.output = Output(node, PointCloud2, topic, STATE_QOS)
        self._dtype = dtype
        self._msg = PointCloud2(is_dense=True, is_bigendian=False, point_step=dtype.itemsize)
        self._msg.header.frame_id = frame_id
        self._msg.fields = [
            PointField(name=name, offset=field[1], datatype=DATATYPES[field[0].str], count=1)
            for name, field in (dtype.fields or {}).items()]
        self._rows = np.zeros((0, 0), dtype)

    def rows(self, height: int, width: int) -> np.ndarray:
        """
        Return the records of the message, to be written; what isn't is as it was, at first 0.

        :param height: How many rows.
        :param width: How many points in each.
        """
        if self._rows.shape != (height, width):
            msg = self._msg
            msg.height, msg.width, msg.row_step = height, width, width * msg.point_step
            msg.data = array('B', bytes(height * msg.row_step))
            self._rows = np.frombuffer(msg.data, self._dtype).reshape(height, width)
        return self._rows

    def publish(self, time_ns: int) -> None:
        """
        Publish what was written.

        :param time_ns: Simulated time of the sample [ns].
        """
        convert.stamp_from_ns(self._msg.header.stamp, time_ns)
        self.output.publish(self._msg)


class SensorClouds:
    """The topics ``points`` and, of a sensor with a grid, ``taxels``."""

    def __init__(self, node: Node, place: str, frame_id: str, sensor: Any) -> None:
        """
        Make the topics.

        :param node: The node.
        :param place: What the names of the sensor's topics begin with.
        :param frame_id: The sensor's frame.
        :param sensor: The sensor in the simulation.
        """
        self._sensor = sensor
        self._points = Cloud(node, f'{place}/points', frame_id, POINT)
        self._taxels = Cloud(node, f'{place}/taxels', frame_id, TAXEL) \
            if any(sensor.settings.taxels) else None
        self._fill_points()  # compiled now: the first listener costs no time

    def publish(self, time_ns: int) -> None:
        """
        Publish what the sensor feels, as far as anybody listens.

        :param time_ns: Simulated time of the sample [ns].
        """
        if self._points.output.is_wanted:
            self._fill_points()
            self._points.publish(time_ns)
        if self._taxels and self._taxels.output.is_wanted:
            fill_taxels(self._taxels.rows(*self._sensor.settings.taxels), self._sensor)
            self._taxels.publish(time_ns)

    def greet(self, is_still: bool) -> None:
        """Notice who has come to listen; while time stands still, show them the last sample."""
        clouds = [cloud for cloud in (self._points, self._taxels) if cloud]
        newcomers = [cloud.output.take_newcomers() for cloud in clouds]
        if any(newcomers) and is_still:
            self.publish(self._sensor.sample_time_ns)

    def _fill_points(self) -> None:
        felt = self._sensor.contacts
        fill_points(self._points.rows(1, felt.size), felt)


def fill_points(rows: np.ndarray, felt: np.ndarray) -> None:
    """
    Write contacts into rows of a cloud.

    :param rows: ``POINT`` records, shape (1, n).
    :param felt: ``FELT`` records, shape (n,).
    """
    for names, field in ((XYZ, 'position'), (NORMAL, 'normal'), (FORCE, 'force')):
        for axis, name in enumerate(names):
            rows[name] = felt[field][:, axis]
    for name in ('depth', 'weight', 'partner', 'status'):
        rows[name] = felt[name]


def fill_taxels(rows: np.ndarray, sensor: Any) -> None:
    """
    Write the taxels of a sensor into rows of an organised cloud.

    :param rows: ``TAXEL`` records, shape (rows, columns).
    :param sensor: The sensor in the simulation.
    """
    centres, forces = cell_centres(sensor.settings), sensor.taxels
    rows['x'], rows['y'] = centres[..., 0], centres[..., 1]
    for axis, name in enumerate(FORCE):
        rows[name] = forces[..., axis]
