"""Hang something on a solid of a model, or take something off: elements in, a new Model out."""
from collections.abc import Iterable
import dataclasses
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from spr_dynamics.errors import ModelError, name_hint, SdfError
from spr_dynamics.model.build import build
from spr_dynamics.model.model import Model
from spr_dynamics.model.topology import has_free_root, where
from spr_dynamics.sdformat.assemble import assemble, Assembly, unique_names, WORLD
from spr_dynamics.sdformat.diagnostics import InvalidSdf
from spr_dynamics.sdformat.mimic import AXIS_TAGS
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.read import read
from spr_dynamics.sdformat.xml import parse_xml


class Place(NamedTuple):
    """Where a text is added: what it may name there."""

    assembly: Assembly
    link: int
    """The one that it hangs on, or WORLD."""

    @property
    def model(self) -> str:
        """The model that additions become part of."""
        links = self.assembly.links
        if self.link != WORLD:
            return links[self.link].model
        return links[0].model if links else self.assembly.name

    @property
    def scope(self) -> str:
        """What the names of its links and joints begin with."""
        if self.link == WORLD:
            return ''
        name = self.assembly.links[self.link].name
        return name[:len(name) - len(last_name(name))]

    @property
    def joints(self) -> dict[str, int]:
        """The joints that can be named there."""
        return {joint.name.removeprefix(self.scope): j
                for j, joint in enumerate(self.assembly.joints)
                if joint.model == self.model and joint.name.startswith(self.scope)
                and '::' not in joint.name[len(self.scope):]}


def with_child(model: Model, link: int, text: str) -> Model:
    """
    Build a model with more links and joints.

    :param model: The robot.
    :param link: Index of the link that they hang on, or WORLD.
    :param text: ``<link>`` and ``<joint>`` elements, as if they stood in the model of that link;
        poses count from that link.
    :raises SdfError: If the text can't be used.
    :raises ModelError: If nothing in it hangs on the link, or a name is taken.
    """
    place = Place(model.assembly, link)
    leaders = [place.joints[name] for name in leaders_outside(place, text) if name in place.joints]
    added = assemble(read_addition(place, leaders, text))
    if link != WORLD and all(joint.parent != 0 for joint in added.joints):
        raise ModelError(f"nothing in the text hangs on link '{model.link_names[link]}': a joint "
                         'with that <parent> expected')
    return rebuilt(model, joined(place, leaders, added))


def leaders_outside(place, text):
    """Name the joints that joints of a text follow and that are not in it."""
    try:
        elements = [*parse_xml(wrapped(place, [], text), '<text>').everything()]
    except InvalidSdf:
        return []  # reading it says what is wrong
    own = {element.attributes.get('name') for element in elements if element.tag == 'joint'}
    named = {element.attributes.get('joint') for element in elements if element.tag == 'mimic'}
    return sorted(filter(None, named - own))


def read_addition(place, leaders, text):
    """
    Read what is added.

    :raises SdfError: If it can't be used.
    """
    try:
        return read(text=wrapped(place, leaders, text))
    except InvalidSdf as refusal:
        lost = [name for name in leaders_outside(place, text) if name not in place.joints]
        if lost:
            raise SdfError(f'{refusal}\njoints that are added can follow joints of the same text, '
                           f"and of the model; that has no '{lost[0]}'"
                           f'{name_hint(lost[0], place.joints)}') from None
        raise


def wrapped(place, leaders, text):
    """
    Put a text into a model of its own, with stand-ins for what it names outside of it.

    They are an empty link for the one that it hangs on, and a joint that moves an empty link for
    each leader, where they are.
    """
    stand_ins, T_WH = '', Pose.identity()
    if place.link != WORLD:
        holder = place.assembly.links[place.link]
        T_WH = holder.T_WL
        stand_ins = f'<link name={quoteattr(last_name(holder.name))}/>'
    for j in leaders:
        leader = place.assembly.joints[j]
        name = last_name(leader.name)
        child = f'{name}_moved'
        while child in stand_ins + text:
            child += '_'
        T_WC = place.assembly.links[leader.child].T_WL
        axes = ''.join(f'<{tag}><xyz>{x!r} {y!r} {z!r}</xyz></{tag}>' for tag, (x, y, z) in zip(
            AXIS_TAGS, (axis.tolist() for axis in leader.axes)))
        stand_ins += (
            f'<link name={quoteattr(child)}>{pose_text(T_WH.inverse() @ T_WC)}</link>'
            f'<joint name={quoteattr(name)} type={quoteattr(leader.element.type)}>'
            f'{pose_text(T_WC.inverse() @ leader.T_WJ)}<parent>world</parent>'
            f'<child>{escape(child)}</child>{axes}</joint>')
    return (f"<sdf version='1.12'><model name={quoteattr(place.model)}>{stand_ins}{text}</model>"
            '</sdf>')  # one line before it, so that messages count the text's own


def pose_text(T):
    """Write a pose without loss."""
    w, x, y, z = T.quat_wxyz().tolist()
    numbers = ' '.join(repr(number) for number in (*T.p.tolist(), x, y, z, w))
    return f"<pose rotation_format='quat_xyzw'>{numbers}</pose>"


def last_name(name):
    return name.rpartition('::')[2]


