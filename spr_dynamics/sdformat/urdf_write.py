"""An assembly as URDF, for ``robot_description``: RViz, robot_state_publisher, MoveIt."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
import math
import re
from typing import NamedTuple

from lxml import etree
import numpy as np

from spr_dynamics.sdformat.assemble import (
    Assembly, PlacedJoint, PlacedLink, PlacedMimic, PlacedShape, unique_names, WORLD)
from spr_dynamics.sdformat.elements import (
    Axis, Box, Capsule, Cylinder, Empty, Geometry, Mesh, Sphere)
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.values import effective_bound, UNLIMITED

WORLD_LINK = 'world'
AXIS_TYPES = ('revolute', 'continuous', 'prismatic')
SAME_FRAME = 1e-12  # a joint's frame that is nearer to its child's than this is the child's


class Frame(NamedTuple):
    """A link of the URDF: one of the assembly, or the frame of a joint between two of them."""

    name: str
    parent: str
    """Name of the frame that holds it; ``world``, or that of a link."""
    T_PF: Pose | None
    """Its pose in the parent; None if it moves there."""
    parent_link: int
    """Index of the link whose frame the parent is; -1: the world."""
    link: int
    """Index of the link that it goes with."""
    T_LF: Pose
    """Its pose in that link."""
    is_cut: bool
    """Whether URDF has no joint that says how it moves."""


class Urdf(NamedTuple):
    """A robot in URDF."""

    text: str
    """With numbers that read back as they were."""
    frames: tuple[Frame, ...]
    """All of its links but ``world``."""
    link_frames: tuple[str, ...]
    """The frame of each link of the assembly."""
    left_out: tuple[str, ...]
    """What URDF can't say, a sentence each."""


def urdf_from_assembly(assembly: Assembly, name: str, *, fix_base: bool = False,
                       mesh_uri: Callable[[Mesh], str] = lambda mesh: mesh.uri,
                       joint_delimiter: str = '/') -> Urdf:
    """
    Write links and joints as URDF.

    The root link is ``world``; what is static or fixed to the world hangs on it by fixed
    joints, and a free root by a floating one. Links and joints keep their names, with ``/`` for
    ``::`` (``sub/arm``), which TF takes for a namespace. Joints that URDF doesn't have (ball,
    screw, universal, ...) are written as floating: their motion has to come from TF. What URDF
    can't say at all (planes, loops) is left out, and a comment says so. Springs are written as
    Gazebo reads them.

    :param assembly: Links and joints with every pose resolved.
    :param name: Name of the robot.
    :param fix_base: Whether free roots are welded to the world.
    :param mesh_uri: Gives what to write for the file of a mesh.
    :param joint_delimiter: What stands for ``::`` in names of joints. With ``::`` itself they are
        those of `spr_dynamics.model.model.Model`, but readers of SDF refuse them.
    :returns: The text, and what it is made of.
    """
    robot = etree.Element('robot', name=name)
    etree.SubElement(robot, 'link', name=WORLD_LINK)
    writer = _Writer(assembly, robot, fix_base, mesh_uri, joint_delimiter)
    writer.write()
    etree.indent(robot)
    text = etree.tostring(robot, encoding='unicode', pretty_print=True)
    return Urdf(text, tuple(writer.frames), tuple(writer.links[:len(assembly.links)]),
                tuple(writer.left_out))


class Hold(NamedTuple):
    """How a link hangs on another, or on the world."""

    parent: int
    """Index of the other link; -1: the world."""
    joint: PlacedJoint | None
    """None for what is static or free."""


