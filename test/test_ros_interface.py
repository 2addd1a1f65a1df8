"""A free robot with a ball joint over DDS: topics, pushes, saved states, diagnostics."""
import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402, I100
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, MultiDOFJointState  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import BEST_EFFORT, Client, NodeProcess, time_ns  # noqa: E402
import spr_dynamics as spr  # noqa: E402
from spr_dynamics.ros import convert  # noqa: E402
from spr_dynamics.sdformat.poses import Pose  # noqa: E402

MS = 1_000_000
LONG = '/tmp/' + 300 * 'a'
POSE = [1.0, 2.0, 3.0, 0.1, -0.2, math.pi / 2]
START = [0.3]  # of the hinge
INERTIAL = """
      <inertial><pose>{at}</pose><mass>{mass}</mass>
        <inertia><ixx>0.2</ixx><iyy>0.25</iyy><izz>0.3</izz></inertia></inertial>"""
ROBOT = f"""
<sdf version='1.12'>
  <model name='acrobat'>
    <link name='base'>{INERTIAL.format(at='0 0 0 0 0 0', mass=3)}</link>
    <link name='upper arm'><pose>0 0 0.5 0 0 0</pose>{INERTIAL.format(
        at='0 0 0.2 0 0 0', mass=1)}</link>
    <link name='hand'><pose>0 0 1 0 0 0</pose>{INERTIAL.format(at='0.1 0 0 0 0 0', mass=1)}</link>
    <joint name='shoulder' type='ball'><parent>base</parent><child>upper arm</child></joint>
    <joint name='elbow' type='revolute'><parent>upper arm</parent><child>hand</child>
      <axis><xyz>0 1 0</xyz></axis></joint>
  </model>
</sdf>"""


def model_of():
    return spr.load(text=ROBOT, world='empty', pose=Pose.from_rpy(POSE[:3], POSE[3:]))


@pytest.fixture(scope='module')
def acrobat(tmp_path_factory):
    folder = tmp_path_factory.mktemp('acrobat')
    robot = folder / 'acrobat.sdf'
    robot.write_text(ROBOT)
    with NodeProcess(folder, robot=robot, world='empty', paused=True, torque_terms=True,
                     frame_prefix='r1/', initial_pose=POSE, initial_positions=START,
                     state_file=folder / 'acrobat.state') as node:
        yield node


@pytest.fixture
def client(acrobat):
    with Client(acrobat.namespace) as client:
        client.states = client.listen(JointState, 'joint_states')
        client.bodies = client.listen(MultiDOFJointState, 'multi_dof_joint_states')
        client.wait_until(lambda: client.states and client.bodies)  # it greets newcomers
        put(client, step_count=1, command_timeout=0.0, external_wrench_duration=0.1)
        assert client.call(Trigger, 'simulation/reset').success
        client.wait_until(lambda: time_ns(client.states[-1].header.stamp) == 0)
        yield client


@pytest.fixture
def twin():
    """Return the same simulation in this process."""
    sim = spr.Simulation(model_of())
    q = sim.model.neutral_q()
    q[sim.model.joints[1].q] = START[0]
    sim.set_home(q)
    return sim


def put(client, **values):
    """Set parameters of the node."""
    results = client.call(SetParameters, 'simulation/set_parameters', parameters=[
        Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]).results
    assert all(result.successful for result in results), results


def step(client, n):
    """Take n steps while paused, and return the state after them."""
    put(client, step_count=n)
    before = time_ns(client.states[-1].header.stamp)
    answer = client.call(Trigger, 'simulation/step')
    assert answer.success, answer.message
    client.wait_until(lambda: time_ns(client.states[-1].header.stamp) == before + n * MS)
    client.wait_until(lambda: client.bodies[-1].header.stamp == client.states[-1].header.stamp)


def assert_same(client, sim):
    """Compare the last messages with a simulation."""
    root, (ball, hinge) = sim.model.free_roots[0], sim.model.joints
    state, bodies = client.states[-1], client.bodies[-1]
    assert time_ns(state.header.stamp) == sim.time_ns
    assert list(state.name) == ['elbow']
    assert (state.position[0], state.velocity[0], state.effort[0]) == (
        sim.q[hinge.q], sim.qd[hinge.v], sim.effort[hinge.v])
    assert list(bodies.joint_names) == ['base', 'shoulder']
    base, shoulder = bodies.transforms
    assert xyz(base.translation) == tuple(sim.q[root.q:root.q + 3])
    assert wxyz(base.rotation) == tuple(sim.q[root.q + 3:root.q + 7])
    assert wxyz(shoulder.rotation) == tuple(sim.q[ball.q:ball.q + 4])
    assert xyz(bodies.twist[0].linear) == tuple(sim.qd[root.v:root.v + 3])
    assert xyz(bodies.twist[0].angular) == tuple(sim.qd[root.v + 3:root.v + 6])
    assert xyz(bodies.twist[1].angular) == tuple(sim.qd[ball.v:ball.v + 3])
    assert xyz(bodies.wrench[1].torque) == tuple(sim.effort[ball.v:ball.v + 3])


