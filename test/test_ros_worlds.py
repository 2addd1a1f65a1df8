"""Worlds and several robots: who stands where, and who publishes the clock."""
import pytest

pytest.importorskip('rclpy')

from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, MultiDOFJointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from ros_harness import BEST_EFFORT, Client, NodeProcess, time_ns  # noqa: E402
from spr_dynamics.errors import SprDynamicsError  # noqa: E402
from spr_dynamics.ros.loading import load_simulation  # noqa: E402
from spr_dynamics.ros.parameters import checked, ParameterError  # noqa: E402
from spr_dynamics.ros.state_topics import robot_roots  # noqa: E402

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
    with NodeProcess(tmp_path, robot='double_pendulum', initial_positions=[0.5, 0.0]) as first, \
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
