"""Put what ``<include>`` names in its place, file by file."""

from collections.abc import Iterator
import os
from pathlib import Path
from typing import NamedTuple

from spr_dynamics.sdformat.diagnostics import (
    FILE_READ, InvalidSdf, Location, Report, UNREADABLE)
from spr_dynamics.sdformat.fields import check_known, read_fields, read_pose
from spr_dynamics.sdformat.frames import ANY
from spr_dynamics.sdformat.merge import merge
from spr_dynamics.sdformat.params import apply_params
from spr_dynamics.sdformat.urdf_read import urdf_as_sdf
from spr_dynamics.sdformat.uris import SearchPath
from spr_dynamics.sdformat.values import boolean
from spr_dynamics.sdformat.versions import (
    FIRST_WITH_SCOPES, NEWEST, upgrade, version_numbers)
from spr_dynamics.sdformat.xml import MAX_DEPTH, parse_xml, XmlElement

ENTITIES = ('model', 'actor', 'light')  # what an included file may hold, one of them
CONFIGS = ('model.config', 'manifest.xml')  # what makes a folder a model; the second is old
MAX_INCLUDE_DEPTH = 30  # files inside files; robots go three deep
MAX_INCLUDED = 100_000  # elements; ten files that include the next one ten times make 10^10
MAX_FILE_SIZE = 100_000_000  # bytes
MAX_SHOWN = 200  # characters of a URI in a message


def include_all(sdf: XmlElement, search: SearchPath, report: Report, *,
                any_version: bool = False) -> bool:
    """
    Replace each ``<include>`` by a copy of the model that it names, those inside that too.

    A file is read once, however often it is included. An include that fails stays where it is,
    so that the parser knows that something is missing.

    :param sdf: The root element of a document of version 1.12, which is changed.
    :param search: Where URIs lead.
    :param report: Takes errors and warnings.
    :param any_version: Whether to try versions that are not known.
    :returns: Whether nothing failed.
    :raises InvalidSdf: If all this is far more than a robot.
    """
    top = Path(sdf.location.file).parent
    return _Includes(top, search, report, any_version).expand(sdf)


class _Document(NamedTuple):
    """An included file, with its own includes in place."""

    sdf: XmlElement
    size: int
    """Number of elements."""
    depth: int
    is_complete: bool
    included_from: Location
    """The include for which it was read; it is where the chains of its locations end."""


