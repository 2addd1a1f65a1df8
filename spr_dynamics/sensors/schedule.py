"""When a sensor takes its samples: at steps that are computed from the number of the sample."""
import math

import numpy as np

from spr_dynamics.jit import entry_point, exact, records

# Part of what each sensor remembers.
SCHEDULE = np.dtype([
    ('samples', np.int64),                       # taken so far
    ('step', np.int64),                          # step of the newest sample
    ('enabled', np.bool_),
    ('period', np.float64),                      # [steps], not whole for most rates
    ('first_step', np.int64), ('first_sample', np.int64),  # from which the schedule counts
], align=True)

EARLY = 1e-6  # [steps] a sample that is due this little after a step is taken at it


@exact
def due_step(schedule):
    """
    Return the step at which the next sample is due.

    Computed from the sample's number, so that no error adds up: no interval differs from the
    ideal one by more than a step.
    """
    wait = (schedule.samples - schedule.first_sample) * schedule.period
    return schedule.first_step + np.int64(math.ceil(wait - EARLY))


@exact
def is_due(schedule, step):
    """Say whether a sensor takes a sample at this step."""
    return schedule.enabled and due_step(schedule) == step


@exact
def note_sample(schedule, step):
    """Count a sample that was taken at this step."""
    schedule.samples += 1
    schedule.step = step


@entry_point(records(SCHEDULE))
def next_due_step(schedule):
    """Return the step at which a sensor's next sample is due."""
    return due_step(schedule[0])
