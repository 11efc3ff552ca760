# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalars and arrays while the region of an attn.attention is written as text.

An array is a function from places to scalars, so that nothing is computed but what the result needs: partial
indexing, views and reductions of rows become straight-line code. Integers that come of the positions are `index`,
those that are read are i32, or i64; all floating-point numbers are f32, as in kernels.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

import torch

#: What is rounded as by compilers of FlexAttention's functions: products once with what they are added to.
_FLAGS = {"arith.addf": "contract", "arith.mulf": "contract", "arith.subf": "contract"}

#: Most elements of a row that a region reads, one by one.
MAX_UNROLLED = 4096

#: What distances between rows are multiples of where tiles are copied.
ROW_BYTES = 16

#: What captured tensors may have, and what a kernel reads.
ELEMENT_TYPES = {
    torch.bool: "i8",
    torch.uint8: "i8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
}


class CannotTraceError(Exception):
    """Says why, without the place, which the caller knows."""


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A value of the region, or a literal, which has no name yet."""

    name: str = ""
    #: index, i1, i32, i64 or f32; of a literal bool, int or float.
    type: str = ""
    literal: bool | int | float | None = None
    #: Whether it is known to be at least 0.
    is_natural: bool = False
    #: Which argument of the region it is, if one.
    argument: str = ""


def make_literal(value: bool | int | float) -> Scalar:
    """A number of the program."""
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    return Scalar("", kind, value, is_natural=value >= 0)


Place = tuple[int | Scalar, ...]


@dataclasses.dataclass(frozen=True)
class Array:
    """A tensor while it is traced. `get` has one place for each dimension of `shape`."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    get: Callable[[Place], Scalar]

    def element(self) -> Scalar:
        """The one element."""
        return self.get((0,) * len(self.shape))


@dataclasses.dataclass
class Capture:
    """A tensor outside, which becomes an operand."""

    tensor: torch.Tensor
    #: What it is called in the module.
    name: str
    #: Dimensions that are read at the batch, head, query or key itself, and so need an element for each.
    reads: set[tuple[int, str]] = dataclasses.field(default_factory=set)
    #: What it is detached from, by the function that reads it.
    source: torch.Tensor | None = None


class Writer:
    """The text of one region. `captures` are those of all regions of the op."""

    def __init__(self, prefix: str, captures: list[Capture]) -> None:
        self.lines: list[str] = []
        self.captures = captures
        self._prefix = prefix
        self._known: dict[str, str] = {}

    def emit(self, text: str) -> str:
        """Writes an operation, or finds the same one, and gives the name of its result."""
        if text not in self._known:
            self._known[text] = f"%{self._prefix}{len(self.lines)}"
            self.lines.append(f"{self._known[text]} = {text}")
        return self._known[text]

    def op(self, name: str, kind: str, *operands: Scalar, is_natural: bool = False, flags: str = "") -> Scalar:
        """An operation whose operands and result have one type. `flags` are those of fastmath, by default what suits any use."""
        names = ", ".join(self.cast(operand, kind).name for operand in operands)
        flags = flags or _FLAGS.get(name, "")
        return Scalar(self.emit(f"{name} {names}{flags and f' fastmath<{flags}>'} : {kind}"), kind, is_natural=is_natural)

    def constant(self, value: bool | int | float, kind: str) -> Scalar:
        """A literal as an operand."""
        if kind == "i1":
            text = "true" if value else "false"
        elif kind == "f32":
            try:
                bits = struct.pack("<f", float(value))
            except OverflowError:
                bits = struct.pack("<f", math.copysign(math.inf, value))
            text = f"0x{bits[::-1].hex().upper()} : f32"
        else:
            width = 63 if kind == "i64" else 31
            if not -(1 << width) <= int(value) < 1 << width:
                raise CannotTraceError(f"expects integers of {width + 1} bits, but got {value}")
            text = f"{int(value)} : {kind}"
        return Scalar(self.emit(f"arith.constant {text}"), kind, is_natural=value >= 0)

    def cast(self, value: Scalar, kind: str) -> Scalar:
        """A value as another type, as PyTorch converts it."""
        if value.type == kind:
            return value
        if value.literal is not None:
            return self.constant(bool(value.literal) if kind == "i1" else value.literal, kind)
        name, old = value.name, value.type
        if kind == "i1":
            zero = self.constant(0, old).name
            compare = "arith.cmpf une" if old == "f32" else "arith.cmpi ne"
            return Scalar(self.emit(f"{compare}, {name}, {zero} : {old}"), "i1")
        if kind == "f32":
            if old == "index":
                name, old = self.emit(f"arith.index_cast {name} : index to i32"), "i32"
            return Scalar(self.emit(f"arith.{'uitofp' if old == 'i1' else 'sitofp'} {name} : {old} to f32"), kind)
        if old == "f32":
            step = "i64" if kind == "index" else kind
            return self.cast(Scalar(self.emit(f"arith.fptosi {name} : f32 to {step}"), step), kind)
        if old == "i1":
            op = "index_castui" if kind == "index" else "extui"
            return Scalar(self.emit(f"arith.{op} {name} : i1 to {kind}"), kind, is_natural=True)
        op = "index_cast" if "index" in (kind, old) else "extsi" if kind == "i64" else "trunci"
        return Scalar(self.emit(f"arith.{op} {name} : {old} to {kind}"), kind, is_natural=value.is_natural)

    def read(self, capture: Capture, place: Place) -> Scalar:
        """An element of a captured tensor. Places that are computed wrap around if they are negative, and are held within."""
        kind = get_type(capture)
        names = []
        for dim, at in enumerate(place):
            if isinstance(at, int) or at.literal is not None:
                known = at if isinstance(at, int) else int(at.literal or 0)
                names.append(self.constant(known % capture.tensor.shape[dim], "index").name)
            elif at.argument:
                capture.reads.add((dim, at.argument))
                names.append(at.name)
            else:
                number = self.constant(dim, "index").name
                size = Scalar(self.emit(f"tensor.dim {capture.name}, {number} : {kind}"), "index", is_natural=True)
                names.append(self._hold(self.cast(at, "index"), size).name)
        element = ELEMENT_TYPES[capture.tensor.dtype]
        name = self.emit(f"tensor.extract {capture.name}[{', '.join(names)}] : {kind}")
        dtype = capture.tensor.dtype
        if dtype == torch.bool:
            return Scalar(self.emit(f"arith.cmpi ne, {name}, {self.emit('arith.constant 0 : i8')} : i8"), "i1")
        if element in ("f16", "bf16"):
            name = self.emit(f"arith.extf {name} : {element} to f32")
        elif element in ("i8", "i16"):
            name = self.emit(f"arith.{'extui' if dtype == torch.uint8 else 'extsi'} {name} : {element} to i32")
        return Scalar(name, "f32" if dtype.is_floating_point else "i64" if element == "i64" else "i32", is_natural=dtype == torch.uint8)

    def _hold(self, place: Scalar, size: Scalar) -> Scalar:
        zero, one = make_literal(0), make_literal(1)
        if not place.is_natural:
            is_negative = self.emit(f"arith.cmpi slt, {place.name}, {self.cast(zero, 'index').name} : index")
            wrapped = self.op("arith.addi", "index", place, size)
            place = Scalar(self.emit(f"arith.select {is_negative}, {wrapped.name}, {place.name} : index"), "index")
            place = self.op("arith.maxsi", "index", place, zero)
        return self.op("arith.minsi", "index", place, self.op("arith.subi", "index", size, one))


