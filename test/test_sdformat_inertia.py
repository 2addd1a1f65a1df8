"""Mass properties: defaults, what is computed from collisions, and what is refused."""

import sys

import numpy as np
import pytest

import needs
from spr_dynamics.errors import ModelError, SdfError
from spr_dynamics.model.build import build
from spr_dynamics.sdformat import assemble, read
from spr_dynamics.sdformat.schema import ADDED_MASS_TERMS
from spr_dynamics.sdformat.solids import SOLIDS

ROUNDOFF = 1e-9
SINGLE = 1e-6  # meshes are stored in single precision
SAMPLES = 400_000
SAMPLED = 0.05  # on means and squares of a few metres; some six deviations for that many points


def box_collision(name='c', pose='0 0 0 0 0 0', density='', size='1 2 3', relative_to=''):
    return (f'<collision name="{name}"><pose relative_to="{relative_to}">{pose}</pose>{density}'
            f'<geometry><box><size>{size}</size></box></geometry></collision>')


def one_link(inertial, collisions='', rest=''):
    return (f'<sdf version="1.12"><model name="m">\n<link name="a">\n{inertial}\n{collisions}'
            f'</link>{rest}</model></sdf>')


def inertial_of(inertial, collisions='', rest=''):
    return read(text=one_link(inertial, collisions, rest)).models[0].links[0].inertial


def auto(collisions, inside='<density>1</density>', rest=''):
    return inertial_of(f'<inertial auto="true">{inside}</inertial>', collisions, rest)


def problem(inertial, collisions=''):
    with pytest.raises(SdfError) as caught:
        read(text=one_link(inertial, collisions))
    return caught.value.diagnostics[0]


def shape(geometry):
    return f'<collision name="c"><geometry>{geometry}</geometry></collision>'


MEASURED = {  # what libsdformat computes at density 1: mass, moments, height of the centre
    'box': ('<box><size>1 2 3</size></box>', 6, (6.5, 5, 2.5), 0),
    'sphere': ('<sphere><radius>2</radius></sphere>', 33.510321638291124,
               (53.6165146212658,) * 3, 0),
    'cylinder': ('<cylinder><radius>2</radius><length>3</length></cylinder>', 37.69911184307752,
                 (65.97344572538566, 65.97344572538566, 75.39822368615503), 0),
    'capsule': ('<capsule><radius>2</radius><length>3</length></capsule>', 71.20943348136863,
                (270.38640771896155, 270.38640771896155, 129.01473830742083), 0),
    'ellipsoid': ('<ellipsoid><radii>1 2 3</radii></ellipsoid>', 25.132741228718345,
                  (65.3451271946677, 50.26548245743669, 25.132741228718345), 0),
    'cone': ('<cone><radius>2</radius><length>3</length></cone>', 12.566370614359172,
             (11.780972450961723, 11.780972450961723, 15.079644737231007), -0.75),
}


@pytest.mark.parametrize('name', MEASURED)
def test_shapes_weigh_what_libsdformat_says(name):
    geometry, mass, moments, height = MEASURED[name]
    inertial = auto(shape(geometry))
    np.testing.assert_allclose(inertial.mass, mass, rtol=ROUNDOFF)
    np.testing.assert_allclose(inertial.inertia, np.diag(moments), rtol=ROUNDOFF, atol=ROUNDOFF)
    np.testing.assert_allclose(inertial.pose.p, [0, 0, height], atol=ROUNDOFF)
    assert inertial.is_auto


INSIDE = {  # with radius 2, length 3
    'sphere': lambda x, y, z: x**2 + y**2 + z**2 < 4,
    'cylinder': lambda x, y, z: (x**2 + y**2 < 4) & (abs(z) < 1.5),
    'capsule': lambda x, y, z: x**2 + y**2 + np.maximum(abs(z) - 1.5, 0)**2 < 4,
    'ellipsoid': lambda x, y, z: x**2 + y**2 / 4 + z**2 / 9 < 1,
    'cone': lambda x, y, z: (np.hypot(x, y) < 2 * (0.5 - z / 3)) & (abs(z) < 1.5),
}


