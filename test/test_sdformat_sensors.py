"""Sensors as elements: what they measure, in whose axes, with which noise."""

import math

import numpy as np
import pytest
from spr_dynamics.errors import SdfError
from spr_dynamics.sdformat import read
from spr_dynamics.sdformat.elements import ContactSensor, ForceTorqueSensor, ImuSensor, Sensor
from spr_dynamics.sdformat.schema import SENSOR_TYPES

NOISE = ('<noise type="{kind}"><mean>1</mean><stddev>2</stddev><bias_mean>3</bias_mean>'
         '<bias_stddev>4</bias_stddev><dynamic_bias_stddev>5</dynamic_bias_stddev>'
         '<dynamic_bias_correlation_time>6</dynamic_bias_correlation_time>'
         '<precision>7</precision></noise>')


def on_link(sensor, version='1.12'):
    return (f'<sdf version="{version}"><model name="m"><link name="a"><collision name="pad"/>\n'
            f'{sensor}</link></model></sdf>')


def on_joint(sensor, kind='fixed'):
    return (f'<sdf version="1.12"><model name="m"><link name="a"/><link name="b"/>\n'
            f'<joint name="j" type="{kind}"><parent>a</parent><child>b</child>\n{sensor}</joint>'
            '</model></sdf>')


def link_sensor(body, kind, version='1.12'):
    text = on_link(f'<sensor name="s" type="{kind}">{body}</sensor>', version)
    return read(text=text).models[0].links[0].sensors[0]


def force_torque(body=''):
    text = on_joint('<sensor name="s" type="force_torque"><force_torque>'
                    f'{body}</force_torque></sensor>')
    return read(text=text).models[0].joints[0].sensors[0]


def imu(body='', version='1.12'):
    return link_sensor(f'<imu>{body}</imu>', 'imu', version)


def problem(text):
    with pytest.raises(SdfError) as caught:
        read(text=text)
    first, = caught.value.diagnostics
    return first


def values(noise):
    return (noise.type, noise.mean, noise.stddev, noise.bias_mean, noise.bias_stddev,
            noise.dynamic_bias_stddev, noise.dynamic_bias_correlation_time, noise.precision)


def test_what_all_sensors_have():
    sensor = link_sensor(
        '<pose>1 2 3 0 0 0</pose><update_rate>50</update_rate><always_on>1</always_on>'
        '<visualize>true</visualize><enable_metrics>true</enable_metrics><topic>/x</topic>'
        '<frame_id>tip</frame_id>', 'altimeter')
    assert type(sensor) is Sensor
    assert (sensor.name, sensor.type, sensor.update_rate) == ('s', 'altimeter', 50)
    assert (sensor.always_on, sensor.visualize, sensor.enable_metrics) == (True, True, True)
    assert (sensor.topic, sensor.frame_id) == ('/x', 'tip')
    np.testing.assert_array_equal(sensor.pose.p, [1, 2, 3])


def test_what_sensors_have_that_say_nothing():
    for kind in SENSOR_TYPES:
        sensor = link_sensor('', kind)
        assert (sensor.type, sensor.topic, sensor.frame_id) == (kind, '', '')
        assert sensor.update_rate == 0
        assert not (sensor.always_on or sensor.visualize or sensor.enable_metrics)


def test_contact_sensor_keeps_both_topics():
    """Gazebo reads the one inside; libsdformat tells both."""
    sensor = link_sensor('<topic>/x</topic><contact><collision>pad</collision><topic>/y</topic>'
                         '</contact>', 'contact')
    assert isinstance(sensor, ContactSensor)
    assert (sensor.topic, sensor.contact_topic, sensor.collisions) == ('/x', '/y', ('pad',))


def test_contact_sensor_knows_whether_it_was_described():
    empty, absent = link_sensor('<contact/>', 'contact'), link_sensor('', 'contact')
    assert (empty.has_contact, absent.has_contact) == (True, False)
    assert empty.collisions == absent.collisions == ()


def test_contact_sensor_on_an_unknown_collision_lists_the_known_ones():
    found = problem(on_link('<sensor name="s" type="contact"><contact>\n'
                            '<collision>heel</collision></contact></sensor>'))
    assert str(found) == (
        "<text>:3: sensor 's': its link has no collision 'heel' (known: 'pad')")


def test_force_torque_measures_the_child_on_the_parent():
    sensor = force_torque()
    assert isinstance(sensor, ForceTorqueSensor)
    assert (sensor.frame, sensor.measure_direction) == ('child', 'child_to_parent')
    assert {values(noise) for noise in (*sensor.force_noise, *sensor.torque_noise)} == {
        ('none', 0, 0, 0, 0, 0, 0, 0)}


