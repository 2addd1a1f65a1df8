"""Contact sensors while the simulation runs: schedule, windows, noise, snapshots."""
import dataclasses
import hashlib

import numpy as np
import pytest

from sensor_models import BLOCK, block, patch, SENSOR, WHOLE
import shipped
import spr_dynamics as spr
from spr_dynamics.sensors.contact import read_contacts, spread_contacts, WHOLE_LINK
from spr_dynamics.sensors.settings import SensorError
from spr_dynamics.simulation.state import HEADER


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
    for settings in (None, {'rate': 5.0}):
        with pytest.raises(SensorError, match='settings = .*: expected ContactSensorSettings'):
            sensor.settings = settings
        with pytest.raises(SensorError, match="'foot': settings = .*: expected ContactSensorSett"):
            spr.Simulation(sim.model, contact_sensors={'foot': settings})
    assert sensor.settings is before


def test_sensor_moves_to_another_link():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.step(n=500)
    sensor.settings = dataclasses.replace(sensor.settings, link='ground', collisions=('plane',))
    sim.step(n=sim.steps_until_sample())
    np.testing.assert_allclose(sensor.reading.force, [0, 0, 9.81], atol=1e-5)


def test_contacts_are_seen_from_the_new_place_at_once():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.q[:2] = [0.3, 0.4]
    sim.step(n=501)
    for settings in (dataclasses.replace(sensor.settings, pose=np.eye(4)),
                     dataclasses.replace(sensor.settings, link='ground', collisions=())):
        sensor.settings = settings
        at_once = sensor.contacts
        sim.step()
        for name in ('position', 'normal', 'force'):
            np.testing.assert_allclose(at_once[name], sensor.contacts[name], atol=1e-5)
        assert len(at_once) == 4


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


@pytest.mark.parametrize('first, second', [
    ({'rate': 50.0}, {'rate': 100.0}), ({'enabled': False}, {'enabled': True})])
def test_settings_that_keep_changing_give_no_burst(first, second):
    """In 30 ms no more samples than 100 Hz gives."""
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sim.step(n=105)
    count = sensor.sample_count
    for k in range(30):
        sensor.settings = dataclasses.replace(sensor.settings, **(second if k % 2 else first))
        sim.step()
    assert 1 <= sensor.sample_count - count <= 3
    newest = sensor.sample_time_ns
    sensor.settings = dataclasses.replace(sensor.settings, rate=100.0, enabled=True)
    sim.step(n=sim.steps_until_sample())
    assert sensor.sample_time_ns >= newest + 10_000_000


def test_change_to_a_faster_rate_acts_a_period_after_the_newest_sample():
    sim = spr.Simulation(block(foot=(1, '')))
    sensor = sim.sensors['foot']
    sim.step(n=5)
    sensor.settings = dataclasses.replace(sensor.settings, rate=100.0)
    assert sensor.next_step == 10
    sim.step(n=200)
    sensor.settings = dataclasses.replace(sensor.settings, rate=1e-300)
    assert sensor.next_step > 2 ** 61 and sim.steps_until_sample() > 2 ** 61
    sensor.settings = dataclasses.replace(sensor.settings, rate=10.0)
    assert sensor.next_step == 300


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


def signed(snapshot):
    """Return a snapshot with the digest that belongs to what is in it."""
    content = snapshot[HEADER.size:]
    return HEADER.pack(*HEADER.unpack_from(snapshot)[:-1], hashlib.sha256(content).digest()) \
        + content


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
            sim.restore(signed(snapshot.replace(old, new)))
        assert sim.save() == now


def test_rate_above_that_of_the_steps_gives_a_sample_each_step():
    sim = spr.Simulation(block(foot=(1000, '')), dt=0.004)
    for _ in range(5):
        sim.step(n=sim.steps_until_sample())
    assert sim.step_count == sim.sensors['foot'].sample_count == 5
    assert sim.warnings == ("contact sensor 'foot' asks for 1000 Hz and samples each step, at "
                            '250 Hz',)


# windows: what a sample is made of

MASS, G = 1.0, 9.81


def dropped(**sensors):
    """Drop the block from 0.3 m and step to the end of the window with the impact."""
    sim = spr.Simulation(block(every_step=(1000, WHOLE), **sensors))
    sim.q[2] += 0.3
    sim.step()  # the first samples
    while not sim.contacts['force'].any():
        before = sim.qd.copy()
        steps = []
        for _ in range(10):
            sim.step()
            steps.append(sim.sensors['every_step'].reading.force)
    return sim, before, np.array(steps)