class _Writer:
    """Adds the elements of an assembly to a robot."""

    def __init__(self, assembly: Assembly, robot: etree._Element, fix_base: bool,
                 mesh_uri: Callable[[Mesh], str], joint_delimiter: str):
        self.assembly = assembly
        self.robot = robot
        self.fix_base = fix_base
        self.mesh_uri = mesh_uri
        self.frames: list[Frame] = []
        self.left_out: list[str] = []
        self.links = urdf_names(assembly.links, {WORLD_LINK}, '/')
        self.joints = urdf_names(assembly.joints, set(), joint_delimiter)
        self.joint_name = dict(zip(map(id, assembly.joints), self.joints))
        self.holds = span(assembly)
        self.colours: dict[tuple[float, ...], str] = {}

    def write(self) -> None:
        for k, link in enumerate(self.assembly.links):
            self.write_link(link, self.links[k])
        for k, hold in self.holds.items():
            if hold.joint is None:
                self.write_root(k)
        child_of = {id(hold.joint): k for k, hold in self.holds.items() if hold.joint}
        for joint in self.assembly.joints:
            if id(joint) in child_of:
                k = child_of[id(joint)]
                self.write_hold(joint, self.holds[k].parent, k)
            elif not joins_static(self.assembly, joint):
                self.leave_out(f"joint '{joint.name}' closes a loop, which URDF can't say")

    def write_root(self, k: int) -> None:
        """Write a joint for what is static or free."""
        link = self.assembly.links[k]
        is_fixed = link.is_static or self.fix_base
        self.write_joint(self.free_name(f'world_to_{self.links[k]}', self.joints),
                         'fixed' if is_fixed else 'floating', WORLD_LINK, self.links[k],
                         link.T_WL)
        self.frames.append(Frame(self.links[k], WORLD_LINK, link.T_WL if is_fixed else None,
                                 WORLD, k, Pose.identity(), not is_fixed))

    def write_hold(self, joint: PlacedJoint, parent: int, child: int) -> None:
        """Write a joint, and a frame between if the joint's is not its child's."""
        kind, name = urdf_type(joint), self.joint_name[id(joint)]
        T_WC = self.assembly.links[child].T_WL
        T_PW = self.T_W(parent).inverse()
        above, link = self.link_name(parent), self.links[child]
        if kind not in AXIS_TYPES:
            if kind == 'floating':
                self.leave_out(f"joint '{name}' is of type '{joint.element.type}', which URDF "
                               "doesn't have")
            self.write_joint(name, kind, above, link, T_PW @ T_WC)
            self.frames.append(Frame(link, above, T_PW @ T_WC if kind == 'fixed' else None,
                                     parent, child, Pose.identity(), kind == 'floating'))
            return
        T_JC = joint.T_WJ.inverse() @ T_WC
        if max(np.abs(T_JC.R - np.eye(3)).max(), np.abs(T_JC.p).max()) <= SAME_FRAME:
            element = self.write_joint(name, kind, above, link, T_PW @ T_WC)
            self.frames.append(Frame(link, above, None, parent, child, Pose.identity(), False))
        else:
            frame = self.free_name(f'{name}_frame'.replace('::', '/'), self.links)
            etree.SubElement(self.robot, 'link', name=frame)
            self.write_joint(self.free_name(f'{frame}_to_{link}', self.joints), 'fixed', frame,
                             link, T_JC)
            element = self.write_joint(name, kind, above, frame, T_PW @ joint.T_WJ)
            self.frames += [
                Frame(frame, above, None, parent, child, T_JC.inverse(), False),
                Frame(link, frame, T_JC, child, child, Pose.identity(), False)]
        self.write_axis(element, joint, kind)

    def write_joint(self, name: str, kind: str, parent: str, child: str,
                    T_PC: Pose) -> etree._Element:
        joint = etree.SubElement(self.robot, 'joint', name=name, type=kind)
        write_origin(joint, T_PC)
        etree.SubElement(joint, 'parent', link=parent)
        etree.SubElement(joint, 'child', link=child)
        return joint

    def write_axis(self, element: etree._Element, joint: PlacedJoint, kind: str) -> None:
        axis: Axis = joint.element.axis  # type: ignore[assignment]  # AXIS_TYPES have one
        bounds = axis.limit
        etree.SubElement(element, 'axis', xyz=words(joint.axes[0]))
        limit = etree.SubElement(element, 'limit')
        if kind != 'continuous':
            limit.set('lower', bounded(bounds.lower))
            limit.set('upper', bounded(bounds.upper))
        limit.set('effort', bounded(bounds.effort))
        limit.set('velocity', bounded(bounds.velocity))
        if axis.damping or axis.friction:
            etree.SubElement(element, 'dynamics', damping=words([axis.damping]),
                             friction=words([axis.friction]))
        if joint.mimics and joint.mimics[0] is not None:
            self.write_mimic(element, joint, joint.mimics[0])
        if axis.spring_stiffness or axis.spring_reference:
            gazebo = etree.SubElement(
                self.robot, 'gazebo', reference=self.joint_name[id(joint)])
            etree.SubElement(gazebo, 'springReference').text = words([axis.spring_reference])
            etree.SubElement(gazebo, 'springStiffness').text = words([axis.spring_stiffness])

    def write_mimic(self, element: etree._Element, joint: PlacedJoint,
                    mimic: PlacedMimic) -> None:
        leader, said = self.assembly.joints[mimic.leader], mimic.element
        if urdf_type(leader) not in AXIS_TYPES:
            self.leave_out(f"joint '{joint.name}' mimics '{leader.name}', which URDF can't say")
            return
        etree.SubElement(
            element, 'mimic', joint=self.joints[mimic.leader],
            multiplier=words([said.multiplier]),
            offset=words([said.offset - said.multiplier * said.reference]))

    def write_link(self, link: PlacedLink, name: str) -> None:
        element = etree.SubElement(self.robot, 'link', name=name)
        inertial = link.element.inertial
        if inertial.mass or inertial.inertia.any():
            target = etree.SubElement(element, 'inertial')
            write_origin(target, inertial.pose)
            etree.SubElement(target, 'mass', value=words([inertial.mass]))
            etree.SubElement(target, 'inertia', {
                f'i{"xyz"[i]}{"xyz"[j]}': words([inertial.inertia[i, j]])
                for i in range(3) for j in range(i, 3)})
        for tag, shapes in (('visual', link.visuals), ('collision', link.collisions)):
            for shape in shapes:
                fault = self.write_shape(element, tag, shape)
                if fault and not link.is_static:  # what stands still is not part of the robot
                    self.left_out.append(f"{tag} '{shape.name}' of link '{name}' {fault}")

    def write_shape(self, link: etree._Element, tag: str, shape: PlacedShape) -> str:
        """Write a shape, or say what is wrong with it."""
        geometry = shape.element.geometry
        parts = self.parts(geometry)
        if not parts and not isinstance(geometry, Empty):
            fault = f"is of type '{type(geometry).__name__.lower()}', which URDF can't say"
            link.append(comment(f"{tag} '{shape.name}' {fault}"))
            return fault
        for part in parts:
            element = etree.SubElement(link, tag, name=shape.name + part.suffix)
            write_origin(element, shape.T_LS @ part.T_SP)
            etree.SubElement(
                etree.SubElement(element, 'geometry'), part.tag, part.attributes)
            diffuse = getattr(shape.element, 'diffuse', None)
            if diffuse is not None:
                # a colour goes by one name everywhere, since RViz looks colours up by name
                colour = self.colours.setdefault(tuple(diffuse), f'colour_{len(self.colours)}')
                material = etree.SubElement(element, 'material', name=colour)
                etree.SubElement(material, 'color', rgba=words(diffuse))
        return ''

    def parts(self, geometry: Geometry) -> list['Primitive']:
        """Return what a shape is made of in URDF; nothing if that can't be done."""
        if isinstance(geometry, Mesh):
            return [] if geometry.submesh else [_whole(
                'mesh', filename=self.mesh_uri(geometry), scale=words(geometry.scale))]
        return primitives(geometry)

    def T_W(self, k: int) -> Pose:
        return Pose.identity() if k == WORLD else self.assembly.links[k].T_WL

    def link_name(self, k: int) -> str:
        return WORLD_LINK if k == WORLD else self.links[k]

    def free_name(self, name: str, taken: list[str]) -> str:
        while name in taken:
            name += '_'
        taken.append(name)
        return name

    def leave_out(self, sentence: str) -> None:
        self.robot.append(comment(sentence))
        self.left_out.append(sentence)


