"""From elements to arrays: order, names, roots, and what can't be simulated."""
import re

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import ModelError, SdfError

MODELS = needs.REPOSITORY / 'models'


def model_of(*parts, world=None, **options):
    """Load a file of a single model, or of a world."""
    inside = '\n'.join(parts)
    text = f"<world name='w'>{inside}</world>" if world else f"<model name='m'>{inside}</model>"
    return spr.load(text=f"<sdf version='1.12'>\n{text}</sdf>", **options)


def link(name, pose='0 0 0 0 0 0', inside=''):
    return f"<link name='{name}'><pose>{pose}</pose>{inside}</link>"


def joint(name, parent, child, kind='revolute', axis='<axis><xyz>0 0 1</xyz></axis>'):
    return (f"<joint name='{name}' type='{kind}'><parent>{parent}</parent>"
            f'<child>{child}</child>{axis}</joint>')


WELD = 'fixed', ''
NO_MASS = ('<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>'
           '</inertial>')
POINT_MASS = NO_MASS.replace('<mass>0', '<mass>1')


def test_joints_keep_the_order_of_the_file_not_that_of_the_tree():
    model = model_of(link('a'), link('b'), link('c'), joint('last', 'b', 'c'),
                     joint('middle', 'a', 'b', 'prismatic'), joint('first', 'world', 'a'))
    assert model.joint_names == model.dof_names == ('last', 'middle', 'first')
    assert [j.type for j in model.joints] == ['revolute', 'prismatic', 'revolute']
    assert model.dof_v.tolist() == [0, 1, 2]
    assert (model.tree['parent'][1:] < np.arange(1, 4)).all()


def test_free_root_comes_before_the_joints_of_its_model():
    model = model_of("<model name='arm'>" + link('a') + joint('j', 'world', 'a') + '</model>',
                     "<model name='rover'>" + link('wheel') + link('chassis')
                     + joint('axle', 'chassis', 'wheel') + '</model>', world=True)
    assert (model.nq, model.nv) == (1 + 7 + 1, 1 + 6 + 1)
    assert [tuple(root) for root in model.free_roots] == [('chassis', 1, 1)]
    assert [(j.name, j.q, j.v) for j in model.joints] == [('j', 0, 0), ('axle', 8, 7)]


def test_names_that_occur_twice_carry_their_model():
    one = link('a') + joint('j', 'world', 'a')
    model = model_of(f"<model name='left'>{one}</model>", f"<model name='right'>{one}</model>",
                     world=True)
    assert model.joint_names == ('left::j', 'right::j')
    assert model.link_names == ('left::a', 'right::a')


def test_fixed_links_are_welded_and_keep_their_place():
    mass = '<inertial><mass>{}</mass></inertial>'
    model = model_of(link('a', '0 0 1 0 0 0', mass.format(2)),
                     link('b', '0 0 3 0.5 0 0', mass.format(4)),
                     joint('weld', 'a', 'b', *WELD))
    assert model.tree.size == 2 and model.nv == 6
    assert spr.mass_matrix(model, model.neutral_q())[0, 0] == 6.0
    assert model.tree[1]['inertia'][3] == 4 * 2.0  # first moment about the origin of a
    T = link_poses(model, model.neutral_q())
    np.testing.assert_allclose(T[1, :3, 3], [0, 0, 3])
    np.testing.assert_allclose(T[1, :3, :3], model.assembly.links[1].T_WL.R)


def test_links_may_be_welded_child_first():
    model = model_of(link('a'), link('b'), link('c'), joint('w1', 'b', 'c', *WELD),
                     joint('w2', 'a', 'b', *WELD), joint('j', 'world', 'a'))
    assert model.links['body'].tolist() == [1, 1, 1] and model.joint_names == ('j',)


def test_welds_hold_whichever_way_round_they_are_written():
    """A link that is fixed to a link that is fixed to the world does not fall."""
    model = model_of(link('a'), link('b'), joint('x', 'a', 'b', *WELD),
                     joint('y', 'world', 'b', *WELD))
    assert model.nv == 0
    moved = model_of(link('a'), link('b'), joint('x', 'a', 'b', *WELD), joint('y', 'world', 'b'))
    assert moved.nv == 1 and moved.links['body'].tolist() == [1, 1]


def test_names_that_look_like_qualified_ones_stay_apart():
    inner = "<model name='{}'>" + link('b') + '</model>'
    model = model_of("<model name='x'>" + inner.format('a') + '</model>', inner.format('a'),
                     inner.format('c'), world=True)
    assert len(set(model.link_names)) == 3 and 'x::a::b' in model.link_names


def test_static_models_belong_to_the_world():
    model = model_of("<model name='house'><static>true</static>" + link('wall') + link('door')
                     + joint('hinge', 'wall', 'door') + '</model>', world=True)
    assert model.nv == 0 and model.links['body'].tolist() == [0, 0]
    assert model.warnings == ('joints of static models do not move (hinge)',)