def test_force_torque_is_read_in_full():
    sensor = force_torque(
        '<frame>sensor</frame><measure_direction>parent_to_child</measure_direction>'
        f'<force><y>{NOISE.format(kind="gaussian")}</y></force>'
        f'<torque><z>{NOISE.format(kind="Gaussian_Quantized")}</z></torque>')
    assert (sensor.frame, sensor.measure_direction) == ('sensor', 'parent_to_child')
    assert values(sensor.force_noise[1]) == ('gaussian', 1, 2, 3, 4, 5, 6, 7)
    assert values(sensor.torque_noise[2]) == ('gaussian_quantized', 1, 2, 3, 4, 5, 6, 7)
    assert sensor.force_noise[0].type == sensor.torque_noise[0].type == 'none'


@pytest.mark.parametrize('body, message', [
    ('<frame>foo</frame>', "<frame> 'foo' is unknown (known: 'child', 'parent', 'sensor')"),
    ('<measure_direction>child</measure_direction>', "<measure_direction> 'child' is unknown ("),
])
def test_force_torque_of_an_unknown_kind_is_refused(body, message):
    found = problem(on_joint('<sensor name="s" type="force_torque">\n<force_torque>'
                             f'{body}</force_torque></sensor>'))
    assert (found.code, found.implied) == ('ELEMENT_INVALID', ())
    assert str(found).startswith(f"<text>:4: sensor 's': {message}")


def test_imu_measures_orientation_without_noise():
    sensor = imu()
    assert isinstance(sensor, ImuSensor)
    assert (sensor.enable_orientation, sensor.localization) == (True, 'CUSTOM')
    assert (sensor.custom_rpy_parent_frame, sensor.grav_dir_x_parent_frame) == ('', '')
    np.testing.assert_array_equal(sensor.custom_rpy, [0, 0, 0])
    np.testing.assert_array_equal(sensor.grav_dir_x, [1, 0, 0])
    noises = (*sensor.angular_velocity_noise, *sensor.linear_acceleration_noise)
    assert {values(noise) for noise in noises} == {('none', 0, 0, 0, 0, 0, 0, 0)}


def test_imu_is_read_in_full():
    sensor = imu(
        '<orientation_reference_frame><localization>GRAV_UP</localization>'
        '<custom_rpy parent_frame="world">1 2 3</custom_rpy>'
        '<grav_dir_x parent_frame="a">0 1 0</grav_dir_x></orientation_reference_frame>'
        f'<enable_orientation>0</enable_orientation><angular_velocity><x>'
        f'{NOISE.format(kind="gaussian")}</x></angular_velocity><linear_acceleration><z>'
        f'{NOISE.format(kind="gaussian")}</z></linear_acceleration>')
    assert (sensor.enable_orientation, sensor.localization) == (False, 'GRAV_UP')
    assert (sensor.custom_rpy_parent_frame, sensor.grav_dir_x_parent_frame) == ('world', 'a')
    np.testing.assert_array_equal(sensor.custom_rpy, [1, 2, 3])
    np.testing.assert_array_equal(sensor.grav_dir_x, [0, 1, 0])
    assert values(sensor.angular_velocity_noise[0]) == ('gaussian', 1, 2, 3, 4, 5, 6, 7)
    assert values(sensor.linear_acceleration_noise[2]) == ('gaussian', 1, 2, 3, 4, 5, 6, 7)
    assert sensor.angular_velocity_noise[2].type == 'none'


def test_noise_of_old_imus_is_that_of_each_axis():
    """Until 1.5 it was written once for all three axes."""
    sensor = imu('<noise><type>gaussian</type><rate><mean>1</mean><stddev>2</stddev></rate><accel>'
                 '<bias_mean>3</bias_mean><bias_stddev>4</bias_stddev></accel></noise>', '1.5')
    assert {values(noise) for noise in sensor.angular_velocity_noise} == {
        ('gaussian', 1, 2, 0, 0, 0, 0, 0)}
    assert {values(noise) for noise in sensor.linear_acceleration_noise} == {
        ('gaussian', 0, 0, 3, 4, 0, 0, 0)}


def test_unknown_localization_is_named_in_a_warning():
    text = on_link('<sensor name="s" type="imu"><imu><orientation_reference_frame>\n<localization>'
                   'ENV</localization></orientation_reference_frame></imu></sensor>')
    assert "<text>:3: sensor 's': localization 'ENV' is unknown (did you mean 'ENU'?)" in map(
        str, read(text=text).warnings)


