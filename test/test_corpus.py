"""
The whole corpus against what libsdformat says about each file, one test a file.

A file that libsdformat loads clean says the same here, number by number. One that it finds
faulty is refused here with the same error codes. DEVIATIONS holds all others, and why.
"""
import json
import math
import re
from typing import NamedTuple

import numpy as np
import pytest

import needs
from spr_dynamics.sdformat.describe import describe
from spr_dynamics.sdformat.read import examine

CORPUS = needs.corpus()
MODELS = {  # by folder: where its includes are looked up first
    'drake': 'drake/multibody/parsing/test/sdf_parser_test',
    'gz-physics': 'gz-sim/test/worlds/models',
    'gz-sim': 'gz-sim/test/worlds/models',
    'probe': 'probe/models',
    'sdformat': 'sdformat/test/integration/model',
}
FILES = {path: answer for folder in MODELS for path, answer in json.loads(
    (CORPUS / 'expected' / f'{folder}.json').read_text(encoding='utf-8')).items()}

ROUNDOFF = 1e-9  # both sides work in doubles, on numbers of order one
FEWEST_EQUAL = 365  # clean files compared in full, lest the table swallow them

NOT_COMPARED = {
    'errors': 'compared by code',
    'warnings': 'we word ours ourselves, and warn of more',
}


class Deviation(NamedTuple):
    """Files about which we say something else than libsdformat, and why."""

    reason: str
    message: str
    """Regular expression of what we say beyond: errors, or differences in value."""
    paths: tuple[str, ...]
    codes: frozenset[str] = frozenset()
    """Further codes that only one side gives."""


PROBE, GZ_SIM, TEST_SDF = 'probe/', 'gz-sim/test/worlds/', 'sdformat/test/sdf/'
DRAKE = 'drake/multibody/'

STRICTER_ON_PURPOSE = (
    Deviation(
        'a number is the whole text: libsdformat reads 2 from "2kg" and "2,5", and nan',
        'is not a finite number',
        (PROBE + 'num_comma.sdf', PROBE + 'num_hex.sdf', PROBE + 'num_junk.sdf',
         PROBE + 'pjunk.sdf', PROBE + 'nan_limit.sdf', PROBE + 'mimic_nan_mult.sdf')),
    Deviation(
        'a vector has three numbers: libsdformat ignores a fourth', r'has 4 values \(needs 3\)',
        (PROBE + 'vec_4.sdf',)),
    Deviation(
        'a size is above zero: libsdformat reads 1 from 0 and -1', 'is not above zero',
        (PROBE + 'col_negsize.sdf',
         DRAKE + 'contact_solvers/test/particle_with_infinite_inertia.sdf')),
    Deviation(
        'damping, friction and rates are not negative', 'is out of range',
        (PROBE + 'negstiff.sdf', PROBE + 'sens_rate_neg.sdf',
         DRAKE + 'parsing/test/sdf_parser_test/negative_damping_joint.sdf')),
    Deviation(
        'a quaternion of length zero is no rotation', 'has a quaternion of length zero',
        (PROBE + 'pquat_zero.sdf',)),
    Deviation('no position is allowed', 'is above <upper>', (PROBE + 'lower_gt_upper.sdf',)),
    Deviation('an infinite pitch', '<thread_pitch> is zero', (PROBE + 'tp0.sdf',)),
    Deviation(
        'a contact sensor that names an unknown collision would never feel anything',
        'its link has no collision',
        (PROBE + 'sens_contact_badcol.sdf', PROBE + 'sens_contact_two.sdf')),
    Deviation(
        'mimic checks: a fixed joint leads nowhere, whether it has an axis or not',
        "is of type 'fixed', which does not move", (PROBE + 'mimic_leader_fixed_withaxis.sdf',)),
    Deviation(
        'a DOCTYPE is refused as such', 'a DOCTYPE is refused', (PROBE + 'entity.sdf',),
        frozenset({'ELEMENT_INVALID', 'FILE_READ'})),
)
DEFECTS_OF_LIBSDFORMAT = (
    Deviation(
        'joints in nested models are not checked', 'parent and child are the same',
        (GZ_SIM + 'include_nested_models.sdf', GZ_SIM + 'models/include_nested/model.sdf',
         GZ_SIM + 'models/nested_models/model.sdf')),
    Deviation(
        'the same, in a file whose other include is missing', '',
        (GZ_SIM + 'model_nested_include.sdf',), frozenset({'JOINT_PARENT_SAME_AS_CHILD'})),
    Deviation(
        'nor are those that mimic others', 'there is no joint',
        (PROBE + 'mimic_in_nested_bad.sdf',)),
    Deviation(
        'poses of collisions, visuals and sensors are not checked', '',
        ('gz-sim/examples/worlds/optical_tactile_sensor_plugin.sdf',),
        frozenset({'POSE_RELATIVE_TO_INVALID'})),
    Deviation(
        'auto inertia of a mesh is a mass of 1, whatever the mesh',
        r"can't use mesh|/links/\d+/(mass|inertial_pose|ixx_iyy_izz|ixy_ixz_iyz)",
        (PROBE + 'in_auto_mesh.sdf', TEST_SDF + 'mesh_auto_inertial.sdf',
         GZ_SIM + 'models/cylinder_dae/model.sdf',
         GZ_SIM + 'models/cylinder_dae_bottom_origin/model.sdf',
         GZ_SIM + 'models/cylinder_dae_convex_decomposition/model.sdf')),
    Deviation(
        'auto inertia drops the fluid added mass', 'fluid_added_mass: only we say it',
        (PROBE + 'in_auto_fam.sdf',)),
    Deviation(
        'text around the root element is skipped', 'not XML',
        (GZ_SIM + 'reset_detachable_joint.sdf',)),
    Deviation(
        'the same, and the file has a mistake besides', 'not XML',
        (TEST_SDF + 'nested_multiple_elements_error_world.sdf',),
        frozenset({'ELEMENT_INCORRECT_TYPE'})),
    Deviation(
        'a warning (of a version in a model.config that is too new) is put among the errors', '',
        (PROBE + 'inc_dup.sdf', PROBE + 'inc_place_nopose.sdf', PROBE + 'inc_plain.sdf',
         PROBE + 'inc_pose.sdf'), frozenset({'WARNING'})),
    Deviation('it crashes', '^/(crash|worlds): ', (PROBE + 'flat_17.sdf',)),
)
NOT_IN_THE_CORPUS = (
    Deviation('includes a file that was left out', 'not found', (TEST_SDF + 'resolve_uris.sdf',)),
)
DEVIATIONS = {path: deviation for deviation in (
    *STRICTER_ON_PURPOSE, *DEFECTS_OF_LIBSDFORMAT, *NOT_IN_THE_CORPUS)
    for path in deviation.paths}
