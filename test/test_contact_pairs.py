"""Which pairs of shapes are looked at in a step, and how easily their bodies are moved."""
import numpy as np
import pytest

import shipped
import spr_dynamics as spr
from spr_dynamics.contact.pairs import inverse_inertias
from spr_dynamics.contact.records import DEFAULT_OPTIONS
from spr_dynamics.model.records import PLANE, pose_from_transform

BALLS = 80
FLOOR = -0.4  # [m]
PLANE_TEXT = (f"<model name='ground'><static>true</static><pose>0 0 {FLOOR} 0 0 0</pose>"
              "<link name='l'><collision name='c'><geometry><plane/></geometry></collision></link>"
              '</model>')
BALL = ("<model name='m{}'><link name='l'><collision name='c'><geometry><sphere><radius>{}"
        '</radius></sphere></geometry></collision></link></model>')
# How far balls are spread: in a heap, in a row along each axis, in a layer, and all at one height.
SPREADS = [(0.4, 0.4, 0.4), (6.0, 0.1, 0.1), (0.1, 6.0, 0.1), (0.1, 0.1, 6.0), (1.5, 1.5, 0.05),
           (1.5, 1.5, 0.0)]


def crowd():
    """Load balls of 2 to 16 cm, and a ground that the file has after half of them."""
    radii = np.random.default_rng(3).uniform(0.02, 0.16, BALLS)
    models = [BALL.format(k, radius) for k, radius in enumerate(radii)]
    models.insert(BALLS // 2, PLANE_TEXT)
    model = spr.load(text="<sdf version='1.12'><world name='w'><gravity>0 0 0</gravity>"
                          f"{''.join(models)}</world></sdf>")
    return spr.Simulation(model, dt=1e-3)


def scatter(sim, spread, seed):
    """Put balls anywhere within some distances along x, y and z, at rest."""
    places = np.random.default_rng(seed).uniform(-1.0, 1.0, (BALLS, 3)) * spread
    q = sim.model.neutral_q().reshape(BALLS, 7)
    q[:, :3] = places
    sim.q[:], sim.qd[:] = q.ravel(), 0.0
    return places


def touching(sim, places):
    """Return the pairs of shapes within the margin, in order: with the ground, and of balls."""
    shapes = sim.model.shapes
    ground = int(np.flatnonzero(shapes['kind'] == PLANE)[0])
    balls = np.flatnonzero(shapes['kind'] != PLANE)
    r, margin = shapes['radius'][balls], DEFAULT_OPTIONS.margin
    low = balls[places[:, 2] - r - FLOOR < margin]
    gaps = np.linalg.norm(places[:, None] - places, axis=2) - r[:, None] - r
    i, j = np.nonzero(np.triu(gaps < margin, 1))
    return sorted([*((ground, int(b)) for b in low), *zip(balls[i].tolist(), balls[j].tolist())])


def test_each_pair_that_touches_is_found_wherever_things_are():
    """In the order of the file, though a sweep along an axis meets them in another one."""
    sim, n_found = crowd(), 0
    for seed, spread in enumerate(SPREADS):  # the order of one is of no use for the next
        places = scatter(sim, spread, seed)
        expected = touching(sim, places)
        sim.step()
        found = list(zip(sim.contacts['shape_a'].tolist(), sim.contacts['shape_b'].tolist()))
        assert found == expected
        n_found += len(found)
    assert n_found > 400 and sim.counters.dropped == 0


def test_order_of_an_earlier_sweep_leaves_no_trace():
    """Restored where things were thrown about in between, a run goes on bit for bit."""
    sim, other = crowd(), crowd()
    scatter(sim, SPREADS[0], 0)
    sim.step(n=5)
    snapshot = sim.save()
    sim.step(n=20)
    scatter(other, SPREADS[1], 7)
    other.step(n=2)
    other.restore(snapshot)
    other.step(n=20)
    assert len(sim.contacts) > 20 and other.save() == sim.save()


@pytest.mark.parametrize('name', ['rolling_shapes', 'gripper', 'humanoid'])
def test_bodies_are_moved_as_easily_as_the_whole_inertia_matrix_says(name):
    """Of several trees, and of one: J M^-1 J^T at the centres of mass, M in one piece."""
    model = shipped.load(name)
    w, M_inv = inverse_inertias(model)
    whole = np.linalg.inv(spr.mass_matrix(model, model.home))
    np.testing.assert_allclose(M_inv, whole, rtol=0, atol=1e-10 * np.abs(whole).max())
    n_felt = 0
    for k in set(model.shapes['link'].tolist()):
        body = model.tree[model.links[k]['body']]
        if model.links[k]['body'] == 0:
            continue
        T_LB = pose_from_transform(model.links[k]['X']).inverse()
        centre = T_LB.R @ body['inertia'][1:4] / body['inertia'][0] + T_LB.p
        J = spr.jacobian(model, model.home, model.link_names[k], centre)
        same_tree = model.tree['trunk'] == body['trunk']
        least = 1.0 / model.tree['inertia'][same_tree, 0].sum()
        expected = [max(np.trace(rows @ whole @ rows.T) / 3.0, least) for rows in (J[3:], J[:3])]
        np.testing.assert_allclose(w[model.links[k]['body']], expected, rtol=1e-9)
        n_felt += 1
    assert n_felt > 3
