"""How joint velocities move contact points."""
from spr_dynamics.jit import exact, inlined
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.spatial import add, as_vector, cross, dot, scale, subtract, Vector


@inlined
def find_column(support, n, k):
    """Return where velocity k stands in the support, or n if it is new."""
    for s in range(n):
        if support[s] == k:
            return s
    return n


@inlined
def add_column(contact, J, support, k, velocity, sign):
    """Add the point velocity that a unit of qd[k] causes."""
    n = contact.n_support
    s = find_column(support, n, k)
    if s == n:
        support[s] = k
        J[0, s], J[1, s], J[2, s] = 0.0, 0.0, 0.0
        contact.n_support = n + 1
    J[0, s] += sign * dot(as_vector(contact.n, 0), velocity)
    J[1, s] += sign * dot(as_vector(contact.t1, 0), velocity)
    J[2, s] += sign * dot(as_vector(contact.t2, 0), velocity)


@exact
def add_path(tree, work, trunks, contact, J, support, i, sign):
    """Add the columns of all joints between body i and the world, as their island counts them."""
    offset = trunks[tree[i].trunk].offset
    while i > 0:
        body, now = tree[i], work[i]
        r = subtract(as_vector(contact.point, 0), as_vector(now.p_WB, 0))
        k = body.column + offset
        if body.joint == FREE:
            for axis in range(3):
                e = Vector(1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0,
                           1.0 if axis == 2 else 0.0)
                add_column(contact, J, support, k + axis, e, sign)
                add_column(contact, J, support, k + 3 + axis, cross(e, r), sign)
        elif body.joint == BALL:
            for axis in range(3):
                e = Vector(now.R_WB[axis], now.R_WB[3 + axis], now.R_WB[6 + axis])
                add_column(contact, J, support, k + axis, cross(e, r), sign)
        else:
            z = Vector(now.R_WB[2], now.R_WB[5], now.R_WB[8])
            velocity = add(scale(cross(z, r), body.turn), scale(z, body.slide))
            add_column(contact, J, support, k, velocity, sign)
        i = body.parent


@exact
def fold_followers(followers, contact, J, support):
    """Let a leader's column have what its followers do; theirs become zero."""
    for f in range(followers.size):
        follower = followers[f]
        n = contact.n_support
        own = find_column(support, n, follower.v)
        if own == n:
            continue
        s = find_column(support, n, follower.leader_v)
        if s == n:
            support[s] = follower.leader_v
            J[0, s], J[1, s], J[2, s] = 0.0, 0.0, 0.0
            contact.n_support = n + 1
        for row in range(3):
            J[row, s] += follower.ratio * J[row, own]
            J[row, own] = 0.0


@exact
def fill_jacobians(tree, work, trunks, followers, contacts, count, J, support):
    """
    Write each contact's Jacobian: rows n, t1, t2, and only the columns that are not zero.

    :param followers: Those of the model, counted as columns.
    :param J: Result, shape (capacity, 3, nv); the first ``n_support`` columns count.
    :param support: Result, shape (capacity, nv): which velocity each column belongs to.
    """
    for c in range(count):
        contact = contacts[c]
        contact.n_support, contact.bound_before, contact.miss_before = 0, 0.0, 0.0
        add_path(tree, work, trunks, contact, J[c], support[c], contact.body_b, 1.0)
        add_path(tree, work, trunks, contact, J[c], support[c], contact.body_a, -1.0)
        fold_followers(followers, contact, J[c], support[c])
