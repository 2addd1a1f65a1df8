"""Adding and removing children of joints: the state goes on by name."""
import pytest

import spr_dynamics as spr
from spr_dynamics.errors import ModelError, SdfError
from test_objects import ARM, AXIS, close, JOINT, LINK, MODELS, ZOO

FINGER = """
<link name='finger'><pose>0 0 1 0 0 0</pose>
  <inertial><mass>0.1</mass><pose>0.1 0 0 0 0 0</pose></inertial></link>
<link name='nail'><pose>0 0 1.1 0 0 0</pose></link>
<joint name='knuckle' type='prismatic'><parent>fore</parent><child>finger</child>
  <axis><xyz>0 0 1</xyz></axis></joint>
<joint name='bed' type='fixed'><parent>finger</parent><child>nail</child></joint>
"""


def test_added_child_goes_on_from_the_state_of_the_others():
    sim = spr.Simulation(spr.load(text=ARM), dt=0.002, integrator='analytic',
                         joint_integrators={'elbow': 'semi_implicit_euler'})
    sim.gravity = 0, 0, -5
    sim.set_home([0.1, 0.2])
    sim.step([1.0, 2.0], n=10)
    q, qd, state = sim.q.copy(), sim.qd.copy(), sim.save()
    longer = sim.joints['elbow'].add_child(FINGER)
    assert sim.save() == state and 'knuckle' not in sim.joints
    assert list(longer.joints) == ['shoulder', 'elbow', 'knuckle']
    assert list(longer.q) == [*q, 0.0] and list(longer.qd) == [*qd, 0.0]
    assert longer.time == sim.time and longer.dt == sim.dt
    assert list(longer.gravity) == [0, 0, -5]
    assert longer._buffers.lag.tolist() == [0.5, 0.0, 0.5]
    close(longer.links['finger'].pose.p, longer.links['fore'].pose.R @ [0, 0, 1]
          + longer.links['fore'].pose.p)
    assert longer.joints['elbow'].children[0].name == 'knuckle'
    assert [link.name for link in longer.joints['knuckle'].links] == ['finger', 'nail']
    longer.reset()
    assert list(longer.q) == [0.1, 0.2, 0.0]


def test_torque_that_is_set_is_carried_over_by_name():
    sim = spr.Simulation(spr.load(text=ARM))
    sim.joints['elbow'].torque = 2.0
    longer = sim.joints['elbow'].add_child(FINGER)
    longer.step()
    assert list(longer.effort) == [0.0, 2.0, 0.0] and sim.joints['elbow'].torque == 2.0
    shorter = sim.joints['shoulder'].remove_child('elbow')
    assert shorter.joints['shoulder'].torque == 0.0


def test_removed_child_takes_along_what_it_carries_and_undoes_adding():
    sim = spr.Simulation(spr.load(text=ARM))
    sim.step([1.0, 2.0], n=10)
    longer = sim.joints['elbow'].add_child(FINGER)
    back = longer.joints['elbow'].remove_child(longer.joints['knuckle'])
    assert back.save() == sim.save()
    sim.step([1.0, 2.0])
    back.step([1.0, 2.0])
    assert back.save() == sim.save()
    stump = longer.joints['shoulder'].remove_child('elbow')
    assert list(stump.joints) == ['shoulder'] and list(stump.links) == ['upper']
    assert stump.q[0] == longer.q[0] and stump.qd[0] == longer.qd[0]


def test_child_of_a_nested_model_is_added_there():
    text = ARM.replace("<model name='m'>", "<model name='m'><model name='inner'>").replace(
        '</model>', '</model></model>')
    sim = spr.Simulation(spr.load(text=text)).joints['inner::elbow'].add_child(FINGER)
    assert list(sim.joints) == ['inner::shoulder', 'inner::elbow', 'inner::knuckle']
    assert sim.links['inner::nail'].joint is sim.joints['inner::knuckle']
    assert sim.joints['inner::knuckle'].parent is sim.joints['inner::elbow']


def test_world_takes_free_links_and_fixed_bases():
    sim = spr.Simulation(spr.load(text=ARM)).joints.roots['world'].add_child(
        "<link name='stone'><pose>1 2 3 0 0 0</pose></link>")
    assert list(sim.joints.roots) == ['world', 'stone']
    assert list(sim.joints.roots['stone'].position[:3]) == [1, 2, 3]
    fixed = spr.Simulation(spr.load(text=ZOO, fix_base=True)).joints.roots['world'].remove_child(
        'hinge')
    assert list(fixed.joints) == ['skew'] and list(fixed.joints.roots) == ['world']


def test_names_that_change_since_another_model_goes_lose_no_state():
    """Of two models the joints are a::lift and b::lift; without b it is lift."""
    model = "<model name='{}'>" + LINK.format(
        name='tray', pose='0 0 0 0 0 0', centre='0 0 0 0 0 0', mass=1) + JOINT.format(
        name='lift', type='prismatic', pose='0 0 0 0 0 0', parent='world', child='tray',
        axes=AXIS.format('0 0 1')) + '</model>'
    sim = spr.Simulation(spr.load(
        text=f"<sdf version='1.12'><world name='w'>{model.format('a')}{model.format('b')}"
             '</world></sdf>'))
    assert list(sim.joints) == ['a::lift', 'b::lift']
    sim.q[:] = [1.0, 2.0]
    left = sim.joints.roots['world'].remove_child('a::lift')
    assert list(left.joints) == ['lift'] and left.q[0] == 2.0


