"""What can be called, and where machine code is kept."""
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.jit import array_at, call_at, entry_point, exact, inlined, kernel, VECTOR
from spr_dynamics.simulation.buffers import (
    CONSTRAIN_AT, FEEL_CONTACTS_AT, FEEL_MOTION_AT, SEARCH_AT)

WHERE = 'import spr_dynamics.jit as jit; print(jit.code_folder("spr_dynamics.{}"))'


def run(program, folder, cache):
    """Run a program on a copy of the package; return the last line that it prints."""
    return subprocess.run(
        [sys.executable, '-c', program], cwd=folder, check=True, capture_output=True, text=True,
        env={'NUMBA_CACHE_DIR': str(cache), 'PATH': ''}).stdout.splitlines()[-1]


def where(module, folder):
    """Return where a copy of the package keeps the machine code of a module."""
    return run(WHERE.format(module), folder, folder / 'cache')


@pytest.mark.parametrize('decorate', [exact, inlined, kernel])
def test_only_kernels_can_call_what_is_no_entry_point(decorate):
    """It has no machine code of its own, and none is made for it."""
    @decorate
    def add_up(x):
        total = 0.0
        for i in range(x.size):
            total += x[i]
        return total

    numbers = np.arange(4.0)
    for _ in range(2):
        with pytest.raises(TypeError):
            add_up(numbers)
    assert numba.njit(lambda x: add_up(x))(numbers) == 6.0


def test_callers_do_not_decide_how_a_kernel_is_compiled():
    """Whoever called a kernel first gave it what it left open: sums of contacts were reordered."""
    def add_up(x):
        total = 0.0
        for i in range(x.size):
            total += x[i]
        return total

    careful, fast = exact(add_up), kernel(add_up)

    @entry_point(VECTOR)
    def sums(x):
        return careful(x), fast(x)

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=10007) * 10.0 ** rng.integers(-8, 8, 10007)
    in_order, in_any_order = sums(numbers)
    assert in_order == add_up(numbers) != in_any_order
    assert in_any_order == pytest.approx(in_order, rel=1e-9)


def test_entry_points_take_their_own_types_of_arguments_only():
    @entry_point(VECTOR, numba.int64)
    def entry_of(x, k):
        return x[k]

    numbers = np.arange(4.0)
    frozen = numbers.copy()
    frozen.setflags(write=False)
    for _ in range(2):  # before it is compiled, and after
        for wrong in (numbers[::2], numbers.astype(int), numbers.reshape(2, 2), frozen, [1.0]):
            with pytest.raises(TypeError):
                entry_of(wrong, 1)
        with pytest.raises(TypeError):
            entry_of(numbers, 1.0)
        with pytest.raises(TypeError):
            entry_of(numbers)
        assert entry_of(numbers, 1) == 1.0


def test_kernels_call_entry_points_by_their_addresses():
    """Three numbers arrive in their order, and the memory that one of them names is written."""
    @entry_point(numba.int64, numba.int64, numba.int64)
    def put(numbers, k, value):
        array_at(numbers, 4, np.int64)[k] = value
        return 10 * value + k

    at = put.address
    assert put.address == at and put(np.zeros(4, np.int64).ctypes.data, 2, 7) == 72
    numbers = np.zeros(4, np.int64)
    call = numba.njit(lambda at, where, k, value: call_at(at, (where, k, value)))
    assert call(at, numbers.ctypes.data, 1, -5) == -49
    assert numbers.tolist() == [0, -5, 0, 0]


def test_addresses_are_for_whole_numbers_only():
    """The caller doesn't know the types, so nothing else could arrive as it was sent."""
    @entry_point(numba.int64, numba.float64)
    def takes_a_fraction(k, x):
        return k

    @entry_point(numba.int64)
    def returns_a_fraction(k):
        return 0.5 * k

    for wrong in (takes_a_fraction, returns_a_fraction):
        with pytest.raises(TypeError, match=f'{wrong.__name__}: only whole numbers .* not '):
            int(wrong.address)


