"""
Numbers side by side as one value: what a processor multiplies in one instruction.

By itself the compiler makes such vectors only of long plain loops over arrays.
"""
import numba
from numba.core.cgutils import get_or_insert_function, ir, unpack_tuple
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array

WIDTH = 8  # numbers of LANES; the compiler halves them for processors with shorter registers
FLAGS = ('contract', 'nsz')  # products are fused with sums, which keep their order


class Lanes(numba.types.Type):
    """
    The type of a few numbers in a register.

    :param width: How many.
    """

    def __init__(self, width):
        super().__init__(f'lanes({width})')
        self.register = ir.VectorType(ir.DoubleType(), width)


LANES = Lanes(WIDTH)
QUAD = Lanes(4)  # mostly x, y, z, and one that nobody looks at
MASK = ir.VectorType(ir.IntType(1), WIDTH)
NOTHING = ir.Constant(LANES.register, [0.0] * WIDTH)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Kept in a register."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.register)


def spread(builder, x, register):
    """Return a vector that has the number x in each lane."""
    first = builder.insert_element(ir.Constant(register, ir.Undefined), x, ir.IntType(32)(0))
    zeros = ir.VectorType(ir.IntType(32), register.count)([0] * register.count)
    return builder.shuffle_vector(first, first, zeros)


def mask_of(builder, bits):
    """Return what the lowest bits of a whole number say of each lane."""
    return builder.bitcast(builder.trunc(bits, ir.IntType(WIDTH)), MASK)


def pointer_to(context, builder, kind, matrix, row, k):
    """Return where the entry at (row, k) of a contiguous matrix lies, and those after it."""
    array = make_array(kind)(context, builder, matrix)
    n = builder.extract_value(array.shape, 1)
    at = builder.gep(array.data, [builder.add(builder.mul(row, n), k)])
    return builder.bitcast(at, LANES.register.as_pointer())


def quad_pointer(context, builder, kind, numbers, k):
    """Return where four numbers lie in a contiguous array, from k on."""
    array = make_array(kind)(context, builder, numbers)
    return builder.bitcast(builder.gep(array.data, [k]), QUAD.register.as_pointer())


@intrinsic
def lanes_at(typing_context, matrix, row, k):
    """Return ``matrix[row, k:k + WIDTH]``; nobody checks that it is there."""
    def code(context, builder, signature, arguments):
        return builder.load(pointer_to(context, builder, signature.args[0], *arguments), align=8)
    return LANES(matrix, numba.int64, numba.int64), code


@intrinsic
def put_lanes(typing_context, matrix, row, k, x):
    """Write x to ``matrix[row, k:k + WIDTH]``."""
    def code(context, builder, signature, arguments):
        matrix, row, k, x = arguments
        builder.store(x, pointer_to(context, builder, signature.args[0], matrix, row, k), align=8)
        return context.get_dummy_value()
    return numba.void(matrix, numba.int64, numba.int64, LANES), code


@intrinsic
def put_some_lanes(typing_context, matrix, row, k, bits, x):
    """Write those lanes of x whose bit is set to ``matrix[row, k:k + WIDTH]``."""
    def code(context, builder, signature, arguments):
        matrix, row, k, bits, x = arguments
        pointer = pointer_to(context, builder, signature.args[0], matrix, row, k)
        kind = ir.FunctionType(ir.VoidType(), [LANES.register, pointer.type, ir.IntType(32), MASK])
        store = get_or_insert_function(builder.module, kind, f'llvm.masked.store.v{WIDTH}f64.p0')
        builder.call(store, [x, pointer, ir.IntType(32)(8), mask_of(builder, bits)])
        return context.get_dummy_value()
    return numba.void(matrix, numba.int64, numba.int64, numba.int64, LANES), code


@intrinsic
def quad_at(typing_context, numbers, k):
    """Return ``numbers[k:k + 4]``; nobody checks that it is there."""
    def code(context, builder, signature, arguments):
        return builder.load(quad_pointer(context, builder, signature.args[0], *arguments), align=8)
    return QUAD(numbers, numba.int64), code


@intrinsic
def put_quad(typing_context, numbers, k, x):
    """Write a quad to ``numbers[k:k + 4]``."""
    def code(context, builder, signature, arguments):
        numbers, k, x = arguments
        builder.store(x, quad_pointer(context, builder, signature.args[0], numbers, k), align=8)
        return context.get_dummy_value()
    return numba.void(numbers, numba.int64, QUAD), code


@intrinsic
def quad(typing_context, x, y, z):
    """Return three numbers as a quad."""
    def code(context, builder, signature, arguments):
        made = ir.Constant(QUAD.register, ir.Undefined)
        for i, number in enumerate(arguments):
            made = builder.insert_element(made, number, ir.IntType(32)(i))
        return made
    return QUAD(numba.float64, numba.float64, numba.float64), code


@intrinsic
def swizzle(typing_context, x, i, j, k):
    """Return the quad of numbers i, j and k of x."""
    def code(context, builder, signature, arguments):
        made = ir.Constant(QUAD.register, ir.Undefined)
        for i, index in enumerate(arguments[1:]):
            number = builder.extract_element(arguments[0], index)
            made = builder.insert_element(made, number, ir.IntType(32)(i))
        return made
    return QUAD(QUAD, numba.int64, numba.int64, numba.int64), code


@intrinsic
def multiply(typing_context, x, y):
    """Multiply two quads number by number."""
    def code(context, builder, signature, arguments):
        return builder.fmul(*arguments, flags=FLAGS)
    return QUAD(QUAD, QUAD), code


@intrinsic
def lane(typing_context, x, i):
    """Return number i of x."""
    def code(context, builder, signature, arguments):
        return builder.extract_element(*arguments)
    return numba.float64(x, numba.int64), code


@intrinsic
def combine(typing_context, x, numbers):
    """Compute x[0] numbers[0] + x[1] numbers[1] + ..., x being lanes or quads, in this order."""
    def code(context, builder, signature, arguments):
        lanes, numbers = (unpack_tuple(builder, argument) for argument in arguments)
        terms = [builder.fmul(a, spread(builder, b, a.type), flags=FLAGS)
                 for a, b in zip(lanes, numbers)]
        total = terms[0]
        for term in terms[1:]:
            total = builder.fadd(total, term, flags=FLAGS)
        return total
    return x.dtype(x, numbers), code


@intrinsic
def choose(typing_context, bits, x, y):
    """Return the lanes of x where a bit is set, and those of y elsewhere."""
    def code(context, builder, signature, arguments):
        return builder.select(mask_of(builder, arguments[0]), *arguments[1:])
    return LANES(numba.int64, LANES, LANES), code


@intrinsic
def keep(typing_context, bits, x):
    """Return the lanes of x where a bit is set, and zero elsewhere."""
    def code(context, builder, signature, arguments):
        bits, x = arguments
        return builder.select(mask_of(builder, bits), x, NOTHING)
    return LANES(numba.int64, LANES), code


@intrinsic
def zeros(typing_context):
    def code(context, builder, signature, arguments):
        return NOTHING
    return LANES(), code
