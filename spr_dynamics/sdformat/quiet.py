"""
What libsdformat wants of elements that are passed over here, as tables.

A file with a bad text in a light or camera is not loaded by Gazebo, so it is refused here too.
Keys are tags, or ``parent/tag`` where a tag means several things.
"""

from collections.abc import Callable
import math
from typing import Any

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report, UNREADABLE
from spr_dynamics.sdformat.schema import JOINT_TYPES
from spr_dynamics.sdformat.values import (
    between, boolean, colour, extended_number, integer, pose, several)
from spr_dynamics.sdformat.xml import XmlElement

BAD_WORLD = ('ELEMENT_INVALID',)  # what libsdformat adds for a mistake in a world
Reader = Callable[[str], Any]


def _readers(read: Reader, keys: str) -> dict[str, Reader]:
    return dict.fromkeys(keys.split(), read)


TEXTS: dict[str, Reader] = {
    **_readers(
        extended_number,
        'accuracy angle angular aspect_ratio bias_mean bone_attachment bounce c1 c2 c3 cfm '
        'constant contact_max_correcting_vel contact_surface_layer cx cy damping delay_start '
        'dissipation duration dynamic_bias_correlation_time dynamic_friction effort '
        'elastic_modulus elevation erp f fade_dist falloff far far_clip flesh_mass_fraction fov '
        'frequency friction fudge_factor fx fy gain heading_deg height inner_angle intensity ixx '
        'ixy ixz iyy iyz izz k1 k2 k3 kd kp laser_retro latitude_deg length lifetime linear '
        'longitude_deg lower mass max max_angle max_dist max_force max_frequency '
        'max_transient_velocity max_vel mean min min_angle min_depth min_dist min_frequency '
        'min_height min_step_size near near_clip outer_angle '
        'override_impact_capture_velocity override_stiction_transition_velocity p1 p2 '
        'particle_scatter_ratio p_cx p_cy p_fx p_fy pitch plastic_coef_restitution '
        'plastic_impact_velocity poissons_ratio position power precision pressure quadratic '
        'radius range real_time_update_rate reference_altitude render_order resolution s '
        'sensitivity shininess slip slip1 slip2 soft_cfm soft_erp sor '
        'split_impulse_penetration_threshold spring_reference spring_stiffness static_friction '
        'stiffness sunrise sunset surface_axis_equatorial surface_axis_polar temperature '
        'temperature_gradient time transparency tx ty update_rate upper viscous_friction voltage '
        'acceleration velocity width logical_camera/horizontal_fov stddev animation/scale '
        'image/scale skin/scale texture/size threshold'),
    **_readers(
        between(extended_number, 0, math.inf),
        'bias_stddev dynamic_bias_stddev end max_velocity min_velocity mu mu2 rate scale_rate '
        'speed start clip/near fog/density'),
    **_readers(
        boolean,
        'allow_auto_disable always_on auto_start cast_shadows cfm_damping '
        'collide_without_contact double_sided emitting enable_metrics enable_orientation '
        'enable_wind grid implicit_spring_damper inherit_yaw interpolate_x kinematic light_on '
        'lighting loop must_be_base_link must_be_loop_joint origin_visual provide_feedback '
        'scale_to_hfov self_collide shadows split_impulse static thread_position_correction '
        'triggered use_dynamic_moi_rescaling use_model_frame use_terrain_paging visualize'),
    **_readers(
        integer,
        'anti_aliasing attach_steps collide_without_contact_bitmask cols detach_steps granularity '
        'image/height image/width island_threads iterations iters layer max_contacts '
        'min_contact_count model_count precon_iters rows samples sampling visibility_flags '
        'visibility_mask'),
    **_readers(
        colour,
        'ambient background color color_end color_start emissive specular light/diffuse '
        'material/diffuse'),
    **_readers(
        several(extended_number, 3),
        'angular_acceleration angular_velocity force linear_acceleration linear_velocity '
        'magnetic_field particle_size pos radii step torque xyz light/direction road/point '
        'model_state/scale particle_emitter/size box/size'),
    **_readers(several(extended_number, 2), 'distortion/center'),
    **_readers(several(integer, 2), 'real_time sim_time wall_time'),
    'camera/horizontal_fov': between(extended_number, 0.001, 6.283186),
    'clip/far': between(extended_number, 0.1, math.inf),
    'clouds/direction': between(extended_number, 0, 3.1456),
    'cutoff_angle': between(extended_number, 0, 3.141592653),
    'env_texture_size': between(integer, 4, 2048),
    'humidity': between(extended_number, 0, 1),
    'mean_size': between(extended_number, 0, 1),
}
"""Readers of texts; an empty one gives a default."""

