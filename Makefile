# One door: what CI runs is what a person runs. `make` prints this list.
SHELL := /bin/bash
PYTHON := .venv/bin/python
TABLE ?= four-card-touch
DATA ?= build/run/$(TABLE)
PYTHON_VERSION ?= 3.13
# Unit tests that count cards, play physics, ask scrypt or try hundreds of damages. `make test` has
# them. The others, with the lint beside them, took 45 s on two quiet cores.
SLOW_UNIT_TESTS := tests/unit/manager/odds tests/unit/manager/training tests/unit/sim \
	tests/unit/manager/identity tests/unit/manager/advice tests/unit/manager/audit/test_every_row.py \
	tests/unit/controller/service/test_restore.py tests/unit/controller/core/felt/test_zero_proof.py \
	tests/unit/controller/journal/recovery/test_salvage.py

# For two cores: tests with Chromium and processes wait more than they compute. More cores can more.
WORKERS ?= 3
# Compiled modules are kept, whatever the machine asks for: processes start twice as fast.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run setup-test setup-check check quick-tests test every-test test-python test-kernel test-property test-packages test-updates test-image-quick test-deploy deb image storm diagnose soak mutate fuzz fuzz-codec lint scenarios perf pictures lock clean

help: ## print this list
	@sed -nE -e 's/^#> (.*)/\n\1/p' -e 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

#> To try it
run: setup ## a manager, one simulated table and the bench page; TABLE=four-card-keypad, FRESH=1
	@$(PYTHON) -m sim bench --table $(TABLE) --data $(DATA) $(if $(FRESH),--fresh)

setup: ## make .venv from the lock (Python 3.11+), nothing else
	@deploy/setup/environment run

#> To change it
# mypy takes one core and a clean checkout's first minute, so the tests run beside it, here and below.
check: setup-check ## before a commit: lint, types, contracts and the quick tests; under a minute on two cores
	@$(MAKE) --no-print-directory -j 2 lint quick-tests

quick-tests:
	@$(PYTHON) -m pytest -n 2 -q tests/unit $(SLOW_UNIT_TESTS:%=--ignore=%)

test: setup-test ## every check and test; asks apt for what is missing
	@$(MAKE) --no-print-directory -j 2 lint every-test

every-test:
	@$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -q || $(PYTHON) -m tests.kit.alone

lint: setup-check ## ruff, mypy strict, import contracts
	@.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports --no-cache

scenarios: setup-test ## play every text scenario in virtual time
	@$(PYTHON) -m sim run --quiet tests/scenarios/*.txt

#> To be surer
storm: setup-test ## floors under every fault at once: a fixed set of seeds, then fresh ones for SECONDS=180
	@$(PYTHON) -m sim storm --campaign --seconds $(or $(SECONDS),180)

# 19 of 20 must be named. One draw in fifty may fall below that by chance, so it gets a second.
diagnose: setup-test ## every fault put into a simulated table at a fresh seed, and named from its bundle; COUNT=1
	@$(PYTHON) -m sim diagnose --matrix $(or $(COUNT),1) || $(PYTHON) -m sim diagnose --matrix $(or $(COUNT),1)

soak: setup-test ## fresh storms on all cores for HOURS=8, from where the last soak stopped (build/soak)
	@$(PYTHON) -m sim storm --soak $(or $(HOURS),8)

mutate: setup-test ## small changes to money and safety code, and whether a test notices; COUNT=60 SEED=7 ONLY=NAME JOBS=2
	@$(PYTHON) -m tests.mutate --count $(or $(COUNT),60) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(FRESH),--fresh)

test-python: ## unit tests, contract tests and scenarios on another Python: PYTHON_VERSION=3.13
	@WORKERS=$(WORKERS) deploy/setup/test-python $(PYTHON_VERSION)

test-kernel: setup-test ## the real libraries on a stock Debian kernel in QEMU (x86_64)
	@if [ "$$(uname -m)" = x86_64 ]; then deploy/setup/kernel && $(PYTHON) -m sim.runs.kernel; \
	else echo "kernel test: skipped; its guest takes this machine's Python, and QEMU plays an x86_64"; fi

test-property: setup-test ## several managers over PostgreSQL under Patroni and etcd, killed and frozen
	@deploy/setup/property && $(PYTHON) -m pytest -m property -s -q tests/property

test-packages: setup-check ## the Debian packages in a clean Debian root: installed, upgraded, purged; as root
	@deploy/setup/packages && $(PYTHON) -m pytest -m deploy -q tests/deploy/test_manager_package.py tests/deploy/test_tech_package.py

test-updates: setup-check ## updates by the image's own RAUC and scripts, without a boot; builds the image, as root
	@deploy/setup/image && $(PYTHON) -m pytest -m deploy -q tests/deploy/test_update.py

# Contents, one start to an open table, one update, one way back: the rest is in test-deploy. The
# Debian packages are tried by test-packages.
test-image-quick: setup-check ## an image built, booted in QEMU, updated and rolled back once; as root
	@! deploy/setup/can-try-image || { $(PYTHON) -m tests.kit.unit_image build/tried && deploy/setup/try-image; }

test-deploy: setup-check ## the packages, and an image built twice and booted in QEMU; as root
	@deploy/setup/image && deploy/setup/packages && $(PYTHON) -m pytest -m deploy -q tests/deploy

fuzz: setup-test ## the fuzz tests, fifty times as deep
	@$(PYTHON) -m pytest tests/fuzz -n 2 -q --hypothesis-profile=deep

fuzz-codec: setup-test ## coverage-guided fuzzing of the codecs for a minute (x86_64)
	@$(PYTHON) -m pip install --quiet "atheris>=3.0" && $(PYTHON) tests/fuzz/atheris_codec.py -max_total_time=60

perf: setup-test ## measure; ratios of one run, JSON in build/perf.json; KEEP=LABEL NOTE=WORDS plots it with earlier ones
	@$(PYTHON) -m sim perf --json build/perf.json $(if $(KEEP),--keep "$(KEEP)" --note "$(NOTE)")

#> To ship it
deb: setup-check ## Debian packages in build/deb; SUITE=trixie or bookworm, ARCH=amd64 or arm64
	@for each in manager tech; do $(PYTHON) -m deploy.package $$each --suite $(or $(SUITE),trixie) \
		--arch $(or $(ARCH),amd64) || exit; done

image: setup-check ## a unit's disk image in build/image, as root; ARCH=amd64 for QEMU or arm64 for a Pi, KEY=FILE signs, UPDATES=FILE may update it
	@deploy/setup/image $(or $(ARCH),amd64) && deploy/image/build $(or $(ARCH),amd64) "$(KEY)" "$(UPDATES)"

#> To keep house
pictures: setup-test ## photograph the dealer's guide and the bench anew, in Chromium
	@$(PYTHON) -m sim pictures

setup-test: ## what the tests need: packages, Chromium, Node, MicroPython
	@deploy/setup/environment test

setup-check: ## what lint and quick tests need: Python packages only, and nothing twice
	@deploy/setup/environment check

lock: setup-test ## resolve pyproject.toml into the lock files
	@deploy/setup/lock

clean: ## remove what the other commands made
	@rm -rf .venv .venv-* build .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/portable/node_modules
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
