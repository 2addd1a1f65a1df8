"""Torque terms in words: what `explain` computes, says, reads and refuses."""
import csv
import math

from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest

from builders import closed_tree, KINDS, random_state, random_tree
import needs
import spr_dynamics as spr
from spr_dynamics.cli import main
from spr_dynamics.explain.columns import position_names, velocity_names
from spr_dynamics.explain.loops import bend, independent_jacobian, leading, velocity_map
from spr_dynamics.explain.motion import Motion, state
from spr_dynamics.explain.parts import parts_of
from spr_dynamics.explain.report import bars, explain, number, shortened
from spr_dynamics.explain.slowing import slowdown
from spr_dynamics.model.assembling import moved

MODELS = needs.REPOSITORY / 'models'
MASS, GRAVITY = 2.0, 9.8

LIFT = """
<sdf version='1.12'><model name='lift'>
  <link name='cabin'><inertial><mass>2</mass></inertial></link>
  <joint name='rope' type='prismatic'><parent>world</parent><child>cabin</child>
    <axis><xyz>0 0 1</xyz><limit><effort>{limit}</effort></limit></axis></joint>
</model></sdf>
"""
FINGERS = """
<sdf version='1.12'><model name='gripper'>
  <link name='left'><inertial><mass>2</mass></inertial></link>
  <link name='right'><inertial><mass>2</mass></inertial></link>
  <joint name='lead' type='prismatic'><parent>world</parent><child>left</child>
    <axis><xyz>0 0 1</xyz></axis></joint>
  <joint name='follow' type='prismatic'><parent>world</parent><child>right</child>
    <axis><xyz>0 0 1</xyz>
      <mimic joint='lead'><multiplier>0.5</multiplier><offset>1</offset><reference>0</reference>
      </mimic></axis></joint>
</model></sdf>
"""


def written(path, content):
    """Write a file and return its name."""
    path.write_text(content, encoding='utf-8')
    return str(path)


def said(capsys, *words):
    """Run `explain`; return what it prints."""
    assert main(['explain', *words]) == 0
    return capsys.readouterr().out


def rows(text):
    """Return the words of each line by the first of them, for the first table."""
    table = text.split('\n\n')[1].splitlines()
    return {line.split()[0]: line.split() for line in table}


def test_it_prints_the_parts_of_each_joint(capsys):
    file, q = str(MODELS / 'arm7.sdf'), {'joint2': -0.6, 'joint4': -2.0}
    out = said(capsys, file, '--q', *(f'{name}={value}' for name, value in q.items()),
               '--qd', 'joint1=1.5', '--qdd', 'joint4=5', 'joint7=-1')
    model = spr.load(file)
    position = [q.get(name, 0.0) for name in model.joint_names]
    terms = spr.torque_terms(model, position, [1.5] + 6 * [0.0], [0, 0, 0, 5.0, 0, 0, -1.0])
    for k, name in enumerate(model.joint_names):
        expected = terms.inertial[k], terms.velocity[k], terms.gravity[k]
        for word, value in zip(rows(out)[name][1:], (*expected, sum(expected))):
            assert float(word) == pytest.approx(value, rel=6e-3, abs=1e-10)


def test_bars_are_as_long_as_the_parts(capsys):
    out = said(capsys, str(MODELS / 'arm7.sdf'), '--q', 'joint2=-0.6', 'joint4=-2',
               '--qdd', 'joint4=5')
    line = next(line for line in out.splitlines() if line.startswith('joint4'))
    inertial, _, gravity = (float(word) for word in line.split()[1:4])
    assert line.count('#') == pytest.approx(line.count('=') * inertial / gravity, abs=1.0)
    assert line.index('|') < line.index('=') < line.index('#')


def test_parts_lie_side_by_side_from_zero_outward():
    """Gravity next to the zero line, and each unit with a scale of its own."""
    parts = {'gravity': np.array([4.0, -2.0, 10.0]), 'velocity': np.array([-4.0, -2.0, 0.0]),
             'inertial': np.array([4.0, -4.0, 10.0])}
    assert list(bars(['N m', 'N m', 'N'], parts, 18)) == [
        '    ~~~~|====####', '####~~==|', '        |====####']


