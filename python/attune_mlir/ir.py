# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as they are built, read and changed: operations and what is in them, by the names that upstream's package has.

    from attune_mlir.dialects import arith, attn, func
    from attune_mlir.ir import Context, F16Type, InsertionPoint, Module, RankedTensorType

Nothing here ends the interpreter: what was erased, is of another context, or cannot be, raises ValueError or CompileError.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _native
from ._attributes import (
    AffineMapAttr,
    ArrayAttr,
    AttrBuilder,
    BoolAttr,
    DenseElementsAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DenseIntElementsAttr,
    DictAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
    register_attribute_builder,
)
from ._context import Attribute, Context, Location, Type, get_context
from ._diagnostics import CompileError, parse_diagnostics
from ._structure import (
    Block,
    BlockArgument,
    Dialect,
    InsertionPoint,
    OpAttributeMap,
    Operation,
    OpOperand,
    OpOperandList,
    OpResult,
    OpResultList,
    OpView,
    Region,
    RegionSequence,
    Value,
)
from ._types import (
    BF16Type,
    F16Type,
    F32Type,
    F64Type,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedTensorType,
    ShapedType,
    VectorType,
)

__all__ = [
    "AffineMapAttr",
    "ArrayAttr",
    "AttrBuilder",
    "Attribute",
    "BF16Type",
    "Block",
    "BlockArgument",
    "BoolAttr",
    "Context",
    "DenseElementsAttr",
    "DenseI32ArrayAttr",
    "DenseI64ArrayAttr",
    "DenseIntElementsAttr",
    "Dialect",
    "DictAttr",
    "F16Type",
    "F32Type",
    "F64Type",
    "FlatSymbolRefAttr",
    "Float8E4M3FNType",
    "Float8E4M3FNUZType",
    "Float8E5M2FNUZType",
    "Float8E5M2Type",
    "FloatAttr",
    "FloatType",
    "FunctionType",
    "IndexType",
    "InsertionPoint",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "MemRefType",
    "Module",
    "NoneType",
    "OpAttributeMap",
    "OpOperand",
    "OpOperandList",
    "OpResult",
    "OpResultList",
    "OpView",
    "Operation",
    "RankedTensorType",
    "Region",
    "RegionSequence",
    "ShapedType",
    "StringAttr",
    "Type",
    "TypeAttr",
    "UnitAttr",
    "Value",
    "VectorType",
    "register_attribute_builder",
]


class Module:
    """A module of MLIR, in the dialects of Attune and of upstream: parsed, or made to be built.

    No pass and no compilation changes it. Modules may be used in any thread.
    """

    def __init__(self, native: Any) -> None:
        self._native: _native.Module = native

    @staticmethod
    def create(loc: Location | None = None) -> Module:
        """An empty one."""
        operation = Operation.create("builtin.module", regions=1, loc=loc, ip=False)
        operation.regions[0].blocks.append()
        return Module(_native.Module(operation._native))

    @staticmethod
    def parse(source: str | bytes, context: Context | None = None) -> Module:
        """Parses and verifies one from text or bytecode, in a context that is there. Raises CompileError where it is none."""
        data = source.encode() if isinstance(source, str) else source
        native, said = _native.parse(data, "<source>", get_context(context)._native)
        if native is None:
            raise CompileError(parse_diagnostics(said))
        return Module(native)

    @property
    def operation(self) -> Operation:
        """The module as an operation."""
        return Operation._of(self._native.operation)

    @property
    def context(self) -> Context:
        return self.operation.context

    @property
    def body(self) -> Block:
        """Its block."""
        return self.operation.regions[0].blocks[0]

    def print(self, *, generic: bool = False, locations: bool = False) -> str:
        """The module as text: with `generic` in the form without any op's own syntax, with `locations` with where ops come from."""
        return self._native.print(generic, locations)

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode, which `parse` and `compile` take, too. Raises CompileError where it contradicts a dialect."""
        self.operation.verify()
        return self._native.bytecode()

    def walk(self, name: str | None = None) -> Iterator[Any]:
        """All operations, each before what is in it; with `name`, as "attn.attention", those of this name alone."""
        return self.operation.walk(name)

    def __str__(self) -> str:
        return self.print()
