"""Meshes as convex pieces: those that a file has, and those that it is cut into."""
import subprocess
import sys

import numpy as np
import pytest

from mesh_files import box, cup, frame, prism, write_dae, write_obj, write_stl
import needs
import spr_dynamics as spr
from spr_dynamics.cli import main
from spr_dynamics.errors import SdfError
from spr_dynamics.model import cutting
from spr_dynamics.model.records import CONVEX

G = 9.8
BALL = '<sphere><radius>0.05</radius></sphere>'
ELL = prism([(0.1, 0.1), (0.1, 0.4), (0.0, 0.4), (0.0, 0.0), (0.4, 0.0), (0.4, 0.1)], 0.1)
CUP = cup(outer=0.15, inner=0.1, height=0.2, floor=0.02)


@pytest.fixture(autouse=True)
def readers(tmp_path, monkeypatch):
    """Read meshes, and keep what they are cut into in a place of this test's own."""
    for name in ('trimesh', 'collada', 'scipy'):
        needs.module(name)
    monkeypatch.setattr(cutting, 'cache_folder', lambda: tmp_path / 'cache')


@pytest.fixture
def cutter():
    return needs.module('coacd')


def mesh(path, inside='', attribute=''):
    return f'<mesh{attribute}><uri>{path}</uri>{inside}</mesh>'


def cut_mesh(path, settings=''):
    return mesh(path, f'<convex_decomposition>{settings}</convex_decomposition>',
                ' optimization="convex_decomposition"')


def model(geometry, body='', surface='', more='', fixed=''):
    """Return a world with a thing that stands still and, perhaps, a body of 1 kg above it."""
    moving = f"""
      <model name='body'><pose>{body[0]}</pose><link name='body'>
        <inertial><mass>1</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia>
        </inertial>
        <collision name='c'><geometry>{body[1]}</geometry>{surface}</collision>{more}
      </link></model>""" if body else ''
    return spr.load(text=f"""
      <sdf version='1.12'><world name='w'><model name='thing'><static>true</static>
        <link name='thing'><collision name='mesh'><geometry>{geometry}</geometry>{surface}
        </collision>{fixed}</link></model>{moving}</world></sdf>""")


def sdf_of(folder, geometry):
    """Write a file whose geometry begins in line 3."""
    file = folder / 'thing.sdf'
    file.write_text(f"""<sdf version='1.12'><model name='m'><static>true</static>
      <link name='l'><collision name='c'><geometry>
      {geometry}</geometry></collision></link></model></sdf>""")
    return file


def boxes_of(made):
    """Return the lower and upper corner of each shape in the world."""
    return [np.concatenate([shape['X'][9:] - shape['size'], shape['X'][9:] + shape['size']])
            for shape in made.shapes]


def volumes(made):
    hull = needs.module('scipy.spatial').ConvexHull
    return [hull(made.vertices[shape['first_vertex']:][:shape['n_vertices']]).volume
            for shape in made.shapes if shape['kind'] == CONVEX]


def settled(made, steps=1500):
    sim = spr.Simulation(made)
    sim.step(n=steps)
    return sim


# parts that a file has

TWO = {'post': box((0.0, 0.0, 0.0), (0.1, 0.1, 0.3)), 'bar': box((0.1, 0.0, 0.0), (0.4, 0.1, 0.1))}


@pytest.mark.parametrize('word', ['o', 'g'])
def test_objects_and_groups_are_pieces(tmp_path, word):
    write_obj(tmp_path / 'l.obj', TWO, word)
    made = model(mesh(tmp_path / 'l.obj', '<scale>2 1 1</scale>'))
    assert made.shape_names == ('thing::mesh', 'thing::mesh') and not made.warnings
    assert made.shapes['kind'].tolist() == [CONVEX, CONVEX]
    np.testing.assert_allclose(boxes_of(made), [
        [0.2, 0.0, 0.0, 0.8, 0.1, 0.1], [0.0, 0.0, 0.0, 0.2, 0.1, 0.3]], atol=1e-12)