def xyz(vector):
    return vector.x, vector.y, vector.z


def wxyz(quaternion):
    return quaternion.w, quaternion.x, quaternion.y, quaternion.z


def test_a_robot_starts_where_its_initial_pose_puts_it(client, twin):
    assert_same(client, twin)
    np.testing.assert_allclose(xyz(client.bodies[-1].transforms[0].translation), POSE[:3])
    T_WB = Pose.from_quat_wxyz([0, 0, 0], wxyz(client.bodies[-1].transforms[0].rotation))
    np.testing.assert_allclose(T_WB.R, Pose.from_rpy([0, 0, 0], POSE[3:]).R, atol=1e-15)


def test_balls_are_commanded_by_the_names_of_their_axes(client, twin):
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['shoulder_z', 'elbow', 'shoulder_x'],
                                     effort=[0.3, -0.5, 0.1]))
    step(client, 200)
    tau = np.zeros(twin.model.nv)
    tau[twin.model.joints[0].v:] = 0.1, 0.0, 0.3, -0.5
    twin.step(tau, 200)
    assert_same(client, twin)
    assert np.abs(twin.qd).min() > 0.0


def test_odometry_has_its_twist_in_the_frame_of_the_base(client, twin):
    messages = client.listen(Odometry, 'odom')
    client.wait_until(lambda: messages)
    step(client, 50)
    client.wait_until(lambda: time_ns(messages[-1].header.stamp) == 50 * MS)
    twin.step(n=50)
    msg, root = messages[-1], twin.model.free_roots[0]
    assert (msg.header.frame_id, msg.child_frame_id) == ('world', 'r1/base')
    assert xyz(msg.pose.pose.position) == tuple(twin.q[root.q:root.q + 3])
    R_WB = Pose.from_quat_wxyz([0, 0, 0], twin.q[root.q + 3:root.q + 7]).R
    np.testing.assert_allclose(xyz(msg.twist.twist.linear), R_WB.T @ twin.qd[root.v:root.v + 3])
    np.testing.assert_allclose(xyz(msg.twist.twist.angular),
                               R_WB.T @ twin.qd[root.v + 3:root.v + 6])


def test_torque_terms_are_published_where_they_are_asked_for(client, twin):
    terms = {name: client.listen(JointState, f'torque_terms/{name}')
             for name in ('inertial', 'velocity', 'gravity', 'applied')}
    client.wait_until(lambda: all(terms.values()))
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['elbow'], effort=[-0.5]))
    step(client, 30)
    client.wait_until(lambda: all(time_ns(messages[-1].header.stamp) == 30 * MS
                                  for messages in terms.values()))
    tau = np.zeros(twin.model.nv)
    tau[-1] = -0.5
    twin.step(tau, 30)
    expected = spr.torque_terms(twin.model, twin.q, twin.qd, twin.qdd)
    for name, value in (('inertial', expected.inertial), ('velocity', expected.velocity),
                        ('gravity', expected.gravity), ('applied', twin.effort)):
        assert terms[name][-1].effort[0] == value[-1], name
        assert list(terms[name][-1].name) == ['elbow']


def push(frame, *, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)):
    return WrenchStamped(header=Header(frame_id=frame), wrench=Wrench(
        force=Vector3(**dict(zip('xyz', force))), torque=Vector3(**dict(zip('xyz', torque)))))


def test_a_push_turns_with_its_link_and_ends(client, twin):
    put(client, external_wrench_duration=0.05)
    pushes = client.publisher(WrenchStamped, 'external_wrench')
    force, torque = (4.0, -2.0, 1.0), (0.1, 0.2, 0.3)
    client.send(pushes, push('r1/upper arm', force=force, torque=torque))
    step(client, 80)
    arm = twin.links['upper arm']
    for _ in range(50):
        R = arm.pose.R
        arm.external_wrench = [*(R @ torque), *(R @ force)]
        twin.step()
    arm.external_wrench = np.zeros(6)
    twin.step(n=30)
    assert_close(client, twin)


