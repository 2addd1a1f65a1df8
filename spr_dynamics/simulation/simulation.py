"""A model in motion: the owner of state and buffers."""
from collections.abc import Mapping
import contextlib
import dataclasses
import functools
import json
import types
from typing import Any

import numpy as np

from spr_dynamics.contact.detect import search
from spr_dynamics.contact.records import DEFAULT_OPTIONS, SolverOptions
from spr_dynamics.dynamics.check import (
    BAD, checked, checked_forces, checked_model, checked_position, checked_velocity, MODERATE, OK)
from spr_dynamics.dynamics.gyroscopic import FARTHEST_TURN
from spr_dynamics.dynamics.loops import loop_gaps
from spr_dynamics.dynamics.work import N_FORCES
from spr_dynamics.errors import did_you_mean, SimulationDiverged
from spr_dynamics.model.assembling import follow, follow_rates
from spr_dynamics.sdformat.elements import ForceTorqueSensor, ImuSensor
from spr_dynamics.sensors.contact import (
    cells_of, ContactSensorSettings, declared_sensors)
from spr_dynamics.sensors.declared import renamed_sensors
from spr_dynamics.sensors.force_torque import declared_force_torques
from spr_dynamics.sensors.imu import declared_imus
from spr_dynamics.sensors.settings import SensorError, validated_as
from spr_dynamics.simulation.buffers import (
    CONSTRAIN_AT, EULER, FEEL_CONTACTS_AT, FEEL_MOTION_AT, FREE_VELOCITY, INTEGRATOR, MIDPOINT,
    RK4, SEARCH_AT, StepBuffers)
from spr_dynamics.simulation.constrain import constrain
from spr_dynamics.simulation.contact_sensor import ContactSensor
from spr_dynamics.simulation.contacts import Contacts, link_wrenches
from spr_dynamics.simulation.edit import carry_over, renamed
from spr_dynamics.simulation.loops import OPEN
from spr_dynamics.simulation.motion_sensors import ForceTorque, Imu
from spr_dynamics.simulation.named import FixedAttributes, Named
from spr_dynamics.simulation.objects import JointViews, link_views, LinkView
from spr_dynamics.simulation.sense import feel_contacts, feel_motion
from spr_dynamics.simulation.sensor import NEVER, Sensor, Surroundings, values_of
from spr_dynamics.simulation.smooth import PARTED, step_smoothly, UNSETTLED
from spr_dynamics.simulation.state import CONTACTS, fingerprint_of, SnapshotError, STEPS
from spr_dynamics.simulation.step import step_many
from spr_dynamics.simulation.torques import Torques

ROUNDOFF = 1e-9  # of a rate times a step
LONGEST_STEP = 1e9  # [s]; as nanoseconds, a few of them are still a number of 64 bits
TOO_MANY = 2 ** 62  # steps in a call
LAGS = {'semi_implicit_euler': 0.0, 'analytic': 0.5}  # rules that each joint may have for itself
INTEGRATORS = {**dict.fromkeys(LAGS, EULER), 'rk4': RK4, 'implicit_midpoint': MIDPOINT}