@pytest.mark.parametrize('qd, qdd, part, cure', [
    ('elbow=0', 'shoulder=100', 'inertial', 'A lighter arm, or more time.'),
    ('elbow=50', 'elbow=0', 'velocity', 'Only more time: it is quadratic in speed.'),
    ('elbow=0', 'elbow=0', 'gravity',
     'Never time: only a counterweight, a spring or another pose.'),
])
def test_the_largest_part_has_its_cure(qd, qdd, part, cure, capsys):
    out = said(capsys, str(MODELS / 'double_pendulum.sdf'), '--q', 'shoulder=1.2', 'elbow=0.3',
               '--qd', qd, '--qdd', qdd)
    lines = out.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(f'  {part}: shoulder'))
    assert lines[at + 1].strip() == cure


@pytest.mark.parametrize('file', sorted(MODELS.glob('*.sdf')), ids=lambda file: file.stem)
def test_it_fits_a_terminal(file, tmp_path, capsys):
    path = tmp_path / 'run.csv'
    main(['simulate', str(file), '--duration', '0.2', '--csv', str(path)])
    capsys.readouterr()
    for words in ([], ['--trajectory', str(path)]):
        out = said(capsys, str(file), *words)
        assert max(map(len, out.splitlines())) <= 80
        assert not any(line != line.rstrip() for line in out.splitlines())


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2 ** 32 - 1), st.integers(1, 9), st.booleans())
@example(2316273, 3, False)  # both sides of the bars were rounded up
def test_it_reads_well_for_every_kind_of_joint(seed, n, is_free):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, kinds=KINDS, is_free=is_free, mimic_share=0.3)
    q, qd, qdd = random_state(rng, model)
    text = explain(model, Motion(np.zeros(1), q[None], qd[None], qdd[None], model.independent))
    assert max(map(len, text.splitlines())) <= 80 and 'nan' not in text
    assert all(position_names(model)) and all(velocity_names(model))


def test_the_matrix_and_the_strongest_coupling_are_printed(capsys):
    out = said(capsys, str(MODELS / 'double_pendulum.sdf'), '--q', 'elbow=0.4')
    M = spr.mass_matrix(spr.load(MODELS / 'double_pendulum.sdf'), [0.0, 0.4])
    lines = out[out.index('M: '):].splitlines()
    for line, row in zip(lines[2:4], M):
        np.testing.assert_allclose([float(word) for word in line.split()[1:]], row, rtol=6e-3)
    share = 100 * abs(M[0, 1]) / math.sqrt(M[0, 0] * M[1, 1])
    assert f'shoulder and elbow, {share:.0f} % of' in out


def test_a_large_matrix_is_printed_in_blocks(capsys):
    out = said(capsys, str(MODELS / 'hopper.sdf'), '--world', 'empty')
    heads = [line.split() for line in out[out.index('M: '):].splitlines()
             if line.startswith('     ')]
    assert [name for names in heads for name in names][:3] == ['torso.vx', 'torso.vy', 'torso.vz']
    assert sum(map(len, heads)) == 9 and len(heads) == 2


def test_long_names_fit_a_terminal(tmp_path, capsys):
    name = 'left_front_upper_shoulder_pitch'
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=15).replace('rope', name)),
               '--qdd', f'{name}=-1.25e-5')
    assert max(map(len, out.splitlines())) <= 80
    assert out.count('left_fron..der_pitch') == 3 and f'{name} 100 %' in out


# How much slower.

