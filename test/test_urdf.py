"""URDF that is read: the meaning it has in ROS, and in Pinocchio's reader."""
import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import random_inertial
import needs
import spr_dynamics
from spr_dynamics.errors import SdfError, SprDynamicsError
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, elements, read
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.frames import FrameGraph
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.urdf_read import parse_urdf
from spr_dynamics.sdformat.urdf_write import urdf_from_assembly
from spr_dynamics.sdformat.xml import parse_xml

# all that ship, but for the one with a loop, which URDF can't say
MODELS = [path for path in sorted((needs.REPOSITORY / 'models').glob('*.sdf'))
          if path.stem != 'four_bar']

INERTIAL = ('<inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><mass value="2"/>'
            '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial>')
LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'


def root_of(text):
    """Read URDF as `read` does."""
    report = Report()
    root = parse_urdf(parse_xml(text, '<text>'), report)
    FrameGraph(root, report)
    report.raise_errors()
    return root


def assembly_of(text):
    return assemble(root_of(text))


def robot(body):
    return f'<robot name="r">\n{body}\n</robot>'


def link(name, body=INERTIAL):
    return f'<link name="{name}">{body}</link>\n'


def joint(name, kind, parent, child, body=LIMIT):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>\n{body}</joint>\n')


def two_links(kind='revolute', body=LIMIT):
    return robot(link('a') + link('b') + joint('j', kind, 'a', 'b', body))


def only_link(body):
    return robot(link('a', INERTIAL + body))


def warnings_of(text):
    return [str(warning) for warning in root_of(text).warnings]


# what URDF means

def test_link_frame_is_the_frame_of_its_joint():
    body = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><axis xyz="0 2 0"/>' + LIMIT
    second = joint('k', 'prismatic', 'b', 'c', '<origin xyz="1 0 0"/>' + LIMIT)
    assembly = assembly_of(robot(
        link('c') + link('b') + link('a') + second + joint('j', 'revolute', 'a', 'b', body)))
    poses = {placed.name: placed.T_WL.p for placed in assembly.links}
    np.testing.assert_allclose(poses['a'], [0, 0, 0])
    np.testing.assert_allclose(poses['b'], [1, 2, 3])
    np.testing.assert_allclose(poses['c'], [1, 3, 3], atol=1e-15)
    k, j = assembly.joints
    np.testing.assert_allclose(j.T_WJ.p, [1, 2, 3])
    np.testing.assert_allclose(j.axes, [[0, 1, 0]])
    np.testing.assert_allclose(k.axes, [[1, 0, 0]])  # not SDFormat's 0 0 1


def test_origin_can_be_a_quaternion():
    text = two_links('fixed', '<origin xyz="1 0 0" quat_xyzw="0 0 1 1"/>')
    T = assembly_of(text).links[1].T_WL
    np.testing.assert_allclose(T.R, Pose.from_rpy([0, 0, 0], [0, 0, np.pi / 2]).R, atol=1e-15)


def test_limits_and_dynamics():
    text = two_links(body=LIMIT + '<dynamics damping="0.5" friction="0.25"/>')
    axis = assembly_of(text).joints[0].element.axis
    limit = axis.limit
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (-1, 2, 10, 3)
    assert (axis.damping, axis.friction) == (0.5, 0.25)


def test_limit_without_bounds_is_shut():
    text = two_links(body='<limit effort="1" velocity="1"/>')
    limit = assembly_of(text).joints[0].element.axis.limit
    assert (limit.lower, limit.upper) == (0, 0)


def test_continuous_joint_needs_no_limit():
    limit = assembly_of(two_links('continuous', '')).joints[0].element.axis.limit
    assert (limit.lower, limit.upper, limit.effort) == (-np.inf, np.inf, np.inf)


def test_link_without_inertial_has_no_mass():
    inertial = assembly_of(robot(link('a') + link('b', '') + joint('j', 'fixed', 'a', 'b', ''))
                           ).links[1].element.inertial
    assert inertial.mass == 0
    assert not inertial.inertia.any()


