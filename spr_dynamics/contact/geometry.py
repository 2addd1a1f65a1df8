"""What collision detection reads and writes, and how its kernels find it."""
import numpy as np

from spr_dynamics.contact.records import PAIR
from spr_dynamics.jit import accessor, array_at
from spr_dynamics.model.records import FACE, SHAPE

# Where a shape is, and the box around it with axes along the world's.
PLACED = np.dtype([
    ('R_WS', np.float64, 9), ('p_WS', np.float64, 3),
    ('low', np.float64, 3), ('high', np.float64, 3),
    ('vertex', np.int64),                        # of a convex mesh: where a search begins
], align=True)

# A corner of a polygon, or a contact point.
POINT = np.dtype([
    ('p', np.float64, 3),                        # from the origin of shape a, world axes [m]
    ('gap', np.float64),                         # of a contact point [m]
    ('key', np.int64),                           # its feature
    ('edge', np.int64),                          # the feature between this corner and the next
], align=True)

# A point of the difference of two shapes, w = a - b, and the point a that it comes from.
CORNER = np.dtype([
    ('w', np.float64, 3), ('a', np.float64, 3),
    ('weight', np.float64),                      # in the point that is nearest to the origin
], align=True)

# A triangle of the polytope that grows inside that difference.
FACET = np.dtype([
    ('corner', np.int64, 3),                     # seen from outside counter-clockwise
    ('normal', np.float64, 3), ('offset', np.float64),  # normal . w = offset
], align=True)

MAX_CORNERS = 128  # of the polytope
MAX_FACETS = 2 * MAX_CORNERS  # a closed surface of triangles has fewer
RIM = 16  # corners of the polygon that stands for a circle where flat faces are cut
MANIFOLD = 4  # contact points that a pair can have

# Rows of points.
FOUND, OF_A, OF_B, SPARE, ROWS = range(5)

# Entries of a block: addresses, then sizes.
(SHAPES_AT, PAIRS_AT, VERTICES_AT, NEIGHBOURS_AT, FACES_AT, PLACED_AT, POINTS_AT, CORNERS_AT,
 FACETS_AT, EDGES_AT, N_SHAPES, N_PAIRS, N_VERTICES, N_NEIGHBOURS, N_FACES, N_POINTS, DROPPED,
 GEOMETRY_SIZE) = range(18)  # DROPPED is a result: contacts that the last search had no room for


class Geometry:
    """
    The shapes of a model, the pairs of them that may touch, and scratch.

    :param model: The robot.
    :param pairs: ``PAIR`` records.
    """

    def __init__(self, model, pairs):
        shapes = model.shapes
        largest = max(shapes['n_vertices'], default=0)
        n_points = 4 * max(int(largest), 2 * RIM)  # cutting adds a corner for each side
        placed = np.zeros(shapes.size, PLACED)
        self.placed = placed
        self.points = np.zeros((ROWS, n_points), POINT)
        self.kept = (shapes, pairs, model.vertices, model.neighbours, model.faces, placed,
                     self.points, np.zeros(MAX_CORNERS, CORNER),
                     np.zeros(MAX_FACETS, FACET), np.zeros((3 * MAX_FACETS, 2), np.int64))
        sizes = (shapes.size, pairs.size, len(model.vertices), model.neighbours.size,
                 model.faces.size, n_points, 0)
        self.block = np.array([*(array.ctypes.data for array in self.kept), *sizes], np.int64)


@accessor
def shapes_of(geometry):
    return array_at(geometry[SHAPES_AT], geometry[N_SHAPES], SHAPE)


@accessor
def pairs_of(geometry):
    return array_at(geometry[PAIRS_AT], geometry[N_PAIRS], PAIR)


@accessor
def vertices_of(geometry):
    return array_at(geometry[VERTICES_AT], (geometry[N_VERTICES], 3), np.float64)


@accessor
def neighbours_of(geometry):
    return array_at(geometry[NEIGHBOURS_AT], geometry[N_NEIGHBOURS], np.int64)


@accessor
def faces_of(geometry):
    return array_at(geometry[FACES_AT], geometry[N_FACES], FACE)


@accessor
def placed_of(geometry):
    return array_at(geometry[PLACED_AT], geometry[N_SHAPES], PLACED)


@accessor
def points_of(geometry):
    return array_at(geometry[POINTS_AT], (ROWS, geometry[N_POINTS]), POINT)


@accessor
def corners_of(geometry):
    return array_at(geometry[CORNERS_AT], MAX_CORNERS, CORNER)


@accessor
def facets_of(geometry):
    return array_at(geometry[FACETS_AT], MAX_FACETS, FACET)


@accessor
def edges_of(geometry):
    return array_at(geometry[EDGES_AT], (3 * MAX_FACETS, 2), np.int64)
