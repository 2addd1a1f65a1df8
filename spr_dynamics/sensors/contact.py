"""
The tactile contact sensor: a patch on a link's surface that adds up the forces on it.

After Klampt's ContactSensor, whose order of operations it keeps: the contacts in the patch are
weighted and added, the sum is compared with the sensitivity, rounded, and clamped.
"""
import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.sensors.measure import measure, READING, SENSOR

ROTATION_TOLERANCE = 1e-6  # how far R R^T may be from one


class SensorError(SprDynamicsError):
    """A sensor's settings can't be used; the message names field, value and range."""


def repeated(value, n):
    """Make a default that is an array of n equal entries."""
    return field(default_factory=lambda: np.full(n, value))


@dataclass(frozen=True, eq=False)
class ContactSensorSettings:
    """
    Where a sensor is and how it measures.

    The patch lies in the sensor's xy plane; by convention z points out of the skin, so that a
    press reads as a negative z force.
    """

    link: str = ''
    """Name of the link that feels."""
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))
    """T_LS, pose of the sensor S on its link L, shape (4, 4)."""
    collisions: tuple[str, ...] = ()
    """Collisions of the link that count; none named: all."""
    patch_min: np.ndarray = repeated(-np.inf, 2)
    patch_max: np.ndarray = repeated(np.inf, 2)
    """The patch in the sensor's frame, edges included [m], shape (2,)."""
    patch_tolerance: float = np.inf
    """Contacts this far above or below the patch still count [m]."""
    has_force: tuple[bool, bool, bool] = (True, True, True)
    """Which axes of the force are reported; all are measured."""
    force_resolution: np.ndarray = repeated(0.0, 3)
    """Forces are rounded to multiples of this, 0: not [N], shape (3,)."""
    force_sensitivity: float = 0.0
    """Contact is reported if the normal force is larger [N]."""
    force_saturation: np.ndarray = repeated(np.inf, 3)
    """Largest force that is reported [N], shape (3,)."""
    falloff_coefficient: float = 0.0
    """Exponent of the weight (1 - |u v|) with u, v in -1..1 across the patch; 0: all count 1."""
    rate: float = 0.0
    """Samples a second of simulated time [Hz]; 0: every step."""
    enabled: bool = True

    def validated(self) -> 'ContactSensorSettings':
        """
        Return these settings with arrays in place of sequences.

        :raises SensorError: At the first value that makes no sense; names field, value and range.
        """
        checked = {
            'pose': self._array('pose', (4, 4)),
            'patch_min': self._array('patch_min', (2,), is_finite=False),
            'patch_max': self._array('patch_max', (2,), is_finite=False),
            'force_resolution': self._array('force_resolution', (3,)),
            'force_saturation': self._array('force_saturation', (3,), is_finite=False),
        }
        R = checked['pose'][:3, :3]
        if (np.abs(R @ R.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(R) < 0.0
                or (checked['pose'][3] != [0.0, 0.0, 0.0, 1.0]).any()):
            self._refuse('pose', 'a rotation and a position')
        if not (checked['patch_min'] < checked['patch_max']).all():
            self._refuse('patch_min', f'less than patch_max = {checked["patch_max"].tolist()}')
        for name, is_finite in (('patch_tolerance', False), ('force_sensitivity', True),
                                ('falloff_coefficient', True), ('rate', True)):
            value = getattr(self, name)
            if (not isinstance(value, (int, float, np.number)) or not value >= 0.0
                    or is_finite and not np.isfinite(value)):
                self._refuse(name, '0 or more' + (', finite' if is_finite else ''))
        for name in ('force_resolution', 'force_saturation'):
            if not (checked[name] >= 0.0).all():
                self._refuse(name, '0 or more on each axis')
        if np.shape(self.has_force) != (3,):
            self._refuse('has_force', 'three truth values')
        extent = checked['patch_max'] - checked['patch_min']
        if self.falloff_coefficient > 0.0 and not np.isfinite(extent).all():
            self._refuse('falloff_coefficient', '0 unless the patch is finite')
        x, y, z = map(bool, self.has_force)
        return dataclasses.replace(self, collisions=tuple(self.collisions), has_force=(x, y, z),
                                   **checked)

    def _array(self, name, shape, *, is_finite=True):
        try:
            array = np.array(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            self._refuse(name, f'numbers of shape {shape}')
        if array.shape != shape:
            self._refuse(name, f'shape {shape}, not {array.shape}')
        if np.isnan(array).any() or is_finite and not np.isfinite(array).all():
            self._refuse(name, 'finite numbers' if is_finite else 'no NaN')
        return array

    def _refuse(self, name, allowed):
        value = getattr(self, name)
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise SensorError(f'{name} = {shown}: expected {allowed}')


class ContactReading(NamedTuple):
    """One sample of a contact sensor."""

    contact: bool
    """Whether the normal force exceeds the sensitivity."""
    force: np.ndarray
    """Force ON the link in the sensor's frame [N], shape (3,)."""
    torque: np.ndarray
    """Torque of the weighted forces about the sensor's origin [N m], shape (3,)."""
    seen: int
    """Contacts of the collisions that the sensor feels."""
    counted: int
    """Those of them that lie in the patch."""


def read_contacts(settings, T_WL, points_W, forces_W) -> ContactReading:
    """
    Measure given contacts: the sensor as a pure function, without schedule or noise.

    :param settings: A ``ContactSensorSettings``.
    :param T_WL: Pose of the sensor's link in the world, shape (4, 4).
    :param points_W: Contact points on the link, world [m], shape (n, 3).
    :param forces_W: Forces on the link, world [N], shape (n, 3).
    :raises SensorError: If the settings make no sense.
    """
    settings = settings.validated()
    T_WS = np.asarray(T_WL, dtype=float) @ settings.pose
    points = np.asarray(points_W, dtype=float).reshape(-1, 3)
    contacts = np.stack([points, np.asarray(forces_W, dtype=float).reshape(points.shape)])
    reading = np.zeros(1, READING)
    measure(sensor_record(settings, 0, np.zeros(12)),
            np.concatenate([T_WS[:3, :3].ravel(), T_WS[:3, 3]]), contacts, reading)
    return reading_of(reading[0])


def reading_of(record) -> ContactReading:
    """Copy the newest sample out of a ``READING`` record."""
    return ContactReading(bool(record['contact']), record['force'].copy(),
                          record['torque'].copy(), int(record['seen']), int(record['counted']))


def sensor_record(settings, body, X) -> np.ndarray:
    """
    Write validated settings as one ``SENSOR`` record.

    :param body: Index of the body that the link is part of.
    :param X: Transform from body to sensor.
    """
    record = np.zeros(1, SENSOR)
    record['body'], record['X'] = body, X
    record['patch_min'], record['patch_max'] = settings.patch_min, settings.patch_max
    record['tolerance'] = settings.patch_tolerance
    record['resolution'], record['saturation'] = (settings.force_resolution,
                                                  settings.force_saturation)
    record['sensitivity'] = settings.force_sensitivity
    record['falloff'] = settings.falloff_coefficient
    return record


def declared_sensors(model) -> dict[str, ContactSensorSettings]:
    """
    Return the contact sensors that a model's file declares, by name.

    Without ``spr:`` elements a sensor's patch has no end, and it feels its named collisions.
    Sensors whose names occur twice are called ``link::sensor``.
    """
    placed = [(name, sensor) for name, link in zip(model.link_names, model.assembly.links)
              for sensor in link.sensors]
    names = [sensor.name for _, sensor in placed]
    settings = {}
    for link, sensor in placed:
        name = sensor.name if names.count(sensor.name) == 1 else f'{link}::{sensor.name}'
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = sensor.T_LS
        try:
            settings[name] = ContactSensorSettings(
                link=link, pose=pose, collisions=tuple(map(str, sensor.element.collisions)),
                rate=sensor.element.update_rate, **sensor.element.patch).validated()
        except SensorError as problem:
            at = sensor.element.location
            raise SensorError(f"{at.file}:{at.line}: sensor '{sensor.name}': {problem}") from None
    return settings


def link_index(model, name) -> int:
    """
    Find a link by name.

    :raises SensorError: If there is none; says what could have been meant.
    """
    if name not in model.link_names:
        raise SensorError(
            f"link = '{name}': expected a link of the model{name_hint(name, model.link_names)}")
    return model.link_names.index(name)


def watched_shapes(model, settings, link) -> np.ndarray:
    """
    Say for each shape of the model whether a sensor feels it.

    :raises SensorError: If a collision is named that the link doesn't have; lists those it has.
    """
    known = [shape.name for shape in model.assembly.links[link].collisions]
    for name in settings.collisions:
        if name not in known:
            raise SensorError(f"collisions: link '{settings.link}' has no collision '{name}', "
                              f'only {", ".join(known) or "none"}')
    wanted = {f'{settings.link}::{name}' for name in settings.collisions or known}
    return np.array([shape['link'] == link and name in wanted
                     for shape, name in zip(model.shapes, model.shape_names)], np.bool_)
