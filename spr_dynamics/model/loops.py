"""How far the sides of joints that close loops have parted, and how velocities part them."""
from typing import NamedTuple

import numpy as np

from spr_dynamics.model.records import AXIS, BALL, FREE, pose_from_transform
from spr_dynamics.sdformat.poses import Pose


class LoopGap(NamedTuple):
    """How far the two sides of a closing joint are from where it holds them."""

    distance: float
    """Of its point [m]."""
    angle: float
    """Of its axes [rad]."""


def body_poses(tree, q) -> list[Pose]:
    """Return where each body is in the world, one after the other without kernels."""
    poses = [Pose.identity()]
    for record in tree[1:]:
        j = record['q']
        T_WB = poses[record['parent']] @ pose_from_transform(record['X'])
        if record['joint'] == FREE:
            T_WB = Pose.from_quat_wxyz(q[j:j + 3], q[j + 3:j + 7])
        elif record['joint'] == BALL:
            T_WB = T_WB @ Pose.from_quat_wxyz(np.zeros(3), q[j:j + 4])
        else:
            T_WB = T_WB @ Pose.from_rpy((0.0, 0.0, record['slide'] * q[j]),
                                        (0.0, 0.0, record['turn'] * q[j]))
        poses.append(T_WB)
    return poses


def tie_gaps(ties, poses) -> np.ndarray:
    """Return what each tie has to keep at zero: a distance [m], or a cosine less its own."""
    gaps = np.empty(ties.size)
    for k, tie in enumerate(ties):
        A, B = poses[tie['a']], poses[tie['b']]
        e = A.R @ tie['e_a']
        gaps[k] = (e @ (B.R @ tie['e_b']) - tie['cosine'] if tie['is_angle']
                   else e @ (B.R @ tie['p_b'] + B.p - A.R @ tie['p_a'] - A.p))
    return gaps


def tie_jacobian(tree, ties, poses) -> np.ndarray:
    """Return how velocities change the gaps of ties, shape (number of ties, nv)."""
    J = np.zeros((ties.size, tree[0]['end_column']))
    for row, tie in zip(J, ties):
        A, B = poses[tie['a']], poses[tie['b']]
        e, point = A.R @ tie['e_a'], B.R @ tie['p_b'] + B.p
        if tie['is_angle']:
            e = np.cross(B.R @ tie['e_b'], e)
        for body, sign in ((tie['b'], 1.0), (tie['a'], -1.0)):
            while body > 0:
                turns, moves = directions(tree[body], poses[body], point)
                v = tree[body]['v']
                row[v:v + len(turns)] += sign * ((turns if tie['is_angle'] else moves) @ e)
                body = tree[body]['parent']
    return J


def directions(record, T_WB, point):
    """Return how a joint's velocities turn what it carries, and move a point of it, by row."""
    still, unit = np.zeros((3, 3)), np.eye(3)
    if record['joint'] == AXIS:
        axes = T_WB.R[:, 2:].T
        turns, slides = record['turn'] * axes, record['slide'] * axes
    elif record['joint'] == BALL:
        turns, slides = T_WB.R.T, still
    else:
        turns, slides = np.vstack([still, unit]), np.vstack([unit, still])
    return turns, slides + np.cross(turns, point - T_WB.p)


def gap_of(ties, gaps, loop):
    """Sum up the gaps of one loop's ties."""
    mine = ties['loop'] == loop
    distance, sine = (np.linalg.norm(gaps[mine & (ties['is_angle'] == is_angle)])
                      for is_angle in (False, True))
    return LoopGap(float(distance), float(np.arcsin(min(sine, 1.0))))
