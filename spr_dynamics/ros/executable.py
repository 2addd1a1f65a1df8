"""How an executable starts, spins and stops: cleanly, on the first signal and on more of them."""
from collections.abc import Callable, Sequence
import gc
import logging
import os
import signal
import sys
from typing import Any

from spr_dynamics.errors import SprDynamicsError

POLL = 0.2  # [s] the longest that a signal waits for an idle executor


class StopRequest:
    """
    SIGINT and SIGTERM as a wish to stop.

    While the executable starts, the first signal ends it at once: not by an exception, since the
    compiler that it may be in the midst of doesn't survive that. Later it only sets `is_made`, so
    that no callback is cut in two; further signals change nothing.
    """

    def __init__(self) -> None:
        """Take over both signals."""
        self.is_made = False
        self.is_starting = True
        self.farewell: Callable[[], None] = lambda: None
        """Called before an end while the executable starts."""
        self.answer: Callable[[], bool] = lambda: False
        """Called at the end of spinning; returns whether somebody waited, and is answered now."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: Any) -> None:
        is_first, self.is_made = not self.is_made, True
        if is_first and self.is_starting:
            try:
                self.farewell()
            finally:
                os._exit(0)


def run(name: str, make_nodes: Callable[[StopRequest], list], stop: StopRequest,
        args: list[str] | None = None) -> None:
    """
    Make nodes, start them, and spin them until a stop is requested.

    :param name: The executable, for its complaint when it can't start.
    :param make_nodes: Makes the nodes, when ROS is up, which may heed the request; each has a
        method ``start``.
    :param stop: Where the request shows.
    :param args: The command line; None is that of the process.
    :raises SystemExit: With code 1 after one line on stderr, if it can't start.
    """
    try:
        import rclpy
    except ImportError as error:
        sys.exit(f'{name}: ROS 2 is not here ({error}): source a ROS installation (Jazzy or '
                 "Kilted), or pip install 'spr_dynamics[jazzy]' (Linux x86-64, Python 3.10 to "
                 '3.13)')
    from rclpy.signals import SignalHandlerOptions
    show_log(name)
    try:
        start_ros(args, SignalHandlerOptions.NO)
        nodes = make_nodes(stop)
        _spin(nodes, stop)
        for node in nodes:
            node.destroy_node()
    except SprDynamicsError as error:
        print(f'{name}: {error}', file=sys.stderr)
        sys.exit(1)
    finally:
        rclpy.try_shutdown()


def show_log(name: str) -> None:
    """
    Show on stderr what the library tells: that it has compiled kernels, for which a user waits.

    :param name: The executable; each line begins with it.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f'{name}: %(message)s'))
    log = logging.getLogger('spr_dynamics')
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def start_ros(args: list[str] | None, signals: Any) -> None:
    """
    Bring ROS up.

    :param args: The command line; None is that of the process.
    :param signals: `rclpy.signals.SignalHandlerOptions`: which signals rclpy is to handle.
    :raises SprDynamicsError: If the command line or a parameter file can't be used.
    """
    import rclpy
    try:
        rclpy.init(args=args, signal_handler_options=signals)
    except RuntimeError as error:  # rclpy's own errors for a bad command line or parameter file
        raise SprDynamicsError(str(error).partition(', at /')[0]) from None


def _spin(nodes: Sequence[Any], stop: StopRequest) -> None:
    """Spin nodes in this thread until a stop is requested."""
    from rclpy.task import Future
    executor = _executor()
    for node in nodes:
        executor.add_node(node)
    # what is there now stays; the collector needn't look at it again and again
    gc.collect()
    gc.freeze()
    stop.is_starting = False
    for node in nodes:
        node.start()
    never: Future = Future()
    # EventsExecutor.spin() doesn't return on a signal, so it has to come up for air
    while not stop.is_made:
        executor.spin_until_future_complete(never, timeout_sec=POLL)
    if stop.answer():  # an action sends its result from the executor
        executor.spin_until_future_complete(never, timeout_sec=POLL)
    for node in nodes:
        executor.remove_node(node)


def _executor() -> Any:
    try:
        from rclpy.experimental import EventsExecutor
        return EventsExecutor()
    except ImportError:  # early patch releases of jazzy; three times the processor time
        from rclpy.executors import SingleThreadedExecutor
        return SingleThreadedExecutor()