def test_models_have_compiled_what_they_need():
    """A cold start took ten seconds more for a search that could find nothing."""
    ball = ("<link name='l'><collision name='c'><geometry><sphere><radius>0.1</radius></sphere>"
            '</geometry></collision>{}</link>')
    imu, touch = "<sensor name='s' type='imu'/>", (
        "<sensor name='s' type='contact'><contact><collision>c</collision></contact></sensor>")
    limited = ("<joint name='j' type='revolute'><parent>world</parent><child>l</child><axis>"
               '<xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>')
    for models, expected in (
            ([ball.format('')], [False, False, False, False]),
            ([ball.format('') + limited], [False, True, False, False]),
            ([ball.format(imu)], [False, False, False, True]),
            ([ball.format(touch)], [False, False, True, False]),
            ([ball.format(''), ball.format('')], [True, True, False, False])):
        text = ''.join(f"<model name='m{k}'><pose>{k} 0 0 0 0 0</pose>{model}</model>"
                       for k, model in enumerate(models))
        sim = spr.Simulation(spr.load(text=f"<sdf version='1.12'><world name='w'>{text}</world>"
                                      '</sdf>'))
        sim.step(n=2)
        found = [sim._block[at] != 0 for at in (
            SEARCH_AT, CONSTRAIN_AT, FEEL_CONTACTS_AT, FEEL_MOTION_AT)]
        assert found == expected


@pytest.mark.parametrize('edited', ['jit', 'spatial', 'model.records', 'contact.anchors',
                                    'dynamics.cholesky', 'simulation.buffers'])
def test_changed_sources_never_run_old_machine_code(tmp_path, edited):
    """
    A kernel that an entry point calls was edited, and the old code went on running.

    numba compares the age of the entry point's own file only.
    """
    shutil.copytree(needs.REPOSITORY / 'spr_dynamics', tmp_path / 'spr_dynamics')
    before = where('simulation.step', tmp_path)
    assert where('simulation.step', tmp_path) == before
    source = tmp_path.joinpath('spr_dynamics', *edited.split('.')).with_suffix('.py')
    source.write_text(source.read_text() + '\n')
    after = where('simulation.step', tmp_path)
    assert after != before and after.startswith(str(tmp_path / 'cache'))


@pytest.mark.parametrize('kept, edits', [
    ('simulation.step', ['cli', 'ros.node', 'sdformat.parse', 'model.build',
                         'simulation.simulation', 'contact.detect', 'contact.epa',
                         'contact.manifold', 'contact.laws', 'contact.solve',
                         'simulation.constrain', 'simulation.motion', 'simulation.smooth']),
    ('simulation.constrain', ['contact.detect', 'contact.anchors', 'simulation.step']),
    ('contact.detect', ['contact.solve', 'simulation.step', 'simulation.buffers']),
    ('simulation.sense', ['contact.detect', 'simulation.step']),
])
def test_edits_keep_the_machine_code_of_what_does_not_import_them(tmp_path, kept, edits):
    shutil.copytree(needs.REPOSITORY / 'spr_dynamics', tmp_path / 'spr_dynamics')
    before = where(kept, tmp_path)
    for edited in edits:
        source = tmp_path.joinpath('spr_dynamics', *edited.split('.')).with_suffix('.py')
        source.write_text(source.read_text() + '\n')
    assert where(kept, tmp_path) == before


def test_kernels_import_each_other_in_the_way_that_is_looked_for():
    """The digest reads ``from spr_dynamics.module import name``; other ways would escape it."""
    for path in (needs.REPOSITORY / 'spr_dynamics').rglob('*.py'):
        text = path.read_text()
        if 'from spr_dynamics.jit import' in text:
            assert 'import spr_dynamics' not in text and 'from spr_dynamics import' not in text


def test_machine_code_of_old_versions_is_dropped_and_nothing_else(tmp_path):
    (tmp_path / 'spr_dynamics' / 'of-somebody-else').mkdir(parents=True)
    versions = tmp_path / 'spr_dynamics' / 'spr_dynamics.contact.solve'
    for k in range(5):
        (versions / str(k)).mkdir(parents=True)
    current = run(WHERE.format('contact.solve'), needs.REPOSITORY, tmp_path)
    left = {path.name for path in versions.iterdir()}
    assert len(left) == 3 and current.rpartition('/')[2] in left
    assert (tmp_path / 'spr_dynamics' / 'of-somebody-else').is_dir()


def test_folder_that_cannot_be_written_does_not_stop_anyone(tmp_path):
    """The kernels are compiled and not kept: elsewhere they could grow stale."""
    blocked = tmp_path / 'file'
    blocked.write_text('')
    old = set((needs.REPOSITORY / 'spr_dynamics').rglob('*.nb?'))
    assert run('import spr_dynamics.sensors.measure; print(1)', needs.REPOSITORY,
               blocked) == '1'
    assert set((needs.REPOSITORY / 'spr_dynamics').rglob('*.nb?')) == old
