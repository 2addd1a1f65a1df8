"""
Quads as vectors of three numbers, and three of them as the columns of a 3x3 matrix.

The fourth number of a quad means nothing.
"""
from spr_dynamics.dynamics.lanes import combine, lane, multiply, put_quad, quad, quad_at, swizzle
from spr_dynamics.jit import inlined
from spr_dynamics.spatial import Vector


@inlined
def quad_of(v):
    return quad(v.x, v.y, v.z)


@inlined
def vector_of(a):
    return Vector(lane(a, 0), lane(a, 1), lane(a, 2))


@inlined
def plus(a, b):
    return combine((a, b), (1.0, 1.0))


@inlined
def cross(a, b):
    ab, ba = multiply(a, swizzle(b, 1, 2, 0)), multiply(swizzle(a, 1, 2, 0), b)
    return swizzle(combine((ab, ba), (1.0, -1.0)), 1, 2, 0)


@inlined
def columns_at(numbers, k):
    """Return the matrix whose columns begin at every fourth number from k on."""
    return quad_at(numbers, k), quad_at(numbers, k + 4), quad_at(numbers, k + 8)


@inlined
def put_columns_at(numbers, k, A):
    put_quad(numbers, k, A[0])
    put_quad(numbers, k + 4, A[1])
    put_quad(numbers, k + 8, A[2])


@inlined
def add_columns(A, B):
    return plus(A[0], B[0]), plus(A[1], B[1]), plus(A[2], B[2])


@inlined
def add_outer(A, a, b):
    """Compute A + a b^T."""
    return (combine((A[0], a), (1.0, lane(b, 0))), combine((A[1], a), (1.0, lane(b, 1))),
            combine((A[2], a), (1.0, lane(b, 2))))


@inlined
def transposed(A):
    x, y, z = A
    return (quad(lane(x, 0), lane(y, 0), lane(z, 0)), quad(lane(x, 1), lane(y, 1), lane(z, 1)),
            quad(lane(x, 2), lane(y, 2), lane(z, 2)))


@inlined
def times_vector(A, v):
    """Compute A v."""
    return combine(A, (v.x, v.y, v.z))
