"""The door of this room: a file or a text in, elements out."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from spr_dynamics.sdformat.diagnostics import (
    Diagnostic, InvalidSdf, Location, Report, said_once)
from spr_dynamics.sdformat.elements import Root
from spr_dynamics.sdformat.frames import FrameGraph
from spr_dynamics.sdformat.includes import include_all, lost_names
from spr_dynamics.sdformat.inertia import with_auto_inertia
from spr_dynamics.sdformat.mimic import resolve_mimics
from spr_dynamics.sdformat.parse import parse, parse_latest
from spr_dynamics.sdformat.urdf_read import parse_urdf
from spr_dynamics.sdformat.uris import PackagePath, SearchPath
from spr_dynamics.sdformat.versions import upgrade
from spr_dynamics.sdformat.xml import parse_xml


def read(path: str | Path | None = None, *, text: str | bytes | None = None,
         model_paths: Iterable[str | Path] = (), any_version: bool = False,
         package_path: PackagePath | None = None) -> Root:
    """
    Read an SDF file or text, of version 1.2 to 1.12, and the files that it includes; or URDF.

    :param path: The file.
    :param text: Its content instead; messages then call the file ``<text>``, and relative URIs
        in it count from the current directory.
    :param model_paths: Folders where URIs are looked up, before those that the environment
        names (`spr_dynamics.sdformat.uris.SearchPath`).
    :param any_version: Whether to try a file of a version that is not known, as if it were 1.12.
    :param package_path: Gives the share folder of a ROS package, for ``package://``; None looks
        in the model paths and in those of ``AMENT_PREFIX_PATH``.
    :returns: What it says, as elements of version 1.12.
    :raises SdfError: If it can't be used; lists every problem with file and line.
    :raises TypeError: If neither or both are given.
    """
    root, report = examine(path, text=text, model_paths=model_paths, any_version=any_version,
                           package_path=package_path)
    report.errors += report.unsupported
    report.raise_errors()
    return replace(root, warnings=tuple(said_once(report.warnings)))


def examine(path: str | Path | None = None, *, text: str | bytes | None = None,
            model_paths: Iterable[str | Path] = (), any_version: bool = False,
            package_path: PackagePath | None = None) -> tuple[Root, Report]:
    """
    Read as `read` does, but hand over what is wrong with a file instead of raising it.

    :param path: The file.
    :param text: Its content instead.
    :param model_paths: Folders where URIs are looked up.
    :param any_version: Whether to try a file of a version that is not known.
    :param package_path: Gives the share folder of a ROS package.
    :returns: As much as could be read; all errors and warnings.
    :raises TypeError: If neither or both are given.
    """
    if (path is None) == (text is None):
        raise TypeError('read() needs a path or a text, and not both')
    file = '<text>' if path is None else str(path)
    search = SearchPath.of(model_paths, package_path)
    report = Report()
    lost: dict[Location, frozenset[str]] = {}
    try:
        sdf = parse_xml(_read_file(file) if text is None else text, file)
        if sdf.tag == 'robot':
            root = parse_urdf(sdf, report)
        elif sdf.tag == 'sdf':
            upgrade(sdf, report, any_version=any_version)
            if not include_all(sdf, search, report, any_version=any_version):
                lost = lost_names(sdf)
            report.of_includes = len(report.errors)
            root = parse_latest(sdf, report)
        else:
            root = parse(sdf, report)
    except InvalidSdf as error:
        report.errors[:] = error.diagnostics
        nowhere = Location(file, 0, '')
        return Root(location=nowhere, version='', models=(), worlds=(), warnings=()), report
    graph = FrameGraph(root, report, lost)
    resolve_mimics(graph, report)
    # names in a file that was not included are not wrong, though libsdformat says they are
    codes = dict.fromkeys(
        code for error in graph.blamed.errors for code in (error.code, *error.implied))
    if codes and not any(error.is_fatal for error in report.errors):
        first = report.errors[0]
        report.errors[0] = first._replace(implied=(*first.implied, *codes))
    return with_auto_inertia(root, graph, report, lambda mesh: search.places(
        mesh.uri, Path(mesh.location.file).parent, Path(file).parent)), report


def add_world(robot: Root, world: Root) -> Root:
    """
    Put a robot into a world.

    :param robot: A file of models without a world.
    :param world: A file with a world; if it has several, the first is used.
    :returns: The world file with the robot's models at the end of its first world.
    :raises SdfError: If the robot's file has a world, the world's file has none, or both
        have a model of the same name.
    """
    report = Report()
    if not world.worlds:
        report.error('ELEMENT_MISSING', world.location, 'the world file holds no <world>')
        report.raise_errors()
    if robot.worlds:
        report.error('ELEMENT_INCORRECT_TYPE', robot.worlds[0].location,
                     f"the robot file already holds a world ('{robot.worlds[0].name}')")
    first, *others = world.worlds
    taken = {child.name: child for child in (*first.children, *world.models)}
    for model in robot.models:
        if model.name in taken:
            other = taken[model.name].location
            report.error('DUPLICATE_NAME', model.location,
                         f"model '{model.name}': world '{first.name}' already has that name "
                         f'({other.file}:{other.line})')
    report.raise_errors()
    first = replace(first, children=first.children + robot.models)
    return replace(world, worlds=(first, *others), warnings=world.warnings + robot.warnings)


def _read_file(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        problem = 'is a directory (give the .sdf file in it)'
    except FileNotFoundError:
        problem = 'no such file'
    except (OSError, ValueError) as error:
        problem = f"can't be read: {getattr(error, 'strerror', None) or error}"
    raise InvalidSdf([Diagnostic('FILE_READ', problem, Location(str(path), 0, ''))])