def test_fix_base_holds_what_would_fall():
    parts = link('a'), link('b'), joint('j', 'a', 'b')
    assert model_of(*parts).nv == 7
    held = model_of(*parts, fix_base=True)
    assert held.nv == 1 and not held.free_roots


def test_joint_turns_its_child_about_its_axis():
    model = model_of(link('a', '1 0 0 0 0 0'), joint(
        'j', 'world', 'a', axis='<axis><xyz>0 1 0</xyz></axis><pose>-1 0 0 0 0 0</pose>'))
    T = link_poses(model, [np.pi / 2])[0]
    np.testing.assert_allclose(T[:3, 3], [0, 0, -1], atol=1e-15)  # right hand: x goes to -z


def test_ground_comes_for_free_roots_only():
    ball = link('a', '0 0 1 0 0 0')
    text = "<sdf version='1.12'><model name='m'>{}</model></sdf>"
    free = spr.load(text=text.format(ball), world='auto')
    held = spr.load(text=text.format(ball + joint('j', 'world', 'a')), world='auto')
    assert free.link_names == ('ground', 'a') and held.link_names == ('a',)
    assert free.name == 'm'


def test_file_without_a_world_has_gazebos_gravity():
    np.testing.assert_array_equal(model_of(link('a')).gravity, [0, 0, -9.8])


@pytest.mark.parametrize('parts, message', [
    ((link('a'), link('b'), link('c'), joint('x', 'a', 'b'), joint('y', 'b', 'c'),
      joint('z', 'a', 'c')),
     "<text>:7: link 'c' is moved by joints 'y' and 'z', which close the loop a [x] b [y] c [z] a:"
     " 'z' is a constraint"),
    ((link('a'), link('b'), link('c'), joint('w', 'world', 'a'), joint('x', 'a', 'b'),
      joint('y', 'b', 'c'), joint('z', 'world', 'c')),
     'which close the loop world [w] a [x] b [y] c [z] world:'),
    ((link('a'), link('b'), link('c'), joint('x', 'a', 'c'), joint('y', 'b', 'c')),
     "<text>:6: link 'c' is moved by joints 'x' and 'y': 'y' is a constraint"),
    ((link('a'), link('b'), joint('x', 'a', 'b'), joint('y', 'b', 'a')),
     "<text>:5: joint 'y' closes the loop a [y] b [x] a: it is a constraint"),
])
def test_loop_is_recognised_and_reported_with_its_path(parts, message):
    assert [message in warning for warning in model_of(*parts).warnings].count(True) == 1


