"""Forces from outside: given on links in world axes, felt by bodies in theirs."""
from spr_dynamics.jit import inlined, kernel
from spr_dynamics.spatial import (
    add, as_force, as_matrix, as_transform, as_vector, cross, Force, put_force, subtract_forces,
    times, transpose)


@inlined
def force_on_body(link, work, f_ext, k):
    """Express a link's torque and force in the coordinates of its body."""
    back = transpose(as_matrix(work[link[k].body].R_WB, 0))
    linear = times(back, as_vector(f_ext[k], 3))
    moment = times(back, as_vector(f_ext[k], 0))
    return Force(add(moment, cross(as_transform(link[k].X).r, linear)), linear)


@kernel
def subtract_external(link, work, f_ext):
    """Take external forces from the bodies' bias forces ``pA``; needs the poses."""
    for k in range(link.size):
        if link[k].body > 0:
            now = work[link[k].body]
            put_force(now.pA, subtract_forces(as_force(now.pA),
                                              force_on_body(link, work, f_ext, k)))
