"""Steps with contact beside MuJoCo's: at rest, standing, and landing."""
import mujoco
import numba
import numpy as np

from side_by_side.bodies import positions
from side_by_side.clock import minima, print_machine, print_table, stay_on_one_core
from side_by_side.robots import box_on_ground, hopper_on_ground
from side_by_side.twins import mujoco_model, put_state, WXYZ
import spr_dynamics as spr

DT = 1e-3  # [s]
SETTLING = 5000  # [steps]
DROP, FALLING, LANDING = 0.05, 80, 300  # [m], [steps], [steps]
CONES = {'mj_step, pyramid': mujoco.mjtCone.mjCONE_PYRAMIDAL,
         'mj_step, elliptic cone': mujoco.mjtCone.mjCONE_ELLIPTIC}
FALL_AGREES = 1e-3  # [m] and [rad]; our springs are implicit, MuJoCo's are not
WEIGHT_AGREES = 1e-3  # relative; soft contacts creep, so that no engine is ever quite at rest


def simulations(model, q):
    """Start our simulation, and MuJoCo's for each of its friction cones, at rest at q."""
    ours = spr.Simulation(model, dt=DT, contact_sensors={})
    ours.set_home(q)
    theirs = {}
    for name, cone in CONES.items():
        their_model = mujoco_model(model, DT, cone=cone)
        data = mujoco.MjData(their_model)
        put_state(model, data, q, np.zeros(model.nv), np.zeros(model.nv))
        theirs[name] = their_model, data
    return ours, theirs


def time_standing(model, n=1):
    """Time a step of what has come to rest on four points, as one of n in a call."""
    ours, theirs = simulations(model, model.neutral_q())
    ours.step(n=SETTLING)
    assert_stands(model, ours.contacts['force'].sum(axis=0))
    calls = {'spr_dynamics': lambda: ours.step(n=n)}
    for name, (their_model, data) in theirs.items():
        mujoco.mj_step(their_model, data, SETTLING)
        assert data.ncon == len(ours.contacts), f'{name}: {data.ncon} contacts'
        assert_stands(model, data.qfrc_constraint[:3])
        calls[name] = lambda m=their_model, d=data: mujoco.mj_step(m, d, n)
    return minima(calls, each=n)


def assert_stands(model, force):
    """Stop unless the ground carries the weight."""
    weight = model.tree['inertia'][1:, 0].sum() * -model.gravity
    assert np.abs(force - weight).max() < WEIGHT_AGREES * weight[2], f'{force} N on the ground'


def time_landing(model):
    """Time a drop and what follows, in one call, by the step."""
    q = model.neutral_q()
    q[2] += DROP
    ours, theirs = simulations(model, q)
    ours.step(n=FALLING)
    for name, (their_model, data) in theirs.items():
        mujoco.mj_step(their_model, data, FALLING)
        difference = np.abs(positions(model, ours.q, WXYZ) - data.qpos).max()
        assert difference < FALL_AGREES, f'{name}: {difference:.1e} apart after the fall'

    def land():
        ours.reset()
        ours.step(n=LANDING)

    def their_land(their_model, data):
        mujoco.mj_resetData(their_model, data)
        data.qpos[:7] = q[:7]  # their hinges are at zero after a reset, as are ours
        mujoco.mj_step(their_model, data, LANDING)

    calls = {'spr_dynamics': land}
    for name, (their_model, data) in theirs.items():
        calls[name] = lambda m=their_model, d=data: their_land(m, d)
    return minima(calls, each=LANDING)


def main():
    stay_on_one_core()
    box, hopper = box_on_ground(), hopper_on_ground()
    rows = {'box at rest, 4 contacts': time_standing(box),
            'box at rest, ten in a call': time_standing(box, 10),
            'hopper standing, 4 contacts': time_standing(hopper),
            'hopper standing, ten in a call': time_standing(hopper, 10),
            f'box landing from {100 * DROP:.0f} cm, mean of {LANDING}': time_landing(box),
            f'hopper landing from {100 * DROP:.0f} cm, mean of {LANDING}': time_landing(hopper)}
    print_machine(np, numba, mujoco)
    print_table('A step with contact, 1 ms', rows)


if __name__ == '__main__':
    main()
