"""
Spatial vectors and inertias as small values (Featherstone 2008, chapter 2 and section 7.1).

A value is a named tuple of numbers. Functions take and return values, so inside a kernel they
live in registers: nothing is allocated. Each function works in 3x3 blocks, as the book does.
The angular part comes first. ``X`` carries motions from the parent's frame to the child's.
"""
import math
from typing import NamedTuple

import numba
import numpy as np

from spr_dynamics.jit import inlined


class Vector(NamedTuple):
    x: float
    y: float
    z: float


class Matrix(NamedTuple):
    xx: float
    xy: float
    xz: float
    yx: float
    yy: float
    yz: float
    zx: float
    zy: float
    zz: float


class Symmetric(NamedTuple):
    """A symmetric 3x3 matrix: its upper triangle, row by row."""

    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


class Motion(NamedTuple):
    """A velocity or an acceleration."""

    angular: Vector
    linear: Vector


class Force(NamedTuple):
    """A force, or a momentum: the moment about the frame's origin, then the linear part."""

    moment: Vector
    linear: Vector


class Transform(NamedTuple):
    """A child frame: origin ``r`` in the parent, ``E`` from parent to child axes."""

    E: Matrix
    r: Vector


class RigidInertia(NamedTuple):
    """Mass, first moment ``h`` = mass * centre, inertia ``about`` the frame's origin."""

    mass: float
    h: Vector
    about: Symmetric


class ArticulatedInertia(NamedTuple):
    """The symmetric 6x6 matrix [[J, H], [H^T, M]]; the book writes I for J."""

    J: Symmetric
    H: Matrix
    M: Symmetric


class Axis(NamedTuple):
    """The motion subspace S = (0, 0, turn, 0, 0, slide) of a joint on its z axis."""

    turn: float
    slide: float


ZERO = Vector(0.0, 0.0, 0.0)
MIN_HALF_ANGLE = 1e-9  # [rad] below this sin(x) / x is 1 to the last digit


# Vectors and 3x3 matrices.

@inlined
def add(a, b):
    return Vector(a.x + b.x, a.y + b.y, a.z + b.z)


@inlined
def subtract(a, b):
    return Vector(a.x - b.x, a.y - b.y, a.z - b.z)


@inlined
def scale(a, k):
    return Vector(a.x * k, a.y * k, a.z * k)


@inlined
def dot(a, b):
    return a.x * b.x + a.y * b.y + a.z * b.z


@inlined
def cross(a, b):
    return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@inlined
def full(S):
    return Matrix(S.xx, S.xy, S.xz, S.xy, S.yy, S.yz, S.xz, S.yz, S.zz)


@inlined
def upper(A):
    return Symmetric(A.xx, A.xy, A.xz, A.yy, A.yz, A.zz)


@inlined
def transpose(A):
    return Matrix(A.xx, A.yx, A.zx, A.xy, A.yy, A.zy, A.xz, A.yz, A.zz)


@inlined
def times(A, v):
    return Vector(A.xx * v.x + A.xy * v.y + A.xz * v.z,
                  A.yx * v.x + A.yy * v.y + A.yz * v.z,
                  A.zx * v.x + A.zy * v.y + A.zz * v.z)


@inlined
def plus(A, B):
    return Matrix(A.xx + B.xx, A.xy + B.xy, A.xz + B.xz,
                  A.yx + B.yx, A.yy + B.yy, A.yz + B.yz,
                  A.zx + B.zx, A.zy + B.zy, A.zz + B.zz)


@inlined
def outer(a, b):
    return Matrix(a.x * b.x, a.x * b.y, a.x * b.z,
                  a.y * b.x, a.y * b.y, a.y * b.z,
                  a.z * b.x, a.z * b.y, a.z * b.z)


@inlined
def product(A, B):
    x = times(transpose(B), Vector(A.xx, A.xy, A.xz))
    y = times(transpose(B), Vector(A.yx, A.yy, A.yz))
    z = times(transpose(B), Vector(A.zx, A.zy, A.zz))
    return Matrix(x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z)


@inlined
def cross_columns(r, A):
    """Cross r with each column of A."""
    x = cross(r, Vector(A.xx, A.yx, A.zx))
    y = cross(r, Vector(A.xy, A.yy, A.zy))
    z = cross(r, Vector(A.xz, A.yz, A.zz))
    return Matrix(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z)


@inlined
def turn_back(E, A):
    """Compute E^T A E."""
    return product(transpose(E), product(A, E))


