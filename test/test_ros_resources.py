"""What a robot can be named by."""
from pathlib import Path

import pytest

from spr_dynamics.errors import SprDynamicsError
from spr_dynamics.ros import resources

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize('name', ['arm7', 'arm7.sdf', 'package://spr_dynamics/models/arm7.sdf'])
def test_shipped_model_is_found_by_name(name):
    assert resources.resolve(name).read_text() == (REPOSITORY / 'models/arm7.sdf').read_text()


def test_files_are_found_by_path_and_uri(tmp_path):
    robot = tmp_path / 'robot.sdf'
    robot.write_text('<sdf/>')
    assert resources.resolve(str(robot)) == robot
    assert resources.resolve(f'file://{robot}') == robot


def test_a_file_of_the_user_hides_a_shipped_one(tmp_path, monkeypatch):
    (tmp_path / 'arm7.sdf').write_text('<sdf/>')
    monkeypatch.chdir(tmp_path)
    assert resources.resolve('arm7.sdf') == Path('arm7.sdf')


@pytest.mark.parametrize('name, message', [
    ('arm8', r"arm8: no such file \(did you mean 'arm7'\?\); shipped models: arm7, "),
    ('/nowhere/robot.sdf', '/nowhere/robot.sdf: no such file; shipped models: arm7, '),
    ('/tmp', '/tmp: is a folder'),
    ('package://spr_dynamics/models/none.sdf', 'no such file in '),
    ('package://no_such_package/x.sdf', "'no_such_package' is not in the ament index"),
])
def test_what_is_missing_is_named_with_what_there_is(name, message):
    with pytest.raises(SprDynamicsError, match=message):
        resources.resolve(name)


def test_an_unknown_user_has_no_home():
    with pytest.raises(SprDynamicsError, match='^~nosuchuser/x.sdf: the home folder of ~nosuchus'):
        resources.resolve('~nosuchuser/x.sdf')


def test_shipped_files_are_found_in_the_source_tree():
    assert resources.find_shipped('config/simulation.yaml')
    assert resources.find_shipped('no/such/file') is None
