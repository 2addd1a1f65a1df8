"""The executable: ``ros2 run spr_dynamics simulation --ros-args -p robot:=arm7``."""
from spr_dynamics.ros.executable import run, StopRequest


def main(args: list[str] | None = None) -> None:
    """
    Run the node until SIGINT or SIGTERM.

    :param args: The command line; None is that of the process.
    :raises SystemExit: With code 1 if the robot or a parameter can't be used.
    """
    stop = StopRequest()
    run('simulation', _nodes, stop, args)


def _nodes(stop: StopRequest) -> list:
    # imported here, so that a signal during the import is heard
    from spr_dynamics.ros.node import SimulationNode
    return [SimulationNode(stop)]


if __name__ == '__main__':
    main()
