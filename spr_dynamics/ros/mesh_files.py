"""Where RViz finds the meshes of a robot."""
from pathlib import Path

from spr_dynamics.model.build import mesh_places
from spr_dynamics.ros.resources import package_share
from spr_dynamics.sdformat.elements import Mesh
from spr_dynamics.sdformat.uris import SearchPath

PACKAGE = 'package://'
FILE = 'file://'


def mesh_files(mesh: Mesh) -> list[Path]:
    """
    List the files that a mesh may mean, the one to prefer first.

    :param mesh: The mesh.
    """
    return mesh_places(SearchPath.of(package_path=package_share))(mesh)


def portable_uri(mesh: Mesh) -> str:
    """
    Return a URI by which programs on other machines find a mesh; empty if there is none.

    :param mesh: The mesh.
    """
    is_there = mesh.uri.startswith(PACKAGE) and any(path.is_file() for path in mesh_files(mesh))
    return mesh.uri if is_there else ''


def local_uri(mesh: Mesh) -> str:
    """
    Return a URI by which programs on this machine find a mesh; as it is written if none does.

    RViz knows ``package://`` and ``file://``; SDF has ``model://`` and relative paths, too.

    :param mesh: The mesh.
    """
    found = next((path for path in mesh_files(mesh) if path.is_file()), None)
    return portable_uri(mesh) or (mesh.uri if found is None else f'{FILE}{found.resolve()}')
