"""The contact sensor: Klampt's recorded readings, schedule, refusals, physics."""
import dataclasses
import json
import re

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.sensors.contact import ContactSensorSettings, read_contacts, SensorError

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
])
def test_senseless_settings_are_refused(change, message):
    with pytest.raises(SensorError, match=re.escape(message)):
        ContactSensorSettings(**change).validated()


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


BLOCK = """
<sdf version='1.12' xmlns:spr='urn:spr_dynamics'>
  <world name='w'>
    <gravity>0 0 -9.81</gravity>
    <model name='ground'><static>true</static><link name='ground'>
      <collision name='plane'><geometry><plane/></geometry></collision></link></model>
    <model name='block'>
      <pose>0 0 0.05 0 0 0.3</pose>
      <link name='block'>
        <inertial><mass>1</mass><inertia><ixx>0.0067</ixx><iyy>0.0067</iyy><izz>0.0067</izz>
        </inertia></inertial>
        <collision name='box'><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>
        {sensors}
      </link>
    </model>
  </world>
</sdf>"""
SENSOR = """
<sensor name='{name}' type='contact'><pose>0 0 -0.05 3.141592653589793 0 0</pose>
  <update_rate>{rate}</update_rate><contact><collision>box</collision>{patch}</contact></sensor>"""


def block(**sensors):
    """Make a resting block with sensors: name=(rate, patch elements)."""
    texts = [SENSOR.format(name=name, rate=rate, patch=patch)
             for name, (rate, patch) in sensors.items()]
    return spr.load(text=BLOCK.format(sensors=''.join(texts)))


def test_block_at_rest_reads_its_weight_as_a_press():
    """With z out of the skin, the ground's push has a negative z."""
    sim = spr.Simulation(block(foot=(0, '')))
    sim.step(n=500)
    reading = sim.sensors['foot'].reading
    np.testing.assert_allclose(reading.force, [0, 0, -9.81], atol=1e-5)
    np.testing.assert_allclose(reading.torque, 0, atol=1e-6)
    assert reading.contact and (reading.seen, reading.counted) == (4, 4)


def test_patches_that_tile_a_face_share_its_weight():
    quarter = ('<spr:patch_min>{} {}</spr:patch_min><spr:patch_max>{} {}</spr:patch_max>'
               '<spr:patch_tolerance>0.001</spr:patch_tolerance>')
    sim = spr.Simulation(block(
        a=(0, quarter.format(-0.06, -0.06, 0, 0)), b=(0, quarter.format(0, -0.06, 0.06, 0)),
        c=(0, quarter.format(-0.06, 0, 0, 0.06)), d=(0, quarter.format(0, 0, 0.06, 0.06))))
    sim.step(n=500)
    shares = [sensor.reading.force[2] for sensor in sim.sensors.values()]
    np.testing.assert_allclose(shares, -9.81 / 4, atol=1e-5)


def test_block_in_flight_reads_exactly_zero():
    sim = spr.Simulation(block(foot=(0, '')))
    sim.q[2] += 1.0
    sim.step(n=100)
    reading = sim.sensors['foot'].reading
    assert reading.force.tolist() == [0, 0, 0] and not reading.contact and reading.seen == 0


@pytest.mark.parametrize('rate', [30.0, 100.0, 333.0, 1000.0])
def test_samples_keep_their_rate_without_drift(rate):
    sim = spr.Simulation(block(foot=(rate, '')))
    sensor, times = sim.sensors['foot'], []
    while sim.time < 10.0:
        sim.step(n=sim.steps_until_sample())
        times.append(sensor.sample_time_ns * 1e-9)
        assert sensor.sample_count == len(times)
    ideal = np.arange(len(times)) / rate
    assert (times - ideal >= -1e-9).all() and (times - ideal < sim.dt).all()


def test_changed_setting_acts_on_the_next_sample():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.step(n=500)
    before = sensor.reading
    sensor.settings = dataclasses.replace(
        sensor.settings, patch_min=[-0.06, -0.06], patch_max=[0.0, 0.06])
    assert sensor.reading.force[2] == before.force[2]
    sim.step(n=sim.steps_until_sample())
    np.testing.assert_allclose(sensor.reading.force[2], -9.81 / 2, atol=1e-5)


def test_refused_setting_changes_nothing():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    before = sensor.settings
    for change in ({'rate': -1.0}, {'rate': 'fast'}, {'has_force': True}, {'link': 'grund'},
                   {'collisions': ('bix',)}):
        with pytest.raises(SensorError):
            sensor.settings = dataclasses.replace(before, **change)
    assert sensor.settings is before


def test_sensor_moves_to_another_link():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.step(n=500)
    sensor.settings = dataclasses.replace(sensor.settings, link='ground', collisions=('plane',))
    sim.step(n=sim.steps_until_sample())
    np.testing.assert_allclose(sensor.reading.force, [0, 0, 9.81], atol=1e-5)


def test_sensor_that_was_off_starts_anew_without_a_burst():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.step(n=101)
    sensor.settings = dataclasses.replace(sensor.settings, enabled=False)
    count = sensor.sample_count
    sim.step(n=205)
    assert sensor.sample_count == count
    sensor.settings = dataclasses.replace(sensor.settings, enabled=True)
    sim.step(n=100)
    assert sensor.sample_count == count + 10


@pytest.mark.parametrize('saved, later', [(100, 1000), (1000, 100), (100, 37), (0, 30)])
def test_snapshot_brings_the_settings_back_that_it_was_taken_with(saved, later):
    """Klampt's keeps neither settings nor schedule: its sensor was frozen after a rewind."""
    sim = spr.Simulation(block(foot=(saved, '')))
    sensor = sim.sensors['foot']
    sim.step(n=495)
    snapshot = sim.save()
    sim.step(n=500)
    end = sim.save()
    sensor.settings = dataclasses.replace(sensor.settings, rate=later, enabled=False,
                                          patch_min=(-0.1, -0.1), collisions=())
    sim.step(n=100)
    sim.restore(snapshot)
    assert sim.save() == snapshot and sensor.settings.rate == saved and sensor.settings.enabled
    assert sensor.settings.collisions == ('box',)
    sim.step(n=500)
    assert sim.save() == end


def test_spoilt_settings_in_a_snapshot_change_nothing():
    sim = spr.Simulation(block(foot=(100, '')))
    sim.step(n=5)
    snapshot = sim.save()
    sim.step(n=5)
    now = sim.save()
    for old, new in ((b'"box"', b'"bix"'), (b'"rate": 100.0', b'"rate": -10.0'),
                     (b'"rate"', b'"rite"'), (b'{"foot"', b'{"faat"'), (b'}}', b'}]')):
        assert snapshot.count(old) == 1
        with pytest.raises(spr.SprDynamicsError, match='spoilt settings of sensors'):
            sim.restore(snapshot.replace(old, new))
        assert sim.save() == now


def test_rate_above_that_of_the_steps_gives_a_sample_each_step():
    sim = spr.Simulation(block(foot=(1000, '')), dt=0.004)
    for _ in range(5):
        sim.step(n=sim.steps_until_sample())
    assert sim.step_count == sim.sensors['foot'].sample_count == 5
    assert sim.warnings == ("contact sensor 'foot' asks for 1000 Hz and samples each step, at "
                            '250 Hz',)


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
