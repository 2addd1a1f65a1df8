"""The node as a subprocess or in this process, and a client that talks to it over DDS."""
from contextlib import contextmanager
from itertools import count
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from rcl_interfaces.srv import GetParameterTypes  # noqa: E402
from rclpy.event_handler import SubscriptionEventCallbacks  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from rclpy.signals import SignalHandlerOptions  # noqa: E402
from rclpy.task import Future  # noqa: E402

MODULE = 'spr_dynamics.ros.simulation_node'
PATIENCE = 60.0  # [s] a cold cache compiles the kernels first
NAMES = count()
KEEP_ALL = QoSProfile(depth=20_000)  # no message of a test is lost in a queue
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)


class NodeProcess:
    """The simulation in a process, a session and a namespace of its own."""

    participants = {}  # by namespace, None until the first client comes

    def __init__(self, folder, *, namespace=None, params_file=None, **parameters):
        """Start it; values of parameters are written as YAML."""
        self.namespace = namespace or self.next_namespace()
        self.participants.setdefault(self.namespace)
        self.log_path = folder / f'log{self.namespace[1:]}.txt'
        command = [sys.executable, '-m', MODULE, '--ros-args', '-r', f'__ns:={self.namespace}']
        if params_file is not None:
            command += ['--params-file', str(params_file)]
        for name, value in parameters.items():
            command += ['-p', f'{name}:={value}']
        with self.log_path.open('w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, 'ROS_PYTHON_CHECK_FIELDS': '1'})

    @classmethod
    def participant(cls, namespace):
        """Return what all clients of the simulation in a namespace share."""
        if cls.participants[namespace] is None:
            cls.participants[namespace] = Participant()
        return cls.participants[namespace]

    @staticmethod
    def next_namespace():
        """Return a namespace that no other test uses."""
        return f'/test{next(NAMES)}'

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        participant = self.participants.pop(self.namespace, None)
        if participant:
            participant.leave()

    @property
    def log(self):
        """Return what it has printed so far."""
        return self.log_path.read_text(encoding='utf-8')

    def exit_code(self, patience=PATIENCE):
        """Wait for its end."""
        return self.process.wait(patience)


@contextmanager
def node_here(**parameters):
    """Make the simulation in this process, in a namespace of its own; it isn't started."""
    from spr_dynamics.ros.node import SimulationNode
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    stop = SimpleNamespace(is_made=False, farewell=None)
    try:
        yield SimulationNode(stop, context=context, namespace=NodeProcess.next_namespace(),
                             parameter_overrides=[Parameter(name, value=value)
                                                  for name, value in parameters.items()])
    finally:
        stop.farewell()
        context.try_shutdown()


class Participant:
    """
    What DDS sees of a client: simulation and client find each other once, which may take 3 s.

    Fast DDS drops the answer of who is there to who comes, if it's quick, and says no more for
    3 s. So this one comes after the simulation was started, and stays for as long.
    """

    def __init__(self):
        """Join the graph."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node('participant', context=self.context)  # keeps it there

    def leave(self):
        """Leave the graph."""
        self._node.destroy_node()
        self.context.try_shutdown()


class Client:
    """A node of the test, beside the simulation."""

    def __init__(self, namespace):
        """Join the graph, as one participant with all other clients of a simulation."""
        self._own = None if namespace in NodeProcess.participants else Participant()
        context = (self._own or NodeProcess.participant(namespace)).context
        self.node = rclpy.create_node('client', namespace=namespace, context=context)
        self.executor = EventsExecutor(context=context)
        self.executor.add_node(self.node)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.executor.remove_node(self.node)
        self.node.destroy_node()
        if self._own:
            self._own.leave()

    def spin(self, seconds):
        """Let messages come in for a while."""
        self.executor.spin_until_future_complete(Future(), timeout_sec=seconds)

    def listen(self, message_type, topic, qos=KEEP_ALL):
        """Return a list that grows with each message."""
        messages = []
        self.node.create_subscription(
            message_type, topic, messages.append, qos,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False))
        return messages

    def wait_until(self, condition, patience=PATIENCE):
        """Let messages come in until a condition holds."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f'waited {patience} s in vain'
            self.spin(0.005)

    def call(self, service_type, name, **fields):
        """Call a service of the simulation and return its response."""
        client = self.node.create_client(service_type, name)
        self.wait_until(client.service_is_ready)
        self.be_known(to=name.rpartition('/')[0])
        answer = client.call_async(service_type.Request(**fields))
        self.executor.spin_until_future_complete(answer, timeout_sec=PATIENCE)
        self.node.destroy_client(client)
        assert answer.done(), f'no answer from {name}'
        return answer.result()

    def publisher(self, message_type, topic):
        """Return a publisher that has found the simulation, and is found."""
        publisher = self.node.create_publisher(message_type, topic, 10)
        self.wait_until(lambda: publisher.get_subscription_count() > 0)
        self.be_known()
        return publisher

    def be_known(self, to='simulation'):
        """
        Wait until a node has heard of all that was made here.

        What it has not heard of yet, it does not hear, and does not answer either (known as pull
        request 418 of ros2/rmw_fastrtps). It hears of things in the order in which they were made,
        so it knows all of them when it answers the newest.
        """
        newest = self.node.create_client(GetParameterTypes, f'{to}/get_parameter_types')
        self.wait_until(newest.service_is_ready)
        self.wait_until(lambda: self._is_answered(newest))
        self.node.destroy_client(newest)

    def _is_answered(self, client, patience=1.0):
        answer = client.call_async(client.srv_type.Request())
        self.executor.spin_until_future_complete(answer, timeout_sec=patience)
        return answer.done()

    def send(self, publisher, message):
        """Publish, and give the simulation time to take it (an acknowledgement takes 3 s)."""
        publisher.publish(message)
        self.spin(0.1)


def time_ns(stamp):
    """Return a stamp as integer nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


PENDULUM = """
<sdf version='1.9'>
  <model name='pendulum'>
    <link name='bob'>
      <inertial>
        <pose>0 0 -1 0 0 0</pose>
        <mass>2</mass>
        <inertia>
          <ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>
        </inertia>
      </inertial>
    </link>
    <joint name='swing' type='continuous'>
      <parent>world</parent>
      <child>bob</child>
      <axis><xyz>1 0 0</xyz></axis>
    </joint>
  </model>
</sdf>
"""
PENDULUM_INERTIA = 0.1 + 2.0 * 1.0 ** 2  # [kg m^2] about the axis


def twins(*, effort_limit=100.0):
    """Return a robot of two wheels that don't feel each other, of 1 kg m^2 each."""
    wheel = """
    <link name='{name}_wheel'>
      <inertial>
        <mass>1</mass>
        <inertia>
          <ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>
        </inertia>
      </inertial>
    </link>
    <joint name='{name}' type='continuous'>
      <parent>world</parent>
      <child>{name}_wheel</child>
      <axis><xyz>0 0 1</xyz><limit><effort>{limit}</effort></limit></axis>
    </joint>"""
    wheels = ''.join(wheel.format(name=name, limit=effort_limit) for name in ('left', 'right'))
    return f"<sdf version='1.9'><model name='twins'>{wheels}</model></sdf>"
