"""The kernels of the sensors that feel how bodies move: IMUs, and force-torque ones in joints."""
import numpy as np

from spr_dynamics.contact.records import TIED, TURNING
from spr_dynamics.dynamics.bias import force_on_body
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.model.records import FREE
from spr_dynamics.sensors.axis_noise import AXES, AXIS_NOISE, finish_sample
from spr_dynamics.sensors.schedule import is_due
from spr_dynamics.spatial import (
    add, add_forces, as_columns, as_force, as_matrix, as_motion, as_rigid_inertia, as_transform,
    as_vector, compose, cross, Force, force_to_move, product, put_force, put_matrix, put_vector,
    RIGID_INERTIA, RigidInertia, scale, scale_force, shift_force, shift_motion, subtract,
    subtract_forces, times, TRANSFORM, transpose, turned, ZERO)

# An IMU, as kernels need it.
IMU = np.dtype([
    ('body', np.int64),
    ('X', np.float64, TRANSFORM),                # body to sensor
    ('noise', AXIS_NOISE, AXES),                 # of angular velocity, then specific force
], align=True)

# A force-torque sensor. What it measures is the force that a joint passes on to one side of it:
# what the links there need, and the joints that hang on them, less what acts from outside.
FORCE_TORQUE = np.dtype([
    ('body', np.int64),                          # the one of those links
    ('inertia', np.float64, RIGID_INERTIA),      # of those links, in the frame of the body
    ('X', np.float64, TRANSFORM),                # body to sensor
    ('axes_body', np.int64),                     # whose frame the axes of the reading stand in
    ('E', np.float64, 9),                        # from that body's axes to those of the reading
    ('sign', np.float64),                        # 1: reads the force on that side, -1: from it
    ('noise', AXIS_NOISE, AXES),                 # of the force, then the torque
], align=True)


@kernel
def any_is_due(memories, step):
    """Say whether any of some sensors takes a sample at this step."""
    for memory in memories:
        if is_due(memory.schedule, step):
            return True
    return False


@kernel
def mean_accelerations(tree, work, qd, velocity, dt, qdd):
    """
    Find the accelerations that a step of the Euler rules gives to bodies at its start.

    The velocity of a free body's origin leaves the turn of the way to the centre of mass to
    the positions; here it is part of the acceleration. Needs the composite inertias of free
    bodies.

    :param qd: Velocities at the start of the step, shape (nv,).
    :param velocity: Those that the step ends with, before positions move, shape (nv,).
    :param qdd: Result, shape (nv,).
    """
    for k in range(qd.size):
        qdd[k] = (velocity[k] - qd[k]) / dt
    for i in range(1, tree.size):
        if tree[i].joint == FREE:
            k, carried = tree[i].v, as_rigid_inertia(work[i].Ic)
            spin, arm = as_vector(qd, k + 3), scale(carried.h, 1.0 / carried.mass)
            put_vector(qdd, k, subtract(as_vector(qdd, k), cross(spin, cross(spin, arm))))


@kernel
def read_imus(imus, memories, work, step, dt):
    """
    Let each IMU whose time has come take a sample.

    Needs the bodies' motions, with gravity as an upward acceleration of the world, so that
    accelerations are what an accelerometer feels.
    """
    for s in range(imus.size):
        imu, memory = imus[s], memories[s]
        if is_due(memory.schedule, step):
            now, X = work[imu.body], as_transform(imu.X)
            R_WB = as_columns(now.R_WB)
            R_WS, arm = product(R_WB, transpose(X.E)), times(R_WB, X.r)
            spin, back = as_motion(now.v).angular, transpose(R_WS)
            felt = add(shift_motion(arm, as_motion(now.a)).linear, cross(spin, cross(spin, arm)))
            put_vector(memory.values, 0, times(back, spin))
            put_vector(memory.values, 3, times(back, felt))
            put_matrix(memory.R_RS, 0, product(transpose(as_matrix(memory.R_WR, 0)), R_WS))
            finish_sample(imu.noise, memory, step, dt)


@inlined
def about_body(now, point, f):
    """Take the moment of a force about a body's origin, which is given about a point."""
    return shift_force(subtract(as_vector(point, 0), as_vector(now.p_WB, 0)), f)


@inlined
def contact_force(contact):
    """Return a contact's force on shape b, about its point."""
    return Force(ZERO, as_vector(contact.force, 0))


