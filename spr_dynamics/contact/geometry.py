"""What collision detection reads and writes, and how its kernels find it."""
import numpy as np

from spr_dynamics.contact.records import PAIR
from spr_dynamics.jit import accessor, array_at
from spr_dynamics.model.records import FACE, PLANE, SHAPE

# Where a shape is, and the box around it with axes along the world's.
PLACED = np.dtype([
    ('R_WS', np.float64, 9), ('p_WS', np.float64, 3),
    ('low', np.float64, 3), ('high', np.float64, 3),
    ('vertex', np.int64),                        # of a convex mesh: where a search begins
    ('pairs', np.int64),                         # the first pair to look at in which it is a, -1:
    ('pairs_as_b', np.int64),                    # none; that in which it is b, while they are put
], align=True)                                   # in order

# A shape among those that may touch others than planes, and where its box begins along an axis.
SWEPT = np.dtype([('shape', np.int64), ('low', np.float64)], align=True)

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
 FACETS_AT, EDGES_AT, SWEPT_AT, PAIR_OF_AT, NEXT_PAIR_AT, N_SHAPES, N_PAIRS, N_VERTICES,
 N_NEIGHBOURS, N_FACES, N_POINTS, N_SWEPT, DROPPED, GEOMETRY_SIZE) = range(22)
# DROPPED is a result: contacts that the last search had no room for.


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
        placed['pairs'], placed['pairs_as_b'] = -1, -1
        self.placed = placed
        self.points = np.zeros((ROWS, n_points), POINT)
        swept, pair_of, next_pair = lists_of_pairs(shapes, pairs, placed)
        self.kept = (shapes, pairs, model.vertices, model.neighbours, model.faces, placed,
                     self.points, np.zeros(MAX_CORNERS, CORNER),
                     np.zeros(MAX_FACETS, FACET), np.zeros((3 * MAX_FACETS, 2), np.int64),
                     swept, pair_of, next_pair)
        sizes = (shapes.size, pairs.size, len(model.vertices), model.neighbours.size,
                 model.faces.size, n_points, swept.size, 0)
        self.block = np.array([*(array.ctypes.data for array in self.kept), *sizes], np.int64)


def lists_of_pairs(shapes, pairs, placed):
    """
    List the pairs with planes for good, and prepare to list others step by step.

    :param placed: Result: ``PLACED`` records, where the list of a plane's pairs begins.
    :returns: ``SWEPT`` records; the pair of any two shapes, -1: they never touch, shape (number of
        shapes, number of shapes), nothing if there are only planes to touch; the pair that follows
        in a list, -1: none.
    """
    a, b, numbers = pairs['a'], pairs['b'], np.arange(pairs.size)
    has_plane = shapes['kind'][a] == PLANE
    next_pair = np.full(pairs.size, -1)
    goes_on = has_plane[:-1] & (a[:-1] == a[1:])
    next_pair[:-1][goes_on] = numbers[1:][goes_on]
    planes, first = np.unique(a[has_plane], return_index=True)
    placed['pairs'][planes] = numbers[has_plane][first]
    others = np.unique([a[~has_plane], b[~has_plane]])
    swept = np.zeros(others.size, SWEPT)
    swept['shape'] = others
    pair_of = np.full((shapes.size, shapes.size) if others.size else (0, 0), -1, np.int32)
    if others.size:
        pair_of[a, b] = pair_of[b, a] = numbers
    return swept, pair_of, next_pair


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


@accessor
def swept_of(geometry):
    return array_at(geometry[SWEPT_AT], geometry[N_SWEPT], SWEPT)


@accessor
def pair_of(geometry):
    return array_at(geometry[PAIR_OF_AT], (geometry[N_SHAPES], geometry[N_SHAPES]), np.int32)


@accessor
def next_pair_of(geometry):
    return array_at(geometry[NEXT_PAIR_AT], geometry[N_PAIRS], np.int64)
