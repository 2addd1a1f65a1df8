"""URDF that is written: the way back, and what stands in for what it can't say."""
import dataclasses
import re
import time

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import random_state, random_tree
import needs
import spr_dynamics
from spr_dynamics.errors import SdfError
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, elements, read
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.urdf_write import (
    rpy_from_matrix, urdf_from_assembly, urdf_names, urdf_type)
from spr_dynamics.sdformat.values import effective_bound
from test_urdf import assembly_of, MODELS

ROUNDOFF = 1e-9


def assert_same_robot(written, original):
    """Compare all that URDF can say, by name."""
    theirs = dict(zip(urdf_names(original.links, {'world'}, '/'), original.links))
    ours = {placed.name: placed for placed in written.links}
    assert theirs.keys() <= ours.keys()
    for name, link in ours.items():
        inertial = link.element.inertial
        if name not in theirs:  # a frame between
            assert inertial.mass == 0
            continue
        other = theirs[name].element.inertial
        np.testing.assert_allclose(inertial.mass, other.mass, rtol=ROUNDOFF)
        np.testing.assert_allclose(inertial.inertia, other.inertia, atol=ROUNDOFF)
        np.testing.assert_allclose(inertial.pose.R, other.pose.R, atol=ROUNDOFF)
        np.testing.assert_allclose(inertial.pose.p, other.pose.p, atol=ROUNDOFF)
        np.testing.assert_allclose(link.T_WL.R, theirs[name].T_WL.R, atol=ROUNDOFF)
        np.testing.assert_allclose(link.T_WL.p, theirs[name].T_WL.p, atol=ROUNDOFF)
    found = {placed.name: placed for placed in written.joints}
    for name, joint in zip(urdf_names(original.joints, set(), '/'), original.joints):
        if not joint.axes:
            continue
        other = found[name]
        np.testing.assert_allclose(other.T_WJ.R @ other.axes[0], joint.T_WJ.R @ joint.axes[0],
                                   atol=ROUNDOFF)
        np.testing.assert_allclose(other.T_WJ.p, joint.T_WJ.p, atol=ROUNDOFF)
        axis, like = joint.element.axis, other.element.axis
        assert other.element.type == urdf_type(joint)
        bounds = ('effort', 'velocity') if urdf_type(joint) == 'continuous' else (
            'lower', 'upper', 'effort', 'velocity')
        for bound in bounds:
            assert getattr(like.limit, bound) == effective_bound(getattr(axis.limit, bound))
        for passive in ('damping', 'friction', 'spring_stiffness', 'spring_reference'):
            assert getattr(like, passive) == getattr(axis, passive)


@pytest.mark.parametrize('path', MODELS, ids=lambda path: path.stem)
def test_shipped_models_survive_the_way_through_urdf(path):
    original = assemble(read(path))
    written = assembly_of(urdf_from_assembly(original, path.stem).text)
    written = dataclasses.replace(written, gravity=original.gravity)  # URDF has none
    ours, theirs = build(written), build(original)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, qd, tau = random_state(rng, theirs)
        np.testing.assert_allclose(
            spr_dynamics.mass_matrix(ours, q), spr_dynamics.mass_matrix(theirs, q),
            rtol=ROUNDOFF, atol=ROUNDOFF)
        np.testing.assert_allclose(
            spr_dynamics.forward_dynamics(ours, q, qd, tau),
            spr_dynamics.forward_dynamics(theirs, q, qd, tau), rtol=1e-8, atol=1e-8)
    assert [(joint.name, joint.q) for joint in ours.joints] == [
        (joint.name, joint.q) for joint in theirs.joints]
    assert [root.name for root in ours.free_roots] == [
        root.name.replace('::', '/') for root in theirs.free_roots]
    for mine, other in zip(written.links, original.links):
        shapes = {shape.name: shape for shape in mine.visuals}
        for like in other.visuals:
            if isinstance(like.element.geometry, (
                    elements.Ellipsoid, elements.Cone, elements.Plane)):
                assert like.name not in shapes  # URDF can't say it
                continue
            shape = shapes[like.name]
            np.testing.assert_allclose(shape.T_LS.R, like.T_LS.R, atol=ROUNDOFF)
            np.testing.assert_array_equal(shape.element.diffuse, like.element.diffuse)
    assert_same_robot(written, original)


