# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated modules import, by the names that mlir-tblgen gives it."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from .. import _structure, ir

#: Stands for upstream's extension. Frames of this package are left out of locations in any case.
_cext = types.SimpleNamespace(
    ir=ir,
    globals=types.SimpleNamespace(register_traceback_file_exclusion=lambda path: None),
    register_dialect=lambda dialect: dialect,
    register_operation=_structure.register_operation,
)


def segmented_accessor(elements: Sequence[Any], segments: ir.DenseI32ArrayAttr, position: int) -> Any:
    """One group of operands or results, of those whose numbers are an attribute."""
    sizes = list(segments)
    start = sum(sizes[:position])
    return elements[start : start + sizes[position]]


def equally_sized_accessor(
    elements: Sequence[Any], simple: int, variadic: int, simple_before: int, variadic_before: int
) -> tuple[int, int]:
    """Where a group begins, and how many it has, where all groups of any number have the same one."""
    size = (len(elements) - simple) // variadic
    return simple_before + variadic_before * size, size


def get_default_loc_context(location: ir.Location | None = None) -> ir.Context | None:
    """The context of a location, or that of the innermost `with`."""
    return location.context if location is not None else ir.Context.current


def get_op_results_or_values(given: Any) -> Any:
    """The results of an operation, or the values as they are."""
    return given.results if isinstance(given, (ir.Operation, ir.OpView)) else given
