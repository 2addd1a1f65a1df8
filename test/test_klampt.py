"""The surface of Klampt's ContactSensor: settings as text, measurements, preview, drawing."""
import dataclasses
import json
import re

import numpy as np
import pytest

import needs
from sensor_models import BLOCK, block, patch, WHOLE
import spr_dynamics as spr
from spr_dynamics.sensors.contact import ContactReading, ContactSensorSettings
from spr_dynamics.sensors.drawing import BOX_EDGES, ContactDrawing
from spr_dynamics.sensors.klampt import KLAMPT_NAMES
from spr_dynamics.sensors.settings import SensorError
from spr_dynamics.simulation.contact_sensor import ContactSensor


def resting(**sensors):
    """Let the block come to rest."""
    sim = spr.Simulation(block(**sensors))
    sim.step(n=500)
    return sim


def trials():
    """Return what Klampt did with texts of settings."""
    return json.loads((needs.sensor_cases() / 'settings.json').read_text(encoding='utf-8'))


# settings as text

def test_defaults_are_written_as_klampt_writes_them():
    """But for the patch, which has no area in Klampt, the axes, and names of links."""
    sensor = resting(foot=(0, '<spr:patch_tolerance>0.001</spr:patch_tolerance>')).sensors['foot']
    sensor.settings = dataclasses.replace(sensor.settings, pose=np.eye(4),
                                          has_force=(False, False, False))
    expected = trials()['defaults'] | {'link': 'block', 'patchMin': '-inf -inf',
                                       'patchMax': 'inf inf'}
    assert {name: sensor.setting_texts[name] for name in expected} == expected
    assert set(KLAMPT_NAMES) == set(expected)
    ours = {field.name for field in dataclasses.fields(ContactSensorSettings)}
    assert set(sensor.setting_texts) == set(expected) | (ours - set(KLAMPT_NAMES.values()))


STRICT = {  # accepted by Klampt, and no such value
    ('link', '2.7'), ('link', '-1'), ('link', '2 junk'), ('patchMin', '-0.1 -0.2 7'),
    ('Tsensor', '2 0 0 0 2 0 0 0 2 0 0 0'), ('patchMin', '5 5'), ('patchTolerance', '-1'),
    ('fResolution', '-1 0 0'), ('fVariance', '-1 0 0'), ('fSensitivity', '-3'),
    ('fSaturation', '-5 -5 -5'), ('falloffCoefficient', '-1'), ('rate', '-5'), ('rate', '1e9')}
BETTER = {  # refused by Klampt, half read, and what they say here
    ('patchTolerance', 'inf'): 'inf', ('fSaturation', 'inf inf inf'): 'inf inf inf',
    ('fSaturation', '10 inf 10'): '10 inf 10', ('hasForce', 'true true true'): '1 1 1 ',
    ('enabled', 'false'): '0', ('enabled', 'true'): '1', ('fSaturation', '1e999 1 1'): 'inf 1 1'}


def test_texts_are_read_as_klampt_reads_them_or_refused_whole():
    sim = resting(foot=(0, WHOLE))
    sensor = sim.sensors['foot']
    start = sensor.settings
    seen = set()
    for trial in trials()['trials']:
        name, text = trial['setting'], trial['value']
        sensor.settings = start
        before = sensor.setting_texts
        if name == 'link' and text.strip() == '2':
            text = '1'  # this model has two links
        if trial['accepted'] and (name, text) not in STRICT - {('rate', '1e9')}:
            sensor.set_setting(name, text)
            assert sensor.get_setting(name) == after(trial)
        elif (name, text) in BETTER:
            sensor.set_setting(name, text)
            assert sensor.get_setting(name) == BETTER[name, text]
        else:
            with pytest.raises(SensorError):
                sensor.set_setting(name, text)
            assert sensor.setting_texts == before
        seen.add((name, text))
    assert STRICT | set(BETTER) <= seen


def after(trial):
    """Say what a text is to read as: as Klampt's does, with all its digits."""
    if trial['setting'] == 'link':
        return 'block'
    if trial['value'] == '0.123456789 1e-9':
        return '0.123456789 1e-09'
    return {'1e+09': '1000000000'}.get(trial['after'], trial['after'])


