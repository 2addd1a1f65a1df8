"""
The tactile contact sensor: a patch on a link's surface that adds up the forces on it.

After Klampt's ContactSensor, whose order of operations it keeps: the contacts in the patch are
weighted and added, the sum is compared with the sensitivity, rounded, and clamped. The page
``docs/klampt.md`` lists what is different, and why.
"""
import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spr_dynamics.sdformat.elements import ContactSensor
from spr_dynamics.sensors.declared import placed_sensors
from spr_dynamics.sensors.measure import (
    ANY_CONTACT, EDGE, FELT, KLAMPT, MEAN, measure, NORMAL_FORCE, PEAK, READING, SAMPLE, SENSOR)
from spr_dynamics.sensors.settings import (
    Checked, is_transform, real_numbers, SensorError, validated_as)
from spr_dynamics.sensors.taxels import (
    cell_size, DEFAULT_SPREAD, SAMPLE as NEWEST, TAXEL_ROWS)

MOST_TAXELS = 65_536  # keeps a typing error from taking all memory

FALLOFF_MODES = {'klampt': KLAMPT, 'edge': EDGE}
CONTACT_RULES = {'normal_force': NORMAL_FORCE, 'any_contact': ANY_CONTACT}
MEASURES = {'sample': SAMPLE, 'mean': MEAN, 'peak': PEAK}


def repeated(value, n):
    """Make a default that is an array of n equal entries."""
    return field(default_factory=lambda: np.full(n, value))


