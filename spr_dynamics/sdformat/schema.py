"""
The elements of SDFormat 1.12 in one table: what is read, and what becomes of the rest.

Documentation is generated from this table, so a reason is a phrase that users understand.
"""

from collections.abc import Callable
import math
from typing import Any, NamedTuple

from spr_dynamics.sdformat.values import (
    between, bitmask, boolean, colour, counted, extended_number, frozen_array, non_negative,
    number, one_of, positive, several, strength, unit_vector, vector3, whole)

AXES_OF_TYPE = {
    'revolute': 1, 'continuous': 1, 'prismatic': 1, 'fixed': 0, 'ball': 0, 'screw': 1,
    'universal': 2, 'revolute2': 2, 'gearbox': 2}
JOINT_TYPES = tuple(AXES_OF_TYPE)
SENSOR_TYPES = (
    'air_pressure', 'air_speed', 'altimeter', 'boundingbox_camera', 'boundingbox', 'camera',
    'contact', 'custom', 'depth', 'depth_camera', 'force_torque', 'gps', 'gpu_lidar', 'gpu_ray',
    'imu', 'lidar', 'logical_camera', 'magnetometer', 'multicamera', 'navsat', 'ray', 'rfid',
    'rfidtag', 'rgbd', 'rgbd_camera', 'segmentation', 'segmentation_camera', 'sonar', 'thermal',
    'thermal_camera', 'wide_angle_camera', 'wideanglecamera', 'wireless_receiver',
    'wireless_transmitter')
ADDED_MASS_TERMS = tuple(a + b for i, a in enumerate('xyzpqr') for b in 'xyzpqr'[i:])
REQUIRED = object()


class Leaf(NamedTuple):
    """A text that becomes a value."""

    read: Callable[[str], Any]
    default: Any
    """The value when the text is missing or empty; REQUIRED if that is an error."""


class Branch(NamedTuple):
    """An element with children or attributes of its own, which stand in the same table."""


class Quiet(NamedTuple):
    """Accepted in silence."""

    why: str


class Warned(NamedTuple):
    """Accepted with a warning, unless all that it holds is zero, false or empty."""

    why: str


class Refused(NamedTuple):
    """Not loaded, since the motion would be wrong without it."""

    why: str


FOREIGN = {
    'drake:rotor_inertia': 'the inertia of rotors is not simulated (SDFormat has none)'}
"""What other programs write and is ignored, though it says how joints move."""

BRANCH = Branch()
DRAWN = Quiet('changes what is drawn or heard, not what moves')
ENGINE = Quiet('a setting of another physics engine')
PLUGIN = Quiet('a plugin of another simulator')
MEASURES = Quiet('part of a sensor that is not simulated yet')
MESHES = Quiet('a setting of the inertia of meshes in another simulator')
STATE = Warned('a saved state is not read; the model starts as it is posed')

NAME = Leaf(str, REQUIRED)
TEXT = Leaf(str, '')
TRUE, FALSE = Leaf(boolean, True), Leaf(boolean, False)
ZERO, ONE = Leaf(number, 0.0), Leaf(number, 1.0)
LENGTH = Leaf(positive, 1.0)
FRICTION = Leaf(non_negative, 1.0)
PASSIVE = Leaf(non_negative, 0.0)
ONES = Leaf(several(positive, 3), frozen_array([1.0, 1.0, 1.0]))
ZEROS = Leaf(vector3, frozen_array([0.0, 0.0, 0.0]))
GRAVITY = Leaf(vector3, frozen_array([0.0, 0.0, -9.8]))
PHYSICS_NAME = Leaf(str, 'default_physics')