@pytest.mark.parametrize('name, text, message', [
    ('patchMin', '1', r"patchMin = '1': expected 2 numbers, with blanks between"),
    ('patch_min', '1 2 3', r"patch_min = '1 2 3': expected 2 numbers"),
    ('patchMin', '1,2', r"patchMin = '1,2': expected 2 numbers"),
    ('patchMin', '9 9', r'patch_min = \[9.0, 9.0\]: expected less than patch_max'),
    ('hasForce', '1 0 2', r"hasForce = '1 0 2': expected 3 truth values \(0, 1, false, true\)"),
    ('hasForce', '', "hasForce = '': expected 3 truth values"),
    ('enabled', '2', "enabled = '2': expected 1 truth values"),
    ('fSaturation', '1 nan 1', r'force_saturation = \[1.0, nan, 1.0\]: expected no NaN'),
    ('link', 'blok', "link = 'blok': expected a link of the model .did you mean 'block'"),
    ('link', '7', "link = '7': expected a link of the model"),
    ('Tsensor', '1 0 0 0 1 0 0 0 1', 'Tsensor = .*: expected 12 numbers'),
    ('measure', 'max', 'measure = max: expected one of sample, mean, peak'),
    ('taxels', '2 2', r'taxels = \(2, 2\): expected 0 cells as before'),
    ('taxels', '2 x', "taxels = '2 x': expected 2 whole numbers"),
    ('collisions', 'bix', "link 'block' has no collision 'bix', only box"),
    ('patchMi', '1 1', "no setting 'patchMi' .did you mean 'patchMin'"),
    ('name', 'foo', "no setting 'name'"), ('', '', "no setting ''"),
    ('rate', 5.0, 'rate = 5.0: expected text'),
])
def test_refused_text_changes_nothing(name, text, message):
    sensor = resting(foot=(0, WHOLE)).sensors['foot']
    before, state = sensor.settings, sensor.internal_state
    with pytest.raises(SensorError, match=message):
        sensor.set_setting(name, text)
    assert sensor.settings is before and sensor.internal_state == state


def test_all_settings_survive_as_text():
    """Klampt's own defaults don't: it can't read the infinities that it writes."""
    sim = spr.Simulation(block(
        a=(33.3, patch(-0.061, -1 / 3, 0.06, 0.07, force_variance='0.1 0.2 0.3', taxels='3 4',
                       measure='peak', falloff_mode='edge', falloff_coefficient='0.7')),
        b=(0, '')))
    a, b = sim.sensors['a'], sim.sensors['b']
    texts = b.setting_texts
    with pytest.raises(SensorError, match='taxels = .3, 4.: expected 0 cells'):
        b.set_settings(a.setting_texts)
    assert b.setting_texts == texts
    b.set_settings(a.setting_texts | {'taxels': '0 0'})
    for field in dataclasses.fields(ContactSensorSettings):
        if field.name not in ('taxels', 'taxel_spread'):
            np.testing.assert_array_equal(getattr(b.settings, field.name),
                                          getattr(a.settings, field.name))
    b.set_settings(texts)
    assert b.setting_texts == texts


def test_names_of_collisions_with_blanks_survive_as_text():
    model = spr.load(text=BLOCK.format(sensors="<sensor name='foot' type='contact'/>").replace(
        "'box'", '"left  foot\'s box"'))
    sensor = spr.Simulation(model).sensors['foot']
    sensor.settings = dataclasses.replace(sensor.settings, collisions=["left  foot's box"])
    texts = sensor.setting_texts
    sensor.set_setting('collisions', '')
    sensor.set_settings(texts)
    assert sensor.settings.collisions == ("left  foot's box",)
    with pytest.raises(SensorError, match='expected names with blanks between'):
        sensor.set_setting('collisions', "'left  foot")


@pytest.mark.parametrize('name, text', [
    ('rate', '1_00'), ('patchMin', '-1_0 -0.2'), ('rate', '\uff11\uff10'), ('taxels', '0_0 0')])
def test_numbers_that_only_python_reads_are_refused(name, text):
    sensor = resting(foot=(0, '')).sensors['foot']
    with pytest.raises(SensorError, match=f"{name} = '{text}': expected"):
        sensor.set_setting(name, text)