@pytest.mark.parametrize('moving, gravity, limit, factor', [
    (1.0, 2.0, 5.0, 1.0),              # fits
    (12.0, 2.0, 5.0, 2.0),             # 12 / 4 + 2
    (-28.0, 2.0, 5.0, 2.0),            # -28 / 4 + 2
    (0.0, 6.0, 5.0, math.inf),         # the weight alone is too much
    (1.0, 6.0, 5.0, math.inf),
    (-2.0, 6.0, 5.0, 1.0),             # falls fast enough to be light
    (-44.0, 6.0, 5.0, 2.0),            # -44 / 4 + 6
    (0.0, 5.0, 5.0, 1.0),              # just holds
    (-0.0, 5.0, 5.0, 1.0),
    (1.0, 5.0, 5.0, math.inf),
    (0.0, 0.0, 0.0, 1.0),              # a joint without a motor
    (3.0, 1.0, math.inf, 1.0),
    ([12.0, 1.0], [2.0, 6.0], 5.0, math.inf),
    ([12.0, 45.0], [2.0, 0.0], 5.0, 3.0),
])
def test_slowdown(moving, gravity, limit, factor):
    assert slowdown(np.array(moving), np.array(gravity), limit) == pytest.approx(factor)


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(-9, 9)), min_size=1), st.floats(10, 50))
def test_slowdown_is_enough_and_not_too_much(samples, limit):
    moving, gravity = np.array(samples).T
    s = slowdown(moving, gravity, limit)
    largest = np.abs(moving / s ** 2 + gravity).max()
    assert largest <= limit * (1 + 1e-12)
    assert s == 1.0 or largest == pytest.approx(limit)


def lifted(tmp_path, acceleration):
    """Write a motion of the lift: up, with an acceleration that grows with time."""
    lines = ['time,rope.position,rope.velocity,rope.acceleration']
    lines += [f'{t},0,0,{acceleration * t}' for t in np.linspace(0.0, 1.0, 11)]
    return written(tmp_path / 'motion.csv', '\n'.join(lines))


def test_a_slower_motion_fits_the_limit(tmp_path, capsys):
    """At 30 m/s^2 a mass of 2 kg takes 60 + 19.6 N; of 49.6 N half of the 60 is left."""
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=49.6)),
               '--trajectory', lifted(tmp_path, 30.0))
    factor = math.ceil(1000 * math.sqrt(2.0)) / 1000
    assert f'160 %  slow by {factor}' in out and f'All of it fits if slowed by {factor}.' in out


def test_no_slowing_lifts_what_is_too_heavy(tmp_path, capsys):
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=15)),
               '--trajectory', lifted(tmp_path, 30.0))
    assert '531 %  never: g alone is 19.6' in out and 'No slowing makes all of it fit.' in out


def test_what_fits_is_said_to_fit(tmp_path, capsys):
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=200)))
    assert '19.6 of 200 N' in out and '10 %  fits' in out and 'All of it fits as it is.' in out


# Closed loops.

def with_motors(crank='inf', rocker='inf'):
    """Write the four-bar with other effort limits."""
    text = (MODELS / 'four_bar.sdf').read_text(encoding='utf-8')
    text = text.replace('<effort>10</effort>', f'<effort>{crank}</effort>')
    at = text.index('<dynamics>', text.index('<joint name="rocker_hinge"'))
    return f'{text[:at]}<limit><effort>{rocker}</effort></limit>{text[at:]}'


def crank_effort(model, position, speed, acceleration):
    """Return the power that a crank which moves all takes, for each unit of its speed."""
    h = 1e-5

    def places(angle):
        q = model.neutral_q()
        q[0] = angle
        return spr.closed_positions(model, q, ['crank_hinge'])

    def energy(angle, rate):
        slope = (places(angle + h) - places(angle - h)) / (2.0 * h)
        return sum(spr.energy(model, places(angle), slope * rate))

    by_position = (energy(position + h, speed) - energy(position - h, speed)) / (2.0 * h)
    by_speed = (energy(position, speed + h) - energy(position, speed - h)) / (2.0 * h)
    return by_position + by_speed * acceleration / speed


def test_crank_of_a_loop_carries_what_the_loop_needs():
    """Not what the open tree does: -1.368 N m at the start, with which the crank runs away."""
    model = spr.load(MODELS / 'four_bar.sdf')
    holding = parts_of(model, state(model))
    assert holding.names == ['crank_hinge']
    assert holding.total[0, 0] == pytest.approx(-0.351, abs=5e-4)
    sim = spr.Simulation(model)
    sim.step([holding.total[0, 0], 0.0, 0.0], n=100)
    assert abs(sim.q[0]) < 1e-6
    for position, speed, acceleration in (0.0, 1e-3, 0.0), (0.4, 3.0, 20.0), (-1.0, -8.0, 5.0):
        parts = parts_of(model, state(model, [f'crank_hinge={position}'], [f'crank_hinge={speed}'],
                                      [f'crank_hinge={acceleration}']))
        assert parts.total[0, 0] == pytest.approx(
            crank_effort(model, position, speed, acceleration), rel=1e-5)


