"""``<experimental:params>``: changes that an include makes inside the model that it names."""

from spr_dynamics.errors import name_hint
from spr_dynamics.sdformat.diagnostics import Report
from spr_dynamics.sdformat.schema import SCHEMA
from spr_dynamics.sdformat.xml import XmlElement

ACTIONS = ('add', 'modify', 'remove', 'replace')
OF_PARAMS = ('element_id', 'action')  # attributes that are for the change, not for what changes
NEEDS_NAME = ('model', 'link', 'joint', 'frame', 'collision', 'visual', 'sensor', 'plugin')


def apply_params(params: XmlElement, model: XmlElement, report: Report) -> None:
    """
    Change what an included model holds.

    Each child of ``<experimental:params>`` names an element by ``element_id``, a path of names
    as in ``arm::hand``, and says what becomes of it: ``add`` puts a new child into it, ``remove``
    takes it away (or those of its children that are listed), ``replace`` puts another in its
    place, ``modify`` changes those of its values that are listed. Without an ``action``, each of
    the children has one.

    :param params: The ``<experimental:params>`` of an include.
    :param model: The included model, a copy that is changed.
    :param report: Takes errors.
    """
    for change in params.children:
        _Change(change, report).apply(model)


class _Change:
    """One child of ``<experimental:params>``."""

    def __init__(self, change: XmlElement, report: Report):
        self.change = change
        self.report = report
        self.id = change.attributes.get('element_id', '')

    def error(self, code: str, place: XmlElement, problem: str) -> None:
        self.report.error(code, place.location,
                          f"<experimental:params>: <{self.change.tag}> '{self.id}': {problem}")

    def apply(self, model: XmlElement) -> None:
        change, action = self.change, self.change.attributes.get('action')
        if 'element_id' not in change.attributes:
            self.error('ATTRIBUTE_MISSING', change, "needs an attribute 'element_id'")
        elif self.id.endswith('::'):
            self.error('ATTRIBUTE_INVALID', change, "element_id ends in '::'")
        elif action == 'add':
            parent = self.find(model, self.id.split('::') if self.id else [])
            if parent is not None:
                self.add(change, parent)
        elif action is None or self.is_action(action, change):
            *path, name = self.id.split('::')
            holder = self.find(model, path)
            target = holder and self.child(holder, change.tag, name, change)
            if target is not None and action is not None:
                self.act(action, change, target)
            elif target is not None:
                self.act_on_children(change, target)

    def is_action(self, action: str, place: XmlElement) -> bool:
        if action not in ACTIONS:
            self.error('ATTRIBUTE_INVALID', place,
                       f"action '{action}' is unknown{name_hint(action, ACTIONS)}")
        return action in ACTIONS

    def find(self, model: XmlElement, path: list[str]) -> XmlElement | None:
        """Follow names down from the model."""
        element = model
        for name in path:
            known = {child.attributes['name']: child for child in reversed(element.children)
                     if child.attributes.get('name')}
            if name not in known:
                self.error('ELEMENT_MISSING', self.change,
                           f"there is no '{name}' in {element.owner}{name_hint(name, known)}")
                return None
            element = known[name]
        return element

    def child(self, holder: XmlElement, tag: str, name: str | None,
              place: XmlElement) -> XmlElement | None:
        """Find a child by tag, and by name if it has to have one."""
        name = name if tag in NEEDS_NAME else None
        same = [child for child in holder.all(tag)
                if name is None or child.attributes.get('name') == name]
        if same:
            return same[0]
        known = [child.attributes.get('name', '') for child in holder.all(tag)]
        self.error('ELEMENT_MISSING', place,
                   f'there is no <{tag}> in {holder.owner}' if name is None else
                   f"there is no {tag} '{name}' in {holder.owner}{name_hint(name, known)}")
        return None

    def act_on_children(self, change: XmlElement, target: XmlElement) -> None:
        for child in change.children:
            action = child.attributes.get('action')
            if action is None:
                self.error('ATTRIBUTE_MISSING', child,
                           f"<{child.tag}> needs an attribute 'action'")
            elif not self.is_action(action, child):
                continue
            elif action == 'add':
                self.add(child, target)
            elif action != 'replace' or self.has_name(child):
                found = self.child(target, child.tag, child.attributes.get('name'), child)
                if found is not None:
                    self.act(action, child, found)

    def act(self, action: str, change: XmlElement, target: XmlElement) -> None:
        if action == 'remove' and change.children:
            for child in change.children:
                found = self.child(target, child.tag, child.attributes.get('name'), child)
                if found is not None:
                    target.children.remove(found)
        elif action == 'modify':
            self.modify(change, target)
        elif action == 'remove' or self.is_known(change, target.holder):
            siblings = target.holder.children
            i = siblings.index(target)
            new = [] if action == 'remove' else [self.new(change, target.holder)]
            siblings[i:i + 1] = new

    def modify(self, change: XmlElement, target: XmlElement) -> None:
        """Set the values that are listed; an empty one gets its default."""
        table = SCHEMA.get(target.kind) or SCHEMA.get(target.tag, {})
        for name, text in change.attributes.items():
            if name in OF_PARAMS:
                continue
            known = {f'@{name}' for name in target.attributes} | table.keys()
            if table and ':' not in name and f'@{name}' not in known:
                self.error('ATTRIBUTE_INVALID', change,
                           f"<{change.tag}> has no attribute '{name}'")
                continue
            target.attributes[name] = text
        if target.text and not (change.text or target.attributes):
            target.holder.children.remove(target)
        elif not target.children:
            target.text, target.location = change.text, change.location
        for child in change.children:
            found = self.child(target, child.tag, child.attributes.get('name'), child)
            if found is not None:
                self.modify(child, found)

    def add(self, change: XmlElement, parent: XmlElement) -> None:
        if not self.has_name(change) or not self.is_known(change, parent):
            return
        name = change.attributes.get('name')
        taken = [child.attributes.get('name') for child in parent.all(change.tag)]
        if change.tag in NEEDS_NAME and change.tag != 'plugin' and name in taken:
            self.error('DUPLICATE_NAME', change,
                       f"{parent.owner} already has a {change.tag} '{name}'")
            return
        parent.children.append(self.new(change, parent))

    def has_name(self, change: XmlElement) -> bool:
        name = change.attributes.get('name')
        if name is None and change.tag in NEEDS_NAME:
            self.error('ATTRIBUTE_MISSING', change, f"<{change.tag}> needs an attribute 'name'")
        elif name == '':
            self.error('ATTRIBUTE_INVALID', change, f"attribute 'name' of <{change.tag}> is empty")
        else:
            return True
        return False

    def is_known(self, change: XmlElement, parent: XmlElement) -> bool:
        table = SCHEMA.get(parent.kind) or SCHEMA.get(parent.tag, {})
        if ':' in change.tag or change.tag in table or not table:
            return True
        near = name_hint(change.tag, [name for name in table if not name.startswith('@')])
        self.error('ELEMENT_INVALID', change, f'<{change.tag}> has no place in {parent.owner}'
                   f'{near}')
        return False

    def new(self, change: XmlElement, parent: XmlElement) -> XmlElement:
        element = change.copy(lambda location: location)
        element.parent = parent
        for name in OF_PARAMS:
            element.attributes.pop(name, None)
        return element
