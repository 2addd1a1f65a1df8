"""
Interface packages for those who have ROS 2 from PyPI, which doesn't have them all.

The generators of the wheels write Python, C and C++, which the compiler makes into libraries.
Names of types and hashes are those of the originals, since both follow from the fields.
"""
import contextlib
import io
import os
from pathlib import Path
import subprocess
import sys
import sysconfig

import numpy
import pytest

import needs

SUPPORTS = ['rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_introspection_c']
FOUNDATION = ('builtin_interfaces', 'service_msgs', 'unique_identifier_msgs', 'action_msgs',
              'std_msgs')  # what the generators add to services and actions, and headers


@contextlib.contextmanager
def importable(folder, package, sources, dependencies):
    """
    Build a package, for this process and for those that it starts.

    :param folder: Where it is built.
    :param package: Its name.
    :param sources: The text of each interface by its path: ``msg/NAME.msg`` and so on.
    :param dependencies: Packages beyond the FOUNDATION that the texts name.
    """
    compiler = needs.program('gcc')
    build(compiler, folder / package, sources, (*FOUNDATION, *dependencies))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv('PYTHONPATH', str(folder), prepend=os.pathsep)
        yield


def build(compiler, package, sources, dependencies):
    """Make the package in a folder of its name."""
    prefix = Path(sys.prefix)
    generate(package, prefix, sources, dependencies)
    library = Linker(compiler, package, prefix)
    name = package.name
    core, fastrtps, introspection = (
        f'{name}__{kind}' for kind in ('rosidl_generator_c', *SUPPORTS))
    library.link(f'lib{core}.so', '*/detail/*.c',
                 libraries=['rosidl_runtime_c', 'rcutils',
                            *(f'{other}__rosidl_generator_c' for other in dependencies)])
    library.link(f'lib{fastrtps}.so', '*/detail/*__type_support_c.cpp', libraries=[
        core, 'rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_fastrtps_cpp', 'fastcdr',
        'rmw', 'stdc++', *(f'{other}__rosidl_typesupport_fastrtps_c' for other in dependencies)])
    library.link(f'lib{introspection}.so',
                 f'../introspection/{name}/*/detail/*__type_support.c', libraries=[
                     core, 'rosidl_typesupport_introspection_c',
                     *(f'{other}__rosidl_typesupport_introspection_c' for other in dependencies)])
    # the middleware opens the two by name, which finds them as parts of this one
    library.link(f'{name}_s__rosidl_typesupport_c{sysconfig.get_config_var("EXT_SUFFIX")}',
                 '_*.ep.rosidl_typesupport_c.c', '*/_*_s.c', '*/*__type_support.cpp',
                 libraries=[core, fastrtps, introspection, 'rosidl_typesupport_c', 'stdc++',
                            *(f'{other}__rosidl_{kind}' for other in dependencies
                              for kind in ('generator_py', 'typesupport_c'))])


def generate(package, prefix, sources, dependencies):
    """Write the sources into a folder of the package's name."""
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport
    package.mkdir()
    (package / '__init__.py').touch()
    for path, text in sources.items():
        (package / path).parent.mkdir(exist_ok=True)
        (package / path).write_text(text)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setenv('AMENT_PREFIX_PATH', str(prefix))  # where templates are
        for path in sources:
            convert_to_idl(package, package.name, Path(path), package)
        for generator, folder in (
                (GenerateC('c'), package),
                (GenerateCTypesupport('c', typesupport_implementations=SUPPORTS), package),
                (GenerateFastRTPSCTypesupport('fastrtps_c'), package),
                (GenerateIntrospectionCTypesupport('introspection_c'),
                 package.parent / 'introspection' / package.name),
                (GeneratePython('py', typesupport_implementations=['rosidl_typesupport_c']),
                 package)):
            generator.generate(
                package.name,
                [f'{package}:{Path(path).with_suffix(".idl")}' for path in sources],
                [str(prefix / 'share' / other) for other in dependencies], folder)


class Linker:
    """Makes shared libraries beside the sources."""

    def __init__(self, compiler, package, prefix):
        """Note where headers and libraries are."""
        self.compiler, self.package = compiler, package
        headers = prefix / 'include'
        places = [package.parent, package.parent / 'introspection',
                  sysconfig.get_path('include'), numpy.get_include(), headers,
                  *(path for path in sorted(headers.iterdir()) if path.is_dir())]
        self.options = ['-fPIC', '-shared', *(f'-I{place}' for place in places)]
        self.search = [f'-L{package}', f'-L{prefix / "lib"}', '-Wl,-rpath,$ORIGIN',
                       f'-Wl,-rpath,{prefix / "lib"}', '-Wl,--no-as-needed']

    def link(self, name, *patterns, libraries):
        """Compile sources and link them; those in C++ as one, so that headers are read once."""
        found = [path for pattern in patterns for path in sorted(self.package.glob(pattern))]
        units = [path for path in found if path.suffix == '.c']
        if len(units) < len(found):
            units.append(self.package / f'{name}.cpp')
            units[-1].write_text(''.join(f'#include "{path}"\n' for path in found
                                         if path.suffix == '.cpp'))
        subprocess.run([
            self.compiler, *self.options, '-o', self.package / name, *units, *self.search,
            *(f'-l{library}' for library in libraries)], check=True)