Entry = Leaf | Branch | Quiet | Warned | Refused
SCHEMA: dict[str, dict[str, Entry]] = {
    'sdf': {
        '@version': NAME, 'model': BRANCH, 'world': BRANCH, 'include': BRANCH,
        'light': DRAWN, 'actor': Warned('actors are not simulated')},
    'world': {
        '@name': NAME, 'model': BRANCH, 'joint': BRANCH, 'frame': BRANCH, 'physics': BRANCH,
        'gravity': GRAVITY, 'include': BRANCH,
        'light': DRAWN, 'scene': DRAWN, 'gui': DRAWN, 'audio': DRAWN, 'road': DRAWN,
        'plugin': PLUGIN, 'magnetic_field': MEASURES, 'spherical_coordinates': BRANCH,
        'atmosphere': Quiet('nothing that is simulated depends on the air'),
        'wind': Quiet('blows on links with <enable_wind> only, and those are refused'),
        'actor': Warned('actors are not simulated'), 'state': STATE,
        'population': Refused('<population> is not supported; write the models one by one')},
    'spherical_coordinates': {
        'heading_deg': Warned('IMUs take x of the world for east, y for north'),
        'surface_model': MEASURES, 'surface_axis_equatorial': MEASURES,
        'surface_axis_polar': MEASURES, 'world_frame_orientation': MEASURES,
        'latitude_deg': MEASURES, 'longitude_deg': MEASURES, 'elevation': MEASURES},
    'physics': {
        '@name': PHYSICS_NAME, '@default': FALSE, '@type': NAME,
        'max_step_size': Leaf(positive, 0.001), 'real_time_factor': Leaf(non_negative, 1.0),
        'real_time_update_rate': Quiet('follows from max_step_size and real_time_factor'),
        'max_contacts': ENGINE, 'dart': ENGINE, 'simbody': ENGINE, 'bullet': ENGINE,
        'ode': ENGINE},
    'model': {
        '@name': NAME, '@canonical_link': TEXT, '@placement_frame': TEXT,
        '@namespace': Quiet('a name for topics'), 'static': FALSE, 'self_collide': FALSE,
        'enable_wind': FALSE, 'pose': BRANCH, 'link': BRANCH, 'joint': BRANCH, 'frame': BRANCH,
        'model': BRANCH, 'include': BRANCH, 'plugin': PLUGIN, 'model_state': STATE,
        'allow_auto_disable': ENGINE,
        'gripper': Warned('grasping by attachment is not simulated')},
    'include': {
        '@merge': FALSE, 'uri': TEXT, 'name': TEXT, 'pose': BRANCH, 'static': FALSE,
        'placement_frame': TEXT, 'namespace': TEXT, 'plugin': PLUGIN},
    'pose': {
        '@relative_to': TEXT, '@rotation_format': Leaf(str, 'euler_rpy'), '@degrees': FALSE},
    'inertial/pose': {
        '@rotation_format': Leaf(str, 'euler_rpy'), '@degrees': FALSE,
        '@relative_to': Warned('the pose of an inertial is always relative to its link')},
    'frame': {'@name': NAME, '@attached_to': TEXT, 'pose': BRANCH},
    'link': {
        '@name': NAME, 'gravity': TRUE, 'enable_wind': FALSE, 'self_collide': FALSE,
        'kinematic': FALSE, 'pose': BRANCH, 'inertial': BRANCH, 'collision': BRANCH,
        'visual': BRANCH, 'sensor': BRANCH, 'must_be_base_link': ENGINE,
        'velocity_decay': Warned('velocity decay is not simulated (nor is it in Gazebo)'),
        'projector': DRAWN, 'audio_sink': DRAWN, 'audio_source': DRAWN, 'light': DRAWN,
        'particle_emitter': DRAWN,
        'battery': Quiet('a source of power for plugins')},
    'inertial': {
        '@auto': FALSE, 'mass': ONE, 'pose': BRANCH, 'inertia': BRANCH,
        'density': Leaf(number, None), 'auto_inertia_params': MESHES,
        'fluid_added_mass': BRANCH},
    'fluid_added_mass': dict.fromkeys(ADDED_MASS_TERMS, ZERO),
    'inertia': {
        'ixx': ONE, 'iyy': ONE, 'izz': ONE, 'ixy': ZERO, 'ixz': ZERO, 'iyz': ZERO},
    'collision': {
        '@name': NAME, 'pose': BRANCH, 'geometry': BRANCH, 'surface': BRANCH,
        'laser_retro': MEASURES, 'max_contacts': ENGINE, 'density': Leaf(number, None),
        'auto_inertia_params': MESHES},
    'visual': {
        '@name': NAME, 'pose': BRANCH, 'geometry': BRANCH, 'material': BRANCH,
        'cast_shadows': DRAWN, 'laser_retro': MEASURES, 'transparency': DRAWN,
        'visibility_flags': DRAWN, 'meta': DRAWN, 'plugin': PLUGIN},
    'material': {
        'diffuse': Leaf(colour, None), 'ambient': DRAWN, 'specular': DRAWN, 'emissive': DRAWN,
        'script': DRAWN, 'shader': DRAWN, 'lighting': DRAWN, 'pbr': DRAWN, 'shininess': DRAWN,
        'render_order': DRAWN, 'double_sided': DRAWN},
    'geometry': {
        'box': BRANCH, 'sphere': BRANCH, 'cylinder': BRANCH, 'capsule': BRANCH,
        'ellipsoid': BRANCH, 'cone': BRANCH, 'plane': BRANCH, 'mesh': BRANCH,
        'heightmap': BRANCH, 'polyline': BRANCH, 'empty': BRANCH,
        'image': Refused('<image> shapes are not supported; use a mesh')},
    'box': {'size': ONES},
    'sphere': {'radius': LENGTH},
    'cylinder': {'radius': LENGTH, 'length': LENGTH},
    'capsule': {'radius': Leaf(positive, 0.5), 'length': LENGTH},
    'ellipsoid': {'radii': ONES},
    'cone': {'radius': LENGTH, 'length': LENGTH},
    'plane': {
        'normal': BRANCH, 'size': Leaf(several(positive, 2), frozen_array([1.0, 1.0]))},
    'plane/normal': {},
    'mesh': {
        '@optimization': TEXT, 'uri': TEXT,
        'scale': Leaf(vector3, frozen_array([1.0, 1.0, 1.0])), 'submesh': BRANCH,
        'convex_decomposition': BRANCH},
    'convex_decomposition': {
        'max_convex_hulls': Leaf(counted, 16), 'voxel_resolution': Leaf(counted, 200000)},
    'submesh': {'name': TEXT, 'center': FALSE},
    'heightmap': {
        'uri': TEXT, 'size': ONES, 'pos': ZEROS, 'texture': DRAWN, 'blend': DRAWN,
        'use_terrain_paging': DRAWN, 'sampling': DRAWN},
    'polyline': {'point': BRANCH, 'height': LENGTH},
    'polyline/point': {},
    'empty': {},
    'surface': {
        'bounce': BRANCH, 'friction': BRANCH, 'contact': BRANCH, 'soft_contact': ENGINE},
    'bounce': {
        'restitution_coefficient': Leaf(between(number, 0, 1), 0.0),
        'threshold': Leaf(non_negative, 100000.0)},
    'friction': {
        'ode': BRANCH, 'bullet': BRANCH, 'torsional': BRANCH},
    'friction/ode': {
        'mu': FRICTION, 'mu2': FRICTION, 'fdir1': ZEROS, 'slip1': PASSIVE, 'slip2': PASSIVE},
    'friction/bullet': {
        'friction': FRICTION, 'friction2': FRICTION, 'fdir1': ZEROS,
        'rolling_friction': Leaf(non_negative, None)},
    'torsional': {
        'coefficient': FRICTION, 'use_patch_radius': TRUE, 'patch_radius': PASSIVE,
        'surface_radius': PASSIVE, 'ode': BRANCH},
    'torsional/ode': {'slip': PASSIVE},
    'surface/contact': {
        'ode': BRANCH, 'bullet': ENGINE, 'collide_bitmask': Leaf(bitmask, 255),
        'category_bitmask': Leaf(bitmask, None), 'poissons_ratio': ENGINE,
        'elastic_modulus': ENGINE,
        'collide_without_contact': Warned('contacts without a force are not simulated'),
        'collide_without_contact_bitmask': ENGINE},
    'contact/ode': {
        'kp': Leaf(positive, 1e12), 'kd': Leaf(non_negative, 1.0),
        'max_vel': Leaf(between(extended_number, 0, math.inf), None),
        'min_depth': Leaf(non_negative, 0.0), 'soft_cfm': ENGINE, 'soft_erp': ENGINE},
    'sensor': {
        '@name': NAME, '@type': NAME, 'pose': BRANCH, 'update_rate': Leaf(non_negative, 0.0),
        'topic': TEXT, 'frame_id': TEXT, 'always_on': FALSE, 'visualize': FALSE,
        'enable_metrics': FALSE, 'contact': BRANCH, 'force_torque': BRANCH, 'imu': BRANCH,
        'plugin': PLUGIN,
        'air_pressure': MEASURES, 'air_speed': MEASURES, 'altimeter': MEASURES,
        'camera': MEASURES, 'gps': MEASURES,
        'lidar': MEASURES, 'logical_camera': MEASURES, 'magnetometer': MEASURES,
        'navsat': MEASURES, 'ray': MEASURES, 'rfid': MEASURES, 'rfidtag': MEASURES,
        'sonar': MEASURES, 'transceiver': MEASURES},
    'sensor/contact': {'collision': BRANCH, 'topic': TEXT},
    'contact/collision': {},
    'force_torque': {
        'frame': Leaf(one_of('child', 'parent', 'sensor'), 'child'),
        'measure_direction': Leaf(
            one_of('child_to_parent', 'parent_to_child'), 'child_to_parent'),
        'force': BRANCH, 'torque': BRANCH},
    'imu': {
        'angular_velocity': BRANCH, 'linear_acceleration': BRANCH, 'enable_orientation': TRUE,
        'orientation_reference_frame': BRANCH},
    'orientation_reference_frame': {
        'localization': Leaf(str, 'CUSTOM'), 'custom_rpy': BRANCH, 'grav_dir_x': BRANCH},
    'custom_rpy': {'@parent_frame': TEXT},
    'grav_dir_x': {'@parent_frame': TEXT},
    'noise': {
        '@type': NAME, 'mean': ZERO, 'stddev': PASSIVE, 'bias_mean': ZERO, 'bias_stddev': PASSIVE,
        'dynamic_bias_stddev': PASSIVE, 'dynamic_bias_correlation_time': PASSIVE,
        'precision': PASSIVE},
    'joint': {
        '@name': NAME, '@type': NAME, 'parent': NAME, 'child': NAME, 'pose': BRANCH,
        'axis': BRANCH, 'axis2': BRANCH, 'screw_thread_pitch': Leaf(number, None),
        'thread_pitch': Leaf(number, None), 'gearbox_ratio': ONE,
        'gearbox_reference_body': TEXT, 'sensor': BRANCH, 'physics': ENGINE},
    'axis': {
        'xyz': BRANCH, 'limit': BRANCH, 'dynamics': BRANCH, 'mimic': BRANCH,
        'initial_position': Warned('removed from SDFormat in 1.9; the joint starts at zero')},
    'xyz': {'@expressed_in': TEXT},
    'limit': {
        'lower': Leaf(extended_number, -math.inf), 'upper': Leaf(extended_number, math.inf),
        'effort': Leaf(strength, math.inf), 'velocity': Leaf(strength, math.inf),
        'stiffness': Leaf(number, 1e8), 'dissipation': Leaf(number, 1.0)},
    'dynamics': {
        'damping': PASSIVE, 'friction': PASSIVE, 'spring_reference': ZERO,
        'spring_stiffness': PASSIVE},
    'mimic': {
        '@joint': NAME, '@axis': Leaf(str, 'axis'), 'multiplier': ONE, 'offset': ZERO,
        'reference': ZERO},
}
SCHEMA['axis2'] = SCHEMA['axis']
for measured in ('force', 'torque', 'angular_velocity', 'linear_acceleration'):
    SCHEMA[measured] = {'x': BRANCH, 'y': BRANCH, 'z': BRANCH}
    SCHEMA |= {f'{measured}/{direction}': {'noise': BRANCH} for direction in 'xyz'}

