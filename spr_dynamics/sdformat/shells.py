"""Triangles that hang together, and what they enclose."""

import importlib
from typing import NamedTuple

import numpy as np

FLAT = 1e-6  # [rad] faces at one edge that are nearer to each other lie on each other


class Shell(NamedTuple):
    """Triangles that hang together by their edges."""

    triangles: np.ndarray
    """Three indices of vertices each, shape (m, 3)."""
    is_closed: bool
    """Whether they have no rim."""


def shells(vertices: np.ndarray, triangles: np.ndarray) -> list[Shell]:
    """
    Take a surface apart where it does not hang together.

    Bodies that share an edge, or a face, are told apart: of the faces at that edge those belong
    together that have the inside of one body between them.

    :param vertices: Each of them once, shape (n, 3).
    :param triangles: Three indices each, counter-clockwise seen from outside, shape (m, 3).
    :returns: In the order of their first triangles.
    """
    sparse = importlib.import_module('scipy.sparse')
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    mates = _mates(vertices, triangles)
    at = np.flatnonzero(mates >= 0)
    graph = sparse.coo_array((np.ones(len(at)), (at // 3, mates[at] // 3)),
                             (len(triangles), len(triangles)))
    n, labels = sparse.csgraph.connected_components(graph, directed=False)
    is_open = np.zeros(n, bool)
    is_open[labels[np.flatnonzero(mates < 0) // 3]] = True
    order = np.argsort(labels, kind='stable')
    parts = np.split(triangles[order], np.cumsum(np.bincount(labels, minlength=n))[:-1])
    return [Shell(part, not rim) for part, rim in zip(parts, is_open)]


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """
    Return what a closed surface encloses [m^3], negative if its faces look inward.

    :param vertices: Shape (n, 3).
    :param triangles: Three indices each, shape (m, 3).
    """
    a, b, c = (vertices[corner] - vertices[triangles[0, 0]] for corner in triangles.T)
    return float(np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0)


def _mates(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """
    Find for each side of each triangle the side of the one that goes on there.

    :returns: Its number, three to a triangle, or -1 where there is none; shape (3 m,).
    """
    start, end = triangles.ravel(), triangles[:, [1, 2, 0]].ravel()
    mates = np.full(len(start), -1)
    if not len(start):
        return mates
    _, edges = np.unique(np.sort(np.column_stack([start, end]), axis=1), axis=0,
                         return_inverse=True)
    edges = edges.ravel()
    order = np.argsort(edges, kind='stable')
    counts = np.bincount(edges)
    first = np.cumsum(counts) - counts
    two = first[counts == 2]
    mates[order[two]], mates[order[two + 1]] = order[two + 1], order[two]
    for at, count in zip(first[counts > 2], counts[counts > 2]):
        sides = order[at:at + count]
        ahead = start[sides] < end[sides]
        if 2 * np.count_nonzero(ahead) == count:
            _pair(vertices, triangles, sides[ahead], sides[~ahead], mates)
    return mates


def _pair(vertices: np.ndarray, triangles: np.ndarray, ahead: np.ndarray, back: np.ndarray,
          mates: np.ndarray) -> None:
    """Pair sides at one edge: the inside is clockwise of a face whose side goes along it."""
    def corner(side, number):
        return vertices[triangles[side // 3, (side + number) % 3]]

    start = corner(ahead[0], 0)
    along = corner(ahead[0], 1) - start
    along = along / np.linalg.norm(along)
    x = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    y = np.cross(along, x)
    angles = {}
    for side in (*ahead, *back):
        arm = corner(side, 2) - start
        angles[side] = np.arctan2(arm @ y, arm @ x)
    wedges = sorted(((angles[i] - angles[j] - FLAT) % (2.0 * np.pi), i, j)
                    for i in ahead for j in back)
    for _, i, j in wedges:
        if mates[i] < 0 and mates[j] < 0:
            mates[i], mates[j] = j, i
