"""Closed loops: a four-bar against its own Lagrangian, and starts that have to be assembled."""
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from builders import closed_tree, random_state
import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy
from spr_dynamics.errors import ModelError, SimulationDiverged

G = 9.81
GROUND, CRANK, COUPLER, ROCKER = 0.4, 0.12, 0.35, 0.25  # [m]
START = 0.5  # [rad] of the crank


def link(name, x, z, angle, length):
    """Write a bar of 1 kg along its own x axis, in the plane of x and z."""
    inertia = length ** 2 / 12.0
    return (f"<link name='{name}'><pose>{x!r} 0 {z!r} 0 {-angle!r} 0</pose><inertial>"
            f'<pose>{length / 2} 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.001</ixx>'
            f'<iyy>{inertia}</iyy><izz>{inertia}</izz></inertia></inertial></link>')


def joint(name, parent, child, x=0.0, more=''):
    return (f"<joint name='{name}' type='revolute'><pose>{x} 0 0 0 0 0</pose><parent>{parent}"
            f'</parent><child>{child}</child><axis><xyz>0 -1 0</xyz>{more}</axis></joint>')


def along(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle):
    return np.array([-np.sin(angle), np.cos(angle)])


def angles(crank):
    """Return the directions of coupler and rocker that belong to one of the crank."""
    way = np.array([GROUND, 0.0]) - CRANK * along(crank)
    length = np.hypot(*way)
    bend = np.arccos((COUPLER ** 2 + length ** 2 - ROCKER ** 2) / (2.0 * COUPLER * length))
    coupler = np.arctan2(way[1], way[0]) + bend
    return coupler, np.arctan2(*(COUPLER * along(coupler) - way)[::-1])


def rates(crank):
    """Return how fast coupler and rocker turn for each unit of the crank's speed."""
    coupler, rocker = angles(crank)
    return np.linalg.solve(np.column_stack([COUPLER * across(coupler), -ROCKER * across(rocker)]),
                           -CRANK * across(crank))


def four_bar_text(crank='', coupler='', rocker='', more='', closing='', gravity=-G):
    """Write a crank, a coupler and a rocker; joint d closes the loop."""
    second, third = map(float, angles(START))
    x, z = map(float, CRANK * along(START))
    return f"""
<sdf version='1.12'><world name='w'><gravity>0 0 {gravity}</gravity><model name='m'>
  {link('crank', 0.0, 0.0, START, CRANK)}{link('coupler', x, z, second, COUPLER)}
  {link('rocker', GROUND, 0.0, third, ROCKER)}{joint('a', 'world', 'crank', more=crank)}
  {joint('b', 'crank', 'coupler', more=coupler)}{joint('c', 'world', 'rocker', more=rocker)}
  {joint('d', 'coupler', 'rocker', ROCKER, more=closing)}{more}
</model></world></sdf>"""


def four_bar(*texts, **more):
    """Load it."""
    return spr.load(text=four_bar_text(*texts, **more))


def inertia_and_height(crank):
    """Return what the crank feels as inertia, and the sum of the heights of the bars' centres."""
    (coupler, rocker), (k, m) = angles(crank), rates(crank)
    moves = (CRANK / 2 * across(crank), CRANK * across(crank) + k * COUPLER / 2 * across(coupler),
             m * ROCKER / 2 * across(rocker))
    turns = (CRANK ** 2 + k ** 2 * COUPLER ** 2 + m ** 2 * ROCKER ** 2) / 12.0
    height = (1.5 * CRANK * along(crank) + COUPLER / 2 * along(coupler)
              + ROCKER / 2 * along(rocker))[1]
    return turns + sum(move @ move for move in moves), height


def closing_torque(crank, speed, damping, stiffness, rest):
    """Return what a damper and a spring at the closing joint do to the crank."""
    (coupler, rocker), (second, third) = angles(crank), rates(crank)
    turn = (rocker - coupler) - np.subtract(*angles(START)[::-1])
    return -(stiffness * (turn - rest) + damping * (third - second) * speed) * (third - second)


