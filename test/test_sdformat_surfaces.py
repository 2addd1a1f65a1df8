"""Surfaces as elements: friction of each engine, bounce, masks; and screws and gearboxes."""

import math

import numpy as np
import pytest
from spr_dynamics.errors import SdfError
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, read


def with_collision(surface):
    return ('<sdf version="1.12"><model name="m"><link name="a">\n<collision name="c"><geometry>'
            f'<sphere/></geometry><surface>{surface}</surface></collision></link></model></sdf>')


def surface(body):
    return read(text=with_collision(body)).models[0].links[0].collisions[0].surface


def joint(body, kind):
    return read(text='<sdf version="1.12"><model name="m"><link name="a"/><link name="b"/>'
                     f'<joint name="j" type="{kind}"><parent>a</parent><child>b</child>{body}'
                     '</joint></model></sdf>').models[0].joints[0]


def test_friction_that_is_not_written_is_none():
    assert surface('').bullet is None
    assert surface('<friction/>').torsional is None


def test_friction_of_bullet():
    default = surface('<friction><bullet/></friction>').bullet
    assert (default.friction, default.friction2, default.rolling_friction) == (1, 1, None)
    np.testing.assert_array_equal(default.fdir1, [0, 0, 0])
    given = surface('<friction><bullet><friction>.2</friction><friction2>.3</friction2>'
                    '<fdir1>0 1 0</fdir1><rolling_friction>.4</rolling_friction></bullet>'
                    '</friction>').bullet
    assert (given.friction, given.friction2, given.rolling_friction) == (.2, .3, .4)
    np.testing.assert_array_equal(given.fdir1, [0, 1, 0])


def test_torsional_friction():
    default = surface('<friction><torsional/></friction>').torsional
    assert (default.coefficient, default.use_patch_radius, default.patch_radius) == (1, True, 0)
    assert (default.surface_radius, default.slip) == (0, 0)
    given = surface('<friction><torsional><coefficient>.2</coefficient><use_patch_radius>0'
                    '</use_patch_radius><patch_radius>.3</patch_radius><surface_radius>.4'
                    '</surface_radius><ode><slip>.5</slip></ode></torsional></friction>').torsional
    assert (given.coefficient, given.use_patch_radius, given.patch_radius) == (.2, False, .3)
    assert (given.surface_radius, given.slip) == (.4, .5)


def test_first_friction_direction():
    np.testing.assert_array_equal(
        surface('<friction><ode><fdir1>1.2 3.4 5.6</fdir1></ode></friction>').fdir1,
        [1.2, 3.4, 5.6])


def test_masks_are_those_of_gazebo_where_the_file_says_nothing():
    """SDFormat's text says 65535; libsdformat and the default engine take 255."""
    assert surface('').collide_bitmask == surface('<contact/>').collide_bitmask == 255
    masks = surface('<contact><collide_bitmask>0x0f</collide_bitmask><category_bitmask>1'
                    '</category_bitmask></contact>')
    assert (masks.collide_bitmask, masks.category_bitmask) == (15, 1)


@pytest.mark.parametrize('body, message', [
    ('<friction><bullet><friction>-1</friction></bullet></friction>', "<friction> '-1'"),
    ('<friction><torsional><coefficient>-1</coefficient></torsional></friction>',
     "<coefficient> '-1'"),
    ('<friction><bullet><rolling_friction>-1</rolling_friction></bullet></friction>',
     "<rolling_friction> '-1'"),
    ('<friction><ode><slip2>-1</slip2></ode></friction>', "<slip2> '-1'"),
    ('<friction><torsional><patch_radius>-1</patch_radius></torsional></friction>',
     "<patch_radius> '-1'"),
])
def test_negative_friction_is_refused(body, message):
    with pytest.raises(SdfError) as caught:
        read(text=with_collision(body))
    assert f"<text>:2: collision 'c': {message} is out of range" in str(caught.value)


