"""Read joints and their axes."""

import math
from typing import Any

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Axis, Joint, Limit, MimicConstraint, Reference
from spr_dynamics.sdformat.fields import read_fields, read_pose, read_text
from spr_dynamics.sdformat.frames import UNNAMED
from spr_dynamics.sdformat.schema import BALL_LIMITS, JOINT_TYPES, SPR_PREFIX
from spr_dynamics.sdformat.sensors import parse_sensor
from spr_dynamics.sdformat.values import frozen_array, unit_vector
from spr_dynamics.sdformat.xml import XmlElement

DEFAULT_PITCH = 1.0  # [m] a turn; SDFormat's default


def parse_joint(element: XmlElement, report: Report) -> Joint:
    """
    Read a joint.

    :param element: The ``<joint>``.
    :param report: Takes errors and warnings.
    :returns: The joint; of type ``fixed`` if the type is not one of SDFormat's.
    """
    if element.attributes.get('type') == 'ball':
        _name_ends(element)
    fields = read_fields(element, report)
    fields['type'] = _known_type(element, fields['type'], report)
    fields['screw_thread_pitch'] = _pitch(element, fields, report)
    del fields['thread_pitch']
    sensors = tuple(parse_sensor(sensor, (), report) for sensor in element.all('sensor'))
    return Joint(
        location=element.location, **fields, **read_pose(element, report), sensors=sensors,
        **_parse_ball_limits(element, fields['type'], report),
        axis=_parse_axis(element.first('axis'), fields['type'], report),
        axis2=_parse_axis(element.first('axis2'), fields['type'], report))


def _name_ends(element: XmlElement) -> None:
    """Let a name that is no frame's stand for a missing one, which only a ball joint may lack."""
    for end in ('parent', 'child'):
        if element.first(end) is None:
            element.adopt(XmlElement(end, {}, UNNAMED, element.location))


def _known_type(element: XmlElement, name: Reference, report: Report) -> str:
    if not name:
        return 'fixed'
    if name.lower() not in JOINT_TYPES:
        report.error('ATTRIBUTE_INVALID', element.location,
                     f"{element.owner}: type '{name}' is unknown"
                     f'{name_hint(name.lower(), JOINT_TYPES)}')
        return 'fixed'
    return name.lower()


def _pitch(element: XmlElement, fields: dict, report: Report) -> float:
    """Return metres a turn, from ``screw_thread_pitch`` or the older left-handed rad/m."""
    deprecated = element.first('thread_pitch')
    if deprecated is not None:
        report.warn('ELEMENT_DEPRECATED', deprecated.location,
                    f'{element.owner}: <thread_pitch> (rad/m, left-handed) is deprecated; write '
                    '<screw_thread_pitch> in m a turn')
    if fields['screw_thread_pitch'] is not None:
        return fields['screw_thread_pitch']
    if fields['thread_pitch'] is None:
        return DEFAULT_PITCH
    if fields['thread_pitch'] == 0:
        report.error('ELEMENT_INVALID', element.first_or_empty('thread_pitch').location,
                     f'{element.owner}: <thread_pitch> is zero; write <screw_thread_pitch> '
                     'in m a turn')
        return DEFAULT_PITCH
    return -2 * math.pi / fields['thread_pitch']


def _parse_axis(element: XmlElement | None, joint_type: str, report: Report) -> Axis | None:
    if element is None:
        return None
    xyz = element.first_or_empty('xyz')
    dynamics = read_fields(element.first_or_empty('dynamics'), report)
    return Axis(
        location=element.location,
        xyz=read_text(xyz, '<xyz>', unit_vector, frozen_array([0.0, 0.0, 1.0]), report),
        expressed_in=read_fields(xyz, report)['expressed_in'],
        limit=_parse_limit(element, joint_type, report), **dynamics,
        mimic=_parse_mimic(element.first('mimic'), report))


def _parse_limit(axis: XmlElement, joint_type: str, report: Report) -> Limit:
    element = axis.first_or_empty('limit')
    fields = read_fields(element, report)
    # what a continuous joint says of its range means nothing
    if joint_type != 'continuous' and fields['lower'] > fields['upper']:
        report.error('ELEMENT_INVALID', element.location,
                     f"{element.owner}: <lower> {fields['lower']:g} is above "
                     f"<upper> {fields['upper']:g}")
    return Limit(location=element.location, **fields)


def _parse_mimic(element: XmlElement | None, report: Report) -> MimicConstraint | None:
    if element is None:
        return None
    fields = read_fields(element, report)
    # without a leader's name, which is an error, there is nothing to check further
    return MimicConstraint(location=element.location, **fields) if fields['joint'] else None


def _parse_ball_limits(element: XmlElement, joint_type: str, report: Report) -> dict[str, Any]:
    """Return how far a ball joint bends and twists, as far as the file says so."""
    limits: dict[str, Any] = {}
    for name, read in BALL_LIMITS.items():
        child = element.first(SPR_PREFIX + name)
        if child is None:
            continue
        if joint_type != 'ball':
            report.error('ELEMENT_INVALID', child.location,
                         f"{element.owner}: <{child.tag}> is for joints of type 'ball', and this "
                         f"one is '{joint_type}'")
        else:
            limits[name] = read_text(child, f'<{child.tag}>', read, None, report)
    _check_ball_limits(element, limits, report)
    return limits


def _check_ball_limits(element: XmlElement, limits: dict, report: Report) -> None:
    """Refuse a centre of nothing, and bounds in the wrong order."""
    if set(limits) == {'cone_centre'}:
        report.error('ELEMENT_INVALID', element.first_or_empty('spr:cone_centre').location,
                     f'{element.owner}: <spr:cone_centre> means nothing without <spr:cone_limit> '
                     'or <spr:twist_limit>')
    twist = limits.get('twist_limit')
    if twist is not None and twist[0] > twist[1]:
        report.error('ELEMENT_INVALID', element.first_or_empty('spr:twist_limit').location,
                     f'{element.owner}: <spr:twist_limit> begins at {twist[0]:g}, above its end '
                     f'{twist[1]:g}')
