"""The record arrays that a Model is made of. Each dtype is made once: equal copies cost time."""
import numpy as np

from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.spatial import RIGID_INERTIA, TRANSFORM

# Joint kinds: along and about z; about a point; in all six directions (children of the world).
AXIS, BALL, FREE = 0, 1, 2
POSITIONS = {AXIS: 1, BALL: 4, FREE: 7}  # of each, in q
VELOCITIES = {AXIS: 1, BALL: 3, FREE: 6}  # of each, in qd

# One record a body: links that fixed joints weld together. Record 0 is the world, and parents
# come before children. A body's frame is at its joint with the axis on z; a free body's frame
# is that of its root link.
TREE = np.dtype([
    ('parent', np.int64),
    ('trunk', np.int64),                         # the body next to the world in this tree
    ('joint', np.int64),                         # AXIS, BALL or FREE
    ('q', np.int64),                             # first entry of the joint in q
    ('v', np.int64),                             # first entry of the joint in qd, tau and qdd
    ('column', np.int64),                        # first velocity, counted depth first
    ('next_column', np.int64),                   # first one that is not the joint's own
    ('end_column', np.int64),                    # first one that this body does not carry
    ('is_leaf', np.bool_),
    ('is_last_child', np.bool_),                 # the one the inward pass meets first
    ('turn', np.float64),                        # [rad] and [m] along z for each unit of q:
    ('slide', np.float64),                       # revolute 1 and 0, prismatic 0 and 1
    ('X', np.float64, TRANSFORM),                # parent to child at q = 0
    ('inertia', np.float64, RIGID_INERTIA),
], align=True)

# One record a joint axis: its damper, spring and actuator.
DRIVE = np.dtype([
    ('q', np.int64), ('v', np.int64),            # of the axis
    ('damping', np.float64),                     # [N m s] or [N s/m]
    ('stiffness', np.float64),                   # of the spring [N m] or [N/m]
    ('rest', np.float64),                        # where the spring is slack [rad] or [m]
    ('effort_limit', np.float64),                # [N m] or [N], inf if there is none
], align=True)

# One record a joint axis that follows another: q = ratio * q_leader + offset.
FOLLOWER = np.dtype([
    ('q', np.int64), ('v', np.int64),            # of the follower
    ('leader_q', np.int64), ('leader_v', np.int64),  # of an axis that follows nobody
    ('ratio', np.float64), ('offset', np.float64),
], align=True)

# One direction in which a joint that closes a loop holds bodies a and b together.
TIE = np.dtype([
    ('loop', np.int64),                          # which joint that closes one
    ('a', np.int64), ('b', np.int64),            # bodies
    ('is_angle', np.bool_),                      # keeps e_a . e_b, else holds points along e_a
    ('p_a', np.float64, 3), ('p_b', np.float64, 3),  # where the joint is, in each body
    ('e_a', np.float64, 3), ('e_b', np.float64, 3),  # directions in each body
    ('cosine', np.float64),                      # e_a . e_b as it is to be
], align=True)

# The damper and spring of a joint with one axis that closes a loop.
HINGE = np.dtype([
    ('tie', np.int64),                           # the first of its ties
    ('a', np.int64), ('b', np.int64),            # bodies
    ('is_angle', np.bool_),                      # turns about z, else slides along it
    ('p_a', np.float64, 3), ('p_b', np.float64, 3),  # where the joint is, in each body
    ('z_a', np.float64, 3),                      # its axis in body a
    ('x_a', np.float64, 3), ('x_b', np.float64, 3),  # across it, one direction at the start
    ('damping', np.float64),                     # [N m s] or [N s/m]
    ('stiffness', np.float64),                   # of the spring [N m] or [N/m]
    ('rest', np.float64),                        # where the spring is slack [rad] or [m]
], align=True)

# One record a link, in file order.
LINK = np.dtype([
    ('body', np.int64),
    ('X', np.float64, TRANSFORM),                # body to link
], align=True)

# Kinds of shapes. Of a pair the one that comes first here is shape a; round ones have a core,
# a point or a segment, and a radius about it.
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, CONVEX = range(8)

# One record a collision shape that takes part in contacts, in file order.
SHAPE = np.dtype([
    ('kind', np.int64),
    ('link', np.int64),
    ('body', np.int64),
    ('size', np.float64, 3),                     # half lengths of the box around it; plane: none
    ('radius', np.float64),                      # of the sphere about the origin that holds it
    ('first_vertex', np.int64), ('n_vertices', np.int64),  # of a convex mesh: rows of
    ('first_face', np.int64), ('n_faces', np.int64),       # ``vertices``, and of ``FACE`` records
    ('X', np.float64, TRANSFORM),                # body to shape; the normal of a plane is its z
    ('mu', np.float64), ('mu2', np.float64),     # along the first direction, and across it
    ('fdir1', np.float64, 3),                    # first direction in the shape's frame, 0: none
    ('slip1', np.float64), ('slip2', np.float64),  # along it and across [m/s / N]
    ('torsion', np.float64),                     # coefficient of friction about the normal
    ('patch_radius', np.float64),                # of the patch that it acts on [m], or
    ('surface_radius', np.float64),              # of the surface, from which the patch follows [m]
    ('torsion_slip', np.float64),                # [rad/s / N m]
    ('rolling', np.float64),                     # arm of the torque that resists rolling [m]
    ('restitution', np.float64),                 # of the normal velocity,
    ('bounce_speed', np.float64),                # from this speed on [m/s]
    ('stiffness', np.float64),                   # SDF kp [N/m], inf: rigid
    ('damping', np.float64),                     # SDF kd [N s/m]
    ('max_speed', np.float64),                   # at which an overlap is undone [m/s], or nan
    ('min_depth', np.float64),                   # overlap that is allowed [m]
    ('collide_bitmask', np.int64),
    ('category_bitmask', np.int64),
], align=True)

# One record a flat face of a convex mesh.
FACE = np.dtype([
    ('normal', np.float64, 3),                   # outward
    ('first', np.int64), ('n_corners', np.int64),  # its loop in ``vertices``, seen from outside
], align=True)                                   # counter-clockwise


def transform_from_pose(T_AB: Pose) -> np.ndarray:
    """Write a pose as a ``Transform`` from A to B: rotation by rows, then B's origin in A."""
    return np.concatenate([T_AB.R.T.ravel(), T_AB.p])


def pose_from_transform(X: np.ndarray) -> Pose:
    """Read a pose T_AB back from a ``Transform`` from A to B."""
    return Pose(X[:9].reshape(3, 3).T, X[9:])
