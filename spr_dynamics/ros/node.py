"""The node ``simulation``: parameters in, steps on a timer, messages out."""
from collections.abc import Callable
import time
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from spr_dynamics.errors import SimulationDiverged
from spr_dynamics.ros.commands import CommandRefused, expiry_step
from spr_dynamics.ros.parameters import Parameters, Value
from spr_dynamics.ros.publications import Publications
from spr_dynamics.ros.schedule import Pacer
from spr_dynamics.ros.streams import Source

SHORTEST_TICK = 0.001  # [s] below, the executor costs more than the steps
LONGEST_TICK = 0.01  # [s] how long a command may wait for a slow simulation
TICK_BUDGET_NS = 20_000_000  # [ns] after this, commands and services get their turn
LARGEST_BATCH = 100  # steps in one call, so that a tick can keep to its budget
QUIET_TIME_NS = 5_000_000_000  # [ns] between two warnings of the same kind
GREETING_PERIOD = 0.2  # [s] how long a new listener waits while time stands still
COMMAND_QOS = QoSProfile(depth=10)  # two controllers may each command some of the joints


class SimulationNode(Node):
    """Steps a robot in simulated time; everything runs in one thread, so nothing is locked."""

    def __init__(self, **node_arguments: Any) -> None:
        """
        Load the robot and make the topics; `start` sets it going.

        :param node_arguments: Passed on to `rclpy.node.Node`.
        :raises SprDynamicsError: If the robot or a parameter can't be used.
        """
        super().__init__('simulation', **node_arguments)
        self._settings = Parameters(self, self._parameter_overrides)
        # imported here, so that other nodes are discovered while the kernels are loaded
        from spr_dynamics.ros.loading import load_simulation
        self.simulation, self._commands, self._sensor_parameters = load_simulation(self._settings)
        self._command_end: int | None = None
        self._told_limits: set[int] = set()
        self._warned_ns: dict[str, int] = {}
        self._pacer = Pacer(self.simulation.dt_ns)
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Timer | None = None
        self._publications = Publications(
            Source(self, self.simulation, self._settings), self._sensor_parameters.topics)
        self._listen()
        self._settings.watch(self._check_parameters, self._apply_parameters)

    def start(self) -> None:
        """Say what was loaded, publish the first state, and step unless paused."""
        for warning in (*self.simulation.model.warnings, *self.simulation.warnings,
                        *self._settings.unknown()):
            self.get_logger().warning(warning)
        self.get_logger().info(self._summary())
        self._publications.publish_now()
        self.create_timer(GREETING_PERIOD, lambda: self._publications.greet(self.is_paused),
                          clock=self._steady_clock)
        self._run()

    # start-up

    def _listen(self) -> None:
        self.create_subscription(JointState, 'joint_commands', self._on_joint_commands,
                                 COMMAND_QOS)
        self.create_subscription(Float64MultiArray, 'effort_commands', self._on_effort_commands,
                                 COMMAND_QOS)
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        self.create_service(Trigger, '~/reset', self._on_reset)

    def _summary(self) -> str:
        model, value = self.simulation.model, self._settings.value
        factor = value('real_time_factor')
        rows = [f'{value("robot") or model.name}: step {self.simulation.dt * 1e3:g} ms, '
                + (f'real-time factor {factor:g}' if factor else 'as fast as it can')
                + (', paused' if value('paused') else '')]
        rows += [f'  free root  {root.name}' for root in model.free_roots]
        limit = dict(zip(model.dof_names, model.effort_limit[model.dof_v].tolist()))
        rows += [f'  joint      {name}  (effort up to {limit[name]:g})'
                 for name in model.dof_names]
        rows += [f'  sensor     {sensor.topic}  (on {self.simulation.sensors[name].settings.link})'
                 for name, sensor in self._publications.sensors.by_name.items()]
        rows += [f'  sensor     {sensor.topic}  (on {sensor.mount})'
                 for sensor in self._publications.samples]
        return '\n'.join(rows)

    # time

    @property
    def is_paused(self) -> bool:
        """Whether simulated time stands still."""
        return self._timer is None

    def _run(self) -> None:
        """Step on a timer, or don't, as the parameters say now."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None
        if self._settings.value('paused'):
            return
        factor = self._settings.value('real_time_factor')
        period = self.simulation.dt / factor if factor else SHORTEST_TICK
        self._timer = self.create_timer(min(max(period, SHORTEST_TICK), LONGEST_TICK),
                                        self._tick, clock=self._steady_clock)
        self._pacer.restart(time.monotonic_ns(), self.simulation.step_count, factor)

    def _tick(self) -> None:
        """Take the steps that are due, each with its messages."""
        now_ns = time.monotonic_ns()
        overruns = self._pacer.overruns
        due = self._pacer.steps_due(now_ns, self.simulation.step_count)
        if self._pacer.overruns > overruns:
            self._warn('overrun', 'simulated time falls behind the clock: '
                       f'{self._pacer.lost_ns * 1e-9:.3f} s lost in {self._pacer.overruns} '
                       'overruns (a smaller real_time_factor or a larger dt would help)')
        end = self.simulation.step_count + due
        while (left := end - self.simulation.step_count) > 0:
            n = min(left, LARGEST_BATCH, self._publications.steps_until_due())
            if not self._advance(n) or time.monotonic_ns() - now_ns > TICK_BUDGET_NS:
                return

    def _advance(self, n: int) -> bool:
        """Take n steps at most and publish what is due; return whether that went well."""
        if self._command_end is not None:
            left = self._command_end - self.simulation.step_count
            if left <= 0:
                self._drop_command()
            else:
                n = min(n, left)
        try:
            self.simulation.step(self._commands.efforts, n)
        except SimulationDiverged as error:
            self.get_logger().error(f'{error}; paused (~/reset goes back to the start, '
                                    '~/pause with data false runs on)')
            self.set_parameters([Parameter('paused', value=True)])
            return False
        self._publications.publish_due()
        return True

    # commands

    def _on_joint_commands(self, msg: JointState) -> None:
        self._take('joint_commands', self._commands.set_by_name, msg.name, msg.effort)

    def _on_effort_commands(self, msg: Float64MultiArray) -> None:
        self._take('effort_commands', self._commands.set_in_order, msg.data)

    def _take(self, topic: str, command: Callable[..., None], *arguments: Any) -> None:
        try:
            command(*arguments)
        except CommandRefused as error:
            self._warn(f'{topic}: {error}', f'{topic} refused: {error}')
            return
        self._command_end = expiry_step(
            self.simulation.step_count, self._settings.value('command_timeout'),
            self.simulation.dt)
        limit = self.simulation.model.effort_limit
        for entry in sorted(self._commands.above(limit) - self._told_limits):
            self._told_limits.add(entry)
            self.get_logger().warning(
                f'{topic}: the effort {self._commands.efforts[entry]:g} for joint '
                f'{self._dof_name(entry)!r} is above its limit; {limit[entry]:g} acts '
                '(said once for this joint)')

    def _drop_command(self) -> None:
        self._commands.clear()
        self._command_end = None
        self._warn('command_timeout', 'no command for '
                   f'{self._settings.value("command_timeout"):g} s: efforts are zero now')

    def _dof_name(self, entry: int) -> str:
        model = self.simulation.model
        return model.dof_names[model.dof_v.tolist().index(entry)]

    # services

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.set_parameters([Parameter('paused', value=request.data)])
        response.success = True
        response.message = f'{"paused" if self.is_paused else "running"} at ' \
                           f'{self.simulation.time:.9g} s'
        return response

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.is_paused:
            response.message = 'the simulation is running; pause it first (~/pause)'
            return response
        response.success = self._advance(1)
        response.message = f'{"at" if response.success else "diverged at"} ' \
                           f'{self.simulation.time:.9g} s'
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.simulation.reset()
        self._commands.clear()
        self._command_end = None
        self._publications.publish_now()
        self._run()
        response.success = True
        response.message = f'at 0 s, {"paused" if self.is_paused else "running"}'
        return response

    # parameters

    def _check_parameters(self, values: dict[str, Value]) -> None:
        self._changed_sensors(values)

    def _apply_parameters(self, values: dict[str, Value]) -> None:
        for name, settings in self._changed_sensors(values).items():
            self.simulation.sensors[name].settings = settings
        if 'gravity' in values:
            self.simulation.gravity = values['gravity']
        self._publications.set_rates(values)
        if 'real_time_factor' in values or values.get('paused', self.is_paused) != self.is_paused:
            self._run()

    def _changed_sensors(self, values: dict[str, Value]) -> dict[str, Any]:
        return self._sensor_parameters.changed(
            values, {name: sensor.settings for name, sensor in self.simulation.sensors.items()})

    # log

    def _warn(self, kind: str, text: str) -> None:
        """Log a warning, unless one of its kind was logged a moment ago."""
        now_ns = time.monotonic_ns()
        self._warned_ns = {known: at for known, at in self._warned_ns.items()
                           if now_ns - at < QUIET_TIME_NS}
        if kind not in self._warned_ns:
            self._warned_ns[kind] = now_ns
            self.get_logger().warning(text)
