"""
What an SDF file says, as frozen values; nothing is resolved yet.

Poses are as written, relative to ``relative_to``; `spr_dynamics.sdformat.assemble` resolves
them. Lengths are in m, angles in rad, masses in kg, forces in N, torques in N m. Elements
compare by identity, since two equal links are still two links.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spr_dynamics.sdformat.diagnostics import Diagnostic, Location
from spr_dynamics.sdformat.poses import Pose


NOWHERE = Location('', 0, '')  # where an element that was made without a file is written


class Reference(str):
    """The name of another element, and where that name is written; empty means the default."""

    location: Location

    def __new__(cls, name: str, location: Location) -> 'Reference':
        """Make a name that knows its place."""
        reference = super().__new__(cls, name)
        reference.location = location
        return reference

    def __reduce__(self) -> tuple:
        """Say how to make a copy."""
        return Reference, (str(self), self.location)


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
    max_convex_hulls: int
    """Into how many pieces the latter may cut it."""
    voxel_resolution: int
    """How many voxels stand for it where one is needed for that."""


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
class BulletFriction:
    """Friction as the Bullet engine takes it."""

    location: Location
    friction: float
    friction2: float
    """Coefficients along and across ``fdir1``."""
    fdir1: np.ndarray
    """First friction direction in the collision's frame, shape (3,); zero: any."""
    rolling_friction: float | None
    """Torque that resists rolling, for each newton that presses [m]; None: not written."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TorsionalFriction:
    """Friction about the normal of a contact."""

    location: Location
    coefficient: float
    use_patch_radius: bool
    """Whether the patch has ``patch_radius``; else it grows as sqrt(surface_radius * depth)."""
    patch_radius: float
    surface_radius: float
    slip: float
    """Slip compliance [rad/(s N m)]."""


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
    bullet: BulletFriction | None
    torsional: TorsionalFriction | None
    """None if the file does not say."""
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
    category_bitmask: int | None
    """A pair collides if ``catA & colB or catB & colA``; None: as ``collide_bitmask``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Collision:
    """A shape that touches others."""

    location: Location
    name: str
    pose: Pose
    relative_to: Reference
    geometry: Geometry
    surface: Surface
    density: float | None = None
    """For auto inertia [kg/m^3]; None: that of the inertial."""


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
class Noise:
    """What a sensor adds to the truth."""

    location: Location
    type: str
    """``none``, ``gaussian`` or ``gaussian_quantized``."""
    mean: float
    stddev: float
    """Of each reading."""
    bias_mean: float
    bias_stddev: float
    """Of what is drawn once and added to each reading."""
    dynamic_bias_stddev: float
    dynamic_bias_correlation_time: float
    """[s] of a bias that drifts."""
    precision: float
    """Step of quantised readings; 0: none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Sensor:
    """A sensor; those that have more to say have a class of their own."""

    location: Location
    name: str
    type: str
    """One of `spr_dynamics.sdformat.schema.SENSOR_TYPES`."""
    pose: Pose
    relative_to: Reference
    update_rate: float
    """Readings a second of simulated time [Hz]; 0: each step."""
    topic: str
    frame_id: str
    """Empty if the file does not say."""
    always_on: bool
    visualize: bool
    enable_metrics: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ContactSensor(Sensor):
    """A tactile sensor on some collisions of its link."""

    has_contact: bool
    """Whether there is a ``<contact>``."""
    contact_topic: str
    """The topic inside it, which is the one that Gazebo reads; empty if the file does not say."""
    collisions: tuple[Reference, ...]
    """What it feels by; empty if the file names none."""
    patch: Mapping[str, object]
    """Values of the ``spr:`` elements that were given, by name without the prefix."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ForceTorqueSensor(Sensor):
    """What a joint, or a link's own joint, carries."""

    frame: str
    """In whose axes: those of ``parent``, ``child`` or ``sensor``."""
    measure_direction: str
    """``child_to_parent``: what the child does to the parent; or ``parent_to_child``."""
    force_noise: tuple[Noise, Noise, Noise]
    """On x, y, z [N]."""
    torque_noise: tuple[Noise, Noise, Noise]
    """About x, y, z [N m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ImuSensor(Sensor):
    """An inertial measurement unit."""

    angular_velocity_noise: tuple[Noise, Noise, Noise]
    """About x, y, z [rad/s]."""
    linear_acceleration_noise: tuple[Noise, Noise, Noise]
    """Along x, y, z [m/s^2]."""
    enable_orientation: bool
    localization: str
    """What orientations are relative to: one of `spr_dynamics.sdformat.sensors.LOCALIZATIONS`."""
    custom_rpy: np.ndarray
    """For CUSTOM, roll, pitch and yaw [rad] in ``custom_rpy_parent_frame``, shape (3,)."""
    custom_rpy_parent_frame: str
    grav_dir_x: np.ndarray
    """For GRAV_UP and GRAV_DOWN, where x points in ``grav_dir_x_parent_frame``, shape (3,)."""
    grav_dir_x_parent_frame: str


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
    """Whether the file asks to compute all this from the collisions; `read` has then done so."""
    auto_mass: float | None = None
    """What auto inertia is scaled to [kg]; None: the mass that the densities give."""
    density: float | None = None
    """For auto inertia, of collisions that have none of their own [kg/m^3]; None: 1000."""
    fluid_added_mass: np.ndarray | None = None
    """What the fluid around adds to the inertia, linear part first, shape (6, 6).

    About the origin of the link, in its axes. None if the file does not say.
    """


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
    sensors: tuple[Sensor, ...]
    gravity: bool
    kinematic: bool
    self_collide: bool
    enable_wind: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Limit:
    """How far, how fast and how strong an axis is, as written; see `effective_bound`."""

    location: Location
    lower: float
    upper: float
    effort: float
    velocity: float
    stiffness: float
    dissipation: float


@dataclass(frozen=True)
class MimicConstraint:
    """
    ``follower = multiplier * (leader - reference) + offset``, in rad or m of each axis.

    The defaults are those of SDFormat's class of this name. In a file, a ``<mimic>`` without
    these children means 1, 0 and 0. Two of them are equal if they say the same.
    """

    joint: str = ''
    """Name of the leader."""
    axis: str = 'axis'
    """``axis`` or ``axis2`` of the leader."""
    multiplier: float = 0.0
    offset: float = 0.0
    reference: float = 0.0
    location: Location = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


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
    mimic: MimicConstraint | None


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
    """None where the file has none, whether or not the type needs one."""
    screw_thread_pitch: float
    """Advance in one turn of a screw [m], positive for right-handed."""
    gearbox_ratio: float
    gearbox_reference_body: Reference
    """What the angles of a gearbox's axes are counted from; empty if the file does not say."""
    sensors: tuple[Sensor, ...]
    cone_limit: float | None = None
    """How far the child's z axis of a ball joint may turn from ``cone_centre`` [rad], or None."""
    cone_centre: np.ndarray | None = None
    """Direction in the parent's joint frame, shape (3,); None: its z axis."""
    twist_limit: np.ndarray | None = None
    """Least and largest turn about the child's z axis, from that of the shortest way [rad]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Frame:
    """A named frame fixed to another."""

    location: Location
    name: str
    attached_to: Reference
    pose: Pose
    relative_to: Reference


class Scope:
    """What models and worlds have in common: things with names, in one tuple ``children``."""

    children: tuple

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that are written in this one itself."""
        return _of_kind(self.children, Joint)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames that are written in this one itself."""
        return _of_kind(self.children, Frame)

    @property
    def models(self) -> tuple['Model', ...]:
        """The models inside this one, not those inside them."""
        return _of_kind(self.children, Model)


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(Scope):
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Physics:
    """How the file wants to be simulated."""

    location: Location
    name: str
    type: str
    """The engine that it was written for."""
    max_step_size: float
    """[s]"""
    real_time_factor: float


@dataclass(frozen=True, eq=False, kw_only=True)
class World(Scope):
    """Models, and what they share."""

    location: Location
    name: str
    gravity: np.ndarray
    """[m/s^2], shape (3,)."""
    physics: Physics
    children: tuple[Model | Joint | Frame, ...]
    """In the order in which they are written."""


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
