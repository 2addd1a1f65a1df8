"""The command line: what it prints, writes and refuses."""
import csv
import json
import resource
import subprocess
import sys

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.cli import main

MODELS = needs.REPOSITORY / 'models'
SLOWEST_CHECK = 0.5  # [s]

CART = """
<sdf version='1.12'>
  <model name='cart'>
    <link name='base'/>
    {}
  </model>
</sdf>
"""
WHEEL = """
<link name='wheel'><pose>0 0 0.5 0 0 0</pose></link>
<joint name='axle' type='revolute'>
  <parent>base</parent><child>{child}</child>
  <axis><xyz>0 2 0</xyz><limit><effort>{effort}</effort></limit></axis>
</joint>
"""


def test_show_prints_links_joints_and_sensors(capsys):
    assert main(['show', str(MODELS / 'hopper.sdf')]) == 0
    out, _ = capsys.readouterr()
    assert out.startswith('hopper: 5 links, 10.8 kg, 9 degrees of freedom, step 0.001 s, gravity')
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows['thigh'] == ['thigh', '1.8', '2', '0', '2']
    assert rows['knee'] == ['knee', 'revolute', 'thigh', 'shin', '-0.9', '1.6', '150', '8']
    assert 'torso  free      world   torso' in out and 'sole' in rows['foot']


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


def write(path, content):
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding='utf-8')
    return str(path)


