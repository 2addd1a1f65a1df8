"""
Write docs/sdf_support.md from the loader's own table of elements.

To bring the page up to date: ``python docs/sdf_support.py > docs/sdf_support.md``.
"""
import math

import numpy as np

from spr_dynamics.sdformat.schema import (
    BALL_LIMITS, Branch, FOREIGN, JOINT_TYPES, Leaf, PATCH, Quiet, Refused, REQUIRED, SCHEMA,
    Warned)

HEADING = f"""\
# What is read of SDFormat

Made by `python docs/sdf_support.py > docs/sdf_support.md` from the table that the loader itself
uses (`spr_dynamics/sdformat/schema.py`). Files of version 1.2 to 1.12 are converted to 1.12 first.
`spr-dynamics check FILE` says all of this about one file, with lines.

* **read**: with the default that stands here when it is missing or empty. The README says which of
  this is simulated; a warning by name says what is not.
* **quiet**: accepted; it does not change the motion.
* **warned**: accepted with one warning by name, unless all that it holds is zero, false or empty.
* **refused**: not loaded, since the motion would be wrong without it; `check` warns of it.

A mesh touches by convex pieces, and all of a collision's go by its name. They are the parts of its
file (objects and groups of OBJ, geometries of Collada), taken apart where they do not hang
together. A shell that faces the other way than one whose box holds it is a cavity of that one.
Surfaces with a rim are parts where a plane across an axis goes between them, with a gap of 1 % of
their size. A part that is not convex counts as its convex hull, with a warning that says how much
of that it fills. `optimization="convex_hull"` takes one hull around all, without a word;
`optimization="convex_decomposition"` has what is not convex cut by CoACD (extra `[mesh]`), once a
machine: pieces are kept beside the machine code. There is a warning without CoACD; of a
`<convex_decomposition>` without that attribute, which is ignored; of another text in it, which
counts as none, as in libsdformat; and of a `voxel_resolution` below 8000 or above 1000000,
which counts as the nearer of the two. `<submesh>` is refused by name.

Elements that are not in SDFormat are warned about by name, with the nearest name that is. Those
with a namespace prefix (`gz:`) are somebody's own data; ours is `spr:`. There is a warning of
{', '.join(f'`{name}`' for name in FOREIGN)}, which says how joints move and is ignored.

Joint types that are read: {', '.join(JOINT_TYPES)}.

Included files are looked up where `spr_dynamics.sdformat.uris.SearchPath` says: relative URIs from
the including file, then the file asked for; `model://` in a folder `models` beside the file asked
for, then in each `--model-path`, `SDF_PATH`, `GZ_SIM_RESOURCE_PATH`; `package://` in the share
folder of the package. Nothing is fetched from a network.

## Where the loader is stricter than libsdformat

| a file says | libsdformat | here | why |
|---|---|---|---|"""
STRICTER = (
    ('`2kg`, `2,5`, `0x10`, `nan` for a number', 'takes what the text begins with', 'refused',
     'a typing error becomes another robot'),
    ('`inf` for a mass, a size, a coefficient or a position', 'takes it', 'refused',
     'nothing can be computed with it'),
    ('four numbers for a vector of three', 'ignores the fourth', 'refused',
     'one of them is wrong'),
    ('a bitmask that is negative, has decimals or more words', 'takes what the text begins with',
     'refused', 'no bits are meant'),
    ('a polyline of fewer than three corners', 'loads it', 'refused', 'no shape'),
    ('a URDF link with an `<inertial>` that lacks `<mass>` or `<inertia>`',
     'takes zero for what follows', 'refused', 'a typing error becomes another robot'),
    ('a quaternion of length zero', 'loads it', 'refused', 'no rotation'),
    ('a quaternion of another length', 'keeps its length', 'normalised',
     'a rotation has no length'),
    ('a size of zero or less', 'takes the default, or loads it', 'refused', 'no shape'),
    ('`max_convex_hulls` or `voxel_resolution` of zero, below it, or with decimals', 'loads it',
     'refused', 'no number of pieces'),
    ('`lower` above `upper`', 'loads it', 'refused', 'no position is allowed'),
    ('negative damping, dry friction or spring stiffness', 'loads it', 'refused',
     'energy from nothing'),
    ('a `kp` of zero, a negative `min_depth`, `max_vel`, slip, rate or deviation of noise',
     'loads it', 'refused', 'no contact, rate or noise fits'),
    ('a joint without the axis that its type needs', 'loads it without',
     'a warning of `check`, refused when simulated', 'it would move some other way'),
    ('a `<heightmap>` or `<polyline>` in a `<collision>`', 'loads it',
     'a warning of `check`, refused when simulated', 'things would fall through it'),
    ('a contact sensor that names a collision which its link lacks', 'loads it',
     'refused, with the names', 'it would never feel anything'),
    ('mimics in a circle, of a ball or a fixed joint, or with `nan`', 'loads it', 'refused',
     'no motion fits'),
    ('a link, joint or frame of a nested model that shares its name with one of another kind',
     'renames one, as in versions up to 1.6', 'refused, from version 1.7 on',
     'which of them is meant is a guess'),
    ('a joint, axis or mimic of a nested model that names what is not there', 'does not look',
     'refused', 'it would hang on nothing'),
    ('a DOCTYPE', 'skips it', 'refused', 'files are no programs'),
    ('an unknown or newer version', 'an error, and reads on',
     'refused, unless `--any-version` is given', 'it may mean something else'),
    ('a URI that leads out of its model folder by `..`', 'follows it', 'refused',
     'a model has no business there'),
)


def main():
    """Print the page."""
    print(HEADING)
    for cells in STRICTER:
        print(f'| {" | ".join(cells)} |')
    print('\n## Elements\n')
    for kind, table in SCHEMA.items():
        if kind != 'axis2' and table:
            print(f'### `<{kind}>`\n\n| | | |\n|---|---|---|')
            for name, entry in table.items():
                print(row(name, entry))
            print()
    print('### `spr:` elements\n\nIn the `<contact>` of a contact sensor: '
          + ', '.join(f'`spr:{name}`' for name in PATCH)
          + '. In a ball joint: ' + ', '.join(f'`spr:{name}`' for name in BALL_LIMITS) + '.')


def row(name, entry):
    """Return a line of a table: name, what becomes of it, default or reason."""
    shown = f'`@{name[1:]}`' if name.startswith('@') else f'`<{name}>`'
    if isinstance(entry, Leaf):
        return f'| {shown} | read | {default(entry.default)} |'
    if isinstance(entry, Branch):
        return f'| {shown} | read | |'
    word = {Quiet: 'quiet', Warned: 'warned', Refused: 'refused'}[type(entry)]
    return f'| {shown} | {word} | {entry.why} |'


def default(value):
    """Write a default as a file would."""
    if value is REQUIRED:
        return 'required'
    if isinstance(value, np.ndarray):
        return ' '.join(f'{x:g}' for x in value.ravel())
    if value is None or value == '':
        return ''
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).replace('inf', '∞') if math.isinf(value) else f'{value:g}'
    return str(value)


if __name__ == '__main__':
    main()