def test_impact_is_missed_by_samples_and_seen_by_mean_and_peak():
    """Klampt's 100 Hz sensor misses an impact of 429 N altogether (timing.json)."""
    sim, before, steps = dropped(
        sample=(100, WHOLE), mean=(100, WHOLE + '<spr:measure>mean</spr:measure>'),
        peak=(100, WHOLE + '<spr:measure>peak</spr:measure>'))
    forces = {name: sensor.reading.force for name, sensor in sim.sensors.items()}
    momentum = MASS * (sim.qd[2] - before[2]) + MASS * G * 0.01
    assert momentum > 2.0
    # the sensor's z points down, out of the skin
    np.testing.assert_allclose(forces['mean'] * 0.01, [0, 0, -momentum], atol=1e-12)
    np.testing.assert_array_equal(forces['peak'], steps[np.argmax(np.abs(steps[:, 2]))])
    assert forces['peak'][2] < -1000.0 and abs(forces['sample'][2]) < 20.0
    assert all(sensor.reading.contact for sensor in sim.sensors.values())


def test_contact_that_is_over_is_in_the_windows_sample_and_released_in_the_next():
    sim = spr.Simulation(block(mean=(100, WHOLE + '<spr:measure>mean</spr:measure>'),
                               peak=(100, WHOLE + '<spr:measure>peak</spr:measure>'),
                               sample=(100, WHOLE)))
    sim.step(n=15)
    sim.q[2] += 1.0  # lifted off in the middle of a window
    sim.step(n=6)
    readings = {name: sensor.reading for name, sensor in sim.sensors.items()}
    assert readings['mean'].contact and readings['peak'].contact and readings['mean'].seen == 4
    assert not readings['sample'].contact and readings['sample'].seen == 0
    np.testing.assert_allclose(readings['peak'].centre_of_pressure, 0, atol=1e-6)
    sim.step(n=10)
    for sensor in sim.sensors.values():
        assert not sensor.reading.contact and not sensor.reading.force.any()
        assert sensor.reading.seen == 0


def test_torque_of_a_window_turns_the_block_as_it_turned():
    """Angular momentum about the block's centre, in a window in which a corner hits the ground."""
    sim = spr.Simulation(block(mean=(100, '<spr:measure>mean</spr:measure>')))
    sim.q[2:7] = [0.15, 0.9, 0.3, 0.2, np.sqrt(1 - 0.81 - 0.09 - 0.04)]
    sim.step()  # the first sample
    sensor = sim.sensors['mean']
    while not sensor.reading.force.any():
        spin = sim.qd[3:].copy()
        sim.step(n=10)
    T_SL = np.linalg.inv(sensor.settings.pose)  # the link's origin is its centre of mass
    about_centre = sensor.reading.torque - np.cross(T_SL[:3, 3], sensor.reading.force)
    change = 0.0067 * (sim.qd[3:] - spin)
    # the block turns by some degrees in this window, so the sensor's axes are not quite still
    np.testing.assert_allclose(sensor.pose[:3, :3] @ about_centre * 0.01, change,
                               atol=0.05 * np.abs(change).max())
    assert np.abs(change).max() > 0.01


def test_hysteresis_holds_contact_until_the_force_is_below_the_release():
    """The block weighs 9.81 N; it is pulled up by part of that."""
    sim = spr.Simulation(block(foot=(0, '<spr:force_sensitivity>5</spr:force_sensitivity>'
                                        '<spr:release_sensitivity>2</spr:release_sensitivity>'),
                               plain=(0, '<spr:force_sensitivity>5</spr:force_sensitivity>')))
    lift, flags = np.zeros(6), []
    for press in (9.0, 6.0, 4.0, 2.5, 1.5, 2.5, 4.0, 6.0):
        lift[2] = MASS * G - press
        sim.step(lift, 200)
        np.testing.assert_allclose(sim.sensors['foot'].reading.force[2], -press, atol=1e-3)
        flags.append([sensor.reading.contact for sensor in sim.sensors.values()])
    assert flags == [[True, True], [True, True], [True, False], [True, False], [False, False],
                     [False, False], [False, False], [True, True]]


