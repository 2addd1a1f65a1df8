"""Forward and inverse dynamics, mass matrix and free steps, beside Pinocchio, MuJoCo and DART."""
import dataclasses
import functools
import math

import dartpy
import mujoco
import numba
import numpy as np
import pinocchio as pin

from side_by_side.clock import minima, print_machine, print_table, stay_on_one_core
from side_by_side.robots import chain, robots
from side_by_side.twins import (
    dart_order, dart_positions, dart_world, DartTwin, mujoco_model, MujocoTwin, PinocchioTwin,
    put_state)
import spr_dynamics as spr
from spr_dynamics.model.model import frozen
from spr_dynamics.model.records import FOLLOWER

AGREEMENT = 1e-9  # relative; engines that differ by more have not computed the same
LONG_AGREEMENT = 1e-6  # of a chain of 1000: MuJoCo's accelerations lose digits on it
LONG = 300  # [dof] beyond this Pinocchio's data, 4 nv^3 numbers, fill the memory
SLOW = 50  # [dof] beyond this DART takes a third of a second for a mass matrix
WORLD = pin.Convention.WORLD
TINY_DT = 1e-6  # [s] undamped arms stay near their state, and schemes of one order agree
CHAINS = 10, 100, 1000
MIMICKING = 'arm7, 7 dof', 'humanoid, 35 dof', 'chain of 100'
NOTHING = "<sdf version='1.12'><world name='w'/></sdf>"


def random_state(model):
    """Draw positions, velocities, forces and accelerations."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, model.nq)
    for root in model.free_roots:
        q[root.q + 3:root.q + 7] /= np.linalg.norm(q[root.q + 3:root.q + 7])
    return (q, *rng.normal(size=(3, model.nv)))


def assert_agree(what, ours, theirs, tolerance=AGREEMENT):
    """Stop if two engines give different results."""
    for a, b in zip(ours, theirs):
        difference = np.abs(a - b).max() / np.abs(a).max()
        assert difference < tolerance, f'{what}: relative difference {difference:.1e}'


def time_dynamics(name, model):
    """Time accelerations, joint forces and mass matrix at one state."""
    q, qd, tau, qdd = state = random_state(model)
    mj, dart = MujocoTwin(model, *state), DartTwin(model, *state)
    results = (spr.forward_dynamics(model, q, qd, tau),
               spr.inverse_dynamics(model, q, qd, qdd), spr.mass_matrix(model, q))
    assert_agree(f'{name}, MuJoCo', results, mj.results(),
                 LONG_AGREEMENT if model.nv > LONG else AGREEMENT)
    assert_agree(f'{name}, DART', results, dart.results())
    mj_model, mj_data = mj.model, mj.data
    f, M = np.empty(model.nv), np.empty((model.nv, model.nv))
    forward = {'spr_dynamics': lambda: spr.forward_dynamics(model, q, qd, tau, out=f),
               'mj_forward': lambda: mujoco.mj_forward(mj_model, mj_data),
               'dart': dart.accelerations}
    inverse = {'spr_dynamics': lambda: spr.inverse_dynamics(model, q, qd, qdd, out=f),
               'mj_inverse': lambda: mujoco.mj_inverse(mj_model, mj_data),
               'mj_rne and its stages': mj.forces, 'dart': dart.forces}
    masses = {'spr_dynamics': lambda: spr.mass_matrix(model, q, out=M),
              'mj_crb and its stages': mj.masses}
    if model.nv <= SLOW:
        masses['dart'] = dart.masses
    if model.nv <= LONG:
        add_pinocchio(name, model, state, results, forward, inverse, masses)
    return minima(forward), minima(inverse), minima(masses)


def add_pinocchio(name, model, state, results, forward, inverse, masses):
    """Add Pinocchio's calls."""
    twin = PinocchioTwin(model, *state)
    assert_agree(f'{name}, Pinocchio', results, twin.results())
    theirs, data, q, qd, tau, qdd = twin.model, twin.data, twin.q, twin.qd, twin.tau, twin.qdd
    forward['pin.aba LOCAL'] = lambda: pin.aba(theirs, data, q, qd, tau)
    forward['pin.aba WORLD'] = lambda: pin.aba(theirs, data, q, qd, tau, WORLD)
    inverse['pin.rnea'] = lambda: pin.rnea(theirs, data, q, qd, qdd)
    masses['pin.crba LOCAL'] = lambda: pin.crba(theirs, data, q)
    masses['pin.crba WORLD'] = lambda: pin.crba(theirs, data, q, WORLD)