@pytest.mark.parametrize('seed', [4, 27])
def test_power_of_what_leads_is_the_change_of_energy(seed):
    """Of a floating tree with balls and followers, tied to itself and to the world."""
    rng, model = closed_tree(seed)
    q = model.neutral_q()
    chosen = leading(model, q)
    G = velocity_map(model, q, chosen)
    qd = G @ rng.normal(size=chosen.size)
    qdd = G @ rng.normal(size=chosen.size) + bend(model, q, qd, chosen)
    parts = parts_of(model, Motion(np.zeros(1), q[None], qd[None], qdd[None], chosen))
    bounds, h = np.tile([[-np.inf], [np.inf]], model.nq), 1e-4

    def later(t):
        return moved(model.tree, model.followers, bounds, q, t * qd + t * t / 2.0 * qdd)

    def gap(t):
        return max(map(max, spr.loop_gaps(model, later(t)).values()))

    assert gap(20.0 * h) / gap(10.0 * h) == pytest.approx(8.0, rel=0.2)  # of third order
    now, before = (sum(spr.energy(model, later(t), qd + t * qdd)) for t in (h, -h))
    assert parts.total[0] @ qd[chosen] == pytest.approx((now - before) / (2.0 * h), rel=1e-5)
    rank = np.linalg.matrix_rank(independent_jacobian(model, q), tol=1e-6)
    assert rank >= 3 and chosen.size == model.independent.size - rank


def test_parts_of_a_loop_go_as_the_speed_does():
    """Stretched by 2 both parts of a motion are a quarter, the bend of the loop included."""
    model = spr.load(MODELS / 'four_bar.sdf')
    fast, slow = (parts_of(model, state(model, ['crank_hinge=0.4'], [f'crank_hinge={speed}'],
                                        [f'crank_hinge={speed ** 2}'])) for speed in (4.0, 2.0))
    np.testing.assert_allclose(fast.inertial, 4.0 * slow.inertial, rtol=1e-12)
    np.testing.assert_allclose(fast.velocity, 4.0 * slow.velocity, rtol=1e-7)
    assert abs(fast.velocity[0, 0]) > 0.05


def test_who_moves_whom_in_a_loop_is_said(capsys):
    out = ' '.join(said(capsys, str(MODELS / 'four_bar.sdf')).split())
    assert ('Loops are closed (closure): what coupler_hinge, rocker_hinge need is counted with '
            'the joints below, which move them.') in out
    assert '0.351 of 10 N m 4 % fits' in out


def test_motor_leads_a_loop_and_others_are_named(tmp_path, capsys):
    """The rocker's motor makes it the leader; a second one could help, which is said."""
    model = spr.load(text=with_motors(rocker=5))
    held = parts_of(model, state(model))
    assert held.names == ['rocker_hinge'] and held.limit.tolist() == [5.0]
    both = written(tmp_path / 'both.sdf', with_motors(crank=10, rocker=5))
    out = ' '.join(said(capsys, both).split())
    assert 'crank_hinge' in out.split('inertial velocity gravity total')[1]
    assert 'Their own motors (rocker_hinge) are left out, and could help.' in out


def assert_needs_little(robot, joint, duration, path, capsys):
    """Let a robot swing without efforts; its total at a joint is a small part of its gravity."""
    file = str(MODELS / f'{robot}.sdf')
    main(['simulate', file, '--duration', duration, '--csv', str(path), '--csv-rate', '1000'])
    capsys.readouterr()
    words = rows(said(capsys, file, '--trajectory', str(path)))[joint]
    assert abs(float(words[4])) < 0.1 * abs(float(words[3]))


def test_run_of_a_loop_needs_only_what_its_dampers_take(tmp_path, capsys):
    assert_needs_little('four_bar', 'crank_hinge', '0.1', tmp_path / 'run.csv', capsys)