@pytest.mark.parametrize('measure', ['mean', 'peak'])
def test_window_stays_when_settings_change_that_act_on_samples_only(measure):
    """An impact that it holds is not lost; half a window of another patch would be neither's."""
    text = WHOLE + f'<spr:measure>{measure}</spr:measure><spr:taxels>2 2</spr:taxels>'
    sim = spr.Simulation(block(twin=(10, text), same=(10, text), axes=(10, text),
                               moved=(10, text)))
    sim.q[2] += 0.02
    sim.qd[2] = -1.0
    sim.step(n=50)  # it hits the ground after 18 ms
    same, axes, moved = (sim.sensors[name] for name in ('same', 'axes', 'moved'))
    same.set_setting('hasForce', '1 1 1')
    axes.set_settings({'hasForce': '0 0 1', 'fResolution': '0 0 1e-9', 'noise_when_idle': '1'})
    moved.set_setting('patchTolerance', '0.01')
    sim.step(n=51)
    force = {name: sensor.reading.force for name, sensor in sim.sensors.items()}
    assert force['twin'][2] < {'mean': -15.0, 'peak': -500.0}[measure]
    np.testing.assert_array_equal(force['same'], force['twin'])
    np.testing.assert_array_equal(same.taxels, sim.sensors['twin'].taxels)
    np.testing.assert_allclose(force['axes'], force['twin'], atol=1e-8)
    np.testing.assert_allclose(force['moved'], [0, 0, -9.81], atol=1e-3)


@pytest.mark.parametrize('change, back', [
    ({'enabled': '0'}, {'enabled': '1'}),
    ({'link': 'ground'}, {'link': 'block'})])
def test_contact_that_is_held_is_forgotten_by_a_sensor_that_goes_away(change, back):
    """The block presses with 3 N, between the sensitivities, when the sensor comes back."""
    sim = spr.Simulation(block(foot=(0, '<spr:force_sensitivity>5</spr:force_sensitivity>'
                                        '<spr:release_sensitivity>2</spr:release_sensitivity>')))
    sensor, lift = sim.sensors['foot'], np.zeros(6)
    sim.step(n=200)
    lift[2] = MASS * G - 3.0
    sim.step(lift, 200)
    assert sensor.reading.contact
    sensor.set_settings(change)
    sim.step(lift, 1)
    sensor.set_settings(back)
    sim.step(lift, 2)
    np.testing.assert_allclose(sensor.reading.force[2], -3.0, atol=1e-3)
    assert not sensor.reading.contact


def test_settings_of_numpys_types_are_saved():
    sim = spr.Simulation(block(foot=(100, '')))
    sensor = sim.sensors['foot']
    sensor.settings = dataclasses.replace(sensor.settings, rate=np.int64(50), enabled=np.True_,
                                          patch_tolerance=np.float32(0.5))
    sensor.set_setting('enabled', 'true')
    snapshot = sim.save()
    sim.step(n=5)
    sim.restore(snapshot)
    assert sim.save() == snapshot and sensor.settings.rate == 50.0


# noise

NOISY = '<spr:force_variance>0.04 0.01 0.25</spr:force_variance>'


def noisy_run(sim, name='foot', steps=200):
    """Return the readings of a sensor, a row a step."""
    forces = []
    for _ in range(steps):
        sim.step()
        forces.append(sim.sensors[name].reading.force)
    return np.array(forces)


def test_equal_seeds_give_equal_bytes_and_others_do_not():
    runs = [noisy_run(spr.Simulation(block(foot=(0, NOISY)), seed=seed)) for seed in (3, 3, 4)]
    assert runs[0].tobytes() == runs[1].tobytes()
    assert (runs[0] != runs[2]).all()


def test_another_sensor_changes_nothing_for_the_noise_of_the_first():
    alone = noisy_run(spr.Simulation(block(foot=(0, NOISY))))
    beside = noisy_run(spr.Simulation(block(before=(0, NOISY), foot=(0, NOISY), c=(30, NOISY))))
    assert alone.tobytes() == beside.tobytes()


def test_noise_has_the_variance_of_its_settings_and_leaves_contact_alone():
    above = '<spr:force_sensitivity>9.7</spr:force_sensitivity>'
    sim = spr.Simulation(block(foot=(0, NOISY + above), still=(0, '')))
    sim.step(n=500)
    n = 4000
    errors = noisy_run(sim, steps=n) - sim.sensors['still'].reading.force
    for axis, variance in enumerate((0.04, 0.01, 0.25)):
        assert abs(errors[:, axis].mean()) < 5 * np.sqrt(variance / n)
        assert abs(errors[:, axis].var() / variance - 1) < 5 * np.sqrt(2 / n)
    assert sim.sensors['foot'].reading.contact