def test_a_push_without_an_end_goes_on_until_the_next_one(client, twin):
    """Not until the default of 0.1 s; the next one takes its place."""
    put(client, external_wrench_duration=0.0)
    pushes = client.publisher(WrenchStamped, 'external_wrench')
    arm = twin.links['upper arm']
    for torque, steps in ((0.1, 0.2, 0.3), 150), ((0.0, 0.0, -0.4), 120), ((0.0, 0.0, 0.0), 20):
        client.send(pushes, push('r1/upper arm', torque=torque))
        step(client, steps)
        for _ in range(steps):
            arm.external_wrench = [*(arm.pose.R @ torque), 0.0, 0.0, 0.0]
            twin.step()
        assert_close(client, twin)


def assert_close(client, sim):
    """Compare positions: rotations of the push were computed in another way."""
    root, (_, hinge) = sim.model.free_roots[0], sim.model.joints
    np.testing.assert_allclose(xyz(client.bodies[-1].transforms[0].translation),
                               sim.q[root.q:root.q + 3], atol=1e-12)
    assert client.states[-1].position[0] == pytest.approx(sim.q[hinge.q], abs=1e-12)


@pytest.mark.parametrize('message, warning', [
    (push('upper arm', force=(1.0, 0.0, 0.0)),
     "external_wrench refused: frame_id 'upper arm' names no link (did you mean 'r1/upper arm'?)"),
    (push('r1/hand', torque=(0.0, math.nan, 0.0)), 'external_wrench refused: force [0.0'),
])
def test_a_push_that_makes_no_sense_is_refused(client, acrobat, twin, message, warning):
    pushes = client.publisher(WrenchStamped, 'external_wrench')
    client.send(pushes, message)
    client.wait_until(lambda: warning in acrobat.log, patience=5.0)
    step(client, 5)
    twin.step(n=5)
    assert_same(client, twin)


def test_a_saved_state_goes_on_with_the_efforts_that_acted(client, twin):
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['elbow'], effort=[0.7]))
    step(client, 20)
    assert client.call(Trigger, 'simulation/save_state').success
    step(client, 30)
    there = client.states[-1].position[0], client.bodies[-1].transforms[1]
    client.send(commands, JointState(name=['elbow'], effort=[-3.0]))
    step(client, 40)
    answer = client.call(Trigger, 'simulation/load_state')
    assert (answer.success, answer.message) == (True, 'paused at 0.02 s')
    client.wait_until(lambda: time_ns(client.states[-1].header.stamp) == 20 * MS)
    step(client, 30)
    assert (client.states[-1].position[0], client.bodies[-1].transforms[1]) == there
    tau = np.zeros(twin.model.nv)
    tau[-1] = 0.7
    twin.step(tau, 50)
    assert_same(client, twin)


@pytest.mark.parametrize('service, file, problem', [
    ('save_state', '', 'state_file: no file named (ros2 param set NODE state_file FILE)'),
    ('save_state', '/', 'state_file: /: the name of a file expected'),
    ('save_state', '.', 'state_file: .: the name of a file expected'),
    ('load_state', '~nosuchuser/x',
     'state_file: ~nosuchuser/x: the home folder of ~nosuchuser is not known'),
    ('save_state', '/nowhere/x', 'state_file: /nowhere/x: No such file or directory'),
    ('load_state', '/nowhere/x', 'state_file: /nowhere/x: No such file or directory'),
    ('save_state', f'{__file__}/x', f'state_file: {__file__}/x: Not a directory'),
    ('save_state', LONG, f'state_file: {LONG}: File name too long'),
    ('load_state', LONG, f'state_file: {LONG}: File name too long'),
    ('save_state', '/dev/null', 'state_file: /dev/null: the name of a file expected'),
    ('load_state', '/dev/zero', 'state_file: /dev/zero: the name of a file expected'),
    ('load_state', __file__, 'not a snapshot of spr_dynamics'),
])
def test_a_state_file_that_is_none_is_refused(client, twin, acrobat, service, file, problem):
    good = acrobat.log_path.parent / 'acrobat.state'
    put(client, state_file=file)
    answer = client.call(Trigger, f'simulation/{service}')
    put(client, state_file=str(good))
    assert (answer.success, answer.message) == (False, problem)
    step(client, 3)
    twin.step(n=3)
    assert_same(client, twin)


