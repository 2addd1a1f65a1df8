"""
One command, a moving robot: the shipped arm taps the ground with its fingertip.

The simulation and a small controller run in one process and talk over ROS topics, as they would
in two: ``python -m spr_dynamics.ros.demo``.
"""
import math
import time

from spr_dynamics.ros.executable import run, StopRequest

# joint1 to joint7 [rad]: finger down above the ground, and how far to move to press on it
REST = (0.0, 0.3, 0.0, -2.0, 0.0, 0.84, 0.0)
PRESS = (0.0, 0.45, 0.0, 0.0, 0.0, -0.45, 0.0)
SWING = (0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
TAP_PERIOD = 4.0  # [s]
STIFFNESS = 144.0  # [1/s^2] of the pull towards the pose, critically damped
DAMPING = 24.0  # [1/s]

INTRODUCTION = """
A 7-joint arm taps the ground: left, right, left. A line a second follows; a terminal with ROS 2
shows more:
  ros2 topic echo /joint_states                             position, velocity, effort
  ros2 topic echo /contact_sensors/fingertip/wrench         force on the fingertip, its own frame
  ros2 topic echo /contact_sensors/fingertip/contact        is there contact?
  ros2 topic echo /clock                                    simulated time
  ros2 topic hz   /joint_commands                           the controller of this demo
  ros2 service call /simulation/pause std_srvs/srv/SetBool "{data: true}"
  ros2 param set /simulation contact_sensors.fingertip.force_saturation "[5.0, 5.0, 5.0]"
Ctrl-C stops it.
"""


def target(t: float) -> list[float]:
    """
    Return the joint positions to be at.

    :param t: Simulated time [s].
    """
    turn = 2.0 * math.pi * t / TAP_PERIOD
    press = 0.5 - 0.5 * math.cos(turn)
    swing = math.sin(0.5 * turn)
    return [rest + press * down + swing * aside
            for rest, down, aside in zip(REST, PRESS, SWING)]


def main(args: list[str] | None = None) -> None:
    """
    Run the demo until Ctrl-C.

    :param args: The command line; None is that of the process.
    """
    stop = StopRequest()
    print('loading arm7 (the very first start compiles, which takes a minute)', flush=True)
    run('demo', _nodes, stop, args)


def _nodes(stop: StopRequest) -> list:
    from rclpy.parameter import Parameter
    from spr_dynamics.ros.node import SimulationNode
    simulation = SimulationNode(stop, parameter_overrides=[
        Parameter('robot', value='arm7'), Parameter('world', value='ground'),
        Parameter('initial_positions', value=list(REST))])
    demo = make_demo_node(simulation.simulation.model)
    print(INTRODUCTION, flush=True)
    return [simulation, demo]


def make_demo_node(model):
    """
    Return a node that controls the arm and prints a line a second.

    :param model: The arm, for its inverse dynamics.
    """
    from geometry_msgs.msg import WrenchStamped
    import numpy as np
    from rclpy.clock import Clock, ClockType
    from rclpy.node import Node
    from sensor_msgs.msg import JointState
    from spr_dynamics.dynamics.passive import passive_forces
    from spr_dynamics.dynamics.rnea import inverse_dynamics

    class DemoNode(Node):
        """Computed torque towards a moving pose, and a status line."""

        def __init__(self):
            super().__init__('demo')
            self._state = None
            self._force = 0.0
            self._last = None
            self._command = JointState()
            self._publisher = self.create_publisher(JointState, 'joint_commands', 1)
            self.create_subscription(JointState, 'joint_states', self._on_state, 1)
            self.create_subscription(
                WrenchStamped, 'contact_sensors/fingertip/wrench', self._on_wrench, 1)

        def start(self):
            self.create_timer(1.0, self._print_status, clock=Clock(
                clock_type=ClockType.STEADY_TIME))

        def _on_state(self, msg):
            self._state = msg
            q, qd = np.array(msg.position), np.array(msg.velocity)
            error = np.array(target(_seconds(msg.header.stamp))) - q
            qdd = STIFFNESS * error - DAMPING * qd
            effort = inverse_dynamics(model, q, qd, qdd) - passive_forces(model, q, qd)
            self._command.header.stamp = msg.header.stamp
            self._command.name = msg.name
            self._command.effort = effort.tolist()
            self._publisher.publish(self._command)

        def _on_wrench(self, msg):
            self._force = msg.wrench.force.z

        def _print_status(self):
            if self._state is None:
                return
            now, t = time.monotonic(), _seconds(self._state.header.stamp)
            if self._last is not None:
                factor = (t - self._last[1]) / (now - self._last[0])
                q = ' '.join(f'{angle:5.2f}' for angle in self._state.position)
                print(f'{t:8.2f} s  real-time factor {factor:.3f}  joints [rad] {q}  '
                      f'fingertip {self._force:6.2f} N', flush=True)
            self._last = now, t

    return DemoNode()


def _seconds(stamp) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


if __name__ == '__main__':
    main()
