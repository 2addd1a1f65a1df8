"""The contact sensor as a pure function and in a file: recorded readings, refusals, physics."""
import dataclasses
import json
import re

import numpy as np
import pytest

import needs
from sensor_models import BLOCK, block, patch
import spr_dynamics as spr
from spr_dynamics.sensors.contact import (
    ContactSensorSettings, read_contacts, spread_contacts, WHOLE_LINK)
from spr_dynamics.sensors.settings import SensorError
from spr_dynamics.sensors.taxels import cell_centres

# Klampt's own name -> ours, and how its text becomes a value.
NUMBERS = {
    'patchMin': 'patch_min', 'patchMax': 'patch_max', 'fResolution': 'force_resolution',
    'fSaturation': 'force_saturation',
}
SCALARS = {
    'patchTolerance': 'patch_tolerance', 'fSensitivity': 'force_sensitivity',
    'falloffCoefficient': 'falloff_coefficient',
}
# What a Klampt sensor is before anything is set.
KLAMPT_DEFAULTS = {
    'patch_min': np.zeros(2), 'patch_max': np.zeros(2), 'patch_tolerance': 0.001,
    'has_force': (False, False, False),
}
KLAMPT_TOLERANCE = 1e-6  # [N] its link poses go through joint coordinates


def settings_from_klampt(texts):
    """Translate the settings of a recorded case."""
    values = dict(KLAMPT_DEFAULTS)
    for key, text in texts.items():
        numbers = [float(word) for word in text.split()]
        if key == 'Tsensor':
            values['pose'] = np.eye(4)
            values['pose'][:3, :3] = np.reshape(numbers[:9], (3, 3))
            values['pose'][:3, 3] = numbers[9:]
        elif key == 'hasForce':
            values['has_force'] = tuple(bool(x) for x in numbers)
        elif key in NUMBERS:
            values[NUMBERS[key]] = np.array(numbers)
        elif key in SCALARS:
            values[SCALARS[key]] = numbers[0]
        else:
            assert key in ('link', 'rate', 'enabled'), key
    return ContactSensorSettings(**values)


def recorded():
    """Return scenes and cases of Klampt's reference file."""
    flat = json.loads((needs.sensor_cases() / 'reference_flat.json').read_text(encoding='utf-8'))
    return flat['scenes'], flat['cases']


def test_sound_cases_read_as_klampt_read_them():
    scenes, cases = recorded()
    sound = [case for case in cases if not case['settings_questionable']]
    assert len(sound) > 200
    for case in sound:
        scene = scenes[case['scene']]
        T_WL = np.eye(4)
        T_WL[:3, :3], T_WL[:3, 3] = scene['link_R_row_major'], scene['link_t']
        settings = settings_from_klampt(case['settings'])
        reading = read_contacts(settings, T_WL, [c['x'] for c in scene['contacts']],
                                [c['f'] for c in scene['contacts']])
        measured = [reading.contact, *reading.force[list(settings.has_force)]]
        np.testing.assert_allclose(measured, case['measured'], atol=KLAMPT_TOLERANCE,
                                   err_msg=f"{case['scene']} {case['name']}")


def test_questionable_cases_are_refused():
    _, cases = recorded()
    questionable = [case for case in cases if case['settings_questionable']]
    assert len(questionable) > 10
    for case in questionable:
        with pytest.raises(SensorError):
            settings_from_klampt(case['settings']).validated()