class Simulation(FixedAttributes):
    """
    A model in motion.

    :param model: What to simulate.
    :param dt: Length of a step [s], a whole number of nanoseconds; the file's own without it.
    :param contact_sensors: Settings by name; those that the file declares without it.
    :param options: How contacts are solved.
    :param integrator: ``semi_implicit_euler`` (Springhead's SYMPLETIC), ``analytic`` (its
        ANALYTIC: each oscillation grows by sqrt(1 + (omega dt)^2 / 2) a step), ``rk4`` or
        ``implicit_midpoint``; the last two are for models in which nothing can touch.
    :param joint_integrators: One of the first two by name of a joint that has its own.
    :param seed: Of the noise of sensors: equal seeds give equal runs, bit for bit.
    :raises TypeError: If the model, ``contact_sensors`` or ``options`` is something else.
    :raises ValueError: If ``dt``, an integrator or the seed makes no sense.
    :raises SensorError: If a sensor's settings don't fit the model; names the sensor.
    """

    __slots__ = (
        'model', 'dt', 'dt_ns', 'sensors', 'torques', '_block', '_buffers', '_chosen', '_effort',
        '_fingerprint', '_home', '_no_effort', '_qdd', '_state', '_take_steps',
        '__dict__', '__weakref__')  # the former for ``joints`` and ``links``, made when asked for

    def __init__(self, model, dt: float | None = None,
                 contact_sensors: dict[str, ContactSensorSettings] | None = None,
                 options: SolverOptions = DEFAULT_OPTIONS,
                 integrator: str = 'semi_implicit_euler',
                 joint_integrators: Mapping[str, str] | None = None, seed: int = 0):
        self.model = checked_model(model)
        self.dt_ns = nanoseconds(model.dt if dt is None else dt)
        self.dt = self.dt_ns * 1e-9
        if contact_sensors is None:
            contact_sensors = declared_sensors(model)
        checked_as(Mapping, 'contact_sensors', contact_sensors,
                   'ContactSensorSettings by name of a sensor')
        imus, force_torques = declared_imus(model), declared_force_torques(model)
        taxels = []
        for name, settings in contact_sensors.items():
            with naming(f"contact sensor '{name}'"):
                settings = validated_as(ContactSensorSettings, settings)
                taxels.append(cells_of(settings))
        buffers = self._buffers = StepBuffers(
            model, self.dt, (len(contact_sensors), len(imus), len(force_torques)), sum(taxels),
            checked_as(SolverOptions, 'options', options, 'SolverOptions'),
            INTEGRATORS[known(integrator, INTEGRATORS, 'integrator')])
        rules = {} if joint_integrators is None else joint_integrators
        buffers.lag[:] = lags(model, integrator, rules)
        self._state, self._block = buffers.state, buffers.block
        self._qdd, self._effort = read_only(self._state.qdd), read_only(self._state.effort)
        self._no_effort = np.zeros(model.nv)
        self.torques = Torques(model.nv)
        """What is set on ``joints`` for the next step."""
        self._chosen = options, integrator, dict(rules), seed
        if INTEGRATORS[integrator] != EULER and (
                buffers.pairs.size or contact_sensors):
            raise ValueError(
                f"integrator '{integrator}' is for models in which nothing can touch, without "
                "contact sensors; 'semi_implicit_euler' is for all")
        self._home = model.neutral_q()
        around = Surroundings(model, self.dt_ns, buffers, checked_seed(seed))
        made: dict[str, Any] = {}
        self.sensors = Named('sensor', made)
        """Sensors of all kinds, by name."""
        end = 0
        for k, (name, settings) in enumerate(contact_sensors.items()):
            own, cells = slice(k, k + 1), slice(end, end := end + taxels[k])
            add_sensor(made, ContactSensor, name, around, self._state.readings[own],
                       (buffers.sensors[own], buffers.watched[k]), cells, settings)
        for k, name in enumerate(imus):
            add_sensor(made, Imu, name, around, self._state.imus[k:k + 1],
                       (buffers.imus[k:k + 1],), imus[name])
        for k, name in enumerate(force_torques):
            add_sensor(made, ForceTorque, name, around, self._state.force_torques[k:k + 1],
                       tuple(part[k:k + 1] for part in buffers.force_torques),
                       force_torques[name])
        self._fingerprint = fingerprint_of(model, self.dt_ns, self.sensors,
                                           (integrator, options), buffers.lag,
                                           buffers.pairs[['a', 'b']])
        self._state.gravity[:] = model.gravity
        self.reset()
        self._take_steps = step_smoothly
        if INTEGRATORS[integrator] == EULER:
            self._take_steps = step_many
            for at, part, is_needed in (
                    (SEARCH_AT, search, buffers.pairs.size),
                    (CONSTRAIN_AT, constrain, buffers.has_constraints),
                    (FEEL_CONTACTS_AT, feel_contacts, contact_sensors),
                    (FEEL_MOTION_AT, feel_motion, imus or force_torques)):
                if is_needed:
                    self._block[at] = part.address
        self._take_steps(self._block, self._no_effort, 0)  # compiled now: the first is on time

    def __getstate__(self):
        """Refuse copy, deepcopy and pickle: compiled code finds the state by its address."""
        raise TypeError("a Simulation can't be copied: make one of the same model, and "
                        'restore(other.save())')

    def step(self, tau=None, n: int = 1):
        """
        Advance by n steps, holding the efforts.

        :param tau: Joint efforts [N m or N], shape (nv,), clamped to what the actuators give;
            none without it. Torques that are set on ``joints`` come on top of it, once.
        :param n: Number of steps.
        :raises ValueError: If ``tau`` has the wrong shape or is not finite, ``n`` is negative, or
            what was written into ``q`` or ``qd`` is no state; nothing has changed then.
        :raises TypeError: If ``n`` is no whole number.
        :raises SimulationDiverged: If a step gave numbers that are not finite; the state is the
            one before that step.
        """
        if type(n) is not int or n != 1:
            n = number_of_steps(n)
        if self.torques.are_set:
            self._step_with_torques(tau, n)
            return
        if tau is None:
            tau = self._no_effort
        elif type(tau) is not np.ndarray:  # compiled code would not see what a mask hides
            tau = checked('tau', tau, self.model.nv)
        try:
            status = self._take_steps(self._block, tau, n)
        except (TypeError, ValueError):  # not a contiguous, writable array of doubles
            status = self._take_steps(self._block, checked('tau', tau, self.model.nv), n)
        if status != OK:
            self._explain(status, tau)

    def _step_with_torques(self, tau, n):
        """Advance with the torques that are set on joints; they stay if that fails, or n is 0."""
        torques, total = self.torques, self.torques.on_top_of(tau)
        torques.are_set = False
        try:
            self.step(total, n)
        except (ValueError, SimulationDiverged):
            torques.are_set = True
            raise
        if n == 0:
            torques.are_set = True
        else:
            torques.forget()

    def _explain(self, status, tau):
        """Raise the error that belongs to a status."""
        if status == BAD:
            checked('tau', tau, self.model.nv)
            checked('qd', self.qd, self.model.nv)
            checked_position(self.model, self.q)
        where = f'step {self.step_count} at {self.time:.6f} s'
        if status == UNSETTLED:
            raise SimulationDiverged(
                f'{where} found no implicit midpoint ({self._fastest(self.qd)}); the state before '
                'it was kept, dt has to be shorter')
        if status == PARTED:
            self._explain_parting(where)
        qd = self.qd
        if (np.abs(qd) < MODERATE).all():
            buffers = self._buffers  # what the step would have given, if nothing touched
            qd = (buffers.rows[FREE_VELOCITY] if buffers.block[INTEGRATOR] == EULER
                  else buffers.stages[-1, self.model.nq:])
        raise SimulationDiverged(
            f'{where} gave velocities that are NaN, above {MODERATE:g}, or turn a body by over '
            f'{FARTHEST_TURN:g} rad a step ({self._fastest(qd)}); the state before it was kept')

    def _explain_parting(self, where):
        """Raise the error that belongs to a loop that is open, or that a step can't keep."""
        gaps = loop_gaps(self.model, self.q)
        name = max(gaps, key=lambda name: max(gaps[name]))
        if max(gaps[name]) > OPEN:
            raise ValueError(
                f"q: the loop that joint '{name}' closes is open by {gaps[name].distance:.3g} m "
                f"({gaps[name].angle:.3g} rad); closed_positions finds positions near by that "
                f"integrator '{self.integrator}' can begin with")
        raise SimulationDiverged(
            f"{where} could not keep the loop that joint '{name}' closes together "
            f'({self._fastest(self.qd)}); the state before it was kept, dt has to be shorter')

    def _fastest(self, qd):
        """Say which joint, with its link, or free root moves fastest at some velocities."""
        speeds = np.abs(qd)
        # a velocity that isn't moderate is more likely the cause of those that are NaN
        k = int(np.argmax(np.where(np.isnan(speeds), MODERATE, speeds)))
        owners = {joint.v: f"joint '{joint.name}' of link '{joint.child}'"
                  for joint in self.model.joints}
        owners.update({root.v: f"free root '{root.name}'" for root in self.model.free_roots})
        return f'{owners[max(v for v in owners if v <= k)]} moves fastest, {speeds[k]:.3g}'

    @property
    def q(self) -> np.ndarray:
        """Positions, shape (nq,); may be written to, and set."""
        return self._state.q

    @q.setter
    def q(self, q):
        self._state.q[:] = checked_position(self.model, q)

    @property
    def qd(self) -> np.ndarray:
        """Velocities, shape (nv,); may be written to, and set."""
        return self._state.qd

    @qd.setter
    def qd(self, qd):
        self._state.qd[:] = checked_velocity(self.model, qd)

    @property
    def qdd(self) -> np.ndarray:
        """Mean accelerations of the last step, impacts included, read-only, shape (nv,)."""
        return self._qdd

    @property
    def effort(self) -> np.ndarray:
        """
        Efforts that acted in the last step, after clamping [N m or N], read-only, shape (nv,).

        Those of the next are given to ``step``, or set on ``joints``.
        """
        return self._effort

    @property
    def gravity(self) -> np.ndarray:
        """
        Acceleration of free fall in this simulation's world [m/s^2], shape (3,).

        It is a read-only copy, and may be set as a whole: ``sim.gravity = 0, 0, -1.62``.
        It begins as ``model.gravity``, which stays as it is and is what ``forward_dynamics`` and
        the other functions of a model use. A model of another world, for them, is
        ``dataclasses.replace(model, gravity=sim.gravity)``.
        """
        return read_only(self._state.gravity.copy())

    @gravity.setter
    def gravity(self, gravity):
        self._state.gravity[:] = checked('gravity', gravity, 3)

    @property
    def external_wrenches(self) -> np.ndarray:
        """
        Torque, then force from outside on each link.

        As ``f_ext`` of ``forward_dynamics``, shape (number of links, 6); a read-only copy, and may
        be set as a whole.
        They act in every step until they are set anew; ``reset`` and ``restore`` end them.
        ``links`` has them one by one.
        """
        return read_only(self._buffers.work.forces.copy())

    @external_wrenches.setter
    def external_wrenches(self, wrenches):
        forces = self._buffers.work.forces
        forces[:] = checked_forces(self.model, wrenches)
        # without any, a step needn't look at them
        self._block[N_FORCES] = len(forces) if forces.any() else 0

    @functools.cached_property
    def joints(self) -> JointViews:
        """The joints as objects, by name in file order; ``joints.roots`` are the trees."""
        return JointViews(self)

    @functools.cached_property
    def links(self) -> Named[LinkView]:
        """The links as objects, by name in file order."""
        return link_views(self.joints)

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
    def contacts(self) -> Contacts:
        """
        Contacts of the last step, and what the next one will not change.

        One by one they are objects with names; ``contacts['force']`` is an array of all. Forces
        act on shape b at ``point``, world axes.
        """
        return Contacts(self._state.contacts[:self._state.counters[CONTACTS]].copy(), self.model)

    @property
    def contact_wrenches(self) -> np.ndarray:
        """
        What the contacts of the last step do to each link, as ``f_ext`` is written.

        Torque about the link's origin, where it is now, then force, world axes, shape
        (number of links, 6); means over the step.
        """
        return link_wrenches(self.model, self.q, self.contacts.records)

    @property
    def counters(self):
        """
        What the contact solver did.

        ``contacts`` and ``iterations`` of the last step; in all: ``lagged`` steps, in which the
        bound on friction is an earlier one, ``unsolved`` ones, whose residual is too large, and
        contacts ``dropped`` for want of room, those with the largest gaps.
        """
        _, contacts, iterations, lagged, unsolved, dropped = self._state.counters.tolist()
        return types.SimpleNamespace(contacts=contacts, iterations=iterations, lagged=lagged,
                                     unsolved=unsolved, dropped=dropped)

    @property
    def integrator(self) -> str:
        """The rule that all joints follow which have none of their own."""
        return self._chosen[1]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What can't be done as it was asked, a line each."""
        left_out = [dof.name for dof in self.model.axes if dof.has_limits]
        limits = () if self.integrator in LAGS or not left_out else (
            f"integrator '{self.integrator}' leaves out limits and dry friction "
            f'({", ".join(left_out)})',)
        beyond = tuple(
            f'joint {dof.name!r} starts at {self._home[dof.q]:g}, beyond its limits '
            f'{dof.lower:g} to {dof.upper:g}' for dof in self.model.axes
            if not dof.lower - ROUNDOFF <= self._home[dof.q] <= dof.upper + ROUNDOFF)
        return limits + beyond + tuple(
            f"{sensor.type} sensor '{name}' asks for {sensor.settings.rate:g} Hz and samples each "
            f'step, at {1.0 / self.dt:g} Hz' for name, sensor in self.sensors.items()
            if sensor.settings.rate * self.dt > 1.0 + ROUNDOFF)

    def steps_until_sample(self) -> int:
        """Return after how many steps the next sensor sample will exist, at least 1."""
        due = min((sensor.next_step for sensor in self.sensors.values()), default=NEVER)
        return max(1, due - self.step_count + 1)

    def set_home(self, q):
        """
        Choose the positions that ``reset`` returns to, and go there.

        :param q: Positions, shape (nq,); those of followers follow.
        :raises ValueError: If they have the wrong shape or are not finite.
        """
        self._home = follow(self.model.followers, checked_position(self.model, q))
        self.reset()

    def reset(self):
        """Go back to the start: time 0, home positions, at rest, nothing pushes, sensors fresh."""
        state = self._state
        self._let_go()
        gravity = self.gravity
        for block in state.blocks():
            block[...] = np.zeros((), block.dtype)
        state.gravity[:] = gravity
        state.q[:] = self._home
        for sensor in self.sensors.values():
            sensor.reset()

    def _let_go(self):
        """End what was set from outside: torques on joints, wrenches on links."""
        self.torques.forget()
        self.external_wrenches = np.zeros((self.model.links.size, 6))

    def continued_with(self, model) -> 'Simulation':
        """
        Return a simulation of an edited model that goes on from here; this one stays as it is.

        Joints, free roots and sensors that are in both files keep their numbers, also where the
        others give them another name or place. New ones begin at home, at rest.

        :param model: The model; made of this one's elements and others.
        :raises TypeError: If it is none.
        """
        checked_model(model)
        options, integrator, own_rules, seed = self._chosen
        links = renamed(self.model.assembly.links, model.assembly.links)
        joints = renamed(self.model.assembly.joints, model.assembly.joints)
        called = renamed_sensors(self.model, model, ImuSensor, ForceTorqueSensor)
        kept, settings = {}, {}
        for name, sensor in self.sensors.items():
            now = links if sensor.holder == 'link' else joints
            holder = getattr(sensor.settings, sensor.holder)
            if holder in now:
                kept[called.get(name, name)] = sensor
                settings[called.get(name, name)] = dataclasses.replace(
                    sensor.settings, **{sensor.holder: now[holder]})
        added = {name: own for name, own in declared_sensors(model).items()
                 if own.link not in links.values()}
        tactile = {name: settings[name] for name, sensor in kept.items()
                   if sensor.type == ContactSensor.type}
        sim = Simulation(model, self.dt, added | tactile, options, integrator, {
            joints[name]: rule for name, rule in own_rules.items() if name in joints}, seed)
        self._hand_over(sim)
        for link, name in links.items():
            sim.links[name].external_wrench = self.links[link].external_wrench
        for name, sensor in sim.sensors.items():
            if name in kept and sensor.type == kept[name].type:
                sensor.settings = settings[name]
                sensor.go_on_from(kept[name])
            else:
                sensor.reset()
        return sim

    def _hand_over(self, sim):
        """Give another simulation the motion of this one, as far as it has the same parts."""
        home, old, new = sim.model.neutral_q(), self._state, sim._state
        carry_over(self.model, sim.model, self._home, home, 'q')
        sim.set_home(home)
        carry_over(self.model, sim.model, old.q, new.q, 'q')
        for part in ('qd', 'qdd', 'effort', 'change'):
            carry_over(self.model, sim.model, getattr(old, part), getattr(new, part), 'v')
        follow(sim.model.followers, new.q)
        for rates in (new.qd, new.qdd, new.change):
            follow_rates(sim.model.followers, rates)
        torques = np.zeros(sim.model.nv)
        carry_over(self.model, sim.model, self.torques.values, torques, 'v')
        sim.torques.put_all(torques, self.torques.are_set)
        new.gravity[:] = old.gravity
        new.counters[STEPS] = old.counters[STEPS]

    def save(self) -> bytes:
        """Return a snapshot from which ``restore`` repeats the run bit for bit."""
        settings = {name: values_of(sensor.settings) for name, sensor in self.sensors.items()}
        return self._state.to_bytes(self._fingerprint, json.dumps(settings).encode())

    def restore(self, snapshot: bytes):
        """
        Return to a snapshot, the settings of sensors included.

        :raises SnapshotError: If it isn't one of this model; nothing has changed then.
        :raises TypeError: If it is nothing that ``save`` returns.
        """
        checked_as((bytes, bytearray), 'snapshot', snapshot, 'the bytes that save() returned')
        *parts, text = self._state.parts_of(snapshot, self._fingerprint)
        settings = self._settings_from(text)
        self._state.put(parts)
        self._let_go()
        for name, sensor in self.sensors.items():
            sensor.put_settings(settings[name])

    def _settings_from(self, text) -> dict[str, Any]:
        """Read the settings of all sensors back, and check them."""
        try:
            values = json.loads(text)
            settings = {name: type(sensor.settings)(**values[name]).validated()
                        for name, sensor in self.sensors.items()}
            for name, sensor in self.sensors.items():
                sensor.fitted(settings[name])
        except (ValueError, KeyError, TypeError, SensorError) as problem:
            raise SnapshotError(f'snapshot with spoilt settings of sensors: {problem}') from None
        return settings


