"""What holds for every test: a ROS graph of its own, and no silent skips in CI."""
import os
import shutil
import tempfile

import pytest

import needs

# Before anything imports rclpy: no discovery beyond this machine, no other session's topics,
# no logs in the home folder, and wrong message types refused instead of converted.
LOG_DIR = tempfile.mkdtemp(prefix='spr_dynamics_test_log_')
os.environ.update(
    ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST',
    ROS_DOMAIN_ID=str(1 + os.getpid() % 100),  # 101 is the last that leaves other ports alone
    ROS_LOG_DIR=LOG_DIR,
    ROS_PYTHON_CHECK_FIELDS='1',
)


def pytest_unconfigure():
    shutil.rmtree(LOG_DIR, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path, parent):
    """
    Import a file when its turn comes.

    launch_testing, where it is installed, imports all of them before, to find launch tests; the
    first one that skips would end the folder.
    """
    if '@pytest.mark.launch_test' in module_path.read_text(encoding='utf-8'):
        return None
    return pytest.Module.from_parent(parent, path=module_path)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    _refuse_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    _refuse_skip(outcome.get_result())


def _refuse_skip(report):
    if report.outcome == 'skipped' and not hasattr(report, 'wasxfail'):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        refused = needs.refusal(reason)
        if refused:
            report.outcome, report.longrepr = 'failed', refused
