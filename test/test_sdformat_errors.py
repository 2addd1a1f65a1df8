"""Bad files: one clear line for each problem, with file and line, and only SdfError."""

import time

import pytest
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import add_world, assemble, read


def model(body, attributes=''):
    return f'<sdf version="1.12">\n<model name="m" {attributes}>\n{body}\n</model></sdf>'


def two_links(joint):
    return model(f'<link name="a"/>\n<link name="b"/>\n{joint}')


def joint(body='', joint_type='revolute', ends='<parent>a</parent><child>b</child>'):
    return two_links(f'<joint name="j" type="{joint_type}">{ends}\n{body}</joint>')


def in_link(body):
    return model(f'<link name="a">\n{body}</link>')


def axis(body):
    return joint(f'<axis>{body}</axis>')


def inertia(xx, yy, zz):
    return in_link(f'<inertial><inertia><ixx>{xx}</ixx><iyy>{yy}</iyy><izz>{zz}</izz></inertia>'
                   '</inertial>')


def collision(body):
    return in_link(f'<collision name="c"><geometry><sphere/></geometry>{body}</collision>')


def contact_sensor(body):
    return in_link('<collision name="pad"/><collision name="back"/>\n'
                   f'<sensor name="s" type="contact">{body}</sensor>')


XYZ = '<xyz>0 0 1</xyz>'
BOMB = ('<?xml version="1.0"?>\n<!DOCTYPE sdf [<!ENTITY a "ha">'
        + ''.join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip('abcdefghi', 'bcdefghij'))
        + ']>\n<sdf version="1.12"><model name="&j;"><link name="a"/></model></sdf>')