def read_only(array) -> np.ndarray:
    """Return a view that nobody can write to."""
    view = array.view()
    view.setflags(write=False)
    return view


def checked_as(kind, what, value, expected) -> Any:
    """
    Return a value of a kind.

    :raises TypeError: If it is something else; says what was expected.
    """
    if not isinstance(value, kind):
        raise TypeError(f'{what}: {expected} expected, got {value!r}')
    return value


def add_sensor(sensors, kind: type[Sensor], name: str, *arguments):
    """
    Make a sensor of some kind, and add it to those that there are.

    :raises SensorError: If another one has its name, or its settings don't fit the model.
    """
    if name in sensors:
        raise SensorError(f"{kind.type} sensor '{name}': the {sensors[name].type} sensor has the "
                          'same name')
    with naming(f"{kind.type} sensor '{name}'"):
        sensors[name] = kind(name, *arguments)


@contextlib.contextmanager
def naming(what):
    """Begin the message of a `SensorError` with the sensor's name."""
    try:
        yield
    except SensorError as problem:
        raise SensorError(f'{what}: {problem}') from None


def known(name, names, what) -> str:
    """
    Return a name that is among those known.

    :raises ValueError: If it isn't; lists those, and the near one.
    """
    if not isinstance(name, str):
        raise ValueError(f"{what}: a name expected ({', '.join(names)}), got {name!r}")
    if name not in names:
        raise ValueError(f"{what} '{name}' is unknown ({', '.join(names)})"
                         f'{did_you_mean(name, names)}')
    return name


