"""Pages that are made from code are up to date."""
import subprocess
import sys

import needs


def test_page_on_sdf_is_what_the_loader_does():
    made = subprocess.run([sys.executable, 'docs/sdf_support.py'], cwd=needs.REPOSITORY,
                          env={'PYTHONPATH': str(needs.REPOSITORY), 'PATH': ''},
                          capture_output=True, text=True, check=True).stdout
    page = needs.REPOSITORY / 'docs' / 'sdf_support.md'
    assert page.read_text(encoding='utf-8') == made
