"""
The package simulation_interfaces, as far as the node uses it, in the release for Jazzy (1.5).

That for Kilted (1.6) is the same; from 2.0 on, SetEntityState has three flags more.
"""
import importlib.util

import pytest

from interface_package import importable

ENTITY_FILTERS = 'EntityFilters filters\n---\nResult result\nstring[] entities\n'
SOURCES = {
    'msg/Result.msg': """
uint8 RESULT_FEATURE_UNSUPPORTED=0
uint8 RESULT_OK=1
uint8 RESULT_NOT_FOUND=2
uint8 RESULT_INCORRECT_STATE=3
uint8 RESULT_OPERATION_FAILED=4
uint8 result
string error_message
""",
    'msg/SimulationState.msg': """
uint8 STATE_STOPPED=0
uint8 STATE_PLAYING=1
uint8 STATE_PAUSED=2
uint8 STATE_QUITTING=3
uint8 state
""",
    'msg/SimulatorFeatures.msg': """
uint8 ENTITY_STATE_GETTING=10
uint8 ENTITY_STATE_SETTING=11
uint8 SIMULATION_RESET=20
uint8 SIMULATION_STATE_GETTING=24
uint8 SIMULATION_STATE_SETTING=25
uint8 SIMULATION_STATE_PAUSE=26
uint8 STEP_SIMULATION_SINGLE=31
uint8 STEP_SIMULATION_MULTIPLE=32
uint8 STEP_SIMULATION_ACTION=33
uint16[] features
string[] spawn_formats
string custom_info
""",
    'msg/EntityCategory.msg': 'uint8 category\n',
    'msg/TagsFilter.msg': 'string[] tags\nuint8 filter_mode\n',
    'msg/Bounds.msg': 'uint8 type\ngeometry_msgs/Vector3[] points\n',
    'msg/EntityFilters.msg': """
string filter
EntityCategory[] categories
TagsFilter tags
Bounds bounds
""",
    'msg/EntityState.msg': """
std_msgs/Header header
geometry_msgs/Pose pose
geometry_msgs/Twist twist
geometry_msgs/Accel acceleration
""",
    'srv/GetSimulatorFeatures.srv': '---\nSimulatorFeatures features\n',
    'srv/GetSimulationState.srv': '---\nSimulationState state\nResult result\n',
    'srv/SetSimulationState.srv': """
SimulationState state
---
uint8 ALREADY_IN_TARGET_STATE=101
uint8 STATE_TRANSITION_ERROR=102
uint8 INCORRECT_TRANSITION=103
Result result
""",
    'srv/StepSimulation.srv': 'uint64 steps 1\n---\nResult result\n',
    'srv/ResetSimulation.srv': """
uint8 SCOPE_DEFAULT=0
uint8 SCOPE_TIME=1
uint8 SCOPE_STATE=2
uint8 SCOPE_SPAWNED=4
uint8 SCOPE_ALL=255
uint8 scope
---
Result result
""",
    'srv/GetEntities.srv': ENTITY_FILTERS,
    'srv/GetEntitiesStates.srv': f'{ENTITY_FILTERS}EntityState[] states\n',
    'srv/GetEntityState.srv': 'string entity\n---\nResult result\nEntityState state\n',
    'srv/SetEntityState.srv': """
string entity
EntityState state
---
uint8 INVALID_POSE=101
Result result
""",
    'action/SimulateSteps.action': """
uint64 steps
---
Result result
---
uint64 completed_steps
uint64 remaining_steps
""",
}


@pytest.fixture(scope='module')
def simulation_interfaces(tmp_path_factory):
    """Make the package importable, unless a ROS installation has it."""
    if importlib.util.find_spec('simulation_interfaces') is not None:
        yield
        return
    with importable(tmp_path_factory.mktemp('simulation_interfaces'), 'simulation_interfaces',
                    SOURCES, ['geometry_msgs']):
        yield