def test_what_a_loop_moves_can_not_be_set(capsys):
    assert main(['explain', str(MODELS / 'four_bar.sdf'), '--qd', 'rocker_hinge=1']) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        "--qd rocker_hinge=1: 'rocker_hinge' moves with the others, since loops are closed; what "
        "leads is 'crank_hinge'")


def test_loop_is_closed_around_the_positions_that_are_given(capsys):
    model = spr.load(MODELS / 'four_bar.sdf')
    motion = state(model, ['rocker_hinge=-0.1'])
    assert motion.q[0, 2] == -0.1
    assert max(spr.loop_gaps(model, motion.q[0])['closure']) < 1e-9
    assert main(['explain', str(MODELS / 'four_bar.sdf'), '--q', 'rocker_hinge=2']) == 1
    assert "--q: the loop that joint 'closure' closes is open by" in capsys.readouterr().err


def test_free_root_and_balls_stay_where_they_are_put(capsys, tmp_path):
    """And the rest of a root, of which one coordinate is given, moves to close the loop."""
    tied = written(tmp_path / 'tied.sdf', """
<sdf version='1.12'><model name='tied'>
  <link name='base'/>
  <link name='arm'><pose>0 0 0.2 0 0 0</pose></link>
  <joint name='shoulder' type='revolute'><parent>base</parent><child>arm</child>
    <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name='tie' type='ball'><pose>0.5 0 0 0 0 0</pose><parent>world</parent><child>arm</child>
  </joint>
</model></sdf>""")
    model = spr.load(tied)
    assert model.loop_names == ('tie',) and model.free_roots
    for height in (0.3, -0.2):
        q = state(model, [f'base.z={height}']).q[0]
        assert q[2] == height and max(spr.loop_gaps(model, q)['tie']) < 1e-9
    q = state(model, ['base.qw=0.8', 'base.qx=0.6', 'base.qy=0', 'base.qz=0', 'base.z=0.1']).q[0]
    assert q[2:7].tolist() == [0.1, 0.8, 0.6, 0.0, 0.0]
    pitched = np.array([-0.2 * math.sin(0.3), 0.0, 0.2 - 0.2 * math.cos(0.3), math.cos(0.15), 0.0,
                        math.sin(0.15), 0.0])
    q = spr.closed_positions(model, [*pitched, 0.0], kept=['base'])
    assert q[:7].tolist() == pitched.tolist() and q[7] == pytest.approx(-0.3, abs=1e-9)
    assert main(['explain', tied, '--q', 'base.z=3']) == 1
    assert "--q: the loop that joint 'tie' closes is open by 3 m" in capsys.readouterr().err


def test_trajectory_of_an_open_loop_is_refused(tmp_path, capsys):
    heads = [f'{name}_hinge.{what}' for what in ('position', 'velocity')
             for name in ('crank', 'coupler', 'rocker')]
    path = written(tmp_path / 'motion.csv', '\n'.join([
        ','.join(['time', *heads]), '0,0,0,0,0,0,0', '1,0.5,0,0,0,0,0']))
    assert main(['explain', str(MODELS / 'four_bar.sdf'), '--trajectory', path]) == 1
    assert f"{path}: at 1 s: the loop that joint 'closure' closes is open by 0.262 m (0 rad)" in (
        capsys.readouterr().err)  # half a radian, 0.53 m from the crank's hinge


def angle_opposite(a, b, c):
    """Return the angle between sides a and b of a triangle."""
    return math.acos((a * a + b * b - c * c) / (2.0 * a * b))


def test_dead_centre_is_named(tmp_path, capsys):
    """Crank and coupler in a line: their speeds don't follow from that of the rocker's motor."""
    crank = math.pi / 3.0 - angle_opposite(0.4, 0.55, 0.3)
    rocker = 1.44322537524404 - (math.pi - angle_opposite(0.4, 0.3, 0.55))
    heads = [f'{name}_hinge.position' for name in ('crank', 'coupler', 'rocker')]
    path = written(tmp_path / 'motion.csv', '\n'.join([
        ','.join(['time', *heads, 'rocker_hinge.velocity']), '0,0,0,0,0',
        f'1,{crank!r},-0.614693196520871,{rocker!r},0']))
    file = written(tmp_path / 'rocker.sdf', with_motors(rocker=5))
    assert main(['explain', file, '--trajectory', path]) == 1
    assert (f'{path}: at 1 s: loops are at a dead centre, where crank_hinge, coupler_hinge do not '
            'follow from the other joints') in capsys.readouterr().err


