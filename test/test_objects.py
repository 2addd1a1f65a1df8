"""The object view: PHJointBase member by member, against poses and their differences."""
import re

import numpy as np
import pytest

import builders
import needs
import spr_dynamics as spr
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import ModelError, SimulationDiverged, SprDynamicsError
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.simulation.objects import JointView, LinkView, RootView

MODELS = needs.REPOSITORY / 'models'
ROUNDOFF = 1e-11  # of chains of a few bodies of order one
SLOPE = 3e-8  # of central differences with a step of 1e-5

LINK = """
<link name='{name}'><pose>{pose}</pose><inertial><pose>{centre}</pose><mass>{mass}</mass>
  <inertia><ixx>0.10</ixx><iyy>0.13</iyy><izz>0.11</izz>
  <ixy>0.01</ixy><ixz>-0.02</ixz><iyz>0.015</iyz></inertia></inertial></link>
"""
JOINT = """
<joint name='{name}' type='{type}'><pose>{pose}</pose><parent>{parent}</parent>
  <child>{child}</child>{axes}</joint>
"""
AXIS = '<axis><xyz>{}</xyz></axis>'
AXIS2 = '<axis2><xyz>{}</xyz></axis2>'

# The fixed joint makes one solid of two links, with the other tree's root free.
ZOO = "<sdf version='1.12'><model name='zoo'>" + ''.join([
    LINK.format(name='arm', pose='0.1 0 0.3 0.2 0.1 0', centre='0.1 0.2 -0.1 0.3 0 0.1', mass=2),
    LINK.format(name='sled', pose='0.3 0.1 0.5 0 0.3 0.4', centre='0 0.1 0.2 0 0 0', mass=1.2),
    LINK.format(name='wrist', pose='0.5 0 0.6 0.1 0 0.2', centre='0.05 0 0.1 0 0 0', mass=0.7),
    LINK.format(name='palm', pose='0.6 0.2 0.8 0 0.5 0', centre='0.1 0.05 0 0 0 0', mass=0.9),
    LINK.format(name='ring', pose='0.7 0.2 0.9 0.5 0 0', centre='0 0.02 0.1 0 0 0', mass=0.3),
    LINK.format(name='nut', pose='0.2 0.4 0.6 0 0 1', centre='0.01 0.1 0 0 0 0', mass=0.4),
    LINK.format(name='ship', pose='2 0 1 0.4 0.5 0.6', centre='0.1 0.1 0.2 0 0 0', mass=3),
    LINK.format(name='mast', pose='2 0.1 1.5 0 0 0.3', centre='0.1 0 0.3 0 0 0', mass=0.5),
    JOINT.format(name='hinge', type='revolute', pose='0.1 0 -0.2 0.3 0.2 0', parent='world',
                 child='arm', axes=AXIS.format('0.6 0 0.8')),
    JOINT.format(name='slider', type='prismatic', pose='0 0.1 0 0 0 0.4', parent='arm',
                 child='sled', axes=AXIS.format('0 0.6 0.8')),
    JOINT.format(name='universal', type='universal', pose='0.1 0 0.1 0 0.2 0', parent='sled',
                 child='wrist', axes=AXIS.format('0 0.8 0.6') + AXIS2.format('1 0 0')),
    JOINT.format(name='weld', type='fixed', pose='0 0 0 0 0 0', parent='palm', child='ring',
                 axes=''),
    JOINT.format(name='ball', type='ball', pose='0.05 0.1 0 0.3 0 0.1', parent='wrist',
                 child='palm', axes=''),
    JOINT.format(name='screw', type='screw', pose='0 0 0.1 0 0.4 0', parent='ring', child='nut',
                 axes=AXIS.format('0 0 1') + '<screw_thread_pitch>0.6</screw_thread_pitch>'),
    JOINT.format(name='skew', type='revolute2', pose='0 0 -0.1 0 0 0', parent='ship',
                 child='mast', axes=AXIS.format('0 0 1') + AXIS2.format('0 0.6 0.8')),
]) + '</model></sdf>'
PAGE = ['hinge', 'slider', 'universal', 'ball']  # the joints whose equations PHJointBase has
JOINTS = [*PAGE, 'screw', 'skew']


@pytest.fixture(scope='module')
def zoo():
    return spr.load(text=ZOO)


