"""
URDF to elements: the XML is rewritten as SDFormat, whose reader then does the rest.

What differs in URDF is settled here: a joint's frame is its child link's frame, an axis is x
unless written, a link without an inertial has no mass, and a root link ``world`` is the world.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
import math

from spr_dynamics.errors import did_you_mean, name_hint
from spr_dynamics.sdformat.diagnostics import Location, Report
from spr_dynamics.sdformat.elements import Root
from spr_dynamics.sdformat.parse import parse
from spr_dynamics.sdformat.schema import (
    BRANCH, Branch, DRAWN, ENGINE, Leaf, PLUGIN, Quiet, REQUIRED, Warned)
from spr_dynamics.sdformat.values import (
    between, boolean, effective_bound, extended_number, non_negative, number, positive, several,
    strength, unit_vector, vector3)
from spr_dynamics.sdformat.xml import XmlElement

WORLD = 'world'
AXIS_TYPES = ('revolute', 'continuous', 'prismatic')
JOINT_TYPES = (*AXIS_TYPES, 'fixed', 'floating')
REFUSED_TYPES = ('planar', 'ball', 'spherical')  # the last two are words of other dialects

Entry = Leaf | Branch | Quiet | Warned
CONTROL = Quiet('how a robot is driven is for its controllers')
NAME, TEXT = Leaf(str, REQUIRED), Leaf(str, '')
LENGTH, MOMENT = Leaf(positive, REQUIRED), Leaf(number, REQUIRED)
STRENGTH, PASSIVE = Leaf(strength, REQUIRED), Leaf(non_negative, '0')
SHAPE: dict[str, Entry] = {'@name': TEXT, 'origin': BRANCH, 'geometry': BRANCH, 'verbose': DRAWN}
END: dict[str, Entry] = {'@link': NAME}
URDF: dict[str, dict[str, Entry]] = {
    'robot': {
        '@name': NAME, '@version': TEXT, 'link': BRANCH, 'joint': BRANCH, 'material': BRANCH,
        'gazebo': Quiet('judged by its own tables'), 'transmission': CONTROL,
        'ros2_control': CONTROL,
        'sensor': Warned('sensors are read from <gazebo reference="..."> only')},
    'link': {
        '@name': NAME, '@type': Quiet('a word of old files'), 'inertial': BRANCH,
        'visual': BRANCH, 'collision': BRANCH},
    'inertial': {'origin': BRANCH, 'mass': BRANCH, 'inertia': BRANCH},
    'mass': {'@value': Leaf(non_negative, REQUIRED)},
    'inertia': {f'@{moment}': MOMENT for moment in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')},
    'origin': {
        '@xyz': Leaf(vector3, '0 0 0'), '@rpy': Leaf(vector3, '0 0 0'),
        '@quat_xyzw': Leaf(several(number, 4), '')},
    'visual': {**SHAPE, 'material': BRANCH},
    'collision': SHAPE,
    'geometry': {
        'box': BRANCH, 'cylinder': BRANCH, 'sphere': BRANCH, 'capsule': BRANCH, 'mesh': BRANCH},
    'box': {'@size': Leaf(several(positive, 3), REQUIRED)},
    'cylinder': {'@radius': LENGTH, '@length': LENGTH},
    'sphere': {'@radius': LENGTH},
    'capsule': {'@radius': LENGTH, '@length': LENGTH},
    'mesh': {'@filename': NAME, '@scale': Leaf(vector3, '1 1 1')},
    'material': {'@name': TEXT, 'color': BRANCH, 'texture': DRAWN},
    'color': {'@rgba': Leaf(several(between(number, 0, 1), 4), REQUIRED)},
    'joint': {
        '@name': NAME, '@type': NAME, 'origin': BRANCH, 'parent': BRANCH, 'child': BRANCH,
        'axis': BRANCH, 'limit': BRANCH, 'dynamics': BRANCH, 'mimic': BRANCH,
        'calibration': CONTROL, 'safety_controller': CONTROL},
    'parent': END,
    'child': END,
    'axis': {'@xyz': Leaf(unit_vector, '1 0 0')},
    'limit': {
        '@lower': Leaf(extended_number, '0'), '@upper': Leaf(extended_number, '0'),
        '@effort': STRENGTH, '@velocity': STRENGTH,
        '@acceleration': Warned('accelerations are not limited'),
        '@deceleration': Warned('accelerations are not limited'),
        '@jerk': Warned('accelerations are not limited')},
    'dynamics': {'@damping': PASSIVE, '@friction': PASSIVE},
    'mimic': {'@joint': NAME, '@multiplier': Leaf(number, '1'), '@offset': Leaf(number, '0')},
}

# what Gazebo's own block says of a link, a joint or the whole robot, and where SDFormat says it
SURFACE = {
    'mu1': ('friction', 'ode', 'mu'), 'mu2': ('friction', 'ode', 'mu2'),
    'fdir1': ('friction', 'ode', 'fdir1'), 'kp': ('contact', 'ode', 'kp'),
    'kd': ('contact', 'ode', 'kd'), 'maxVel': ('contact', 'ode', 'max_vel'),
    'minDepth': ('contact', 'ode', 'min_depth')}
OF_LINK = {'selfCollide': 'self_collide', 'gravity': 'gravity'}
OF_JOINT = {'springReference': 'spring_reference', 'springStiffness': 'spring_stiffness'}
OF_ROBOT = {'static': 'static'}
READ = {
    'link': (*SURFACE, *OF_LINK, 'turnGravityOff', 'sensor'), 'joint': (*OF_JOINT, 'sensor'),
    'robot': tuple(OF_ROBOT)}
PASSED_BY: dict[str, Quiet] = {
    'plugin': PLUGIN, 'material': DRAWN, 'visual': DRAWN, 'laserRetro': DRAWN,
    'maxContacts': ENGINE, 'stopCfm': ENGINE, 'stopErp': ENGINE, 'fudgeFactor': ENGINE,
    'cfmDamping': ENGINE, 'implicitSpringDamper': ENGINE, 'provideFeedback': ENGINE,
    'disableFixedJointLumping': Quiet('no link is lumped'),
    'preserveFixedJoint': Quiet('no link is lumped'),
    'canonicalBody': Quiet('the root link is the first')}


def parse_urdf(robot: XmlElement, report: Report) -> Root:
    """
    Read a URDF document.

    :param robot: Its root element ``<robot>``.
    :param report: Takes errors and warnings.
    :returns: What it says, as a file of one model; empty if there was an error.
    """
    root = parse(urdf_as_sdf(robot, report), report)
    return replace(root, models=()) if report.errors else root


def urdf_as_sdf(robot: XmlElement, report: Report) -> XmlElement:
    """
    Rewrite a URDF document.

    :param robot: Its root element ``<robot>``.
    :param report: Takes errors and warnings.
    :returns: The root element of a document of SDFormat 1.12; useful only if there was no error.
    """
    return _Robot(robot, report).as_sdf()


class _Robot:
    """A robot with its names looked up, on its way to SDFormat."""

    def __init__(self, robot: XmlElement, report: Report):
        self.robot = robot
        self.report = report
        self.warned: dict[str, list[Location]] = {}
        self.check_known()
        self.links = self.named('link')
        self.joints = self.named('joint')
        self.ends = {joint: (self.end(joint, 'parent'), self.end(joint, 'child'))
                     for joint in robot.all('joint')}
        """By joint, the names of parent and child; empty where there is no such link."""
        self.held: dict[str, XmlElement] = {}
        """By link, the joint that it hangs on."""
        self.check_tree()
        self.world = self.find_world()
        self.colours = dict(self.read_colours())
        self.said: dict[tuple[str, str], list[XmlElement]] = {}
        """What ``<gazebo>`` says of ``link``, ``joint`` or ``robot``, by that and the name."""
        self.read_blocks()

    def as_sdf(self) -> XmlElement:
        """Rewrite it all."""
        sdf = XmlElement('sdf', {'version': '1.12'}, '', self.robot.location)
        model = add(sdf, 'model', self.robot, name=self.text(self.robot, 'name') or 'robot')
        for entry in self.said_of('robot', '', OF_ROBOT):
            add(model, OF_ROBOT[entry.tag], entry, gazebo_text(entry))
        for child in self.robot.children:
            name = attribute(child, 'name')
            if child.tag == 'link' and name and name not in (self.world, WORLD):
                self.add_link(model, child, name)
            elif child.tag == 'joint' and name:
                self.add_joint(model, child, name)
        for message, places in self.warned.items():
            times = f' ({len(places)} times)' if len(places) > 1 else ''
            self.report.warn('WARNING', places[0], message + times)
        return sdf

    # names and the tree

    def named(self, tag: str) -> dict[str, XmlElement]:
        """Look elements up by name; the first of a name counts."""
        found: dict[str, XmlElement] = {}
        for element in self.robot.all(tag):
            found.setdefault(self.text(element, 'name'), element)
        found.pop('', None)
        return found

    def check_tree(self) -> None:
        """Fill ``held``, and report links that are missing, held twice, or in a circle."""
        is_complete = True
        for joint, (parent, child) in self.ends.items():
            if not parent or not child:
                is_complete = False
            elif parent == child:
                is_complete = False
                self.report.error('JOINT_PARENT_SAME_AS_CHILD', joint.location,
                                  f"{joint.owner}: parent and child are the same, link '{child}'")
            elif child in self.held:
                other = self.held[child]
                self.report.error(
                    'JOINT_CHILD_LINK_INVALID', joint.location,
                    f"{joint.owner}: link '{child}' already hangs on {other.owner} of line "
                    f'{other.location.line}; a link of URDF has one parent (loops need SDFormat)')
            else:
                self.held[child] = joint
        if is_complete:
            self.check_roots()

    def check_roots(self) -> None:
        roots = [name for name in self.links if name not in self.held]
        if len(roots) > 1:
            listed = ', '.join(f"'{name}'" for name in roots[1:])
            self.report.error(
                'ELEMENT_INVALID', self.links[roots[1]].location,
                f"{self.robot.owner}: besides the root link '{roots[0]}' no joint holds "
                f'{listed}; URDF has one root')
        rooted: set[str] = set(roots)
        for start in self.links:
            path: dict[str, None] = {}
            name = start
            while name not in rooted and name not in path:
                path[name] = None
                name, _ = self.ends[self.held[name]]
            if name in path:
                walked = list(path)
                circle = [name, *reversed(walked[walked.index(name):])]
                self.report.error(
                    'JOINT_PARENT_LINK_INVALID', self.held[name].location,
                    f'{self.robot.owner}: links hang on each other in a circle: '
                    + ' -> '.join(f"'{link}'" for link in circle))
            rooted.update(path)

    def end(self, joint: XmlElement, end: str) -> str:
        """Return the link that a joint names as parent or child; empty if there is none."""
        element = self.required(joint, end)
        name = self.text(element, 'link') if element else ''
        if name and name not in self.links:
            assert element is not None
            self.report.error(f'JOINT_{end.upper()}_LINK_INVALID', element.location,
                              f"{joint.owner}: <{end}> '{name}' is not a link"
                              f'{name_hint(name, self.links)}')
            return ''
        return name

    def find_world(self) -> str | None:
        """Return the root link that is only a name for the world."""
        for name, link in self.links.items():
            is_held = name in self.held
            holds = [tag for tag in ('inertial', 'visual', 'collision') if link.first(tag)]
            if name == WORLD and (holds or is_held):
                what = 'no joint can move it' if is_held else f'it has no <{holds[0]}>'
                self.report.error('RESERVED_NAME', link.location,
                                  f"link '{WORLD}' is the world itself: {what}")
            if not is_held and not holds and (name == WORLD or self.is_only_floated_from(name)):
                return name
        return None

    def is_only_floated_from(self, name: str) -> bool:
        """Say whether a root link is there for floating joints, as ``odom`` often is."""
        types = {attribute(joint, 'type') for joint, (parent, _) in self.ends.items()
                 if parent == name}
        return types == {'floating'}

    def sdf_name(self, joint: str) -> str:
        """Return what a joint is called here, where it can't have the name of a link."""
        return f'{joint}_joint' if joint in self.links else joint

    # links

    def add_link(self, model: XmlElement, link: XmlElement, name: str) -> None:
        out = add(model, 'link', link, name=name)
        joint = self.held.get(name)
        if joint is not None and attribute(joint, 'type') == 'floating':
            self.add_pose(out, joint)
        elif joint is not None:
            add(out, 'pose', joint, relative_to=self.sdf_name(attribute(joint, 'name')))
        self.add_inertial(out, link)
        for tag in ('collision', 'visual'):
            self.add_shapes(out, link, tag, name)
        for entry in self.said_of('link', name, OF_LINK):
            add(out, OF_LINK[entry.tag], entry, gazebo_text(entry))
        for entry in self.said_of('link', name, ('turnGravityOff',)):
            add(out, 'gravity', entry, opposite(gazebo_text(entry)))
        for entry in self.said_of('link', name, ('sensor',)):
            self.add_sensor(out, entry, link, name)

    def add_inertial(self, out: XmlElement, link: XmlElement) -> None:
        inertial = link.first('inertial')
        source = inertial or link
        target = add(out, 'inertial', source)
        moments = add(target, 'inertia', source)
        if inertial is None:
            add(target, 'mass', link, '0')
            for moment in URDF['inertia']:
                add(moments, moment.removeprefix('@'), link, '0')
            return
        self.add_pose(target, inertial)
        mass, inertia = self.required(inertial, 'mass'), self.required(inertial, 'inertia')
        if mass:
            add(target, 'mass', mass, self.text(mass, 'value'))
        if inertia:
            for moment in URDF['inertia']:
                add(moments, moment.removeprefix('@'), inertia, self.text(inertia, moment[1:]))

    def add_shapes(self, out: XmlElement, link: XmlElement, tag: str, link_name: str) -> None:
        for shape, name, _ in named_shapes(link, tag, link_name):
            target = add(out, tag, shape, name=name)
            self.add_pose(target, shape)
            geometry = self.required(shape, 'geometry')
            if geometry:
                self.add_geometry(add(target, 'geometry', geometry), geometry)
            if tag == 'visual':
                self.add_colour(target, shape)
            for entry in self.said_of('link', link_name, SURFACE if tag == 'collision' else ()):
                *path, leaf = 'surface', *SURFACE[entry.tag]
                inner = target
                for step in path:
                    inner = inner.first(step) or add(inner, step, entry)
                add(inner, leaf, entry, gazebo_text(entry))

    def add_geometry(self, target: XmlElement, geometry: XmlElement) -> None:
        shapes = [shape for shape in geometry.children if shape.tag in URDF['geometry']]
        if len(shapes) != 1:
            known = ', '.join(f'<{tag}>' for tag in URDF['geometry'])
            self.report.error('ELEMENT_INVALID', geometry.location,
                              f'{geometry.owner}: <geometry> holds {len(shapes)} shapes (needs '
                              f'one of {known})')
            return
        shape = shapes[0]
        names = {'filename': 'uri'} if shape.tag == 'mesh' else {}
        out = add(target, shape.tag, shape)
        for key in URDF[shape.tag]:
            name = key.removeprefix('@')
            add(out, names.get(name, name), shape, self.text(shape, name))

    def add_colour(self, target: XmlElement, visual: XmlElement) -> None:
        material = visual.first('material')
        if material is None:
            return
        name, own = attribute(material, 'name'), material.first('color')
        if own is None and name not in self.colours and material.first('texture') is None:
            self.report.warn('WARNING', material.location,
                             f"{visual.owner}: there is no material '{name}'"
                             f'{name_hint(name, self.colours)}')
        rgba = self.text(own, 'rgba') if own else self.colours.get(name)
        if rgba:
            add(add(target, 'material', material), 'diffuse', material, rgba)

    def add_sensor(self, out: XmlElement, sensor: XmlElement, link: XmlElement, name: str) -> None:
        """Copy a sensor, which is SDFormat, with the collisions named as they are here."""
        copy = sensor.copy(lambda location: location)
        out.adopt(copy)
        ours = {gazebo: own for _, own, gazebo in named_shapes(link, 'collision', name)}
        for contact in copy.all('contact'):
            for collision in contact.all('collision'):
                if collision.text not in ours.values():
                    collision.text = ours.get(collision.text, collision.text)

    # joints

    def add_joint(self, model: XmlElement, joint: XmlElement, name: str) -> None:
        # where an end is missing, any text keeps the reader of SDFormat from saying so again
        parent, child = (end or '?' for end in self.ends[joint])
        joint_type = self.text(joint, 'type')
        if joint_type not in JOINT_TYPES:
            if joint_type:
                is_known = joint_type in REFUSED_TYPES
                problem = 'is not supported' if is_known else 'is unknown'
                hint = name_hint('' if is_known else joint_type, JOINT_TYPES)
                self.report.error('ATTRIBUTE_INVALID', joint.location,
                                  f"{joint.owner}: type '{joint_type}' {problem}{hint}")
            return
        if joint_type == 'floating':
            if parent != self.world:
                self.report.error(
                    'ATTRIBUTE_INVALID', joint.location,
                    f"{joint.owner}: type 'floating' is supported only below a root link that "
                    f"stands for the world and holds nothing, which '{parent}' does not")
            return
        if name in self.links:
            self.report.warn('WARNING', joint.location,
                             f"{joint.owner}: a link has that name too, so the joint is called "
                             f"'{self.sdf_name(name)}'")
        out = add(model, 'joint', joint, name=self.sdf_name(name), type=joint_type)
        add(out, 'parent', joint, WORLD if parent == self.world else parent)
        add(out, 'child', joint, child)
        self.add_pose(out, joint, '__model__' if parent == self.world else parent)
        if joint_type in AXIS_TYPES:
            self.add_axis(out, joint, name)
        for entry in self.said_of('joint', name, ('sensor',)):
            out.adopt(entry.copy(lambda location: location))

    def add_axis(self, out: XmlElement, joint: XmlElement, name: str) -> None:
        written = joint.first_or_empty('axis')
        axis = add(out, 'axis', written)
        add(axis, 'xyz', written, self.text(written, 'xyz'))
        is_bounded = attribute(joint, 'type') != 'continuous'
        bounds = self.required(joint, 'limit') if is_bounded else joint.first('limit')
        if bounds:
            self.add_limit(axis, bounds, is_bounded)
        passive = joint.first_or_empty('dynamics')
        dynamics = add(axis, 'dynamics', passive)
        for key in ('damping', 'friction'):
            add(dynamics, key, passive, self.text(passive, key))
        for entry in self.said_of('joint', name, OF_JOINT):
            add(dynamics, OF_JOINT[entry.tag], entry, gazebo_text(entry))
        mimic = joint.first('mimic')
        if mimic:
            self.add_mimic(axis, mimic)

    def add_limit(self, axis: XmlElement, bounds: XmlElement, is_bounded: bool) -> None:
        target = add(axis, 'limit', bounds)
        if is_bounded:
            lower, upper = self.text(bounds, 'lower'), self.text(bounds, 'upper')
            if extended_number(lower) > extended_number(upper):
                self.report.error(
                    'ELEMENT_INVALID', bounds.location,
                    f'{bounds.owner}: the lower limit {lower} is above the upper limit {upper}')
                lower = upper
            add(target, 'lower', bounds, effective(lower))
            add(target, 'upper', bounds, effective(upper))
        effort, velocity = self.text(bounds, 'effort'), self.text(bounds, 'velocity')
        if effort and strength(effort) == 0:
            self.warn(bounds, 'an effort limit of 0 in <limit>: no command can move that joint')
        add(target, 'effort', bounds, effective(effort))
        add(target, 'velocity', bounds, effective(velocity))

    def add_mimic(self, axis: XmlElement, mimic: XmlElement) -> None:
        leader = self.text(mimic, 'joint')
        if leader and leader not in self.joints:
            self.report.error(
                'JOINT_AXIS_MIMIC_INVALID', mimic.location,
                f"{mimic.owner}: <mimic> names '{leader}', which is not a joint"
                f'{name_hint(leader, self.joints)}')
        target = add(axis, 'mimic', mimic, joint=self.sdf_name(leader))
        for name in ('multiplier', 'offset'):
            add(target, name, mimic, self.text(mimic, name))

    # what both have

    def add_pose(self, out: XmlElement, holder: XmlElement, relative_to: str = '') -> None:
        """Write the ``<origin>`` of an element as a pose."""
        origin = holder.first_or_empty('origin')
        xyz, rpy, quaternion = (self.text(origin, name) for name in ('xyz', 'rpy', 'quat_xyzw'))
        attributes = {'relative_to': relative_to} if relative_to else {}
        if quaternion:
            attributes['rotation_format'] = 'quat_xyzw'
            if 'rpy' in origin.attributes:
                self.report.error('ATTRIBUTE_INVALID', origin.location,
                                  f'{origin.owner}: <origin> has both rpy and quat_xyzw')
        add(out, 'pose', origin, f'{xyz} {quaternion or rpy}', **attributes)

    def read_colours(self) -> Iterator[tuple[str, str]]:
        """Yield all named colours; those in visuals count everywhere, the robot's own first."""
        visuals = [visual for link in self.robot.all('link') for visual in link.all('visual')]
        for holder in (*reversed(visuals), self.robot):
            for material in reversed(holder.all('material')):
                colour, name = material.first('color'), attribute(material, 'name')
                if colour and name:
                    # a visual's own is read, and judged, where the visual is
                    yield name, self.text(colour, 'rgba', is_judged=holder is self.robot)

    # the rest

    def read_blocks(self) -> None:
        """Fill ``said``, and warn by name of what is not read."""
        for gazebo in self.robot.all('gazebo'):
            name = attribute(gazebo, 'reference')
            about = [tag for tag, known in (('link', self.links), ('joint', self.joints))
                     if name in known] if name else ['robot']
            if not about:
                known = (*self.links, *self.joints)
                self.warn(gazebo, f"<gazebo reference='{name}'> names no link or joint and is "
                          f'ignored{did_you_mean(name, known)}')
                continue
            for entry in gazebo.children:
                is_read = False
                for tag in about:
                    if entry.tag in READ[tag]:
                        is_read = True
                        self.said.setdefault((tag, name), []).append(entry)
                if not is_read and entry.tag not in PASSED_BY and ':' not in entry.tag:
                    self.warn(entry, f'<{entry.tag}> in <gazebo> of a {about[0]} is not read'
                              + did_you_mean(entry.tag, READ[about[0]]))

    def said_of(self, about: str, name: str, tags: Iterable[str]) -> list[XmlElement]:
        """Return what ``<gazebo>`` says of one thing."""
        return [entry for entry in self.said.get((about, name), ()) if entry.tag in tags]

    def check_known(self) -> None:
        """Warn by name of what is not URDF, and refuse what still has to become URDF."""
        stack = [self.robot]
        while stack:
            element = stack.pop()
            table = URDF[element.tag]
            names = [(f'@{name}', element) for name in element.attributes]
            names += [(child.tag, child) for child in element.children]
            for name, place in names:
                entry = table.get(name)
                shown = f'attribute {name[1:]}' if name.startswith('@') else f'<{name}>'
                if name.startswith('xacro:'):
                    self.report.error('ELEMENT_INVALID', place.location,
                                      f'{shown}: this is xacro, which makes URDF; run xacro first')
                elif ':' in name:
                    continue
                elif isinstance(entry, Branch):
                    stack.append(place)
                elif isinstance(entry, Warned):
                    self.warn(place, f'{shown} in <{element.tag}>: {entry.why}')
                elif entry is None:
                    near = [known for known in table if known.startswith('@') == (name[0] == '@')]
                    hint = did_you_mean(name, near).replace('@', '')
                    self.warn(place, f'{shown} in <{element.tag}> is not URDF and is ignored'
                              + hint)

    def warn(self, place: XmlElement, message: str) -> None:
        self.warned.setdefault(message, []).append(place.location)

    def required(self, element: XmlElement, tag: str) -> XmlElement | None:
        """Return a child that has to be there."""
        child = element.first(tag)
        if child is None:
            self.report.error('ELEMENT_MISSING', element.location,
                              f'{element.owner}: <{tag}> of <{element.tag}> is missing')
        return child

    def text(self, element: XmlElement, name: str, *, is_judged: bool = True) -> str:
        """Return the text of an attribute, its default if that can't be read."""
        entry = URDF[element.tag][f'@{name}']
        assert isinstance(entry, Leaf)
        text = attribute(element, name)
        default = '' if entry.default is REQUIRED else entry.default
        code = problem = ''
        if text:
            try:
                entry.read(text)
            except ValueError as error:
                code, problem = 'ATTRIBUTE_INVALID', f'{name} of <{element.tag}> {error}'
        elif entry.default is REQUIRED:
            code, problem = 'ATTRIBUTE_MISSING', f"<{element.tag}> needs an attribute '{name}'"
        if problem and is_judged:
            self.report.error(code, element.location, f'{element.owner}: {problem}')
        return default if problem else text or default