def test_setting_under_both_of_its_names_is_refused():
    sensor = resting(foot=(0, '')).sensors['foot']
    with pytest.raises(SensorError, match="patch_tolerance = '2': expected patch_tolerance once"):
        sensor.set_settings({'patchTolerance': '1', 'patch_tolerance': '2'})
    assert sensor.settings.patch_tolerance == np.inf


def test_numbers_and_names_of_links_are_the_same():
    sensor = resting(foot=(0, '')).sensors['foot']
    sensor.set_setting('link', '0')
    assert sensor.get_setting('link') == sensor.get_setting('link').strip() == 'ground'
    assert sensor.settings.collisions == ()
    sensor.set_setting('link', ' block ')
    assert sensor.settings.link == 'block'


# measurements and state

def test_measurements_are_named_by_the_axes_that_are_measured():
    sensor = resting(foot=(0, '')).sensors['foot']
    assert sensor.measurement_names == ['contact', 'force_x', 'force_y', 'force_z']
    sensor.set_setting('hasForce', '0 0 1')
    assert sensor.measurement_names == ['contact', 'force_z']
    np.testing.assert_allclose(sensor.measurements, [1, -9.81], atol=1e-5)


def test_measurements_may_be_those_of_a_real_sensor():
    sensor = resting(foot=(100, '<spr:has_force>0 1 1</spr:has_force>')).sensors['foot']
    sensor.set_measurements([0, 1.5, -2.5])
    assert not sensor.reading.contact and sensor.reading.force.tolist() == [0, 1.5, -2.5]
    assert sensor.measurements.tolist() == [0, 1.5, -2.5]
    for wrong in ([1], [1, 2, 3, 4], [2, 0, 0], [1, np.nan, 0], 'abc', [[1, 2, 3]]):
        with pytest.raises(SensorError, match='expected finite numbers, one for each of contact, '
                                              'force_y, force_z, of which contact is 0 or 1'):
            sensor.set_measurements(wrong)
    assert sensor.measurements.tolist() == [0, 1.5, -2.5]


def test_internal_state_brings_a_sensor_back():
    sim = resting(foot=(30, WHOLE + '<spr:measure>mean</spr:measure><spr:taxels>2 2</spr:taxels>'
                                    '<spr:force_variance>1 1 1</spr:force_variance>'))
    sensor = sim.sensors['foot']
    state, reading, wait = sensor.internal_state, sensor.reading, sim.steps_until_sample()
    sim.step(n=sim.steps_until_sample())
    after = sensor.reading
    sim.step(n=123)
    assert sensor.reading.force.tolist() != reading.force.tolist()
    sensor.internal_state = state
    assert sensor.internal_state == state
    np.testing.assert_array_equal(sensor.reading.force, reading.force)
    count = sensor.sample_count
    assert sim.steps_until_sample() == wait
    sim.step(n=wait)
    np.testing.assert_allclose(sensor.reading.force, after.force, atol=1e-3)  # the same noise
    sim.step(n=300)
    assert sensor.sample_count == count + 10
    for wrong in (b'', state[:-1], [1.0]):
        with pytest.raises(SensorError, match=f'internal_state: {len(state)} bytes expected'):
            sensor.internal_state = wrong


def test_reset_of_one_sensor_leaves_the_others_alone():
    sim = resting(foot=(100, ''), other=(100, ''))
    sim.step(n=3)
    sensor, other = sim.sensors['foot'], sim.sensors['other']
    count = other.sample_count
    sensor.reset()
    assert not sensor.reading.contact and not sensor.reading.force.any()
    assert (sensor.sample_count, other.sample_count) == (0, count)
    sim.step(n=11)
    assert (sensor.sample_count, other.sample_count) == (2, count + 1)
    np.testing.assert_allclose(sensor.reading.force[2], -9.81, atol=1e-4)
    before = sensor.internal_state
    sensor.advance(0.01)
    assert sensor.internal_state == before


# preview

