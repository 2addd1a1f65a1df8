"""Elements to arrays: weld, order and measure the bodies of an Assembly."""
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.assembling import assemble_start, bounds_of
from spr_dynamics.model.closures import has_drive, hinge_records, tie_records
from spr_dynamics.model.coupling import follower_records
from spr_dynamics.model.model import Cone, Dof, FreeRoot, frozen, Joint, Model
from spr_dynamics.model.records import (
    AXIS, BALL, DRIVE, FREE, LINK, POSITIONS, transform_from_pose, TREE, VELOCITIES)
from spr_dynamics.model.shapes import build_shapes
from spr_dynamics.model.topology import (
    closing, find_movers, joins_static, movable, order_bodies, weld, where)
from spr_dynamics.sdformat.assemble import Assembly, unique_names
from spr_dynamics.sdformat.meshes import mesh_places
from spr_dynamics.sdformat.uris import SearchPath
from spr_dynamics.sdformat.values import effective_bound

TURNING = ('revolute', 'continuous', 'universal', 'revolute2')
NO_LIMITS = -np.inf, np.inf, np.inf, 0.0, 0.0, 0.0  # as fields of Dof
TOO_LARGE = 1e100  # the square of this is still a number
SLACK = 1e-9  # [rad] or [m] by which round-off may put a joint outside its limits
PARALLEL = 1e-7  # sine of the angle between two axes of a joint below which they are one
SQUARE = 1e-3  # cosine below which two axes count as written at right angles
SINGULAR = 1e-14  # share of an inertia that is left by round-off where nothing should be left


def build(assembly: Assembly, *, fix_base: bool = False,
          search: SearchPath | None = None) -> Model:
    """
    Build the arrays of a model.

    :param assembly: Links and joints with every pose resolved.
    :param fix_base: Weld the links that would be free roots to the world.
    :param search: Where mesh files are looked up; None takes what the environment names.
    :raises ModelError: If the links make no tree, two axes of a joint are parallel, or something
        moves that has no mass.
    """
    refuse_unsimulated(assembly)
    refuse_parallel_axes(assembly)
    group = weld(assembly, fix_base)
    movers, closures = find_movers(assembly, group)
    bodies, numbers = order_bodies(assembly, group, movers)
    body_of_link = [numbers[k] for k in group]
    layout = lay_out(assembly, bodies)
    links = link_records(assembly, bodies, body_of_link)
    with np.errstate(over='ignore', invalid='ignore'):  # looked at right after
        tree = tree_records(assembly, bodies, body_of_link, layout)
    refuse_overflow(assembly, bodies, tree)
    refuse_singular(assembly, bodies, tree)
    link_names = unique_names(assembly.links)
    shapes = build_shapes(assembly, links, link_names, mesh_places(search or SearchPath.of()))
    joints, dofs = joint_tables(assembly, bodies, layout)
    roots = root_table(assembly, bodies, layout)
    followers = follower_records(assembly, group, movers, places_of_axes(assembly, bodies, layout))
    ties = tie_records(assembly, bodies, numbers, group, closures)
    hinges = hinge_records(bodies, numbers, group, closures, ties)
    names = dict(zip(map(id, assembly.joints), unique_names(assembly.joints)))
    loop_names = tuple(names[id(joint)] for joint in closures)
    positions, loop_warnings = assemble_start(
        tree, ties, followers, bounds_of(dofs, layout.nq),
        [f"{where(joint.element)}: joint '{names[id(joint)]}'" for joint in closures],
        home(bodies, layout, followers))
    return Model(
        name=assembly.name, nq=layout.nq, nv=layout.nv,
        tree=frozen(tree), links=frozen(links), shapes=frozen(shapes.records),
        vertices=frozen(shapes.vertices), neighbours=frozen(shapes.neighbours),
        faces=frozen(shapes.faces),
        gravity=frozen(np.array(assembly.gravity, float)),
        dt=assembly.physics.max_step_size,
        real_time_factor=assembly.physics.real_time_factor,
        link_names=link_names, shape_names=shapes.names,
        ties=frozen(ties), hinges=frozen(hinges), loop_names=loop_names,
        drives=frozen(drive_records(bodies, layout)), followers=frozen(followers),
        order=frozen(order_of_columns(tree)),
        joints=joints, dofs=dofs, free_roots=roots,
        home=frozen(positions),
        warnings=(*map(str, assembly.warnings), *static_warnings(assembly),
                  *joint_warnings(assembly, joints, dofs, positions), *shapes.warnings,
                  *closure_warnings(assembly, group, movers, closures), *loop_warnings),
        assembly=assembly)