MIMIC = ARM.replace('<effort>5</effort></limit>', '<effort>5</effort></limit><mimic '
                    "joint='shoulder'><multiplier>2</multiplier></mimic>")


def test_followers_follow_after_an_edit_and_never_lose_their_leader():
    sim = spr.Simulation(spr.load(text=MIMIC))
    sim.set_home([0.3, 0.6])
    longer = sim.joints['elbow'].add_child(FINGER)
    assert list(longer.q) == [0.3, 0.6, 0.0]
    led = FINGER.replace('0 0 1</xyz>', "0 0 1</xyz><mimic joint='elbow'/>")
    with pytest.raises(SdfError, match="no joint 'elbow'(.|\n)*joints of the same text"):
        sim.joints['elbow'].add_child(led)
    longer.step([1.0, 0.0, 0.0], n=10)
    assert longer.q[1] == pytest.approx(2 * longer.q[0], abs=1e-12)
    root = sim.joints.roots['world']
    root.coriolis_pass()
    with pytest.raises(ModelError, match="joint 'elbow' follows another one"):
        root.articulated_inertia_pass()


def test_leader_of_a_joint_that_stays_is_not_removed():
    follower = LINK.format(name='lid', pose='1 0 0 0 0 0', centre='0 0 0 0 0 0', mass=1) + (
        "<joint name='cap' type='revolute'><parent>world</parent><child>lid</child><axis><xyz>0 1 "
        "0</xyz><mimic joint='elbow'><multiplier>2</multiplier></mimic></axis></joint>")
    sim = spr.Simulation(spr.load(text=ARM.replace('</model>', follower + '</model>')))
    with pytest.raises(ModelError, match="'cap' follows joint 'elbow', which would go"):
        sim.joints['shoulder'].remove_child('elbow')


GEARED = """
<sdf version='1.12'><model name='m'>
  <link name='shaft'><inertial><mass>1</mass></inertial></link>
  <link name='wheel'><pose>1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
  <joint name='motor' type='revolute'><parent>world</parent><child>shaft</child>
    <axis><xyz>0 0 1</xyz></axis></joint>
  <joint name='axle' type='revolute'><parent>world</parent><child>wheel</child>
    <axis><xyz>0 0 1</xyz></axis></joint>
  <joint name='gear' type='gearbox'><parent>shaft</parent><child>wheel</child>
    <gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>world</gearbox_reference_body>
    <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
</model></sdf>"""


def test_leader_of_a_gearbox_is_not_removed():
    world = spr.Simulation(spr.load(text=GEARED)).joints.roots['world']
    with pytest.raises(ModelError, match="'wheel' is driven through gearbox 'gear' by link 'sh"):
        world.remove_child('motor')
    assert list(world.remove_child('axle').joints) == ['motor']


@pytest.mark.parametrize('text, error, message', [
    ("<link name='a'/>", ModelError, "nothing in the text hangs on link 'fore'"),
    (FINGER.replace('knuckle', 'shoulder'), ModelError, "model 'm' has a joint 'shoulder' alread"),
    (FINGER.replace('nail', 'upper'), ModelError, "<text>:4: model 'm' has a link 'upper' alrea"),
    (FINGER.replace('>fore<', '>for<'), SdfError, '<text>:5'),
    ('<link', SdfError, '<text>'),
])
def test_additions_that_make_no_sense_are_refused(text, error, message):
    with pytest.raises(error, match=message):
        spr.Simulation(spr.load(text=ARM)).joints['elbow'].add_child(text)


def test_sensors_go_on_and_new_ones_begin_now():
    text = (MODELS / 'hopper.sdf').read_text(encoding='utf-8')
    sim = spr.Simulation(spr.load(text=text, world='ground'))
    sim.step(n=100)
    name, sensor = next(iter(sim.sensors.items()))
    sensor_count = sensor.sample_count
    link = sim.joints.roots[sim.model.free_roots[0].name].link.name
    longer = sim.joints.roots[link].add_child(
        "<link name='tail'><collision name='c'><geometry><sphere><radius>0.01</radius></sphere>"
        "</geometry></collision><sensor name='tip' type='contact'><update_rate>100</update_rate>"
        "<contact><collision>c</collision></contact></sensor></link><joint name='wag' "
        f"type='revolute'><parent>{link}</parent><child>tail</child>"
        '<axis><xyz>0 1 0</xyz></axis></joint>')
    assert longer.sensors[name].sample_count == sensor_count
    tip = next(sensor for other, sensor in longer.sensors.items() if other not in sim.sensors)
    assert tip.next_step == 100 and tip.sample_count == 0
    longer.step(n=20)
    assert tip.sample_count == 2
