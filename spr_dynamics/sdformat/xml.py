"""XML text to a tree of plain elements that know their file, line and path."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from spr_dynamics.sdformat.diagnostics import Diagnostic, InvalidSdf, Location

MAX_DEPTH = 100  # robots nest about fifteen deep; this keeps recursion far from Python's limit
MAX_ATTRIBUTES = 1000  # of one element; the XML library takes the square of their number in time

# what Gazebo's reader (tinyxml2) does not mind: prefixes that nobody declared, `--` in comments,
# and an XML declaration after a blank line
TOLERATED = frozenset({
    'NS_ERR_UNDEFINED_NAMESPACE', 'NS_ERR_QNAME', 'ERR_HYPHEN_IN_COMMENT',
    'ERR_RESERVED_XML_NAME'})


@dataclass(eq=False)
class XmlElement:
    """One XML element; names keep their prefix (``spr:patch_min``), whoever declared it."""

    tag: str
    attributes: dict[str, str]
    """Texts by name, without blanks around them."""
    text: str
    """Text before the first child, without blanks around it."""
    location: Location
    parent: 'XmlElement | None' = None
    children: list['XmlElement'] = field(default_factory=list)

    @property
    def holder(self) -> 'XmlElement':
        """The parent; the root holds itself."""
        return self.parent or self

    @property
    def kind(self) -> str:
        """The tag after that of the parent, as in ``friction/ode``."""
        return f'{self.parent.tag}/{self.tag}' if self.parent else self.tag

    @property
    def owner(self) -> str:
        """What a message calls this: the nearest element with a name, as in ``joint 'j'``."""
        named = self
        while named.parent is not None and not named.attributes.get('name'):
            named = named.parent
        name = named.attributes.get('name')
        return f"{named.tag} '{name}'" if name else f'<{self.tag}>'

    def all(self, tag: str) -> list['XmlElement']:
        """Return the children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> 'XmlElement | None':
        """Return the first child with a tag; SDFormat ignores those that repeat it."""
        return next((child for child in self.children if child.tag == tag), None)

    def first_or_empty(self, tag: str) -> 'XmlElement':
        """Return the first child with a tag, or an empty one that has all defaults."""
        return self.first(tag) or XmlElement(tag, {}, '', self.location, self)

    def everything(self) -> Iterator['XmlElement']:
        """Go through this element and all below it, from top to bottom."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def adopt(self, child: 'XmlElement') -> None:
        """Put an element at the end of this one's children."""
        child.parent = self
        self.children.append(child)

    def copy(self, located: Callable[[Location], Location]) -> 'XmlElement':
        """
        Copy this element and all below it.

        :param located: Gives the location of a copy for that of the original.
        :returns: The copy, which has no parent.
        """
        top = XmlElement(self.tag, self.attributes.copy(), self.text, located(self.location))
        stack = [(self, top)]
        while stack:
            source, target = stack.pop()
            for child in source.children:
                target.children.append(XmlElement(
                    child.tag, child.attributes.copy(), child.text, located(child.location),
                    target))
                stack.append((child, target.children[-1]))
        return top


def parse_xml(source: bytes | str, file: str,
              included_from: Location | None = None) -> XmlElement:
    """
    Read XML with nothing fetched, nothing expanded and nothing repaired.

    :param source: What the file holds.
    :param file: What messages call it.
    :param included_from: The ``<include>`` that names it, if one does.
    :returns: The root element.
    :raises InvalidSdf: If it is not XML, has a DOCTYPE, or is nested very deep.
    """
    place = Location(file, 0, '', included_from)
    if not source.strip():
        raise _refusal(place, 'the file is empty')
    encoding = None
    if isinstance(source, str):
        source, encoding = source.encode('utf-8', errors='replace'), 'utf-8'
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True, encoding=encoding)
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise _refusal(place._replace(line=error.lineno or 0), f'not XML: {error.msg}') from None
    if root is not None and root.getroottree().docinfo.doctype:
        line = source[:source.upper().find(b'<!DOCTYPE')].count(b'\n') + 1
        raise _refusal(place._replace(line=line),
                       'a DOCTYPE is refused (SDF needs none; no entity is expanded)')
    for entry in parser.error_log:
        if entry.type_name not in TOLERATED:
            raise _refusal(place._replace(line=entry.line), f'not XML: {entry.message}')
    if root is None:
        raise _refusal(place._replace(line=1), 'not XML')
    return _plain_tree(root, place)


def _plain_tree(root: etree._Element, place: Location) -> XmlElement:
    top = _plain_element(root, place, None)
    stack = [(root, top, 1)]
    while stack:
        source, element, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise _refusal(element.location, f'elements nest more than {MAX_DEPTH} deep')
        for child in source.iterchildren(etree.Element):
            element.children.append(_plain_element(child, place, element))
            stack.append((child, element.children[-1], depth + 1))
    return top


def _plain_element(source: etree._Element, place: Location,
                   parent: XmlElement | None) -> XmlElement:
    if len(source.attrib) > MAX_ATTRIBUTES:
        raise _refusal(place._replace(line=source.sourceline or 0),
                       f'an element has more than {MAX_ATTRIBUTES} attributes')
    prefixes = {uri: prefix for prefix, uri in source.nsmap.items()}
    tag = _prefixed(source.tag, prefixes)
    attributes = {_prefixed(name, prefixes): text.strip()
                  for name, text in source.attrib.items()}
    name = attributes.get('name')
    path = (parent.location.path if parent else '') + '/' + tag
    path += f'[@name="{name}"]' if name is not None else ''
    location = Location(place.file, source.sourceline or 0, path, place.included_from)
    return XmlElement(tag, attributes, (source.text or '').strip(), location, parent)


def _prefixed(name: str, prefixes: dict[str, str | None]) -> str:
    if not name.startswith('{'):
        return name
    uri, local = name[1:].split('}')
    prefix = prefixes.get(uri)
    return f'{prefix}:{local}' if prefix else local


def _refusal(place: Location, message: str) -> InvalidSdf:
    return InvalidSdf([Diagnostic('FILE_READ', message, place._replace(path=''))])
