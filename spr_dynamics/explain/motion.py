"""The motion to be explained: a state from the command line, or a trajectory from a file."""
import contextlib
import csv
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.dynamics.check import checked_position, checked_velocity
from spr_dynamics.dynamics.loops import closed_around
from spr_dynamics.errors import name_hint, SprDynamicsError
from spr_dynamics.explain.columns import (
    position_columns, position_names, velocity_columns, velocity_names)
from spr_dynamics.explain.loops import (
    bend, leading, leading_all, refuse_open, velocity_map)
from spr_dynamics.model.assembling import follow

FOLLOWS = 'follows another joint; give that'


class Motion(NamedTuple):
    """States of a robot in the order of time; one state has the time 0."""

    time: np.ndarray
    """[s], shape (n,)."""
    q: np.ndarray
    """Shape (n, nq)."""
    qd: np.ndarray
    """Shape (n, nv)."""
    qdd: np.ndarray
    """Shape (n, nv)."""
    leaders: np.ndarray
    """The velocities that lead, index into qd; the others follow them or move with them."""


def state(model, q=(), qd=(), qdd=()) -> Motion:
    """
    Make a motion of one state: at rest as the file poses the robot, but for what is given.

    :param model: The robot.
    :param q: Texts ``NAME=VALUE``, with the names of ``position_names``.
    :param qd: The same, with those of ``velocity_names``.
    :param qdd: The same as ``qd``.
    :raises SprDynamicsError: If a name is not known, comes twice or follows another, or a value is
        no number, or if a loop can't be closed or is at a dead centre.
    """
    still, followers = np.zeros(model.nv), dict.fromkeys(model.followers['q'].tolist(), FOLLOWS)
    position, given = assigned('--q', q, position_names(model), followers, model.neutral_q())
    position = follow(model.followers, position)
    if model.ties.size:
        position = closed_for(model, position, given)
    refuse_wrong(model, np.zeros(1), position[None], '--q')
    leaders = leading(model, position)
    following = dependent(model, leaders)
    velocity, _ = assigned('--qd', qd, velocity_names(model), following, still)
    change, _ = assigned('--qdd', qdd, velocity_names(model), following, still)
    return together(model, Motion(np.zeros(1), position[None], velocity[None], change[None],
                                  leaders), '--qd')


def closed_for(model, q, given):
    """Close loops by moving joints, and what free roots can do, whose positions are not given."""
    entries = [k for k, name in enumerate(position_names(model)) if name in given]
    try:
        return closed_around(model, q, entries)
    except ValueError as error:
        raise SprDynamicsError(f'--q: {error}') from None


def dependent(model, chosen) -> dict[int, str]:
    """Return which velocities are not free, with what to say of each."""
    names = velocity_names(model)
    leaders = ', '.join(f"'{names[k]}'" for k in chosen)
    moves = f'moves with the others, since loops are closed; what leads is {leaders}'
    return {**dict.fromkeys(np.setdiff1d(model.independent, chosen).tolist(), moves),
            **dict.fromkeys(model.followers['v'].tolist(), FOLLOWS)}


def assigned(option, texts, names, following, values):
    """
    Replace values that an option gives by name.

    :param following: Those that can't be given, by their place, with the reason.
    :returns: Values, and the names of those that were given.
    """
    values, given = values.copy(), set()
    free = [name for k, name in enumerate(names) if k not in following]
    for text in texts:
        name, _, number = text.rpartition('=')
        if not name:
            raise SprDynamicsError(f"{option} {text}: NAME=VALUE expected, as in "
                                   f"'{(free or ['elbow'])[0]}=0.5'")
        if name in names and name not in free:
            raise SprDynamicsError(
                f"{option} {text}: '{name}' {following[names.index(name)]}")
        if name not in free:
            raise SprDynamicsError(f"{option} {text}: no '{name}'{name_hint(name, free)}")
        if name in given:
            raise SprDynamicsError(f"{option} {text}: '{name}' has a value already")
        given.add(name)
        values[names.index(name)] = as_number(number, f'{option} {text}')
    return values, given


def as_number(text, where):
    """Read a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SprDynamicsError(f"{where}: a finite number expected, got '{text}'")
    return number


def trajectory(model, path) -> Motion:
    """
    Read a motion from a CSV with the columns that `simulate --csv` writes.

    Joints that follow others need no columns, and those that loops move none for velocities. What
    has no ``.acceleration`` column gets the slope of its velocity, by central differences.

    :raises SprDynamicsError: If the file can't be read, a column is missing or has something else
        than numbers, time does not advance, or a loop is open or at a dead centre.
    """
    heads, table = read_table(path)
    time = column(path, heads, table, 'time')
    if time.size < 2 or not (np.diff(time) > 0.0).all():
        raise SprDynamicsError(f"{path}: two rows or more expected, with a 'time' that grows from "
                               'row to row')
    q = follow(model.followers, columns(
        path, heads, table, position_columns(model), model.followers['q']))
    refuse_wrong(model, time, q, path)
    leaders = leading_all(model, q)
    following = dependent(model, leaders)
    qd = columns(path, heads, table, velocity_columns(model), following)
    qdd = np.gradient(qd, time, axis=0)
    for k, name in enumerate(velocity_columns(model, 'acceleration')):
        if name in heads:
            qdd[:, k] = column(path, heads, table, name)
    return together(model, Motion(time, q, qd, qdd, leaders), path)


def read_table(path):
    """Read a CSV: the names in its first line, and the texts below them."""
    try:
        with open(path, newline='', encoding='utf-8') as file:
            heads, *rows = [row for row in csv.reader(file) if row] or [[]]
    except OSError as error:
        raise SprDynamicsError(f'{path}: {error.strerror}') from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SprDynamicsError(f'{path}: not a CSV file: {error}') from None
    for number, row in enumerate(rows, 2):
        if len(row) != len(heads):
            raise SprDynamicsError(f'{path}: row {number} has {len(row)} of {len(heads)} columns')
    return heads, rows


def column(path, heads, rows, name):
    """Return the numbers below a name."""
    if name not in heads:
        raise SprDynamicsError(f"{path}: no column '{name}'{name_hint(name, heads)}")
    k = heads.index(name)
    return np.array([as_number(row[k], f"{path}: row {number}, column '{name}'")
                     for number, row in enumerate(rows, 2)])


def columns(path, heads, rows, names, following):
    """Return the numbers below some names, without those that follow others."""
    return np.stack([np.zeros(len(rows)) if k in following else column(path, heads, rows, name)
                     for k, name in enumerate(names)], axis=1).reshape(len(rows), len(names))


@contextlib.contextmanager
def at(moment, where):
    """Begin the message of an error with where and when it is."""
    try:
        yield
    except (ValueError, SprDynamicsError) as error:
        raise SprDynamicsError(f'{where}: at {moment:g} s: {error}') from None


def refuse_wrong(model, time, q, where):
    """Stop at positions that are none, or at which a loop is open."""
    for moment, position in zip(time, q):
        with at(moment, where):
            checked_position(model, position)
            refuse_open(model, position)


def together(model, motion, where) -> Motion:
    """Let followers follow and closed loops lead what they do, in place; check velocities."""
    chosen = motion.leaders
    for moment, position, velocity, change in zip(*motion[:4]):
        with at(moment, where), np.errstate(over='ignore', invalid='ignore'):  # checked later
            checked_velocity(model, velocity)
            G = velocity_map(model, position, chosen)
            velocity[:] = G @ velocity[chosen]
            change[:] = G @ change[chosen] + bend(model, position, velocity, chosen)
    return motion