class _Includes:
    """The files that were read for one document, and those that are being read."""

    def __init__(self, top: Path, search: SearchPath, report: Report, any_version: bool):
        self._top = top
        self._search = search
        self._report = report
        self._any_version = any_version
        self._documents: dict[str, _Document | None] = {}  # by real path
        self._configured: dict[Path, Path | None] = {}  # what a model.config chooses
        self._open: dict[str, str] = {}  # real path: name
        self._size = 0

    def expand(self, sdf: XmlElement) -> bool:
        """Replace the includes of one document; return whether nothing failed."""
        real = os.path.realpath(sdf.location.file)
        self._open[real] = sdf.location.file
        is_complete = True
        for scope in list(_scopes(sdf)):
            children, scope.children = scope.children, []
            for child in children:
                if child.tag != 'include':
                    scope.children.append(child)
                elif not self._include(child, scope):
                    scope.children.append(child)
                    is_complete = False
        del self._open[real]
        return is_complete

    def _include(self, include: XmlElement, scope: XmlElement) -> bool:
        """Put what an include names at the end of a scope; return whether nothing failed."""
        self._check_values(include)
        file = self._locate(include)
        document = self._document(file, include) if file else None
        entity = self._entity(document.sdf, include) if document else None
        if document is None or entity is None:
            return False
        self._refuse_too_much(document, scope, include)
        entity = copied(entity, document.included_from, include.location)
        if entity.tag == 'model':
            for params in include.all('experimental:params'):
                apply_params(params, entity, self._report)
            self._override(entity, include)
        elif include.first_or_empty('name').text:
            entity.attributes['name'] = include.first_or_empty('name').text
        if self._is_merge(include):
            return merge(entity, scope, include, self._report) and document.is_complete
        scope.adopt(entity)
        return document.is_complete

    def _error(self, code: str, include: XmlElement, message: str, *,
               implied: tuple[str, ...] = ()) -> None:
        self._report.error(
            code, include.location, f'{include.owner}: {message}', implied=implied)

    def _check_values(self, include: XmlElement) -> None:
        """Refuse values that can't be read; libsdformat then includes without them."""
        alone = Report()
        check_known(include, alone)
        read_fields(include, alone)
        read_pose(include, alone)
        self._report.warnings += alone.warnings
        self._report.unsupported += alone.unsupported
        self._report.errors += [
            error._replace(implied=('ELEMENT_INVALID',)) for error in alone.errors]
        bad = [error.location for error in alone.errors]
        include.children = [child for child in include.children if child.location not in bad]

    def _locate(self, include: XmlElement) -> Path | None:
        """Find the file that an include means."""
        uri = include.first_or_empty('uri').text
        shown = f"<include> of '{' '.join(uri.split())[:MAX_SHOWN]}'"
        if not uri:
            self._error('ATTRIBUTE_MISSING', include, '<include> has no <uri>')
            return None
        try:
            places = self._search.places(
                uri, Path(include.location.file).parent, self._top)
        except ValueError as problem:
            self._error('URI_LOOKUP', include, f'{shown}: this URI {problem}')
            return None
        for place in places:
            if os.path.isfile(place):
                return place
            for config in (place / name for name in CONFIGS):
                if os.path.isfile(config):
                    if config not in self._configured:
                        self._configured[config] = self._choose(config, include)
                    return self._configured[config]
        folder = next(filter(os.path.isdir, places), None)
        self._error('URI_LOOKUP', include,
                    f'{shown}: the folder {folder} has no model.config' if folder else
                    f'{shown}: not found{self._search.describe_miss(uri, places)}')
        return None

    def _choose(self, config: Path, include: XmlElement) -> Path | None:
        """Choose the file of the highest version that a model.config offers."""
        model = self._read(config, include)
        if model is None:
            return None
        if config.name != CONFIGS[0]:
            self._report.warn('WARNING', model.location, 'manifest.xml is deprecated; rename it '
                              f'to {CONFIGS[0]}')
        offered = {sdf: version_numbers(sdf.attributes.get('version', '')) or (0, 0)
                   for sdf in model.all('sdf') if sdf.text}
        newer = {sdf for sdf, version in offered.items() if version > NEWEST}
        for sdf in newer if not self._any_version else ():
            self._report.warn('WARNING', sdf.location, f"version '{sdf.attributes['version']}' of "
                              'this model is not known and is left out')
        known = [sdf for sdf in offered if sdf not in newer]
        best = max(known, key=lambda sdf: offered[sdf], default=None)
        if best is None and self._any_version:
            best = min(newer, key=lambda sdf: offered[sdf], default=None)
        if best is None:
            self._report.error('URI_LOOKUP', model.location,
                               'names no <sdf> file of a version that can be read')
            return None
        file = config.parent / best.text
        if not os.path.isfile(file):
            self._report.error('URI_LOOKUP', best.location, f'there is no file {file}')
            return None
        return file

    def _document(self, file: Path, include: XmlElement) -> _Document | None:
        """Return an included file, read at the first time that it is asked for."""
        real = os.path.realpath(file)
        if real in self._open:
            files = list(self._open.values())
            circle = [*files[list(self._open).index(real):], str(file)]
            self._error('URI_INVALID', include,
                        f"<include> runs in a circle: {' -> '.join(circle)}")
            return None
        if real not in self._documents:
            self._documents[real] = self._load(file, include)
        return self._documents[real]

    def _load(self, file: Path, include: XmlElement) -> _Document | None:
        if len(self._open) > MAX_INCLUDE_DEPTH:
            self._error('URI_INVALID', include,
                        f'files include each other more than {MAX_INCLUDE_DEPTH} deep')
            return None
        sdf = self._read(file, include)
        if sdf is None:
            return None
        if sdf.tag == 'robot':
            return self._load_urdf(sdf, include)
        if sdf.tag != 'sdf':
            self._report.error('PARSING_ERROR', sdf.location,
                               f'the root element is <{sdf.tag}>, and only <sdf> and <robot> can '
                               'be included',
                               implied=UNREADABLE)
            return None
        upgrade(sdf, self._report, any_version=self._any_version)
        is_complete = self.expand(sdf)
        size, depth = _measure(sdf)
        return _Document(sdf, size, depth, is_complete, include.location)

    def _load_urdf(self, robot: XmlElement, include: XmlElement) -> _Document | None:
        alone = Report()
        sdf = urdf_as_sdf(robot, alone)
        self._report.warnings += alone.warnings
        # libsdformat has this one code for whatever is wrong with a URDF
        self._report.errors += [error._replace(code='PARSING_ERROR', implied=UNREADABLE)
                                for error in alone.errors]
        if alone.errors:
            return None
        return _Document(sdf, *_measure(sdf), True, include.location)

    def _read(self, file: Path, include: XmlElement) -> XmlElement | None:
        try:
            if os.path.getsize(file) > MAX_FILE_SIZE:
                self._error('FILE_READ', include,
                            f'{file} is larger than {MAX_FILE_SIZE // 10**6} MB')
                return None
            return parse_xml(file.read_bytes(), str(file), include.location)
        except OSError as error:
            self._error('FILE_READ', include, f"{file} can't be read: {error.strerror}")
        except InvalidSdf as invalid:
            self._report.errors.extend(
                error._replace(implied=UNREADABLE) for error in invalid.diagnostics)
        return None

    def _entity(self, sdf: XmlElement, include: XmlElement) -> XmlElement | None:
        """Return the one thing that an included file is for."""
        entities = [child for tag in ENTITIES for child in sdf.all(tag)]
        if not entities:
            self._error('ELEMENT_MISSING', include,
                        f'{sdf.location.file} holds no <model> to include')
            return None
        for other in entities[1:]:
            self._report.error('ELEMENT_INCORRECT_TYPE', other.location,
                               f'{other.owner}: a file that is included holds one model, and '
                               f'{entities[0].owner} is there too')
        return entities[0]

    def _refuse_too_much(self, document: _Document, scope: XmlElement,
                         include: XmlElement) -> None:
        self._size += document.size
        if self._size > MAX_INCLUDED:
            self._error('ELEMENT_INVALID', include,
                        f'the included files hold more than {MAX_INCLUDED} elements together')
        elif _depth_of(scope) + document.depth > MAX_DEPTH:
            self._error('ELEMENT_INVALID', include,
                        f'elements nest more than {MAX_DEPTH} deep with what is included')
        else:
            return
        self._report.raise_errors()

    def _override(self, model: XmlElement, include: XmlElement) -> None:
        """Let what stands in an include replace what the model says."""
        name = include.first_or_empty('name').text
        if '::' in name and _version_of(include) >= FIRST_WITH_SCOPES:
            self._error('RESERVED_NAME', include, f"name '{name}': '::' can't be part of a name; "
                        'it leads into nested models', implied=(FILE_READ,))
        pose, static = include.first('pose'), include.first('static')
        for element in (pose, static):
            if element is not None:
                others = [child for child in model.children if child.tag != element.tag]
                model.children = []
                model.adopt(element)
                model.children += others
        placement_frame = include.first_or_empty('placement_frame').text
        if placement_frame and pose is None:
            self._error('MODEL_PLACEMENT_FRAME_INVALID', include,
                        '<placement_frame> needs a <pose> beside it', implied=UNREADABLE)
        written = {'name': name, 'placement_frame': placement_frame,
                   'namespace': include.first_or_empty('namespace').text}
        model.attributes.update({key: text for key, text in written.items() if text})

    def _is_merge(self, include: XmlElement) -> bool:
        try:
            return boolean(include.attributes.get('merge', 'false'))
        except ValueError:  # reported with the other values
            return False


