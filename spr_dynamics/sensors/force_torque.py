"""
The force-torque sensor: what a joint passes on from its parent to its child.

The force is that of the whole joint, what its motor, damper and limits do along the axis
included. It is what the links on one side of the joint need for their motion in a step, and what
hangs on them, less the contacts and closed loops that act there from outside; so a fixed joint,
which the model welds, can be measured as well.
"""
from collections.abc import Iterator
import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import name_hint
from spr_dynamics.model.build import rigid_inertia
from spr_dynamics.model.closures import HELD
from spr_dynamics.model.records import FREE, pose_from_transform, transform_from_pose
from spr_dynamics.model.topology import movable, WORLD
from spr_dynamics.sdformat.assemble import PlacedJoint, unique_names
from spr_dynamics.sdformat.elements import ForceTorqueSensor
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sensors.axis_noise import axis_noises, AxisNoise, NO_NOISE
from spr_dynamics.sensors.declared import placed_sensors
from spr_dynamics.sensors.inertial import FORCE_TORQUE
from spr_dynamics.sensors.settings import Checked

FRAMES = ('child', 'parent', 'sensor')
DIRECTIONS = {'parent_to_child': 1.0, 'child_to_parent': -1.0}  # times the force on the child


@dataclass(frozen=True, eq=False)
class ForceTorqueSettings(Checked):
    """Where a force-torque sensor is and how it measures; after SDFormat's ``<force_torque>``."""

    joint: str = ''
    """Name of the joint, which may be a fixed one."""
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))
    """T_LS, pose of the sensor S in the frame of the joint's child link L, shape (4, 4)."""
    rate: float = 0.0
    """Samples a second of simulated time [Hz]; 0: every step."""
    enabled: bool = True
    frame: str = 'child'
    """Axes of the reading: those of the ``child`` link, the ``parent`` link, or the ``sensor``."""
    measure_direction: str = 'child_to_parent'
    """``child_to_parent``: what the child does to the parent; ``parent_to_child``: the reverse."""
    force_noise: tuple[AxisNoise, AxisNoise, AxisNoise] = NO_NOISE
    """On x, y and z of the reading [N]."""
    torque_noise: tuple[AxisNoise, AxisNoise, AxisNoise] = NO_NOISE
    """About x, y and z of the reading [N m]."""

    def validated(self) -> 'ForceTorqueSettings':
        """
        Return these settings with arrays and noises in place of sequences.

        :raises SensorError: At the first value that makes no sense; names field, value and range.
        """
        return dataclasses.replace(
            self, pose=self._pose('pose'), rate=self._number('rate'),
            enabled=self._truth('enabled'),
            frame=self._one_of('frame', FRAMES),
            measure_direction=self._one_of('measure_direction', DIRECTIONS),
            force_noise=self._noises('force_noise'), torque_noise=self._noises('torque_noise'))

    def axes_of(self, model) -> str:
        """Return whose axes the reading has: a link, ``world``, or empty: the sensor's own."""
        joint = placed_joint(model, self.joint)
        if self.frame == 'sensor':
            return ''
        k = joint.child if self.frame == 'child' else joint.parent
        return 'world' if k == WORLD else model.link_names[k]

    def side(self, model) -> 'Side':
        """
        Choose the side of the joint that is measured.

        :raises SensorError: If the model has no such joint, or its force can't be known.
        """
        names = unique_names(model.assembly.joints)
        if self.joint not in names:
            self._refuse('joint', f'a joint of the model{name_hint(self.joint, names)}')
        joint = placed_joint(model, self.joint)
        if joint.element.type == 'fixed':
            side = side_of_weld(model, joint)
            if side is None:
                self._refuse('joint', 'one that is not the only way between its links: other '
                             'fixed joints, or a static model, share its force in a way that '
                             'nothing tells')
            return side
        if self.joint in model.joint_names:
            body = model.links['body'][joint.child]
            return Side(joint, frozenset(np.flatnonzero(model.links['body'] == body).tolist()),
                        True, False)
        if joint in movable(model.assembly):
            return Side(joint, frozenset(), True, True)
        self._refuse('joint', 'one that carries a force: a gearbox, or a joint of a static model, '
                     'has none')


def placed_joint(model, name) -> PlacedJoint:
    """Find a joint by its name, which the model has."""
    return model.assembly.joints[unique_names(model.assembly.joints).index(name)]


class Side(NamedTuple):
    """One side of a joint, within the body that the joint moves or is part of."""

    joint: PlacedJoint
    links: frozenset[int]
    """Indices of the links there."""
    is_child: bool
    """Whether it is the side of the child."""
    is_closure: bool
    """Whether the joint closes a loop: it has no side then, only the constraint that it is."""


class ForceTorqueReading(NamedTuple):
    """One sample of a force-torque sensor, in the axes and the direction of its settings."""

    force: np.ndarray
    """[N], shape (3,)."""
    torque: np.ndarray
    """About the sensor's origin [N m], shape (3,)."""


def force_torque_reading(memory) -> ForceTorqueReading:
    """Copy the newest sample out of a ``MEMORY`` record."""
    return ForceTorqueReading(memory['values'][:3].copy(), memory['values'][3:].copy())


def side_of_weld(model, joint) -> Side | None:
    """
    Find the links of a body that are held through one fixed joint alone.

    :returns: The side of the joint that neither moves the body nor is the world; None if the
        joint's links hang together without it, too.
    """
    neighbours = welds(model, joint)
    beyond = connected(neighbours, joint.child)
    if joint.parent in beyond:
        return None
    if anchor(model, joint) not in beyond:
        return Side(joint, frozenset(beyond), True, False)
    return Side(joint, frozenset(connected(neighbours, joint.parent)), False, False)