def acceleration(crank, speed, damping=0.0, closing=(0.0, 0.0, 0.0)):
    """Lagrange's equation of the one coordinate; derivatives by central differences."""
    h = 1e-5
    (more, higher), (less, lower) = inertia_and_height(crank + h), inertia_and_height(crank - h)
    force = G * (higher - lower) / (2 * h) + 0.5 * (more - less) / (2 * h) * speed ** 2
    force += damping * speed - closing_torque(crank, speed, *closing)
    return -force / inertia_and_height(crank)[0]


def lagrangian(duration, *dampers):
    """Return the crank's turn from its start as a function of time."""
    solution = solve_ivp(lambda t, y: (y[1], acceleration(*y, *dampers)), (0.0, duration),
                         (START, 0.0), 'DOP853', dense_output=True, rtol=1e-10, atol=1e-11)
    return lambda t: solution.sol(t)[0] - START


def lagrangian_for_ever():
    """Return the same without dampers, at any time: the bars come back to where they started."""
    solution = solve_ivp(lambda t, y: (y[1], acceleration(*y, 0.0)), (0.0, 1.2), (START, 0.0),
                         'DOP853', events=lambda t, y: y[1], dense_output=True, rtol=1e-12,
                         atol=1e-12)
    period = solution.t_events[0][2]  # at rest at the start, at the other end, and again
    assert abs(solution.sol(period)[0] - START) < 1e-9
    return lambda t: solution.sol(t % period)[0] - START


def released(model, dt):
    """Let the bars go, with the velocities of half a step before, where Euler's rule has them."""
    sim, speed = spr.Simulation(model, dt=dt), -0.5 * dt * acceleration(START, 0.0, 0.0)
    second, third = rates(START)
    sim.qd[:] = speed, speed * (second - 1.0), speed * third
    return sim


def deviation(sim, exact, duration, samples=100):
    """Run, and return how far the crank gets from where it should be, and the largest gap."""
    worst, widest, n = 0.0, 0.0, round(duration / (samples * sim.dt))
    for _ in range(samples):
        sim.step(n=n)
        worst = max(worst, abs(sim.q[0] - exact(sim.time)))
        widest = max(widest, *spr.loop_gaps(sim.model, sim.q)['d'])
    return worst, widest


def test_four_bar_moves_as_its_one_coordinate_does():
    """Two radians at up to 15 rad/s; the step is of first order, so a fifth leaves a fifth."""
    model, exact = four_bar(), lagrangian(0.5)
    coarse, _ = deviation(released(model, 1e-4), exact, 0.5)
    fine, widest = deviation(released(model, 2e-5), exact, 0.5)
    assert fine < 1e-4 and widest < 1e-9
    np.testing.assert_allclose(coarse / fine, 5.0, rtol=0.05)


def test_four_bar_moves_as_its_one_coordinate_does_for_a_minute():
    """
    It swings to and fro 62 times at up to 15 rad/s.

    By the default rule, of first order, it is 5e-3 rad off at the same step.
    """
    sim = spr.Simulation(four_bar(), dt=1e-3, integrator='rk4')
    worst, widest = deviation(sim, lagrangian_for_ever(), 60.0, samples=600)
    assert worst < 1e-5 and widest < 1e-9


@pytest.mark.parametrize('integrator, most', [('rk4', 1e-8), ('implicit_midpoint', 1e-4)])
def test_dampers_in_a_loop_act_on_its_one_coordinate(integrator, most):
    damper = '<dynamics><damping>0.02</damping></dynamics>'
    sim = spr.Simulation(four_bar(crank=damper), dt=1e-3, integrator=integrator)
    worst, _ = deviation(sim, lagrangian(1.0, 0.02), 1.0)
    assert worst < most and abs(sim.q[0] - lagrangian(1.0)(1.0)) > 0.1


@pytest.mark.parametrize('integrator', ['rk4', 'implicit_midpoint'])
def test_dampers_bring_a_loop_to_rest(integrator):
    """Where forces balance, their round-off is larger than that of velocities."""
    damper = '<dynamics><damping>0.2</damping></dynamics>'
    sim = spr.Simulation(four_bar(crank=damper), dt=1e-3, integrator=integrator)
    sim.step(n=5000)
    assert np.abs(sim.qd).max() < 1e-11
    h = 1e-5
    slope = inertia_and_height(START + sim.q[0] + h)[1] - inertia_and_height(
        START + sim.q[0] - h)[1]
    assert abs(slope / (2 * h)) < 1e-8


