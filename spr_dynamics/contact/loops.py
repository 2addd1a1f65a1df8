"""How far the sides of a joint that closes a loop have parted, and what brings them together."""
import math

import numpy as np

from spr_dynamics.contact.records import LOOP, TIED
from spr_dynamics.dynamics.jacobian import jacobian
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.dynamics.work import Workspace
from spr_dynamics.jit import exact
from spr_dynamics.spatial import (
    add, as_matrix, as_vector, cross, dot, put_vector, subtract, times)

LEAST_SHARE = 1e-3  # of the largest inverse inertia of the ties


def loop_laws(model, options, dt, M_inv) -> np.ndarray:
    """
    Write how hard each tie holds, for steps of dt: as a rigid contact does.

    :param M_inv: Inverse of the inertia matrix at the pose of the file.
    :returns: ``LOOP`` records.
    """
    loops = np.zeros(model.ties.size, LOOP)
    loops['tie'] = model.ties
    w = np.array([j @ M_inv @ j for j in (tie_jacobian(model, tie) for tie in model.ties)])
    # a direction in which the file's pose can't part is as soft as one that hardly can
    loops['R'] = (options.beta / (2.0 * math.pi)) ** 2 * np.maximum(
        w, LEAST_SHARE * w.max(initial=0.0))
    loops['rate'] = 1.0 / (dt * (1.0 + options.beta / math.pi))
    return loops


def tie_jacobian(model, tie) -> np.ndarray:
    """Return how velocities part the sides of a tie at the pose of the file, shape (nv,)."""
    link_poses(model, model.home)
    place = model.buffers[Workspace].body
    R_WA, p_WA, R_WB, p_WB = (place[key][tie[side]].copy() for side in 'ab'
                              for key in ('R_WB', 'p_WB'))
    R_WA, R_WB = R_WA.reshape(3, 3), R_WB.reshape(3, 3)
    e, point = R_WA @ tie['e_a'], R_WB @ tie['p_b'] + p_WB
    if tie['is_angle']:
        e = np.cross(R_WB @ tie['e_b'], e)
    J_a, J_b = (body_jacobian(model, int(tie[side]), point) for side in 'ab')
    return e @ (J_b - J_a)[:3] if tie['is_angle'] else e @ (J_b - J_a)[3:]


def body_jacobian(model, body, p_W) -> np.ndarray:
    """Return how velocities move a point that a body carries, at the pose of the file."""
    if body == 0:
        return np.zeros((6, model.nv))
    k = int(np.flatnonzero(model.links['body'] == body)[0])
    T_WL = link_poses(model, model.home)[k]
    return jacobian(model, model.home, model.link_names[k], T_WL[:3, :3].T @ (p_W - T_WL[:3, 3]))


@exact
def find_loop_rows(loops, work, rows, count):
    """
    Add a row for each tie, with what it asks for.

    :returns: How many rows there are then.
    """
    for k in range(loops.size):
        tie, row = loops[k].tie, rows[count]
        a, b = work[tie.a], work[tie.b]
        R_WA, R_WB = as_matrix(a.R_WB, 0), as_matrix(b.R_WB, 0)
        p_a = add(as_vector(a.p_WB, 0), times(R_WA, as_vector(tie.p_a, 0)))
        p_b = add(as_vector(b.p_WB, 0), times(R_WB, as_vector(tie.p_b, 0)))
        e = times(R_WA, as_vector(tie.e_a, 0))
        if tie.is_angle:
            e_b = times(R_WB, as_vector(tie.e_b, 0))
            gap = dot(e, e_b) - tie.cosine
            e = cross(e_b, e)
        else:
            gap = dot(e, subtract(p_b, p_a))
        row.kind, row.is_angle, row.body_a, row.body_b = TIED, tie.is_angle, tie.a, tie.b
        put_vector(row.point, 0, p_b)
        put_vector(row.e, 0, e)
        row.R, row.b = loops[k].R, -gap * loops[k].rate
        count += 1
    return count
