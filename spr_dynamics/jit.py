"""How kernels are compiled, where their machine code is kept, and the types of their arguments."""
import contextlib
import hashlib
import logging
import os
from pathlib import Path
import shutil
import time

import numba

# Sums may be reordered and fused; NaN and infinity keep their meaning.
KERNEL = {'fastmath': {'contract', 'nsz', 'arcp', 'reassoc'}, 'error_model': 'numpy'}
# To make a kernel callable from Python takes as long as all the rest, so only entry points are.
# A call from Python of any other one ends the process; its ``py_func`` is there for tests.
CALLED = {'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}
SLOW = 1.0  # [s] a kernel that takes longer was compiled, not loaded
ROOMS = ('jit.py', 'spatial.py', 'model/records.py', 'dynamics/*.py', 'contact/*.py',
         'sensors/*.py', 'simulation/*.py')  # where kernels are written
KEPT = 3  # versions of the machine code that stay on disk, about 5 MB each

VECTOR = numba.float64[::1]
MATRIX = numba.float64[:, ::1]
CUBE = numba.float64[:, :, ::1]
ADDRESSES = numba.int64[::1]


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


def cache_folder() -> Path:
    """
    Return where the machine code of exactly these sources is kept.

    numba looks at the age of the file that a kernel is written in, but not at those of the
    kernels that it calls; after an update it would run old code. So the folder is named after
    all sources that hold kernels.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(path for room in ROOMS for path in package.glob(room)):
        digest.update(path.read_bytes())
    root = (os.environ.get('NUMBA_CACHE_DIR') or os.environ.get('XDG_CACHE_HOME')
            or Path.home() / '.cache')
    return Path(root) / 'spr_dynamics' / f'kernels-{digest.hexdigest()[:16]}'


def make_room(folder) -> bool:
    """
    Make the folder, and drop the machine code of the oldest versions beside it.

    :returns: Whether machine code can be kept there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = sorted(folder.parent.glob('kernels-*'), key=os.path.getmtime, reverse=True)
    except OSError:
        return False
    for old in others[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return os.access(folder, os.W_OK)


CACHE = cache_folder()
CAN_KEEP = make_room(CACHE)


@contextlib.contextmanager
def own_cache():
    """Let numba keep what is decorated here in this package's own folder."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(CACHE)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


inlined = numba.njit(forceinline=True, **CALLED, **KERNEL)
# What one or two callers use is compiled as part of them, since each level of calls costs again.
woven = numba.njit(inline='always', **CALLED, **KERNEL)


def kernel(function):
    """Compile a function that kernels call."""
    with own_cache():
        return numba.njit(cache=CAN_KEEP, **CALLED, **KERNEL)(function)


def exact(function):
    """Compile a function that kernels call and that keeps the order of sums as it is written."""
    with own_cache():
        return numba.njit(cache=CAN_KEEP, error_model='numpy', **CALLED)(function)


def entry_point(*argument_types):
    """
    Compile a kernel for exactly these argument types, and refuse others with TypeError.

    :param argument_types: Numba types, in order.
    :returns: A decorator.
    """
    def compiled(function):
        start = time.perf_counter()
        with own_cache():
            dispatcher = numba.njit([argument_types], cache=CAN_KEEP, **KERNEL)(function)
        elapsed = time.perf_counter() - start
        if elapsed > SLOW:
            logging.getLogger('spr_dynamics').info(
                'compiled %s in %.1f s (once per machine)', function.__name__, elapsed)
        return dispatcher
    return compiled
