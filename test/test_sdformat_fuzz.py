"""
Damaged files: whatever is in one, it is read or refused with our own exceptions, soon.

``make campaign`` tries many more inputs than ``make test`` (SPR_FUZZ_INPUTS).
"""
import os
import random
import re
import resource
import time

import pytest

import needs
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, read

INPUTS = int(os.environ.get('SPR_FUZZ_INPUTS', '300'))
BATCHES = 20
LARGEST_FILE = 60_000  # [bytes] larger ones hold nothing new and take long to damage
LONGEST = 2.0  # [s] an input
LARGEST = 500_000  # [KiB] that one input may add to the memory of the process

# Texts that are likely to find a hole, in place of a number or a name.
NASTY = [
    '', ' ', '0', '-1', 'nan', 'inf', '-inf', '1e308', '1e400', '2kg', '2,5', '0x10', '1 2',
    '\ud7ff', '__model__', 'world', 'a::b', '::', '__root__', 'true', '../..', 'model://x',
    '9' * 5000, '&#0;', '&bomb;', '<a/>', ']]>', '%s%n', '0 0 0 0 0 0', 'axis2', 'ball', 'fixed',
    '1.7', '1.4']


def drop(text, rng):
    """Take a piece out."""
    a = rng.randrange(len(text))
    return text[:a] + text[a + rng.choice([1, 2, 10, 200]):]


def repeat(text, rng):
    """Write an element twice, or twenty times."""
    found = list(re.finditer(r'<(\w+)[^<>]*>[^<>]*</\1>', text))
    if not found:
        return text
    piece = rng.choice(found)
    return text[:piece.end()] + piece.group() * rng.choice([1, 20]) + text[piece.end():]


def replace_value(text, rng):
    """Put something else into a text or an attribute."""
    found = list(re.finditer(r'(?<=>)[^<>\s][^<>]*(?=<)|(?<=["\'])[^"\'<>]*(?=["\'])', text))
    if not found:
        return text
    value = rng.choice(found)
    other = rng.choice(NASTY) if rng.random() < 0.6 else rng.choice(found).group()
    return text[:value.start()] + other + text[value.end():]


def rename(text, rng):
    """Give one element the tag of another, at both ends."""
    tags = sorted(set(re.findall(r'<(\w+)', text)))
    if len(tags) < 2:
        return text
    old, new = rng.sample(tags, 2)
    return re.sub(rf'(</?){old}\b', rf'\g<1>{new}', text, count=rng.choice([2, 0]))


def move(text, rng):
    """Cut an element out and put it somewhere else."""
    found = list(re.finditer(r'<(\w+)[^<>]*>(?:(?!<\1\b).)*?</\1>', text, re.S))
    if not found:
        return text
    piece = rng.choice(found)
    rest = text[:piece.start()] + text[piece.end():]
    places = [match.end() for match in re.finditer('>', rest)]
    at = rng.choice(places) if places else 0
    return rest[:at] + piece.group() + rest[at:]


DAMAGES = (drop, repeat, replace_value, replace_value, replace_value, rename, move)


@pytest.fixture(scope='module')
def sound():
    """Return the files to damage, as texts."""
    files = sorted(path for ending in ('sdf', 'world') for path in needs.corpus().rglob(
        f'*.{ending}') if path.stat().st_size < LARGEST_FILE)
    return [path.read_text(encoding='utf-8', errors='replace') for path in files]


@pytest.mark.parametrize('batch', range(BATCHES))
def test_damaged_files_are_read_or_refused_and_soon(sound, batch):
    rng = random.Random(batch)
    for k in range(INPUTS // BATCHES):
        text = rng.choice(sound)
        for _ in range(rng.choice([1, 1, 2, 5])):
            text = rng.choice(DAMAGES)(text, rng) or ' '
        try_out(text, f'batch {batch}, input {k}')


def try_out(text, name):
    """Take a text the whole way to arrays, and hold it to our promises."""
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        build(assemble(read(text=text)))
    except SprDynamicsError as error:
        for line in str(error).splitlines():
            assert re.match(r'.*:\d+: .', line) or 'file' in line, f'{name}: {line!r}'
    except Exception as error:
        raise AssertionError(f'{name}: {error!r} for\n{text}') from error
    assert time.process_time() - start < LONGEST, name
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LARGEST, name


MODEL = "<sdf version='1.12'><model name='m'>{}</model></sdf>"


def placed_by_one_another(depth):
    """Write models in models, each placed by the innermost link."""
    names = [f'm{k}' for k in range(depth)]
    opened = ''.join(f"<model name='{name}' placement_frame='{'::'.join([*names[k + 1:], 'l'])}'>"
                     for k, name in enumerate(names))
    return opened + "<link name='l'/>" + '</model>' * depth


@pytest.mark.parametrize('text', [
    '<sdf version="1.12">' + '<model name="m">' * 20_000,
    MODEL.format("<model name='m'><link name='l'/>" * 300 + '</model>' * 300),
    MODEL.format("<link name='l' " + ' '.join(f'a{k}="1"' for k in range(50_000)) + '/>'),
    MODEL.format(''.join(f"<link name='l{k}'/>" for k in range(2_000))),
    MODEL.format("<link name='l'/>" + ''.join(
        f"<frame name='f{k}' attached_to='f{k + 1}'/>" for k in range(3_000))),
    MODEL.format("<link name='l'/>" + ''.join(
        f"<frame name='f{k}'><pose relative_to='f{k + 1}'/></frame>" for k in range(3_000))
        + "<frame name='f3000'/>"),
    MODEL.format("<link name='l'>" + '<a>' * 200 + '</a>' * 200 + '</link>'),
    MODEL.format(f"<link name='{'l' * 1_000_000}'/>"),
    MODEL.format(f"<link name='l'><pose>{'1 ' * 500_000}</pose></link>"),
    MODEL.format(''.join(f'<unknown{k}/>' for k in range(5_000)) + "<link name='l'/>"),
    MODEL.format(placed_by_one_another(40)),
    MODEL.format(''.join(f"<link name='l{k}'><pose relative_to='x{k}'/></link>"
                         for k in range(2_000))),
    f"<sdf version='1.7'><world name='w'><model name='m'><link name='{'s::' * 2000}l'/></model>"
    '</world></sdf>',
    "<sdf version='1.7'><world name='w'><model name='m'>" + ''.join(
        f"<link name='s{k}::l'/>" for k in range(2_000)) + '</model></world></sdf>',
    '\x00' * 1000, '﻿' + MODEL.format("<link name='l'/>"), 'x' * 1_000_000,
], ids=['open', 'nested', 'attributes', 'links', 'attached', 'relative', 'deep', 'name', 'pose',
        'unknown', 'placed', 'hints', 'flat', 'flattened', 'zeros', 'bom', 'text'])
def test_monstrous_files_are_read_or_refused_and_soon(text):
    try_out(text, 'monster')
