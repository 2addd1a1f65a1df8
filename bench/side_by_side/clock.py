"""Times of calls that take turns, and tables of them."""
import math
import os
from pathlib import Path
import platform
import statistics
import timeit

BLOCK = 2e-3  # [s] long against the clock's grain, short against a burst of other load
BLOCKS = 40  # the best of so many counts: load of others only ever adds
RUNS = 3  # the median of so many counts


def stay_on_one_core():
    """Keep the process, and so its caches, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def minima(calls, each=1):
    """
    Time calls in turns, a block of each and then again, so that load falls on all alike.

    :param calls: Functions without arguments, by name.
    :param each: How many steps one call takes.
    :returns: The time of a step in each call's best block [us], by name; of three runs the median.
    """
    timers = {name: timeit.Timer(call) for name, call in calls.items()}
    counts = {}
    for name, timer in timers.items():
        timer.timeit(3)
        counts[name] = max(1, round(BLOCK / min(timer.repeat(5, 3)) * 3))
    best = {name: [math.inf] * RUNS for name in calls}
    for run in range(RUNS):
        for _ in range(BLOCKS):
            for name, timer in timers.items():
                best[name][run] = min(best[name][run], timer.timeit(counts[name]) / counts[name])
    return {name: 1e6 * statistics.median(times) / each for name, times in best.items()}


def print_table(title, rows, ours='spr_dynamics'):
    """
    Print Markdown: a row for each robot, a column for each engine, and our share of the best.

    :param rows: Times by engine, by robot [us]; infinite where an engine can't.
    """
    engines = list(next(iter(rows.values())))
    lines = [['us', *engines, 'ours / fastest other']]
    for robot, times in rows.items():
        ratio = times[ours] / min(time for name, time in times.items() if name != ours)
        lines.append([robot, *(f'{times[name]:.2f}' if math.isfinite(times[name]) else '-'
                               for name in engines), f'**{ratio:.2f}**'])
    lines.insert(1, ['---', *['---:'] * (len(lines[0]) - 1)])
    print(f'\n### {title}\n')
    for line in lines:
        print(f'| {" | ".join(line)} |', flush=True)


def print_machine(*modules):
    """Print what the numbers depend on: processor, Python, and versions of modules."""
    cpu = next((line.split(':')[1].strip() for line in Path('/proc/cpuinfo').open()
                if line.startswith('model name')), platform.processor())
    versions = ', '.join(f'{module.__name__} {module.__version__}' for module in modules)
    print(f'{cpu}, {os.cpu_count()} cores, one of them used; Python '
          f'{platform.python_version()}, {versions}. Minimum of {BLOCKS} blocks of '
          f'{1e3 * BLOCK:.0f} ms in turns, of {RUNS} runs the median.', flush=True)
