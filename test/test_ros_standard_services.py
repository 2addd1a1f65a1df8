"""
What the services of simulation_interfaces do, as of release 2.1, without that package.

Stand-ins for its messages have the fields and codes that the handlers use;
test_ros_simulation_interfaces.py has real ones, of release 1.5, over DDS.
"""
import sys
import types

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Accel, Point, Pose, Quaternion, Twist, Vector3  # noqa: E402, I100
from std_msgs.msg import Header  # noqa: E402

import needs  # noqa: E402
import spr_dynamics as spr  # noqa: E402
from spr_dynamics.ros.standard_services import (  # noqa: E402
    FEATURES, make_standard_services, StandardServices)

CODES = {'RESULT_FEATURE_UNSUPPORTED': 0, 'RESULT_OK': 1, 'RESULT_NOT_FOUND': 2,
         'RESULT_INCORRECT_STATE': 3, 'RESULT_OPERATION_FAILED': 4}
STATES = {'STATE_STOPPED': 0, 'STATE_PLAYING': 1, 'STATE_PAUSED': 2, 'STATE_QUITTING': 3}
UNSUPPORTED, OK, NOT_FOUND, _, FAILED = CODES.values()
STOPPED, PLAYING, PAUSED, _ = STATES.values()
ALREADY, WRONG_TRANSITION, INVALID_POSE = 101, 103, 101


def entity_state():
    return types.SimpleNamespace(header=Header(), pose=Pose(), twist=Twist(), acceleration=Accel())


MESSAGES = types.SimpleNamespace(
    Result=types.SimpleNamespace(**CODES), SimulationState=types.SimpleNamespace(**STATES),
    SimulatorFeatures=types.SimpleNamespace(**{name: n for n, name in enumerate(FEATURES)}),
    EntityState=entity_state)
SERVICES = types.SimpleNamespace(**{name: types.SimpleNamespace(
    Request=types.SimpleNamespace(SCOPE_TIME=1, SCOPE_STATE=2, SCOPE_SPAWNED=4, SCOPE_ALL=255),
    Response=types.SimpleNamespace(
        ALREADY_IN_TARGET_STATE=ALREADY, INCORRECT_TRANSITION=WRONG_TRANSITION,
        INVALID_POSE=INVALID_POSE))
    for name in ('GetSimulatorFeatures', 'GetSimulationState', 'SetSimulationState',
                 'ResetSimulation', 'GetEntities', 'GetEntityState',
                 'GetEntitiesStates', 'SetEntityState')})


class Node:
    """What the services need of the node."""

    def __init__(self):
        self.simulation = spr.Simulation(spr.load(needs.REPOSITORY / 'models/hopper.sdf',
                                                  world='ground'))
        self.is_paused = True
        self.multi_step = types.SimpleNamespace(is_active=False)
        self.handlers = {}
        self.publications = types.SimpleNamespace(publish_now=lambda: None)

    def create_service(self, kind, name, handler):
        self.handlers[name] = handler

    def set_paused(self, is_paused):
        self.is_paused = is_paused

    def reset(self):
        self.simulation.reset()

    def ask(self, service, **request):
        response = types.SimpleNamespace(
            result=types.SimpleNamespace(), features=types.SimpleNamespace(),
            state=types.SimpleNamespace())
        return self.handlers[f'~/{service}'](types.SimpleNamespace(**request), response)


@pytest.fixture
def node():
    node = Node()
    StandardServices(node, SERVICES, MESSAGES)
    return node


def result(response):
    return response.result.result, response.result.error_message


def filters(pattern='', categories=(), tags=(), bounds=0):
    return types.SimpleNamespace(
        filter=pattern, categories=categories, tags=types.SimpleNamespace(tags=tags),
        bounds=types.SimpleNamespace(type=bounds))


def state(code):
    return types.SimpleNamespace(state=code)


def test_nothing_is_offered_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, 'simulation_interfaces.action', None)
    node = Node()
    assert make_standard_services(node) is False
    assert not node.handlers


def test_features_are_listed(node):
    assert node.ask('get_simulator_features').features.features == list(range(len(FEATURES)))
    # it refuses either scope alone
    assert not {'SIMULATION_RESET_TIME', 'SIMULATION_RESET_STATE'} & set(FEATURES)


def test_states_follow_pause_and_time(node):
    def present():
        return node.ask('get_simulation_state').state.state

    assert present() == STOPPED
    code, text = result(node.ask('set_simulation_state', state=state(PAUSED)))
    assert (code, present()) == (WRONG_TRANSITION, STOPPED)
    assert text == 'the simulation is stopped: play it or take a step, then pause it'
    node.simulation.step(n=5)
    assert present() == PAUSED
    assert result(node.ask('set_simulation_state', state=state(PLAYING))) == (OK, '')
    assert present() == PLAYING
    assert result(node.ask('set_simulation_state', state=state(PLAYING)))[0] == ALREADY
    assert result(node.ask('set_simulation_state', state=state(PAUSED))) == (OK, '')
    node.multi_step.is_active = True
    assert present() == PLAYING  # to the end of the steps only
    assert result(node.ask('set_simulation_state', state=state(PLAYING))) == (OK, '')
    assert not node.is_paused
    node.multi_step.is_active = False
    assert result(node.ask('set_simulation_state', state=state(STOPPED))) == (OK, '')
    assert present() == STOPPED
    assert result(node.ask('set_simulation_state', state=state(9)))[0] == UNSUPPORTED


