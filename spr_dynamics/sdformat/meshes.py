"""Meshes: mass and corners; the extra ``[mesh]`` brings the readers of files."""

from collections.abc import Callable
import importlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spr_dynamics.sdformat.elements import Mesh
from spr_dynamics.sdformat.shells import shells, volume
from spr_dynamics.sdformat.solids import Solid
from spr_dynamics.sdformat.uris import SearchPath

NEEDED = "needs the extra [mesh] (pip install 'spr_dynamics[mesh]')"
INSTEAD = ('; or write <mass> and <inertia>, or let the link collide by boxes, spheres, '
           'cylinders, capsules, ellipsoids or cones')
GAP = 0.01  # share of the size of all open surfaces; those nearer than that are one, with cracks
FARTHEST = 1e9  # [m] corners that are farther away could not be told apart
# how the reader parts an OBJ file: by what it names, not by colour
PARTED = {'split_objects': True, 'split_groups': True, 'group_material': False,
          'skip_materials': True}


class Part(NamedTuple):
    """What encloses a volume of its own in a mesh, or what would but for its rims."""

    name: str
    """As the file has it; empty if it has none."""
    vertices: np.ndarray
    """[m], shape (n, 3)."""
    triangles: np.ndarray
    """Three indices each, shape (m, 3)."""
    volume: float
    """What it encloses [m^3]; infinite if it is not closed."""


def mesh_solid(mesh: Mesh, places: list[Path]) -> Solid:
    """
    Measure what a closed mesh encloses.

    :param mesh: The mesh.
    :param places: The files that its URI may mean, the one to prefer first.
    :returns: Its volume, centre and inertia.
    :raises ValueError: If it can't be read or encloses nothing; the end of a sentence.
    """
    body = _read(mesh, places, INSTEAD)
    if not body.is_volume:
        raise ValueError(
            'is not a closed surface with its faces turned outward; write <mass> and <inertia>')
    measured = body.mass_properties
    return Solid(float(measured.volume), np.array(measured.center_mass),
                 np.array(measured.inertia) / measured.mass)


def mesh_parts(mesh: Mesh, places: list[Path]) -> list[Part]:
    """
    Read the parts of a mesh: those of its file, taken apart where they do not hang together.

    A body with a cavity stays in one. What has a rim is put together with all else that has one,
    before it is taken apart: files may keep a surface apart by its colours. What has a rim then,
    too, is taken apart only where a plane across an axis goes between: sheets that stand for a
    body need not have edges in common.

    :param mesh: The mesh.
    :param places: The files that its URI may mean, the one to prefer first.
    :returns: In the order of their names, and of their triangles.
    :raises ValueError: If it can't be read; the end of a sentence.
    """
    parts, rims = [], []
    for name, body in _bodies(mesh, places, ''):
        closed, rim = _closed_parts(name, body)
        parts += closed
        rims.append(rim)
    closed, rim = _closed_parts('', _put_together(rims))
    parts += closed
    if len(rim.faces):
        parts += [_part('', rim.vertices, triangles, np.inf) for triangles in _sheets(rim)]
    if not parts:
        raise ValueError('has no triangle with three corners')
    return parts


