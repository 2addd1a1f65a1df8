"""From the start of a process to its first step, with compiled kernels in the cache."""
import subprocess
import sys
import time

from side_by_side.robots import MODELS

RUNS = 7
PROGRAMS = {
    'python alone': 'pass',
    'numpy and numba imported': 'import numba',
    'arm7 loaded': 'import spr_dynamics as spr; spr.load(sys.argv[1])',
    'first step taken': 'import spr_dynamics as spr; spr.Simulation(spr.load(sys.argv[1])).step()',
}


def seconds(program):
    """Run a program in a process of its own."""
    start = time.perf_counter()
    subprocess.run([sys.executable, '-c', 'import sys; ' + program, MODELS / 'arm7.sdf'],
                   check=True)
    return time.perf_counter() - start


def main():
    print('\n### From process start, kernels cached\n\n| until | s |\n| --- | ---: |')
    for name, program in PROGRAMS.items():
        seconds(program)  # fills the cache
        print(f'| {name} | {min(seconds(program) for _ in range(RUNS)):.2f} |', flush=True)


if __name__ == '__main__':
    main()
