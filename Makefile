# make demo: install what is missing into .venv, go from the world that comes along to a scored policy, print where the
#   report lies. make demo-from-scratch: the same with a world trained on play that is recorded first.
# make test: install what is missing into .venv, run the tests.
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RUN_DIR ?= runs/demo

.PHONY: install demo demo-from-scratch test check format lock figures clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml setup.py constraints.txt
	scripts/install $(VENV)
	@touch $@

demo: install
	$(BIN)/demoloom run --preset tiny --baseline --pretrained-world pusht --run-dir $(RUN_DIR)

demo-from-scratch: install
	$(BIN)/demoloom run --preset tiny --baseline --run-dir runs/demo-from-scratch

test: install
	$(BIN)/python -m pytest

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: install
	scripts/lock $(VENV) > constraints.txt.new && mv constraints.txt.new constraints.txt

figures: install
	$(BIN)/python benchmarks/demo.py $(RUN_DIR)
	$(BIN)/python scripts/readme_figures.py $(RUN_DIR)

clean:
	rm -rf $(VENV) build dist *.egg-info