def test_restored_efforts_are_shown_and_time_out(client, acrobat):
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['elbow'], effort=[0.7]))
    step(client, 5)
    assert client.call(Trigger, 'simulation/save_state').success
    put(client, command_timeout=0.004)
    step(client, 20)
    assert client.states[-1].effort[0] == 0.0
    assert client.call(Trigger, 'simulation/load_state').success
    messages = client.listen(DiagnosticArray, '/diagnostics')
    client.wait_until(lambda: messages)
    shown = {pair.key: pair.value for status in messages[-1].status for pair in status.values}
    assert shown['elbow'] == f'0.7 for 0 s, by ~/load_state ({acrobat.namespace}/client)'
    client.wait_until(lambda: time_ns(client.states[-1].header.stamp) == 5 * MS)
    step(client, 4)
    assert client.states[-1].effort[0] == 0.7
    step(client, 1)
    assert client.states[-1].effort[0] == 0.0


def test_after_steps_listeners_know_where_time_stands(client):
    clock = client.listen(Clock, '/clock', BEST_EFFORT)
    put(client, publish_rate=100.0)
    step(client, 13)  # waits for the states
    client.wait_until(lambda: clock and time_ns(clock[-1].clock) == 13 * MS)
    put(client, publish_rate=0.0)


def test_a_step_takes_many_and_publishes_each(client):
    taken = len(client.states)
    step(client, 250)
    stamps = [time_ns(msg.header.stamp) for msg in client.states[taken:]]
    assert stamps == [n * MS for n in range(1, 251)]


def test_diagnostics_say_who_commands_what(client, acrobat):
    messages = client.listen(DiagnosticArray, '/diagnostics')

    def statuses(name):
        return [status for msg in messages for status in msg.status
                if status.name == f'{acrobat.namespace[1:]}/simulation: {name}']

    def values(name):
        return {pair.key: pair.value for pair in statuses(name)[-1].values}

    # what came in the last second may be from the test before
    client.wait_until(lambda: [status.level for status in statuses('commands')[-1:]] == [b'\x00'])
    messages.clear()
    commands = client.publisher(JointState, 'joint_commands')
    client.send(commands, JointState(name=['elbow'], effort=[0.7]))
    client.send(commands, JointState(name=['elbw'], effort=[0.7]))
    step(client, 3)
    client.wait_until(lambda: messages and values('run')['steps'] == '3')
    assert values('commands')['elbow'] == ('0.7 for 0.003 s, by joint_commands '
                                           f'({acrobat.namespace}/client)')
    assert values('commands')['trouble with joint_commands: unknown'] == '1'
    warned = [status.message for status in statuses('commands') if status.level == b'\x01']
    assert warned == ['joint_commands: unknown (1 in the last second)']
    assert statuses('run')[-1].message == 'paused'
    assert values('solver').keys() >= {'contacts', 'iterations', 'unsolved'}
    taken = len(messages)
    client.wait_until(lambda: len(messages) > taken + 1)
    assert statuses('commands')[-1].message == 'as they came'
    client.node.destroy_publisher(commands)
    client.wait_until(lambda: 'nobody publishes any more: elbow'
                      in statuses('commands')[-1].message)


def test_a_second_clock_is_noticed(client, acrobat):
    """With two, time jumps to and fro for all who listen; nothing said so."""
    messages = client.listen(DiagnosticArray, '/diagnostics')

    def run():
        return next((status.message for msg in messages[-1:] for status in msg.status
                     if status.name == f'{acrobat.namespace[1:]}/simulation: run'), None)

    client.wait_until(lambda: run() == 'paused')
    rival = client.node.create_publisher(Clock, '/clock', 1)
    warning = (f'/clock is also published by {acrobat.namespace}/client: set publish_clock to '
               'false on all nodes but one, unless it was killed just now')
    client.wait_until(lambda: run() == warning)
    assert warning in acrobat.log
    client.node.destroy_publisher(rival)
    client.wait_until(lambda: run() == 'paused')


def test_every_topic_has_the_frame_that_it_is_in(client):
    assert client.bodies[-1].header.frame_id == convert.WORLD_FRAME
    assert client.states[-1].header.frame_id == ''


def test_pause_answers_where_it_is(client):
    step(client, 4)
    assert client.call(SetBool, 'simulation/pause', data=True).message == 'paused at 0.004 s'
