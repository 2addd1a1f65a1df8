"""Forces from outside on links: the motion that they give in a step, contacts included."""
import numpy as np
import pytest

from builders import random_state, random_tree
import needs
import spr_dynamics as spr

MODELS = needs.REPOSITORY / 'models'


def test_a_step_takes_them_as_forward_dynamics_does():
    rng = np.random.default_rng(7)
    model = random_tree(rng, 6, is_free=True)
    sim = spr.Simulation(model, dt=1e-6)
    q, _, _ = random_state(rng, model)
    sim.q = q
    f_ext = rng.normal(size=(model.links.size, 6))
    sim.external_wrenches = f_ext
    tau = rng.normal(size=model.nv)
    expected = spr.forward_dynamics(model, q, np.zeros(model.nv), tau, f_ext)
    without = spr.forward_dynamics(model, q, np.zeros(model.nv), tau)
    assert np.abs(expected - without).max() > 0.1
    sim.step(tau)
    np.testing.assert_allclose(sim.qdd, expected, rtol=1e-6, atol=1e-6)


def test_a_push_presses_a_robot_on_the_ground():
    """The sensor under the foot carries the weight and what the torso is pushed down with."""
    model = spr.load(MODELS / 'hopper.sdf', world='ground')
    sim = spr.Simulation(model)
    sim.step(n=6000)
    weight = -sim.sensors['foot'].reading.force[2]
    sim.links['torso'].external_wrench = [0.0, 0.0, 0.0, 0.0, 0.0, -20.0]
    sim.step(n=6000)
    assert -sim.sensors['foot'].reading.force[2] == pytest.approx(weight + 20.0, rel=1e-4)
    sim.links['torso'].external_wrench = np.zeros(6)
    sim.step(n=6000)
    assert -sim.sensors['foot'].reading.force[2] == pytest.approx(weight, rel=1e-4)


def test_they_act_until_they_are_set_anew_and_end_with_a_reset():
    sim = spr.Simulation(spr.load(MODELS / 'arm7.sdf'))
    start = sim.save()
    twin = spr.Simulation(sim.model)
    push = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    sim.links['fingertip'].external_wrench = push
    assert sim.external_wrenches[sim.model.link_names.index('fingertip')].tolist() == push
    sim.step(n=10)
    twin.step(n=10)
    assert np.abs(sim.qd - twin.qd).max() > 0.1
    for go_back in (sim.reset, lambda: sim.restore(start)):
        sim.links['fingertip'].external_wrench = push
        go_back()
        assert not sim.external_wrenches.any()
        sim.step(n=10)
        assert sim.save() == twin.save()


def test_an_edited_robot_is_pushed_on():
    sim = spr.Simulation(spr.load(MODELS / 'double_pendulum.sdf'))
    sim.links['upper_rod'].external_wrench = [0.0, 0.0, 0.0, 7.0, 0.0, 0.0]
    shorter = sim.joints['shoulder'].remove_child('elbow')
    assert shorter.links['upper_rod'].external_wrench.tolist() == [0.0, 0.0, 0.0, 7.0, 0.0, 0.0]


@pytest.mark.parametrize('wrench, message', [
    ([0.0] * 5, r'external_wrench: shape \(6,\) expected'),
    ([0.0] * 5 + [np.nan], 'external_wrench: finite numbers expected'),
])
def test_what_is_no_wrench_is_refused(wrench, message):
    sim = spr.Simulation(spr.load(MODELS / 'double_pendulum.sdf'))
    with pytest.raises(ValueError, match=message):
        sim.links['lower_rod'].external_wrench = wrench
    with pytest.raises(ValueError, match='f_ext: '):
        sim.external_wrenches = [wrench]
    assert not sim.external_wrenches.any()