def joined(place, leaders, added):
    """Append the links and joints of one assembly to another, without those that stood in."""
    assembly, scope = place.assembly, place.scope
    holder = assembly.links[place.link] if place.link != WORLD else None
    T_WH = holder.T_WL if holder else Pose.identity()
    stood_in = [place.link] * (holder is not None) + [assembly.joints[j].child for j in leaders]

    def link_of(end):
        if end == WORLD:
            return WORLD
        return (stood_in[end] if end < len(stood_in)
                else end - len(stood_in) + len(assembly.links))

    def joint_of(j):
        return leaders[j] if j < len(leaders) else j - len(leaders) + len(assembly.joints)

    links = [dataclasses.replace(
        item, name=scope + item.name, T_WL=T_WH @ item.T_WL,
        self_collide=item.self_collide or holder is not None and holder.self_collide)
        for item in added.links[len(stood_in):]]
    joints = [dataclasses.replace(
        item, name=scope + item.name, T_WJ=T_WH @ item.T_WJ, parent=link_of(item.parent),
        child=link_of(item.child), mimics=renumbered(item.mimics, joint_of))
        for item in added.joints[len(leaders):]]
    for kind, old, new in (('link', assembly.links, links), ('joint', assembly.joints, joints)):
        refuse_taken(kind, old, new)
    return dataclasses.replace(
        assembly, links=(*assembly.links, *links), joints=(*assembly.joints, *joints),
        warnings=(*assembly.warnings, *added.warnings))


def refuse_taken(kind, old, new):
    """
    Stop at a name that two would have.

    :raises ModelError: Says where it is added.
    """
    taken = {(item.model, item.name) for item in old}
    for item in new:
        if (item.model, item.name) in taken:
            raise ModelError(f"{where(item.element)}: model '{item.model}' has a {kind} "
                             f"'{item.name}' already")


def renumbered(mimics, number):
    """Let followers find their leaders at another place."""
    return tuple(mimic and dataclasses.replace(mimic, leader=number(mimic.leader))
                 for mimic in mimics)


def without(model: Model, gone: Iterable[int]) -> Model:
    """
    Build a model without some links, and without the joints at them.

    :param model: The robot.
    :param gone: Indices of the links.
    :raises ModelError: If a joint that stays follows one that goes, by mimic or gearbox.
    """
    assembly, gone = model.assembly, set(gone)
    refuse_broken_gears(assembly, gone)
    links = [k for k in range(len(assembly.links)) if k not in gone]
    joints = [j for j, joint in enumerate(assembly.joints)
              if not gone & {joint.parent, joint.child}]
    new_link = {WORLD: WORLD} | {old: new for new, old in enumerate(links)}
    new_joint = {old: new for new, old in enumerate(joints)}
    refuse_lost_leaders(assembly, joints)
    return rebuilt(model, dataclasses.replace(
        assembly, links=tuple(assembly.links[k] for k in links),
        joints=tuple(dataclasses.replace(
            assembly.joints[j], parent=new_link[assembly.joints[j].parent],
            child=new_link[assembly.joints[j].child],
            mimics=renumbered(assembly.joints[j].mimics, new_joint.__getitem__))
            for j in joints)))


def refuse_broken_gears(assembly, gone):
    """
    Stop if a link would stay without the one that drives it through a gearbox.

    :raises ModelError: Names the gearbox and both.
    """
    for joint in assembly.joints:
        if joint.element.type == 'gearbox' and joint.parent in gone and joint.child not in gone:
            driver, driven = (assembly.links[k].name for k in (joint.parent, joint.child))
            raise ModelError(f"link '{driven}' is driven through gearbox '{joint.name}' by link "
                             f"'{driver}', which would go")


def refuse_lost_leaders(assembly, staying):
    """
    Stop if a joint would follow nobody.

    :raises ModelError: Names both.
    """
    for j in staying:
        for mimic in filter(None, assembly.joints[j].mimics):
            if mimic.leader not in staying:
                raise ModelError(f"joint '{assembly.joints[j].name}' follows joint "
                                 f"'{assembly.joints[mimic.leader].name}', which would go")


def rebuilt(model: Model, assembly: Assembly) -> Model:
    """Build a model like another one: what was held by nothing and yet fixed stays so."""
    is_fixed = has_free_root(model.assembly) and not model.free_roots
    return build(assembly, fix_base=is_fixed)


class Numbers(NamedTuple):
    """Where the numbers of a joint or free root are."""

    q: slice
    v: slice


def names_in_file(placed) -> dict[str, tuple[str, str]]:
    """Return model and name of links or joints, by the name that users know them by."""
    return {name: (item.model, item.name) for name, item in zip(unique_names(placed), placed)}


def places(model: Model) -> dict[tuple, Numbers]:
    """Return where numbers are, by what doesn't change when others come or go."""
    links, joints = names_in_file(model.assembly.links), names_in_file(model.assembly.joints)
    found: dict[tuple, Numbers] = {
        ('joint', *joints[joint.name]): Numbers(slice(joint.q, joint.q + joint.nq),
                                                slice(joint.v, joint.v + joint.nv))
        for joint in model.joints}
    found |= {('root', *links[root.name]): Numbers(slice(root.q, root.q + 7),
                                                   slice(root.v, root.v + 6))
              for root in model.free_roots}
    return found


def renamed(old, new) -> dict[str, str]:
    """Return the new name of each of the old links, or joints, that are still there."""
    now = {item: name for name, item in names_in_file(new).items()}
    return {name: now[item] for name, item in names_in_file(old).items() if item in now}


def carry_over(old: Model, new: Model, source: np.ndarray, target: np.ndarray, part: str):
    """
    Copy the numbers of all joints and free roots that both models have.

    :param source: Of the old model, as long as q or qd.
    :param target: Of the new one.
    :param part: ``q`` or ``v``: which they are.
    """
    there = places(new)
    for key, place in places(old).items():
        if key in there:
            target[getattr(there[key], part)] = source[getattr(place, part)]
