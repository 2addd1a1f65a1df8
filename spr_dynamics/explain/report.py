"""Torque terms as a page of text for a terminal of 80 columns."""
import textwrap

import numpy as np

from spr_dynamics.dynamics.crba import mass_matrix
from spr_dynamics.explain.columns import velocity_names
from spr_dynamics.explain.loops import led, velocity_map
from spr_dynamics.explain.parts import parts_of, ROUNDOFF
from spr_dynamics.explain.slowing import slowdown

WIDTH = 80  # characters
NUMBER = 10  # characters of a column of numbers
LONGEST_NAME = 20  # characters; longer names lose their middle
NARROWEST_BAR = 10  # characters
SIGNS = {'gravity': '=', 'velocity': '~', 'inertial': '#'}  # from zero outward
WITHOUT_CONTACTS = 'Efforts are those without contacts: a robot that stands needs others.'
CURES = {
    'inertial': 'A lighter arm, or more time.',
    'velocity': 'Only more time: it is quadratic in speed.',
    'gravity': 'Never time: only a counterweight, a spring or another pose.',
}


def explain(model, motion) -> str:
    """
    Say what the efforts of a motion are for, and what could make them smaller.

    :param model: The robot.
    :param motion: One state, or a trajectory.
    :returns: Text of several lines.
    :raises SprDynamicsError: If an effort is beyond all numbers, or a loop is at a dead centre.
    """
    if not motion.leaders.size:
        return f'{model.name}: nothing moves'
    parts = parts_of(model, motion)
    is_trajectory = motion.time.size > 1
    sections = [heading(model, motion), table_of_parts(parts)]
    if is_trajectory:
        sections.append(table_of_times(parts, motion.time))
    if not parts.is_root.all():
        sections += [cures(parts.of_joints()), limits(model, parts.of_joints())]
    return '\n\n'.join([*sections, coupling(model, motion, parts)])


def heading(model, motion):
    """Say what is shown."""
    first = (f'{shortened(model.name)}: effort = M qdd (inertial, #) + c (velocity, ~) + '
             'g (gravity, =)')
    if motion.time.size > 1:
        first += (f'\nThe peak of each from {motion.time[0]:g} s to {motion.time[-1]:g} s, '
                  f'{motion.time.size} samples; peaks come at different times.')
    rest = ('M qdd changes the speed, c is centrifugal and Coriolis force, g holds the weight. '
            'Dampers, springs and dry friction are not part of it. Bars have what is negative on '
            'the left.')
    if model.followers.size:
        rest += (' What followers need, and what their motors give, is counted with their '
                 'leaders; a follower without an effort limit counts as one without a motor.')
    if model.ties.size:
        rest += f' {on_loops(model, motion.leaders)}'
    if model.free_roots:
        rest += f' {WITHOUT_CONTACTS} A free root has no motor: only contacts can hold it.'
    return f'{first}\n{textwrap.fill(rest, WIDTH)}'


def on_loops(model, chosen):
    """Say who moves whom where loops are closed."""
    names, moved = velocity_names(model), led(model, chosen)
    text = (f'Loops are closed ({", ".join(model.loop_names)}): what {", ".join(moved)} need is '
            'counted with the joints below, which move them.')
    idle = [names[k] for k in np.setdiff1d(model.independent, chosen)
            if 0.0 < model.effort_limit[k] < np.inf]
    if idle:
        text += f' Their own motors ({", ".join(idle)}) are left out, and could help.'
    return text


def shortened(name, length=LONGEST_NAME):
    """Return a name, without its middle if it is too long."""
    if len(name) <= length:
        return name
    half = (length - 2) // 2
    return f'{name[:half]}..{name[len(name) - (length - 2 - half):]}'


def number(value):
    """Write a number with three digits, in less than ``NUMBER`` characters."""
    return f'{value:.0f}' if 999.5 <= abs(value) < 1e6 else f'{value:.3g}'


def name_width(parts):
    """Return how wide the first column of every table is."""
    return max(5, *(len(shortened(name)) for name in parts.names))


def cells(values):
    """Write columns of numbers."""
    return ''.join(number(value).rjust(NUMBER) for value in values)


def heads(parts):
    """Write the line above a table."""
    return 'joint'.ljust(name_width(parts)) + ''.join(
        title.rjust(NUMBER) for title in ('inertial', 'velocity', 'gravity', 'total'))


def peaks(values):
    """Return the value of each column that is farthest from zero, with its sign."""
    return values[np.abs(values).argmax(axis=0), np.arange(values.shape[1])]


def table_of_parts(parts):
    """Write the parts of each joint, or their peaks, as numbers and a bar."""
    shown = {name: peaks(getattr(parts, name)) for name in SIGNS}
    order = (shown['inertial'], shown['velocity'], shown['gravity'], peaks(parts.total))
    width = name_width(parts)
    room = max(NARROWEST_BAR, WIDTH - width - 4 * NUMBER - len(' N m  '))
    lines = [heads(parts)]
    for name, unit, row, bar in zip(parts.names, parts.units, zip(*order),
                                    bars(parts.units, shown, room)):
        lines.append(f'{shortened(name).ljust(width)}{cells(row)} {unit.ljust(3)}  {bar}'.rstrip())
    return '\n'.join(lines)