def test_corpus_survives_the_way_through_urdf():
    """All that others wrote, but for loops and the joints that URDF doesn't have."""
    count = 0
    for path in sorted(needs.corpus().rglob('*.sdf')):
        try:
            original = assemble(read(path))
        except SdfError:
            continue
        urdf = urdf_from_assembly(original, 'corpus').text
        is_said = 'closes a loop' not in urdf and all(
            urdf_type(joint) != 'floating' for joint in original.joints)
        if original.links and is_said:
            assert_same_robot(assembly_of(urdf), original)
            count += 1
    assert count > 200


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n_links=st.integers(1, 7), is_free=st.booleans())
def test_random_trees_survive_the_way_through_urdf(seed, n_links, is_free):
    """Joints of these trees are away from their links, so frames stand between."""
    rng = np.random.default_rng(seed)
    original = random_tree(rng, n_links, is_free=is_free, fixed_share=0.3)
    written = assembly_of(urdf_from_assembly(original.assembly, 'tree').text)
    again = build(written)
    assert {joint.name for joint in again.joints} == {joint.name for joint in original.joints}
    q, _, _ = random_state(rng, original)
    np.testing.assert_allclose(
        spr_dynamics.mass_matrix(again, q), spr_dynamics.mass_matrix(original, q),
        rtol=ROUNDOFF, atol=ROUNDOFF)


def frame_poses(urdf, T_WL):
    """Find each frame in the world by the link that it goes with."""
    poses = {'world': np.eye(4)}
    for frame in urdf.frames:
        poses[frame.name] = T_WL[frame.link] @ homogeneous(frame.T_LF)
    return poses


