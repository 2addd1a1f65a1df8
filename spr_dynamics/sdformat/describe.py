"""
What a file says as plain values: the JSON of ``spr-dynamics check``.

Keys and forms are those in which libsdformat's answers are kept for our tests. Positions and
directions are lists, rotations quaternions with w first, and what JSON has no number for is a
text: ``"inf"``, ``"-inf"``, ``"nan"``. A pose that leads nowhere is ``{"error": ...}``, and a
joint or frame that hangs on nothing has null for a link.
"""

from collections.abc import Iterable
import math
from typing import Any

import numpy as np

from spr_dynamics.sdformat.diagnostics import Diagnostic, in_order, Report
from spr_dynamics.sdformat.elements import (
    Axis, Box, Capsule, Collision, Cone, ContactSensor, Cylinder, Ellipsoid, ForceTorqueSensor,
    Frame, Geometry, Joint, Link, Mesh, Model, Plane, Root, Sensor, Sphere, World)
from spr_dynamics.sdformat.frames import FrameGraph, resolved, Vertex
from spr_dynamics.sdformat.poses import Pose

FIELDS_OF_SHAPE = {
    Box: ('size',), Sphere: ('radius',), Cylinder: ('radius', 'length'),
    Capsule: ('radius', 'length'), Ellipsoid: ('radii',), Cone: ('radius', 'length'),
    Plane: ('normal', 'size'), Mesh: ('uri', 'scale', 'submesh')}
FRICTION = ('mu', 'mu2', 'slip1', 'slip2', 'fdir1')
DYNAMICS = ('damping', 'friction', 'spring_reference', 'spring_stiffness')
LIMITS = ('lower', 'upper', 'effort', 'velocity', 'stiffness', 'dissipation')

# older names, of which libsdformat gives the newer
SENSOR_TYPES = {
    'depth': 'depth_camera', 'rgbd': 'rgbd_camera', 'thermal': 'thermal_camera',
    'segmentation': 'segmentation_camera', 'boundingbox': 'boundingbox_camera',
    'wideanglecamera': 'wide_angle_camera', 'gps': 'navsat', 'gpu_ray': 'gpu_lidar',
    'ray': 'lidar'}

# the numbers that libsdformat has for these words
FORCE_TORQUE_FRAMES = {'parent': 1, 'child': 2, 'sensor': 3}
MEASURE_DIRECTIONS = {'parent_to_child': 1, 'child_to_parent': 2}
INVALID = 0


def describe(root: Root, report: Report) -> dict[str, Any]:
    """
    Put all that a file says, and all that is wrong with it, into plain values.

    :param root: As much as could be read.
    :param report: Its errors and warnings.
    :returns: Dicts, lists, texts and finite numbers; without models and worlds if something in
        the file can't be read. ``errors`` are those that libsdformat gives too; where it gives
        up reading, ``unreached`` holds the others.
    """
    reached, unreached = report.by_reach()
    errors = _describe_errors(reached)
    described: dict[str, Any] = {'errors': errors, 'worlds': []}
    if unreached:
        described['unreached'] = _describe_errors(unreached)
    if all(error['code'] != 'FILE_READ' for error in errors):
        writer = _Writer(root, report)
        with np.errstate(all='ignore'):  # poses may add up to infinity
            if root.models:
                described['model'] = writer.model(root.models[0])
            described['worlds'] = [writer.world(world) for world in root.worlds]
    return described | {'warnings': [str(warning) for warning in in_order(report.warnings)]}


def _describe_errors(errors: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [_describe_error(error, code) for error in in_order(errors)
            for code in (error.code, *error.implied)]


def _describe_error(error: Diagnostic, code: str) -> dict[str, Any]:
    location = error.location
    return {'code': code, 'message': error.message, 'file': location.file,
            'line': location.line, 'path': location.path}


class _Writer:
    """Describes elements, with their names and poses resolved."""

    def __init__(self, root: Root, report: Report):
        self._graph = FrameGraph(root, Report())
        self._invalid = [error.location for error in report.errors
                         if error.code == 'LINK_INERTIA_INVALID']

    def world(self, world: World) -> dict[str, Any]:
        return {
            'name': world.name,
            'gravity': _plain(world.gravity),
            'max_step_size': world.physics.max_step_size,
            'physics_type': world.physics.type,
            'models': [self.model(model) for model in world.models],
            'joints': [self.joint(joint) for joint in world.joints],
            'frames': [self.frame(frame) for frame in world.frames]}

    def model(self, model: Model) -> dict[str, Any]:
        vertex = self._graph[model]
        link = vertex.moves_with
        has_link = link is not None and link is not self._graph.root
        return {
            'name': model.name,
            'static': model.static,
            'self_collide': model.self_collide,
            'canonical_link': str(model.canonical_link) or (
                _name_in(vertex, resolved(link)) if has_link else ''),
            'placement_frame': str(model.placement_frame),
            'raw_pose': _plain_pose(model.pose),
            'relative_to': str(model.relative_to),
            'pose_in_parent': self._pose(vertex, vertex.scope),
            'links': [self.link(link) for link in model.links],
            'joints': [self.joint(joint) for joint in model.joints],
            'frames': [self.frame(frame) for frame in model.frames],
            'models': [self.model(sub) for sub in model.models]}

    def link(self, link: Link) -> dict[str, Any]:
        vertex = self._graph[link]
        inertia, added = link.inertial.inertia, link.inertial.fluid_added_mass
        described = {
            'name': link.name,
            'relative_to': str(link.relative_to),
            'pose_in_model': self._pose(vertex, vertex.scope),
            'mass': _plain(link.inertial.mass),
            'inertial_pose': _plain_pose(link.inertial.pose),
            'ixx_iyy_izz': _plain(np.diag(inertia)),
            'ixy_ixz_iyz': _plain(inertia[[0, 0, 1], [1, 2, 2]]),
            'auto': link.inertial.is_auto,
            'gravity': link.gravity,
            'kinematic': link.kinematic,
            'valid': not any(
                place.file == link.location.file and place.path.startswith(link.location.path)
                for place in self._invalid)}
        if added is not None:
            described['fluid_added_mass'] = _plain(added.ravel())
        return described | {
            'collisions': [self.collision(part, vertex) for part in link.collisions],
            'sensors': [self.sensor(part, vertex) for part in link.sensors]}

    def collision(self, collision: Collision, link: Vertex) -> dict[str, Any]:
        surface = collision.surface
        described: dict[str, Any] = {
            'name': collision.name,
            'pose_in_link': self._part_pose(collision, link),
            'geometry': _describe_shape(collision.geometry)}
        described |= {name: _plain(getattr(surface, name)) for name in FRICTION}
        described['collide_bitmask'] = surface.collide_bitmask
        if surface.category_bitmask is not None:
            described['category_bitmask'] = surface.category_bitmask
        return described

    def sensor(self, sensor: Sensor, holder: Vertex) -> dict[str, Any]:
        described: dict[str, Any] = {
            'name': sensor.name,
            'type': SENSOR_TYPES.get(sensor.type, str(sensor.type)),
            'update_rate': _plain(sensor.update_rate),
            'topic': str(sensor.topic),
            'frame_id': str(sensor.frame_id),
            'pose': self._part_pose(sensor, holder)}
        if isinstance(sensor, ContactSensor) and sensor.has_contact:
            described['contact'] = {
                'collision': [str(name) for name in sensor.collisions] or ['__default__'],
                'topic': str(sensor.contact_topic) or '__default_topic__'}
        elif isinstance(sensor, ForceTorqueSensor):
            described['ft_frame'] = FORCE_TORQUE_FRAMES.get(sensor.frame, INVALID)
            described['ft_direction'] = MEASURE_DIRECTIONS.get(sensor.measure_direction, INVALID)
        return described

    def joint(self, joint: Joint) -> dict[str, Any]:
        vertex = self._graph[joint]
        described = {
            'name': joint.name,
            'type': joint.type,
            'parent': str(joint.parent),
            'child': str(joint.child),
            'parent_link': self._body(self._graph.joint_end(vertex, 'parent'), vertex.scope),
            'child_link': self._body(vertex.moves_with, vertex.scope),
            'raw_pose': _plain_pose(joint.pose),
            'relative_to': str(joint.relative_to),
            'pose_in_scope': self._pose(vertex, vertex.scope),
            'pose_in_child': self._pose(vertex, vertex.moves_with),
            'screw_thread_pitch': _plain(joint.screw_thread_pitch)}
        for tag, axis in (('axis', joint.axis), ('axis2', joint.axis2)):
            if axis is not None:
                described[tag] = self.axis(axis, vertex)
        return described | {'sensors': [self.sensor(part, vertex) for part in joint.sensors]}

    def axis(self, axis: Axis, joint: Vertex) -> dict[str, Any]:
        frame = self._graph.find(axis.expressed_in, joint.scope) if axis.expressed_in else joint
        described = {
            'xyz': _plain(axis.xyz),
            'expressed_in': str(axis.expressed_in),
            'xyz_in_joint': self._direction(axis.xyz, frame, joint),
            'xyz_in_scope': self._direction(axis.xyz, frame, joint.scope)}
        described |= {name: _plain(getattr(axis, name)) for name in DYNAMICS}
        described |= {name: _plain(getattr(axis.limit, name)) for name in LIMITS}
        if axis.mimic is not None:
            described['mimic'] = {name: _plain(getattr(axis.mimic, name)) for name in (
                'joint', 'axis', 'multiplier', 'offset', 'reference')}
        return described

    def frame(self, frame: Frame) -> dict[str, Any]:
        vertex = self._graph[frame]
        return {
            'name': frame.name,
            'attached_to': str(frame.attached_to),
            'relative_to': str(frame.relative_to),
            'body': self._body(vertex, vertex.scope),
            'pose_in_scope': self._pose(vertex, vertex.scope)}

    def _body(self, vertex: Vertex | None, scope: Vertex) -> str | None:
        """Name the link, static model or world that a frame moves with."""
        passed: set[Vertex] = set()
        while vertex is not None and vertex not in passed:
            passed.add(vertex)
            if vertex is self._graph.root or isinstance(vertex.element, World):
                return 'world'
            if isinstance(vertex.element, Link):
                return _name_in(scope, vertex)
            if isinstance(vertex.element, Model) and vertex.element.static:
                prefix = '' if vertex is scope else _name_in(scope, vertex) + '::'
                return prefix + '__model__'
            vertex = vertex.moves_with
        return None

    def _pose(self, vertex: Vertex, base: Vertex | None) -> dict[str, Any]:
        return self._resolve(Pose.identity(), vertex, base)

    def _part_pose(self, part: Collision | Sensor, holder: Vertex) -> dict[str, Any]:
        return self._resolve(part.pose, self._graph.part_base(part, holder), holder)

    def _resolve(self, T: Pose, vertex: Vertex | None, base: Vertex | None) -> dict[str, Any]:
        """Express a pose that is given in one frame in another."""
        for frame in (vertex, base):
            if not self._is_placed(frame):
                return {'error': f"the pose of {frame or 'an unknown frame'} leads nowhere"}
        if vertex is base:
            return _plain_pose(T)
        T_W = self._graph.T_W
        return _plain_pose(T_W(resolved(base)).inverse() @ T_W(resolved(vertex)) @ T)

    def _direction(self, xyz: np.ndarray, vertex: Vertex | None, base: Vertex) -> list | None:
        if not self._is_placed(vertex) or not self._is_placed(base):
            return None
        T_W = self._graph.T_W
        return _plain(T_W(base).R.T @ (T_W(resolved(vertex)).R @ xyz))

    def _is_placed(self, vertex: Vertex | None) -> bool:
        """Return whether the frames that a pose is given in lead to the world."""
        return _leads_to(self._graph.root, vertex)


def _describe_shape(shape: Geometry) -> dict[str, Any]:
    names = FIELDS_OF_SHAPE.get(type(shape), ())
    return {'type': type(shape).__name__.lower()} | {
        name: _plain(getattr(shape, name)) for name in names}


def _leads_to(end: Vertex, vertex: Vertex | None) -> bool:
    """Follow the frames that poses are given in, and those inside models that they place."""
    passed: set[Vertex] = set()
    while vertex is not None and vertex not in passed:
        if vertex is end:
            return True
        if vertex.placement is not None and not _leads_to(vertex, vertex.placement):
            return False
        passed.add(vertex)
        vertex = vertex.posed_in
    return False


def _name_in(scope: Vertex, vertex: Vertex) -> str:
    names = []
    while vertex is not scope and vertex.scope is not None:
        names.append(vertex.element.name)
        vertex = vertex.scope
    return '::'.join(reversed(names))


def _plain_pose(T: Pose) -> dict[str, list]:
    return {'xyz': _plain(T.p), 'quat_wxyz': _plain(T.quat_wxyz())}


def _plain(value: Any) -> Any:
    """Make Python's own types of arrays, and texts of what is not finite."""
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value.tolist()]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return str(value) if isinstance(value, str) else value
