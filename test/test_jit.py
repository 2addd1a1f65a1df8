"""What can be called, and where machine code is kept."""
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

import needs
from spr_dynamics.jit import entry_point, exact, inlined, kernel, VECTOR

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


@pytest.mark.parametrize('edited', ['jit', 'spatial', 'model.records', 'contact.solve',
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


def test_edits_keep_the_machine_code_of_what_does_not_import_them(tmp_path):
    shutil.copytree(needs.REPOSITORY / 'spr_dynamics', tmp_path / 'spr_dynamics')
    step, shapes = where('simulation.step', tmp_path), where('contact.detect', tmp_path)
    for path in ('cli.py', 'ros/node.py', 'sdformat/parse.py', 'model/build.py',
                 'simulation/simulation.py'):
        (tmp_path / 'spr_dynamics' / path).write_text('')
    assert where('simulation.step', tmp_path) == step
    (tmp_path / 'spr_dynamics' / 'contact' / 'solve.py').write_text('')
    assert where('contact.detect', tmp_path) == shapes


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
