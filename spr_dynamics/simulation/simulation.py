"""A model in motion: the owner of state and buffers."""
import operator
import types

import numpy as np

from spr_dynamics.contact.pairs import candidate_pairs, capacity
from spr_dynamics.contact.records import DEFAULT_OPTIONS, SolverOptions
from spr_dynamics.dynamics.check import BAD, checked, checked_position, OK
from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.errors import SimulationDiverged
from spr_dynamics.jit import unchecked
from spr_dynamics.sensors.contact import ContactSensorSettings, declared_sensors, SensorError
from spr_dynamics.sensors.measure import SENSOR
from spr_dynamics.simulation.contact_sensor import ContactSensor, NEVER
from spr_dynamics.simulation.state import CONTACTS, fingerprint_of, State, STEPS
from spr_dynamics.simulation.step import ROWS, step_many

STEP = unchecked(step_many)  # all its arguments are a simulation's own buffers
ROUNDOFF = 1e-9  # of a rate times a step


class Simulation:
    """
    A model in motion.

    :param model: What to simulate.
    :param dt: Length of a step [s], a whole number of nanoseconds; the file's own without it.
    :param contact_sensors: Settings by name; those that the file declares without it.
    :param options: How contacts are solved.
    :raises ValueError: If ``dt`` makes no sense.
    :raises SensorError: If a sensor's settings don't fit the model; names the sensor.
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
        sensors = np.zeros(n_sensors, SENSOR)
        watched = np.zeros((n_sensors, model.shapes.size), np.bool_)
        self._command = np.zeros(nv)
        state = self._state
        self._arguments = (
            model.tree, model.shapes, pairs, sensors, watched, options.record(self.dt), work.body,
            work.trig, self._command, state.numbers, state.counters, state.readings,
            state.contacts, np.zeros_like(state.contacts), np.zeros((n_contacts, 3, nv)),
            np.zeros((n_contacts, nv), np.int64),
            np.zeros((2, nv, nv) if n_contacts else (2, 0, 0)), np.zeros((ROWS, nv)),
            np.zeros((2, n_contacts, 3)))
        self._home = model.neutral_q()
        self.sensors: dict[str, ContactSensor] = {}
        for index, (name, settings) in enumerate(contact_sensors.items()):
            try:
                self.sensors[name] = ContactSensor(model, self.dt_ns, self._state, sensors,
                                                   watched, index, settings)
            except SensorError as problem:
                raise SensorError(f"contact sensor '{name}': {problem}") from None
        self._fingerprint = fingerprint_of(model, self.dt_ns, self.sensors)
        self._state.gravity[:] = model.gravity
        self.reset()

    def step(self, tau=None, n: int = 1):
        """
        Advance by n steps, holding the efforts.

        :param tau: Joint efforts [N m or N], shape (nv,), clamped to what the actuators give;
            none without it.
        :param n: Number of steps.
        :raises ValueError: If ``tau`` has the wrong shape or is not finite, ``n`` is negative, or
            what was written into ``q`` or ``qd`` is no state; nothing has changed then.
        :raises TypeError: If ``n`` is no integer.
        :raises SimulationDiverged: If a step gave numbers that are not finite; the state is the
            one before that step.
        """
        n = operator.index(n)
        if n < 0:
            raise ValueError(f'n = {n}: 0 or more steps expected')
        if tau is None:
            tau = 0.0
        elif not (isinstance(tau, np.ndarray) and tau.dtype == self._command.dtype
                  and tau.shape == self._command.shape):
            tau = checked('tau', tau, self.model.nv)
        self._command[:] = tau
        status = STEP(*self._arguments, n)
        if status == BAD:
            checked('tau', self._command, self.model.nv)
            checked('qd', self.qd, self.model.nv)
            checked_position(self.model, self.q)
        elif status != OK:
            raise SimulationDiverged(
                f'step {self.step_count} at {self.time:.6f} s gave accelerations that are not '
                f'finite ({self._worst_name()} moves fastest, {np.abs(self.qd).max():.3g}); '
                'the state before it was kept')

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
        """
        What the contact solver did.

        ``contacts`` and ``iterations`` of the last step; in all: ``lagged`` steps, in which the
        bound on friction is an earlier one, and ``unsolved`` ones, whose residual is too large.
        """
        _, contacts, iterations, lagged, unsolved = self._state.counters.tolist()
        return types.SimpleNamespace(contacts=contacts, iterations=iterations, lagged=lagged,
                                     unsolved=unsolved)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What can't be done as it was asked, a line each."""
        return tuple(
            f"contact sensor '{name}' asks for {sensor.settings.rate:g} Hz and samples each step, "
            f'at {1.0 / self.dt:g} Hz' for name, sensor in self.sensors.items()
            if sensor.settings.rate * self.dt > 1.0 + ROUNDOFF)

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
        for sensor in self.sensors.values():
            sensor.keep_schedule()

    def save(self) -> bytes:
        """Return a snapshot from which ``restore`` repeats the run bit for bit."""
        return self._state.to_bytes(self._fingerprint)

    def restore(self, snapshot: bytes):
        """
        Return to a snapshot. Settings of sensors are not part of it and stay as they are.

        :raises SnapshotError: If it isn't one of this model; nothing has changed then.
        """
        self._state.from_bytes(snapshot, self._fingerprint)
        for sensor in self.sensors.values():
            sensor.keep_schedule()


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