@pytest.mark.parametrize('name', INSIDE)
def test_shapes_weigh_what_points_inside_them_weigh(name):
    """A second road to the same numbers: count points in a cube around the shape."""
    inertial = auto(shape(MEASURED[name][0]))
    points = np.random.default_rng(1).uniform(-3.5, 3.5, (SAMPLES, 3))
    inside = points[INSIDE[name](*points.T)]
    np.testing.assert_allclose(7.0**3 * len(inside) / SAMPLES, inertial.mass, rtol=SAMPLED)
    np.testing.assert_allclose(inside.mean(axis=0), inertial.pose.p, atol=SAMPLED)
    spread = np.cov(inside.T)
    np.testing.assert_allclose(
        np.trace(spread) * np.eye(3) - spread, inertial.inertia / inertial.mass, atol=SAMPLED)


def test_every_shape_with_a_volume_is_in_the_table():
    assert {kind.__name__.lower() for kind in SOLIDS} == set(MEASURED)


def test_density_is_that_of_the_collision_then_of_the_inertial_then_water():
    own = '<density>2</density>'
    assert auto(box_collision(density=own)).mass == pytest.approx(12)
    assert auto(box_collision()).mass == pytest.approx(6)
    assert auto(box_collision(), '').mass == pytest.approx(6000)
    both = box_collision('c', density=own) + box_collision('d')
    assert auto(both).mass == pytest.approx(18)


def test_the_density_of_water_is_named_in_a_warning():
    warnings = read(text=one_link('<inertial auto="true"/>', box_collision())).warnings
    assert str(warnings[0]).startswith("<text>:4: collision 'c': <density> is missing")
    assert not read(text=one_link('<inertial auto="true"><mass>1</mass></inertial>',
                                  box_collision())).warnings


def test_a_mass_that_is_given_scales_the_rest():
    inertial = auto(box_collision(pose='0.5 0 0 0 0 0'), '<mass>12</mass>')
    assert inertial.mass == pytest.approx(12)
    np.testing.assert_allclose(inertial.inertia, np.diag([13, 10, 5]), rtol=ROUNDOFF)
    np.testing.assert_allclose(inertial.pose.p, [0.5, 0, 0], atol=ROUNDOFF)


def test_halves_of_a_turned_box_weigh_what_the_box_weighs():
    """Collisions add up about their common centre, in the axes of the link."""
    turned = '1 2 3 0.3 -0.4 0.5'
    whole = auto(box_collision(pose=turned, size='2 2 3'))
    frame = f'<frame name="f"><pose>{turned}</pose></frame>'
    halves = auto(
        box_collision('c', '-0.5 0 0 0 0 0', relative_to='f')
        + box_collision('d', '0.5 0 0 0 0 0', relative_to='f'), rest=frame)
    assert halves.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(halves.pose.p, [1, 2, 3], atol=ROUNDOFF)
    np.testing.assert_allclose(halves.inertia, whole.inertia, atol=ROUNDOFF)
    np.testing.assert_allclose(np.linalg.eigvalsh(whole.inertia), [12 * 8 / 12, 13, 13],
                               atol=ROUNDOFF)


def test_links_of_nested_models_and_worlds_are_computed():
    link = f'<link name="a"><inertial auto="true"/>{box_collision()}</link>'
    root = read(text=f'<sdf version="1.12"><world name="w"><model name="m"><model name="n">{link}'
                     '</model></model></world></sdf>')
    assert root.worlds[0].models[0].models[0].links[0].inertial.mass == pytest.approx(6000)
    assert assemble(root).links[0].element.inertial.mass == pytest.approx(6000)


def test_what_is_written_beside_auto_is_named_in_a_warning():
    root = read(text=one_link(
        '<inertial auto="true"><pose>9 9 9 0 0 0</pose><density>1</density></inertial>',
        box_collision()))
    assert "link 'a': <inertial auto='true'> computes the pose" in str(root.warnings[0])
    assert not root.models[0].links[0].inertial.pose.p.any()


