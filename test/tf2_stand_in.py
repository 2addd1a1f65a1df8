"""
The package tf2_msgs for those who have ROS 2 from PyPI, which doesn't have it.

Its only message is one line, so the generators of the wheels can make it: Python, C and C++,
which the compiler makes into libraries (some 3 s). Type name and hash are those of the original.
"""
import os
from pathlib import Path
import subprocess
import sys
import sysconfig

import numpy
import pytest

import needs

MESSAGE = """
#include "geometry_msgs/msg/TransformStamped.idl"
module tf2_msgs {
  module msg {
    struct TFMessage {
      sequence<geometry_msgs::msg::TransformStamped> transforms;
    };
  };
};
"""
SUPPORTS = ['rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_introspection_c']
C = 'tf2_msgs__rosidl_generator_c'
FASTRTPS, INTROSPECTION = (f'tf2_msgs__{support}' for support in SUPPORTS)


@pytest.fixture(scope='session')
def tf2_msgs(tmp_path_factory):
    """
    Return the module, for this process and for those that it starts.

    That of a ROS installation, where there is one.
    """
    try:
        import tf2_msgs.msg
    except ImportError:
        pass
    else:
        yield tf2_msgs.msg
        return
    compiler = needs.program('gcc')
    folder = tmp_path_factory.mktemp('interfaces')
    build(compiler, folder / 'tf2_msgs')
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv('PYTHONPATH', str(folder), prepend=os.pathsep)
        yield needs.module('tf2_msgs.msg')


def build(compiler, package):
    """Make the package in a folder of its name."""
    prefix = Path(sys.prefix)
    generate(package, prefix)
    library = Linker(compiler, package, prefix)
    library.link(f'lib{C}.so', 'msg/detail/tf_message__functions.c',
                 'msg/detail/tf_message__description.c', libraries=[
                     'geometry_msgs__rosidl_generator_c', 'rosidl_runtime_c', 'rcutils'])
    library.link(f'lib{FASTRTPS}.so', 'msg/detail/tf_message__type_support_c.cpp', libraries=[
        C, 'geometry_msgs__rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_fastrtps_c',
        'rosidl_typesupport_fastrtps_cpp', 'fastcdr', 'rmw', 'stdc++'])
    library.link(f'lib{INTROSPECTION}.so',
                 '../introspection/tf2_msgs/msg/detail/tf_message__type_support.c',
                 libraries=[C, 'geometry_msgs__rosidl_typesupport_introspection_c'])
    # the middleware opens the two by name, which finds them as parts of this one
    library.link('tf2_msgs_s__rosidl_typesupport_c' + sysconfig.get_config_var('EXT_SUFFIX'),
                 '_tf2_msgs_s.ep.rosidl_typesupport_c.c', 'msg/_tf_message_s.c',
                 'msg/tf_message__type_support.cpp', libraries=[
                     C, FASTRTPS, INTROSPECTION, 'rosidl_typesupport_c',
                     'geometry_msgs__rosidl_generator_py', 'stdc++'])


def generate(package, prefix):
    """Write the sources into a folder of the package's name."""
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport
    (package / 'msg').mkdir(parents=True)
    (package / '__init__.py').touch()
    (package / 'msg' / 'TFMessage.idl').write_text(MESSAGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('AMENT_PREFIX_PATH', str(prefix))  # where templates are
        for generator, folder in (
                (GenerateC('c'), package),
                (GenerateCTypesupport('c', typesupport_implementations=SUPPORTS), package),
                (GenerateFastRTPSCTypesupport('fastrtps_c'), package),
                (GenerateIntrospectionCTypesupport('introspection_c'),
                 package.parent / 'introspection' / 'tf2_msgs'),
                (GeneratePython('py', typesupport_implementations=['rosidl_typesupport_c']),
                 package)):
            generator.generate('tf2_msgs', [f'{package}:msg/TFMessage.idl'],
                               [str(prefix / 'share' / 'geometry_msgs'),
                                str(prefix / 'share' / 'std_msgs'),
                                str(prefix / 'share' / 'builtin_interfaces')], folder)


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

    def link(self, name, *sources, libraries):
        """Compile sources and link them."""
        subprocess.run([
            self.compiler, *self.options, '-o', self.package / name,
            *(self.package / source for source in sources), *self.search,
            *(f'-l{library}' for library in libraries)], check=True)
