"""The robots that ship, and controllers that hold some of them where their files pose them."""
import numpy as np

import needs
import spr_dynamics as spr

MODELS = needs.REPOSITORY / 'models'

# [N m/rad] and [N m s/rad], as the comments of the files say.
GAINS = {
    'quadruped': (np.full(12, 150.0), np.full(12, 3.0)),
    'humanoid': (np.array(3 * [800.0] + 6 * [60.0] + 2 * (4 * [800.0] + 2 * [300.0])),
                 np.zeros(21)),
}


def load(name):
    """Load a shipped model, on the ground if nothing holds it."""
    return spr.load(MODELS / f'{name}.sdf', world='auto')


def hold(sim, n=1):
    """Step with the efforts that draw a free robot's joints to zero."""
    stiffness, damping = GAINS[sim.model.name]
    tau = np.zeros(sim.model.nv)
    for _ in range(n):
        tau[6:] = -stiffness * sim.q[7:] - damping * sim.qd[6:]
        sim.step(tau)


def weight(model):
    """Return what the ground has to carry [N]."""
    return -model.gravity[2] * model.tree['inertia'][1:, 0].sum()
