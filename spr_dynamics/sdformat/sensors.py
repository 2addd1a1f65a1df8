"""Read sensors; contact sensors in full, others by name."""

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Collision, ContactSensor, Reference, Sensor
from spr_dynamics.sdformat.fields import read_fields, read_pose, read_text
from spr_dynamics.sdformat.schema import PATCH, SENSOR_TYPES, SPR_PREFIX
from spr_dynamics.sdformat.xml import XmlElement

UNSET_TEXTS = ('', '__default__', '__default_topic__')


def parse_sensor(element: XmlElement, collisions: tuple[Collision, ...],
                 report: Report) -> ContactSensor | Sensor:
    """
    Read a sensor.

    :param element: The ``<sensor>``.
    :param collisions: Those of its link.
    :param report: Takes errors, and a warning for a sensor that is not simulated.
    :returns: The sensor.
    """
    fields = {**read_fields(element, report), **read_pose(element, report)}
    if fields['type'] == 'contact':
        return _parse_contact(element, fields, collisions, report)
    if fields['type'] in SENSOR_TYPES:
        report.warn('WARNING', element.location,
                    f"{element.owner}: a sensor of type '{fields['type']}' is not simulated yet")
    elif fields['type']:
        report.error('ATTRIBUTE_INVALID', element.location,
                     f"{element.owner}: type '{fields['type']}' is unknown"
                     f"{name_hint(fields['type'], SENSOR_TYPES)}")
    return Sensor(location=element.location, **fields)


def _parse_contact(element: XmlElement, fields: dict, collisions: tuple[Collision, ...],
                   report: Report) -> ContactSensor:
    contact = element.first_or_empty('contact')
    known = [collision.name for collision in collisions]
    names = tuple(Reference(child.text, child.location) for child in contact.all('collision')
                  if child.text not in UNSET_TEXTS)
    for name in names:
        if name not in known:
            report.error('ELEMENT_INVALID', name.location,
                         f"{element.owner}: its link has no collision '{name}'"
                         f'{name_hint(name, known)}')
    # Gazebo reads the topic inside <contact> only
    topics = [read_fields(contact, report)['topic'], fields['topic']]
    del fields['type']
    fields['topic'] = next((topic for topic in topics if topic not in UNSET_TEXTS), '')
    return ContactSensor(
        location=element.location, **fields, collisions=names,
        patch=_parse_patch([*element.children, *contact.children], report))


def _parse_patch(children: list[XmlElement], report: Report) -> dict[str, object]:
    patch: dict[str, object] = {}
    for child in children:
        name = child.tag.removeprefix(SPR_PREFIX)
        if name == child.tag:
            continue
        if name not in PATCH:
            report.error('ELEMENT_INVALID', child.location,
                         f'{child.owner}: <{child.tag}> is unknown{name_hint(name, PATCH)}')
            continue
        value = read_text(child, f'<{child.tag}>', PATCH[name], None, report)
        if value is not None:
            patch.setdefault(name, value)
    return patch