BAD_TEXTS = {
    'empty': ('', '<text>: the file is empty'),
    'blank': (' \n ', '<text>: the file is empty'),
    'not_xml': ('hello', '<text>:1: not XML: '),
    'broken_xml': ('<sdf version="1.12">\n<model name="m">\n</sdf>', '<text>:3: not XML: '),
    'second_root': ('<sdf version="1.12"/>\n<sdf/>', '<text>:2: not XML: '),
    'other_root': ('<html/>', '<text>:1: the root element is <html> (needs <sdf '),
    'no_version': ('<sdf/>', '<text>:1: <sdf> needs an attribute version (1.2 to 1.12)'),
    'version_text': ('<sdf version="abc"/>', "version 'abc' is not a version of SDFormat"),
    'newer_version': ('<sdf version="1.13"/>', "version '1.13' of SDFormat can't be read (known:"),
    'doctype': (BOMB, '<text>:2: a DOCTYPE is refused'),
    'deep': ('<sdf version="1.12">' + '<a>' * 5000 + '</a>' * 5000 + '</sdf>', '<text>:1: '),
    'include': (model('<include>\n<uri>model://arm</uri></include>'),
                "<text>:3: model 'm': <include> of 'model://arm': not found (looked at "),
    'merge_include': ('<sdf version="1.12"><world name="w">\n<include merge="true"/></world>'
                      '</sdf>',
                      "<text>:2: world 'w': <include> has no <uri>"),
    'no_link': (model(''), "<text>:2: model 'm': a model needs at least one <link>"),
    'missing_name': (model('<link/>'),
                     "<text>:3: model 'm': attribute 'name' of <link> is missing"),
    'joint_type': (joint(joint_type='revolut'),
                   "<text>:5: joint 'j': type 'revolut' is unknown (did you mean 'revolute'?)"),
    'joint_type_far': (joint(joint_type='hinge'), "type 'hinge' is unknown (known: 'revolute', "),
    'zero_axis': (axis('<xyz>0 0 0</xyz>'), "<text>:6: joint 'j': <xyz> '0 0 0' has length zero"),
    'short_axis': (axis('<xyz>0 1</xyz>'), "<text>:6: joint 'j': <xyz> '0 1' has 2 values (needs"),
    'long_axis': (axis('<xyz>0 1 0 0</xyz>'), "'0 1 0 0' has 4 values (needs 3)"),
    'nan_axis': (axis('<xyz>0 nan 1</xyz>'), "<xyz> 'nan' is not a finite number"),
    'lower_above_upper': (axis(f'{XYZ}<limit><lower>1</lower>\n<upper>0</upper></limit>'),
                          "<text>:6: joint 'j': <lower> 1 is above <upper> 0"),
    'negative_damping': (axis(f'{XYZ}<dynamics>\n<damping>-500</damping></dynamics>'),
                         "<text>:7: joint 'j': <damping> '-500' is out of range (needs"),
    'negative_friction': (axis(f'{XYZ}<dynamics><friction>-1</friction></dynamics>'),
                          "joint 'j': <friction> '-1' is out of range (needs at least 0)"),
    'negative_spring': (axis(f'{XYZ}<dynamics><spring_stiffness>-1</spring_stiffness></dynamics>'),
                        "joint 'j': <spring_stiffness> '-1' is out of range (needs at least 0)"),
    'expressed_in': (axis('<xyz expressed_in="c">0 0 1</xyz>'),
                     "<text>:6: joint 'j': expressed_in 'c' is not in model 'm'"),
    'no_parent': (joint('', 'fixed', '<child>b</child>'),
                  "<text>:5: joint 'j': <parent> of <joint> is missing"),
    'unknown_child': (joint('', 'fixed', '<parent>a</parent>\n<child>bb</child>'),
                      "<text>:6: joint 'j': <child> 'bb' is not in model 'm' (did you mean 'b'?)"),
    'unknown_parent': (joint('', 'fixed', '<parent>hand</parent>\n<child>b</child>'),
                       "<parent> 'hand' is not in model 'm' (known: 'a', 'b', 'j')"),
    'child_is_world': (joint('', 'fixed', '<parent>a</parent><child>world</child>'),
                       "joint 'j': <child> 'world'"),
    'same_ends': (joint('', 'fixed', '<parent>a</parent><child>a</child>'),
                  "<text>:5: joint 'j': parent and child are the same, link 'a'"),
    'negative_mass': (in_link('<inertial>\n<mass>-1</mass></inertial>'),
                      "<text>:5: link 'a': <mass> '-1' is out of range (needs at least 0)"),
    'mass_unit': (in_link('<inertial><mass>2kg</mass></inertial>'),
                  "<text>:4: link 'a': <mass> '2kg' is not a finite number"),
    'triangle': (inertia(1, 1, 3), "<text>:4: link 'a': no body has this inertia"),
    'indefinite': (inertia(1, 1, -1), "<text>:4: link 'a': the inertia is not positive definite"),
    'short_pose': (in_link('<pose>1 2 3</pose>'),
                   "link 'a': <pose> '1 2 3' has 3 values (needs 6)"),
    'infinite_pose': (in_link('<pose>inf 0 0 0 0 0</pose>'),
                      "<pose> 'inf' is not a finite number"),
    'degrees_text': (in_link('<pose degrees="yes">0 0 0 0 0 0</pose>'),
                     "attribute 'degrees' 'yes' is not true, false, 1 or 0"),
    'rotation_format': (in_link('<pose rotation_format="zyx">0 0 0 0 0 0</pose>'),
                        "rotation_format 'zyx' is unknown (known: 'euler_rpy', 'quat_xyzw')"),
    'relative_to': (in_link('<pose relative_to="b"/>'),
                    "<text>:4: link 'a': relative_to 'b' is not in model 'm'"),
    'relative_to_root': (in_link('<pose relative_to="__root__"/>'),
                         "relative_to '__root__' is not"),
    'model_relative_to': (model('<link name="a"/><pose relative_to="a"/>'),
                          "<text>:3: model 'm': relative_to 'a' means nothing"),
    'shape_relative_to': (collision('<pose relative_to="zz"/>'),
                          "link 'a': relative_to 'zz' of collision 'c' is not in model 'm'"),
    'pose_circle': (model('<link name="a"><pose relative_to="b"/></link>\n'
                          '<link name="b"><pose relative_to="a"/></link>'),
                    "<text>:3: link 'a': relative_to runs in a circle: link 'a' -> link 'b' -> "
                    "link 'a'"),
    'own_frame': (in_link('<pose relative_to="a"/>'), "circle: link 'a' -> link 'a'"),
    'frame_circle': (model('<link name="a"/>\n<frame name="f" attached_to="g"/>\n'
                           '<frame name="g" attached_to="f"/>'),
                     "<text>:4: frame 'f': attached_to runs in a circle: frame 'f' -> frame 'g'"),
    'joint_circle': (two_links('<joint name="j" type="fixed"><parent>a</parent><child>j</child>'
                               '</joint>'), "joint 'j': attached_to runs in a circle"),
    'attached_to': (model('<link name="a"/><frame name="f" attached_to="zz"/>'),
                    "<text>:3: frame 'f': attached_to 'zz' is not in model 'm'"),
    'canonical_link': (model('<link name="a"/>', 'canonical_link="aa"'),
                       "<text>:2: model 'm': canonical_link 'aa' is not one of its links (did"),
    'placement_frame': (model('<link name="a"/>', 'placement_frame="zz"'),
                        "<text>:2: model 'm': placement_frame 'zz' is not in model 'm'"),
    'same_link': (model('<link name="a"/>\n<link name="a"/>'),
                  "<text>:4: model 'm': link 'a' has the name of the link in line 3"),
    'same_name': (model('<link name="a"/>\n<frame name="a"/>'),
                  "<text>:4: model 'm': frame 'a' has the name of the link in line 3"),
    'same_collision': (in_link('<collision name="c"/>\n<collision name="c"/>'),
                       "<text>:5: link 'a': collision 'c' has the name of the collision in "),
    'reserved': (model('<link name="__x__"/>'), "<text>:3: link '__x__': the name is reserved"),
    'world_link': (model('<link name="world"/>'), "link 'world': the name is reserved"),
    'scoped': (model('<link name="a::b"/>'),
               "<text>:3: link 'a::b': '::' can't be part of a name"),
    'negative_mu': (collision('<surface><friction><ode>\n<mu>-1</mu></ode></friction></surface>'),
                    "<text>:5: collision 'c': <mu> '-1' is out of range (needs at least 0)"),
    'restitution': (collision('<surface><bounce><restitution_coefficient>2'
                              '</restitution_coefficient></bounce></surface>'),
                    "'2' is out of range (needs 0 to 1)"),
    'radius': (in_link('<collision name="c"><geometry><sphere><radius>0</radius></sphere>'
                       '</geometry></collision>'),
               "collision 'c': <radius> '0' is not above zero"),
    'sensor_type': (in_link('<sensor name="s" type="tactile"/>'), "type 'tactile' is unknown"),
    'sensor_collision': (contact_sensor('<contact>\n<collision>pat</collision></contact>'),
                         "<text>:6: sensor 's': its link has no collision 'pat' (did you mean "
                         "'pad'?)"),
    'sensor_collisions': (contact_sensor('<contact><collision>zz</collision></contact>'),
                          "no collision 'zz' (known: 'pad', 'back')"),
    'patch_name': (contact_sensor('<spr:patch_mim>0 0</spr:patch_mim>'),
                   "<spr:patch_mim> is unknown (did you mean 'patch_min'?)"),
    'patch_twice': (contact_sensor(2 * '<spr:patch_min>0 0</spr:patch_min>'),
                    '<spr:patch_min> is there twice'),
    'patch_size': (contact_sensor('<spr:patch_min>0</spr:patch_min>'), 'has 1 values (needs 2)'),
    'patch_place': (in_link('<spr:patch_min>0 0</spr:patch_min>'),
                    "<text>:4: link 'a': <spr:patch_min> is known only in a contact sensor"),
    'mimic_leader': (axis(f'{XYZ}<mimic joint="k"/>'),
                     "joint 'j': <mimic> is wrong: there is no joint 'k' (known: 'j')"),
}


