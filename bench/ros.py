"""
Measure the node over DDS: a 1 kHz loop, lock step, and as fast as it can.

The node is a process of its own, the controller is this one.
"""
from collections.abc import Iterator
from contextlib import contextmanager
import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState

ROBOT = 'arm7'
SECONDS = 10.0
TICKS = os.sysconf('SC_CLK_TCK')
FIRST = 60.0  # [s] what a start may take, compiling included


@contextmanager
def running(namespace: str, **parameters) -> Iterator[subprocess.Popen]:
    """Run the node."""
    command = [sys.executable, '-m', 'spr_dynamics.ros.simulation_node', '--ros-args',
               '-r', f'__ns:={namespace}', '-p', f'robot:={ROBOT}']
    for name, value in parameters.items():
        command += ['-p', f'{name}:={value}']
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def processor_time(pid) -> float:
    """Return the seconds that a process has computed."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        fields = file.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Controller:
    """Answers each joint state with a command that it can recognise in the efforts."""

    def __init__(self, namespace: str, period_ns: int) -> None:
        self.node = rclpy.create_node('bench', namespace=namespace)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.period_ns = period_ns
        self.command = JointState()
        self.publisher = self.node.create_publisher(JointState, 'joint_commands', 10)
        self.node.create_subscription(JointState, 'joint_states', self.on_state, 10)
        self.sent: dict[float, tuple[float, int]] = {}
        self.count, self.last_ns = 0, 0
        self.trips: list[float] = []
        self.delays: list[float] = []

    def on_state(self, msg: JointState) -> None:
        """Note what the efforts tell of an earlier command, and send the next."""
        now = time.perf_counter()
        stamp_ns = msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        self.last_ns = stamp_ns
        sent = self.sent.pop(msg.effort[0], None)
        if sent is not None:
            self.trips.append(now - sent[0])
            self.delays.append((stamp_ns - sent[1]) / self.period_ns)
        self.count += 1
        marker = 1e-3 + 1e-9 * self.count
        self.sent[marker] = time.perf_counter(), stamp_ns
        self.command.name = msg.name
        self.command.effort = [marker] * len(msg.name)
        self.command.header.stamp = msg.header.stamp
        self.publisher.publish(self.command)

    def spin(self, seconds: float) -> None:
        """Let messages come in for a while."""
        self.executor.spin_until_future_complete(Future(), timeout_sec=seconds)

    def wait(self) -> None:
        """Wait until the loop is closed."""
        end = time.monotonic() + FIRST
        while not self.trips and time.monotonic() < end:
            self.spin(0.1)
        self.spin(1.0)
        self.sent.clear()
        self.trips.clear()
        self.delays.clear()

    def close(self) -> None:
        """Leave the graph."""
        self.executor.remove_node(self.node)
        self.node.destroy_node()


def percentiles(values) -> str:
    """Say p50, p99 and p99.9."""
    return ' / '.join(f'{value:.3g}' for value in np.percentile(values, [50, 99, 99.9]))


def loop_at_1_khz() -> None:
    """Measure a controller that answers each of a thousand joint states a second."""
    with running('/loop') as process:
        controller = Controller('/loop', 1_000_000)
        controller.wait()
        before, count, stamp = processor_time(process.pid), controller.count, controller.last_ns
        began, mine = time.perf_counter(), time.process_time()
        controller.spin(SECONDS)
        elapsed = time.perf_counter() - began
        print(f'1 kHz loop: {(controller.last_ns - stamp) * 1e-6 / elapsed:.1f} steps/s, '
              f'{(controller.count - count) / elapsed:.1f} joint states/s')
        print(f'  round trip [us], p50 / p99 / p99.9: '
              f'{percentiles(np.array(controller.trips) * 1e6)}')
        print(f'  from a state to its effect [steps], p50 / p99 / p99.9: '
              f'{percentiles(controller.delays)}')
        print(f'  processor: node {(processor_time(process.pid) - before) / elapsed:.0%}, '
              f'controller {(time.process_time() - mine) / elapsed:.0%}')
        controller.close()


def lock_step() -> None:
    """Measure how many control periods a second two processes can do."""
    with running('/lock', lock_step=True) as process:
        controller = Controller('/lock', 1_000_000)
        controller.wait()
        before, stamp = processor_time(process.pid), controller.last_ns
        began, mine = time.perf_counter(), time.process_time()
        controller.spin(SECONDS)
        elapsed = time.perf_counter() - began
        periods = (controller.last_ns - stamp) / 1e6
        print(f'lock step: {periods / elapsed:.0f} control periods/s, '
              f'{elapsed / periods * 1e6:.0f} us each')
        print(f'  processor a period: node '
              f'{(processor_time(process.pid) - before) / periods * 1e6:.0f} us, '
              f'controller {(time.process_time() - mine) / periods * 1e6:.0f} us; '
              'the rest is the way from process to process')
        controller.close()


def as_fast_as_it_can() -> None:
    """Measure simulated time while joint states come at 100 Hz of it."""
    with running('/fast', real_time_factor=0.0, publish_rate=100.0) as process:
        controller = Controller('/fast', 10_000_000)
        controller.wait()
        before, count, stamp = processor_time(process.pid), controller.count, controller.last_ns
        began = time.perf_counter()
        controller.spin(SECONDS)
        elapsed = time.perf_counter() - began
        simulated = (controller.last_ns - stamp) * 1e-9
        print(f'as fast as it can, 1 ms steps, joint states at 100 Hz: {simulated / elapsed:.0f} '
              f'times real time, {(controller.count - count) / elapsed:.0f} messages/s, '
              f'node {(processor_time(process.pid) - before) / elapsed:.0%} of a core')
        controller.close()


def main() -> None:
    """Print all measurements, and how busy the machine was."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    print(f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores')
    loop_at_1_khz()
    lock_step()
    as_fast_as_it_can()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
