"""What is read, with which default, and what is passed by with or without a warning."""

import math

import numpy as np
from spr_dynamics.sdformat import assemble, read
from spr_dynamics.sdformat.elements import ContactSensor, Cylinder, Empty, Mesh, Sphere


def link(body):
    return read(text=f'<sdf version="1.12">\n<model name="m"><link name="a">\n{body}</link>'
                     '</model></sdf>').models[0].links[0]


def collision(body):
    return link(f'<collision name="c">{body}</collision>').collisions[0]


def warnings(body):
    root = read(text=f'<sdf version="1.12">\n<model name="m"><link name="a"/>\n{body}'
                     '</model></sdf>')
    return [str(warning) for warning in root.warnings]


def first_axis(body):
    root = read(text='<sdf version="1.12"><model name="m"><link name="a"/><link name="b"/>'
                     f'<joint name="j" {body}</joint></model></sdf>')
    return root.models[0].joints[0].axis


def test_a_link_without_inertial_has_mass_one():
    """And the unit matrix for inertia, as in libsdformat."""
    inertial = link('').inertial
    assert inertial.mass == 1
    np.testing.assert_array_equal(inertial.inertia, np.eye(3))


def test_a_flat_body_may_touch_the_triangle_inequality():
    """1, 1, 2 is a disc."""
    link('<inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>2</izz></inertia></inertial>')


def test_products_of_inertia_fill_both_halves():
    """The matrix is symmetric."""
    inertia = link('<inertial><inertia><ixy>.1</ixy><ixz>.2</ixz><iyz>.3</iyz></inertia>'
                   '</inertial>').inertial.inertia
    np.testing.assert_array_equal(inertia, [[1, .1, .2], [.1, 1, .3], [.2, .3, 1]])


def test_surface_defaults_are_those_of_sdformat():
    """`max_vel` stays None, since its default is meant for another solver."""
    surface = collision('').surface
    assert (surface.mu, surface.mu2, surface.kp, surface.kd) == (1, 1, 1e12, 1)
    assert (surface.max_vel, surface.min_depth, surface.restitution) == (None, 0, 0)
    assert (surface.collide_bitmask, surface.category_bitmask) == (255, None)


def test_surface_is_read_in_full():
    """Friction, bounce, contact, masks."""
    surface = collision(
        '<surface><bounce><restitution_coefficient>.5</restitution_coefficient>'
        '<threshold>.1</threshold></bounce><friction><ode><mu>.4</mu><mu2>.3</mu2>'
        '<fdir1>1 0 0</fdir1><slip1>.1</slip1><slip2>.2</slip2></ode></friction><contact>'
        '<collide_bitmask>0x02</collide_bitmask><ode><kp>1e5</kp><kd>10</kd><max_vel>.2</max_vel>'
        '<min_depth>.001</min_depth></ode></contact></surface>').surface
    assert (surface.mu, surface.mu2, surface.slip1, surface.slip2) == (.4, .3, .1, .2)
    assert (surface.restitution, surface.restitution_threshold) == (.5, .1)
    assert (surface.kp, surface.kd, surface.max_vel, surface.min_depth) == (1e5, 10, .2, .001)
    assert (surface.collide_bitmask, surface.category_bitmask) == (2, None)


def test_shapes():
    """With their defaults; no geometry is an empty one."""
    assert isinstance(collision('').geometry, Empty)
    cylinder = collision('<geometry><cylinder><radius>.2</radius></cylinder></geometry>').geometry
    assert isinstance(cylinder, Cylinder) and (cylinder.radius, cylinder.length) == (.2, 1)
    mesh = collision('<geometry><mesh><uri>arm.stl</uri></mesh></geometry>').geometry
    assert isinstance(mesh, Mesh) and (mesh.uri, list(mesh.scale)) == ('arm.stl', [1, 1, 1])
    first = collision('<geometry><mesh><uri>x</uri></mesh><sphere/></geometry>').geometry
    assert isinstance(first, Sphere)


def test_a_repeated_element_counts_once():
    """The first one, as in libsdformat."""
    assert link('<pose>1 0 0 0 0 0</pose><pose>2 0 0 0 0 0</pose>').pose.p[0] == 1


def test_contact_sensor_holds_its_patch():
    """Only what was given, so that defaults have one home."""
    sensor = link(
        '<collision name="pad"/><sensor name="s" type="contact"><update_rate>50</update_rate>'
        '<contact><collision>pad</collision><topic>__default_topic__</topic>'
        '<spr:patch_min>-1 -2</spr:patch_min><spr:has_force>0 0 1</spr:has_force>'
        '<spr:force_saturation>inf inf 5</spr:force_saturation></contact></sensor>').sensors[0]
    assert isinstance(sensor, ContactSensor)
    assert (sensor.collisions, sensor.update_rate, sensor.topic) == (('pad',), 50, '')
    assert sorted(sensor.patch) == ['force_saturation', 'has_force', 'patch_min']
    assert list(sensor.patch['has_force']) == [False, False, True]
    assert sensor.patch['force_saturation'][0] == math.inf


