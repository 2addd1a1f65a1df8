"""Hang something on a solid of a model, or take something off: elements in, a new Model out."""
from collections.abc import Iterable
import dataclasses
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from spr_dynamics.errors import ModelError, SdfError
from spr_dynamics.model.build import build
from spr_dynamics.model.model import Model
from spr_dynamics.model.topology import has_free_root, where
from spr_dynamics.sdformat.assemble import assemble, Assembly, unique_names, WORLD
from spr_dynamics.sdformat.diagnostics import InvalidSdf
from spr_dynamics.sdformat.mimic import INVALID as INVALID_MIMIC
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.read import read


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
    assembly = model.assembly
    added = assemble(read_addition(wrapped(assembly, link, text)))
    n_stand_ins = 0 if link == WORLD else 1
    if n_stand_ins and all(joint.parent != 0 for joint in added.joints):
        raise ModelError(f"nothing in the text hangs on link '{model.link_names[link]}': a joint "
                         'with that <parent> expected')
    return rebuilt(model, joined(assembly, link, added, n_stand_ins))


def read_addition(text):
    """
    Read what is added.

    :raises SdfError: If it can't be used. A leader is looked for in the text alone.
    """
    try:
        return read(text=text)
    except InvalidSdf as refusal:
        if any(problem.code == INVALID_MIMIC for problem in refusal.diagnostics):
            raise SdfError(f'{refusal}\njoints that are added can follow joints of the same text '
                           'only; to follow others, write them into the file') from None
        raise


def wrapped(assembly, link, text):
    """Put a text into a model of its own, where an empty link stands for the one it hangs on."""
    stand_in = ''
    if link != WORLD:
        stand_in = f'<link name={quoteattr(last_name(assembly.links[link].name))}/>'
    return (f"<sdf version='1.12'><model name={quoteattr(top_model(assembly, link))}>"
            f'{stand_in}{text}</model></sdf>')  # one line, so that messages count the text's own


def last_name(name):
    return name.rpartition('::')[2]


def top_model(assembly, link):
    """Return the model that additions become part of."""
    if link != WORLD:
        return assembly.links[link].model
    return assembly.links[0].model if assembly.links else assembly.name


def joined(assembly, link, added, n_stand_ins):
    """Append the links and joints of one assembly to another, where it hangs on a link."""
    holder = assembly.links[link] if link != WORLD else None
    T_WH = holder.T_WL if holder else Pose.identity()
    scope = holder.name[:len(holder.name) - len(last_name(holder.name))] if holder else ''
    shift, n_joints = len(assembly.links) - n_stand_ins, len(assembly.joints)

    def placed(end):
        if end == WORLD:
            return WORLD
        return link if end < n_stand_ins else end + shift

    links = [dataclasses.replace(
        item, name=scope + item.name, T_WL=T_WH @ item.T_WL,
        self_collide=item.self_collide or holder is not None and holder.self_collide)
        for item in added.links[n_stand_ins:]]
    joints = [dataclasses.replace(
        item, name=scope + item.name, T_WJ=T_WH @ item.T_WJ, parent=placed(item.parent),
        child=placed(item.child), mimics=renumbered(item.mimics, lambda j: j + n_joints))
        for item in added.joints]
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


class Place(NamedTuple):
    """Where the numbers of a joint or free root are."""

    q: slice
    v: slice


def names_in_file(placed) -> dict[str, tuple[str, str]]:
    """Return model and name of links or joints, by the name that users know them by."""
    return {name: (item.model, item.name) for name, item in zip(unique_names(placed), placed)}


def places(model: Model) -> dict[tuple, Place]:
    """Return where numbers are, by what doesn't change when others come or go."""
    links, joints = names_in_file(model.assembly.links), names_in_file(model.assembly.joints)
    found: dict[tuple, Place] = {
        ('joint', *joints[joint.name]): Place(slice(joint.q, joint.q + joint.nq),
                                              slice(joint.v, joint.v + joint.nv))
        for joint in model.joints}
    found |= {('root', *links[root.name]): Place(slice(root.q, root.q + 7),
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
