"""The whole corpus against what libsdformat says about each file."""

import json
import math

import numpy as np
import pytest

import needs
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import Pose, read
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from spr_dynamics.sdformat.frames import FrameGraph
from spr_dynamics.sdformat.schema import AXES_OF_TYPE

CORPUS = needs.SHARED / 'corpus'
pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason=f'needs the folder {CORPUS}')

ROUNDOFF = 1e-9  # both sides work in doubles, on numbers of order one
LEAST_COMPARED = 300
FOLDERS = ('drake', 'gz-physics', 'gz-sim', 'probe', 'sdformat')

# part of a message -> why libsdformat loads the file and we do not
STRICTER = {
    '<include> is not supported': 'not yet supported',
    '<fluid_added_mass> is not supported': 'not yet supported',
    'is not a finite number': 'libsdformat takes the number that a text begins with',
    'values (needs 3)': 'libsdformat ignores a fourth number',
    'is not above zero': 'libsdformat takes the default for a negative size',
    'has a quaternion of length zero': 'no rotation',
    'is above <upper>': 'no position is allowed',
    "> is missing (needed for type '": 'libsdformat loads a joint without the axis it needs',
    'its link has no collision': 'the sensor would never feel anything',
    '<update_rate>': 'a negative rate',
    '<damping>': 'negative damping adds energy without end',
    '<friction>': 'so does negative friction',
    '<thread_pitch> is zero': 'an infinite pitch',
    '<mimic> is wrong': 'libsdformat does not check this in nested models',
    'not XML': 'libsdformat skips text before the root element',
    'parent and child are the same': 'libsdformat does not see this through a nested frame',
}
# code -> why we load what libsdformat does not
LAXER = {
    'ELEMENT_INCORRECT_TYPE': 'several models in a file are simulated together',
    'LINK_INERTIA_INVALID': 'auto inertia is refused later',
    'ELEMENT_INVALID': 'a sensor or material that is not simulated',
    'ELEMENT_MISSING': 'a material',
}


def expected_files():
    """Return path, libsdformat's answer for all files whose answer is known."""
    for folder in FOLDERS if CORPUS.exists() else ():
        answers = json.loads((CORPUS / 'expected' / f'{folder}.json').read_text())
        yield from answers.items()


FILES = dict(expected_files())
CLEAN = [path for path, answer in FILES.items()
         if not answer.get('errors') and not answer.get('crash')]
FAULTY = [path for path, answer in FILES.items() if answer.get('errors')]


def read_clean(path):
    """Read a file that libsdformat loads; None if we refuse it for a reason in the table."""
    try:
        return read(CORPUS / path)
    except SdfError as error:
        for line in str(error).splitlines():
            assert any(reason in line for reason in STRICTER), line
        return None


def test_most_clean_files_are_compared():
    """Those that we refuse, each for a reason in the table, are a small part."""
    assert sum(read_clean(path) is not None for path in CLEAN) >= LEAST_COMPARED


@pytest.mark.parametrize('path', CLEAN)
def test_elements_are_what_libsdformat_reads(path):
    """Poses, masses, inertias, joints, axes, limits agree to round-off, or the table says no."""
    root = read_clean(path)
    if root is None:
        return
    graph = FrameGraph(root, Report())
    answer = FILES[path]
    if answer.get('model'):
        assert_same_model(root.models[0], answer['model'], graph)
    assert len(root.worlds) == len(answer['worlds'])
    for world, expected in zip(root.worlds, answer['worlds']):
        assert world.name == expected['name']
        assert_close(world.gravity, expected['gravity'])
        assert_close(world.physics.max_step_size, expected['max_step_size'])
        assert len(world.models) == len(expected['models'])
        for model, expected_model in zip(world.models, expected['models']):
            assert_same_model(model, expected_model, graph)
        assert_same_joints(world, expected, graph)


@pytest.mark.parametrize('path', FAULTY)
def test_faulty_files_are_refused_with_a_line(path):
    """Each message names the file, and what we accept is in a table."""
    try:
        read(CORPUS / path)
    except SdfError as error:
        for diagnostic in error.diagnostics:
            assert str(diagnostic).startswith(str(CORPUS / path))
            assert '\n' not in str(diagnostic)
    else:
        assert {error['code'] for error in FILES[path]['errors']} <= set(LAXER)


def number(value):
    return float(value) if isinstance(value, str) else value


def assert_close(value, expected):
    expected = np.vectorize(number, otypes=[float])(np.asarray(expected, dtype=object))
    np.testing.assert_allclose(value, expected, rtol=ROUNDOFF, atol=ROUNDOFF)


