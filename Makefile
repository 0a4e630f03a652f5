# Two commands on a fresh machine: `make demo` and `make test`. Everything is installed into .venv/.
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
STAMP := $(VENV)/.installed

.PHONY: setup demo test check bench clean

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

bench: setup
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/gateway.py

clean:
	rm -rf $(VENV) runs examples/*/runs .mypy_cache .pytest_cache .ruff_cache .hypothesis
