"""Poses, axes and names: what hangs on what."""

import numpy as np
from spr_dynamics.sdformat import add_world, assemble, read

ROUNDOFF = 1e-12
QUARTER = '1.5707963267948966'


def assembled(body, version='1.12', attributes=''):
    return assemble(read(text=(
        f'<sdf version="{version}"><model name="m" {attributes}>{body}</model></sdf>')))


def joint(body='', joint_type='fixed', child='b', name='j'):
    return (f'<joint name="{name}" type="{joint_type}"><parent>a</parent><child>{child}</child>'
            f'{body}</joint>')


def test_joint_pose_defaults_to_its_child():
    """A joint without a pose stands where its child stands."""
    assembly = assembled('<link name="a"/><link name="b"><pose>1 2 3 0 0 0</pose></link>'
                         + joint())
    np.testing.assert_allclose(assembly.joints[0].T_WJ.p, [1, 2, 3])


def test_joint_pose_is_relative_to_its_child():
    """The child is turned, so the joint's x is the world's y."""
    assembly = assembled(f'<link name="a"/><link name="b"><pose>1 0 0 0 0 {QUARTER}</pose></link>'
                         + joint('<pose>1 0 0 0 0 0</pose>'))
    np.testing.assert_allclose(assembly.joints[0].T_WJ.p, [1, 1, 0], atol=ROUNDOFF)


def test_frames_stand_on_what_they_are_attached_to():
    """A frame on a link on a frame."""
    assembly = assembled(
        '<link name="a"><pose relative_to="f">0 0 1 0 0 0</pose></link>'
        '<frame name="f" attached_to="b"><pose>0 1 0 0 0 0</pose></frame>'
        '<link name="b"><pose>1 0 0 0 0 0</pose></link>')
    np.testing.assert_allclose(assembly.links[0].T_WL.p, [1, 1, 1])


def test_axis_is_expressed_in_the_joint_frame():
    """`expressed_in` names another frame; the result is always in the joint's own."""
    body = (f'<link name="a"/><link name="b"><pose>0 0 0 0 0 {QUARTER}</pose></link>'
            + joint('<axis><xyz expressed_in="{}">2 0 0</xyz></axis>', 'revolute'))
    for frame, axis in (('', [1, 0, 0]), ('__model__', [0, -1, 0]), ('b', [1, 0, 0]),
                        ('a', [0, -1, 0]), ('j', [1, 0, 0])):
        assembly = assembled(body.format(frame))
        np.testing.assert_allclose(assembly.joints[0].axes[0], axis, atol=ROUNDOFF)


def test_each_joint_type_has_its_axes():
    """None for fixed and ball, two for universal."""
    axes = '<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>'
    for joint_type, count in (('fixed', 0), ('ball', 0), ('Prismatic', 1), ('universal', 2)):
        assembly = assembled('<link name="a"/><link name="b"/>' + joint(axes, joint_type))
        assert len(assembly.joints[0].axes) == count


def test_joint_ends_may_be_frames_and_models():
    """A frame leads to its link, a nested model to its canonical link."""
    assembly = assembled(
        '<link name="b"/><link name="a"/><frame name="f" attached_to="a"/>'
        '<model name="sub"><link name="c"/><link name="d"/></model>'
        '<joint name="j" type="fixed"><parent>f</parent><child>sub</child></joint>'
        '<joint name="k" type="fixed"><parent>world</parent><child>sub::d</child></joint>')
    names = [link.name for link in assembly.links]
    assert names == ['b', 'a', 'sub::c', 'sub::d']
    ends = [(item.name, item.parent, item.child) for item in assembly.joints]
    assert ends == [('j', 1, 2), ('k', -1, 3)]


def test_links_are_in_the_order_of_the_file():
    """A nested model written first comes first."""
    assembly = assembled('<model name="sub"><link name="c"/></model><link name="a"/>')
    assert [link.name for link in assembly.links] == ['sub::c', 'a']


def test_placement_frame_puts_a_frame_where_the_model_is_posed():
    """Pose 5, frame at +1: the model stands at 4."""
    assembly = assembled(
        '<pose>5 0 0 0 0 0</pose><link name="a"/><frame name="f"><pose>1 0 0 0 0 0</pose></frame>',
        attributes='placement_frame="f"')
    np.testing.assert_allclose(assembly.links[0].T_WL.p, [4, 0, 0])


def test_static_is_inherited_by_nested_models():
    """As gz-sim does; libsdformat keeps it per model."""
    assembly = assembled('<static>true</static><model name="sub"><link name="c"/></model>')
    assert assembly.links[0].is_static


def test_collision_pose_may_name_another_frame():
    """T_LS is always in the link's frame."""
    assembly = assembled(
        '<link name="a"><pose>1 0 0 0 0 0</pose><collision name="c">'
        '<pose relative_to="__model__">0 0 1 0 0 0</pose></collision></link>')
    np.testing.assert_allclose(assembly.links[0].collisions[0].T_LS.p, [-1, 0, 1])