def test_idle_sensor_is_silent_unless_it_is_to_be_noisy_and_draws_all_the_same():
    """Klampt draws only in touch; here the noise after the flight doesn't depend on it."""
    idle = '<spr:noise_when_idle>true</spr:noise_when_idle>'
    sim = spr.Simulation(block(foot=(0, NOISY), idle=(0, NOISY + idle)))
    sim.q[2] += 1.0
    assert not noisy_run(sim).any()
    assert np.abs(noisy_run(sim, 'idle')).min() > 0.0
    rest = spr.Simulation(block(foot=(0, NOISY)))
    rest.step(n=400)
    sim.q[:] = rest.q
    sim.qd[:] = rest.qd
    np.testing.assert_allclose(noisy_run(sim), noisy_run(rest), atol=1e-4)


def test_noise_is_rounded_and_clamped():
    """In Klampt's order: noise, resolution, saturation."""
    sim = spr.Simulation(block(foot=(0, '<spr:force_variance>0 0 25</spr:force_variance>'
                                        '<spr:force_resolution>0 0 4</spr:force_resolution>'
                                        '<spr:force_saturation>1 1 10</spr:force_saturation>')))
    sim.step(n=200)
    values = set(noisy_run(sim, steps=400)[:, 2].tolist())
    assert values <= {-10.0, -8.0, -4.0, 0.0, 4.0, 8.0} and {-10.0, -8.0, -4.0} <= values


def test_restored_noisy_run_repeats_bit_for_bit_also_from_the_middle_of_a_window():
    peak = '<spr:measure>peak</spr:measure><spr:taxels>4 5</spr:taxels>'
    sensors = {'foot': (100, NOISY), 'mean': (30, NOISY + '<spr:measure>mean</spr:measure>'),
               'grid': (50, WHOLE + NOISY + peak)}
    sim = spr.Simulation(block(**sensors), seed=5)
    sim.q[2] += 0.02
    sim.step(n=77)
    snapshot = sim.save()
    sim.step(n=300)
    end, taxels = sim.save(), sim.sensors['grid'].taxels
    other = spr.Simulation(block(**sensors), seed=6)  # the generator is part of the snapshot
    for again in (sim, other):
        again.restore(snapshot)
        assert again.save() == snapshot
        again.step(n=300)
        assert again.save() == end
        np.testing.assert_array_equal(again.sensors['grid'].taxels, taxels)


def test_reset_begins_the_noise_anew():
    sim = spr.Simulation(block(foot=(0, NOISY)), seed=1)
    first = noisy_run(sim)
    sim.reset()
    assert sim.sensors['foot'].sample_count == 0 and not sim.sensors['foot'].reading.force.any()
    assert noisy_run(sim).tobytes() == first.tobytes()


@pytest.mark.parametrize('seed', [1.0, '1', None, True])
def test_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(ValueError, match='seed = .*: a whole number expected'):
        spr.Simulation(block(), seed=seed)


# physics

STACK = """
<sdf version='1.12'><world name='w'><gravity>0 0 -9.81</gravity>
  <model name='ground'><static>true</static><link name='ground'>
    <collision name='plane'><geometry><plane/></geometry></collision></link></model>
  {}
</world></sdf>"""
STACKED = """
<model name='{name}'><pose>{pose}</pose><link name='{name}'>
  <inertial><mass>{mass}</mass><inertia><ixx>0.0067</ixx><iyy>0.0067</iyy><izz>0.0067</izz>
  </inertia></inertial>
  <collision name='c'><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>
  <sensor name='{name}' type='contact'><pose>{sensor}</pose><contact>
    <spr:patch_min>-0.08 -0.08</spr:patch_min><spr:patch_max>0.08 0.08</spr:patch_max>
  </contact></sensor></link></model>"""


