"""A generator of random numbers for each sensor, so that none depends on what others draw."""
import hashlib
import math

import numpy as np

from spr_dynamics.jit import entry_point, exact, records, VECTOR

# What a generator remembers: SplitMix64 (Steele, Lea, Flood 2014), one word that counts.
GENERATOR = np.dtype([('state', np.uint64)], align=True)

GAMMA = np.uint64(0x9E3779B97F4A7C15)            # the odd number nearest to 2^64 / golden ratio
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
SPARE_BITS, SPACING = np.uint64(11), 2.0 ** -53  # of the doubles between 0 and 1


def generator_state(seed, name) -> int:
    """
    Return the state in which a sensor's generator begins.

    :param seed: The simulation's.
    :param name: The sensor's; what others draw changes nothing for it.
    """
    return int.from_bytes(hashlib.sha256(f'{seed} {name}'.encode()).digest()[:8], 'little')


@exact
def draw_bits(generator):
    """Draw 64 random bits."""
    generator.state += GAMMA
    z = generator.state
    z = (z ^ (z >> SHIFT_1)) * MIX_1
    z = (z ^ (z >> SHIFT_2)) * MIX_2
    return z ^ (z >> SHIFT_3)


@exact
def draw_gaussian(generator):
    """Draw a number of mean 0 and variance 1 (Box and Muller 1958)."""
    above_zero = (np.float64(draw_bits(generator) >> SPARE_BITS) + 1.0) * SPACING
    turn = np.float64(draw_bits(generator) >> SPARE_BITS) * SPACING
    return math.sqrt(-2.0 * math.log(above_zero)) * math.cos(2.0 * math.pi * turn)


@entry_point(records(GENERATOR), VECTOR)
def fill_gaussian(generator, numbers):
    """Fill an array with numbers of mean 0 and variance 1."""
    for k in range(numbers.size):
        numbers[k] = draw_gaussian(generator[0])