@dataclass(frozen=True, eq=False)
class ContactSensorSettings(Checked):
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
    patch_tolerance: float = 0.001
    """Contacts this far above or below the patch still count [m]."""
    has_force: tuple[bool, bool, bool] = (True, True, True)
    """Which axes of the force are reported; all are measured."""
    force_resolution: np.ndarray = repeated(0.0, 3)
    """Forces are rounded to multiples of this, 0: not [N], shape (3,)."""
    force_variance: np.ndarray = repeated(0.0, 3)
    """Variance of the noise that a sample adds, 0: none [N^2], shape (3,)."""
    force_sensitivity: float = 0.0
    """Contact is reported if the normal force is larger [N]."""
    release_sensitivity: float = np.inf
    """Contact ends if the normal force is no larger [N]; inf: as ``force_sensitivity``."""
    force_saturation: np.ndarray = repeated(np.inf, 3)
    """Largest force that is reported [N], shape (3,)."""
    falloff_coefficient: float = 0.0
    """Exponent of the weight of a contact by its place in the patch; 0: all count 1."""
    falloff_mode: str = 'klampt'
    """
    Base of the weight, with u, v in -1..1 across the patch: ``klampt`` 1 - |u v|, which is 0 at
    the corners only; ``edge`` (1 - u^2) (1 - v^2), which is 0 all around.
    """
    contact_rule: str = 'normal_force'
    """
    When contact is reported: ``normal_force`` compares |force z| with the sensitivities,
    ``any_contact`` asks only whether a contact counts.
    """
    measure: str = 'sample'
    """
    What a sample is made of: the step in which it is taken (``sample``), or all steps since the
    last one: the ``mean``, or the one with the largest force (``peak``). Contact in any of these
    steps is contact.
    """
    noise_when_idle: bool = False
    """Whether there is noise, too, while nothing touches the link."""
    taxels: tuple[int, int] = (0, 0)
    """Rows (along y) and columns (along x) of the grid of cells on the patch; 0 0: none."""
    taxel_spread: float = 0.0
    """Radius over which a force spreads [m]; 0: one and a half times a cell's longer side."""
    rate: float = 0.0
    """Samples a second of simulated time [Hz]; 0: every step."""
    enabled: bool = True
    """Whether the sensor takes samples."""

    def validated(self) -> 'ContactSensorSettings':
        """
        Return these settings with plain numbers, and arrays that can't be written to.

        :raises SensorError: At the first value that makes no sense; names field, value and range.
        """
        values = {
            'pose': self._pose('pose'),
            **{name: self._array(name, (2,), is_finite=False)
               for name in ('patch_min', 'patch_max')},
            **{name: self._not_negative(name, is_finite=name != 'force_saturation')
               for name in ('force_resolution', 'force_variance', 'force_saturation')},
            **{name: self._number(name, is_finite=False)
               for name in ('patch_tolerance', 'release_sensitivity')},
            **{name: self._number(name) for name in (
                'force_sensitivity', 'falloff_coefficient', 'taxel_spread', 'rate')},
            **{name: self._truth(name) for name in ('noise_when_idle', 'enabled')}}
        for name in ('patch_min', 'patch_max', 'patch_tolerance'):
            self._check_length(name, values[name])
        for name, known in (('falloff_mode', FALLOFF_MODES), ('contact_rule', CONTACT_RULES),
                            ('measure', MEASURES)):
            self._one_of(name, known)
        if not isinstance(self.link, str):
            self._refuse('link', 'the name of a link')
        if not isinstance(self.collisions, (list, tuple)) or not all(
                isinstance(name, str) for name in self.collisions):
            self._refuse('collisions', 'names of collisions')
        checked = dataclasses.replace(
            self, collisions=tuple(self.collisions), has_force=self._truth_values(),
            taxels=self._grid(), **values)
        checked._check_together()
        return checked

    def _check_together(self):
        """Refuse values that make no sense beside others."""
        if not (self.patch_min < self.patch_max).all():
            self._refuse('patch_min', f'less than patch_max = {self.patch_max.tolist()}')
        if self.force_sensitivity < self.release_sensitivity < np.inf:
            self._refuse('release_sensitivity',
                         f'0 to force_sensitivity = {self.force_sensitivity}, or inf')
        with np.errstate(over='ignore'):
            is_endless = not np.isfinite(self.patch_max - self.patch_min).all()
        if self.falloff_coefficient > 0.0 and is_endless:
            self._refuse('falloff_coefficient', '0 unless the patch is finite')
        if self.taxels == (0, 0):
            if self.taxel_spread > 0.0:
                self._refuse('taxel_spread', '0 unless there are taxels')
            return
        if is_endless:
            self._refuse('taxels', '0 0 unless the patch is finite')
        half_diagonal = 0.5 * float(np.linalg.norm(cell_size(self)))
        if 0.0 < self.taxel_spread <= half_diagonal:
            self._refuse('taxel_spread', f'0, or more than half a cell: {half_diagonal:g}')

    def _not_negative(self, name, *, is_finite):
        array = self._array(name, (3,), is_finite=is_finite)
        if not (array >= 0.0).all():
            self._refuse(name, '0 or more on each axis')
        return array

    def _row(self, name):
        """List numbers; none if they are no such."""
        try:
            return real_numbers(getattr(self, name)).ravel().tolist()
        except ValueError:
            return []

    def _truth_values(self):
        values = self._row('has_force')
        if len(values) != 3 or not set(values) <= {0.0, 1.0}:
            self._refuse('has_force', 'three truth values')
        x, y, z = map(bool, values)
        return x, y, z

    def _grid(self):
        values = self._row('taxels')
        if (len(values) != 2 or not all(n.is_integer() for n in values)
                or (min(values) <= 0 and values != [0, 0]) or values[0] * values[1] > MOST_TAXELS):
            self._refuse('taxels', 'rows and columns, whole numbers above 0 that make up to '
                         f'{MOST_TAXELS} cells, or 0 0')
        rows, columns = map(int, values)
        return rows, columns


WHOLE_LINK = ContactSensorSettings(patch_tolerance=np.inf).validated()
"""A sensor without a patch: it feels all of its link, wherever its frame is."""


