"""Rigid transforms in monogram notation: ``T_WB`` is the pose of frame B in frame W."""

import math
from typing import NamedTuple

import numpy as np


class Pose(NamedTuple):
    """The pose of a frame B in a frame A: ``p_A = R @ p_B + p``."""

    R: np.ndarray
    """Rotation matrix R_AB, shape (3, 3)."""
    p: np.ndarray
    """Origin of B in A [m], shape (3,)."""

    @classmethod
    def identity(cls) -> 'Pose':
        """Return the pose of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_rpy(cls, p, rpy) -> 'Pose':
        """
        Make a pose from a position and fixed-axis angles.

        :param p: Position [m], shape (3,).
        :param rpy: Roll, pitch and yaw [rad], about fixed x, then y, then z.
        :returns: The pose with R = Rz(yaw) Ry(pitch) Rx(roll).
        """
        sr, sp, sy = (math.sin(angle) for angle in rpy)
        cr, cp, cy = (math.cos(angle) for angle in rpy)
        R = np.array([
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr]])
        return cls(R, np.array(p, dtype=float))

    @classmethod
    def from_quat_wxyz(cls, p, quat_wxyz) -> 'Pose':
        """
        Make a pose from a position and a quaternion.

        :param p: Position [m], shape (3,).
        :param quat_wxyz: Quaternion of any length but zero, w first.
        :returns: The pose.
        """
        quat = np.asarray(quat_wxyz, dtype=float) / np.abs(quat_wxyz).max()  # squares stay numbers
        w, x, y, z = quat / np.linalg.norm(quat)
        R = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        return cls(R, np.array(p, dtype=float))

    def __matmul__(self, other: 'Pose') -> 'Pose':
        """Compose: ``T_AC = T_AB @ T_BC``."""
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> 'Pose':
        """Return T_BA of this T_AB."""
        return Pose(self.R.T, -self.R.T @ self.p)

    def quat_wxyz(self) -> np.ndarray:
        """
        Return the rotation as a unit quaternion with w >= 0.

        The largest component is found first, so that nothing cancels (Shepperd 1978).

        :returns: Quaternion w x y z, shape (4,).
        """
        R, trace = self.R, np.trace(self.R)
        k = int(np.argmax([trace, R[0, 0], R[1, 1], R[2, 2]]))
        if k == 0:
            quat = np.array([1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        else:
            i, j, m = k - 1, k % 3, (k + 1) % 3
            quat = np.empty(4)
            quat[0] = R[m, j] - R[j, m]
            quat[1 + i] = 1 + R[i, i] - R[j, j] - R[m, m]
            quat[1 + j] = R[j, i] + R[i, j]
            quat[1 + m] = R[m, i] + R[i, m]
        return quat * (np.sign(quat[0]) or 1.0) / np.linalg.norm(quat)