def test_sensors_that_face_each_other_read_opposite_forces():
    sim = spr.Simulation(spr.load(text=STACK.format(
        STACKED.format(name='lower', mass=2, pose='0 0 0.05 0 0 0.4', sensor='0 0 0.05 0 0 0')
        + STACKED.format(name='upper', mass=1, pose='0.02 0.01 0.15 0 0 -0.3',
                         sensor='0 0 -0.05 3.141592653589793 0 0.7'))))
    push = np.zeros(12)
    push[6:8] = [1.5, -0.8]  # sideways, on the upper block; friction holds it
    sim.step(push, 800)
    lower, upper = (sim.sensors[name] for name in ('lower', 'upper'))
    np.testing.assert_allclose([lower.reading.force[2], upper.reading.force[2]], -9.81, atol=1e-5)
    in_world = [sensor.pose[:3, :3] @ sensor.reading.force for sensor in (lower, upper)]
    np.testing.assert_allclose(in_world[0], -in_world[1], atol=1e-6)
    np.testing.assert_allclose(in_world[1], [-1.5, 0.8, 9.81], atol=1e-3)


def test_centre_of_pressure_is_below_the_centre_of_mass():
    text = STACK.format(STACKED.format(
        name='foot', mass=1, pose='0 0 0.05 0 0 0.4', sensor='0 0 -0.05 3.141592653589793 0 0'
    ).replace('<inertial>', '<inertial><pose>0.021 -0.013 0.02 0 0 0</pose>'))
    sim = spr.Simulation(spr.load(text=text))
    sim.step(n=3000)
    sensor = sim.sensors['foot']
    centre_W = sensor.pose[:3, :3] @ sensor.reading.centre_of_pressure + sensor.pose[:3, 3]
    T_WL = sensor.pose @ np.linalg.inv(sensor.settings.pose)
    mass_W = T_WL[:3, :3] @ [0.021, -0.013, 0.02] + T_WL[:3, 3]
    np.testing.assert_allclose(centre_W[:2], mass_W[:2], atol=1e-5)
    # and the torque about the sensor's origin says the same
    force, torque = sensor.reading.force, sensor.reading.torque
    np.testing.assert_allclose(np.array([-torque[1], torque[0]]) / force[2],
                               sensor.reading.centre_of_pressure[:2], atol=1e-6)


@pytest.mark.parametrize('kp', [2e3, 1e5, 1e12])
def test_sensor_on_the_surface_fires_however_deep_the_contact_is(kp):
    """Klampt's default tolerance is smaller than its padding: such a sensor never fires."""
    surface = (f'<surface><contact><ode><kp>{kp}</kp><kd>100</kd></ode></contact></surface>')
    text = STACK.format(STACKED.format(
        name='foot', mass=1, pose='0 0 0.05 0 0 0.4', sensor='0 0 -0.05 3.141592653589793 0 0'
    )).replace('</geometry>', '</geometry>' + surface)
    sim = spr.Simulation(spr.load(text=text))
    sim.step(n=2000)
    sensor = sim.sensors['foot']
    assert sensor.settings.patch_tolerance == 0.001
    np.testing.assert_allclose(sensor.reading.force[2], -9.81, atol=1e-4)
    assert sensor.reading.counted == 4
    if kp == 2e3:
        assert sensor.contacts['depth'].max() > 0.002
    np.testing.assert_allclose(sensor.contacts['position'][:, 2], 0.0, atol=1e-9)


def test_pure_function_measures_soft_contacts_as_the_running_sensor_does():
    """They count where the skin is, 2.5 mm from where the force acts, and the lever is that."""
    surface = '<surface><contact><ode><kp>2000</kp><kd>100</kd></ode></contact></surface>'
    grid = patch(-0.06, -0.06, 0.06, 0.06, taxels='3 4')
    text = BLOCK.format(sensors=SENSOR.format(name='foot', rate=0, patch=grid))
    sim = spr.Simulation(spr.load(text=text.replace('</geometry>', '</geometry>' + surface)))
    sim.step(np.array([2.0, 0, 0, 0, 0, 0]), 2000)
    before = spr.link_poses(sim.model, sim.q)[1]
    sim.step(np.array([2.0, 0, 0, 0, 0, 0]))
    sensor = sim.sensors['foot']
    assert sensor.contacts['depth'].max() > 0.002
    T_WS = before @ sensor.settings.pose
    acts, skin = (sensor.contacts[name] @ T_WS[:3, :3].T + T_WS[:3, 3]
                  for name in ('point', 'position'))
    forces = sensor.contacts['force'] @ T_WS[:3, :3].T
    reading = read_contacts(sensor.settings, before, acts, forces, skin)
    assert reading.counted == 4
    for ours, its in zip(reading, sensor.reading):
        np.testing.assert_allclose(ours, its, atol=1e-12)
    np.testing.assert_allclose(spread_contacts(sensor.settings, before, acts, forces, skin),
                               sensor.taxels, atol=1e-12)
    assert read_contacts(sensor.settings, before, acts, forces).counted < 4


