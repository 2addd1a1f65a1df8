"""What moves each other: trees that contacts join are solved together, others apart."""
import numpy as np

from spr_dynamics.contact.records import FREE_VELOCITY, VELOCITY
from spr_dynamics.jit import exact

# What is kept for each body next to the world, the trunk of a tree.
TRUNK = np.dtype([
    ('up', np.int64),                            # another trunk of the same island, or itself
    ('is_touched', np.bool_),
    ('island', np.int64),                        # -1: nothing acts on it
    ('next', np.int64),                          # of the same island; 0: it is the last
    ('offset', np.int64),                        # from columns to the island's own count
], align=True)

# An island: where its parts are in lists that are sorted by island.
ISLAND = np.dtype([
    ('first_contact', np.int64), ('end_contact', np.int64),
    ('first_row', np.int64), ('end_row', np.int64),
    ('first_trunk', np.int64), ('last_trunk', np.int64),
    ('size', np.int64),                          # velocities
    ('is_coupled', np.bool_),                    # a joint of one tree follows one of another
], align=True)


@exact
def find(trunks, t):
    """Return the trunk that stands for an island."""
    while trunks[t].up != t:
        trunks[t].up = trunks[trunks[t].up].up
        t = trunks[t].up
    return t


@exact
def join(tree, trunks, a, b):
    """Note that something acts between two bodies; the world joins nothing."""
    t, u = tree[a].trunk, tree[b].trunk
    if t > 0:
        trunks[t].is_touched = True
    if u > 0:
        trunks[u].is_touched = True
    if t > 0 and u > 0:
        t, u = find(trunks, t), find(trunks, u)
        trunks[max(t, u)].up = min(t, u)


@exact
def island_of(tree, trunks, a, b):
    """Return the island that a contact of two bodies belongs to."""
    t = tree[a].trunk
    return trunks[t if t > 0 else tree[b].trunk].island


@exact
def find_islands(tree, followers, contacts, n_contacts, rows, n_rows, trunks, islands):
    """
    Find the islands on which something acts, and how large they are.

    :param followers: ``FOLLOWING`` records: they join trees, too, and more tightly.
    :returns: How many there are.
    """
    for t in range(tree.size):
        trunks[t].up, trunks[t].is_touched, trunks[t].island = t, False, -1
    for c in range(n_contacts):
        join(tree, trunks, contacts[c].body_a, contacts[c].body_b)
    for r in range(n_rows):
        join(tree, trunks, rows[r].body_a, rows[r].body_b)
    for f in range(followers.size):
        t, u = find(trunks, followers[f].trunk), find(trunks, followers[f].leader_trunk)
        trunks[max(t, u)].up = min(t, u)
    for t in range(1, tree.size):
        if tree[t].trunk == t and trunks[t].is_touched:
            trunks[find(trunks, t)].is_touched = True
    count = 0
    for t in range(1, tree.size):
        if tree[t].trunk != t or not trunks[find(trunks, t)].is_touched:
            continue
        leader = find(trunks, t)
        if trunks[leader].island < 0:
            trunks[leader].island = count
            here = islands[count]
            here.size, here.end_contact, here.end_row, here.is_coupled = 0, 0, 0, False
            here.first_trunk = here.last_trunk = t
            count += 1
        island = trunks[leader].island
        trunks[islands[island].last_trunk].next = t
        islands[island].last_trunk = t
        trunks[t].island, trunks[t].next = island, 0
        trunks[t].offset = islands[island].size - tree[t].column
        islands[island].size += tree[t].end_column - tree[t].column
    for f in range(followers.size):
        island = trunks[followers[f].trunk].island
        if island >= 0 and followers[f].trunk != followers[f].leader_trunk:
            islands[island].is_coupled = True
    return count


@exact
def sort_into_islands(tree, contacts, n_contacts, rows, n_rows, trunks, islands, count, members,
                      sorted_rows):
    """
    Sort contacts and rows by island, in the order in which they were found.

    :param members: Result: indices of contacts.
    :param sorted_rows: Result: the rows.
    """
    for c in range(n_contacts):
        islands[island_of(tree, trunks, contacts[c].body_a, contacts[c].body_b)].end_contact += 1
    for r in range(n_rows):
        islands[island_of(tree, trunks, rows[r].body_a, rows[r].body_b)].end_row += 1
    contact, row = 0, 0
    for i in range(count):
        n_here, rows_here = islands[i].end_contact, islands[i].end_row
        islands[i].first_contact = islands[i].end_contact = contact
        islands[i].first_row = islands[i].end_row = row
        contact += n_here
        row += rows_here
    for c in range(n_contacts):
        island = islands[island_of(tree, trunks, contacts[c].body_a, contacts[c].body_b)]
        members[island.end_contact] = c
        island.end_contact += 1
    for r in range(n_rows):
        island = islands[island_of(tree, trunks, rows[r].body_a, rows[r].body_b)]
        sorted_rows[island.end_row] = rows[r]
        island.end_row += 1


@exact
def gather(tree, trunks, here, M, order, free, guess, A, begin, end, place, x):
    """
    Copy what an island needs out of the arrays of all velocities.

    Where followers make the inertia of one tree another's, too, so do the blocks that are copied.

    :param here: The ``ISLAND`` record.
    :param M: Inertia of all, velocities counted as columns.
    :param x: Result: FREE_VELOCITY and VELOCITY of the island's own.
    :param place: Result: the index into qd of each of them.
    """
    n, t = 0, here.first_trunk
    while t > 0:
        first, size = tree[t].column, tree[t].end_column - tree[t].column
        for row in range(size):
            k = n + row
            begin[k] = 0 if here.is_coupled else n
            end[k] = A.shape[0] if here.is_coupled else n + size
            place[k] = order[first + row]
            x[FREE_VELOCITY, k], x[VELOCITY, k] = free[place[k]], guess[place[k]]
        u = here.first_trunk if here.is_coupled else t
        while u > 0:
            for row in range(size):
                for column in range(tree[u].column, tree[u].end_column):
                    A[n + row, column + trunks[u].offset] = M[first + row, column]
            u = trunks[u].next if here.is_coupled else 0
        n += size
        t = trunks[t].next