@pytest.fixture
def sim(zoo):
    """Return a simulation in a random state, with random accelerations in the last step."""
    sim, rng = spr.Simulation(zoo), np.random.default_rng(4)
    sim.q[:] = rng.uniform(-1.5, 1.5, zoo.nq)
    for _, at in zoo.quaternions:
        sim.q[at:at + 4] /= np.linalg.norm(sim.q[at:at + 4])
    sim.qd[:], sim._state.qdd[:] = rng.normal(size=(2, zoo.nv))
    return sim


def times(a, b):
    """Multiply quaternions."""
    w, v, x, u = a[0], a[1:], b[0], b[1:]
    return np.array([w * x - v @ u, *(w * u + x * v + np.cross(v, u))])


def exponential(phi):
    half = np.linalg.norm(phi) / 2
    return np.array([np.cos(half), *(np.sinc(half / np.pi) / 2 * np.asarray(phi))])


def moved(sim, t):
    """Return q and qd a little later, qdd being constant; good to the third order."""
    model, qd = sim.model, sim.qd + t * sim.qdd
    step, q = t * sim.qd + t ** 2 / 2 * sim.qdd, sim.q.copy()
    for joint in model.joints:
        own = step[joint.v:joint.v + joint.nv]
        if joint.type == 'ball':
            q[joint.q:joint.q + 4] = times(q[joint.q:joint.q + 4], exponential(own))
        else:
            q[joint.q:joint.q + joint.nq] += own
    for root in model.free_roots:
        q[root.q:root.q + 3] += step[root.v:root.v + 3]
        q[root.q + 3:root.q + 7] = times(exponential(step[root.v + 3:root.v + 6]),
                                         q[root.q + 3:root.q + 7])
    return q, qd


def slope(sim, read):
    """Differentiate what ``read`` finds in a simulation along its motion."""
    h, other = 1e-5, spr.Simulation(sim.model)
    found = []
    for t in (h, -h):
        other.q[:], other.qd[:] = moved(sim, t)
        found.append(read(other))
    return (found[0] - found[1]) / (2 * h)


def pose_of_solid(sim, name):
    """Return pose and centre in the world of what a joint moves, from poses of links alone."""
    model = sim.model
    T_WL = dict(zip(model.link_names, link_poses(model, sim.q)))
    view = sim.joints.roots[name] if name in sim.joints.roots else sim.joints[name]
    mass, moment = 0.0, np.zeros(3)
    for link, placed in zip(model.link_names, model.assembly.links):
        if link in [part.name for part in view.links]:
            inertial, T = placed.element.inertial, T_WL[link]
            mass += inertial.mass
            moment += inertial.mass * (T[:3, :3] @ inertial.pose.p + T[:3, 3])
    T = T_WL[view.link.name]
    return Pose(T[:3, :3], T[:3, 3]), moment / mass


