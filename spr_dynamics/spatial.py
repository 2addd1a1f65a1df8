"""
Spatial vectors and inertias as small values (Featherstone 2008, chapter 2 and section 7.1).

A value is a named tuple of numbers. Functions take and return values, so inside a kernel they
live in registers: nothing is allocated. Each function works in 3x3 blocks, as the book does.
The angular part comes first.

All axes are the world's, so a vector of one body can be compared with that of another, and from
child to parent a quantity only moves to another origin, by ``r``: the child's origin less the
parent's. Linear accelerations are those of the body's origin, as a camera would see them
(Mirtich 1996), not the book's, which are less by w x v.
"""
import math
from typing import NamedTuple

import numpy as np

from spr_dynamics.jit import inlined, ordered


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
    """The motion subspace S = (turn z, slide z) of a joint with one axis."""

    z: Vector
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
def turned(R, S):
    """Compute R S R^T; the last entry follows from the trace, which turning keeps."""
    x, y, z = Vector(R.xx, R.xy, R.xz), Vector(R.yx, R.yy, R.yz), Vector(R.zx, R.zy, R.zz)
    Sx, Sy = times(full(S), x), times(full(S), y)
    xx, yy = dot(x, Sx), dot(y, Sy)
    return Symmetric(xx, dot(y, Sx), dot(z, Sx), yy, dot(z, Sy),
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
def shift_motion(r, m):
    """See a motion from the origin at r: that of the child, given the parent's."""
    return Motion(m.angular, add(m.linear, cross(m.angular, r)))


@inlined
def shift_force(r, f):
    """Take the moment of a force about the parent's origin, the child's being at r."""
    return Force(add(f.moment, cross(r, f.linear)), f.linear)


# Joints.

@inlined
def axis_of(R, turn, slide):
    """Return S of a joint that turns and slides along the z axis of R."""
    return Axis(Vector(R.xz, R.yz, R.zz), turn, slide)


@inlined
def along(S, rate):
    """Compute S rate: the motion across the joint."""
    return Motion(scale(S.z, S.turn * rate), scale(S.z, S.slide * rate))


@inlined
def component(S, f):
    """Compute S^T f: the part of a force that the joint feels."""
    return S.turn * dot(S.z, f.moment) + S.slide * dot(S.z, f.linear)


@inlined
def compose(R, p, X):
    """Continue the pose (R, p) of a frame in the world to that of a frame placed in it by X."""
    return product(R, transpose(X.E)), add(p, times(R, X.r))


# Quaternions, w x y z.

@inlined
def rotation(w, x, y, z):
    """Return the rotation matrix of a unit quaternion."""
    return Matrix(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                  2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                  2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))


@inlined
def normalised(w, x, y, z):
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return n * w, n * x, n * y, n * z


@inlined
def times_quaternion(a, b, c, d, w, x, y, z):
    """Multiply the quaternions (a, b, c, d) and (w, x, y, z)."""
    return (a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
            a * y + c * w + d * x - b * z, a * z + d * w + b * y - c * x)


@inlined
def exponential(phi):
    """Return the unit quaternion that turns by the rotation vector phi."""
    half = 0.5 * math.sqrt(dot(phi, phi))
    k = 0.5 * math.sin(half) / half if half > MIN_HALF_ANGLE else 0.5
    return math.cos(half), k * phi.x, k * phi.y, k * phi.z


@inlined
def turn_quaternion(w, x, y, z, phi):
    """Turn an orientation by the rotation vector phi in the axes outside, and normalise."""
    a, b, c, d = exponential(phi)
    w, x, y, z = times_quaternion(a, b, c, d, w, x, y, z)
    return normalised(w, x, y, z)


@inlined
def turn_quaternion_within(w, x, y, z, phi):
    """Turn an orientation by the rotation vector phi in its own axes, and normalise."""
    a, b, c, d = exponential(phi)
    w, x, y, z = times_quaternion(w, x, y, z, a, b, c, d)
    return normalised(w, x, y, z)


@inlined
def quaternion_rate(w, x, y, z, spin):
    """Return how the numbers of an orientation change with a spin in the axes outside."""
    half = scale(spin, 0.5)
    return times_quaternion(0.0, half.x, half.y, half.z, w, x, y, z)


# Inertias.

@inlined
def add_rigid(A, B):
    return RigidInertia(A.mass + B.mass, add(A.h, B.h), upper(plus(full(A.about), full(B.about))))


@inlined
def shift_rigid(r, inertia):
    """Take the inertia of a rigid body about the parent's origin, the child's being at r."""
    m, h, about = inertia
    square = 2.0 * dot(r, h) + m * dot(r, r)
    shift = plus(plus(outer(r, h), outer(h, r)), outer(scale(r, m), r))
    return RigidInertia(m, add(h, scale(r, m)), Symmetric(
        about.xx + square - shift.xx, about.xy - shift.xy, about.xz - shift.xz,
        about.yy + square - shift.yy, about.yz - shift.yz, about.zz + square - shift.zz))


@inlined
def momentum(inertia, v):
    """Compute I v of a rigid body."""
    m, h, about = inertia
    return Force(add(times(full(about), v.angular), cross(h, v.linear)),
                 subtract(scale(v.linear, m), cross(h, v.angular)))


@inlined
def force_to_move(inertia, w, a):
    """Compute the force that gives a rigid body with spin w the acceleration a of its origin."""
    m, h, about = inertia
    spin = cross(w, times(full(about), w))
    moment = add(add(times(full(about), a.angular), cross(h, a.linear)), spin)
    swing = add(cross(a.angular, h), cross(w, cross(w, h)))
    return Force(moment, add(scale(a.linear, m), swing))


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

MOTION, FORCE, TRANSFORM, RIGID_INERTIA, ARTICULATED_INERTIA = 6, 6, 12, 10, 36


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
def as_columns(a):
    """Return the matrix whose columns begin at every fourth number."""
    return Matrix(a[0], a[4], a[8], a[1], a[5], a[9], a[2], a[6], a[10])


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
    """Read J, H^T and M, whose columns begin at every fourth number."""
    return ArticulatedInertia(
        Symmetric(a[0], a[1], a[2], a[5], a[6], a[10]),
        Matrix(a[12], a[13], a[14], a[16], a[17], a[18], a[20], a[21], a[22]),
        Symmetric(a[24], a[25], a[26], a[29], a[30], a[34]))


@inlined
def put_vector(a, k, v):
    a[k], a[k + 1], a[k + 2] = v


@inlined
def put_symmetric(a, k, S):
    a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5] = S


@inlined
def put_quaternion(a, k, w, x, y, z):
    a[k], a[k + 1], a[k + 2], a[k + 3] = w, x, y, z


@inlined
def put_matrix(a, k, A):
    (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4],
     a[k + 5], a[k + 6], a[k + 7], a[k + 8]) = A


@inlined
def put_columns(a, A):
    a[0], a[4], a[8], a[1], a[5], a[9], a[2], a[6], a[10] = A


@inlined
def put_motion(a, m):
    put_vector(a, 0, m.angular)
    put_vector(a, 3, m.linear)


@inlined
def put_force(a, f):
    put_vector(a, 0, f.moment)
    put_vector(a, 3, f.linear)


@inlined
def put_rigid_inertia(a, inertia):
    a[0] = inertia.mass
    put_vector(a, 1, inertia.h)
    put_symmetric(a, 4, inertia.about)


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
@ordered
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
