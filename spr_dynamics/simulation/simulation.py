"""A model in motion: the owner of state and buffers."""
import types

import numpy as np

from spr_dynamics.contact.pairs import candidate_pairs, capacity
from spr_dynamics.contact.records import DEFAULT_OPTIONS, SolverOptions
from spr_dynamics.dynamics.check import BAD, checked, checked_position, OK
from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.errors import SimulationDiverged
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.contact import (
    ContactReading, ContactSensorSettings, declared_sensors, link_index, reading_of,
    sensor_record, SensorError, watched_shapes)
from spr_dynamics.sensors.measure import due_step, SENSOR
from spr_dynamics.simulation.state import CONTACTS, DUE, fingerprint_of, State, STEPS
from spr_dynamics.simulation.step import ROWS, step_many

NEVER = 2 ** 62  # [steps]


class ContactSensor:
    """A contact sensor of a simulation: its settings may change while it runs."""

    def __init__(self, simulation, name, settings):
        self.name = name
        self._simulation = simulation
        self._index = len(simulation.sensors)
        self._link = link_index(simulation.model, settings.link)
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
        has_new_schedule = ((settings.rate, settings.enabled)
                            != (self._settings.rate, self._settings.enabled))
        self._write(settings)
        if has_new_schedule:
            self._record['first_step'] = self._simulation.step_count
            self._record['first_sample'] = self._record['samples']

    def _write(self, settings):
        simulation, model = self._simulation, self._simulation.model
        watched = watched_shapes(model, settings, self._link)
        if settings.rate * simulation.dt > 1.0:
            raise SensorError(f'rate = {settings.rate}: expected at most one sample a step, '
                              f'{1.0 / simulation.dt:g} Hz')
        link = model.links[self._link]
        T_BL = Pose(link['X'][:9].reshape(3, 3).T, link['X'][9:])
        T_BS = T_BL @ Pose(settings.pose[:3, :3], settings.pose[:3, 3])
        X = np.concatenate([T_BS.R.T.ravel(), T_BS.p])
        simulation._sensor_records[self._index] = sensor_record(
            settings, link['body'], X, simulation.dt)[0]
        simulation._watched[self._index] = watched
        self._settings = settings

    @property
    def _record(self):
        return self._simulation._state.readings[self._index]

    @property
    def reading(self) -> ContactReading:
        """The newest sample; zeros before the first."""
        return reading_of(self._record)

    @property
    def sample_count(self) -> int:
        """How many samples were taken since the start."""
        return int(self._record['samples'])

    @property
    def sample_time_ns(self) -> int:
        """Simulated time of the newest sample [ns]: that of the poses and contacts it saw."""
        return int(self._record['step']) * self._simulation.dt_ns

    @property
    def next_step(self) -> int:
        """Number of the step in which the next sample is due."""
        if not self._settings.enabled:
            return NEVER
        return int(due_step(self._simulation._sensor_records[self._index], self._record))


