"""Joints that close kinematic loops: what they hold together, a row for each direction."""
import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.records import HINGE, TIE
from spr_dynamics.model.topology import axis_on_z, where, WORLD

# For each type, along which axes of the joint's frame the two sides can't part, and which axes of
# the parent's side and of the child's keep their angle. The joint's (first) axis is on z.
HELD = {
    **dict.fromkeys(('revolute', 'continuous'), ('xyz', ('xz', 'yz'))),
    'prismatic': ('xy', ('xz', 'yz', 'xy')),
    **dict.fromkeys(('universal', 'revolute2'), ('xyz', ('z2',))),
    'ball': ('xyz', ()),
}
TURNS = {'revolute': True, 'continuous': True, 'prismatic': False}  # those that may have springs


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
        a, b = sides_of(joint, numbers, group)
        ties += [(number, a, b, *tie) for tie in ties_of(joint, bodies[a].T_WB, bodies[b].T_WB)]
    if problems:
        raise ModelError('\n'.join(problems))
    return np.array(ties, TIE) if ties else np.zeros(0, TIE)


def sides_of(joint, numbers, group):
    """Return the bodies that a joint holds together: its parent's and its child's."""
    a = 0 if joint.parent == WORLD else numbers[group[joint.parent]]
    return a, numbers[group[joint.child]]


def has_drive(joint) -> bool:
    """Say whether a closing joint has a damper or spring that is simulated."""
    axis = joint.element.axis
    least, most = sorted((axis.damping, axis.spring_stiffness)) if axis else (0.0, 0.0)
    return joint.element.type in TURNS and least >= 0.0 < most


def hinge_records(bodies, numbers, group, closures, ties):
    """Write a ``HINGE`` record for each closing joint that has a damper or spring."""
    hinges = []
    for number, joint in enumerate(closures):
        if has_drive(joint):
            a, b = sides_of(joint, numbers, group)
            T_WJ, axis = joint_frame(joint), joint.element.axis
            T_AJ, T_BJ = (bodies[k].T_WB.inverse() @ T_WJ for k in (a, b))
            hinges.append((np.flatnonzero(ties['loop'] == number)[0], a, b,
                           TURNS[joint.element.type], T_AJ.p, T_BJ.p, T_AJ.R[:, 2], T_AJ.R[:, 0],
                           T_BJ.R[:, 0], axis.damping, axis.spring_stiffness,
                           axis.spring_reference))
    return np.array(hinges, HINGE) if hinges else np.zeros(0, HINGE)


def joint_frame(joint):
    """Return the frame of a closing joint, with its (first) axis on z."""
    return axis_on_z(joint.T_WJ, joint.axes[0]) if joint.axes else joint.T_WJ


def ties_of(joint, T_WA, T_WB):
    """Return what the records of one joint say of its two sides."""
    T_WJ = joint_frame(joint)
    axes = {letter: T_WJ.R[:, k] for k, letter in enumerate('xyz')}
    if len(joint.axes) == 2:
        axes['2'] = joint.T_WJ.R @ joint.axes[1]
    here, there = T_WA.inverse() @ T_WJ, T_WB.inverse() @ T_WJ
    points, angles = HELD[joint.element.type]
    return [(False, here.p, there.p, T_WA.R.T @ axes[axis], np.zeros(3), 0.0)
            for axis in points] + [
        (True, here.p, there.p, T_WA.R.T @ axes[first], T_WB.R.T @ axes[second],
         axes[first] @ axes[second]) for first, second in angles]