def test_geometries_of_collada_are_pieces_where_their_nodes_put_them(tmp_path):
    write_dae(tmp_path / 'l.dae', TWO, [(0.0, 0.0, 1.0), (0.0, 2.0, 0.0)])
    made = model(mesh(tmp_path / 'l.dae'))
    assert not made.warnings
    np.testing.assert_allclose(boxes_of(made), [
        [0.1, 2.0, 0.0, 0.4, 2.1, 0.1], [0.0, 0.0, 1.0, 0.1, 0.1, 1.3]], atol=1e-7)


def test_bodies_that_share_faces_and_edges_are_told_apart(tmp_path):
    """An STL has no names, and the boxes of the cup have corners and edges in common."""
    cubes = [box(np.array(at), np.array(at) + 1.0) for at in np.ndindex(2, 2, 2)]
    write_stl(tmp_path / 'cubes.stl', cubes)
    made = model(mesh(tmp_path / 'cubes.stl'))
    assert len(made.shapes) == 8 and not made.warnings
    np.testing.assert_allclose(volumes(made), 1.0)


def test_surface_parted_by_colour_is_one_piece(tmp_path):
    corners, triangles = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    sides = {f'side{k}': (corners, triangles[2 * k:2 * k + 2]) for k in range(6)}
    for word in ('usemtl', 'g'):
        write_obj(tmp_path / 'painted.obj', sides, word)
        made = model(mesh(tmp_path / 'painted.obj'))
        assert len(made.shapes) == 1 and not made.warnings
        np.testing.assert_allclose(volumes(made), 1.0)


def turned(surface):
    """Return a surface whose faces look to the other side."""
    corners, triangles = surface
    return corners, triangles[:, ::-1]


def test_hollow_body_is_not_its_cavity(tmp_path):
    write_stl(tmp_path / 'hollow.stl', [
        box((-1, -1, -1), (1, 1, 1)), turned(box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)))])
    made = model(mesh(tmp_path / 'hollow.stl'))
    assert len(made.shapes) == 1
    assert any('is not convex; its convex hull is used, of which it fills 88 %' in warning
               for warning in made.warnings)


def test_cavity_of_one_body_leaves_the_others_apart(tmp_path):
    """One hull was put around a hollow cube and two cubes far away from it."""
    inner = box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    write_stl(tmp_path / 'three.stl', [
        box((-1, -1, -1), (1, 1, 1)), turned(inner), box((3, 0, 0), (4, 1, 1)),
        box((6, 0, 0), (7, 1, 1))])
    made = model(mesh(tmp_path / 'three.stl'))
    np.testing.assert_allclose(volumes(made), [8.0, 1.0, 1.0])
    (warning,) = made.warnings
    assert 'has 3 parts, of which 1 are not convex; of these the convex hull is used: part 1' in (
        warning)
    assert 'of which it fills 88 %' in warning


def test_body_turned_inside_out_is_one_of_its_own(tmp_path):
    """With another one beside it both were in one hull, of which they filled 0 %."""
    write_stl(tmp_path / 'two.stl', [
        box((0, 0, 0), (1, 1, 1)), turned(box((3, 0, 0), (4, 1, 1)))])
    made = model(mesh(tmp_path / 'two.stl'))
    np.testing.assert_allclose(volumes(made), [1.0, 1.0])
    assert not made.warnings


def test_hollow_body_turned_inside_out_is_not_taken_for_solid(tmp_path):
    write_stl(tmp_path / 'hollow.stl', [
        turned(box((-1, -1, -1), (1, 1, 1))), box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))])
    made = model(mesh(tmp_path / 'hollow.stl'))
    np.testing.assert_allclose(volumes(made), [8.0])
    (warning,) = made.warnings
    assert 'of which it fills 88 %' in warning


def lidless(low, high):
    corners, triangles = box(low, high)
    return corners, triangles[2:]


def test_open_surfaces_that_are_apart_are_parts(tmp_path):
    """One hull was put around two legs, and nothing went through between them."""
    write_obj(tmp_path / 'legs.obj', {
        'leg1': lidless((0, 0, 0), (0.1, 0.1, 1)), 'leg2': lidless((2, 0, 0), (2.1, 0.1, 1)),
        'leg3': lidless((2, 3, 0), (2.1, 3.1, 1))})
    made = model(mesh(tmp_path / 'legs.obj'))
    assert not made.warnings
    np.testing.assert_allclose(boxes_of(made), [
        [0, 0, 0, 0.1, 0.1, 1], [2, 0, 0, 2.1, 0.1, 1], [2, 3, 0, 2.1, 3.1, 1]], atol=1e-12)