def test_root_link_named_world_is_the_world():
    assembly = assembly_of(robot(link('world', '') + link('a') + joint(
        'j', 'continuous', 'world', 'a', '<origin xyz="0 0 1"/>')))
    assert [placed.name for placed in assembly.links] == ['a']
    assert assembly.joints[0].parent == -1
    np.testing.assert_allclose(assembly.joints[0].T_WJ.p, [0, 0, 1])
    assert not build(assembly).free_roots


@pytest.mark.parametrize('root', ['world', 'odom'])
def test_floating_joint_of_the_world_makes_a_free_root(root):
    model = build(assembly_of(robot(link(root, '') + link('a') + joint(
        'j', 'floating', root, 'a', '<origin xyz="0 0 1"/>'))))
    assert [free.name for free in model.free_roots] == ['a']
    np.testing.assert_allclose(model.home, [0, 0, 1, 1, 0, 0, 0])


def test_other_roots_are_free():
    assert [free.name for free in build(assembly_of(two_links())).free_roots] == ['a']


def test_mimic_has_reference_zero():
    text = robot(link('a') + link('b') + link('c') + joint('j', 'revolute', 'a', 'b') + joint(
        'k', 'revolute', 'a', 'c', LIMIT + '<mimic joint="j" multiplier="-2" offset="0.5"/>'))
    mimic = root_of(text).models[0].joints[1].axis.mimic
    assert (mimic.joint, mimic.axis) == ('j', 'axis')
    assert (mimic.multiplier, mimic.offset, mimic.reference) == (-2, 0.5, 0)


def test_mimic_defaults():
    text = robot(link('a') + link('b') + link('c') + joint('j', 'revolute', 'a', 'b') + joint(
        'k', 'revolute', 'a', 'c', LIMIT + '<mimic joint="j"/>'))
    mimic = root_of(text).models[0].joints[1].axis.mimic
    assert (mimic.multiplier, mimic.offset) == (1, 0)


def test_fixed_joint_ignores_what_exporters_write_in_it():
    body = '<axis xyz="0 0 0"/><limit lower="0" upper="0"/><safety_controller k_velocity="0"/>'
    text = two_links('fixed', body)
    assert assembly_of(text).joints[0].element.axis is None
    assert not warnings_of(text)


def test_shapes():
    shapes = {
        'box size="1 2 3"': elements.Box, 'sphere radius="0.5"': elements.Sphere,
        'cylinder radius="0.5" length="2"': elements.Cylinder,
        'capsule radius="0.5" length="2"': elements.Capsule,
        'mesh filename="package://p/a.stl" scale="1 1 -1"': elements.Mesh}
    body = ''.join(f'<collision><origin xyz="0 0 {k}"/><geometry><{shape}/></geometry>'
                   '</collision>' for k, shape in enumerate(shapes))
    placed = assembly_of(only_link(body)).links[0].collisions
    assert [type(shape.element.geometry) for shape in placed] == list(shapes.values())
    assert [shape.T_LS.p[2] for shape in placed] == [0, 1, 2, 3, 4]
    assert [shape.name for shape in placed][:2] == ['a_collision', 'a_collision_1']  # as Gazebo
    np.testing.assert_array_equal(placed[0].element.geometry.size, [1, 2, 3])
    mesh = placed[4].element.geometry
    assert mesh.uri == 'package://p/a.stl'
    np.testing.assert_array_equal(mesh.scale, [1, 1, -1])


def test_names_of_shapes_may_repeat():
    ball = '<collision name="c"><geometry><sphere radius="1"/></geometry></collision>'
    placed = assembly_of(only_link(ball + ball)).links[0].collisions
    assert [shape.name for shape in placed] == ['c', 'c_collision_1']


