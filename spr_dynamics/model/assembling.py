"""A start at which every loop is closed, near one at which some are open."""
import numpy as np

from spr_dynamics.errors import ModelError
from spr_dynamics.model.loops import body_poses, gap_of, tie_gaps, tie_jacobian
from spr_dynamics.model.records import BALL, FREE
from spr_dynamics.sdformat.poses import Pose

CLOSED = 1e-10  # [m] and cosines: round-off of a chain of a few metres
MOST_STEPS = 200
LONGEST = 0.3  # [rad] or [m] of a joint in a step: the ties are taken for straight
DAMPING = 1e-3  # of a step, times the square of what is open
STIFFER, SOFTER = 10.0, 0.3  # after a step that did not help, and after one that did
STUBBORN = 1e12  # damping at which nothing moves any more


def closed(tree, ties, followers, bounds, q):
    """
    Move joints until all loops are closed, by short steps, each the least that helps.

    Levenberg's method on the ties, damped in proportion to what is open. Axes stay within their
    bounds, followers follow; limits of balls are not looked at.

    :param bounds: Lowest and highest position of each entry of q, shape (2, nq). Of free roots and
        balls they say only what stays, by being equal: a coordinate, or the whole turn.
    :param q: Positions to start from, shape (nq,).
    :returns: Positions, and the gaps of the ties there: some are not zero if it can't be done.
    """
    bounds = bounds_of_leaders(followers, bounds)
    q = follow(followers, np.clip(q, *bounds))
    gaps, damping = open_at(tree, ties, q), DAMPING
    for _ in range(MOST_STEPS):
        if is_closed(gaps) or damping > STUBBORN:
            break
        step = least_step(tree, ties, followers, bounds, q, gaps, damping)
        tried = moved(tree, followers, bounds, q, step)
        left = open_at(tree, ties, tried)
        if left @ left < gaps @ gaps:
            q, gaps, damping = tried, left, SOFTER * damping
        else:
            damping *= STIFFER
    return q, gaps


def open_at(tree, ties, q):
    return tie_gaps(ties, body_poses(tree, q))


def is_closed(gaps):
    return bool(np.abs(gaps).max(initial=0.0) < CLOSED)


def bounds_of(dofs, nq):
    """Return the lowest and the highest position by entry of q, shape (2, nq)."""
    bounds = np.tile([[-np.inf], [np.inf]], nq)
    for dof in dofs:
        if dof.q is not None:
            bounds[:, dof.q] = dof.lower, dof.upper
    return bounds


def bounds_of_leaders(followers, bounds):
    """Narrow the bounds of leaders to what their followers may do; drop those of followers."""
    bounds = bounds.copy()
    for f in followers:
        if f['ratio'] != 0.0:
            own = np.sort((bounds[:, f['q']] - f['offset']) / f['ratio'])
            leader = bounds[:, f['leader_q']]
            leader[:] = max(leader[0], own[0]), min(leader[1], own[1])
        bounds[:, f['q']] = -np.inf, np.inf
    return bounds


def follow(followers, q):
    """Let the positions of followers follow, in place, in one state or in each row."""
    q[..., followers['q']] = followers['ratio'] * q[..., followers['leader_q']] + (
        followers['offset'])
    return q


def follow_rates(followers, qd):
    """Let velocities, or accelerations, of followers follow, in place."""
    qd[followers['v']] = followers['ratio'] * qd[followers['leader_v']]


def least_step(tree, ties, followers, bounds, q, gaps, damping):
    """Return the velocities that close the gaps as if they were straight, or would come near."""
    J = tie_jacobian(tree, ties, body_poses(tree, q))
    for f in followers:
        J[:, f['leader_v']] += f['ratio'] * J[:, f['v']]
        J[:, f['v']] = 0.0
    J[:, held(tree, bounds)] = 0.0
    axes = tree[1:][(tree['joint'][1:] != BALL) & (tree['joint'][1:] != FREE)]
    place, entry = axes['v'], axes['q']
    for _ in range(place.size + 1):
        felt = J @ J.T + damping * (gaps @ gaps) * np.eye(ties.size)
        step = -J.T @ np.linalg.lstsq(felt, gaps, rcond=1e-14)[0]
        step *= min(1.0, LONGEST / max(np.abs(step).max(initial=0.0), LONGEST))
        # what stands at a bound and would go beyond it stays
        stuck = place[((step[place] > 0.0) & (q[entry] >= bounds[1, entry]))
                      | ((step[place] < 0.0) & (q[entry] <= bounds[0, entry]))]
        if not J[:, stuck].any():
            break
        J[:, stuck] = 0.0
    return step