@pytest.mark.parametrize('scope, code, steps', [
    (0, OK, 0), (255, OK, 0), (3, OK, 0), (1, UNSUPPORTED, 7), (2, UNSUPPORTED, 7),
    (4, UNSUPPORTED, 7)])
def test_time_and_state_are_reset_together(node, scope, code, steps):
    node.simulation.step(n=7)
    assert result(node.ask('reset_simulation', scope=scope))[0] == code
    assert node.simulation.step_count == steps


def test_entities_are_models_and_links(node):
    everything = node.ask('get_entities', filters=filters()).entities
    assert everything == ['ground', 'hopper', 'torso', 'thigh', 'shin', 'foot']
    assert node.ask('get_entities', filters=filters('^(t|f)')).entities == [
        'torso', 'thigh', 'foot']
    assert result(node.ask('get_entities', filters=filters('(')))[0] == FAILED
    assert result(node.ask('get_entities', filters=filters(tags=['a'])))[0] == UNSUPPORTED
    assert result(node.ask('get_entities', filters=filters(bounds=3)))[0] == UNSUPPORTED


def test_states_of_entities_are_those_of_their_links(node):
    sim = node.simulation
    sim.step(n=200)
    msg = node.ask('get_entity_state', entity='foot').state
    foot = sim.links['foot']
    p, turn, linear = msg.pose.position, msg.pose.orientation, msg.twist.linear
    assert msg.header.frame_id == 'world'
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec) == (0, 200_000_000)
    np.testing.assert_allclose([p.x, p.y, p.z], foot.pose.p, atol=1e-12)
    np.testing.assert_allclose([turn.w, turn.x, turn.y, turn.z], foot.pose.quat_wxyz(),
                               atol=1e-12)
    np.testing.assert_allclose([linear.x, linear.y, linear.z], foot.velocity, atol=1e-12)
    acceleration = msg.acceleration.linear
    np.testing.assert_allclose([acceleration.x, acceleration.y, acceleration.z],
                               foot.acceleration, atol=1e-9)
    answer = node.ask('get_entities_states', filters=filters('^t'))
    assert answer.entities == ['torso', 'thigh']
    assert answer.states[0].pose == node.ask('get_entity_state', entity='hopper').state.pose
    code, text = result(node.ask('get_entity_state', entity='fot'))
    assert (code, text) == (NOT_FOUND, "there is no entity 'fot' (did you mean 'foot'?)")


def test_a_free_root_is_put_somewhere(node):
    wanted = entity_state()
    wanted.pose = Pose(position=Point(x=1.0, y=2.0, z=3.0), orientation=Quaternion(w=1.0))
    wanted.twist = Twist(linear=Vector3(x=4.0), angular=Vector3(z=5.0))
    before = node.simulation.qd.copy()
    request = {'state': wanted, 'set_acceleration': False}
    answer = node.ask('set_entity_state', entity='hopper', set_pose=True, set_twist=False,
                      **request)
    assert result(answer) == (OK, '')
    assert node.simulation.q[:7].tolist() == [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]
    assert (node.simulation.qd == before).all()
    assert result(node.ask('set_entity_state', entity='torso', set_pose=False, set_twist=True,
                           **request)) == (OK, '')
    assert node.simulation.qd[:6].tolist() == [4.0, 0.0, 0.0, 0.0, 0.0, 5.0]


@pytest.mark.parametrize('entity, change, code', [
    ('foot', {}, FAILED),
    ('ground', {}, FAILED),
    ('nobody', {}, NOT_FOUND),
    ('torso', {'orientation': Quaternion(w=2.0)}, INVALID_POSE),
    ('torso', {'orientation': Quaternion(w=float('nan'))}, INVALID_POSE),
    ('torso', {'position': Point(x=float('inf'))}, INVALID_POSE),
    ('torso', {'linear': Vector3(y=float('nan'))}, FAILED),
    ('torso', {'frame_id': 'foot'}, UNSUPPORTED),
    ('torso', {'set_acceleration': True}, UNSUPPORTED),
])
def test_what_cannot_be_put_stays(node, entity, change, code):
    before = node.simulation.save()
    wanted = entity_state()
    wanted.header.frame_id = change.get('frame_id', '')
    wanted.pose = Pose(position=change.get('position', Point()),
                       orientation=change.get('orientation', Quaternion(w=1.0)))
    wanted.twist.linear = change.get('linear', Vector3())
    answer = node.ask('set_entity_state', entity=entity, state=wanted, set_pose=True,
                      set_twist=True, set_acceleration=change.get('set_acceleration', False))
    assert result(answer)[0] == code
    assert node.simulation.save() == before