def has_whole_rows(tensor: torch.Tensor) -> bool:
    """Whether rows, one behind the other, start at multiples of ROW_BYTES from the first one, so that tiles of them can be copied."""
    is_whole: bool = tensor.shape[-1:].numel() * tensor.element_size() % ROW_BYTES == 0
    return is_whole and tensor.dim() > 1 and tensor.element_size() <= 4


def get_type(capture: Capture) -> str:
    """The type of the operand as regions are written. All sizes are dynamic: kernels serve tensors of any size."""
    return f"tensor<{'?x' * capture.tensor.dim()}{ELEMENT_TYPES[capture.tensor.dtype]}>"


def mark_rows(clauses: str, captures: Sequence[Capture]) -> tuple[str, dict[str, str]]:
    """Regions, and the types of what they read, which say where rows are whole: that is of the tensors that are there now, and not
    of those that functions were traced with."""
    kinds = {}
    for capture in captures:
        plain, tensor = get_type(capture), capture.tensor
        kinds[capture.name] = plain
        if has_whole_rows(tensor):
            strides = f"#attn.strided<[{'?, ' * (tensor.dim() - 1)}1], divisor = {ROW_BYTES // tensor.element_size()}>"
            kinds[capture.name] = f"{plain[:-1]}, {strides}>"
            uses = rf"({re.escape(capture.name)}(?:\[[^\]]*\]|, %\w+) : ){re.escape(plain)}"
            clauses = re.sub(uses, rf"\g<1>{kinds[capture.name]}", clauses)
    return clauses, kinds


def join_integers(values: Sequence[Scalar]) -> str:
    """The type that integers are computed in."""
    types = {value.type for value in values if value.literal is None}
    return "i64" if "i64" in types else "index" if "index" in types or not types else "i32"


def join(values: Sequence[Scalar]) -> str:
    """The type that values are compared in."""
    types = {value.type for value in values}
    if types & {"f32", "float"}:
        return "f32"
    return "i1" if types <= {"i1", "bool"} else join_integers(values)


def join_for(dtype: torch.dtype, values: Sequence[Scalar]) -> str:
    """The type that a result of `dtype` is computed in."""
    if dtype.is_floating_point:
        return "f32"
    return "i1" if dtype == torch.bool else join_integers(values)


def get_places(shape: Sequence[int]) -> list[Place]:
    """All places of an array, which are not too many."""
    if math.prod(shape) > MAX_UNROLLED:
        raise CannotTraceError(f"expects at most {MAX_UNROLLED} elements to be read one by one, but got shape {tuple(shape)}")
    return list(itertools.product(*(range(size) for size in shape)))


def broadcast(shape: Sequence[int], place: Place) -> Place:
    """The place of an array of `shape` that a place of what it is broadcast to stands for."""
    own = place[len(place) - len(shape) :]
    return tuple(0 if size == 1 else at for size, at in zip(shape, own, strict=True))


def memoize(get: Callable[[Place], Scalar]) -> Callable[[Place], Scalar]:
    """Computes every element once."""
    known: dict[Any, Scalar] = {}

    def find(place: Place) -> Scalar:
        if place not in known:
            known[place] = get(place)
        return known[place]

    return find
