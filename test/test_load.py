"""From a file to a model in one call: where things are looked up, and what else is taken."""
import re

import numpy as np
import pytest

import needs
import spr_dynamics as spr
from spr_dynamics.errors import ModelError, SdfError

MODELS = needs.REPOSITORY / 'models'
ARM = MODELS / 'arm7.sdf'
WORLD = """
<sdf version='1.12'><world name='w'>
  <include><uri>{uri}</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>
  <include><uri>{uri}</uri><name>right</name><pose>0 -1 0 0 0 0</pose></include>
</world></sdf>"""


def test_world_of_included_robots_moves():
    model = spr.load(text=WORLD.format(uri='model://cart_pole.sdf'), model_paths=[MODELS])
    assert model.joint_names == ('left::slider', 'left::hinge', 'right::slider', 'right::hinge')
    sim = spr.Simulation(model)
    sim.q[1] = sim.q[3] = 0.1
    sim.step(n=200)
    np.testing.assert_array_equal(sim.q[:2], sim.q[2:])
    assert abs(sim.q[1]) > 0.11


def test_package_is_looked_up_where_the_caller_says():
    asked = []

    def share(package):
        asked.append(package)
        return MODELS.parent

    model = spr.load(text=WORLD.format(uri='package://robots/models/cart_pole.sdf'),
                     package_path=share)
    assert model.nv == 4 and set(asked) == {'robots'}


@pytest.mark.parametrize('arguments, error, message', [
    ({}, TypeError, 'load: the path of a file, or text=, expected, and not both'),
    ({'source': 'a.sdf', 'text': ''}, TypeError, 'load: the path of a file, or text=, expected, '),
    ({'text': 5}, TypeError, 'text: the text of a file expected, got 5'),
    ({'source': ARM, 'world': 'moon'}, ModelError,
     "world = 'moon': no such file, and none of 'auto', 'empty', 'ground'"),
    ({'source': ARM, 'world': 'grund'}, ModelError, "'ground' (did you mean 'ground'?)"),
    ({'source': ARM, 'world': []}, TypeError,
     "world: 'auto', 'empty', 'ground' or the path of a world file expected, got []"),
    ({'source': ARM, 'pose': [0, 0, 1]}, TypeError, 'pose: a Pose of spr_dynamics.sdformat.poses'),
    ({'source': ARM, 'model_paths': '/opt'}, TypeError,
     "model_paths: a list of folders expected, got '/opt'"),
    ({'source': ARM, 'model_paths': [None]}, TypeError,
     'model_paths: paths of folders expected, got None'),
    ({'source': ARM, 'package_path': '/opt'}, TypeError,
     "package_path: a function of the name of a package expected, got '/opt'"),
])
def test_what_can_not_be_loaded_is_named(arguments, error, message):
    """One folder was taken letter by letter, and nothing was found in them."""
    with pytest.raises(error, match=re.escape(message)):
        spr.load(**arguments)


def test_world_file_is_read_with_the_same_folders(tmp_path):
    world = tmp_path / 'room.sdf'
    world.write_text(WORLD.format(uri='model://cart_pole.sdf'))
    model = spr.load(MODELS / 'double_pendulum.sdf', world=world, model_paths=[MODELS])
    assert model.nv == 4 + 2 and model.name == 'double_pendulum'


def test_newer_version_is_tried_only_if_asked():
    text = "<sdf version='1.99'><model name='m'><link name='a'/></model></sdf>"
    with pytest.raises(SdfError, match=r"<text>:1: version '1\.99' of SDFormat"):
        spr.load(text=text)
    assert spr.load(text=text, any_version=True).nv == 6


def test_urdf_is_loaded_like_sdf():
    model = spr.load(text="""
      <robot name='r'>
        <link name='world'/>
        <link name='bob'><inertial><origin xyz='0 0 -1'/><mass value='2'/>
          <inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>
        <joint name='hinge' type='continuous'><parent link='world'/><child link='bob'/>
          <origin xyz='0 0 3'/><axis xyz='0 1 0'/></joint>
      </robot>""")
    np.testing.assert_allclose(spr.mass_matrix(model, [0.3]), [[2.1]])
    np.testing.assert_allclose(spr.inverse_dynamics(model, [0.3], [0.0], [0.0]),
                               [2 * 9.8 * np.sin(0.3)])