def assert_same_pose(T, expected):
    quat = np.asarray(expected['quat_wxyz'], dtype=float)
    assert_close(T.p, expected['xyz'])
    if math.isclose(np.linalg.norm(quat), 1, abs_tol=ROUNDOFF):  # libsdformat keeps any length
        assert_close(T.R, Pose.from_quat_wxyz([0, 0, 0], quat).R)


def assert_same_model(model, expected, graph):
    assert (model.name, model.static, model.self_collide) == (
        expected['name'], expected['static'], expected['self_collide'])
    vertex = graph[model]
    T_WM = graph.T_W(vertex)
    assert_same_pose(graph.T_W(vertex.scope).inverse() @ T_WM, expected['pose_in_parent'])
    assert [link.name for link in model.links] == [link['name'] for link in expected['links']]
    for link, expected_link in zip(model.links, expected['links']):
        assert_same_pose(T_WM.inverse() @ graph.T_W(graph[link]), expected_link['pose_in_model'])
        assert_same_link(link, expected_link, graph)
    assert_same_joints(model, expected, graph)
    assert [sub.name for sub in model.models] == [sub['name'] for sub in expected['models']]
    for sub, expected_sub in zip(model.models, expected['models']):
        assert_same_model(sub, expected_sub, graph)


def assert_same_link(link, expected, graph):
    assert (link.gravity, link.kinematic) == (expected['gravity'], expected['kinematic'])
    assert link.inertial.is_auto == expected['auto']
    if not link.inertial.is_auto:
        inertia = link.inertial.inertia
        assert_close(link.inertial.mass, expected['mass'])
        assert_same_pose(link.inertial.pose, expected['inertial_pose'])
        assert_close(np.diag(inertia), expected['ixx_iyy_izz'])
        assert_close(inertia[[0, 0, 1], [1, 2, 2]], expected['ixy_ixz_iyz'])
    for collision, expected_collision in zip(link.collisions, expected['collisions']):
        assert collision.name == expected_collision['name']
        base = graph.part_base(collision, graph[link])
        T_LS = graph.T_W(graph[link]).inverse() @ graph.T_W(base) @ collision.pose
        assert_same_pose(T_LS, expected_collision['pose_in_link'])
        assert_same_shape(collision.geometry, expected_collision['geometry'])
        for name in ('mu', 'mu2', 'slip1', 'slip2', 'fdir1'):
            if name in expected_collision:
                assert_close(getattr(collision.surface, name), expected_collision[name])


def assert_same_shape(shape, expected):
    assert type(shape).__name__.lower() == expected['type']
    if isinstance(shape, (Box, Sphere, Cylinder, Capsule, Ellipsoid, Plane)):
        for name in ('size', 'radius', 'length', 'radii', 'normal'):
            if name in expected:
                assert_close(getattr(shape, name), expected[name])


def assert_same_joints(scope, expected, graph):
    assert [joint.name for joint in scope.joints] == [
        joint['name'] for joint in expected['joints']]
    for joint, expected_joint in zip(scope.joints, expected['joints']):
        assert joint.type == expected_joint['type']
        vertex = graph[joint]
        T_SJ = graph.T_W(graph[scope]).inverse() @ graph.T_W(vertex)
        assert_same_pose(T_SJ, expected_joint['pose_in_scope'])
        assert_close(joint.screw_thread_pitch, expected_joint['screw_thread_pitch'])
        assert graph.body(vertex).element.name == expected_joint['child_link'].split('::')[-1]
        for tag in ('axis', 'axis2')[:AXES_OF_TYPE[joint.type]]:
            assert_same_axis(getattr(joint, tag), expected_joint[tag], vertex, graph,
                             is_limited=joint.type != 'continuous')


def assert_same_axis(axis, expected, vertex, graph, *, is_limited):
    assert_close(axis.xyz, expected['xyz'])
    frame = graph.find(axis.expressed_in, vertex.scope) if axis.expressed_in else vertex
    assert_close(graph.T_W(vertex).R.T @ graph.T_W(frame).R @ axis.xyz, expected['xyz_in_joint'])
    for name in ('damping', 'friction', 'spring_reference', 'spring_stiffness'):
        assert_close(getattr(axis, name), expected[name])
    for name in ('effort', 'velocity', *(('lower', 'upper') if is_limited else ())):
        bound = number(expected[name])
        bound = math.copysign(math.inf, bound) if abs(bound) >= 1e16 else bound
        assert_close(getattr(axis.limit, name), bound)