class Primitive(NamedTuple):
    """A shape that URDF has."""

    suffix: str
    """What its name has after that of the shape it is part of."""
    T_SP: Pose
    """Its pose in that shape."""
    tag: str
    attributes: dict[str, str]


def primitives(geometry: Geometry) -> list[Primitive]:
    """
    Cut a shape into those that URDF has.

    :param geometry: The shape; no mesh.
    :returns: The parts; none if that can't be done.
    """
    match geometry:
        case Box():
            return [_whole('box', size=words(geometry.size))]
        case Sphere():
            return [_whole('sphere', radius=words([geometry.radius]))]
        case Cylinder() | Capsule():
            radius, length = words([geometry.radius]), words([geometry.length])
            middle = _whole('cylinder', radius=radius, length=length)
            if isinstance(geometry, Cylinder):
                return [middle]
            return [middle, *(
                Primitive(suffix, Pose(np.eye(3), np.array([0.0, 0.0, z])), 'sphere',
                          {'radius': radius})
                for suffix, z in (('_top', geometry.length / 2),
                                  ('_bottom', -geometry.length / 2)))]
    return []


def _whole(tag: str, **attributes: str) -> Primitive:
    return Primitive('', Pose.identity(), tag, attributes)


def urdf_type(joint: PlacedJoint) -> str:
    """
    Choose the type of a joint in URDF.

    :param joint: The joint.
    :returns: Its type; ``continuous`` for a revolute one without limits, since readers of URDF
        compute with limits, and ``floating`` for what URDF doesn't have.
    """
    element = joint.element
    if element.type == 'revolute' and element.axis is not None:
        is_limited = any(math.isfinite(effective_bound(bound)) for bound in (
            element.axis.limit.lower, element.axis.limit.upper))
        return 'revolute' if is_limited else 'continuous'
    return element.type if element.type in (*AXIS_TYPES, 'fixed') else 'floating'


