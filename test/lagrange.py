"""
Lagrange's equations from kinetic and potential energy, sharing no code with the kernels.

Coordinates are small steps from a position: turns of free roots by the exponential map in world
axes, of balls in child axes. At the position itself their rates are the velocities ``qd``, and
the rates of those are ``qdd``. Derivatives of poses are taken by complex steps, which do not
cancel; those of the inertia matrix by central differences.
"""
import numpy as np

TINY = 1e-30  # complex step: its square is no number
STEP = 1e-5  # of central differences; half of the digits of a double are left


class Lagrangian:
    """
    The mechanics of a model's links.

    :param model: The robot, of which only elements, names and places of joints are used.
    :param G: How all velocities follow from the independent ones; they are independent without.
    """

    def __init__(self, model, G=None):
        self.model, self.links = model, model.assembly.links
        self.G = np.eye(model.nv) if G is None else G
        self.places = {owner.name: owner for owner in (*model.joints, *model.free_roots)}
        self.entering = {joint.child: joint for joint in model.assembly.joints
                         if joint.element.type != 'gearbox'}

    def poses(self, q, step):
        """Compute rotation and origin of each link, a step away from q."""
        return [self.pose(k, q, self.G @ step) for k in range(len(self.links))]

    def pose(self, k, q, step):
        """Compute rotation and origin of a link from those of its parent."""
        link, joint = self.links[k], self.entering.get(k)
        if joint is None:
            root = self.places[link.name]
            p = q[root.q:root.q + 3] + step[root.v:root.v + 3]
            turn = exponential(step[root.v + 3:root.v + 6])
            return turn @ from_quaternion(q[root.q + 3:root.q + 7]), p
        if joint.parent < 0:
            R, p, T_PJ = np.eye(3), np.zeros(3), joint.T_WJ
        else:
            R, p = self.pose(joint.parent, q, step)
            T_PJ = self.links[joint.parent].T_WL.inverse() @ joint.T_WJ
        R, p = R @ T_PJ.R, p + R @ T_PJ.p
        turn, slide = self.across(joint, q, step)
        R, p = R @ turn, p + R @ slide
        T_JC = joint.T_WJ.inverse() @ link.T_WL
        return R @ T_JC.R, p + R @ T_JC.p

    def across(self, joint, q, step):
        """Compute how far a joint has turned and slid."""
        kind, place = joint.element.type, self.places.get(joint.name)
        turn, slide = np.eye(3), np.zeros(3)
        if kind == 'ball':
            turn = from_quaternion(q[place.q:place.q + 4]) @ exponential(
                step[place.v:place.v + 3])
        for k, axis in enumerate(joint.axes):
            x = q[place.q + k] + step[place.v + k]
            if kind == 'prismatic':
                slide = axis * x
                continue
            turn = turn @ about(axis, x)
            if kind == 'screw':
                slide = axis * x * joint.element.screw_thread_pitch / (2.0 * np.pi)
        return turn, slide

    def centres(self, q, step):
        """Compute the centre of mass of each link."""
        return [p + R @ link.element.inertial.pose.p
                for link, (R, p) in zip(self.links, self.poses(q, step))]

    def inertia(self, q, step):
        """Compute the matrix of the kinetic energy from that of each link."""
        n = self.G.shape[1]
        along, spins = np.zeros((len(self.links), 3, n)), np.zeros((len(self.links), 3, n))
        for j in range(n):
            moved = step + TINY * 1j * np.eye(n)[j]
            for k, (R, _) in enumerate(self.poses(q, moved)):
                W = R.imag @ R.real.T / TINY
                spins[k, :, j] = W[2, 1], W[0, 2], W[1, 0]
            along[:, :, j] = np.imag(self.centres(q, moved)) / TINY
        M = np.zeros((n, n))
        for link, (R, _), v, w in zip(self.links, self.poses(q, step), along, spins):
            inertial = link.element.inertial
            R_WI = R @ inertial.pose.R
            M += inertial.mass * v.T @ v + w.T @ R_WI @ inertial.inertia @ R_WI.T @ w
        return M

    def potential(self, q, step):
        """Compute the potential energy of gravity."""
        return -sum(link.element.inertial.mass * self.model.gravity @ p
                    for link, p in zip(self.links, self.centres(q, step)))

    def equations(self, q, rates):
        """Return M and b of M rates' + b = forces: d/dt dL/drates - dL/dstep."""
        n = self.G.shape[1]
        zero, unit = np.zeros(n), np.eye(n)
        slopes = np.array([self.inertia(q, STEP * e) - self.inertia(q, -STEP * e)
                           for e in unit]) / (2.0 * STEP)
        weight = np.array([self.potential(q, TINY * 1j * e).imag for e in unit]) / TINY
        b = np.einsum('kij,k,j->i', slopes, rates, rates)
        b -= 0.5 * np.einsum('kij,i,j->k', slopes, rates, rates)
        return self.inertia(q, zero), b + weight


def about(axis, angle):
    """Return the rotation about an axis, by Rodrigues' formula; the angle may be complex."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def exponential(phi):
    """Return the rotation by a small rotation vector, which may be complex."""
    square, K = phi @ phi, skew(phi)
    return (np.eye(3) + (1.0 - square / 6.0 + square ** 2 / 120.0) * K
            + (0.5 - square / 24.0 + square ** 2 / 720.0) * K @ K)


def from_quaternion(quat_wxyz):
    """Return the rotation of a unit quaternion: the vector part turns twice."""
    w, K = quat_wxyz[0], skew(quat_wxyz[1:])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def skew(a):
    """Return the matrix of the cross product with a."""
    return np.array([[0.0 * a[0], -a[2], a[1]], [a[2], 0.0 * a[0], -a[0]],
                     [-a[1], a[0], 0.0 * a[0]]])