class ContactReading(NamedTuple):
    """
    One sample of a contact sensor.

    Counts of a sample that is made of many steps are the largest of any of these steps.
    """

    contact: bool
    """Whether there is contact, as ``contact_rule`` means it."""
    force: np.ndarray
    """Force ON the link in the sensor's frame [N], shape (3,)."""
    torque: np.ndarray
    """Torque of the weighted forces about the sensor's origin [N m], shape (3,)."""
    centre_of_pressure: np.ndarray
    """Where they press: mean place by |force z|, sensor frame [m], shape (3,); 0 without any."""
    seen: int
    """Contacts of the collisions that the sensor feels."""
    counted: int
    """Those of them that lie in the patch."""
    rejected_by_patch: int
    """Those beside it."""
    rejected_by_tolerance: int
    """Those within its edges, but too far above or below."""
    saturated: int
    """Axes whose force was clamped."""
    nearest_miss: np.ndarray
    """How far outside in x, y, z the nearest rejected contact was [m], shape (3,); 0: none."""


def read_contacts(settings, T_WL, points_W, forces_W, skin_W=None) -> ContactReading:
    """
    Measure given contacts: the sensor as a pure function, without schedule, noise or memory.

    :param settings: A ``ContactSensorSettings``.
    :param T_WL: Pose of the sensor's link in the world, shape (4, 4).
    :param points_W: Where the forces act, world [m], shape (n, 3).
    :param forces_W: Forces on the link, world [N], shape (n, 3).
    :param skin_W: Where the contacts lie on the link's surface, by which they count, world [m],
        shape (n, 3); ``points_W`` without it. In a soft contact they differ by half its depth.
    :raises SensorError: If the settings make no sense.
    :raises ValueError: If a pose, points or forces are none.
    """
    settings = validated_as(ContactSensorSettings, settings)
    reading, _ = measured(settings, T_WL, points_W, forces_W, skin_W)
    return reading_of(reading)


def spread_contacts(settings, T_WL, points_W, forces_W, skin_W=None) -> np.ndarray:
    """
    Spread given contacts over the taxels of a sensor.

    Each force goes to the cells around it, by a kernel that falls to nothing at ``taxel_spread``
    and that is scaled so that the cells carry the whole force, at the edges of the patch, too.

    :returns: Force on each cell in the sensor's frame [N], shape (rows, columns, 3); their sum
        is the force of ``read_contacts`` before resolution and saturation.
    :raises SensorError: If the settings make no sense.
    :raises ValueError: If a pose, points or forces are none.
    """
    settings = validated_as(ContactSensorSettings, settings)
    _, taxels = measured(settings, T_WL, points_W, forces_W, skin_W)
    return taxels.reshape(*settings.taxels, 3)


def measured(settings, T_WL, points_W, forces_W, skin_W):
    """Measure given contacts; return a ``READING`` record, and the forces on all cells."""
    T_WL = finite('T_WL', T_WL, (4, 4))
    if not is_transform(T_WL):
        raise ValueError('T_WL: a rotation and a position expected')
    T_WS = T_WL @ settings.pose
    points = finite('points_W', points_W, (-1, 3))
    forces = finite('forces_W', forces_W, points.shape)
    skin = points if skin_W is None else finite('skin_W', skin_W, points.shape)
    felt = np.zeros(len(points), FELT)
    felt['position'] = (skin - T_WS[:3, 3]) @ T_WS[:3, :3]
    felt['point'] = (points - T_WS[:3, 3]) @ T_WS[:3, :3]
    felt['force'] = forces @ T_WS[:3, :3]
    sensor = sensor_record(settings, 0, np.zeros(12))
    sensor['deviation'] = 0.0
    taxels, reading = np.zeros((TAXEL_ROWS, cells_of(settings), 3)), np.zeros(1, READING)
    measure(sensor, felt, taxels, reading)
    return reading[0], taxels[NEWEST]


def finite(name, values, shape) -> np.ndarray:
    """
    Return finite numbers of a shape.

    :raises ValueError: If they are none.
    """
    try:
        array = real_numbers(values)
    except ValueError:
        raise ValueError(f'{name}: numbers of shape {shape} expected') from None
    if array.shape == (0,):
        array = array.reshape(0, 3)
    if array.ndim != 2 or any(n not in (-1, m) for n, m in zip(shape, array.shape)):
        raise ValueError(f'{name}: shape {shape} expected, got {array.shape}')
    if not np.isfinite(array).all():
        raise ValueError(f'{name}: finite numbers expected')
    return array


