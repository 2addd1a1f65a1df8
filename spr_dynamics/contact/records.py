"""The record arrays of contacts, and the numbers that the solver may be tuned with."""
from dataclasses import dataclass

import numpy as np

# A pair of shapes that may touch, and how. The kind of ``a`` does not come after that of ``b``.
PAIR = np.dtype([
    ('a', np.int64), ('b', np.int64),            # shapes
    ('mu', np.float64),
    ('R', np.float64),                           # softness of the normal law [m/(s N s)]
    ('R_stick', np.float64),                     # softness of sticking
    ('rate', np.float64),                        # at which an overlap is undone [1/s]
    ('max_speed', np.float64),                   # at most this fast [m/s]
    ('min_depth', np.float64),                   # overlap that is left alone [m]
], align=True)

# One contact point: frame C has the normal n, from shape a to shape b, and tangents t1, t2.
CONTACT = np.dtype([
    ('key', np.int64),                           # which features touch: one of its pair's manifold
    ('body_a', np.int64), ('body_b', np.int64),
    ('shape_a', np.int64), ('shape_b', np.int64),
    ('point', np.float64, 3),                    # halfway between the surfaces, world
    ('n', np.float64, 3), ('t1', np.float64, 3), ('t2', np.float64, 3),
    ('gap', np.float64),                         # negative: overlap [m]
    ('mu', np.float64), ('R', np.float64), ('R_stick', np.float64),
    ('b', np.float64),                           # normal velocity that is asked for [m/s]
    ('u', np.float64, 3),                        # velocity of b against a along n, t1, t2
    ('du', np.float64, 3),                       # how it changes along the search direction
    ('impulse', np.float64, 3),                  # on b, along n, t1, t2 [N s]
    ('bound', np.float64),                       # normal impulse that bounds friction [N s]
    ('n_support', np.int64),                     # how many velocities move the point
    ('force', np.float64, 3),                    # on b, world [N]
], align=True)

OPTIONS = np.dtype([
    ('dt', np.float64), ('tolerance', np.float64), ('margin', np.float64),
    ('budget', np.int64),
], align=True)


@dataclass(frozen=True)
class SolverOptions:
    """What the contact law and its solver may be tuned with (`docs/conventions.md`)."""

    beta: float = 0.1
    """Period of the stiffest contact, in steps: smaller is harder."""
    sigma: float = 1e-3
    """Softness of sticking: creep in stiction is about sigma g dt."""
    recovery_speed: float = 1.0
    """An overlap of rigid shapes is undone at most this fast [m/s]."""
    margin: float = 1e-3
    """Gap below which a pair is watched even at rest [m]."""
    tolerance: float = 1e-6
    """Relative residual of momentum at which a solve ends."""
    budget: int = 40
    """Factorisations a step may take."""

    def __post_init__(self):
        """Refuse values that make no law: ValueError, with name, value and range."""
        for name in ('beta', 'sigma', 'recovery_speed', 'tolerance', 'budget'):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: a positive number expected')
        if not 0.0 <= self.margin < np.inf:
            raise ValueError(f'margin = {self.margin}: 0 or more expected')

    def record(self, dt) -> np.ndarray:
        """Return the options that kernels need, as one OPTIONS record."""
        return np.array([(dt, self.tolerance, self.margin, self.budget)], OPTIONS)


DEFAULT_OPTIONS = SolverOptions()