CLOSING = ('<dynamics><damping>0.01</damping><spring_stiffness>2</spring_stiffness>'
           '<spring_reference>0.4</spring_reference></dynamics>')


@pytest.mark.parametrize('integrator, dt, most', [
    ('rk4', 1e-3, 1e-8), ('implicit_midpoint', 1e-3, 1e-4), ('semi_implicit_euler', 1e-4, 2e-3)])
def test_damper_and_spring_of_the_closing_joint_act(integrator, dt, most):
    model = four_bar(closing=CLOSING)
    assert not any('not simulated' in warning for warning in model.warnings)
    sim = spr.Simulation(model, dt=dt, integrator=integrator)
    worst, _ = deviation(sim, lagrangian(0.5, 0.0, (0.01, 2.0, 0.4)), 0.5)
    assert worst < most and abs(sim.q[0] - lagrangian(0.5)(0.5)) > 0.1


def weight_on_sliders(damping):
    """Load a weight on two sliders, side by side: one is a joint, the other has the spring."""
    return spr.load(text=f"""
<sdf version='1.12'><world name='w'><gravity>0 0 {-G}</gravity><model name='m'><link name='x'>
  <pose>0 1 2 0.3 0.2 0.1</pose><inertial><mass>2</mass></inertial></link>
  <joint name='a' type='prismatic'><parent>world</parent><child>x</child><axis>
    <xyz expressed_in='__model__'>0 0 1</xyz></axis></joint>
  <joint name='b' type='prismatic'><parent>world</parent><child>x</child><axis>
    <xyz expressed_in='__model__'>0 0 1</xyz><dynamics><damping>{damping}</damping>
    <spring_stiffness>80</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis></joint>
</model></world></sdf>""")


@pytest.mark.parametrize('integrator, dt', [('rk4', 1e-3), ('semi_implicit_euler', 1e-5)])
def test_spring_of_a_slider_that_closes_a_loop_lets_it_swing(integrator, dt):
    model = weight_on_sliders(damping=3)
    sim = spr.Simulation(model, dt=dt, integrator=integrator)
    sim.step(n=round(0.3 / dt))
    decay, rest = 3.0 / 4.0, 0.1 - 2.0 * G / 80.0
    omega = np.sqrt(40.0 - decay ** 2)
    swing = np.cos(omega * 0.3) + decay / omega * np.sin(omega * 0.3)
    np.testing.assert_allclose(sim.q[0], rest * (1.0 - np.exp(-decay * 0.3) * swing),
                               atol=1e-10 if integrator == 'rk4' else 1e-5)


@pytest.mark.parametrize('model, stored', [
    (four_bar(closing=CLOSING.replace('0.01', '0')), 0.5 * 2.0 * 0.4 ** 2),
    (weight_on_sliders(damping=0), 0.5 * 80.0 * 0.1 ** 2),
], ids=['turns', 'slides'])
def test_energy_counts_the_springs_of_closing_joints(model, stored):
    sim, heights = spr.Simulation(model, dt=1e-3, integrator='rk4'), []
    for _ in range(4):
        kinetic, potential = energy(model, sim.q, sim.qd)
        heights.append(kinetic + potential)
        sim.step(n=100)
    assert kinetic > 0.1
    np.testing.assert_allclose(heights, heights[0], atol=1e-8)
    weight = (2.0 * G * 2.0 if model.nv == 1 else G * inertia_and_height(START)[1])
    np.testing.assert_allclose(heights[0], weight + stored, rtol=1e-12)


def test_stiff_damper_of_a_closing_joint_is_stable():
    """A million N m s would throw the bars about if it were taken at the start of the step."""
    sim = spr.Simulation(four_bar(closing='<dynamics><damping>1e6</damping></dynamics>'))
    sim.step(n=1000)
    assert np.abs(sim.qd).max() < 1e-4 and np.abs(sim.q).max() < 1e-4


