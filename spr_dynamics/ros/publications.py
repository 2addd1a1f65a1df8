"""
What the node publishes.

`Publications` lists it all. To add topics: write a function that returns publications
(`spr_dynamics.ros.streams`) and put it into that list.
"""
from collections.abc import Mapping

from spr_dynamics.ros.motion_topics import force_torque_topics, imu_topics
from spr_dynamics.ros.parameters import Value
from spr_dynamics.ros.scene_topics import scene_topics
from spr_dynamics.ros.sensor_topics import SensorPublications
from spr_dynamics.ros.state_topics import clock_topics, joint_states, state_topics
from spr_dynamics.ros.streams import Publication, Source, Stream


class Publications:
    """All topics of a simulation, in the order in which they are published."""

    def __init__(self, source: Source, sensor_topics: Mapping[str, str]) -> None:
        """
        Make the topics.

        :param source: What they are made for.
        :param sensor_topics: The ROS name of each contact sensor.
        """
        self._simulation = source.simulation
        clock, scene = clock_topics(source), scene_topics(source, sensor_topics)
        states, self.joint_states = state_topics(source), joint_states(source)
        # after all others: a sensor may have the topic that its file names if nobody has it
        self.sensors = SensorPublications(source, sensor_topics)
        motion = [*imu_topics(source), *force_torque_topics(source)]
        # controllers answer to joint_states, so the rest is there before
        self._all: list[Publication] = [
            *clock, *scene, self.sensors, *motion, *states, self.joint_states]

    def steps_until_due(self) -> int:
        """Return how many steps can be taken in one call without missing a message."""
        step = self._simulation.step_count
        return min(publication.steps_until_due(step) for publication in self._all)

    def publish_due(self) -> None:
        """Publish what is due on this step."""
        step = self._simulation.step_count
        for publication in self._all:
            publication.publish_due(step)

    def catch_up(self) -> None:
        """Show the state where time stands still now, also in between two messages of a topic."""
        step = self._simulation.step_count
        for publication in self._all:
            if isinstance(publication, Stream):  # samples are published when they are taken
                publication.catch_up(step)

    def publish_now(self) -> None:
        """Publish everything as it is now, and go on from here."""
        step = self._simulation.step_count
        for publication in self._all:
            publication.publish_now(step)

    def greet(self, is_still: bool) -> None:
        """
        Show the present state to those who have come to listen, while time stands still.

        :param is_still: Whether time stands still.
        """
        for publication in self._all:
            publication.greet(is_still)

    def set_rates(self, values: Mapping[str, Value]) -> None:
        """
        Take over new rates.

        :param values: New values of parameters by full name.
        """
        step = self._simulation.step_count
        for publication in self._all:
            publication.set_rates(values, step)
