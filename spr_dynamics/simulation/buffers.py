"""All the arrays of a simulation, and how its compiled step finds them."""
import numpy as np

from spr_dynamics.contact.cones import cone_laws
from spr_dynamics.contact.geometry import Geometry
from spr_dynamics.contact.islands import ISLAND, TRUNK
from spr_dynamics.contact.joints import joint_laws
from spr_dynamics.contact.loops import loop_laws
from spr_dynamics.contact.pairs import (
    candidate_pairs, capacity, inverse_inertias, turning_rows)
from spr_dynamics.contact.records import CONTACT, FOLLOWING, ROW, SOLVER_ROWS
from spr_dynamics.dynamics.work import BLOCK_SIZE, Workspace
from spr_dynamics.sensors.inertial import FORCE_TORQUE, IMU
from spr_dynamics.sensors.measure import FELT, SENSOR
from spr_dynamics.simulation.state import State

# Rows of the step's vectors.
FREE_VELOCITY, VELOCITY, COMMAND, TAU, DIAGONAL, ACCELERATION, ROWS = range(7)

# Entries of a simulation's block, after those of its ``Workspace``: addresses, sizes, and
# addresses of what is compiled only if the model needs it, 0 if not.
(GEOMETRY_AT, JOINTS_AT, CONES_AT, LOOPS_AT, HINGES_AT, SENSORS_AT, WATCHED_AT, OPTIONS_AT, LAG_AT,
 Q_AT, QD_AT, QDD_AT, EFFORT_AT, CHANGE_AT, COUNTERS_AT, READINGS_AT, KEPT_AT, FOUND_AT, LIMITS_AT,
 SORTED_LIMITS_AT, J_AT, SUPPORT_AT, ROW_J_AT, ROW_SUPPORT_AT, TRUNKS_AT, ISLANDS_AT, MEMBERS_AT,
 FOLLOWING_AT, MATRICES_AT, INDICES_AT, ROWS_AT, SOLVER_AT, FELT_AT, TAXELS_AT, STAGES_AT, IMUS_AT,
 IMU_MEMORIES_AT, FORCE_TORQUES_AT, FORCE_TORQUE_MEMORIES_AT, BODIES_BEYOND_AT, LINKS_BEYOND_AT,
 SHAPES_BEYOND_AT, TIES_BEYOND_AT, TIE_RESPONSES_AT, TIE_MATRIX_AT, TIE_VECTORS_AT, N_SHAPES,
 N_JOINTS, N_CONES, N_LOOPS, N_HINGES, N_SENSORS, N_TAXELS, N_CONTACTS, N_LIMITS, N_WIDTH, N_REACH,
 N_MATRIX, INTEGRATOR, N_IMUS, N_FORCE_TORQUES, SEARCH_AT, CONSTRAIN_AT, FEEL_CONTACTS_AT,
 FEEL_MOTION_AT, BLOCK_END) = range(BLOCK_SIZE, BLOCK_SIZE + 66)

EULER, RK4, MIDPOINT = 0, 1, 2  # values of INTEGRATOR
STAGES = 5  # vectors that an integrator with several stages remembers
TIE_VECTORS = 5  # vectors of a number for each tie that it needs to keep loops closed
MATRICES = 3  # inertia of all velocities, that of an island, and scratch
INDICES = 4  # vectors of whole numbers that an island needs
ROWS_A_JOINT = 5  # both limits of position, both of velocity, and friction
ROWS_A_CONE = 6  # a square around the circle, and both limits of twist