def vee(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def rotation(axis, angle):
    return Pose.from_quat_wxyz(np.zeros(3), exponential(angle * np.eye(3)['xyz'.index(axis)])).R


def page_rotation(view, sim):
    """Return what stands between pRj and cRj.trans() on the page of PHJointBase."""
    position = view.position
    if view.name == 'hinge':
        return rotation('z', position(0))
    if view.name == 'universal':
        return rotation('x', position(0)) @ rotation('y', position(1))
    if view.name == 'ball':
        joint = next(joint for joint in sim.model.joints if joint.name == 'ball')
        return Pose.from_quat_wxyz(np.zeros(3), sim.q[joint.q:joint.q + 4]).R
    if view.name == 'skew':  # the second axis of docs/springhead.md: a is arccos 0.8
        turned = exponential(position(1) * np.array([0.8, 0.6, 0.0]))
        return rotation('x', position(0)) @ Pose.from_quat_wxyz(np.zeros(3), turned).R
    return np.eye(3)


@pytest.mark.parametrize('name', [*PAGE, 'skew'])
def test_equations_of_the_page_hold_for_poses_of_links(sim, name):
    """``pRc = pRj * ... * cRj.trans()``, ``prc = cRp*(-parent center + prj) - (crj - center)``."""
    view = sim.joints[name]
    T_WC, centre = pose_of_solid(sim, name)
    T_WP, parent_centre = Pose.identity(), np.zeros(3)
    if view.parent.name != 'world':
        T_WP, parent_centre = pose_of_solid(sim, view.parent.name)
    close(T_WP.R.T @ T_WC.R, view.pRj @ page_rotation(view, sim) @ view.cRj.T)
    close(T_WC.R.T @ T_WP.R, view.cRp)
    slid = view.cRj @ [0, 0, view.position(0)] if name == 'slider' else np.zeros(3)
    close(T_WC.R.T @ (centre - parent_centre),
          view.cRp @ (-view.parent.centre + view.prj) + slid - (view.crj - view.centre))


@pytest.mark.parametrize('name', PAGE)
def test_joint_frame_is_the_axis_of_the_file(zoo, name):
    """Z is the axis of hinge and slider, X and Y are those of a universal joint, at home."""
    view = spr.Simulation(zoo).joints[name]
    joint = next(joint for joint in zoo.assembly.joints if joint.name == name)
    T_WC = zoo.assembly.links[joint.child].T_WL
    close(T_WC.R @ view.crj + T_WC.p, joint.T_WJ.p)
    columns = {'hinge': [2], 'slider': [2], 'universal': [0, 1], 'ball': [0, 1, 2]}[name]
    expected = joint.T_WJ.R if name == 'ball' else joint.T_WJ.R @ np.column_stack(joint.axes)
    close(T_WC.R @ view.cRj[:, columns], expected)
    close(view.pRj @ view.cRj.T, view.pRc)


@pytest.mark.parametrize('name', JOINTS)
def test_child_is_where_the_joint_puts_it(sim, name):
    view = sim.joints[name]
    T_WC, centre = pose_of_solid(sim, name)
    close(view.R, T_WC.R)
    close(view.orientation, T_WC.R)
    close(Pose.from_quat_wxyz(view.p, view.quat).R, T_WC.R)
    close(view.p, centre)
    close(view.p, view.parent.p + view.R @ view.prc)
    close(view.pRc, view.parent.R.T @ view.R)


@pytest.mark.parametrize('name', JOINTS)
def test_velocities_are_the_slopes_of_poses(sim, name):
    view = sim.joints[name]
    close(view.solid_velocity, slope(sim, lambda it: pose_of_solid(it, name)[1]), SLOPE)
    spin = slope(sim, lambda it: pose_of_solid(it, name)[0].R) @ view.R.T
    close(view.solid_angular_velocity, vee(spin), SLOPE)
    close(view.v, view.R.T @ view.solid_velocity)
    close(view.w, view.R.T @ view.solid_angular_velocity)
    close(view.v_abs, view.solid_velocity)
    close(view.w_abs, view.solid_angular_velocity)


@pytest.mark.parametrize('name', JOINTS)
def test_velocities_relative_to_the_parent_are_the_slopes_of_prc_and_pRc(sim, name):
    view = sim.joints[name]
    spin = slope(sim, lambda it: it.joints[name].pRc)
    close(view.pwc, vee(view.cRp @ spin), SLOPE)
    # seen from the parent, in child axes: the frame in which prc is written turns too
    way = slope(sim, lambda it: it.joints[name].pRc @ it.joints[name].prc)
    close(view.pvc, view.cRp @ way, SLOPE)
    close(view.S @ np.atleast_1d(view.velocity), [*view.pwc, *view.pvc])


@pytest.mark.parametrize('name', JOINTS)
def test_accelerations_are_the_slopes_of_velocities(sim, name):
    view = sim.joints[name]
    close(view.solid_acceleration, slope(sim, lambda it: it.joints[name].v_abs), SLOPE)
    close(view.solid_angular_acceleration, slope(sim, lambda it: it.joints[name].w_abs), SLOPE)
    close(view.a, [*view.R.T @ view.solid_angular_acceleration,
                   *view.R.T @ view.solid_acceleration])


@pytest.mark.parametrize('name', JOINTS)
def test_c_is_the_acceleration_that_is_left_without_a_p_and_qdd(sim, name):
    view = sim.joints[name]
    a_p = view.X @ view.parent.a
    close(view.a, a_p + view.c + view.S @ np.atleast_1d(view.acceleration))
    sim.qd[:] = 0.0
    close(view.c, np.zeros(6))


def test_skew_axes_are_the_columns_of_S(sim):
    """[e; e x r] for e = cRj R2(-q1) e_x and cRj e2."""
    view, e2 = sim.joints['skew'], np.array([0.8, 0.6, 0.0])
    back = Pose.from_quat_wxyz(np.zeros(3), exponential(-view.position(1) * e2)).R
    e = np.column_stack([view.cRj @ back @ [1.0, 0.0, 0.0], view.cRj @ e2])
    close(view.S, np.vstack([e, np.cross(e.T, view.centre - view.crj).T]))


def test_isolated_inertia_is_that_of_the_welded_links(sim):
    """Kinetic energy, and the force that moves it, in the layout [[0, m 1], [I, 0]]."""
    view = sim.joints['ball']
    assert [link.name for link in view.links] == ['palm', 'ring']
    assert view.Ii[0, 3] == pytest.approx(0.9 + 0.3, abs=1e-12)
    motion = np.array([*view.w, *view.v])
    force, torque = np.split(view.Ii @ motion, 2)
    kinetic = 0.0
    for link, placed in zip(sim.model.link_names, sim.model.assembly.links):
        if link in ('palm', 'ring'):
            inertial, now = placed.element.inertial, sim.links[link]
            w = inertial.pose.R.T @ now.pose.R.T @ now.angular_velocity
            v = now.velocity + np.cross(now.angular_velocity, now.pose.R @ inertial.pose.p)
            kinetic += 0.5 * inertial.mass * v @ v + 0.5 * w @ inertial.inertia @ w
    assert 0.5 * (torque @ view.w + force @ view.v) == pytest.approx(kinetic, abs=ROUNDOFF)


@pytest.mark.parametrize('name', JOINTS)
def test_articulated_inertia_gives_the_acceleration_of_the_joint(sim, name):
    """``tau - S'(Za + Ia c) - S' Ia a_p = S' Ia S qdd``, qdd by the compiled kernel."""
    tau = np.random.default_rng(5).normal(size=sim.model.nv)
    for joint in sim.model.joints:
        sim.joints[joint.name].torque = tau[joint.v:joint.v + joint.nv]
    for root in sim.model.free_roots:
        sim.joints.roots[root.name].torque = tau[root.v:root.v + 6]
    sim._state.qdd[:] = spr.forward_dynamics(sim.model, sim.q, sim.qd, tau)
    view = sim.joints[name]
    St = np.vstack([view.S[3:], view.S[:3]]).T
    left = (np.atleast_1d(view.torque) - St @ (view.Za + view.Ia @ view.c)
            - St @ view.Ia @ view.X @ view.parent.a)
    close(left, St @ view.Ia @ view.S @ np.atleast_1d(view.acceleration), 1e-10)


def test_free_root_accelerates_by_its_articulated_inertia(sim):
    """``a = -Ia^-1 Za``."""
    sim._state.qdd[:] = spr.forward_dynamics(sim.model, sim.q, sim.qd, np.zeros(sim.model.nv))
    ship = sim.joints.roots['ship']
    close(ship.a, -np.linalg.solve(ship.Ia, ship.Za), 1e-10)
    close(ship.solid_acceleration, slope(sim, lambda it: it.joints.roots['ship'].v_abs), SLOPE)
    close(ship.solid_velocity,
          slope(sim, lambda it: it.joints.roots['ship'].p), SLOPE)


def test_partial_use_finds_the_acceleration_of_forward_dynamics_and_disturbs_nothing(sim):
    model, rng = sim.model, np.random.default_rng(6)
    before, torques = sim.save(), sim.torques.values
    tau, f_ext = rng.normal(size=model.nv), rng.normal(size=(len(model.link_names), 6))
    for root in sim.joints.roots.values():
        root.coriolis_pass()
        root.articulated_inertia_pass(tau, f_ext)
    found = {view.name: view.calc_accel()
             for view in [*sim.joints.values(), *sim.joints.roots.values()]}
    assert sim.save() == before and (sim.torques.values == torques).all()
    qdd = spr.forward_dynamics(model, sim.q, sim.qd, tau, f_ext)
    sim._state.qdd[:] = qdd
    for view in [*sim.joints.values(), *sim.joints.roots.values()]:
        now = found[view.name]
        close(now.joint, np.atleast_1d(view.acceleration), 1e-10)
        close(now.a, view.a, 1e-10)
        close(now.linear, view.solid_acceleration, 1e-10)
        close(now.angular, view.solid_angular_acceleration, 1e-10)


@pytest.mark.parametrize('seed', range(8))
def test_random_trees_with_welded_links_accelerate_as_forward_dynamics_says(seed):
    rng = np.random.default_rng(seed)
    model = builders.random_tree(rng, 7, is_free=seed % 2 == 1, fixed_share=0.3)
    sim = spr.Simulation(model)
    sim.q[:], sim.qd[:], tau = builders.random_state(rng, model)
    f_ext = rng.normal(size=(7, 6))
    sim._state.qdd[:] = spr.forward_dynamics(model, sim.q, sim.qd, tau, f_ext)
    for root in sim.joints.roots.values():
        root.coriolis_pass()
        root.articulated_inertia_pass(tau, f_ext)
    for link in sim.links.values():
        close(link.joint.calc_accel().a, link.joint.a, 1e-9)
        close(link.velocity, slope(sim, lambda it, name=link.name: it.links[name].pose.p), SLOPE)


def test_unit_torques_give_the_columns_of_the_linear_map(sim):
    """The original's recipe: a = K tau + c, column by column, torques set on the joints."""
    root, tip = sim.joints.roots['world'], sim.joints['ball']
    root.coriolis_pass()

    def acceleration():
        root.articulated_inertia_pass()
        return tip.calc_accel().linear

    at_rest = acceleration()
    tau = np.random.default_rng(7).normal(size=sim.model.nv)
    expected = at_rest.copy()
    for joint in sim.model.joints:
        for i in range(joint.nv):
            sim.joints[joint.name].set_torque(1.0, i)
            expected += (acceleration() - at_rest) * tau[joint.v + i]
            sim.joints[joint.name].set_torque(0.0, i)
    root.articulated_inertia_pass(tau)
    close(tip.calc_accel().linear, expected, 1e-10)


def test_procedure_keeps_the_state_it_began_with(sim):
    root, tip = sim.joints.roots['world'], sim.joints['ball']
    root.coriolis_pass()
    root.articulated_inertia_pass()
    before = tip.calc_accel().a
    sim.step(n=5)
    root.articulated_inertia_pass()
    close(tip.calc_accel().a, before)


@pytest.mark.parametrize('act, message', [
    (lambda sim: sim.joints['ball'].calc_accel(), "calc_accel of 'ball': first call coriolis"),
    (lambda sim: sim.joints.roots['world'].articulated_inertia_pass(), r'first call coriolis_pas'),
])
def test_procedure_out_of_order_is_refused(sim, act, message):
    with pytest.raises(ModelError, match=message):
        act(sim)


def test_links_move_at_their_own_origins(sim):
    for k, (name, link) in enumerate(sim.links.items()):
        close(link.pose.p, link_poses(sim.model, sim.q)[k][:3, 3])
        close(link.velocity, slope(sim, lambda it, name=name: it.links[name].pose.p), SLOPE)
        close(link.acceleration, slope(sim, lambda it, name=name: it.links[name].velocity), SLOPE)
        close(link.angular_acceleration,
              slope(sim, lambda it, name=name: it.links[name].angular_velocity), SLOPE)


def test_tree_is_walked_by_parent_children_root_and_search(sim):
    joints = sim.joints
    assert list(joints) == list(sim.model.joint_names)
    assert list(sim.links) == list(sim.model.link_names)
    assert list(joints.roots) == ['world', 'ship']
    assert [joints[name].dof for name in JOINTS] == [1, 1, 2, 3, 1, 2]
    assert [root.dof for root in joints.roots.values()] == [0, 6]
    assert joints['slider'].parent is joints['hinge']
    assert joints['hinge'].children == (joints['slider'],)
    assert joints['screw'].parent is joints['ball']  # through the welded ring
    assert joints['hinge'].parent is joints['screw'].root is joints.roots['world']
    assert joints['skew'].root is joints.roots['ship'] and joints.roots['ship'].parent is None
    assert joints['hinge'].search('ring') is joints['ball'] is sim.links['ring'].joint
    assert joints['hinge'].search(sim.links['nut']) is joints['screw']
    assert joints['screw'].search('arm') is None
    assert joints.roots['ship'].search('ship') is joints.roots['ship']
    assert joints['ball'].link is sim.links['palm'] and joints.roots['world'].link is None
    assert repr(joints['ball']) == "<ball 'ball' with palm, ring>"


@pytest.mark.parametrize('read, message', [
    (lambda sim: sim.joints['hinje'], r"no joint 'hinje' \(did you mean 'hinge'\?\)"),
    (lambda sim: sim.links['Palm'], r"no link 'Palm' \(did you mean 'palm'\?\)"),
    (lambda sim: sim.joints.roots['x'], r"no root 'x' \(known: 'world', 'ship'\)"),
    (lambda sim: sim.joints['hinge'].search('pal'), "did you mean 'palm'"),
    (lambda sim: sim.joints['hinge'].remove_child('ball'), r"no child of 'hinge' 'ball'"),
])
def test_wrong_names_give_the_near_ones(sim, read, message):
    with pytest.raises(SprDynamicsError, match=message):
        read(sim)
    with pytest.raises(KeyError):
        read(sim)


def test_index_that_a_joint_does_not_have_is_refused(sim):
    for read in (sim.joints['hinge'].position, sim.joints['universal'].velocity,
                 sim.joints.roots['world'].torque):
        for i in (-1, 2):
            with pytest.raises(IndexError, match='counted from 0'):
                read(i)
    with pytest.raises(IndexError, match='direction 1: the joint has 1'):
        sim.joints['hinge'].set_torque(1.0, 1)
    for i in (None, 0.0, 'x'):
        with pytest.raises(TypeError, match=f'direction {i!r}: a whole number expected'):
            sim.joints['hinge'].set_torque(1.0, i)


@pytest.mark.parametrize('torque', [None, 'x', [[1.0, 2.0], [3.0]]])
def test_torque_that_is_no_number_is_refused_by_name(sim, torque):
    hinge = sim.joints['hinge']
    for use in (hinge.set_torque, hinge.add_torque, lambda value: setattr(hinge, 'torque', value)):
        with pytest.raises(ValueError, match='torque: numbers expected, got'):
            use(torque)
    assert not sim.torques.are_set


def test_numbers_are_those_of_the_state(sim):
    hinge, universal, ball = (sim.joints[name] for name in ('hinge', 'universal', 'ball'))
    # the ship, a free root, comes first
    assert hinge.position == hinge.position(0) == sim.q[7]
    assert f'{hinge.velocity:.3f}' == f'{sim.qd[6]:.3f}'
    assert [universal.position(0), universal.position(1)] == list(sim.q[9:11])
    assert [universal.velocity(0), universal.velocity(1)] == list(sim.qd[8:10])
    assert list(ball.acceleration) == list(sim.qdd[10:13])
    close(Pose.from_quat_wxyz(np.zeros(3), exponential(ball.position)).R,
          Pose.from_quat_wxyz(np.zeros(3), sim.q[11:15]).R)
    ship = sim.joints.roots['ship']
    close(Pose.from_quat_wxyz(np.zeros(3), exponential(ship.position[3:])).R, ship.R)


ARM = """
<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'>
  <link name='upper'><inertial><mass>1</mass><pose>0 0 0.5 0 0 0</pose></inertial></link>
  <link name='fore'><pose>0 0 1 0 0 0</pose>
    <inertial><mass>1</mass><pose>0 0 0.5 0 0 0</pose></inertial></link>
  <joint name='shoulder' type='revolute'><parent>world</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name='elbow' type='revolute'><parent>upper</parent><child>fore</child>
    <axis><xyz>0 1 0</xyz><limit><effort>5</effort></limit></axis></joint>
</model></world></sdf>"""


def test_torque_that_is_set_acts_on_top_of_tau_in_one_call_of_step():
    model = spr.load(text=ARM)
    sim, twin = spr.Simulation(model), spr.Simulation(model)
    sim.joints['elbow'].torque += 1.0
    sim.joints['elbow'].add_torque(0.5)
    sim.joints['shoulder'].set_torque(-2.0)
    assert sim.joints['elbow'].torque == 1.5
    sim.step([0.25, 0.0], n=3)
    twin.step([-1.75, 1.5], n=3)
    assert sim.save() == twin.save()
    assert sim.joints['elbow'].effort == 1.5 and sim.joints['elbow'].torque == 0.0
    sim.step()
    twin.step()
    assert sim.save() == twin.save()


def test_torque_that_is_set_is_clamped_with_tau_to_the_effort_limit():
    sim = spr.Simulation(spr.load(text=ARM))
    sim.joints['elbow'].torque = 3.0
    sim.step([0.0, 4.0])
    assert sim.joints['elbow'].effort == 5.0


def test_numbers_of_a_joint_are_read_only():
    sim = spr.Simulation(spr.load(MODELS / 'hopper.sdf'))
    torso = sim.joints.roots['torso']
    for numbers in (torso.position, torso.velocity, torso.torque):
        with pytest.raises(ValueError, match='read-only'):
            numbers[0] = 5.0
    torso.torque += [0, 0, 1, 0, 0, 0]
    torso.torque -= [0, 0, 0, 2, 0, 0]
    assert list(torso.torque) == [0, 0, 1, -2, 0, 0]


def test_torque_stays_until_a_step_was_made_and_is_forgotten_by_reset_and_restore():
    sim = spr.Simulation(spr.load(text=ARM))
    snapshot = sim.save()
    elbow = sim.joints['elbow']
    elbow.torque = 1.0
    sim.step(n=0)
    with pytest.raises(ValueError, match='tau: shape'):
        sim.step([1.0])
    assert elbow.torque == 1.0
    sim.restore(snapshot)
    assert elbow.torque == 0.0
    elbow.torque = 1.0
    sim.reset()
    assert elbow.torque == 0.0 and not sim.torques.are_set
    elbow.torque = 1e300
    sim.qd[:] = 1e140
    with pytest.raises(SimulationDiverged):
        sim.step([1e300, 0.0])
    assert elbow.torque == 1e300


@pytest.mark.parametrize('value, message', [
    (np.nan, 'torque: finite numbers'), ('x', 'torque: numbers expected'),
    ([1.0, 2.0], r'torque: shape \(1,\) expected'),
])
def test_torque_that_is_none_is_refused(value, message):
    sim = spr.Simulation(spr.load(text=ARM))
    with pytest.raises(ValueError, match=message):
        sim.joints['elbow'].torque = value
    assert not sim.torques.are_set


def test_turns_are_counted():
    """Springhead wraps a hinge into one turn; here ten are ten."""
    sim = spr.Simulation(spr.load(text=ARM)).joints['shoulder'].remove_child('elbow')
    sim.qd[:] = 2 * np.pi
    sim.step(n=10_000)
    assert sim.joints['shoulder'].position == pytest.approx(20 * np.pi, abs=1e-9)


CROSS = """
<sdf version='1.12'><world name='w'><gravity>0 0 -9.81</gravity><model name='m'>
  <link name='bob'><inertial><mass>1.5</mass><pose>0.1 0.2 -0.4 0 0 0</pose>
    <inertia><ixx>0.10</ixx><iyy>0.13</iyy><izz>0.11</izz>
    <ixy>0.01</ixy><ixz>-0.02</ixz><iyz>0.015</iyz></inertia></inertial></link>
  <joint name='cross' type='universal'><parent>world</parent><child>bob</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
</model></world></sdf>"""


def test_universal_joint_accelerates_as_its_lagrangian_says():
    """At q0 = 1 rad, where Springhead's error is 80 %; d/dt dL/dqd - dL/dq = tau."""
    q, qd, tau = np.array([1.0, 0.7]), np.array([1.3, -2.1]), np.array([0.4, -0.3])
    centre, mass = np.array([0.1, 0.2, -0.4]), 1.5
    inertia = np.array([[0.10, 0.01, -0.02], [0.01, 0.13, 0.015], [-0.02, 0.015, 0.11]])

    def lagrangian(q, qd):
        R = rotation('x', q[0]) @ rotation('y', q[1])
        w = rotation('y', q[1]).T @ [qd[0], 0, 0] + np.array([0, qd[1], 0])
        v = np.cross(w, centre)
        return 0.5 * (w @ inertia @ w + mass * v @ v) - 9.81 * mass * (R @ centre)[2]

    h, unit = 1e-4, np.eye(2)

    def along(f, i):
        return (f(h * unit[i]) - f(-h * unit[i])) / (2 * h)

    def momentum(q, qd):
        return np.array([along(lambda d: lagrangian(q, qd + d), i) for i in range(2)])

    M = np.array([along(lambda d: momentum(q, qd + d), i) for i in range(2)])
    rate = sum(qd[i] * along(lambda d: momentum(q + d, qd), i) for i in range(2))
    slopes = np.array([along(lambda d: lagrangian(q + d, qd), i) for i in range(2)])
    expected = np.linalg.solve(M, tau + slopes - rate)
    sim = spr.Simulation(spr.load(text=CROSS))
    sim.q[:], sim.qd[:] = q, qd
    root = sim.joints.roots['world']
    root.coriolis_pass()
    root.articulated_inertia_pass(tau)
    close(sim.joints['cross'].calc_accel().joint, expected, 1e-6)
    close(spr.forward_dynamics(sim.model, q, qd, tau), expected, 1e-6)


def test_full_inertia_keeps_angular_momentum():
    """A second of free tumbling; Springhead's diagonal gyroscopic term loses 41 % in it."""
    text = "<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'>" + (
        LINK.format(name='stone', pose='0 0 0 0.3 0.2 0.1', centre='0 0 0 0 0 0', mass=1)
        + '</model></world></sdf>')
    lost = []
    for dt in (1e-3, 5e-4):
        sim = spr.Simulation(spr.load(text=text), dt=dt)
        sim.qd[3:] = 1.0, 2.0, -1.5
        stone = sim.joints.roots['stone']

        def momentum(stone=stone):
            return stone.R @ stone.Ii[3:, :3] @ stone.w

        before = momentum()
        sim.step(n=round(1 / dt))
        lost.append(np.linalg.norm(momentum() - before) / np.linalg.norm(before))
    assert lost[0] < 2e-7 and lost[1] < 0.3 * lost[0]


def test_stop_acts_on_the_parent_too():
    """No torque acts about the shoulder, so what the elbow loses at its stop the rest gains."""
    text = ARM.replace('<effort>5', '<upper>0.3</upper><effort>5')
    sim = spr.Simulation(spr.load(text=text))
    sim.qd = [0.0, 2.0]
    before = spr.momentum(sim.model, sim.q, sim.qd).angular[1]
    sim.step(n=100)
    free = sim.qd.copy()
    sim.step(n=200)
    assert sim.q[1] < 0.301 and abs(sim.qd[1]) < 0.05 < free[1]
    assert sim.qd[0] > free[0] + 0.5
    after = spr.momentum(sim.model, sim.q, sim.qd).angular[1]
    assert after == pytest.approx(before, rel=1e-4)


PAGE_MEMBERS = """
    pRj cRj prj crj prc pRc cRp R quat p v v_abs w w_abs pvc pwc Ii Ia Za c a
    PHJointBase() Loaded Search GetPostureFromParent GetPostureFromChild GetSolidAngularAccel
    GetSolidAccel GetSolidAngularVelocity GetSolidVelocity GetOrientation GetJointDof
    GetJointPosition GetJointVelocity GetJointAccel GetJointTorque SetJointTorque AddJointTorque
    NChildObjects ChildObject NReferenceObjects ReferenceObject AddChildObject DelChildObject
    ChildCandidates CompCoriolisAccelRecursive CompArticulatedInertia Integrate CalcAccel intType
    solid frame typeInfo OfParent PropagateState Reset"""


def test_page_on_springhead_has_every_member_and_names_what_exists():
    page = (needs.REPOSITORY / 'docs' / 'springhead.md').read_text(encoding='utf-8')
    for member in PAGE_MEMBERS.split():
        assert re.search(rf'`{re.escape(member)}\b|`{re.escape(member)}`', page), member
    for owner, kind in (('joint', JointView), ('root', RootView), ('link', LinkView)):
        for name in re.findall(rf'`{owner}\.(\w+)', page):
            assert hasattr(kind, name), f'{owner}.{name}'
    # the example runs
    names = {'shoulder': 'elbow', 'elbow': 'wrist', 'upper': 'arm', 'fore': 'hand'}
    text = re.sub('|'.join(names), lambda found: names[found[0]], ARM)
    example = re.search(r'```python\n(.*?)```', page, re.DOTALL)[1]
    exec(example, {'sim': spr.Simulation(spr.load(text=text)), 'tau': [0.0, 1.0]})
    tests = ''.join((needs.REPOSITORY / 'test' / file).read_text(encoding='utf-8')
                    for file in ('test_objects.py', 'test_edit.py'))
    for name in re.findall(r'`(test_\w+)`', page):
        assert f'def {name}(' in tests, name


def test_closed_loops_are_no_part_of_the_recursion():
    """It took the joints for those of an open tree: 20.5 where a step finds -35.7 rad/s^2."""
    sim = spr.Simulation(spr.load(MODELS / 'four_bar.sdf'))
    root, coupler = sim.joints.roots['world'], sim.joints['coupler_hinge']
    root.coriolis_pass()
    message = "joint 'closure' closes a loop, and Springhead's recursion has no such joints"
    for use in (root.articulated_inertia_pass, lambda: coupler.Ia, lambda: coupler.Za):
        with pytest.raises(ModelError, match=message):
            use()
    with pytest.raises(ModelError, match='first call coriolis_pass'):
        coupler.calc_accel()


def close(found, expected, tolerance=ROUNDOFF):
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)
