# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recorded array code as linalg on tensors."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

#: Element types by the names that NumPy has for them.
TYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1", "int32": "i32", "int64": "i64"}

_COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
#: Ops on floats and on integers, by NumPy's names; None where there is none.
_BINARY = {
    "add": ("arith.addf", "arith.addi"),
    "subtract": ("arith.subf", "arith.subi"),
    "multiply": ("arith.mulf", "arith.muli"),
    "divide": ("arith.divf", None),
    "maximum": ("arith.maximumf", "arith.maxsi"),
    "minimum": ("arith.minimumf", "arith.minsi"),
    "power": ("math.powf", None),
    "bitwise_and": (None, "arith.andi"),
    "bitwise_or": (None, "arith.ori"),
    "bitwise_xor": (None, "arith.xori"),
    "logical_and": (None, "arith.andi"),
    "logical_or": (None, "arith.ori"),
    "logical_xor": (None, "arith.xori"),
}
_UNARY = {
    "absolute": "math.absf", "ceil": "math.ceil", "cos": "math.cos", "exp": "math.exp", "exp2": "math.exp2", "expm1": "math.expm1",
    "floor": "math.floor", "log": "math.log", "log1p": "math.log1p", "log2": "math.log2", "negative": "arith.negf", "sin": "math.sin",
    "sqrt": "math.sqrt", "tanh": "math.tanh",
}  # fmt: skip
#: What a reduction begins with, and how it goes on.
_REDUCTIONS = {"sum": ("0.0", "arith.addf"), "max": ("0xFF800000", "arith.maximumf"), "min": ("0x7F800000", "arith.minimumf")}
_INFINITIES = {"f64": {"0xFF800000": "0xFFF0000000000000", "0x7F800000": "0x7FF0000000000000"}}


