"""From the start of a process to its first step, with compiled kernels in the cache or not."""
import os
from pathlib import Path
import resource
import subprocess
import sys
import tempfile
import time

from side_by_side.robots import MODELS
import spr_dynamics as spr

RUNS = 7
LOAD = 'import sys, spr_dynamics as spr; model = spr.load(sys.argv[1], world=sys.argv[2])'
STEP = LOAD + '; spr.Simulation(model).step()'
PROGRAMS = {
    'python alone': 'pass',
    'numpy and numba imported': 'import numba',
    'arm7 loaded': LOAD,
    'first step taken': STEP,
}
ROBOTS = {  # what has to be compiled for it, its file, and its world
    'no limits, nothing to touch': ('double_pendulum.sdf', 'empty'),
    'limits and a contact sensor': ('arm7.sdf', 'empty'),
    'a ground to touch': ('quadruped.sdf', 'ground'),
}


def seconds(program, robot, world, **environment):
    """Run a program in a process of its own; return how long that took, and its processor time."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, '-c', program, MODELS / robot, world], check=True,
                   env=os.environ | environment)
    return (time.perf_counter() - start,
            resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def main():
    print('\n### From process start\n\n| until | s |\n| --- | ---: |')
    for name, program in PROGRAMS.items():
        seconds(program, 'arm7.sdf', 'empty')  # fills the cache
        elapsed = min(seconds(program, 'arm7.sdf', 'empty')[0] for _ in range(RUNS))
        print(f'| {name} | {elapsed:.2f} |', flush=True)
    print('\n| first step taken, nothing compiled before | s | of a processor |\n'
          '| --- | ---: | ---: |')
    for name, (robot, world) in ROBOTS.items():
        with tempfile.TemporaryDirectory() as empty:
            elapsed, busy = seconds(STEP, robot, world, NUMBA_CACHE_DIR=empty)
        print(f'| {robot}: {name} | {elapsed:.1f} | {busy:.1f} |', flush=True)
    sources = Path(spr.__file__).parent.rglob('*.py')
    count = sum(path.read_text().count('\n@entry_point(') for path in sources)
    print(f'\n{count} entry points in all, of which each robot needs a few.')


if __name__ == '__main__':
    main()
