# Each target creates .venv and installs what it needs there; nothing else is touched.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
KILTED := $(VENV)/kilted

.PHONY: demo test test-kilted lint bench campaign clean
.NOTPARALLEL:

demo: $(VENV)/.installed-jazzy
	@$(RUN) -m spr_dynamics.ros.demo

test: $(VENV)/.installed-test
	$(RUN) -m pytest

# the other ROS 2 that is supported, in a venv of its own
test-kilted: $(KILTED)/.installed
	$(KILTED)/bin/python -m pytest test/test_ros_smoke.py

lint: $(VENV)/.installed-lint
	$(RUN) -m ruff check .
	$(RUN) -m flake8
	$(RUN) -m mypy

bench: $(VENV)/.installed-bench
	@set -e; for file in bench/*.py; do echo "== $$file"; $(RUN) "$$file"; done

campaign: $(VENV)/.installed-test $(VENV)/.installed-drake
	$(RUN) -m pytest test/test_drake.py
	SPR_FUZZ_INPUTS=20000 SPR_FUZZ_SCENES=1000 \
		$(RUN) -m pytest test/test_sdformat_fuzz.py test/test_contact_fuzz.py
	SPR_STORM_SECONDS=30 $(RUN) -m pytest test/test_ros_storms.py

clean:
	rm -rf $(VENV) build install log *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find spr_dynamics test launch bench -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.installed-%: setup.py pyproject.toml | $(RUN)
	@echo 'installing spr_dynamics[$*] and ROS 2 into $(VENV) (a minute or two the first time)'
	@$(RUN) -m pip install --quiet --disable-pip-version-check -e '.[jazzy,$*]'
	@touch $@

$(KILTED)/.installed: setup.py pyproject.toml | $(RUN)
	@echo 'installing spr_dynamics[kilted] into $(KILTED) (a minute the first time)'
	@$(RUN) -m venv $(KILTED)
	@$(KILTED)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[kilted]' pytest
	@touch $@

define CHECK_PLATFORM
import platform, sys
here = 'Python %d.%d on %s %s' % (
    sys.version_info[:2] + (platform.system(), platform.machine()))
if not ((3, 10) <= sys.version_info[:2] <= (3, 13) and here.endswith('Linux x86_64')):
    sys.exit('spr_dynamics: supported are Python 3.10 to 3.13 on Linux x86_64, this is ' + here +
             ' (for another one: make PYTHON=python3.12 ...)')
endef
export CHECK_PLATFORM

$(RUN):
	@$(PYTHON) -c "$$CHECK_PLATFORM"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