def refuse_unsimulated(assembly):
    """Stop at what the kernels don't know yet, where the motion would be wrong without it."""
    problems = [
        f"{where(link.element.inertial)}: link '{link.name}': <fluid_added_mass> is not simulated "
        'yet' for link in assembly.links if not link.is_static
        and link.element.inertial.fluid_added_mass is not None
        and np.any(link.element.inertial.fluid_added_mass)]
    if problems:
        raise ModelError('\n'.join(problems))


def refuse_parallel_axes(assembly):
    """Stop at joints whose two axes are one: their positions could not be told apart."""
    problems = [
        f"{where(joint.element)}: the two axes of {joint.element.type} joint '{joint.name}' are "
        f'parallel ({written(joint.axes[0])} and {written(joint.axes[1])} in its frame): two '
        'directions expected; a joint with one axis is revolute'
        for joint in movable(assembly) if len(joint.axes) == 2
        and np.linalg.norm(np.cross(*joint.axes)) < PARALLEL]
    if problems:
        raise ModelError('\n'.join(problems))


def written(vector):
    """Write the numbers of a vector."""
    return ' '.join(f'{x:g}' for x in vector + 0.0)  # 0, not -0


class Layout(NamedTuple):
    """Where each body's numbers are in the public arrays."""

    nq: int
    nv: int
    q: dict
    """First entry in q by body."""
    v: dict
    """First entry in qd by body."""


def kind_of(body):
    """Return how a body moves: AXIS, BALL or FREE."""
    if body.joint is None:
        return FREE
    return BALL if body.axis is None else AXIS


def lay_out(assembly, bodies):
    """Give each body its entries: model by model the free roots, then the joints in file order."""
    models = list(dict.fromkeys(
        [link.model for link in assembly.links] + [joint.model for joint in assembly.joints]))
    free = [i for i, body in enumerate(bodies) if i > 0 and body.joint is None]
    place = {id(joint): j for j, joint in enumerate(assembly.joints)}
    held = sorted((i for i, body in enumerate(bodies) if body.joint is not None),
                  key=lambda i: (place[id(bodies[i].joint)], bodies[i].axis))
    nq, nv, q, v = 0, 0, {}, {}
    for model in models:
        mine = [i for i in free if assembly.links[bodies[i].root].model == model]
        mine += [i for i in held if bodies[i].joint.model == model]
        for i in mine:
            q[i], v[i] = nq, nv
            nq += POSITIONS[kind_of(bodies[i])]
            nv += VELOCITIES[kind_of(bodies[i])]
    return Layout(nq, nv, q, v)


def places_of_axes(assembly, bodies, layout):
    """Return where the numbers of each joint axis are, by index of joint and axis."""
    place = {id(joint): j for j, joint in enumerate(assembly.joints)}
    return {(place[id(body.joint)], body.axis): (layout.q[i], layout.v[i])
            for i, body in enumerate(bodies) if body.axis is not None}


def order_of_columns(tree):
    """Return the index into qd of each velocity, counted depth first."""
    order = np.zeros(tree[0]['end_column'], np.int64)
    for record in tree[1:]:
        n = record['next_column'] - record['column']
        order[record['column']:record['next_column']] = record['v'] + np.arange(n)
    return order


def link_records(assembly, bodies, body_of_link):
    """Write where each link sits in its body."""
    records = np.zeros(len(assembly.links), LINK)
    for record, link, i in zip(records, assembly.links, body_of_link):
        record['body'] = i
        record['X'] = transform_from_pose(bodies[i].T_WB.inverse() @ link.T_WL)
    return records


