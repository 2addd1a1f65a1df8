"""What README.md shows is what happens."""
import re
import subprocess

import numpy as np
import pytest

import needs

README = (needs.REPOSITORY / 'README.md').read_text(encoding='utf-8')


def blocks(language):
    """Return the code blocks of a language."""
    return re.findall(rf'^```{language}\n(.*?)^```', README, re.MULTILINE | re.DOTALL)


def sessions():
    """Return those that show a terminal, each as commands with what they print."""
    return [[(command, printed.splitlines()) for command, printed in
             re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', block, re.MULTILINE)]
            for block in blocks('') if block.startswith('$ ')]


def test_python_block_runs_and_reads_the_weight(monkeypatch):
    monkeypatch.chdir(needs.REPOSITORY)
    (block,) = blocks('python')
    names = {}
    exec(block, names)
    model, sim = names['model'], names['sim']
    assert sim.time == pytest.approx(1.0)
    (mass,) = map(float, re.findall(r'# ([\d.]+) kg press on the sole', block))
    gravity = np.linalg.norm(model.gravity)
    assert sim.sensors['foot'].reading.force[2] == pytest.approx(-mass * gravity, rel=1e-3)


def test_commands_print_what_is_shown(tmp_path):
    """With the node that the text before them starts."""
    pytest.importorskip('ros2cli')
    from ros_harness import Client, NodeProcess
    (session,) = sessions()
    assert len(session) >= 7
    starter = re.search(r'`ros2 launch \S+ simulation.launch.py (.*?)`[^`]*```\n\$ ', README)
    given = dict(word.split(':=') for word in starter[1].split())
    with NodeProcess(tmp_path, namespace='/', **given) as node, Client('/') as client:
        client.wait_until(lambda: '/joint_commands' in node.log)
        try:
            # which answers the others, and has seen nobody yet
            subprocess.run(['ros2', 'daemon', 'start'], check=True, capture_output=True)
            client.wait_until(lambda: '/simulation' in subprocess.run(
                ['ros2', 'node', 'list'], capture_output=True, text=True, check=True).stdout)
            for command, printed in session:
                ran = subprocess.run(command, shell=True, capture_output=True, text=True,
                                     timeout=60)
                assert ran.returncode == 0, (command, ran.stderr)
                missing = set(printed) - set(ran.stdout.splitlines())
                assert not missing, (command, ran.stdout, ran.stderr)
        finally:  # of this test's domain; it would stay for two hours
            subprocess.run(['ros2', 'daemon', 'stop'], check=True, capture_output=True)
