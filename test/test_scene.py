"""What can be drawn: shapes with their colours, closed surfaces, arrows of contact forces."""
import dataclasses
import math

import numpy as np
import pytest

import needs
import spr_dynamics
from spr_dynamics.scene.arrows import contact_arrows, metres_per_newton, size
from spr_dynamics.scene.shapes import GHOST, PLAIN, shapes
from spr_dynamics.scene.surfaces import ears, SIDES, surface

# what a polygon of SIDES corners covers of its circle
ROUND = SIDES / (2.0 * math.pi) * math.sin(2.0 * math.pi / SIDES)

SHAPES = """
<sdf version='1.12'>
  <model name='m'>
    <link name='a'>
      <visual name='box'><geometry><box><size>1 2 3</size></box></geometry></visual>
      <visual name='cylinder'>
        <geometry><cylinder><radius>0.5</radius><length>2</length></cylinder></geometry>
      </visual>
      <visual name='cone'>
        <geometry><cone><radius>0.5</radius><length>3</length></cone></geometry>
      </visual>
      <visual name='ell'>
        <geometry><polyline>
          <point>0 0</point><point>2 0</point><point>2 1</point><point>1 1</point>
          <point>1 3</point><point>0 3</point><point>0 0</point><height>0.5</height>
        </polyline></geometry>
      </visual>
      <visual name='backwards'>
        <geometry><polyline>
          <point>0 3</point><point>1 3</point><point>1 1</point><point>2 1</point>
          <point>2 0</point><point>0 0</point><height>0.5</height>
        </polyline></geometry>
      </visual>
      <visual name='sphere'><geometry><sphere><radius>0.5</radius></sphere></geometry></visual>
      <visual name='ellipsoid'>
        <geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry>
      </visual>
      <visual name='capsule'>
        <geometry><capsule><radius>0.5</radius><length>2</length></capsule></geometry>
      </visual>
    </link>
  </model>
</sdf>
"""
EXACT = {
    'box': 6.0,
    'cylinder': ROUND * math.pi * 0.5 ** 2 * 2.0,
    'cone': ROUND * math.pi * 0.5 ** 2 * 3.0 / 3.0,
    'ell': 0.5 * (2.0 + 2.0),
    'backwards': 0.5 * (2.0 + 2.0),
}
BALL = 4.0 / 3.0 * math.pi
SMOOTH = {
    'sphere': BALL * 0.5 ** 3,
    'ellipsoid': BALL * 6.0,
    'capsule': BALL * 0.5 ** 3 + math.pi * 0.5 ** 2 * 2.0,
}
HALF_LENGTHS = {'sphere': [0.5] * 3, 'ellipsoid': [1, 2, 3], 'capsule': [0.5, 0.5, 1.5],
                'cone': [0.5, 0.5, 1.5], 'box': [0.5, 1.0, 1.5]}


@pytest.fixture(scope='module')
def geometries():
    """Return the shapes of SHAPES by the name of their visual."""
    model = spr_dynamics.load(text=SHAPES, fix_base=True)
    return {shape.name.removeprefix('a::'): shape.geometry for shape in shapes(model)}


def volume(covering):
    a, b, c = (covering.points[covering.triangles[:, k]] for k in range(3))
    return np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0


def assert_closed(covering):
    """Each edge has two triangles, which run along it in opposite directions."""
    ways = np.vstack([covering.triangles[:, [0, 1]], covering.triangles[:, [1, 2]],
                      covering.triangles[:, [2, 0]]])
    once = {tuple(way) for way in ways.tolist()}
    assert len(once) == len(ways)
    assert once == {(b, a) for a, b in once}


@pytest.mark.parametrize('name', [*EXACT, *SMOOTH])
def test_surfaces_are_closed_and_turned_outward(geometries, name):
    covering = surface(geometries[name])
    assert_closed(covering)
    if name in EXACT:
        assert volume(covering) == pytest.approx(EXACT[name], rel=1e-12)
    else:  # corners lie on the surface, so the inside of the triangles is a little less
        assert 0.96 * SMOOTH[name] < volume(covering) < SMOOTH[name]
    if name in HALF_LENGTHS:
        np.testing.assert_allclose(covering.points.max(axis=0), HALF_LENGTHS[name], atol=1e-12)
        np.testing.assert_allclose(covering.points.min(axis=0), np.negative(HALF_LENGTHS[name]),
                                   atol=1e-12)


