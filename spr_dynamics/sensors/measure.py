"""
The kernels of the contact sensor: what its patch feels in a step, and how that becomes a sample.

Each step the contacts of the sensor's shapes are gathered, judged, weighted and added. The window
collects what the steps since the last sample gave; a sensor that measures single steps has a
window of one.
"""
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.contact.records import CONTACT
from spr_dynamics.jit import CUBE, entry_point, exact, FLAGS, records, VECTOR
from spr_dynamics.sensors.noise import draw_gaussian, GENERATOR
from spr_dynamics.sensors.schedule import is_due, note_sample, SCHEDULE
from spr_dynamics.sensors.taxels import clear_taxels, keep_taxels, spread_force, take_taxels
from spr_dynamics.spatial import (
    add, as_columns, as_matrix, as_transform, as_vector, compose, cross, dot, put_matrix,
    put_vector, scale, subtract, times, TRANSFORM, transpose, Vector, ZERO)

FALLOFF_MODES = KLAMPT, EDGE = 0, 1
CONTACT_RULES = NORMAL_FORCE, ANY_CONTACT = 0, 1
MEASURES = SAMPLE, MEAN, PEAK = 0, 1, 2

# A sensor, as kernels need it.
SENSOR = np.dtype([
    ('body', np.int64),
    ('X', np.float64, TRANSFORM),                # body to sensor
    ('patch_min', np.float64, 2), ('patch_max', np.float64, 2),
    ('tolerance', np.float64),
    ('resolution', np.float64, 3), ('saturation', np.float64, 3),
    ('deviation', np.float64, 3),                # of the noise [N]
    ('sensitivity', np.float64), ('release', np.float64),
    ('falloff', np.float64), ('falloff_mode', np.int64),
    ('rule', np.int64), ('measure', np.int64),
    ('noise_when_idle', np.bool_),
    ('first_taxel', np.int64), ('rows', np.int64), ('columns', np.int64),
    ('spread', np.float64),                      # of a force over taxels [m]
], align=True)

MOST_STEPS = 2.0 ** 52  # of a resolution: beyond them each double is a multiple of it, or near one

COUNTED, BESIDE, OFF = 0, 1, 2  # values of ``status``: outside the patch, and of the tolerance

# A contact as a sensor sees it: in its frame, from the side of its link.
FELT = np.dtype([
    ('position', np.float64, 3),                 # on the surface of the link
    ('point', np.float64, 3),                    # where the force acts, halfway to the other one
    ('normal', np.float64, 3),                   # into the link
    ('force', np.float64, 3),                    # on the link [N]
    ('depth', np.float64),                       # overlap [m]
    ('weight', np.float64),                      # how much of the force counts
    ('partner', np.int64),                       # the other shape
    ('status', np.int64),
], align=True)

# What the steps since the last sample gave: sums, or those of the step with the largest force.
WINDOW = np.dtype([
    ('steps', np.int64),
    ('force', np.float64, 3), ('torque', np.float64, 3),
    ('press', np.float64),                       # sum of |force z|
    ('moment', np.float64, 3),                   # of |force z| times position
    ('largest', np.float64),                     # squared force of that step
    ('contact', np.bool_),                       # in any step
    ('seen', np.int64), ('counted', np.int64),   # the most of any step
    ('beside', np.int64), ('off', np.int64),
    ('miss', np.float64, 3), ('distance', np.float64),  # of the nearest miss; 0: none
], align=True)

# What a sensor remembers: its newest sample, its window, its schedule and its random numbers.
READING = np.dtype([
    ('contact', np.bool_),
    ('touching', np.bool_),                      # in the newest step that was looked at
    ('force', np.float64, 3),                    # on the link, sensor frame [N]
    ('torque', np.float64, 3),                   # about the sensor's origin [N m]
    ('centre', np.float64, 3),                   # of pressure, sensor frame [m]
    ('seen', np.int64), ('counted', np.int64), ('beside', np.int64), ('off', np.int64),
    ('saturated', np.int64),
    ('miss', np.float64, 3),
    ('R_WS', np.float64, 9), ('p_WS', np.float64, 3),  # in the last step
    ('window', WINDOW),
    ('schedule', SCHEDULE), ('generator', GENERATOR),
], align=True)


class Patch(NamedTuple):
    """What the contacts of one step add up to, in the sensor's frame."""

    force: Vector
    torque: Vector
    press: float
    moment: Vector
    counted: int
    beside: int
    off: int
    miss: Vector
    distance: float


@exact
def excess(x, low, high):
    """Return how far x lies outside a range; negative below it."""
    return max(x - high, 0.0) + min(x - low, 0.0)


