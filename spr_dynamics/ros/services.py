"""The services of the node that need no package but std_srvs."""
from collections.abc import Callable
from typing import Any

from std_srvs.srv import SetBool, Trigger

from spr_dynamics.errors import SprDynamicsError


def make_services(node: Any) -> None:
    """
    Offer ``~/pause``, ``~/step``, ``~/reset``, ``~/save_state`` and ``~/load_state``.

    :param node: The `SimulationNode`.
    """
    def pause(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return _answer(response, lambda: node.set_paused(request.data), node)

    node.create_service(SetBool, '~/pause', pause)
    for name, action in (
            ('step', lambda: node.take_steps(node.parameters.value('step_count'))),
            ('reset', node.reset),
            ('save_state', lambda: node.save_state(node.parameters.value('state_file'))),
            ('load_state', lambda: node.load_state(node.parameters.value('state_file')))):
        node.create_service(Trigger, f'~/{name}', _trigger(action, node))


def _trigger(action: Callable[[], Any], node: Any) -> Callable[..., Trigger.Response]:
    return lambda request, response: _answer(response, action, node)


def _answer(response: Any, action: Callable[[], Any], node: Any) -> Any:
    """Act, and say what came of it: where the simulation is now, or what was wrong."""
    try:
        action()
        response.success = True
        response.message = f'{"paused" if node.is_paused else "running"} at ' \
                           f'{node.simulation.time:.9g} s'
    except SprDynamicsError as error:
        response.success, response.message = False, str(error)
    return response