@pytest.mark.parametrize('pose', ['0 0 0 0 0 0', '0 1 2 0.3 0.2 0.1'])
@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit_euler'])
def test_door_on_two_hinges_swings(integrator, pose):
    """The second hinge holds nothing that the first one does not: steps divided by nothing."""
    model = spr.load(text=f"""
<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'><link name='x'>
  <pose>{pose}</pose><inertial><pose>0.4 0 0 0 0 0</pose><mass>2</mass></inertial></link>
  <joint name='a' type='revolute'><pose>0 0 0.5 0 0 0</pose><parent>world</parent><child>x</child>
    <axis><xyz>0 0 1</xyz></axis></joint>
  <joint name='b' type='revolute'><pose>0 0 -0.5 0 0 0</pose><parent>world</parent><child>x</child>
    <axis><xyz>0 0 1</xyz></axis></joint></model></world></sdf>""")
    sim = spr.Simulation(model, integrator=integrator)
    sim.qd[0] = 1.0
    sim.step(n=500)
    np.testing.assert_allclose([*sim.q, *sim.qd], [0.5, 1.0], atol=1e-9)


ORDERS = {'semi_implicit_euler': 1, 'implicit_midpoint': 2, 'rk4': 4}


@pytest.mark.parametrize('seed', [4, 27])
@pytest.mark.parametrize('integrator', ORDERS)
def test_error_falls_with_the_order(integrator, seed):
    """All rules have one limit, though the default one finds forces by another solver."""
    rng, model = closed_tree(seed)
    assert model.loop_names == ('ball', 'universal') and model.followers.size
    assert 'ball' in {joint.type for joint in model.joints} and model.free_roots
    _, qd, tau = random_state(rng, model)

    def end(rule, dt):
        sim = spr.Simulation(model, dt=dt, integrator=rule)
        sim.qd = 0.5 * qd
        sim.step(0.1 * tau, n=round(0.1 / dt))
        if rule != 'semi_implicit_euler':
            assert max(max(gap) for gap in spr.loop_gaps(model, sim.q).values()) < 1e-12
        return np.concatenate([sim.q, sim.qd])

    exact, longest = end('rk4', 2.5e-4), 1e-3 if ORDERS[integrator] == 1 else 4e-3
    errors = [np.abs(end(integrator, longest / n) - exact).max() for n in (1, 2)]
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), ORDERS[integrator], atol=0.1)


BAR = 0.3  # [m]


def leg(name, tilt, x, y, axis):
    """Write two bars with hinges across them that stand on the ground and carry the plate."""
    bars = ''.join(
        f"<link name='{name}{k}'><pose>{pose}</pose><inertial><pose>0 0 {BAR / 2} 0 0 0</pose>"
        f'<mass>1</mass><inertia><ixx>{BAR ** 2 / 12}</ixx><iyy>{BAR ** 2 / 12}</iyy>'
        '<izz>0.0001</izz></inertia></inertial></link>'
        for k, pose in ((1, f'0 0 0 {-y * tilt} {x * tilt} 0'),
                        (2, f'{x * BAR * np.sin(tilt)} {y * BAR * np.sin(tilt)} '
                            f'{BAR * np.cos(tilt)} {y * tilt} {-x * tilt} 0')))
    return bars + ''.join(
        f"<joint name='{name}{k}{child}' type='revolute'><parent>{parent}</parent>"
        f'<child>{child}</child><axis><xyz>{axis}</xyz></axis></joint>'
        for k, (parent, child) in enumerate((
            ('world', name + '1'), (name + '1', name + '2'), (name + '2', 'plate'))))


def lift(tilt):
    """Load a plate of 2 kg on two folding legs, in planes at right angles (Sarrus' linkage)."""
    plate = (f"<link name='plate'><pose>0 0 {2 * BAR * np.cos(tilt)} 0 0 0</pose><inertial>"
             '<mass>2</mass></inertial></link>')
    return spr.load(text=f"<sdf version='1.12'><world name='w'><gravity>0 0 {-G}</gravity><model "
                    f"name='m'>{plate}{leg('a', tilt, 1, 0, '0 1 0')}"
                    f"{leg('b', tilt, 0, 1, '1 0 0')}</model></world></sdf>")


