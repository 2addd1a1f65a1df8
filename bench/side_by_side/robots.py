"""Robots to measure with: some that are shipped, and some made of text."""
from pathlib import Path

import numpy as np

import spr_dynamics as spr

MODELS = Path(__file__).parents[2] / 'models'
LEG, ARM, WAIST = 'zxyyyx', 'yxzyzyx', 'zxy'  # axes of the hinges, outward
UNIT = {'x': '1 0 0', 'y': '0 1 0', 'z': '0 0 1'}


def robots():
    """Load the robots of the dynamics tables, by name."""
    return {
        'double_pendulum, 2 dof': spr.load(MODELS / 'double_pendulum.sdf'),
        'arm7, 7 dof': spr.load(MODELS / 'arm7.sdf'),
        'humanoid, 35 dof': spr.load(text=humanoid()),
        'chain of 10': spr.load(text=chain(10)),
        'chain of 100': spr.load(text=chain(100)),
    }


def chain(n):
    """Write n links that hang on each other by hinges about x, y and z in turn."""
    return model('chain', *limb('world', 'link', 'xyz' * (n // 3) + 'xyz'[:n % 3],
                                '0 0 2', '0.05 0.02 -0.1', 0.5))


def humanoid():
    """Write a body that floats, with two legs of 6 hinges, two arms of 7, and a waist of 3."""
    return model(
        'humanoid', link('pelvis', '0 0 1', 8.0),
        *limb('pelvis', 'waist', WAIST, '0 0 0.1', '0.01 0 0.08', 3.0),
        *limb('pelvis', 'left_leg', LEG, '0 0.1 -0.05', '0.01 0 -0.15', 2.0),
        *limb('pelvis', 'right_leg', LEG, '0 -0.1 -0.05', '0.01 0 -0.15', 2.0),
        *limb('waist2', 'left_arm', ARM, '0 0.2 0.3', '0.02 0.02 -0.08', 0.8),
        *limb('waist2', 'right_arm', ARM, '0 -0.2 0.3', '0.02 -0.02 -0.08', 0.8))


def model(name, *parts):
    """Wrap links and joints."""
    return f'<sdf version="1.12"><model name="{name}">{"".join(parts)}</model></sdf>'


def limb(parent, name, axes, start, offset, mass):
    """Write a chain of links with a hinge each, the first one at ``start`` in its parent."""
    for k, axis in enumerate(axes):
        pose = f'<pose relative_to="{parent}">{start if k == 0 else offset} 0 0 0</pose>'
        if parent == 'world':
            pose = f'<pose>{start} 0 0 0</pose>'
        yield link(f'{name}{k}', pose, mass)
        yield (f'<joint name="{name}{k}_hinge" type="continuous"><parent>{parent}</parent>'
               f'<child>{name}{k}</child><axis><xyz>{UNIT[axis]}</xyz></axis></joint>')
        parent = f'{name}{k}'


def link(name, pose, mass):
    """Write a link whose centre of mass is off its axis."""
    if not pose.startswith('<pose'):
        pose = f'<pose>{pose} 0 0 0</pose>'
    return f"""
<link name="{name}">{pose}
  <inertial><pose>0.01 0.02 -0.04 0 0 0</pose><mass>{mass}</mass><inertia>
    <ixx>{0.004 * mass}</ixx><iyy>{0.005 * mass}</iyy><izz>{0.002 * mass}</izz>
    <ixy>{0.0002 * mass}</ixy><ixz>0</ixz><iyz>{-0.0001 * mass}</iyz>
  </inertia></inertial>
</link>"""


def box_on_ground():
    """Load a cube of 20 cm and 1 kg that lies on the ground."""
    inertia = '<ixx>0.00667</ixx><iyy>0.00667</iyy><izz>0.00667</izz>'
    box = '<geometry><box><size>0.2 0.2 0.2</size></box></geometry>'
    return spr.load(world='ground', text=model('box', f"""
<link name="box"><pose>0 0 0.1 0 0 0</pose>
  <inertial><mass>1</mass><inertia>{inertia}</inertia></inertial>
  <collision name="box">{box}</collision>
</link>"""))


def hopper_on_ground():
    """Load the shipped hopper, which stands by its springs."""
    return spr.load(MODELS / 'hopper.sdf', world='ground')


def quadruped_on_springs():
    """Load the shipped quadruped, with the controller that holds it as springs and dampers."""
    text = (MODELS / 'quadruped.sdf').read_text(encoding='utf-8')
    motor = '<damping>3</damping><spring_stiffness>150</spring_stiffness>'
    return spr.load(text=text.replace('<damping>0.2</damping>', motor), world='ground')


def humanoid_on_ground():
    """Load the shipped humanoid, which falls."""
    return spr.load(MODELS / 'humanoid.sdf', world='ground')


def pile(n):
    """Load n boxes of many sizes in the air, three by three, that fall on each other."""
    rng = np.random.default_rng(1)
    places = [(0.3 * (k % 3 - 1), 0.3 * (k // 3 % 3 - 1), 0.2 + 0.35 * (k // 9))
              for k in range(n)]
    return boxes((*np.array(place) + rng.uniform(-0.05, 0.05, 3), *rng.uniform(-0.5, 0.5, 3),
                  *rng.uniform(0.1, 0.3, 3)) for place in places)


def apart(n):
    """Load n cubes that lie on the ground, a metre from each other."""
    return boxes((k % 10, k // 10, 0.1, 0, 0, 0, 0.2, 0.2, 0.2) for k in range(n))


def boxes(places):
    """
    Load boxes of 500 kg/m^3 on the ground.

    :param places: Of each, its position, roll, pitch, yaw, and edges.
    """
    models = []
    for k, (x, y, z, roll, pitch, yaw, *edges) in enumerate(places):
        a, b, c = edges
        mass = 500.0 * a * b * c
        models.append(model(f'box{k}', f"""
<pose>{x} {y} {z} {roll} {pitch} {yaw}</pose>
<link name="box">
  <inertial><mass>{mass}</mass><inertia><ixx>{mass * (b * b + c * c) / 12}</ixx>
    <iyy>{mass * (a * a + c * c) / 12}</iyy><izz>{mass * (a * a + b * b) / 12}</izz>
  </inertia></inertial>
  <collision name="box"><geometry><box><size>{a} {b} {c}</size></box></geometry></collision>
</link>"""))
    inside = ''.join(each.partition('>')[2].rpartition('<')[0] for each in models)
    ground = """<model name="ground"><static>true</static><link name="ground">
  <collision name="plane"><geometry><plane/></geometry></collision></link></model>"""
    return spr.load(text=f'<sdf version="1.12"><world name="boxes">{ground}{inside}</world></sdf>')