def parallelogram(tmp_path):
    """Write one of bars of 1, 2 and 1 m, which all lie on x where the joints are at 0."""
    bars = ''.join(
        f"<link name='{child}'><pose>{x} 0 0 0 0 0</pose></link><joint name='{joint}' "
        f"type='revolute'><parent>{parent}</parent><child>{child}</child><axis><xyz>0 1 0</xyz>"
        '</axis></joint>' for joint, parent, child, x in (
            ('j1', 'world', 'crank', 0), ('j2', 'crank', 'coupler', 1),
            ('j3', 'world', 'rocker', 2)))
    return written(tmp_path / 'bars.sdf', (
        f"<sdf version='1.12'><model name='bars'>{bars}<joint name='closure' type='revolute'>"
        '<pose>1 0 0 0 0 0</pose><parent>coupler</parent><child>rocker</child><axis><xyz>0 1 0'
        '</xyz></axis></joint></model></sdf>'))


@pytest.mark.parametrize('turns, dead', [((0.1, 0.2, 0.3), None), ((0.0, 0.1, 0.2), '0'),
                                         ((0.1, 0.0, -0.1), '1')])
def test_dead_centre_is_told_with_its_own_time(tmp_path, capsys, turns, dead):
    """Also at the start, where two joints seem to lead."""
    rows_of = '\n'.join(f'{t},{turn},{-turn},{turn},0' for t, turn in enumerate(turns))
    path = written(tmp_path / 'motion.csv', (
        f'time,j1.position,j2.position,j3.position,j1.velocity\n{rows_of}\n'))
    code = main(['explain', parallelogram(tmp_path), '--trajectory', path])
    out, err = capsys.readouterr()
    if dead is None:
        assert code == 0 and list(rows(out))[1:] == ['j1']
    else:
        assert code == 1 and f'{path}: at {dead} s: loops are at a dead centre, where ' in err


@pytest.mark.parametrize('option, size, message', [
    ('--qd', '1e155', '--qd: at 0 s: qd: velocities up to 1e+100 expected, got qd[0] = 1e+155'),
    ('--qdd', '1.7e308', 'at 0 s: qdd: finite numbers expected, got qdd[1] = -inf')])
@pytest.mark.filterwarnings('error')
def test_motion_of_a_loop_that_is_beyond_all_numbers_is_refused(option, size, message, capsys):
    assert main(['explain', str(MODELS / 'four_bar.sdf'), option, f'crank_hinge={size}']) == 1
    assert capsys.readouterr().err.endswith(f'{message}\n')


def test_truss_needs_no_effort(tmp_path, capsys):
    bars = ''.join(
        f"<link name='{name}'><pose>{x} 0 0 0 {pitch} 0</pose></link><joint name='foot_{name}' "
        f"type='revolute'><parent>world</parent><child>{name}</child><axis><xyz>0 1 0</xyz>"
        '</axis></joint>'
        for name, x, pitch in (('left', 0, -math.pi / 3), ('right', 1, -2 * math.pi / 3)))
    file = written(tmp_path / 'truss.sdf', (
        f"<sdf version='1.12'><model name='truss'>{bars}<joint name='top' type='revolute'>"
        "<pose>1 0 0 0 0 0</pose><parent>left</parent><child>right</child><axis><xyz>0 1 0</xyz>"
        '</axis></joint></model></sdf>'))
    assert said(capsys, file) == 'truss: nothing moves\n'


# Trajectories.

def test_peaks_come_with_their_time(tmp_path, capsys):
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=200)),
               '--trajectory', lifted(tmp_path, -30.0))
    _, peaks, times, *_ = out.split('\n\n')
    assert peaks.splitlines()[1].split()[:5] == ['rope', '-60', '0', '19.6', '-40.4']
    assert times.splitlines()[1].split() == ['rope', '1', '0', '0', '1']
    assert 'M at 1 s' in out


