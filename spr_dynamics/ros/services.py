"""The services of the node that need no package but std_srvs, and how an answer can come later."""
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from spr_dynamics.errors import SprDynamicsError


def make_services(node: Any) -> None:
    """
    Offer ``~/pause``, ``~/step``, ``~/reset``, ``~/save_state`` and ``~/load_state``.

    :param node: The `SimulationNode`.
    """
    def pause(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return _act(response, lambda: node.set_paused(request.data), node)

    def step(request: Trigger.Request, response: Trigger.Response) -> Future:
        answer: Future = Future()
        node.take_steps(node.parameters.value('step_count'),
                        lambda failure: answer.set_result(_answer(response, failure, node)))
        return answer

    node.create_service(SetBool, '~/pause', pause)
    make_patient_service(node, Trigger, '~/step', step)
    for name, action in (
            ('reset', node.reset),
            ('save_state', lambda: node.save_state(node.parameters.value('state_file'))),
            ('load_state', lambda: node.load_state(node.parameters.value('state_file')))):
        node.create_service(Trigger, f'~/{name}', _trigger(action, node))


def make_patient_service(node: Node, service_type: type, name: str,
                         handler: Callable[[Any, Any], Future]) -> None:
    """
    Offer a service that answers later, and doesn't hold up the executor until then.

    `EventsExecutor` awaits nothing: it sends what the handler returns, so the service itself has
    to wait.

    :param node: The node.
    :param service_type: Its type.
    :param name: Its name.
    :param handler: Gets the request and an empty response; returns a future of the response.
    """
    service: Any = node.create_service(service_type, name, handler)
    send_response = service.send_response

    def send_when_done(answer: Future, header: Any) -> None:
        answer.add_done_callback(lambda answer: send_response(answer.result(), header))

    service.send_response = send_when_done


def _trigger(action: Callable[[], Any], node: Any) -> Callable[..., Trigger.Response]:
    return lambda request, response: _act(response, action, node)


def _act(response: Any, action: Callable[[], Any], node: Any) -> Any:
    """Act, and say what came of it."""
    try:
        action()
    except SprDynamicsError as error:
        return _answer(response, error, node)
    return _answer(response, None, node)


def _answer(response: Any, failure: SprDynamicsError | None, node: Any) -> Any:
    """Say where the simulation is now, or what was wrong."""
    response.success = failure is None
    response.message = str(failure) if failure is not None else \
        f'{"paused" if node.is_paused else "running"} at {node.simulation.time:.9g} s'
    return response
