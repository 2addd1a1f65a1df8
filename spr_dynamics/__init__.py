"""
Articulated-body simulation of SDF robots, as a Python library and as a ROS 2 node.

Names are imported on first use, so that tools which need no compiled kernels start fast.
"""
import importlib

_HOME = {
    'ContactSensorSettings': 'spr_dynamics.sensors.contact',
    'Model': 'spr_dynamics.model.model',
    'Simulation': 'spr_dynamics.simulation.simulation',
    'SolverOptions': 'spr_dynamics.contact.records',
    'SprDynamicsError': 'spr_dynamics.errors',
    'closed_positions': 'spr_dynamics.dynamics.loops',
    'energy': 'spr_dynamics.dynamics.energy',
    'forward_dynamics': 'spr_dynamics.dynamics.forward',
    'inverse_dynamics': 'spr_dynamics.dynamics.rnea',
    'jacobian': 'spr_dynamics.dynamics.jacobian',
    'joint_wrenches': 'spr_dynamics.dynamics.wrenches',
    'link_accelerations': 'spr_dynamics.dynamics.links',
    'link_poses': 'spr_dynamics.dynamics.kinematics',
    'link_response': 'spr_dynamics.dynamics.response',
    'link_velocities': 'spr_dynamics.dynamics.links',
    'load': 'spr_dynamics.model.load',
    'loop_gaps': 'spr_dynamics.dynamics.loops',
    'mass_matrix': 'spr_dynamics.dynamics.crba',
    'momentum': 'spr_dynamics.dynamics.momentum',
    'passive_forces': 'spr_dynamics.dynamics.passive',
    'torque_terms': 'spr_dynamics.dynamics.terms',
}

__all__ = sorted(_HOME)
__version__ = '0.1.0'


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value  # found directly from now on: calls are counted in microseconds


def __dir__():
    return sorted({*globals(), *__all__})
