"""Scratch that the algorithms share, and how kernels find it and the model it is for."""
import numpy as np

from spr_dynamics.dynamics.lanes import WIDTH
from spr_dynamics.jit import accessor, array_at, inlined
from spr_dynamics.model.records import DRIVE, FOLLOWER, LINK, TREE
from spr_dynamics.spatial import ARTICULATED_INERTIA, FORCE, MOTION, RIGID_INERTIA

# One record a body; all in world axes, about the body's origin. Where a number of a vector in a
# register of four means nothing, there is room for it; records are whole lines of the cache.
WORK = np.dtype([
    ('R_WB', np.float64, 12),                    # columns
    ('p_WB', np.float64, 4),
    ('r', np.float64, 4),                        # from the parent's origin
    ('IA', np.float64, ARTICULATED_INERTIA),     # of all that it carries, joints being free
    ('inertia', np.float64, RIGID_INERTIA),      # of the body alone
    ('Ic', np.float64, RIGID_INERTIA),           # of all that it carries
    ('v', np.float64, MOTION),
    ('a', np.float64, MOTION),                   # linear: of the origin, as seen from the world
    ('f', np.float64, FORCE),                    # through the joint, on the body
    ('U', np.float64, FORCE), ('inv_d', np.float64), ('u', np.float64, 3),
    ('J_inv', np.float64, 6),                    # of a ball joint: what inv_d is to others
    ('half_turn', np.float64, 4),                # from the spin that turns the body to that in qd
    ('da', np.float64, MOTION),                  # what the joints' forces add to a
], align=True)

# Entries of a block: addresses, then sizes.
(TREE_AT, WORK_AT, LINKS_AT, DRIVES_AT, FOLLOWERS_AT, TRIG_AT, GRAVITY_AT, FORCES_AT, COLUMNS_AT,
 RELATED_AT, RELATED_COLUMNS_AT, ORDER_AT, ZERO_AT, COUPLED_AT, N_BODIES, N_LINKS, N_DRIVES,
 N_FOLLOWERS, N_FORCES, N_COUPLED, NQ, NV, HAS_LOOPS,
 BLOCK_SIZE) = range(24)


@inlined
def padded(n):
    """Round up to whole vectors: the compiler treats what is left over one by one."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


def aligned(size):
    """Return an array of NaN at whose start a line of the cache begins, as long as a vector."""
    room = np.full(size + WIDTH, np.nan)
    start = -(room.ctypes.data // room.itemsize) % WIDTH
    return room[start:start + size]


def relatives(model):
    """
    Find which velocities move a body that another one moves, too: M has zeros for all others.

    :returns: Bits, shape (2, nv, padded(nv) / 8): whether a row's joint carries that of a column,
        a joint's own directions in their order, and whether it is carried; first counted as in
        qd, which may have a joint before the one that carries it, then as columns.
    """
    related = np.zeros((2, model.nv, padded.py_func(model.nv)), np.bool_)
    for body in model.tree[1:]:
        related[0, body['column']:body['next_column'], body['column']:body['end_column']] = True
    carries, carried = related[:, :, :model.nv]
    carries[...] = np.triu(carries)
    carried[...] = np.triu(carries, 1).T
    in_columns = np.packbits(related, axis=2, bitorder='little')
    column = np.argsort(model.order)
    for square in carries, carried:
        square[...] = square[np.ix_(column, column)]
    return np.packbits(related, axis=2, bitorder='little'), in_columns


class Workspace:
    """
    Buffers for one model: overwritten by every call, worth nothing between calls.

    They start as NaN, so that reading what nobody wrote shows.

    :param model: The robot.
    :param gravity: Where kernels look up the acceleration of free fall, shape (3,); the model's
        own without it.
    """

    def __init__(self, model, gravity=None):
        nb, nv = model.tree.size, model.nv
        self.body = aligned(nb * (WORK.itemsize // 8)).view(WORK)
        self.body[0] = np.zeros((), WORK)
        self.body[0]['R_WB'] = np.eye(3, 4).ravel()
        self.forces = np.zeros((model.links.size, 6))
        n_followers = model.followers.size
        n_coupled = nv if n_followers or model.ties.size else 0
        self.kept = (
            model.tree, self.body, model.links, model.drives, model.followers,
            np.zeros((3, padded.py_func(model.nq))), model.gravity if gravity is None else gravity,
            self.forces, aligned(12 * padded.py_func(nv)), *relatives(model), model.order,
            np.zeros(nv),
            np.zeros((n_coupled, n_coupled)))
        sizes = (nb, model.links.size, model.drives.size, n_followers, 0, n_coupled, model.nq, nv,
                 model.ties.size > 0)
        self.block = np.array([*(array.ctypes.data for array in self.kept), *sizes], np.int64)
        """Where a kernel finds all this in a single argument: a call with ten takes 1 us more."""
        self.pushed_block = self.block.copy()
        """The same, with the forces on links in use."""
        self.pushed_block[N_FORCES] = model.links.size


@accessor
def tree_of(block):
    return array_at(block[TREE_AT], block[N_BODIES], TREE)


@accessor
def work_of(block):
    return array_at(block[WORK_AT], block[N_BODIES], WORK)


@accessor
def links_of(block):
    return array_at(block[LINKS_AT], block[N_LINKS], LINK)


@accessor
def trig_of(block):
    return array_at(block[TRIG_AT], (3, padded(block[NQ])), np.float64)


@accessor
def gravity_of(block):
    return array_at(block[GRAVITY_AT], 3, np.float64)


@accessor
def forces_of(block):
    return array_at(block[FORCES_AT], (block[N_FORCES], 6), np.float64)


@accessor
def columns_of(block):
    return array_at(block[COLUMNS_AT], (12, padded(block[NV])), np.float64)


@accessor
def related_of(block):
    shape = 2, block[NV], padded(block[NV]) // WIDTH
    return array_at(block[RELATED_AT], shape, np.uint8)


@accessor
def related_columns_of(block):
    shape = 2, block[NV], padded(block[NV]) // WIDTH
    return array_at(block[RELATED_COLUMNS_AT], shape, np.uint8)


@accessor
def order_of(block):
    return array_at(block[ORDER_AT], block[NV], np.uint64)  # none is negative


@accessor
def zero_of(block):
    return array_at(block[ZERO_AT], block[NV], np.float64)


@accessor
def drives_of(block):
    return array_at(block[DRIVES_AT], block[N_DRIVES], DRIVE)


@accessor
def followers_of(block):
    return array_at(block[FOLLOWERS_AT], block[N_FOLLOWERS], FOLLOWER)


@accessor
def coupled_of(block):
    return array_at(block[COUPLED_AT], (block[N_COUPLED], block[N_COUPLED]), np.float64)