def test_colours_have_names():
    def visual(material):
        return f'<visual><geometry><box size="1 1 1"/></geometry>{material}</visual>'
    text = robot('<material name="red"><color rgba="1 0 0 1"/></material>' + link(
        'a', visual('<material name="red"/>') + visual(
            '<material name="blue"><color rgba="0 0 1 0.5"/></material>')
        + visual('<material name="rad"/>') + visual('')) + link(
            'b', visual('<material name="blue"/>')) + joint('j', 'fixed', 'a', 'b', ''))
    a, b = assembly_of(text).links
    assert [None if shape.element.diffuse is None else shape.element.diffuse.tolist()
            for shape in (*a.visuals, *b.visuals)] == [
                [1, 0, 0, 1], [0, 0, 1, 0.5], None, None, [0, 0, 1, 0.5]]
    assert warnings_of(text) == [
        "<text>:2: link 'a': there is no material 'rad' (did you mean 'red'?)"]


def test_joint_with_the_name_of_a_link_is_renamed():
    text = robot(link('a') + link('arm') + joint('arm', 'revolute', 'a', 'arm'))
    assert [placed.name for placed in assembly_of(text).joints] == ['arm_joint']
    assert warnings_of(text) == [
        "<text>:4: joint 'arm': a link has that name too, so the joint is called 'arm_joint'"]


# what Gazebo adds

def test_gazebo_block_gives_friction_springs_and_sensors():
    ball = '<collision><geometry><sphere radius="1"/></geometry></collision>'
    text = robot(
        link('a', INERTIAL + ball) + link('b') + joint('j', 'revolute', 'a', 'b')
        + '<gazebo reference="a"><mu1>0.5</mu1><mu2 value="0.25"/><kp>1e5</kp>'
          '<selfCollide>true</selfCollide>'
          '<sensor name="s" type="contact"><update_rate>50</update_rate><contact>'
          '<collision>a_collision</collision></contact></sensor></gazebo>'
          '<gazebo reference="j"><springStiffness>3</springStiffness>'
          '<springReference>0.5</springReference></gazebo>'
          '<gazebo><plugin name="p" filename="f"/></gazebo>')
    assembly = assembly_of(text)
    a, axis = assembly.links[0], assembly.joints[0].element.axis
    surface = a.collisions[0].element.surface
    assert (surface.mu, surface.mu2, surface.kp) == (0.5, 0.25, 1e5)
    assert a.self_collide
    assert a.sensors[0].element.collisions == ('a_collision',)
    assert (axis.spring_stiffness, axis.spring_reference) == (3, 0.5)
    assert not assembly.warnings


def test_sensor_may_name_a_collision_as_gazebo_does():
    text = only_link('<collision name="pad"><geometry><sphere radius="1"/></geometry></collision>'
                     ) .replace('</robot>', '<gazebo reference="a"><sensor name="s" '
                                'type="contact"><contact><collision>pad_collision</collision>'
                                '</contact></sensor></gazebo></robot>')
    assert assembly_of(text).links[0].sensors[0].element.collisions == ('pad',)


@pytest.mark.parametrize('block, warning', [
    ('<gazebo reference="a"><dampingFactor>0.1</dampingFactor></gazebo>',
     '<dampingFactor> in <gazebo> of a link is not read'),
    ('<gazebo reference="a"><mu3>1</mu3></gazebo>',
     "<mu3> in <gazebo> of a link is not read (did you mean 'mu"),
    ('<gazebo reference="aa"><mu1>1</mu1></gazebo>',
     "<gazebo reference='aa'> names no link or joint and is ignored (did you mean 'a'?)"),
    ('<gazebo><gravity>false</gravity></gazebo>', '<gravity> in <gazebo> of a robot is not read'),
    ('<links/>', "<links> in <robot> is not URDF and is ignored (did you mean 'link'?)"),
])
def test_warnings(block, warning):
    warnings = warnings_of(only_link('').replace('</robot>', block + '</robot>'))
    assert len(warnings) == 1
    assert warnings[0].startswith('<text>:4: ' + warning)


