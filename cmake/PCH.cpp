// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intentionally empty: the target that owns the precompiled header needs a
// source.