class StepBuffers:
    """
    What a simulation's step reads and writes.

    :param model: The robot.
    :param dt: Length of a step [s].
    :param n_sensors: How many contact sensors there are, IMUs, and force-torque sensors.
    :param n_taxels: How many cells the contact sensors have together.
    :param options: ``SolverOptions``.
    :param integrator: EULER, RK4 or MIDPOINT.
    """

    def __init__(self, model, dt, n_sensors, n_taxels, options, integrator):
        nb, nq, nv = model.tree.size, model.nq, model.nv
        w_body, M_inv = inverse_inertias(model)
        self.pairs = candidate_pairs(model, options, dt, w_body)
        joints = joint_laws(model, options, dt, np.diag(M_inv))
        cones = cone_laws(model, options, dt, M_inv)
        loops = loop_laws(model, options, dt, M_inv)
        n_contacts = capacity(model, self.pairs)
        n_between = loops.size + model.hinges.size + turning_rows(model, self.pairs)
        n_limits = ROWS_A_JOINT * joints.size + ROWS_A_CONE * cones.size + n_between
        n_tactile, n_imus, n_force_torques = n_sensors
        self.state = State(model, n_sensors, n_taxels, n_contacts)
        self.sensors = np.zeros(n_tactile, SENSOR)
        self.watched = np.zeros((n_tactile, model.shapes.size), np.bool_)
        self.imus = np.zeros(n_imus, IMU)
        self.force_torques = (
            np.zeros(n_force_torques, FORCE_TORQUE), np.zeros((n_force_torques, nb), np.bool_),
            np.zeros((n_force_torques, model.links.size), np.bool_),
            np.zeros((n_force_torques, model.shapes.size)),
            np.zeros((n_force_torques, loops.size)))
        self.felt = np.zeros(n_contacts, FELT)
        self.lag = np.zeros(nv)
        """How far the velocity that moves a joint lies back: 0 the new one, 0.5 the mean."""
        self.rows, self.stages = np.zeros((ROWS, nv)), np.zeros((STAGES, nq + nv))
        width = nv if n_between else 3 if cones.size else 1  # velocities that a row may feel
        reach = contact_reach(model, self.pairs)
        self.has_constraints = n_contacts + n_limits > 0
        """Whether anything could act that is no free motion."""
        n_matrix = nv if self.has_constraints else 0
        n_held = 0 if integrator == EULER else loops.size
        work = self.work = Workspace(model, self.state.gravity)
        geometry = Geometry(model, self.pairs)
        state = self.state
        arrays = (
            geometry.block, joints, cones, loops, model.hinges, self.sensors, self.watched,
            options.record(dt), self.lag, state.q, state.qd, state.qdd, state.effort,
            state.change, state.counters, state.readings,
            state.contacts, np.zeros(n_contacts, CONTACT), np.zeros(n_limits, ROW),
            np.zeros(n_limits, ROW),
            np.zeros((n_contacts, 3, reach)), np.zeros((n_contacts, reach), np.int64),
            np.zeros((n_limits, 1, width)), np.zeros((n_limits, width), np.int64),
            np.zeros(nb, TRUNK), np.zeros(nb, ISLAND), np.zeros(n_contacts, np.int64),
            in_columns(model), np.zeros((MATRICES, n_matrix, n_matrix)),
            np.zeros((INDICES, nv), np.int64), self.rows,
            np.zeros((SOLVER_ROWS, nv)), self.felt, state.taxels, self.stages,
            self.imus, state.imus, self.force_torques[0], state.force_torques,
            *self.force_torques[1:], np.zeros((n_held, nv)), np.zeros((n_held, n_held)),
            np.zeros((TIE_VECTORS, n_held)))
        sizes = (model.shapes.size, joints.size, cones.size, loops.size, model.hinges.size,
                 n_tactile, n_taxels, n_contacts, n_limits, width, reach, n_matrix, integrator,
                 n_imus, n_force_torques, 0, 0, 0, 0)
        addresses = [array.ctypes.data for array in arrays]
        self.block = np.concatenate([work.block, np.array([*addresses, *sizes], np.int64)])
        self._kept = geometry, arrays  # the block holds their addresses only


def contact_reach(model, pairs) -> int:
    """Return how many velocities at most move a contact's point on one shape or the other."""
    path = np.zeros(model.tree.size, np.int64)
    for i, body in enumerate(model.tree[1:], 1):
        path[i] = path[body['parent']] + body['next_column'] - body['column']
    path = path[model.shapes['body']]
    longest = (path[pairs['a']] + path[pairs['b']]).max(initial=0)
    return min(longest + model.followers.size, model.nv)


def in_columns(model) -> np.ndarray:
    """Return the model's followers with velocities counted as columns."""
    column = np.argsort(model.order)
    trunk = np.zeros(model.nv, np.int64)
    for record in model.tree[1:]:
        trunk[record['column']:record['next_column']] = record['trunk']
    following = np.zeros(model.followers.size, FOLLOWING)
    following['v'] = column[model.followers['v']]
    following['leader_v'] = column[model.followers['leader_v']]
    following['trunk'] = trunk[following['v']]
    following['leader_trunk'] = trunk[following['leader_v']]
    following['ratio'] = model.followers['ratio']
    return following