def test_preview_finds_contacts_from_geometry_alone():
    """Klampt's SimulateKinematic says that nothing touches."""
    sim = spr.Simulation(block(foot=(0, WHOLE), left=(0, patch(-0.06, -0.06, 0, 0.06)),
                               grid=(0, WHOLE + '<spr:taxels>3 3</spr:taxels>'),
                               noisy=(0, '<spr:noise_when_idle>1</spr:noise_when_idle>'
                                         '<spr:force_variance>1 1 1</spr:force_variance>')))
    q = sim.q.copy()
    sim.step()
    before = sim.save()
    for name, counted in (('foot', 4), ('left', 2), ('grid', 4)):
        assert (sim.sensors[name].contacts['status'] == 0).sum() == counted
    for lift, touches in ((0.0, True), (-0.02, True), (2e-6, False), (0.3, False)):
        q[2] = 0.05 + lift
        readings = [sensor.simulate_kinematic(q) for sensor in sim.sensors.values()]
        for reading, counted in zip(readings, (4, 2, 4, 4)):
            assert isinstance(reading, ContactReading) and reading.contact is touches
            assert reading.counted == (counted if touches else 0)
            assert reading.seen == (4 if touches else 0) and not reading.force.any()
    assert sim.save() == before
    sensor = sim.sensors['foot']
    sensor.set_setting('Tsensor', '1 0 0 0 -1 0 0 0 -1 0 0 -0.0475')
    q[2] = 0.05
    missed = sensor.simulate_kinematic(q)
    assert not missed.contact and missed.rejected_by_tolerance == 4
    np.testing.assert_allclose(missed.nearest_miss, [0, 0, 0.0015], atol=1e-12)
    with pytest.raises(ValueError, match='q: '):
        sensor.simulate_kinematic(q[:-1])


def test_a_run_with_previews_in_between_is_the_same_run():
    one, other = (spr.Simulation(block(foot=(0, WHOLE))) for _ in range(2))
    for sim in (one, other):
        sim.q[2] += 0.01
    for _ in range(60):
        one.step()
        other.step()
        other.sensors['foot'].simulate_kinematic(other.q + [0, 0, -0.2, 0, 0, 0, 0])
    assert one.save() == other.save()


# drawing

def test_drawing_is_the_patch_in_the_world():
    sim = resting(foot=(0, patch(-0.02, -0.03, 0.06, 0.06, patch_tolerance='0.004')))
    sensor = sim.sensors['foot']
    drawing = sensor.drawing(metres_per_newton=0.1)
    T_WS, force = sensor.pose, sensor.reading.force

    def in_sensor(points):
        return (points - T_WS[:3, 3]) @ T_WS[:3, :3]

    np.testing.assert_allclose(in_sensor(drawing.outline), [
        [-0.02, -0.03, 0], [0.06, -0.03, 0], [0.06, 0.06, 0], [-0.02, 0.06, 0]], atol=1e-12)
    box = in_sensor(drawing.tolerance_box)
    np.testing.assert_allclose([box.min(0), box.max(0)],
                               [[-0.02, -0.03, -0.004], [0.06, 0.06, 0.004]], atol=1e-12)
    lengths = np.linalg.norm(np.diff(box[BOX_EDGES], axis=1), axis=-1).ravel()
    np.testing.assert_allclose(np.sort(lengths), np.repeat([0.008, 0.08, 0.09], 4), atol=1e-12)
    fill = in_sensor(drawing.fill)
    np.testing.assert_allclose(np.ptp(fill, axis=0), [0.08, 0.09, 0.001], atol=1e-12)
    arrow = in_sensor(drawing.arrow)
    np.testing.assert_allclose(arrow[0], sensor.reading.centre_of_pressure, atol=1e-12)
    np.testing.assert_allclose(arrow[1] - arrow[0], 0.1 * force, atol=1e-12)
    assert drawing.T_WS.shape == (4, 4) and drawing.arrow[1, 2] > drawing.arrow[0, 2] + 0.1


def test_what_is_not_there_is_not_drawn():
    sim = spr.Simulation(block(foot=(0, WHOLE), endless=(0, '')))
    sim.q[2] += 1.0
    sim.step()
    drawing, endless = sim.sensors['foot'].drawing(), sim.sensors['endless'].drawing()
    assert isinstance(drawing, ContactDrawing)
    assert [len(part) for part in drawing[1:]] == [4, 8, 0, 0]
    assert [part.shape for part in endless[1:]] == [(0, 3)] * 4


# words for a silent sensor

