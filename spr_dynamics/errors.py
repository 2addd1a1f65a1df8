"""The exceptions that users meet: each message says where, what, and what was possible."""


class SprDynamicsError(Exception):
    """Base of all errors that this package raises on purpose."""


class SdfError(SprDynamicsError):
    """A robot or world file can't be used; the message lists every problem, a line each."""


class ModelError(SprDynamicsError):
    """The elements are well formed but don't make a model that can be simulated."""


class SimulationDiverged(SprDynamicsError):
    """A step gave numbers that are not finite; the state before it was kept."""
