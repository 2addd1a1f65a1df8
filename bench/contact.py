"""
Steps with contact beside MuJoCo's: at rest, standing, trotting, landing, in heaps, apart.

Exits with 1 if one takes longer than it may.
"""
import sys
from typing import NamedTuple

import mujoco
import numba
import numpy as np

from side_by_side.bodies import positions
from side_by_side.clock import minima, print_machine, print_table, stay_on_one_core
from side_by_side.robots import (
    apart, box_on_ground, hopper_on_ground, humanoid_on_ground, pile, quadruped_on_springs)
from side_by_side.twins import mujoco_model, put_state, WXYZ
import spr_dynamics as spr

DT = 1e-3  # [s]
SETTLING = 5000  # [steps]
DROP, FALLING, LANDING = 0.05, 80, 300  # [m], [steps], [steps]
STRIDE, STRIDES, HELD = 400, 2, 10  # [steps] of the trot; how long efforts are held
COUNTED = 50  # steps over which contacts and iterations are counted
CONES = {'mj_step, pyramid': mujoco.mjtCone.mjCONE_PYRAMIDAL,
         'mj_step, elliptic cone': mujoco.mjtCone.mjCONE_ELLIPTIC}
FALL_AGREES = 1e-3  # [m] and [rad]; our springs are implicit, MuJoCo's are not
ALARM = 1.2  # times as long as MuJoCo's step
GROWTH_ALARM = 1.5  # times as long a contact of many things apart as of a few: what leaves the
# second cache makes 1.1 to 1.2 here, a look at all pairs 1.75
APART = 10, 50, 200, 400  # things, each a metre from the next
WEIGHT_AGREES = 0.01  # relative; soft contacts creep, so that no engine is ever quite at rest


class Twins(NamedTuple):
    """The same scene in each engine."""

    model: spr.Model
    ours: spr.Simulation
    theirs: dict
    """Model and data of MuJoCo's, by name."""

    def steps(self, n=1, tau=None):
        """Return calls that take n steps in one, by engine."""
        calls = {'spr_dynamics': lambda: self.ours.step(tau, n)}
        for name, (model, data) in self.theirs.items():
            calls[name] = lambda m=model, d=data: mujoco.mj_step(m, d, n)
        return calls

    def counts(self):
        """Return contacts and iterations of a step, means of the next ones, by engine."""
        seen = {name: np.zeros(2) for name in ('spr_dynamics', *self.theirs)}
        for _ in range(COUNTED):
            for call in self.steps().values():
                call()
            counters = self.ours.counters
            seen['spr_dynamics'] += counters.contacts, counters.iterations
            for name, (_, data) in self.theirs.items():
                islands = max(1, data.nisland)
                seen[name] += data.ncon, data.solver_niter[:islands].max()
        return {name: sums / COUNTED for name, sums in seen.items()}


