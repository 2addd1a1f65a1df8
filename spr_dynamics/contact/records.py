"""The record arrays of contacts, and the numbers that the solver may be tuned with."""
from dataclasses import dataclass
from numbers import Integral, Real
import sys

import numpy as np

from spr_dynamics.model.records import TIE

# Rows of the solver's vectors, and how it may end.
FREE_VELOCITY, VELOCITY, CHANGE, RESIDUAL, STEP, STEP_MOMENTUM, LEAST, SOLVER_ROWS = range(8)
SOLVED, LAGGED, UNSOLVED, ENDINGS = range(4)

# A pair of shapes that may touch, and how. The kind of ``a`` does not come after that of ``b``.
PAIR = np.dtype([
    ('a', np.int64), ('b', np.int64),            # shapes
    ('w', np.float64),                           # inverse mass that is felt [1/kg]
    ('mu', np.float64, 2),                       # along t1 and t2
    ('R', np.float64),                           # softness of the normal law [m/(s N s)]
    ('R_stick', np.float64, 2),                  # softness of sticking, along t1 and t2
    ('is_round', np.bool_),                      # friction is the same along t1 and t2
    ('guide', np.int64),                         # shape that gives the direction of t1, or -1
    ('restitution', np.float64),                 # of the normal velocity,
    ('bounce_speed', np.float64),                # from this speed on [m/s]
    ('torsion', np.float64),                     # friction about the normal: coefficient,
    ('patch_radius', np.float64),                # arm, or
    ('surface_radius', np.float64),              # what it grows with: sqrt(radius depth)
    ('R_spin', np.float64),                      # its softness [rad/(s N m s)]
    ('rolling', np.float64),                     # arm of the torque against rolling [m]
    ('R_roll', np.float64),                      # its softness
    ('holds', np.bool_),                         # a contact remembers where it began to stick
    ('rate', np.float64),                        # at which an overlap is undone [1/s]
    ('max_speed', np.float64),                   # at most this fast [m/s]
    ('min_depth', np.float64),                   # overlap that is left alone [m]
], align=True)

# One contact point: frame C has the normal n, from shape a to shape b, and tangents t1, t2.
CONTACT = np.dtype([
    ('key', np.int64),                           # which features touch: one of its pair's manifold
    ('pair', np.int64),
    ('body_a', np.int64), ('body_b', np.int64),
    ('shape_a', np.int64), ('shape_b', np.int64),
    ('point', np.float64, 3),                    # halfway between the surfaces, world
    ('n', np.float64, 3), ('t1', np.float64, 3), ('t2', np.float64, 3),
    ('gap', np.float64),                         # negative: overlap [m]
    ('mu', np.float64, 2),                       # along t1 and t2
    ('R', np.float64), ('R_stick', np.float64, 2),
    ('is_round', np.int64),                      # no bool: snapshots would hold what pads it
    ('b', np.float64, 3),                        # velocity asked for along n, t1, t2 [m/s]
    ('b_calm', np.float64),                      # along n where nothing bounces
    ('bounce', np.float64),                      # along n after an impact, 0: nothing bounces
    ('u', np.float64, 3),                        # velocity of b against a along n, t1, t2
    ('du', np.float64, 3),                       # how it changes along the search direction
    ('impulse', np.float64, 3),                  # on b, along n, t1, t2 [N s]
    ('state', np.int64),                         # OPEN, STICKING or SLIDING
    ('bound', np.float64),                       # normal impulse that bounds friction [N s]
    ('bound_mixed', np.float64),                 # the one to try next,
    ('bound_before', np.float64),                # an earlier one,
    ('miss_before', np.float64),                 # and by how much the impulse was another
    ('n_support', np.int64),                     # how many velocities move the point
    ('at_a', np.float64, 3), ('at_b', np.float64, 3),  # the point in the frames of both shapes
    ('stretch', np.float64, 3),                  # b's way since it began to stick, in shape a [m]
    ('force', np.float64, 3),                    # on b, world [N]
], align=True)

OPEN, STICKING, SLIDING = range(3)  # states of a contact: no force, friction holds, or does not

# Kinds of rows: acts one way; both ways up to a bound; always; up to what a contact's force gives.
LIMIT, FRICTION, TIED, TURNING = range(4)
RIGID_LIMIT = 1e8  # [N m/rad] or [N/m] SDF's default stiffness of a limit, which stands for none

# What limits a joint axis, for steps of one length.
JOINT = np.dtype([
    ('q', np.int64), ('v', np.int64), ('body', np.int64),
    ('column', np.int64),                        # of the velocity, or of the leader's
    ('ratio', np.float64),                       # of the velocity to the leader's
    ('lower', np.float64), ('upper', np.float64), ('velocity_limit', np.float64),
    ('R', np.float64),                           # softness of the limits
    ('rate', np.float64),                        # at which a violation is undone [1/s]
    ('max_speed', np.float64),                   # at most this fast
    ('R_rigid', np.float64),
    ('friction', np.float64),                    # bound on the impulse of a step
    ('R_stick', np.float64),
], align=True)

