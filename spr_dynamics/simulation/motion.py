"""What IMUs and force-torque sensors take part in of a step."""
import numpy as np

from spr_dynamics.contact.records import CONTACT, ROW
from spr_dynamics.dynamics.bias import motions, subtract_external
from spr_dynamics.dynamics.rnea import forces_through_joints
from spr_dynamics.dynamics.work import (
    forces_of, gravity_of, links_of, N_BODIES, N_LINKS, tree_of, work_of)
from spr_dynamics.jit import array_at, kernel
from spr_dynamics.sensors.axis_noise import MEMORY
from spr_dynamics.sensors.inertial import (
    any_is_due, FORCE_TORQUE, IMU, lighten_by_contacts, read_force_torques, read_imus)
from spr_dynamics.simulation.buffers import (
    BODIES_BEYOND_AT, FORCE_TORQUE_MEMORIES_AT, FORCE_TORQUES_AT, FOUND_AT, IMU_MEMORIES_AT,
    IMUS_AT, LINKS_BEYOND_AT, N_CONTACTS, N_FORCE_TORQUES, N_IMUS, N_LIMITS, N_LOOPS, N_SHAPES,
    SHAPES_BEYOND_AT, SORTED_LIMITS_AT, TIES_BEYOND_AT)


@kernel
def motion_is_sensed(block, step):
    """Say whether an IMU or a force-torque sensor takes a sample at this step."""
    return (any_is_due(array_at(block[IMU_MEMORIES_AT], block[N_IMUS], MEMORY), step)
            or any_is_due(array_at(block[FORCE_TORQUE_MEMORIES_AT], block[N_FORCE_TORQUES],
                                   MEMORY), step))


@kernel
def sense_motion(block, qd, qdd, tau, n_contacts, n_rows, step, dt):
    """
    Let the IMUs and force-torque sensors whose time has come take a sample.

    Needs the bodies in place, their inertias in world axes, and the forces of contacts and rows.
    Overwrites the bodies' accelerations and forces.

    :param tau: Scratch, shape (nv,).
    """
    tree, work = tree_of(block), work_of(block)
    motions(tree, work, gravity_of(block), qd, qdd)
    read_imus(array_at(block[IMUS_AT], block[N_IMUS], IMU),
              array_at(block[IMU_MEMORIES_AT], block[N_IMUS], MEMORY), work, step, dt)
    n = block[N_FORCE_TORQUES]
    memories = array_at(block[FORCE_TORQUE_MEMORIES_AT], n, MEMORY)
    if any_is_due(memories, step):
        contacts = array_at(block[FOUND_AT], block[N_CONTACTS], CONTACT)
        rows = array_at(block[SORTED_LIMITS_AT], block[N_LIMITS], ROW)
        links, forces = links_of(block), forces_of(block)
        subtract_external(links, work, forces)
        lighten_by_contacts(work, contacts, n_contacts, rows, n_rows, dt)
        forces_through_joints(tree, work, tau)
        read_force_torques(
            array_at(block[FORCE_TORQUES_AT], n, FORCE_TORQUE), memories,
            array_at(block[BODIES_BEYOND_AT], (n, block[N_BODIES]), np.bool_),
            array_at(block[LINKS_BEYOND_AT], (n, block[N_LINKS]), np.bool_),
            array_at(block[SHAPES_BEYOND_AT], (n, block[N_SHAPES]), np.float64),
            array_at(block[TIES_BEYOND_AT], (n, block[N_LOOPS]), np.float64),
            tree, links, forces, work, contacts, n_contacts, rows, n_rows, step, dt)
