"""What sensors take part in of a step of first order."""
import numba
import numpy as np

from spr_dynamics.contact.records import CONTACT, OPTIONS
from spr_dynamics.dynamics.check import OK
from spr_dynamics.dynamics.work import NV, tree_of, work_of
from spr_dynamics.jit import array_at, entry_point
from spr_dynamics.sensors.inertial import mean_accelerations
from spr_dynamics.sensors.measure import FELT, read_sensors, READING, SENSOR
from spr_dynamics.sensors.taxels import TAXEL_ROWS
from spr_dynamics.simulation.buffers import (
    ACCELERATION, BLOCK_END, COUNTERS_AT, FELT_AT, FOUND_AT, N_CONTACTS, N_SENSORS, N_SHAPES,
    N_TAXELS, OPTIONS_AT, QD_AT, READINGS_AT, ROWS, ROWS_AT, SENSORS_AT, TAU, TAXELS_AT, VELOCITY,
    WATCHED_AT)
from spr_dynamics.simulation.motion import motion_is_sensed, sense_motion
from spr_dynamics.simulation.state import COUNTERS, STEPS


@entry_point(numba.int64, numba.int64)
def feel_contacts(block_at, n_contacts):
    """
    Let the contact sensors see a step's contacts, before it moves the state on.

    :param block_at: Address of a simulation's block.
    :param n_contacts: How many contacts the step has found.
    """
    block = array_at(block_at, BLOCK_END, np.int64)
    step = array_at(block[COUNTERS_AT], COUNTERS, np.int64)[STEPS]
    read_sensors(array_at(block[SENSORS_AT], block[N_SENSORS], SENSOR),
                 array_at(block[WATCHED_AT], (block[N_SENSORS], block[N_SHAPES]), np.bool_),
                 work_of(block), array_at(block[FOUND_AT], block[N_CONTACTS], CONTACT),
                 n_contacts, step,
                 array_at(block[FELT_AT], block[N_CONTACTS], FELT),
                 array_at(block[TAXELS_AT], (TAXEL_ROWS, block[N_TAXELS], 3), np.float64),
                 array_at(block[READINGS_AT], block[N_SENSORS], READING))
    return OK


@entry_point(numba.int64, numba.int64, numba.int64)
def feel_motion(block_at, n_contacts, n_rows):
    """
    Let the IMUs and force-torque sensors whose time has come take a sample, like the others.

    :param n_rows: How many rows of joints and loops the step has solved for.
    """
    block = array_at(block_at, BLOCK_END, np.int64)
    tree, work = tree_of(block), work_of(block)
    step = array_at(block[COUNTERS_AT], COUNTERS, np.int64)[STEPS]
    if motion_is_sensed(block, step):
        dt = array_at(block[OPTIONS_AT], 1, OPTIONS)[0].dt
        qd = array_at(block[QD_AT], block[NV], np.float64)
        x = array_at(block[ROWS_AT], (ROWS, block[NV]), np.float64)
        mean_accelerations(tree, work, qd, x[VELOCITY], dt, x[ACCELERATION])
        sense_motion(block, qd, x[ACCELERATION], x[TAU], n_contacts, n_rows, step, dt)
    return OK
