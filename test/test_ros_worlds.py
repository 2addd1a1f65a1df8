"""Worlds and several robots: who stands where, and who publishes the clock."""
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402, I100
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, MultiDOFJointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from ros_harness import (  # noqa: E402
    BEST_EFFORT, Client, LATCHED, NodeProcess, time_ns)
from spr_dynamics.errors import SprDynamicsError  # noqa: E402
from spr_dynamics.ros.loading import load_simulation  # noqa: E402
from spr_dynamics.ros.parameters import checked, ParameterError  # noqa: E402
from spr_dynamics.ros.state_topics import robot_roots  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

MS = 1_000_000
HEIGHT = 0.784308  # [m] of the hopper's torso in its model
WORLD = """
<sdf version='1.12'>
  <world name='table'>
    <gravity>0 0 -1.6</gravity>
    <physics name='p' type='any'><max_step_size>0.002</max_step_size></physics>
    <model name='box'><static>true</static><link name='box'>
      <collision name='c'><geometry><box><size>2 2 1</size></box></geometry></collision>
    </link></model>
  </world>
</sdf>"""
CUBE = """
<sdf version='1.12'>
  <model name='cube'>
    <link name='cube'>
      <inertial><mass>1</mass>
        <inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
      <collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision>
    </link>
    <link name='rod'><pose>0.05 0 0 0 0 0</pose>
      <inertial><mass>1</mass><pose>0 0 -0.05 0 0 0</pose>
        <inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
    </link>
    <joint name='turn' type='continuous'><parent>cube</parent><child>rod</child>
      <axis><xyz>1 0 0</xyz></axis></joint>
  </model>
</sdf>"""
MASS = 2.0  # [kg]
TOP = 0.5  # [m] of the table
HALF = 0.1  # [m] of the cube


class Given:
    """Parameters as the command line gives them, without a node."""

    def __init__(self, **overrides):
        self.overrides, self.values = overrides, {}

    def declare(self, spec, *, name=None, default=None):
        name = name or spec.name
        default = spec.default if spec.default is not None else default
        self.values[name] = checked(spec, self.overrides.get(name, default), name=name)
        return self.values[name]

    def value(self, name):
        return self.values[name]

    def is_declared(self, name):
        return name in self.values


def loaded(**parameters):
    return load_simulation(Given(**parameters)).simulation


@pytest.fixture
def world(tmp_path):
    file = tmp_path / 'table.sdf'
    file.write_text(WORLD)
    return str(file)


@pytest.mark.parametrize('parameters, is_on_ground', [
    ({'robot': 'hopper'}, True),
    ({'robot': 'hopper', 'world': 'ground'}, True),
    ({'robot': 'hopper', 'world': 'empty'}, False),
    ({'robot': 'hopper', 'fix_base': True}, False),
    ({'robot': 'arm7'}, False),
    ({'robot': 'arm7', 'world': 'ground'}, True),
])
def test_a_free_robot_without_a_world_gets_a_ground(parameters, is_on_ground):
    assert ('ground' in loaded(**parameters).model.link_names) is is_on_ground


