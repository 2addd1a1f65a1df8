"""IMUs and force-torque sensors while the simulation runs."""
import numpy as np

from spr_dynamics.sensors.force_torque import (
    force_torque_reading, force_torque_records, ForceTorqueReading, ForceTorqueSettings)
from spr_dynamics.sensors.imu import imu_reading, imu_record, ImuReading, ImuSettings
from spr_dynamics.simulation.sensor import Sensor


class Imu(Sensor):
    """
    An inertial measurement unit of a simulation.

    It remembers a ``MEMORY`` record; its constants are an ``IMU`` record. The frame that its
    orientation counts from is found at each reset, from the positions at that time.
    """

    __slots__ = ()

    type = 'imu'
    settings_type = ImuSettings

    def fitted(self, settings: ImuSettings) -> tuple[np.ndarray, ...]:
        """
        Return what the compiled step reads, for each of the sensor's ``constants``.

        :param settings: Validated ones.
        :raises SensorError: If they don't fit the model.
        """
        return (imu_record(self._around.model, settings),)

    def reset(self):
        """Forget all samples, and count orientations from the present pose on."""
        super().reset()
        R_WR = self.settings.reference(self._around.model, self._around.buffers.state.q)
        self._memory['R_WR'] = R_WR.ravel()

    @property
    def reading(self) -> ImuReading:
        """The newest sample; zeros, and no turn, before the first."""
        return imu_reading(self._memory[0], self.settings)

    @property
    def measurement_names(self) -> list[str]:
        """Names of ``measurements``; the orientation is among them if it is reported."""
        turns = [f'orientation_{axis}' for axis in 'wxyz'] if self.settings.has_orientation else []
        return turns + axis_names('angular_velocity', 'linear_acceleration')

    @property
    def measurements(self) -> np.ndarray:
        """The newest sample as numbers."""
        return np.concatenate([part for part in self.reading if part is not None])


class ForceTorque(Sensor):
    """
    A force-torque sensor of a simulation.

    It remembers a ``MEMORY`` record; its constants are a ``FORCE_TORQUE`` record, and what is on
    the side of the joint that it measures: bodies that hang on it, links, shapes, and ties.
    """

    __slots__ = ()

    type = 'force_torque'
    settings_type = ForceTorqueSettings
    holder = 'joint'

    def fitted(self, settings: ForceTorqueSettings) -> tuple[np.ndarray, ...]:
        """
        Return what the compiled step reads, for each of the sensor's ``constants``.

        :param settings: Validated ones.
        :raises SensorError: If they don't fit the model.
        """
        return force_torque_records(self._around.model, settings)

    @property
    def reading(self) -> ForceTorqueReading:
        """The newest sample; zeros before the first."""
        return force_torque_reading(self._memory[0])

    @property
    def measurement_names(self) -> list[str]:
        """Names of ``measurements``."""
        return axis_names('force', 'torque')

    @property
    def measurements(self) -> np.ndarray:
        """The newest sample as numbers."""
        return np.concatenate(self.reading)


def axis_names(*quantities) -> list[str]:
    """Name the components of vectors."""
    return [f'{quantity}_{axis}' for quantity in quantities for axis in 'xyz']