def welds(model, without) -> dict[int, set[int]]:
    """Return for each link, and for WORLD, what it is welded to, but for one joint."""
    assembly = model.assembly
    pairs = [(joint.parent, joint.child, joint) for joint in assembly.joints
             if joint.element.type == 'fixed']
    pairs += [(WORLD, k, None) for k, link in enumerate(assembly.links) if link.is_static]
    everything = graph(pairs, len(assembly.links))
    pairs += [(WORLD, k, None) for k in held_by_base(model, everything)]
    return graph([pair for pair in pairs if pair[2] is not without], len(assembly.links))


def graph(pairs, n) -> dict[int, set[int]]:
    """Return the neighbours of each link, and of WORLD."""
    neighbours: dict[int, set[int]] = {k: set() for k in range(WORLD, n)}
    for a, b, _ in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def held_by_base(model, neighbours) -> Iterator[int]:
    """List the links by which ``fix_base`` holds what would be free otherwise."""
    held = {joint.child for joint in model.assembly.joints}
    loose = set(np.flatnonzero(model.links['body'] == 0).tolist()) - connected(neighbours, WORLD)
    while loose:
        group = sorted(connected(neighbours, min(loose)))
        yield next((k for k in group if k not in held), group[0])
        loose -= set(group)


def connected(neighbours, start) -> set[int]:
    """Return all that can be reached."""
    found, waiting = {start}, [start]
    while waiting:
        fresh = neighbours[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


def anchor(model, joint) -> int:
    """Return what holds or moves the body that a fixed joint is part of: a link, or WORLD."""
    body = int(model.links['body'][joint.child])
    if body == 0:
        return WORLD
    if model.tree['joint'][body] == FREE:
        v = model.tree['v'][body]
        return model.link_names.index(next(r.name for r in model.free_roots if r.v == v))
    return next(mover.child for mover in movers(model)
                if model.links['body'][mover.child] == body)


def movers(model):
    """List the joints of the assembly that move links, those that close loops not among them."""
    names = unique_names(model.assembly.joints)
    return [joint for name, joint in zip(names, model.assembly.joints)
            if name in model.joint_names]


def first_body(model, joint) -> int:
    """Return the body that a movable joint moves against its parent by its first axis."""
    body = int(model.links['body'][joint.child])
    return int(model.tree['parent'][body]) if len(joint.axes) == 2 else body


def sides_of_ties(model, side) -> np.ndarray:
    """Say for each tie whether its side b is on a side of a joint, 1, or a, -1, or neither, 0."""
    sides, moving = np.zeros(0), set(movers(model))
    for joint in movable(model.assembly):
        if joint in moving:
            continue
        points, angles = HELD[joint.element.type]
        sign = float((joint.child in side.links) - (joint.parent in side.links))
        if side.is_closure:  # what acts on side a is the reverse of what the child gets
            sign = -1.0 if joint is side.joint else 0.0
        sides = np.append(sides, np.full(len(points) + len(angles), sign))
    return sides


def force_torque_records(model, settings) -> tuple[np.ndarray, ...]:
    """
    Write validated settings as kernels need them.

    :returns: A ``FORCE_TORQUE`` record; and of the side that is measured, which bodies hang on
        it, which links and shapes it has, and which ties, as ``force_on_side`` takes them.
    :raises SensorError: If the model has no such joint, or its force can't be known.
    """
    side = settings.side(model)
    joint, links = side.joint, model.links
    T_BL = pose_from_transform(links['X'][joint.child])
    record = np.zeros(1, FORCE_TORQUE)
    record['body'] = links['body'][joint.child]
    record['X'] = transform_from_pose(
        T_BL @ Pose(settings.pose[:3, :3], settings.pose[:3, 3]))
    record['sign'] = DIRECTIONS[settings.measure_direction] * (1.0 if side.is_child else -1.0)
    for k in side.links:
        record['inertia'] += rigid_inertia(model.assembly.links[k],
                                           pose_from_transform(links['X'][k]))
    axes = settings.axes_of(model)
    if axes == 'world':
        record['E'] = np.eye(3).ravel()
    elif axes:
        k = model.link_names.index(axes)
        record['axes_body'], record['E'] = links['body'][k], links['X'][k, :9]
    else:
        record['axes_body'], record['E'] = record['body'], record['X'][:, :9]
    record['noise'] = np.array([*settings.force_noise, *settings.torque_noise],
                               record.dtype['noise'].base)
    bodies = np.zeros(model.tree.size, np.bool_)
    bodies[[first_body(model, mover) for mover in movers(model) if mover.parent in side.links]] = 1
    links_there = np.isin(np.arange(links.size), list(side.links))
    shapes = np.isin(model.shapes['link'], list(side.links)).astype(float)
    return record, bodies, links_there, shapes, sides_of_ties(model, side)


def declared_force_torques(model) -> dict[str, ForceTorqueSettings]:
    """Return the force-torque sensors that a model's file declares, by name."""
    names = unique_names(model.assembly.joints)
    settings = {}
    for name, joint, pose, element in placed_sensors(model, ForceTorqueSensor):
        settings[name] = ForceTorqueSettings(
            joint=names[joint], pose=pose, rate=element.update_rate, frame=element.frame,
            measure_direction=element.measure_direction,
            force_noise=axis_noises(element.force_noise),
            torque_noise=axis_noises(element.torque_noise))
    return settings
