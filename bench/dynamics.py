"""Forward and inverse dynamics, mass matrix and free steps, beside Pinocchio and MuJoCo."""
import mujoco
import numba
import numpy as np
import pinocchio as pin

from side_by_side.clock import minima, print_machine, print_table, stay_on_one_core
from side_by_side.robots import robots
from side_by_side.twins import mujoco_model, MujocoTwin, PinocchioTwin, put_state
import spr_dynamics as spr

AGREEMENT = 1e-9  # relative; engines that differ by more have not computed the same
WORLD = pin.Convention.WORLD
TINY_DT = 1e-6  # [s] undamped arms stay near their state, and schemes of one order agree


def random_state(model):
    """Draw positions, velocities, forces and accelerations."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, model.nq)
    for root in model.free_roots:
        q[root.q + 3:root.q + 7] /= np.linalg.norm(q[root.q + 3:root.q + 7])
    return (q, *rng.normal(size=(3, model.nv)))


def assert_agree(what, ours, theirs):
    """Stop if two engines give different results."""
    for a, b in zip(ours, theirs):
        difference = np.abs(a - b).max() / np.abs(a).max()
        assert difference < AGREEMENT, f'{what}: relative difference {difference:.1e}'


def time_dynamics(name, model):
    """Time accelerations, joint forces and mass matrix at one state."""
    q, qd, tau, qdd = state = random_state(model)
    twin, mj = PinocchioTwin(model, *state), MujocoTwin(model, *state)
    results = (spr.forward_dynamics(model, q, qd, tau),
               spr.inverse_dynamics(model, q, qd, qdd), spr.mass_matrix(model, q))
    assert_agree(f'{name}, Pinocchio', results, twin.results())
    assert_agree(f'{name}, MuJoCo', results, mj.results())
    theirs, data, q_p, qd_p = twin.model, twin.data, twin.q, twin.qd
    tau_p, qdd_p, mj_model, mj_data = twin.tau, twin.qdd, mj.model, mj.data
    f, M = np.empty(model.nv), np.empty((model.nv, model.nv))
    return (
        minima({
            'spr_dynamics': lambda: spr.forward_dynamics(model, q, qd, tau, out=f),
            'pin.aba LOCAL': lambda: pin.aba(theirs, data, q_p, qd_p, tau_p),
            'pin.aba WORLD': lambda: pin.aba(theirs, data, q_p, qd_p, tau_p, WORLD),
            'mj_forward': lambda: mujoco.mj_forward(mj_model, mj_data)}),
        minima({
            'spr_dynamics': lambda: spr.inverse_dynamics(model, q, qd, qdd, out=f),
            'pin.rnea': lambda: pin.rnea(theirs, data, q_p, qd_p, qdd_p),
            'mj_inverse': lambda: mujoco.mj_inverse(mj_model, mj_data),
            'mj_rne and its stages': mj.forces}),
        minima({
            'spr_dynamics': lambda: spr.mass_matrix(model, q, out=M),
            'pin.crba LOCAL': lambda: pin.crba(theirs, data, q_p),
            'pin.crba WORLD': lambda: pin.crba(theirs, data, q_p, WORLD),
            'mj_crb and its stages': mj.masses}))


def time_steps(name, model):
    """Time a step, alone and as one of ten in a call."""
    state = random_state(model)
    simulation, theirs, data = pair(model, state, TINY_DT)
    simulation.step(state[2])
    mujoco.mj_step(theirs, data)
    after = MujocoTwin(model, simulation.q, simulation.qd, *state[2:]).data
    assert_agree(f'{name}, a step', (after.qpos, after.qvel), (data.qpos, data.qvel))
    simulation, theirs, data = pair(model, state, TINY_DT)
    tau = state[2]
    return (
        minima({'spr_dynamics': lambda: simulation.step(tau),
                'mj_step': lambda: mujoco.mj_step(theirs, data)}),
        minima({'spr_dynamics': lambda: simulation.step(tau, 10),
                'mj_step': lambda: mujoco.mj_step(theirs, data, 10)}, each=10))


def pair(model, state, dt):
    """Start both simulations from one state, with the same dampers and springs."""
    q, qd, tau, _ = state
    simulation = spr.Simulation(model, dt=dt, contact_sensors={})
    simulation.q[:], simulation.qd[:] = q, qd
    theirs = mujoco_model(model, dt)
    data = mujoco.MjData(theirs)
    put_state(model, data, q, qd, tau)
    return simulation, theirs, data


def main():
    stay_on_one_core()
    times = {name: (*time_dynamics(name, model), *time_steps(name, model))
             for name, model in robots().items()}
    print_machine(np, numba, pin, mujoco)
    titles = ('Forward dynamics', 'Inverse dynamics', 'Mass matrix', 'A step without contact',
              'A step without contact, ten in a call')
    for k, title in enumerate(titles):
        print_table(title, {name: row[k] for name, row in times.items()})


if __name__ == '__main__':
    main()