@exact
def falloff_weight(sensor, x, y):
    """Weigh a contact by its place: Klampt's formula spares the axes of the patch."""
    u = (2.0 * x - sensor.patch_min[0] - sensor.patch_max[0]) / (
        sensor.patch_max[0] - sensor.patch_min[0])
    v = (2.0 * y - sensor.patch_min[1] - sensor.patch_max[1]) / (
        sensor.patch_max[1] - sensor.patch_min[1])
    if sensor.falloff_mode == EDGE:
        base = max(0.0, 1.0 - u * u) * max(0.0, 1.0 - v * v)
    else:
        base = max(0.0, 1.0 - abs(u * v))
    return base ** sensor.falloff


@exact
def quantized(value, resolution):
    """
    Round to a multiple of the resolution, halves away from zero; 0 leaves it as it is.

    So does one that is finer than the last digit of the value.
    """
    if abs(value) < MOST_STEPS * resolution:
        return math.copysign(math.floor(abs(value) / resolution + 0.5) * resolution, value)
    return value


@exact
def gather(contacts, n_contacts, watched, R, p, felt):
    """
    Collect the contacts that act on the shapes which a sensor watches.

    :param watched: Whether the sensor watches a shape, shape (number of shapes,).
    :param R: Orientation of the sensor in the world, ``Matrix``.
    :param p: Position of its origin, ``Vector``.
    :param felt: ``FELT`` records that take them.
    :returns: How many there are.
    """
    back = transpose(R)
    count = 0
    for c in range(n_contacts):
        contact = contacts[c]
        sign, partner = 0.0, contact.shape_a
        if watched[contact.shape_b]:
            sign = 1.0
        elif watched[contact.shape_a]:
            sign, partner = -1.0, contact.shape_b
        acts = contact.impulse[0] != 0.0 or contact.impulse[1] != 0.0 or contact.impulse[2] != 0.0
        if sign != 0.0 and acts:
            row = felt[count]
            normal = scale(times(back, as_vector(contact.n, 0)), sign)
            point = times(back, subtract(as_vector(contact.point, 0), p))
            put_vector(row.position, 0, add(point, scale(normal, 0.5 * contact.gap)))
            put_vector(row.point, 0, point)
            put_vector(row.normal, 0, normal)
            put_vector(row.force, 0, scale(times(back, as_vector(contact.force, 0)), sign))
            row.depth, row.partner = -contact.gap, partner
            count += 1
    return count


@exact
def judge(sensor, felt, count, taxels):
    """
    Say which contacts count and how much, and add up what they give.

    :param felt: ``FELT`` records; the status and weight of each are written.
    :param taxels: Forces by cell: those of this step come first; shape (3, cells, 3).
    """
    force, torque, moment, miss = ZERO, ZERO, ZERO, ZERO
    press, distance = 0.0, math.inf
    counted, beside, off = 0, 0, 0
    clear_taxels(sensor, taxels[0])
    for c in range(count):
        row = felt[c]
        at = as_vector(row.position, 0)
        out = Vector(excess(at.x, sensor.patch_min[0], sensor.patch_max[0]),
                     excess(at.y, sensor.patch_min[1], sensor.patch_max[1]),
                     excess(at.z, -sensor.tolerance, sensor.tolerance))
        row.weight = 0.0
        if out.x != 0.0 or out.y != 0.0 or out.z != 0.0:
            is_beside = out.x != 0.0 or out.y != 0.0
            row.status = BESIDE if is_beside else OFF
            beside, off = beside + is_beside, off + (not is_beside)
            by = math.sqrt(dot(out, out))
            if by < distance:
                miss, distance = out, by
            continue
        row.status, row.weight = COUNTED, 1.0
        if sensor.falloff > 0.0:
            row.weight = falloff_weight(sensor, at.x, at.y)
        f = scale(as_vector(row.force, 0), row.weight)
        force = add(force, f)
        torque = add(torque, cross(as_vector(row.point, 0), f))
        press += abs(f.z)
        moment = add(moment, scale(at, abs(f.z)))
        counted += 1
        spread_force(sensor, at, f, taxels[0])
    if distance == math.inf:
        distance = 0.0
    return Patch(force, torque, press, moment, counted, beside, off, miss, distance)


@exact
def touches(sensor, patch, was_touching):
    """Say whether the sensor reports contact for what it feels; letting go may take less."""
    if sensor.rule == ANY_CONTACT:
        return patch.counted > 0
    threshold = sensor.sensitivity
    if was_touching:
        threshold = min(threshold, sensor.release)
    return abs(patch.force.z) > threshold


@exact
def note_step(sensor, patch, seen, reading, taxels):
    """Add what a step gave to the window."""
    window = reading.window
    reading.touching = touches(sensor, patch, reading.touching)
    window.contact = window.contact or reading.touching
    window.seen, window.counted = max(window.seen, seen), max(window.counted, patch.counted)
    window.beside, window.off = max(window.beside, patch.beside), max(window.off, patch.off)
    if patch.distance > 0.0 and not 0.0 < window.distance <= patch.distance:
        put_vector(window.miss, 0, patch.miss)
        window.distance = patch.distance
    force, torque = as_vector(window.force, 0), as_vector(window.torque, 0)
    press, moment = window.press, as_vector(window.moment, 0)
    size = dot(patch.force, patch.force)
    replaces = sensor.measure == PEAK and size > window.largest
    if replaces:
        force, torque, press, moment = ZERO, ZERO, 0.0, ZERO
        window.largest = size
    if replaces or sensor.measure != PEAK:
        put_vector(window.force, 0, add(force, patch.force))
        put_vector(window.torque, 0, add(torque, patch.torque))
        put_vector(window.moment, 0, add(moment, patch.moment))
        window.press = press + patch.press
        keep_taxels(sensor, taxels, replaces)
    window.steps += 1


@exact
def take_sample(sensor, reading, taxels):
    """Turn the window into a sample, with noise, resolution and saturation, and empty it."""
    window = reading.window
    share = 1.0
    if sensor.measure == MEAN:
        share = 1.0 / window.steps
    is_noisy = window.seen > 0 or sensor.noise_when_idle
    reading.saturated = 0
    for axis in range(3):
        value = window.force[axis] * share
        if sensor.deviation[axis] > 0.0:
            error = sensor.deviation[axis] * draw_gaussian(reading.generator)
            if is_noisy:
                value += error
        value, limit = quantized(value, sensor.resolution[axis]), sensor.saturation[axis]
        reading.saturated += abs(value) > limit
        reading.force[axis] = min(max(value, -limit), limit)
        reading.torque[axis] = window.torque[axis] * share
        reading.centre[axis] = 0.0
        if window.press > 0.0:
            reading.centre[axis] = window.moment[axis] / window.press
        reading.miss[axis] = window.miss[axis]
        window.force[axis], window.torque[axis], window.moment[axis] = 0.0, 0.0, 0.0
        window.miss[axis] = 0.0
    reading.contact = window.contact
    reading.seen, reading.counted = window.seen, window.counted
    reading.beside, reading.off = window.beside, window.off
    take_taxels(sensor, taxels, share)
    window.steps, window.press, window.largest, window.distance = 0, 0.0, 0.0, 0.0
    window.contact = False
    window.seen, window.counted, window.beside, window.off = 0, 0, 0, 0


@exact
def read_sensors(sensors, watched, work, contacts, n_contacts, step, felt, taxels, readings):
    """Let each sensor feel this step that has to, and take a sample if its time has come."""
    for s in range(sensors.size):
        sensor, reading, now = sensors[s], readings[s], work[sensors[s].body]
        R, p = compose(as_columns(now.R_WB), as_vector(now.p_WB, 0), as_transform(sensor.X))
        put_matrix(reading.R_WS, 0, R)
        put_vector(reading.p_WS, 0, p)
        has_to_sample = is_due(reading.schedule, step)
        if not (has_to_sample or reading.schedule.enabled and sensor.measure != SAMPLE):
            continue
        count = gather(contacts, n_contacts, watched[s], R, p, felt)
        note_step(sensor, judge(sensor, felt, count, taxels), count, reading, taxels)
        if has_to_sample:
            take_sample(sensor, reading, taxels)
            note_sample(reading.schedule, step)


@entry_point(records(SENSOR), records(FELT), CUBE, records(READING))
def measure(sensor, felt, taxels, reading):
    """
    Measure given contacts with one sensor.

    :param felt: ``FELT`` records; the status and weight of each are written.
    :param taxels: Forces by cell; the last rows take those of the sample.
    """
    patch = judge(sensor[0], felt, felt.size, taxels)
    note_step(sensor[0], patch, felt.size, reading[0], taxels)
    take_sample(sensor[0], reading[0], taxels)


@entry_point(records(SENSOR), FLAGS, records(CONTACT), VECTOR, records(FELT), CUBE)
def see_contacts(sensor, watched, contacts, pose, felt, taxels):
    """
    Look at contacts as a sensor does, without measuring them.

    :param pose: Of the sensor in the world: rotation row by row, then position.
    :param felt: ``FELT`` records that take them.
    :param taxels: Forces by cell; the first rows are overwritten.
    :returns: How many there are.
    """
    count = gather(contacts, contacts.size, watched, as_matrix(pose, 0), as_vector(pose, 9), felt)
    judge(sensor[0], felt, count, taxels)
    return count
