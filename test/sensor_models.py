"""A block of 1 kg on the ground, with contact sensors on its bottom face."""
import spr_dynamics as spr

BLOCK = """
<sdf version='1.12'>
  <world name='w'>
    <gravity>0 0 -9.81</gravity>
    <model name='ground'><static>true</static><link name='ground'>
      <collision name='plane'><geometry><plane/></geometry></collision></link></model>
    <model name='block'>
      <pose>0 0 0.05 0 0 0.3</pose>
      <link name='block'>
        <inertial><mass>1</mass><inertia><ixx>0.0067</ixx><iyy>0.0067</iyy><izz>0.0067</izz>
        </inertia></inertial>
        <collision name='box'><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>
        {sensors}
      </link>
    </model>
  </world>
</sdf>"""
SENSOR = """
<sensor name='{name}' type='contact'><pose>0 0 -0.05 3.141592653589793 0 0</pose>
  <update_rate>{rate}</update_rate><contact><collision>box</collision>{patch}</contact></sensor>"""


def block(**sensors):
    """Make a resting block with sensors: name=(rate, ``spr:`` elements)."""
    texts = [SENSOR.format(name=name, rate=rate, patch=patch)
             for name, (rate, patch) in sensors.items()]
    return spr.load(text=BLOCK.format(sensors=''.join(texts)))


def patch(x_min, y_min, x_max, y_max, **others):
    """Write ``spr:`` elements: a patch, and other settings as text."""
    texts = {'patch_min': f'{x_min} {y_min}', 'patch_max': f'{x_max} {y_max}', **others}
    return ''.join(f'<spr:{name}>{text}</spr:{name}>' for name, text in texts.items())


WHOLE = patch(-0.06, -0.06, 0.06, 0.06)  # a patch over all of the bottom face