NEVER_EMPTY = frozenset(
    'animation/filename attenuation/range audio/device audio_source/uri axis/xyz axis2/xyz '
    'battery/voltage blend/fade_dist blend/min_height box/size bullet/split_impulse '
    'bullet/split_impulse_penetration_threshold camera/horizontal_fov capsule/length '
    'capsule/radius clip/far clip/near cone/length cone/radius constraints/cfm '
    'constraints/contact_max_correcting_vel constraints/contact_surface_layer constraints/erp '
    'constraints/split_impulse constraints/split_impulse_penetration_threshold '
    'contact/collision contact/topic custom_function/fun cylinder/length cylinder/radius '
    'dart/bone_attachment dart/damping dart/flesh_mass_fraction dart/stiffness '
    'depth_camera/output distribution/type dynamics/spring_reference dynamics/spring_stiffness '
    'ellipsoid/radii gripper/palm_link heightmap/uri horizontal/max_angle horizontal/min_angle '
    'horizontal/resolution horizontal/samples image/granularity image/height image/scale '
    'image/threshold image/uri image/width inertia/ixx inertia/ixy inertia/ixz inertia/iyy '
    'inertia/iyz inertia/izz intrinsics/cx intrinsics/cy intrinsics/fx intrinsics/fy '
    'intrinsics/s lens/scale_to_hfov lens/type light/direction limit/cfm limit/erp limit/lower '
    'limit/upper logical_camera/aspect_ratio logical_camera/far logical_camera/horizontal_fov '
    'logical_camera/near mesh/uri mimic/multiplier mimic/offset mimic/reference noise/type '
    'orientation_reference_frame/localization physics/max_step_size physics/real_time_factor '
    'physics/real_time_update_rate plane/normal plane/size polyline/height '
    'population/model_count projector/texture range/max range/min road/width save/path '
    'scene/ambient scene/background scene/shadows script/name skin/filename solver/iters '
    'solver/solver_type solver/sor solver/type solver/use_dynamic_moi_rescaling sonar/max '
    'sonar/min sphere/radius spherical_coordinates/elevation spherical_coordinates/heading_deg '
    'spherical_coordinates/latitude_deg spherical_coordinates/longitude_deg '
    'spherical_coordinates/surface_model spot/falloff spot/inner_angle spot/outer_angle '
    'state/iterations submesh/name suspension/cfm suspension/erp texture/diffuse texture/normal '
    'texture/size transceiver/gain transceiver/power vertical/max_angle vertical/min_angle '
    'vertical/samples waypoint/pose waypoint/time world/gravity world/magnetic_field'.split())
"""Elements that may be left out, but not be there without a text."""

NEEDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ('actor', 'animation', 'battery', 'collision', 'collision_state', 'gripper',
         'gui/camera', 'joint_state', 'light_state', 'link', 'link_state', 'model',
         'model_state', 'model_state/frame', 'population', 'projector', 'road', 'visual'),
        ('name',)),
    **dict.fromkeys(
        ('joint', 'light', 'particle_emitter', 'sensor'), ('name', 'type')),
    **dict.fromkeys(('atmosphere', 'noise', 'shader'), ('type',)),
    'joint_state/angle': ('axis',), 'mimic': ('joint',), 'plugin': ('filename',),
    'save': ('enabled',), 'state': ('world_name',), 'trajectory': ('id', 'type'),
    **dict.fromkeys(('camera/noise', 'lidar/noise', 'ray/noise', 'contact/collision'), ())}
