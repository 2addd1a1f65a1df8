"""How kernels are compiled, where their machine code is kept, and the types of their arguments."""
import functools
import hashlib
import logging
import os
from pathlib import Path
import re
import shutil
import time

import numba

# Sums may be reordered and fused; NaN and infinity keep their meaning.
KERNEL = {'fastmath': {'contract', 'nsz', 'arcp', 'reassoc'}, 'error_model': 'numpy'}
# To make a kernel callable from Python takes as long as all the rest, so only entry points are.
# A call from Python of any other one ends the process; its ``py_func`` is there for tests.
CALLED = {'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}
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


@numba.extending.intrinsic
def pointer(typing_context, address):
    """Take an integer as an address, for ``numba.carray``."""
    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(numba.types.voidptr))
    return numba.types.voidptr(numba.types.int64), code


@numba.njit(forceinline=True, **CALLED)
def array_at(address, shape, dtype):
    """Return the array that lies at an address; somebody else has to keep it alive."""
    return numba.carray(pointer(address), shape, dtype)


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
    root = (os.environ.get('NUMBA_CACHE_DIR') or os.environ.get('XDG_CACHE_HOME')
            or Path.home() / '.cache')
    folder = Path(root) / 'spr_dynamics' / module / digest.hexdigest()[:16]
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


def compiled(function, *signatures, **options):
    """Compile a function with numba, its machine code being kept in this package's own folder."""
    folder, before = code_folder(function.__module__), numba.config.CACHE_DIR
    if folder:
        numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(*signatures, cache=folder is not None, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


inlined = numba.njit(forceinline=True, **CALLED, **KERNEL)
# What one or two callers use is compiled as part of them, since each level of calls costs again.
woven = numba.njit(inline='always', **CALLED, **KERNEL)


def kernel(function):
    """Compile a function that kernels call."""
    return compiled(function, **CALLED, **KERNEL)


def exact(function):
    """Compile a function that kernels call and that keeps the order of sums as it is written."""
    return compiled(function, error_model='numpy', **CALLED)


def entry_point(*argument_types):
    """
    Compile a kernel for exactly these argument types, and refuse others with TypeError.

    :param argument_types: Numba types, in order.
    :returns: A decorator.
    """
    def decorate(function):
        start = time.perf_counter()
        dispatcher = compiled(function, [argument_types], **KERNEL)
        elapsed = time.perf_counter() - start
        if elapsed > SLOW:
            logging.getLogger('spr_dynamics').info(
                'compiled %s in %.1f s (once per machine)', function.__name__, elapsed)
        return dispatcher
    return decorate
