"""What is passed over is read all the same, and what stops libsdformat's reading comes first."""
import json

import pytest

from spr_dynamics.cli import main
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import read
from spr_dynamics.sdformat.describe import describe
from spr_dynamics.sdformat.read import examine

LINK = '<link name="a"/>'


def model(body):
    return f'<sdf version="1.12">\n<model name="m">\n{body}\n</model></sdf>'


def world(body):
    return f'<sdf version="1.12">\n<world name="w">\n{body}\n</world></sdf>'


def visual(body):
    return model(f'<link name="a"><visual name="v"><geometry><sphere/></geometry>\n{body}'
                 '</visual></link>')


def collision(shape):
    return model(f'<link name="a"><collision name="c"><geometry>\n{shape}</geometry></collision>'
                 '</link>')


def sensor(body, kind):
    return model(f'<link name="a">\n<sensor name="s" type="{kind}">{body}</sensor></link>')


def light(body, attributes='name="l" type="spot"'):
    return world(f'<light {attributes}>{body}</light>')


def codes(text):
    said = describe(*examine(text=text))
    return {error['code'] for error in said['errors']}


UNREAD = {
    'plugin': (model(f'{LINK}<plugin name="p"/>'),
               "<text>:3: plugin 'p': attribute 'filename' of <plugin> is missing"),
    'visual_plugin': (visual('<plugin name="p" filename=""/>'), "'filename' of <plugin> is empty"),
    'light_name': (light('', 'type="point"'), "attribute 'name' of <light> is missing"),
    'light_colour': (light('<diffuse>red</diffuse>'), "light 'l': <diffuse> 'red' has 1 values"),
    'light_pose': (light('<pose>1 2</pose>'), "light 'l': <pose> '1 2' has 2 values"),
    'light_range': (light('<attenuation><range/></attenuation>'),
                    '<range> of <attenuation> is empty'),
    'light_degrees': (light('<pose degrees="perhaps">0 0 0 0 0 0</pose>'), 'is not true, false'),
    'road': (world('<road><width>1</width></road>'), "attribute 'name' of <road> is missing"),
    'road_point': (world('<road name="r"><point>1 2</point></road>'), "'1 2' has 2 values"),
    'gui': (world('<gui fullscreen="maybe"/>'), "attribute 'fullscreen' 'maybe' is not true"),
    'physics': (world('<physics/>'), "attribute 'type' of <physics> is missing"),
    'iterations': (world('<physics type="ode"><ode><solver><iters>many</iters></solver></ode>'
                         '</physics>'), "<iters> 'many' is not a finite number"),
    'magnetic_field': (world('<magnetic_field/>'), '<magnetic_field> of <world> is empty'),
    'fov': (sensor('<camera><horizontal_fov>7</horizontal_fov></camera>', 'camera'),
            "'7' is out of range (needs 0.001 to 6.28319)"),
    'image': (sensor('<camera><image><width/></image></camera>', 'camera'),
              '<width> of <image> is empty'),
    'noise': (sensor('<altimeter><vertical_position><noise/></vertical_position></altimeter>',
                     'altimeter'), "attribute 'type' of <noise> is missing"),
    'specular': (visual('<material><specular>1 1</specular></material>'), "'1 1' has 2 values"),
    'shape': (collision('<sphere><radius/></sphere>'), '<radius> of <sphere> is empty'),
    'uri': (collision('<mesh><uri/></mesh>'), '<uri> of <mesh> is empty'),
    'image_shape': (collision('<image><scale>big</scale></image>'), "<scale> 'big' is not"),
    'limit': (model(f'{LINK}<link name="b"/><joint name="j" type="revolute"><parent>a</parent>'
                    '<child>b</child>\n<axis><limit><lower/></limit></axis></joint>'),
              "<text>:4: joint 'j': <lower> of <limit> is empty"),
    'repeated': (model('<link name="a">\n<inertial><mass>1</mass>\n<mass>two</mass></inertial>'
                       '</link>'), "<text>:5: link 'a': <mass> 'two' is not a finite number"),
    'repeated_pose': (model('<link name="a">\n<pose/>\n<pose>x</pose></link>'),
                      "<text>:5: link 'a': <pose> 'x' has 1 values"),
    'blank_name': (model('<link name=" "/>'), "attribute 'name' of <link> is empty"),
}


@pytest.mark.parametrize('text, expected', UNREAD.values(), ids=UNREAD)
def test_what_libsdformat_cannot_read_is_refused(text, expected):
    with pytest.raises(SdfError) as refusal:
        read(text=text)
    assert expected in str(refusal.value)
    assert 'FILE_READ' in codes(text)


