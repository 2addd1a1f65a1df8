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
from numba.core.compiler import compile_extra, CompilerBase, Flags
from numba.core.ir_utils import build_definitions
from numba.core.registry import cpu_target, CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import (
    NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis)
from numba.core.untyped_passes import FixupArgs, GenericRewrites, TranslateByteCode
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
    The code of a kernel that others call, for an entry point to take in.

    numba would optimise it and make machine code of it here, and again in each kernel that calls
    it: four times the work that the entry points need.
    """

    def finalize(self):
        """Leave all to an entry point."""
        self._finalized = True

    def _get_module_for_linking(self):
        """Put it together with all that it calls, for an entry point."""
        libraries = [self]
        for library in libraries:
            libraries += [each for each in library._linking_libraries if each not in libraries]
        whole, *others = map(JITCodeLibrary._get_module_for_linking, libraries)
        whole = whole.clone()
        for module in others:
            whole.link_in(module, preserve=True)
        return whole


class Settings(Flags):
    """
    Options of numba as its compiler wants them, told apart by identity.

    They are settled where a kernel is defined: numba takes what a kernel does not say from whoever
    happens to call it first.

    :param options: Of ``numba.njit``.
    """

    __slots__ = ()

    def __init__(self, options):
        super().__init__()
        cpu_target.options.parse_as_flags(self, options)
        self.no_compile = self.no_cpython_wrapper = self.no_cfunc_wrapper = True

    __hash__, __eq__ = object.__hash__, object.__eq__

    def copy(self):
        """Return itself: it never changes."""
        return self


class KnownTypes(numba.core.typing.Context):
    """
    numba's context of types, remembering what calls and attributes give.

    numba asks all that is registered for an operator each time, half a dozen functions for a sum
    of two numbers.

    :param original: Its contents are shared.
    """

    def __init__(self, original):
        vars(self).update(vars(original))
        self.signatures, self.attributes = {}, {}

    def resolve_function_type(self, func, args, kws):
        """Return the signature of a call; calls of kernels are not remembered here."""
        function = self._lookup_global(func) or func
        if kws or isinstance(function, numba.types.Dispatcher):
            return super().resolve_function_type(func, args, kws)
        return self.remembered(self.signatures, (function, tuple(args)),
                               super().resolve_function_type, func, args, kws)

    def resolve_getattr(self, typ, attr):
        """Return the type of an attribute."""
        return self.remembered(self.attributes, (typ, attr), super().resolve_getattr, typ, attr)

    @staticmethod
    def remembered(found, key, find, *arguments):
        """Return what was found for a key, or find it."""
        if found.get(key) is None:
            found[key] = find(*arguments)
        return found[key]


class LoweringTypes(KnownTypes):
    """The same for the second half of the compiler, which asks operators themselves."""

    def resolve_value_type(self, val):
        """Return the type of a value, operators among them."""
        type_ = super().resolve_value_type(val)
        return KnownFunction(type_) if type(type_) is numba.types.Function else type_


class KnownFunction(numba.types.Function):
    """
    An operator that remembers its signatures in its context.

    :param original: The operator as numba knows it.
    """

    def __init__(self, original):
        super().__init__(original.templates)
        self._impl_keys = original._impl_keys

    def get_call_type(self, context, args, kws):
        """Return the signature of a call."""
        return context.remembered(context.signatures, (self, args), super().get_call_type,
                                  context, args, kws)


@functools.cache
def known_types(context, settings):
    """Return what is remembered for kernels of some settings, which overloads depend on."""
    return KnownTypes(context), LoweringTypes(context)


class Passes:
    """
    Those of numba's passes that kernels need, each of them once.

    There are no closures in kernels, generators, ``with`` blocks, branches on types or sums of
    whole arrays, and arrays have no owner in them whose references would have to be counted.
    """

    pipeline_name = 'part'
    exec_times: dict = {}
    read = [TranslateByteCode(), FixupArgs(), GenericRewrites()]
    find_types = NopythonTypeInference()
    strip_phis = PreLowerStripPhis()._strip_phi_nodes
    lower = [NativeLowering(), NoPythonBackend()]

    def run(self, state):
        """Take a function from bytecode to its part, and let other kernels find it."""
        for each in self.read:
            each.run_pass(state)
        state.func_ir = reconstruct_ssa(state.func_ir)
        self.find_types.run_pass(state)
        state.func_ir = self.strip_phis(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        state.targetctx.refresh()
        state.targetctx.refresh = bool  # there is nothing new from here on, however often it looks
        for each in self.lower:
            each.run_pass(state)
        # Found by a name: numba asks for a builtin, and this one refuses all calls (with a tuple,
        # where it expects text).
        name = object().__format__
        state.targetctx.insert_user_function(name, state.cr.fndesc, [state.cr.library])
        state.cr = state.cr._replace(entry_point=name)


class PartCompiler(CompilerBase):
    """Compiles a function to a ``Part``."""

    def define_pipelines(self):
        """Return the one pipeline."""
        state = self.state
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.typingctx, state.targetctx.typing_context = known_types(
            state.typingctx, state.flags)
        return [Passes()]


# Arrays belong to the caller, so nobody counts references.
PLAIN = {'nopython': True, 'error_model': 'numpy', '_nrt': False}
# Sums may be reordered and fused; NaN and infinity keep their meaning.
FAST = {'fastmath': {'contract', 'nsz', 'arcp', 'reassoc'}, **PLAIN}


class Kernel(CPUDispatcher):
    """
    A function that kernels call.

    A call from Python is a TypeError; ``py_func`` is there for tests.

    :param settings: How to compile it.
    """

    def __init__(self, function, settings):
        super().__init__(function, pipeline_class=PartCompiler)
        self.settings = settings

    def compile(self, sig):
        """Compile it for types; numba would do so for each number that a caller writes out."""
        arguments, _ = normalize_signature(sig)
        arguments = tuple(numba.types.unliteral(type_) for type_ in arguments)
        if arguments not in self.overloads:
            self.add_overload(compile_extra(
                self.typingctx, self.targetctx, self.py_func, arguments, None, self.settings, {},
                pipeline_class=PartCompiler))
        return self.overloads[arguments].entry_point


Decorator = Callable[[Callable], Any]


def kernels(**options) -> Decorator:
    """Return the decorator of kernels with these options of numba."""
    return functools.partial(Kernel, settings=Settings(options))


kernel = kernels(**FAST)
exact = kernels(**PLAIN)  # keeps the order of sums as written
inlined = kernels(forceinline=True, **FAST)
# Fuses products with sums, but keeps the order.
ordered = kernels(forceinline=True, **FAST | {'fastmath': {'contract', 'nsz'}})
# Returns an array, which numba allows only where references are counted.
accessor = kernels(forceinline=True, **FAST | {'_nrt': True})


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
