"""Where machine code is kept."""
import shutil
import subprocess
import sys

import needs

WHERE = 'import spr_dynamics.jit as jit; print(jit.CACHE)'


def run(program, folder, cache):
    """Run a program on a copy of the package; return the last line that it prints."""
    return subprocess.run(
        [sys.executable, '-c', program], cwd=folder, check=True, capture_output=True, text=True,
        env={'NUMBA_CACHE_DIR': str(cache), 'PATH': ''}).stdout.splitlines()[-1]


def test_changed_sources_never_run_old_machine_code(tmp_path):
    """
    A kernel that an entry point calls was edited, and the old code went on running.

    numba compares the age of the entry point's own file only.
    """
    shutil.copytree(needs.REPOSITORY / 'spr_dynamics', tmp_path / 'spr_dynamics')
    before = run(WHERE, tmp_path, tmp_path / 'cache')
    assert run(WHERE, tmp_path, tmp_path / 'cache') == before
    solver = tmp_path / 'spr_dynamics' / 'contact' / 'solve.py'
    solver.write_text(solver.read_text() + '\n')
    after = run(WHERE, tmp_path, tmp_path / 'cache')
    assert after != before and after.startswith(str(tmp_path / 'cache'))


def test_edits_outside_the_kernels_keep_the_machine_code(tmp_path):
    shutil.copytree(needs.REPOSITORY / 'spr_dynamics', tmp_path / 'spr_dynamics')
    before = run(WHERE, tmp_path, tmp_path / 'cache')
    for path in ('cli.py', 'ros/node.py', 'sdformat/parse.py', 'model/build.py'):
        (tmp_path / 'spr_dynamics' / path).write_text('')
    assert run(WHERE, tmp_path, tmp_path / 'cache') == before


def test_machine_code_of_old_versions_is_dropped_and_nothing_else(tmp_path):
    (tmp_path / 'kernels-of-somebody-else').mkdir()
    for k in range(5):
        (tmp_path / 'spr_dynamics' / f'kernels-{k}').mkdir(parents=True)
    current = run(WHERE, needs.REPOSITORY, tmp_path)
    left = {path.name for path in (tmp_path / 'spr_dynamics').iterdir()}
    assert len(left) == 3 and current.rpartition('/')[2] in left
    assert (tmp_path / 'kernels-of-somebody-else').is_dir()


def test_folder_that_cannot_be_written_does_not_stop_anyone(tmp_path):
    """The kernels are compiled and not kept: elsewhere they could grow stale."""
    blocked = tmp_path / 'file'
    blocked.write_text('')
    old = set((needs.REPOSITORY / 'spr_dynamics').rglob('*.nb?'))
    assert run('import spr_dynamics.sensors.measure; print(1)', needs.REPOSITORY,
               blocked) == '1'
    assert set((needs.REPOSITORY / 'spr_dynamics').rglob('*.nb?')) == old