SPR_PREFIX = 'spr:'
PATCH = {
    'patch_min': several(number, 2),
    'patch_max': several(number, 2),
    'patch_tolerance': between(extended_number, 0, math.inf),
    'has_force': several(boolean, 3),
    'force_resolution': several(non_negative, 3),
    'force_variance': several(non_negative, 3),
    'force_saturation': several(between(extended_number, 0, math.inf), 3),
    'force_sensitivity': non_negative,
    'release_sensitivity': between(extended_number, 0, math.inf),
    'falloff_coefficient': non_negative,
    'falloff_mode': one_of('klampt', 'edge'),
    'contact_rule': one_of('normal_force', 'any_contact'),
    'measure': one_of('sample', 'mean', 'peak'),
    'noise_when_idle': boolean,
    'taxels': several(whole, 2),
    'taxel_spread': non_negative,
    'enabled': boolean,
}
"""Readers of the ``spr:`` elements of a contact sensor: the settings of a tactile patch."""

BALL_LIMITS = {
    'cone_limit': between(number, 0, math.pi),
    'cone_centre': unit_vector,
    'twist_limit': several(number, 2),
}
"""Readers of the ``spr:`` elements of a ball joint: how far it bends and twists [rad]."""


def children_of(kind: str, tag: str) -> dict[str, Entry]:
    """
    Look up what an element may hold.

    :param kind: ``parent/tag``, which matters where a tag means two things.
    :param tag: Its own tag.
    :returns: What is known of its children and attributes (with ``@``).
    """
    return SCHEMA[kind] if kind in SCHEMA else SCHEMA[tag]