def test_acceleration_is_the_slope_of_velocity(tmp_path, capsys):
    t = np.linspace(0.0, 1.0, 101)
    lines = ['time,rope.position,rope.velocity', *(f'{x!r},0,{math.sin(x)!r}' for x in t.tolist())]
    out = said(capsys, written(tmp_path / 'lift.sdf', LIFT.format(limit=200)), '--trajectory',
               written(tmp_path / 'motion.csv', '\n'.join(lines)))
    assert rows(out)['rope'][1:4] == ['2', '0', '19.6']


def test_what_simulate_writes_can_be_explained(tmp_path, capsys):
    """A motion without efforts needs none, but for what central differences leave."""
    path = tmp_path / 'run.csv'
    assert_needs_little('double_pendulum', 'shoulder', '1', path, capsys)
    with path.open(newline='') as table:
        assert len(list(csv.reader(table))) == 1002


def test_followers_are_counted_with_their_leaders(tmp_path, capsys):
    """Half the speed and half the arm: a quarter of the mass is felt, and half of the weight."""
    file = written(tmp_path / 'gripper.sdf', FINGERS)
    out = said(capsys, file, '--qdd', 'lead=1')
    assert rows(out)['lead'][1:5] == ['2.5', '0', '29.4', '31.9'] and 'follow ' not in rows(out)
    path = written(tmp_path / 'motion.csv',
                   'time,lead.position,lead.velocity\n0,0,0\n1,0.5,1\n')
    assert rows(said(capsys, file, '--trajectory', path))['lead'][1] == '2.5'


def test_followers_follow():
    model = spr.load(text=FINGERS)
    motion = state(model, ['lead=0.5'], ['lead=2'], ['lead=4'])
    np.testing.assert_array_equal(np.vstack(motion[1:4]), [[0.5, 1.25], [2, 1], [4, 2]])
    assert parts_of(model, motion).names == ['lead']


@pytest.mark.parametrize('content, message', [
    ('time,rope.position\n0,0\n1,0', "no column 'rope.velocity' (did you mean 'rope.position'?)"),
    ('rope.position,rope.velocity\n0,0\n1,0', "no column 'time' (known: 'rope.position', "),
    ('time,rope.position,rope.velocity\n0,0,0', 'two rows or more expected'),
    ('time,rope.position,rope.velocity\n0,0,0\n0,0,0', "with a 'time' that grows"),
    ('time,rope.position,rope.velocity\n0,0,0\n1,x,0',
     "row 3, column 'rope.position': a finite number expected, got 'x'"),
    ('time,rope.position,rope.velocity\n0,0,nan\n1,0,0', "got 'nan'"),
    ('time,rope.position,rope.velocity\n0,0\n1,0,0', 'row 2 has 2 of 3 columns'),
    ('', "no column 'time' (there is none)"),
])
def test_what_is_wrong_with_a_trajectory_is_said(content, message, tmp_path, capsys):
    path = written(tmp_path / 'motion.csv', content)
    file = written(tmp_path / 'lift.sdf', LIFT.format(limit=200))
    assert main(['explain', file, '--trajectory', path]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f'{path}: ') and message in err and err.count('\n') == 1


@pytest.mark.parametrize('words, message', [
    (['--q', 'rope'], "--q rope: NAME=VALUE expected, as in 'rope=0.5'"),
    (['--qd', 'rop=1'], "--qd rop=1: no 'rop' (did you mean 'rope'?)"),
    (['--qd', 'rope=1', 'rope=2'], "--qd rope=2: 'rope' has a value already"),
    (['--qdd', 'rope=fast'], "--qdd rope=fast: a finite number expected, got 'fast'"),
    (['--qdd', 'rope=inf'], "--qdd rope=inf: a finite number expected, got 'inf'"),
    (['--qdd', 'rope=1.7e308'], 'at 0 s: torque terms: beyond all numbers; those in qdd are as '
     'large as 1.7e+308'),
    (['--qd', 'rope=1e200'], '--qd: at 0 s: qd: velocities up to 1e+100 expected, got qd[0] = '
     '1e+200'),
    (['--q', 'rope=1e200'], '--q: at 0 s: q: positions up to 1e+100 expected, got q[0] = 1e+200'),
    (['--trajectory', '/nowhere/motion.csv'], '/nowhere/motion.csv: No such file or directory'),
    (['--trajectory', 'x.csv', '--q', 'rope=1'], '--trajectory: has positions, velocities and'),
])
def test_wrong_options_give_one_line(words, message, tmp_path, capsys):
    assert main(['explain', written(tmp_path / 'lift.sdf', LIFT.format(limit=200)), *words]) == 1
    err = capsys.readouterr().err
    assert err.startswith(message) and err.count('\n') == 1