"""Attributes that must be there."""

ATTRIBUTES: dict[str, Reader] = {
    'gui@fullscreen': boolean, 'save@enabled': boolean, 'position@degrees': boolean,
    'trajectory@id': integer, 'trajectory@tension': extended_number,
    'angle@axis': integer, 'inertial@auto': boolean, 'pose@degrees': boolean}
"""Readers of attributes, by tag and name."""

CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    'light@type': ('ATTRIBUTE_INVALID', ('point', 'directional', 'spot')),
    'particle_emitter@type': ('ATTRIBUTE_INVALID', ('point', 'box', 'cylinder', 'ellipsoid')),
    'joint@type': ('ATTRIBUTE_INVALID', JOINT_TYPES),  # of an actor
    'atmosphere@type': ('ELEMENT_INVALID', ('adiabatic',))}
"""Attributes with a few values only, and libsdformat's code for others."""


def check_quiet(top: XmlElement, report: Report) -> None:
    """
    Refuse what libsdformat can't read in an element that is passed over.

    :param top: The element.
    :param report: Takes errors.
    """
    stack = [top]
    while stack:
        element = stack.pop()
        _check_attributes(element, report)
        check_not_empty(element, report)
        _check_text(element, report)
        if element.tag != 'plugin':
            stack.extend(child for child in element.children if ':' not in child.tag)


def check_not_empty(element: XmlElement, report: Report) -> None:
    """
    Refuse an element without the text that libsdformat wants to see there.

    :param element: Any element.
    :param report: Takes the error.
    """
    if not element.text and element.kind in NEVER_EMPTY:
        report.error('ELEMENT_INVALID', element.location,
                     f'{element.owner}: <{element.tag}> of <{element.holder.tag}> is empty',
                     implied=UNREADABLE)


def check_needed(element: XmlElement, report: Report) -> None:
    """
    Refuse an element without an attribute that libsdformat needs.

    :param element: Any element.
    :param report: Takes an error for each that is missing or empty.
    """
    for name in NEEDED.get(element.kind, NEEDED.get(element.tag, ())):
        if not element.attributes.get(name):
            is_there = name in element.attributes
            code, problem = ('INVALID', 'is empty') if is_there else ('MISSING', 'is missing')
            report.error(f'ATTRIBUTE_{code}', element.location,
                         f"{element.owner}: attribute '{name}' of <{element.tag}> {problem}",
                         implied=UNREADABLE)


def _check_attributes(element: XmlElement, report: Report) -> None:
    check_needed(element, report)
    for name, text in element.attributes.items():
        key = f'{element.tag}@{name}'
        code, known = CHOICES.get(key, ('', ()))
        if known and text and text not in known:
            report.error(code, element.location,
                         f"{element.owner}: attribute '{name}' of <{element.tag}> is '{text}'"
                         f'{name_hint(text, known)}',
                         implied=BAD_WORLD if _is_in_world(element) else ())
        try:
            if text and key in ATTRIBUTES:
                ATTRIBUTES[key](text)
        except ValueError as error:
            report.error('ATTRIBUTE_INVALID', element.location,
                         f"{element.owner}: attribute '{name}' {error}", implied=UNREADABLE)


def _is_in_world(element: XmlElement) -> bool:
    return element.parent is not None and (
        element.tag == 'world' or _is_in_world(element.parent))


def _check_text(element: XmlElement, report: Report) -> None:
    read = TEXTS.get(element.kind) or TEXTS.get(element.tag)
    try:
        if element.tag == 'pose':
            pose(element.text, element.attributes.get('rotation_format', 'euler_rpy'),
                 element.attributes.get('degrees', '').lower() in ('true', '1'))
        elif read and element.text and not element.children:
            read(element.text)
    except ValueError as error:
        report.error('ELEMENT_INVALID', element.location,
                     f'{element.owner}: <{element.tag}> {error}', implied=UNREADABLE)
