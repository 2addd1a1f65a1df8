"""Bring a document of an older SDFormat version to what 1.12 calls the same thing."""

import re

from spr_dynamics.sdformat.diagnostics import Diagnostic, InvalidSdf, Report
from spr_dynamics.sdformat.xml import MAX_DEPTH, XmlElement

OLDEST, NEWEST = (1, 2), (1, 12)
FIRST_WITH_SCOPES = (1, 8)  # before, `::` was part of a name
# they share one set of names, and libsdformat takes them in this order
NAMED_IN_MODEL = ('model', 'link', 'joint', 'frame')
TRUE_TO_CONVERTER = ('true', 'True', 'TRUE', '1')  # libsdformat matches these spellings only


def upgrade(sdf: XmlElement, report: Report, *, any_version: bool = False) -> None:
    """
    Convert a document in place, version by version, to 1.12.

    1.8 to 1.12 need no conversion: they add elements, which are read in any version.

    :param sdf: The root element.
    :param report: Takes errors and warnings.
    :param any_version: Whether to try a version that is not known, as if it were 1.12.
    """
    version = document_version(sdf, report, any_version=any_version)
    if version <= (1, 3):
        _use_one_step_size(sdf)
    if version <= (1, 4):
        _express_axes_in_model(sdf)
    if version <= (1, 5):
        _move_gravity_to_world(sdf)
        _spread_imu_noise(sdf)
    if version <= (1, 6):
        _rename_pose_frames(sdf)
        _replace_use_parent_model_frame(sdf)
        _rename_clashes(sdf, report)
    if version < FIRST_WITH_SCOPES:
        for model in _world_models(sdf):
            _unflatten(model)
        _drop_empty_inertial_frames(sdf)
    else:
        _refuse_scoped_names(sdf, report)


def version_numbers(text: str) -> tuple[int, int] | None:
    """
    Read a version.

    :param text: Such as ``1.7``.
    :returns: Major and minor number; None if the text is no version.
    """
    match = re.fullmatch(r'([0-9]{1,4})\.([0-9]{1,4})', text.strip())
    return (int(match[1]), int(match[2])) if match else None


def document_version(sdf: XmlElement, report: Report, *,
                     any_version: bool = False) -> tuple[int, int]:
    """
    Read the version attribute.

    :param sdf: The root element.
    :param report: Takes an error if the version is missing or not one that can be read.
    :param any_version: Whether a version that is not known is a warning only.
    :returns: Major and minor number; the newest if it is missing or not known.
    """
    text = sdf.attributes.get('version', '')
    known = f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
    version = version_numbers(text)
    if version is not None and OLDEST <= version <= NEWEST and text == '{}.{}'.format(*version):
        return version
    if 'version' not in sdf.attributes:
        report.error('FILE_READ', sdf.location,
                     f'<sdf> needs an attribute version ({known})')
    elif any_version:
        report.warn('CONVERSION_ERROR', sdf.location,
                    f"version '{text}' of SDFormat is not known ({known}) and is read as if it "
                    f"were {'.'.join(map(str, NEWEST))}")
    elif version is None:
        report.error('CONVERSION_ERROR', sdf.location,
                     f"version '{text}' is not a version of SDFormat (known: {known})")
    else:
        report.error('CONVERSION_ERROR', sdf.location,
                     f"version '{text}' of SDFormat can't be read (known: {known})")
    return NEWEST


def _descendants(element: XmlElement, tag: str) -> list[XmlElement]:
    return [other for other in element.everything() if other.tag == tag]


def _world_models(sdf: XmlElement) -> list[XmlElement]:
    return [model for world in sdf.all('world') for model in world.all('model')]


def _move(source: XmlElement, tag: str, target: XmlElement, new_tag: str) -> None:
    element = source.first(tag)
    if element is not None:
        source.children.remove(element)
        element.tag = new_tag
        target.adopt(element)


def _add(parent: XmlElement, tag: str, text: str) -> XmlElement:
    parent.children.append(XmlElement(tag, {}, text, parent.location, parent))
    return parent.children[-1]


def _use_one_step_size(sdf: XmlElement) -> None:
    for world in sdf.all('world'):
        for physics in world.all('physics'):
            _move(physics, 'update_rate', physics, 'real_time_update_rate')
            _move(physics.first_or_empty('ode').first_or_empty('solver'), 'dt',
                  physics, 'max_step_size')
            _move(physics.first_or_empty('bullet'), 'dt', physics, 'max_step_size')


def _express_axes_in_model(sdf: XmlElement) -> None:
    for model in [*sdf.all('model'), *_world_models(sdf)]:
        for axis in _axes(model.all('joint')):
            if axis.first('use_parent_model_frame') is None:
                _add(axis, 'use_parent_model_frame', 'true')


def _axes(joints: list[XmlElement]) -> list[XmlElement]:
    return [axis for joint in joints for axis in [*joint.all('axis'), *joint.all('axis2')]]


def _move_gravity_to_world(sdf: XmlElement) -> None:
    for world in sdf.all('world'):
        for physics in world.all('physics'):
            _move(physics, 'gravity', world, 'gravity')
            _move(physics, 'magnetic_field', world, 'magnetic_field')


