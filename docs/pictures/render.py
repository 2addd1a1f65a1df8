"""
Paint docs/pictures/robots.png: the shipped robots in motions that spr_dynamics computed.

``MUJOCO_GL=egl .venv/bin/python docs/pictures/render.py`` repeats it (or ``osmesa``); MuJoCo is
only the painter. Robots are drawn from the visuals of their SDF files, some moments of a motion
one over the other, as on a photographic plate that was exposed several times.
"""
from pathlib import Path
import struct
from typing import NamedTuple
import zlib

import mujoco
import numpy as np

import spr_dynamics as spr
from spr_dynamics.dynamics.kinematics import link_poses
from spr_dynamics.sdformat import elements
from spr_dynamics.sdformat.poses import Pose

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / 'models'
WIDTH, HEIGHT, FINER = 1600, 800, 2  # [pixels]; each is the mean of FINER x FINER
ORANGE = np.array([0.95, 0.45, 0.10, 1.0], np.float32)
GREEN = np.array([0.10, 0.62, 0.35, 1.0], np.float32)
ARROW = 1.5e-3  # [m/N]
LEAP = [-0.9, 0.0, 0.36, 0.98877108, 0.0, -0.14943813, 0.0] + 12 * [0.0]
GHOST = 0.32  # how much a moment before the last one covers

STUDIO = """
<mujoco>
  <statistic center='0 0 1' extent='1'/>
  <visual>
    <global offwidth='{width}' offheight='{height}' fovy='24'/>
    <quality shadowsize='8192' offsamples='8' numslices='64'/>
    <headlight ambient='0.5 0.5 0.5' diffuse='0.25 0.25 0.25' specular='0.1 0.1 0.1'/>
    <map znear='0.05' zfar='40' shadowclip='5' fogstart='11' fogend='18'/>
    <rgba fog='0.96 0.97 0.98 1'/>
  </visual>
  <asset>
    <texture type='skybox' builtin='flat' rgb1='0.96 0.97 0.98' width='64' height='384'/>
    <texture name='tiles' type='2d' builtin='flat' rgb1='0.93 0.94 0.95' width='512' height='512'
             mark='edge' markrgb='0.78 0.82 0.86'/>
    <material name='floor' texture='tiles' texrepeat='1 1' texuniform='true' specular='0'
              emission='0.12'/>
  </asset>
  <worldbody>
    <light pos='-4 -6 9' dir='4 6.5 -8.5' type='directional' castshadow='true'
           diffuse='0.45 0.45 0.43' specular='0.25 0.25 0.25'/>
    <geom type='plane' size='0 0 0.05' material='floor'/>
  </worldbody>
</mujoco>
"""


class Motion(NamedTuple):
    """Some moments of a robot's motion, seen from where it stands in the picture."""

    model: spr.Model
    place: tuple[float, float, float]
    """Added to positions of the simulation [m]."""
    moments: list[np.ndarray]
    """Positions q; the last one is drawn in full."""
    trace: list[np.ndarray]
    """Path of the last link's tip in the picture [m]."""
    pushes: list[tuple[np.ndarray, np.ndarray]]
    """Where contacts press at the last moment, in the picture, and the forces [N]."""


def record(name, place, times, *, q=None, qd=None, effort=None, tip=None):
    """
    Simulate a robot and keep some moments.

    :param times: When [s], in order.
    :param q: Positions at the start; those of the file without it.
    :param qd: Velocities at the start; at rest without it.
    :param effort: Function of model, q and qd that gives tau.
    :param tip: Point of the last link whose path is drawn [m], in that link's frame.
    """
    model = spr.load(MODELS / f'{name}.sdf', world='auto')
    simulation = spr.Simulation(model)
    if q is not None:
        simulation.set_home(q)
    if qd is not None:
        simulation.qd[:] = qd
    moments, trace = [], []
    shown = [round(time / simulation.dt) for time in times]
    for k in range(shown[-1] + 1):
        if k in shown:
            moments.append(simulation.q.copy())
        if tip is not None and k % 10 == 0:
            trace.append((link_poses(model, simulation.q)[-1] @ [*tip, 1.0])[:3] + place)
        simulation.step(None if effort is None else effort(model, simulation.q, simulation.qd))
    pushes = [(contact.point + place, contact.force) for contact in simulation.contacts]
    return Motion(model, place, moments, trace, pushes)


def reach(model, q, qd):
    """Pull the arm to a goal by inverse dynamics."""
    goal = np.array([-0.45, 0.85, 0.0, -0.55, 0.0, 0.6, 0.0])
    return spr.inverse_dynamics(model, q, qd, 20.0 * (goal - q) - 9.0 * qd)


def hold(model, q, qd):
    """Hold the joints of a robot that nothing holds, by springs and dampers."""
    return np.concatenate([np.zeros(6), -150.0 * q[7:] - 4.0 * qd[6:]])


