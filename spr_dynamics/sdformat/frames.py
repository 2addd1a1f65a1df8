"""
Who hangs on whom: names to frames, frames to poses, frames to links.

Two graphs share their vertices. In *relative_to*, each frame names the frame that its pose is
given in; in *attached_to*, each frame names the frame that it moves with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Location, Report
from spr_dynamics.sdformat.elements import (
    Frame, Joint, Link, Model, Reference, Root, World)
from spr_dynamics.sdformat.poses import Pose

# of two that share a name, libsdformat finds the one whose kind comes first
IN_MODEL, IN_WORLD = (Link, Joint, Frame, Model), (Model, Joint, Frame)

ANY = '*'  # no name has it
UNNAMED = '__default__'  # what libsdformat calls what a ball joint does not name
ROOT_NAME = '__root__'  # what libsdformat calls that in which worlds stand; never to be named

# the two graphs as libsdformat builds them have an error of their own for a name that is not there
ATTACHED_TO_GRAPH, RELATIVE_TO_GRAPH = (
    'FRAME_ATTACHED_TO_GRAPH_ERROR', 'POSE_RELATIVE_TO_GRAPH_ERROR')
ATTACHED_CYCLE, POSE_CYCLE = 'FRAME_ATTACHED_TO_CYCLE', 'POSE_RELATIVE_TO_CYCLE'
BAD_WORLD = 'ELEMENT_INVALID'


@dataclass(eq=False)
class Vertex:
    """A frame: of a link, joint, model, world, or an element ``<frame>``."""

    element: Any
    scope: 'Vertex'
    """The model or world that it stands in."""
    named: dict[str, 'Vertex'] = field(default_factory=dict)
    """What stands in it, if it is a model or world."""
    posed_in: 'Vertex | None' = None
    moves_with: 'Vertex | None' = None
    placement: 'Vertex | None' = None
    """The frame inside a model that the model's pose is about."""

    @property
    def kind(self) -> str:
        """The tag, as a message says it."""
        return type(self.element).__name__.lower()

    def __str__(self) -> str:
        """Return for example ``link 'arm'``."""
        return f"{self.kind} '{self.element.name}'"


class FrameGraph:
    """
    All frames of a file, with names and circles checked.

    :param root: What the file says.
    :param report: Takes an error for each name that leads nowhere and each circle.
    :param lost: By the location of a model or world, the names that includes which failed would
        have brought into it; ANY stands for all names.
    """

    def __init__(self, root: Root, report: Report,
                 lost: Mapping[Location, frozenset[str]] = MappingProxyType({})):
        self._report = report
        self._lost = lost
        self.blamed = Report()
        """Errors that those includes explain."""
        self._vertices: list[Vertex] = []
        self._vertex_of: dict[object, Vertex] = {}
        self.root = Vertex(root, None)  # type: ignore[arg-type]  # a file stands in nothing
        tops: tuple[Any, ...] = (*root.worlds, *root.models)
        for child in tops:
            self.root.named.setdefault(child.name, self._add(child, self.root))
        before = len(report.errors)
        for vertex in self._vertices:
            self._connect(vertex)
        self._T_W: dict[Vertex, Pose] = {self.root: Pose.identity()}
        self._placed: dict[Vertex, Pose] = {}
        self._check_circles('relative_to', POSE_CYCLE, lambda v: v.posed_in)
        self._check_circles('attached_to', ATTACHED_CYCLE, lambda v: v.moves_with)
        if root.worlds:
            report.imply(BAD_WORLD, since=before)
            self.blamed.imply(BAD_WORLD, since=0)
        self._check_clashes()
        has_circles = any(error.code.endswith('_CYCLE') for error in report.errors)
        for vertex in self._vertices:
            if isinstance(vertex.element, Link):
                self._check_parts(vertex, _parts(vertex.element))
            elif isinstance(vertex.element, Joint):
                self._check_joint(vertex, has_circles)

    def __getitem__(self, element: object) -> Vertex:
        """
        Return the frame of an element.

        :param element: A link, joint, frame, model or world of this file.
        :returns: Its vertex.
        """
        return self._vertex_of[element]

    def each(self, kind: type) -> list[Vertex]:
        """
        List the frames of all elements of a kind.

        :param kind: The class of the elements.
        :returns: Their vertices, in the order in which they are written.
        """
        return [vertex for vertex in self._vertices if isinstance(vertex.element, kind)]

    def T_W(self, vertex: Vertex) -> Pose:
        """
        Return the pose of a frame in the world.

        :param vertex: The frame.
        :returns: T_WF.
        """
        chain = []
        while vertex not in self._T_W:
            chain.append(vertex)
            vertex = resolved(vertex.posed_in)
        T = self._T_W[vertex]
        for vertex in reversed(chain):
            T = self._T_W[vertex] = T @ self._T_posed(vertex)
        return T

    def find(self, name: str, scope: Vertex) -> Vertex | None:
        """
        Look a name up in a model or world, or in the models inside it.

        :param name: ``link``, ``sub::link``, ``__model__`` or a like.
        :param scope: The model or world.
        :returns: The frame, or None if there is none of that name.
        """
        if name in scope.named:
            return scope.named[name]
        if name == ('__model__' if isinstance(scope.element, Model) else 'world'):
            return scope
        outer, delimiter, inner = name.partition('::')
        while delimiter:
            sub = scope.named.get(outer)
            if sub is not None and isinstance(sub.element, Model):
                return self.find(inner, sub)
            more, delimiter, inner = inner.partition('::')
            outer = f'{outer}::{more}'
        return None

    def report_of(self, name: str, scope: Vertex) -> Report:
        """
        Choose where to say that a name leads nowhere.

        :param name: The name.
        :param scope: The model or world in which it was looked up.
        :returns: The report, or the one of blamed errors if an include is missing there.
        """
        outer, _, inner = name.partition('::')
        lost = self._lost.get(scope.element.location, frozenset())
        if outer in lost or ANY in lost:
            return self.blamed
        sub = scope.named.get(outer)
        is_scoped = inner and sub is not None and isinstance(sub.element, Model)
        return self.report_of(inner, resolved(sub)) if is_scoped else self._report

    def joint_end(self, joint: Vertex, end: str) -> Vertex | None:
        """
        Return the frame that a joint names as its parent or child.

        :param joint: The joint.
        :param end: ``parent`` or ``child``.
        :returns: The frame; None, and an error in the report, if there is none of that name.
        """
        name = getattr(joint.element, end)
        if name == 'world' and end == 'parent':
            return self.root
        # libsdformat looks at joints again, but not in models that are inside others
        is_outer = joint.scope.scope in (None, self.root) or isinstance(
            joint.scope.scope.element, World)
        implied: tuple[str, ...] = ('FRAME_ATTACHED_TO_INVALID',) if is_outer else ()
        if end == 'child':
            implied += (ATTACHED_TO_GRAPH,)
            if not joint.element.relative_to:
                implied += ('POSE_RELATIVE_TO_INVALID', RELATIVE_TO_GRAPH)
        return self._named(
            name, f'<{end}>', f'JOINT_{end.upper()}_LINK_INVALID', joint, None, implied=implied)

    def part_base(self, part: Any, holder: Vertex) -> Vertex | None:
        """
        Return the frame that the pose of a collision, visual or sensor is given in.

        :param part: The collision, visual or sensor.
        :param holder: Its link or joint, which is the default.
        :returns: The frame, or None if there is none of that name.
        """
        return self.find(part.relative_to, holder.scope) if part.relative_to else holder

    def T_in_holder(self, part: Any, holder: Vertex) -> Pose:
        """
        Return the pose of a collision, visual or sensor in its link or joint.

        :param part: The collision, visual or sensor.
        :param holder: Its link or joint.
        :returns: T_HP.
        """
        if not part.relative_to:
            return part.pose
        base = resolved(self.part_base(part, holder))
        return self.T_W(holder).inverse() @ self.T_W(base) @ part.pose

    def body(self, vertex: Vertex) -> Vertex:
        """
        Follow attached_to to its end.

        :param vertex: A frame.
        :returns: The link or the world that it moves with.
        """
        while vertex.moves_with is not None:
            vertex = vertex.moves_with
        return vertex

    def _add(self, element, scope: Vertex) -> Vertex:
        vertex = Vertex(element, scope)
        self._vertices.append(vertex)
        self._vertex_of[element] = vertex
        children = [self._add(child, vertex) for child in getattr(element, 'children', ())]
        order = IN_WORLD if isinstance(element, World) else IN_MODEL
        for child in sorted(children, key=lambda child: order.index(type(child.element))):
            vertex.named.setdefault(child.element.name, child)
        return vertex

    def _connect(self, vertex: Vertex) -> None:
        element, scope = vertex.element, vertex.scope
        if isinstance(element, World):
            vertex.posed_in = self.root
            return
        default: Vertex | None = scope
        if isinstance(element, Frame):
            follows = () if element.relative_to else (RELATIVE_TO_GRAPH,)
            vertex.moves_with = default = self._named(
                element.attached_to, 'attached_to', 'FRAME_ATTACHED_TO_INVALID', vertex, scope,
                implied=(ATTACHED_TO_GRAPH, *follows))
        elif isinstance(element, Joint):
            vertex.moves_with = default = self.joint_end(vertex, 'child')
        elif isinstance(element, Model):
            vertex.moves_with = self._canonical_link(vertex)
            if element.placement_frame:
                vertex.placement = self._named(
                    element.placement_frame, 'placement_frame', 'POSE_RELATIVE_TO_INVALID',
                    vertex, None, inside=vertex)
        vertex.posed_in = default if scope is self.root else self._named(
            element.relative_to, 'relative_to', 'POSE_RELATIVE_TO_INVALID', vertex, default,
            implied=(RELATIVE_TO_GRAPH,))

    def _named(self, name: Reference, what: str, code: str, vertex: Vertex,
               default: Vertex | None, *, inside: Vertex | None = None,
               implied: tuple[str, ...] = ()) -> Vertex | None:
        """Find a frame by name; an empty name means the default."""
        if not name:
            return default
        scope = inside or vertex.scope
        found = self.find(name, scope)
        if found is None:
            if name == ROOT_NAME and what != 'expressed_in':
                implied += (code, BAD_WORLD) if _in_world(vertex) else (code,)
                code = 'RESERVED_NAME' if what.startswith('<') else 'ATTRIBUTE_INVALID'
            problem = 'is missing' if name == UNNAMED else (
                f"'{name}' is not in {scope}{name_hint(name, scope.named)}")
            self.report_of(name, scope).error(
                code, name.location, f'{vertex}: {what} {problem}', implied=implied)
        return found

    def _T_posed(self, vertex: Vertex) -> Pose:
        """Return the pose of a frame in the frame that it is given in."""
        if vertex.placement is None:
            return getattr(vertex.element, 'pose', None) or Pose.identity()
        if vertex not in self._placed:  # kept, since models placed by one another nest
            T_MP = Pose.identity()
            frame = vertex.placement
            while frame is not vertex:
                T_MP = self._T_posed(frame) @ T_MP
                frame = resolved(frame.posed_in)
            self._placed[vertex] = vertex.element.pose @ T_MP.inverse()
        return self._placed[vertex]

    def _canonical_link(self, vertex: Vertex) -> Vertex | None:
        """Return what a model's frame moves with: a link, mostly; the world for an empty one."""
        element, scope = vertex.element, vertex.scope
        if not (element.links or element.models or element.static):
            is_whole = scope is self.root or (
                isinstance(scope.element, Model) and self._first_link(scope) is None)
            report = self.blamed if element.location in self._lost else self._report
            report.error(
                'MODEL_WITHOUT_LINK', element.location,
                f'{vertex}: a model needs at least one <link>, unless it is static',
                implied=(ATTACHED_TO_GRAPH,) if is_whole else ())
        name = element.canonical_link
        if name:
            found = self.find(name, vertex)
            if found is None and element.static:  # it moves with the world, whatever its link
                return self.root
            if found is None:
                links = [link.name for link in element.links]
                reserved = ('ATTRIBUTE_INVALID',) if name == ROOT_NAME else ()
                self.report_of(name, vertex).error(
                    'MODEL_CANONICAL_LINK_INVALID', name.location,
                    f"{vertex}: canonical_link '{name}' is not one of its links"
                    f'{name_hint(name, links)}', implied=(ATTACHED_TO_GRAPH, *reserved))
                return None
            return found
        return self._first_link(vertex) or self.root

    def _first_link(self, vertex: Vertex) -> Vertex | None:
        for link in vertex.element.links:
            return self._vertex_of[link]
        for model in vertex.element.models:
            inside, name = self._vertex_of[model], model.canonical_link
            link = self.find(name, inside) if name else self._first_link(inside)
            if link is not None:
                return link
        return None

    def _check_circles(self, what: str, code: str,
                       follow: Callable[[Vertex], Vertex | None]) -> None:
        """Report each circle once."""
        done: set[Vertex] = set()
        for start in self._vertices:
            path: dict[Vertex, None] = {}
            vertex: Vertex | None = start
            while vertex is not None and vertex not in done and vertex not in path:
                path[vertex] = None
                vertex = follow(vertex)
            if vertex is not None and vertex in path:
                walked = list(path)
                circle = walked[walked.index(vertex):]
                names = ' -> '.join(str(member) for member in [*circle, vertex])
                self._report.error(code, vertex.element.location,
                                   f'{vertex}: {what} runs in a circle: {names}')
            done.update(path)

    def _check_clashes(self) -> None:
        """Note circles of libsdformat, where what shares a name shares a place in its graphs."""
        for vertex in self._vertices:
            first = vertex.scope.named[vertex.element.name]
            if first is vertex or not isinstance(vertex.element, (Joint, Frame)):
                continue
            codes = [POSE_CYCLE] if _leads_to(first, vertex, lambda v: v.posed_in) else []
            if isinstance(first.element, Link) and _leads_to(
                    first, vertex, lambda v: v.moves_with):
                codes.append(ATTACHED_CYCLE)
            if not codes:
                continue
            places = (first.element.location, vertex.element.location)
            errors = self._report.errors
            errors[:] = [
                error._replace(implied=(*error.implied, *codes))
                if error.code == 'DUPLICATE_NAME' and error.location in places else error
                for error in errors]

    def _check_parts(self, holder: Vertex, parts: tuple) -> None:
        for part in parts:
            if self.part_base(part, holder) is None:
                is_root = part.relative_to == ROOT_NAME
                code = 'ATTRIBUTE_INVALID' if is_root else 'POSE_RELATIVE_TO_INVALID'
                self.report_of(part.relative_to, holder.scope).error(
                    code, part.relative_to.location,
                    f"{holder}: relative_to '{part.relative_to}' of {type(part).__name__.lower()} "
                    f"'{part.name}' is not in {holder.scope}"
                    f'{name_hint(part.relative_to, holder.scope.named)}')

    def _check_joint(self, joint: Vertex, has_circles: bool) -> None:
        self._check_parts(joint, joint.element.sensors)
        for axis in (joint.element.axis, joint.element.axis2):
            if axis is not None:
                self._named(axis.expressed_in, 'expressed_in', 'JOINT_AXIS_EXPRESSED_IN_INVALID',
                            joint, joint, implied=('POSE_RELATIVE_TO_INVALID',))
        parent, child = self.joint_end(joint, 'parent'), joint.moves_with
        if parent is None and child is None:
            report = self.report_of(joint.element.parent, joint.scope)
            report.imply('JOINT_PARENT_SAME_AS_CHILD', since=len(report.errors) - 1)
        self._check_own_name(joint)
        if parent is None or child is None or has_circles:
            return
        location = joint.element.location
        in_world = (BAD_WORLD,) if _in_world(joint) else ()
        if isinstance(self.body(child).element, (World, Root)):
            self._report.error(
                'JOINT_CHILD_LINK_INVALID', location,
                f"{joint}: <child> '{joint.element.child}' is fixed to the world, which can only "
                'be a parent', implied=in_world if joint.element.child == 'world' else ())
        elif self.body(parent) is self.body(child) and parent is not joint:
            is_plain = joint.element.parent == joint.element.child
            self._report.error(
                'JOINT_PARENT_SAME_AS_CHILD', location,
                f'{joint}: parent and child are the same, {self.body(child)}',
                implied=in_world if is_plain else ())

    def _check_own_name(self, joint: Vertex) -> None:
        for end in ('parent', 'child'):
            name = getattr(joint.element, end)
            if name == joint.element.name:
                is_own_child = end == 'parent' and not (
                    isinstance(joint.scope.element, World)
                    and self.find(name, joint.scope) is not joint)
                self._report.error(
                    f'JOINT_{end.upper()}_LINK_INVALID', name.location,
                    f"{joint}: a joint can't be its own {end}",
                    implied=('JOINT_PARENT_SAME_AS_CHILD',) if is_own_child else ())


def resolved(vertex: Vertex | None) -> Vertex:
    """
    Return a frame that is there, since names that lead nowhere were raised as errors before.

    :param vertex: What a name led to.
    :returns: The same.
    """
    assert vertex is not None
    return vertex


def _leads_to(end: Vertex, start: Vertex, follow: Callable[[Vertex], Vertex | None]) -> bool:
    passed: set[Vertex] = set()
    vertex = follow(start)
    while vertex is not None and vertex is not end and vertex not in passed:
        passed.add(vertex)
        vertex = follow(vertex)
    return vertex is end


def _in_world(vertex: Vertex) -> bool:
    while vertex.scope is not None:
        if isinstance(vertex.element, World):
            return True
        vertex = vertex.scope
    return False


def _parts(link: Link) -> tuple:
    return (*link.collisions, *link.visuals, *link.sensors)