@pytest.mark.parametrize('change, message', [
    ({'patch_min': [0.1, 0.0], 'patch_max': [0.1, 1.0]}, 'patch_min = [0.1, 0.0]: expected less'),
    ({'patch_max': [np.nan, 1.0]}, 'patch_max = [nan, 1.0]: expected no NaN'),
    ({'patch_max': [1.0]}, 'patch_max = [1.0]: expected shape (2,), not (1,)'),
    ({'patch_min': 'wide'}, 'patch_min = wide: expected numbers of shape (2,)'),
    ({'patch_tolerance': -1.0}, 'patch_tolerance = -1.0: expected 0 or more'),
    ({'has_force': (True, False)}, 'has_force = (True, False): expected three truth values'),
    ({'force_resolution': [0, 0, np.inf]}, 'expected finite numbers'),
    ({'force_resolution': [0, 0, -1]}, '[0, 0, -1]: expected 0 or more on each axis'),
    ({'force_sensitivity': np.inf}, 'force_sensitivity = inf: expected 0 or more, finite'),
    ({'force_saturation': [-1, 1, 1]}, 'force_saturation = [-1, 1, 1]: expected 0 or more'),
    ({'falloff_coefficient': np.nan}, 'falloff_coefficient = nan: expected 0 or more, finite'),
    ({'falloff_coefficient': 1.0}, '= 1.0: expected 0 unless the patch is finite'),
    ({'rate': -1.0}, 'rate = -1.0: expected 0 or more, finite'),
    ({'pose': 2 * np.eye(4)}, 'expected a rotation and a position'),
    ({'pose': np.diag([1.0, 1.0, -1.0, 1.0])}, 'expected a rotation and a position'),
    ({'force_variance': [0, -1e-9, 0]}, 'force_variance = [0, -1e-09, 0]: expected 0 or more on'),
    ({'force_sensitivity': -1.0}, 'force_sensitivity = -1.0: expected 0 or more, finite'),
    ({'release_sensitivity': np.nan}, 'release_sensitivity = nan: expected 0 or more'),
    ({'release_sensitivity': 2.0, 'force_sensitivity': 1.0},
     'release_sensitivity = 2.0: expected 0 to force_sensitivity = 1.0, or inf'),
    ({'falloff_coefficient': -1.0}, 'falloff_coefficient = -1.0: expected 0 or more, finite'),
    ({'falloff_mode': 'round'}, 'falloff_mode = round: expected one of klampt, edge'),
    ({'contact_rule': None}, 'contact_rule = None: expected one of normal_force, any_contact'),
    ({'measure': 'max'}, 'measure = max: expected one of sample, mean, peak'),
    ({'noise_when_idle': 1}, 'noise_when_idle = 1: expected true or false'),
    ({'enabled': 'yes'}, 'enabled = yes: expected true or false'),
    ({'link': 3}, 'link = 3: expected the name of a link'),
    ({'collisions': 'box'}, 'collisions = box: expected names of collisions'),
    ({'has_force': (1, 0, 2)}, 'has_force = (1, 0, 2): expected three truth values'),
    ({'taxels': (4, 4)}, 'taxels = (4, 4): expected 0 0 unless the patch is finite'),
    ({'taxels': (0, 4)}, 'taxels = (0, 4): expected rows and columns, whole numbers above 0'),
    ({'taxels': (1.5, 4)}, 'taxels = (1.5, 4): expected rows and columns, whole numbers above 0'),
    ({'taxels': (1000, 1000)}, 'whole numbers above 0 that make up to 65536 cells'),
    ({'taxel_spread': 0.1}, 'taxel_spread = 0.1: expected 0 unless there are taxels'),
    ({'taxels': (2, 2), 'taxel_spread': 0.7, 'patch_min': [-1, -1], 'patch_max': [1, 1]},
     'taxel_spread = 0.7: expected 0, or more than half a cell: 0.707107'),
    ({'rate': True}, 'rate = True: expected 0 or more, finite'),
    ({'rate': np.complex128(1 + 5j)}, 'rate = (1+5j): expected 0 or more, finite'),
    ({'rate': 10 ** 400}, 'expected 0 or more, finite'),
    ({'patch_tolerance': 10 ** 400}, 'expected 0 or more'),
    ({'patch_min': ['-0.1', '-0.2']}, "['-0.1', '-0.2']: expected numbers of shape (2,)"),
    ({'patch_min': np.array([1 + 5j, 2])}, 'expected numbers of shape (2,)'),
    ({'pose': [[1, 0], [1]]}, 'pose = [[1, 0], [1]]: expected numbers of shape (4, 4)'),
    ({'collisions': None}, 'collisions = None: expected names of collisions'),
    ({'collisions': 5}, 'collisions = 5: expected names of collisions'),
    ({'has_force': [[1], [0, 1]]}, 'has_force = [[1], [0, 1]]: expected three truth values'),
    ({'has_force': '111'}, 'has_force = 111: expected three truth values'),
    ({'taxels': [[1], [1, 2]]}, 'taxels = [[1], [1, 2]]: expected rows and columns'),
    ({'patch_min': [-1e308, -1]}, 'patch_min = [-1e+308, -1]: expected lengths up to 1e+09 m'),
    ({'patch_max': [1, 2e9]}, 'patch_max = [1, 2000000000.0]: expected lengths up to 1e+09 m'),
    ({'patch_tolerance': 1e10}, 'patch_tolerance = 10000000000.0: expected lengths up to 1e+09 m'),
    ({'pose': np.array([[1, 0, 0, 0], [0, 1, 0, -1e10], [0, 0, 1, 0], [0, 0, 0, 1]])},
     'expected lengths up to 1e+09 m'),
    ({'taxels': ('2', '2')}, "taxels = ('2', '2'): expected rows and columns"),
])
def test_senseless_settings_are_refused(change, message):
    with pytest.raises(SensorError, match=re.escape(message)):
        ContactSensorSettings(**change).validated()