@inlined
def turn_symmetric_back(E, S):
    """Compute E^T S E; the last entry follows from the trace, which turning keeps."""
    Ex, Ey, Ez = Vector(E.xx, E.yx, E.zx), Vector(E.xy, E.yy, E.zy), Vector(E.xz, E.yz, E.zz)
    Sx, Sy = times(full(S), Ex), times(full(S), Ey)
    xx, yy = dot(Ex, Sx), dot(Ey, Sy)
    return Symmetric(xx, dot(Ey, Sx), dot(Ez, Sx), yy, dot(Ez, Sy),
                     (S.xx + S.yy + S.zz) - (xx + yy))


@inlined
def inverse(S):
    x, y, z = Vector(S.xx, S.xy, S.xz), Vector(S.xy, S.yy, S.yz), Vector(S.xz, S.yz, S.zz)
    yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
    k = 1.0 / dot(x, yz)
    return Symmetric(k * yz.x, k * yz.y, k * yz.z, k * zx.y, k * zx.z, k * xy.z)


# Motions and forces.

@inlined
def add_motions(a, b):
    return Motion(add(a.angular, b.angular), add(a.linear, b.linear))


@inlined
def subtract_motions(a, b):
    return Motion(subtract(a.angular, b.angular), subtract(a.linear, b.linear))


@inlined
def add_forces(a, b):
    return Force(add(a.moment, b.moment), add(a.linear, b.linear))


@inlined
def subtract_forces(a, b):
    return Force(subtract(a.moment, b.moment), subtract(a.linear, b.linear))


@inlined
def scale_force(f, k):
    return Force(scale(f.moment, k), scale(f.linear, k))


@inlined
def power(f, m):
    """Pair a force with a motion: f . m, the same in every frame."""
    return dot(f.moment, m.angular) + dot(f.linear, m.linear)


@inlined
def cross_force(v, f):
    """Compute v x* f: how a force that is fixed in a moving frame changes."""
    return Force(add(cross(v.angular, f.moment), cross(v.linear, f.linear)),
                 cross(v.angular, f.linear))


@inlined
def transform_motion(X, m):
    """Compute X m: a motion in child coordinates."""
    return Motion(times(X.E, m.angular),
                  times(X.E, subtract(m.linear, cross(X.r, m.angular))))


@inlined
def transform_force_to_parent(X, f):
    """Compute X^T f: a force in parent coordinates."""
    linear = times(transpose(X.E), f.linear)
    return Force(add(times(transpose(X.E), f.moment), cross(X.r, linear)), linear)


# Joints: the z axis of the child turns, slides, or both.

@inlined
def transform_axis(X, S, q, sine, cosine):
    """Continue the fixed transform X through a joint at q, whose sine and cosine are known."""
    E, r = X
    s = sine if S.turn != 0.0 else 0.0
    c = cosine if S.turn != 0.0 else 1.0
    x = Vector(c * E.xx + s * E.yx, c * E.xy + s * E.yy, c * E.xz + s * E.yz)
    y = Vector(c * E.yx - s * E.xx, c * E.yy - s * E.xy, c * E.yz - s * E.xz)
    z = Vector(E.zx, E.zy, E.zz)
    return Transform(Matrix(x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z),
                     add(r, scale(z, S.slide * q)))


@inlined
def transform_free(r, w, x, y, z):
    """Build X of a free body from its position and unit quaternion (w, x, y, z)."""
    return Transform(Matrix(
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)), r)


@inlined
def along(S, rate):
    """Compute S rate: the motion across the joint."""
    return Motion(Vector(0.0, 0.0, S.turn * rate), Vector(0.0, 0.0, S.slide * rate))


@inlined
def component(S, f):
    """Compute S^T f: the part of a force that the joint feels."""
    return S.turn * f.moment.z + S.slide * f.linear.z


@inlined
def cross_along(v, S, rate):
    """Compute v x S rate, with the zeros of S left out."""
    turn, slide = S.turn * rate, S.slide * rate
    w, u = v.angular, v.linear
    return Motion(Vector(w.y * turn, -w.x * turn, 0.0),
                  Vector(u.y * turn + w.y * slide, -u.x * turn - w.x * slide, 0.0))


@inlined
def compose(R, p, X):
    """Continue the pose (R, p) of the parent in the world to the child's."""
    return product(R, transpose(X.E)), add(p, times(R, X.r))


# Quaternions, w x y z.