def test_a_long_chain_of_frames_needs_no_recursion():
    """Each link stands on the one before."""
    count = 3000
    links = ''.join(f'<link name="l{i}"><pose relative_to="l{i - 1}">1 0 0 0 0 0</pose></link>'
                    for i in range(1, count))
    assembly = assembled('<link name="l0"/>' + links)
    np.testing.assert_allclose(assembly.links[-1].T_WL.p, [count - 1, 0, 0])


def test_version_1_4_expresses_axes_in_the_model():
    """Unless the file says otherwise; later versions use the joint's frame."""
    body = (f'<link name="a"/><link name="b"><pose>0 0 0 0 0 {QUARTER}</pose></link>'
            + joint('<axis><xyz>1 0 0</xyz>{}</axis>', 'revolute'))
    for version, flag, axis in (('1.4', '', [0, -1, 0]), ('1.5', '', [1, 0, 0]),
                                ('1.4', '<use_parent_model_frame>0</use_parent_model_frame>',
                                 [1, 0, 0]),
                                ('1.6', '<use_parent_model_frame>1</use_parent_model_frame>',
                                 [0, -1, 0])):
        assembly = assembled(body.format(flag), version)
        np.testing.assert_allclose(assembly.joints[0].axes[0], axis, atol=ROUNDOFF)


def test_version_1_5_has_gravity_in_physics():
    """It moved to the world in 1.6."""
    text = ('<sdf version="{}"><world name="w"><physics type="ode"><gravity>0 0 -1</gravity>'
            '</physics></world></sdf>')
    assert assemble(read(text=text.format('1.5'))).gravity[2] == -1
    assert assemble(read(text=text.format('1.6'))).gravity[2] == -9.8


def test_version_1_6_renames_what_1_7_refuses():
    """A joint with the name of a link becomes `name_joint`, with a warning."""
    assembly = assembled('<link name="a"/><link name="b"/>' + joint(name='b'), '1.6')
    assert assembly.joints[0].name == 'b_joint'
    assert 'becomes' in str(assembly.warnings[0])


def test_version_1_7_flat_names_become_nested_models():
    """Names with `::` in a world's model are models; the frame `__model__` poses them."""
    assembly = assemble(read(text=(
        '<sdf version="1.7"><world name="w"><model name="m"><link name="a"/>'
        '<frame name="s::__model__" attached_to="s::x"><pose relative_to="__model__">1 0 0 0 0 0'
        '</pose></frame><link name="s::x"><pose relative_to="s::__model__">0 1 0 0 0 0</pose>'
        '</link><joint name="j" type="fixed"><parent>a</parent><child>s::x</child></joint>'
        '</model></world></sdf>')))
    assert [link.name for link in assembly.links] == ['a', 's::x']
    np.testing.assert_allclose(assembly.links[1].T_WL.p, [1, 1, 0])
    assert assembly.joints[0].child == 1


def test_world_joints_connect_models_and_come_last():
    """A world may join its models."""
    assembly = assemble(read(text=(
        '<sdf version="1.12"><world name="w">'
        '<joint name="weld" type="fixed"><parent>m::a</parent><child>n</child></joint>'
        '<model name="m"><link name="a"/><link name="b"/>' + joint() + '</model>'
        '<model name="n"><link name="c"/></model></world></sdf>')))
    assert [(item.model, item.name) for item in assembly.joints] == [('m', 'j'), ('', 'weld')]
    assert (assembly.joints[1].parent, assembly.joints[1].child) == (0, 2)


def test_a_model_without_a_world_falls_as_in_gazebo():
    """Gravity is 9.8, and the step a millisecond."""
    assembly = assembled('<link name="a"/>')
    np.testing.assert_array_equal(assembly.gravity, [0, 0, -9.8])
    assert (assembly.has_world, assembly.physics.max_step_size) == (False, 0.001)


def test_add_world_keeps_both():
    """The robot stands in the world, after what was there."""
    robot = read(text='<sdf version="1.12"><model name="m"><link name="a"/></model></sdf>')
    world = read(text='<sdf version="1.12"><world name="w"><gravity>0 0 -1</gravity>'
                      '<model name="floor"><static>1</static><link name="f"/></model></world>'
                      '</sdf>')
    assembly = assemble(add_world(robot, world))
    assert [link.model for link in assembly.links] == ['floor', 'm']
    assert (assembly.name, assembly.gravity[2], assembly.has_world) == ('w', -1, True)


def test_a_second_world_is_left_out_by_name():
    """A warning says which."""
    assembly = assemble(read(text='<sdf version="1.12"><world name="w"/><world name="v"/></sdf>'))
    assert str(assembly.warnings[0]) == (
        "<text>:1: world 'v' is left out, since world 'w' comes first")
