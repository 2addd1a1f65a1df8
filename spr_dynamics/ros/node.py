"""The node ``simulation``: parameters in, steps on a timer, messages out."""
from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from spr_dynamics.errors import SimulationDiverged, SprDynamicsError
from spr_dynamics.ros import convert
from spr_dynamics.ros.commands import BY_NAME, CommandRefused, IN_ORDER
from spr_dynamics.ros.complaints import Complaints
from spr_dynamics.ros.diagnostics import Diagnostics
from spr_dynamics.ros.executable import StopRequest
from spr_dynamics.ros.multi_step import Ending, MultiStep, Progress
from spr_dynamics.ros.parameters import Parameters, Value
from spr_dynamics.ros.publications import Publications
from spr_dynamics.ros.pushes import Pushes
from spr_dynamics.ros.report import report
from spr_dynamics.ros.resources import expanded
from spr_dynamics.ros.schedule import NEVER, Pacer
from spr_dynamics.ros.services import make_services
from spr_dynamics.ros.standard_services import make_standard_services
from spr_dynamics.ros.stepper import Stepper
from spr_dynamics.ros.streams import Source

SHORTEST_TICK = 0.001  # [s] below, the executor costs more than the steps
LONGEST_TICK = 0.01  # [s] how long a command may wait for a slow simulation
LONGEST_WAIT_NS = 20_000_000  # [ns] what a flood of messages may delay a tick
TICK_BUDGET_NS = 20_000_000  # [ns] after this, commands and services get their turn
GREETING_PERIOD = 0.2  # [s] how long a new listener waits while time stands still
REMINDER_PERIOD = 0.1  # [s] how long lock_step waits for a command before it asks again
PUSHES = 'external_wrench'
COMMAND_QOS = QoSProfile(depth=10)  # two controllers may each command some of the joints


