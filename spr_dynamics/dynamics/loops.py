"""Loops that joints close: how far they are open, and positions near by that close them."""
from collections.abc import Iterable

from spr_dynamics.dynamics.check import checked_model, checked_position
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
    :param kept: Names of axes, of ``model.dof_names``, of balls and of free roots that stay where
        they are; a name that a root shares with a joint is the joint's.
    :returns: Positions, shape (nq,); the same if all loops are closed there.
    :raises ValueError: If no such positions are found, or a name is unknown.
    :raises TypeError: If ``kept`` is no list of names.
    """
    if isinstance(kept, str) or not isinstance(kept, Iterable):
        raise TypeError(f'kept: a list of names expected, got {kept!r}')
    entries, places = [], places_in_q(checked_model(model))
    for name in kept:
        if not isinstance(name, str) or name not in places:
            raise ValueError(f'kept: no axis, ball or free root {name!r}'
                             f'{name_hint(str(name), places)}')
        entries += places[name]
    return closed_around(model, q, entries)


def places_in_q(model) -> dict[str, range]:
    """Return the entries of q of free roots, balls and axes by name."""
    places = {root.name: range(root.q, root.q + 7) for root in model.free_roots}
    places.update({joint.name: range(joint.q, joint.q + 4) for joint in model.joints
                   if joint.type == 'ball'})
    places.update({axis.name: range(axis.q, axis.q + 1) for axis in model.axes})
    return places


def closed_around(model, q, entries):
    """
    Find positions at which all loops are closed, some entries of q being what they are.

    :param model: The robot.
    :param q: Positions, shape (nq,).
    :param entries: Index of each entry that stays; a turn stays whole, if one of its four does.
    :returns: Positions, shape (nq,); the same if all loops are closed there.
    :raises ValueError: If no such positions are found.
    """
    q = checked_position(model, q).copy()
    gaps = tie_gaps(model.ties, body_poses(model.tree, q))
    if is_closed(gaps):
        return q
    bounds = bounds_of(model.dofs, model.nq)
    bounds[:, entries] = q[entries]
    q, left = closed(model.tree, model.ties, model.followers, bounds, q)
    for k, name in enumerate(model.loop_names):
        problem = said(model.ties, gaps, left, body_poses(model.tree, q), k)
        if problem:
            raise ValueError(f"the loop that joint '{name}' closes {problem}")
    return q
