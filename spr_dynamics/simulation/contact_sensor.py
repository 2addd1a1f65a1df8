"""A contact sensor while the simulation runs."""
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spr_dynamics.contact.records import CONTACT
from spr_dynamics.dynamics.check import checked_position
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.model.records import pose_from_transform, transform_from_pose
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors import klampt
from spr_dynamics.sensors.contact import (
    cells_of, ContactReading, ContactSensorSettings, reading_of, sensor_record, watched_shapes)
from spr_dynamics.sensors.diagnosis import complaint
from spr_dynamics.sensors.drawing import ContactDrawing, drawing_of, METRES_PER_NEWTON
from spr_dynamics.sensors.measure import FELT, measure, READING, see_contacts, SENSOR, WINDOW
from spr_dynamics.sensors.settings import link_index, SensorError
from spr_dynamics.sensors.taxels import SAMPLE
from spr_dynamics.simulation.preview import find_contacts_at
from spr_dynamics.simulation.sensor import Sensor, Surroundings
from spr_dynamics.simulation.state import CONTACTS

# What of a ``SENSOR`` acts on samples only.
OF_SAMPLES = {'resolution', 'saturation', 'deviation', 'noise_when_idle'}


class ContactSensor(Sensor):
    """
    A contact sensor of a simulation.

    :param name: The sensor's.
    :param around: Its simulation.
    :param memory: Its ``READING`` record of the simulation's state, as an array of one.
    :param constants: Its ``SENSOR`` record, as an array of one, and whether it feels a shape, for
        each shape of the model.
    :param cells: Its taxels among those of all sensors.
    :param settings: To begin with.
    :raises SensorError: If the settings don't fit the model.
    """

    __slots__ = '_cells', '_record', '_taxels', '_watched'

    type = 'contact'
    settings_type = ContactSensorSettings

    def __init__(self, name: str, around: Surroundings, memory: np.ndarray,
                 constants: tuple[np.ndarray, ...], cells: slice,
                 settings: ContactSensorSettings):
        self._cells, self._taxels = cells, around.buffers.state.taxels[:, cells]
        self._record, self._watched = constants
        super().__init__(name, around, memory, constants, settings)

    def fitted(self, settings: ContactSensorSettings) -> tuple[np.ndarray, ...]:
        """
        Return what the compiled step reads, for each of the sensor's ``constants``.

        :param settings: Validated ones.
        :raises SensorError: If they don't fit the model.
        """
        if cells_of(settings) != self._taxels.shape[1]:
            raise SensorError(f'taxels = {settings.taxels}: expected {self._taxels.shape[1]} '
                              'cells as before; a grid keeps its size while the simulation runs')
        model = self._around.model
        index = link_index(model, settings.link)
        link = model.links[index]
        T_BS = pose_from_transform(link['X']) @ Pose(settings.pose[:3, :3], settings.pose[:3, 3])
        record = sensor_record(settings, link['body'], transform_from_pose(T_BS),
                               self._cells.start)
        return record, watched_shapes(model, settings, index)

    def change_settings(self, settings: ContactSensorSettings):
        """
        Take over other settings from the present step on.

        What was collected for the next sample is kept, unless the sensor was or goes off, or the
        steps would now be felt or judged in another way.

        :raises SensorError: If they make no sense, or don't fit the model; nothing has changed
            then.
        """
        place, before = self._place(), self._way_of_feeling()
        super().change_settings(settings)
        if self._way_of_feeling() != before:
            self._start_window()
        has_stepped = self._memory['R_WS'].any()
        if has_stepped and self._place() != place:
            T_WS = self.pose
            self._memory['R_WS'], self._memory['p_WS'] = T_WS[:3, :3].ravel(), T_WS[:3, 3]

    def _place(self):
        return self._record['body'].tobytes() + self._record['X'].tobytes()

    def _way_of_feeling(self):
        """Return what decides whether and how a step is felt and judged."""
        return [part.tobytes() for part in (
            self._schedule['enabled'], self._watched,
            *(self._record[name] for name in SENSOR.names if name not in OF_SAMPLES))]

    def _start_window(self):
        """Forget what was collected for the next sample, and that there was contact."""
        self._memory['window'] = np.zeros((), WINDOW)
        self._memory['touching'] = False
        self._taxels[:SAMPLE] = 0.0

    def reset(self):
        """Forget all samples; the schedule starts at this step, the noise at its beginning."""
        self._taxels[:] = 0.0
        super().reset()

    def go_on_from(self, other: Any):
        """Take over all that another simulation's sensor remembers."""
        self._taxels[:] = other._taxels
        super().go_on_from(other)

    # What it feels.

    @property
    def reading(self) -> ContactReading:
        """The newest sample; zeros before the first."""
        return reading_of(self._memory[0])

    @property
    def taxels(self) -> np.ndarray:
        """
        Force on each cell in the newest sample, sensor frame [N], shape (rows, columns, 3).

        Without noise, resolution and saturation; their sum is the force before these.
        """
        return self._taxels[SAMPLE].reshape(*self._settings.taxels, 3).copy()

    @property
    def contacts(self) -> np.ndarray:
        """
        The contacts of the last step as the sensor sees them, as ``FELT`` records.

        They are in its frame at that step, or in its present one if it was moved to another place
        since: ``position`` on the surface of the link, ``normal``
        into it, ``force`` on it, ``depth``, ``weight``, the ``partner`` (an index into
        ``model.shape_names``), and the ``status``: 0 counted, 1 beside the patch, 2 off its
        tolerance.
        """
        state, memory = self._around.buffers.state, self._memory[0]
        return self._see(state.contacts[:state.counters[CONTACTS]],
                         np.concatenate([memory['R_WS'], memory['p_WS']]))

    def _see(self, contacts, pose):
        felt = np.zeros(contacts.size, FELT)
        count = see_contacts(self._apart(), self._watched, contacts, pose, felt,
                             np.zeros_like(self._taxels))
        return felt[:count]

    def _apart(self):
        """Copy the sensor's record for use with cells that are its own alone."""
        record = self._record.copy()
        record['first_taxel'] = 0
        return record

    @property
    def pose(self) -> np.ndarray:
        """Present pose of the sensor in the world, T_WS, shape (4, 4)."""
        return self._pose_at(self._around.buffers.state.q)

    def _pose_at(self, q):
        model = self._around.model
        return link_poses(model, q)[link_index(model, self._settings.link)] @ self._settings.pose

    def simulate_kinematic(self, q) -> ContactReading:
        """
        Return what the sensor would see at some positions, from geometry alone.

        There is no dynamics, so there are no forces: contact is reported if a contact counts, and
        counts and nearest miss say the rest. Nothing of the simulation changes.

        :param q: Positions, shape (nq,); those of followers follow.
        :raises ValueError: If they have the wrong shape or are not finite.
        """
        q = checked_position(self._around.model, q).copy()
        contacts = np.zeros(self._around.buffers.felt.size, CONTACT)
        count = find_contacts_at(self._around.buffers.block, q, contacts)
        T_WS = self._pose_at(q)
        felt = self._see(contacts[:count], np.concatenate([T_WS[:3, :3].ravel(), T_WS[:3, 3]]))
        reading, record = np.zeros(1, READING), self._apart()
        record['deviation'] = 0.0
        measure(record, felt, np.zeros_like(self._taxels), reading)
        return reading_of(reading[0])._replace(contact=bool(reading[0]['counted']))

    def drawing(self, metres_per_newton: float = METRES_PER_NEWTON) -> ContactDrawing:
        """
        Return outline, tolerance box, fill and arrow in the world, as plain arrays.

        :param metres_per_newton: Length of the arrow for each newton.
        """
        return drawing_of(self._settings, self.reading, self.pose, metres_per_newton)

    @property
    def complaint(self) -> str:
        """Why the sensor is silent, or reports less than it feels; empty if all is well."""
        return super().complaint or complaint(
            self._settings, self.reading if self.sample_count else None,
            self._contacts_elsewhere() if self._watched.any() else None)

    @property
    def facts(self) -> dict[str, Any]:
        """What a report says of the sensor: its measurements, settings, and what it sees."""
        settings, reading, names = self._settings, self.reading, self._around.model.shape_names
        partners = dict.fromkeys(self.contacts['partner'].tolist())
        return super().facts | {
            'link': settings.link,
            'patch [m]': (settings.patch_min.tolist(), settings.patch_max.tolist()),
            'patch_tolerance [m]': settings.patch_tolerance,
            'force_sensitivity [N]': settings.force_sensitivity,
            'force_saturation [N]': settings.force_saturation.tolist(),
            'seen': reading.seen, 'counted': reading.counted,
            'rejected_by_patch': reading.rejected_by_patch,
            'rejected_by_tolerance': reading.rejected_by_tolerance,
            'saturated': reading.saturated, 'nearest_miss [m]': reading.nearest_miss.tolist(),
            'touches': ', '.join(f'{names[k]} ({k})' for k in partners)}

    def _contacts_elsewhere(self):
        """Count what presses on collisions of the link that the sensor doesn't watch."""
        model, state = self._around.model, self._around.buffers.state
        contacts = state.contacts[:state.counters[CONTACTS]]
        rest = ~self._watched & (
            model.shapes['link'] == link_index(model, self._settings.link))
        touches = rest[contacts['shape_a']] | rest[contacts['shape_b']]
        return int((touches & contacts['impulse'].any(axis=1)).sum())

    # As Klampt has it.

    @property
    def measurement_names(self) -> list[str]:
        """Names of ``measurements``."""
        return ['contact'] + [f'force_{axis}' for axis, is_measured in zip(
            'xyz', self._settings.has_force) if is_measured]

    @property
    def measurements(self) -> np.ndarray:
        """The newest sample as numbers: contact (0 or 1), then the force on measured axes."""
        record = self._memory[0]
        return np.append(float(record['contact']),
                         record['force'][list(self._settings.has_force)])

    def set_measurements(self, values: Sequence[float]):
        """
        Put numbers in place of the newest sample's, for instance those of a real sensor.

        :param values: As ``measurements``: contact (0 or 1), then the force on measured axes.
        :raises SensorError: If they are not as many, or not such numbers; nothing has changed
            then.
        """
        names = self.measurement_names
        try:
            numbers = np.array(values, dtype=float)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.shape != (len(names),) or not np.isfinite(numbers).all() \
                or numbers[0] not in (0.0, 1.0):
            raise SensorError(f'measurements = {values!r}: expected finite numbers, one for each '
                              f'of {", ".join(names)}, of which contact is 0 or 1')
        record = self._memory[0]
        record['contact'] = numbers[0]
        record['force'] = 0.0
        record['force'][list(self._settings.has_force)] = numbers[1:]

    @property
    def setting_texts(self) -> dict[str, str]:
        """All settings as text: by Klampt's names, then by ours what Klampt doesn't have."""
        return klampt.setting_texts(self._settings)

    def get_setting(self, name: str) -> str:
        """
        Return a setting as text.

        :param name: Klampt's (``patchMin``) or ours (``patch_min``).
        :raises SensorError: If there is none of that name; says what could have been meant.
        """
        return klampt.setting_text(self._settings, name)

    def set_setting(self, name: str, text: str):
        """
        Read a setting from text; it acts on the next sample.

        :param name: Klampt's (``patchMin``) or ours (``patch_min``).
        :param text: Values with blanks between; ``inf`` is a number, ``0 1 false true`` are truth
            values, a link is a name or its number in the file.
        :raises SensorError: If there is no such setting, or the value is no good; nothing has
            changed then.
        """
        self.set_settings({name: text})

    def set_settings(self, texts: Mapping[str, str]):
        """
        Read some settings from text, as ``set_setting`` does, all of them or none.

        :param texts: By name; ``setting_texts`` of any sensor are such.
        :raises SensorError: As of ``set_setting``.
        """
        self.settings = klampt.with_texts(self._settings, texts, self._around.model.link_names)

    def advance(self, dt: float):
        """
        Do nothing, as Klampt's: the simulation's step moves schedule and window on.

        :param dt: How much time has passed [s].
        """

    @property
    def internal_state(self) -> bytes:
        """
        All that the sensor remembers but its settings; may be set to what it was.

        Its schedule is counted from the present: a sensor whose state is set takes its samples as
        many steps from now as it would have taken them then.
        """
        return self._later(-self._present_step).tobytes() + self._taxels.tobytes()

    @internal_state.setter
    def internal_state(self, state):
        here = self._memory.nbytes
        if not isinstance(state, bytes) or len(state) != here + self._taxels.nbytes:
            raise SensorError(f'internal_state: {here + self._taxels.nbytes} bytes expected, as '
                              'they were read')
        self._memory[:] = np.frombuffer(state[:here], self._memory.dtype)
        self._memory[:] = self._later(self._present_step)
        self._taxels[:] = np.frombuffer(state[here:]).reshape(self._taxels.shape)
        self.keep_schedule()

    def _later(self, steps):
        """Copy what the sensor remembers, with all times of its schedule some steps later."""
        memory = self._memory.copy()
        for name in ('step', 'first_step'):
            memory['schedule'][name] += steps
        return memory