@pytest.mark.parametrize('parts, message', [
    ((link('a'), joint('x', 'world', 'a', *WELD), joint('y', 'world', 'a')),
     "<text>:4: joint 'y' can't move link 'a', which is fixed to the world"),
    ((link('a'), link('b'), joint('x', 'a', 'b', *WELD), joint('y', 'a', 'b')),
     "<text>:5: joint 'y' can't move link 'b', which is fixed to its parent"),
    ((link('a'), link('b', inside='<inertial><mass>0</mass></inertial>'),
      joint('x', 'a', 'b', 'prismatic')),
     "<text>:3: link 'b' moves but has no mass, or no inertia"),
    ((link('a', inside=POINT_MASS),), "<text>:2: link 'a' moves but has no mass, or no inertia"),
    ((link('a', inside=NO_MASS), link('b'), joint('x', 'a', 'b')),
     "<text>:2: link 'a' moves but has no mass, or no inertia"),
    ((link('a'), link('b', inside=NO_MASS), link('c'), joint('x', 'a', 'b'), joint('y', 'b', 'c')),
     "<text>:3: link 'b' moves but has no mass, or no inertia"),
    ((link('a', inside='<inertial><mass>1</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz>'
           '</inertia></inertial>'), joint('x', 'world', 'a')),
     "<text>:2: link 'a' moves but has no mass, or no inertia"),
    ((link('a'), joint('x', 'world', 'a', 'universal', '<axis><xyz>0 0 2</xyz></axis>'
                       '<axis2><xyz>0 0 -1</xyz></axis2>')),
     "<text>:3: the two axes of universal joint 'x' are parallel (0 0 1 and 0 0 -1 in its frame): "
     'two directions expected; a joint with one axis is revolute'),
    ((link('a'), link('b'), joint('x', 'world', 'a'), joint('y', 'a', 'b'), joint(
        'z', 'world', 'b', 'revolute2', '<axis/><axis2><xyz>1e-9 0 1</xyz></axis2>')),
     "<text>:6: the two axes of revolute2 joint 'z' are parallel (0 0 1 and 1e-09 0 1 in its"),
])
def test_what_cannot_be_simulated_is_named_with_its_line(parts, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        model_of(*parts)


@pytest.mark.parametrize('kind, second, said', [
    ('universal', '1 0 1', True), ('universal', '1 0 0.0005', False),
    ('revolute2', '1 0 1', False),
])
def test_universal_joint_with_axes_not_at_right_angles_is_named(kind, second, said):
    model = model_of(link('a'), joint('x', 'world', 'a', kind, (
        f'<axis><xyz>0 0 1</xyz></axis><axis2><xyz>{second}</xyz></axis2>')))
    message = ("<text>:3: the axes of universal joint 'x' are 45 degrees apart, not at right "
               'angles: it moves as a revolute2 with these axes')
    assert model.warnings == ((message,) if said else ())


def test_inertia_beyond_all_numbers_is_refused():
    with pytest.raises(ModelError, match="<text>:2: link 'a' is so far away or so heavy"):
        model_of(link('a', '1e200 0 0 0 0 0'), joint(
            'j', 'world', 'a', axis='<axis/><pose>-1e200 0 0 0 0 0</pose>'))


def test_all_that_is_wrong_with_the_joints_is_said_at_once():
    with pytest.raises(ModelError) as error:
        model_of(link('a'), joint('v', 'world', 'a', *WELD), joint('w', 'world', 'a'), link('b'),
                 joint('x', 'world', 'b', *WELD), joint('y', 'world', 'b'))
    assert len(str(error.value).splitlines()) == 2


def test_joint_that_would_move_the_world_is_refused():
    """The arm fell, and nothing but a remark on static models said so."""
    with pytest.raises(ModelError, match="joint 'hinge' can't move link 'wall', which is fixed"):
        model_of("<model name='arm'>" + link('arm') + '</model>',
                 "<model name='wall'><static>true</static>" + link('wall') + '</model>',
                 joint('hinge', 'arm::arm', 'wall::wall'), world=True)


def test_restitution_below_a_threshold_that_nothing_gets_to_is_said_once():
    ball = """<collision name='c{}'><geometry><sphere/></geometry>
      <surface><bounce><restitution_coefficient>0.5</restitution_coefficient></bounce></surface>
      </collision>"""
    warnings = model_of(link('a', inside=ball.format(1) + ball.format(2))).warnings
    assert ['restitution of 2 collision surfaces lets nothing bounce: their <threshold> is '
            '100000 m/s' in w for w in warnings].count(True) == 1, warnings


def test_shapes_that_nothing_could_touch_are_refused_by_name_and_line():
    """A ball fell through the hills, and nothing but a count of shapes said so."""
    corners = '<point>0 0</point><point>1 0</point><point>0 1</point>'
    shapes = ('<heightmap><uri>hills.png</uri></heightmap>', f'<polyline>{corners}</polyline>')
    collisions = (f"\n<collision name='c{k}'><geometry>{shape}</geometry></collision>"
                  for k, shape in enumerate(shapes))
    with pytest.raises(SdfError) as refusal:
        model_of(link('a', inside=''.join(collisions)))
    lines = str(refusal.value).splitlines()
    assert len(lines) == 2
    for line, k, kind in zip(lines, '34', ('heightmap', 'polyline')):
        assert f":{k}: link 'a': collision 'c{int(k) - 3}': <{kind}> is not supported yet" in line
        assert '(possible: plane, sphere, capsule, box, ' in line


def test_axis_of_a_ball_is_said_to_have_no_effect():
    ball = """<joint name='b' type='ball'><parent>world</parent><child>a</child>
      <axis><xyz>0 0 1</xyz>{}</axis></joint>"""
    full = ('<dynamics><damping>5</damping><friction>1</friction><spring_stiffness>4'
            '</spring_stiffness></dynamics><limit><upper>1</upper><effort>1</effort></limit>')
    warnings = model_of(link('a'), ball.format(full)).warnings
    assert [w for w in warnings if "the <axis> of ball joint 'b' has no effect (damping, spring, "
            'friction, limits, effort limit)' in w], warnings
    assert not model_of(link('a'), ball.format('')).warnings


def test_joint_that_begins_outside_its_limits_is_named():
    def slide(name, child, upper, more=''):
        return (f"<joint name='{name}' type='prismatic'><parent>world</parent><child>{child}"
                f'</child><axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>{upper}</upper>'
                f'</limit>{more}</axis></joint>')
    model = model_of(link('a'), link('b'), link('c'), slide('high', 'a', -0.5), slide(
        'edge', 'c', 0), slide('led', 'b', 1, "<mimic joint='high'><offset>2</offset></mimic>"))
    assert model.warnings == ("joint 'high' begins at 0, outside its limits -1 to -0.5",
                              "joint 'led' begins at 2, outside its limits -1 to 1")


def test_arrays_cannot_be_written_to():
    model = model_of(link('a'))
    for array in (model.tree, model.links, model.shapes, model.gravity, model.home):
        with pytest.raises(ValueError, match='read-only'):
            array[...] = array