def lost_names(sdf: XmlElement) -> dict[Location, frozenset[str]]:
    """
    Say what is missing for want of the includes that failed.

    :param sdf: The root element, with these includes still in it.
    :returns: By the location of a model or world, the names that they would have brought there.
    """
    return {scope.location: frozenset(map(_lost_name, scope.all('include')))
            for scope in _scopes(sdf) if scope.first('include')}


def _lost_name(include: XmlElement) -> str:
    if 'merge' in include.attributes:
        return ANY
    return include.first_or_empty('name').text or Path(include.first_or_empty('uri').text).stem


def _scopes(sdf: XmlElement) -> Iterator[XmlElement]:
    """Go through all elements that may include, from top to bottom."""
    stack = [sdf]
    while stack:
        scope = stack.pop()
        yield scope
        stack.extend(child for child in reversed(scope.children)
                     if child.tag in ('world', 'model'))


def copied(element: XmlElement, included_from: Location | None,
           now_from: Location | None) -> XmlElement:
    """
    Copy an element of a file that was included from one place, now for another.

    :param element: The element.
    :param included_from: The include for which its file was read.
    :param now_from: The include for which this copy is made.
    :returns: The copy, whose locations say so.
    """
    chains: dict[Location | None, Location | None] = {included_from: now_from}

    def chain(place: Location | None) -> Location | None:
        if place not in chains and place is not None:
            chains[place] = place._replace(included_from=chain(place.included_from))
        return chains[place]

    return element.copy(lambda location: Location(*location[:3], chain(location.included_from)))


def _version_of(element: XmlElement) -> tuple[int, int]:
    while element.parent is not None:
        element = element.parent
    return version_numbers(element.attributes.get('version', '')) or NEWEST


def _measure(sdf: XmlElement) -> tuple[int, int]:
    """Count elements, and how deep they nest."""
    size = depth = 0
    level = [sdf]
    while level:
        size, depth = size + len(level), depth + 1
        level = [child for element in level for child in element.children]
    return size, depth


def _depth_of(element: XmlElement) -> int:
    depth = 1
    while element.parent is not None:
        element, depth = element.parent, depth + 1
    return depth
