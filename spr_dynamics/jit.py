"""How kernels are compiled, where their machine code is kept, and the types of their arguments."""
from collections.abc import Callable
import contextlib
import functools
import gc
import hashlib
import logging
import os
from pathlib import Path
import re
import shutil
import time
from typing import Any

import numba
from numba.core.cgutils import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NoPythonBackend
from numba.np.arrayobj import make_array, populate_array

from spr_dynamics.cache import cache_folder

SLOW = 1.0  # [s] a kernel that takes longer was compiled, not loaded
PACKAGE = Path(__file__).parent
# What a module imports, without the room of SDF texts, in which no number gets into a kernel.
IMPORTED = re.compile(rb'^from (spr_dynamics\.(?!sdformat)[\w.]+) import', re.MULTILINE)
KEPT = 3  # versions of a module's machine code that stay on disk

VECTOR = numba.float64[::1]
MATRIX = numba.float64[:, ::1]
CUBE = numba.float64[:, :, ::1]
ADDRESSES = numba.int64[::1]
FLAGS = numba.boolean[::1]


class Part(JITCodeLibrary):
    """
    The code of a kernel that others call, with all that it calls itself, for them to take in.

    numba would optimise it and make machine code of it here, and again in each kernel that calls
    it: four times the work that the entry points need.
    """

    def finalize(self):
        """Put the parts together, and leave the rest to an entry point."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class OfferPart(LoweringPass):
    """Let other kernels find a part."""

    _name = 'offer_part'

    def __init__(self):
        LoweringPass.__init__(self)

    def run_pass(self, state):
        """Register it under a name: numba asks for a builtin, and this one refuses all calls."""
        name = object().__format__  # called by numba with a tuple, where it expects text
        state.targetctx.insert_user_function(name, state.cr.fndesc, [state.cr.library])
        state.cr = state.cr._replace(entry_point=name)
        return False


class PartCompiler(CompilerBase):
    """numba's usual passes, but with a ``Part`` as their result."""

    def define_pipelines(self):
        """Return the one pipeline."""
        state = self.state
        state.flags.no_compile = True
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        passes = DefaultPassBuilder.define_nopython_pipeline(state)
        passes.add_pass_after(OfferPart, NoPythonBackend)
        passes.finalize()
        return [passes]


# Arrays belong to the caller, so nobody counts references.
PLAIN = {'nopython': True, 'error_model': 'numpy', '_nrt': False}
# Sums may be reordered and fused; NaN and infinity keep their meaning.
FAST = {'fastmath': {'contract', 'nsz', 'arcp', 'reassoc'}, **PLAIN}


class Kernel(CPUDispatcher):
    """
    A function that kernels call.

    A call from Python is a TypeError; ``py_func`` is there for tests.

    :param options: Of numba.
    """

    def __init__(self, function, **options):
        options |= {'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}
        super().__init__(function, targetoptions=options, pipeline_class=PartCompiler)

    def compile(self, sig):
        """Compile it for types; numba would do so for each number that a caller writes out."""
        arguments, _ = normalize_signature(sig)
        return super().compile(tuple(numba.types.unliteral(type_) for type_ in arguments))


Decorator = Callable[[Callable], Any]
kernel: Decorator = functools.partial(Kernel, **FAST)
exact: Decorator = functools.partial(Kernel, **PLAIN)  # keeps the order of sums as written
inlined: Decorator = functools.partial(Kernel, forceinline=True, **FAST)
# Fuses products with sums, but keeps the order.
ordered: Decorator = functools.partial(
    Kernel, forceinline=True, **FAST | {'fastmath': {'contract', 'nsz'}})
# Returns an array, which numba allows only where references are counted.
accessor: Decorator = functools.partial(Kernel, forceinline=True, **PLAIN | {'_nrt': True})


@numba.extending.intrinsic
def array_at(typing_context, address, shape, dtype):
    """
    Return the array that lies at an address; somebody else has to keep it alive.

    :param address: Whole number.
    :param shape: Length, or tuple of lengths.
    """
    is_vector = not isinstance(shape, numba.types.BaseTuple)
    array_type = numba.types.Array(dtype.dtype, 1 if is_vector else len(shape), 'C')

    def code(context, builder, signature, arguments):
        lengths = [arguments[1]] if is_vector else numba.core.cgutils.unpack_tuple(
            builder, arguments[1])
        stride = context.get_constant(
            numba.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
        itemsize, strides = stride, []
        for length in reversed(lengths):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
        array = make_array(array_type)(context, builder)
        populate_array(array, builder.inttoptr(arguments[0], array.data.type), lengths, strides,
                       itemsize, None)
        return array._getvalue()
    return array_type(numba.int64, numba.int64 if is_vector else numba.types.UniTuple(
        numba.int64, len(shape)), dtype), code


@numba.extending.intrinsic
def call_at(typing_context, address, arguments):
    """
    Call an entry point, and return the whole number that it returns.

    The caller is compiled without what it calls, which need not even be compiled.

    :param address: ``EntryPoint.address``.
    :param arguments: Tuple of whole numbers, as many as it takes: nobody checks.
    """
    number = ir.IntType(64)

    def code(context, builder, signature, values):
        numbers = numba.core.cgutils.unpack_tuple(builder, values[1])
        kind = ir.FunctionType(number, [number] * len(numbers))
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), numbers)
    return numba.int64(numba.int64, numba.types.UniTuple(numba.int64, len(arguments))), code


