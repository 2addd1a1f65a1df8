"""The way from a simulation's kernels to collision detection, which not every model needs."""
import numpy as np

from spr_dynamics.contact.geometry import DROPPED, GEOMETRY_SIZE
from spr_dynamics.dynamics.work import N_BODIES, WORK_AT
from spr_dynamics.jit import array_at, call_at, kernel
from spr_dynamics.simulation.buffers import GEOMETRY_AT, OPTIONS_AT, SEARCH_AT


@kernel
def find_contacts(block, contacts_at, capacity):
    """
    Fill in the contacts of all pairs, in the order of pairs and keys.

    :param contacts_at: Address of ``CONTACT`` records.
    :param capacity: How many there are.
    :returns: How many contacts there are, and how many more there would be with more room.
    """
    if block[SEARCH_AT] == 0:
        return 0, 0
    count = call_at(block[SEARCH_AT], (block[GEOMETRY_AT], block[WORK_AT], block[N_BODIES],
                                       block[OPTIONS_AT], contacts_at, capacity))
    return count, array_at(block[GEOMETRY_AT], GEOMETRY_SIZE, np.int64)[DROPPED]
