"""What each integrator promises: its order, what it keeps, and where it is refused."""
import re

import numpy as np
import pytest

from builders import KINDS, random_state, random_tree
from needs import REPOSITORY
import spr_dynamics as spr
from spr_dynamics.dynamics.energy import energy
from spr_dynamics.errors import SimulationDiverged

MODELS = REPOSITORY / 'models'
ORDERS = {'semi_implicit_euler': 1, 'analytic': 1, 'implicit_midpoint': 2, 'rk4': 4}

SWINGS = """
<sdf version='1.12'><world name='w'><gravity>0 0 {gravity}</gravity><model name='m'>
  {swings}
</model></world></sdf>"""
SWING = """
<link name='{name}_link'><pose>{x} 0 0 0 0 0</pose><inertial><pose>0 0 -0.5 0 0 0</pose>
  <mass>1</mass><inertia><ixx>0.2</ixx><iyy>0.25</iyy><izz>0.2</izz></inertia></inertial></link>
<joint name='{name}' type='revolute'><parent>world</parent><child>{name}_link</child>
  <axis><xyz>0 1 0</xyz><dynamics><damping>{damping}</damping>
  <spring_reference>{rest}</spring_reference><spring_stiffness>{stiffness}</spring_stiffness>
  </dynamics></axis></joint>"""
OMEGA = np.sqrt(40.0 / 0.5)  # [rad/s] of one of 40 N m/rad; about the hinge, I = 0.5


def swings(*names, stiffness=0.0, gravity=0.0, damping=0.0, rest=0.0):
    """Load pendulums that do not feel each other."""
    return spr.load(text=SWINGS.format(gravity=gravity, swings=''.join(
        SWING.format(name=name, x=2 * k, stiffness=stiffness, damping=damping, rest=rest)
        for k, name in enumerate(names))))


def simulate(model, q, qd, **options):
    """Start from a state."""
    sim = spr.Simulation(model, **options)
    sim.q[:], sim.qd[:] = q, qd
    return sim


@pytest.mark.parametrize('seed', [2, 9])
@pytest.mark.parametrize('integrator', ORDERS)
def test_error_falls_with_the_order(integrator, seed):
    """On floating trees of all kinds of joints, some of which follow others."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8, kinds=KINDS, is_free=True, mimic_share=0.3)
    assert 'ball' in {joint.type for joint in model.joints} and model.followers.size
    q, qd, tau = random_state(rng, model)
    for follower in model.followers:
        q[follower['q']] = follower['ratio'] * q[follower['leader_q']] + follower['offset']
        qd[follower['v']] = follower['ratio'] * qd[follower['leader_v']]

    def end(rule, dt):
        sim = simulate(model, q, qd, dt=dt, integrator=rule)
        sim.step(0.1 * tau, n=round(0.2 / dt))
        return np.concatenate([sim.q, sim.qd])

    exact, longest = end('rk4', 1e-4), 1e-3 if ORDERS[integrator] == 1 else 4e-3
    errors = [np.abs(end(integrator, longest / n) - exact).max() for n in (1, 2, 4)]
    orders = np.log2(np.divide(errors[:2], errors[1:]))
    np.testing.assert_allclose(orders, ORDERS[integrator], atol=0.1)


def growth(integrator, dt, n=50):
    """Measure by what an oscillation grows in a step, from the map of two states."""
    model = swings('a', stiffness=40.0)
    columns = []
    for q, qd in ((1e-3, 0.0), (0.0, 1e-3)):
        sim = simulate(model, [q], [qd], dt=dt, integrator=integrator)
        sim.step(n=n)
        columns.append([sim.q[0], sim.qd[0]])
    return np.sqrt(abs(np.linalg.det(columns)) * 1e6) ** (1 / n)


@pytest.mark.parametrize('dt', [1e-3, 1e-2, 3e-2])
def test_analytic_lets_oscillations_grow_by_its_formula(dt):
    np.testing.assert_allclose(growth('analytic', dt), np.sqrt(1 + (OMEGA * dt) ** 2 / 2),
                               rtol=1e-9)


def test_midpoint_keeps_the_size_of_oscillations():
    np.testing.assert_allclose(growth('implicit_midpoint', 1e-2), 1.0, rtol=1e-9)


def test_analytic_moves_a_constant_effort_exactly():
    """No other rule of first order has q = a t^2 / 2 under a constant force."""
    sim = simulate(swings('a'), [0.0], [0.0], dt=1e-2, integrator='analytic')
    sim.step([0.6], n=100)
    np.testing.assert_allclose(sim.q, 0.5 * 0.6 / 0.5, rtol=1e-12)


def test_analytic_turns_a_ball_exactly():
    """The same about a fixed axis: by 0.6 rad, of which a quaternion has the half."""
    ball = SWING.format(name='a', x=0, stiffness=0, damping=0, rest=0)
    ball = ball.replace('revolute', 'ball').replace('0 0 -0.5', '0 0 0')
    model = spr.load(text=SWINGS.format(gravity=0, swings=ball))
    sim = simulate(model, [1.0, 0.0, 0.0, 0.0], np.zeros(3), dt=1e-2, integrator='analytic')
    sim.step([0.0, 0.3, 0.0], n=100)
    np.testing.assert_allclose(sim.q, [np.cos(0.3), 0.0, np.sin(0.3), 0.0], atol=1e-12)


def test_joints_may_have_integrators_of_their_own():
    """Joints that don't feel each other move as in simulations of their own rule."""
    model = swings('a', 'b', stiffness=40.0)
    for rule, other in (('analytic', 'semi_implicit_euler'), ('semi_implicit_euler', 'analytic')):
        mixed = simulate(model, [0.3, 0.3], [0, 0], dt=1e-3, integrator=rule,
                         joint_integrators={'b': other})
        mixed.step(n=100)
        for k, name in enumerate((rule, other)):
            pure = simulate(model, [0.3, 0.3], [0, 0], dt=1e-3, integrator=name)
            pure.step(n=100)
            np.testing.assert_allclose(mixed.q[k], pure.q[k], rtol=1e-12)
        assert mixed.q[0] != mixed.q[1]


