PYTHON ?= python3
BIN := .venv/bin
PACKAGES := protocols channels memory config bots moot
GENERATOR := $(wildcard docs/generate.py)
# One lock for every Python from 3.11 on and every system: what only some need carries a marker.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--custom-compile-command "make lock" $(ARGS)

# The tests start hundreds of processes: without bytecode each would compile all of Moot anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install run test check reverted format generate bench soak lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

install:  ## bring .venv up to date with the lock files (every target below but run does this first)
	@$(PYTHON) .ci/set_up.py

run:  ## show a society at 120 times real time, after some simulated days (ARGS="--seed 7")
	@$(PYTHON) .ci/set_up.py run
	$(BIN)/moot up --speed 120 --warm-up 3 --data ./moot-data $(ARGS)

# Three workers on two cores: a test that waits for a page or a platform leaves its core to another.
test: install  ## run the tests (ARGS="-k debate")
	$(BIN)/pytest -q -r fEs -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

check: install  ## lint, format, types, import direction, links, tests of rules, generated files; changes nothing
	$(BIN)/ruff check --output-format concise
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/check_docs.py
	$(BIN)/python tests/check_rules.py
	$(if $(GENERATOR),$(BIN)/python $(GENERATOR) --check)

reverted: install  ## list files whose content returned to an older version (SINCE=COMMIT)
	$(BIN)/python tests/reverted_files.py $(SINCE)

format: install  ## format the code and apply the linter's safe fixes
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

generate: install  ## write the generated files anew
	$(if $(GENERATOR),$(BIN)/python $(GENERATOR),@echo "nothing is generated yet")

bench: install  ## measure speed into bench.json (ONLY=bus for a part)
	$(BIN)/python tests/benchmarks/run.py $(if $(ONLY),--only $(ONLY)) $(ARGS)

soak: install  ## run what is too long for CI, and say what it ran and found (ARGS="--first 201 --weeks 50")
	$(BIN)/python -m tests.soak.figures
	$(BIN)/python -m tests.soak.coverage
	$(BIN)/python -m tests.soak.hosts
	$(BIN)/python -m pytest -q tests/soak/full_disk.py
	$(BIN)/python -m tests.soak.run $(ARGS)

lock: install  ## pin the dependencies of pyproject.toml anew (ARGS=--upgrade for newer versions)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| $(COMPILE) -o requirements-build.lock -
	$(COMPILE) -o requirements.lock pyproject.toml
	$(COMPILE) --extra dev -o requirements-dev.lock pyproject.toml

clean:  ## remove caches and build leftovers; keeps .venv, moot-data and runs
	rm -rf build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench.json
	find $(PACKAGES) tests docs .ci -name __pycache__ -prune -exec rm -rf {} +
