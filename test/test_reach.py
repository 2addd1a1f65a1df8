"""What efforts and wrenches do to one link, against forward dynamics."""
import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest

from builders import KINDS, random_state, random_tree
import spr_dynamics as spr

ROUNDOFF = 1e-9  # relative; accelerations of light ends of chains are large
DRAWN = {'seed': st.integers(0, 2 ** 32 - 1), 'n': st.integers(1, 12), 'is_free': st.booleans(),
         'mimic_share': st.sampled_from([0.0, 0.5])}
drawn = settings(deadline=None, max_examples=80)


def draw(seed, n, is_free, mimic_share):
    """Make a model of all kinds of joints, a state, efforts and two of its links."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, kinds=KINDS, is_free=is_free, fixed_share=0.1,
                        mimic_share=mimic_share)
    return model, *random_state(rng, model), *rng.integers(n, size=2)


def acceleration(model, q, qd, tau, link, f_ext=None):
    """Return how a link accelerates under efforts and wrenches, by forward dynamics."""
    qdd = spr.forward_dynamics(model, q, qd, tau, f_ext)
    return spr.link_accelerations(model, q, qd, qdd)[link]


def wrench_on(model, link, wrench):
    """Return external forces with one row in use."""
    f_ext = np.zeros((model.links.size, 6))
    f_ext[link] = wrench
    return f_ext


@drawn
@given(**DRAWN)
def test_it_predicts_forward_dynamics(seed, n, is_free, mimic_share):
    """With all efforts and a wrench at once, so it is linear in both."""
    model, q, qd, tau, link, pushed = draw(seed, n, is_free, mimic_share)
    K, D, c = spr.link_response(model, q, qd, model.link_names[link], model.link_names[pushed])
    wrench = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
    expected = acceleration(model, q, qd, tau, link, wrench_on(model, pushed, wrench))
    parts = np.abs(K) @ np.abs(tau) + np.abs(D) @ np.abs(wrench) + np.abs(c)
    np.testing.assert_allclose(K @ tau + D @ wrench + c, expected, rtol=0,
                               atol=ROUNDOFF * (1.0 + parts.max()))


@pytest.mark.parametrize('mimic_share', [0.0, 0.5])
def test_each_column_is_a_unit(mimic_share):
    model, q, qd, _, link, pushed = draw(12, 10, True, mimic_share)
    K, D, c = spr.link_response(model, q, qd, model.link_names[link], model.link_names[pushed])
    still, scale = np.zeros(model.nv), max(np.abs(K).max(), np.abs(D).max(), np.abs(c).max())
    np.testing.assert_allclose(c, acceleration(model, q, qd, still, link))
    for column, effort in zip(K.T, np.eye(model.nv)):
        np.testing.assert_allclose(column, acceleration(model, q, qd, effort, link) - c,
                                   atol=ROUNDOFF * scale)
    for column, wrench in zip(D.T, np.eye(6)):
        pushed_now = acceleration(model, q, qd, still, link, wrench_on(model, pushed, wrench))
        np.testing.assert_allclose(column, pushed_now - c, atol=ROUNDOFF * scale)


@drawn
@given(**DRAWN)
def test_a_link_resists_alike_in_both_ways(seed, n, is_free, mimic_share):
    """D is symmetric for one link, and for two it is the transpose of the other way round."""
    model, q, qd, _, link, pushed = draw(seed, n, is_free, mimic_share)
    here, there = model.link_names[link], model.link_names[pushed]
    D = spr.link_response(model, q, qd, here).D
    np.testing.assert_allclose(D, D.T, rtol=0, atol=ROUNDOFF * (1.0 + np.abs(D).max()))
    D = spr.link_response(model, q, qd, here, there).D
    back = spr.link_response(model, q, qd, there, here).D
    np.testing.assert_allclose(D, back.T, rtol=0, atol=ROUNDOFF * (1.0 + np.abs(D).max()))


def chain(n):
    """Make a chain of n hinges about axes that take turns."""
    links = ''.join(
        f"<link name='link{k}'><pose>{0.2 * k} 0 0 0 0 0</pose><inertial><mass>0.5</mass>"
        '<pose>0.1 0 0 0 0 0</pose><inertia><ixx>1e-3</ixx><iyy>2e-3</iyy><izz>2e-3</izz>'
        '</inertia></inertial></link>' for k in range(n))
    joints = ''.join(
        f"<joint name='j{k}' type='revolute'><parent>{f'link{k - 1}' if k else 'world'}</parent>"
        f"<child>link{k}</child><axis><xyz>{('1 0 0', '0 1 0', '0 0 1')[k % 3]}</xyz></axis>"
        '</joint>' for k in range(n))
    return spr.load(text=f"<sdf version='1.12'><model name='chain'>{links}{joints}</model></sdf>")


def test_a_wrench_holds_the_tip_of_a_chain_still():
    """As Springhead's users did it: f = -D^-1 c."""
    model = chain(10)
    q, qd, _ = random_state(np.random.default_rng(5), model)
    _, D, c = spr.link_response(model, q, qd, 'link9')
    wrench = -np.linalg.solve(D, c)
    held = acceleration(model, q, qd, np.zeros(10), 9, wrench_on(model, 9, wrench))
    assert np.abs(c).max() > 1.0
    np.testing.assert_allclose(held, 0.0, atol=1e-9 * np.abs(c).max())


def test_efforts_of_least_norm_hold_the_tip_of_a_chain_still():
    model = chain(10)
    q, qd, _ = random_state(np.random.default_rng(6), model)
    K, _, c = spr.link_response(model, q, qd, 'link9')
    tau = -K.T @ np.linalg.solve(K @ K.T, c)
    np.testing.assert_allclose(acceleration(model, q, qd, tau, 9), 0.0,
                               atol=1e-9 * np.abs(c).max())


def test_a_simulation_is_not_disturbed():
    model = chain(4)
    here, there = (spr.Simulation(model, dt=0.001, contact_sensors={}) for _ in range(2))
    for sim in (here, there):
        sim.qd[:] = 1.0
    for _ in range(5):
        for sim in (here, there):
            sim.step()
        spr.link_response(model, here.q, here.qd, 'link3')
        assert here.save() == there.save()


def test_a_link_of_the_world_does_not_move():
    model = spr.load(text="""
      <sdf version='1.12'><model name='m'><link name='base'/><link name='arm'/>
        <joint name='bolt' type='fixed'><parent>world</parent><child>base</child></joint>
        <joint name='j' type='revolute'><parent>base</parent><child>arm</child>
          <axis><xyz>1 0 0</xyz></axis></joint></model></sdf>""")
    for pushed in ('base', 'arm'):
        K, D, c = spr.link_response(model, [0.3], [2.0], 'base', pushed)
        assert not K.any() and not D.any() and not c.any()
    assert not spr.link_response(model, [0.3], [2.0], 'arm', 'base').D.any()


@pytest.mark.parametrize('wrong, message', [
    ({'q': [0.0]}, 'q: shape (4,) expected, got (1,)'),
    ({'qd': np.full(4, np.nan)}, 'qd: finite numbers expected, got qd[0] = nan'),
    ({'link': 'lonk1'}, "no link 'lonk1' (did you mean 'link1'?)"),
    ({'pushed_link': 'foot'}, "no link 'foot' (known: 'link0', 'link1', 'link2', 'link3')"),
])
def test_wrong_arguments_are_named(wrong, message):
    model = chain(4)
    good = {'q': np.zeros(4), 'qd': np.zeros(4), 'link': 'link1'}
    with pytest.raises(ValueError, match=re.escape(message)):
        spr.link_response(model, **{**good, **wrong})