def test_validated_settings_are_plain_and_can_not_be_written_to():
    """A change of an array in place would be half a change: the sensor would go on as before."""
    odd = ContactSensorSettings(
        rate=np.int64(50), force_sensitivity=np.float32(0.5), patch_tolerance=np.float16(0.5),
        enabled=np.True_, noise_when_idle=np.False_, has_force=np.array([1, 0, 1]),
        taxels=np.array([2, 3]), patch_min=[-1, -1], patch_max=np.array([1, 1], np.float32))
    settings = odd.validated()
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match='read-only'):
                value[...] = 0.0
            with pytest.raises(ValueError, match='read-only'):
                getattr(WHOLE_LINK, field.name)[...] = 0.0
        else:
            assert type(value) in (float, bool, str, tuple), field.name
            json.dumps(value)
    odd.patch_max[:] = -5.0
    assert settings.patch_max.tolist() == [1, 1] and settings.rate == 50.0
    assert (settings.taxels, settings.has_force) == ((2, 3), (True, False, True))


def test_forces_on_one_point_fall_off_as_klampt_measured():
    rows = json.loads((needs.sensor_cases() / 'falloff.json').read_text(encoding='utf-8'))
    T_WL = np.eye(4)
    T_WL[:3, :3], T_WL[:3, 3] = rows['link_R_row_major'], rows['link_t']
    points = [contact['x'] for contact in rows['contacts']]
    forces = [contact['f'] for contact in rows['contacts']]
    weights = []
    for row in rows['rows']:
        if row['settings']['patchMin'] == row['settings']['patchMax']:
            continue  # a patch without area, which is refused
        reading = read_contacts(settings_from_klampt(row['settings']), T_WL, points, forces)
        measured = np.array([np.nan if x == 'nan' else x for x in row['measured']])
        if np.isnan(measured).any():
            assert np.isfinite(reading.force).all()
            continue
        np.testing.assert_allclose([reading.contact, *reading.force], measured,
                                   atol=KLAMPT_TOLERANCE, err_msg=str(row['settings']))
        weights.append(row['weight_formula'])
    assert len(weights) > 190 and min(weights) < 0.01 and max(weights) == 1.0


def test_signs_are_those_that_klampt_recorded():
    """What a box of 2 kg bears, from the sides of both; a box of 1 kg lies on it."""
    recorded_signs = json.loads((needs.sensor_cases() / 'sign.json').read_text(encoding='utf-8'))
    expected = recorded_signs['object_on_link_on_terrain']
    for side, z, load in (('bottom', -0.05, 3 * 9.8), ('top', 0.05, -9.8)):
        pose = np.eye(4)
        pose[2, 3] = z
        settings = ContactSensorSettings(link='box', pose=pose, patch_tolerance=0.01)
        reading = read_contacts(settings, np.eye(4), [[0, 0, -0.05], [0, 0, 0.05]],
                                [[0, 0, 3 * 9.8], [0, 0, -9.8]])
        np.testing.assert_allclose(reading.force[2], load)
        np.testing.assert_allclose(reading.force[2], expected[side][3], atol=1e-3)