@pytest.mark.parametrize('block', [
    '<transmission name="t"><type>x</type></transmission>', '<ros2_control name="c"/>',
    '<gazebo reference="a"><material>Gazebo/Blue</material></gazebo>', '<own:thing/>'])
def test_silent(block):
    assert not warnings_of(only_link('').replace('</robot>', block + '</robot>'))


def test_gravity_off_is_heard():
    block = '<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo></robot>'
    root = root_of(only_link('').replace('</robot>', block))
    assert not root.models[0].links[0].gravity


def test_gazebo_block_makes_a_robot_static():
    block = '<gazebo><static>true</static></gazebo></robot>'
    assert assembly_of(only_link('').replace('</robot>', block)).links[0].is_static


def test_effort_of_zero_is_warned_about():
    text = two_links(body='<limit lower="0" upper="1" effort="0" velocity="1"/>')
    assert warnings_of(text) == [
        '<text>:5: an effort limit of 0 in <limit>: no command can move that joint']


# what is refused

REFUSED = {
    'no_name': ('<robot>' + link('a') + '</robot>',
                "1: <robot>: <robot> needs an attribute 'name'"),
    'no_link': (robot(''), "1: model 'r': a model needs at least one <link>"),
    'link_name': (robot('<link/>' + link('a')), "2: robot 'r': <link> needs an attribute 'name'"),
    'two_roots': (robot(link('a') + link('b') + link('c') + joint('j', 'fixed', 'a', 'c', '')),
                  "3: robot 'r': besides the root link 'a' no joint holds 'b'; URDF has one root"),
    'circle': (robot(link('r') + link('a') + link('b') + joint('j', 'continuous', 'a', 'b')
                     + joint('k', 'continuous', 'b', 'a')),
               "7: robot 'r': links hang on each other in a circle: 'a' -> 'b' -> 'a'"),
    'two_parents': (robot(link('a') + link('b') + link('c') + joint('j', 'fixed', 'a', 'b', '')
                          + joint('k', 'fixed', 'a', 'c', '') + joint('l', 'fixed', 'b', 'c', '')),
                    "9: joint 'l': link 'c' already hangs on joint 'k' of line 7"),
    'same_ends': (robot(link('a') + joint('j', 'fixed', 'a', 'a', '')),
                  "3: joint 'j': parent and child are the same, link 'a'"),
    'same_names': (robot(link('a') + link('a')),
                   "3: model 'r': link 'a' has the name of the link"),
    'no_link_of_that_name': (
        robot(link('arm') + link('b') + joint('j', 'fixed', 'amr', 'b', '')),
        "4: joint 'j': <parent> 'amr' is not a link (did you mean 'arm'?)"),
    'no_child': (robot(link('a') + '<joint name="j" type="fixed"><parent link="a"/></joint>'),
                 "3: joint 'j': <child> of <joint> is missing"),
    'type': (two_links('revolut'), "4: joint 'j': type 'revolut' is unknown (did you mean 'rev"),
    'no_type': (two_links(''), "4: joint 'j': <joint> needs an attribute 'type'"),
    'planar': (two_links('planar'), "4: joint 'j': type 'planar' is not supported (known: "),
    'floating': (two_links('floating', ''), "4: joint 'j': type 'floating' is supported only"),
    'no_limit': (two_links('prismatic', ''), "4: joint 'j': <limit> of <joint> is missing"),
    'no_effort': (two_links(body='<limit velocity="1"/>'),
                  "5: joint 'j': <limit> needs an attribute 'effort'"),
    'limits': (two_links(body='<limit lower="1" upper="0" effort="1" velocity="1"/>'),
               "5: joint 'j': the lower limit 1 is above the upper limit 0"),
    'axis': (two_links(body='<axis xyz="0 0 0"/>' + LIMIT),
             "5: joint 'j': xyz of <axis> '0 0 0' has length zero"),
    'number': (two_links(body='<origin xyz="0 0 1m"/>' + LIMIT),
               "5: joint 'j': xyz of <origin> '1m' is not a finite number"),
    'rotation': (two_links(body='<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>' + LIMIT),
                 "5: joint 'j': <origin> has both rpy and quat_xyzw"),
    'mimic': (two_links(body=LIMIT + '<mimic joint="jj"/>'),
              "5: joint 'j': <mimic> names 'jj', which is not a joint (did you mean 'j'?)"),
    'mass': (robot(link('a', INERTIAL.replace('mass value="2"', 'mass value="-1"'))),
             "2: link 'a': value of <mass> '-1' is out of range"),
    'inertia': (robot(link('a', '<inertial><mass value="1"/></inertial>')),
                "2: link 'a': <inertia> of <inertial> is missing"),
    'impossible_inertia': (
        robot(link('a', INERTIAL.replace('0.04', '0.4'))),
        "2: link 'a': no body has this inertia"),
    'no_geometry': (only_link('<collision/>'), "2: link 'a': <geometry> of <collision> is miss"),
    'no_shape': (only_link('<visual name="v"><geometry/></visual>'),
                 "2: visual 'v': <geometry> holds 0 shapes (needs one of <box>, <cylinder>"),
    'colour': (robot('<material name="m"><color rgba="255 0 0 1"/></material>' + link('a')),
               "2: material 'm': rgba of <color> '255' is out of range"),
    'world_holds': (robot(link('world') + link('a') + joint('j', 'fixed', 'world', 'a', '')),
                    "2: link 'world' is the world itself: it has no <inert"),
    'world_held': (robot(link('a') + link('world', '') + joint('j', 'fixed', 'a', 'world', '')),
                   "3: link 'world' is the world itself: no joint can move it"),
    'xacro': (robot('<xacro:include filename="f"/>' + link('a')),
              '2: <xacro:include>: this is xacro, which makes URDF; run xacro first'),
}