JUDGED = {
    'light_type': (light('', 'name="l" type="sun"'), {'ATTRIBUTE_INVALID', 'ELEMENT_INVALID'}),
    'light_of_a_link': (model('<link name="a"><light name="l" type="sun"/></link>'),
                        {'ATTRIBUTE_INVALID'}),
    'emitter': (model('<link name="a"><particle_emitter name="e" type="ring"/></link>'),
                {'ATTRIBUTE_INVALID'}),
    'two_emitters': (model('<link name="a"><particle_emitter name="e" type="point"/>'
                           '<particle_emitter name="e" type="point"/></link>'),
                     {'DUPLICATE_NAME'}),
    'air': (world('<atmosphere type="thin"/>'), {'ELEMENT_INVALID'}),
    'submesh': (collision('<mesh><uri>a.stl</uri><submesh/></mesh>'), {'ELEMENT_MISSING'}),
    'ball': (model(f'{LINK}<joint name="j" type="ball"><child>a</child></joint>'),
             {'JOINT_PARENT_LINK_INVALID', 'FRAME_ATTACHED_TO_INVALID'}),
    'second_of_a_name': (model(f'{LINK}<frame name="f"/><frame name="f" attached_to="no"/>'),
                         {'DUPLICATE_NAME'}),
    'part_in_root': (model('<link name="a"><visual name="v"><pose relative_to="__root__"/>'
                           '</visual></link>'), {'ATTRIBUTE_INVALID'}),
    'version': (f'<sdf version="01.7"><model name="m">{LINK}</model></sdf>',
                {'CONVERSION_ERROR'}),
}


@pytest.mark.parametrize('text, expected', JUDGED.values(), ids=JUDGED)
def test_what_libsdformat_judges_has_its_code(text, expected):
    assert codes(text) == expected


@pytest.mark.parametrize('text', [
    model(f'{LINK}<plugin filename="p.so"><diffuse>red</diffuse><range/></plugin>'),
    model(f'<static>true</static>{LINK}').replace('name="m"', 'name="m" canonical_link="no"'),
    model(f'{LINK}<gz:light><range/></gz:light>'),
    world('<light name="l" type="point"><diffuse/><pose/></light>'),
    sensor('<camera><noise><type>gaussian</type></noise><visibility_mask>0xff</visibility_mask>'
           '</camera>', 'camera'),
    sensor('<lidar><noise><type>gaussian</type></noise></lidar>', 'lidar'),
    model('<link name="a"><audio_source><uri>x</uri><contact><collision>c</collision></contact>'
          '</audio_source></link>'),
])
def test_what_libsdformat_reads_is_read(text):
    assert read(text=text)


def test_errors_that_libsdformat_does_not_come_to_stand_apart():
    """It reads from top to bottom, and judges names only when all is read."""
    said = describe(*examine(text=model(
        '<link name="a"/>\n<frame name="f" attached_to="no"/>\n'
        '<link name="b"><pose>x</pose></link>\n<link name="c"><pose>y</pose></link>')))
    assert {error['code'] for error in said['errors']} == {'ELEMENT_INVALID', 'FILE_READ'}
    assert {error['line'] for error in said['errors']} == {5}
    assert {error['line'] for error in said['unreached']} == {4, 6}
    assert 'FRAME_ATTACHED_TO_INVALID' in {error['code'] for error in said['unreached']}
    with pytest.raises(SdfError) as refusal:
        read(text=model('<frame name="f" attached_to="no"/><link name="b"><pose>x</pose></link>'))
    assert len(str(refusal.value).splitlines()) == 2, 'but users see them all'


def test_scoped_names_come_after_all_that_is_read():
    said = describe(*examine(text=model('<link name="a::b"/>\n<link name="c"><pose>x</pose>'
                                        '</link>')))
    assert {error['code'] for error in said['errors']} == {'ELEMENT_INVALID', 'FILE_READ'}


@pytest.mark.parametrize('text, name', [
    (collision('<image><uri>a.png</uri></image>'), '<image> shapes are not supported'),
    (world('<population name="p"><model_count>2</model_count></population>'),
     '<population> is not supported'),
    (model('<link name="a"><pose>1e308 0 0 0 0 0</pose></link><link name="b">'
           '<pose relative_to="a">1e308 0 0 0 0 0</pose></link>'), "link 'b': its pose"),
    (model('<link name="a"><pose>1e308 0 0 0 0 0</pose><collision name="c">'
           '<pose relative_to="__model__">-1e308 0 0 0 0 0</pose></collision></link>'),
     "collision 'c': its pose"),
])
def test_what_cannot_be_simulated_is_no_error_of_check(text, name, tmp_path, capsys):
    path = tmp_path / 'a.sdf'
    path.write_text(text)
    assert main(['check', str(path), '--json']) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)['errors'] == []
    (line,) = [line for line in err.splitlines() if name in line]
    assert line.startswith(f'warning: {path}:') and "can't be simulated: " in line
    assert main(['show', str(path)]) == 1
    assert name in capsys.readouterr().err


def test_a_model_placed_by_a_frame_that_leads_nowhere_is_described():
    """It ended in an assertion."""
    said = describe(*examine(text=model(
        '<link name="a"><pose relative_to="no"/></link>').replace(
            'name="m"', 'name="m" placement_frame="a"')))
    assert 'error' in said['model']['pose_in_parent']
