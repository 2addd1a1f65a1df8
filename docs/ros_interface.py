"""
Write docs/ros_interface.md: parameters from the node's own table, topics and services from here.

To bring the page up to date: ``python docs/ros_interface.py > docs/ros_interface.md``.
``test/test_ros_page.py`` compares the topics and services with those of a running node.
"""
import math
from typing import NamedTuple

from spr_dynamics.ros.parameters import SENSOR_TABLE, TABLE

HEADING = """\
# The ROS 2 interface

Made by `python docs/ros_interface.py > docs/ros_interface.md`.

Units are SI, quaternions x y z w. Names of topics are relative unless they begin with `/`, so
namespaces and remapping work. Stamps are simulated time, which `/clock` publishes: run everything
but the simulation itself with `use_sim_time:=true`. Rates count simulated time; a sample falls on
the first step at or after its time, and none is left out when the node is late. Nothing is built
for a topic to which nobody listens. Who comes while time stands still is shown the present state.

SDF names that ROS does not allow: `::` becomes `/` in topics and `.` in parameters, other
characters `_`; two names that become the same are refused. Frames of links are called as the
links of `robot_description`; `frame_prefix` stands before each frame but `world`, and does not
begin with `/`, which tf2 refuses. Where the file has a `<topic>`, that is the name of an IMU's or
force-torque sensor's topic, and what the names of a contact sensor's topics begin with; their
frame is the `<frame_id>`, where an IMU or a force-torque sensor has one. Two that publish or
listen on one topic are refused.

Each node is a world of its own: robots of two nodes don't touch, and their times are not held
together. Robots that meet come in one world file, which the parameter `robot` takes as well. For
several nodes give each a namespace and a `frame_prefix`, since `/tf` is everybody's, and
`publish_clock: false` to all but one.

## Published topics

| topic | type | QoS | frame | |
|---|---|---|---|---|"""
CLOUDS = """
`points` has packed little-endian fields, in the sensor's frame: `x y z` [m]; `nx ny nz`, the
normal into the link; `fx fy fz`, the force ON the link [N]; `depth` [m]; `weight`, by which the
force counts (all these float32); `partner` (uint32), the other shape; `status` (uint8): 0 counted,
1 beside the patch, 2 off its tolerance. `partner` is the number of a shape; `/diagnostics`
says under `touches` of each sensor which ones touch now, such as `ground::plane (0)`, and
`spr_dynamics.load(robot, world='auto').shape_names` has all of them.
`taxels` has `x y z`, the centre of the cell [m], and `fx fy fz` [N], all float32; it is organised:
rows along y, columns along x.

Without the package `tf2_msgs`, which is not on PyPI, there is neither `/tf` nor `/tf_static`, and
the log says so. `visual_markers` are then in `world` and come again at `marker_rate`; so RViz
shows the robot all the same.

### Stamps of `/tf`

They go back only where time does (`~/reset`, `~/load_state`); tf2 sees that in `/clock` and
forgets what it has. One may come again while time stands still: with the same transforms, when
somebody comes to listen, since `/tf` keeps nothing for those who come late; with others, when a
free root has been put elsewhere (`~/set_entity_state`). tf2 drops the former in silence and holds
the latter for the newest, so RViz shows it; its warning `TF_REPEATED_DATA` is that of ROS 1.

### Frames from robot_state_publisher

With `robot_state_publisher:=true`, `simulation.launch.py` starts robot_state_publisher beside the
simulation, for the same robot, with its `frame_prefix` and `tf_rate`, on simulated time; by hand
that is `ros2 run spr_dynamics robot_state_publisher` with the parameters of the simulation, whose
`publish_tf` then has to be `root`. No frame comes from both: free roots, joints that URDF doesn't
have, and sensors come from the simulation. `robot_description` comes from both, with the same
text; in it joints are called as in `joint_states`. What moves has no frame before simulated time
1 / `tf_rate`, since robot_state_publisher passes over earlier `joint_states`: a simulation that
starts paused has to be stepped until then.

### Arguments of `rviz` and `robot_state_publisher`

Both executables take the ROS arguments of the simulation. Parameters say which robot it is; those
of a file are read for the node `simulation`, or for the one that `-r __node:=` names. The program
that they become gets the namespace, `use_sim_time`, and all other ROS arguments as they are:
remaps such as `-r joint_states:=arm/joint_states`, `--log-level`, `--disable-rosout-logs`,
`--enclave`.
"""
SUBSCRIBED = """
## Subscribed topics

| topic | type | QoS | |
|---|---|---|---|"""
COMMANDS = """
A command holds until the next one for that joint, or until `command_timeout`, which drops it to
zero. Without a timeout the last effort of a controller that has died acts on until a new command
or a reset. ROS notices a dead process only when its lease ends, some 20 s later; from then on
`/diagnostics` warns that nobody publishes any more. So set `command_timeout` where a controller
may die: it counts simulated time, whatever ROS has noticed.

A message that can't be used is refused as a whole: the log says what was expected, once in five
seconds for each kind, and `/diagnostics` counts, from the start of the node on: a reset forgets
neither these counts nor overruns. Efforts above a joint's limit are clamped, and said so once.
`/diagnostics` names who publishes commands; which of several sent one, ROS does not tell.

`joint_commands` takes what `joint_state_topic_hardware_interface` of ros2_control publishes, and
`effort_commands` what `forward_command_controller` does (`interface_name: effort`). The former is
silent while nothing changes, so leave `command_timeout` at 0 with it. Its own topics are
`/robot_joint_commands` and `/robot_joint_states` unless its parameters `joint_commands_topic` and
`joint_states_topic` say otherwise: set these to the simulation's, or remap the simulation's.
Commands are taken reliably: ROS doesn't connect a publisher that is best effort, and says so.

### Lock step

With `lock_step`, time waits. Each message of `joint_commands` whose stamp is that of the newest
`joint_states` is taken and advances the simulation by `control_period`, as fast as it can;
`real_time_factor` has no say. Then `joint_states` is published, after all else that is due. With
a `publish_rate` above that of the periods, as by default, `joint_states` of the steps in between
come too; answers to those are passed over. Other stamps (late, repeated) are ignored and counted.
While no command comes, `joint_states` is published again every 0.1 s, with the same stamp. A run
is thus a function of what the controller answers: two runs are equal bit for bit. One controller
can do that; `effort_commands` has no stamp and is refused. The time at which an `external_wrench`
comes is not locked.

## Services

| service | type | |
|---|---|---|"""
STANDARD = """
Answers say where the simulation is then, such as `paused at 0.25 s`, or what was wrong.

While many steps are taken the node does all that it does while time runs: it publishes what is
due, takes commands and parameters, and answers. `~/pause`, with either value, `~/reset` and
`~/load_state` end the steps early; their answer is then `12345 of 1000000 steps were taken, then
came ~/pause`. A second request meanwhile is refused. If nothing comes in between, the state is
that after as many single steps, bit for bit.

Where the package `simulation_interfaces` is installed, its services are there too, below the name
of the node: {services}; and the action `~/simulate_steps`, whose feedback comes about every 20 ms
of wall time, not after each step. Entities are models and links by name; a model stands where its
first link does. Only free roots can be put somewhere; in the releases for Jazzy and Kilted, whose
request has no flags, pose and twist are set and the acceleration is ignored. Time and state are
reset together. Stopped is paused at time 0; that can be played or stepped, not paused. While many
steps are taken the state is playing, and pausing ends them. A reset of the clock, by these or by
`~/reset` and `~/load_state`, is a jump back for all that follow `/clock`.

## Parameters

Whole numbers are taken for numbers, except mixed with others in one list, which ROS itself
refuses. A change is checked in full, and applied between two steps; those that only fit together
are set by `set_parameters_atomically`. *Live* ones may change while the node runs. A default in
brackets is what the robot's file says.

| parameter | type | default | range | live | |
|---|---|---|---|---|---|"""
SENSORS = """
### Contact sensors

`contact_sensors.<name>.<setting>`: a sensor of the file has the file's settings as defaults; a
name that the file doesn't know makes a new sensor, and needs `link`.

| setting | type | range | live | |
|---|---|---|---|---|"""
KINDS = {'bool': 'true or false', 'integer': 'whole number', 'number': 'number', 'text': 'text',
         'bools': 'booleans', 'numbers': 'numbers', 'texts': 'texts'}


