"""
Closed loops in a motion: which joints lead, and how the others move with them.

Of n velocities that a loop ties together fewer are free. With as many chosen as there are free
ones, qd = G qd[chosen], and what all joints need is felt there as G^T tau: these efforts do not
depend on how the closing joints share the load.
"""
import numpy as np

from spr_dynamics.dynamics.reduced import spread
from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.explain.columns import velocity_names
from spr_dynamics.model.assembling import moved
from spr_dynamics.model.loops import body_poses, gap_of, tie_gaps, tie_jacobian

SAME = 1e-6  # share of the largest column below which one adds no direction to others
OPEN = 1e-3  # [m] or [rad] more than steps leave open
STEP = 1e-5  # [rad] or [m] to either side, for the slope of a Jacobian
UNBOUNDED = np.array([[-np.inf], [np.inf]])
MOTOR, ROOT, UNLIMITED, PASSIVE = range(4)  # who leads rather than others


def leading_all(model, q) -> np.ndarray:
    """
    Choose the velocities that lead in a whole motion.

    They are those at the first of the moments with the fewest: where bars come to lie in one line
    more could move than the motion needs.

    :param q: Positions at which the loops are closed, shape (n, nq).
    :returns: Index into qd, in order.
    """
    if not model.ties.size:
        return model.independent
    return min((leading(model, position) for position in q), key=len)


def leading(model, q) -> np.ndarray:
    """
    Choose the velocities that lead at some positions; without loops all that follow nobody.

    Joints with an effort limit, which have a motor, lead before others, and those of the same kind
    in the order of the file.

    :param q: Positions at which the loops are closed, shape (nq,).
    :returns: Index into qd, in order.
    """
    if not model.ties.size:
        return model.independent
    J = independent_jacobian(model, q)
    largest = np.linalg.norm(J, axis=0).max(initial=0.0)
    leads, basis = np.ones(model.independent.size, bool), np.zeros((model.ties.size, 0))
    ranks = eagerness(model)[model.independent]
    for k in np.argsort(ranks, kind='stable')[::-1]:
        rest = J[:, k] - basis @ (basis.T @ J[:, k])
        size = np.linalg.norm(rest)
        if size > SAME * largest:
            leads[k], basis = False, np.column_stack([basis, rest / size])
    return model.independent[leads]


def eagerness(model):
    """Return for each velocity which kind of joint it is of: the lower, the rather it leads."""
    limits = model.effort_limit
    ranks = np.where(limits == 0.0, PASSIVE, np.where(np.isinf(limits), UNLIMITED, MOTOR))
    for root in model.free_roots:
        ranks[root.v:root.v + 6] = ROOT
    return ranks


def led(model, chosen) -> list[str]:
    """Return the names of the velocities that move with others since loops are closed."""
    names = velocity_names(model)
    return [names[k] for k in np.setdiff1d(model.independent, chosen)]


def independent_jacobian(model, q):
    """Return how velocities that follow nobody would part the loops."""
    J = tie_jacobian(model.tree, model.ties, body_poses(model.tree, q))
    return J @ spread(model, np.eye(model.independent.size))


def solved_for_led(model, J, chosen, parting):
    """
    Return the velocities that make up for what would part the loops, zero where they lead.

    :param J: What ``independent_jacobian`` returns.
    :param parting: Rates of the gaps, a row for each tie.
    :returns: Those of ``model.independent``, a row each.
    :raises SprDynamicsError: If they don't exist.
    """
    is_led = ~np.isin(model.independent, chosen)
    found, _, rank, _ = np.linalg.lstsq(J[:, is_led], -parting, rcond=SAME)
    left = J[:, is_led] @ found + parting
    if rank < is_led.sum() or not np.allclose(left, 0.0, atol=SAME * max(
            1.0, np.abs(parting).max(initial=0.0))):
        raise SprDynamicsError(
            f'loops are at a dead centre, where {", ".join(led(model, chosen))} do not follow '
            'from the other joints')
    velocities = np.zeros((is_led.size, *parting.shape[1:]))
    velocities[is_led] = found
    return velocities


def velocity_map(model, q, chosen) -> np.ndarray:
    """
    Compute G of qd = G qd[chosen], mimics and closed loops included.

    :param q: Positions, shape (nq,).
    :param chosen: What leads in the motion.
    :raises SprDynamicsError: If a loop is at a dead centre, where others don't follow.
    """
    leads = np.isin(model.independent, chosen)
    G = np.eye(leads.size)[:, leads]
    if model.ties.size:
        J = independent_jacobian(model, q)
        G += solved_for_led(model, J, chosen, J @ G)
    return spread(model, G)


def bend(model, q, qd, chosen) -> np.ndarray:
    """
    Return the accelerations of what is led while what leads has none, shape (nv,).

    :param q: Positions, shape (nq,).
    :param qd: Velocities that keep the loops closed, shape (nv,).
    """
    speed = np.abs(qd).max(initial=0.0)
    if not model.ties.size or speed == 0.0:
        return np.zeros(model.nv)
    bounds = np.tile(UNBOUNDED, model.nq)
    before, after = (
        independent_jacobian(model, moved(model.tree, model.followers, bounds, q,
                                          side * STEP / speed * qd)) for side in (-1.0, 1.0))
    slope = (after - before) @ qd[model.independent] * (speed / (2.0 * STEP))
    return spread(model, solved_for_led(model, 0.5 * (before + after), chosen, slope))


def refuse_open(model, q):
    """
    Stop at positions that are not those of closed loops.

    :raises SprDynamicsError: Names the closing joint and its gap.
    """
    if not model.ties.size:
        return
    gaps = tie_gaps(model.ties, body_poses(model.tree, q))
    for k, name in enumerate(model.loop_names):
        gap = gap_of(model.ties, gaps, k)
        if max(gap) > OPEN:
            raise SprDynamicsError(f"the loop that joint '{name}' closes is open by "
                                   f'{gap.distance:.3g} m ({gap.angle:.3g} rad)')