def falloff(mode, u, v, k=1.0):
    """Return the weight of a press at u, v of a patch that is not centred."""
    settings = ContactSensorSettings(patch_min=[-0.1, 0.1], patch_max=[0.3, 0.3],
                                     falloff_coefficient=k, falloff_mode=mode)
    reading = read_contacts(settings, np.eye(4), [[0.1 + 0.2 * u, 0.2 + 0.1 * v, 0]], [[0, 0, -2]])
    return reading.force[2] / -2


def test_edge_mode_does_what_klampts_page_promises():
    """Klampt's own formula spares the middles of the edges, though its page says otherwise."""
    near = 1.0 - 1e-9
    for u, v in ((near, 0), (-near, 0), (0, near), (0, -near)):
        assert falloff('klampt', u, v) > 1.0 - 1e-12 and falloff('edge', u, v) < 1e-8
    for mode in ('klampt', 'edge'):
        assert falloff(mode, 0, 0) == 1.0 and falloff(mode, near, -near) < 1e-8
    assert falloff('edge', 0.5, -0.5, k=2.0) == pytest.approx((0.75 * 0.75) ** 2)
    assert falloff('klampt', 0.5, -0.5, k=2.0) == pytest.approx(0.75 ** 2)
    along = [falloff('edge', u, 0.3) for u in np.linspace(0, near, 20)]
    assert (np.diff(along) < 0).all()


@pytest.mark.parametrize('forces, by_force', [
    ([[3.0, 0, 0], [0, 1.0, 0]], False),  # shear
    ([[0, 0, 2.0], [0, 0, -2.0]], False),  # cancels
    ([[0, 0, 2.0], [0, 0, 2.0]], True),
])
def test_any_contact_reports_what_the_normal_force_does_not(forces, by_force):
    """Klampt's page promises it; its code asks for a normal force."""
    points = [[0, 0, 0], [0.01, 0, 0]]
    for rule, expected in (('normal_force', by_force), ('any_contact', True)):
        settings = ContactSensorSettings(contact_rule=rule)
        assert read_contacts(settings, np.eye(4), points, forces).contact is expected
        above = np.array(points) + [0, 0, 0.0011]  # out of tolerance
        assert not read_contacts(settings, np.eye(4), above, forces).contact


def test_contacts_are_counted_by_what_becomes_of_them():
    settings = ContactSensorSettings(patch_min=[-1, -1], patch_max=[1, 1], patch_tolerance=0.5,
                                     force_saturation=[1.0, 10.0, 1.0])
    reading = read_contacts(
        settings, np.eye(4),
        [[0, 0, 0], [1, -1, 0.5], [1.25, 0, 0], [0, -1.5, 9], [0, 0, 0.75], [0, 0.5, -1.0]],
        [[2, 0, -3]] * 6)
    assert reading.contact and (reading.seen, reading.counted) == (6, 2)
    assert (reading.rejected_by_patch, reading.rejected_by_tolerance) == (2, 2)
    assert reading.force.tolist() == [1, 0, -1] and reading.saturated == 2
    assert reading.nearest_miss.tolist() == [0.25, 0, 0]
    assert reading.centre_of_pressure.tolist() == [0.5, -0.5, 0.25]
    below = read_contacts(settings, np.eye(4), [[-1.5, 3, -1]], [[0, 0, 1]])
    assert below.nearest_miss.tolist() == [-0.5, 2, -0.5] and below.counted == 0
    nothing = read_contacts(settings, np.eye(4), [], [])
    assert not nothing.contact and not np.concatenate(nothing[1:4]).any() and nothing[4:9] == (
        0, 0, 0, 0, 0)


