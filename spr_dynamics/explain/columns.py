"""Names for the numbers of a state: those of the columns that `simulate --csv` writes."""


def position_names(model) -> list[str]:
    """Name each entry of q: ``knee``, ``torso.x`` to ``torso.qz``, ``hip.qw``."""
    names = [''] * model.nq
    for root in model.free_roots:
        names[root.q:root.q + 7] = [f'{root.name}.{part}' for part in 'x y z qw qx qy qz'.split()]
    for joint in model.joints:
        if joint.type == 'ball':
            names[joint.q:joint.q + 4] = [f'{joint.name}.{part}' for part in 'qw qx qy qz'.split()]
    for axis in model.axes:
        names[axis.q] = axis.name
    return names


def velocity_names(model) -> list[str]:
    """Name each entry of qd: ``knee``, ``torso.vx`` to ``torso.wz``, ``hip_x``."""
    names = [''] * model.nv
    for root in model.free_roots:
        names[root.v:root.v + 6] = [f'{root.name}.{part}' for part in 'vx vy vz wx wy wz'.split()]
    for dof in model.dofs:
        names[dof.v] = dof.name
    return names


def position_columns(model) -> list[str]:
    """Return the heads of the columns for q."""
    axes = {axis.q for axis in model.axes}
    return [f'{name}.position' if k in axes else name
            for k, name in enumerate(position_names(model))]


def velocity_columns(model, quantity='velocity') -> list[str]:
    """Return the heads of the columns for qd, or those for ``acceleration`` in its place."""
    roots = {root.v + k for root in model.free_roots for k in range(6)}
    suffix = '' if quantity == 'velocity' else f'.{quantity}'
    return [f'{name}{suffix}' if k in roots else f'{name}.{quantity}'
            for k, name in enumerate(velocity_names(model))]
