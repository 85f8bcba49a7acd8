# Everything works in a virtual environment of its own, which the first target that needs it sets up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
CONSTRAINTS ?= constraints.txt
# Ax wants one version of BoTorch: who tests with another leaves it out, and its tests are skipped
EXTRAS ?= test,ax
READY := .venv/.ready
SHOW_READY := .venv/.show-ready
DOCS_READY := .venv/.docs-ready
TEST_READY := .venv/.test-ready
# byte code of what is imported is written then, even where the environment says not to, or every process would compile
# torch anew; to write it for all that is installed takes half a minute
export PYTHONDONTWRITEBYTECODE =
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c $(CONSTRAINTS)

# found, or installed by who may; Debian's packages need no questions answered
BROWSER := command -v chromium || command -v google-chrome || test -n "$$BROWSER_PATH" || \
	{ test "$$(id -u)" = 0 && command -v apt-get && apt-get -q update && apt-get -qy install --no-install-recommends chromium fonts-dejavu-core; }

.DEFAULT_GOAL := help
.PHONY: help run docs test long times quick lint types layers pytest format bench experiments clean

help:  ## show the targets
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 13

$(READY): pyproject.toml $(CONSTRAINTS)
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

$(SHOW_READY): $(READY)
	$(PIP) -e '.[show]'
	touch $@

$(DOCS_READY): $(READY)
	$(PIP) -e '.[docs]'
	touch $@

$(TEST_READY): $(READY)
	$(PIP) -e '.[$(EXTRAS)]'
	@$(BROWSER) || echo "There is no Chromium here: tests of what is seen in a browser are skipped (apt-get install chromium)."
	touch $@

run: $(SHOW_READY)  ## optimize the toy problem of the paper: `pesky run` on its study file; then a picture and a report
	$(BIN)/pesky run examples/toy/study.toml
	@mkdir -p build
	$(BIN)/pesky show examples/toy/study.toml --picture belief -o build/toy-belief.html
	$(BIN)/pesky report examples/toy/study.toml -o build/toy-report.html

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(DOCS_READY)  ## the documentation as a site that opens without a network: build/site/index.html
	$(BIN)/mkdocs build --quiet
	@echo build/site/index.html

test: lint types layers pytest  ## everything that must hold before a commit

long: $(TEST_READY)  ## the tests that take longest, which `make test` leaves out: before a release, and every night
	$(BIN)/pytest -n 2 --dist worksteal -m long

times: export PESKY_TIMES = $(CURDIR)/build/times.tsv
times: $(TEST_READY)  ## all tests, with the processor time of each in build/times.tsv: what takes long belongs in tests/long.txt
	mkdir -p build && rm -f $(PESKY_TIMES)
	$(BIN)/pytest -n 2 --dist worksteal -m '' -p processor_time
	sort -rn $(PESKY_TIMES) | head -50

# Without ROOM: what most changes break first. With it: all tests of one room, whatever they take.
ROOM ?=
ROOMS := infer numerics likelihood space problem decide optimum study_file
FILES := acquire/pesc/test_gain.py acquire/test_fantasy.py model/test_gp.py model/test_belief.py model/test_hyper.py \
	model/test_kernel.py store/test_memory.py study/test_study.py test_observations.py test_text.py test_typecheck.py

quick: lint layers  ## lint, layers and the fast tests, in a minute; ROOM=store: those of one room
	$(BIN)/pytest -q -n 2 --dist worksteal $(if $(ROOM),tests/$(ROOM),-m 'not slow and not long' $(addprefix tests/,$(ROOMS) $(FILES)))

lint: $(TEST_READY)  ## format and lint, without changing anything
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(TEST_READY)  ## check the types
	$(BIN)/basedpyright

layers: $(TEST_READY)  ## check that nothing imports to its right
	$(BIN)/lint-imports

# small matrices: a second thread per process only gets in the way, and times of one thread compare
pytest long times quick bench experiments: export OMP_NUM_THREADS = 1

pytest: $(TEST_READY)  ## run the tests
	$(BIN)/pytest -n 2 --dist worksteal

format: $(TEST_READY)  ## format, and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TEST_READY)  ## seconds to start, and per ask beside BoTorch and Optuna
	$(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.speed

# a check that they work: docs/experiments.md has the commands of the real ones
experiments: $(TEST_READY)  ## the paper's figures with 20 realisations and 15 evaluations each, into build/experiments
	$(BIN)/python -m experiments.figure_1ab --out build/experiments
	$(BIN)/python -m experiments.peaks --realisations 5
	$(BIN)/python -m experiments.accuracy --datasets 2 --seeds 1 --out build/experiments --runs build/experiments/runs
	$(BIN)/python -m experiments --realisations 20 --evaluations 15 --workers 2 --out build/experiments --runs build/experiments/runs

clean:  ## remove all that the other targets made
	rm -rf .venv build dist .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