@pytest.mark.parametrize('change, message', [
    ({'T_WL': np.eye(3)}, r'T_WL: shape \(4, 4\) expected, got \(3, 3\)'),
    ({'points_W': [[0, 0, np.nan]]}, 'points_W: finite numbers expected'),
    ({'forces_W': [[0, 0, np.inf]]}, 'forces_W: finite numbers expected'),
    ({'forces_W': [[0, 0, 1], [0, 0, 1]]}, r'forces_W: shape \(1, 3\) expected, got \(2, 3\)'),
    ({'points_W': [0, 0, 1]}, r'points_W: shape \(-1, 3\) expected, got \(3,\)'),
    ({'points_W': np.zeros((3, 0))}, r'points_W: shape \(-1, 3\) expected, got \(3, 0\)'),
    ({'points_W': [], 'forces_W': np.zeros((0, 2))},
     r'forces_W: shape \(0, 3\) expected, got \(0, 2\)'),
    ({'points_W': {'x': 1}}, r'points_W: numbers of shape \(-1, 3\) expected'),
    ({'points_W': [[0, 0, 1j]]}, r'points_W: numbers of shape \(-1, 3\) expected'),
    ({'forces_W': [[0, 0, '1']]}, r'forces_W: numbers of shape \(1, 3\) expected'),
    ({'skin_W': [[0, 0, 1], [0, 0, 1]]}, r'skin_W: shape \(1, 3\) expected, got \(2, 3\)'),
    ({'T_WL': np.diag([2.0, 2.0, 2.0, 1.0])}, 'T_WL: a rotation and a position expected'),
    ({'T_WL': np.diag([1.0, 1.0, -1.0, 1.0])}, 'T_WL: a rotation and a position expected'),
    ({'T_WL': np.diag([1.0, 1.0, 1.0, 2.0])}, 'T_WL: a rotation and a position expected'),
    ({'T_WL': np.zeros((4, 4))}, 'T_WL: a rotation and a position expected'),
])
def test_what_is_no_contact_is_refused(change, message):
    arguments = {'T_WL': np.eye(4), 'points_W': [[0, 0, 0]], 'forces_W': [[0, 0, 1]]} | change
    with pytest.raises(ValueError, match=message):
        read_contacts(ContactSensorSettings(), **arguments)


def test_what_is_no_setting_at_all_is_refused():
    for function in (read_contacts, spread_contacts):
        with pytest.raises(SensorError, match='settings = None: expected ContactSensorSettings'):
            function(None, np.eye(4), [], [])


def test_measuring_never_adds_noise_and_needs_no_window():
    for measure in ('sample', 'mean', 'peak'):
        settings = ContactSensorSettings(force_variance=[1, 1, 1], measure=measure,
                                         noise_when_idle=True)
        reading = read_contacts(settings, np.eye(4), [[0, 0, 0]], [[1, 2, -3]])
        assert reading.force.tolist() == [1, 2, -3]
        assert not read_contacts(settings, np.eye(4), [], []).force.any()


@pytest.mark.parametrize('resolution', [1e-310, 1e-300, 1e-18, 1e-16])
def test_resolution_finer_than_the_digits_leaves_the_force_as_it_is(resolution):
    """19.6 N are more of these than a whole number of 64 bits can count."""
    settings = ContactSensorSettings(force_resolution=3 * [resolution])
    reading = read_contacts(settings, np.eye(4), [[0, 0, 0]], [[0, 1e-3, -19.6]])
    np.testing.assert_allclose(reading.force, [0, 1e-3, -19.6], rtol=1e-12)


# taxels

@pytest.mark.parametrize('spread', [1.0, 1e19, 1e300])
def test_wide_spread_lights_all_taxels(spread):
    settings = ContactSensorSettings(patch_min=[-0.01, -0.01], patch_max=[0.01, 0.01],
                                     taxels=(2, 2), taxel_spread=spread)
    taxels = spread_contacts(settings, np.eye(4), [[0.003, 0, 0]], [[0, 0, -4]])
    np.testing.assert_allclose(taxels[:, :, 2], -1.0, rtol=1e-3)


@pytest.mark.parametrize('spread', [0.0, 0.013, 0.2])
def test_taxels_add_up_to_the_force_wherever_it_acts(spread):
    rng = np.random.default_rng(1)
    settings = ContactSensorSettings(
        patch_min=[-0.03, -0.02], patch_max=[0.05, 0.02], taxels=(5, 8), taxel_spread=spread,
        falloff_coefficient=0.3, force_variance=[1, 1, 1])
    corners = [[-0.03, -0.02, 0], [0.05, 0.02, 0], [0.05, -0.02, 0], [-0.03, 0.02, 0]]
    inside = rng.uniform([-0.03, -0.02, -5e-4], [0.05, 0.02, 5e-4], (40, 3))
    for points in ([corners[0]], corners, inside, inside[:1], np.zeros((0, 3))):
        forces = rng.normal(size=(len(points), 3)) - [0, 0, 3]
        taxels = spread_contacts(settings, np.eye(4), points, forces)
        assert taxels.shape == (5, 8, 3)
        np.testing.assert_allclose(taxels.sum((0, 1)), read_contacts(
            settings, np.eye(4), points, forces).force, atol=1e-12)


