"""What a sensor adds to a step of the compiled loop: a robot at rest on four points, by kind."""
import dataclasses
from pathlib import Path

import numba
import numpy as np

from side_by_side.clock import minima, print_machine, stay_on_one_core
import spr_dynamics as spr
from spr_dynamics.sensors.contact import ContactSensorSettings

DT = 1e-3  # [s]
SETTLING = 2000  # [steps]
EACH = 200  # steps in a call
SENSORS = 10  # of one kind in a run, so that the cost of one stands above the noise
ALLOWED = 2.0  # [us] a sensor and step

PLAIN = ContactSensorSettings(link='foot', collisions=('sole',), patch_tolerance=np.inf)
PATCH = dataclasses.replace(PLAIN, patch_min=[-0.2, -0.2], patch_max=[0.2, 0.2])
KINDS = {
    'sample each step': PLAIN,
    'sample at 100 Hz': dataclasses.replace(PLAIN, rate=100.0),
    'mean at 100 Hz': dataclasses.replace(PLAIN, rate=100.0, measure='mean'),
    'peak at 100 Hz': dataclasses.replace(PLAIN, rate=100.0, measure='peak'),
    'noise on three axes': dataclasses.replace(PLAIN, force_variance=[1.0, 1.0, 1.0]),
    'falloff at the edges': dataclasses.replace(PATCH, falloff_mode='edge',
                                                falloff_coefficient=0.5),
    '8 x 8 taxels': dataclasses.replace(PATCH, taxels=(8, 8)),
    'off': dataclasses.replace(PLAIN, enabled=False),
}


NOISE = ("<noise type='gaussian'><stddev>1</stddev><dynamic_bias_stddev>1</dynamic_bias_stddev>"
         '<dynamic_bias_correlation_time>60</dynamic_bias_correlation_time></noise>')
NOISY = ''.join(f'<{what}>' + ''.join(f'<{axis}>{NOISE}</{axis}>' for axis in 'xyz') + f'</{what}>'
                for what in ('angular_velocity', 'linear_acceleration'))
# Elements by kind; the first of each table is there because some work is shared by all.
IN_LINK = {
    'first IMU': (1, "<sensor name='{}' type='imu'/>"),
    'each more': (SENSORS, "<sensor name='{}' type='imu'/>"),
    'each more, noise and drift': (
        SENSORS, f"<sensor name='{{}}' type='imu'><imu>{NOISY}</imu></sensor>"),
    'each more, at 100 Hz': (
        SENSORS, "<sensor name='{}' type='imu'><update_rate>100</update_rate></sensor>"),
}
IN_JOINT = {
    'first force-torque sensor': (1, "<sensor name='{}' type='force_torque'/>"),
    'each more': (SENSORS, "<sensor name='{}' type='force_torque'/>"),
    'each more, at 100 Hz': (
        SENSORS, "<sensor name='{}' type='force_torque'><update_rate>100</update_rate></sensor>"),
}


def with_elements(text, end, element, count):
    """Return the hopper at rest, with elements before the first of some end tags."""
    sensors = ''.join(element.format(f's{k}') for k in range(count))
    sim = spr.Simulation(spr.load(text=text.replace(end, sensors + end, 1), world='ground'),
                         dt=DT, contact_sensors={})
    sim.step(n=SETTLING)
    return sim


def print_costs(text, end, kinds):
    """Print what sensors add that a file declares before an end tag."""
    sims = {'none': with_elements(text, end, '', 0)} | {
        kind: with_elements(text, end, element, count)
        for kind, (count, element) in kinds.items()}
    times = minima({kind: lambda sim=sim: sim.step(n=EACH) for kind, sim in sims.items()}, EACH)
    first, *_ = kinds
    print(f'\n| {first} adds | {times[first] - times["none"]:.3f} us |\n| --- | ---: |')
    for kind, (count, _) in kinds.items():
        if kind != first:
            print(f'| {kind} | {(times[kind] - times["none"]) / count:.3f} us |', flush=True)


def standing(model, settings, count):
    """Return the hopper at rest, with some sensors of a kind."""
    sim = spr.Simulation(model, dt=DT, contact_sensors={
        f'{k}': settings for k in range(count)})
    sim.step(n=SETTLING)
    return sim


def main():
    """Print a table."""
    stay_on_one_core()
    print_machine(np, numba)
    model = spr.load('models/hopper.sdf', world='ground')
    sims = {'none': standing(model, PLAIN, 0)} | {
        kind: standing(model, settings, SENSORS) for kind, settings in KINDS.items()}
    times = minima({kind: lambda sim=sim: sim.step(n=EACH) for kind, sim in sims.items()}, EACH)
    print(f'\nA step without sensors: {times["none"]:.2f} us, on {len(sims["none"].contacts)} '
          'contacts\n\n| a contact sensor adds | us a step |\n| --- | ---: |')
    costs = {kind: (times[kind] - times['none']) / SENSORS for kind in KINDS}
    for kind, cost in costs.items():
        print(f'| {kind} | {cost:.3f} |')
    dearest = max(costs, key=costs.__getitem__)
    print(f'\nAllowed: {ALLOWED:g} us; dearest: {dearest}, {costs[dearest]:.3f} us.')
    text = Path('models/hopper.sdf').read_text(encoding='utf-8')
    print_costs(text, '</link>', IN_LINK)
    print_costs(text, '</joint>', IN_JOINT)


if __name__ == '__main__':
    main()
