"""What a step's contacts were: as objects with names, as arrays, and summed up by link."""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spr_dynamics.contact.records import OPEN, SLIDING, STICKING
from spr_dynamics.dynamics.kinematics import link_poses

STATES = {OPEN: 'open', STICKING: 'sticking', SLIDING: 'sliding'}


@dataclass(frozen=True, eq=False)
class Contact:
    """One point at which two collision shapes touch, or nearly do; all in world axes."""

    link_a: str
    """Name of the link that shape a is part of."""
    link_b: str
    """Name of the other link."""
    collision_a: str
    """Name of shape a, ``link::collision``."""
    collision_b: str
    """Name of shape b."""
    point: np.ndarray
    """Halfway between the surfaces [m], shape (3,)."""
    normal: np.ndarray
    """From a to b, shape (3,)."""
    depth: float
    """How far the shapes overlap [m]; negative: the gap that is left."""
    force: np.ndarray
    """On b, the mean over the step [N], shape (3,); on a it is the opposite."""
    state: str
    """``sticking``, ``sliding``, or ``open`` where no force acts."""
    id: tuple[int, int, int]
    """Shapes and features that touch; it stays while one thing rests, slides or rolls on."""

    def __str__(self) -> str:
        place = ' '.join(f'{x:.4g}' for x in self.point)
        return (f'{self.collision_a} on {self.collision_b}: {np.linalg.norm(self.force):.4g} N, '
                f'{self.state}, {1e6 * self.depth:.3g} um deep at {place}')


class Contacts(Sequence[Contact]):
    """
    The contacts of a step, in the order of their shapes.

    As a sequence they are ``Contact`` objects. A name gives a field of all of them as an array:
    ``contacts['force']`` has shape (n, 3); the fields are those of ``CONTACT`` records.

    :param records: ``CONTACT`` records; they are not copied.
    :param model: Has the names.
    """

    def __init__(self, records: np.ndarray, model):
        self.records, self._model = records, model

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Contact]:
        return map(self._contact, self.records)

    def __getitem__(self, which: Any) -> Any:
        """
        Return a contact, some of them, or a field of all.

        :param which: A number or a slice; or the name, or a list of names, of fields.
        """
        if isinstance(which, (str, list)):
            return self.records[which]
        if isinstance(which, slice):
            return Contacts(self.records[which], self._model)
        return self._contact(self.records[which])

    def __repr__(self) -> str:
        return '\n'.join([f'<{len(self)} contacts>', *map(str, self)])

    def _contact(self, record) -> Contact:
        a, b = int(record['shape_a']), int(record['shape_b'])
        names, links, owner = (
            self._model.shape_names, self._model.link_names, self._model.shapes['link'])
        return Contact(
            links[owner[a]], links[owner[b]], names[a], names[b], record['point'], record['n'],
            -float(record['gap']), record['force'], STATES[record['state']],
            (a, b, int(record['key'])))


def link_wrenches(model, q, records) -> np.ndarray:
    """
    Sum up what contacts do to each link.

    :param q: Positions, which say where the links' origins are, shape (nq,).
    :param records: ``CONTACT``.
    :returns: Torque about the link's origin [N m], then force [N], world axes, shape
        (number of links, 6), in file order: what ``f_ext`` takes.
    """
    wrenches = np.zeros((model.links.size, 6))
    if len(records) == 0:
        return wrenches
    origins = link_poses(model, q)[:, :3, 3]
    for shape, sign in (('shape_a', -1.0), ('shape_b', 1.0)):
        links = model.shapes['link'][records[shape]]
        forces = sign * records['force']
        np.add.at(wrenches[:, 3:], links, forces)
        np.add.at(wrenches[:, :3], links, np.cross(records['point'] - origins[links], forces))
    return wrenches
