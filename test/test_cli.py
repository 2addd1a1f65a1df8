"""The command line: what it prints, writes and refuses."""
import csv
import subprocess
import sys

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.cli import main

MODELS = needs.REPOSITORY / 'models'


def test_show_prints_links_joints_and_sensors(capsys):
    assert main(['show', str(MODELS / 'hopper.sdf')]) == 0
    out, err = capsys.readouterr()
    assert out.startswith('hopper: 5 links, 10.8 kg, 9 degrees of freedom, step 0.001 s, gravity')
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows['thigh'] == ['thigh', '1.8', '2', '0', '2']
    assert rows['knee'] == ['knee', 'revolute', 'thigh', 'shin', '-0.9', '1.6', '150', '8']
    assert 'torso  free      world   torso' in out and 'sole' in rows['foot']
    assert err.count('position limits of 3 joints are read but not simulated yet') == 1


def test_simulate_writes_what_the_library_computes(tmp_path, capsys):
    out = tmp_path / 'run.csv'
    assert main(['simulate', str(MODELS / 'hopper.sdf'), '--duration', '0.5', '--csv', str(out),
                 '--csv-rate', '50']) == 0
    assert '0.500 s simulated in' in capsys.readouterr().out
    with out.open(newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1 + 25
    sim = spr.Simulation(spr.load(MODELS / 'hopper.sdf', world='ground'))
    sim.step(n=500)
    last = {name: float(value) for name, value in rows[-1].items()}
    assert last['time'] == 0.5
    assert last['torso.z'] == sim.q[2] and last['torso.qw'] == sim.q[3]
    assert last['knee.velocity'] == sim.qd[sim.model.dof_v[1]]
    assert last['foot.force_z'] == sim.sensors['foot'].reading.force[2]


def test_options_reach_the_simulation(capsys):
    assert main(['simulate', str(MODELS / 'hopper.sdf'), '--fix-base', '--dt', '0.002',
                 '--duration', '0.1', '--world', 'empty']) == 0
    assert '0 contacts at the end' in capsys.readouterr().out


@pytest.mark.parametrize('words, message', [
    (['show', 'nothing.sdf'], 'nothing.sdf: no such file'),
    (['simulate', str(MODELS / 'arm7.sdf'), '--dt', '1e-12'], '--dt: dt = 1e-12: a whole number'),
    (['simulate', str(MODELS / 'arm7.sdf'), '--world', 'nowhere'], 'nowhere: no such file'),
    (['simulate', str(MODELS / 'arm7.sdf'), '--csv', '/nowhere/run.csv'],
     '--csv: /nowhere/run.csv: No such file or directory'),
])
def test_what_cannot_be_used_gives_one_line_and_exit_code_1(words, message, capsys):
    assert main(words) == 1
    err = [line for line in capsys.readouterr().err.splitlines() if 'warning' not in line]
    assert len(err) == 1 and message in err[0]


@pytest.mark.parametrize('words', [
    [], ['show'], ['dance', 'x.sdf'], ['simulate', 'x.sdf', '--duration', '-1'],
    ['simulate', 'x.sdf', '--duration', 'nan'],
])
def test_wrong_words_are_a_usage_error(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2 and 'usage: spr-dynamics' in capsys.readouterr().err


def test_the_module_is_the_command():
    shown = subprocess.run([sys.executable, '-m', 'spr_dynamics', 'show',
                            str(MODELS / 'cart_pole.sdf')], capture_output=True, text=True,
                           check=True)
    assert shown.stdout.startswith('cart_pole:')


def test_unit_of_time_is_the_second(tmp_path):
    out = tmp_path / 'run.csv'
    main(['simulate', str(MODELS / 'double_pendulum.sdf'), '--duration', '0.1', '--csv', str(out)])
    times = np.loadtxt(out, delimiter=',', skiprows=1)[:, 0]
    np.testing.assert_allclose(times, np.arange(11) * 0.01, atol=1e-12)
