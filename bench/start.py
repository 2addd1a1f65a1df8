"""From the start of a process to its first step, with compiled kernels in the cache or not."""
import os
import subprocess
import sys
import tempfile
import time

from side_by_side.robots import MODELS

RUNS = 7
FIRST_STEP = 'first step taken'
PROGRAMS = {
    'python alone': 'pass',
    'numpy and numba imported': 'import numba',
    'arm7 loaded': 'import spr_dynamics as spr; spr.load(sys.argv[1])',
    FIRST_STEP: 'import spr_dynamics as spr; spr.Simulation(spr.load(sys.argv[1])).step()',
}


def seconds(program, **environment):
    """Run a program in a process of its own."""
    start = time.perf_counter()
    subprocess.run([sys.executable, '-c', 'import sys; ' + program, MODELS / 'arm7.sdf'],
                   check=True, env=os.environ | environment)
    return time.perf_counter() - start


def main():
    print('\n### From process start\n\n| until | s |\n| --- | ---: |')
    for name, program in PROGRAMS.items():
        seconds(program)  # fills the cache
        print(f'| {name} | {min(seconds(program) for _ in range(RUNS)):.2f} |', flush=True)
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds(PROGRAMS[FIRST_STEP], NUMBA_CACHE_DIR=empty)
    print(f'| {FIRST_STEP}, nothing compiled before | {cold:.0f} |')


if __name__ == '__main__':
    main()
