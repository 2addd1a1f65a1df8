"""What can be read off a state: motion of links, Jacobians, momentum, forces in joints."""
import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import KINDS, random_state, random_tree
import spr_dynamics as spr

ROUNDOFF = 1e-11  # of recursions over up to 12 bodies, relative
H = 1e-5  # [s] of central differences, good to about H^2
SLOPE = 1e-6  # what they are good to, relative
DRAWN = {'seed': st.integers(0, 2 ** 32 - 1), 'n': st.integers(1, 12), 'is_free': st.booleans()}
drawn = settings(deadline=None, max_examples=60)
WALL = """
<sdf version='1.12'><model name='wall'>
  <link name='arm'><pose>0 0 1 0 0 0</pose>
    <inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass></inertial></link>
  <link name='hand'><pose>1 0 1 0 0 0</pose>
    <inertial><mass>3</mass></inertial></link>
  <joint name='shoulder' type='{kind}'><parent>world</parent><child>arm</child>
    <axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
  <joint name='wrist' type='fixed'><parent>arm</parent><child>hand</child></joint>
</model></sdf>
"""


def draw(seed, n, is_free):
    """Make a model of all kinds of joints, a state and accelerations."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, kinds=KINDS, is_free=is_free, fixed_share=0.2)
    return model, *random_state(rng, model)


def assert_near(ours, expected, tolerance):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance * scale)


def quaternion_product(a, b):
    """Multiply quaternions w x y z."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:],
                     *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def turn(phi):
    """Return the quaternion that turns by a rotation vector."""
    half = np.linalg.norm(phi) / 2
    return np.array([np.cos(half), *(phi / 2 * np.sinc(half / np.pi))])


def moved(model, q, step):
    """Move positions by a step; roots turn in world axes, balls in their own."""
    q = q.copy()
    for root in model.free_roots:
        q[root.q:root.q + 3] += step[root.v:root.v + 3]
        q[root.q + 3:root.q + 7] = quaternion_product(
            turn(step[root.v + 3:root.v + 6]), q[root.q + 3:root.q + 7])
    for joint in model.joints:
        if joint.type == 'ball':
            q[joint.q:joint.q + 4] = quaternion_product(
                q[joint.q:joint.q + 4], turn(step[joint.v:joint.v + 3]))
    for axis in model.axes:
        q[axis.q] += step[axis.v]
    return q


def along(model, q, qd, qdd, t):
    """Return the state a short time away, along a motion of constant acceleration."""
    return moved(model, q, t * qd + 0.5 * t * t * qdd), qd + t * qdd


def vector_of(S):
    """Read w out of the matrix of the cross product with w."""
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2


@drawn
@given(**DRAWN)
def test_velocities_are_the_rates_of_poses(seed, n, is_free):
    model, q, qd, _ = draw(seed, n, is_free)
    before, after = (spr.link_poses(model, along(model, q, qd, 0 * qd, t)[0]) for t in (-H, H))
    now, rate = spr.link_poses(model, q), (after - before) / (2 * H)
    expected = [[*vector_of(rate[k, :3, :3] @ now[k, :3, :3].T), *rate[k, :3, 3]]
                for k in range(model.links.size)]
    assert_near(spr.link_velocities(model, q, qd), np.array(expected), SLOPE)


@drawn
@given(**DRAWN)
def test_accelerations_are_the_rates_of_velocities(seed, n, is_free):
    model, q, qd, qdd = draw(seed, n, is_free)
    before, after = (spr.link_velocities(model, *along(model, q, qd, qdd, t)) for t in (-H, H))
    assert_near(spr.link_accelerations(model, q, qd, qdd), (after - before) / (2 * H), SLOPE)