AUTO = '<inertial auto="true"/>'
REFUSED = {
    'nothing': (AUTO, '', 'ELEMENT_MISSING',
                "<text>:3: link 'a': <inertial auto='true'> needs a <collision>"),
    'plane': (AUTO, shape('<plane/>'), 'LINK_INERTIA_INVALID',
              "<text>:4: collision 'c': <inertial auto='true'> needs shapes with a volume, and "
              'this one is <plane>'),
    'empty': (AUTO, '<collision name="c"/>', 'LINK_INERTIA_INVALID', 'this one is <empty>'),
    'heightmap': (AUTO, shape('<heightmap><uri>h.png</uri></heightmap>'), 'LINK_INERTIA_INVALID',
                  'this one is <heightmap>'),
    'density': (AUTO, box_collision(density='<density>0</density>'), 'LINK_INERTIA_INVALID',
                "collision 'c': <density> '0' is not above zero"),
    'huge_sphere': (AUTO, shape('<sphere><radius>1e200</radius></sphere>'), 'LINK_INERTIA_INVALID',
                    "collision 'c': <inertial auto='true'> comes to a mass that is too large"),
    'huge_box': (AUTO, box_collision(size='1e200 1e200 1'), 'LINK_INERTIA_INVALID',
                 "link 'a': <inertial auto='true'> comes to a mass that is too large"),
    'tiny_box': (AUTO, box_collision(size='1e-200 1e-200 1'), 'LINK_INERTIA_INVALID',
                 "link 'a': <inertial auto='true'> comes to a mass that is too large"),
    'tiny_capsule': (AUTO, shape('<capsule><radius>1e-200</radius></capsule>'),
                     'LINK_INERTIA_INVALID', "link 'a': <inertial auto='true'> comes to a mass"),
    'mass': ('<inertial><mass>-1</mass></inertial>', '', 'LINK_INERTIA_INVALID',
             "link 'a': <mass> '-1' is out of range (needs at least 0)"),
    'auto_mass': ('<inertial auto="true"><mass>-1</mass></inertial>', box_collision(),
                  'LINK_INERTIA_INVALID', "<mass> '-1' is out of range"),
}


@pytest.mark.parametrize('name', REFUSED)
def test_what_has_no_inertia_is_refused(name):
    inertial, collisions, code, message = REFUSED[name]
    found = problem(inertial, collisions)
    assert found.code == code
    assert message in str(found)


def test_a_frame_that_is_not_there_is_the_only_problem():
    """Auto inertia of a collision that hangs on nothing says nothing more."""
    with pytest.raises(SdfError) as caught:
        read(text=one_link(AUTO, box_collision(relative_to='zz')))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [
        'POSE_RELATIVE_TO_INVALID']


def added_mass(**terms):
    inside = ''.join(f'<{name}>{value}</{name}>' for name, value in terms.items())
    return f'<inertial>\n<fluid_added_mass>{inside}</fluid_added_mass></inertial>'


def test_added_mass_is_a_symmetric_matrix():
    terms = dict(zip(ADDED_MASS_TERMS, range(1, 22)))
    matrix = inertial_of(added_mass(**terms)).fluid_added_mass
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix[np.triu_indices(6)], range(1, 22))
    assert (ADDED_MASS_TERMS[0], ADDED_MASS_TERMS[8], ADDED_MASS_TERMS[-1]) == ('xx', 'yp', 'rr')
    assert inertial_of('').fluid_added_mass is None


def test_added_mass_stays_beside_auto_inertia():
    """It is lost in libsdformat."""
    inertial = auto(box_collision(), '<density>1</density><fluid_added_mass><xx>7</xx>'
                                     '</fluid_added_mass>')
    assert inertial.fluid_added_mass[0, 0] == 7
    assert inertial.mass == pytest.approx(6)