class Simulation:
    """
    A model in motion.

    :param model: What to simulate.
    :param dt: Length of a step [s], a whole number of nanoseconds; the file's own without it.
    :param contact_sensors: Settings by name; those that the file declares without it.
    :param options: How contacts are solved.
    :raises ValueError: If ``dt`` makes no sense.
    :raises SensorError: If a sensor's settings don't fit the model.
    """

    def __init__(self, model, dt: float | None = None,
                 contact_sensors: dict[str, ContactSensorSettings] | None = None,
                 options: SolverOptions = DEFAULT_OPTIONS):
        self.model = model
        self.dt_ns = nanoseconds(model.dt if dt is None else dt)
        self.dt = self.dt_ns * 1e-9
        if contact_sensors is None:
            contact_sensors = declared_sensors(model)
        pairs = candidate_pairs(model, options, self.dt)
        nv, n_contacts, n_sensors = model.nv, capacity(model, pairs), len(contact_sensors)
        work = Workspace(model)
        self._state = State(model, n_sensors, n_contacts)
        self._sensor_records = np.zeros(n_sensors, SENSOR)
        self._watched = np.zeros((n_sensors, model.shapes.size), np.bool_)
        self._buffers = (
            model.tree, model.shapes, pairs, self._sensor_records, self._watched,
            options.record(self.dt), work.body, work.trig)
        self._scratch = (
            np.zeros((n_contacts, 3, nv)), np.zeros((n_contacts, nv), np.int64),
            np.zeros((2, nv, nv) if n_contacts else (2, 0, 0)), np.zeros((ROWS, nv)),
            np.zeros((2, n_contacts, 3)))
        self._no_command = np.zeros(nv)
        self._home = model.neutral_q()
        self.sensors: dict[str, ContactSensor] = {}
        for name, settings in contact_sensors.items():
            self.sensors[name] = ContactSensor(self, name, settings)
        self._fingerprint = fingerprint_of(model, self.dt_ns, self.sensors)
        self._state.gravity[:] = model.gravity
        self.reset()

    def step(self, tau=None, n: int = 1):
        """
        Advance by n steps, holding the efforts.

        :param tau: Joint efforts [N m or N], shape (nv,), clamped to what the actuators give;
            none without it.
        :param n: Number of steps.
        :raises ValueError: If ``tau`` has the wrong shape or is not finite, or if what was
            written into ``q`` or ``qd`` is no state; nothing has moved then.
        :raises SimulationDiverged: If a step gave numbers that are not finite; the state is the
            one before that step.
        """
        state = self._state
        if tau is None:
            tau = self._no_command
        state.counters[DUE] = n
        try:
            status = self._step(tau)
        except TypeError:  # not an array of doubles
            status = self._step(checked('tau', tau, self.model.nv))
        if status == BAD:
            checked('tau', tau, self.model.nv)
            checked('qd', self.qd, self.model.nv)
            checked_position(self.model, self.q)
        elif status != OK:
            raise SimulationDiverged(
                f'step {self.step_count} at {self.time:.6f} s gave accelerations that are not '
                f'finite ({self._worst_name()} moves fastest, {np.abs(self.qd).max():.3g}); '
                'the state before it was kept')

    def _step(self, tau):
        state = self._state
        return step_many(*self._buffers, tau, state.numbers, state.counters, state.readings,
                         state.contacts, *self._scratch)

    def _worst_name(self):
        """Name the joint or free root that moves fastest."""
        k = int(np.argmax(np.abs(self.qd)))
        owners = [*self.model.joints, *self.model.free_roots]
        return next(f"'{owner.name}'" for owner in sorted(owners, key=lambda owner: -owner.v)
                    if owner.v <= k)

    @property
    def q(self) -> np.ndarray:
        """Positions, shape (nq,); may be written to."""
        return self._state.q

    @property
    def qd(self) -> np.ndarray:
        """Velocities, shape (nv,); may be written to."""
        return self._state.qd

    @property
    def qdd(self) -> np.ndarray:
        """Mean accelerations of the last step, impacts included, shape (nv,)."""
        return self._state.qdd

    @property
    def effort(self) -> np.ndarray:
        """Efforts that acted in the last step, after clamping [N m or N], shape (nv,)."""
        return self._state.effort

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of free fall in the world [m/s^2], shape (3,); may be set."""
        return self._state.gravity.copy()

    @gravity.setter
    def gravity(self, gravity):
        self._state.gravity[:] = checked('gravity', gravity, 3)

    @property
    def step_count(self) -> int:
        """Steps taken since the start."""
        return int(self._state.counters[STEPS])

    @property
    def time_ns(self) -> int:
        """Simulated time [ns], exact."""
        return self.step_count * self.dt_ns

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.time_ns * 1e-9

    @property
    def contacts(self) -> np.ndarray:
        """
        Contacts of the last step, as ``CONTACT`` records.

        Their ``force`` acts on ``shape_b`` at ``point``, world axes.
        """
        return self._state.contacts[:self._state.counters[CONTACTS]].copy()

    @property
    def counters(self):
        """What the contact solver did: iterations of the last step, lagged steps in all."""
        _, contacts, iterations, lagged, _ = self._state.counters.tolist()
        return types.SimpleNamespace(contacts=contacts, iterations=iterations, lagged=lagged)

    def steps_until_sample(self) -> int:
        """Return after how many steps the next sensor sample will exist, at least 1."""
        due = min((sensor.next_step for sensor in self.sensors.values()), default=NEVER)
        return max(1, due - self.step_count + 1)

    def set_home(self, q):
        """
        Choose the positions that ``reset`` returns to, and go there.

        :param q: Positions, shape (nq,).
        :raises ValueError: If they have the wrong shape or are not finite.
        """
        self._home = checked_position(self.model, q).copy()
        self.reset()

    def reset(self):
        """Go back to the start: time 0, home positions, at rest, sensors fresh."""
        state = self._state
        gravity = self.gravity
        for block in state.blocks():
            block[...] = np.zeros((), block.dtype)
        state.gravity[:] = gravity
        state.q[:] = self._home

    def save(self) -> bytes:
        """Return a snapshot from which ``restore`` repeats the run bit for bit."""
        return self._state.to_bytes(self._fingerprint)

    def restore(self, snapshot: bytes):
        """
        Return to a snapshot.

        :raises SnapshotError: If it isn't one of this model; nothing has changed then.
        """
        self._state.from_bytes(snapshot, self._fingerprint)


def nanoseconds(dt) -> int:
    """
    Return a step as whole nanoseconds.

    :raises ValueError: If it is none: not positive, not finite, or with a fraction left.
    """
    if not (np.isfinite(dt) and dt > 0.0):
        raise ValueError(f'dt = {dt}: a positive number of seconds expected')
    whole = round(dt * 1e9)
    if whole == 0 or abs(whole * 1e-9 - dt) > 1e-6 * dt:
        raise ValueError(f'dt = {dt}: a whole number of nanoseconds expected')
    return whole
