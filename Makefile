# What a person types. Everything else is CMake: see CMakePresets.json.
#
#   JOBS    how many compilers and tests at once (all cores)
#   ARGS    arguments for the demo of `make run`
#   CASES   folder of cases for `make conformance`
#   CTEST   more options of ctest for `make test`, `asan` and `tsan`, such as "-R gate" or "-LE crash"
#   PREFIX  where `make install` installs
#   SEEDS   how many sequences `make sim` runs (1000000), from seed FIRST (1; `new`: drawn)
#   KILLS   how many processes `make crash-pg` kills (1000)
#   MINUTES how long `make fuzz` runs each target
#   SOAK_SECONDS  how long `make soak` swaps folders and links
#   TARGET  the targets that `make fuzz` runs (all)

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CASES ?= tests/cases
ARGS ?=
CTEST ?=
SEEDS ?= 1000000
FIRST ?= 1
KILLS ?= 1000
MINUTES ?= 1
SOAK_SECONDS ?= 60
TARGET ?=

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run build test lint analyze asan tsan bench bench-peers bare fuzz sim conformance crash-pg soak install format clean

# Progress on a terminal, silence elsewhere.
ninja_flags := $(if $(MAKE_TERMOUT),,-- --quiet)

# $(call configure,PRESET): its output is shown only when it fails.
define configure
	@mkdir -p build
	@cmake --preset $(1) >build/configure-$(1).log 2>&1 || { cat build/configure-$(1).log >&2; exit 1; }
endef

# $(call compile,PRESET,MORE); it also runs test programs, which list their tests.
define compile
	@$(if $(filter tsan,$(1)),tools/fixed-addresses )cmake --build --preset $(1) --parallel $(JOBS) $(2) $(ninja_flags)
endef

# $(call check,PRESET): builds all and runs the tests.
define check
	@tools/install-packages build test
	$(call configure,$(1))
	$(call compile,$(1))
	@tools/run-tests $(1) $(JOBS) $(CTEST)
endef

help:
	@echo "make run          install what is missing, build, and start the demo (ARGS=…)"
	@echo "make build        the optimised program, at build/bin/assent"
	@echo "make test         build and run all tests"
	@echo "make lint         formatting, rooms and arrows, public headers, clang-tidy"
	@echo "make analyze      clang's static analyzer over src/"
	@echo "make asan         all tests under the address and undefined behaviour sanitizers"
	@echo "make tsan         all tests under the thread sanitizer"
	@echo "make bare         build and test in the smallest Debian 12 system, made for it (root)"
	@echo "make soak         swap folders and links under the file tools (SOAK_SECONDS=N)"
	@echo "make fuzz         any bytes to every parser (MINUTES=N each, TARGET=…)"
	@echo "make sim          the engine on played time, store and processes (SEEDS=N, FIRST=S)"
	@echo "make crash-pg     kill runners, answerers and the server on PostgreSQL (KILLS=N)"
	@echo "make conformance  run a folder of cases (CASES=DIR, else tests/cases)"
	@echo "make bench        measure speed against the machine's own (QUICK=1 for a short run)"
	@echo "make bench-peers  the same beside what others use (needs Node.js 20)"
	@echo "make install      program, library and headers (PREFIX=DIR, else /usr/local)"
	@echo "make format       format all C++ files in place"
	@echo "make clean        remove build/"

run: build
	@test -x build/bin/assent || { echo "make run: the program is not in this version" >&2; exit 1; }
	@build/bin/assent demo $(ARGS)

build:
	@tools/install-packages build
	$(call configure,release)
	$(call compile,release)

test:
	$(call check,dev)

asan:
	$(call check,asan)

tsan:
	$(call check,tsan)

lint:
	@tools/install-packages build test lint
	@tools/lint

analyze:
	@tools/install-packages build test lint
	@tools/lint --analyze

conformance:
	@tools/install-packages build test
	$(call configure,dev)
	@ninja -C build/dev -t query assent-conformance >/dev/null 2>&1 || { echo "make conformance: not in this version" >&2; exit 1; }
	$(call compile,dev,--target assent-conformance)
	@build/dev/bin/assent-conformance $(CASES)

crash-pg:
	@tools/install-packages build test
	$(call configure,dev)
	$(call compile,dev,--target assent-program)
	@python3 -B tests/crash/kill_on_postgres.py build/dev/bin/assent tools/postgres-server --kills $(KILLS) --json bench/results/crash-pg.json

# 100,000 attempts a minute at least.
soak:
	@tools/install-packages build test
	$(call configure,dev)
	$(call compile,dev,--target path_tricks)
	@build/dev/bin/path_tricks --seconds $(SOAK_SECONDS) --attempts-min $$(($(SOAK_SECONDS) * 100000 / 60))

bare:
	@JOBS=$(JOBS) tools/bare

fuzz:
	@tools/install-packages build test fuzz
	$(call configure,fuzz)
	$(call compile,fuzz)
	@tools/fuzz $(MINUTES) $(if $(filter 1,$(JOBS)),1,2) $(TARGET)

sim:
	@tools/install-packages build test
	$(call configure,sim)
	$(call compile,sim)
	@build/sim/bin/assent-sim --seeds $(SEEDS) --first $(FIRST)

# QUICK=1: less work. BENCHMARKS: some of them only, see bench/README.md.
bench:
	@tools/install-packages build test
	$(call configure,bench)
	$(call compile,bench)
	@bench/run $(BENCHMARKS)

# Beside what others use; needs Node.js 20.
bench-peers:
	@tools/install-packages build test
	$(call configure,bench)
	$(call compile,bench)
	@bench/run --peers $(BENCHMARKS)

install: build
	@cmake --install build --prefix $(PREFIX) >build/install.log || { cat build/install.log >&2; exit 1; }
	@echo "installed to $(PREFIX)"

format:
	@tools/install-packages lint
	@tools/lint --format

clean:
	@rm -rf build
