"""The services and the action of simulation_interfaces, over DDS."""
import importlib
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from action_msgs.msg import GoalStatus  # noqa: E402, I100
from rclpy.action import ActionClient  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from ros_harness import BEST_EFFORT, Client, node_here, NodeProcess, time_ns  # noqa: E402
from simulation_interfaces_stand_in import simulation_interfaces  # noqa: E402, F401
import spr_dynamics as spr  # noqa: E402
from spr_dynamics.ros import standard_services  # noqa: E402
from spr_dynamics.ros.standard_services import FEATURES  # noqa: E402
from tf2_stand_in import tf2_msgs  # noqa: E402, F401

MANY = 100_000_000
NOT_FOUND, FAILED, INVALID_POSE, ALREADY = 2, 4, 101, 101
OK = 1
STOPPED, PLAYING, PAUSED, QUITTING = range(4)


@pytest.fixture(scope='module')
def world(simulation_interfaces, tf2_msgs, tmp_path_factory):  # noqa: F811
    """Return a client of a paused hopper that stands on the ground."""
    with NodeProcess(tmp_path_factory.mktemp('standard'), robot='hopper',
                     paused=True) as node, Client(node.namespace) as client:
        client.srv = importlib.import_module('simulation_interfaces.srv')
        client.msg = importlib.import_module('simulation_interfaces.msg')
        action = importlib.import_module('simulation_interfaces.action').SimulateSteps
        client.steps = ActionClient(client.node, action, 'simulation/simulate_steps')
        client.wait_until(client.steps.server_is_ready)
        client.process = node
        yield client


@pytest.fixture(autouse=True)
def at_the_start(world):
    world.call(SetBool, 'simulation/pause', data=True)
    world.call(Trigger, 'simulation/reset')


def ask(world, service, **fields):
    name = ''.join(word.capitalize() for word in service.split('_'))
    return world.call(getattr(world.srv, name), f'simulation/{service}', **fields)


def listener(world):
    """Return a client for one test: it would drown in what many steps publish in later ones."""
    return Client(world.node.get_namespace())


def code(response):
    return response.result.result


def present(world):
    return ask(world, 'get_simulation_state').state.state


def begin(world, n):
    """Send a goal of n steps; return its handle and the feedback that will come."""
    feedback = []
    goal = world.steps.send_goal_async(
        world.steps._action_type.Goal(steps=n), lambda msg: feedback.append(msg.feedback))
    world.wait_until(goal.done)
    assert goal.result().accepted
    return goal.result(), feedback


def outcome(world, goal):
    """Wait for a goal's end; return its status and result."""
    answer = goal.get_result_async()
    world.wait_until(answer.done)
    return answer.result().status, answer.result().result.result


def test_features_are_those_that_are_there(world):
    features = ask(world, 'get_simulator_features').features
    numbers = [getattr(world.msg.SimulatorFeatures, name) for name in FEATURES]
    assert list(features.features) == numbers == [10, 11, 20, 24, 25, 26, 31, 32, 33]


def test_states_and_steps(world):
    def become(state):
        return code(ask(world, 'set_simulation_state',
                        state=world.msg.SimulationState(state=state)))

    assert present(world) == STOPPED
    assert code(ask(world, 'step_simulation', steps=7)) == OK
    assert present(world) == PAUSED
    state = ask(world, 'get_entity_state', entity='torso').state
    assert (time_ns(state.header.stamp), state.header.frame_id) == (7_000_000, 'world')
    assert become(PAUSED) == ALREADY
    assert become(PLAYING) == OK
    refused = ask(world, 'step_simulation', steps=7)
    assert (code(refused), refused.result.error_message) == \
        (FAILED, 'the simulation is running; pause it first (~/pause)')
    assert become(PAUSED) == OK
    assert become(STOPPED) == OK
    assert present(world) == STOPPED


def test_a_step_takes_one_step_if_nothing_is_said(world):
    assert code(ask(world, 'step_simulation')) == OK
    state = ask(world, 'get_entity_state', entity='torso').state
    assert time_ns(state.header.stamp) == 1_000_000