def check(capsys, *words):
    """Run `check`; return its exit code, and what is on stdout and stderr."""
    code = main(['check', *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_check_has_nothing_to_say_of_a_good_file(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format(WHEEL.format(child='wheel', effort=5)))
    assert check(capsys, file) == (0, f'{file}: 0 errors, 0 warnings\n', '')


def test_check_passes_a_file_with_warnings(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format('<colour>red</colour>'))
    code, out, err = check(capsys, file)
    assert (code, out) == (0, f'{file}: 0 errors, 1 warning\n')
    assert err == f'warning: {file}:5: <colour> in <model> is not SDFormat and is ignored\n'


def test_check_lists_all_errors_of_a_bad_file_from_top_to_bottom(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format(WHEEL.format(child='whel', effort='5kg')))
    code, out, err = check(capsys, file)
    assert (code, out) == (1, f'{file}: 2 errors, 0 warnings\n')
    first, second = err.splitlines()
    assert first.startswith(f"error: {file}:8: joint 'axle': <child> 'whel' is not in model")
    assert first.endswith("(did you mean 'wheel'?)")
    assert second == f"error: {file}:9: joint 'axle': <effort> '5kg' is not a finite number"


def test_check_warns_of_what_is_right_but_not_simulated(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format(
        "<link name='sail'><enable_wind>true</enable_wind></link>"))
    code, _, err = check(capsys, file)
    assert code == 0 and "can't be simulated: link 'sail': <enable_wind>true" in err


def test_check_writes_what_a_file_says_as_json(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format(WHEEL.format(child='wheel', effort=5)))
    code, out, err = check(capsys, file, '--json')
    said = json.loads(out)
    assert (code, err, said['errors'], said['worlds']) == (0, '', [], [])
    links, (joint,) = said['model']['links'], said['model']['joints']
    assert [link['pose_in_model']['xyz'] for link in links] == [[0, 0, 0], [0, 0, 0.5]]
    assert (joint['axis']['xyz'], joint['axis']['effort'], joint['axis']['velocity']) == (
        [0, 1, 0], 5, 'inf')


def test_check_writes_json_of_a_file_whose_names_are_wrong(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format(WHEEL.format(child='whel', effort=5)))
    code, out, err = check(capsys, file, '--json')
    said = json.loads(out)
    assert code == 1 and err.startswith(f'error: {file}:8: ')
    assert said['errors'][0]['code'] == 'JOINT_CHILD_LINK_INVALID'
    assert {(error['file'], error['line']) for error in said['errors']} == {(file, 8)}
    joint, = said['model']['joints']
    assert joint['child_link'] is None and 'leads nowhere' in joint['pose_in_scope']['error']


@pytest.mark.parametrize('content', [
    '', 'no XML', '<sdf/>', "<sdf version='1.12'><model/></sdf>",
    CART.format(WHEEL.format(child='wheel', effort='5kg'))])
def test_check_writes_json_of_a_file_that_can_not_be_read(content, tmp_path, capsys):
    code, out, err = check(capsys, write(tmp_path / 'cart.sdf', content), '--json')
    said = json.loads(out)
    assert code == 1 and err and 'FILE_READ' in {error['code'] for error in said['errors']}
    assert 'model' not in said and said['worlds'] == []


def test_check_writes_json_of_a_file_that_is_not_there(capsys):
    code, out, err = check(capsys, 'nothing.sdf', '--json')
    error, = json.loads(out)['errors']
    assert (code, err) == (1, 'error: nothing.sdf: no such file\n')
    assert (error['code'], error['message'], error['file'], error['line']) == (
        'FILE_READ', 'no such file', 'nothing.sdf', 0)


def test_check_looks_for_includes_in_each_model_path(tmp_path, capsys):
    for name in ('left', 'right'):
        write(tmp_path / name / f'{name}_wheel' / 'model.config',
              "<model><sdf version='1.12'>wheel.sdf</sdf></model>")
        write(tmp_path / name / f'{name}_wheel' / 'wheel.sdf',
              f"<sdf version='1.12'><model name='{name}'><link name='disc'/></model></sdf>")
    includes = [f'<include><uri>model://{name}_wheel</uri></include>'
                for name in ('left', 'right')]
    file = write(tmp_path / 'cart.sdf', CART.format('\n'.join(includes)))
    code, out, err = check(capsys, file, '--json', '--model-path', str(tmp_path / 'left'),
                           '--model-path', str(tmp_path / 'right'))
    assert (code, err) == (0, '')
    assert [model['name'] for model in json.loads(out)['model']['models']] == ['left', 'right']
    code, _, err = check(capsys, file, '--model-path', str(tmp_path / 'left'))
    assert code == 1 and f"{file}:6: model 'cart': <include> of 'model://right_wheel'" in err


def test_check_tries_a_newer_version_if_asked_to(tmp_path, capsys):
    file = write(tmp_path / 'cart.sdf', CART.format('').replace('1.12', '1.99'))
    code, _, err = check(capsys, file)
    assert code == 1 and "version '1.99' of SDFormat can't be read" in err
    code, _, err = check(capsys, file, '--any-version')
    assert code == 0 and err.startswith('warning: ')


def test_check_starts_without_numba_and_at_once(tmp_path):
    file = write(tmp_path / 'cart.sdf', CART.format(''))
    program = ('import sys; from spr_dynamics.cli import main; main(); '
               "print('numba' in sys.modules)")
    before = processor_time_of_children()
    run = subprocess.run([sys.executable, '-c', program, 'check', file, '--json'],
                         capture_output=True, text=True, check=True)
    assert run.stdout.endswith('False\n') and not run.stderr
    assert processor_time_of_children() - before < SLOWEST_CHECK


def processor_time_of_children():
    """Return what ended children took [s]: wall time hangs on who else works on the machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize('words, message', [
    (['show', 'nothing.sdf'], 'nothing.sdf: no such file'),
    (['simulate', str(MODELS / 'arm7.sdf'), '--dt', '1e-12'], '--dt: dt = 1e-12: a whole number'),
    (['simulate', str(MODELS / 'arm7.sdf'), '--world', 'nowhere'],
     "world = 'nowhere': no such file, and none of 'auto', 'empty', 'ground'"),
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


BODILY = """<sdf version='1.12'><model name='m'><link name='a'>
<sensor name='imu' type='imu'><update_rate>100</update_rate></sensor>
<sensor name='blind' type='imu'><imu><enable_orientation>0</enable_orientation></imu></sensor>
</link><joint name='j' type='fixed'><parent>world</parent><child>a</child>
<sensor name='ft' type='force_torque'/></joint></model></sdf>"""


def test_sensors_of_all_kinds_are_shown_and_written(tmp_path, capsys):
    robot, out = tmp_path / 'robot.sdf', tmp_path / 'run.csv'
    robot.write_text(BODILY)
    assert main(['show', str(robot)]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ['imu', 'a', '100', 'CUSTOM'] in shown
    assert ['blind', 'a', 'each', 'step', 'not', 'reported'] in shown
    assert ['ft', 'j', 'each', 'step', 'child', 'child_to_parent'] in shown
    assert main(['simulate', str(robot), '--duration', '0.1', '--csv', str(out)]) == 0
    with open(out, newline='', encoding='utf-8') as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last['imu.linear_acceleration_z']) == 9.8
    assert float(last['imu.orientation_w']) == 1.0
    assert 'blind.orientation_w' not in last
    assert float(last['ft.force_z']) == -9.8
