"""What would touch at some positions: geometry alone, nothing moves and nothing pushes."""
from spr_dynamics.contact.records import CONTACT
from spr_dynamics.dynamics.coupled import expand_positions
from spr_dynamics.dynamics.kinematics import place
from spr_dynamics.dynamics.work import followers_of, tree_of, trig_of, work_of
from spr_dynamics.jit import ADDRESSES, entry_point, records, VECTOR
from spr_dynamics.simulation.search import find_contacts

TOUCHING = 1e-6  # [m] gap up to which surfaces touch: a body put on the ground is never nearer


@entry_point(ADDRESSES, VECTOR, records(CONTACT))
def find_contacts_at(block, q, contacts):
    """
    Find where shapes touch at some positions, at rest.

    :param block: A simulation's; of what it names, only scratch changes.
    :param q: Positions, shape (nq,); those of followers are written.
    :param contacts: Result: those that touch have a normal impulse of 1, those that are only
        near 0, and none has a force.
    :returns: How many there are.
    """
    tree, work = tree_of(block), work_of(block)
    expand_positions(followers_of(block), q)
    place(tree, work, trig_of(block), q)
    for i in range(tree.size):
        for k in range(6):
            work[i].v[k] = 0.0
    count, _ = find_contacts(block, contacts.ctypes.data, contacts.size)
    for c in range(count):
        contacts[c].impulse[0] = 1.0 if contacts[c].gap <= TOUCHING else 0.0
        for axis in range(3):
            contacts[c].force[axis] = 0.0
    return count