def tree_records(assembly, bodies, body_of_link, layout):
    """Write the tree: who moves whom, how, and how heavy it is."""
    tree = np.zeros(len(bodies), TREE)
    tree['is_leaf'] = True
    tree['X'][0, [0, 4, 8]] = 1.0
    last = {}
    for i, body in enumerate(bodies[1:], 1):
        record = tree[i]
        record['parent'], record['joint'] = body.parent, kind_of(body)
        record['trunk'] = tree[body.parent]['trunk'] if body.parent else i
        record['q'], record['v'] = layout.q[i], layout.v[i]
        record['X'] = transform_from_pose(bodies[body.parent].T_WB.inverse() @ body.T_WB)
        tree[body.parent]['is_leaf'] = False
        last[body.parent] = i
        if kind_of(body) == AXIS:
            record['turn'], record['slide'] = turn_and_slide(body.joint.element)
    count_columns(tree)
    tree['is_last_child'][list(last.values())] = True
    for link, i in zip(assembly.links, body_of_link):
        if i > 0:
            tree[i]['inertia'] += rigid_inertia(link, bodies[i].T_WB.inverse() @ link.T_WL)
    return tree


def count_columns(tree):
    """Count the velocities depth first, so that what a body carries comes right after it."""
    carried = np.array([0, *(VELOCITIES[int(kind)] for kind in tree['joint'][1:])])
    own = carried.copy()
    for i in range(tree.size - 1, 0, -1):
        carried[tree['parent'][i]] += carried[i]
    place = np.zeros(tree.size, np.int64)  # where the next child of a body begins
    tree[0]['end_column'] = carried[0]
    for i in range(1, tree.size):
        column = place[tree['parent'][i]]
        place[tree['parent'][i]] += carried[i]
        place[i] = column + own[i]
        tree[i]['column'], tree[i]['next_column'] = column, place[i]
        tree[i]['end_column'] = column + carried[i]


def turn_and_slide(joint):
    """Return how far an axis of a joint turns [rad] and slides [m] for each unit of q."""
    if joint.type == 'screw':
        return 1.0, joint.screw_thread_pitch / (2.0 * math.pi)
    return float(joint.type in TURNING), float(joint.type == 'prismatic')


def drive_records(bodies, layout):
    """Write damper, spring and actuator of each joint axis."""
    drives = []
    for i, body in enumerate(bodies):
        if body.axis is not None:
            axis = (body.joint.element.axis, body.joint.element.axis2)[body.axis]
            drives.append((layout.q[i], layout.v[i], axis.damping, axis.spring_stiffness,
                           axis.spring_reference, effective_bound(axis.limit.effort)))
    return np.array(sorted(drives), DRIVE) if drives else np.zeros(0, DRIVE)


def rigid_inertia(link, T_BL):
    """Express a link's inertia about the origin of its body, as ``RigidInertia`` holds it."""
    inertial = link.element.inertial
    T_BI = T_BL @ inertial.pose
    m, c = inertial.mass, T_BI.p
    about = T_BI.R @ inertial.inertia @ T_BI.R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[m], m * c, about[np.triu_indices(3)]])


def refuse_overflow(assembly, bodies, tree):
    """Stop at lengths and masses whose products are no numbers any more."""
    problems = []
    for i, body in enumerate(bodies[1:], 1):
        inertia = np.abs(np.concatenate([tree[i]['inertia'], tree[i]['X']])).max()
        if not inertia < TOO_LARGE:
            link = assembly.links[body.root]
            problems.append(f"{where(link.element)}: link '{link.name}' is so far away or so "
                            'heavy that its inertia about its joint is beyond all numbers')
    if problems:
        raise ModelError('\n'.join(problems))


def refuse_singular(assembly, bodies, tree):
    """
    Stop where something would move that has no inertia, at the pose of the file.

    The inward pass of the articulated-body algorithm: each joint has to feel some inertia with
    the joints beyond it free, and a free root in all six directions.
    """
    carried = np.array([inertia_matrix(record['inertia']) for record in tree])
    locked = carried.copy()
    problems = []
    for i in range(len(bodies) - 1, 0, -1):
        record, IA = tree[i], carried[i]
        S = directions_of(record)
        d = S.T @ IA @ S
        is_singular = smallest_share(d, S.T @ locked[i] @ S) <= SINGULAR
        if is_singular:
            moved = assembly.links[bodies[i].root]
            problems.append(f"{where(moved.element)}: link '{moved.name}' moves but has no mass, "
                            'or no inertia in a direction in which it can move; give it some, or '
                            'fix it to a link that has')
        if record['parent'] > 0:
            X = motion_transform(record['X'])
            if not is_singular:
                IA = IA - IA @ S @ np.linalg.solve(d, S.T @ IA)
            carried[record['parent']] += X.T @ IA @ X
            locked[record['parent']] += X.T @ locked[i] @ X
    if problems:
        raise ModelError('\n'.join(reversed(problems)))


