"""A contact sensor while the simulation runs."""
import numpy as np

from spr_dynamics.model.model import Model
from spr_dynamics.model.records import pose_from_transform, transform_from_pose
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.contact import (
    ContactReading, ContactSensorSettings, link_index, reading_of, sensor_record, SensorError,
    watched_shapes)
from spr_dynamics.sensors.measure import next_due_step
from spr_dynamics.simulation.state import State, STEPS

NEVER = 2 ** 62  # [steps]


class ContactSensor:
    """
    A contact sensor of a simulation: its settings may change while it runs.

    :param model: The robot.
    :param dt_ns: Length of a step [ns].
    :param state: The simulation's; the sensor's newest sample and schedule are part of it.
    :param records: The simulation's ``SENSOR`` records.
    :param watched: Whether a sensor feels a shape, shape (sensors, shapes).
    :param index: The sensor's own row in all of these.
    :param settings: To begin with.
    :raises SensorError: If the settings don't fit the model.
    """

    def __init__(self, model: Model, dt_ns: int, state: State, records: np.ndarray,
                 watched: np.ndarray, index: int, settings: ContactSensorSettings):
        self._model, self._dt_ns, self._counters = model, dt_ns, state.counters
        self._row = state.readings[index:index + 1]
        self._reading = self._row[0]
        self._record, self._watched = records[index:index + 1], watched[index]
        self._link = link_index(model, settings.link)
        self._write(settings.validated())

    @property
    def settings(self) -> ContactSensorSettings:
        """Where the sensor is and how it measures; a change acts on the next sample."""
        return self._settings

    @settings.setter
    def settings(self, settings):
        settings = settings.validated()
        if settings.link != self._settings.link:
            raise SensorError(f"link = '{settings.link}': a sensor stays on its link "
                              f"('{self._settings.link}')")
        self._write(settings)
        self.keep_schedule()

    def _write(self, settings):
        self._watched[:] = watched_shapes(self._model, settings, self._link)
        link = self._model.links[self._link]
        T_BS = pose_from_transform(link['X']) @ Pose(settings.pose[:3, :3], settings.pose[:3, 3])
        self._record[:] = sensor_record(settings, link['body'], transform_from_pose(T_BS))
        self._settings = settings

    def keep_schedule(self):
        """
        Make the state follow the settings: a schedule that is another one starts at this step.

        A rate above that of the steps gives a sample each step.
        """
        rate, reading, enabled = self._settings.rate, self._reading, self._settings.enabled
        period = 1.0 if rate == 0.0 else max(1.0, 1e9 / (rate * self._dt_ns))
        if (reading['enabled'], reading['period']) != (enabled, period):
            reading['enabled'], reading['period'] = enabled, period
            reading['first_step'] = self._counters[STEPS]
            reading['first_sample'] = reading['samples']

    @property
    def reading(self) -> ContactReading:
        """The newest sample; zeros before the first."""
        return reading_of(self._reading)

    @property
    def sample_count(self) -> int:
        """How many samples were taken since the start."""
        return int(self._reading['samples'])

    @property
    def sample_time_ns(self) -> int:
        """Simulated time of the newest sample [ns]: that of the poses and contacts it saw."""
        return int(self._reading['step']) * self._dt_ns

    @property
    def next_step(self) -> int:
        """Number of the step in which the next sample is due."""
        return next_due_step(self._row) if self._settings.enabled else NEVER
