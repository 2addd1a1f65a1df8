"""Mimic constraints: what is read, who leads, and what is refused."""

from dataclasses import FrozenInstanceError, replace
import math

import pytest
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import assemble, MimicConstraint, read

DEFAULTS = ('', 'axis', 0.0, 0.0, 0.0)


def joint(name, parent, child, mimic='', kind='revolute', axes=('axis',)):
    inside = ''.join(f'<{tag}><xyz>{xyz}</xyz>{mimic if tag == axes[-1] else ""}</{tag}>'
                     for tag, xyz in zip(axes, ('1 0 0', '0 1 0')))
    return (f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
            f'{inside}</joint>\n')


def chain(*joints, links='abcd'):
    return ('<sdf version="1.12"><model name="m">\n'
            + ''.join(f'<link name="{name}"/>' for name in links) + '\n'
            + ''.join(joints) + '</model></sdf>')


def problems(text):
    with pytest.raises(SdfError) as caught:
        read(text=text)
    return caught.value.diagnostics


def test_defaults_are_those_of_the_class_in_sdformat():
    mimic = MimicConstraint()
    assert (mimic.joint, mimic.axis, mimic.multiplier, mimic.offset, mimic.reference) == DEFAULTS
    assert MimicConstraint('j', 'axis2', 2.0, 3.0, 4.0) == MimicConstraint(
        joint='j', axis='axis2', multiplier=2.0, offset=3.0, reference=4.0)


def test_a_constraint_changes_by_replacing_it():
    mimic = MimicConstraint('j', 'axis', 2.0, 3.0, 4.0)
    with pytest.raises(FrozenInstanceError):
        mimic.multiplier = 1.0
    assert replace(mimic, offset=5.0) == MimicConstraint('j', 'axis', 2.0, 5.0, 4.0)
    assert replace(mimic, joint='k') != mimic


def test_missing_children_are_one_and_zero():
    """The schema's defaults, not those of the class."""
    root = read(text=chain(joint('j', 'a', 'b'), joint('k', 'b', 'c', '<mimic joint="j"/>')))
    assert root.models[0].joints[1].axis.mimic == MimicConstraint('j', 'axis', 1.0, 0.0, 0.0)


def test_all_of_a_constraint_is_read():
    root = read(text=chain(joint('u', 'a', 'b', kind='universal', axes=('axis', 'axis2')), joint(
        'k', 'b', 'c', '<mimic joint="u" axis="axis2"><multiplier>-2</multiplier>'
        '<offset>.3</offset><reference>.4</reference></mimic>')))
    mimic = root.models[0].joints[1].axis.mimic
    assert mimic == MimicConstraint('u', 'axis2', -2.0, 0.3, 0.4)
    assert mimic.location.line == 4


def test_leaders_are_found_in_nested_models_forward_and_on_either_axis():
    text = chain(
        joint('k', 'a', 'b', '<mimic joint="s::u" axis="axis2"/>'),
        joint('v', 'b', 'c', '<mimic joint="v" axis="axis"/>', 'universal', ('axis', 'axis2')),
        '<model name="s"><link name="x"/><link name="y"/>',
        joint('u', 'x', 'y', kind='universal', axes=('axis', 'axis2')), '</model>')
    assembly = assemble(read(text=text))
    (k,), (first, second), u = (item.mimics for item in assembly.joints)
    assert (assembly.joints[k.leader].name, k.axis) == ('s::u', 1)
    assert first is None
    assert (assembly.joints[second.leader].name, second.axis) == ('v', 0)
    assert u == ()


def test_a_joint_of_the_world_leads_into_a_model():
    text = ('<sdf version="1.12"><world name="w"><model name="m"><link name="a"/><link name="b"/>'
            + joint('j', 'a', 'b') + '</model><model name="n"><link name="c"/></model>'
            + joint('k', 'm::b', 'n::c', '<mimic joint="m::j"/>') + '</world></sdf>')
    assembly = assemble(read(text=text))
    assert [item.name for item in assembly.joints] == ['j', 'k']
    assert assembly.joints[1].mimics[0].leader == 0