def test_loop_that_is_held_twice_moves_still():
    """
    Six hinges in space: five equations for five angles, and yet it folds, through the ground.

    Off the positions that are closed it can't move; a solver has to see that it may.
    """
    def fall(_, state):
        tilt, speed = state
        s, c = BAR * np.sin(tilt), BAR * np.cos(tilt)
        # two lower bars about their ends, two upper ones with their centres, the plate
        inertia = 5 / 6 * BAR ** 2 + c * c / 2 + 4.5 * s * s + 8.0 * s * s
        return speed, (G * 8.0 * s - 12.0 * s * c * speed ** 2) / inertia

    tilt = 0.5
    model = lift(tilt)
    sim = spr.Simulation(model, dt=1e-3, integrator='rk4')
    sim.step(n=350)
    end = solve_ivp(fall, (0.0, 0.35), (tilt, 0.0), 'DOP853', rtol=1e-11, atol=1e-12).y[:, -1]
    assert end[0] > 1.7  # a plate on the ground is below pi / 2
    turn = np.array([1, -2, 1, -1, 2])
    np.testing.assert_allclose(sim.q, turn * (end[0] - tilt), atol=1e-9)
    np.testing.assert_allclose(sim.qd, turn * end[1], atol=1e-7)


def test_velocities_that_part_a_loop_are_struck_into_line():
    """As a blow would: no work is done by what the loop loses."""
    model = four_bar(gravity=0)
    sim = spr.Simulation(model, dt=1e-6, integrator='rk4')
    sim.qd[0] = 5.0
    (second, third), M = rates(START), spr.mass_matrix(model, sim.q)
    way = np.array([1.0, second - 1.0, third])
    expected = way * (way @ M @ sim.qd) / (way @ M @ way)
    sim.step()
    np.testing.assert_allclose(sim.qd, expected, atol=1e-3)  # and what happens in a microsecond
    assert 0.0 < energy(model, sim.q, sim.qd)[0] < 12.5 * M[0, 0]


@pytest.mark.parametrize('integrator', ['rk4', 'implicit_midpoint'])
def test_imu_senses_the_velocities_that_were_struck_into_line(integrator):
    """At the end of the crank, not those that a user wrote, which no loop allows."""
    sensor = f"<sensor name='imu' type='imu'><pose>{CRANK} 0 0 0 0 0</pose></sensor>"
    model = spr.load(text=four_bar_text().replace("<link name='crank'>",
                                                  f"<link name='crank'>{sensor}"))
    sim = spr.Simulation(model, integrator=integrator)
    sim.qd[0] = 5.0
    (second, third), M = rates(START), spr.mass_matrix(model, sim.q)
    way = np.array([1.0, second - 1.0, third])
    speed = (way @ M @ sim.qd) / (way @ M @ way)
    sim.step()
    reading = sim.sensors['imu'].reading
    np.testing.assert_allclose(reading.angular_velocity, [0.0, -speed, 0.0], atol=1e-9)
    np.testing.assert_allclose(
        reading.linear_acceleration,
        [G * np.sin(START) - CRANK * speed ** 2, 0.0,
         G * np.cos(START) + CRANK * acceleration(START, speed)], atol=1e-6)


@pytest.mark.parametrize('integrator', ['rk4', 'implicit_midpoint'])
def test_open_loop_is_refused_by_integrators_that_keep_loops_closed(integrator):
    sim = spr.Simulation(four_bar(), integrator=integrator)
    sim.q[2] += 0.05
    before, opening = sim.save(), 2.0 * ROCKER * np.sin(0.025)
    message = (f"q: the loop that joint 'd' closes is open by {opening:.3g} m (0 rad); "
               f"closed_positions finds positions near by that integrator '{integrator}' can beg")
    with pytest.raises(ValueError, match=re.escape(message)):
        sim.step(n=3)
    assert sim.save() == before
    sim.q = spr.closed_positions(sim.model, sim.q)
    sim.step(n=3)


