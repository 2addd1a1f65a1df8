"""The convex pieces that stand for a mesh where things touch it."""
from collections.abc import Callable
import contextlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.cutting import cut
from spr_dynamics.model.hull import convex_hull, height_above, Hull
from spr_dynamics.sdformat.elements import Mesh
from spr_dynamics.sdformat.meshes import mesh_parts, Part

NOT_CONVEX = 0.01  # share of its hull that a part does not fill, from which on it is worth a word
DEEP = 0.01  # the same of one with a rim: how deep it goes below its hull, by the hull's size
SAME = 1e-6  # how far a piece may stick out of another one that holds it, by its size
NAMED = 5  # parts that a warning names


class Pieces(NamedTuple):
    """What stands for a mesh."""

    hulls: list[Hull]
    warnings: list[str]
    """Where that is not the mesh itself, and why."""


class Wrapped(NamedTuple):
    """A part and its hull."""

    label: str
    """What a warning calls it."""
    part: Part
    hull: Hull
    fault: str
    """By how much it is not its hull; empty if it is convex."""


def mesh_pieces(name: str, mesh: Mesh, mesh_places: Callable[[Mesh], list[Path]]) -> Pieces:
    """
    Find the convex pieces of a mesh.

    They are its parts, of which those that are not convex count as their hulls; or, where the
    file asks for that, one hull around all, or what it is cut into.

    :param name: Of the collision, for warnings.
    :param mesh: The mesh.
    :param mesh_places: Gives the files that a mesh may mean, or raises ValueError.
    """
    try:
        parts = mesh_parts(mesh, mesh_places(mesh))
        whole = convex_hull(np.concatenate([part.vertices for part in parts]))
    except ValueError as error:
        return Pieces([], [f"collision '{name}' touches nothing: mesh '{mesh.uri}' {error}"])
    if mesh.optimization == 'convex_hull':
        return Pieces([whole], [])
    subject, warnings = f"collision '{name}': mesh '{mesh.uri}'", []
    wrapped = []
    for number, part in enumerate(parts, 1):
        label = f'part {number}' + (f" ('{part.name}')" if part.name else '') + (
            ', which is not closed,' if np.isinf(part.volume) else '')
        try:
            wrapped.append(wrap(label, part))
        except ValueError as error:
            warnings.append(f'{subject}: {label} touches nothing: it {error}')
    concave, lead, hint = [each for each in wrapped if each.fault], '', ''
    if mesh.optimization != 'convex_decomposition':
        hint = " (optimization='convex_decomposition' cuts it into convex pieces)"
    elif concave or len(wrapped) > mesh.max_convex_hulls:
        try:
            return Pieces(outermost(cut_parts(wrapped, mesh)), warnings)
        except ValueError as error:
            lead = f'is not cut into convex pieces, which {error}; it '
    if concave or lead:
        warnings.append(f'{subject} {lead}{said_of(concave, wrapped)}{hint}')
    return Pieces(outermost([each.hull for each in wrapped]), warnings)


def wrap(label: str, part: Part) -> Wrapped:
    """
    Put a hull around a part, and see whether it is the same.

    :raises ValueError: If it is flat; the end of a sentence.
    """
    hull = convex_hull(part.vertices)
    if np.isinf(part.volume):
        centres = part.vertices[part.triangles].mean(axis=1)
        size = np.ptp(hull.vertices, axis=0).max()
        is_deep = height_above(hull, centres).min() < -DEEP * size
        return Wrapped(label, part, hull, 'parts of which are inside it' if is_deep else '')
    fill = part.volume / hull.volume
    return Wrapped(label, part, hull, f'of which it fills {100.0 * fill:.0f} %'
                   if fill < 1.0 - NOT_CONVEX else '')


def said_of(concave: list[Wrapped], wrapped: list[Wrapped]) -> str:
    """Say which parts are not convex, for the end of a sentence that begins with the mesh."""
    if len(wrapped) == 1 and concave:
        return f'is not convex; its convex hull is used, {concave[0].fault}'
    listed = '; '.join(f'{each.label}, {each.fault}' for each in concave[:NAMED])
    more = f'; and {len(concave) - NAMED} more' if len(concave) > NAMED else ''
    return (f'has {len(wrapped)} parts, of which {len(concave)} are not convex; of these the '
            f'convex hull is used: {listed}{more}')


def cut_parts(wrapped: list[Wrapped], mesh: Mesh) -> list[Hull]:
    """
    Cut what is not convex, in as many pieces as the mesh may have in all.

    :raises ValueError: If nothing is there to cut with, or nothing is left of a part; the end of
        a sentence.
    """
    hulls = [each.hull for each in wrapped if not each.fault]
    concave = [each.part for each in wrapped if each.fault]
    share = max(1, (mesh.max_convex_hulls - len(hulls)) // max(1, len(concave)))
    for part in concave:
        n_before = len(hulls)
        for piece in cut(part.vertices, part.triangles, share, mesh.voxel_resolution):
            with contextlib.suppress(ValueError):  # a splinter without a volume
                hulls.append(convex_hull(piece))
        if len(hulls) == n_before:
            raise ValueError('leaves only splinters without a volume')
    return joined(hulls, mesh.max_convex_hulls)


def joined(hulls: list[Hull], n: int) -> list[Hull]:
    """Put pieces into common hulls until there are only n, those first whose boxes grow least."""
    hulls = list(hulls)
    while len(hulls) > n:
        low = np.array([hull.vertices.min(axis=0) for hull in hulls])
        high = np.array([hull.vertices.max(axis=0) for hull in hulls])
        sizes = (high - low).prod(axis=1)
        growth = (np.maximum(high[:, None], high) - np.minimum(low[:, None], low)).prod(axis=2)
        growth -= sizes[:, None] + sizes
        growth[np.tril_indices(len(hulls))] = np.inf
        i, j = np.unravel_index(np.argmin(growth), growth.shape)
        hulls[i] = convex_hull(np.concatenate([hulls[i].vertices, hulls.pop(j).vertices]))
    return hulls


def outermost(hulls: list[Hull]) -> list[Hull]:
    """Leave out what is inside another piece: nothing can touch it."""
    kept: list[Hull] = []
    for hull in sorted(hulls, key=lambda hull: -hull.volume):
        if not any(is_inside(hull, other) for other in kept):
            kept.append(hull)
    return [hull for hull in hulls if any(hull is other for other in kept)]


def is_inside(hull: Hull, other: Hull) -> bool:
    """Say whether a piece is inside another one."""
    slack = SAME * np.ptp(other.vertices, axis=0).max()
    if (hull.vertices.min(axis=0) < other.vertices.min(axis=0) - slack).any() or (
            hull.vertices.max(axis=0) > other.vertices.max(axis=0) + slack).any():
        return False
    return height_above(other, hull.vertices).max() <= slack