@drawn
@given(**DRAWN)
def test_jacobian_maps_to_the_velocity_of_a_point(seed, n, is_free):
    model, q, qd, _ = draw(seed, n, is_free)
    poses, velocities = spr.link_poses(model, q), spr.link_velocities(model, q, qd)
    point = np.array([0.3, -0.2, 0.5])
    for T, velocity, link in zip(poses, velocities, model.link_names):
        w, v = velocity[:3], velocity[3:]
        expected = [*w, *(v + np.cross(w, T[:3, :3] @ point))]
        assert_near(spr.jacobian(model, q, link, point) @ qd, expected, ROUNDOFF)
        assert_near(spr.jacobian(model, q, link) @ qd, velocity, ROUNDOFF)


@drawn
@given(**DRAWN)
def test_momentum_changes_by_the_forces_from_outside(seed, n, is_free):
    """Gravity, and what the joints and free roots next to the world carry."""
    model, q, qd, qdd = draw(seed, n, is_free)
    before, after = (spr.momentum(model, *along(model, q, qd, qdd, t)) for t in (-H, H))
    now = spr.momentum(model, q, qd)
    force = now.mass * model.gravity
    moment = np.cross(now.centre, force)
    wrenches, tau = spr.joint_wrenches(model, q, qd, qdd), spr.inverse_dynamics(model, q, qd, qdd)
    held = [(wrench[:3], wrench[3:], joint_origin(model, q, joint))
            for wrench, joint in zip(wrenches, model.joints) if joint.parent == 'world']
    held += [(tau[root.v + 3:root.v + 6], tau[root.v:root.v + 3], q[root.q:root.q + 3])
             for root in model.free_roots]
    for torque, push, origin in held:
        force = force + push
        moment = moment + torque + np.cross(origin, push)
    assert_near((after.linear - before.linear) / (2 * H), force, SLOPE)
    assert_near((after.angular - before.angular) / (2 * H), moment, SLOPE)
    assert_near((after.centre - before.centre) / (2 * H), now.linear / now.mass, SLOPE)


def joint_origin(model, q, joint):
    """Return where a joint is: on its child, at the pose of the file."""
    k = model.link_names.index(joint.child)
    placed = model.assembly.joints[[j.name for j in model.assembly.joints].index(joint.name)]
    in_child = model.assembly.links[k].T_WL.inverse() @ placed.T_WJ
    T = spr.link_poses(model, q)[k]
    return T[:3, :3] @ in_child.p + T[:3, 3]


@drawn
@given(**DRAWN)
def test_a_joint_gives_its_effort_along_its_axis(seed, n, is_free):
    """What a wrench does along the relative motion of two links is what the effort does."""
    model, q, qd, qdd = draw(seed, n, is_free)
    tau = spr.inverse_dynamics(model, q, qd, qdd)
    for wrench, joint in zip(spr.joint_wrenches(model, q, qd, qdd), model.joints):
        last = slice(joint.v + joint.nv - (1 if joint.nv == 2 else joint.nv), joint.v + joint.nv)
        S = point_motion(model, q, joint)[:, last]
        assert_near(S.T @ wrench, tau[last], ROUNDOFF * (1.0 + np.abs(wrench).max()))


def point_motion(model, q, joint):
    """Return how each velocity moves a joint's child, as seen at the joint."""
    k = model.link_names.index(joint.child)
    T = spr.link_poses(model, q)[k]
    return spr.jacobian(model, q, joint.child,
                        T[:3, :3].T @ (joint_origin(model, q, joint) - T[:3, 3]))


@pytest.mark.parametrize('kind', ['revolute', 'ball', 'universal'])
def test_a_joint_in_a_wall_carries_the_weight(kind):
    model = spr.load(text=WALL.format(kind=kind))
    q, still = model.neutral_q(), np.zeros(model.nv)
    wrench, = spr.joint_wrenches(model, q, still, still)
    np.testing.assert_allclose(wrench, [0, -(0.5 * 2 + 1 * 3) * 9.8, 0, 0, 0, 5 * 9.8], atol=1e-12)
    push = np.zeros((2, 6))
    push[1, 3:] = 0.0, 7.0, 0.0
    wrench, = spr.joint_wrenches(model, q, still, still, push)
    np.testing.assert_allclose(wrench[[2, 4]], [-7.0, -7.0], atol=1e-12)


