"""Random numbers of sensors: a known sequence, their moments, one generator for each."""
import numpy as np

from spr_dynamics.sensors.noise import fill_gaussian, GENERATOR, generator_state

N = 200_000


def gaussians(state, n=N):
    generator, numbers = np.zeros(1, GENERATOR), np.zeros(n)
    generator['state'] = state
    fill_gaussian(generator, numbers)
    return numbers, int(generator['state'][0])


def splitmix64(state):
    """Give the published sequence with Python's whole numbers."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2 ** 64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2 ** 64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2 ** 64
        yield z ^ z >> 31


def test_numbers_are_box_and_mullers_of_the_published_sequence():
    bits = splitmix64(1234567)
    assert next(splitmix64(0)) == 0xE220A8397B1DCDAF  # as its authors print it
    for number in gaussians(1234567, 100)[0]:
        radius = np.sqrt(-2.0 * np.log((1 + (next(bits) >> 11)) / 2 ** 53))
        angle = 2.0 * np.pi * (next(bits) >> 11) / 2 ** 53
        np.testing.assert_allclose(number, radius * np.cos(angle), rtol=1e-12, atol=1e-14)


def test_moments_are_those_of_a_gaussian():
    """Each bound is five standard deviations of what it bounds."""
    x, _ = gaussians(generator_state(0, 'foot'))
    assert abs(x.mean()) < 5 / np.sqrt(N)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / N)
    assert abs((x ** 3).mean()) < 5 * np.sqrt(15 / N)
    assert abs((x ** 4).mean() - 3) < 5 * np.sqrt(96 / N)
    assert abs((x[1:] * x[:-1]).mean()) < 5 / np.sqrt(N)
    assert np.abs(x).max() > 4.0


def test_generators_differ_by_seed_and_by_name():
    states = {generator_state(seed, name) for seed in (0, 1, 2 ** 64) for name in ('a', 'b', '')}
    assert len(states) == 9 and all(0 <= state < 2 ** 64 for state in states)
    a, b = gaussians(generator_state(0, 'a'))[0], gaussians(generator_state(0, 'b'))[0]
    assert abs((a * b).mean()) < 5 / np.sqrt(N)


def test_sequence_goes_on_from_its_state():
    whole, _ = gaussians(7, 10)
    first, state = gaussians(7, 4)
    np.testing.assert_array_equal(np.concatenate([first, gaussians(state, 6)[0]]), whole)