@pytest.mark.parametrize('ratio, limits, lead, word', [
    (0.5, (20, 20), '30', 'fits'), (-0.5, (20, 20), '30', 'fits'),
    (0.5, (20, 10), '25', 'never'), (0.5, (40, 'inf'), '40', 'fits'),
])
def test_motors_of_followers_help_their_leaders(ratio, limits, lead, word, tmp_path, capsys):
    text = FINGERS.replace('0.5', str(ratio))
    for limit in limits:
        text = text.replace('0 0 1</xyz>', f'0  0 1</xyz><limit><effort>{limit}</effort></limit>',
                            1)
    out = said(capsys, written(tmp_path / 'gripper.sdf', text))
    weight = '29.4' if ratio > 0 else '9.8'
    line = next(line for line in out.splitlines() if ' of ' in line and 'lead ' in line)
    assert f'{weight} of {lead} N ' in line and f' {word}' in line


def test_roots_have_no_motor_and_joints_no_contacts(capsys):
    out = said(capsys, str(MODELS / 'hopper.sdf'), '--world', 'empty', '--qdd', 'torso.vx=1')
    head, table, cures, limits, coupling = out.split('\n\n')
    for section in (head, limits):
        assert 'Efforts are those without contacts' in ' '.join(section.split())
    assert 'torso.vx' in table and 'torso' not in cures and 'torso' not in limits
    assert 'torso' not in coupling[coupling.index('Strongest coupling'):]


def test_free_body_has_no_motor_at_all(tmp_path, capsys):
    text = ("<sdf version='1.12'><model name='m'><link name='stone'/></model></sdf>")
    out = said(capsys, written(tmp_path / 'stone.sdf', text), '--world', 'empty')
    assert 'stone.vz' in out and 'What is largest' not in out and 'limit' not in out


def test_a_follower_can_not_be_set(tmp_path, capsys):
    file = written(tmp_path / 'gripper.sdf', FINGERS)
    assert main(['explain', file, '--q', 'follow=1']) == 1
    assert "'follow' follows another joint; give that" in capsys.readouterr().err


def test_a_file_that_is_no_text_is_refused(tmp_path, capsys):
    (tmp_path / 'motion.csv').write_bytes(b'\xff\xfe\x00')
    file = written(tmp_path / 'lift.sdf', LIFT.format(limit=200))
    assert main(['explain', file, '--trajectory', str(tmp_path / 'motion.csv')]) == 1
    assert 'motion.csv: not a CSV file' in capsys.readouterr().err


def test_a_quaternion_has_length_one(capsys):
    assert main(['explain', str(MODELS / 'hopper.sdf'), '--world', 'empty', '--q',
                 'torso.qw=2']) == 1
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith('--q: at 0 s: q: unit quaternion w x y z expected for free root')


def test_what_can_not_move_needs_nothing(tmp_path, capsys):
    out = said(capsys, written(tmp_path / 'stone.sdf', "<sdf version='1.12'><model name='stone'>"
                               "<static>true</static><link name='a'/></model></sdf>"))
    assert out == 'stone: nothing moves\n'


@pytest.mark.parametrize('value, text', [
    (0.0, '0'), (1.2345, '1.23'), (-123456.0, '-123456'), (-1.2345e-5, '-1.23e-05'),
    (1e7, '1e+07')])
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_long_names_lose_their_middle():
    assert shortened('elbow') == 'elbow'
    assert shortened('left_front_upper_shoulder_pitch') == 'left_fron..der_pitch'
