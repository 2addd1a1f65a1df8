"""Random trees for tests, made of elements so that they go the same way as files do."""
import numpy as np

from spr_dynamics.model.build import build
from spr_dynamics.sdformat import elements
from spr_dynamics.sdformat.assemble import Assembly, PlacedJoint, PlacedLink
from spr_dynamics.sdformat.diagnostics import Location
from spr_dynamics.sdformat.poses import Pose

HERE = Location('<test>', 1, '/sdf')


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


def random_tree(rng, n_links, *, is_free=False, fixed_share=0.0, gravity=(0.3, -0.4, -9.7)):
    """
    Draw a model of n_links links, each hanging on an earlier one.

    :param is_free: Leave the first link without a joint.
    :param fixed_share: Chance that a joint is fixed.
    """
    links, joints = [], []
    for k in range(n_links):
        element = elements.Link(
            location=HERE, name=f'link{k}', pose=Pose.identity(), relative_to=reference(),
            inertial=random_inertial(rng), collisions=(), visuals=(), sensors=(), gravity=True,
            kinematic=False, self_collide=False, enable_wind=False)
        links.append(PlacedLink(element.name, 'tree', random_pose(rng), False, False, (), (), (),
                                element))
        if k == 0 and is_free:
            continue
        kind = rng.choice(['revolute', 'continuous', 'prismatic'])
        if k > 0 and rng.uniform() < fixed_share:
            kind = 'fixed'
        parent = -1 if k == 0 else rng.integers(k)
        joints.append(joint(rng, k, str(kind), parent))
    return build(Assembly('tree', np.array(gravity), elements.Physics(
        location=HERE, name='', type='ode', max_step_size=0.001, real_time_factor=1.0), False,
        tuple(links), tuple(joints), ()))


def joint(rng, k, kind, parent):
    """Draw a joint that moves link k."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    limit = elements.Limit(location=HERE, lower=-np.inf, upper=np.inf, effort=np.inf,
                           velocity=np.inf, stiffness=1e8, dissipation=1.0)
    element = elements.Joint(
        location=HERE, name=f'joint{k}', type=kind, parent=reference(), child=reference(),
        pose=Pose.identity(), relative_to=reference(),
        axis=None if kind == 'fixed' else elements.Axis(
            location=HERE, xyz=axis, expressed_in=reference(), limit=limit, damping=0.0,
            friction=0.0, spring_reference=0.0, spring_stiffness=0.0, mimic=None),
        axis2=None, screw_thread_pitch=1.0, gearbox_ratio=1.0,
        gearbox_reference_body=reference(), sensors=())
    return PlacedJoint(element.name, 'tree', int(parent), k, random_pose(rng),
                       () if kind == 'fixed' else (axis,), element)


def random_state(rng, model):
    """Draw positions, velocities and efforts; quaternions have length one."""
    q = rng.uniform(-3.0, 3.0, model.nq)
    for root in model.free_roots:
        q[root.q + 3:root.q + 7] /= np.linalg.norm(q[root.q + 3:root.q + 7])
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv) * 3.0
