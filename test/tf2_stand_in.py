"""The package tf2_msgs, which is one line: type name and hash are those of the original."""
import pytest

from interface_package import importable

SOURCES = {'msg/TFMessage.msg': 'geometry_msgs/TransformStamped[] transforms\n'}


@pytest.fixture(scope='session')
def tf2_msgs(tmp_path_factory):
    """Return its messages; those of a ROS installation, where there is one."""
    try:
        import tf2_msgs.msg
    except ImportError:
        with importable(tmp_path_factory.mktemp('tf2_msgs'), 'tf2_msgs', SOURCES,
                        ['geometry_msgs']):
            import tf2_msgs.msg
            yield tf2_msgs.msg
    else:
        yield tf2_msgs.msg
