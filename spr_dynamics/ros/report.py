"""What the node says when it starts."""
from typing import Any

from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from spr_dynamics.contact.records import DEFAULT_OPTIONS
from spr_dynamics.explain.robot import described, table

SILENT = ('/rosout', '/parameter_events')  # topics that every node has


def report(node: Any) -> str:
    """
    Describe the robot, how it is simulated, and its topics.

    :param node: The `SimulationNode`, ready to start.
    """
    simulation, value = node.simulation, node.parameters.value
    settings = {name: simulation.sensors[name].settings
                for name in node.publications.sensors.by_name}
    return '\n'.join([
        f'{value("robot") or simulation.model.name}: step {simulation.dt * 1e3:g} ms, '
        f'{_pace(node)}{", paused" if value("paused") else ""}',
        described(simulation.model, settings),
        *table(['solver', ''], [
            ('integrator', simulation.integrator),
            ('residual', f'{DEFAULT_OPTIONS.tolerance:g} of the momentum'),
            ('effort', f'{DEFAULT_OPTIONS.budget} factorisations a step at most')]),
        *table(['topic', 'type', ''], _topics(node))])


def _pace(node: Any) -> str:
    if node.is_in_lock_step:
        return f'lock step, {node.period * node.simulation.dt * 1e3:g} ms a command'
    factor = node.parameters.value('real_time_factor')
    return f'real-time factor {factor:g}' if factor else 'as fast as it can'


def _topics(node: Any) -> list[tuple[str, str, str]]:
    """Return name, type and direction of the topics that the node has."""
    at = node.get_name(), node.get_namespace()
    return sorted((name, kind, direction) for direction, found in (
        ('out', node.get_publisher_names_and_types_by_node(*at)),
        ('in', node.get_subscriber_names_and_types_by_node(*at)))
        for name, kinds in found for kind in kinds
        if name not in SILENT and not topic_or_service_is_hidden(name))
