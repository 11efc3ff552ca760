# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of dialects as classes, and functions that build them: a module for each dialect.

mlir-tblgen generates them from the dialects' definitions, when the package is built: attn, tile and wgmma, and of upstream
arith, func, linalg, math, scf and tensor.
"""