def directions_of(record):
    """Return the motion subspace of a joint in the axes of its body, a column a direction."""
    if record['joint'] == AXIS:
        return np.array([[0.0, 0.0, record['turn'], 0.0, 0.0, record['slide']]]).T
    return np.eye(6)[:, :VELOCITIES[int(record['joint'])]]


def smallest_share(felt, carried):
    """Return how small the inertia that is felt gets against that which is carried."""
    scale = np.sqrt(np.diag(carried))
    if (scale == 0.0).any():
        return 0.0
    return np.linalg.eigvalsh(felt / np.outer(scale, scale))[0]


def inertia_matrix(inertia):
    """Write a rigid inertia as a 6x6 matrix about the body's origin, angular part first."""
    about = np.zeros((3, 3))
    about[np.triu_indices(3)] = inertia[4:]
    about += np.triu(about, 1).T
    H = skew(inertia[1:4])
    return np.block([[about, H], [H.T, inertia[0] * np.eye(3)]])


def motion_transform(X):
    """Write a ``Transform`` as the 6x6 matrix that takes motions from parent to child."""
    E = X[:9].reshape(3, 3)
    return np.block([[E, np.zeros((3, 3))], [-E @ skew(X[9:]), E]])


def skew(a):
    """Return the matrix of the cross product with a."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def joint_tables(assembly, bodies, layout):
    """List the movable joints in file order, and the directions in which they move."""
    names = dict(zip(map(id, assembly.joints), unique_names(assembly.joints)))
    links = (*unique_names(assembly.links), 'world')
    joints, dofs = [], []
    for i in sorted(layout.v, key=layout.v.get):
        joint, q, v = bodies[i].joint, layout.q[i], layout.v[i]
        if joint is None or bodies[i].axis == 1:  # a second axis comes with the first
            continue
        name, n_axes = names[id(joint)], len(joint.axes)
        for number, axis in enumerate((joint.element.axis, joint.element.axis2)[:n_axes]):
            suffix = ('_axis', '_axis2')[number] if n_axes == 2 else ''
            dofs.append(Dof(name + suffix, len(joints), q + number, v + number,
                            *position_range(joint.element, axis),
                            effective_bound(axis.limit.velocity), axis.friction,
                            axis.limit.stiffness, axis.limit.dissipation))
        if kind_of(bodies[i]) == BALL:
            dofs += [Dof(f'{name}_{letter}', len(joints), None, v + k, *NO_LIMITS)
                     for k, letter in enumerate('xyz')]
        joints.append(Joint(name, joint.element.type, links[joint.parent], links[joint.child], q,
                            v, n_axes or 4, n_axes or 3, cone_of(joint.element)))
    return tuple(joints), tuple(dofs)


def cone_of(joint):
    """Return how far a ball bends and twists, None if as far as it likes."""
    lower, upper = (-np.inf, np.inf) if joint.twist_limit is None else joint.twist_limit
    if upper - lower >= 2.0 * math.pi:
        lower, upper = -np.inf, np.inf
    swing = np.inf if joint.cone_limit is None else joint.cone_limit
    if np.isinf([swing, upper]).all():
        return None
    centre = np.array([0.0, 0.0, 1.0]) if joint.cone_centre is None else joint.cone_centre
    return Cone(centre, swing, float(lower), float(upper))


def position_range(joint, axis):
    """Return the lowest and the highest position of an axis."""
    if joint.type == 'continuous':
        return -np.inf, np.inf
    return effective_bound(axis.limit.lower), effective_bound(axis.limit.upper)


def root_table(assembly, bodies, layout):
    """List the free roots in file order."""
    names = unique_names(assembly.links)
    free = sorted((layout.v[i], i) for i, body in enumerate(bodies)
                  if i > 0 and body.joint is None)
    return tuple(FreeRoot(names[bodies[i].root], layout.q[i], v) for v, i in free)


def home(bodies, layout, followers):
    """Return the positions in which the file poses the robot, followers where they follow."""
    q = np.zeros(layout.nq)
    for i, body in enumerate(bodies[1:], 1):
        at = layout.q[i]
        if kind_of(body) == FREE:
            q[at:at + 3] = body.T_WB.p
            q[at + 3:at + 7] = body.T_WB.quat_wxyz()
        elif kind_of(body) == BALL:
            q[at] = 1.0
    q[followers['q']] = followers['ratio'] * q[followers['leader_q']] + followers['offset']
    return q


def joint_warnings(assembly, joints, dofs, positions):
    """Name what joints ask for and don't get, and those that begin out of bounds."""
    unused = [f"{where(j.element)}: the <axis> of ball joint '{j.name}' has no effect "
              f'({", ".join(asks_of(j.element.axis))})' for j in assembly.joints
              if j.element.type == 'ball' and j.element.axis and asks_of(j.element.axis)]
    skewed = [f"{where(j.element)}: the axes of universal joint '{j.name}' are "
              f'{degrees_between(*j.axes):.3g} degrees apart, not at right angles: it moves as a '
              'revolute2 with these axes' for j in assembly.joints
              if j.element.type == 'universal' and abs(j.axes[0] @ j.axes[1]) > SQUARE]
    outside = [f"joint '{dof.name}' begins at {positions[dof.q]:g}, outside its limits "
               f'{dof.lower:g} to {dof.upper:g}' for dof in dofs if dof.q is not None
               and not dof.lower - SLACK <= positions[dof.q] <= dof.upper + SLACK]
    outside += [f"ball joint '{joint.name}' begins {problem}" for joint in joints if joint.cone
                for problem in outside_of(joint.cone, positions[joint.q:joint.q + 4])]
    return *unused, *skewed, *outside