def test_friction_of_bullet_that_is_another_is_named():
    def warnings(friction):
        text = with_collision(f'<friction>{friction}</friction>')
        return ' '.join(build(assemble(read(text=text))).warnings)
    assert 'friction of 1 collision surfaces is that of their <ode>' in warnings(
        '<bullet><friction>.2</friction></bullet>')
    assert not warnings('<ode><mu>.2</mu></ode><bullet><friction>.2</friction></bullet>')
    assert not warnings('<bullet><rolling_friction>.001</rolling_friction></bullet>')
    assert not warnings('<torsional><patch_radius>.1</patch_radius></torsional>')


PITCHES = {
    'neither': ('', 1.0),
    'new': ('<screw_thread_pitch>0.01</screw_thread_pitch>', 0.01),
    'old': ('<thread_pitch>10</thread_pitch>', -2 * math.pi / 10),
    'both': ('<thread_pitch>10</thread_pitch><screw_thread_pitch>0.01</screw_thread_pitch>', 0.01),
}


@pytest.mark.parametrize('name', PITCHES)
def test_pitch_of_a_screw_in_metres_a_turn(name):
    """The older element is left-handed, in rad/m."""
    body, pitch = PITCHES[name]
    assert joint(f'<axis/>{body}', 'screw').screw_thread_pitch == pitch


def test_old_pitch_is_deprecated():
    root = read(text='<sdf version="1.12"><model name="m"><link name="a"/><link name="b"/>\n'
                     '<joint name="j" type="screw"><parent>a</parent><child>b</child>\n'
                     '<thread_pitch>3</thread_pitch><axis/></joint></model></sdf>')
    warning, = root.warnings
    assert warning.code == 'ELEMENT_DEPRECATED'
    assert str(warning).startswith("<text>:3: joint 'j': <thread_pitch> (rad/m, left-handed) is")


def test_gearbox():
    default = joint('<axis/><axis2/>', 'gearbox')
    assert (default.gearbox_ratio, default.gearbox_reference_body) == (1, '')
    given = joint('<axis/><axis2/><gearbox_ratio>-3</gearbox_ratio><gearbox_reference_body>a'
                  '</gearbox_reference_body>', 'gearbox')
    assert (given.gearbox_ratio, given.gearbox_reference_body) == (-3, 'a')


@pytest.mark.parametrize('kind', ['universal', 'revolute2', 'gearbox'])
def test_two_axes_each_with_its_own_values(kind):
    given = joint('<axis><xyz>2 0 0</xyz></axis><axis2><xyz>0 3 0</xyz><limit><lower>-1</lower>'
                  '<upper>1e16</upper></limit><dynamics><damping>4</damping></dynamics></axis2>',
                  kind)
    np.testing.assert_array_equal(given.axis.xyz, [1, 0, 0])
    np.testing.assert_array_equal(given.axis2.xyz, [0, 1, 0])
    assert (given.axis.damping, given.axis2.damping) == (0, 4)
    assert (given.axis2.limit.lower, given.axis2.limit.upper) == (-1, 1e16)


def test_an_axis_that_the_type_needs_may_be_missing_in_the_elements():
    """`assemble` refuses it; libsdformat loads it."""
    assert joint('', 'revolute').axis is None
    assert joint('<axis/>', 'universal').axis2 is None


def test_a_limit_of_1e16_is_none_in_a_model():
    """And so is any limit of a continuous joint."""
    def table(kind, limit):
        text = ('<sdf version="1.12"><model name="m"><link name="a"/><joint name="j" '
                f'type="{kind}"><parent>world</parent><child>a</child><axis><limit>{limit}</limit>'
                '</axis></joint></model></sdf>')
        return build(assemble(read(text=text))).dofs[0]
    written = table('revolute', '<lower>-1e16</lower><upper>1e16</upper><velocity>1e17</velocity>')
    assert (written.lower, written.upper, written.velocity_limit) == (
        -math.inf, math.inf, math.inf)
    turning = table('continuous', '<lower>-1</lower><upper>1</upper>')
    assert (turning.lower, turning.upper) == (-math.inf, math.inf)
