# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The two commands of the README, and a few more, over the CMake presets. Each
# installs what is missing, configures once and builds only what it needs.

BUILD    := build
EXAMPLE  ?= examples/mha_causal.mlir
OUT      ?= $(BUILD)/tune
# How long to search, and what to compile for where there is no GPU.
BUDGET   ?= 3m
CHIP_WITHOUT_GPU ?= sm_90a
# Further arguments for attune-tune.
TUNE_ARGS ?=

# Without this, ccache passes on what uses a precompiled header: nearly all sources.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

.PHONY: help tune test sanitize build docs format package wheel clean dependencies
.DEFAULT_GOAL := help

help:
	@echo 'make tune     tune $(EXAMPLE): on the GPU, or without one compile, rank and check'
	@echo 'make test     build everything, run clang-tidy, every test, and some again with sanitizers'
	@echo 'make sanitize build with sanitizers, run a fuzzer and tests of execution (part of test)'
	@echo 'make build    build everything'
	@echo 'make docs     write docs/generated from the .td files'
	@echo 'make format   format the C++ sources with clang-format-22'
	@echo 'make package  pack tools that run without LLVM: build/package/*.tar.xz'
	@echo 'make wheel    pack the Python package: build/wheel/*.whl'
	@echo 'make clean    remove the build folders'
	@echo
	@echo 'make tune EXAMPLE=<file.mlir> BUDGET=$(BUDGET) CHIP_WITHOUT_GPU=$(CHIP_WITHOUT_GPU) TUNE_ARGS=<arguments of attune-tune>'

dependencies:
	@scripts/install-dependencies.sh

# CMake configures again by itself when a CMakeLists.txt changes.
$(BUILD)/build.ninja: | dependencies
	cmake --preset dev

build: dependencies $(BUILD)/build.ninja
	cmake --build $(BUILD)

tune: dependencies $(BUILD)/build.ninja
	cmake --build $(BUILD) --target attune-tune
	@mkdir -p $(OUT)
	$(BUILD)/bin/attune-tune $(EXAMPLE) --budget=$(BUDGET) --fallback-chip=$(CHIP_WITHOUT_GPU) \
	  --db=$(OUT)/tuning.db -o $(OUT)/$(basename $(notdir $(EXAMPLE))).tuned.mlir $(TUNE_ARGS)

# Everything runs, whatever fails; the last line counts all tests.
test: build
	@rm -f $(BUILD)/test-results.json $(BUILD)/test-results-python.xml $(BUILD)/test-results-python-torch.xml build-asan/test-results.json
	@cmake --build $(BUILD) --target check-tidy; tidy=$$?; \
	  cmake --build $(BUILD) --target check-attune; tests=$$?; \
	  cmake --build $(BUILD) --target check-python; python=$$?; \
	  $(MAKE) --no-print-directory sanitize; sanitized=$$?; \
	  python3 scripts/summarize-tests.py $(BUILD)/test-results.json $(BUILD)/test-results-python.xml $(BUILD)/test-results-python-torch.xml build-asan/test-results.json && \
	  [ $$tidy = 0 -a $$tests = 0 -a $$python = 0 -a $$sanitized = 0 ]

# A second build, of what is worth it.
sanitize: dependencies
	cmake --preset asan
	cmake --build build-asan --target check-sanitized

docs: dependencies $(BUILD)/build.ninja
	cmake --build $(BUILD) --target attune-doc

format: dependencies
	find cmake include lib python test tools unittests -name '*.h' -o -name '*.cpp' | xargs clang-format-22 -i

package: dependencies $(BUILD)/build.ninja
	cmake --build --preset portable
	cpack --preset portable

wheel: dependencies $(BUILD)/build.ninja
	cmake --build $(BUILD) --target attune-wheel

clean:
	rm -rf build build-asan