def test_contacts_are_what_the_pure_function_measures():
    half = patch(-0.06, -0.06, 0.06, 0.0, falloff_coefficient='0.5')
    sim = spr.Simulation(block(foot=(0, half)))
    sim.step(n=321)
    sensor = sim.sensors['foot']
    contacts, T_WS = sensor.contacts, sensor.pose
    assert sorted(contacts['status']) == [0, 0, 1, 1]
    assert {sim.model.shape_names[k] for k in contacts['partner']} == {'ground::plane'}
    points = contacts['point'] @ T_WS[:3, :3].T + T_WS[:3, 3]
    reading = read_contacts(sensor.settings, T_WS @ np.linalg.inv(sensor.settings.pose), points,
                            contacts['force'] @ T_WS[:3, :3].T)
    np.testing.assert_allclose(reading.force, sensor.reading.force, atol=1e-9)
    np.testing.assert_allclose((contacts['weight'][:, None] * contacts['force']).sum(0),
                               sensor.reading.force, atol=1e-12)
    assert (contacts['normal'][:, 2] < -0.999).all()
    np.testing.assert_allclose(reading[4:8], sensor.reading[4:8])


@pytest.mark.parametrize('name', ['hopper', 'quadruped', 'rolling_shapes', 'box_stack'])
def test_sensors_all_over_a_robot_feel_all_that_touches_it(name):
    """Force and torque on each link are those that the simulation says, at each step of a fall."""
    model = shipped.load(name)
    links = [link for link, placed in zip(model.link_names, model.assembly.links)
             if placed.collisions]
    assert set(links) == {shape.rsplit('::', 1)[0] for shape in model.shape_names}
    sim = spr.Simulation(model, contact_sensors={
        link: dataclasses.replace(WHOLE_LINK, link=link) for link in links})
    rng = np.random.default_rng(0)
    sim.qd[:] = 0.3 * rng.normal(size=model.nv)
    largest = 0.0
    for _ in range(150):
        T_WL = spr.link_poses(model, sim.q)
        sim.step()
        moved = spr.link_poses(model, sim.q)
        for k, wrench in enumerate(sim.contact_wrenches):
            if model.link_names[k] not in links:
                assert not wrench.any()
                continue
            reading, R = sim.sensors[model.link_names[k]].reading, T_WL[k, :3, :3]
            torque = wrench[:3] + np.cross(moved[k, :3, 3] - T_WL[k, :3, 3], wrench[3:])
            size = 1.0 + np.abs(wrench).max()
            np.testing.assert_allclose(R @ reading.force, wrench[3:], atol=1e-10 * size)
            np.testing.assert_allclose(R @ reading.torque, torque, atol=1e-10 * size)
            largest = max(largest, size)
    assert largest > 5.0


def test_near_miss_is_counted_and_measured():
    sim = spr.Simulation(block(high=(0, WHOLE), beside=(0, patch(0.053, -0.06, 0.06, 0.06))))
    sensor = sim.sensors['high']
    pose = sensor.settings.pose.copy()
    pose[2, 3] += 0.0025  # inside the skin: contacts are 2.5 mm above the patch, 1 mm is allowed
    sensor.settings = dataclasses.replace(sensor.settings, pose=pose)
    sim.step(n=300)
    reading = sensor.reading
    assert (reading.seen, reading.counted, reading.rejected_by_tolerance) == (4, 0, 4)
    np.testing.assert_allclose(reading.nearest_miss, [0, 0, 0.0015], atol=1e-7)
    assert not reading.contact and not reading.force.any()
    assert sensor.complaint == ('link touches 4 contacts, none within the patch; nearest misses '
                                'by 1.5 mm in z')
    beside = sim.sensors['beside'].reading
    assert (beside.counted, beside.rejected_by_patch, beside.rejected_by_tolerance) == (0, 4, 0)
    np.testing.assert_allclose(beside.nearest_miss, [-0.003, 0, 0], atol=1e-6)
    assert sim.sensors['beside'].complaint.endswith('nearest misses by 3 mm in x')