def test_sheets_that_stand_for_a_body_are_one_part(tmp_path):
    """Each alone would be flat, and touch nothing."""
    corners, triangles = box((0, 0, 0), (1, 1, 1))
    sides = {}
    for k in range(6):
        side = corners[triangles[2 * k:2 * k + 2]]
        middle = side.reshape(-1, 3).mean(axis=0)
        inset = (middle + 0.999 * (side - middle)).reshape(-1, 3)  # no corner in common
        sides[f'side{k}'] = inset, np.arange(6).reshape(2, 3)
    write_obj(tmp_path / 'sheets.obj', sides)
    made = model(mesh(tmp_path / 'sheets.obj'))
    assert not made.warnings
    np.testing.assert_allclose(boxes_of(made), [[0, 0, 0, 1, 1, 1]], atol=1e-3)


def test_part_inside_another_is_left_out(tmp_path):
    write_obj(tmp_path / 'nested.obj', {
        'case': box((-1, -1, -1), (1, 1, 1)), 'pin': box((0.5, 0.5, 0.5), (1, 1, 1)),
        'twin': box((-1, -1, -1), (1, 1, 1))})
    made = model(mesh(tmp_path / 'nested.obj'))
    np.testing.assert_allclose(volumes(made), [8.0])


def test_parts_that_are_not_convex_are_named_with_their_fill(tmp_path):
    sheet = np.array([[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float), np.array(
        [[0, 1, 2], [0, 2, 3]])
    write_obj(tmp_path / 'l.obj', {
        'ell': ELL, 'foot': box((1, 0, 0), (2, 1, 1)), 'sign': sheet})
    made = model(mesh(tmp_path / 'l.obj'))
    assert len(made.shapes) == 2
    flat, concave = made.warnings
    assert flat.startswith(f"collision 'thing::mesh': mesh '{tmp_path / 'l.obj'}': part 3, which "
                           'is not closed, touches nothing: it is flat')
    assert ("has 2 parts, of which 1 are not convex; of these the convex hull is used: part 1 "
            "('ell'), of which it fills 61 %") in concave


def test_open_surface_that_goes_below_its_hull_is_named(tmp_path):
    """A room without a ceiling was taken for a block, in silence."""
    outline = [(0, 0), (4, 0), (4, 4), (3.9, 4), (3.9, 0.1), (0.1, 0.1), (0.1, 4), (0, 4)]
    corners, triangles = prism(outline, 2.0)
    write_stl(tmp_path / 'room.stl', [(corners, triangles[6:-6])])
    (warning,) = model(mesh(tmp_path / 'room.stl')).warnings
    assert 'is not convex; its convex hull is used, parts of which are inside it' in warning
    corners, triangles = box((0, 0, 0), (1, 1, 1))
    write_stl(tmp_path / 'lidless.stl', [(corners, triangles[2:])])
    assert not model(mesh(tmp_path / 'lidless.stl')).warnings


@pytest.mark.parametrize('corner, scale, what', [
    (np.nan, '1 1 1', 'has corners that are not finite, or beyond 1e+09 m'),
    (1.0, '1 1 1e300', 'has corners that are not finite, or beyond 1e+09 m'),
    (1.0, '0 1 1', 'is flat, or has less than four points'),
    (1.0, '0 0 0', 'has no triangle with three corners')])
def test_mesh_without_an_inside_touches_nothing_and_is_named(tmp_path, corner, scale, what):
    corners, triangles = box((0, 0, 0), (1, 1, 1))
    corners[7, 2] = corner
    write_obj(tmp_path / 'bad.obj', {'bad': (corners, triangles)})
    made = model(mesh(tmp_path / 'bad.obj', f'<scale>{scale}</scale>'))
    (warning,) = made.warnings
    assert warning == (
        f"collision 'thing::mesh' touches nothing: mesh '{tmp_path / 'bad.obj'}' {what}")
    assert not made.shapes.size


def test_mesh_of_points_touches_nothing_and_is_named(tmp_path):
    (tmp_path / 'bad.obj').write_text('v 1 2 3\nv 1 2 3\nv 1 2 4\nf 1 2 3\n')
    (warning,) = model(mesh(tmp_path / 'bad.obj')).warnings
    assert warning.endswith("bad.obj' has no triangle with three corners")


def test_one_hull_where_the_file_asks_for_one(tmp_path):
    write_obj(tmp_path / 'l.obj', TWO)
    made = model(mesh(tmp_path / 'l.obj', attribute=' optimization="convex_hull"'))
    assert len(made.shapes) == 1 and not made.warnings


def test_fifty_parts(tmp_path):
    write_stl(tmp_path / 'comb.stl', [
        box((0.1 * k, 0, 0), (0.1 * k + 0.04, 1, 1)) for k in range(50)])
    made = model(mesh(tmp_path / 'comb.stl'), ('2.07 0.5 1.05 0 0 0', BALL))
    assert made.shape_names == (*['thing::mesh'] * 50, 'body::c') and not made.warnings
    sim = settled(made, 300)
    np.testing.assert_allclose(sim.q[:3], [2.07, 0.5, 1.04], atol=1e-6)
    assert len(sim.contacts) == 2, 'it lies between two teeth'


def test_mass_does_not_depend_on_pieces(tmp_path):
    apart = [box((0, 0, 0), (0.1, 0.1, 0.3)), box((0.2, 0, 0), (0.4, 0.1, 0.1))]
    write_stl(tmp_path / 'two.stl', apart)
    text = """<sdf version='1.12'><model name='m'><link name='l'><inertial auto='true'/>
      <collision name='c'><density>100</density><geometry>{}</geometry></collision>
      </link></model></sdf>"""
    whole = spr.load(text=text.format(
        mesh(tmp_path / 'two.stl', attribute=' optimization="convex_hull"')))
    pieces = spr.load(text=text.format(mesh(tmp_path / 'two.stl')))
    assert (len(whole.shapes), len(pieces.shapes)) == (1, 2)
    assert pieces.tree.tobytes() == whole.tree.tobytes()
    np.testing.assert_allclose(pieces.tree[1]['inertia'][0], 100 * (0.003 + 0.002), rtol=1e-6)


# what is simulated with them

def test_ball_rests_in_the_notch_of_an_ell(tmp_path):
    """On its hull it would lie on a slope."""
    write_obj(tmp_path / 'l.obj', TWO)
    sim = settled(model(mesh(tmp_path / 'l.obj'), ('0.2 0.05 0.2 0 0 0', BALL)))
    np.testing.assert_allclose(sim.q[2], 0.15, atol=1e-6)
    np.testing.assert_allclose(sim.qd, 0.0, atol=1e-9)


def test_ball_rests_in_a_cup(tmp_path):
    write_stl(tmp_path / 'cup.stl', CUP)
    surface = '<surface><friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode></friction></surface>'
    sensor = """<sensor name='skin' type='contact'><contact><collision>c</collision></contact>
      </sensor>"""
    sim = settled(model(mesh(tmp_path / 'cup.stl'), ('0.02 0.01 0.1 0 0 0', BALL), surface,
                        sensor))
    np.testing.assert_allclose(sim.q[2], 0.07, atol=1e-6)
    (contact,) = sim.contacts
    assert {contact.collision_a, contact.collision_b} == {'thing::mesh', 'body::c'}
    np.testing.assert_allclose(sim.sensors['skin'].reading.force, [0.0, 0.0, G], atol=1e-6)


def test_sensor_on_a_collision_feels_all_its_pieces(tmp_path):
    """A cup that stands on its head presses with its four walls, of which two are narrower."""
    write_stl(tmp_path / 'cup.stl', CUP)
    made = spr.load(text=f"""
      <sdf version='1.12'><model name='m'><pose>0 0 0.2 3.141592653589793 0 0</pose>
      <link name='cup'><inertial><pose>0 0 0.1 0 0 0</pose><mass>1</mass><inertia>
        <ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
        <collision name='other'><geometry><sphere><radius>0.01</radius></sphere></geometry>
        </collision>
        <collision name='c'><geometry>{mesh(tmp_path / 'cup.stl')}</geometry></collision>
        <sensor name='skin' type='contact'><contact><collision>c</collision></contact></sensor>
      </link></model></sdf>""", world='ground')
    sim = settled(made, 300)
    touching = {contact.id[1] for contact in sim.contacts}
    assert len(touching) == 4 and {contact.collision_b for contact in sim.contacts} == {'cup::c'}
    np.testing.assert_allclose(sim.sensors['skin'].reading.force, [0.0, 0.0, -G], atol=1e-5)
    assert len({contact.id for contact in sim.contacts}) == len(sim.contacts)


PLATE = [box((-1, -0.5, -0.1), (0, 0.5, 0)), box((0, -0.5, -0.1), (1, 0.5, 0))]
SLAB = """<collision name='p{0}'><pose>{0} 0 -0.05 0 0 0</pose><geometry><box>
  <size>{1} 1 0.1</size></box></geometry>{2}</collision>"""


def slide(geometry, body, surface, fixed=''):
    """Slide at 1 m/s over what begins at x = 0; return how high it went, and how it moves then."""
    sim = spr.Simulation(model(geometry, ('-0.2 0 0.05 0 0 0', body), surface, fixed=fixed))
    sim.step(n=20)
    sim.qd[:] = 1.0, 0, 0, 0, 0, 0
    highest = 0.0
    for _ in range(400):
        sim.step()
        highest = max(highest, sim.q[2] - 0.05)
    assert sim.q[0] > 0.05
    return highest, sim.qd.copy()


@pytest.mark.parametrize('mu', [0.0, 0.1])
@pytest.mark.parametrize('body, hop, loss', [
    ('<box><size>0.1 0.1 0.1</size></box>', 1e-9, 1e-6),
    ('<cylinder><radius>0.05</radius><length>0.1</length></cylinder>', 1e-7, 2e-6),
    (BALL, 2e-5, 1e-3)], ids=['box', 'cylinder', 'ball'])
def test_seam_of_even_pieces_neither_trips_nor_brakes(tmp_path, body, hop, loss, mu):
    """A box hit the edge of the second piece: it lost 72 % of its speed, and fell over."""
    write_stl(tmp_path / 'plate.stl', PLATE)
    write_stl(tmp_path / 'overlap.stl', [
        box((-1, -0.5, -0.1), (0.1, 0.5, 0)), box((-0.1, -0.5, -0.1), (1, 0.5, 0))])
    surface = f'<surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>'
    _, even = slide('<empty/>', body, surface, SLAB.format(0, 2, surface))
    boxes = ''.join(SLAB.format(x, 1, surface) for x in (-0.5, 0.5))
    for geometry, fixed in ((mesh(tmp_path / 'plate.stl'), ''),
                            (mesh(tmp_path / 'overlap.stl'), ''), ('<empty/>', boxes)):
        highest, velocity = slide(geometry, body, surface, fixed)
        assert highest < hop
        np.testing.assert_allclose(velocity[0], even[0], atol=loss)


def test_run_with_pieces_goes_on_bit_for_bit(tmp_path):
    write_stl(tmp_path / 'cup.stl', CUP)
    made = model(mesh(tmp_path / 'cup.stl'), ('0.02 0.01 0.1 0 0 0', BALL))
    sim = spr.Simulation(made)
    sim.qd[:2] = 1.0, -0.7
    sim.step(n=200)
    kept = sim.save()
    sim.step(n=200)
    again = spr.Simulation(model(mesh(tmp_path / 'cup.stl'), ('0.02 0.01 0.1 0 0 0', BALL)))
    again.restore(kept)
    again.step(n=200)
    assert again.save() == sim.save()


# cutting

def test_ell_is_cut_and_kept(tmp_path, cutter, monkeypatch):
    write_stl(tmp_path / 'l.stl', [ELL])
    first = model(cut_mesh(tmp_path / 'l.stl'), ('0.2 0.2 0.2 0 0 0', BALL))
    assert len(first.shapes) == 3 and not first.warnings
    np.testing.assert_allclose(sum(volumes(first)), 0.007, rtol=0.01)
    (kept,) = (tmp_path / 'cache' / 'pieces').iterdir()
    before = kept.read_bytes()

    def refuse(*_, **__):
        raise AssertionError('cut again')
    with monkeypatch.context() as patch:
        patch.setattr(cutter, 'run_coacd', refuse)
        second = model(cut_mesh(tmp_path / 'l.stl'), ('0.2 0.2 0.2 0 0 0', BALL))
        with pytest.raises(AssertionError, match='cut again'):
            model(cut_mesh(tmp_path / 'l.stl', '<max_convex_hulls>3</max_convex_hulls>'))
    for name in ('shapes', 'vertices', 'faces', 'neighbours'):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    for broken in (b'', before[:-100], before[:200] + b'broken' + before[206:], before[::-1]):
        kept.write_bytes(broken)
        third = model(cut_mesh(tmp_path / 'l.stl'), ('0.2 0.2 0.2 0 0 0', BALL))
        assert third.vertices.tobytes() == first.vertices.tobytes()
        assert kept.read_bytes() == before, 'made again'


def test_killed_cut_leaves_nothing_for_good(tmp_path):
    """Each process that ended while it wrote left a file under its own number."""
    file = tmp_path / 'pieces' / 'l.npz'
    corners = np.arange(12.0).reshape(4, 3)
    ran = subprocess.run([sys.executable, '-c', f"""
import os, sys
from pathlib import Path
import numpy
from spr_dynamics.model import cutting
os.replace = lambda *_: os._exit(7)
cutting.keep_pieces(Path({str(file)!r}), [numpy.zeros((4, 3))])"""], timeout=60)
    assert ran.returncode == 7
    assert len(list(file.parent.iterdir())) == 1 and cutting.kept_pieces(file) is None
    cutting.keep_pieces(file, [corners])
    assert list(file.parent.iterdir()) == [file]
    (kept,) = cutting.kept_pieces(file)
    np.testing.assert_array_equal(kept, corners)


def test_cut_goes_on_where_nothing_can_be_kept(tmp_path, cutter, monkeypatch):
    write_stl(tmp_path / 'l.stl', [ELL])
    (tmp_path / 'file').write_text('')
    monkeypatch.setattr(cutting, 'cache_folder', lambda: tmp_path / 'file')
    assert len(model(cut_mesh(tmp_path / 'l.stl')).shapes) == 2


def test_cut_of_which_nothing_is_left_gives_the_hull(tmp_path, cutter, monkeypatch):
    """And says so: without a piece it would touch nothing."""
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    monkeypatch.setattr(cutter, 'run_coacd', lambda *_, **__: [flat])
    for parts in {'ell': ELL}, {'ell': ELL, 'foot': box((1, 0, 0), (2, 1, 1))}:
        write_obj(tmp_path / 'parts.obj', parts)
        made = model(cut_mesh(tmp_path / 'parts.obj'))
        assert len(made.shapes) == len(parts)
        (warning,) = made.warnings
        assert 'not cut into convex pieces, which leaves only splinters without a volume; it ' in (
            warning)


def test_peg_goes_through_the_hole_of_a_plate(tmp_path, cutter):
    write_stl(tmp_path / 'plate.stl', [frame(0.1, 0.03, 0.02)])
    peg = '<box><size>0.055 0.055 0.2</size></box>'
    made = model(cut_mesh(tmp_path / 'plate.stl'), ('0 0 0.2 0 0 0', peg))
    assert not made.warnings
    np.testing.assert_allclose(sum(volumes(made)), (0.2 ** 2 - 0.06 ** 2) * 0.02, rtol=0.01)
    sim = settled(made, 400)
    assert sim.q[2] < 0.02 - 0.1, 'the whole peg is below'
    hull = model(mesh(tmp_path / 'plate.stl'), ('0 0 0.2 0 0 0', peg))
    assert settled(hull, 400).q[2] == pytest.approx(0.12, abs=1e-3)


def test_no_more_pieces_than_the_file_allows(tmp_path, cutter):
    """A convex part takes one of them; what is left is for the ell."""
    write_obj(tmp_path / 'l.obj', {'ell': ELL, 'foot': box((1, 0, 0), (2, 1, 1))})
    wanted = cut_mesh(tmp_path / 'l.obj', '<max_convex_hulls>{}</max_convex_hulls>')
    assert len(model(wanted.format(3)).shapes) == 3
    assert len(model(wanted.format(2)).shapes) == 2
    assert len(model(wanted.format(1)).shapes) == 1


def test_parts_that_are_convex_are_not_cut(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'coacd', None)
    write_obj(tmp_path / 'l.obj', TWO)
    made = model(cut_mesh(tmp_path / 'l.obj'))
    assert len(made.shapes) == 2 and not made.warnings


def test_without_the_cutter_the_hull_is_used_and_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'coacd', None)
    write_stl(tmp_path / 'l.stl', [ELL])
    made = model(cut_mesh(tmp_path / 'l.stl'))
    (warning,) = made.warnings
    assert warning == (
        f"collision 'thing::mesh': mesh '{tmp_path / 'l.stl'}' is not cut into convex pieces, "
        "which needs the extra [mesh] (pip install 'spr_dynamics[mesh]'); it is not convex; its "
        'convex hull is used, of which it fills 61 %')
    assert len(made.shapes) == 1


@pytest.mark.parametrize('name', ['max_convex_hulls', 'voxel_resolution'])
@pytest.mark.parametrize('text', ['0', '-3', 'many', '2.5', '4294967296', 'nan'])
def test_numbers_that_make_no_sense_are_refused_with_file_and_line(tmp_path, name, text):
    file = tmp_path / 'bad.sdf'
    file.write_text(f"""<sdf version='1.12'><model name='m'><link name='l'><collision name='c'>
      <geometry>{cut_mesh('l.stl', f'''
        <{name}>{text}</{name}>''')}</geometry></collision></link></model></sdf>""")
    with pytest.raises(SdfError) as refusal:
        spr.load(file)
    assert str(refusal.value).startswith(f"{file}:3: collision 'c': <{name}> '{text}' ")
    assert main(['check', str(file)]) == 1


def test_unknown_optimization_is_named(tmp_path):
    """And counts as none, as in libsdformat."""
    write_stl(tmp_path / 'l.stl', CUP)
    made = model(mesh(tmp_path / 'l.stl', attribute=' optimization="convex_hul"'))
    (warning,) = made.warnings
    assert "optimization='convex_hul' of <mesh> is unknown and is ignored (did you mean " \
        "'convex_hull'?)" in warning
    (thing,) = made.assembly.links
    assert thing.collisions[0].element.geometry.optimization == ''


@pytest.mark.parametrize('attribute', ['', ' optimization="convex_hull"'])
def test_settings_of_a_cut_that_nobody_asked_for_are_named(tmp_path, attribute):
    """They were ignored without a word."""
    write_stl(tmp_path / 'box.stl', [box((0, 0, 0), (1, 1, 1))])
    file = sdf_of(tmp_path, mesh('box.stl', """
      <convex_decomposition><voxel_resolution>1</voxel_resolution>
      </convex_decomposition>""", attribute))
    assert list(spr.load(file).warnings) == [
        f"{file}:4: collision 'c': <convex_decomposition> is ignored: it needs "
        "optimization='convex_decomposition' of <mesh>"]


@pytest.mark.parametrize('number, taken', [
    (7999, 8000), (8000, None), (1000000, None), (1000001, 1000000)])
def test_number_of_voxels_that_the_cutter_cannot_take_is_named(tmp_path, number, taken):
    """The nearest that it can was taken without a word."""
    write_stl(tmp_path / 'box.stl', [box((0, 0, 0), (1, 1, 1))])
    file = sdf_of(tmp_path, cut_mesh('box.stl', f"""<max_convex_hulls>4294967295
      </max_convex_hulls>
      <voxel_resolution>{number}</voxel_resolution>"""))
    assert list(spr.load(file).warnings) == ([] if taken is None else [
        f"{file}:5: collision 'c': <voxel_resolution> '{number}' counts as {taken} "
        '(possible: 8000 to 1000000)'])


def test_check_warns_as_load_does(tmp_path, capsys):
    write_stl(tmp_path / 'l.stl', [ELL])
    file = tmp_path / 'l.sdf'
    file.write_text(f"""<sdf version='1.12'><model name='m'><link name='l'>
      <collision name='c'><geometry>{mesh('l.stl')}</geometry></collision></link></model></sdf>""")
    (warning,) = spr.load(file).warnings
    assert main(['check', str(file)]) == 0
    assert capsys.readouterr().err == f'warning: {file}:2: {warning}\n'
