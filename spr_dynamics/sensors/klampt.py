"""
Settings of a contact sensor as text, after Klampt's ``GetSetting`` and ``SetSetting``.

Texts are as Klampt writes them, but with all digits. What it can't read back, or reads in part,
is read here in full or refused: infinities, booleans, names of links. Names of collisions with
blanks stand in quotes, as in a shell.
"""
import dataclasses
import shlex
import string

import numpy as np

from spr_dynamics.errors import name_hint
from spr_dynamics.sensors.settings import SensorError

KLAMPT_NAMES = {
    'rate': 'rate', 'enabled': 'enabled', 'link': 'link', 'Tsensor': 'pose',
    'patchMin': 'patch_min', 'patchMax': 'patch_max', 'patchTolerance': 'patch_tolerance',
    'hasForce': 'has_force', 'fResolution': 'force_resolution', 'fVariance': 'force_variance',
    'fSensitivity': 'force_sensitivity', 'fSaturation': 'force_saturation',
    'falloffCoefficient': 'falloff_coefficient',
}
"""Klampt's name of a setting, and ours."""
PLAIN = frozenset(string.ascii_letters + string.digits + '+-.')  # Python takes more: 1_0
TRUTH = {'0': False, '1': True, 'false': False, 'true': True}


def setting_texts(settings) -> dict[str, str]:
    """Return all settings as text: by Klampt's names, then what Klampt doesn't have."""
    ours = [field.name for field in dataclasses.fields(settings)
            if field.name not in KLAMPT_NAMES.values()]
    return {name: setting_text(settings, name) for name in (*KLAMPT_NAMES, *ours)}


def setting_text(settings, name) -> str:
    """
    Return a setting as text.

    :param name: Klampt's or ours.
    :raises SensorError: If there is none of that name; says what could have been meant.
    """
    field = field_of(settings, name)
    value = getattr(settings, field)
    if field == 'pose':
        return '\n'.join(words(row) for row in (*value[:3, :3], value[:3, 3]))
    if field == 'has_force':
        return words(value) + ' '  # Klampt's has it, too
    if isinstance(value, str):
        return value
    if field == 'collisions':
        return shlex.join(value)
    return words(value) if np.ndim(value) else word(value)


def with_texts(settings, texts, link_names):
    """
    Return settings of which some are read from text.

    A sensor that moves to another link feels all the collisions there, unless these are given.

    :param texts: By name, Klampt's or ours.
    :param link_names: Those of the model; a number of a link stands for its name.
    :raises SensorError: If there is no setting of a name, or a text is no such value.
    """
    changes = {}
    for name, text in texts.items():
        field = field_of(settings, name)
        if not isinstance(text, str):
            raise SensorError(f'{name} = {text!r}: expected text')
        if field in changes:
            raise SensorError(f'{name} = {text!r}: expected {field} once, and it is given by '
                              'another name, too')
        changes[field] = link_from(text.strip(), link_names) if field == 'link' else \
            value_from(text, name, field, getattr(settings, field))
    if changes.get('link', settings.link) != settings.link:
        changes = {'collisions': ()} | changes
    return dataclasses.replace(settings, **changes)


def value_from(text, name, field, present):
    """
    Read the value of a setting.

    :param name: What a message calls it.
    :param field: Our name.
    :param present: Its present value, which is of the same kind.
    :raises SensorError: If the text is no such value.
    """
    if isinstance(present, str):
        return text.strip()
    if field == 'collisions':
        return names_from(text)
    entries = text.split()
    if field == 'pose':
        numbers = read(name, entries, 12, float)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = np.reshape(numbers[:9], (3, 3)), numbers[9:]
        return pose
    if field == 'has_force':
        return tuple(read(name, entries, 3, truth))
    if field == 'taxels':
        return tuple(read(name, entries, 2, int))
    if np.ndim(present):
        return np.array(read(name, entries, present.size, float))
    value, = read(name, entries, 1, truth if isinstance(present, bool) else float)
    return value


def field_of(settings, name) -> str:
    """
    Return our name of a setting.

    :raises SensorError: If there is none; says what could have been meant.
    """
    ours = [field.name for field in dataclasses.fields(settings)]
    field = KLAMPT_NAMES.get(name, name)
    if field not in ours:
        raise SensorError(f'a contact sensor has no setting {name!r}'
                          f'{name_hint(str(name), [*KLAMPT_NAMES, *ours])}')
    return field


def word(value) -> str:
    """Write a number with as many digits as it needs, a truth value as 0 or 1."""
    return repr(float(value)).removesuffix('.0')


def words(values) -> str:
    """Write some values with blanks between."""
    return ' '.join(map(word, values))


def read(name, entries, count, kind) -> list:
    """
    Read as many values as there have to be.

    :param kind: Reads one; raises ValueError or KeyError.
    :raises SensorError: If there are more or less of them, or one is none.
    """
    try:
        if len(entries) != count or not PLAIN.issuperset(''.join(entries)):
            raise ValueError
        return [kind(entry) for entry in entries]
    except (ValueError, KeyError):
        wanted = {truth: 'truth values (0, 1, false, true)', int: 'whole numbers',
                  float: 'numbers'}[kind]
        raise SensorError(f"{name} = '{' '.join(entries)}': expected {count} {wanted}, with "
                          'blanks between') from None


def truth(entry) -> bool:
    """Read a truth value."""
    return TRUTH[entry.lower()]


def names_from(text) -> tuple[str, ...]:
    """
    Read names of collisions.

    :raises SensorError: If a quote doesn't end.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise SensorError(f'collisions = {text!r}: expected names with blanks between, those with '
                          'blanks in quotes that end') from None


def link_from(text, link_names) -> str:
    """Return the name of a link that is given by name, or by its number in the file."""
    if text not in link_names and text.isascii() and text.isdecimal() \
            and int(text) < len(link_names):
        return link_names[int(text)]
    return text