@pytest.mark.parametrize('text, message', REFUSED.values(), ids=REFUSED)
def test_refused(text, message):
    with pytest.raises(SdfError) as caught:
        root_of(text)
    lines = str(caught.value).splitlines()
    assert any(line.startswith('<text>:' + message) for line in lines)
    assert len(lines) == 1, 'one mistake, one line'


def test_all_errors_come_at_once():
    text = robot(link('a', '<inertial><mass value="x"/></inertial>')
                 + link('b') + joint('j', 'revolute', 'a', 'b', '<axis xyz="1"/>'))
    with pytest.raises(SdfError) as caught:
        root_of(text)
    assert len(str(caught.value).splitlines()) == 4  # mass, inertia, axis, limit


@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_files_are_read_or_refused(seed):
    rng = np.random.default_rng(seed)
    ball = '<collision name="c"><geometry><sphere radius="1"/></geometry></collision>'
    text = random_urdf(rng, 4).replace('</robot>', (
        link('ball', ball) + joint('weld', 'fixed', 'link0', 'ball', '')
        + '<gazebo reference="joint1"><springStiffness>1</springStiffness></gazebo>'
          '<gazebo reference="ball"><mu1>1</mu1><turnGravityOff>0</turnGravityOff></gazebo>'
          '</robot>'))
    pieces = re.findall(r'<[^>]*>|[^<]+', text)
    for _ in range(rng.integers(1, 4)):
        k, other = rng.integers(1, len(pieces), 2)
        change = rng.integers(4)
        if change == 0:
            pieces[k] = ''
        elif change == 1:
            pieces[k] = pieces[other]
        elif change == 2:
            pieces[k] = re.sub(r'"[^"]*"', lambda _: str(rng.choice(
                ['""', '"x"', '"world"', '"link1"', '"floating"', '"1e999"', '" 0 "'])), pieces[k],
                count=1)
        else:
            pieces[k] = re.sub(r' \w+="[^"]*"', '', pieces[k], count=1)
    try:
        build(assembly_of(''.join(pieces)))
    except SprDynamicsError:
        pass


