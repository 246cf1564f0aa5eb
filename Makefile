# `make run` and `make test` set up everything they need in .venv; a second call installs nothing.
PYTHON ?= python3
BIN := .venv/bin
VARIANTS := constexpr runtime

.PHONY: run test fast slow lint setup benchmark clean

run: setup
	for variant in $(VARIANTS); do \
		$(BIN)/mxsub build --variant $$variant -o build/$$variant.py --force && \
		$(BIN)/mxsub lint build/$$variant.py && \
		$(BIN)/mxsub test build/$$variant.py || exit 1; \
	done

setup: .venv/ready

# torch first, Triton in a second step: resolved together, pip may take a CUDA build of torch.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("mxsub needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt torch numpy
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[local,plot,dev]'
	mkdir -p .venv/typing && ln -sfn ../.. .venv/typing/mxsub
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p mxsub.submit -p mxsub.virtual -p mxsub.commands -m mxsub.cli

fast: setup
	$(BIN)/python -m pytest -m 'not slow'

slow: setup
	$(BIN)/python -m pytest -m slow -n auto --dist loadfile

test: lint fast slow

# The figures of docs/performance.md, on this machine.
benchmark: setup
	$(BIN)/python -m benchmarks.commands
	$(BIN)/python -m benchmarks.emulation

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache
