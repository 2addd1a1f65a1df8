"""Read sensors: contact, force-torque and inertial ones in full, others by name."""

from collections.abc import Iterator

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import (
    Collision, ContactSensor, ForceTorqueSensor, ImuSensor, Noise, Reference, Sensor)
from spr_dynamics.sdformat.fields import read_fields, read_pose, read_text
from spr_dynamics.sdformat.schema import PATCH, SENSOR_TYPES, SPR_PREFIX
from spr_dynamics.sdformat.values import frozen_array, vector3
from spr_dynamics.sdformat.xml import XmlElement

LOCALIZATIONS = ('CUSTOM', 'ENU', 'NED', 'NWU', 'GRAV_UP', 'GRAV_DOWN')
NOISE_TYPES = ('none', 'gaussian', 'gaussian_quantized')
UNSET_TEXTS = ('', '__default__', '__default_topic__')
HOLDERS = {'contact': 'link', 'imu': 'link', 'force_torque': 'joint'}
"""The types that are simulated, and what holds a sensor of each."""


def parse_sensor(element: XmlElement, collisions: tuple[Collision, ...],
                 report: Report) -> Sensor:
    """
    Read a sensor.

    :param element: The ``<sensor>``.
    :param collisions: Those of its link.
    :param report: Takes errors, and a warning for what is not simulated.
    :returns: The sensor.
    """
    fields = {**read_fields(element, report), **read_pose(element, report),
              'location': element.location}
    if fields['topic'] in UNSET_TEXTS:
        fields['topic'] = ''
    if fields['type'] in SENSOR_TYPES:
        for lack in _lacks(element, fields):
            report.warn('WARNING', element.location, f'{element.owner}: {lack}')
    elif fields['type']:
        report.error('ATTRIBUTE_INVALID', element.location,
                     f"{element.owner}: type '{fields['type']}' is unknown"
                     f"{name_hint(fields['type'], SENSOR_TYPES)}")
    if fields['type'] == 'contact':
        return _parse_contact(element, fields, collisions, report)
    if fields['type'] == 'force_torque':
        return _parse_force_torque(element.first_or_empty('force_torque'), fields, report)
    if fields['type'] == 'imu':
        return _parse_imu(element.first_or_empty('imu'), fields, report)
    return Sensor(**fields)


def _lacks(element: XmlElement, fields: dict) -> Iterator[str]:
    """Say what a sensor of a known type asks for in vain."""
    kind, holder = fields['type'], element.holder.tag
    if kind not in HOLDERS:
        yield f"a sensor of type '{kind}' is not simulated yet"
    elif holder != HOLDERS[kind]:
        yield (f"a sensor of type '{kind}' is simulated in a <{HOLDERS[kind]}>, and this one is "
               f'in a <{holder}>')
    elif fields['enable_metrics']:
        yield 'no metrics of it are published (<enable_metrics>)'


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
    topic = read_fields(contact, report)['topic']
    return ContactSensor(
        **fields, has_contact=element.first('contact') is not None,
        contact_topic='' if topic in UNSET_TEXTS else topic, collisions=names,
        patch=_parse_patch([*element.children, *contact.children], report))


def _parse_force_torque(element: XmlElement, fields: dict, report: Report) -> ForceTorqueSensor:
    return ForceTorqueSensor(
        **fields, **read_fields(element, report),
        force_noise=_parse_noises(element.first_or_empty('force'), report),
        torque_noise=_parse_noises(element.first_or_empty('torque'), report))


def _parse_imu(element: XmlElement, fields: dict, report: Report) -> ImuSensor:
    reference = element.first_or_empty('orientation_reference_frame')
    localization = read_fields(reference, report)['localization']
    if localization not in LOCALIZATIONS:
        report.warn('WARNING', reference.first_or_empty('localization').location,
                    f"{element.owner}: localization '{localization}' is unknown"
                    f'{name_hint(localization, LOCALIZATIONS)}')
    rpy, down = reference.first_or_empty('custom_rpy'), reference.first_or_empty('grav_dir_x')
    return ImuSensor(
        **fields, **read_fields(element, report), localization=localization,
        custom_rpy=read_text(
            rpy, '<custom_rpy>', vector3, frozen_array([0.0, 0.0, 0.0]), report),
        custom_rpy_parent_frame=read_fields(rpy, report)['parent_frame'],
        grav_dir_x=read_text(
            down, '<grav_dir_x>', vector3, frozen_array([1.0, 0.0, 0.0]), report),
        grav_dir_x_parent_frame=read_fields(down, report)['parent_frame'],
        angular_velocity_noise=_parse_noises(element.first_or_empty('angular_velocity'), report),
        linear_acceleration_noise=_parse_noises(
            element.first_or_empty('linear_acceleration'), report))


def _parse_noises(measured: XmlElement, report: Report) -> tuple[Noise, Noise, Noise]:
    x, y, z = (_parse_noise(measured.first_or_empty(axis), report) for axis in 'xyz')
    return x, y, z


def _parse_noise(axis: XmlElement, report: Report) -> Noise:
    element = axis.first('noise')
    if element is None:
        element = XmlElement('noise', {'type': 'none'}, '', axis.location, axis)
    fields = read_fields(element, report)
    kind = fields['type'].lower()
    if kind and kind not in NOISE_TYPES:
        # libsdformat's code for it
        report.error('ELEMENT_MISSING', element.location,
                     f"{element.owner}: type '{kind}' of <noise> is unknown"
                     f'{name_hint(kind, NOISE_TYPES)}')
    for lack in _idle_parts(kind, fields):
        report.warn('WARNING', element.location, f'{element.owner}: {lack}')
    return Noise(location=element.location, **{**fields, 'type': kind})


def _idle_parts(kind: str, fields: dict) -> Iterator[str]:
    """Say which numbers of a noise do nothing."""
    if kind == 'gaussian' and fields['precision'] > 0.0:
        yield "<precision> rounds only noise of type 'gaussian_quantized'"
    if fields['dynamic_bias_stddev'] > 0.0 and fields['dynamic_bias_correlation_time'] == 0.0:
        yield '<dynamic_bias_stddev> does nothing without <dynamic_bias_correlation_time>'


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
        if name in patch:
            report.error('ELEMENT_INVALID', child.location,
                         f'{child.owner}: <{child.tag}> is there twice')
            continue
        value = read_text(child, f'<{child.tag}>', PATCH[name], None, report)
        if value is not None:
            patch[name] = value
    return patch
