"""What the sensors of a simulation have in common: settings, a schedule, and a newest sample."""
import abc
import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from spr_dynamics.model.model import Model
from spr_dynamics.sensors.noise import generator_state
from spr_dynamics.sensors.schedule import EARLY, next_due_step
from spr_dynamics.sensors.settings import validated_as
from spr_dynamics.simulation.buffers import StepBuffers
from spr_dynamics.simulation.named import FixedAttributes
from spr_dynamics.simulation.state import STEPS

NEVER = 2 ** 62  # [steps]


class Surroundings(NamedTuple):
    """What a sensor needs to know of its simulation."""

    model: Model
    dt_ns: int
    """Length of a step [ns]."""
    buffers: StepBuffers
    """The simulation's, its state among them."""
    seed: int
    """Of the simulation's random numbers."""


class Sensor(FixedAttributes, abc.ABC):
    """
    A sensor of a simulation: its settings may change while it runs.

    A kind of sensors says in ``fitted`` how settings become the numbers that the compiled step
    reads, and what its ``reading`` is.

    :param name: The sensor's.
    :param around: Its simulation.
    :param memory: The sensor's record of the simulation's state, as an array of one, with fields
        ``schedule`` and ``generator`` and what else it remembers.
    :param constants: The sensor's own parts of the arrays that the compiled step reads.
    :param settings: To begin with: a frozen dataclass with ``validated()``, ``rate`` [Hz of
        simulated time] and ``enabled``.
    :raises SensorError: If the settings don't fit the model.
    """

    __slots__ = '_around', '_constants', '_memory', '_schedule', '_settings', 'name'

    type: str
    """SDF's word for this kind of sensors."""
    settings_type: Any
    """What its settings are."""
    holder: str = 'link'
    """The setting that names what it is mounted on, ``link`` or ``joint``."""

    def __init__(self, name: str, around: Surroundings, memory: np.ndarray,
                 constants: tuple[np.ndarray, ...], settings: Any):
        self.name, self._around, self._memory, self._constants = name, around, memory, constants
        self._schedule = memory['schedule']
        self.settings = settings

    @abc.abstractmethod
    def fitted(self, settings: Any) -> tuple[np.ndarray, ...]:
        """
        Return what the compiled step reads, for each of the sensor's ``constants``.

        :param settings: Validated ones.
        :raises SensorError: If they don't fit the model.
        """

    @property
    @abc.abstractmethod
    def reading(self) -> Any:
        """The newest sample; zeros before the first."""

    @property
    @abc.abstractmethod
    def measurement_names(self) -> list[str]:
        """Names of ``measurements``."""

    @property
    @abc.abstractmethod
    def measurements(self) -> np.ndarray:
        """The newest sample as numbers."""

    @property
    def settings(self) -> Any:
        """Where the sensor is and how it measures; a change acts on the next sample."""
        return self._settings

    @settings.setter
    def settings(self, settings):
        self.change_settings(settings)

    def change_settings(self, settings):
        """
        Take over other settings from the present step on.

        :raises SensorError: If they make no sense, or don't fit the model; nothing has changed
            then.
        """
        self.put_settings(settings)
        self.keep_schedule()

    def put_settings(self, settings):
        """
        Take over settings whose schedule the state has already.

        :raises SensorError: If they make no sense, or don't fit the model; nothing has changed
            then.
        """
        settings = validated_as(self.settings_type, settings)
        for constants, numbers in zip(self._constants, self.fitted(settings)):
            constants[...] = numbers
        self._settings = settings

    def keep_schedule(self):
        """
        Make the state follow the settings: a schedule that is another one starts anew.

        It starts at this step, but not before a period has passed since the newest sample. A rate
        above that of the steps gives a sample each step.
        """
        rate, enabled, schedule = self._settings.rate, self._settings.enabled, self._schedule[0]
        period = 1.0 if rate == 0.0 else max(1.0, 1e9 / (rate * self._around.dt_ns))
        period = min(period, float(NEVER))
        if (schedule['enabled'], schedule['period']) != (enabled, period):
            schedule['enabled'], schedule['period'] = enabled, period
            schedule['first_step'] = self._present_step
            schedule['first_sample'] = schedule['samples']
            if schedule['samples']:
                next_step = schedule['step'] + math.ceil(period - EARLY)
                schedule['first_step'] = max(schedule['first_step'], next_step)

    @property
    def _present_step(self):
        return int(self._around.buffers.state.counters[STEPS])

    def reset(self):
        """Forget all samples; the schedule starts at this step, the noise at its beginning."""
        self._memory[...] = np.zeros((), self._memory.dtype)
        self._memory['generator']['state'] = generator_state(self._around.seed, self.name)
        self.keep_schedule()

    def go_on_from(self, other: Any):
        """Take over all that another simulation's sensor remembers."""
        self._memory[...] = other._memory
        self.keep_schedule()

    @property
    def complaint(self) -> str:
        """Why the sensor reports less than a user may expect; empty if all is well."""
        return '' if self._settings.enabled else 'it is off (enabled = false)'

    @property
    def facts(self) -> dict[str, Any]:
        """What a report says of the sensor."""
        return {'virtual': True, 'type': self.type, 'enabled': self._settings.enabled,
                'samples': self.sample_count,
                **dict(zip(self.measurement_names, self.measurements.tolist()))}

    @property
    def sample_count(self) -> int:
        """How many samples were taken since the start."""
        return int(self._schedule['samples'][0])

    @property
    def sample_time_ns(self) -> int:
        """Simulated time of the newest sample [ns]: that of the poses and contacts it saw."""
        return int(self._schedule['step'][0]) * self._around.dt_ns

    @property
    def next_step(self) -> int:
        """Number of the step in which the next sample is due."""
        return next_due_step(self._schedule) if self._settings.enabled else NEVER


def values_of(settings) -> dict[str, Any]:
    """Return settings by name, in lists and numbers; the class of the settings takes them back."""
    return {field.name: value.tolist() if isinstance(value, np.ndarray) else value
            for field in dataclasses.fields(settings)
            for value in [getattr(settings, field.name)]}