def test_plane_is_a_sheet_of_its_size_across_its_normal():
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><model name='m'><static>true</static><link name='a'>
          <visual name='v'><geometry><plane><normal>0 0.6 0.8</normal><size>2 3</size></plane>
          </geometry></visual></link></model></sdf>""")
    (sheet,) = (surface(shape.geometry) for shape in shapes(model))
    np.testing.assert_allclose(sheet.points @ [0.0, 0.6, 0.8], 0.0, atol=1e-15)
    a, b, c = sheet.points[sheet.triangles[0]]
    np.testing.assert_allclose(np.cross(b - a, c - a), [0.0, 6.0 * 0.6, 6.0 * 0.8])


def test_polyline_whose_sides_cross_is_refused():
    with pytest.raises(ValueError, match='whose sides cross'):
        ears(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))


def test_heightmap_is_refused_by_name():
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><model name='m'><static>true</static><link name='a'>
          <visual name='hills'><geometry><heightmap><uri>hills.png</uri></heightmap></geometry>
          </visual></link></model></sdf>""")
    (hills,) = shapes(model)
    with pytest.raises(ValueError, match='is of type heightmap, which is not drawn yet'):
        surface(hills.geometry)


def test_mesh_has_the_surface_of_its_file(tmp_path):
    trimesh = needs.module('trimesh')
    needs.module('collada')
    trimesh.creation.box(extents=[1.0, 2.0, 3.0]).export(tmp_path / 'box.stl')
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><model name='m'><static>true</static><link name='a'>
          <visual name='v'><geometry><mesh><uri>box.stl</uri><scale>0.1 0.1 -0.1</scale></mesh>
          </geometry></visual></link></model></sdf>""")
    (shape,) = shapes(model)
    covering = surface(shape.geometry, [tmp_path / 'box.stl'])
    assert_closed(covering)
    assert volume(covering) == pytest.approx(6e-3)
    with pytest.raises(ValueError, match='is not found'):
        surface(shape.geometry, [tmp_path / 'nowhere.stl'])


def test_colours_are_those_of_the_file():
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><model name='m'><static>true</static>
          <link name='a'>
            <visual name='red'><geometry><sphere/></geometry>
              <material><diffuse>1 0 0 0.5</diffuse></material></visual>
            <visual name='none'><geometry><sphere/></geometry></visual>
            <collision name='unseen'><geometry><sphere/></geometry></collision>
          </link>
          <link name='b'>
            <visual name='empty'/>
            <collision name='seen'><pose>1 2 3 0 0 0</pose><geometry><sphere/></geometry>
            </collision>
          </link>
        </model></sdf>""")
    red, none, seen = shapes(model)
    assert [shape.name for shape in (red, none, seen)] == ['a::red', 'a::none', 'b::seen']
    assert red.colour.tolist() == [1.0, 0.0, 0.0, 0.5] and red.has_colour
    assert none.colour is PLAIN and not none.has_colour
    assert seen.colour is GHOST
    assert seen.link == 1
    assert seen.T_LS.p.tolist() == [1.0, 2.0, 3.0]


def test_arrows_of_a_standing_robot_carry_its_weight():
    model = spr_dynamics.load(needs.REPOSITORY / 'models' / 'hopper.sdf', world='ground')
    simulation = spr_dynamics.Simulation(model)
    simulation.step(n=1000)
    arrows = contact_arrows(simulation.contacts)
    assert len(arrows) == 4
    np.testing.assert_allclose(sum(arrow.force for arrow in arrows), [0.0, 0.0, 10.8 * 9.8],
                               atol=0.01)
    # the weight is drawn half as long as the robot is large
    assert metres_per_newton(model) * 10.8 * 9.81 == pytest.approx(0.5 * size(model))


def test_arrow_is_on_the_body_that_moves():
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><world name='w'>
          <model name='ball'><pose>0 0 1 0 0 0</pose><link name='l'>
            <inertial><mass>2</mass></inertial>
            <collision name='c'><geometry><sphere><radius>0.5</radius></sphere></geometry>
            </collision></link></model>
          <model name='table'><static>true</static><link name='l'>
            <collision name='c'><geometry><box><size>2 2 1</size></box></geometry></collision>
          </link></model></world></sdf>""")
    simulation = spr_dynamics.Simulation(model)
    simulation.step(n=200)
    assert simulation.contacts['body_b'].tolist() == [0]
    (arrow,) = contact_arrows(simulation.contacts)
    np.testing.assert_allclose(arrow.force, [0.0, 0.0, 2.0 * 9.8], atol=1e-3)
    np.testing.assert_allclose(arrow.point, [0.0, 0.0, 0.5], atol=1e-3)


def test_size_is_of_what_moves():
    model = spr_dynamics.load(text="""
        <sdf version='1.12'><world name='w'>
          <model name='far'><static>true</static><pose>100 0 0 0 0 0</pose><link name='l'/></model>
          <model name='bar'><link name='l'><inertial><pose>3 4 0 0 0 0</pose></inertial></link>
          </model></world></sdf>""")
    assert size(model) == pytest.approx(5.0)
    still = dataclasses.replace(model, links=model.links[:0], shapes=model.shapes[:0])
    assert size(still) == 0.01