@pytest.mark.parametrize('name', BAD_TEXTS)
def test_bad_text_is_refused(name):
    """The message says where, what, and what was possible."""
    text, message = BAD_TEXTS[name]
    with pytest.raises(SdfError) as caught:
        read(text=text)
    assert message in str(caught.value)
    assert all(str(diagnostic).startswith('<text>') for diagnostic in caught.value.diagnostics)


UNSUPPORTED = {
    'no_axis': (joint(), "<text>:5: joint 'j': <axis> is missing (needed for type 'revolute'; "),
    'no_axis2': (joint(f'<axis>{XYZ}</axis>', 'universal'), '<axis2> is missing (needed for type'),
    'gravity': (in_link('<gravity>false</gravity>'), "link 'a': <gravity>false is not supported"),
    'kinematic': (in_link('<kinematic>1</kinematic>'), "link 'a': <kinematic>true is not"),
    'wind': (in_link('<enable_wind>1</enable_wind>'), "link 'a': <enable_wind>true is not"),
    'nothing': ('<sdf version="1.12"/>', '<text>:1: <sdf> holds no <model> and no <world>'),
    'same_model': ('<sdf version="1.12"><model name="m"><link name="a"/></model>'
                   '<world name="w"><model name="m"><link name="a"/></model></world></sdf>',
                   "model 'm' has the name of the model in line 1"),
}