@inlined
def row_force(row, dt):
    """Return the mean force of a row between two bodies on body b, about the row's point."""
    e = scale(as_vector(row.e, 0), row.impulse / dt)
    return Force(e, ZERO) if row.is_angle else Force(ZERO, e)


@inlined
def lighten(work, i, point, f, sign):
    """Let a force from outside take part of what moves a body; the world needs nothing."""
    if i > 0:
        now = work[i]
        put_force(now.f, subtract_forces(as_force(now.f),
                                         scale_force(about_body(now, point, f), sign)))


@kernel
def lighten_by_contacts(work, contacts, n_contacts, rows, n_rows, dt):
    """Let contacts, with friction against turning, and closed loops take part of the forces."""
    for c in range(n_contacts):
        contact = contacts[c]
        lighten(work, contact.body_a, contact.point, contact_force(contact), -1.0)
        lighten(work, contact.body_b, contact.point, contact_force(contact), 1.0)
    for r in range(n_rows):
        row = rows[r]
        if row.kind == TIED or row.kind == TURNING:
            lighten(work, row.body_a, row.point, row_force(row, dt), -1.0)
            lighten(work, row.body_b, row.point, row_force(row, dt), 1.0)


@kernel
def force_on_side(sensor, bodies, links_there, shapes, ties, tree, links, forces, work, contacts,
                  n_contacts, rows, n_rows, dt):
    """
    Compute the force that a joint passes on to the sensor's side of it, about its body's origin.

    :param bodies: Whether a body hangs on that side by a joint of its own, shape (nb,).
    :param links_there: Which links are on that side, shape (number of links,).
    :param shapes: 1 for each shape on that side, else 0, shape (number of shapes,).
    :param ties: 1 for each tie whose side b is there, -1 if a is, shape (number of ties,).
    :param forces: What pushes the links from outside, shape (number of links, 6); or none.
    :param rows: ``ROW`` records.
    """
    now = work[sensor.body]
    m, h, about = as_rigid_inertia(sensor.inertia)
    R = as_columns(now.R_WB)
    f = force_to_move(RigidInertia(m, times(R, h), turned(R, about)),
                      as_motion(now.v).angular, as_motion(now.a))
    for i in range(1, tree.size):
        if bodies[i]:
            f = add_forces(f, shift_force(as_vector(work[i].r, 0), as_force(work[i].f)))
    for k in range(forces.shape[0]):
        if links_there[k]:
            f = subtract_forces(f, force_on_body(links[k], now, forces[k]))
    for c in range(n_contacts):
        side = shapes[contacts[c].shape_b] - shapes[contacts[c].shape_a]
        if side != 0.0:
            outside = about_body(now, contacts[c].point, contact_force(contacts[c]))
            f = subtract_forces(f, scale_force(outside, side))
    for r in range(n_rows):
        row, side = rows[r], 0.0
        if row.kind == TIED:
            side = ties[row.tie]
        elif row.kind == TURNING:
            side = shapes[contacts[row.contact].shape_b] - shapes[contacts[row.contact].shape_a]
        if side != 0.0:
            f = subtract_forces(f, scale_force(about_body(now, row.point, row_force(row, dt)),
                                               side))
    return f


@kernel
def read_force_torques(sensors, memories, bodies, links_there, shapes, ties, tree, links, forces,
                       work, contacts, n_contacts, rows, n_rows, step, dt):
    """
    Let each force-torque sensor whose time has come take a sample.

    Needs the bodies' motions, and their forces through the joints. ``bodies``, ``links_there``,
    ``shapes`` and ``ties`` have a row for each sensor; see ``force_on_side``.
    """
    for s in range(sensors.size):
        sensor, memory = sensors[s], memories[s]
        if is_due(memory.schedule, step):
            f = force_on_side(sensor, bodies[s], links_there[s], shapes[s], ties[s], tree, links,
                              forces, work, contacts, n_contacts, rows, n_rows, dt)
            now = work[sensor.body]
            p_WB = as_vector(now.p_WB, 0)
            _, p_WS = compose(as_columns(now.R_WB), p_WB, as_transform(sensor.X))
            f = scale_force(shift_force(subtract(p_WB, p_WS), f), sensor.sign)
            back = product(as_matrix(sensor.E, 0),
                           transpose(as_columns(work[sensor.axes_body].R_WB)))
            put_vector(memory.values, 0, times(back, f.linear))
            put_vector(memory.values, 3, times(back, f.moment))
            finish_sample(sensor.noise, memory, step, dt)
