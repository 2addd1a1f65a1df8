"""Loops that joints close: how far they are open, and positions near by that close them."""
from collections.abc import Iterable

from spr_dynamics.dynamics.check import checked_position
from spr_dynamics.errors import name_hint
from spr_dynamics.model.assembling import bounds_of, closed, is_closed, said
from spr_dynamics.model.loops import body_poses, gap_of, LoopGap, tie_gaps


def loop_gaps(model, q) -> dict[str, LoopGap]:
    """
    Measure how far the two sides of each joint that closes a loop have parted.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :returns: Distance [m] and angle [rad] by name of the closing joint.
    :raises ValueError: If ``q`` has another shape or is not finite.
    """
    q = checked_position(model, q)
    gaps = tie_gaps(model.ties, body_poses(model.tree, q))
    return {name: gap_of(model.ties, gaps, k) for k, name in enumerate(model.loop_names)}


def closed_positions(model, q, kept=()):
    """
    Find positions at which all loops are closed, near positions at which some may be open.

    Axes stay within their limits and followers follow; cones of balls are not looked at.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param kept: Names of axes, of ``model.dof_names``, that stay where they are.
    :returns: Positions, shape (nq,); the same if all loops are closed there.
    :raises ValueError: If no such positions are found, or a name is unknown.
    :raises TypeError: If ``kept`` is no list of names.
    """
    q = checked_position(model, q).copy()
    entry = {axis.name: axis.q for axis in model.axes}
    if isinstance(kept, str) or not isinstance(kept, Iterable):
        raise TypeError(f'kept: a list of names of axes expected, got {kept!r}')
    kept = list(kept)
    for name in kept:
        if not isinstance(name, str) or name not in entry:
            raise ValueError(f'no joint axis {name!r}{name_hint(str(name), entry)}')
    gaps = tie_gaps(model.ties, body_poses(model.tree, q))
    if is_closed(gaps):
        return q
    bounds = bounds_of(model.dofs, model.nq)
    bounds[:, [entry[name] for name in kept]] = q[[entry[name] for name in kept]]
    q, left = closed(model.tree, model.ties, model.followers, bounds, q)
    for k, name in enumerate(model.loop_names):
        problem = said(model.ties, gaps, left, body_poses(model.tree, q), k)
        if problem:
            raise ValueError(f"the loop that joint '{name}' closes {problem}")
    return q
