"""Where a URI in an SDF file may lead on this machine."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
import os
from pathlib import Path
import re

from spr_dynamics.errors import did_you_mean

PATH_VARIABLES = ('SDF_PATH', 'GZ_SIM_RESOURCE_PATH')  # libsdformat's, then Gazebo's
MAX_LENGTH = 4096  # longest path of Linux
MAX_PLACES_LISTED = 6  # a longer list hides the one that was meant

PackagePath = Callable[[str], str | Path | None]
"""Gives the share folder of a ROS package, None for one that is not installed."""


@dataclass(frozen=True)
class SearchPath:
    """
    Folders in which URIs are looked up.

    ``model://arm`` is ``arm`` in the folder ``models`` beside the file that was asked for, or in
    one of the model folders: those that the caller names, then those in ``SDF_PATH`` and
    ``GZ_SIM_RESOURCE_PATH``. ``package://arm_description/arm.sdf`` is ``arm.sdf`` in the share
    folder of that ROS package. Neither leads out of these folders by ``..``, but symbolic links
    are followed: ``colcon build --symlink-install`` is made of them.

    ``file://`` and URIs without a scheme are paths. A relative one counts from the folder of the
    file that it is written in, then of the file that was asked for, then from the model folders;
    libsdformat starts at the current directory instead, so that a file's meaning depends on
    where one stands.
    """

    model_paths: tuple[Path, ...] = ()
    package_path: PackagePath | None = None

    @classmethod
    def of(cls, model_paths: Iterable[str | Path] = (),
           package_path: PackagePath | None = None) -> 'SearchPath':
        """
        Make a search path, with what the environment adds to it.

        :param model_paths: Folders of models, looked at first.
        :param package_path: Finds ROS packages; None takes those in the model folders, then
            those that ``AMENT_PREFIX_PATH`` names.
        :returns: The search path.
        """
        listed = [os.environ.get(name, '').split(os.pathsep) for name in PATH_VARIABLES]
        folders = [*map(Path, model_paths), *(Path(text) for texts in listed for text in texts
                                              if text)]
        return cls(tuple(dict.fromkeys(folders)), package_path)

    def places(self, uri: str, folder: Path, top: Path) -> list[Path]:
        """
        List the paths that a URI may mean.

        :param uri: The URI.
        :param folder: That of the file in which it is written.
        :param top: That of the file that was asked for.
        :returns: Paths, the one to prefer first; whether they exist is not looked at.
        :raises ValueError: If this kind of URI leads nowhere; the message says why.
        """
        scheme, path = _split(uri)
        if len(uri) > MAX_LENGTH:
            raise ValueError(f'is longer than {MAX_LENGTH} characters')
        if not uri.isprintable():
            raise ValueError('holds a line break or a like')
        if scheme in ('http', 'https'):
            raise ValueError(
                'is in the network, from where nothing is fetched (download the model and give '
                'the folder that holds it as model path)')
        if scheme == 'model':
            return [base / _inside(path) for base in (top / 'models', *self.model_paths)]
        if scheme == 'package':
            package, _, inner = _inside(path).partition('/')
            return [share / inner for share in self._shares(package)]
        if scheme not in ('', 'file'):
            raise ValueError(f"has the scheme '{scheme}' (known: model, package, file)")
        return [base / path for base in dict.fromkeys((folder, top, *self.model_paths))]

    def describe_miss(self, uri: str, places: list[Path]) -> str:
        """
        Say where a URI was looked for, and what is there instead.

        :param uri: The URI.
        :param places: What `places` gave for it.
        :returns: For the end of a message.
        """
        if not places:
            return ' (there is no ROS package of that name)'
        places = list(dict.fromkeys(places))
        hint = next((hint for hint in map(_hint, places) if hint), '')
        listed = ', '.join(map(str, places[:MAX_PLACES_LISTED]))
        more = len(places) - MAX_PLACES_LISTED
        listed += f' and {more} more' if more > 0 else ''
        others = ' or '.join(PATH_VARIABLES)
        return f'{hint} (looked at {listed}; a model path, {others} adds more)'

    def _shares(self, package: str) -> Iterator[Path]:
        if self.package_path is not None:
            share = self.package_path(package)
            if share is not None:
                yield Path(share)
            return
        yield from (base / package for base in self.model_paths)
        for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
            if prefix:
                yield Path(prefix) / 'share' / package


def _split(uri: str) -> tuple[str, str]:
    match = re.match(r'([A-Za-z][A-Za-z0-9+.-]*)://', uri)
    return (match[1].lower(), uri[match.end():]) if match else ('', uri)


def _inside(path: str) -> str:
    """Take ``.`` and ``..`` out of a path that must not lead out of its folder."""
    normal = os.path.normpath(path.lstrip('/'))
    if normal.split('/')[0] == '..':
        raise ValueError("leads out of the model path by '..'")
    return normal


def _hint(missing: Path) -> str:
    """Name what is near the first part of a path that does not exist."""
    try:
        while not missing.parent.is_dir() and missing.parent != missing:
            missing = missing.parent
        return did_you_mean(missing.name, sorted(os.listdir(missing.parent)))
    except OSError:
        return ''