def homogeneous(T):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = T
    return matrix


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), is_free=st.booleans())
def test_frames_go_with_the_links(seed, is_free):
    """What URDF says stands still does so, and what a frame hangs on is where URDF has it."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6, kinds=('revolute', 'prismatic', 'ball', 'universal', 'screw'),
                        is_free=is_free, fixed_share=0.3)
    urdf = urdf_from_assembly(model.assembly, 'tree')
    assert [urdf.link_frames[k] for k in range(6)] == list(model.link_names)
    q, _, _ = random_state(rng, model)
    T_WL = spr_dynamics.link_poses(model, q)
    poses = frame_poses(urdf, T_WL)
    assert set(poses) == {*re.findall('<link name="([^"]*)"', urdf.text)}
    for frame in urdf.frames:
        if frame.T_PF is not None:
            np.testing.assert_allclose(poses[frame.parent] @ homogeneous(frame.T_PF),
                                       poses[frame.name], atol=ROUNDOFF)
        else:
            above = np.eye(4) if frame.parent_link == -1 else T_WL[frame.parent_link]
            np.testing.assert_array_equal(above, poses[frame.parent])


@pytest.mark.parametrize('path', MODELS, ids=lambda path: path.stem)
def test_frames_are_the_same_when_urdf_is_read_back(path):
    """Whoever reads the text has every frame where we have it, at every position."""
    model = spr_dynamics.load(path)
    urdf = urdf_from_assembly(model.assembly, path.stem)
    again = build(assembly_of(urdf.text))
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, _, _ = random_state(rng, model)
        ours = frame_poses(urdf, spr_dynamics.link_poses(model, q))
        theirs = dict(zip(again.link_names, spr_dynamics.link_poses(again, q)))
        assert set(theirs) == set(ours) - {'world'}
        for name, T_WF in theirs.items():
            np.testing.assert_allclose(ours[name], T_WF, atol=1e-9)


def test_fixed_base_is_fixed_in_urdf():
    text = urdf_from_assembly(sdf("<link name='a'/>"), 'r', fix_base=True).text
    assert '<joint name="world_to_a" type="fixed">' in text
    (frame,) = urdf_from_assembly(sdf("<link name='a'/>"), 'r').frames
    assert (frame.T_PF, frame.is_cut) == (None, True)


def test_long_chains_are_quick():
    rng = np.random.default_rng(3)
    text = urdf_from_assembly(random_tree(rng, 300).assembly, 'tree').text
    start = time.process_time()
    again = urdf_from_assembly(assembly_of(text), 'tree').text
    assert time.process_time() - start < 5.0  # takes 0.3 s
    assert again.count('<link ') == text.count('<link ')


def test_right_angles_of_pitch_lose_nothing():
    rng = np.random.default_rng(2)
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 3e-12, 1.0, 0.0):
        for roll, yaw in rng.uniform(-3, 3, (20, 2)):
            R = Pose.from_rpy([0, 0, 0], [roll, pitch, yaw]).R
            again = Pose.from_rpy([0, 0, 0], rpy_from_matrix(R)).R
            np.testing.assert_allclose(again, R, atol=1e-15 * 4)


def sdf(body):
    return assemble(read(text=f'<sdf version="1.12"><model name="m">{body}</model></sdf>'))


def test_what_urdf_cannot_say_is_left_out_with_a_comment():
    urdf = urdf_from_assembly(sdf("""
        <link name='a'>
          <visual name='floor---'><geometry><plane/></geometry></visual>
          <collision name='c'><geometry><ellipsoid/></geometry></collision>
          <visual name='none'/>
        </link>
        <link name='b'/><link name='c'/>
        <joint name='s' type='ball'><parent>a</parent><child>b</child></joint>
        <joint name='l' type='revolute'><parent>b</parent><child>c</child>
          <axis><xyz>0 0 1</xyz></axis></joint>
        <joint name='k' type='revolute'><parent>a</parent><child>c</child>
          <axis><xyz>0 0 1</xyz></axis></joint>"""), 'r').text
    assert "visual 'floor- - -' is of type 'plane', which URDF can't say" in urdf
    assert "collision 'c' is of type 'ellipsoid', which URDF can't say" in urdf
    assert '<joint name="s" type="floating">' in urdf
    assert "joint 's' is of type 'ball', which URDF doesn't have" in urdf
    assert urdf.count("closes a loop, which URDF can't say") == 1
    assert 'none' not in urdf


def test_capsule_is_a_cylinder_and_two_spheres():
    written = assembly_of(urdf_from_assembly(sdf("""
        <link name='a'><visual name='v'><pose>1 0 0 0 1.5707963267948966 0</pose>
          <geometry><capsule><radius>0.1</radius><length>2</length></capsule></geometry>
        </visual></link>"""), 'r').text)
    placed = written.links[0].visuals
    assert [shape.name for shape in placed] == ['v', 'v_top', 'v_bottom']
    np.testing.assert_allclose([shape.T_LS.p for shape in placed],
                               [[1, 0, 0], [2, 0, 0], [0, 0, 0]], atol=1e-15)


def test_unlimited_joints_are_continuous():
    """Readers that take the middle of the limits would get NaN from infinite ones."""
    urdf = urdf_from_assembly(sdf("""
        <link name='a'/><link name='b'/><link name='c'/>
        <joint name='j' type='revolute'><parent>a</parent><child>b</child>
          <axis><xyz>0 0 1</xyz></axis></joint>
        <joint name='k' type='prismatic'><parent>a</parent><child>c</child>
          <axis><xyz>0 0 1</xyz></axis></joint>"""), 'r').text
    assert '<joint name="j" type="continuous">' in urdf
    assert '<limit lower="-1e+16" upper="1e+16" effort="1e+16" velocity="1e+16"/>' in urdf
    assert 'inf' not in urdf


def test_mimic_without_reference():
    urdf = urdf_from_assembly(sdf("""
        <link name='a'/><link name='b'/><link name='c'/>
        <joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
          <mimic joint='k'><multiplier>2</multiplier><offset>0.5</offset>
            <reference>0.125</reference></mimic></axis></joint>
        <joint name='k' type='revolute'><parent>a</parent><child>c</child>
          <axis><xyz>0 0 1</xyz></axis></joint>"""), 'r').text
    assert '<mimic joint="k" multiplier="2.0" offset="0.25"/>' in urdf
    mimic = assembly_of(urdf).joints[0].mimics[0]
    assert (mimic.leader, mimic.element.multiplier, mimic.element.offset) == (1, 2, 0.25)


def test_static_links_are_fixed_to_the_world_and_names_are_unique():
    assembly = assemble(read(text="""
        <sdf version='1.12'><world name='w'>
          <model name='ground'><static>true</static><link name='l'/></model>
          <model name='robot'><link name='l'/>
            <model name='sub'><pose>1 2 3 0 0 0</pose><link name='arm'/></model>
            <joint name='j' type='fixed'><parent>l</parent><child>sub::arm</child></joint>
          </model>
        </world></sdf>"""))
    written = assembly_of(urdf_from_assembly(assembly, 'r').text)
    assert [placed.name for placed in written.links] == ['ground/l', 'robot/l', 'sub/arm']
    assert {placed.name: placed.parent for placed in written.joints} == {
        'world_to_ground/l': -1, 'j': 1}
    np.testing.assert_allclose(written.links[2].T_WL.p, [1, 2, 3])


def test_fixed_joint_holds_either_way_round():
    """What a joint moves carries what it is fixed to, even as the child of the fixed joint."""
    urdf = urdf_from_assembly(sdf("""
        <link name='p'/><link name='c'/><link name='base'/>
        <joint name='weld' type='fixed'><parent>p</parent><child>c</child></joint>
        <joint name='j' type='revolute'><parent>base</parent><child>c</child>
          <axis><xyz>0 0 1</xyz></axis></joint>"""), 'r').text
    model = build(assembly_of(urdf))
    assert [root.name for root in model.free_roots] == ['base']
    assert [joint.name for joint in model.joints] == ['j']
    assert 'closes a loop' not in urdf
