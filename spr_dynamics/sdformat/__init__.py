"""
SDF text to elements, and elements to an assembly of links and joints placed in the world.

`read` gives what a file says, `add_world` puts a robot into a world, `assemble` resolves names
and frames. Every problem of a file comes in one `SdfError`, a line each, with file and line.
"""

from spr_dynamics.sdformat.assemble import assemble, Assembly
from spr_dynamics.sdformat.diagnostics import Diagnostic, Location
from spr_dynamics.sdformat.elements import MimicConstraint, Root
from spr_dynamics.sdformat.poses import Pose
from spr_dynamics.sdformat.read import add_world, read

__all__ = [
    'Assembly', 'Diagnostic', 'Location', 'MimicConstraint', 'Pose', 'Root', 'add_world',
    'assemble', 'read']
