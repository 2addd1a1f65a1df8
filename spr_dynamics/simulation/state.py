"""All that a bit-exact restart needs, and how it is written down."""
import hashlib
import struct

import numpy as np

from spr_dynamics.contact.records import CONTACT
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.sensors.axis_noise import MEMORY
from spr_dynamics.sensors.measure import READING
from spr_dynamics.sensors.taxels import TAXEL_ROWS

MAGIC = b'SPRSTATE'
VERSION = 4
HEADER = struct.Struct('<8sI32sI32s')  # magic, version, model, number of blocks, digest
SIZE = struct.Struct('<Q')  # of a block [bytes]; the sizes follow the header, and then the blocks

# Entries of ``counters``.
STEPS, CONTACTS, ITERATIONS, LAGGED_STEPS, UNSOLVED_STEPS, DROPPED, COUNTERS = range(7)


class SnapshotError(SprDynamicsError):
    """A snapshot can't be restored; the state is as it was."""


class State:
    """
    The numbers that a step changes and a restart needs.

    One block of doubles with names for its parts, one of integers, the sensors' readings and
    taxels, and the contacts of the last step.
    """

    def __init__(self, model, n_sensors, n_taxels, n_contacts):
        self.numbers = np.zeros(model.nq + 4 * model.nv + 3)
        self.q, self.qd, self.qdd, self.effort, self.change, self.gravity = np.split(
            self.numbers, np.cumsum([model.nq] + 4 * [model.nv]))
        # the solver starts from the last change of velocity
        self.counters = np.zeros(COUNTERS, np.int64)
        n_tactile, n_imus, n_force_torques = n_sensors
        self.readings = np.zeros(n_tactile, READING)
        self.imus = np.zeros(n_imus, MEMORY)
        self.force_torques = np.zeros(n_force_torques, MEMORY)
        self.taxels = np.zeros((TAXEL_ROWS, n_taxels, 3))
        self.contacts = np.zeros(n_contacts, CONTACT)

    def blocks(self):
        """Return the arrays that make up the state, in the order of a snapshot."""
        return (self.numbers, self.counters, self.readings, self.taxels, self.imus,
                self.force_torques, self.contacts)

    def to_bytes(self, fingerprint, settings) -> bytes:
        """
        Write a snapshot: a header with version, model and digest, the numbers, settings as text.

        :param fingerprint: That of the model.
        :param settings: Those of the sensors, as bytes.
        """
        blocks = [*(block.tobytes() for block in self.blocks()), settings]
        content = b''.join([*(SIZE.pack(len(block)) for block in blocks), *blocks])
        return HEADER.pack(MAGIC, VERSION, fingerprint, len(blocks),
                           hashlib.sha256(content).digest()) + content

    def parts_of(self, snapshot, fingerprint) -> list[bytes]:
        """
        Take a snapshot apart: the blocks of a state like this one, then the settings.

        :raises SnapshotError: If it is none, of another version, of another model, cut or spoilt.
        """
        if len(snapshot) < HEADER.size or snapshot[:len(MAGIC)] != MAGIC:
            raise SnapshotError('not a snapshot of spr_dynamics')
        _, version, model, count, digest = HEADER.unpack_from(snapshot)
        if version != VERSION:
            raise SnapshotError(f'snapshot of version {version}; this is version {VERSION}')
        if model != fingerprint:
            raise SnapshotError('snapshot of another model, step or set of sensors')
        mine = [block.nbytes for block in self.blocks()]
        start = HEADER.size + SIZE.size * (len(mine) + 1)
        if count != len(mine) + 1 or len(snapshot) < start:
            raise SnapshotError(f'snapshot of {len(snapshot)} bytes and {count} blocks; this '
                                f'model needs {len(mine) + 1}')
        *sizes, settings = (size for size, in SIZE.iter_unpack(snapshot[HEADER.size:start]))
        if sizes != mine or len(snapshot) != start + sum(mine) + settings:
            raise SnapshotError(f'snapshot of {len(snapshot)} bytes; this model needs '
                                f'{start + sum(mine) + settings}')
        if hashlib.sha256(snapshot[HEADER.size:]).digest() != digest:
            raise SnapshotError('spoilt snapshot: its numbers are not those that were saved')
        ends = np.cumsum([start, *mine, settings]).tolist()
        return [snapshot[begin:end] for begin, end in zip(ends, ends[1:])]

    def put(self, parts):
        """Take over the blocks of another state like this one."""
        for block, part in zip(self.blocks(), parts):
            block[...] = np.frombuffer(part, block.dtype).reshape(block.shape)


def fingerprint_of(model, dt_ns, sensors, rules, *arrays) -> bytes:
    """
    Return a digest of what a snapshot must have in common with its simulation.

    What follows from the rest by linear algebra is no part of it: another computer, or another
    version of numpy, may round it otherwise.

    :param sensors: By name.
    """
    digest = hashlib.sha256()
    for array in (model.tree, model.links, model.shapes, model.vertices, model.faces,
                  model.drives, model.followers, model.ties, model.hinges, limits_of(model),
                  *arrays):
        add_numbers(digest, array)
    kinds = [(name, sensor.type) for name, sensor in sensors.items()]
    digest.update(repr((model.joint_names, model.link_names, dt_ns, kinds, rules)).encode())
    return digest.digest()


def limits_of(model) -> np.ndarray:
    """Return the numbers that limit joints: of each axis or direction, then of cones."""
    cones = [joint.cone for joint in model.joints if joint.cone]
    return np.array([x for dof in model.dofs for x in (
        dof.lower, dof.upper, dof.velocity_limit, dof.friction, dof.limit_stiffness,
        dof.limit_dissipation)] + [
        x for cone in cones for x in (*cone.centre, cone.swing, cone.lower, cone.upper)])


def add_numbers(digest, array):
    """Add an array's numbers to a digest, but not what lies between the fields of records."""
    if array.dtype.names is None:
        digest.update(array.tobytes())
    for name in array.dtype.names or ():
        add_numbers(digest, array[name])