def energies(integrator, dt, seconds, samples):
    """Sample the energy of a pendulum that swings by 2 rad, less that at the start [J]."""
    model = swings('a', gravity=-9.81)
    sim = simulate(model, [2.0], [0.0], dt=dt, integrator=integrator)
    start = sum(energy(model, sim.q, sim.qd))
    found = []
    for _ in range(samples):
        sim.step(n=round(seconds / dt / samples))
        found.append(sum(energy(model, sim.q, sim.qd)) - start)
    return np.abs(found)


def test_semi_implicit_euler_keeps_a_pendulum_bounded():
    """Over an hour, its energy errs no more in the last tenth than in the first."""
    errors = energies('semi_implicit_euler', 5e-3, 3600.0, 4000)
    assert errors[-400:].max() < 1.1 * errors[:400].max() < 0.1


def test_midpoint_does_not_lose_the_energy_of_a_pendulum():
    errors = energies('implicit_midpoint', 1e-2, 3600.0, 4000)
    assert errors[-400:].max() < 1.1 * errors[:400].max() < 1e-3


@pytest.mark.parametrize('dt', [1e-3, 2e-4])
def test_midpoint_comes_to_rest_where_a_spring_carries_a_pendulum(dt):
    """Where forces balance, their round-off is larger than that of the velocity."""
    model = swings('a', stiffness=10.0, gravity=-9.81, damping=5.0, rest=1.0)
    sim = simulate(model, [0.0], [0.0], dt=dt, integrator='implicit_midpoint')
    sim.step(n=round(15.0 / dt))
    assert abs(sim.qd[0]) < 1e-12
    np.testing.assert_allclose(10.0 * (1.0 - sim.q[0]), 9.81 * 0.5 * np.sin(sim.q[0]), rtol=1e-11)


def test_runge_kutta_keeps_a_double_pendulum():
    """Energy within 1e-4 J over 10 s, and the exact motion (contact_dynamics.md, test 25)."""
    model = spr.load(MODELS / 'double_pendulum.sdf')
    sim = spr.Simulation(model, dt=1e-3, integrator='rk4')
    sim.gravity = (0, 0, -9.81)
    heavier = 9.81 / 9.8  # the energy of the model is that of its own gravity
    start = np.array(energy(model, sim.q, sim.qd)) @ (1.0, heavier)
    for step in range(1, 1001):
        sim.step(n=10)
        error = np.array(energy(model, sim.q, sim.qd)) @ (1.0, heavier) - start
        assert abs(error) < 1e-4
        exact = {50: (0.448143, 0.593820), 100: (-1.207716, 0.393325),
                 200: (-0.082758, 0.490120)}.get(step)
        if exact is not None:
            np.testing.assert_allclose(sim.q + [np.pi / 2, 0.0], exact, atol=1e-5)


def momentum(sim):
    """Return linear momentum, and angular about the world's origin, of a floating tree."""
    root, = sim.model.free_roots
    p = (spr.mass_matrix(sim.model, sim.q) @ sim.qd)[root.v:root.v + 6]
    return np.concatenate([p[:3], p[3:] + np.cross(sim.q[root.q:root.q + 3], p[:3])])