def mesh_triangles(mesh: Mesh, places: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """
    Read the surface of a mesh.

    :param mesh: The mesh.
    :param places: The files that its URI may mean, the one to prefer first.
    :returns: Its vertices [m], shape (n, 3), and three indices for each triangle, shape (m, 3).
    :raises ValueError: If it can't be read; the end of a sentence.
    """
    body = _read(mesh, places, '')
    return np.array(body.vertices), np.array(body.faces)


def mesh_places(search: SearchPath) -> Callable[[Mesh], list[Path]]:
    """Return a function that lists the files that a mesh may mean."""
    def places(mesh):
        folder = Path(mesh.location.file).parent
        return search.places(mesh.uri, folder, folder)
    return places


def _read(mesh: Mesh, places: list[Path], instead: str) -> Any:
    """Read a mesh in metres; ``instead`` is what a file could say that needs no reader."""
    return _put_together([body for _, body in _bodies(mesh, places, instead)])


def _bodies(mesh: Mesh, places: list[Path], instead: str) -> list[tuple[str, Any]]:
    """Read the parts of a file in metres, with their names, in the order of these."""
    try:
        trimesh = importlib.import_module('trimesh')
        collada = importlib.import_module('collada')
    except ImportError:
        raise ValueError(NEEDED + instead) from None
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise ValueError('is not found')
    if mesh.submesh:
        raise ValueError('is a <submesh>, and its name means other things to other readers')
    kind = path.suffix.lower()
    try:
        metres = _metres(collada, path) if kind == '.dae' else 1.0
        # else it would leave out in silence what is not finite
        scene = trimesh.load_scene(path, process=False, **PARTED if kind == '.obj' else {})
    # the readers of meshes raise whatever comes up in a broken file
    except Exception as error:
        raise ValueError(f"can't be read: {error}") from None
    scale = np.diag([*(metres * mesh.scale), 1.0])
    placed = [(name, scene.geometry[name], scale @ T)
              for T, name in map(scene.graph.get, sorted(scene.graph.nodes_geometry))
              if hasattr(scene.geometry[name], 'faces')]  # others are lines or points
    with np.errstate(over='ignore', invalid='ignore'):  # looked at right after
        bodies = [(name, trimesh.Trimesh(body.vertices, body.faces, process=False)
                   .apply_transform(T)) for name, body, T in placed]
    if not bodies:
        raise ValueError("can't be read: it holds no triangles")
    if not all((np.abs(body.vertices) < FARTHEST).all() for _, body in bodies):
        raise ValueError(f'has corners that are not finite, or beyond {FARTHEST:g} m')
    for _, body in bodies:
        body.merge_vertices()
    return bodies


def _surface(vertices: np.ndarray, triangles: np.ndarray) -> Any:
    """Return a mesh that has each of its vertices once."""
    trimesh = importlib.import_module('trimesh')
    surface = trimesh.Trimesh(vertices, triangles, process=False)
    surface.merge_vertices()
    return surface


def _put_together(bodies: list[Any]) -> Any:
    """Make one mesh of several."""
    before = np.cumsum([0, *(len(body.vertices) for body in bodies)])
    return _surface(np.concatenate([body.vertices for body in bodies]),
                    np.concatenate([body.faces + n for body, n in zip(bodies, before)]))


def _closed_parts(name: str, body: Any) -> tuple[list[Part], Any]:
    """Take the closed shells of a body for parts of their own; return the rest of it, too."""
    found = shells(body.vertices, body.faces)
    closed = _with_cavities(
        body.vertices, [shell.triangles for shell in found if shell.is_closed])
    rim = _surface(body.vertices, np.concatenate([np.zeros((0, 3), int), *(
        shell.triangles for shell in found if not shell.is_closed)]))
    return [_part(name, body.vertices, triangles, abs(volume(body.vertices, triangles)))
            for triangles in closed], rim


def _with_cavities(vertices: np.ndarray, closed: list[np.ndarray]) -> list[np.ndarray]:
    """Join each shell to the smallest larger one that faces the other way and may hold it."""
    volumes = np.array([volume(vertices, triangles) for triangles in closed])
    sizes = np.abs(volumes)
    low, high = _boxes(vertices, closed)
    bodies = np.arange(len(closed))
    for i in np.argsort(-sizes, kind='stable'):
        holders = np.flatnonzero(
            (volumes * volumes[i] < 0.0) & (sizes > sizes[i])
            & (low <= low[i]).all(axis=1) & (high >= high[i]).all(axis=1))
        if len(holders):
            bodies[i] = bodies[holders[np.argmin(sizes[holders])]]
    return [np.concatenate([closed[i] for i in np.flatnonzero(bodies == body)])
            for body in np.unique(bodies)]


def _sheets(rim: Any) -> list[np.ndarray]:
    """Take open surfaces apart where a plane across an axis goes between them."""
    found = [shell.triangles for shell in shells(rim.vertices, rim.faces)]
    if not found:
        return []
    low, high = _boxes(rim.vertices, found)
    gap = GAP * (high.max(axis=0) - low.min(axis=0)).max()
    sheets, rest = [], [np.arange(len(found))]
    while rest:
        rows = rest.pop()
        for axis in range(3):
            order = rows[np.argsort(low[rows, axis], kind='stable')]
            reach = np.maximum.accumulate(high[order, axis])
            cuts = np.flatnonzero(low[order[1:], axis] > reach[:-1] + gap) + 1
            if len(cuts):
                rest += np.split(order, cuts)
                break
        else:
            sheets.append(np.sort(rows))
    return [np.concatenate([found[i] for i in rows])
            for rows in sorted(sheets, key=lambda rows: rows[0])]


def _boxes(vertices: np.ndarray, surfaces: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper corners of surfaces, shape (n, 3) each."""
    corners = [vertices[triangles].reshape(-1, 3) for triangles in surfaces]
    return (np.array([each.min(axis=0) for each in corners]).reshape(-1, 3),
            np.array([each.max(axis=0) for each in corners]).reshape(-1, 3))


def _part(name: str, vertices: np.ndarray, triangles: np.ndarray, enclosed: float) -> Part:
    """Keep only the vertices that are used."""
    used, numbers = np.unique(triangles, return_inverse=True)
    return Part(name, np.array(vertices[used]), numbers.reshape(-1, 3), enclosed)


def _metres(collada, path: Path) -> float:
    """Return the unit of a Collada file; its reader leaves that to us."""
    asset = collada.Collada(str(path)).assetInfo
    if asset.upaxis != 'Z_UP':
        raise ValueError(f'its up_axis is {asset.upaxis}, which programs take in different ways; '
                         'export it with Z_UP')
    return asset.unitmeter or 1.0