@pytest.mark.parametrize('name', UNSUPPORTED)
def test_what_would_move_otherwise_is_not_assembled(name):
    """The elements can hold it, but no simulation may leave it out in silence."""
    text, message = UNSUPPORTED[name]
    root = read(text=text)
    with pytest.raises(SdfError) as caught:
        assemble(root)
    assert message in str(caught.value)


def test_all_problems_come_at_once():
    """Three lines from top to bottom, each with the code that libsdformat has for it."""
    with pytest.raises(SdfError) as caught:
        read(text=joint('<axis><xyz>0 0</xyz></axis>', ends='<parent>zz</parent><child>b</child>')
             .replace('<link name="a"/>', '<link name="a"><pose>1</pose></link>'))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [
        'ELEMENT_INVALID', 'JOINT_PARENT_LINK_INVALID', 'ELEMENT_INVALID']
    assert len(str(caught.value).splitlines()) == 3


def test_a_problem_knows_its_xml_path():
    """The path is the one that libsdformat prints."""
    with pytest.raises(SdfError) as caught:
        read(text=axis('<xyz>0 0 0</xyz>'))
    assert caught.value.diagnostics[0].location.path == (
        '/sdf/model[@name="m"]/joint[@name="j"]/axis/xyz')


def test_a_bomb_is_refused_at_once():
    """Entities that would grow to gigabytes are never expanded."""
    start = time.process_time()
    with pytest.raises(SdfError):
        read(text=BOMB)
    assert time.process_time() - start < 1.0


def test_models_nested_very_deep_are_refused():
    """Neither a crash nor a RecursionError."""
    text = ('<sdf version="1.12">' + '<model name="m">' * 150 + '<link name="a"/>'
            + '</model>' * 150 + '</sdf>')
    with pytest.raises(SdfError, match='nest more than 100 deep'):
        read(text=text)


def test_files_that_are_not_there_are_refused(tmp_path):
    """A path that leads nowhere, or to a directory, is named."""
    with pytest.raises(SdfError, match='robot.sdf: no such file'):
        read(tmp_path / 'robot.sdf')
    with pytest.raises(SdfError, match='is a directory'):
        read(tmp_path)
    with pytest.raises(SdfError, match="can't be read"):
        read('a\0b')


def test_read_needs_one_source():
    """A path and a text at once is a mistake of the caller."""
    with pytest.raises(TypeError, match='needs a path or a text'):
        read()


def test_add_world_refuses_what_does_not_fit():
    """A second model of a name, a second world, a file without one."""
    robot = read(text=in_link(''))
    world = read(text='<sdf version="1.12"><world name="w"><model name="m"><link name="a"/>'
                      '</model></world></sdf>')
    with pytest.raises(SdfError, match="model 'm': world 'w' already has that name"):
        add_world(robot, world)
    with pytest.raises(SdfError, match='holds no <world>'):
        add_world(robot, robot)
    with pytest.raises(SdfError, match="already holds a world \\('w'\\)"):
        add_world(world, world)
