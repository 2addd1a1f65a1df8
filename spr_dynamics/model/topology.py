"""Which links move as one, and which joint moves them: the tree behind the arrays."""
from collections import deque
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.sdformat.assemble import PlacedJoint
from spr_dynamics.sdformat.poses import Pose

WORLD = -1  # stands for the world where links are counted


class Body(NamedTuple):
    """A group of welded links that moves as one, or what is between the axes of one joint."""

    root: int
    """Index of the link that the joint moves, or of the free root; WORLD for the world."""
    joint: PlacedJoint | None
    """What moves it, None for a free root."""
    axis: int | None
    """Which axis of the joint it moves along; None for a ball and a free root."""
    parent: int
    """Index of the parent body; 0 is the world."""
    T_WB: Pose


def weld(assembly, fix_base):
    """
    Find which links move as one: those that fixed joints connect, whichever way round.

    :returns: For each link a link that stands for its group, or WORLD.
    """
    leader = list(range(len(assembly.links)))

    def find(k):
        while k != WORLD and leader[k] != k:
            k = leader[k]
        return k

    def join(a, b):
        first, second = sorted((find(a), find(b)))  # the world before all others
        if first != second:
            leader[second] = first

    for joint in assembly.joints:
        if joint.element.type == 'fixed':
            join(joint.parent, joint.child)
    for k, link in enumerate(assembly.links):
        if link.is_static:
            join(WORLD, k)
    if fix_base:
        moved = {find(joint.child) for joint in movable(assembly)}
        for k in range(len(assembly.links)):
            if find(k) not in moved:
                join(WORLD, k)
    return [find(k) for k in range(len(assembly.links))]


def movable(assembly):
    """List the joints that move a link: a gearbox only ties two others together."""
    return [joint for joint in assembly.joints
            if joint.element.type not in ('fixed', 'gearbox')
            and not joins_static(assembly, joint)]


def joins_static(assembly, joint):
    """Say whether both ends of a joint stand still because the file says so."""
    ends = joint.parent, joint.child
    return all(end == WORLD or assembly.links[end].is_static for end in ends)


def find_movers(assembly, group):
    """
    Find the joint that moves each group, and the joints that close loops.

    Of two joints that would move one group, and of those in a circle, the last one closes it.

    :returns: The joints by group, and those that are left.
    :raises ModelError: If a joint has nothing that could move.
    """
    movers, closures, problems = {}, [], []
    held = {}  # group -> one that carries it; the end of the chain is the root of its tree
    for joint in movable(assembly):
        child = group[joint.child]
        name = assembly.links[joint.child].name
        if child == WORLD:
            problems.append(f"{where(joint.element)}: joint '{joint.name}' can't move link "
                            f"'{name}', which is fixed to the world")
        elif joint.parent != WORLD and group[joint.parent] == child:
            problems.append(f"{where(joint.element)}: joint '{joint.name}' can't move link "
                            f"'{name}', which is fixed to its parent")
        elif child in movers or root_of(held, group_of(group, joint.parent)) == child:
            closures.append(joint)
        else:
            movers[child] = joint
            held[child] = group_of(group, joint.parent)
    if problems:
        raise ModelError('\n'.join(problems))
    return movers, closures


def root_of(held, k):
    """Return the group that carries all on the way to k, and shorten the way."""
    while k in held:
        held[k] = held.get(held[k], held[k])
        k = held[k]
    return k


def closing(assembly, group, movers, joint):
    """Say which loop a joint closes."""
    child = group[joint.child]
    if child not in movers:
        circle = path_inward(group, movers, joint)
        names = ' '.join(f'{link_name(assembly, step.child)} [{step.name}]' for step in circle)
        return (f"{where(joint.element)}: joint '{joint.name}' closes the loop {names} "
                f'{link_name(assembly, joint.child)}: it is a constraint')
    there, back = (path_inward(group, movers, end) for end in (movers[child], joint))
    shared = {id(step) for step in there} & {id(step) for step in back}
    there = [step for step in there if id(step) not in shared]
    back = [step for step in back if id(step) not in shared]
    loop = [link_name(assembly, there[-1].parent)]
    for step in reversed(there):
        loop += [f'[{step.name}]', assembly.links[step.child].name]
    for step in back:
        loop += [f'[{step.name}]', link_name(assembly, step.parent)]
    is_closed = group_of(group, there[-1].parent) == group_of(group, back[-1].parent)
    return (f"{where(joint.element)}: link '{assembly.links[joint.child].name}' is moved by "
            f"joints '{movers[child].name}' and '{joint.name}'"
            + (f', which close the loop {" ".join(loop)}' if is_closed else '')
            + f": '{joint.name}' is a constraint")


def path_inward(group, movers, joint):
    """List the joints from one inward, until the world, a free root, or the start of a circle."""
    path = []
    while joint is not None and joint not in path:
        path.append(joint)
        joint = movers.get(group_of(group, joint.parent))
    return path


def group_of(group, link):
    return WORLD if link == WORLD else group[link]


def link_name(assembly, link):
    return 'world' if link == WORLD else assembly.links[link].name


def has_free_root(assembly) -> bool:
    """Say whether anything in an assembly is held by nothing."""
    group = weld(assembly, fix_base=False)
    return bool(set(group) - {WORLD} - set(find_movers(assembly, group)[0]))


def order_bodies(assembly, group, movers):
    """
    List the bodies, parents before children: level by level from the world, which is the first.

    What follows each other then belongs to different limbs, so that a processor need not wait for
    one body's result to begin with the next.

    :returns: The bodies, and the last one of each group.
    """
    children = {}
    for child, joint in movers.items():
        parent = WORLD if joint.parent == WORLD else group[joint.parent]
        children.setdefault(parent, []).append(child)
    held = {joint.child for joint in assembly.joints}
    bodies = [Body(WORLD, None, None, 0, Pose.identity())]
    numbers = {WORLD: 0}
    free = [k for k in dict.fromkeys(group) if k != WORLD and k not in movers]
    waiting = deque((k, 0) for k in (*free, *children.get(WORLD, [])))
    while waiting:
        k, parent = waiting.popleft()
        joint = movers.get(k)
        if joint is None:
            members = [link for link, leader in enumerate(group) if leader == k]
            root = next((link for link in members if link not in held), members[0])
            bodies.append(Body(root, None, None, parent, assembly.links[root].T_WL))
        elif not joint.axes:
            bodies.append(Body(joint.child, joint, None, parent, joint.T_WJ))
        for number, axis in enumerate(joint.axes if joint else ()):
            bodies.append(Body(joint.child, joint, number, parent, axis_on_z(joint.T_WJ, axis)))
            parent = len(bodies) - 1
        numbers[k] = len(bodies) - 1
        waiting += [(child, numbers[k]) for child in children.get(k, [])]
    return bodies, numbers


def axis_on_z(T_WJ, axis):
    """Turn a joint's frame so that its axis, given in it, lies on z."""
    x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return Pose(T_WJ.R @ np.column_stack([x, np.cross(axis, x), axis]), T_WJ.p)


def where(element):
    """Say file and line of an element."""
    return f'{element.location.file}:{element.location.line}'
