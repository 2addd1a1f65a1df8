"""What a sensor with six axes gets wrong: noise, bias, drift and rounding of each axis."""
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.jit import exact
from spr_dynamics.sensors.measure import quantized
from spr_dynamics.sensors.noise import draw_gaussian, GENERATOR
from spr_dynamics.sensors.schedule import note_sample, SCHEDULE

AXES = 6


class AxisNoise(NamedTuple):
    """SDFormat's ``<noise>`` of an axis, in the unit of what it measures; all zero: none."""

    mean: float = 0.0
    """Added to each reading."""
    stddev: float = 0.0
    """Of the white noise on each reading."""
    bias_mean: float = 0.0
    bias_stddev: float = 0.0
    """Of what is drawn at the first sample and added to all of them."""
    dynamic_bias_stddev: float = 0.0
    """Strength of the white noise that drives the drift [unit / sqrt(s)]."""
    dynamic_bias_correlation_time: float = 0.0
    """Time in which the drift forgets itself [s]; 0: there is none."""
    precision: float = 0.0
    """Readings are rounded to multiples of this; 0: not."""

    @property
    def variance(self) -> float:
        """Of the readings about their mean, once the drift has settled [unit^2]."""
        drift = 0.5 * self.dynamic_bias_stddev ** 2 * self.dynamic_bias_correlation_time
        return self.stddev ** 2 + self.bias_stddev ** 2 + drift + self.precision ** 2 / 12.0


NO_NOISE = (AxisNoise(), AxisNoise(), AxisNoise())  # on x, y and z

# The same for kernels, field by field.
AXIS_NOISE = np.dtype([(name, np.float64) for name in AxisNoise._fields], align=True)

# What a sensor with six axes remembers: its newest sample, its errors, its schedule.
MEMORY = np.dtype([
    ('values', np.float64, AXES),
    ('bias', np.float64, AXES), ('drift', np.float64, AXES),
    ('R_WR', np.float64, 9),                     # frame that orientations of an IMU count from
    ('R_RS', np.float64, 9),                     # orientation of the IMU in it
    ('schedule', SCHEDULE), ('generator', GENERATOR),
], align=True)


def axis_noises(elements) -> tuple[AxisNoise, AxisNoise, AxisNoise]:
    """Return the ``<noise>`` of x, y and z as they act: only the quantised kind rounds."""
    x, y, z = map(axis_noise, elements)
    return x, y, z


def axis_noise(element) -> AxisNoise:
    """Return a ``<noise>`` as it acts."""
    if element.type not in ('gaussian', 'gaussian_quantized'):
        return AxisNoise()
    noise = AxisNoise(*(getattr(element, name) for name in AxisNoise._fields))
    return noise if element.type == 'gaussian_quantized' else noise._replace(precision=0.0)


@exact
def drift_on(noise, drift, elapsed, generator):
    """
    Return the drift of an axis after some time: a first-order Gauss-Markov process.

    db/dt = -b / T + w with white noise w; its exact solution, so that it does not depend on the
    rate. The deviation settles at that of w times sqrt(T / 2).
    """
    T = noise.dynamic_bias_correlation_time
    if not (noise.dynamic_bias_stddev > 0.0 and T > 0.0):
        return drift
    spread = math.sqrt(-0.5 * T * math.expm1(-2.0 * elapsed / T))
    kick = noise.dynamic_bias_stddev * spread * draw_gaussian(generator)
    return math.exp(-elapsed / T) * drift + kick


@exact
def finish_sample(noises, memory, step, dt):
    """
    Put a sensor's errors on the values that it has just measured, and count the sample.

    :param noises: ``AXIS_NOISE`` record of each axis.
    :param memory: ``MEMORY`` record.
    """
    elapsed = (step - memory.schedule.step) * dt
    for k in range(AXES):
        noise, generator = noises[k], memory.generator
        if memory.schedule.samples == 0:
            memory.bias[k] = noise.bias_mean
            if noise.bias_stddev > 0.0:
                memory.bias[k] += noise.bias_stddev * draw_gaussian(generator)
        else:
            memory.drift[k] = drift_on(noise, memory.drift[k], elapsed, generator)
        value = memory.values[k] + noise.mean + memory.bias[k] + memory.drift[k]
        if noise.stddev > 0.0:
            value += noise.stddev * draw_gaussian(generator)
        memory.values[k] = quantized(value, noise.precision)
    note_sample(memory.schedule, step)
