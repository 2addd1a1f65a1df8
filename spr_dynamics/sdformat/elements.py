"""
What an SDF file says, as frozen values; nothing is resolved yet.

Poses are as written, relative to ``relative_to``; `spr_dynamics.sdformat.assemble` resolves
them. Lengths are in m, angles in rad, masses in kg, forces in N, torques in N m. Elements
compare by identity, since two equal links are still two links.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spr_dynamics.sdformat.diagnostics import Diagnostic, Location
from spr_dynamics.sdformat.poses import Pose


class Reference(str):
    """The name of another element, and where that name is written; empty means the default."""

    location: Location

    def __new__(cls, name: str, location: Location) -> 'Reference':
        """Make a name that knows its place."""
        reference = super().__new__(cls, name)
        reference.location = location
        return reference


@dataclass(frozen=True, eq=False, kw_only=True)
class Box:
    """A box, origin at its centre."""

    location: Location
    size: np.ndarray
    """Edge lengths [m], shape (3,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sphere:
    """A sphere."""

    location: Location
    radius: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Cylinder:
    """A cylinder along z, origin at its centre."""

    location: Location
    radius: float
    length: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Capsule:
    """A capsule along z, origin at its centre."""

    location: Location
    radius: float
    length: float
    """Of the cylindrical part; the whole is longer by two radii."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ellipsoid:
    """An ellipsoid along the axes of its frame."""

    location: Location
    radii: np.ndarray
    """Semi-axes [m], shape (3,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cone:
    """A cone with its apex at +z, origin at half its height."""

    location: Location
    radius: float
    length: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Plane:
    """A plane through the origin; endless as a collision."""

    location: Location
    normal: np.ndarray
    """Unit vector, shape (3,)."""
    size: np.ndarray
    """What to draw [m], shape (2,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Mesh:
    """A mesh file."""

    location: Location
    uri: str
    scale: np.ndarray
    """Factor for each axis, shape (3,)."""
    submesh: str
    """Name of the part to use; empty means all."""
    center: bool
    """Whether that part is moved to the origin."""
    optimization: str
    """Empty, ``convex_hull`` or ``convex_decomposition``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Heightmap:
    """A terrain of heights from a picture."""

    location: Location
    uri: str
    size: np.ndarray
    """Extent [m], shape (3,)."""
    pos: np.ndarray
    """Offset [m], shape (3,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Polyline:
    """A polygon in the xy plane, extruded from z = 0 to its height."""

    location: Location
    points: np.ndarray
    """Corners [m], shape (n, 2)."""
    height: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Empty:
    """No shape."""

    location: Location


Geometry = (
    Box | Sphere | Cylinder | Capsule | Ellipsoid | Cone | Plane | Mesh | Heightmap | Polyline
    | Empty)


@dataclass(frozen=True, eq=False, kw_only=True)
class Surface:
    """How a collision rubs, bounces and yields; defaults are SDFormat's."""

    location: Location
    mu: float
    """Friction coefficient along ``fdir1``."""
    mu2: float
    """Friction coefficient across it."""
    fdir1: np.ndarray
    """First friction direction in the collision's frame, shape (3,); zero: any."""
    slip1: float
    slip2: float
    """Slip compliance along and across ``fdir1`` [m/(s N)]."""
    restitution: float
    restitution_threshold: float
    """Speed of approach below which nothing bounces [m/s]."""
    kp: float
    """Contact stiffness [N/m]; the default of 1e12 means rigid."""
    kd: float
    """Contact damping [N s/m]."""
    max_vel: float | None
    """Fastest push-out of a penetration [m/s]; None if the file does not say."""
    min_depth: float
    """Depth that is not corrected [m]."""
    collide_bitmask: int
    category_bitmask: int
    """A pair collides if ``catA & colB or catB & colA``; absent: as ``collide_bitmask``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Collision:
    """A shape that touches others."""

    location: Location
    name: str
    pose: Pose
    relative_to: Reference
    geometry: Geometry
    surface: Surface


@dataclass(frozen=True, eq=False, kw_only=True)
class Visual:
    """A shape that is drawn."""

    location: Location
    name: str
    pose: Pose
    relative_to: Reference
    geometry: Geometry
    diffuse: np.ndarray | None
    """Red, green, blue, opacity in 0 to 1, shape (4,); None if the file names no colour."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ContactSensor:
    """A tactile sensor on some collisions of its link."""

    location: Location
    name: str
    pose: Pose
    relative_to: Reference
    update_rate: float
    """Readings a second of simulated time [Hz]; 0: each step."""
    topic: str
    """Empty if the file does not say."""
    collisions: tuple[Reference, ...]
    """What it feels by; empty if the file names none."""
    patch: Mapping[str, object]
    """Values of the ``spr:`` elements that were given, by name without the prefix."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sensor:
    """A sensor of another type."""

    location: Location
    name: str
    type: str
    pose: Pose
    relative_to: Reference
    update_rate: float
    topic: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Inertial:
    """Mass properties of a link."""

    location: Location
    mass: float
    pose: Pose
    """Pose of the centre-of-mass frame in the link frame."""
    inertia: np.ndarray
    """About the centre of mass, in the axes of that frame [kg m^2], shape (3, 3)."""
    is_auto: bool
    """Whether the file asks to compute all this from the collisions."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Link:
    """A rigid body."""

    location: Location
    name: str
    pose: Pose
    relative_to: Reference
    inertial: Inertial
    collisions: tuple[Collision, ...]
    visuals: tuple[Visual, ...]
    sensors: tuple[ContactSensor | Sensor, ...]
    gravity: bool
    kinematic: bool
    self_collide: bool
    enable_wind: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Limit:
    """How far, how fast and how strong an axis is; infinite means unlimited."""

    location: Location
    lower: float
    upper: float
    effort: float
    velocity: float
    stiffness: float
    dissipation: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Mimic:
    """``follower = multiplier * (leader - reference) + offset``."""

    location: Location
    joint: Reference
    axis: str
    """``axis`` or ``axis2`` of the leader."""
    multiplier: float
    offset: float
    reference: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Axis:
    """A direction in which a joint moves."""

    location: Location
    xyz: np.ndarray
    """Unit vector in the axes of ``expressed_in``, shape (3,)."""
    expressed_in: Reference
    """Empty: the joint's own frame."""
    limit: Limit
    damping: float
    friction: float
    spring_reference: float
    spring_stiffness: float
    mimic: Mimic | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint:
    """What lets a child link move against its parent."""

    location: Location
    name: str
    type: str
    """One of `spr_dynamics.sdformat.schema.JOINT_TYPES`."""
    parent: Reference
    child: Reference
    pose: Pose
    relative_to: Reference
    axis: Axis | None
    axis2: Axis | None
    screw_thread_pitch: float
    """Advance in one turn of a screw [m], positive for right-handed."""
    gearbox_ratio: float
    gearbox_reference_body: Reference
    sensors: tuple[ContactSensor | Sensor, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame:
    """A named frame fixed to another."""

    location: Location
    name: str
    attached_to: Reference
    pose: Pose
    relative_to: Reference


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """Links and joints, and models inside the model."""

    location: Location
    name: str
    static: bool
    self_collide: bool
    enable_wind: bool
    canonical_link: Reference
    placement_frame: Reference
    pose: Pose
    relative_to: Reference
    children: tuple['Link | Joint | Frame | Model', ...]
    """In the order in which they are written."""

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of this model itself."""
        return _of_kind(self.children, Link)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints of this model itself."""
        return _of_kind(self.children, Joint)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of this model itself."""
        return _of_kind(self.children, Frame)

    @property
    def models(self) -> tuple['Model', ...]:
        """The models inside this one, not those inside them."""
        return _of_kind(self.children, Model)


@dataclass(frozen=True, eq=False, kw_only=True)
class Physics:
    """How the file wants to be simulated."""

    location: Location
    name: str
    max_step_size: float
    """[s]"""
    real_time_factor: float


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """Models, and what they share."""

    location: Location
    name: str
    gravity: np.ndarray
    """[m/s^2], shape (3,)."""
    physics: Physics
    children: tuple[Model | Joint | Frame, ...]
    """In the order in which they are written."""

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that stand in the world, not those inside them."""
        return _of_kind(self.children, Model)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints between models."""
        return _of_kind(self.children, Joint)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of the world itself."""
        return _of_kind(self.children, Frame)


@dataclass(frozen=True, eq=False, kw_only=True)
class Root:
    """A whole file."""

    location: Location
    version: str
    """As the file says; the elements mean what 1.12 means."""
    models: tuple[Model, ...]
    worlds: tuple[World, ...]
    warnings: tuple[Diagnostic, ...]


def _of_kind(children: tuple, kind: type) -> tuple:
    return tuple(child for child in children if isinstance(child, kind))