def records(dtype):
    """Return the type of a writable array of records."""
    return numba.from_dtype(dtype)[::1]


@functools.cache
def source_of(module) -> bytes:
    """Return the text of a module of this package."""
    path = PACKAGE.joinpath(*module.split('.')[1:])
    return (path / '__init__.py' if path.is_dir() else path.with_suffix('.py')).read_bytes()


@functools.cache
def code_folder(module):
    """
    Return where the machine code of a module's kernels is kept; None if nothing can be.

    numba looks at the age of the file that a kernel is written in, but not at those of the
    kernels that it calls; after an edit it would run old code. So the folder is named after the
    sources of the module and of all that it imports. What others import stays compiled.
    """
    modules, found = {module}, [module]
    for name in found:
        imported = {match.decode() for match in IMPORTED.findall(source_of(name))} - modules
        modules |= imported
        found += sorted(imported)
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(source_of(name))
    folder = cache_folder() / module / digest.hexdigest()[:16]
    return folder if make_room(folder) else None


def make_room(folder) -> bool:
    """
    Make the folder, and drop the machine code of the oldest versions beside it.

    :returns: Whether machine code can be kept there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = sorted(folder.parent.iterdir(), key=os.path.getmtime, reverse=True)
    except OSError:
        return False
    for old in others[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return os.access(folder, os.W_OK)


@contextlib.contextmanager
def collector_at_rest():
    """Let nobody search for dead objects: a compiler makes millions, and most of them live on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class EntryPoint(CPUDispatcher):
    """
    A kernel that Python can call, compiled or loaded when it first does.

    :param argument_types: Numba types, in order; arguments of others are a TypeError.
    """

    def __init__(self, function, argument_types):
        super().__init__(function, targetoptions=dict(FAST))
        self.argument_types = argument_types
        folder, before = code_folder(function.__module__), numba.config.CACHE_DIR
        if folder:
            numba.config.CACHE_DIR = str(folder)
            self.enable_caching()
            numba.config.CACHE_DIR = before

    def compile(self, sig):
        """Compile it, and say so if that took a while."""
        arguments, _ = normalize_signature(sig)
        if arguments != self.argument_types:
            raise TypeError(f'{self.__name__}: arguments {self.argument_types} expected, got '
                            f'{arguments}')
        start = time.perf_counter()
        with collector_at_rest():
            entry = super().compile(sig)
        elapsed = time.perf_counter() - start
        if elapsed > SLOW:
            logging.getLogger('spr_dynamics').info(
                'compiled %s in %.1f s (once per machine)', self.__name__, elapsed)
        return entry

    @property
    def address(self) -> int:
        """
        Where ``call_at`` finds it in this process; it is compiled or loaded if it was not.

        :raises TypeError: If it takes or returns anything but whole numbers.
        """
        self.compile(self.argument_types)
        result = self.overloads[self.argument_types]
        passed = {numba.types.unliteral(result.signature.return_type), *self.argument_types}
        if passed != {numba.int64}:
            raise TypeError(f'{self.__name__}: only whole numbers can be passed to an address, '
                            f'not {result.signature}')
        return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)


def entry_point(*argument_types) -> Decorator:
    """Make a kernel one that Python can call, with exactly these argument types."""
    return functools.partial(EntryPoint, argument_types=argument_types)
