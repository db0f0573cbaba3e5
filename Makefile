# SPDX-License-Identifier: BSD-3-Clause
# A thin face over CMake and the test runner: `make help` lists the targets.
SANITIZE ?= 0
UPDATE ?= 0
WERROR ?= 1
N ?= 1000
SCALE ?= 0.25
BUILD_TYPE ?= RelWithDebInfo
BUILD ?= $(if $(filter 1,$(SANITIZE)),build-sanitize,build)
PREFIX ?= /usr/local
# Debian's interpreter, as it is the one that has Debian's NumPy.
PYTHON ?= /usr/bin/python3
CLANG_FORMAT ?= clang-format-14
CLANG ?= clang-14
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)

# Open MPI in containers and on few cores: root may launch, more ranks than cores are fine, waiting ranks give
# their core away, and messages do not rely on the cross-process reads that many containers forbid.
export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1
export OMPI_MCA_rmaps_base_oversubscribe ?= 1
export OMPI_MCA_mpi_yield_when_idle ?= 1
export OMPI_MCA_btl_vader_single_copy_mechanism ?= none
export PYTHON

TEST = $(PYTHON) tests/run --build $(BUILD) $(if $(filter 1,$(SANITIZE)),--sanitize)
C_FILES = $(shell find src include fortran tests examples bench -name '*.[ch]' 2>/dev/null)

.DEFAULT_GOAL := all
.PHONY: all setup command build demo check bench bench-quick fuzz fuzz-parser fuzz-npy fuzz-entries races format lint install clean help

all: command ## set up, configure and build the command, which is then build/distal

setup: ## install the Debian packages that are missing, those of the tests as well
	@BUILD=$(BUILD) tools/setup.sh

# Ninja is looked for in the recipe, as set-up may have installed it a moment ago.
CONFIGURE = if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; \
	cmake -S . -B $(BUILD) -Wno-dev --log-level=NOTICE -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) \
	  -DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DDISTAL_SANITIZE=$(SANITIZE) -DDISTAL_WERROR=$(WERROR)

command:
	@BUILD=$(BUILD) tools/setup.sh command
	@$(CONFIGURE) && cmake --build $(BUILD) -j $(JOBS) --target distal

build: setup ## the library, the examples and the tests as well
	@$(CONFIGURE) && cmake --build $(BUILD) -j $(JOBS) --target all distal_tests

demo: command ## multiply two matrices made with NumPy on 4 ranks
	@tools/demo.sh $(BUILD)

check: build ## run every test (SANITIZE=1: under ASan and UBSan; UPDATE=1: refresh the golden files)
	@command -v c++ >/dev/null || tools/setup.sh g++ # one test: the header in a C++ program
	@$(TEST) $(if $(filter 1,$(UPDATE)),--update)

fuzz: build ## compare N drawn programs with the reference (N=1000, SEED=1)
	@$(TEST) --count $(N) $(if $(SEED),--seed $(SEED)) property

fuzz-parser: ## give programs that libFuzzer makes to all passes, under ASan and UBSan (FUZZ_SECONDS=60)
fuzz-npy: ## give files that libFuzzer makes to the reader of .npy files
fuzz-entries: ## give files that libFuzzer makes to the readers of .mtx and .tns files
fuzz-parser fuzz-npy fuzz-entries: setup
	@command -v $(CLANG) >/dev/null || tools/setup.sh $(CLANG) libclang-rt-14-dev libomp-14-dev
	@if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; \
	cmake -S . -B build-fuzz -Wno-dev --log-level=NOTICE -DCMAKE_C_COMPILER=$(CLANG) -DDISTAL_FUZZ=1 \
	  -DDISTAL_SANITIZE=1 -DDISTAL_WERROR=$(WERROR) && \
	cmake --build build-fuzz -j $(JOBS) --target $(subst -,_,$@)
	@tools/fuzz.sh $(@:fuzz-%=%) build-fuzz $(FUZZ_SECONDS)

races: setup ## look for races of threads, with ThreadSanitizer
	@command -v $(CLANG) >/dev/null || tools/setup.sh $(CLANG) libclang-rt-14-dev libomp-14-dev
	@if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; \
	cmake -S . -B build-races -Wno-dev --log-level=NOTICE -DCMAKE_C_COMPILER=$(CLANG) -DDISTAL_RACES=1 \
	  -DDISTAL_WERROR=$(WERROR) && \
	cmake --build build-races -j $(JOBS) --target all distal_tests
	@CLANG=$(CLANG) tools/races.sh build-races

bench: build ## time dense kernels beside what the machine can do, sparse kernels beside Eigen, PETSc, SciPy and plain C (SCALE=0.25), products on slow networks, what calls and commands cost, predicted beside measured times, and chosen beside written schedules
	@pkg-config --exists eigen3 PETSc && command -v g++ >/dev/null && command -v ip >/dev/null || tools/setup.sh g++ libeigen3-dev libpetsc-real-dev iproute2 libscalapack-openmpi-dev || true
	@$(PYTHON) bench/run --build $(BUILD)
	@$(PYTHON) bench/dense.py --build $(BUILD) $(QUICK)
	@$(PYTHON) bench/sparse.py --build $(BUILD) --scale $(SCALE) $(QUICK)
	@$(PYTHON) bench/distributed.py --build $(BUILD) --scale $(SCALE) $(QUICK)
	@$(PYTHON) bench/network.py --build $(BUILD) $(QUICK)
	@$(PYTHON) bench/small.py --build $(BUILD) $(QUICK)
	@$(PYTHON) bench/predict.py --build $(BUILD) $(QUICK)
	@$(PYTHON) bench/choice.py --build $(BUILD) $(QUICK)
	@$(PYTHON) bench/gpu.py --build $(BUILD) $(QUICK)
	@$(BUILD)/bench/tce

bench-quick: ## the same with few cases, in some minutes
	@$(MAKE) --no-print-directory bench QUICK=--quick SCALE=0.1

format: ## lay out every C file as .clang-format says
	@command -v $(CLANG_FORMAT) >/dev/null || tools/setup.sh clang-format-14
	@$(CLANG_FORMAT) -i $(C_FILES)

lint: setup ## check layout, layering, and what clang-tidy and cppcheck find
	@PYTHON=$(PYTHON) CLANG_FORMAT=$(CLANG_FORMAT) tools/lint.sh $(BUILD)

install: ## install command, library and documents under PREFIX
	@BUILD=$(BUILD) tools/setup.sh command
	@$(CONFIGURE) && cmake --build $(BUILD) -j $(JOBS) && cmake --install $(BUILD)

clean: ## remove the build folders
	@rm -rf build build-sanitize build-fuzz build-races

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 13
