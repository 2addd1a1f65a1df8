"""Where the files are that ship with the package, and what a robot can be named by."""
from collections.abc import Iterable
from pathlib import Path
import sys

from spr_dynamics.errors import did_you_mean, SprDynamicsError

PACKAGE = 'spr_dynamics'
SOURCE_TREE = Path(__file__).resolve().parents[2]


def find_shipped(relative: str) -> Path | None:
    """
    Return a file or folder that ships with the package, or None.

    Looks in the ament index, then in the environment's share folder, then in the source tree.

    :param relative: Its path in the package's share folder, such as ``models/arm7.sdf``.
    """
    for folder in _share_folders(PACKAGE):
        if (folder / relative).exists():
            return folder / relative
    return None


def shipped_models() -> dict[str, Path]:
    """Return the models that ship with the package, by their bare names."""
    folder = find_shipped('models')
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob('*.sdf'))}


def resolve(text: str, names: Iterable[str] = ()) -> Path:
    """
    Return the file that a parameter means.

    :param text: A path, ``package://PACKAGE/PATH``, ``file://PATH``, or the name of a shipped
        model, with ``.sdf`` or without.
    :param names: What the parameter could have been that is no file, for the message.
    :raises SprDynamicsError: If there is no such file; the message lists the shipped models.
    """
    if text.startswith('package://'):
        return _in_package(text)
    path = expanded(text.removeprefix('file://'))
    if path.is_file():
        return path
    models = shipped_models()
    name = text.removesuffix('.sdf')
    if name in models:
        return models[name]
    problem = 'is a folder' if path.is_dir() else 'no such file'
    known = f'{", ".join(names)} or a file expected; ' if names else ''
    raise SprDynamicsError(f'{text}: {problem}{did_you_mean(name, [*names, *models])}; {known}'
                           f'shipped models: {", ".join(models) or "(none found)"}')


def expanded(text: str) -> Path:
    """
    Return a path in which ``~`` and ``~USER`` stand for a home folder.

    :param text: The path.
    :raises SprDynamicsError: If there is no such user.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SprDynamicsError(
            f'{text}: the home folder of {Path(text).parts[0]} is not known') from None


def package_share(package: str) -> Path | None:
    """
    Return the share folder of a package, None if it isn't installed.

    :param package: Its name.
    """
    folders = _share_folders(package)
    return folders[0] if folders else None


def _in_package(uri: str) -> Path:
    package, _, relative = uri.removeprefix('package://').partition('/')
    folders = _share_folders(package)
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    if not folders:
        raise SprDynamicsError(f'{uri}: the package {package!r} is not in the ament index '
                               '(AMENT_PREFIX_PATH)')
    raise SprDynamicsError(f'{uri}: no such file in {folders[0]}')


def _share_folders(package: str) -> list[Path]:
    """Return the places where a package's shared files may be, the most trusted first."""
    folders = []
    try:
        from ament_index_python.packages import get_package_share_directory
        folders.append(Path(get_package_share_directory(package)))
    except (ImportError, LookupError, OSError):
        pass  # no ROS installation, or the package isn't in its index
    if package == PACKAGE:
        folders += [Path(sys.prefix) / 'share' / PACKAGE, SOURCE_TREE]
    return folders
