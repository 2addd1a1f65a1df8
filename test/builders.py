"""Random trees for tests, made of elements so that they go the same way as files do."""
import dataclasses

import numpy as np

from spr_dynamics.model.build import build
from spr_dynamics.sdformat import elements
from spr_dynamics.sdformat.assemble import Assembly, PlacedJoint, PlacedLink, PlacedMimic
from spr_dynamics.sdformat.diagnostics import Location
from spr_dynamics.sdformat.poses import Pose

HERE = Location('<test>', 1, '/sdf')
PLAIN = ('revolute', 'continuous', 'prismatic')  # those that URDF has, too
KINDS = (*PLAIN, 'screw', 'universal', 'revolute2', 'ball')
N_AXES = {'fixed': 0, 'ball': 0, 'universal': 2, 'revolute2': 2}  # and one of the others
PARALLEL_SHARE = 0.25  # of joints whose axis is nearly that of the joint before
NEARLY = 1e-7  # [rad] by which such axes differ


def random_pose(rng):
    """Draw a pose within half a metre."""
    return Pose.from_quat_wxyz(rng.uniform(-0.5, 0.5, 3), rng.normal(size=4))


def random_inertial(rng):
    """Draw a physical inertia: that of a cloud of points."""
    mass = rng.uniform(0.2, 3.0)
    points = rng.normal(size=(8, 3)) * rng.uniform(0.05, 0.3)
    points -= points.mean(axis=0)
    second = mass * points.T @ points / 8
    return elements.Inertial(location=HERE, mass=mass, pose=random_pose(rng),
                             inertia=np.trace(second) * np.eye(3) - second, is_auto=False)


def reference(name=''):
    """Make the name of an element."""
    return elements.Reference(name, HERE)


def random_tree(rng, n_links, *, kinds=PLAIN, n_trees=1, is_free=False, fixed_share=0.0,
                mimic_share=0.0, gravity=(0.3, -0.4, -9.7)):
    """
    Draw a model of n_links links, each hanging on an earlier one.

    :param kinds: Types of joints to draw from.
    :param n_trees: How many links hang on none; of all but the first, half are free.
    :param is_free: Leave the first link without a joint.
    :param fixed_share: Chance that a joint is fixed.
    :param mimic_share: Chance that an axis follows that of an earlier joint.
    """
    links, joints = [], []
    for k in range(n_links):
        links.append(link(rng, k))
        is_root = k < n_trees
        if is_root and (is_free if k == 0 else rng.uniform() < 0.5):
            continue
        kind = str(rng.choice(kinds))
        if k > 0 and rng.uniform() < fixed_share:
            kind = 'fixed'
        parent = -1 if is_root else int(rng.integers(k))
        joints.append(joint(rng, joints, k, kind, parent, mimic_share))
    return build(Assembly('tree', np.array(gravity), elements.Physics(
        location=HERE, name='', type='ode', max_step_size=0.001, real_time_factor=1.0), False,
        tuple(links), tuple(joints), ()))


def link(rng, k):
    """Draw link k."""
    element = elements.Link(
        location=HERE, name=f'link{k}', pose=Pose.identity(), relative_to=reference(),
        inertial=random_inertial(rng), collisions=(), visuals=(), sensors=(), gravity=True,
        kinematic=False, self_collide=False, enable_wind=False)
    return PlacedLink(element.name, 'tree', random_pose(rng), False, False, (), (), (), element)


def joint(rng, earlier, k, kind, parent, mimic_share):
    """Draw a joint that moves link k."""
    T_WJ = random_pose(rng)
    axes = random_axes(rng, earlier, kind, T_WJ.R)
    mimics = tuple(random_mimic(rng, earlier, mimic_share) for _ in axes)
    axis, axis2 = (*(axis_element(xyz) for xyz in axes), None, None)[:2]
    element = elements.Joint(
        location=HERE, name=f'joint{k}', type=kind, parent=reference(), child=reference(),
        pose=Pose.identity(), relative_to=reference(), axis=axis, axis2=axis2,
        screw_thread_pitch=rng.uniform(-1.0, 1.0), gearbox_ratio=1.0,
        gearbox_reference_body=reference(), sensors=())
    return PlacedJoint(element.name, 'tree', parent, k, T_WJ, axes, element,
                       mimics if any(mimics) else ())


def random_axes(rng, earlier, kind, R_WJ):
    """Draw as many axes as a joint has; those of a universal joint are at right angles."""
    first = rng.normal(size=3)
    if rng.uniform() < PARALLEL_SHARE and earlier and earlier[-1].axes:
        first = R_WJ.T @ earlier[-1].T_WJ.R @ earlier[-1].axes[0] + NEARLY * rng.normal(size=3)
    first /= np.linalg.norm(first)
    second = rng.normal(size=3)
    if kind == 'universal':
        second -= (second @ first) * first
    return (first, second / np.linalg.norm(second))[:N_AXES.get(kind, 1)]


def axis_element(xyz):
    """Make an axis without limits, damper or spring."""
    limit = elements.Limit(location=HERE, lower=-np.inf, upper=np.inf, effort=np.inf,
                           velocity=np.inf, stiffness=1e8, dissipation=1.0)
    return elements.Axis(location=HERE, xyz=xyz, expressed_in=reference(), limit=limit,
                         damping=0.0, friction=0.0, spring_reference=0.0, spring_stiffness=0.0,
                         mimic=None)


def random_mimic(rng, earlier, share):
    """Draw whom an axis follows, or None."""
    leaders = [(j, axis) for j, leader in enumerate(earlier) for axis in range(len(leader.axes))]
    if not leaders or rng.uniform() >= share:
        return None
    j, axis = leaders[rng.integers(len(leaders))]
    multiplier, offset, start = rng.uniform(-2.0, 2.0, 3)
    return PlacedMimic(j, axis, elements.MimicConstraint(
        earlier[j].name, ('axis', 'axis2')[axis], multiplier, offset, start, location=HERE))


def random_state(rng, model):
    """Draw positions, velocities and efforts; quaternions have length one."""
    q = rng.uniform(-3.0, 3.0, model.nq)
    for _, at in model.quaternions:
        q[at:at + 4] /= np.linalg.norm(q[at:at + 4])
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv) * 3.0


def coupling(model):
    """
    Write how joints follow, from the elements: qd = G qd_independent.

    :returns: G, shape (nv, number of velocities that follow none).
    """
    G, is_follower = np.eye(model.nv), np.zeros(model.nv, bool)
    place = {joint.name: joint.v for joint in model.joints}
    for joint in model.assembly.joints:  # leaders come first
        for axis, mimic in enumerate(joint.mimics):
            if mimic is not None:
                k = place[joint.name] + axis
                leader = place[model.assembly.joints[mimic.leader].name] + mimic.axis
                G[k] = mimic.element.multiplier * G[leader]
                is_follower[k] = True
    return G[:, ~is_follower]


def closed_tree(seed):
    """Draw a floating tree with balls and followers, tied to itself and to the world."""
    rng = np.random.default_rng(seed)
    assembly = random_tree(rng, 10, kinds=KINDS, is_free=True, mimic_share=0.15).assembly
    closing = tuple(
        dataclasses.replace(joint(rng, (), child, kind, parent, 0.0), name=kind)
        for kind, parent, child in (('ball', 2, 9), ('universal', -1, 6)))
    return rng, build(dataclasses.replace(assembly, joints=assembly.joints + closing))
