"""What contacts, limits, dry friction and loops add to a step, for the models that have any."""
import numba
import numpy as np

from spr_dynamics.contact.impulses import find_velocities
from spr_dynamics.contact.islands import ISLAND, TRUNK
from spr_dynamics.contact.laws import contact_state
from spr_dynamics.contact.records import CONTACT, ENDINGS, FOLLOWING, OPTIONS, ROW, SOLVER_ROWS
from spr_dynamics.dynamics.coupled import expand_velocities, reduce_matrix
from spr_dynamics.dynamics.crba import clear, directions, pair_trees
from spr_dynamics.dynamics.work import (
    columns_of, followers_of, N_BODIES, N_FOLLOWERS, NV, order_of, tree_of, work_of)
from spr_dynamics.jit import array_at, entry_point, exact, kernel
from spr_dynamics.simulation.buffers import (
    BLOCK_END, CHANGE_AT, DIAGONAL, FOLLOWING_AT, FOUND_AT, FREE_VELOCITY, INDICES, INDICES_AT,
    ISLANDS_AT, J_AT, LIMITS_AT, MATRICES, MATRICES_AT, MEMBERS_AT, N_CONTACTS, N_LIMITS,
    N_MATRIX, N_REACH, N_WIDTH, OPTIONS_AT, QD_AT, ROW_J_AT, ROW_SUPPORT_AT, ROWS, ROWS_AT,
    SOLVER_AT, SORTED_LIMITS_AT, SUPPORT_AT, TRUNKS_AT, VELOCITY)

ROUNDOFF = 1e-9  # of the largest change of velocity in free motion; solutions vary by less


@kernel
def guess_velocities(qd, change, x):
    """
    Go on as in the last step; but a velocity of round-off is none, and so is such a change.

    What rests or creeps would be shaken by its own round-off for ever: each guess would overshoot.
    """
    free_change = 0.0
    for k in range(qd.size):
        free_change = max(free_change, abs(x[FREE_VELOCITY, k] - qd[k]))
    least = ROUNDOFF * free_change
    for k in range(qd.size):
        guess = qd[k] + change[k] if abs(change[k]) > least else qd[k]
        x[VELOCITY, k] = guess if abs(guess) > least else 0.0


@kernel
def fill_inertia(block, x, followers, M):
    """Compute the inertia of all velocities, of what dampers and springs add to it, too."""
    order, columns = order_of(block), columns_of(block)
    directions(tree_of(block), work_of(block), columns, True)
    if followers.size > 0:
        clear(M)
    pair_trees(block, M)
    for k in range(order.size):
        M[k, k] += x[DIAGONAL, order[k]]
    reduce_matrix(followers, M)


@exact
def find_forces(contacts, n_contacts, dt):
    """Compute the force of each contact and its state from the impulse."""
    for c in range(n_contacts):
        contact = contacts[c]
        contact.state = contact_state(contact)
        p = contact.impulse
        for axis in range(3):
            contact.force[axis] = (p[0] * contact.n[axis] + p[1] * contact.t1[axis]
                                   + p[2] * contact.t2[axis]) / dt


@entry_point(numba.int64, numba.int64, numba.int64)
def constrain(block_at, n_contacts, n_rows):
    """
    Replace a step's free velocities by those that contacts and limits allow.

    Needs the composite inertias.

    :param block_at: Address of a simulation's block.
    :param n_contacts: How many contacts the step has found.
    :param n_rows: How many rows of joints and loops.
    :returns: ``ENDINGS`` times the iterations taken, plus how it ended.
    """
    block = array_at(block_at, BLOCK_END, np.int64)
    nv, n_matrix, capacity = block[NV], block[N_MATRIX], block[N_CONTACTS]
    contacts = array_at(block[FOUND_AT], capacity, CONTACT)
    followers = array_at(block[FOLLOWING_AT], block[N_FOLLOWERS], FOLLOWING)
    matrices = array_at(block[MATRICES_AT], (MATRICES, n_matrix, n_matrix), np.float64)
    options = array_at(block[OPTIONS_AT], 1, OPTIONS)
    x = array_at(block[ROWS_AT], (ROWS, nv), np.float64)
    fill_inertia(block, x, followers, matrices[0])
    guess_velocities(array_at(block[QD_AT], nv, np.float64),
                     array_at(block[CHANGE_AT], nv, np.float64), x)
    iterations, status = find_velocities(
        tree_of(block), work_of(block), columns_of(block), followers, order_of(block), contacts,
        n_contacts, array_at(block[LIMITS_AT], block[N_LIMITS], ROW), n_rows,
        array_at(block[SORTED_LIMITS_AT], block[N_LIMITS], ROW),
        array_at(block[J_AT], (capacity, 3, block[N_REACH]), np.float64),
        array_at(block[SUPPORT_AT], (capacity, block[N_REACH]), np.int64),
        array_at(block[ROW_J_AT], (block[N_LIMITS], 1, block[N_WIDTH]), np.float64),
        array_at(block[ROW_SUPPORT_AT], (block[N_LIMITS], block[N_WIDTH]), np.int64),
        array_at(block[TRUNKS_AT], block[N_BODIES], TRUNK),
        array_at(block[ISLANDS_AT], block[N_BODIES], ISLAND),
        array_at(block[MEMBERS_AT], capacity, np.int64), matrices,
        array_at(block[INDICES_AT], (INDICES, nv), np.int64),
        array_at(block[SOLVER_AT], (SOLVER_ROWS, nv), np.float64), x[FREE_VELOCITY], x[VELOCITY],
        options)
    expand_velocities(followers_of(block), x[VELOCITY])
    find_forces(contacts, n_contacts, options[0].dt)
    return ENDINGS * iterations + status
