# One place for what people and CI type. `make help` lists the targets.

VENV   := .venv
PYTHON := $(VENV)/bin/python
STAMP  := $(VENV)/.setup-stamp
# What the set-up depends on: when one of these is newer than the stamp, the set-up is done again.
INPUTS := requirements.lock setup.cfg pyproject.toml framework/freshet/jvm/ivy.xml framework/freshet/jvm/jars.sha256

.DEFAULT_GOAL := help
.PHONY: help setup lint unit test nightly waits docs demo bench bench-report lock clean
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## Create .venv from the lock file, fetch the jars, archive their classes; does nothing when all is up to date
	@$(PYTHON) -m freshet.jvm.class_data

# The environment stands apart from its contents, so that a failed download does not throw it away.
$(PYTHON):
	@python=; for candidate in python3.11 python3; do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "make setup: Python 3.11 was not found: neither python3.11 nor python3 on PATH is one. Nothing was set up." >&2; \
	  echo "Install Python 3.11 and run the same command again." >&2; exit 1; \
	fi; \
	echo "setup, step 1 of 5: the environment $(VENV)"; \
	$$python -m venv $(VENV)

# pyspark is published as source only. It is built with the locked setuptools, which therefore goes in first;
# build isolation would fetch one that no hash vouches for. Python compiles a module when it first needs it, which of
# great-expectations, pandas and the like are few: half a minute less.
$(STAMP): $(INPUTS) | $(PYTHON)
	@echo "setup, step 2 of 5: setuptools, by which PySpark is built"
	@awk '/^[^ #]/ {wanted = /^setuptools==/} wanted' requirements.lock > $(VENV)/setuptools.lock
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $(VENV)/setuptools.lock
	@echo "setup, step 3 of 5: the $$(grep -c '^[a-z]' requirements.lock) packages of requirements.lock; PySpark has 300 MB, and is built (about two minutes)"
	@$(PYTHON) -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes --no-build-isolation -r requirements.lock
	@echo "setup, step 4 of 5: freshet"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@echo "setup, step 5 of 5: the jars of Hudi and Spark"
	@$(PYTHON) -m freshet jars fetch
	@touch $@

lint: setup ## Ruff, and mypy in strict mode on framework/
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy --strict framework

# Thousands of small files: in memory where there is such a place.
TESTS = TMPDIR=$$(test -w /dev/shm && echo /dev/shm || echo "$${TMPDIR:-/tmp}") $(PYTHON) -m pytest -o tmp_path_retention_policy=failed
# Two processes with a Spark session each, and one queue: tests/kit/queue.py.
QUEUE = -n 2 --no-loadscope-reorder

unit: setup ## The tests that need no JVM
	$(TESTS) tests/unit $(QUEUE)

test: unit ## What a change must pass; of each product of cases a row for every pair
	$(TESTS) tests --ignore tests/unit $(QUEUE)

# Three, because a session on few rows keeps four fifths of a core busy.
nightly: lint unit docs ## Everything: whole products, what takes long, and what could need a quiet machine three times on a busy one
	FRESHET_FULL=1 FRESHET_EXAMPLES=2 $(TESTS) tests --ignore tests/unit -n 3 --no-loadscope-reorder
	$(PYTHON) -m tests.kit.busy 3 $(MAKE) --no-print-directory waits
	$(PYTHON) -m tests.kit.pythons

waits: setup ## The tests of processes, kills, locks and threads
	$(TESTS) -m waits tests $(QUEUE)

# In an environment of its own: nothing of freshet needs it.
docs: | $(PYTHON) ## The pages of docs/ as a site in build/site; a link that leads nowhere fails
	$(PYTHON) -m venv build/docs
	build/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.txt
	NO_MKDOCS_2_WARNING=1 build/docs/bin/python -m mkdocs build

demo: setup ## The main job on data it makes itself
	$(PYTHON) -m tests.demo

bench: setup ## What it takes, side by side with scripts, other engines and itself on other sizes; some hours
	$(PYTHON) -m tests.benchmarks

bench-report: ## A page of plots from what bench has kept
	$(PYTHON) -m tests.benchmarks.report

# pip-tools lives in an environment of its own, because what it needs is no part of what is locked. Existing pins
# stay; to move one, delete its lines from requirements.lock first.
lock: | $(PYTHON) ## Write requirements.lock anew from setup.cfg
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check 'pip-tools~=7.6'
	env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND='make lock' build/lock/bin/pip-compile --quiet \
	  --generate-hashes --allow-unsafe --strip-extras --no-annotate --extra test --build-deps-for editable \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.lock setup.cfg
	env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND='make lock' build/lock/bin/pip-compile --quiet \
	  --generate-hashes --allow-unsafe --strip-extras --no-annotate \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file docs/requirements.txt docs/requirements.in

clean: ## Remove the environment and everything that was built; the jar cache stays
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find framework tests -name __pycache__ -type d -prune -exec rm -rf {} +
