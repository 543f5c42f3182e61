# Two commands carry a new machine: `make run` and `make test`. Each does all of its own set-up.
.DEFAULT_GOAL := help
.PHONY: help setup run test soak lint real bench bench-quick bench-fingerprint container-steps count-requests wheel lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
DATA ?= ../shared/data
HOST ?= 127.0.0.1
PORT ?= 8000
LAKE ?= lake
STORE ?= site_out
# tests run in parallel, one process per core
JOBS ?= auto

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-17s %s\n", $$1, $$2}'

setup: $(READY) ## the virtual environment, with the locked dependencies

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cardpress needs Python 3.11 or newer: make PYTHON=python3.x …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "this Python has no venv: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

run: $(READY) ## a made-up lake, a build of it, a key, and the API running on it
	$(BIN)/cardpress demo $(LAKE)
	$(BIN)/cardpress build --lake $(LAKE) --store $(STORE) --publish
	@key=$$($(BIN)/cardpress keys issue --store $(STORE) --name 'make run') && \
	printf '\nThe API starts now; paste this into another terminal (Ctrl-C stops it):\n\n  %s\n\nOr look: http://$(HOST):$(PORT)/explore, with the key that the line holds. Reference: /docs\n\n' \
	  "curl -s -H 'Authorization: Bearer $$key' 'http://$(HOST):$(PORT)/api/v1/cards?q=ember&limit=2'" && \
	exec $(BIN)/cardpress serve --store $(STORE) --host $(HOST) --port $(PORT)

test: $(READY) ## the whole test suite
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(PYTEST_ARGS)

soak: $(READY) ## kill build, publish, prune and nightly two hundred times at random moments
	$(BIN)/python -m tests.soak.kill $(or $(ROUNDS),200)

lint: $(READY) ## style
	$(BIN)/ruff check .

real: $(READY) ## ingest, build, verify and ask real data, where there is some in DATA
	$(BIN)/python -m tests.real.run $(DATA)

# they need wrk, and for the peers nginx and postgresql-15: apt-get install wrk nginx-light postgresql-15
bench: $(BENCH_READY) ## measure the product beside its peers, into docs/benchmarks.md: an hour or two
	$(BIN)/python -m bench

bench-quick: $(BENCH_READY) ## the same on a small lake, into the cache: under three minutes
	$(BIN)/python -m bench --quick

$(BENCH_READY): $(READY) bench/requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements.lock
	@touch $(BENCH_READY)

bench-fingerprint: $(READY) ## recall of photo recognition, on made-up cards: some minutes
	$(BIN)/python -m bench.fingerprint

container-steps: $(READY) ## the steps of the Containerfile in a clean folder, without a container engine
	$(BIN)/python -m tests.deploy.containerfile

count-requests: $(READY) ## what a night and answers ask of S3, counted with real data (needs Ceph): a minute
	$(BIN)/python -m tests.fleet.counting $(DATA)

wheel: $(READY) ## a wheel, the SQL inside
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation -w dist .

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header
lock: ## the lock files anew from pyproject.toml (needs uv)
	$(COMPILE) --extra dev -o requirements.lock pyproject.toml
	$(COMPILE) --extra fingerprint --extra wheel -c requirements.lock -o docs/deploy/requirements.lock pyproject.toml
	$(COMPILE) --extra bench -c requirements.lock -o bench/requirements.lock pyproject.toml

clean: ## what the commands above made (never build/, which is source)
	rm -rf $(VENV) dist $(LAKE) .pytest_cache .ruff_cache .hypothesis
	find $(STORE) -mindepth 1 ! -name README.md -delete
