"""Joints that close kinematic loops: what they hold together, a row for each direction."""
import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.records import TIE
from spr_dynamics.model.topology import axis_on_z, where, WORLD

# For each type, along which axes of the joint's frame the two sides can't part, and which axes of
# the parent's side and of the child's keep their angle. The joint's (first) axis is on z.
HELD = {
    **dict.fromkeys(('revolute', 'continuous'), ('xyz', ('xz', 'yz'))),
    'prismatic': ('xy', ('xz', 'yz', 'xy')),
    **dict.fromkeys(('universal', 'revolute2'), ('xyz', ('z2',))),
    'ball': ('xyz', ()),
}


def tie_records(assembly, bodies, numbers, group, closures):
    """
    Write a ``TIE`` record for each direction in which a closing joint holds.

    :param numbers: Index of the body of each group of links.
    :param closures: The joints.
    :raises ModelError: If a joint is of a type that can't close a loop.
    """
    ties, problems = [], []
    for number, joint in enumerate(closures):
        if joint.element.type not in HELD or joint.mimics:
            problems.append(f"{where(joint.element)}: joint '{joint.name}' of type "
                            f"'{joint.element.type}' closes a loop, which is not simulated yet "
                            f'(simulated, without mimic: {", ".join(HELD)})')
            continue
        a = 0 if joint.parent == WORLD else numbers[group[joint.parent]]
        b = numbers[group[joint.child]]
        ties += [(number, a, b, *tie) for tie in ties_of(joint, bodies[a].T_WB, bodies[b].T_WB)]
    if problems:
        raise ModelError('\n'.join(problems))
    return np.array(ties, TIE) if ties else np.zeros(0, TIE)


def ties_of(joint, T_WA, T_WB):
    """Return what the records of one joint say of its two sides."""
    T_WJ = axis_on_z(joint.T_WJ, joint.axes[0]) if joint.axes else joint.T_WJ
    axes = {letter: T_WJ.R[:, k] for k, letter in enumerate('xyz')}
    if len(joint.axes) == 2:
        axes['2'] = joint.T_WJ.R @ joint.axes[1]
    here, there = T_WA.inverse() @ T_WJ, T_WB.inverse() @ T_WJ
    points, angles = HELD[joint.element.type]
    return [(False, here.p, there.p, T_WA.R.T @ axes[axis], np.zeros(3), 0.0)
            for axis in points] + [
        (True, here.p, there.p, T_WA.R.T @ axes[first], T_WB.R.T @ axes[second],
         axes[first] @ axes[second]) for first, second in angles]