class Topic(NamedTuple):
    """A row of the page."""

    name: str
    type: str
    qos: str
    """Reliability, or ``latched``; then the depth."""
    frame: str
    text: str


PUBLISHED = (
    Topic('/clock', 'rosgraph_msgs/msg/Clock', 'best effort, 1', '',
          'with `publish_clock`, at `clock_rate`; one node only may publish it, and a second '
          'one is warned of'),
    Topic('joint_states', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'at `publish_rate`: each joint axis by name, in the order of the file; `effort` is what '
          'acted, after the clamp; comes last of all that is due on a step'),
    Topic('multi_dof_joint_states', 'sensor_msgs/msg/MultiDOFJointState', 'reliable, 10', 'world',
          "at `publish_rate`: free roots by link, in world axes; ball joints, the child's joint "
          "frame in the parent's, rates and torques in the child's"),
    Topic('odom', 'nav_msgs/msg/Odometry', 'reliable, 10', 'world to the root link',
          'at `publish_rate`: the first free root, exactly; its twist in its own axes'),
    Topic('torque_terms/inertial', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'with `torque_terms`, at `publish_rate`: M qdd, qdd being that of the last step'),
    Topic('torque_terms/velocity', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'centrifugal and Coriolis forces'),
    Topic('torque_terms/gravity', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'what it takes to stand still'),
    Topic('torque_terms/applied', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'what acted'),
    Topic('contact_sensors/<name>/wrench', 'geometry_msgs/msg/WrenchStamped', 'reliable, 10',
          '`contact_sensors/<name>`',
          "at the sensor's `rate`: force ON the link, as the settings say; torque "
          "of all contacts in the patch, which no setting of the force limits; zeros when idle"),
    Topic('contact_sensors/<name>/contact', 'std_msgs/msg/Bool', 'latched, 1', '',
          'at the start and at each change'),
    Topic('contact_sensors/<name>/points', 'sensor_msgs/msg/PointCloud2', 'reliable, 10',
          '`contact_sensors/<name>`', "a row for each contact, at the sensor's `rate`"),
    Topic('contact_sensors/<name>/taxels', 'sensor_msgs/msg/PointCloud2', 'reliable, 10',
          '`contact_sensors/<name>`',
          "forces on the cells of the setting `taxels`, at the sensor's `rate`"),
    Topic('imu/<name>', 'sensor_msgs/msg/Imu', 'reliable, 10', '`imu/<name>`',
          "for each IMU of the file, at the sensor's rate"),
    Topic('force_torque/<name>', 'geometry_msgs/msg/WrenchStamped', 'reliable, 10',
          'as `<frame>` says: `force_torque/<name>`, or the parent link',
          "for each force-torque sensor of the file, at the sensor's rate"),
    Topic('/tf', 'tf2_msgs/msg/TFMessage', 'reliable, 100', 'world to links',
          'what `publish_tf` says, at `tf_rate`; `<joint>_frame` is that of a joint which does '
          "not sit at its child's origin"),
    Topic('/tf_static', 'tf2_msgs/msg/TFMessage', 'latched, 1', 'world, links',
          "what does not move on what carries it: welded links, a fixed base, sensors; once, and "
          "again when a sensor's `pose` changes"),
    Topic('robot_description', 'std_msgs/msg/String', 'latched, 1', '', 'the robot as URDF'),
    Topic('visual_markers', 'visualization_msgs/msg/MarkerArray', 'latched, 1', 'links',
          'what the robot looks like; again every 5 s of wall time, since RViz drops it when time '
          'jumps back or another frame is fixed'),
    Topic('contact_markers', 'visualization_msgs/msg/MarkerArray', 'reliable, 1', 'world',
          'arrows of contact forces, at `marker_rate`; stamp 0, to be drawn at the newest '
          'transforms'),
    Topic('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 'reliable, 10', '',
          'once a second of wall time, with such stamps: how time runs, the solver, who commands '
          'which joint, refusals, sensors'),
)
TAKEN = (
    Topic('joint_commands', 'sensor_msgs/msg/JointState', 'reliable, 10', '',
          'efforts by name of the axis: `joint`; of two axes `joint_axis`, `joint_axis2`; of a '
          "ball `joint_x`, `_y`, `_z`, in the child's joint frame. As many efforts as names; NaN "
          "keeps that joint's command, silently"),
    Topic('effort_commands', 'std_msgs/msg/Float64MultiArray', 'reliable, 10', '',
          'efforts in the order of the parameter `joints`, all finite'),
    Topic('external_wrench', 'geometry_msgs/msg/WrenchStamped', 'reliable, 10', '',
          'pushes the link that `frame_id` names, at its origin, in its axes, which it turns '
          'with, for `external_wrench_duration`; a new one for the same link takes its place'),
)
SERVICES = {
    '~/pause': ('std_srvs/srv/SetBool', 'let time stand still (true) or run on'),
    '~/step': ('std_srvs/srv/Trigger', 'take `step_count` steps while paused, as fast as it can, '
               'show the state after them, and answer then'),
    '~/reset': ('std_srvs/srv/Trigger',
                'back to time 0 and the initial positions, without commands and pushes'),
    '~/save_state': ('std_srvs/srv/Trigger', 'write the state into the file `state_file`'),
    '~/load_state': ('std_srvs/srv/Trigger',
                     'go back to the state in `state_file`, bit for bit; the efforts that acted '
                     'hold like commands that came then'),
}
STANDARD_SERVICES = (
    'get_simulator_features', 'get_simulation_state', 'set_simulation_state', 'step_simulation',
    'reset_simulation', 'get_entities', 'get_entity_state', 'get_entities_states',
    'set_entity_state')


