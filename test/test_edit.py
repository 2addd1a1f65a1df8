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
    longer.step([1.0, 0.0, 0.0], n=10)
    assert longer.q[1] == pytest.approx(2 * longer.q[0], abs=1e-12)
    root = sim.joints.roots['world']
    root.coriolis_pass()
    with pytest.raises(ModelError, match="joint 'elbow' follows another one"):
        root.articulated_inertia_pass()


LEADER = '<mimic joint={!r}><multiplier>{}</multiplier><offset>0.1</offset></mimic>'


def led(leader, ratio=0.5):
    """Write a finger that follows a joint."""
    return FINGER.replace('0 0 1</xyz>', '0 0 1</xyz>' + LEADER.format(leader, ratio))


@pytest.mark.parametrize('text, holder, leader, ratio', [
    (ARM, 'elbow', 'elbow', 0.5), (ARM, 'elbow', 'shoulder', -2.0),
    (MIMIC, 'elbow', 'elbow', 0.5)])
def test_added_child_follows_a_joint_that_was_there(text, holder, leader, ratio):
    """It is the model of a file that says the same, and begins where its leader puts it."""
    sim = spr.Simulation(spr.load(text=text))
    sim.q[0], sim.qd[0] = 0.3, 0.4
    sim.step([1.0, 2.0], n=10)
    longer = sim.joints[holder].add_child(led(leader, ratio))
    k = longer.model.joint_names.index(leader)
    assert list(longer.q) == [*sim.q, ratio * sim.q[k] + 0.1]
    assert list(longer.qd) == [*sim.qd, ratio * sim.qd[k]]
    written = led(leader, ratio).replace("'finger'><pose>0 0 1", "'finger'><pose>0 0 2").replace(
        "'nail'><pose>0 0 1.1", "'nail'><pose>0 0 2.1")
    whole = spr.Simulation(spr.load(text=text.replace('</model>', written + '</model>')))
    whole.q, whole.qd = longer.q, longer.qd
    for run in (whole, longer):
        run.step([1.0, 2.0, 0.0], n=10)
    close(longer.q, whole.q)
    close(longer.qd, whole.qd)
    assert longer.q[2] == pytest.approx(ratio * longer.q[k] + 0.1, abs=1e-14)
    back = longer.joints[holder].remove_child('knuckle')
    assert back.model.followers.size == sim.model.followers.size


def test_added_child_may_follow_a_second_axis_or_hang_on_the_leader():
    """By its frame, which is where the joint is."""
    text = ("<sdf version='1.12'><model name='m'><link name='cross'><pose>1 2 3 .1 .2 .3</pose>"
            "</link><joint name='u' type='universal'><pose>.1 .2 .3 .4 .5 .6</pose>"
            '<parent>world</parent><child>cross</child><axis><xyz>1 0 0</xyz></axis>'
            '<axis2><xyz>0 0 1</xyz></axis2></joint></model></sdf>')
    sim = spr.Simulation(spr.load(text=text))
    longer = sim.joints.roots['world'].add_child(
        "<link name='u_moved'><pose relative_to='u'>0 0 1 0 0 0</pose></link>"
        "<joint name='turn' type='revolute'><parent>u</parent><child>u_moved</child><axis>"
        "<xyz>0 0 1</xyz><mimic joint='u' axis='axis2'/></axis></joint>")
    longer.q[1] = 0.7
    longer.step()
    assert longer.joints['turn'].position == pytest.approx(longer.q[1], abs=1e-14)
    assert longer.joints['turn'].parent.name == 'u'
    joint, = (joint for joint in longer.model.assembly.joints if joint.name == 'u')
    moved = longer.model.assembly.links[longer.model.link_names.index('u_moved')]
    close(moved.T_WL.p, joint.T_WJ.p + joint.T_WJ.R[:, 2])


def test_leaders_of_added_children_are_named_where_they_are_not_found():
    sim = spr.Simulation(spr.load(text=ARM))
    with pytest.raises(SdfError, match="there is no joint 'elbo'(.|\n)*joints of the same text, "
                                       "and of the model; that has no 'elbo' .did you mean 'elb"):
        sim.joints['elbow'].add_child(led('elbo'))
    thumb = led('knuckle').replace('finger', 'thumb').replace('nail', 'dot').replace(
        "name='knuckle'", "name='root'").replace("name='bed'", "name='spot'")
    with pytest.raises(SdfError, match="in a circle: joint 'knuckle' -> joint 'root' -> joint"):
        sim.joints['elbow'].add_child(led('root') + thumb)
    with pytest.raises(ModelError, match="model 'm' has a joint 'elbow' already"):
        sim.joints['elbow'].add_child(led('shoulder').replace("name='knuckle'", "name='elbow'"))


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