# How far a ball bends and twists, for steps of one length; frame C has the cone's centre on z.
CONE = np.dtype([
    ('q', np.int64), ('v', np.int64), ('body', np.int64),
    ('column', np.int64),                        # the first of its velocities
    ('q_CJ', np.float64, 4),                     # the joint's frame in the parent, w x y z
    ('swing', np.float64),                       # how far z may turn away [rad], inf: any far
    ('lower', np.float64), ('upper', np.float64),  # of the twist [rad], inf: any
    ('inverse_inertia', np.float64, 6),          # felt by its velocities
    ('softness', np.float64),                    # R of an inverse inertia of 1
    ('rate', np.float64),                        # at which a violation is undone [1/s]
    ('max_speed', np.float64),                   # at most this fast
], align=True)

# A joint axis that follows another, counted as columns.
FOLLOWING = np.dtype([
    ('v', np.int64), ('leader_v', np.int64),     # columns
    ('trunk', np.int64), ('leader_trunk', np.int64),  # of the trees that they are in
    ('ratio', np.float64),
], align=True)

# A tie of a closed loop, for steps of one length.
LOOP = np.dtype([
    ('tie', TIE),
    ('R', np.float64),                           # softness
    ('rate', np.float64),                        # at which a gap is undone [1/s]
    ('max_speed', np.float64),                   # at most this fast
], align=True)

# One impulse: of a joint, w = e . its velocities, or between the sides of a closed loop, or of
# two things that roll or spin on each other.
ROW = np.dtype([
    ('kind', np.int64),
    ('body_a', np.int64), ('body_b', np.int64),  # as of a contact; a is the world for a joint
    ('column', np.int64), ('n_columns', np.int64),  # of the joint's velocities, 1 or 3
    ('is_angle', np.bool_), ('point', np.float64, 3),  # between bodies, world
    ('e', np.float64, 3),                        # in the columns, or between bodies in the world
    ('tie', np.int64),                           # TIED: one of the joint that it belongs to
    ('contact', np.int64), ('arm', np.float64),  # TURNING: whose force times this is the bound [m]
    ('at', np.int64),                            # its place in the arrays of Jacobians
    ('n_support', np.int64),                     # how many velocities it feels
    ('R', np.float64), ('b', np.float64), ('bound', np.float64),
    ('w', np.float64), ('dw', np.float64),
    ('impulse', np.float64),
], align=True)

OPTIONS = np.dtype([
    ('dt', np.float64), ('tolerance', np.float64), ('margin', np.float64),
    ('budget', np.int64),
], align=True)

LARGEST = sys.float_info.max  # a whole number above is none of 64 bits
LARGEST_BUDGET = 1_000_000  # more would not end within a day


@dataclass(frozen=True)
class SolverOptions:
    """What the contact law and its solver may be tuned with (`docs/conventions.md`)."""

    beta: float = 0.1
    """Period of the stiffest contact, in steps: smaller is harder."""
    sigma: float = 1e-3
    """Softness of sticking: creep in stiction is about sigma g dt."""
    recovery_speed: float = 1.0
    """An overlap of rigid shapes is undone at most this fast [m/s]."""
    anchor: bool = True
    """Whether a contact that sticks remembers where, so that it does not creep at all."""
    margin: float = 1e-3
    """Gap below which a pair is watched even at rest [m]."""
    tolerance: float = 1e-6
    """Relative residual of momentum at which a solve ends."""
    budget: int = 60
    """Factorisations a step may take, from each of two starts."""

    def __post_init__(self):
        """Refuse values that make no law: ValueError, with name, value and range."""
        for name in ('beta', 'sigma', 'recovery_speed', 'tolerance'):
            value = getattr(self, name)
            if not (is_number(value, Real) and 0.0 < value <= LARGEST):
                raise ValueError(f'{name} = {value!r}: a positive number expected')
        if not (is_number(self.margin, Real) and 0.0 <= self.margin <= LARGEST):
            raise ValueError(f'margin = {self.margin!r}: 0 or more expected')
        if not (is_number(self.budget, Integral) and 0 < self.budget <= LARGEST_BUDGET):
            raise ValueError(f'budget = {self.budget!r}: a whole number from 1 to '
                             f'{LARGEST_BUDGET} expected')
        if not isinstance(self.anchor, bool):
            raise ValueError(f'anchor = {self.anchor!r}: True or False expected')

    def record(self, dt) -> np.ndarray:
        """Return the options that kernels need, as one OPTIONS record."""
        return np.array([(dt, self.tolerance, self.margin, self.budget)], OPTIONS)


def is_number(value, kind) -> bool:
    """Answer whether a value is a number of a kind; a truth value is none."""
    return isinstance(value, kind) and not isinstance(value, bool)


DEFAULT_OPTIONS = SolverOptions()