def test_one_contact_lights_several_taxels_around_it():
    """A rigid contact is a point; a grid on which one cell lights is no tactile image."""
    settings = ContactSensorSettings(patch_min=[-0.04, -0.04], patch_max=[0.04, 0.04],
                                     taxels=(8, 8)).validated()
    at = np.array([0.012, -0.007])
    press = -spread_contacts(settings, np.eye(4), [[*at, 0]], [[0, 0, -6]])[:, :, 2]
    centres = cell_centres(settings)
    assert centres.shape == (8, 8, 2)
    np.testing.assert_allclose(centres[0, 0], [-0.035, -0.035])
    np.testing.assert_allclose(centres[7, 0], [-0.035, 0.035])
    assert (press > 0).sum() >= 4 and press.min() == 0.0
    far = np.linalg.norm(centres - at, axis=-1)
    assert np.argmax(press) == np.argmin(far)
    assert (far[press > 0] < 0.015).all() and (press[far < 0.014] > 0).all()
    np.testing.assert_allclose((press[:, :, None] * centres).sum((0, 1)) / 6, at, atol=1e-3)


def test_corner_of_the_patch_weighs_nothing_and_stays_a_number():
    """Klampt reads NaN at 12 of 40 corners: the base of the power is -2e-16 there."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        low, high = -rng.uniform(0.01, 1, 2), rng.uniform(0.01, 1, 2)
        settings = ContactSensorSettings(patch_min=low, patch_max=high, patch_tolerance=0.01,
                                         falloff_coefficient=0.5)
        reading = read_contacts(settings, np.eye(4), [[*high, 0]], [[0, 0, 5]])
        assert reading.counted == 1 and 0.0 <= reading.force[2] < 1e-6


def test_torque_is_about_the_origin_of_the_sensor():
    settings = ContactSensorSettings()
    reading = read_contacts(settings, np.eye(4), [[0.1, 0.2, 0.0]], [[0.0, 0.0, -3.0]])
    np.testing.assert_allclose(reading.torque, np.cross([0.1, 0.2, 0.0], [0.0, 0.0, -3.0]))


def test_block_at_rest_reads_its_weight_as_a_press():
    """With z out of the skin, the ground's push has a negative z."""
    sim = spr.Simulation(block(foot=(0, '')))
    sim.step(n=500)
    reading = sim.sensors['foot'].reading
    np.testing.assert_allclose(reading.force, [0, 0, -9.81], atol=1e-5)
    np.testing.assert_allclose(reading.torque, 0, atol=1e-6)
    assert reading.contact and (reading.seen, reading.counted) == (4, 4)


def test_patches_that_tile_a_face_share_its_weight():
    """They have no tolerance of their own: the loader gives them one that the contacts are in."""
    sim = spr.Simulation(block(
        a=(0, patch(-0.06, -0.06, 0, 0)), b=(0, patch(0, -0.06, 0.06, 0)),
        c=(0, patch(-0.06, 0, 0, 0.06)), d=(0, patch(0, 0, 0.06, 0.06))))
    sim.step(n=500)
    shares = [sensor.reading.force[2] for sensor in sim.sensors.values()]
    np.testing.assert_allclose(shares, -9.81 / 4, atol=1e-5)
    np.testing.assert_allclose(sum(shares), -9.81, atol=1e-6)


def test_block_in_flight_reads_exactly_zero():
    sim = spr.Simulation(block(foot=(0, '')))
    sim.q[2] += 1.0
    sim.step(n=100)
    reading = sim.sensors['foot'].reading
    assert reading.force.tolist() == [0, 0, 0] and not reading.contact and reading.seen == 0


