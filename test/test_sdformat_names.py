"""Names: who keeps one when two want it, and where the rules don't reach."""
import numpy as np
import pytest

from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import assemble, Pose, read


def model(inside, version='1.12', attributes=''):
    return read(text=f"<sdf version='{version}'><model name='m' {attributes}>{inside}"
                     '</model></sdf>')


def codes(inside, **options):
    with pytest.raises(SdfError) as refusal:
        model(inside, **options)
    return {code for error in refusal.value.diagnostics for code in (error.code, *error.implied)}


def test_link_keeps_its_name_before_joints_and_frames_up_to_version_1_6():
    """The one written first kept it, and a joint's own child was renamed under it."""
    (robot,) = model("<frame name='b'/><link name='a'/><joint name='b' type='fixed'>"
                     "<parent>a</parent><child>b</child></joint><link name='b'/>",
                     version='1.6').models
    assert [link.name for link in robot.links] == ['a', 'b']
    assert [joint.name for joint in robot.joints] == ['b_joint']
    assert [frame.name for frame in robot.frames] == ['b_frame']


def test_canonical_link_may_be_named_by_a_frame_on_it():
    links = "<link name='a'/><link name='b'/>"
    (robot,) = model(f"{links}<frame name='f' attached_to='b'/>",
                     attributes="canonical_link='f'").models
    assert robot.canonical_link == 'f'
    assert codes(f"{links}<frame name='f'/>", attributes="canonical_link='f'") == {
        'FRAME_ATTACHED_TO_CYCLE'}


def test_sensors_of_a_joint_have_names_of_their_own():
    sensor = "<sensor name='c' type='force_torque'/>"
    assert 'DUPLICATE_NAME' in codes(
        "<link name='a'/><link name='b'/><joint name='j' type='fixed'><parent>a</parent>"
        f'<child>b</child>{sensor}{sensor}</joint>')


def test_names_of_custom_elements_may_look_scoped():
    assert model("<link name='a'/><gz:thing name='a::b'/>").models[0].links[0].name == 'a'


def test_names_and_attributes_without_end_are_refused_by_their_line():
    with pytest.raises(SdfError, match=r'<text>:1: names lead more than 100 deep'):
        read(text="<sdf version='1.7'><world name='w'><model name='m'>"
                  f"<link name='{'s::' * 200}l'/></model></world></sdf>")
    with pytest.raises(SdfError, match=r'<text>:1: an element has more than 1000 attributes'):
        model('<link ' + ' '.join(f"a{k}=''" for k in range(1001)) + '/>')


@pytest.mark.parametrize('inside', [
    "<link name='a'><velocity_decay><linear>bad</linear></velocity_decay></link>",
    "<link name='a'/><allow_auto_disable>maybe</allow_auto_disable>",
    "<link name='a'><visual name='v'><geometry><sphere/></geometry><material><ambient>red"
    '</ambient></material></visual></link>',
])
def test_bad_text_is_refused_even_where_nobody_reads_it(inside):
    assert codes(inside) == {'ELEMENT_INVALID', 'FILE_READ'}


def test_text_of_a_plugin_is_its_own_business():
    assert model("<link name='a'/><plugin name='p' filename='f'><linear>bad</linear></plugin>")


def test_mimic_finds_its_leader_after_unflattening():
    joint = ("<joint name='s::{}' type='revolute'><parent>s::{}</parent><child>s::{}</child>"
             '<axis>{}</axis></joint>')
    root = read(text="<sdf version='1.7'><world name='w'><model name='m'>" + ''.join(
        f"<link name='s::{name}'/>" for name in 'abc') + joint.format('k', 'a', 'b', '')
        + joint.format('j', 'b', 'c', "<mimic joint='s::k'/>") + '</model></world></sdf>')
    (sub,) = root.worlds[0].models[0].models
    assert [str(j.axis.mimic.joint) for j in sub.joints if j.axis.mimic] == ['k']


@pytest.mark.parametrize('length', [1e200, 1e-200, 3.0])
def test_quaternion_of_any_length_is_a_rotation(length):
    """Its square overflowed or vanished, and the pose became another one without a word."""
    root = model(f"<link name='a'><pose rotation_format='quat_xyzw'>0 0 0 {length} 0 0 {length}"
                 '</pose></link>')
    np.testing.assert_allclose(assemble(root).links[0].T_WL.R,
                               Pose.from_rpy([0, 0, 0], [np.pi / 2, 0, 0]).R, atol=1e-15)


@pytest.mark.parametrize('text, expected', [
    ("<link name='a'/><link name='__model__'/>",
     {'RESERVED_NAME', 'DUPLICATE_NAME', 'POSE_RELATIVE_TO_GRAPH_ERROR'}),
    ("<link name='a'/><frame name='__model__'/>",
     {'RESERVED_NAME', 'DUPLICATE_NAME', 'POSE_RELATIVE_TO_GRAPH_ERROR',
      'FRAME_ATTACHED_TO_GRAPH_ERROR'}),
    ("<link name='a'/><frame name='__root__'/>", {'RESERVED_NAME'}),
    ("<link name='world'/>", {'RESERVED_NAME'}),
])
def test_reserved_names_have_all_codes_of_libsdformat(text, expected):
    assert codes(text) == expected


CLASHES = {
    'frame_on_its_model': ("<frame name='a'/>", {
        'FRAME_ATTACHED_TO_CYCLE', 'FRAME_ATTACHED_TO_GRAPH_ERROR',
        'POSE_RELATIVE_TO_GRAPH_ERROR'}),
    'frame_on_itself': ("<frame name='b' attached_to='b'/>", {
        'FRAME_ATTACHED_TO_CYCLE', 'FRAME_ATTACHED_TO_GRAPH_ERROR', 'POSE_RELATIVE_TO_CYCLE',
        'POSE_RELATIVE_TO_GRAPH_ERROR'}),
    'frame_on_another': ("<frame name='b' attached_to='a'/>", {
        'FRAME_ATTACHED_TO_GRAPH_ERROR', 'POSE_RELATIVE_TO_GRAPH_ERROR'}),
    'model': ("<model name='b'><link name='l'/></model>", {'POSE_RELATIVE_TO_GRAPH_ERROR'}),
}


@pytest.mark.parametrize('text, expected', CLASHES.values(), ids=CLASHES)
def test_what_shares_a_name_has_all_codes_of_libsdformat(text, expected):
    """In its graphs it shares a place, too, whichever is written first."""
    links = "<link name='a'/><link name='b'/>"
    for inside in (links + text, text + links):
        assert codes(inside) == {'DUPLICATE_NAME', *expected}
