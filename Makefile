# One door: what CI runs is what a person runs. `make` prints this list.
SHELL := /bin/bash
PYTHON := .venv/bin/python
TABLE ?= four-card-touch
DATA ?= build/run/$(TABLE)

.DEFAULT_GOAL := help
.PHONY: help setup run setup-test test test-quick test-kernel storm fuzz fuzz-codec lint scenarios perf lock clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20
	@echo "  make run TABLE=four-card-keypad   the keypad workflow;  FRESH=1 forgets earlier data"

setup: ## make .venv from the lock (Python 3.11+), nothing else
	@deploy/setup/environment run

run: setup ## Game Manager, one table on simulated hardware and the bench page; Ctrl-C stops
	@$(PYTHON) -m sim bench --table $(TABLE) --data $(DATA) $(if $(FRESH),--fresh)

setup-test: ## what the tests need: packages, Chromium, Node, MicroPython
	@deploy/setup/environment test

test: setup-test lint scenarios ## every check and test; asks apt for what is missing
	@$(PYTHON) -m pytest -n 2 -q

test-quick: setup-test ## unit tests only
	@$(PYTHON) -m pytest -n 2 -q tests/unit tests/contract

test-kernel: setup-test ## the real libraries on a stock Debian kernel in QEMU (x86_64)
	@if [ "$$(uname -m)" = x86_64 ]; then deploy/setup/kernel && $(PYTHON) -m sim.kernel; \
	else echo "kernel test: skipped; its guest takes this machine's Python, and QEMU plays an x86_64"; fi

storm: setup-test ## floors under every fault at once: a fixed set of seeds, then fresh ones for SECONDS=180
	@$(PYTHON) -m sim storm --campaign --seconds $(or $(SECONDS),180)

fuzz: setup-test ## the fuzz tests, fifty times as deep
	@$(PYTHON) -m pytest tests/fuzz -n 2 -q --hypothesis-profile=deep

fuzz-codec: setup-test ## coverage-guided fuzzing of the codecs for a minute (x86_64)
	@$(PYTHON) -m pip install --quiet "atheris>=3.0" && $(PYTHON) tests/fuzz/atheris_codec.py -max_total_time=60

lint: setup-test ## ruff, mypy strict, import contracts
	@.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports --no-cache

scenarios: setup-test ## play every text scenario in virtual time
	@$(PYTHON) -m sim run --quiet tests/scenarios/*.txt

perf: setup-test ## measure; ratios of one run, JSON in build/perf.json
	@$(PYTHON) -m sim perf --json build/perf.json

lock: setup-test ## resolve pyproject.toml into the three lock files
	@deploy/setup/lock

clean: ## remove what the other commands made
	@rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/portable/node_modules
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
