# Olifant's chores. `make` lists them.
#
# Cargo compiles everything in Rust, programs/Makefile everything in C; this file puts them in order. A second run with
# nothing changed does nothing, and any target may run with -j.

SHELL := /bin/sh
export PATH := $(PATH):$(HOME)/.cargo/bin
CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=

# Where cargo builds; always what `cargo build` in this folder uses.
TARGET := $(or $(CARGO_TARGET_DIR),target)
OLIFANT := $(abspath $(TARGET))/release/olifant
RUNTIME := $(abspath $(TARGET))/release/libolifant_rt.a
LIBRSET := $(abspath $(TARGET))/release/libolifant_capi.a
PRELOAD := $(abspath $(TARGET))/release/libolifant_preload.so
SITES := $(abspath $(TARGET))/release/libolifant_sites.so
PROGRAMS = $(MAKE) --no-print-directory -C programs OLIFANT=$(OLIFANT) BUILD=$(abspath build)

# What the main job of the demonstration is; the papers' baseline is memory striped by pages over all nodes.
DEMO = build/bin/ocean -n 514 -p 16
DEMO_BASELINE = striped:1

.PHONY: help setup setup-build setup-check build olifant programs demo check check-programs tidy format lint test fuzz doc \
	install uninstall clean

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: setup-check ## Installs the Debian packages that are missing (as root or with sudo)
setup-build:
	@scripts/setup.sh build
setup-check:
	@scripts/setup.sh check

build: setup-build programs ## Builds target/release/olifant, its runtime, build/bin and build/native

olifant: setup-build
	@$(CARGO) build --release --locked -p olifant-cli -p olifant-runtime -p olifant-capi -p olifant-preload -p olifant-sites -p rset

# Programs hold a copy of the runtime: a new runtime or driver makes them anew.
build/.instrumented: olifant
	@if [ ! -e $@ ] || [ $(OLIFANT) -nt $@ ] || [ $(RUNTIME) -nt $@ ]; then \
		rm -rf build/bin build/conformance build/obj/instrumented && mkdir -p build && touch $@; fi

programs: build/.instrumented
	@$(PROGRAMS) native instrumented

demo: build ## Tunes Ocean at the paper's size on 16 processors: before and after, side by side
	$(OLIFANT) tune --baseline $(DEMO_BASELINE) --output build/ocean -- $(DEMO)

check: setup-check ## Format, lints, house rules and every test: what CI runs
	@$(MAKE) --no-print-directory format lint tidy
	@$(MAKE) --no-print-directory build check-programs
	@$(MAKE) --no-print-directory test

format:
	@$(CARGO) fmt --all --check

lint: setup-build
	@$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

tidy: ## Checks the house rules (floors, the fence, file heads, ...)
	@$(CARGO) run --quiet --locked -p xtask -- tidy

check-programs: programs
	@$(PROGRAMS) conformance conformance-instrumented

test: build check-programs
	@OLIFANT=$(OLIFANT) scripts/test.sh

fuzz: build check-programs ## Runs the random tests on new cases, many more than the gate's (minutes; CASES=2000)
	@OLIFANT=$(OLIFANT) PROPTEST_CASES=$(or $(CASES),2000) $(CARGO) test --workspace --locked --no-fail-fast --quiet

doc: ## Builds the documentation of all crates in target/doc
	@$(CARGO) doc --workspace --no-deps --locked

install: build ## Installs to PREFIX (/usr/local), under DESTDIR if given
	@OLIFANT=$(OLIFANT) RUNTIME=$(RUNTIME) LIBRSET=$(LIBRSET) PRELOAD=$(PRELOAD) SITES=$(SITES) DESTDIR="$(DESTDIR)" scripts/install.sh install "$(DESTDIR)$(PREFIX)"

uninstall: ## Removes what install put there
	@scripts/install.sh uninstall "$(DESTDIR)$(PREFIX)"

clean: ## Removes everything that was built
	@$(CARGO) clean --quiet
	@rm -rf build