def test_collision_with_colons_in_its_name_is_felt():
    """Names like this are legal up to SDF 1.7; the sensor read zero and nothing said why."""
    model = spr.load(text="""
      <sdf version='1.6'><world name='w'>
        <model name='ground'><static>true</static><link name='ground'>
          <collision name='plane'><geometry><plane/></geometry></collision></link></model>
        <model name='m'><pose>0 0 1 0 0 0</pose><link name='ball'>
          <collision name='a::b'><geometry><sphere/></geometry></collision>
          <sensor name='s' type='contact'><contact><collision>a::b</collision></contact></sensor>
        </link></model></world></sdf>""")
    sim = spr.Simulation(model)
    sim.step(n=100)
    assert sim.sensors['s'].reading.seen == 1


def test_sensor_on_a_welded_link_feels_only_its_own_link():
    model = spr.load(text=BLOCK.format(sensors="""</link>
      <link name='pad'><pose>0 0 -0.05 0 0 0</pose>
        <inertial><mass>0.1</mass></inertial>
        <collision name='pad'><pose>0 0 0.01 0 0 0</pose>
          <geometry><sphere><radius>0.01</radius></sphere></geometry></collision>
        <sensor name='pad' type='contact'><contact><collision>pad</collision></contact></sensor>
      </link>
      <joint name='glue' type='fixed'><parent>block</parent><child>pad</child></joint>
      <link name='spare'><inertial><mass>0.001</mass></inertial>"""))
    sim = spr.Simulation(model)
    sim.step(n=500)
    shapes = sim.contacts['shape_b']
    pad = model.shape_names.index('pad::pad')
    np.testing.assert_allclose(sim.sensors['pad'].reading.force,
                               sim.contacts['force'][shapes == pad].sum(0), atol=1e-12)
    assert sim.sensors['pad'].reading.seen == 1


WELDED = """</link>
  <link name='pad'><pose>0 0 -0.05 3.141592653589793 0 0</pose>
    <inertial><mass>{mass}</mass></inertial>
    <sensor name='pad' type='contact'><contact>
      <spr:patch_min>-0.06 -0.06</spr:patch_min><spr:patch_max>0.0 0.06</spr:patch_max>
    </contact></sensor>
  </link>
  <joint name='glue' type='fixed'><parent>block</parent><child>pad</child></joint>
  <link name='spare'><inertial><mass>0.001</mass></inertial>"""


@pytest.mark.parametrize('mass', [1e-6, 0.01])
def test_sensor_on_a_link_without_collisions_feels_what_it_is_welded_to(mass):
    """In Klampt a light pad has no body of its own, and its sensor never fires."""
    sim = spr.Simulation(spr.load(text=BLOCK.format(sensors=WELDED.format(mass=mass))))
    sim.step(n=500)
    reading = sim.sensors['pad'].reading
    assert reading.contact and (reading.seen, reading.counted) == (4, 2)
    np.testing.assert_allclose(reading.force[2], -9.81 * (1 + mass) / 2, atol=0.02)


def test_sensor_on_the_fixed_world_does_not_feel_other_models_of_it():
    """All that is fixed is one body; a post without collisions is not the ground."""
    text = BLOCK.format(sensors='').replace('</world>', """
      <model name='post'><static>true</static><link name='post'>
        <sensor name='post' type='contact'/></link></model></world>""")
    sim = spr.Simulation(spr.load(text=text))
    sim.step(n=50)
    assert len(sim.contacts) == 4 and sim.sensors['post'].reading.seen == 0
    assert sim.sensors['post'].complaint == (
        "link 'post' has no collision that can touch anything")


def test_many_sensors_share_a_link_each_with_its_own_settings():
    sim = spr.Simulation(block(**{
        f's{k}': (rate, patch(-0.06, -0.06, 0.06, 0.06, force_resolution=f'0 0 {k}'))
        for k, rate in enumerate((0, 100, 250))}))
    sim.step(n=501)
    assert [sensor.sample_count for sensor in sim.sensors.values()] == [501, 51, 126]
    np.testing.assert_allclose([sensor.reading.force[2] for sensor in sim.sensors.values()],
                               [-9.81, -10, -10], atol=1e-4)