def momentum_errors(integrator, dt):
    """Fly for a second while the joints push each other; return the largest errors."""
    rng = np.random.default_rng(11)
    model = random_tree(rng, 6, kinds=KINDS, is_free=True, gravity=(0, 0, 0))
    q, qd, _ = random_state(rng, model)
    sim = simulate(model, q, 0.3 * qd, dt=dt, integrator=integrator)
    before, frequencies = momentum(sim), rng.uniform(1.0, 5.0, model.nv - 6)
    errors = []
    for _ in range(round(1 / dt)):
        sim.step(np.concatenate([np.zeros(6), 0.2 * np.sin(frequencies * sim.time)]))
        errors.append(np.abs(momentum(sim) - before))
    assert np.abs(before).max() > 1.0
    errors = np.max(errors, axis=0)
    return errors[:3].max(), errors[3:].max()


def test_runge_kutta_keeps_momentum_while_joints_work():
    assert max(momentum_errors('rk4', 1e-3)) < 1e-10


def test_momentum_errors_of_the_first_order_fall_with_dt():
    long, short = (momentum_errors('semi_implicit_euler', dt) for dt in (1e-3, 5e-4))
    np.testing.assert_allclose(np.divide(long, short), 2.0, rtol=0.1)


STONE = """
<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity><model name='m'><link name='stone'>
  <inertial><pose>0.02 0.01 -0.03 0.3 0.2 0.1</pose><mass>1</mass><inertia>
    <ixx>0.2</ixx><iyy>0.25</iyy><izz>0.3</izz><ixy>0.04</ixy><ixz>-0.03</ixz><iyz>0.05</iyz>
  </inertia></inertial></link></model></world></sdf>"""


def spin_error(integrator, dt):
    """Return how far a stone with a full inertia loses its angular momentum in 1 s, relative."""
    model = spr.load(text=STONE)
    sim = simulate(model, model.neutral_q(), [0.3, -0.2, 0.1, 1.0, 2.0, -1.5], dt=dt,
                   integrator=integrator)
    before = momentum(sim)[3:]
    sim.step(n=round(1 / dt))
    return np.linalg.norm(momentum(sim)[3:] - before) / np.linalg.norm(before)


def test_full_inertia_keeps_its_angular_momentum():
    """A product of inertia with a wrong sign loses 41 % of it."""
    assert spin_error('rk4', 1e-3) < 1e-11
    assert spin_error('implicit_midpoint', 1e-3) < 1e-6
    long, short = (spin_error('semi_implicit_euler', dt) for dt in (1e-3, 5e-4))
    assert long < 1e-6 and 3.5 < long / short < 4.5


REFUSED = [
    ({'integrator': 'euler'}, "integrator 'euler' is unknown (semi_implicit_euler, analytic, rk4, "
     'implicit_midpoint)'),
    ({'integrator': 'rk'}, "integrator 'rk' is unknown (semi_implicit_euler, analytic, rk4, "
     "implicit_midpoint) (did you mean 'rk4'?)"),
    ({'joint_integrators': {'c': 'analytic'}}, "joint 'c' is unknown (a, b)"),
    ({'joint_integrators': {'a': 'rk4'}}, "joint 'a': integrator 'rk4' is unknown "
     '(semi_implicit_euler, analytic)'),
    ({'integrator': 'rk4', 'joint_integrators': {'a': 'analytic'}},
     "where joints have integrators of their own, the simulation's 'rk4' is unknown"),
]


@pytest.mark.parametrize('options, message', REFUSED)
def test_unknown_names_are_refused_with_those_that_are_known(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.Simulation(swings('a', 'b'), **options)


@pytest.mark.parametrize('integrator', ['rk4', 'implicit_midpoint'])
def test_smooth_integrators_are_refused_where_something_can_touch(integrator):
    model = spr.load(MODELS / 'hopper.sdf', world='ground')
    with pytest.raises(ValueError, match=f"integrator '{integrator}' is for models in which noth"):
        spr.Simulation(model, integrator=integrator)


def test_midpoint_that_is_not_found_leaves_every_byte_as_it_was():
    """A spring of 1e6 N m/rad and a step of 20 of its radians: repeating leads away."""
    sim = simulate(swings('a', stiffness=1e6), [0.1], [0.0], dt=1e-2,
                   integrator='implicit_midpoint')
    before = sim.save()
    with pytest.raises(SimulationDiverged, match='found no implicit midpoint .*dt has to be sho'):
        sim.step(n=3)
    assert sim.save() == before


def test_runge_kutta_that_blows_up_leaves_every_byte_as_it_was():
    sim = simulate(spr.load(MODELS / 'double_pendulum.sdf'), [0, 0], [0, 1e200], dt=1e-3,
                   integrator='rk4')
    before = sim.save()
    with pytest.raises(SimulationDiverged):
        sim.step(n=3)
    assert sim.save() == before