def can_compute(name: str, dtype: str) -> bool:
    """Whether an elementwise function is known for operands of a type."""
    if name in _COMPARISONS or name == "where":
        return dtype in TYPES
    if name in _BINARY:
        op = _BINARY[name]["float" not in dtype]
        if dtype == "bool":
            return name.startswith(("logical", "bitwise"))
        return op is not None and not name.startswith("logical")
    return name in _UNARY and "float" in dtype


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A value of the recorded code. `kind` is a method of `Writer`."""

    kind: str
    shape: tuple[int, ...]
    dtype: str
    inputs: tuple[Node, ...] = ()
    #: What else the kind needs: names, numbers, places of dimensions. In text, equal for equal code.
    options: tuple[Any, ...] = ()
    #: Of a leaf, the array.
    array: Any = None


def sort(root: Node) -> list[Node]:
    """All nodes that a node needs, each behind its inputs."""
    order: list[Node] = []
    seen: set[int] = set()
    waiting = [(root, False)]
    while waiting:
        node, is_open = waiting.pop()
        if is_open:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting += [(one, False) for one in node.inputs]
    return order


def _type(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _dims(count: int) -> str:
    return ", ".join(f"d{number}" for number in range(count))


class Writer:
    """Writes one function of all leaves, in their order, to one result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self._count = 0

    def write(self, root: Node) -> tuple[str, list[Node]]:
        """The module, and the leaves."""
        order = sort(root)
        leaves = [node for node in order if node.kind == "leaf"]
        for number, leaf in enumerate(leaves):
            self.names[id(leaf)] = f"%arg{number}"
        for node in order:
            if node.kind != "leaf":
                self.names[id(node)] = getattr(self, node.kind)(node)
        arguments = ", ".join(f"%arg{number}: {_type(leaf.shape, TYPES[leaf.dtype])}" for number, leaf in enumerate(leaves))
        result = _type(root.shape, TYPES[root.dtype])
        body = "\n".join(f"  {line}" for line in [*self.lines, f"return {self.names[id(root)]} : {result}"])
        return f"func.func @recorded({arguments}) -> {result} attributes {{llvm.emit_c_interface}} {{\n{body}\n}}\n", leaves

    def _emit(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"%{self._count} = {text}")
        return f"%{self._count}"

    def _empty(self, shape: Sequence[int], element: str) -> tuple[str, str]:
        kind = _type(shape, element)
        return self._emit(f"tensor.empty() : {kind}"), kind

    def _filled(self, shape: Sequence[int], element: str, number: str) -> tuple[str, str]:
        constant = self._emit(f"arith.constant {_INFINITIES.get(element, {}).get(number, number)} : {element}")
        empty, kind = self._empty(shape, element)
        return self._emit(f"linalg.fill ins({constant} : {element}) outs({empty} : {kind}) -> {kind}"), kind

    def _generic(self, operands: list[tuple[str, Sequence[int], str]], shape: Sequence[int], element: str, body: Callable[..., str]) -> str:
        """An elementwise op on operands (name, shape, element type), which are broadcast as NumPy does."""
        rank = len(shape)
        maps = []
        for _, sizes, _ in operands:
            first = rank - len(sizes)
            places = [f"d{first + dim}" if shape[first + dim] == size else "0" for dim, size in enumerate(sizes)]
            maps.append(f"affine_map<({_dims(rank)}) -> ({', '.join(places)})>")
        maps.append(f"affine_map<({_dims(rank)}) -> ({_dims(rank)})>")
        out, kind = self._empty(shape, element)
        ins = ", ".join(name for name, _, _ in operands)
        types = ", ".join(_type(sizes, of) for _, sizes, of in operands)
        scope: list[str] = []

        def step(text: str) -> str:
            scope.append(f"  %v{len(scope)} = {text}")
            return f"%v{len(scope) - 1}"

        result = body(step, *(f"%e{number}" for number in range(len(operands))))
        block = ", ".join([f"%e{number}: {of}" for number, (_, _, of) in enumerate(operands)] + [f"%o: {element}"])
        iterators = ", ".join(['"parallel"'] * rank)
        inputs = f"ins({ins} : {types}) " if operands else ""
        head = f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} {inputs}outs({out} : {kind}) {{"
        return self._emit("\n  ".join([head, f"^bb0({block}):", *scope, f"  linalg.yield {result} : {element}", f"}} -> {kind}"]))

    def _operands(self, node: Node) -> list[tuple[str, Sequence[int], str]]:
        return [(self.names[id(one)], one.shape, TYPES[one.dtype]) for one in node.inputs]

    def elementwise(self, node: Node) -> str:
        """Options: NumPy's name, the type that it is computed in, and for each operand a number or None for an input."""
        name, dtype, literals = node.options
        element = TYPES[dtype]
        wide = "f32" if element == "f16" else element
        operands = self._operands(node)

        def body(step: Callable[[str], str], *read: str) -> str:
            given = iter(zip(read, (of for _, _, of in operands), strict=True))
            values = []
            for place, literal in enumerate(literals):
                is_condition = name == "where" and place == 0
                if literal is None:
                    value, of = next(given)
                else:
                    # Numbers are rounded before they are computed with.
                    of = "i1" if is_condition else element
                    value = step(f"arith.constant {_spell(literal, of)} : {of}")
                values.append(convert(step, value, of, "i1" if is_condition else wide))
            return convert(step, _compute(step, name, wide, values), _result_type(name, wide), TYPES[node.dtype])

        return self._generic(operands, node.shape, TYPES[node.dtype], body)

    def cast(self, node: Node) -> str:
        """To the node's type."""
        operands = self._operands(node)
        to = TYPES[node.dtype]
        return self._generic(operands, node.shape, to, lambda step, value: convert(step, value, operands[0][2], to))

    def transpose(self, node: Node) -> str:
        """Options: the permutation."""
        ((name, shape, element),) = self._operands(node)
        out, kind = self._empty(node.shape, element)
        order = ", ".join(str(dim) for dim in node.options)
        return self._emit(f"linalg.transpose ins({name} : {_type(shape, element)}) outs({out} : {kind}) permutation = [{order}]")

    def reshape(self, node: Node) -> str:
        """Row-major, through one dimension."""
        ((name, shape, element),) = self._operands(node)
        flat = _type([math.prod(shape)], element)

        def group(rank: int) -> str:
            return f"[[{', '.join(str(dim) for dim in range(rank))}]]"

        if len(shape) != 1:
            text = f"tensor.collapse_shape {name} {group(len(shape))} : {_type(shape, element)} into {flat}"
            if not shape:
                text = f"tensor.expand_shape {name} [] output_shape [1] : {_type(shape, element)} into {flat}"
            name = self._emit(text)
        if len(node.shape) == 1:
            return name
        if not node.shape:
            return self._emit(f"tensor.collapse_shape {name} [] : {flat} into {_type((), element)}")
        sizes = ", ".join(str(size) for size in node.shape)
        return self._emit(
            f"tensor.expand_shape {name} {group(len(node.shape))} output_shape [{sizes}] : {flat} into {_type(node.shape, element)}"
        )

    def matmul(self, node: Node) -> str:
        """Sums of 32 bits at least. Options: the dimensions of the result that each operand's are before its last two."""
        (left, right), out = self._operands(node), TYPES[node.dtype]
        wide = "f32" if out == "f16" else out
        rank = len(node.shape)
        batch = rank - 2
        total, kind = self._filled(node.shape, wide, "0.0")

        m, n, k = (f"d{batch + number}" for number in range(3))
        places = [[f"d{dim}" for dim in dims] for dims in node.options]
        maps = [", ".join([*places[0], m, k]), ", ".join([*places[1], k, n]), _dims(rank)]
        spelled = ", ".join(f"affine_map<({_dims(rank + 1)}) -> ({one})>" for one in maps)
        types = ", ".join(_type(shape, element) for _, shape, element in (left, right))
        product = self._emit(
            f"linalg.contract indexing_maps = [{spelled}] ins({left[0]}, {right[0]} : {types}) outs({total} : {kind}) -> {kind}"
        )
        if wide == out:
            return product
        return self._generic([(product, node.shape, wide)], node.shape, out, lambda step, value: convert(step, value, wide, out))

    def reduce(self, node: Node) -> str:
        """Options: the kind, and the dimensions that go."""
        kind, dims = node.options
        ((name, shape, element),) = self._operands(node)
        wide = "f32" if element == "f16" else element
        begin, op = _REDUCTIONS[kind]
        total, out = self._filled(node.shape, wide, begin)
        kept = ", ".join(f"d{dim}" for dim in range(len(shape)) if dim not in dims)
        maps = f"affine_map<({_dims(len(shape))}) -> ({_dims(len(shape))})>, affine_map<({_dims(len(shape))}) -> ({kept})>"
        iterators = ", ".join('"reduction"' if dim in dims else '"parallel"' for dim in range(len(shape)))
        scope: list[str] = []

        def step(text: str) -> str:
            scope.append(f"  %v{len(scope)} = {text}")
            return f"%v{len(scope) - 1}"

        value = step(f"{op} {convert(step, '%e', element, wide)}, %o : {wide}")
        text = [
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}"
            f" ins({name} : {_type(shape, element)}) outs({total} : {out}) {{",
            f"^bb0(%e: {element}, %o: {wide}):",
            *scope,
            f"  linalg.yield {value} : {wide}",
            f"}} -> {out}",
        ]
        result = self._emit("\n  ".join(text))
        if wide == element:
            return result
        return self._generic([(result, node.shape, wide)], node.shape, element, lambda step, one: convert(step, one, wide, element))


def _is_float(element: str) -> bool:
    return element.startswith("f")


def _width(element: str) -> int:
    return int(element[1:])


def convert(step: Callable[[str], str], value: str, of: str, to: str) -> str:
    """As NumPy's astype does, but for floats to integers, which nobody asks for."""
    if of == to:
        return value
    if _is_float(to):
        op = "arith.uitofp" if of == "i1" else "arith.sitofp"
        if _is_float(of):
            op = "arith.extf" if _width(to) > _width(of) else "arith.truncf"
    elif to == "i1":
        zero = step(f"arith.constant {'0.0' if _is_float(of) else '0'} : {of}")
        return step(f"arith.cmpf une, {value}, {zero} : {of}" if _is_float(of) else f"arith.cmpi ne, {value}, {zero} : {of}")
    else:
        op = "arith.extui" if of == "i1" else "arith.extsi" if _width(to) > _width(of) else "arith.trunci"
    return step(f"{op} {value} : {of} to {to}")


def _spell(number: float, element: str) -> str:
    if not _is_float(element):
        return str(int(bool(number) if element == "i1" else number))
    # By bits, which are what NumPy has.
    code = {"f16": ">e", "f32": ">f", "f64": ">d"}[element]
    number = float(number)
    try:
        bits = struct.pack(code, number)
    except OverflowError:
        bits = struct.pack(code, math.copysign(math.inf, number))
    return f"0x{bits.hex().upper()}"


def _result_type(name: str, element: str) -> str:
    return "i1" if name in _COMPARISONS else element


def _compute(step: Callable[[str], str], name: str, element: str, values: list[str]) -> str:
    if name == "where":
        return step(f"arith.select {', '.join(values)} : {element}")
    if name in _COMPARISONS:
        predicate = _COMPARISONS[name]
        if _is_float(element):
            return step(f"arith.cmpf {'une' if predicate == 'ne' else 'o' + predicate}, {', '.join(values)} : {element}")
        sign = "" if predicate in ("eq", "ne") else "u" if element == "i1" else "s"
        return step(f"arith.cmpi {sign}{predicate}, {', '.join(values)} : {element}")
    op = _UNARY[name] if len(values) == 1 else _BINARY[name][not _is_float(element)]
    return step(f"{op} {', '.join(values)} : {element}")


#: Pipelines of code for the CPU: results become arguments, and what is allocated in between is freed.
LOWERING = (
    "builtin.module(func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),"
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{hoist-static-allocs=true modify-public-functions=true},buffer-deallocation-pipeline,"
    "convert-linalg-to-loops,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-math-to-libm,"
    "convert-to-llvm,reconcile-unrealized-casts)"
)
