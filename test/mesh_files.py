"""Meshes for tests, and writers of the files that hold them."""
import numpy as np

BOX_FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def box(low, high):
    """Return the corners of a box and its triangles, counter-clockwise seen from outside."""
    bounds = np.array([low, high], float)
    corners = np.array([[bounds[i & 1, 0], bounds[i >> 1 & 1, 1], bounds[i >> 2, 2]]
                        for i in range(8)])
    return corners, np.array([triangle for a, b, c, d in BOX_FACES
                              for triangle in ((a, b, c), (a, c, d))])


def prism(outline, height):
    """Return a prism over an outline that goes counter-clockwise and is seen from its first."""
    n = len(outline)
    corners = np.array([(*corner, z) for z in (0.0, height) for corner in outline])
    lids = [(0, k, k + 1) for k in range(1, n - 1)]
    sides = [side for k in range(n) for j in [(k + 1) % n]
             for side in ((k, j, n + j), (k, n + j, n + k))]
    return corners, np.array([(a, c, b) for a, b, c in lids] + sides
                             + [(n + a, n + b, n + c) for a, b, c in lids])


def frame(outer, inner, height):
    """Return a square plate with a square hole through it, each given by half its side."""
    square = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    corners = np.array([(*(half * corner), z) for z in (0.0, height) for half in (outer, inner)
                        for corner in square])
    quads = [quad for k in range(4) for j in [(k + 1) % 4] for quad in (
        (k, j, 8 + j, 8 + k), (4 + j, 4 + k, 12 + k, 12 + j), (j, k, 4 + k, 4 + j),
        (8 + k, 8 + j, 12 + j, 12 + k))]
    return corners, np.array([triangle for a, b, c, d in quads
                              for triangle in ((a, b, c), (a, c, d))])


def cup(outer, inner, height, floor):
    """Return the five boxes of a square cup that stands at z = 0, given by half its sides."""
    return [box((-outer, -outer, 0.0), (outer, outer, floor)),
            box((-outer, -outer, floor), (-inner, outer, height)),
            box((inner, -outer, floor), (outer, outer, height)),
            box((-inner, -outer, floor), (inner, -inner, height)),
            box((-inner, inner, floor), (inner, outer, height))]


def write_stl(path, surfaces):
    """Write all as one solid without names."""
    lines = ['solid mesh']
    for corners, triangles in surfaces:
        for triangle in triangles:
            lines += ['facet normal 0 0 0', 'outer loop', *(
                f'vertex {" ".join(map(repr, corner.tolist()))}' for corner in corners[triangle]),
                'endloop', 'endfacet']
    path.write_text('\n'.join([*lines, 'endsolid mesh', '']))


def write_obj(path, surfaces, word='o'):
    """Write each as an object, or group, of its name; a colour is the word ``usemtl``."""
    lines, n = [], 1
    for name, (corners, triangles) in surfaces.items():
        lines += [f'v {" ".join(map(repr, corner.tolist()))}' for corner in corners]
        lines += [f'{word} {name}', *(
            f'f {" ".join(str(n + i) for i in triangle)}' for triangle in triangles)]
        n += len(corners)
    path.write_text('\n'.join([*lines, '']))


def write_dae(path, surfaces, shifts):
    """Write each as a geometry of its name, in millimetres, moved by a node."""
    geometries = ''.join(
        f'<geometry id="{name}" name="{name}"><mesh><source id="{name}-p">'
        f'<float_array id="{name}-a" count="{corners.size}">'
        f'{" ".join(repr(1000.0 * x) for x in corners.ravel().tolist())}</float_array>'
        f'<technique_common><accessor source="#{name}-a" count="{len(corners)}" stride="3">'
        '<param name="X" type="float"/><param name="Y" type="float"/>'
        '<param name="Z" type="float"/></accessor></technique_common></source>'
        f'<vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/></vertices>'
        f'<triangles count="{len(triangles)}"><input semantic="VERTEX" source="#{name}-v" '
        f'offset="0"/><p>{" ".join(map(str, triangles.ravel()))}</p></triangles></mesh></geometry>'
        for name, (corners, triangles) in surfaces.items())
    nodes = ''.join(
        f'<node id="node-{name}"><translate>{" ".join(str(1000.0 * x) for x in shift)}'
        f'</translate><instance_geometry url="#{name}"/></node>'
        for name, shift in zip(surfaces, shifts))
    path.write_text(
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" '
        'version="1.4.1"><asset><unit name="millimeter" meter="0.001"/><up_axis>Z_UP</up_axis>'
        f'</asset><library_geometries>{geometries}</library_geometries><library_visual_scenes>'
        f'<visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>')
