"""Mass matrix and bias against Drake's, which reads the same files by a parser of its own."""
import numpy as np
import pytest

from builders import random_state
import needs
import spr_dynamics as spr
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.errors import SprDynamicsError
from test_corpus import CORPUS, FILES, MODELS

multibody = needs.module('pydrake.multibody.plant')
parsing = needs.module('pydrake.multibody.parsing')
maths = needs.module('pydrake.math')
eigen = needs.module('pydrake.common.eigen_geometry')

TOLERANCE = 1e-9  # relative; both sides work in doubles
NOTHING = 1e-3  # [N m] or [N] below this, forces are compared with it
# Files that both load clean and in which something moves, lest the rest swallow them.
FEWEST_EQUAL = {'drake': 50, 'gz-physics': 24, 'gz-sim': 60, 'probe': 65, 'sdformat': 65}


@pytest.mark.parametrize('folder', MODELS)
def test_mass_matrix_and_bias_are_those_of_drake(folder):
    """At a random state, for every file of a folder that both load and take for the same."""
    clean = [path for path in FILES
             if path.startswith(f'{folder}/') and FILES[path].get('errors') == []]
    errors = {path: difference(*both) for path in clean if (both := load_both(path))}
    assert not {path: error for path, error in errors.items() if not error < TOLERANCE}
    assert len(errors) >= FEWEST_EQUAL[folder]


def load_both(path):
    """Load a file here and in Drake; None if one of both refuses it, or nothing moves."""
    folders = [(CORPUS / path).parent, *(CORPUS / folder for folder in MODELS.values())]
    packages = {package.name: package for folder in reversed(folders)
                for package in folder.iterdir() if package.is_dir()}
    try:
        model = spr.load(CORPUS / path, model_paths=folders)
        return (model, Twin(CORPUS / path, packages, model)) if model.nv else None
    except (SprDynamicsError, RuntimeError, MemoryError, UnlikeOurs):
        return None


def difference(model, twin):
    """Return the largest relative difference of mass matrix and bias at a random state."""
    q, qd, _ = random_state(np.random.default_rng(0), model)
    zero = np.zeros(model.nv)
    ours = spr.mass_matrix(model, q), (spr.inverse_dynamics(model, q, qd, zero)
                                       - spr.inverse_dynamics(model, q, zero, zero))
    return max(np.abs(a - b).max() / max(np.abs(b).max(), NOTHING)
               for a, b in zip(ours, twin.results(q, qd)))


class UnlikeOurs(Exception):
    """Drake makes something else of a file: deformable bodies, joints of its own."""


class Twin:
    """
    What a file holds, in Drake, at a state of ours.

    :param path: The file, of which both sides read the text.
    :param packages: Folders of models by name, for ``model://``.
    :param model: The same in our arrays.
    :raises RuntimeError: If Drake does not load it.
    :raises UnlikeOurs: If it moves there in other ways than here.
    """

    def __init__(self, path, packages, model):
        self.plant = multibody.MultibodyPlant(0.0)
        parser = parsing.Parser(self.plant)
        for name, folder in packages.items():
            parser.package_map().Add(name, str(folder))
        parser.AddModels(str(path))
        self.plant.Finalize()
        self.ours = model
        self.theirs = self.plant.CreateDefaultContext()
        for k in self.plant.GetJointActuatorIndices():
            self.plant.get_joint_actuator(k).SetRotorInertia(self.theirs, 0.0)
        if self.plant.num_velocities() != model.nv:
            raise UnlikeOurs(f'{self.plant.num_velocities()} velocities, ours are {model.nv}')

    def pairs(self):
        """Yield our joints with theirs, which are of the same name and move the same link."""
        plant, theirs = self.plant, {}
        for joint in map(plant.get_joint, plant.GetJointIndices()):
            theirs[scoped(plant, joint.child_body()), joint.name().rpartition('::')[2]] = joint
        links = dict(zip(self.ours.link_names, self.ours.assembly.links))
        for joint in self.ours.joints:
            child = links[joint.child]
            yield joint, theirs[f'{child.model}::{child.name}', joint.name.rpartition('::')[2]]

    def set_state(self, q, qd):
        """
        Go to a state of ours.

        :returns: C and their drift: their velocity is C times ours, and its rate of change C
            times ours plus the drift.
        """
        plant, context = self.plant, self.theirs
        C, drift = np.zeros((self.ours.nv, self.ours.nv)), np.zeros(self.ours.nv)
        for joint, theirs in self.pairs():
            change = np.eye(joint.nv)
            at, k = theirs.position_start(), theirs.velocity_start()
            if joint.type == 'ball':
                R = maths.RotationMatrix(eigen.Quaternion(q[joint.q:joint.q + 4]))
                theirs.set_angles(context, maths.RollPitchYaw(R).vector())
                change = R.matrix()
            else:
                positions = plant.GetPositions(context)
                positions[at:at + joint.nq] = q[joint.q:joint.q + joint.nq]
                plant.SetPositions(context, positions)
            C[k:k + joint.nv, joint.v:joint.v + joint.nv] = change
        self.set_roots(q, qd, C, drift)
        plant.SetVelocities(context, C @ qd)
        return C, drift

    def set_roots(self, q, qd, C, drift):
        """Place the free bodies: of links that are welded together, theirs may be another."""
        poses, links = link_poses(self.ours, q), self.ours.links
        names = [f'{link.model}::{link.name}' for link in self.ours.assembly.links]
        for k in self.plant.GetFloatingBaseBodies():
            body = self.plant.get_body(k)
            link = names.index(scoped(self.plant, body))
            record = self.ours.tree[links[link]['body']]
            root = next(root for root in self.ours.free_roots if root.v == record['v'])
            self.plant.SetFreeBodyPose(self.theirs, body, maths.RigidTransform(poses[link]))
            arm = poses[link][:3, 3] - q[root.q:root.q + 3]
            w = qd[root.v + 3:root.v + 6]
            start = body.floating_velocities_start_in_v()
            C[start:start + 3, root.v + 3:root.v + 6] = np.eye(3)
            C[start + 3:start + 6, root.v:root.v + 3] = np.eye(3)
            C[start + 3:start + 6, root.v + 3:root.v + 6] = np.cross(np.eye(3), arm).T
            drift[start + 3:start + 6] = np.cross(w, np.cross(w, arm))

    def results(self, q, qd):
        """Return mass matrix and bias without gravity, in our coordinates."""
        C, drift = self.set_state(q, qd)
        M = self.plant.CalcMassMatrix(self.theirs)
        bias = self.plant.CalcBiasTerm(self.theirs)
        return C.T @ M @ C, C.T @ (M @ drift + bias)


def scoped(plant, body):
    """Return the name of a body with those of the models around it."""
    return f'{plant.GetModelInstanceName(body.model_instance())}::{body.name()}'
