# `make demo` and `make test` set everything up by themselves, in .venv/; the rest is for developers.
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
STAMP := $(VENV)/.installed

.PHONY: setup demo test check coverage mutation bench drill-table clean

setup: $(STAMP)

$(STAMP): pyproject.toml requirements/constraints.txt requirements/demo-model.txt scripts/setup.sh
	sh scripts/setup.sh $(VENV)
	touch $(STAMP)

demo: setup
	$(BIN)/python examples/helpdesk/demo.py

test: setup
	$(PYTEST) -n 2 -m "not slow" $(ARGS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Branch coverage of what the verdict rests on.
coverage: setup
	$(PYTEST) -n 2 -q -m "not slow and not e2e" --cov=agent_litmus.records --cov=agent_litmus.scoring \
		--cov=agent_litmus.coupling --cov=agent_litmus.verdict --cov-branch --cov-fail-under=95

# Hours; one package at a time: make mutation ARGS="agent_litmus.coupling*"
mutation: setup
	$(BIN)/mutmut run $(ARGS)

bench: setup
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/gateway.py

# Hours for a full table; it can be stopped and goes on: make drill-table ARGS="--minutes 40"
drill-table: setup
	$(BIN)/python benchmarks/drill_table.py $(ARGS)

clean:
	rm -rf $(VENV) runs examples/*/runs .mypy_cache .pytest_cache .ruff_cache .hypothesis
