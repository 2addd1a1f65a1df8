"""The door of this room: a file or a text in, elements out."""

from dataclasses import replace
from pathlib import Path

from spr_dynamics.sdformat.diagnostics import Diagnostic, InvalidSdf, Location, Report
from spr_dynamics.sdformat.elements import Root
from spr_dynamics.sdformat.frames import FrameGraph
from spr_dynamics.sdformat.parse import parse
from spr_dynamics.sdformat.xml import parse_xml


def read(path: str | Path | None = None, *, text: str | bytes | None = None) -> Root:
    """
    Read an SDF file or text, of version 1.2 to 1.12.

    :param path: The file.
    :param text: Its content instead; messages then call the file ``<text>``.
    :returns: What it says, as elements of version 1.12.
    :raises SdfError: If it can't be used; lists every problem with file and line.
    :raises TypeError: If neither or both are given.
    """
    if path is not None and text is None:
        sdf = parse_xml(_read_file(path), str(path))
    elif path is None and text is not None:
        sdf = parse_xml(text, '<text>')
    else:
        raise TypeError('read() needs a path or a text, and not both')
    report = Report()
    root = parse(sdf, report)
    # names in a file that was not included are not wrong
    if all(error.code != 'URI_LOOKUP' for error in report.errors):
        FrameGraph(root, report)
    report.raise_errors()
    return replace(root, warnings=tuple(report.warnings))


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
