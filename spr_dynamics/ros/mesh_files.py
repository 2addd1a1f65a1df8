"""Where RViz finds the meshes of a robot."""
from pathlib import Path

from spr_dynamics.ros.resources import package_share
from spr_dynamics.sdformat.elements import Mesh
from spr_dynamics.sdformat.meshes import mesh_places
from spr_dynamics.sdformat.uris import SearchPath

PACKAGE = 'package://'
FILE = 'file://'


def mesh_files(mesh: Mesh) -> list[Path]:
    """
    List the files that a mesh may mean, the one to prefer first.

    :param mesh: The mesh.
    :raises ValueError: If its URI leads nowhere; the end of a sentence.
    """
    return mesh_places(SearchPath.of(package_path=package_share))(mesh)


def portable_uri(mesh: Mesh) -> str:
    """
    Return a URI by which programs on other machines find a mesh; empty if there is none.

    RViz can't draw a part of a file, so there is none for a ``<submesh>``.

    :param mesh: The mesh.
    :raises ValueError: If its URI leads nowhere; the end of a sentence.
    """
    if mesh.submesh or not mesh.uri.startswith(PACKAGE):
        return ''
    return mesh.uri if any(path.is_file() for path in mesh_files(mesh)) else ''


def file_uri(mesh: Mesh) -> str:
    """
    Return a URI by which programs on this machine find a mesh; empty if there is none.

    There is none for a ``<submesh>``, either.

    :param mesh: The mesh.
    """
    return '' if mesh.submesh else _found(mesh)


def local_uri(mesh: Mesh) -> str:
    """
    Return a URI by which programs on this machine find a mesh; as it is written if none does.

    RViz knows ``package://`` and ``file://``; SDF has ``model://`` and relative paths, too.

    :param mesh: The mesh.
    """
    return mesh.uri if mesh.uri.startswith(PACKAGE) else _found(mesh) or mesh.uri


def _found(mesh: Mesh) -> str:
    """Return the URI of the file of a mesh; empty if there is none."""
    try:
        found = next((path for path in mesh_files(mesh) if path.is_file()), None)
    except ValueError:
        return ''
    return f'{FILE}{found.resolve()}' if found else ''
