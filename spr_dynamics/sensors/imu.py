"""
The inertial measurement unit: specific force, angular velocity and orientation of its frame.

A sample sees the pose and the velocity at which its step begins, and the mean acceleration over
the step, impacts included.
"""
import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import name_hint
from spr_dynamics.model.records import pose_from_transform, transform_from_pose
from spr_dynamics.sdformat.elements import ImuSensor
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.sensors import LOCALIZATIONS
from spr_dynamics.sensors.axis_noise import axis_noises, AxisNoise, NO_NOISE
from spr_dynamics.sensors.declared import placed_sensors
from spr_dynamics.sensors.inertial import IMU
from spr_dynamics.sensors.settings import Checked, link_index

OWN_FRAME = ('', 'local')  # SDFormat's names of a sensor's frame at the start
# Axes of each frame as columns; x of the world points east and y north, as Gazebo has it.
R_W_NAMED = {
    'ENU': np.eye(3),
    'NED': np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
    'NWU': np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
}
UP = {'GRAV_UP': -1.0, 'GRAV_DOWN': 1.0}  # z of the frame, along gravity
LEVEL = 1e-6  # sine of the angle below which two directions count as one


@dataclass(frozen=True, eq=False)
class ImuSettings(Checked):
    """Where an IMU is and how it measures; after SDFormat's ``<imu>``."""

    link: str = ''
    """Name of the link that carries it."""
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))
    """T_LS, pose of the sensor S on its link L, shape (4, 4)."""
    rate: float = 0.0
    """Samples a second of simulated time [Hz]; 0: every step."""
    enabled: bool = True
    has_orientation: bool = True
    """Whether it reports its orientation."""
    localization: str = 'CUSTOM'
    """
    The frame R that orientations count from: ENU, NED or NWU, with x of the world east and y
    north; GRAV_UP or GRAV_DOWN, with z against or along gravity and x where ``grav_dir_x``
    points; or CUSTOM, turned by ``custom_rpy``. It stands still from the start on.
    """
    custom_rpy: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Roll, pitch and yaw of R in ``custom_rpy_parent_frame`` [rad], shape (3,)."""
    custom_rpy_parent_frame: str = ''
    """A link as it is at the start, ``world``, or empty: the sensor itself."""
    grav_dir_x: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    """Direction in ``grav_dir_x_parent_frame``, shape (3,)."""
    grav_dir_x_parent_frame: str = ''
    angular_velocity_noise: tuple[AxisNoise, AxisNoise, AxisNoise] = NO_NOISE
    """About x, y and z of the sensor [rad/s]."""
    linear_acceleration_noise: tuple[AxisNoise, AxisNoise, AxisNoise] = NO_NOISE
    """Along x, y and z of the sensor [m/s^2]."""

    def validated(self) -> 'ImuSettings':
        """
        Return these settings with arrays and noises in place of sequences.

        :raises SensorError: At the first value that makes no sense; names field, value and range.
        """
        return dataclasses.replace(
            self, pose=self._pose('pose'), rate=self._number('rate'),
            enabled=self._truth('enabled'), has_orientation=self._truth('has_orientation'),
            localization=self._one_of('localization', LOCALIZATIONS),
            custom_rpy=self._array('custom_rpy', (3,)), grav_dir_x=self._array('grav_dir_x', (3,)),
            angular_velocity_noise=self._noises('angular_velocity_noise'),
            linear_acceleration_noise=self._noises('linear_acceleration_noise'))

    def reference(self, model, q) -> np.ndarray:
        """
        Compute the frame that orientations count from.

        :param model: The robot.
        :param q: Its positions at the start, shape (nq,).
        :returns: R_WR, shape (3, 3).
        :raises SensorError: If there is no such frame: a link is unknown, or ``grav_dir_x`` is
            along gravity, or there is none.
        """
        if self.localization in R_W_NAMED:
            return R_W_NAMED[self.localization]
        T_WL = link_poses(model, q)
        if self.localization == 'CUSTOM':
            turn = Pose.from_rpy(np.zeros(3), self.custom_rpy)
            return self._frame(model, T_WL, 'custom_rpy_parent_frame') @ turn.R
        x = self._frame(model, T_WL, 'grav_dir_x_parent_frame') @ self.grav_dir_x
        size = np.linalg.norm(model.gravity)
        z = UP[self.localization] * model.gravity / (size or 1.0)
        level = x - (x @ z) * z
        length = np.linalg.norm(level)
        if not size > 0.0 or not length > LEVEL * np.linalg.norm(x):
            self._refuse('grav_dir_x', f'a direction that is not along gravity '
                         f'({" ".join(f"{g:g}" for g in model.gravity)})')
        x = level / length
        return np.column_stack([x, np.cross(z, x), z])

    def _frame(self, model, T_WL, field_name) -> np.ndarray:
        """Return the axes of the frame that a field names."""
        name = getattr(self, field_name)
        if name == 'world':
            return np.eye(3)
        if name in OWN_FRAME:
            return T_WL[link_index(model, self.link), :3, :3] @ self.pose[:3, :3]
        if name not in model.link_names:
            self._refuse(field_name, f'a link, world, or nothing for the sensor itself'
                         f'{name_hint(name, model.link_names)}')
        return T_WL[model.link_names.index(name), :3, :3]


class ImuReading(NamedTuple):
    """One sample of an IMU."""

    orientation: np.ndarray | None
    """Of the sensor in its reference frame, quaternion w x y z; None if it reports none."""
    angular_velocity: np.ndarray
    """In the sensor's frame [rad/s], shape (3,)."""
    linear_acceleration: np.ndarray
    """Specific force, acceleration less gravity, in the sensor's frame [m/s^2], shape (3,)."""


def imu_reading(memory, settings) -> ImuReading:
    """Copy the newest sample out of a ``MEMORY`` record."""
    R_RS = memory['R_RS'].reshape(3, 3) if memory['schedule']['samples'] else np.eye(3)
    return ImuReading(
        Pose(R_RS, np.zeros(3)).quat_wxyz() if settings.has_orientation else None,
        memory['values'][:3].copy(), memory['values'][3:].copy())


def imu_record(model, settings) -> np.ndarray:
    """
    Write validated settings as one ``IMU`` record.

    :raises SensorError: If the model has no such link, or no such frame at its neutral positions.
    """
    link = model.links[link_index(model, settings.link)]
    settings.reference(model, model.home)
    T_BS = pose_from_transform(link['X']) @ Pose(settings.pose[:3, :3], settings.pose[:3, 3])
    record = np.zeros(1, IMU)
    record['body'], record['X'] = link['body'], transform_from_pose(T_BS)
    record['noise'] = np.array(
        [*settings.angular_velocity_noise, *settings.linear_acceleration_noise],
        record.dtype['noise'].base)
    return record


def declared_imus(model) -> dict[str, ImuSettings]:
    """Return the IMUs that a model's file declares, by name."""
    settings = {}
    for name, link, pose, element in placed_sensors(model, ImuSensor):
        settings[name] = ImuSettings(
            link=model.link_names[link], pose=pose, rate=element.update_rate,
            has_orientation=element.enable_orientation,
            **{what: getattr(element, what) for what in (
                'localization', 'custom_rpy', 'custom_rpy_parent_frame', 'grav_dir_x',
                'grav_dir_x_parent_frame')},
            angular_velocity_noise=axis_noises(element.angular_velocity_noise),
            linear_acceleration_noise=axis_noises(element.linear_acceleration_noise))
    return settings