def test_all_settings_may_be_written_in_a_file():
    elements = patch(
        -0.01, -0.02, 0.03, 0.04, patch_tolerance='inf', has_force='0 1 0',
        force_resolution='1 2 3', force_variance='4 5 6', force_sensitivity='7',
        release_sensitivity='6', force_saturation='inf 8 9', falloff_coefficient='0.5',
        falloff_mode='edge', contact_rule='any_contact', measure='peak', noise_when_idle='true',
        taxels='3 2', taxel_spread='0.1', enabled='false')
    settings = spr.Simulation(block(foot=(50, elements))).sensors['foot'].settings
    for name, value in {
            'link': 'block', 'collisions': ('box',), 'patch_min': [-0.01, -0.02],
            'patch_max': [0.03, 0.04], 'patch_tolerance': np.inf,
            'has_force': (False, True, False), 'force_resolution': [1, 2, 3],
            'force_variance': [4, 5, 6], 'force_sensitivity': 7, 'release_sensitivity': 6,
            'force_saturation': [np.inf, 8, 9], 'falloff_coefficient': 0.5, 'falloff_mode': 'edge',
            'contact_rule': 'any_contact', 'measure': 'peak', 'noise_when_idle': True,
            'taxels': (3, 2), 'taxel_spread': 0.1, 'rate': 50, 'enabled': False}.items():
        np.testing.assert_array_equal(getattr(settings, name), value, err_msg=name)
    assert {field.name for field in dataclasses.fields(settings)} == {
        'pose', 'link', 'collisions', 'rate', *re.findall(r'</spr:(\w+)>', elements)}


@pytest.mark.parametrize('name, text, message', [
    ('measure', 'max', r"<spr:measure> 'max' is unknown \(.*'sample', 'mean', 'peak'"),
    ('taxels', '2.5 2', "<spr:taxels> '2.5' is not a whole number"),
    ('noise_when_idle', 'maybe', "'maybe' is not true, false, 1 or 0"),
    ('force_variance', '1 -1 1', "'-1' is out of range"),
    ('release_sensitivity', '5', 'release_sensitivity = 5.0: expected 0 to force_sensitivity'),
    ('taxels', '2 2', r'taxels = .2, 2.: expected 0 0 unless the patch is finite'),
    ('pach_min', '0 0', "<spr:pach_min> is unknown .did you mean 'patch_min'"),
])
def test_wrong_setting_in_a_file_is_named_with_its_line(name, text, message):
    with pytest.raises(spr.SprDynamicsError, match=r'<text>:\d+: .*' + message):
        spr.Simulation(block(foot=(0, f'<spr:{name}>{text}</spr:{name}>')))


def test_sensors_of_two_kinds_with_one_name_are_told_apart_by_what_holds_them():
    sim = spr.Simulation(spr.load(text=BLOCK.format(sensors="""
      <sensor name='s' type='contact'/><sensor name='t' type='contact'/></link>
      <link name='pad'><sensor name='s' type='imu'/></link>
      <joint name='glue' type='fixed'><parent>block</parent><child>pad</child></joint>
      <link name='spare'>""")))
    assert {name: sensor.type for name, sensor in sim.sensors.items()} == {
        'block::s': 'contact', 't': 'contact', 'pad::s': 'imu'}


def test_unknown_link_and_collision_are_named_with_what_there_is():
    model = block()
    with pytest.raises(SensorError, match="contact sensor 's': link = 'blok': .* 'block'"):
        spr.Simulation(model, contact_sensors={'s': ContactSensorSettings(link='blok')})
    with pytest.raises(SensorError, match="link 'block' has no collision 'bix', only box"):
        spr.Simulation(model, contact_sensors={
            's': ContactSensorSettings(link='block', collisions=('bix',))})


def test_senseless_patch_in_a_file_is_refused_with_its_line():
    with pytest.raises(spr.SprDynamicsError, match=r'<text>:\d+: .*patch_min'):
        spr.Simulation(block(foot=(0, '<spr:patch_min>1 1</spr:patch_min>'
                                      '<spr:patch_max>0 0</spr:patch_max>')))