def test_added_mass_is_not_simulated_yet():
    """Zero changes nothing, and neither does the water around what stands still."""
    with pytest.raises(ModelError, match="<text>:3: link 'a': <fluid_added_mass> is not simulate"):
        build(assemble(read(text=one_link(added_mass(rr=1)))))
    build(assemble(read(text=one_link(added_mass(rr=0)))))
    build(assemble(read(text=one_link(added_mass(rr=1), rest='<static>1</static>'))))


TETRAHEDRON = """solid t
facet normal 0 0 -1
outer loop
vertex 0 0 0
vertex 0 1 0
vertex 1 0 0
endloop
endfacet
facet normal 0 -1 0
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 0 1
endloop
endfacet
facet normal -1 0 0
outer loop
vertex 0 0 0
vertex 0 0 1
vertex 0 1 0
endloop
endfacet
facet normal 1 1 1
outer loop
vertex 1 0 0
vertex 0 1 0
vertex 0 0 1
endloop
endfacet
endsolid t
"""


LYING_ON_ITS_SIDE = (
    '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>'
    '<up_axis>Y_UP</up_axis></asset></COLLADA>')


def mesh_link(folder, inside='', name='part.stl'):
    file = folder / 'model.sdf'
    file.write_text(one_link('<inertial auto="true"><density>6</density></inertial>', shape(
        f'<mesh><uri>{name}</uri>{inside}</mesh>')))
    return file


@pytest.fixture
def reader_of_meshes():
    for name in ('trimesh', 'collada'):
        needs.module(name)


@pytest.mark.usefixtures('reader_of_meshes')
def test_a_mesh_weighs_what_it_encloses(tmp_path):
    """A corner of a cube, stretched to 1 x 2 x 3; its integrals are known."""
    (tmp_path / 'part.stl').write_text(TETRAHEDRON)
    file = mesh_link(tmp_path, '<scale>1 2 3</scale>')
    inertial = read(file).models[0].links[0].inertial
    size = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(inertial.mass, 6, rtol=SINGLE)
    np.testing.assert_allclose(inertial.pose.p, size / 4, rtol=SINGLE)
    spread = 6 * (np.diag(size**2) * 3 / 80 - (np.outer(size, size) - np.diag(size**2)) / 80)
    np.testing.assert_allclose(inertial.inertia, np.trace(spread) * np.eye(3) - spread,
                               rtol=SINGLE, atol=SINGLE)


@pytest.mark.usefixtures('reader_of_meshes')
@pytest.mark.parametrize('name, content, inside, message', [
    ('part.stl', None, '', 'is not found'),
    ('part.dae', '<COLLADA', '', "can't be read: "),
    ('part.dae', LYING_ON_ITS_SIDE, '', "can't be read: its up_axis is Y_UP"),
    ('part.stl', TETRAHEDRON.replace('vertex 0 0 1', 'vertex 0 0 2', 1), '',
     'is not a closed surface'),
    ('part.stl', TETRAHEDRON, '<submesh><name>t</name></submesh>', 'is a <submesh>'),
])
def test_a_mesh_that_encloses_nothing_is_refused(tmp_path, name, content, inside, message):
    if content:
        (tmp_path / name).write_text(content)
    with pytest.raises(SdfError, match=f"can't use mesh '{name}', which {message}"):
        read(mesh_link(tmp_path, inside, name))


@pytest.mark.usefixtures('reader_of_meshes')
def test_a_mesh_in_the_network_is_not_fetched(tmp_path):
    with pytest.raises(SdfError, match='is in the network, from where nothing is fetched'):
        read(mesh_link(tmp_path, name='https://example.com/part.stl'))


def test_a_mesh_needs_readers(tmp_path, monkeypatch):
    """The message says what to install, and what to do without."""
    monkeypatch.setitem(sys.modules, 'trimesh', None)
    with pytest.raises(SdfError) as caught:
        read(mesh_link(tmp_path))
    found, = caught.value.diagnostics
    assert found.code == 'LINK_INERTIA_INVALID'
    assert ("collision 'c': <inertial auto='true'> can't use mesh 'part.stl', which needs the "
            "extra [mesh] (pip install 'spr_dynamics[mesh]'); or write <mass>" in found.message)
