"""All that a bit-exact restart needs, and how it is written down."""
import hashlib
import struct

import numpy as np

from spr_dynamics.contact.records import CONTACT
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.sensors.measure import READING

MAGIC = b'SPRSTATE'
VERSION = 1
HEADER = struct.Struct('<8sIQQQQ32s')  # magic, version, sizes of the blocks in bytes, model

# Entries of ``counters``.
STEPS, CONTACTS, ITERATIONS, LAGGED_STEPS, UNSOLVED_STEPS, DROPPED, COUNTERS = range(7)


class SnapshotError(SprDynamicsError):
    """A snapshot can't be restored; the state is as it was."""


class State:
    """
    The numbers that a step changes and a restart needs.

    One block of doubles with names for its parts, one of integers, the sensors' readings, and
    the contacts of the last step.
    """

    def __init__(self, model, n_sensors, n_contacts):
        self.numbers = np.zeros(model.nq + 4 * model.nv + 3)
        self.q, self.qd, self.qdd, self.effort, self.change, self.gravity = np.split(
            self.numbers, np.cumsum([model.nq] + 4 * [model.nv]))
        # the solver starts from the last change of velocity
        self.counters = np.zeros(COUNTERS, np.int64)
        self.readings = np.zeros(n_sensors, READING)
        self.contacts = np.zeros(n_contacts, CONTACT)

    def blocks(self):
        """Return the arrays that make up the state, in the order of a snapshot."""
        return self.numbers, self.counters, self.readings, self.contacts

    def to_bytes(self, fingerprint) -> bytes:
        """Write a snapshot: a header with version and model, then the numbers."""
        blocks = [block.tobytes() for block in self.blocks()]
        return HEADER.pack(MAGIC, VERSION, *map(len, blocks), fingerprint) + b''.join(blocks)

    def from_bytes(self, snapshot, fingerprint):
        """
        Read a snapshot back, all of it or nothing.

        :raises SnapshotError: If it is none, of another version, of another model, or cut.
        """
        if len(snapshot) < HEADER.size or snapshot[:len(MAGIC)] != MAGIC:
            raise SnapshotError('not a snapshot of spr_dynamics')
        _, version, *sizes, model = HEADER.unpack_from(snapshot)
        if version != VERSION:
            raise SnapshotError(f'snapshot of version {version}; this is version {VERSION}')
        if model != fingerprint:
            raise SnapshotError('snapshot of another model, step or set of sensors')
        mine = [block.nbytes for block in self.blocks()]
        if sizes != mine or len(snapshot) != HEADER.size + sum(mine):
            raise SnapshotError(f'snapshot of {len(snapshot)} bytes; this model needs '
                                f'{HEADER.size + sum(mine)}')
        at = HEADER.size
        for block in self.blocks():
            block[...] = np.frombuffer(snapshot, block.dtype, block.size, at)
            at += block.nbytes


def fingerprint_of(model, dt_ns, sensors, rules, *arrays) -> bytes:
    """Return a digest of what a snapshot must have in common with its simulation."""
    digest = hashlib.sha256()
    for records in (model.tree, model.links, model.shapes, model.vertices, model.faces,
                    model.drives, model.followers, model.ties, *arrays):
        digest.update(records.tobytes())
    digest.update(repr((model.joint_names, model.link_names, dt_ns, tuple(sensors),
                        rules)).encode())
    return digest.digest()