@inlined
def turn_quaternion(w, x, y, z, phi):
    """Turn the orientation (w, x, y, z) by the world-axes rotation vector phi, and normalise."""
    half = 0.5 * math.sqrt(dot(phi, phi))
    k = 0.5 * math.sin(half) / half if half > MIN_HALF_ANGLE else 0.5
    c = math.cos(half)
    a = scale(phi, k)
    w, x, y, z = (c * w - a.x * x - a.y * y - a.z * z,
                  c * x + a.x * w + a.y * z - a.z * y,
                  c * y + a.y * w + a.z * x - a.x * z,
                  c * z + a.z * w + a.x * y - a.y * x)
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return n * w, n * x, n * y, n * z


# Inertias.

@inlined
def add_rigid(A, B):
    return RigidInertia(A.mass + B.mass, add(A.h, B.h), upper(plus(full(A.about), full(B.about))))


@inlined
def transform_rigid_to_parent(X, inertia):
    """Compute X^T I X of a rigid body: turn by E^T, then move to the parent's origin by r."""
    m, h, about = inertia
    r, back = X.r, times(transpose(X.E), h)
    moved = add(back, scale(r, m))
    square = 2.0 * dot(r, back) + m * dot(r, r)
    shift = plus(plus(outer(r, back), outer(back, r)), outer(scale(r, m), r))
    turned = full(turn_symmetric_back(X.E, about))
    return RigidInertia(m, moved, Symmetric(
        turned.xx + square - shift.xx, turned.xy - shift.xy, turned.xz - shift.xz,
        turned.yy + square - shift.yy, turned.yz - shift.yz, turned.zz + square - shift.zz))


@inlined
def momentum(inertia, v):
    """Compute I v of a rigid body."""
    m, h, about = inertia
    return Force(add(times(full(about), v.angular), cross(h, v.linear)),
                 subtract(scale(v.linear, m), cross(h, v.angular)))


@inlined
def articulated(inertia):
    """Write a rigid inertia as a 6x6 matrix."""
    m, h, about = inertia
    return ArticulatedInertia(about,
                              Matrix(0.0, -h.z, h.y, h.z, 0.0, -h.x, -h.y, h.x, 0.0),
                              Symmetric(m, 0.0, 0.0, m, 0.0, m))


@inlined
def add_inertias(A, B):
    return ArticulatedInertia(upper(plus(full(A.J), full(B.J))), plus(A.H, B.H),
                              upper(plus(full(A.M), full(B.M))))


@inlined
def inertia_times(A, m):
    """Compute A m: the force that gives the acceleration m."""
    return Force(add(times(full(A.J), m.angular), times(A.H, m.linear)),
                 add(times(transpose(A.H), m.angular), times(full(A.M), m.linear)))


@inlined
def inertia_along(A, S):
    """Compute A S from the columns that S selects."""
    J, H, M = A
    return Force(
        add(scale(Vector(J.xz, J.yz, J.zz), S.turn), scale(Vector(H.xz, H.yz, H.zz), S.slide)),
        add(scale(Vector(H.zx, H.zy, H.zz), S.turn), scale(Vector(M.xz, M.yz, M.zz), S.slide)))


@inlined
def subtract_outer(A, U, k):
    """Compute A - k U U^T: the inertia that is felt through a joint free to give way."""
    n, f = U.moment, U.linear
    kn, kf = scale(n, -k), scale(f, -k)
    return ArticulatedInertia(upper(plus(full(A.J), outer(kn, n))), plus(A.H, outer(kn, f)),
                              upper(plus(full(A.M), outer(kf, f))))


@inlined
def transform_inertia_to_parent(X, A):
    """Compute X^T A X: turn by E^T, then move to the parent's origin by r."""
    J = full(turn_symmetric_back(X.E, A.J))
    H = turn_back(X.E, A.H)
    M = full(turn_symmetric_back(X.E, A.M))
    moved_H = plus(H, cross_columns(X.r, M))
    moved_J = plus(plus(J, cross_columns(X.r, transpose(H))),
                   transpose(cross_columns(X.r, transpose(moved_H))))
    return ArticulatedInertia(upper(moved_J), moved_H, upper(M))


@inlined
def solve(A, f):
    """Find m with A m = f, eliminating the linear half first."""
    M_inv = full(inverse(A.M))
    H_M_inv = product(A.H, M_inv)
    moment = subtract(f.moment, times(H_M_inv, f.linear))
    minus_H = Matrix(-A.H.xx, -A.H.xy, -A.H.xz, -A.H.yx, -A.H.yy, -A.H.yz,
                     -A.H.zx, -A.H.zy, -A.H.zz)
    angular = times(full(inverse(upper(plus(full(A.J), product(H_M_inv, transpose(minus_H)))))),
                    moment)
    return Motion(angular, times(M_inv, subtract(f.linear, times(transpose(A.H), angular))))


