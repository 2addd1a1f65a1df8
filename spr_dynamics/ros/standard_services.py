"""The services of ``simulation_interfaces``, where that package is installed."""
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
import importlib
import os
import re
import signal
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse
from rclpy.task import Future

from spr_dynamics.dynamics.check import checked_position, checked_velocity
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.dynamics.links import link_accelerations, link_velocities
from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.ros import convert
from spr_dynamics.ros.services import make_patient_service
from spr_dynamics.sdformat.poses import Pose

FEATURES = (
    'ENTITY_STATE_GETTING', 'ENTITY_STATE_SETTING', 'SIMULATION_RESET',
    'SIMULATION_STATE_GETTING', 'SIMULATION_STATE_SETTING', 'SIMULATION_STATE_PAUSE',
    'STEP_SIMULATION_SINGLE', 'STEP_SIMULATION_MULTIPLE', 'STEP_SIMULATION_ACTION')
UNIT_TOLERANCE = 1e-3  # how far the length of a quaternion may be from one


class Failure(SprDynamicsError):
    """A request can't be met; the message says why, the code is the standard's."""

    def __init__(self, code: int, text: str) -> None:
        """
        Refuse a request.

        :param code: A result code of the service.
        :param text: Why.
        """
        super().__init__(text)
        self.code = code


def make_standard_services(node: Any) -> bool:
    """
    Offer the services on the topics that the standard names, below the node's name.

    :param node: The `SimulationNode`.
    :returns: Whether they are there: without the package nothing is offered.
    """
    try:
        actions, services, messages = (
            importlib.import_module(f'simulation_interfaces.{kind}')
            for kind in ('action', 'srv', 'msg'))
    except ImportError:
        return False
    StandardServices(node, services, messages)
    StandardSteps(node, actions.SimulateSteps, services.StepSimulation, messages)
    return True


def fill_result(response: Any, failure: SprDynamicsError | None, messages: Any) -> None:
    """
    Say how a request went, by the standard's code and in words.

    :param response: What has a field ``result``.
    :param failure: What went wrong, if something did.
    :param messages: The module ``simulation_interfaces.msg``.
    """
    codes, result = messages.Result, response.result
    if failure is None:
        result.result, result.error_message = codes.RESULT_OK, ''
    else:
        result.result = getattr(failure, 'code', codes.RESULT_OPERATION_FAILED)
        result.error_message = str(failure)


class StandardSteps:
    """Many steps by the standard: a service that answers at their end, and an action."""

    def __init__(self, node: Any, action_type: Any, service_type: Any, messages: Any) -> None:
        """
        Offer both.

        :param node: The `SimulationNode`.
        :param action_type: `SimulateSteps`.
        :param service_type: `StepSimulation`.
        :param messages: The module ``simulation_interfaces.msg``.
        """
        self._node, self._action, self._messages = node, action_type, messages
        make_patient_service(node, service_type, '~/step_simulation', self._step)
        ActionServer(node, action_type, '~/simulate_steps', self._simulate,
                     cancel_callback=lambda goal: CancelResponse.ACCEPT)

    def _step(self, request: Any, response: Any) -> Future:
        answer: Future = Future()

        def end(failure: SprDynamicsError | None) -> None:
            fill_result(response, failure, self._messages)
            answer.set_result(response)

        self._node.take_steps(request.steps, end)
        return answer

    async def _simulate(self, goal: Any) -> Any:
        """Take the steps of a goal, and tell how far it has come."""
        end: Future = Future()
        is_cancelled = False

        def progress(completed: int, remaining: int) -> None:
            nonlocal is_cancelled
            goal.publish_feedback(self._action.Feedback(
                completed_steps=completed, remaining_steps=remaining))
            # one that comes with the last step or a failure has come too late
            is_cancelled = goal.is_cancel_requested and remaining > 0
            if is_cancelled:
                self._node.end_steps('a cancellation')

        self._node.take_steps(goal.request.steps, end.set_result, progress)
        failure = await end
        if failure is None:
            goal.succeed()
        elif is_cancelled:
            goal.canceled()
        else:
            goal.abort()
        result = self._action.Result()
        fill_result(result, failure, self._messages)
        return result