class SimulationNode(Node):
    """Steps a robot in simulated time; everything runs in one thread, so nothing is locked."""

    def __init__(self, stop: StopRequest, **node_arguments: Any) -> None:
        """
        Load the robot and make the topics; `start` sets it going.

        :param stop: Whether the executable is asked to stop: many steps at once heed it.
        :param node_arguments: Passed on to `rclpy.node.Node`.
        :raises SprDynamicsError: If the robot or a parameter can't be used.
        """
        super().__init__('simulation', **node_arguments)
        stop.farewell = super().destroy_node  # or others would see it for 20 s more
        stop.answer = self._answer_who_waits
        self._stop = stop
        self.parameters = Parameters(self, self._parameter_overrides)
        # imported here, so that other nodes are discovered while the kernels are loaded
        from spr_dynamics.ros.loading import load_simulation
        loaded = load_simulation(self.parameters)
        self.simulation, self.commands, self._sensor_parameters, self.period = loaded
        self.failure = ''
        """Why the last step failed; empty if it did not, or time runs again."""
        self._told_limits: set[int] = set()
        self._is_reminded = False
        self.complaints = Complaints(self.get_logger())
        self.pacer = Pacer(self.simulation.dt_ns)
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Timer | None = None
        self._ticked_ns = 0
        self.is_paused = self.parameters.value('paused')
        """Whether simulated time stands still, but for the steps of `multi_step`."""
        self.multi_step = MultiStep()
        """The steps that a service has asked for."""
        source = Source(self, self.simulation, self.parameters)
        self.pushes = Pushes(self.simulation, {
            name: source.frames.link(name) for name in self.simulation.model.link_names})
        self._listen()
        self._diagnostics = Diagnostics(self)
        self.publications = Publications(source, self._sensor_parameters.topics)
        self._stepper = Stepper(self.simulation, self.commands, self.pushes, self.publications,
                                self.complaints)
        self._set_timeout()
        make_services(self)
        make_standard_services(self)
        self.parameters.watch(self._check_parameters, self._apply_parameters)

    def start(self) -> None:
        """Say what was loaded, publish the first state, and step unless paused."""
        for warning in (*self.simulation.model.warnings, *self.simulation.warnings,
                        *self.parameters.unknown()):
            self.get_logger().warning(warning)
        self.publications.publish_now()
        self.get_logger().info(report(self))
        self._diagnostics.begin()
        self._every(GREETING_PERIOD, lambda: self.publications.greet(self.is_still))
        self._every(Diagnostics.PERIOD, self._diagnostics.tell)
        self._run()

    def _listen(self) -> None:
        self.inputs = {topic: self.create_subscription(message_type, topic, callback, COMMAND_QOS)
                       for message_type, topic, callback in (
                           (JointState, BY_NAME, self._on_joint_commands),
                           (Float64MultiArray, IN_ORDER, self._on_effort_commands),
                           (WrenchStamped, PUSHES, self._on_external_wrench))}

    def _every(self, period: float, callback: Callable[[], None]) -> Timer:
        return self.create_timer(period, callback, clock=self._steady_clock)

    # time

    @property
    def is_in_lock_step(self) -> bool:
        """Whether time waits for commands."""
        return self.period is not None

    @property
    def is_still(self) -> bool:
        """Whether simulated time stands still, or waits for a command."""
        return self.is_in_lock_step or self.is_paused and not self.multi_step.is_active

    def _run(self) -> None:
        """Step on a timer, or wait for commands, or don't, as the parameters say now."""
        self._stop_timer()
        self.is_paused = self.parameters.value('paused')
        if self.is_paused:
            self.publications.catch_up()
            return
        self.failure = ''
        if self.is_in_lock_step:
            self._timer = self._every(REMINDER_PERIOD, self._remind)
            return
        factor = self.parameters.value('real_time_factor')
        self._timer = self._every(self._tick_period(factor), self._tick)
        self.pacer.restart(time.monotonic_ns(), self.simulation.step_count, factor)

    def _tick_period(self, factor: float) -> float:
        """Return how often to look for steps that are due [s of wall time]."""
        period = self.simulation.dt / factor if factor else SHORTEST_TICK
        return min(max(period, SHORTEST_TICK), LONGEST_TICK)

    def _change_pace(self, factor: float) -> None:
        """Let time pass faster or slower from here on."""
        if self._timer is not None and not self.is_in_lock_step and not self.is_paused:
            self.pacer.change_pace(time.monotonic_ns(), self.simulation.step_count, factor)
            self._timer.timer_period_ns = round(self._tick_period(factor) * 1e9)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None

    def _tick(self) -> None:
        """Take the steps that are due, each with its messages."""
        if self.is_paused or self._stop.is_made:  # the timer had fired already
            return
        now_ns = time.monotonic_ns()
        overruns = self.pacer.overruns
        due = self.pacer.steps_due(now_ns, self.simulation.step_count)
        if self.pacer.overruns > overruns:
            self.complaints.add('overrun', lambda: (
                'simulated time falls behind the clock: '
                f'{self.pacer.lost_ns * 1e-9:.3f} s lost in {self.pacer.overruns} overruns (a '
                'smaller real_time_factor or a larger dt would help)'))
        try:
            self._stepper.take_for(TICK_BUDGET_NS, due)
        except SimulationDiverged as error:
            self._stop_at(error)
        self._ticked_ns = time.monotonic_ns()

    def _keep_pace(self) -> None:
        """Take the steps that are due, if messages keep the timer from its turn."""
        if self._timer is not None and not self.is_in_lock_step and \
                time.monotonic_ns() - self._ticked_ns > LONGEST_WAIT_NS:
            self._tick()

    def _stop_at(self, error: SimulationDiverged) -> None:
        """Pause where a step failed."""
        self.set_paused(True)
        self._tell_failure(error)

    def _tell_failure(self, error: SimulationDiverged) -> None:
        self.failure = str(error)
        self.get_logger().error(f'{error}; paused (~/reset goes back to the start, '
                                '~/pause with data false runs on)')

    def _take_period(self) -> None:
        """Advance by what a command is good for in lock step, and show the state after it."""
        assert self.period is not None
        try:
            self._stepper.take(self.period)
        except SimulationDiverged as error:
            self._stop_at(error)
        self.publications.joint_states.catch_up(self.simulation.step_count)
        self._is_reminded = True

    def _remind(self) -> None:
        """Show the state again to a controller that came late, or lost a message."""
        if not (self._is_reminded or self.is_paused):
            self.publications.joint_states.publish()
        self._is_reminded = False

    # commands

    def _on_joint_commands(self, msg: JointState) -> None:
        self._keep_pace()
        if self.is_in_lock_step:
            stamp_ns = convert.ns_from_stamp(msg.header.stamp)
            if self._is_in_between(stamp_ns):
                return
            if stamp_ns != self.simulation.time_ns:
                self.complaints.add(f'{BY_NAME}: stamp', lambda: (
                    f'{BY_NAME} ignored: its stamp {stamp_ns * 1e-9:.9g} s is not that of the '
                    f'newest joint_states, {self.simulation.time:.9g} s (lock_step)'))
                return
        if len(msg.position) or len(msg.velocity):
            self.get_logger().warning(
                f'{BY_NAME}: positions and velocities in it are ignored; this simulation takes '
                'efforts (said once)', once=True)
        is_taken = self._take(BY_NAME, self.commands.set_by_name, msg.name, msg.effort)
        if is_taken and self.is_in_lock_step and not self.is_paused:
            self._take_period()

    def _is_in_between(self, stamp_ns: int) -> bool:
        """Return whether an answer is to a state in the midst of the last control period."""
        assert self.period is not None
        age_ns = self.simulation.time_ns - stamp_ns
        return 0 < age_ns < self.period * self.simulation.dt_ns

    def _on_effort_commands(self, msg: Float64MultiArray) -> None:
        self._keep_pace()
        if self.is_in_lock_step:
            self.complaints.add(f'{IN_ORDER}: lock step', lambda: (
                f'{IN_ORDER} refused: lock_step needs commands with a stamp, so use {BY_NAME}'))
            return
        self._take(IN_ORDER, self.commands.set_in_order, msg.data)

    def _take(self, topic: str, command: Callable[..., None], *arguments: Any) -> bool:
        """Take a command, or say why not; return whether it was taken."""
        try:
            command(*arguments, self.simulation.step_count)
        except CommandRefused as error:
            self._refuse(topic, error)
            return False
        limit = self.simulation.model.effort_limit
        for entry in sorted(self.commands.above(limit) - self._told_limits):
            self._told_limits.add(entry)
            self.get_logger().warning(
                f'{topic}: the effort {self.commands.efforts[entry]:g} for joint '
                f'{self._dof_name(entry)!r} is above its limit; {limit[entry]:g} acts '
                '(said once for this joint)')
        return True

    def _refuse(self, topic: str, error: CommandRefused) -> None:
        self.complaints.add(f'{topic}: {error.kind}', lambda: f'{topic} refused: {error}')

    def _on_external_wrench(self, msg: WrenchStamped) -> None:
        self._keep_pace()
        duration = self.parameters.value('external_wrench_duration')
        steps = max(1, round(duration / self.simulation.dt)) if duration else NEVER
        force, torque = msg.wrench.force, msg.wrench.torque
        try:
            self.pushes.put(
                msg.header.frame_id, np.array([force.x, force.y, force.z]),
                np.array([torque.x, torque.y, torque.z]), self.simulation.step_count + steps)
        except CommandRefused as error:
            self._refuse(PUSHES, error)

    def _dof_name(self, entry: int) -> str:
        model = self.simulation.model
        return model.dof_names[model.dof_v.tolist().index(entry)]

    # what services do

    def set_paused(self, is_paused: bool) -> None:
        """
        Let time stand still, or run on.

        :param is_paused: Whether it stands still.
        """
        self.set_parameters([Parameter('paused', value=is_paused)])

    def take_steps(self, n: int, on_end: Ending, on_progress: Progress | None = None) -> None:
        """
        Take n steps while paused, as fast as it can, while everything else gets its turn.

        The state is shown at their end. It is the same as after n single steps, if nothing comes
        in between.

        :param n: How many.
        :param on_end: Called at their end, or now if no step can be taken. Its argument is why
            there are fewer than n: the simulation is running, or is taking the steps of another
            request; a step failed; time was let run on, stopped or set back meanwhile.
        :param on_progress: Called now and then, as `MultiStep` says.
        """
        if not self.is_paused:
            on_end(SprDynamicsError('the simulation is running; pause it first (~/pause)'))
        elif self.multi_step.is_active:
            on_end(SprDynamicsError(
                f'another request is on: {self.multi_step.completed} of {self.multi_step.wanted} '
                'steps are taken; wait for its end, or pause (~/pause) to end it here'))
        else:
            self.multi_step.begin(n, on_end, on_progress)
            self._take_more_steps()
            if self.multi_step.is_active:
                self._timer = self._every(SHORTEST_TICK, self._take_more_steps)

    def end_steps(self, by: str) -> None:
        """
        Take no more steps of a request, show the state, and go on as the parameters say.

        :param by: What comes in between.
        """
        self._run()
        self.multi_step.interrupt(by)

    def _take_more_steps(self) -> None:
        """Take steps of a request for a while, and answer it after the last one."""
        steps = self.multi_step
        if not steps.is_active or self._stop.is_made:  # the timer had fired already
            return
        begin = self.simulation.step_count
        failure = None
        try:
            self._stepper.take_for(TICK_BUDGET_NS, steps.remaining)
        except SimulationDiverged as error:
            failure = error
        steps.completed += self.simulation.step_count - begin
        if failure is not None:
            self._tell_failure(failure)
        else:
            steps.tell_progress()
            if steps.remaining:
                return
            self.failure = ''
        self._stop_timer()
        self.publications.catch_up()
        if failure is None:
            steps.end()
        else:
            steps.fail(failure)

    def _answer_who_waits(self) -> bool:
        """End a request for steps, as the simulation ends; return whether there was one."""
        was_active = self.multi_step.is_active
        self.multi_step.interrupt('the end of the simulation')
        return was_active

    def destroy_node(self) -> None:
        """Answer who waits for steps, and leave."""
        self._answer_who_waits()
        super().destroy_node()

    def reset(self) -> None:
        """Go back to the start, without commands."""
        self.simulation.reset()
        self.commands.clear()
        self._told_limits.clear()
        self._start_from_here()

    def save_state(self, path: str) -> None:
        """
        Write the state into a file.

        :param path: The file; an old one is replaced when the new one is complete.
        :raises SprDynamicsError: If there is no path, or it can't be written.
        """
        file = _state_file(path)
        unfinished = file.with_name(f'{file.name}.{os.getpid()}')
        try:
            unfinished.write_bytes(self.simulation.save())
            unfinished.replace(file)
        except OSError as error:
            with suppress(OSError):  # what kept it from being written keeps it from being removed
                unfinished.unlink(missing_ok=True)
            raise SprDynamicsError(f'state_file: {file}: {error.strerror}') from None

    def load_state(self, path: str) -> None:
        """
        Go back to a saved state; the efforts that acted in it hold as commands that came now.

        :param path: The file.
        :raises SprDynamicsError: If it can't be read, or is the state of another simulation.
        """
        file = _state_file(path)
        try:
            self.simulation.restore(file.read_bytes())
        except OSError as error:
            raise SprDynamicsError(f'state_file: {file}: {error.strerror}') from None
        self.commands.put_back(self.simulation.effort, self.simulation.step_count)
        self.parameters.put({'gravity': self.simulation.gravity.tolist(),
                             **self._sensor_parameters.values(self.simulation.sensors)})
        self._start_from_here()

    def _start_from_here(self) -> None:
        """Go on after time has jumped."""
        self.pushes.clear()
        self.failure = ''
        self.publications.publish_now()
        self.end_steps('~/reset or ~/load_state')

    # parameters

    def _check_parameters(self, values: dict[str, Value]) -> None:
        self._changed_sensors(values)

    def _apply_parameters(self, values: dict[str, Value]) -> None:
        for name, settings in self._changed_sensors(values).items():
            self.simulation.sensors[name].settings = settings
        if 'gravity' in values:
            self.simulation.gravity = values['gravity']
        self.publications.set_rates(values)
        if 'command_timeout' in values:
            self._set_timeout()
        if 'paused' in values and self.multi_step.is_active:
            self.end_steps('~/pause')
        elif values.get('paused', self.is_paused) != self.is_paused:
            self._run()
        elif 'real_time_factor' in values:
            self._change_pace(values['real_time_factor'])

    def _set_timeout(self) -> None:
        self.commands.set_timeout(self.parameters.value('command_timeout'), self.simulation.dt)

    def _changed_sensors(self, values: dict[str, Value]) -> dict[str, Any]:
        return self._sensor_parameters.changed(
            values, {name: sensor.settings for name, sensor in self.simulation.sensors.items()})


def _state_file(path: str) -> Path:
    if not path:
        raise SprDynamicsError('state_file: no file named (ros2 param set NODE state_file FILE)')
    try:
        file = expanded(path)
    except SprDynamicsError as error:
        raise SprDynamicsError(f'state_file: {error}') from None
    if not file.name or os.path.exists(file) and not file.is_file():  # a pipe never ends
        raise SprDynamicsError(f'state_file: {path}: the name of a file expected')
    return file