def test_loop_that_a_step_tears_leaves_every_byte_as_it_was():
    sim = spr.Simulation(four_bar(), dt=0.1, integrator='rk4')
    sim.qd = 300.0 * np.array([1.0, *rates(START)] - np.array([0.0, 1.0, 0.0]))
    before = sim.save()
    with pytest.raises(SimulationDiverged, match="could not keep the loop that joint 'd' closes .*"
                                                 "dt has to be shorter"):
        sim.step()
    assert sim.save() == before


def test_run_of_a_closed_loop_goes_on_from_a_snapshot_bit_for_bit():
    """And in whatever portions the steps are taken."""
    whole, parts = (spr.Simulation(four_bar(), integrator='rk4') for _ in range(2))
    for sim in (whole, parts):
        sim.qd[0] = 5.0
    whole.step(n=200)
    for _ in range(100):
        parts.step()
    snapshot = parts.save()
    parts.step(n=3)
    parts.restore(snapshot)
    parts.step(n=100)
    assert whole.save() == parts.save()


def test_four_bar_stays_closed_for_a_minute():
    sim = released(four_bar(), 1e-3)
    _, widest = deviation(sim, lambda t: 0.0, 60.0, samples=3000)
    assert np.abs(sim.qd[0]) > 0.1 and widest < 1e-6
    assert sim.counters.unsolved == sim.counters.lagged == 0


MOTOR = """
  <link name='motor'><pose>0 1 0 0 0 0</pose></link>
  <joint name='m' type='revolute'><parent>world</parent><child>motor</child>
    <axis><xyz>0 -1 0</xyz>{}</axis></joint>"""
FOLLOW = ("<mimic joint='m' axis='axis'><multiplier>0.5</multiplier><offset>0.3</offset>"
          '<reference>0</reference></mimic>')


def limit(lower, upper):
    return f'<limit><lower>{lower}</lower><upper>{upper}</upper></limit>'


def opening():
    """Return how far a turn of the crank by 0.3 rad carries the end of the coupler [m]."""
    corner = GROUND * np.array([1.0, 0.0]) + ROCKER * along(angles(START)[1])
    return 2.0 * np.sin(0.15) * np.hypot(*corner)


def test_loop_that_a_mimic_opens_is_assembled_at_load():
    """The crank begins at 0.3 rad, not where it is drawn: the bars have to come along."""
    model = four_bar(crank=FOLLOW, more=MOTOR.format(limit(-0.1, 1)))
    assert (f"joint 'd' closes a loop that was open by {opening():.3g} m (0 rad) at the start; "
            'joints were moved to close it') in model.warnings[-1]
    crank, coupler, rocker, motor = model.home
    assert max(spr.loop_gaps(model, model.home)['d']) < 1e-10
    np.testing.assert_allclose(crank, 0.5 * motor + 0.3, atol=1e-14)
    assert motor >= -0.1 and 0.2 < crank < 0.3
    before, after = angles(START), angles(START + crank)
    np.testing.assert_allclose(crank + coupler, after[0] - before[0], atol=1e-9)
    np.testing.assert_allclose(rocker, after[1] - before[1], atol=1e-9)
    sim = spr.Simulation(model)
    sim.step(n=100)
    assert max(spr.loop_gaps(model, sim.q)['d']) < 1e-6


def test_loop_that_limits_keep_open_is_refused_with_its_gap_and_name():
    with pytest.raises(ModelError) as caught:
        four_bar(crank=FOLLOW, more=MOTOR.format(limit(0, 1)), rocker=limit(0, 0))
    corner = GROUND * np.array([1.0, 0.0]) + ROCKER * along(angles(START)[1])
    left = abs(np.hypot(*(corner - CRANK * along(START + 0.3))) - COUPLER)
    assert str(caught.value) == (
        f"<text>:6: joint 'd' closes a loop that is open by {opening():.3g} m (0 rad), and no "
        'positions within the limits of the joints were found that leave less than '
        f'{left:.3g} m (0 rad)')