def attribute(element: XmlElement, name: str) -> str:
    """
    Return the text of an attribute as it is.

    :param element: The element.
    :param name: Name of the attribute.
    :returns: The text without blanks around it; empty if there is none.
    """
    return element.attributes.get(name, '').strip()


def add(parent: XmlElement, tag: str, source: XmlElement, text: str = '',
        **attributes: str) -> XmlElement:
    """
    Write an element of SDFormat.

    :param parent: Takes it as its last child.
    :param tag: Its tag.
    :param source: The element of URDF that it stands for, which gives its place.
    :param text: Its text.
    :param attributes: Its attributes.
    :returns: The element.
    """
    element = XmlElement(tag, attributes, text, source.location)
    parent.adopt(element)
    return element


def effective(text: str) -> str:
    """
    Write a limit so large that it means none as SDFormat does; URDF has no word for it.

    :param text: The limit; empty if it could not be read.
    :returns: The same, or an infinity.
    """
    if text and math.isinf(effective_bound(extended_number(text))):
        return '-inf' if text.startswith('-') else 'inf'
    return text


def named_shapes(link: XmlElement, tag: str,
                 link_name: str) -> Iterator[tuple[XmlElement, str, str]]:
    """
    Name the collisions or visuals of a link, whose names are optional and may repeat in URDF.

    :param link: The link.
    :param tag: ``collision`` or ``visual``.
    :param link_name: Its name.
    :returns: For each the element, its name, and the name that Gazebo would give it.
    """
    taken: set[str] = set()
    for count, shape in enumerate(link.all(tag)):
        written = attribute(shape, 'name')
        suffix = f'_{count}' if count else ''
        gazebo = f'{written or link_name}_{tag}{suffix}'
        name = gazebo if not written or written in taken else written
        while name in taken:
            name += '_'
        taken.add(name)
        yield shape, name, gazebo


def gazebo_text(entry: XmlElement) -> str:
    """
    Return what an entry of ``<gazebo>`` says, as a text or in an attribute.

    :param entry: For example ``<mu1>0.8</mu1>`` or ``<mu1 value="0.8"/>``.
    :returns: The text.
    """
    return entry.text or entry.attributes.get('value', '')


def opposite(text: str) -> str:
    """
    Negate a truth value.

    :param text: ``true``, ``false`` or a like.
    :returns: The other one; what is neither stays, for the reader of SDFormat to refuse.
    """
    try:
        return 'false' if boolean(text) else 'true'
    except ValueError:
        return text
