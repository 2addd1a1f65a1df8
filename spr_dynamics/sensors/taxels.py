"""
A patch as a grid of cells: each force goes to the cells around it, in parts that add up to it.

A sensor's cells are rows of an array: ``columns`` of them along x, then the next row along y.
"""
import math

import numpy as np

from spr_dynamics.jit import exact, inlined
from spr_dynamics.spatial import put_vector, Vector, ZERO

STEP, WINDOW, SAMPLE = 0, 1, 2  # forces of this step, of the window, and of the newest sample
TAXEL_ROWS = 3
DEFAULT_SPREAD = 1.5  # radius of the kernel, in longer sides of a cell


def cell_size(settings) -> np.ndarray:
    """Return the size of a cell along x and y [m], shape (2,)."""
    rows, columns = settings.taxels
    return (settings.patch_max - settings.patch_min) / (columns, rows)


def cell_centres(settings) -> np.ndarray:
    """Return where the cells are, in the sensor's frame [m], shape (rows, columns, 2)."""
    rows, columns = settings.taxels
    width, height = cell_size(settings)
    x = settings.patch_min[0] + width * (np.arange(columns) + 0.5)
    y = settings.patch_min[1] + height * (np.arange(rows) + 0.5)
    return np.stack(np.meshgrid(x, y), axis=-1)


@inlined
def bump(sensor, at, row, column, width, height):
    """Weigh a cell by the distance of its centre: (1 - (d / spread)^2)^2, nothing beyond."""
    dx = at.x - (sensor.patch_min[0] + width * (column + 0.5))
    dy = at.y - (sensor.patch_min[1] + height * (row + 0.5))
    return max(0.0, 1.0 - (dx * dx + dy * dy) / (sensor.spread * sensor.spread)) ** 2


@inlined
def cells_around(x, low, side, reach, count):
    """Return the range of cells along an axis whose centres are in reach."""
    first = max(0.0, (x - reach - low) / side)
    last = min((x + reach - low) / side, np.float64(count - 1))
    return np.int64(math.floor(first)), np.int64(math.ceil(last)) + 1


@exact
def spread_force(sensor, at, f, cells):
    """
    Add a force to the cells around it.

    :param at: Where it acts, sensor frame, ``Vector``.
    :param cells: Forces by cell, shape (cells of all sensors, 3).
    """
    if sensor.rows == 0:
        return
    width = (sensor.patch_max[0] - sensor.patch_min[0]) / sensor.columns
    height = (sensor.patch_max[1] - sensor.patch_min[1]) / sensor.rows
    left, right = cells_around(at.x, sensor.patch_min[0], width, sensor.spread, sensor.columns)
    bottom, top = cells_around(at.y, sensor.patch_min[1], height, sensor.spread, sensor.rows)
    total = 0.0
    for row in range(bottom, top):
        for column in range(left, right):
            total += bump(sensor, at, row, column, width, height)
    for row in range(bottom, top):
        for column in range(left, right):
            part = bump(sensor, at, row, column, width, height) / total
            cell = cells[sensor.first_taxel + row * sensor.columns + column]
            put_vector(cell, 0, Vector(cell[0] + part * f.x, cell[1] + part * f.y,
                                       cell[2] + part * f.z))


@exact
def clear_taxels(sensor, cells):
    """Forget the forces on a sensor's cells."""
    first = sensor.first_taxel
    for k in range(first, first + sensor.rows * sensor.columns):
        put_vector(cells[k], 0, ZERO)


@exact
def keep_taxels(sensor, taxels, replaces):
    """Add the forces of this step to those of the window, or put them in their place."""
    first = sensor.first_taxel
    for k in range(first, first + sensor.rows * sensor.columns):
        for axis in range(3):
            before = 0.0 if replaces else taxels[WINDOW, k, axis]
            taxels[WINDOW, k, axis] = before + taxels[STEP, k, axis]


@exact
def take_taxels(sensor, taxels, share):
    """Make a share of the window's forces those of the sample, and empty the window."""
    first = sensor.first_taxel
    for k in range(first, first + sensor.rows * sensor.columns):
        for axis in range(3):
            taxels[SAMPLE, k, axis] = share * taxels[WINDOW, k, axis]
            taxels[WINDOW, k, axis] = 0.0
