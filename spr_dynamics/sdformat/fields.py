"""Read an element's texts, and judge what else it holds, by the table of `schema`."""

from spr_dynamics.errors import did_you_mean
from spr_dynamics.sdformat.diagnostics import Location, Report, UNREADABLE
from spr_dynamics.sdformat.elements import Reference
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.quiet import check_not_empty, check_quiet
from spr_dynamics.sdformat.schema import (
    BALL_LIMITS, Branch, children_of, FOREIGN, Leaf, Quiet, Refused, REQUIRED, SPR_PREFIX, Warned)
from spr_dynamics.sdformat.values import Meaningless, pose
from spr_dynamics.sdformat.xml import XmlElement

MOST_WARNINGS = 100  # a file that gives more is no SDF, and nobody reads them
ZERO_TEXTS = frozenset({'', '0', 'false'})


def read_fields(element: XmlElement, report: Report) -> dict:
    """
    Read all texts that the table lists for an element.

    :param element: The element; children that are not there give their defaults.
    :param report: Takes an error for each text that can't be read.
    :returns: Values by child tag or attribute name; texts are `Reference`.
    """
    table = children_of(element.kind, element.tag)
    return {name.removeprefix('@'): _read_leaf(element, name, leaf, report)
            for name, leaf in table.items() if isinstance(leaf, Leaf)}


def read_text(element: XmlElement, what: str, read, default, report: Report):
    """
    Read the text of an element itself.

    :param element: The element.
    :param what: What a message calls the text, as in ``<xyz>``.
    :param read: Makes a value of it, or raises ValueError.
    :param default: The value of an empty text, and of one that can't be read.
    :param report: Takes that error.
    :returns: The value.
    """
    try:
        return read(element.text) if element.text else default
    except ValueError as error:
        report.error('ELEMENT_INVALID', element.location, f'{element.owner}: {what} {error}',
                     implied=() if isinstance(error, Meaningless) else UNREADABLE)
        return default


def read_pose(element: XmlElement, report: Report) -> dict:
    """
    Read the ``<pose>`` of an element.

    :param element: What is posed.
    :param report: Takes errors.
    :returns: Fields ``pose`` and ``relative_to``.
    """
    child = element.first_or_empty('pose')
    fields = read_fields(child, report)
    T = Pose.identity()
    try:
        if child.text or child.attributes:
            T = pose(child.text, fields['rotation_format'], fields['degrees'])
    except ValueError as error:
        report.error('ELEMENT_INVALID', child.location, f'{child.owner}: <pose> {error}',
                     implied=() if isinstance(error, Meaningless) else UNREADABLE)
    return {'pose': T, 'relative_to': fields.get('relative_to', Reference('', child.location))}


def check_known(root: XmlElement, report: Report) -> None:
    """
    Refuse what would change the motion, and warn once by name of what is unknown.

    :param root: The root element, already of version 1.12.
    :param report: Takes errors and warnings.
    """
    warned: dict[str, list[Location]] = {}
    stack = [root]
    while stack:
        element = stack.pop()
        table = children_of(element.kind, element.tag)
        for name in element.attributes:
            _judge(element, f'@{name}', element.attributes[name], table, warned, report)
        for child in element.children:
            entry = _judge(child, child.tag, child, table, warned, report)
            if isinstance(entry, Branch):
                stack.append(child)
    for message, places in list(warned.items())[:MOST_WARNINGS]:
        times = f' ({len(places)} times)' if len(places) > 1 else ''
        report.warn('WARNING', min(places, key=lambda place: place.line), message + times)
    if len(warned) > MOST_WARNINGS:
        report.warn('WARNING', root.location, f'{len(warned) - MOST_WARNINGS} more warnings of '
                    'this kind')


