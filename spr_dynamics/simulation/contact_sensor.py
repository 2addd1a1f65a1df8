"""A contact sensor while the simulation runs."""
import numpy as np

from spr_dynamics.model.records import pose_from_transform, transform_from_pose
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.contact import (
    ContactReading, ContactSensorSettings, link_index, reading_of, sensor_record, watched_shapes)
from spr_dynamics.simulation.sensor import Sensor


class ContactSensor(Sensor):
    """
    A contact sensor of a simulation.

    It remembers a ``READING`` record; its constants are a ``SENSOR`` record, and whether it feels
    a shape, for each shape of the model.
    """

    type = 'contact'

    def fitted(self, settings: ContactSensorSettings) -> tuple[np.ndarray, ...]:
        """
        Return what the compiled step reads, for each of the sensor's ``constants``.

        :param settings: Validated ones.
        :raises SensorError: If they don't fit the model.
        """
        model = self._around.model
        index = link_index(model, settings.link)
        link = model.links[index]
        T_BS = pose_from_transform(link['X']) @ Pose(settings.pose[:3, :3], settings.pose[:3, 3])
        return (sensor_record(settings, link['body'], transform_from_pose(T_BS)),
                watched_shapes(model, settings, index))

    @property
    def reading(self) -> ContactReading:
        """The newest sample; zeros before the first."""
        return reading_of(self._memory[0])
