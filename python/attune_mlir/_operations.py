# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations of PyTorch become in the region of an attn.attention.

`ELEMENTWISE` and `WHOLE` name all that can be traced. Neither traps: divisors that may be 0 are replaced, for a
region is also evaluated where its value is not used.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from ._regions import (
    Array,
    CannotTraceError,
    Place,
    Scalar,
    Writer,
    broadcast,
    get_places,
    join,
    join_for,
    make_literal,
    memoize,
)

Elementwise = Callable[..., Scalar]


def _arithmetic(floating: str, integer: str, *, natural: bool = True) -> Elementwise:
    """`natural` says whether natural operands have a natural result."""

    def run(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar, *, alpha: float = 1) -> Scalar:
        if alpha != 1:
            b = _multiply(w, dtype, b, make_literal(alpha))
        kind = join_for(dtype, (a, b))
        return w.op(floating if kind == "f32" else integer, kind, a, b, is_natural=natural and a.is_natural and b.is_natural)

    return run


_multiply = _arithmetic("arith.mulf", "arith.muli")
_subtract = _arithmetic("arith.subf", "arith.subi", natural=False)


def _reverse_subtract(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar, **options: Any) -> Scalar:
    return _subtract(w, dtype, b, a, **options)


def _extreme(floating: str, integer: str) -> Elementwise:
    def run(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
        kind = join_for(dtype, (a, b))
        is_max = integer == "arith.maxsi"
        is_natural = (a.is_natural or b.is_natural) if is_max else (a.is_natural and b.is_natural)
        return w.op(floating if kind == "f32" else integer, kind, a, b, is_natural=is_natural)

    return run


_maximum = _extreme("arith.maximumf", "arith.maxsi")
_minimum = _extreme("arith.minimumf", "arith.minsi")


def _clamp(w: Writer, dtype: torch.dtype, a: Scalar, min: Scalar | None = None, max: Scalar | None = None) -> Scalar:
    if min is not None:
        a = _maximum(w, dtype, a, min)
    return a if max is None else _minimum(w, dtype, a, max)


def _compare(predicate: str) -> Elementwise:
    def run(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
        kind = join((a, b))
        if kind == "i1" and predicate not in ("eq", "ne"):
            kind = "i32"
        left, right = w.cast(a, kind).name, w.cast(b, kind).name
        if kind == "f32":
            return Scalar(w.emit(f"arith.cmpf {'une' if predicate == 'ne' else 'o' + predicate}, {left}, {right} : f32"), "i1")
        prefix = "" if predicate in ("eq", "ne") else "s"
        return Scalar(w.emit(f"arith.cmpi {prefix}{predicate}, {left}, {right} : {kind}"), "i1")

    return run


def _bits(name: str) -> Elementwise:
    def run(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
        is_natural = a.is_natural or b.is_natural if name == "arith.andi" else a.is_natural and b.is_natural
        return w.op(name, join_for(dtype, (a, b)), a, b, is_natural=is_natural)

    return run


def _logical(name: str) -> Elementwise:
    return lambda w, dtype, a, b: w.op(name, "i1", a, b)


def _not(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    kind = join_for(dtype, (a,))
    return w.op("arith.xori", kind, a, w.constant(kind == "i1" or -1, kind))


def _guard(w: Writer, kind: str, divisor: Scalar) -> Scalar:
    """The divisor, or 1 in place of 0."""
    if divisor.literal:
        return w.cast(divisor, kind)
    name, zero, one = w.cast(divisor, kind).name, w.constant(0, kind).name, w.constant(1, kind).name
    is_zero = w.emit(f"arith.cmpi eq, {name}, {zero} : {kind}")
    return Scalar(w.emit(f"arith.select {is_zero}, {one}, {name} : {kind}"), kind, is_natural=divisor.is_natural)


def _floor_divide(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
    kind = join_for(dtype, (a, b))
    if kind == "f32":
        return w.op("math.floor", kind, w.op("arith.divf", kind, a, b))
    is_natural = a.is_natural and b.is_natural
    return w.op("arith.divui" if is_natural else "arith.floordivsi", kind, a, _guard(w, kind, b), is_natural=is_natural)


def _remainder(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
    """Has the sign of the divisor, as in Python."""
    kind = join_for(dtype, (a, b))
    if kind == "f32":
        whole = _multiply(w, dtype, _floor_divide(w, dtype, a, b), b)
        return w.op("arith.subf", kind, a, whole)
    divisor = _guard(w, kind, b)
    if a.is_natural and b.is_natural:
        return w.op("arith.remui", kind, a, divisor, is_natural=True)
    rest = w.op("arith.remsi", kind, a, divisor, is_natural=a.is_natural)
    zero = w.constant(0, kind).name
    other = w.op("arith.xori", kind, rest, divisor)
    differs = w.emit(f"arith.cmpi slt, {other.name}, {zero} : {kind}")
    is_rest = w.emit(f"arith.cmpi ne, {rest.name}, {zero} : {kind}")
    moves = w.emit(f"arith.andi {differs}, {is_rest} : i1")
    moved = w.op("arith.addi", kind, rest, divisor)
    return Scalar(w.emit(f"arith.select {moves}, {moved.name}, {rest.name} : {kind}"), kind, is_natural=b.is_natural)


def _divide(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar, *, rounding_mode: str | None = None) -> Scalar:
    if rounding_mode == "floor":
        return _floor_divide(w, dtype, a, b)
    kind = join_for(dtype, (a, b))
    if kind == "f32":
        if rounding_mode is None:  # also by a reciprocal, as PyTorch's compiler has it
            return w.op("arith.divf", kind, a, b, flags="arcp")
        return w.op("math.trunc", kind, w.op("arith.divf", kind, a, b))
    return w.op("arith.divsi", kind, a, _guard(w, kind, b), is_natural=a.is_natural and b.is_natural)


def _shift(name: str) -> Elementwise:
    return lambda w, dtype, a, b: w.op(name, join_for(dtype, (a, b)), a, b, is_natural=a.is_natural and b.is_natural)


def _negate(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    kind = join_for(dtype, (a,))
    return w.op("arith.negf", kind, a) if kind == "f32" else w.op("arith.subi", kind, make_literal(0), a)


def _absolute(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    kind = join_for(dtype, (a,))
    if kind == "f32":
        return w.op("math.absf", kind, a)
    negative = w.op("arith.subi", kind, make_literal(0), a)
    return w.op("arith.maxsi", kind, a, negative, is_natural=True)


def _function(name: str) -> Elementwise:
    return lambda w, dtype, a: w.op(f"math.{name}", "f32", a)


def _sigmoid(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    exponential = w.op("math.exp", "f32", w.op("arith.negf", "f32", a))
    one = make_literal(1.0)
    return w.op("arith.divf", "f32", one, w.op("arith.addf", "f32", exponential, one))


def _silu(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    return w.op("arith.mulf", "f32", a, _sigmoid(w, dtype, a))


def _gelu(w: Writer, dtype: torch.dtype, a: Scalar, *, approximate: str = "none") -> Scalar:
    def times(x: Scalar, y: Scalar | float) -> Scalar:
        return w.op("arith.mulf", "f32", x, y if isinstance(y, Scalar) else make_literal(y))

    if approximate == "tanh":
        cubic = w.op("arith.addf", "f32", a, times(times(times(a, a), a), 0.044715))
        inner = w.op("math.tanh", "f32", times(cubic, math.sqrt(2 / math.pi)))
    else:
        inner = w.op("math.erf", "f32", times(a, math.sqrt(0.5)))
    return times(times(a, 0.5), w.op("arith.addf", "f32", inner, make_literal(1.0)))


def _power(w: Writer, dtype: torch.dtype, a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b.literal, (int, float)) and b.literal in (1, 2, 3):
        return functools.reduce(lambda x, y: _multiply(w, dtype, x, y), [a] * int(b.literal))
    if not dtype.is_floating_point:
        raise CannotTraceError("expects integers to the power of 1, 2 or 3")
    if a.literal == 2:
        return w.op("math.exp2", "f32", b)
    return w.op("math.sqrt", "f32", a) if b.literal == 0.5 else w.op("math.powf", "f32", a, b)


def _where(w: Writer, dtype: torch.dtype, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    kind = join_for(dtype, (a, b))
    names = [w.cast(x, to).name for x, to in ((condition, "i1"), (a, kind), (b, kind))]
    return Scalar(w.emit(f"arith.select {', '.join(names)} : {kind}"), kind, is_natural=a.is_natural and b.is_natural)


def _fill_masked(w: Writer, dtype: torch.dtype, a: Scalar, condition: Scalar, b: Scalar) -> Scalar:
    return _where(w, dtype, condition, b, a)


def _convert(w: Writer, dtype: torch.dtype, a: Scalar, **_: Any) -> Scalar:
    """Integers stay what they are, but for wider ones."""
    if dtype.is_floating_point or dtype == torch.bool:
        return w.cast(a, join_for(dtype, (a,)))
    if a.type in ("index", "i64", "int"):
        return a
    return w.cast(a, "i64" if dtype == torch.int64 else "i32")


def _relu(w: Writer, dtype: torch.dtype, a: Scalar) -> Scalar:
    return _maximum(w, dtype, a, make_literal(0))


#: Operations of which each element of the result has its own elements of the operands.
ELEMENTWISE: dict[str, Elementwise] = {
    "aten.add": _arithmetic("arith.addf", "arith.addi"),
    "aten.sub": _subtract,
    "aten.rsub": _reverse_subtract,
    "aten.mul": _multiply,
    "aten.div": _divide,
    "aten.floor_divide": _floor_divide,
    "aten.remainder": _remainder,
    "aten.neg": _negate,
    "aten.abs": _absolute,
    "aten.maximum": _maximum,
    "aten.minimum": _minimum,
    "aten.clamp": _clamp,
    "aten.clamp_min": _maximum,
    "aten.clamp_max": _minimum,
    "aten.relu": _relu,
    "aten.pow": _power,
    "aten.where": _where,
    "aten.masked_fill": _fill_masked,
    "aten._to_copy": _convert,
    "aten.bitwise_not": _not,
    "aten.logical_not": lambda w, dtype, a: _not(w, torch.bool, a),
    "aten.sigmoid": _sigmoid,
    "aten.silu": _silu,
    "aten.gelu": _gelu,
    "aten.reciprocal": lambda w, dtype, a: w.op("arith.divf", "f32", make_literal(1.0), a),
    "approx.tanh": _function("tanh"),
    **{f"aten.{name}": _compare(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{f"aten.bitwise_{name}": _bits(f"arith.{name}i") for name in ("and", "or", "xor")},
    **{f"aten.__{name}__": _bits(f"arith.{name}i") for name in ("and", "or", "xor")},
    **{f"aten.logical_{name}": _logical(f"arith.{name}i") for name in ("and", "or", "xor")},
    **{name: _shift("arith.shli") for name in ("aten.__lshift__", "aten.bitwise_left_shift")},
    **{name: _shift("arith.shrsi") for name in ("aten.__rshift__", "aten.bitwise_right_shift")},
    **{f"aten.{n}": _function(n) for n in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf")},
    **{f"aten.{name}": _function(name) for name in ("floor", "ceil", "trunc")},
    "aten.round": _function("roundeven"),
}


def _get_dim(array: Array, dim: int) -> int:
    return dim % max(len(array.shape), 1)


def _with_places(array: Array, shape: Any, move: Callable[[Place], Place]) -> Array:
    return Array(tuple(shape), array.dtype, lambda place: array.get(move(place)))


def _same(w: Writer, out: Array, a: Array, *_: Any, **__: Any) -> Array:
    return a


def _select(w: Writer, out: Array, a: Array, dim: int, index: int) -> Array:
    at, dim = index % a.shape[dim], _get_dim(a, dim)
    return _with_places(a, out.shape, lambda place: (*place[:dim], at, *place[dim:]))


def _shifted(w: Writer, place: int | Scalar, step: int, start: int) -> int | Scalar:
    if isinstance(place, int):
        return place * step + start
    return w.op(
        "arith.addi", "index", w.op("arith.muli", "index", place, make_literal(step)), make_literal(start), is_natural=place.is_natural
    )


def _slice(w: Writer, out: Array, a: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    dim = _get_dim(a, dim)
    first = slice(start, end, step).indices(a.shape[dim])[0]
    return _with_places(a, out.shape, lambda place: (*place[:dim], _shifted(w, place[dim], step, first), *place[dim + 1 :]))


def _view(w: Writer, out: Array, a: Array, *_: Any, **__: Any) -> Array:
    """Any change of shape: through the number of the element, in row-major order."""
    if tuple(size for size in out.shape if size != 1) == tuple(size for size in a.shape if size != 1):

        def move(place: Place) -> Place:
            rest = iter([at for at, size in zip(place, out.shape, strict=True) if size != 1])
            return tuple(0 if size == 1 else next(rest) for size in a.shape)

        return _with_places(a, out.shape, move)

    def linearize(place: Place) -> Place:
        if any(isinstance(at, Scalar) for at in place):
            raise CannotTraceError("expects a tensor to be indexed before its shape is changed")
        number, found = 0, []
        for at, size in zip(place, out.shape, strict=True):
            number = number * size + int(at)  # type: ignore[arg-type]
        for size in reversed(a.shape):
            number, at = divmod(number, size)
            found.append(at)
        return tuple(found[::-1])

    return _with_places(a, out.shape, linearize)


def _expand(w: Writer, out: Array, a: Array, *_: Any, **__: Any) -> Array:
    return _with_places(a, out.shape, lambda place: broadcast(a.shape, place))


def _permute(w: Writer, out: Array, a: Array, dims: list[int]) -> Array:
    order = [_get_dim(a, dim) for dim in dims]
    return _with_places(a, out.shape, lambda place: tuple(place[order.index(dim)] for dim in range(len(order))))


def _transpose(w: Writer, out: Array, a: Array, first: int = 0, second: int = 1) -> Array:
    dims = list(range(len(a.shape)))
    if len(dims) > 1:
        dims[first], dims[second] = dims[second], dims[first]
    return _permute(w, out, a, dims)


def _index(w: Writer, out: Array, a: Array, indices: list[Array | None]) -> Array:
    """Places of `a` from arrays of places; those without one stay."""
    known = [index for index in indices if index is not None]
    if any(index.dtype == torch.bool for index in known):
        raise CannotTraceError("expects places to be integers, but got bool, whose result has a size of its own")
    rank = max((len(index.shape) for index in known), default=0)
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    front = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0

    def get(place: Place) -> Scalar:
        at, rest = place[front : front + rank], iter(place[:front] + place[front + rank :])
        found: list[int | Scalar] = []
        for dim in range(len(a.shape)):
            index = indices[dim] if dim < len(indices) else None
            found.append(next(rest) if index is None else index.get(broadcast(index.shape, at)))
        return a.get(tuple(found))

    return Array(out.shape, a.dtype, memoize(get))


def _fold(combine: Callable[[Writer, torch.dtype, Scalar, Scalar], Scalar], empty: float | bool | None) -> Any:
    """A reduction, in the order of the elements."""

    def run(w: Writer, out: Array, a: Array, dim: Any = None, *_: Any, **__: Any) -> Array:
        dims = range(len(a.shape)) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
        reduced = sorted(_get_dim(a, one) for one in dims) if a.shape else []
        kept = len(out.shape) == len(a.shape)

        def get(place: Place) -> Scalar:
            values = []
            for inner in get_places([a.shape[one] for one in reduced]):
                parts, outer = iter(inner), iter(place)
                found: list[int | Scalar] = []
                for one in range(len(a.shape)):
                    if one in reduced:
                        found.append(next(parts))
                        if kept:
                            next(outer)
                    else:
                        found.append(next(outer))
                values.append(_convert(w, out.dtype, a.get(tuple(found))))
            if not values:
                if empty is None:
                    raise CannotTraceError("expects at least one element")
                return make_literal(empty)
            return functools.reduce(lambda x, y: combine(w, out.dtype, x, y), values)

        return Array(out.shape, out.dtype, memoize(get))

    return run


_sum: Callable[..., Array] = _fold(ELEMENTWISE["aten.add"], 0)


def _mean(w: Writer, out: Array, a: Array, dim: Any = None, *_: Any, **__: Any) -> Array:
    total = _sum(w, out, a, dim)
    terms = math.prod(a.shape) // max(math.prod(out.shape), 1)
    return Array(out.shape, out.dtype, lambda place: w.op("arith.divf", "f32", total.get(place), make_literal(float(terms))))


def _dot(w: Writer, out: Array, a: Array, b: Array) -> Array:
    products = Array(a.shape, out.dtype, lambda place: _multiply(w, out.dtype, a.get(place), b.get(place)))
    return _sum(w, out, products)


def _filled(value: bool | int | float) -> Any:
    return lambda w, out, *_, **__: Array(out.shape, out.dtype, lambda place: make_literal(_to_python(value, out.dtype)))


def _to_python(value: bool | int | float, dtype: torch.dtype) -> bool | int | float:
    return float(value) if dtype.is_floating_point else bool(value) if dtype == torch.bool else int(value)


def _full(w: Writer, out: Array, like: Any, *arguments: Any, **_: Any) -> Array:
    """scalar_tensor(value), full(size, value), full_like(like, value), new_full(like, size, value)."""
    value = arguments[-1] if arguments else like
    found: Array = _filled(value)(w, out)
    return found


def _arange(w: Writer, out: Array, *arguments: Any, **_: Any) -> Array:
    start, step = (arguments[0] if len(arguments) > 1 else 0), (arguments[2] if len(arguments) > 2 else 1)
    if out.dtype.is_floating_point:
        raise CannotTraceError("expects integers in arange")

    def get(place: Place) -> Scalar:
        found = _shifted(w, place[0], step, start)
        return make_literal(found) if isinstance(found, int) else found

    return Array(out.shape, out.dtype, get)


#: Operations on arrays as a whole. `out` of each has the shape and type of the result.
WHOLE: dict[str, Callable[..., Array]] = {
    **{f"aten.{name}": _same for name in ("alias", "detach", "clone", "lift_fresh_copy", "lift_fresh", "contiguous")},
    "aten.select": _select,
    "aten.slice": _slice,
    **{f"aten.{name}": _view for name in ("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze")},
    "aten.expand": _expand,
    "aten.permute": _permute,
    "aten.transpose": _transpose,
    "aten.t": _transpose,
    "aten.index": _index,
    "aten.sum": _sum,
    "aten.mean": _mean,
    "aten.dot": _dot,
    "aten.any": _fold(_logical("arith.ori"), False),
    "aten.all": _fold(_logical("arith.andi"), True),
    "aten.amax": _fold(_maximum, None),
    "aten.amin": _fold(_minimum, None),
    **{f"aten.{name}": _filled(0) for name in ("zeros", "zeros_like", "new_zeros")},
    **{f"aten.{name}": _filled(1) for name in ("ones", "ones_like", "new_ones")},
    **{f"aten.{name}": _full for name in ("scalar_tensor", "full", "full_like", "new_full")},
    "aten.arange": _arange,
}


def is_known(name: str) -> bool:
    """Whether an operation, as in "aten.add", can be traced."""
    return name in ELEMENTWISE or name in WHOLE


def apply(w: Writer, name: str, out: Array, arguments: list[Any], options: dict[str, Any]) -> Array:
    """The result of an operation. Arguments are arrays and what Python has."""
    if name in WHOLE:
        return WHOLE[name](w, out, *arguments, **options)
    run = ELEMENTWISE[name]

    def lift(value: Any, place: Place) -> Any:
        if isinstance(value, Array):
            return value.get(broadcast(value.shape, place))
        return make_literal(value) if isinstance(value, (bool, int, float)) else value

    keep = {"rounding_mode", "approximate", "alpha"}
    placement = {"dtype", "layout", "device", "pin_memory", "non_blocking", "memory_format"}
    places = [value for value in (*arguments, *options.values()) if isinstance(value, Array)]
    if not places:
        raise CannotTraceError("expects an operand that is a tensor")

    def get(place: Place) -> Scalar:
        named = {key: value if key in keep else lift(value, place) for key, value in options.items() if key not in placement}
        return run(w, out.dtype, *(lift(value, place) for value in arguments), **named)

    return Array(out.shape, out.dtype, memoize(get))
