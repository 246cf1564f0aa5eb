# `make run` and `make test` set up everything they need in .venv; a second call installs nothing.
PYTHON ?= python3
BIN := .venv/bin
VARIANTS := constexpr runtime
BROWSERS := chromium chromium-browser google-chrome
LLVMS := 22 21 20
TRITONS := 3.7.1 3.8.0 3.9.0
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: run test fast slow lint setup tritons browser llvm benchmark coverage clean

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

# Other versions of Triton than the runner's, which is in .venv, each in a folder for PYTHONPATH.
.venv/triton-%: | setup
	rm -rf $@.part
	$(BIN)/python -m pip install --quiet --no-deps --target $@.part triton==$*
	mv $@.part $@

tritons: $(TRITONS:%=.venv/triton-%)

# As root throughout: apt's own user cannot write to every machine's /tmp.
APT := $(ROOT) apt-get -o APT::Sandbox::User=root --quiet

# The tests look at the report in a real browser. Ubuntu calls the package by its other name.
browser:
	@for name in $(BROWSERS); do if command -v $$name >/dev/null; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null; then \
		echo "the tests need one of: $(BROWSERS); install it with this system's package manager" >&2; exit 1; \
	fi; \
	$(APT) update && { $(APT) install --yes chromium || $(APT) install --yes chromium-browser; }

# The tests disassemble code objects, with any LLVM that knows gfx950; distributions name the package by its number.
llvm: setup
	@if $(BIN)/python -c 'from tests.decoding.llvm import tool; tool("llvm-objdump"), tool("llvm-mc")' 2>/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
		echo "the tests need llvm-objdump and llvm-mc of LLVM 20 or newer; install LLVM with this system's package manager" >&2; exit 1; \
	fi; \
	$(APT) update && for version in $(LLVMS); do $(APT) install --yes llvm-$$version && exit 0; done; exit 1

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p mxsub.submit -p mxsub.virtual -p mxsub.commands -m mxsub.cli

fast: setup browser
	$(BIN)/python -m pytest -m 'not slow'

slow: setup llvm .venv/triton-3.9.0
	$(BIN)/python -m pytest -m slow -n auto --dist loadfile

test: lint fast slow

# The figures of docs/performance.md, on this machine.
benchmark: setup
	$(BIN)/python -m benchmarks.commands
	$(BIN)/python -m benchmarks.emulation
	$(BIN)/python -m benchmarks.emulation --sanitize
	$(BIN)/python -m benchmarks.sampled
	$(BIN)/python -m benchmarks.history

# Opcodes of what Triton compiles, against those that the emulator has; what is compiled is kept in build/coverage.
coverage: tritons
	$(BIN)/python -m benchmarks.coverage --cache build/coverage

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache
