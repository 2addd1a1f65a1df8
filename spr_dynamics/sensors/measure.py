"""The kernels of the contact sensor: what it measures."""
import math

import numpy as np

from spr_dynamics.jit import CUBE, entry_point, exact, records, VECTOR
from spr_dynamics.sensors.noise import GENERATOR
from spr_dynamics.sensors.schedule import is_due, note_sample, SCHEDULE
from spr_dynamics.spatial import (
    add, as_matrix, as_transform, as_vector, compose, cross, put_vector, scale, subtract, times,
    TRANSFORM, transpose, ZERO)

# A sensor, as kernels need it.
SENSOR = np.dtype([
    ('body', np.int64),
    ('X', np.float64, TRANSFORM),                # body to sensor
    ('patch_min', np.float64, 2), ('patch_max', np.float64, 2),
    ('tolerance', np.float64),
    ('resolution', np.float64, 3), ('saturation', np.float64, 3),
    ('sensitivity', np.float64),
    ('falloff', np.float64),
], align=True)

# What a sensor remembers: its newest sample, its schedule and its random numbers.
READING = np.dtype([
    ('contact', np.bool_),
    ('force', np.float64, 3),                    # on the link, sensor frame [N]
    ('torque', np.float64, 3),                   # about the sensor's origin [N m]
    ('seen', np.int64), ('counted', np.int64),   # contacts on the link, and in the patch
    ('schedule', SCHEDULE), ('generator', GENERATOR),
], align=True)


@exact
def falloff_weight(sensor, x, y):
    """Weigh a contact: 1 on the axes of the patch, 0 at its corners (Klampt's formula)."""
    u = (2.0 * x - sensor.patch_min[0] - sensor.patch_max[0]) / (
        sensor.patch_max[0] - sensor.patch_min[0])
    v = (2.0 * y - sensor.patch_min[1] - sensor.patch_max[1]) / (
        sensor.patch_max[1] - sensor.patch_min[1])
    return max(0.0, 1.0 - abs(u * v)) ** sensor.falloff


@exact
def quantized(value, resolution):
    """Round to a multiple of the resolution, halves away from zero; 0 leaves it as it is."""
    if resolution > 0.0:
        return math.copysign(math.floor(abs(value) / resolution + 0.5) * resolution, value)
    return value


@exact
def measure_patch(sensor, R, p, points, forces, count, reading):
    """
    Measure the contacts of a link.

    :param sensor: ``SENSOR`` record.
    :param R: Orientation of the sensor in the world, ``Matrix``.
    :param p: Position of its origin, ``Vector``.
    :param points: Contact points, world, shape (capacity, 3).
    :param forces: Forces on the link, world, shape (capacity, 3).
    :param count: How many contacts there are.
    :param reading: ``READING`` record that takes the result.
    """
    back = transpose(R)
    force, torque = ZERO, ZERO
    counted = 0
    for c in range(count):
        x = times(back, subtract(as_vector(points[c], 0), p))
        if not (sensor.patch_min[0] <= x.x <= sensor.patch_max[0]
                and sensor.patch_min[1] <= x.y <= sensor.patch_max[1]
                and abs(x.z) <= sensor.tolerance):
            continue
        f = times(back, as_vector(forces[c], 0))
        if sensor.falloff > 0.0:
            f = scale(f, falloff_weight(sensor, x.x, x.y))
        force = add(force, f)
        torque = add(torque, cross(x, f))
        counted += 1
    reading.contact = abs(force.z) > sensor.sensitivity
    put_vector(reading.force, 0, force)
    put_vector(reading.torque, 0, torque)
    for axis in range(3):
        value = quantized(reading.force[axis], sensor.resolution[axis])
        limit = sensor.saturation[axis]
        reading.force[axis] = min(max(value, -limit), limit)
    reading.seen, reading.counted = count, counted


@exact
def gather(contacts, n_contacts, watched, points, forces):
    """
    Collect the contacts of the shapes that a sensor watches, as forces on its link.

    :param watched: Whether the sensor watches a shape, shape (number of shapes,).
    :returns: How many there are.
    """
    count = 0
    for c in range(n_contacts):
        contact = contacts[c]
        sign = 0.0
        if watched[contact.shape_b]:
            sign = 1.0
        elif watched[contact.shape_a]:
            sign = -1.0
        if sign != 0.0 and contact.impulse[0] > 0.0:
            put_vector(points[count], 0, as_vector(contact.point, 0))
            put_vector(forces[count], 0, scale(as_vector(contact.force, 0), sign))
            count += 1
    return count


@exact
def read_sensors(sensors, watched, work, contacts, n_contacts, step, points, forces, readings):
    """Let each sensor whose time has come take a sample of this step."""
    for s in range(sensors.size):
        sensor, reading = sensors[s], readings[s]
        if is_due(reading.schedule, step):
            now = work[sensor.body]
            R, p = compose(as_matrix(now.R_WB, 0), as_vector(now.p_WB, 0),
                           as_transform(sensor.X))
            count = gather(contacts, n_contacts, watched[s], points, forces)
            measure_patch(sensor, R, p, points, forces, count, reading)
            note_sample(reading.schedule, step)


@entry_point(records(SENSOR), VECTOR, CUBE, records(READING))
def measure(sensor, pose, contacts, reading):
    """
    Measure given contacts with one sensor.

    :param pose: Pose of the sensor in the world: rotation row by row, then position.
    :param contacts: Points, then forces, shape (2, count, 3).
    """
    measure_patch(sensor[0], as_matrix(pose, 0), as_vector(pose, 9), contacts[0], contacts[1],
                  contacts.shape[1], reading[0])
