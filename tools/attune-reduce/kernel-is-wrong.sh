#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A test for attune-reduce: interesting (exit code 1) is a module whose kernel
# computes something wrong on the host executor, or breaks one of its checks.
#
#   attune-reduce wrong.mlir --reduction-tree="traversal-mode=0 test=kernel-is-wrong.sh test-arg=--chip=<chip>"
#
# Arguments go to the attune-run beside this file.
"$(dirname "$0")/attune-run" --device=host "$@" >/dev/null 2>&1
[ $? -eq 2 ] && exit 1
exit 0