def test_complaint_explains_a_silent_sensor():
    two = BLOCK.replace('{sensors}', """
        <collision name='lid'><pose>0 0 0.06 0 0 0</pose>
          <geometry><sphere><radius>0.001</radius></sphere></geometry></collision>{sensors}""")
    text = two.format(sensors="""
        <sensor name='lid' type='contact'><contact><collision>lid</collision></contact></sensor>
        <sensor name='hard' type='contact'><contact>
          <spr:force_sensitivity>100</spr:force_sensitivity></contact></sensor>
        <sensor name='weak' type='contact'><contact>
          <spr:force_saturation>1 1 1</spr:force_saturation></contact></sensor>
        <sensor name='coarse' type='contact'><contact>
          <spr:force_resolution>50 50 50</spr:force_resolution></contact></sensor>
        <sensor name='fine' type='contact'/>""")
    sim = spr.Simulation(spr.load(text=text))
    assert sim.sensors['fine'].complaint == 'no sample was taken yet'
    sim.step(n=300)
    said = {name: sensor.complaint for name, sensor in sim.sensors.items()}
    assert said == {
        'lid': 'link touches 4 contacts, none with the collisions that count: lid',
        'hard': '4 contacts in the patch, but |force z| is not above force_sensitivity = 100 N',
        'weak': 'force is clamped on 1 of 3 axes to force_saturation = [1.0, 1.0, 1.0] N',
        'coarse': 'force rounds to 0 at force_resolution = [50.0, 50.0, 50.0] N',
        'fine': ''}
    sim.sensors['fine'].set_setting('enabled', '0')
    assert sim.sensors['fine'].complaint == 'it is off (enabled = false)'
    sim.q[2] += 1.0
    sim.step()
    assert not any(sim.sensors[name].complaint for name in ('lid', 'hard', 'weak', 'coarse'))


def test_facts_tell_what_the_sensor_is_and_sees():
    sensor = resting(foot=(0, patch(-0.06, -0.06, 0.0, 0.06))).sensors['foot']
    facts = sensor.facts
    assert facts['virtual'] is True and facts['link'] == 'block'
    assert facts['patch [m]'] == ([-0.06, -0.06], [0.0, 0.06])
    assert (facts['seen'], facts['counted'], facts['rejected_by_patch']) == (4, 2, 2)
    np.testing.assert_allclose(facts['nearest_miss [m]'], [0.05, 0, 0], atol=1e-6)
    assert facts['touches'] == 'ground::plane (0)'


PAGE_MEMBERS = """
    Type Simulate SimulateKinematic Reset MeasurementNames GetMeasurements SetMeasurements Settings
    GetSetting SetSetting DrawGL Advance ReadState WriteState GetInternalState SetInternalState
    link Tsensor patchMin patchMax patchTolerance hasForce fResolution fVariance fSensitivity
    fSaturation falloffCoefficient contact force name rate"""


def test_page_on_klampt_has_every_member_and_names_what_exists():
    page = (needs.REPOSITORY / 'docs' / 'klampt.md').read_text(encoding='utf-8')
    for member in PAGE_MEMBERS.split():
        assert re.search(rf'^\|[^|]*`{member}\b', page, re.MULTILINE), member
    sim = resting(foot=(0, WHOLE))
    for owner, thing in (('sensor', sim.sensors['foot']), ('sim', sim)):
        for name in re.findall(rf'`{owner}\.(\w+)', page):
            assert hasattr(thing, name), f'{owner}.{name}'
    for field in dataclasses.fields(ContactSensorSettings):
        assert re.search(rf'`(sensor\.settings\.)?{field.name}`', page), field.name
    assert set(re.findall(r'`sensor\.reading\.(\w+)', page)) <= set(ContactReading._fields)
    # the example runs
    example = re.search(r'```python\n(.*?)```', page, re.DOTALL)[1]
    exec(example, {'sim': sim, 'sensor': sim.sensors['foot'], 'dataclasses': dataclasses})
    tests = ''.join((needs.REPOSITORY / 'test' / file).read_text(encoding='utf-8') for file in (
        'test_contact_sensor.py', 'test_contact_sensor_running.py', 'test_klampt.py'))
    for name in re.findall(r'`(test_\w+)`', page):
        assert f'def {name}(' in tests, name
    assert isinstance(sim.sensors['foot'], ContactSensor)