def urdf_names(placed: Sequence[PlacedLink] | Sequence[PlacedJoint],
               taken: set[str], delimiter: str) -> list[str]:
    """
    Name links or joints as the model's arrays do.

    :param placed: The links or joints.
    :param taken: Names that are in use.
    :param delimiter: What stands for ``::``.
    :returns: A name for each, all different.
    """
    names = []
    for name in unique_names(placed):
        name = name.replace('::', delimiter)
        while name in taken:
            name += '_'
        taken.add(name)
        names.append(name)
    return names


def span(assembly: Assembly) -> dict[int, Hold]:
    """
    Hang every link on one other, or on the world.

    Fixed joints hold both ways round, so that what a joint moves can carry what it is fixed to.

    :param assembly: Links and joints.
    :returns: By link how it is held, what holds before what is held.
    """
    ways: dict[int, list[tuple[int, PlacedJoint]]] = {}
    for joint in assembly.joints:
        ways.setdefault(joint.parent, []).append((joint.child, joint))
        if joint.element.type == 'fixed':
            ways.setdefault(joint.child, []).append((joint.parent, joint))
    holds = {k: Hold(WORLD, None) for k, link in enumerate(assembly.links) if link.is_static}
    reach([WORLD, *holds], ways, holds)
    for root in free_roots(assembly, ways):
        if root not in holds:
            holds[root] = Hold(WORLD, None)
            reach([root], ways, holds)
    return holds


def reach(starts: Sequence[int], ways: dict[int, list[tuple[int, PlacedJoint]]],
          holds: dict[int, Hold]) -> None:
    """
    Hang what is not held yet on links that are.

    :param starts: The links that are, or the world.
    :param ways: By link what its joints lead to.
    :param holds: How links are held; takes more.
    """
    waiting = deque(starts)
    while waiting:
        k = waiting.popleft()
        for other, joint in ways.get(k, []):
            if other != WORLD and other not in holds:
                holds[other] = Hold(k, joint)
                waiting.append(other)


def free_roots(assembly: Assembly, ways: dict[int, list[tuple[int, PlacedJoint]]]) -> list[int]:
    """
    List the links that can stand for free roots: first those of groups that no joint moves.

    :param assembly: Links and joints.
    :param ways: By link what its joints lead to.
    :returns: All links, the best first.
    """
    moved = {joint.child for joint in assembly.joints if joint.element.type != 'fixed'}
    welded_to: dict[int, list[int]] = {
        k: [other for other, joint in found if joint.element.type == 'fixed']
        for k, found in ways.items()}
    # what is welded to something that moves, moves too
    waiting = list(moved)
    while waiting:
        for other in welded_to.get(waiting.pop(), []):
            if other not in moved:
                moved.add(other)
                waiting.append(other)
    held = {joint.child for joint in assembly.joints}
    return sorted(range(len(assembly.links)), key=lambda k: (k in moved, k in held))


def joins_static(assembly: Assembly, joint: PlacedJoint) -> bool:
    """
    Say whether both ends of a joint stand still because the file says so.

    :param assembly: Links and joints.
    :param joint: One of them.
    :returns: Whether they do.
    """
    return all(end == WORLD or assembly.links[end].is_static
               for end in (joint.parent, joint.child))


def write_origin(element: etree._Element, T: Pose) -> None:
    """
    Write a pose.

    :param element: Takes it.
    :param T: The pose in the frame of what holds the element.
    """
    etree.SubElement(element, 'origin', xyz=words(T.p), rpy=words(rpy_from_matrix(T.R)))


def rpy_from_matrix(R: np.ndarray) -> list[float]:
    """
    Split R = Rz(yaw) Ry(pitch) Rx(roll), exact also where pitch is a right angle.

    :param R: Rotation matrix.
    :returns: Roll, pitch and yaw [rad].
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    # near a right angle yaw is any angle; the others are of what it leaves, so nothing is lost
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return [roll, pitch, yaw]


def bounded(value: float) -> str:
    """
    Write a limit with the number that stands for none.

    :param value: The limit, perhaps infinite.
    :returns: A number that every reader takes.
    """
    return words([math.copysign(min(abs(value), UNLIMITED), value)])


def words(values: Iterable[float]) -> str:
    """
    Write numbers so that they read back as they were.

    :param values: The numbers.
    :returns: A text.
    """
    return ' '.join(repr(float(value) + 0.0) for value in values)  # + 0.0: no minus zero


def comment(text: str) -> etree._Comment:
    """
    Make a comment.

    :param text: What it says.
    :returns: The comment, without the dashes that would end it.
    """
    return etree.Comment(f' {re.sub("-(?=-)", "- ", text)} ')
