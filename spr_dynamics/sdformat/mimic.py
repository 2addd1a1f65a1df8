"""Who follows whom: the leaders that ``<mimic>`` names, and what is wrong with them."""

import math
from typing import NamedTuple

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Joint, MimicConstraint
from spr_dynamics.sdformat.frames import FrameGraph, Vertex
from spr_dynamics.sdformat.schema import AXES_OF_TYPE

AXIS_TAGS = ('axis', 'axis2')
INVALID = 'JOINT_AXIS_MIMIC_INVALID'


class JointAxis(NamedTuple):
    """One axis of a joint."""

    joint: Vertex
    number: int
    """0 for ``<axis>``, 1 for ``<axis2>``."""

    def __str__(self) -> str:
        """Return for example ``joint 'arm'``, or ``axis2 of joint 'arm'``."""
        return f'axis2 of {self.joint}' if self.number else str(self.joint)


def resolve_mimics(graph: FrameGraph, report: Report) -> dict[JointAxis, JointAxis]:
    """
    Find the leader of each axis that follows one.

    :param graph: The frames of a file.
    :param report: Takes an error for each leader that can't lead, each circle of followers and
        each number that is not finite, and a warning for followers that can't move.
    :returns: Leaders by follower, as far as they are right.
    """
    leaders: dict[JointAxis, JointAxis] = {}
    for joint in graph.each(Joint):
        for number, tag in enumerate(AXIS_TAGS):
            mimic = getattr(getattr(joint.element, tag), 'mimic', None)
            if mimic is None:
                continue
            follower = JointAxis(joint, number)
            leader = _leader(follower, mimic, graph, report)
            if leader is not None and _can_follow(follower, mimic, report):
                leaders[follower] = leader
    _check_circles(leaders, report)
    return leaders


def _leader(follower: JointAxis, mimic: MimicConstraint, graph: FrameGraph,
            report: Report) -> JointAxis | None:
    scope = follower.joint.scope
    leader = graph.find(mimic.joint, scope)
    if leader is None or not isinstance(leader.element, Joint):
        joints = [name for name, other in scope.named.items() if isinstance(other.element, Joint)]
        what = f"there is no joint '{mimic.joint}'" if leader is None else f'{leader} is no joint'
        problem = what + name_hint(mimic.joint, joints)
    elif mimic.axis not in AXIS_TAGS:
        problem = f"axis '{mimic.axis}' is unknown (known: 'axis', 'axis2')"
    elif leader is follower.joint and AXIS_TAGS.index(mimic.axis) == follower.number:
        problem = 'it mimics itself'
    elif getattr(leader.element, mimic.axis) is None:
        problem = f'{leader} has no <{mimic.axis}>'
    elif AXIS_TAGS.index(mimic.axis) >= AXES_OF_TYPE[leader.element.type]:
        problem = (f"{leader} is of type '{leader.element.type}', which does not move along "
                   f'<{mimic.axis}>')
    else:
        return JointAxis(leader, AXIS_TAGS.index(mimic.axis))
    is_lost = leader is None and graph.report_of(mimic.joint, scope) is graph.blamed
    (graph.blamed if is_lost else report).error(
        INVALID, mimic.location, f'{follower.joint}: <mimic> is wrong: {problem}')
    return None


def _can_follow(follower: JointAxis, mimic: MimicConstraint, report: Report) -> bool:
    for name in ('multiplier', 'offset', 'reference'):
        if not math.isfinite(getattr(mimic, name)):
            report.error(INVALID, mimic.location,
                         f'{follower.joint}: <mimic> is wrong: {name} is '
                         f'{getattr(mimic, name)} (needs a finite number)')
    kind = follower.joint.element.type
    if kind == 'ball':
        report.error(INVALID, mimic.location,
                     f"{follower.joint}: <mimic> is wrong: a joint of type 'ball' can't follow")
    elif follower.number >= AXES_OF_TYPE[kind]:
        report.warn('WARNING', mimic.location,
                    f'{follower.joint}: <mimic> has no effect, since a joint of type '
                    f"'{kind}' does not move along <{AXIS_TAGS[follower.number]}>")
    return follower.number < AXES_OF_TYPE[kind]


def _check_circles(leaders: dict[JointAxis, JointAxis], report: Report) -> None:
    """Report each circle once, with its path."""
    done: set[JointAxis] = set()
    for start in leaders:
        path: dict[JointAxis, None] = {}
        axis: JointAxis | None = start
        while axis is not None and axis not in done and axis not in path:
            path[axis] = None
            axis = leaders.get(axis)
        if axis is not None and axis in path:
            walked = list(path)
            circle = [*walked[walked.index(axis):], axis]
            mimic = getattr(axis.joint.element, AXIS_TAGS[axis.number]).mimic
            report.error(INVALID, mimic.location,
                         f'{axis.joint}: <mimic> runs in a circle: '
                         + ' -> '.join(str(member) for member in circle))
        done.update(path)
