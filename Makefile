# Every target sets up what it needs: a virtual environment in .venv, system packages through apt when root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all bench lint format doctor clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(STAMP) ## Make .venv and install everything into it

$(STAMP): pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" sh tools/system-packages.sh
	@echo "setting up $(VENV): about 1.5 GB, a few minutes the first time"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -qq -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP) ## Simulate 4,096 generated characters headless for 10 s and save one of them
	@mkdir -p out
	$(BIN)/ai4animation simulate --count 4096 --seconds 10 --record 1 --out out/demo.bvh
	$(BIN)/ai4animation info --no-tree out/demo.bvh

test: $(STAMP) ## Run the tests (a few minutes)
	$(BIN)/python -m pytest

test-all: $(STAMP) ## Run all tests, the long ones too
	$(BIN)/python -m pytest -m ""

bench: $(STAMP) ## Run the benchmarks, or one group: make bench ONLY=fk
	$(BIN)/python -m pytest --benchmark-enable --benchmark-columns=min,median,rounds -q \
		$(if $(ONLY),benchmarks/bench_$(ONLY).py,benchmarks)

lint: $(STAMP) ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: $(STAMP) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

doctor: $(STAMP) ## Show versions, threads, caches, graphics adapter
	$(BIN)/ai4animation doctor

clean: ## Remove .venv and everything built
	rm -rf $(VENV) build dist out *.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks
