"""``<include merge='true'>``: what a model holds becomes part of the model or world around."""

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.elements import Link
from spr_dynamics.sdformat.fields import read_pose
from spr_dynamics.sdformat.frames import FrameGraph, Vertex
from spr_dynamics.sdformat.parse import parse_latest
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.values import boolean
from spr_dynamics.sdformat.xml import XmlElement

OF_THE_MODEL = ('static', 'self_collide', 'enable_wind')  # switches that have nowhere to go
LEFT_OUT = (*OF_THE_MODEL, 'pose', 'allow_auto_disable', 'model_state', 'plugin')
NOT_IN_WORLD = ('link', 'gripper')
REFERENCES = ('relative_to', 'attached_to', 'expressed_in')


def merge(model: XmlElement, scope: XmlElement, include: XmlElement, report: Report) -> bool:
    """
    Move what an included model holds into the model or world that includes it.

    A frame ``_merged__NAME__model__`` stands for the frame of the model that is no more. Links
    and frames that were posed in that are posed in this. Other than in libsdformat, so are
    collisions, visuals and sensors that name ``__model__``.

    :param model: The included model, a copy with the overrides of the include.
    :param scope: Where it goes: at the end of this model or world.
    :param include: The ``<include>``.
    :param report: Takes errors and warnings.
    :returns: Whether nothing failed.
    """
    if model.tag != 'model' or scope.tag == 'sdf':
        report.error('MERGE_INCLUDE_UNSUPPORTED', include.location,
                     f'{include.owner}: only a model can be merged, and only into a model or a '
                     f'world (here: <{model.tag}> into <{scope.tag}>)')
        return False
    unsupported = NOT_IN_WORLD if scope.tag == 'world' else ()
    for child in model.children:
        if child.tag in unsupported:
            report.error('MERGE_INCLUDE_UNSUPPORTED', child.location,
                         f"{child.owner}: a <{child.tag}> can't be merged into a world (include "
                         'this model without merge)')
    frame = _frame_for(model, scope, include, report)
    if frame is None:
        return False
    scope.adopt(frame)
    for child in model.children:
        if child.tag in OF_THE_MODEL and boolean(child.text or 'false'):
            report.warn('WARNING', child.location,
                        f'{model.owner}: <{child.tag}> is lost when the model is merged')
        if child.tag not in (*LEFT_OUT, *unsupported):
            _redirect(child, frame.attributes['name'])
            scope.adopt(child)
    return not any(child.tag in unsupported for child in model.children)


def _frame_for(model: XmlElement, scope: XmlElement, include: XmlElement,
               report: Report) -> XmlElement | None:
    """Make the frame that stands for the model, if nothing is wrong inside that."""
    graph = _graph_alone(model, report)
    if graph is None:
        return None
    vertex = graph[graph.root.element.models[0]]
    pose = model.first_or_empty('pose')
    text, attributes = pose.text, pose.attributes.copy()
    placement_frame = model.attributes.get('placement_frame', '')
    if placement_frame:
        placement = graph.find(placement_frame, vertex)
        if placement is None:
            report.error('MODEL_PLACEMENT_FRAME_INVALID', include.location,
                         f"{model.owner}: placement_frame '{placement_frame}' is not in it"
                         f'{name_hint(placement_frame, vertex.named)}')
            return None
        T_MP = graph.T_W(placement)
        text = _as_text(read_pose(model, report)['pose'] @ T_MP.inverse())
        attributes.pop('degrees', None)
        attributes['rotation_format'] = 'quat_xyzw'
    if not attributes.get('relative_to'):
        attributes['relative_to'] = '__model__' if scope.tag == 'model' else 'world'
    frame = XmlElement('frame', {
        'name': f"_merged__{model.attributes['name']}__model__",
        'attached_to': _name_in(vertex, graph.body(vertex))}, '', include.location)
    frame.adopt(XmlElement('pose', attributes, text, pose.location))
    return frame


def _graph_alone(model: XmlElement, report: Report) -> FrameGraph | None:
    """Check a model as if nothing were around it, since no name in it may lead out."""
    alone = Report()
    sdf = XmlElement('sdf', {'version': '1.12'}, '', model.location)
    sdf.adopt(XmlElement(
        'model', {name: text for name, text in model.attributes.items()
                  if name != 'placement_frame'}, '', model.location))
    sdf.children[0].children = [child for child in model.children if child.tag != 'pose']
    root = parse_latest(sdf, alone)
    graph = FrameGraph(root, alone)
    report.errors.extend(alone.errors)
    return None if alone.errors else graph


def _name_in(scope: Vertex, body: Vertex) -> str:
    """Name a link as a model calls it; the empty name if the body is the world."""
    if not isinstance(body.element, Link):
        return ''
    names = []
    while body is not scope:
        names.append(body.element.name)
        body = body.scope
    return '::'.join(reversed(names))


def _as_text(T: Pose) -> str:
    w, x, y, z = T.quat_wxyz()
    return ' '.join(repr(float(number)) for number in (*T.p, x, y, z, w))


def _redirect(child: XmlElement, frame: str) -> None:
    """Let what referred to the model's frame refer to the frame that stands for it."""
    stack = [child]
    while stack:
        element = stack.pop()
        for name in REFERENCES:
            if element.attributes.get(name) == '__model__':
                element.attributes[name] = frame
        if element.kind in ('joint/parent', 'joint/child') and element.text == '__model__':
            element.text = frame
        # what stands inside a nested model means that one
        stack.extend(other for other in element.children
                     if ':' not in other.tag and (element.tag != 'model' or other.tag == 'pose'))
    if child.tag == 'frame' and not child.attributes.get('attached_to'):
        child.attributes['attached_to'] = frame
    if child.tag in ('link', 'model'):
        if child.first('pose') is None:
            child.adopt(XmlElement('pose', {}, '', child.location))
        pose = child.first_or_empty('pose')
        pose.attributes['relative_to'] = pose.attributes.get('relative_to') or frame