def lags(model, integrator, joint_integrators) -> np.ndarray:
    """Return for each velocity how much of its change a joint's rule takes back to move by."""
    if not isinstance(joint_integrators, Mapping):
        raise ValueError('joint_integrators: names of integrators by names of joints expected, '
                         f'got {joint_integrators!r}')
    lag = np.full(model.nv, LAGS.get(integrator, 0.0))
    joints = {joint.name: joint for joint in model.joints}
    for name, rule in joint_integrators.items():
        joint = joints[known(name, joints, 'joint')]
        known(integrator, LAGS, "where joints have integrators of their own, the simulation's")
        lag[joint.v:joint.v + joint.nv] = LAGS[known(rule, LAGS, f"joint '{name}': integrator")]
    return lag


def number_of_steps(n) -> int:
    """
    Return how many steps are meant.

    :raises TypeError: If it is no whole number, as 2.0, True and arrays are none.
    :raises ValueError: If it is negative, or without end.
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise TypeError(f'n = {n!r}: a whole number of steps expected, not {type(n).__name__}')
    if not 0 <= n < TOO_MANY:
        raise ValueError(f'n = {n}: 0 or more steps expected, and less than 2^62')
    return int(n)


def checked_seed(seed) -> int:
    """
    Return a seed.

    :raises ValueError: If it is no whole number.
    """
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
        raise ValueError(f'seed = {seed!r}: a whole number expected')
    return int(seed)


def nanoseconds(dt) -> int:
    """
    Return a step as whole nanoseconds.

    :raises ValueError: If it is none: not positive, too long, or with a fraction left.
    """
    if not (isinstance(dt, (int, float, np.integer, np.floating)) and not isinstance(dt, bool)
            and 0.0 < dt <= LONGEST_STEP):
        raise ValueError(f'dt = {dt!r}: a positive number of seconds expected, not above '
                         f'{LONGEST_STEP:g}')
    whole = round(dt * 1e9)
    if whole == 0 or abs(whole * 1e-9 - dt) > 1e-6 * dt:
        raise ValueError(f'dt = {dt}: a whole number of nanoseconds expected')
    return whole
