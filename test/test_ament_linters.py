"""The linters of ROS 2, where a ROS installation brings them (`make lint` needs none)."""
import pytest

import needs


@pytest.mark.linter
@pytest.mark.flake8
def test_flake8():
    main = needs.module('ament_flake8.main')
    code, errors = main.main_with_errors(
        argv=['--config', str(needs.REPOSITORY / 'setup.cfg'), *sources()])
    assert code == 0, '\n'.join(errors)


@pytest.mark.linter
@pytest.mark.pep257
def test_pep257():
    main = needs.module('ament_pep257.main')
    # a property is a noun, which ament_pep257 does not see; ruff checks the mood of the others
    assert main.main(argv=['--add-ignore', 'D401', '--', *sources()]) == 0


@pytest.mark.linter
@pytest.mark.xmllint
def test_xmllint():
    main = needs.module('ament_xmllint.main')
    assert main.main(argv=[str(needs.REPOSITORY / 'package.xml')]) == 0


def sources():
    folders = ('spr_dynamics', 'test', 'launch', 'bench', 'setup.py')
    return [str(needs.REPOSITORY / folder) for folder in folders]
