"""What others need to draw the robot: its description, its frames, and markers."""
from collections.abc import Mapping

from std_msgs.msg import String

from spr_dynamics.ros.contact_markers import contact_topics
from spr_dynamics.ros.markers import visual_topics
from spr_dynamics.ros.parameters import NONE
from spr_dynamics.ros.streams import LATCHED_QOS, Publication, Source
from spr_dynamics.ros.transforms import transform_topics


def scene_topics(source: Source, sensor_topics: Mapping[str, str]) -> list[Publication]:
    """
    Make ``robot_description``, ``/tf``, ``/tf_static``, ``visual_markers``, ``contact_markers``.

    :param source: What they are made for.
    :param sensor_topics: The ROS name of each contact sensor.
    """
    publish_description(source)
    transforms = transform_topics(source, sensor_topics)
    is_elsewhere = source.parameters.value('publish_tf') == NONE
    return [*transforms,
            *visual_topics(source, has_frames=is_elsewhere or bool(transforms)),
            *contact_topics(source, sensor_topics)]


def publish_description(source: Source) -> None:
    """
    Publish the URDF for whoever comes, now or later, and name what it can't say.

    :param source: Whose robot it is.
    """
    publisher = source.node.create_publisher(String, 'robot_description', LATCHED_QOS)
    publisher.publish(String(data=source.urdf.text))
    for sentence in source.urdf.left_out:
        source.node.get_logger().warning(f'robot_description leaves out: {sentence}')