def test_a_declared_prefix_means_the_same():
    """`spr:` is ours with xmlns and without."""
    sensor = link(
        '<sensor name="s" type="contact" xmlns:spr="http://spr"><spr:patch_tolerance>.1'
        '</spr:patch_tolerance></sensor>').sensors[0]
    assert sensor.patch == {'patch_tolerance': .1}


def test_sensors_are_placed_on_links_and_joints():
    """Those in a joint count from the frame of its child link, too."""
    assembly = assemble(read(text=(
        '<sdf version="1.12"><model name="m"><link name="a"><sensor name="s" type="contact">'
        '<pose>0 0 1 0 0 0</pose></sensor><sensor name="t" type="imu"><pose>0 2 0 0 0 0</pose>'
        '</sensor><sensor name="u" type="sonar"/></link><joint name="j" type="fixed">'
        '<pose>0 0 3 0 0 0</pose><parent>world</parent><child>a</child>'
        '<sensor name="v" type="force_torque"><pose>4 0 0 0 0 0</pose></sensor></joint>'
        '</model></sdf>')))
    placed = [*assembly.links[0].sensors, *assembly.joints[0].sensors]
    assert [(sensor.name, *sensor.T_LS.p) for sensor in placed] == [
        ('s', 0, 0, 1), ('t', 0, 2, 0), ('v', 4, 0, 3)]
    assert [str(warning).partition(': ')[2] for warning in assembly.warnings] == [
        "sensor 'u': a sensor of type 'sonar' is not simulated yet"]


def test_limits_are_as_written():
    """What a continuous joint says of its range is kept, and means nothing to the model."""
    axis = first_axis('type="continuous"><parent>a</parent><child>b</child><axis><limit>'
                      '<lower>-1</lower><upper>1</upper><effort>-1</effort></limit></axis>')
    assert (axis.limit.lower, axis.limit.upper, axis.limit.effort) == (-1, 1, math.inf)


def test_dynamics_of_an_axis():
    """Damper, dry friction and spring."""
    axis = first_axis(
        'type="revolute"><parent>a</parent><child>b</child><axis><dynamics><damping>1</damping>'
        '<friction>2</friction><spring_reference>3</spring_reference><spring_stiffness>4'
        '</spring_stiffness></dynamics></axis>')
    assert (axis.damping, axis.friction, axis.spring_reference, axis.spring_stiffness) == (
        1, 2, 3, 4)
    assert list(axis.xyz) == [0, 0, 1]


def test_unknown_elements_are_named_once():
    """One line for a hundred of them, with a hint."""
    found = warnings('<link name="b"><colision/><colision/></link>')
    assert found == ['<text>:3: <colision> in <link> is not SDFormat and is ignored '
                     "(did you mean 'collision'?) (2 times)"]


def test_custom_elements_are_passed_by():
    """A prefix is another program's, declared or not."""
    assert warnings('<gz:foo gz:bar="1"/><my:x xmlns:my="m"><link/></my:x>') == []


def test_a_rotor_of_drake_is_named():
    """It would change the motion, and SDFormat has no place for it."""
    joint = ("<link name='b'/><joint name='j' type='revolute'><parent>a</parent><child>b</child>"
             '<axis><drake:rotor_inertia>{}</drake:rotor_inertia></axis></joint>')
    assert warnings(joint.format(0)) == []
    assert warnings(joint.format(0.01)) == [
        '<text>:3: <drake:rotor_inertia>: the inertia of rotors is not simulated '
        '(SDFormat has none)']


def test_lights_and_plugins_are_passed_by():
    """They do not move anything."""
    assert warnings('<plugin name="p" filename="f"><any/></plugin>') == []


def test_what_is_not_simulated_warns_unless_it_is_zero():
    """Many files write zeros for velocity decay."""
    decay = '<link name="b"><velocity_decay><linear>{}</linear></velocity_decay></link>'
    assert warnings(decay.format('0.000')) == []
    assert len(warnings(decay.format('0.1'))) == 1


def test_comments_and_blank_lines_are_harmless():
    """`--` in a comment and a blank line before the declaration are what tinyxml2 takes."""
    root = read(text='\n<?xml version="1.0"?>\n<!-- a -- b -->\n<sdf version="1.12">'
                     '<model name="m"><link name="a"/></model></sdf>')
    assert root.models[0].location.line == 4
