"""Meshes: mass and corners; the extra ``[mesh]`` brings the readers of files."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from spr_dynamics.sdformat.elements import Mesh
from spr_dynamics.sdformat.solids import Solid

NEEDED = "needs the extra [mesh] (pip install 'spr_dynamics[mesh]')"
INSTEAD = ('; or write <mass> and <inertia>, or let the link collide by boxes, spheres, '
           'cylinders, capsules, ellipsoids or cones')


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


def mesh_points(mesh: Mesh, places: list[Path]) -> tuple[np.ndarray, float]:
    """
    Read the corners of a mesh.

    :param mesh: The mesh.
    :param places: The files that its URI may mean, the one to prefer first.
    :returns: Its vertices [m], shape (n, 3), and the volume that it encloses [m^3], infinite if
        it is not closed.
    :raises ValueError: If it can't be read; the end of a sentence.
    """
    body = _read(mesh, places, '')
    return np.array(body.vertices), abs(float(body.volume)) if body.is_watertight else np.inf


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


def _read(mesh: Mesh, places: list[Path], instead: str) -> Any:
    """Read a mesh in metres; ``instead`` is what a file could say that needs no reader."""
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
    try:
        metres = _metres(collada, path) if path.suffix.lower() == '.dae' else 1.0
        body = trimesh.load_mesh(path)
    # the readers of meshes raise whatever comes up in a broken file
    except Exception as error:
        raise ValueError(f"can't be read: {error}") from None
    body.merge_vertices(merge_tex=True, merge_norm=True)
    body.apply_transform(np.diag([*(metres * mesh.scale), 1.0]))
    return body


def _metres(collada, path: Path) -> float:
    """Return the unit of a Collada file; its reader leaves that to us."""
    asset = collada.Collada(str(path)).assetInfo
    if asset.upaxis != 'Z_UP':
        raise ValueError(f'its up_axis is {asset.upaxis}, which programs take in different ways; '
                         'export it with Z_UP')
    return asset.unitmeter or 1.0
