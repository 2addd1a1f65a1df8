"""Scratch that the algorithms share, one record a body. Names are those of the book's tables."""
import numpy as np

from spr_dynamics.jit import records
from spr_dynamics.spatial import ARTICULATED_INERTIA, FORCE, MOTION, RIGID_INERTIA, TRANSFORM

WORK = np.dtype([
    ('X', np.float64, TRANSFORM),                # parent to body
    ('R_WB', np.float64, 9), ('p_WB', np.float64, 3),
    ('v', np.float64, MOTION), ('c', np.float64, MOTION), ('a', np.float64, MOTION),
    ('f', np.float64, FORCE),
    ('Ic', np.float64, RIGID_INERTIA),
    ('IA', np.float64, ARTICULATED_INERTIA), ('pA', np.float64, FORCE),
    ('U', np.float64, FORCE), ('inv_d', np.float64), ('u', np.float64),
], align=True)
WORK_RECORDS = records(WORK)


class Workspace:
    """
    Buffers for one model: overwritten by every call, worth nothing between calls.

    They start as NaN, so that reading what nobody wrote shows.
    """

    def __init__(self, model):
        self.body = np.full(model.tree.size, np.nan, WORK)
        self.trig = np.full((2, model.nq), np.nan)
        self.no_diagonal = np.zeros(model.nv)


def workspace_of(model) -> Workspace:
    """Return the buffers that the public functions use for a model."""
    workspace = model.buffers.get(Workspace)
    if workspace is None:
        workspace = model.buffers[Workspace] = Workspace(model)
    return workspace