def bars(units, shown, room):
    """
    Draw a bar for each joint: its parts side by side, negative ones left of the zero line.

    Each unit has a scale of its own.
    """
    table = np.array(list(shown.values()))  # a row for each part, in the order of SIGNS
    sides = np.array([-table.clip(max=0.0), table.clip(min=0.0)]).cumsum(axis=1)
    for unit in set(units):
        mine = [other == unit for other in units]
        sides[:, :, mine] /= sides[:, -1, mine].max() or 1.0
    reach = sides[:, -1].max(axis=1)
    room -= len('||')  # the line, and that both sides may be rounded up
    ends = np.rint(sides * room / (reach.sum() or 1.0)).astype(int)
    left_room = ends[0, -1].max()
    for j in range(len(units)):
        left, right = (''.join(sign * (end - start) for sign, start, end in zip(
            SIGNS.values(), [0, *side[:, j]], side[:, j])) for side in ends)
        yield f'{left[::-1].rjust(left_room)}|{right}'


def table_of_times(parts, time):
    """Write when the peaks are."""
    lines = [heads(parts) + '  peak at [s]']
    order = (parts.inertial, parts.velocity, parts.gravity, parts.total)
    when = [time[np.abs(values).argmax(axis=0)] for values in order]
    for name, *row in zip(parts.names, *when):
        lines.append(shortened(name).ljust(name_width(parts)) + cells(row))
    return '\n'.join(lines)


def cures(parts):
    """Say for each joint which part is largest, and what would make that part smaller."""
    sizes = {name: np.abs(getattr(parts, name)).max(axis=0) for name in CURES}
    table = np.array(list(sizes.values()))
    largest, whole = table.argmax(axis=0), table.sum(axis=0)
    shares = table / np.where(whole, whole, 1.0)
    lines = ['What is largest, with its share, and what cures it:']
    for k, (part, cure) in enumerate(CURES.items()):
        mine = [f'{name} {100 * share:.0f} %'
                for name, share, most in zip(parts.names, shares[k], largest)
                if share and most == k]
        if mine:
            lines += [listed(f'  {part}: ', mine), f'    {cure}']
    idle = [name for name, size in zip(parts.names, whole) if not size]
    return '\n'.join(lines + ([listed('  nothing to carry: ', idle)] if idle else []))


def listed(first, names):
    """Write a list of names, as many lines as it takes."""
    return textwrap.fill(first + ', '.join(name.replace(' ', '\0') for name in names), WIDTH,
                         subsequent_indent='    ', break_long_words=False).replace('\0', ' ')


def limits(model, parts):
    """Say for each joint by what factor the motion has to be slowed to fit its limit."""
    moving, width = parts.inertial + parts.velocity, name_width(parts)
    held = np.flatnonzero(np.isfinite(parts.limit))
    if not held.size:
        return 'No joint has an effort limit.'
    lines = ['Effort limits:', *([WITHOUT_CONTACTS] if model.free_roots else [])]
    for j in held:
        effort, limit = np.abs(parts.total[:, j]).max(), parts.limit[j]
        factor = slowdown(moving[:, j], parts.gravity[:, j], limit)
        use = f'{100 * effort / limit:.0f} %' if limit else ''
        lines.append(f'  {shortened(parts.names[j]).ljust(width)}{number(effort).rjust(NUMBER)} '
                     f'of {number(limit)} {parts.units[j]}'.ljust(width + 27) + use.rjust(5)
                     + f'  {verdict(factor, np.abs(parts.gravity[:, j]).max())}')
    factor = slowdown(moving[:, held], parts.gravity[:, held], parts.limit[held])
    lines.append({1.0: 'All of it fits as it is.', np.inf: 'No slowing makes all of it fit.'}.get(
        factor, f'All of it fits if slowed by {factor_text(factor)}.'))
    return '\n'.join(lines)


def factor_text(factor):
    """Write a factor so that whoever takes it at its word stays within the limit."""
    return f'{np.ceil(1000.0 * factor) / 1000.0:.3f}'


def verdict(factor, weight):
    """Say what a factor of slowing means."""
    if factor == 1.0:
        return 'fits'
    if factor == np.inf:
        return f'never: g alone is {number(weight)}'
    return f'slow by {factor_text(factor)}'


def coupling(model, motion, parts):
    """Write M, at the moment of the largest inertial part, and which two joints it ties most."""
    k = int(np.abs(parts.inertial).max(axis=1).argmax())
    G, width = velocity_map(model, motion.q[k], motion.leaders), name_width(parts)
    M = G.T @ mass_matrix(model, motion.q[k]) @ G
    when = f' at {motion.time[k]:g} s' if motion.time.size > 1 else ''
    lines = [f'M{when}: what the joint of a row feels, by acceleration of that of a column']
    M[np.abs(M) <= ROUNDOFF * own_inertias(M)] = 0.0
    fit = max(1, (WIDTH - width) // NUMBER)
    for start in range(0, len(M), fit):
        block = slice(start, start + fit)
        lines.append(' ' * width + ''.join(
            shortened(name, NUMBER - 1).rjust(NUMBER) for name in parts.names[block]))
        lines += [shortened(name).ljust(width) + cells(row[block])
                  for name, row in zip(parts.names, M)]
    return '\n'.join([*lines, *strongest(M, parts)])


def own_inertias(M):
    """Return sqrt(Mii Mjj), which no Mij exceeds."""
    return np.sqrt(np.outer(np.diag(M), np.diag(M)))


def strongest(M, parts):
    """Name the two joints that feel each other most, against what each feels of itself."""
    ties = np.triu(np.abs(M) / own_inertias(M), 1)
    ties[parts.is_root] = 0.0
    ties[:, parts.is_root] = 0.0
    if not ties.any():
        return []
    i, j = np.unravel_index(ties.argmax(), ties.shape)
    return [textwrap.fill(
        f'Strongest coupling: {parts.names[i]} and {parts.names[j]}, {100 * ties[i, j]:.0f} % of '
        'sqrt(Mii Mjj).', WIDTH)]
