"""A robot with a closed loop in the node: its initial positions are closed, or refused."""
import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402

from ros_harness import Client, NodeProcess  # noqa: E402
import spr_dynamics as spr  # noqa: E402
from test_loops import four_bar_text  # noqa: E402


@pytest.fixture
def four_bar_file(tmp_path):
    path = tmp_path / 'four_bar.sdf'
    path.write_text(four_bar_text(), encoding='utf-8')
    return path


def test_initial_positions_that_open_a_loop_move_the_other_joints(tmp_path, four_bar_file):
    with NodeProcess(tmp_path, robot=four_bar_file, initial_positions='[1.0, 0.0, 0.0]',
                     paused=True) as node, Client(node.namespace) as client:
        states = client.listen(JointState, 'joint_states')
        client.wait_until(lambda: states)
        model = spr.load(four_bar_file)
        assert states[0].position[0] == 1.0
        assert max(spr.loop_gaps(model, np.array(states[0].position))['d']) < 1e-9


def test_initial_positions_that_keep_a_loop_open_end_it_with_one_line(tmp_path, four_bar_file):
    with NodeProcess(tmp_path, robot=four_bar_file,
                     initial_positions='[1.0, 0.1, 0.1]') as node:
        assert node.exit_code() == 1
        assert "initial_positions: the loop that joint 'd' closes is open by 0." in node.log