def test_momentum_of_a_dumbbell():
    model = spr.load(text=WALL.format(kind='revolute'))
    found = spr.momentum(model, [0.0], [2.0])  # about y: the hand goes down
    assert found.mass == 5.0
    np.testing.assert_allclose(found.centre, [0.8, 0, 1], atol=1e-12)
    np.testing.assert_allclose(found.linear, [0, 0, -2.0 * 4], atol=1e-12)
    np.testing.assert_allclose(found.angular, [0, 2.0 * (2 * 0.25 + 3 + 1 + 1), 0], atol=1e-12)


def test_momentum_of_what_can_not_move_is_zero():
    model = spr.load(text="<sdf version='1.12'><model name='m'><static>true</static>"
                          "<link name='a'/></model></sdf>")
    found = spr.momentum(model, [], [])
    assert found.mass == 0.0 and not found.linear.any() and np.isnan(found.centre).all()
    assert not spr.link_accelerations(model, [], [], []).any()
    assert spr.jacobian(model, [], 'a').shape == (6, 0)


def response(model, q, qd):
    return spr.link_response(model, q, qd, 'link1')


READOUTS = [spr.momentum, spr.link_velocities, spr.energy, response]
WITH_ACCELERATIONS = [spr.link_accelerations, spr.joint_wrenches]
WRONG = [
    ({'q': [0.0]}, 'q: shape (11,) expected, got (1,)'),
    ({'q': np.ones(11)}, "q: unit quaternion w x y z expected for free root 'link0'"),
    ({'qd': np.full(10, np.nan)}, 'qd: finite numbers expected, got qd[0] = nan'),
]


@pytest.mark.parametrize('function', READOUTS + WITH_ACCELERATIONS)
@pytest.mark.parametrize('wrong, message', WRONG)
def test_wrong_states_are_named(function, wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    good = {'q': model.neutral_q(), 'qd': np.zeros(10)}
    rest = [np.zeros(10)] if function in WITH_ACCELERATIONS else []
    with pytest.raises(ValueError, match=re.escape(message)):
        function(model, *{**good, **wrong}.values(), *rest)


@pytest.mark.parametrize('function', [spr.loop_gaps, spr.closed_positions])
@pytest.mark.parametrize('wrong, message', WRONG[:2])
def test_wrong_positions_are_named(function, wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    with pytest.raises(ValueError, match=re.escape(message)):
        function(model, **wrong)


@pytest.mark.parametrize('function', WITH_ACCELERATIONS)
def test_wrong_accelerations_are_named(function):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    with pytest.raises(ValueError, match=re.escape('qdd: shape (10,) expected, got (3,)')):
        function(model, model.neutral_q(), np.zeros(10), np.zeros(3))


def test_wrong_external_forces_are_named():
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    with pytest.raises(ValueError, match=re.escape('f_ext: shape (5, 6) expected')):
        spr.joint_wrenches(model, model.neutral_q(), *np.zeros((2, 10)), f_ext=np.zeros(6))


@pytest.mark.parametrize('wrong, message', [
    ({'q': [0.0]}, 'q: shape (11,) expected, got (1,)'),
    ({'link': 'link9'}, "no link 'link9' (did you mean 'link"),
    ({'link': 3}, 'no link 3'),
    ({'point': [0.0, 0.0]}, 'point: shape (3,) expected, got (2,)'),
    ({'point': [0.0, 0.0, np.nan]}, 'point: finite numbers expected, got point[2] = nan'),
])
def test_wrong_arguments_of_the_jacobian_are_named(wrong, message):
    model = random_tree(np.random.default_rng(4), 5, is_free=True)
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.jacobian(model, **{'q': model.neutral_q(), 'link': 'link1', **wrong})