def held(tree, bounds):
    """Return the velocities of free roots and balls that would move what stays."""
    stays, velocities = bounds[0] == bounds[1], []
    for record in tree[1:]:
        q, v = record['q'], record['v']
        if record['joint'] == FREE:
            velocities += [v + k for k in range(3) if stays[q + k]]
            q, v = q + 3, v + 3
        if record['joint'] in (FREE, BALL) and stays[q:q + 4].any():
            velocities += range(v, v + 3)
    return velocities


def moved(tree, followers, bounds, q, step):
    """Return the positions that a turn by some velocities leads to, within the bounds."""
    q = q.copy()
    for record in tree[1:]:
        j, v = record['q'], record['v']
        if record['joint'] == BALL:
            if step[v:v + 3].any():  # a turn by nothing would still round off
                turn = Pose.from_quat_wxyz(np.zeros(3), q[j:j + 4]) @ turned_by(step[v:v + 3])
                q[j:j + 4] = turn.quat_wxyz()
        elif record['joint'] == FREE:
            q[j:j + 3] += step[v:v + 3]
            if step[v + 3:v + 6].any():
                turn = Pose.from_quat_wxyz(np.zeros(3), q[j + 3:j + 7])
                q[j + 3:j + 7] = (turned_by(step[v + 3:v + 6]) @ turn).quat_wxyz()
        else:
            q[j] = np.clip(q[j] + step[v], *bounds[:, j])
    return follow(followers, q)


def turned_by(rotation_vector):
    """Return the turn by a rotation vector."""
    angle = np.linalg.norm(rotation_vector)
    return Pose.from_quat_wxyz(np.zeros(3), [
        np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * rotation_vector)])


def is_flipped(ties, poses, loop):
    """Say whether axes that a joint holds together point against each other."""
    held = [(poses[tie['a']].R @ tie['e_a'], poses[tie['b']].R @ tie['e_b']) for tie in ties
            if tie['loop'] == loop and tie['is_angle']]
    if len(held) < 2:
        return False
    (x, z), (y, _) = held[:2]
    return np.cross(x, y) @ z < 0.0 or len(held) > 2 and y @ held[2][1] < 0.0


def said(ties, before, after, poses, loop) -> str:
    """Say why a loop that was open could not be closed; an empty text if it could."""
    start, end = gap_of(ties, before, loop), gap_of(ties, after, loop)
    opening = f'is open by {start.distance:.3g} m ({start.angle:.3g} rad), and '
    if not is_closed(after[ties['loop'] == loop]):
        return (f'{opening}no positions within the limits of the joints were found that leave '
                f'less than {end.distance:.3g} m ({end.angle:.3g} rad)')
    return f'{opening}closes only with axes against each other' if (
        is_flipped(ties, poses, loop)) else ''


def assemble_start(tree, ties, followers, bounds, places, q):
    """
    Close loops that are open where the file puts the joints, if any are.

    :param places: File, line and name of the joint that closes each loop.
    :param q: Positions as the file has them, shape (nq,).
    :returns: Positions, and a warning for each loop that was open.
    :raises ModelError: If a loop can't be closed; says by how much it stays open.
    """
    before = open_at(tree, ties, q)
    if is_closed(before):
        return q, ()
    q, after = closed(tree, ties, followers, bounds, q)
    poses, problems, warnings = body_poses(tree, q), [], []
    for loop, place in enumerate(places):
        problem = said(ties, before, after, poses, loop)
        start = gap_of(ties, before, loop)
        if problem:
            problems.append(f'{place} closes a loop that {problem}')
        elif not is_closed(before[ties['loop'] == loop]):
            warnings.append(f'{place} closes a loop that was open by {start.distance:.3g} m '
                            f'({start.angle:.3g} rad) at the start; joints were moved to close it')
    if problems:
        raise ModelError('\n'.join(problems))
    return q, tuple(warnings)