@pytest.mark.parametrize('noise, code, message', [
    ('<noise/>', 'ATTRIBUTE_MISSING', "attribute 'type' of <noise> is missing"),
    ('<noise type="pink"/>', 'ELEMENT_MISSING', "type 'pink' of <noise> is unknown (known: "),
    ('<noise type="gaussian"><stddev>-1</stddev></noise>', 'ELEMENT_INVALID',
     "<stddev> '-1' is out of range"),
])
def test_noise_of_an_unknown_kind_is_refused(noise, code, message):
    found = problem(on_link('<sensor name="s" type="imu"><imu><angular_velocity>\n<x>'
                            f'{noise}</x></angular_velocity></imu></sensor>'))
    assert found.code == code
    assert message in str(found)


def test_cone_limit_of_a_ball_joint():
    joint = read(text=on_joint(
        '<spr:cone_limit>0.5</spr:cone_limit><spr:cone_centre>0 3 4</spr:cone_centre>'
        '<spr:twist_limit>-1 2</spr:twist_limit>', 'ball')).models[0].joints[0]
    assert joint.cone_limit == 0.5
    np.testing.assert_allclose(joint.cone_centre, [0.0, 0.6, 0.8])
    np.testing.assert_array_equal(joint.twist_limit, [-1.0, 2.0])
    free = read(text=on_joint('', 'ball')).models[0].joints[0]
    assert free.cone_limit is free.cone_centre is free.twist_limit is None


@pytest.mark.parametrize('text, message', [
    (on_joint('<spr:cone_limit>0.5</spr:cone_limit>'),
     "<text>:3: joint 'j': <spr:cone_limit> is for joints of type 'ball', and this one is 'fix"),
    (on_joint(f'<spr:cone_limit>{math.pi + 0.1}</spr:cone_limit>', 'ball'),
     "joint 'j': <spr:cone_limit> '3.2"),
    (on_joint('<spr:cone_centre>1 0 0</spr:cone_centre>', 'ball'),
     "<text>:3: joint 'j': <spr:cone_centre> means nothing without <spr:cone_limit> or <spr:tw"),
    (on_joint('<spr:twist_limit>2 1</spr:twist_limit>', 'ball'),
     "<text>:3: joint 'j': <spr:twist_limit> begins at 2, above its end 1"),
    (on_joint('<spr:twist_limit>1</spr:twist_limit>', 'ball'),
     "joint 'j': <spr:twist_limit> '1' has 1 values (needs 2)"),
    (on_link('<spr:cone_limit>1</spr:cone_limit>'),
     "link 'a': <spr:cone_limit> is known only in a joint of type ball"),
    (on_joint('<spr:patch_min>1 1</spr:patch_min>', 'ball'),
     "joint 'j': <spr:patch_min> is known only in a contact sensor"),
])
def test_our_own_elements_are_refused_where_they_mean_nothing(text, message):
    assert message in str(problem(text))


@pytest.mark.parametrize('text, message', [
    (on_link('<sensor name="s" type="force_torque"/>'),
     "<text>:2: sensor 's': a sensor of type 'force_torque' is simulated in a <joint>, and this "
     'one is in a <link>'),
    (on_joint('<sensor name="s" type="imu"/>'),
     "<text>:3: sensor 's': a sensor of type 'imu' is simulated in a <link>, and this one is in "
     'a <joint>'),
    (on_link('<sensor name="s" type="imu"><enable_metrics>1</enable_metrics></sensor>'),
     "<text>:2: sensor 's': no metrics of it are published (<enable_metrics>)"),
    (on_joint('<sensor name="s" type="force_torque"><force_torque><force><x>\n'
              '<noise type="gaussian"><precision>1</precision></noise></x></force></force_torque>'
              '</sensor>'),
     "<text>:4: sensor 's': <precision> rounds only noise of type 'gaussian_quantized'"),
    (on_link('<sensor name="s" type="imu"><imu><angular_velocity><x><noise type="gaussian">\n'
             '<dynamic_bias_stddev>1</dynamic_bias_stddev></noise></x></angular_velocity></imu>'
             '</sensor>'),
     "<text>:2: sensor 's': <dynamic_bias_stddev> does nothing without "
     '<dynamic_bias_correlation_time>'),
    ('<sdf version="1.12"><world name="w"><spherical_coordinates><elevation>9</elevation>\n'
     '<heading_deg>90</heading_deg></spherical_coordinates></world></sdf>',
     '<text>:2: <heading_deg> in <spherical_coordinates>: IMUs take x of the world for east, y '
     'for north'),
])
def test_what_a_sensor_asks_for_in_vain_is_named(text, message):
    assert list(map(str, read(text=text).warnings)) == [message]