# Pinocchio's reader, urdfdom

def pinocchio_mass_matrix(pin, model, theirs, q):
    """Compute their inertia matrix in our order, for robots that are fixed to the world."""
    q_theirs, order = np.zeros(theirs.nq), np.zeros(model.nv, int)
    for joint in model.joints:
        like = theirs.joints[theirs.getJointId(joint.name)]
        order[joint.v] = like.idx_v
        if like.nq == 2:
            q_theirs[like.idx_q:like.idx_q + 2] = np.cos(q[joint.q]), np.sin(q[joint.q])
        else:
            q_theirs[like.idx_q] = q[joint.q]
    M = np.triu(pin.crba(theirs, theirs.createData(), q_theirs))
    return (M + np.triu(M, 1).T)[np.ix_(order, order)]


def assert_like_pinocchio(text, rng):
    pin = needs.module('pinocchio')
    theirs = pin.buildModelFromXML(text)
    model = build(assembly_of(text), fix_base=True)
    assert model.nv == theirs.nv
    for _ in range(2):
        q = rng.uniform(-3, 3, model.nq)
        np.testing.assert_allclose(
            spr_dynamics.mass_matrix(model, q), pinocchio_mass_matrix(pin, model, theirs, q),
            rtol=1e-10, atol=1e-10)


def random_urdf(rng, n_links):
    """Draw a URDF with all kinds of joints, defaults left out now and then."""
    def numbers(values):
        return ' '.join(repr(float(value)) for value in values)

    def origin():
        parts = [f'xyz="{numbers(rng.uniform(-1, 1, 3))}"', f'rpy="{numbers(rng.normal(size=3))}"']
        return f'<origin {" ".join(part for part in parts if rng.uniform() < 0.7)}/>'

    text = ''
    for k in range(n_links):
        inertial = random_inertial(rng)
        moments = ' '.join(f'i{"xyz"[i]}{"xyz"[j]}="{float(inertial.inertia[i, j])!r}"'
                           for i in range(3) for j in range(i, 3))
        text += link(f'link{k}', f'<inertial>{origin()}<mass value="{inertial.mass!r}"/>'
                                 f'<inertia {moments}/></inertial>')
        if k:
            kind = str(rng.choice(['revolute', 'continuous', 'prismatic', 'fixed']))
            axis = f'<axis xyz="{numbers(rng.normal(size=3))}"/>' if rng.uniform() < 0.8 else ''
            text += joint(f'joint{k}', kind, f'link{rng.integers(k)}', f'link{k}',
                          origin() + axis + ('' if kind == 'fixed' else LIMIT))
    return robot(text)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_links=st.integers(1, 8))
def test_random_trees_weigh_as_in_pinocchio(seed, n_links):
    rng = np.random.default_rng(seed)
    assert_like_pinocchio(random_urdf(rng, n_links), rng)


@pytest.mark.parametrize('path', MODELS, ids=lambda path: path.stem)
def test_pinocchio_reads_what_is_written(path):
    pin = needs.module('pinocchio')
    assembly = assemble(read(path))
    model = build(assembly, fix_base=True)
    theirs = pin.buildModelFromXML(urdf_from_assembly(assembly, path.stem).text)
    free = theirs.nv - model.nv  # a floating joint of URDF is six more
    assert free == 6 * len(build(assembly).free_roots)
    if not free:
        rng = np.random.default_rng(1)
        q = rng.uniform(-1, 1, model.nq)
        np.testing.assert_allclose(
            spr_dynamics.mass_matrix(model, q), pinocchio_mass_matrix(pin, model, theirs, q),
            rtol=1e-10, atol=1e-10)
