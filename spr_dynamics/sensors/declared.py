"""The sensors that a model's file declares, by names that tell them apart."""
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from spr_dynamics.sdformat.assemble import unique_names


def placed_sensors(model, *kinds: type) -> Iterator[tuple[str, int, np.ndarray, Any]]:
    """
    List the sensors of some kinds.

    :param kinds: Classes of elements.
    :returns: Names, which of the assembly's links or joints holds each, T_LS as a homogeneous
        matrix, and the elements. Where a model has several sensors of one name, they are called
        ``holder::sensor``.
    """
    assembly = model.assembly
    holders = [*zip(model.link_names, range(len(assembly.links)), assembly.links),
               *zip(unique_names(assembly.joints), range(len(assembly.joints)), assembly.joints)]
    placed = [(holder, index, sensor) for holder, index, item in holders
              for sensor in item.sensors]
    count = Counter(sensor.name for _, _, sensor in placed)
    for holder, index, sensor in placed:
        if isinstance(sensor.element, kinds):
            name = sensor.name if count[sensor.name] == 1 else f'{holder}::{sensor.name}'
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = sensor.T_LS
            yield name, index, pose, sensor.element


def renamed_sensors(old, new, *kinds: type) -> dict[str, str]:
    """Return the new name of each sensor of some kinds that two models share."""
    now = {element: name for name, _, _, element in placed_sensors(new, *kinds)}
    return {name: now[element] for name, _, _, element in placed_sensors(old, *kinds)
            if element in now}
