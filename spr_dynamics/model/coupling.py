"""Which joints follow which: mimics and gearboxes, down to leaders that follow nobody."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.records import FOLLOWER
from spr_dynamics.model.topology import group_of, joins_static, where, WORLD

PARALLEL = 1e-6  # sine of the angle between axes that count as one direction


class Tie(NamedTuple):
    """One axis follows another: ``q = ratio * q_leader + offset``."""

    leader: tuple
    """The leader: index of its joint in the assembly, and of its axis."""
    ratio: float
    offset: float
    element: object
    """The mimic or gearbox that says so."""


def follower_records(assembly, group, movers, layout):
    """
    Write a ``FOLLOWER`` record for each axis that follows another.

    :param layout: Where the numbers of each axis are: entries in q and in qd, by index of the
        joint in the assembly and of its axis.
    :raises ModelError: If a leader can't move, or gears can't tell whose angles they tie.
    """
    ties, problems = mimic_ties(assembly), []
    for joint in assembly.joints:
        if joint.element.type == 'gearbox' and not joins_static(assembly, joint):
            try:
                add_gearbox(assembly, group, movers, joint, ties)
            except ModelError as error:
                problems.append(str(error))
    records = []
    for follower, tie in ties.items():
        name = assembly.joints[follower[0]].name
        leader, ratio, offset = resolve(ties, follower)
        if leader in ties:
            problems.append(f"{where(tie.element)}: joint '{name}' follows joint "
                            f"'{assembly.joints[leader[0]].name}', which follows itself")
        elif leader not in layout:
            problems.append(f"{where(tie.element)}: joint '{name}' can't follow joint "
                            f"'{assembly.joints[leader[0]].name}', which does not move")
        elif follower in layout:
            (q, v), (leader_q, leader_v) = layout[follower], layout[leader]
            records.append((q, v, leader_q, leader_v, ratio, offset))
    if problems:
        raise ModelError('\n'.join(problems))
    return np.array(sorted(records), FOLLOWER) if records else np.zeros(0, FOLLOWER)


def mimic_ties(assembly):
    """List what ``<mimic>`` elements say, by follower."""
    return {
        (j, axis): Tie((mimic.leader, mimic.axis), mimic.element.multiplier,
                       mimic.element.offset - mimic.element.multiplier * mimic.element.reference,
                       mimic.element)
        for j, joint in enumerate(assembly.joints) if not joins_static(assembly, joint)
        for axis, mimic in enumerate(joint.mimics) if mimic is not None}


def add_gearbox(assembly, group, movers, gearbox, ties):
    """
    Tie the two joints of a gearbox: the angle of the child is minus the ratio times the parent's.

    Both angles are those of joints that the reference body carries (SDFormat specification,
    ``gearbox_reference_body``).
    """
    numbers = {id(joint): j for j, joint in enumerate(assembly.joints)}
    parent, child = (geared_joint(assembly, group, movers, gearbox, link, axis)
                     for link, axis in zip((gearbox.parent, gearbox.child), gearbox.axes))
    carriers = {group_of(group, joint.parent) for joint in (parent, child)}
    body = str(gearbox.element.gearbox_reference_body)
    if len(carriers) != 1 or body and last_name(body) not in link_names(assembly, group, carriers):
        raise ModelError(f"{where(gearbox.element)}: gearbox '{gearbox.name}': joints "
                         f"'{parent.name}' and '{child.name}' are not both carried by "
                         + (f"link '{body}'" if body else 'one link'))
    signs = [float(np.sign(along(gearbox, axis) @ along(joint, joint.axes[0])))
             for joint, axis in zip((parent, child), gearbox.axes)]
    follower = (numbers[id(child)], 0)
    if follower in ties:
        raise ModelError(f"{where(gearbox.element)}: gearbox '{gearbox.name}' drives joint "
                         f"'{child.name}', which follows another one already")
    ties[follower] = Tie((numbers[id(parent)], 0),
                         -gearbox.element.gearbox_ratio * signs[0] * signs[1], 0.0,
                         gearbox.element)


def geared_joint(assembly, group, movers, gearbox, link, axis):
    """Return the hinge that turns one side of a gearbox about the axis that it names."""
    joint = movers.get(group_of(group, link))
    name = assembly.links[link].name if link >= 0 else 'world'
    if joint is None or joint.element.type not in ('revolute', 'continuous'):
        raise ModelError(f"{where(gearbox.element)}: gearbox '{gearbox.name}' needs a revolute "
                         f"joint that turns link '{name}'")
    if np.linalg.norm(np.cross(along(gearbox, axis), along(joint, joint.axes[0]))) > PARALLEL:
        raise ModelError(f"{where(gearbox.element)}: gearbox '{gearbox.name}': its axis for link "
                         f"'{name}' is not that of joint '{joint.name}'")
    return joint


def link_names(assembly, group, groups):
    """Return the names, without scopes, of the links in some groups."""
    names = {last_name(link.name) for k, link in enumerate(assembly.links) if group[k] in groups}
    return names | ({'world'} if WORLD in groups else set())


def last_name(name):
    return name.rsplit('::', 1)[-1]


def along(joint, axis):
    """Return an axis of a joint in world axes."""
    return joint.T_WJ.R @ axis


def resolve(ties, follower):
    """Follow the leaders to one that follows nobody, or to the first one met twice."""
    leader, ratio, offset, seen = follower, 1.0, 0.0, set()
    while leader in ties and leader not in seen:
        seen.add(leader)
        tie = ties[leader]
        leader, ratio, offset = tie.leader, ratio * tie.ratio, offset + ratio * tie.offset
    return leader, ratio, offset