def kind(spec):
    """Say the type of a parameter."""
    return f'{spec.length} {KINDS[spec.kind]}' if spec.length else KINDS[spec.kind]


def limits(spec):
    """Say the range of a parameter with its unit."""
    if spec.choices:
        return ', '.join(spec.choices)
    words = f'{spec.low:g} to {spec.high:g}' if spec.high < math.inf else \
        f'from {spec.low:g}' if spec.low > -math.inf else ''
    return f'{words} {spec.unit}'.strip()


def default(spec):
    """Say the default of a parameter."""
    if spec.default is None:
        return '(file)'
    if isinstance(spec.default, bool):
        return str(spec.default).lower()
    return '' if spec.default in ('', []) else f'{spec.default}'


def page():
    """Return the whole page."""
    rows = [HEADING]
    rows += [f'| `{topic.name}` | {topic.type} | {topic.qos} | {topic.frame} | {topic.text} |'
             for topic in PUBLISHED]
    rows += [CLOUDS + SUBSCRIBED]
    rows += [f'| `{topic.name}` | {topic.type} | {topic.qos} | {topic.text} |' for topic in TAKEN]
    rows += [COMMANDS]
    rows += [f'| `{name}` | {service} | {text} |' for name, (service, text) in SERVICES.items()]
    rows += [STANDARD.format(services=', '.join(f'`~/{name}`' for name in STANDARD_SERVICES))]
    rows += [f'| `{spec.name}` | {kind(spec)} | {default(spec)} | {limits(spec)} | '
             f'{"yes" if spec.live else ""} | {spec.description} |' for spec in TABLE.values()]
    rows += [SENSORS]
    rows += [f'| `{spec.name}` | {kind(spec)} | {limits(spec)} | {"yes" if spec.live else ""} | '
             f'{spec.description} |' for spec in SENSOR_TABLE.values()]
    return '\n'.join(rows) + '\n'


if __name__ == '__main__':
    print(page(), end='')