# Memory: the numbers of a value lie side by side in an array.

MOTION, FORCE, TRANSFORM, RIGID_INERTIA, ARTICULATED_INERTIA = 6, 6, 12, 10, 21


@inlined
def as_vector(a, k):
    return Vector(a[k], a[k + 1], a[k + 2])


@inlined
def as_symmetric(a, k):
    return Symmetric(a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5])


@inlined
def as_matrix(a, k):
    return Matrix(a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5],
                  a[k + 6], a[k + 7], a[k + 8])


@inlined
def as_motion(a):
    return Motion(as_vector(a, 0), as_vector(a, 3))


@inlined
def as_force(a):
    return Force(as_vector(a, 0), as_vector(a, 3))


@inlined
def as_transform(a):
    return Transform(as_matrix(a, 0), as_vector(a, 9))


@inlined
def as_rigid_inertia(a):
    return RigidInertia(a[0], as_vector(a, 1), as_symmetric(a, 4))


@inlined
def as_articulated_inertia(a):
    return ArticulatedInertia(as_symmetric(a, 0), as_matrix(a, 6), as_symmetric(a, 15))


@inlined
def put_vector(a, k, v):
    a[k], a[k + 1], a[k + 2] = v


@inlined
def put_symmetric(a, k, S):
    a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5] = S


@inlined
def put_matrix(a, k, A):
    (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4],
     a[k + 5], a[k + 6], a[k + 7], a[k + 8]) = A


@inlined
def put_motion(a, m):
    put_vector(a, 0, m.angular)
    put_vector(a, 3, m.linear)


@inlined
def put_force(a, f):
    put_vector(a, 0, f.moment)
    put_vector(a, 3, f.linear)


@inlined
def put_transform(a, X):
    put_matrix(a, 0, X.E)
    put_vector(a, 9, X.r)


@inlined
def put_rigid_inertia(a, inertia):
    a[0] = inertia.mass
    put_vector(a, 1, inertia.h)
    put_symmetric(a, 4, inertia.about)


@inlined
def put_articulated_inertia(a, A):
    put_symmetric(a, 0, A.J)
    put_matrix(a, 6, A.H)
    put_symmetric(a, 15, A.M)


# Angles: one plain loop over all joints, which the compiler turns into SIMD code.

# pi/2 in three parts; k times the first two is exact for the k that MAX_ANGLE allows.
HALF_PI_HIGH = float.fromhex('0x1.921fb544p+0')
HALF_PI_MIDDLE = float.fromhex('0x1.0b4611a6p-34')
HALF_PI_LOW = float.fromhex('0x1.3198a2e037073p-69')
TWO_OVER_PI = 2.0 / math.pi
MAX_ANGLE = 1e5  # [rad] beyond this the reduction loses digits and the library's sine takes over

S3, S5, S7, S9, S11, S13, S15, S17 = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]
C4, C6, C8, C10, C12, C14, C16 = [(-1) ** k / math.factorial(2 * k) for k in range(2, 9)]


# No 'reassoc' here: the reduction must be evaluated in the order written.
@numba.njit(forceinline=True, fastmath={'contract', 'nsz'}, error_model='numpy')
def sines_and_cosines(angle, sine, cosine):
    """Reduce each angle to a quarter turn about zero, sum the Taylor series, put signs back."""
    for i in range(angle.size):
        k = np.rint(angle[i] * TWO_OVER_PI)
        x = ((angle[i] - k * HALF_PI_HIGH) - k * HALF_PI_MIDDLE) - k * HALF_PI_LOW
        z = x * x
        s = x + x * z * (S3 + z * (S5 + z * (S7 + z * (S9 + z * (
            S11 + z * (S13 + z * (S15 + z * S17)))))))
        c = 1.0 - 0.5 * z + z * z * (C4 + z * (C6 + z * (C8 + z * (
            C10 + z * (C12 + z * (C14 + z * C16))))))
        quarter = np.int64(k)
        odd = quarter & 1
        s, c = (c if odd else s), (s if odd else c)
        sine[i] = -s if quarter & 2 else s
        cosine[i] = -c if (quarter + 1) & 2 else c
    for i in range(angle.size):
        if abs(angle[i]) > MAX_ANGLE:
            sine[i], cosine[i] = np.sin(angle[i]), np.cos(angle[i])