def degrees_between(a, b):
    """Return the angle between two vectors."""
    return math.degrees(math.atan2(np.linalg.norm(np.cross(a, b)), a @ b))


def outside_of(cone, quat_wxyz):
    """Say in which ways a ball begins outside its cone."""
    w, x, y, z = quat_wxyz
    a, b, c, _ = cone.q_CJ
    w, x, y, z = a * w - b * x - c * y, a * x + b * w + c * z, a * y + c * w - b * z, (
        a * z + b * y - c * x)
    swing, twist = 2.0 * math.atan2(math.hypot(x, y), math.hypot(w, z)), 2.0 * math.atan2(z, w)
    if swing > cone.swing + SLACK:
        yield f'{swing:g} rad from the centre of its cone, which is {cone.swing:g} wide'
    middle, half = 0.5 * (cone.lower + cone.upper), 0.5 * (cone.upper - cone.lower)
    if half < np.inf and abs(math.remainder(twist - middle, 2.0 * math.pi)) > half + SLACK:
        yield f'at a twist of {twist:g} rad, outside its limits {cone.lower:g} to {cone.upper:g}'


def asks_of(axis):
    """List what an axis has beyond its direction."""
    limit = axis.limit
    bounds = limit.lower, limit.upper, limit.velocity
    asked = {'damping': axis.damping, 'spring': axis.spring_stiffness, 'friction': axis.friction,
             'limits': not np.isinf([effective_bound(bound) for bound in bounds]).all(),
             'effort limit': np.isfinite(effective_bound(limit.effort))}
    return [name for name, is_asked in asked.items() if is_asked]


def closure_warnings(assembly, group, movers, closures):
    """Say which joints are constraints, and what of them is left out."""
    for joint in closures:
        yield closing(assembly, group, movers, joint)
        left_out = [what for axis in (joint.element.axis, joint.element.axis2)[:len(joint.axes)]
                    for what in asks_of(axis)
                    if not (has_drive(joint) and what in ('damping', 'spring'))]
        left_out += ['cone limits'] * bool(cone_of(joint.element))
        if left_out:
            yield (f"{where(joint.element)}: joint '{joint.name}' closes a loop; of it "
                   f'{", ".join(left_out)} are not simulated yet')


def static_warnings(assembly):
    """Name the joints that can't move since their model is static."""
    names = [joint.name for joint in assembly.joints
             if joint.element.type != 'fixed' and joins_static(assembly, joint)]
    return (f'joints of static models do not move ({", ".join(names)})',) if names else ()