def twins(model, q=None):
    """Put a model at rest, at q or where its file has it, in all engines."""
    q = model.neutral_q() if q is None else q
    ours = spr.Simulation(model, dt=DT, contact_sensors={})
    ours.set_home(q)
    theirs = {}
    for name, cone in CONES.items():
        their_model = mujoco_model(model, DT, cone=cone, has_limits=True)
        data = mujoco.MjData(their_model)
        put_state(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
        theirs[name] = their_model, data
    return Twins(model, ours, theirs)


def at_rest(model, q=None, n=1):
    """Time a step of what has come to rest, as one of n in a call."""
    scene = twins(model, q)
    for call in scene.steps(SETTLING).values():
        call()
    assert_stands(model, 'spr_dynamics', scene.ours.contact_wrenches[:, 3:][moving(model)].sum(0))
    for name, (_, data) in scene.theirs.items():
        assert_stands(model, name, sum(
            data.qfrc_constraint[k:k + 3] for k in their_roots(data.model)))
    return minima(scene.steps(n), each=n), scene.counts()


def moving(model):
    """Return the links that are no part of the world."""
    return model.links['body'] > 0


def their_roots(model):
    """Return where in qvel each free root of MuJoCo's begins."""
    return model.jnt_dofadr[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]


def assert_stands(model, name, force):
    """Stop unless the ground carries the weight."""
    weight = model.tree['inertia'][1:, 0].sum() * -model.gravity
    assert np.abs(force - weight).max() < WEIGHT_AGREES * weight[2], f'{name}: {force} N'


def landing(model):
    """Time a drop and what follows, in one call, by the step."""
    q = model.neutral_q()
    q[2] += DROP
    scene = twins(model, q)
    for name, call in scene.steps(FALLING).items():
        call()
        if name in scene.theirs:
            difference = np.abs(positions(model, scene.ours.q, WXYZ)
                                - scene.theirs[name][1].qpos).max()
            assert difference < FALL_AGREES, f'{name}: {difference:.1e} apart after the fall'
    return from_here(scene, [None], LANDING)


def falling_in_a_heap(model):
    """Time the fall of many things onto each other, in one call, by the step."""
    return from_here(twins(model), [None], 2 * LANDING)


def trotting(model):
    """Time a trot on the spot, whose efforts shift the springs' targets, by the step."""
    scene = twins(model)
    for call in scene.steps(SETTLING).values():
        call()
    efforts = []
    for k in range(0, STRIDE * STRIDES, HELD):
        lift = np.sin(2.0 * np.pi * k / STRIDE)
        tau = np.zeros(model.nv)
        for leg, is_diagonal in enumerate((True, False, False, True)):
            raised = max(0.0, lift if is_diagonal else -lift)
            tau[6 + 3 * leg:9 + 3 * leg] = 0.0, 150.0 * 0.3 * raised, -150.0 * 0.6 * raised
        efforts.append(tau)
    return from_here(scene, efforts, HELD)


def from_here(scene, efforts, n):
    """Time steps that begin again and again from one state: n with each of some efforts."""
    start = scene.ours.save()

    def run():
        scene.ours.restore(start)
        for tau in efforts:
            scene.ours.step(tau, n)

    calls = {'spr_dynamics': run}
    for name, (model, data) in scene.theirs.items():
        calls[name] = their_run(scene.model, model, data, efforts, n)
    times = minima(calls, each=n * len(efforts))
    for call in calls.values():
        call()
    return times, scene.counts()


def their_run(ours, model, data, efforts, n):
    """Return the same run of MuJoCo's; joints come in another order there."""
    what = mujoco.mjtState.mjSTATE_INTEGRATION
    start = np.zeros(mujoco.mj_stateSize(model, what))
    mujoco.mj_getState(model, data, start, what)
    forces = [np.zeros(model.nv) if tau is None else tau[ours.order] for tau in efforts]

    def run():
        mujoco.mj_setState(model, data, start, what)
        for force in forces:
            data.qfrc_applied = force
            mujoco.mj_step(model, data, n)

    return run


def lying(model):
    """Return positions of the humanoid on its back, just above the ground."""
    q = model.neutral_q()
    q[2:7] = 0.12, np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0
    return q


def print_counts(counts):
    """Print Markdown: contacts and iterations of each scene in each engine."""
    engines = list(next(iter(counts.values())))
    print('\n| contacts, iterations | ' + ' | '.join(engines) + ' |')
    print('| --- |' + ' ---: |' * len(engines))
    for scene, seen in counts.items():
        cells = [f'{contacts:.1f}, {iterations:.1f}' for contacts, iterations in seen.values()]
        print(f'| {scene} | {" | ".join(cells)} |', flush=True)


def cost_of_a_contact(times, counts):
    """Return what a step takes for each of its contacts [us]."""
    return times['spr_dynamics'] / counts['spr_dynamics'][0]


def print_growth(costs):
    """
    Print how the cost of a contact grows with the number of things apart.

    :param costs: Of a contact [us], by that number.
    """
    few = min(costs)
    print(f'\nThings apart, a contact: {1e3 * costs[few]:.0f} ns of {few} boxes, ' + ', '.join(
        f'{1e3 * cost:.0f} ns of {n} ({cost / costs[few]:.2f} times as much)'
        for n, cost in costs.items() if n != few) + '.', flush=True)


def alarms(scenes, costs):
    """Say what takes longer than it may, a line each."""
    for name, (times, _) in scenes.items():
        ratio = times['spr_dynamics'] / min(times[other] for other in CONES)
        if ratio > ALARM:
            yield f"{name}: {ratio:.2f} times as long as MuJoCo's, {ALARM} allowed"
    for n, cost in costs.items():
        growth = cost / costs[min(costs)]
        if growth > GROWTH_ALARM:
            yield f'{n} boxes apart: {growth:.2f} times as long a contact, {GROWTH_ALARM} allowed'


def main():
    stay_on_one_core()
    box, hopper, quadruped = box_on_ground(), hopper_on_ground(), quadruped_on_springs()
    humanoid = humanoid_on_ground()
    scenes = {
        'box at rest': at_rest(box),
        'box at rest, ten in a call': at_rest(box, n=10),
        'hopper standing': at_rest(hopper),
        'hopper standing, ten in a call': at_rest(hopper, n=10),
        'quadruped standing': at_rest(quadruped),
        f'quadruped trotting, mean of {STRIDE * STRIDES}': trotting(quadruped),
        'humanoid lying': at_rest(humanoid, lying(humanoid)),
        'heap of 10 boxes': at_rest(pile(10)),
        'heap of 50 boxes': at_rest(pile(50)),
        **{f'{n} boxes apart': at_rest(apart(n)) for n in APART},
        f'box landing from {100 * DROP:.0f} cm, mean of {LANDING}': landing(box),
        f'hopper landing from {100 * DROP:.0f} cm, mean of {LANDING}': landing(hopper),
        f'10 boxes falling in a heap, mean of {2 * LANDING}': falling_in_a_heap(pile(10)),
    }
    print_machine(np, numba, mujoco)
    print_table('A step with contact, 1 ms', {name: times for name, (times, _) in scenes.items()})
    print_counts({name: counts for name, (_, counts) in scenes.items()})
    costs = {n: cost_of_a_contact(*scenes[f'{n} boxes apart']) for n in APART}
    print_growth(costs)
    problems = list(alarms(scenes, costs))
    print(*problems, sep='\n', end='\n' * bool(problems), file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