def motions():
    """Simulate what the picture shows."""
    return [
        record('arm7', (-1.5, -3.2, 0.0), [0.0, 0.22, 0.42, 1.0], effort=reach,
               q=[0.5, -0.9, 0.0, -1.6, 0.0, -0.9, 0.0], tip=(0.0, 0.0, 0.0)),
        record('quadruped', (0.95, -3.0, 0.0), [0.0, 0.26, 0.52], effort=hold,
               q=LEAP, qd=[1.7, 0.0, 2.0, 0.0, -0.35, 0.0] + 12 * [0.0]),
        record('hopper', (3.0, -1.6, 0.0), [0.0, 0.22, 0.465],
               q=[-0.9, 0.0, 0.80, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
               qd=[1.4, 0.0, 2.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        record('double_pendulum', (1.45, 0.8, 0.0), [0.0, 0.22, 0.38, 0.5, 0.62],
               tip=(1.0, 0.0, 0.0)),
        record('humanoid', (-0.9, 0.6, 0.0), [0.0, 0.4, 0.62], q=None, effort=hold,
               qd=[0.6, 0.0, 0.0, 0.0, 1.2, 0.0] + 21 * [0.0]),
    ]


def add_robot(studio, motion, q):
    """Put a robot's visuals into the studio as it stands at q."""
    for link, T_WL in zip(motion.model.assembly.links, link_poses(motion.model, q)):
        for visual in link.visuals:
            if isinstance(visual.element.geometry, elements.Plane):
                continue  # the studio has its own ground
            T_WS = Pose(T_WL[:3, :3], T_WL[:3, 3] + motion.place) @ visual.T_LS
            kind, size = shape(visual.element.geometry)
            studio.worldbody.add_geom(type=kind, size=size, pos=T_WS.p, quat=T_WS.quat_wxyz(),
                                      rgba=visual.element.diffuse)


def shape(geometry):
    """Return MuJoCo's name and size for a geometry."""
    if isinstance(geometry, elements.Box):
        return mujoco.mjtGeom.mjGEOM_BOX, 0.5 * geometry.size
    if isinstance(geometry, elements.Sphere):
        return mujoco.mjtGeom.mjGEOM_SPHERE, [geometry.radius, 0.0, 0.0]
    kind = (mujoco.mjtGeom.mjGEOM_CAPSULE if isinstance(geometry, elements.Capsule)
            else mujoco.mjtGeom.mjGEOM_CYLINDER)
    return kind, [geometry.radius, 0.5 * geometry.length, 0.0]


def add_line(scene, kind, width, start, end, rgba):
    """Draw a line or an arrow."""
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.zeros(9), rgba)
    mujoco.mjv_connector(geom, kind, width, start, end)
    scene.ngeom += 1


def photograph(shown, motions):
    """
    Render robots, paths and forces.

    :param shown: Pairs of a motion and positions.
    :returns: Red, green and blue in 0 to 255, shape (HEIGHT, WIDTH, 3).
    """
    width, height = FINER * WIDTH, FINER * HEIGHT
    studio = mujoco.MjSpec.from_string(STUDIO.format(width=width, height=height))
    for motion, q in shown:
        add_robot(studio, motion, q)
    model = studio.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = (0.2, 0.0, 0.97), 9.7
    camera.azimuth, camera.elevation = 90.0, -7.0
    with mujoco.Renderer(model, height, width, max_geom=5000) as renderer:
        renderer.update_scene(data, camera)
        for motion in motions:
            for start, end in zip(motion.trace, motion.trace[1:]):
                add_line(renderer.scene, mujoco.mjtGeom.mjGEOM_CAPSULE, 0.006, start, end, ORANGE)
            for point, force in motion.pushes:
                add_line(renderer.scene, mujoco.mjtGeom.mjGEOM_ARROW, 0.013, point,
                         point + ARROW * force, GREEN)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        fine = renderer.render().astype(float)
    return fine.reshape(HEIGHT, FINER, WIDTH, FINER, 3).mean(axis=(1, 3))


def write_png(path, picture):
    """Write a picture of bytes, each row as its difference from the row above."""
    rows = np.vstack([picture[:1], np.diff(picture, axis=0)]).reshape(len(picture), -1)
    text = np.hstack([np.full((len(picture), 1), 2, np.uint8), rows]).tobytes()
    header = struct.pack('>IIBBBBB', picture.shape[1], picture.shape[0], 8, 2, 0, 0, 0)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n')
        for kind, body in ((b'IHDR', header), (b'IDAT', zlib.compress(text, 9)), (b'IEND', b'')):
            file.write(struct.pack('>I', len(body)) + kind + body
                       + struct.pack('>I', zlib.crc32(kind + body)))


def main():
    shown = motions()
    last = [(motion, motion.moments[-1]) for motion in shown]
    final = photograph(last, shown)
    picture = final.copy()
    for k in range(max(len(motion.moments) for motion in shown) - 1):
        earlier = [(motion, motion.moments[k]) for motion in shown if k < len(motion.moments) - 1]
        picture += GHOST * (photograph(last + earlier, shown) - final)
    write_png(HERE / 'robots.png', picture.clip(0.0, 255.0).astype(np.uint8))


if __name__ == '__main__':
    main()