def _read_leaf(element: XmlElement, name: str, leaf: Leaf, report: Report):
    is_attribute = name.startswith('@')
    source = element if is_attribute else element.first(name) or element
    found = '' if source is element else source.text
    text = element.attributes.get(name[1:], '') if is_attribute else found
    what = f"attribute '{name[1:]}'" if is_attribute else f'<{name}>'
    kind = 'ATTRIBUTE' if is_attribute else 'ELEMENT'
    value = None if leaf.default is REQUIRED else leaf.default
    if text:
        try:
            value = leaf.read(text)
        except ValueError as error:
            report.error(f'{kind}_INVALID', source.location, f'{element.owner}: {what} {error}',
                         implied=() if isinstance(error, Meaningless) else UNREADABLE)
    elif leaf.default is REQUIRED:
        is_there = name[1:] in element.attributes if is_attribute else source is not element
        problem = 'is empty' if is_there else 'is missing'
        report.error(f"{kind}_{'INVALID' if is_there else 'MISSING'}", source.location,
                     f'{element.owner}: {what} of <{element.tag}> {problem}', implied=UNREADABLE)
        value = ''
    return Reference(value, source.location) if isinstance(value, str) else value


def _judge(place: XmlElement, name: str, content: XmlElement | str, table: dict,
           warned: dict[str, list[Location]], report: Report):
    """Look one child or attribute up; report it if it can't simply be read or left out."""
    if ':' in name or name.startswith('@xmlns'):
        if name in FOREIGN and not _is_zero(content):
            warned.setdefault(f'<{name}>: {FOREIGN[name]}', []).append(place.location)
        _judge_custom(place, name, report)
        return None
    entry = table.get(name)
    holder = place.tag if name.startswith('@') else place.holder.tag
    shown = f'attribute {name[1:]}' if name.startswith('@') else f'<{name}>'
    if isinstance(entry, Refused):
        report.refuse(place.location, f'{place.holder.owner}: {entry.why}')
    if content is place:
        _check_child(place, entry, report)
    if isinstance(entry, Warned) and not _is_zero(content):
        warned.setdefault(f'{shown} in <{holder}>: {entry.why}', []).append(place.location)
    elif entry is None:
        near = [known for known in table if known.startswith('@') == name.startswith('@')]
        hint = did_you_mean(name, near).replace('@', '') if len(warned) < MOST_WARNINGS else ''
        message = f'{shown} in <{holder}> is not SDFormat and is ignored{hint}'
        warned.setdefault(message, []).append(place.location)
    return entry


def _check_child(place: XmlElement, entry, report: Report) -> None:
    """Refuse what libsdformat can't read, though nobody here reads it."""
    if isinstance(entry, (Quiet, Warned, Refused)):
        check_quiet(place, report)
        return
    if entry is not None:
        check_not_empty(place, report)
    is_once = isinstance(entry, Leaf) or place.tag == 'pose'
    if not is_once or place is place.holder.first(place.tag):
        return
    if place.tag == 'pose':
        check_quiet(place, report)
    elif place.text:
        try:
            entry.read(place.text)
        except Meaningless:  # libsdformat judges the first only
            pass
        except ValueError as error:
            report.error('ELEMENT_INVALID', place.location,
                         f'{place.owner}: <{place.tag}> {error}', implied=UNREADABLE)


def _judge_custom(place: XmlElement, name: str, report: Report) -> None:
    """Pass by what other programs wrote, but not our own prefix where it means nothing."""
    holder = place.holder
    sensor = holder.holder if holder.kind == 'sensor/contact' else holder
    is_contact = sensor.tag == 'sensor' and sensor.attributes.get('type') == 'contact'
    if not name.startswith(SPR_PREFIX) or is_contact:
        return
    if name.removeprefix(SPR_PREFIX) not in BALL_LIMITS:
        report.error('ELEMENT_INVALID', place.location,
                     f'{place.owner}: <{name}> is known only in a contact sensor')
    elif holder.tag != 'joint':
        report.error('ELEMENT_INVALID', place.location,
                     f'{place.owner}: <{name}> is known only in a joint of type ball')


def _is_zero(content: XmlElement | str) -> bool:
    if isinstance(content, str):
        return not content
    words = content.text.lower().split()
    own = all(word in ZERO_TEXTS or word.strip('0.') == '' for word in words)
    return own and all(_is_zero(child) for child in content.children)
