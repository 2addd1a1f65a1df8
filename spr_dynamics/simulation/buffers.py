"""All the arrays of a simulation, and how its compiled step finds them."""
import numpy as np

from spr_dynamics.contact.geometry import Geometry
from spr_dynamics.contact.pairs import candidate_pairs, capacity
from spr_dynamics.contact.records import CONTACT
from spr_dynamics.dynamics.work import BLOCK_SIZE, Workspace
from spr_dynamics.sensors.measure import SENSOR
from spr_dynamics.simulation.state import State

FREE_VELOCITY, VELOCITY = 0, 1  # rows of the solver's vectors; five more are its scratch
COMMAND, TAU, DIAGONAL, ACCELERATION, ROWS = 7, 8, 9, 10, 11  # rows that the step adds to them

# Entries of a simulation's block, after those of its ``Workspace``: addresses, then sizes.
(GEOMETRY_AT, SENSORS_AT, WATCHED_AT, OPTIONS_AT, LAG_AT, NUMBERS_AT, COUNTERS_AT,
 READINGS_AT, KEPT_AT, FOUND_AT, J_AT, SUPPORT_AT, MATRICES_AT, ROWS_AT, FELT_AT, STAGES_AT,
 N_SHAPES, N_SENSORS, N_CONTACTS, N_MATRIX, INTEGRATOR) = range(
     BLOCK_SIZE, BLOCK_SIZE + 21)

EULER, RK4, MIDPOINT = 0, 1, 2  # values of INTEGRATOR
STAGES = 6  # vectors that an integrator with several stages remembers


class StepBuffers:
    """
    What a simulation's step reads and writes.

    :param model: The robot.
    :param dt: Length of a step [s].
    :param n_sensors: How many contact sensors there are.
    :param options: ``SolverOptions``.
    :param integrator: EULER, RK4 or MIDPOINT.
    """

    def __init__(self, model, dt, n_sensors, options, integrator):
        nq, nv = model.nq, model.nv
        self.pairs = candidate_pairs(model, options, dt)
        n_contacts = capacity(model, self.pairs)
        self.state = State(model, n_sensors, n_contacts)
        self.sensors = np.zeros(n_sensors, SENSOR)
        self.watched = np.zeros((n_sensors, model.shapes.size), np.bool_)
        self.lag = np.zeros(nv)
        """How far the velocity that moves a joint lies back: 0 the new one, 0.5 the mean."""
        n_matrix = nv if n_contacts else 0
        work = Workspace(model, self.state.gravity)
        geometry = Geometry(model, self.pairs)
        state = self.state
        arrays = (
            geometry.block, self.sensors, self.watched,
            options.record(dt), self.lag, state.numbers, state.counters, state.readings,
            state.contacts, np.zeros(n_contacts, CONTACT), np.zeros((n_contacts, 3, nv)),
            np.zeros((n_contacts, nv), np.int64), np.zeros((2, n_matrix, n_matrix)),
            np.zeros((ROWS, nv)), np.zeros((2, n_contacts, 3)), np.zeros((STAGES, nq + nv)))
        sizes = (model.shapes.size, n_sensors, n_contacts, n_matrix, integrator)
        addresses = [array.ctypes.data for array in arrays]
        self.block = np.concatenate([work.block, np.array([*addresses, *sizes], np.int64)])
        self._kept = work, geometry, arrays  # the block holds their addresses only