def _spread_imu_noise(sdf: XmlElement) -> None:
    """Give each axis of an IMU the noise that was written once for all three."""
    for imu in _descendants(sdf, 'imu'):
        noise = imu.first('noise')
        if noise is None:
            continue
        imu.children.remove(noise)
        for old, new in (('rate', 'angular_velocity'), ('accel', 'linear_acceleration')):
            measured = imu.first(new) or _add(imu, new, '')
            for axis in 'xyz':
                spread = _add(_add(measured, axis, ''), 'noise', '')
                spread.attributes['type'] = noise.first_or_empty('type').text or 'none'
                for child in noise.first_or_empty(old).children:
                    _add(spread, child.tag, child.text)


def _rename_pose_frames(sdf: XmlElement) -> None:
    for pose in _descendants(sdf, 'pose'):
        if 'frame' in pose.attributes:
            pose.attributes['relative_to'] = pose.attributes.pop('frame')


def _replace_use_parent_model_frame(sdf: XmlElement) -> None:
    for axis in _axes(_descendants(sdf, 'joint')):
        for flag in axis.all('use_parent_model_frame'):
            axis.children.remove(flag)
            if flag.text in TRUE_TO_CONVERTER:
                xyz = axis.first('xyz') or _add(axis, 'xyz', '')
                xyz.attributes['expressed_in'] = '__model__'


def _rename_clashes(sdf: XmlElement, report: Report) -> None:
    """Rename what has the name of a sibling of another kind, as Gazebo does."""
    for scope in [*_descendants(sdf, 'model'), *sdf.all('world')]:
        kind_of_name: dict[str, str] = {}
        for child in (child for tag in NAMED_IN_MODEL for child in scope.all(tag)):
            name = child.attributes.get('name', '')
            if not name:
                continue
            if kind_of_name.get(name, child.tag) != child.tag:
                free = _free_name(f'{name}_{child.tag}', kind_of_name)
                report.warn('WARNING', child.location,
                            f"{child.tag} '{name}': a {kind_of_name[name]} has that name, so it "
                            f"becomes '{free}'")
                child.attributes['name'] = name = free
            kind_of_name.setdefault(name, child.tag)


def _free_name(name: str, taken: dict[str, str]) -> str:
    free, count = name, 0
    while free in taken:
        free, count = f'{name}{count}', count + 1
    return free


def _unflatten(model: XmlElement, depth: int = 1) -> None:
    """Turn siblings named ``sub::...`` into a model ``sub`` inside this one."""
    if depth > MAX_DEPTH:
        raise InvalidSdf([Diagnostic('PARSING_ERROR', f'names lead more than {MAX_DEPTH} deep',
                                     model.location)])
    kept: list[XmlElement] = []
    subs: dict[str, XmlElement] = {}
    for child in model.children:
        sub, delimiter, rest = child.attributes.get('name', '').partition('::')
        if child.tag not in NAMED_IN_MODEL or not delimiter:
            kept.append(child)
            continue
        if sub not in subs:
            location = child.location._replace(path=f'{model.location.path}/model[@name="{sub}"]')
            subs[sub] = XmlElement('model', {'name': sub}, '', location, model)
        child.attributes['name'] = rest
        _strip_references(child, f'{sub}::')
        if child.tag == 'frame' and rest == '__model__':
            _pose_as(subs[sub], child)
        else:
            subs[sub].adopt(child)
    model.children[:] = [*kept, *subs.values()]
    for nested in model.all('model'):
        _unflatten(nested, depth + 1)


def _pose_as(nested: XmlElement, frame: XmlElement) -> None:
    """Give a model the pose and the body of the frame that stood for it when it was flat."""
    nested.attributes['canonical_link'] = frame.attributes.get('attached_to', '')
    _move(frame, 'pose', nested, 'pose')


def _strip_references(element: XmlElement, prefix: str) -> None:
    for name in ('relative_to', 'attached_to', 'expressed_in'):
        if name in element.attributes:
            element.attributes[name] = element.attributes[name].removeprefix(prefix)
    if element.tag in ('parent', 'child'):
        element.text = element.text.removeprefix(prefix)
    if element.tag == 'mimic' and 'joint' in element.attributes:
        element.attributes['joint'] = element.attributes['joint'].removeprefix(prefix)
    for child in element.children:
        _strip_references(child, prefix)


def _drop_empty_inertial_frames(sdf: XmlElement) -> None:
    for inertial in _descendants(sdf, 'inertial'):
        for pose in inertial.all('pose'):
            if not pose.attributes.get('relative_to', 'written'):
                del pose.attributes['relative_to']


def _refuse_scoped_names(sdf: XmlElement, report: Report) -> None:
    stack = [sdf]
    while stack:
        element = stack.pop()
        name = element.attributes.get('name', '')
        if '::' in name:
            report.error('RESERVED_NAME', element.location,
                         f"{element.tag} '{name}': '::' can't be part of a name; it leads into "
                         'nested models', implied=('FILE_READ',))
        stack.extend(child for child in element.children
                     if child.tag != 'plugin' and ':' not in child.tag)
