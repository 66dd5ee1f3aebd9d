# Everything a person types. `make` alone lists it.
# The work is done by scripts/ and by the tools in .venv, so it can be done without make too: see README.md.

# Which Python makes .venv: `make PYTHON=python3.12 book`.
PYTHON ?= python3
# A Python that nobody asked for may be the wrong one as long as there is a .venv already.
ANY := $(if $(filter file,$(origin PYTHON)),--or-existing)

.DEFAULT_GOAL := help
.PHONY: help book test notebooks notebooks-check plan bench lock lint clean environment

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

book: environment ## run every page, render the book, say where to open it
	@.venv/bin/python scripts/build_book.py

test: environment ## everything: lint, unit tests, published figures, every output of every page, the site
	@.venv/bin/python -m ruff check
	@.venv/bin/python -m pytest --nbval

notebooks: environment ## run the notebooks and write them the way they are committed
	@.venv/bin/python scripts/notebooks.py

notebooks-check: environment ## say which notebooks that would change; write nothing
	@.venv/bin/python scripts/notebooks.py --check

plan: environment ## plan the three example clusters; the reports are in _build/plans
	@for example in $$(grep -L "^\[fleet\]" examples/*.toml); do \
		.venv/bin/python -m reliability plan $$example --out _build/plans/$$(basename $$example .toml) || exit 1; \
	done

bench: environment ## measure speed against the floor of this machine
	@.venv/bin/python benchmarks/bench.py

lint: environment ## look through the code with ruff
	@.venv/bin/python -m ruff check

lock: environment ## resolve every version in requirements.txt anew
	@scripts/lock

clean: ## remove what was built; .venv stays
	rm -rf _build build dist .pytest_cache .ruff_cache .hypothesis
	find . -name .venv -prune -o -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +

environment:
	@command -v "$(PYTHON)" >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 to 3.14, or choose one: make PYTHON=python3.12 book" >&2; exit 1; }
	@"$(PYTHON)" scripts/environment.py $(ANY)
