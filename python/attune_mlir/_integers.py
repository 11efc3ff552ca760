# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers that say where sequences and their keys are, as operands of a kernel: lengths, starts and numbers of pages."""

from __future__ import annotations

from typing import Any

from . import _frameworks, _native, _operands

#: Clauses that have integers as operands, in the order of the op, and how many dimensions these have.
CLAUSES = {"query_lengths": 1, "key_lengths": 1, "query_starts": 1, "key_starts": 1, "pages": 2}


def describe(name: str) -> str:
    """The type of a clause's operand."""
    return f"tensor<{'x'.join(['?'] * CLAUSES[name])}xi32>"


def read(arrays: dict[str, tuple[str, Any]], counts: dict[str, int], place: tuple[str, int]) -> dict[str, _native.Tensor]:
    """The operands of clauses, which are there as far as they are no None. `arrays` also say what callers call them."""
    tensors = {}
    for clause, rank in CLAUSES.items():
        name, array = arrays[clause]
        if array is None:
            continue
        tensor = _frameworks.make_tensor(array, name)
        if (dtype := _frameworks.get_dtype_name(tensor)) != "int32":
            raise TypeError(f"expects {name} of int32, but got {dtype}")
        if len(tensor.shape) != rank or tensor.shape[0] != counts[clause]:
            kind = f"{counts[clause]} elements" if rank == 1 else f"{counts[clause]} rows of numbers of pages"
            raise ValueError(f"expects {name} to have {kind}, but got shape {tuple(tensor.shape)}")
        if not _operands.fill_strides(tensor):
            raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {tensor.strides} elements")
        if (found := _frameworks.get_device(tensor, name)) != place:
            raise ValueError(f"expects {name} on the device of q, {place}, but got {found}")
        tensors[clause] = tensor
    return tensors
