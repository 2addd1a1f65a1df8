"""How joint velocities move contact points, and the sides of closed loops."""
from spr_dynamics.contact.islands import island_of
from spr_dynamics.contact.records import TIED, TURNING
from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import add, as_vector, cross, dot, Motion, scale, subtract, Vector


@inlined
def direction(columns, c):
    """Return how velocity c moves what its joint carries, about the first joint of its tree."""
    return Motion(Vector(columns[0, c], columns[1, c], columns[2, c]),
                  Vector(columns[3, c], columns[4, c], columns[5, c]))


@inlined
def find_column(support, n, k):
    """Return where velocity k stands in the support, or n if it is new."""
    for s in range(n):
        if support[s] == k:
            return s
    return n


@exact
def add_path(tree, work, columns, trunks, contact, J, support, i, sign):
    """Add the columns of all joints between body i and the world, as their island counts them."""
    trunk, n_others = tree[i].trunk, contact.n_support
    arm = subtract(as_vector(contact.point, 0), as_vector(work[trunk].p_WB, 0))
    normal, t1, t2 = as_vector(contact.n, 0), as_vector(contact.t1, 0), as_vector(contact.t2, 0)
    n = n_others
    while i > 0:
        for c in range(tree[i].column, tree[i].next_column):
            S, k = direction(columns, c), c + trunks[trunk].offset
            velocity = scale(add(S.linear, cross(S.angular, arm)), sign)
            s = find_column(support, n_others, k)
            if s == n_others:  # only the other body's path can have it already
                s = n
                support[s] = k
                J[0, s], J[1, s], J[2, s] = 0.0, 0.0, 0.0
                n += 1
            J[0, s] += dot(normal, velocity)
            J[1, s] += dot(t1, velocity)
            J[2, s] += dot(t2, velocity)
        i = tree[i].parent
    contact.n_support = n


@exact
def add_row_path(tree, work, columns, trunks, row, J, support, i, sign):
    """Add to a row what the joints between body i and the world do along its direction."""
    trunk, e = tree[i].trunk, as_vector(row.e, 0)
    arm = subtract(as_vector(row.point, 0), as_vector(work[trunk].p_WB, 0))
    while i > 0:
        for c in range(tree[i].column, tree[i].next_column):
            S, k = direction(columns, c), c + trunks[trunk].offset
            s = find_column(support, row.n_support, k)
            if s == row.n_support:
                support[s], J[0, s] = k, 0.0
                row.n_support = s + 1
            motion = S.angular if row.is_angle else add(S.linear, cross(S.angular, arm))
            J[0, s] += sign * dot(e, motion)
        i = tree[i].parent


@inlined
def in_island(followers, trunks, f):
    """Return the velocities of a follower and of its leader as their island counts them."""
    follower = followers[f]
    return (follower.v + trunks[follower.trunk].offset,
            follower.leader_v + trunks[follower.leader_trunk].offset)


@exact
def fold_followers(followers, trunks, island, felt, J, support):
    """
    Let a leader's column have what its followers do; theirs become zero.

    :param felt: The contact or row that the Jacobian is of.
    """
    for f in range(followers.size):
        n, (k_own, k_leader) = felt.n_support, in_island(followers, trunks, f)
        own = find_column(support, n, k_own)
        if own == n or trunks[followers[f].trunk].island != island:
            continue
        s = find_column(support, n, k_leader)
        if s == n:
            support[s] = k_leader
            J[:, s] = 0.0
            felt.n_support = n + 1
        for row in range(J.shape[0]):
            J[row, s] += followers[f].ratio * J[row, own]
            J[row, own] = 0.0


@exact
def fill_jacobians(tree, work, columns, trunks, followers, contacts, count, J, support):
    """
    Write each contact's Jacobian: rows n, t1, t2, and only the columns that are not zero.

    :param columns: Every velocity's direction, as CRBA writes them.
    :param followers: Those of the model, counted as columns.
    :param J: Result, shape (capacity, 3, reach); the first ``n_support`` columns count.
    :param support: Result, shape (capacity, reach): which velocity each column belongs to.
    """
    for c in range(count):
        contact = contacts[c]
        contact.n_support = 0
        # snapshots hold what a solve may leave alone, too
        contact.bound_mixed, contact.bound_before, contact.miss_before = 0.0, 0.0, 0.0
        contact.du[0], contact.du[1], contact.du[2] = 0.0, 0.0, 0.0
        add_path(tree, work, columns, trunks, contact, J[c], support[c], contact.body_b, 1.0)
        add_path(tree, work, columns, trunks, contact, J[c], support[c], contact.body_a, -1.0)
        island = island_of(tree, trunks, contact.body_a, contact.body_b)
        fold_followers(followers, trunks, island, contact, J[c], support[c])


@exact
def fill_row_jacobians(tree, work, columns, trunks, followers, rows, count, J, support):
    """
    Write each row's Jacobian, a line.

    :param J: Result, shape (capacity, 1, width), nv wide if there are rows between bodies, else as
        wide as what a joint's own rows feel; the first ``n_support`` columns count.
    :param support: Result, shape (capacity, width).
    """
    for r in range(count):
        row = rows[r]
        row.at = r
        if row.kind == TIED or row.kind == TURNING:
            row.n_support = 0
            add_row_path(tree, work, columns, trunks, row, J[r], support[r], row.body_b, 1.0)
            add_row_path(tree, work, columns, trunks, row, J[r], support[r], row.body_a, -1.0)
            island = island_of(tree, trunks, row.body_a, row.body_b)
            fold_followers(followers, trunks, island, row, J[r], support[r])
        else:
            row.n_support = row.n_columns
            for k in range(row.n_columns):
                J[r, 0, k] = row.e[k]
                support[r, k] = row.column + k + trunks[tree[row.body_b].trunk].offset
