"""Meshes cut into convex pieces by CoACD; what it found is kept for the next time."""
import contextlib
import hashlib
import importlib
from importlib import metadata
import logging
import os
from pathlib import Path
import zipfile

import numpy as np

from spr_dynamics.cache import cache_folder
from spr_dynamics.sdformat.meshes import NEEDED


def cut(vertices, triangles, n_pieces, n_voxels) -> list[np.ndarray]:
    """
    Cut a mesh into convex pieces.

    Equal meshes are cut equally: nothing is drawn by chance.

    :param vertices: [m], shape (n, 3).
    :param triangles: Three indices each, shape (m, 3).
    :param n_pieces: At most so many.
    :param n_voxels: How many stand for it if it is not closed, or lies in itself; 8000 to 1e6.
    :returns: The corners of each piece [m], shape (corners, 3).
    :raises ValueError: If CoACD is not installed; the end of a sentence.
    """
    try:
        coacd = importlib.import_module('coacd')
    except ImportError:
        raise ValueError(NEEDED) from None
    along = round(n_voxels ** (1.0 / 3.0))
    file = place_of(vertices, triangles, n_pieces, along)
    pieces = kept_pieces(file)
    if pieces is None:
        logging.getLogger('spr_dynamics').info(
            'cutting a mesh of %d triangles into convex pieces (once per machine)', len(triangles))
        coacd.set_log_level('error')
        pieces = [corners for corners, _ in coacd.run_coacd(
            coacd.Mesh(vertices, triangles), max_convex_hull=n_pieces,
            preprocess_resolution=along)]
        keep_pieces(file, pieces)
    return pieces


def place_of(vertices, triangles, n_pieces, along) -> Path:
    """Return the file for what a mesh is cut into: another one for all that it hangs on."""
    digest = hashlib.sha256(repr((metadata.version('coacd'), n_pieces, along)).encode())
    for array, kind in ((vertices, np.float64), (triangles, np.int64)):
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array, kind).tobytes())
    return cache_folder() / 'pieces' / f'{digest.hexdigest()[:32]}.npz'


def kept_pieces(file) -> list[np.ndarray] | None:
    """Return the pieces that a file holds; None if there is none, or it is broken."""
    try:
        with np.load(file) as kept:
            pieces = [kept[name] for name in kept.files]
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
    is_whole = pieces and all(
        piece.ndim == 2 and piece.shape[1] == 3 and piece.dtype == float
        and np.isfinite(piece).all() for piece in pieces)
    return pieces if is_whole else None


def keep_pieces(file, pieces) -> None:
    """
    Write pieces into a file; where none can be written, they are not kept.

    What is left of a process that was killed in the midst, the next one that cuts this mesh takes
    the place of: the name hangs on the mesh alone. Two at once write the same.
    """
    unfinished = file.with_suffix('.unfinished')
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(unfinished, 'wb') as stream:
            np.savez(stream, *pieces)
        os.replace(unfinished, file)