class StandardServices:
    """What the standard's services do, in terms of the node."""

    def __init__(self, node: Any, services: Any, messages: Any) -> None:
        """
        Offer the services.

        :param node: The `SimulationNode`.
        :param services: The module ``simulation_interfaces.srv``.
        :param messages: The module ``simulation_interfaces.msg``.
        """
        self._node, self._simulation = node, node.simulation
        self._services, self._messages = services, messages
        model = node.simulation.model
        self._entities = {link.model: None for link in model.assembly.links if link.model}
        self._links = list(model.link_names)
        for name, action in (
                ('GetSimulatorFeatures', self._features),
                ('GetSimulationState', self._state), ('SetSimulationState', self._set_state),
                ('ResetSimulation', self._reset),
                ('GetEntities', self._get_entities), ('GetEntityState', self._entity_state),
                ('GetEntitiesStates', self._entities_states),
                ('SetEntityState', self._set_entity_state)):
            node.create_service(getattr(services, name), f'~/{_snake(name)}',
                                self._answering(action))

    def _answering(self, action: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """Let an action fill a response, and put into its result how that went."""
        def answer(request: Any, response: Any) -> Any:
            failure = None
            try:
                action(request, response)
            except SprDynamicsError as error:
                failure = error
            if hasattr(response, 'result'):  # that of the features has none
                fill_result(response, failure, self._messages)
            return response
        return answer

    def _features(self, request: Any, response: Any) -> None:
        features = self._messages.SimulatorFeatures
        response.features.features = [getattr(features, name) for name in FEATURES]
        response.features.custom_info = 'spr_dynamics'

    def _state(self, request: Any, response: Any) -> None:
        response.state.state = self._present_state()

    def _present_state(self) -> int:
        states = self._messages.SimulationState
        if not self._node.is_paused or self._node.multi_step.is_active:
            return states.STATE_PLAYING
        return states.STATE_PAUSED if self._simulation.step_count else states.STATE_STOPPED

    def _set_state(self, request: Any, response: Any) -> None:
        states, wanted = self._messages.SimulationState, request.state.state
        codes, present = self._services.SetSimulationState.Response, self._present_state()
        will_stop = self._node.multi_step.is_active  # it plays, but only to the end of the steps
        if wanted == present and not will_stop:
            raise Failure(codes.ALREADY_IN_TARGET_STATE, 'the simulation is in that state already')
        if (present, wanted) == (states.STATE_STOPPED, states.STATE_PAUSED):
            raise Failure(codes.INCORRECT_TRANSITION,
                          'the simulation is stopped: play it or take a step, then pause it')
        if wanted == states.STATE_PLAYING:
            self._node.set_paused(False)
        elif wanted == states.STATE_PAUSED:
            self._node.set_paused(True)
        elif wanted == states.STATE_STOPPED:
            self._node.set_paused(True)
            self._node.reset()
        elif wanted == states.STATE_QUITTING:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            raise Failure(self._messages.Result.RESULT_FEATURE_UNSUPPORTED,
                          f'state {wanted}: stopped, playing, paused or quitting expected')

    def _reset(self, request: Any, response: Any) -> None:
        requests = self._services.ResetSimulation.Request
        scope = request.scope or requests.SCOPE_ALL
        whole = requests.SCOPE_TIME | requests.SCOPE_STATE
        if scope & whole != whole:
            raise Failure(self._messages.Result.RESULT_FEATURE_UNSUPPORTED,
                          'time and state are reset together: SCOPE_ALL expected')
        self._node.reset()

    # entities are the models and the links

    def _get_entities(self, request: Any, response: Any) -> None:
        response.entities = self._filtered(request.filters)

    def _entities_states(self, request: Any, response: Any) -> None:
        names = self._filtered(request.filters)
        response.states = [self._state_of(name) for name in names]
        response.entities = names

    def _filtered(self, filters: Any) -> list[str]:
        unsupported = self._messages.Result.RESULT_FEATURE_UNSUPPORTED
        if filters.categories or filters.tags.tags or filters.bounds.type:
            raise Failure(unsupported, 'entities are filtered by name only')
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise Failure(self._messages.Result.RESULT_OPERATION_FAILED,
                          f'filter {filters.filter!r}: {error}') from None
        return [name for name in self._names() if pattern.search(name)]

    def _names(self) -> Iterable[str]:
        return dict.fromkeys([*self._entities, *self._links])

    def _entity_state(self, request: Any, response: Any) -> None:
        response.state = self._state_of(request.entity)

    def _link_of(self, entity: str) -> int:
        """Return the link that stands for an entity: that of the name, or a model's first one."""
        links = self._simulation.model.assembly.links
        if entity in self._links:
            return self._links.index(entity)
        if entity in self._entities:
            return next(k for k, link in enumerate(links) if link.model == entity)
        raise Failure(self._messages.Result.RESULT_NOT_FOUND,
                      f'there is no entity {entity!r}{name_hint(entity, self._names())}')

    def _state_of(self, entity: str) -> Any:
        k, simulation = self._link_of(entity), self._simulation
        model, q, qd = simulation.model, simulation.q, simulation.qd
        T_WL = link_poses(model, q)[k]
        velocity = link_velocities(model, q, qd)[k]
        acceleration = link_accelerations(model, q, qd, simulation.qdd)[k]
        state = self._messages.EntityState()
        state.header.frame_id = convert.WORLD_FRAME
        convert.stamp_from_ns(state.header.stamp, simulation.time_ns)
        convert.fill_vector(state.pose.position, T_WL[:3, 3])
        convert.fill_quaternion(
            state.pose.orientation, np.array(Pose(T_WL[:3, :3], T_WL[:3, 3]).quat_wxyz()))
        convert.fill_vector(state.twist.linear, velocity[3:])
        convert.fill_vector(state.twist.angular, velocity[:3])
        convert.fill_vector(state.acceleration.linear, acceleration[3:])
        convert.fill_vector(state.acceleration.angular, acceleration[:3])
        return state

    def _set_entity_state(self, request: Any, response: Any) -> None:
        k = self._link_of(request.entity)
        name = self._links[k]
        root = next((root for root in self._simulation.model.free_roots if root.name == name),
                    None)
        if root is None:
            raise Failure(self._messages.Result.RESULT_OPERATION_FAILED,
                          f'{request.entity!r} is held: only a free root can be put somewhere')
        if request.state.header.frame_id not in ('', convert.WORLD_FRAME):
            raise Failure(self._messages.Result.RESULT_FEATURE_UNSUPPORTED,
                          f'frame {request.state.header.frame_id!r}: world expected')
        if getattr(request, 'set_acceleration', False):
            raise Failure(self._messages.Result.RESULT_FEATURE_UNSUPPORTED,
                          'accelerations follow from forces')
        model, q, qd = self._simulation.model, self._simulation.q, self._simulation.qd
        # releases 1.x, those of Jazzy and Kilted, have no flags: pose and twist are set
        if getattr(request, 'set_pose', True):
            q = q.copy()
            q[root.q:root.q + 7] = self._pose_from(request.state.pose)
        if getattr(request, 'set_twist', True):
            linear, angular = request.state.twist.linear, request.state.twist.angular
            qd = qd.copy()
            qd[root.v:root.v + 6] = linear.x, linear.y, linear.z, angular.x, angular.y, angular.z
        with _refusing(self._services.SetEntityState.Response.INVALID_POSE):
            q = checked_position(model, q)
        with _refusing(self._messages.Result.RESULT_OPERATION_FAILED):
            qd = checked_velocity(model, qd)
        # both are good, so neither is taken without the other
        self._simulation.q, self._simulation.qd = q, qd
        self._node.publications.publish_now()

    def _pose_from(self, pose: Any) -> np.ndarray:
        """Return position and unit quaternion w x y z of a message."""
        p, turn = pose.position, pose.orientation
        quaternion = np.array([turn.w, turn.x, turn.y, turn.z])
        length = np.linalg.norm(quaternion)
        if not abs(length - 1.0) < UNIT_TOLERANCE:
            raise Failure(self._services.SetEntityState.Response.INVALID_POSE,
                          f'orientation {quaternion[1:].tolist()}, w {quaternion[0]}: a unit '
                          'quaternion expected')
        return np.array([p.x, p.y, p.z, *(quaternion / length)])


@contextmanager
def _refusing(code: int) -> Iterator[None]:
    """Give what numbers are refused for the code of the standard."""
    try:
        yield
    except ValueError as error:
        raise Failure(code, str(error)) from None


def _snake(name: str) -> str:
    """Return the name that the standard gives to a service of a type."""
    return re.sub('(?<!^)(?=[A-Z])', '_', name).lower()