def time_steps(name, model):
    """Time a step, alone and as one of ten in a call."""
    q, qd, tau, qdd = state = random_state(model)
    order = dart_order(model)
    simulation, theirs, data = pair(model, state, TINY_DT)
    world, skeleton = dart_world(model, TINY_DT, q, qd)
    skeleton.setForces(tau[order])
    simulation.step(tau)
    mujoco.mj_step(theirs, data)
    world.step(False)  # keeps the forces
    after = MujocoTwin(model, simulation.q, simulation.qd, tau, qdd).data
    assert_agree(f'{name}, a step of MuJoCo', (after.qpos, after.qvel), (data.qpos, data.qvel))
    assert_agree(f'{name}, a step of DART',
                 (dart_positions(model, simulation.q), simulation.qd[order]),
                 (skeleton.getPositions(), skeleton.getVelocities()))
    simulation, theirs, data = pair(model, state, TINY_DT)
    return (
        minima({'spr_dynamics': lambda: simulation.step(tau),
                'mj_step': lambda: mujoco.mj_step(theirs, data),
                'dart': lambda: world.step(False)}),
        minima({'spr_dynamics': lambda: simulation.step(tau, 10),
                'mj_step': lambda: mujoco.mj_step(theirs, data, 10)}, each=10))


def pair(model, state, dt):
    """Start both simulations from one state, with the same dampers and springs, and no limits."""
    q, qd, tau, _ = state
    free = dataclasses.replace(model, dofs=tuple(
        dof._replace(lower=-np.inf, upper=np.inf, velocity_limit=np.inf, friction=0.0)
        for dof in model.dofs))
    simulation = spr.Simulation(free, dt=dt, contact_sensors={})
    simulation.q[:], simulation.qd[:] = q, qd
    theirs = mujoco_model(model, dt)
    data = mujoco.MjData(theirs)
    put_state(model, data, q, qd, tau)
    return simulation, theirs, data


def print_times(title, rows):
    """Print a table; an engine that did not take part with a robot has an infinite time there."""
    engines = list(next(iter(rows.values())))
    print_table(title, {name: {engine: times.get(engine, math.inf) for engine in engines}
                        for name, times in rows.items()})


def print_cost_of_a_link(times):
    """Print what a link adds to forward dynamics, less the call of a model without any."""
    model, none = spr.load(text=NOTHING), np.zeros(0)
    empty = minima({'call': lambda: spr.forward_dynamics(model, none, none, none, out=none)})
    costs = [1e3 * (times[f'chain of {n}'][0]['spr_dynamics'] - empty['call']) / n for n in CHAINS]
    listed = ', '.join(f'{cost:.0f} ns in a chain of {n}' for n, cost in zip(CHAINS, costs))
    print(f'\nForward dynamics, a link: {listed}, less {empty["call"]:.2f} us of a call for a '
          f'model without links; largest over smallest {max(costs) / min(costs):.2f}.')


def with_mimic(model):
    """Return a model whose last axis follows its first."""
    first, *_, last = model.axes
    follower = np.array([(last.q, last.v, first.q, first.v, 0.5, 0.0)], FOLLOWER)
    return dataclasses.replace(model, followers=frozen(follower))


def print_cost_of_a_mimic(models):
    """Print what it adds to forward dynamics that the last axis of a robot follows its first."""
    times = {}
    for name in MIMICKING:
        calls = {}
        for what, model in ('none', models[name]), ('one', with_mimic(models[name])):
            q, qd, tau, _ = random_state(model)
            f = np.empty(model.nv)
            calls[what] = functools.partial(spr.forward_dynamics, model, q, qd, tau, out=f)
        times[name] = minima(calls)
    print('\n### Forward dynamics, mimics\n\n| us | none | one mimic | times |\n'
          '| --- | ---: | ---: | ---: |')
    for name, time in times.items():
        print(f'| {name} | {time["none"]:.2f} | {time["one"]:.2f} | '
              f'**{time["one"] / time["none"]:.2f}** |', flush=True)


def main():
    stay_on_one_core()
    models = {**robots(), 'chain of 1000': spr.load(text=chain(1000))}
    times = {name: (*time_dynamics(name, model), *time_steps(name, model))
             for name, model in models.items()}
    print_machine(np, numba, pin, mujoco, dartpy)
    titles = ('Forward dynamics', 'Inverse dynamics', 'Mass matrix', 'A step without contact',
              'A step without contact, ten in a call')
    for k, title in enumerate(titles):
        print_times(title, {name: row[k] for name, row in times.items()})
    print_cost_of_a_link(times)
    print_cost_of_a_mimic(models)


if __name__ == '__main__':
    main()
