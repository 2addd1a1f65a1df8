"""Topics that files name: two that collide are refused, with both owners."""
import pytest

pytest.importorskip('rclpy')

from ros_harness import node_here, NodeProcess  # noqa: E402
from spr_dynamics.errors import SprDynamicsError  # noqa: E402

FIRST, SECOND = 5, 6  # lines of the sensors
ROBOT = """<sdf version='1.12'><model name='m'>
  <link name='base'>
    <inertial><mass>1</mass></inertial>
    <collision name='skin'><geometry><sphere><radius>.1</radius></sphere></geometry></collision>
    {}
    {}
  </link>
</model></sdf>"""


def imu(name, topic=''):
    topic = topic and f'<topic>{topic}</topic>'
    return f"<sensor name='{name}' type='imu'>{topic}</sensor>"


def contact(name, topic):
    return f"<sensor name='{name}' type='contact'><topic>{topic}</topic>" \
           '<contact><collision>skin</collision></contact></sensor>'


@pytest.fixture
def written(tmp_path):
    """Return what writes a robot with two sensors."""
    def write(first, second):
        path = tmp_path / 'robot.sdf'
        path.write_text(ROBOT.format(first, second))
        return str(path)
    return write


def refused(robot):
    """Return why a node isn't made."""
    with pytest.raises(SprDynamicsError) as refusal, node_here(robot=robot, world='empty'):
        pass
    return str(refusal.value)


@pytest.mark.parametrize('first, second, topic', [
    (imu('left', 'gyro'), imu('right', 'gyro'), 'gyro'),
    (imu('left'), imu('right', 'imu/left'), 'imu/left'),
    (contact('left', 'skin'), contact('right', 'skin'), 'skin/wrench'),
    (contact('left', 'skin'), imu('right', 'skin/taxels'), 'skin/taxels'),
], ids=['IMUs', 'default name', 'contact sensors', 'kinds'])
def test_two_sensors_on_one_topic_are_refused(written, first, second, topic):
    """Both were published there, with two frames, and nobody was told."""
    robot = written(first, second)
    text = refused(robot)
    namespace = text.partition("topic '")[2].partition('/' + topic)[0]
    assert text == (f"{robot}:{SECOND}: sensor 'right': its topic '{namespace}/{topic}' is also "
                    f"that of {robot}:{FIRST}: sensor 'left'")


@pytest.mark.parametrize('topic', [
    'joint_states', 'joint_commands', 'external_wrench', 'contact_markers', '/clock',
    '/diagnostics', '/parameter_events', '/rosout', 'simulation/simulate_steps/_action/status'])
def test_a_sensor_does_not_get_a_topic_of_the_node(written, topic):
    """It ended with a traceback, or RViz and controllers heard two types."""
    robot = written(imu('left', topic), imu('right'))
    text = refused(robot)
    assert text.startswith(f"{robot}:{FIRST}: sensor 'left': its topic '/")
    assert text.endswith(f"{topic}' is also that of the node itself")


def test_a_topic_that_the_node_does_not_have_is_free(written):
    with node_here(robot=written(contact('left', 'skin'), imu('right', 'skin')), world='empty',
                   publish_clock=False) as node:
        topics = [publisher.topic_name.removeprefix(node.get_namespace() + '/')
                  for publisher in node.publishers]
    assert len(topics) == len(set(topics))
    assert {'skin', 'skin/wrench', 'skin/contact', 'skin/points'} <= set(topics)


def test_a_collision_ends_the_executable_with_one_line(tmp_path, written):
    robot = written(imu('left', 'joint_states'), imu('right'))
    with NodeProcess(tmp_path, robot=robot, world='empty') as node:
        assert node.exit_code() == 1
        errors = [line for line in node.log.splitlines() if not line.startswith('[WARN]')]
        assert errors == [f"simulation: {robot}:{FIRST}: sensor 'left': its topic "
                          f"'{node.namespace}/joint_states' is also that of the node itself"]