def test_positions_are_closed_around_those_that_are_kept():
    model = four_bar(gravity=0)
    q = model.neutral_q()
    np.testing.assert_array_equal(spr.closed_positions(model, q), q)
    for turn in (1.0, -2.0, 2.5):
        q[0] = turn
        found = spr.closed_positions(model, q, kept=['a'])
        assert found[0] == turn
        expected = angles(START + turn)
        np.testing.assert_allclose(
            np.exp(1j * (found[2] - (expected[1] - angles(START)[1]))), 1.0, atol=1e-8)
    np.testing.assert_array_equal(spr.closed_positions(model, q, (name for name in 'a')), found)
    with pytest.raises(ValueError, match="kept: no axis, ball or free root 'e' \\(known: 'a'"):
        spr.closed_positions(model, q, kept=['e'])
    with pytest.raises(ValueError, match="kept: no axis, ball or free root None \\(known: 'a'"):
        spr.closed_positions(model, q, kept=[None])
    for kept in ('a', None, 0):
        with pytest.raises(TypeError, match=f'kept: a list of names expected, got {kept!r}'):
            spr.closed_positions(model, q, kept)
    q[2] = 1.5
    with pytest.raises(ValueError, match="the loop that joint 'd' closes is open by 0.* and no "):
        spr.closed_positions(model, q, kept=['a', 'c'])


@pytest.mark.parametrize('q, message', [
    ([0.0, 0.0], 'q: shape (3,) expected, got (2,)'),
    ([0.0, np.nan, 0.0], 'q: finite numbers expected, got q[1] = nan'),
    ('abc', "q: numbers expected, got 'abc'"),
])
@pytest.mark.parametrize('function', [spr.loop_gaps, spr.closed_positions])
def test_positions_of_loops_are_positions(function, q, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(four_bar(), q)


def test_balls_and_free_roots_take_part():
    """A chain of two balls between a free bar and one that it carries."""
    rng = np.random.default_rng(0)
    parts = ("<link name='r'/><link name='x'><pose>1 0 0 0 0 0</pose></link>"
             "<link name='y'><pose>1 1 0 0 0 0</pose></link>"
             "<joint name='s' type='ball'><parent>r</parent><child>x</child></joint>"
             "<joint name='t' type='ball'><parent>x</parent><child>y</child></joint>"
             "<joint name='u' type='prismatic'><parent>r</parent><child>y</child>"
             '<axis><xyz>0 0 1</xyz></axis></joint>')
    model = spr.load(text=f"<sdf version='1.12'><model name='m'>{parts}</model></sdf>")
    assert model.loop_names == ('u',)
    q = model.neutral_q()
    q[:3] = 1.0, 2.0, 3.0
    for at in (3, 7, 11):
        q[at:at + 4] += 0.3 * rng.normal(size=4)
        q[at:at + 4] /= np.linalg.norm(q[at:at + 4])
    found = spr.closed_positions(model, q)
    assert max(spr.loop_gaps(model, q)['u']) > 0.1
    assert max(spr.loop_gaps(model, found)['u']) < 1e-9
    np.testing.assert_array_equal(found[:3], q[:3])  # the root can't close it


def test_loop_that_a_user_opens_comes_back_at_a_metre_a_second():
    sim = spr.Simulation(four_bar(gravity=0))
    sim.q[2] += 0.2
    before = spr.loop_gaps(sim.model, sim.q)['d'].distance
    for _ in range(200):
        sim.step()
        after = spr.loop_gaps(sim.model, sim.q)['d'].distance
        assert before - after < 1.5 * sim.dt
        before = after
    assert before < 1e-6


def test_axes_are_not_closed_against_each_other():
    """A bar on a ball would have to turn over; it is refused, not turned the wrong way."""
    model = spr.load(text="""
<sdf version='1.12'><model name='m'><link name='x'/>
  <joint name='s' type='ball'><parent>world</parent><child>x</child></joint>
  <joint name='u' type='revolute'><parent>world</parent><child>x</child>
    <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>""")
    with pytest.raises(ValueError, match='closes only with axes against each other'):
        spr.closed_positions(model, [0.1, 0.99, 0.1, 0.0] / np.linalg.norm([0.1, 0.99, 0.1]))