def test_the_service_answers_at_the_end_and_others_meanwhile(world):
    service = world.node.create_client(world.srv.StepSimulation, 'simulation/step_simulation')
    world.wait_until(service.service_is_ready)
    world.be_known()
    answer = service.call_async(world.srv.StepSimulation.Request(steps=MANY))
    with listener(world) as other:
        clocks = other.listen(Clock, '/clock', BEST_EFFORT)
        other.wait_until(lambda: clocks and time_ns(clocks[-1].clock) > 0)
    assert present(world) == PLAYING
    assert not answer.done()
    assert code(ask(world, 'reset_simulation', scope=0)) == OK
    world.wait_until(answer.done)
    result = answer.result().result
    assert result.result == FAILED
    assert result.error_message.endswith(
        f' of {MANY} steps were taken, then came ~/reset or ~/load_state')
    assert present(world) == STOPPED


def test_a_goal_tells_how_far_it_is(world):
    goal, feedback = begin(world, 5_000)
    status, result = outcome(world, goal)
    assert (status, result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    world.wait_until(lambda: feedback and feedback[-1].remaining_steps == 0)
    completed = [entry.completed_steps for entry in feedback]
    assert completed == sorted(completed)
    assert {entry.completed_steps + entry.remaining_steps for entry in feedback} == {5_000}
    state = ask(world, 'get_entity_state', entity='torso').state
    assert time_ns(state.header.stamp) == 5_000_000_000


def test_a_goal_can_be_cancelled(world):
    goal, feedback = begin(world, MANY)
    world.wait_until(lambda: feedback)
    canceling = goal.cancel_goal_async()
    world.wait_until(canceling.done)
    status, result = outcome(world, goal)
    assert (status, result.result) == (GoalStatus.STATUS_CANCELED, FAILED)
    assert result.error_message.endswith('then came a cancellation')
    taken = int(result.error_message.split()[0])
    assert 0 < taken < MANY
    state = ask(world, 'get_entity_state', entity='torso').state
    assert time_ns(state.header.stamp) == taken * 1_000_000
    assert present(world) == PAUSED


class CancelledGoal:
    """The server's side of a goal that is to be cancelled."""

    is_cancel_requested = True

    def __init__(self, steps):
        """Ask for steps."""
        self.request = SimpleNamespace(steps=steps)
        self.feedback = []
        self.publish_feedback = self.feedback.append
        self.endings = []
        self.succeed, self.abort, self.canceled = (
            lambda ending=ending: self.endings.append(ending)
            for ending in ('succeeded', 'aborted', 'canceled'))


@pytest.mark.parametrize('gravity, ending, code, message', [
    (-9.8, 'succeeded', OK, ''),
    (-1e308, 'aborted', FAILED, '0 of 3 steps were taken: step 0 at '),
], ids=['at the last step', 'at a failure'])
def test_a_cancellation_that_comes_too_late_hides_nothing(
        simulation_interfaces, monkeypatch, gravity, ending, code, message):  # noqa: F811
    """The client heard of a cancellation, not that all steps were taken, or that one failed."""
    actions = {}
    monkeypatch.setattr(standard_services, 'ActionServer',
                        lambda node, kind, name, execute, **_: actions.update({name: execute}))
    with node_here(robot='double_pendulum', initial_positions=[0.5, 0.0], paused=True,
                   gravity=[0.0, 0.0, gravity]) as node:
        goal = CancelledGoal(3)
        with pytest.raises(StopIteration) as end:
            actions['~/simulate_steps'](goal).send(None)
        assert goal.endings == [ending]
        result = end.value.value.result
        assert result.result == code
        assert result.error_message.startswith(message)
        assert bool(node.failure) == bool(message)
        assert not node.multi_step.is_active


def test_a_goal_is_aborted_where_no_step_can_be_taken(world):
    first, feedback = begin(world, MANY)
    world.wait_until(lambda: feedback)
    second, _ = begin(world, 1)
    status, result = outcome(world, second)
    assert (status, result.result) == (GoalStatus.STATUS_ABORTED, FAILED)
    assert result.error_message.startswith('another request is on')
    world.call(SetBool, 'simulation/pause', data=False)
    status, result = outcome(world, first)
    assert (status, result.result) == (GoalStatus.STATUS_ABORTED, FAILED)
    third, _ = begin(world, 1)
    status, result = outcome(world, third)
    assert (status, result.error_message) == (
        GoalStatus.STATUS_ABORTED, 'the simulation is running; pause it first (~/pause)')


def test_entities_are_listed_and_put(world):
    """The request of this release has no flags; reading them ended the node."""
    names = ask(world, 'get_entities').entities
    assert names == ['ground', 'hopper', 'torso', 'thigh', 'shin', 'foot']
    filters = world.msg.EntityFilters(filter='^t')
    answer = ask(world, 'get_entities_states', filters=filters)
    assert (answer.entities, len(answer.states)) == (['torso', 'thigh'], 2)
    state = answer.states[0]
    model = spr.load('models/hopper.sdf', world='ground')
    home = model.neutral_q()[:3]
    position = state.pose.position
    np.testing.assert_allclose([position.x, position.y, position.z], home, atol=1e-12)
    state.pose.position.z += 2.0
    state.twist.linear.x = 0.5
    assert code(ask(world, 'set_entity_state', entity='hopper', state=state)) == OK
    put = ask(world, 'get_entity_state', entity='hopper').state
    assert (put.pose, put.twist) == (state.pose, state.twist)
    state.pose.orientation.w = 2.0
    assert code(ask(world, 'set_entity_state', entity='hopper', state=state)) == INVALID_POSE
    assert code(ask(world, 'set_entity_state', entity='foot', state=put)) == FAILED
    assert code(ask(world, 'get_entity_state', entity='fot')) == NOT_FOUND


def test_a_stamp_of_tf_comes_again_only_as_tf2_takes_it_well(world, tf2_msgs):  # noqa: F811
    """
    What is there already, for a newcomer; else what is to be shown now.

    Of transforms with one stamp tf2 drops those that it has, and answers with the last one.
    """
    def newest(messages):
        hold, = messages[-1].transforms[:1]
        return time_ns(hold.header.stamp), hold.transform.translation.z

    with listener(world) as other:
        tf = other.listen(tf2_msgs.TFMessage, '/tf')
        assert code(ask(world, 'step_simulation', steps=7)) == OK
        other.wait_until(lambda: tf and newest(tf)[0] == 7_000_000)
        at_7, known = tf[-1], len(tf)
        newcomer = other.listen(tf2_msgs.TFMessage, '/tf')
        other.wait_until(lambda: newcomer and len(tf) > known)
        assert {*map(repr, newcomer), *map(repr, tf[known:])} == {repr(at_7)}

        state = ask(world, 'get_entity_state', entity='hopper').state
        state.pose.position.z += 2.0
        assert code(ask(world, 'set_entity_state', entity='hopper', state=state)) == OK
        other.wait_until(lambda: newest(tf) == (7_000_000, state.pose.position.z))
        late = other.listen(tf2_msgs.TFMessage, '/tf')
        other.wait_until(lambda: late)
        assert late[0] == tf[-1]
        assert code(ask(world, 'step_simulation', steps=1)) == OK
        other.wait_until(lambda: newest(tf)[0] == 8_000_000)
    times = [time_ns(message.transforms[0].header.stamp) for message in tf]
    assert times == sorted(times)


def test_quitting_ends_the_node(world):
    """It comes last: the node is gone then, but who waits for steps is answered before."""
    goal, feedback = begin(world, MANY)
    answer = goal.get_result_async()
    world.wait_until(lambda: feedback)
    quitting = world.msg.SimulationState(state=QUITTING)
    assert code(ask(world, 'set_simulation_state', state=quitting)) == OK
    world.wait_until(answer.done, patience=10.0)
    assert answer.result().status == GoalStatus.STATUS_ABORTED
    assert answer.result().result.result.error_message.endswith(
        'then came the end of the simulation')
    assert world.process.exit_code(10.0) == 0
    assert 'Traceback' not in world.process.log
