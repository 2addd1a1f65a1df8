"""Numbers of the velocities that follow nobody: qd = G qd[independent]."""
import numpy as np


def is_reduced(reduced) -> bool:
    """
    Return the argument ``reduced`` of a public function.

    :raises TypeError: If it is no truth value: 'no' would count as true.
    """
    if not isinstance(reduced, (bool, np.bool_)):
        raise TypeError(f'reduced = {reduced!r}: expected True or False')
    return bool(reduced)


def gather(model, x) -> np.ndarray:
    """
    Compute G^T x: a leader feels what its followers do.

    :param x: Forces, or a matrix of them by column, shape (nv, ...).
    :returns: The same for ``model.independent``.
    """
    followers = model.followers
    felt = x.copy()
    np.add.at(felt, followers['leader_v'], (followers['ratio'] * x[followers['v']].T).T)
    return felt[model.independent]


def gather_matrix(model, M) -> np.ndarray:
    """Compute G^T M G of a symmetric matrix."""
    return gather(model, gather(model, M).T)


def spread(model, z) -> np.ndarray:
    """
    Compute G z: followers follow.

    :param z: Velocities of ``model.independent``, or a matrix of them by column.
    """
    followers = model.followers
    x = np.zeros((model.nv, *z.shape[1:]))
    x[model.independent] = z
    x[followers['v']] = (followers['ratio'] * x[followers['leader_v']].T).T
    return x