WRONG = {
    'typo': (joint('k', 'b', 'c', '<mimic joint="jj"/>'),
             "there is no joint 'jj' (did you mean 'j'?)"),
    'link': (joint('k', 'b', 'c', '<mimic joint="a"/>'), "link 'a' is no joint (known: 'j', 'k')"),
    'world': (joint('k', 'b', 'c', '<mimic joint="world"/>'), "there is no joint 'world'"),
    'itself': (joint('k', 'b', 'c', '<mimic joint="k"/>'), 'it mimics itself'),
    'axis3': (joint('k', 'b', 'c', '<mimic joint="j" axis="axis3"/>'),
              "axis 'axis3' is unknown (known: 'axis', 'axis2')"),
    'axis2': (joint('k', 'b', 'c', '<mimic joint="j" axis="axis2"/>'), "joint 'j' has no <axis2>"),
    'fixed': (joint('f', 'c', 'd', kind='fixed') + joint('k', 'b', 'c', '<mimic joint="f"/>'),
              "joint 'f' is of type 'fixed', which does not move along <axis>"),
    'ball': (joint('f', 'c', 'd', kind='ball', axes=())
             + joint('k', 'b', 'c', '<mimic joint="f"/>'), "joint 'f' has no <axis>"),
    'ball_axis': (joint('f', 'c', 'd', kind='ball') + joint('k', 'b', 'c', '<mimic joint="f"/>'),
                  "joint 'f' is of type 'ball', which does not move along <axis>"),
    'nested': ('<model name="s"><link name="x"/><link name="y"/>'
               + joint('k', 'x', 'y', '<mimic joint="j"/>') + '</model>',
               "there is no joint 'j' (known: 'k')"),
    'follower': (joint('k', 'b', 'c', '<mimic joint="j"/>', 'ball'),
                 "a joint of type 'ball' can't follow"),
}


@pytest.mark.parametrize('name', WRONG)
def test_leaders_that_cannot_lead_are_refused(name):
    text, message = WRONG[name]
    problem, = problems(chain(joint('j', 'a', 'b'), text))
    assert problem.code == 'JOINT_AXIS_MIMIC_INVALID'
    assert f"joint 'k': <mimic> is wrong: {message}" in problem.message


def test_a_circle_is_refused_once_with_its_path():
    problem, = problems(chain(
        joint('i', 'world', 'a', '<mimic joint="j"/>'),
        joint('j', 'a', 'b', '<mimic joint="u" axis="axis2"/>'),
        joint('u', 'b', 'c', '<mimic joint="k"/>', 'universal', ('axis', 'axis2')),
        joint('k', 'c', 'd', '<mimic joint="j"/>')))
    assert problem.code == 'JOINT_AXIS_MIMIC_INVALID'
    assert str(problem) == (
        "<text>:4: joint 'j': <mimic> runs in a circle: joint 'j' -> axis2 of joint 'u' -> "
        "joint 'k' -> joint 'j'")


def test_two_axes_of_a_joint_in_a_circle_are_refused():
    axes = ''.join(f'<{tag}><xyz>{xyz}</xyz><mimic joint="u" axis="{other}"/></{tag}>'
                   for tag, other, xyz in (('axis', 'axis2', '1 0 0'), ('axis2', 'axis', '0 1 0')))
    problem, = problems(chain('<joint name="u" type="universal"><parent>a</parent>'
                              f'<child>b</child>{axes}</joint>'))
    assert "joint 'u' -> axis2 of joint 'u' -> joint 'u'" in problem.message


@pytest.mark.parametrize('number', ['nan', 'inf', '1e999', 'two'])
def test_a_multiplier_that_is_not_finite_is_refused(number):
    problem, = problems(chain(joint('j', 'a', 'b'), joint(
        'k', 'b', 'c', f'<mimic joint="j"><multiplier>{number}</multiplier></mimic>')))
    assert f"joint 'k': <multiplier> '{number}'" in problem.message


def test_numbers_of_elements_made_by_hand_are_checked():
    root = read(text=chain(joint('j', 'a', 'b'), joint('k', 'b', 'c', '<mimic joint="j"/>')))
    model = root.models[0]
    j, k = model.joints
    for mimic, message in ((MimicConstraint('j', offset=math.nan), 'offset is nan'),
                           (MimicConstraint(), "there is no joint ''")):
        follower = replace(k, axis=replace(k.axis, mimic=mimic))
        changed = replace(model, children=(*model.links, j, follower))
        with pytest.raises(SdfError, match=f"joint 'k': <mimic> is wrong: {message}"):
            assemble(replace(root, models=(changed,)))


def test_a_joint_without_a_name_to_follow_is_refused():
    (missing,), (empty,) = (problems(chain(joint('k', 'a', 'b', mimic)))
                            for mimic in ('<mimic/>', '<mimic joint=""/>'))
    assert missing.code == 'ATTRIBUTE_MISSING'
    assert empty.code == 'ATTRIBUTE_INVALID'


def test_a_fixed_follower_is_named_in_a_warning():
    root = read(text=chain(joint('j', 'a', 'b'),
                           joint('k', 'b', 'c', '<mimic joint="j"/>', 'fixed')))
    assert any("joint 'k': <mimic> has no effect, since a joint of type 'fixed'" in str(warning)
               for warning in root.warnings)
    assert all(not item.mimics for item in assemble(root).joints)
