"""
Impacts that end with a part of the speed that they began with (Newton's law of restitution).

An island in which something bounces is solved twice: first to see which contacts are struck,
then with the velocities with which these have to part. Where impacts at several points add up
to more energy than there was, they get less of it back.
"""
from spr_dynamics.contact.records import CHANGE, FREE_VELOCITY, VELOCITY
from spr_dynamics.contact.solve import solve_island
from spr_dynamics.jit import exact

HALVINGS = 4  # of all restitutions of an island, before nothing bounces
ROUNDOFF = 1e-9  # of the energy that contacts turn over


@exact
def find_bounces(contacts, members):
    """Keep the bounces of contacts that are struck only, and say whether there are any."""
    found = False
    for m in range(members.size):
        contact = contacts[members[m]]
        if contact.impulse[0] > 0.0 and contact.bounce > max(0.0, contact.b_calm):
            found = True
        else:
            contact.bounce = 0.0
    return found


@exact
def set_bounces(contacts, members, share):
    """Ask for a share of the velocities that restitution gives."""
    for m in range(members.size):
        contact = contacts[members[m]]
        if contact.bounce > 0.0:
            contact.b[0] = max(contact.b_calm, share * contact.bounce)


@exact
def energy_from_contacts(x):
    """Return the kinetic energy that contacts give to free motion, and how much they turn over."""
    gained, turned = 0.0, 0.0
    for k in range(x.shape[1]):
        part = 0.5 * x[CHANGE, k] * (x[VELOCITY, k] + x[FREE_VELOCITY, k])
        gained += part
        turned += abs(part)
    return gained, turned


@exact
def bounce(island, A, begin, end, H, pivots, x, tolerance, budget):
    """
    Solve an island again, as ``solve_island`` did, with the velocities after the impacts.

    What overlaps may be driven apart, so the energy without a bounce counts as allowed.

    :returns: Factorisations taken, and how it ended.
    """
    contacts, members = island[0], island[1]
    calm, _ = energy_from_contacts(x)
    taken, share = 0, 1.0
    for _ in range(HALVINGS):
        set_bounces(contacts, members, share)
        used, status = solve_island(island, A, begin, end, H, pivots, x, tolerance, budget)
        taken += used
        gained, turned = energy_from_contacts(x)
        if gained <= max(calm, 0.0) + ROUNDOFF * turned:
            return taken, status
        share *= 0.5
    set_bounces(contacts, members, 0.0)
    used, status = solve_island(island, A, begin, end, H, pivots, x, tolerance, budget)
    return taken + used, status
