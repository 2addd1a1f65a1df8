"""The topics of the robot's motion: clock, joint states, poses of free roots, torque terms."""
import dataclasses
from typing import Any

from nav_msgs.msg import Odometry
import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState

from spr_dynamics.dynamics.terms import torque_terms
from spr_dynamics.model.model import FreeRoot, Model
from spr_dynamics.ros import convert
from spr_dynamics.ros.streams import CLOCK_QOS, Output, Source, STATE_QOS, Stream

CLOCK = '/clock'
TERMS = ('inertial', 'velocity', 'gravity', 'applied')


def clock_topics(source: Source) -> list[Stream]:
    """
    Make ``/clock``, unless another node publishes it.

    :param source: What it is made for.
    """
    if not source.parameters.value('publish_clock'):
        return []
    msg, simulation = Clock(), source.simulation

    def fill() -> Clock:
        convert.stamp_from_ns(msg.clock, simulation.time_ns)
        return msg

    return [source.topic(CLOCK, Clock, CLOCK_QOS, 'clock_rate', fill)]


def state_topics(source: Source) -> list[Stream]:
    """
    Make the topics of the motion, ``joint_states`` apart.

    :param source: What they are made for.
    """
    return [*multi_dof_joint_states(source), *odom(source), *torque_term_topics(source)]


def joint_states(source: Source) -> Stream:
    """
    Make ``joint_states``: every joint axis by its name.

    :param source: What it is made for.
    """
    simulation = source.simulation
    writer = convert.JointStateWriter(simulation.model.axes)
    return source.topic(
        'joint_states', JointState, STATE_QOS, 'publish_rate',
        lambda: writer.fill(simulation.time_ns, simulation.q, simulation.qd, simulation.effort))


def multi_dof_joint_states(source: Source) -> list[Stream]:
    """
    Make ``multi_dof_joint_states``, if there are free roots or ball joints.

    :param source: What it is made for.
    """
    simulation = source.simulation
    balls = [joint for joint in simulation.model.joints if joint.type == 'ball']
    if not (simulation.model.free_roots or balls):
        return []
    writer = convert.MultiDofWriter(simulation.model.free_roots, balls)
    return [source.topic(
        'multi_dof_joint_states', MultiDOFJointState, STATE_QOS, 'publish_rate',
        lambda: writer.fill(simulation.time_ns, simulation.q, simulation.qd, simulation.effort))]


def odom(source: Source) -> list[Stream]:
    """
    Make ``odom``, if the robot has a free root: where its first one really is.

    :param source: What it is made for.
    """
    simulation, value = source.simulation, source.parameters.value
    is_alone = not (value('robot') or value('robot_description'))
    roots = simulation.model.free_roots if is_alone else robot_roots(simulation.model)
    if not roots:
        return []
    root = roots[0]
    writer = convert.OdometryWriter(root, source.frames.link(root.name))
    return [source.topic('odom', Odometry, STATE_QOS, 'publish_rate',
                         lambda: writer.fill(simulation.time_ns, simulation.q, simulation.qd))]


def robot_roots(model: Model) -> list[FreeRoot]:
    """
    Return the free roots of a robot, without those of what stands in its world.

    :param model: A world with a robot in it, which comes last.
    """
    links = model.assembly.links
    own = {name for name, link in zip(model.link_names, links) if link.model == links[-1].model}
    return [root for root in model.free_roots if root.name in own]


def torque_term_topics(source: Source) -> list[Stream]:
    """
    Make ``torque_terms/*``, if they are asked for: what the efforts of the motion are for.

    The accelerations are those of the last step, positions and velocities those after it.

    :param source: What they are made for.
    """
    if not source.parameters.value('torque_terms'):
        return []
    simulation = source.simulation
    axes = simulation.model.axes
    outputs = {term: Output(source.node, JointState, f'torque_terms/{term}', STATE_QOS)
               for term in TERMS}
    messages = {term: JointState(name=[axis.name for axis in axes], effort=[0.0] * len(axes))
                for term in TERMS}
    entries = {term: convert.entries(msg.effort) for term, msg in messages.items()}
    v_index = np.array([axis.v for axis in axes], dtype=np.intp)
    model: Any = simulation.model

    def publish() -> None:
        nonlocal model
        if (model.gravity != simulation.gravity).any():
            model = dataclasses.replace(model, gravity=simulation.gravity)
        terms = torque_terms(model, simulation.q, simulation.qd, simulation.qdd)
        efforts = {'inertial': terms.inertial, 'velocity': terms.velocity,
                   'gravity': terms.gravity, 'applied': simulation.effort}
        for term, msg in messages.items():
            convert.stamp_from_ns(msg.header.stamp, simulation.time_ns)
            entries[term][:] = efforts[term][v_index]
            outputs[term].publish(msg)

    return [source.stream(publish, list(outputs.values()), 'publish_rate')]