AS_LIBSDFORMAT = Deviation('', '', ())


def test_few_files_deviate():
    clean = {path for path, answer in FILES.items() if not answer.get('errors')}
    assert set(DEVIATIONS) <= set(FILES)
    assert len(clean - set(DEVIATIONS)) >= FEWEST_EQUAL


@pytest.mark.parametrize('path', FILES)
def test_file_means_what_it_means_to_libsdformat(path):
    """All values are the same to round-off, or all error codes; or the table says why not."""
    answer, deviation = FILES[path], DEVIATIONS.get(path, AS_LIBSDFORMAT)
    said = describe(*look(path))
    beyond = re.compile(deviation.message or '$never')
    errors = [error for error in said['errors'] if not beyond.search(error['message'])]
    found = len(errors) < len(said['errors'])
    expected = {error['code'] for error in answer.get('errors', ())}
    assert {error['code'] for error in errors} ^ expected == deviation.codes
    if not said['errors'] and not expected:
        values = list(differences(answer, said, ''))
        assert not [value for value in values if not beyond.search(value)]
        found = found or values
    assert bool(deviation.message) == bool(found), 'the table is out of date'


@pytest.mark.parametrize('path', FILES)
def test_what_is_said_of_a_file_is_json(path):
    said = describe(*look(path))
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    for error in said['errors']:
        assert error['line'] > 0 and str(CORPUS) in error['file']


def look(path):
    folders = (MODELS[path.partition('/')[0]], *MODELS.values())
    return examine(CORPUS / path, model_paths=[
        (CORPUS / path).parent, *(CORPUS / folder for folder in folders)])


def differences(expected, said, where):
    """Name each value that is not the same, going down both trees together."""
    if isinstance(expected, dict) and isinstance(said, dict):
        for key in sorted({*expected, *said} - {*NOT_COMPARED}):
            place = f'{where}/{key}'
            if key in expected and key in said:
                yield from differences(expected[key], said[key], place)
            else:
                yield f'{place}: only {"we say" if key in said else "libsdformat says"} it'
    elif where.endswith('/quat_wxyz'):
        if not same_rotation(expected, said):
            yield f'{where}: {expected} {said}'
    elif isinstance(expected, list) and isinstance(said, list) and len(expected) == len(said):
        for i, (one, other) in enumerate(zip(expected, said)):
            yield from differences(one, other, f'{where}/{i}')
    elif isinstance(expected, (int, float)) and isinstance(said, (int, float)):
        if not math.isclose(expected, said, rel_tol=ROUNDOFF, abs_tol=ROUNDOFF):
            yield f'{where}: {expected} {said}'
    elif expected != said:
        yield f'{where}: {expected} {said}'


def same_rotation(expected, said):
    """Compare quaternions of any length and sign."""
    one, other = (np.array(quat) / np.linalg.norm(quat) for quat in (expected, said))
    return np.allclose(one, other * np.sign(one @ other), rtol=0, atol=ROUNDOFF)
