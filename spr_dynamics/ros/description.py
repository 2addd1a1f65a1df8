"""``robot_description``: the robot as URDF, for RViz, robot_state_publisher and MoveIt."""
from spr_dynamics.model.model import Model
from spr_dynamics.ros.mesh_files import local_uri
from spr_dynamics.sdformat.urdf_write import Urdf, urdf_from_assembly


def describe(model: Model) -> Urdf:
    """
    Write a robot, and what is around it, as URDF.

    Joints are called as in ``joint_states``, by which robot_state_publisher moves them.

    :param model: The robot.
    """
    return urdf_from_assembly(model.assembly, model.name, fix_base=not model.free_roots,
                              mesh_uri=local_uri, joint_delimiter='::')
