"""From contacts and joint limits to the velocities that they allow, island by island."""
from spr_dynamics.contact.islands import find_islands, gather, sort_into_islands
from spr_dynamics.contact.jacobian import fill_jacobians, fill_row_jacobians
from spr_dynamics.contact.records import FREE_VELOCITY, VELOCITY
from spr_dynamics.contact.restitution import bounce, find_bounces
from spr_dynamics.contact.solve import solve_island
from spr_dynamics.jit import accessor, exact


@accessor
def part_of(matrix, n):
    """Return the first n * n numbers of a matrix as one of that size."""
    return matrix.reshape(matrix.size)[:n * n].reshape((n, n))


@accessor
def vectors_of(x, n):
    """Return the first numbers of some vectors as ones of length n."""
    return x.reshape(x.size)[:x.shape[0] * n].reshape((x.shape[0], n))


@exact
def leave_alone(tree, trunks, order, free, velocity):
    """Let trees on which nothing acts move freely."""
    for t in range(1, tree.size):
        if tree[t].trunk == t and trunks[t].island < 0:
            for column in range(tree[t].column, tree[t].end_column):
                velocity[order[column]] = free[order[column]]


@exact
def find_velocities(tree, work, columns, followers, order, contacts, n_contacts, rows, n_rows,
                    sorted_rows, J, support, J_rows, support_rows, trunks, islands, members,
                    matrices, indices, vectors, free, velocity, options):
    """
    Replace velocities by those that contacts, limits and joint friction allow.

    :param followers: ``FOLLOWING`` records.
    :param order: Index into qd of each column.
    :param matrices: The inertia of all, columns in order, and two that are scratch.
    :param free: Velocities that the step would end with otherwise, shape (nv,).
    :param velocity: The first guess, then the result, shape (nv,).
    :returns: Factorisations taken, by the island that needed most, and its status.
    """
    count = find_islands(tree, followers, contacts, n_contacts, rows, n_rows, trunks, islands)
    fill_jacobians(tree, work, columns, trunks, followers, contacts, n_contacts, J, support)
    fill_row_jacobians(tree, work, columns, trunks, followers, rows, n_rows, J_rows,
                       support_rows)
    sort_into_islands(tree, contacts, n_contacts, rows, n_rows, trunks, islands, count, members,
                      sorted_rows)
    most, worst = 0, 0
    leave_alone(tree, trunks, order, free, velocity)
    for i in range(count):
        here = islands[i]
        n = here.size
        A, H, x = part_of(matrices[1], n), part_of(matrices[2], n), vectors_of(vectors, n)
        begin, end, place, pivots = indices[0, :n], indices[1, :n], indices[2, :n], indices[3, :n]
        gather(tree, trunks, here, matrices[0], order, free, velocity, A, begin, end, place, x)
        for f in range(followers.size):
            trunk = trunks[followers[f].trunk]
            if trunk.island == i:
                k = followers[f].v + trunk.offset
                x[FREE_VELOCITY, k] = x[VELOCITY, k] = 0.0
        island = (contacts, members[here.first_contact:here.end_contact], J, support,
                  sorted_rows[here.first_row:here.end_row], J_rows, support_rows)
        used, status = solve_island(island, A, begin, end, H, pivots, x, options[0].tolerance,
                                    options[0].budget)
        if find_bounces(contacts, island[1]):
            again, status = bounce(island, A, begin, end, H, pivots, x, options[0].tolerance,
                                   options[0].budget)
            used += again
        for k in range(n):
            velocity[place[k]] = x[VELOCITY, k]
        most = max(most, used)
        worst = max(worst, status)
    return most, worst