def test_a_world_file_brings_gravity_step_and_what_stands_in_it(world):
    sim = loaded(robot='hopper', world=world, initial_pose=[0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    assert sim.gravity.tolist() == [0.0, 0.0, -1.6]
    assert sim.dt == 0.002
    root, = sim.model.free_roots
    assert sim.q[root.q + 2] == 0.5 + HEIGHT
    sim.step(n=4000)
    assert sim.sensors['foot'].reading.force[2] == pytest.approx(-10.8 * 1.6, rel=1e-3)


def test_odometry_is_that_of_the_robot_whatever_else_can_move(tmp_path):
    """A ball that lies in the world comes first in the file."""
    file = tmp_path / 'ball.sdf'
    file.write_text("<sdf version='1.12'><world name='w'><model name='ball'><link name='ball'/>"
                    '</model></world></sdf>')
    model = loaded(robot='hopper', world=str(file)).model
    assert [root.name for root in model.free_roots] == ['ball', 'torso']
    assert [root.name for root in robot_roots(model)] == ['torso']
    assert robot_roots(loaded(robot='arm7', world=str(file)).model) == []


def test_a_fixed_base_stays_where_the_initial_pose_puts_it():
    sim = loaded(robot='hopper', world='empty', fix_base=True,
                 initial_pose=[1.0, 2.0, 3.0, 0.0, 0.0, 0.5])
    assert not sim.model.free_roots
    assert sim.links['torso'].pose.p.tolist() == [1.0, 2.0, 3.0 + HEIGHT]
    sim.step(n=100)
    assert sim.links['torso'].pose.p.tolist() == [1.0, 2.0, 3.0 + HEIGHT]


def test_an_arm_on_its_foundation_is_moved_as_a_whole():
    at, moved = (loaded(robot='arm7', **parameters).links['fingertip'].pose
                 for parameters in ({}, {'initial_pose': [1.0, 0.0, 0.5, 0.0, 0.0, 0.0]}))
    assert (moved.p - at.p).tolist() == pytest.approx([1.0, 0.0, 0.5])


@pytest.mark.parametrize('parameters, message', [
    ({'initial_pose': [0.0] * 6}, 'initial_pose: places a robot, so it needs robot'),
    ({'robot': 'world'}, "a pose is for a file with one model; .* holds the world 'table'"),
])
def test_a_pose_is_for_a_robot(world, parameters, message):
    parameters = {'world': world, **parameters, 'initial_pose': [0.0] * 6}
    if 'robot' in parameters:
        parameters.update(robot=world, world='')
    with pytest.raises(Exception, match=message) as refusal:
        loaded(**parameters)
    assert type(refusal.value).__name__ in ('ParameterError', 'ModelError')


def test_a_pose_has_six_numbers():
    with pytest.raises(ParameterError, match='initial_pose = .*: expected 6 numbers'):
        loaded(robot='arm7', initial_pose=[0.0, 0.0, 1.0])


def test_what_is_wrong_with_a_robot_as_text_is_said_of_its_parameter():
    with pytest.raises(ParameterError, match='^robot_description: <text>:1: '):
        loaded(robot_description='<sdf')


@pytest.mark.parametrize('world, meant', [
    ('grund', " (did you mean 'ground'?)"), ('emtpy', " (did you mean 'empty'?)"), ('moon', '')])
def test_a_misspelt_world_is_told_the_built_in_ones(world, meant):
    with pytest.raises(SprDynamicsError) as refusal:
        loaded(robot='hopper', world=world)
    assert str(refusal.value).startswith(
        f'{world}: no such file{meant}; empty, ground or a file expected; shipped models: arm7, ')


@pytest.mark.parametrize('lock_step', [False, True])
def test_a_control_period_is_a_whole_number_of_steps(lock_step):
    """Without lock_step it was silently ignored."""
    with pytest.raises(ParameterError, match='^control_period = 0.0015: expected a whole number '
                                             'of steps of 0.001 s$'):
        loaded(robot='cart_pole', lock_step=lock_step, control_period=0.0015)
    given = Given(robot='cart_pole', lock_step=lock_step, control_period=0.002)
    assert load_simulation(given).period == (2 if lock_step else None)


def test_a_prefix_of_frames_does_not_begin_with_a_slash():
    with pytest.raises(ParameterError, match="^frame_prefix = '/r1/': tf2 .* expected 'r1/'$"):
        loaded(robot='arm7', frame_prefix='/r1/')


def test_positions_beyond_the_limits_are_told():
    assert loaded(robot='cart_pole', initial_positions=[0.3, 40.0]).warnings == ()
    arm = loaded(robot='arm7', initial_positions=[0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert arm.q[1] == 100.0
    assert arm.warnings[0] == ("joint 'joint2' starts at 100, beyond its limits "
                               f'{arm.model.axes[1].lower:g} to {arm.model.axes[1].upper:g}')


def test_two_robots_in_namespaces_share_one_clock(tmp_path):
    with NodeProcess(tmp_path, robot='double_pendulum', joints='[elbow, shoulder]',
                     initial_positions=[0.5, 0.0]) as first, \
            NodeProcess(tmp_path, robot='hopper', world='empty', publish_clock=False) as second, \
            Client('/') as client:
        clock = client.listen(Clock, '/clock', BEST_EFFORT)
        states = {node: client.listen(JointState, f'{node.namespace}/joint_states')
                  for node in (first, second)}
        roots = client.listen(MultiDOFJointState, f'{second.namespace}/multi_dof_joint_states')
        client.wait_until(lambda: all(states.values()) and roots and len(clock) > 5)
        assert client.node.count_publishers('/clock') == 1
        assert list(states[first][-1].name) == ['shoulder', 'elbow']
        assert list(states[second][-1].name) == ['hip', 'knee', 'ankle']
        times = [time_ns(msg.clock) for msg in clock]
        assert times == sorted(times)
        assert client.call(Trigger, f'{first.namespace}/simulation/reset').success
        client.wait_until(lambda: time_ns(clock[-1].clock) < times[-1])  # it goes back
        client.wait_until(lambda: time_ns(clock[-1].clock) > times[-1])
        at_zero = [msg for msg in states[first] if time_ns(msg.header.stamp) == 0]
        assert list(at_zero[-1].position) == [0.0, 0.5]  # as joints said: the elbow first


def put(client, **values):
    """Set parameters of the node; ``__`` stands for the dots in their names."""
    results = client.call(SetParameters, 'simulation/set_parameters', parameters=[
        Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
        for name, value in values.items()]).results
    assert all(result.successful for result in results), results


def holds(messages, frame):
    """Return all transforms of a frame: /tf is everybody's."""
    return [hold for message in messages for hold in message.transforms
            if hold.child_frame_id == frame]


@pytest.fixture
def cube(tmp_path):
    file = tmp_path / 'cube.sdf'
    file.write_text(CUBE)
    return file


def test_a_robot_falls_onto_the_table_of_a_world_file(
        tmp_path, world, cube, tf2_msgs):  # noqa: F811
    """With the gravity of the world and a step of its own; and what is live on the way."""
    dt, height, pose = 0.004, 0.8, '[0.3, 0.0, 0.8, 0.0, 0.0, 0.0]'
    step_ns = 4 * MS
    down = f'[0.0, 0.0, {-HALF}, 3.141592653589793, 0.0, 0.0]'
    sensors = {f'contact_sensors.{name}.{setting}': value
               for name, others in (
                   ('skin', {'force_variance': '[0.0, 0.0, 1.0]', 'noise_when_idle': True}),
                   ('struck', {'measure': 'peak'}))
               for setting, value in {'link': 'cube', 'pose': down, **others}.items()}
    with NodeProcess(tmp_path, robot=cube, world=world, initial_pose=pose, dt=dt, paused=True,
                     **sensors) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        roots = client.listen(MultiDOFJointState, 'multi_dof_joint_states')
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        skin, struck = (client.listen(WrenchStamped, f'contact_sensors/{name}/wrench')
                        for name in ('skin', 'struck'))
        client.wait_until(lambda: states and roots and holds(tf, 'cube'))
        taken = 0

        def fall(n):
            """Take n steps, and return the height of the cube after them."""
            nonlocal taken
            taken += n
            put(client, step_count=n)
            assert client.call(Trigger, 'simulation/step').success
            # a sensor reads the pose that a step starts from
            client.wait_until(lambda: [time_ns(newest.header.stamp) // step_ns for newest in (
                states[-1], roots[-1], holds(tf, 'cube')[-1], *skin[-1:])] == [
                    taken, taken, taken, taken - 1])
            return roots[-1].transforms[0].translation.z

        # semi-implicit Euler falls by g dt^2 n (n + 1) / 2
        for n in 20, 20:
            assert fall(n) == pytest.approx(
                height - 1.6 * dt ** 2 * taken * (taken + 1) / 2, abs=1e-12)
        assert [time_ns(msg.header.stamp) for msg in states] == [
            k * step_ns for k in range(41)]

        # at 50 Hz every fifth step; then every second one
        put(client, tf_rate=125.0)
        fall(20)
        assert [time_ns(hold.header.stamp) // step_ns for hold in holds(tf, 'cube')] == [
            *range(0, 41, 5), *range(42, 61, 2)]

        assert len({msg.wrench.force.z for msg in skin}) == len(skin) > 1
        put(client, contact_sensors__skin__noise_when_idle=False,
            contact_sensors__struck__rate=1.0)
        fall(10)
        assert {msg.wrench.force.z for msg in skin[-2:]} == {0.0}

        put(client, gravity=[0.0, 0.0, -9.8], contact_sensors__skin__force_variance=[0.0] * 3)
        assert fall(430) == pytest.approx(TOP + HALF, abs=1e-4)
        weight = MASS * 9.8
        assert skin[-1].wrench.force.z == pytest.approx(-weight, rel=1e-3)
        client.wait_until(lambda: time_ns(struck[-1].header.stamp) >= 1000 * MS)
        assert struck[-1].wrench.force.z < -3.0 * weight  # the landing, which nobody sampled


def test_a_fixed_base_does_not_fall(tmp_path, cube, tf2_msgs):  # noqa: F811
    """Its place is known for good, so the frame is static; its joints move on it."""
    with NodeProcess(tmp_path, robot=cube, world='empty', fix_base=True, paused=True,
                     initial_pose='[0.0, 0.0, 0.8, 0.0, 0.0, 0.0]', publish_clock=False,
                     joints='[turn]', initial_positions='[0.5]', step_count=200) as node, \
            Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        tf = client.listen(tf2_msgs.TFMessage, '/tf')
        static = client.listen(tf2_msgs.TFMessage, '/tf_static', LATCHED)
        client.wait_until(lambda: states and holds(tf, 'rod') and holds(static, 'cube'))
        assert client.call(Trigger, 'simulation/step').success
        client.wait_until(lambda: time_ns(states[-1].header.stamp) == 200 * MS)
        twin = loaded(robot=str(cube), world='empty', fix_base=True, initial_positions=[0.5],
                      initial_pose=[0.0, 0.0, 0.8, 0.0, 0.0, 0.0])
        twin.step(n=200)
        assert states[-1].position[0] == twin.q[0] < 0.45
        assert holds(tf, 'rod') and not holds(tf, 'cube')
        *_, base = holds(static, 'cube')
        assert (base.header.frame_id, base.transform.translation.z) == ('world', 0.8)
        assert not client.node.count_publishers('multi_dof_joint_states')
