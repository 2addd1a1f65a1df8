"""How long SDF takes from text to arrays, by the number of links."""
import time

from side_by_side.clock import stay_on_one_core
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, read

RUNS = 5
LINK = """
<link name='l{k}'><pose>{x} 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name='j{k}' type='revolute'><parent>{parent}</parent><child>l{k}</child>
  <axis><xyz>0 1 0</xyz></axis></joint>"""


def chain(n):
    """Write a chain of n links."""
    links = ''.join(LINK.format(k=k, x=0.1 * k, parent=f'l{k - 1}' if k else 'world')
                    for k in range(n))
    return f"<sdf version='1.12'><model name='chain'>{links}</model></sdf>"


def stages(text):
    """Return the seconds that each stage takes."""
    times = [time.perf_counter()]
    root = read(text=text)
    times.append(time.perf_counter())
    assembly = assemble(root)
    times.append(time.perf_counter())
    build(assembly)
    times.append(time.perf_counter())
    return [after - before for before, after in zip(times, times[1:])]


def main():
    stay_on_one_core()
    print('\n### Loading a chain\n\n| links | read [ms] | assemble [ms] | build [ms] '
          '| us a link |\n| ---: | ---: | ---: | ---: | ---: |')
    for n in (10, 100, 1000, 4000):
        text = chain(n)
        best = [min(times) for times in zip(*(stages(text) for _ in range(RUNS)))]
        cells = ' | '.join(f'{1e3 * seconds:.1f}' for seconds in best)
        print(f'| {n} | {cells} | {1e6 * sum(best) / n:.0f} |', flush=True)


if __name__ == '__main__':
    main()
