"""From a file to a Model, in one call."""
from collections.abc import Iterable
import dataclasses
import functools
import os
from pathlib import Path

from spr_dynamics.errors import did_you_mean, ModelError
from spr_dynamics.model.build import build
from spr_dynamics.model.model import Model
from spr_dynamics.model.topology import has_free_root
from spr_dynamics.sdformat.assemble import assemble
from spr_dynamics.sdformat.elements import Root
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.read import add_world, read
from spr_dynamics.sdformat.uris import PackagePath, SearchPath

# Worlds that need no file. Gravity and step are SDFormat's own defaults.
EMPTY = "<sdf version='1.12'><world name='empty'/></sdf>"
GROUND = """
<sdf version='1.12'>
  <world name='ground'>
    <model name='ground'>
      <static>true</static>
      <link name='ground'>
        <collision name='plane'><geometry><plane/></geometry></collision>
        <visual name='plane'>
          <geometry><plane><size>20 20</size></plane></geometry>
          <material><diffuse>0.8 0.8 0.8 1</diffuse></material>
        </visual>
      </link>
    </model>
  </world>
</sdf>
"""
WORLDS = {'empty': EMPTY, 'ground': GROUND}


def load(source: str | Path | None = None, *, text: str | None = None,
         world: str | Path | None = None, pose: Pose | None = None, fix_base: bool = False,
         model_paths: Iterable[str | Path] = (), package_path: PackagePath | None = None,
         any_version: bool = False) -> Model:
    """
    Load a robot, or every model of a world, from SDF or URDF.

    :param source: Path of a file.
    :param text: Its text, instead of a path.
    :param world: Where to put the robot: ``ground`` (a plane at z = 0), ``empty``, or the path
        of a world file. None takes the file as it is; ``auto`` means ``ground`` for a robot with
        a free root that comes without a world, and None for others.
    :param pose: Where to put a robot in its world, in place of where its file poses the model.
    :param fix_base: Weld what would be a free root to the world.
    :param model_paths: Folders in which included models are looked up, before those that
        ``SDF_PATH`` and ``GZ_SIM_RESOURCE_PATH`` name.
    :param package_path: Gives the share folder of a ROS package, for ``package://``; None takes
        those that ``AMENT_PREFIX_PATH`` names.
    :param any_version: Try a file of a version that is not known, as if it were 1.12.
    :returns: The model.
    :raises TypeError: If there is no path or text, or both, or an argument is something else.
    :raises SdfError: If the file can't be read; the message has a line for each problem, with
        file and line.
    :raises ModelError: If what it says can't be simulated, or there is no such world.
    """
    if (source is None) == (text is None):
        raise TypeError('load: the path of a file, or text=, expected, and not both')
    expect(text is None or isinstance(text, (str, bytes)), 'text', text, 'the text of a file')
    expect(world is None or isinstance(world, (str, Path)), 'world', world,
           f"'auto', {', '.join(map(repr, WORLDS))} or the path of a world file")
    expect(pose is None or isinstance(pose, Pose), 'pose', pose,
           'a Pose of spr_dynamics.sdformat.poses, as from_rpy(xyz, rpy) makes it,')
    expect(not isinstance(model_paths, (str, bytes, Path)) and isinstance(model_paths, Iterable),
           'model_paths', model_paths, 'a list of folders')
    expect(package_path is None or callable(package_path), 'package_path', package_path,
           'a function of the name of a package')
    model_paths = tuple(model_paths)
    for folder in model_paths:
        expect(isinstance(folder, (str, Path)), 'model_paths', folder, 'paths of folders')
    read_file = functools.partial(read, model_paths=model_paths, package_path=package_path,
                                  any_version=any_version)
    search = SearchPath.of(model_paths, package_path)
    root = read_file(source, text=text)
    if pose is not None:
        root = placed(root, pose)
    robot = assemble(root)
    if world == 'auto':
        stands = has_free_root(robot) and not fix_base and not robot.has_world
        world = 'ground' if stands else None
    if world is None:
        return build(robot, fix_base=fix_base, search=search)
    around = read(text=WORLDS[world]) if world in WORLDS else read_file(found_world(world))
    together = assemble(add_world(root, around))
    return build(dataclasses.replace(together, name=robot.name), fix_base=fix_base,
                 search=search)


def expect(is_met, name, value, expected):
    """Raise a TypeError if an argument is not what is expected."""
    if not is_met:
        raise TypeError(f'{name}: {expected} expected, got {value!r}')


def found_world(world) -> str | Path:
    """
    Return the path of a world's file.

    :raises ModelError: If there is none; names what else it may be.
    """
    if not os.path.exists(world):
        raise ModelError(f"world = {str(world)!r}: no such file, and none of 'auto', "
                         f'{", ".join(map(repr, WORLDS))}{did_you_mean(str(world), WORLDS)}')
    return world


def placed(root: Root, pose: Pose) -> Root:
    """
    Pose the model of a file.

    :param root: The file.
    :param pose: Of the model in the world.
    :raises ModelError: If the file holds a world, or not just one model.
    """
    if root.worlds or len(root.models) != 1:
        what = f"the world '{root.worlds[0].name}'" if root.worlds else \
            f'{len(root.models)} models'
        raise ModelError(f'a pose is for a file with one model; {root.location.file} holds {what}')
    model = dataclasses.replace(root.models[0], pose=pose)
    return dataclasses.replace(root, models=(model,))