def reading_of(record) -> ContactReading:
    """Copy the newest sample out of a ``READING`` record."""
    return ContactReading(
        bool(record['contact']), record['force'].copy(), record['torque'].copy(),
        record['centre'].copy(), int(record['seen']), int(record['counted']),
        int(record['beside']), int(record['off']), int(record['saturated']),
        record['miss'].copy())


def cells_of(settings) -> int:
    """Return how many taxels validated settings ask for."""
    rows, columns = settings.taxels
    return rows * columns


def sensor_record(settings, body, X, first_taxel=0) -> np.ndarray:
    """
    Write validated settings as one ``SENSOR`` record.

    :param body: Index of the body that the link is part of.
    :param X: Transform from body to sensor.
    :param first_taxel: Index of the sensor's first cell among those of all sensors.
    """
    record = np.zeros(1, SENSOR)
    record['body'], record['X'], record['first_taxel'] = body, X, first_taxel
    record['patch_min'], record['patch_max'] = settings.patch_min, settings.patch_max
    record['tolerance'] = settings.patch_tolerance
    record['resolution'], record['saturation'] = (settings.force_resolution,
                                                  settings.force_saturation)
    record['deviation'] = np.sqrt(settings.force_variance)
    record['sensitivity'], record['release'] = (settings.force_sensitivity,
                                                settings.release_sensitivity)
    record['falloff'] = settings.falloff_coefficient
    record['falloff_mode'] = FALLOFF_MODES[settings.falloff_mode]
    record['rule'] = CONTACT_RULES[settings.contact_rule]
    record['measure'] = MEASURES[settings.measure]
    record['noise_when_idle'] = settings.noise_when_idle
    record['rows'], record['columns'] = settings.taxels
    if cells_of(settings):
        record['spread'] = settings.taxel_spread or DEFAULT_SPREAD * cell_size(settings).max()
    return record


def declared_sensors(model) -> dict[str, ContactSensorSettings]:
    """
    Return the contact sensors that a model's file declares, by name.

    Without a patch a sensor feels its named collisions, or all of its link.

    :raises SensorError: If one has settings that make no sense; with file and line.
    """
    settings = {}
    for name, link, pose, element in placed_sensors(model, ContactSensor):
        try:
            settings[name] = dataclasses.replace(
                without_patch(element.patch), link=model.link_names[link], pose=pose,
                collisions=tuple(map(str, element.collisions)), rate=element.update_rate,
                **element.patch).validated()
        except SensorError as problem:
            at = element.location
            raise SensorError(f"{at.file}:{at.line}: sensor '{element.name}': {problem}") from None
    return settings


def without_patch(given) -> ContactSensorSettings:
    """
    Return what a sensor is of which only some settings are given.

    :param given: Names of these settings; without a patch among them the sensor has none.
    """
    return ContactSensorSettings() if {'patch_min', 'patch_max'} & set(given) else WHOLE_LINK


def watched_shapes(model, settings, link) -> np.ndarray:
    """
    Say for each shape of the model whether a sensor feels it.

    A link without collisions feels with those of its model that fixed joints weld to it.

    :raises SensorError: If a collision is named that the link doesn't have; lists those it has.
    """
    links = model.assembly.links
    known = [shape.name for shape in links[link].collisions]
    for name in settings.collisions:
        if name not in known:
            raise SensorError(f"collisions: link '{settings.link}' has no collision '{name}', "
                              f'only {", ".join(known) or "none"}')
    if not known:
        return np.array([shape['body'] == model.links[link]['body']
                         and links[shape['link']].model == links[link].model
                         for shape in model.shapes], np.bool_)
    wanted = {f'{settings.link}::{name}' for name in settings.collisions or known}
    return np.array([shape['link'] == link and name in wanted
                     for shape, name in zip(model.shapes, model.shape_names)], np.bool_)
