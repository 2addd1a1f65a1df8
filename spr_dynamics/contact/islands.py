"""What moves each other: trees that contacts join are solved together, others apart."""
import numpy as np

from spr_dynamics.contact.solve import FREE_VELOCITY, VELOCITY
from spr_dynamics.jit import exact

# What is kept for each body next to the world, the trunk of a tree.
TRUNK = np.dtype([
    ('up', np.int64),                            # another trunk of the same island, or itself
    ('is_touched', np.bool_),
    ('island', np.int64),                        # -1: nothing acts on it
    ('offset', np.int64),                        # from columns to the island's own count
], align=True)

# An island: where its parts are in lists that are sorted by island.
ISLAND = np.dtype([
    ('first_contact', np.int64), ('end_contact', np.int64),
    ('first_row', np.int64), ('end_row', np.int64),
    ('size', np.int64),                          # velocities
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
def find_islands(tree, is_one, contacts, n_contacts, rows, n_rows, trunks, islands):
    """
    Find the islands on which something acts, and how large they are.

    :param is_one: Whether all trees are one island: where joints follow others.
    :returns: How many there are.
    """
    for t in range(tree.size):
        trunks[t].up, trunks[t].is_touched, trunks[t].island = t, is_one, -1
    for c in range(n_contacts):
        join(tree, trunks, contacts[c].body_a, contacts[c].body_b)
    for r in range(n_rows):
        join(tree, trunks, rows[r].body, rows[r].body)
    count = 0
    for t in range(1, tree.size):
        if tree[t].trunk != t or not trunks[t].is_touched:
            continue
        leader = 1 if is_one else find(trunks, t)
        if trunks[leader].island < 0:
            trunks[leader].island = count
            islands[count].size = 0
            islands[count].end_contact = islands[count].end_row = 0
            count += 1
        island = trunks[leader].island
        trunks[t].island = island
        trunks[t].offset = islands[island].size - tree[t].column
        islands[island].size += tree[t].end_column - tree[t].column
    return count


@exact
def sort_into_islands(tree, contacts, n_contacts, rows, n_rows, trunks, islands, count, members,
                      sorted_rows):
    """
    Sort contacts and rows by island, in the order in which they were found.

    :param members: Result: indices of contacts.
    :param sorted_rows: Result: the rows, each with its velocity as the island counts it.
    """
    for c in range(n_contacts):
        islands[island_of(tree, trunks, contacts[c].body_a, contacts[c].body_b)].end_contact += 1
    for r in range(n_rows):
        islands[trunks[tree[rows[r].body].trunk].island].end_row += 1
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
        trunk = trunks[tree[rows[r].body].trunk]
        island = islands[trunk.island]
        sorted_rows[island.end_row] = rows[r]
        sorted_rows[island.end_row].k = rows[r].column + trunk.offset
        island.end_row += 1


@exact
def gather(tree, trunks, island, is_one, M, order, free, guess, A, begin, end, place, x):
    """
    Copy what an island needs out of the arrays of all velocities.

    :param M: Inertia of all, velocities counted as columns; only the blocks of trees count.
    :param x: Result: FREE_VELOCITY and VELOCITY of the island's own.
    :param place: Result: the index into qd of each of them.
    """
    n = 0
    for t in range(1, tree.size):
        if tree[t].trunk != t or trunks[t].island != island:
            continue
        first, size = tree[t].column, tree[t].end_column - tree[t].column
        for i in range(size):
            k = n + i
            begin[k] = 0 if is_one else n
            end[k] = A.shape[0] if is_one else n + size
            place[k] = order[first + i]
            x[FREE_VELOCITY, k], x[VELOCITY, k] = free[place[k]], guess[place[k]]
            for j in range(size):
                A[k, n + j] = M[first + i, first + j]
        n += size
    if is_one:
        for i in range(n):
            for j in range(n):
                A[i, j] = M[i, j]
