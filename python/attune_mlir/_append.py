# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New keys or values in the pages of a cache."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _compiler, _devices, _frameworks, _known, _native, _operands, _schedules

_ROWS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}
#: Types of pools, and what IR calls them.
POOLS = {
    **_ROWS,
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "int8": "i8",
    _operands.PACKED: "i8",
}
_INTEGERS = {"int32": "i32", "int64": "i64"}
#: What kernels call the arguments.
_NAMES = {name: name for name in ("rows", "pool", "slots", "cos", "sin", "positions", "scales", "row_scales", "zeros", "row_zeros")}
_NAMES |= {"values": "rows1", **{f"value_{name}": f"{name}1" for name in ("pool", "scales", "row_scales", "zeros", "row_zeros")}}
#: Tables have a multiple of so many columns beside integers of 4 bits.
_PACKED_PAIRS = 16


def takes(rows_dtype: str, pool_dtype: str) -> bool:
    """Whether rows of one type, by NumPy's names, can be appended to a pool of another."""
    return rows_dtype in _ROWS and pool_dtype in POOLS


def check_packed_pairs(pairs: int) -> None:
    """That what is rotated, and what shares bytes, is found in whole tiles."""
    if pairs % _PACKED_PAIRS:
        raise ValueError(f"expects a multiple of {_PACKED_PAIRS} columns of cos and sin where bytes hold two, but got {pairs}")


@dataclasses.dataclass(frozen=True)
class Part:
    """Rows and their pool."""

    dtype: str
    pool_dtype: str
    head_dim: int
    page_size: int
    #: "one", "heads" or "rows"; None for a pool of 16 bits or more.
    scales: str | None
    #: Whether there are zero points beside them.
    has_zeros: bool
    #: Whether rows, and the pool, are other than row-major without gaps.
    strided: tuple[bool, bool]

    def make_type(self, sizes: str, dtype: str, strided: bool) -> str:
        """Of rows or of the pool, whose other sizes are these."""
        columns = _operands.count_stored(self.head_dim, dtype)
        sizes = f"{sizes}x{columns}"
        if not strided:
            return f"tensor<{sizes}x{POOLS[dtype]}>"
        strides = "?, " * sizes.count("x")
        step = _operands.get_row_step(columns, dtype)
        return f"tensor<{sizes}x{POOLS[dtype]}, #attn.strided<[{strides}1], divisor = {step}>>"

    def make_numbers(self, heads: int) -> tuple[str, str] | None:
        """What scales and zero points are called, and their type."""
        given = {"one": "1x1x1x1", "heads": f"1x1x{heads}x1", "rows": f"?x{self.page_size}x{heads}x1"}
        return None if self.scales is None else ("row_" if self.scales == "rows" else "", f"tensor<{given[self.scales]}xf32>")


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for."""

    #: One, or keys and values.
    parts: tuple[Part, ...]
    heads: int
    slots_dtype: str
    #: Of the first part, type of the tables, that of positions, and the columns of the tables; None where nothing is rotated.
    rotary: tuple[str, str, int] | None
    interleaved: bool

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect, with arguments as `append` passes them."""
        slots = f"tensor<?x{_INTEGERS[self.slots_dtype]}>"
        arguments, results, names, lines = [f"%slots: {slots}"], [], [], []
        for number, part in enumerate(self.parts):
            rows = part.make_type(f"?x{self.heads}", part.dtype, part.strided[0])
            pool = part.make_type(f"?x{part.page_size}x{self.heads}", part.pool_dtype, part.strided[1])
            arguments += [f"%x{number}: {rows}", f"%pool{number}: {pool}"]
            own, clauses = [pool], ""
            if number == 0 and self.rotary is not None:
                dtype, positions, pairs = self.rotary
                table, integers = f"tensor<?x{pairs}x{_ROWS[dtype]}>", f"tensor<?x{_INTEGERS[positions]}>"
                arguments += [f"%cos: {table}", f"%sin: {table}", f"%positions: {integers}"]
                clauses += f" rotary(%cos, %sin, %positions : {table}, {table}, {integers})" + " interleaved" * self.interleaved
            clauses += " packed" * (part.pool_dtype == _operands.PACKED)
            if (numbers := part.make_numbers(self.heads)) is not None:
                prefix, kind = numbers
                for name in ["scales"] + ["zeros"] * part.has_zeros:
                    arguments.append(f"%{prefix}{name}{number}: {kind}")
                    clauses += f" {prefix}{name}(%{prefix}{name}{number} : {kind})"
                    own += [kind] * (prefix != "")
            made = [f"%out{number}_{place}" for place in range(len(own))]
            lines.append(f"  {', '.join(made)} = attn.append %x{number} to %pool{number} at %slots{clauses} : {rows}, {pool}, {slots}\n")
            results += own
            names += made
        return _compiler.parse(
            f"func.func @append({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{''.join(lines)}"
            f"  return {', '.join(names)} : {', '.join(results)}\n}}\n"
        )


def append(
    rows: Any,
    pool: Any,
    slots: Any,
    *,
    cos: Any = None,
    sin: Any = None,
    positions: Any = None,
    interleaved: bool = False,
    scales: Any = None,
    row_scales: Any = None,
    zeros: Any = None,
    row_zeros: Any = None,
    values: Any = None,
    value_pool: Any = None,
    value_scales: Any = None,
    value_row_scales: Any = None,
    value_zeros: Any = None,
    value_row_zeros: Any = None,
    stream: int | None = None,
    chip: str | None = None,
) -> None:
    """Writes new keys, or values, into the pages of a cache.

    rows        array [tokens, kv_heads, head_dim] in float16, bfloat16 or float32
    pool        array [pages, page_size, kv_heads, head_dim] that is written, in one of these types, in a float of 8 bits, in int8, or in
                uint8 for integers of 4 bits, two in a byte: then head_dim is a multiple of 32, of which the pool has half
    slots       [tokens], int32 or int64: the place of each token in the pool, page * page_size + row. Tokens with another number, as one
                below 0, are left out; which one of several with one slot is written is not defined
    cos, sin    rotate rows before: [longest, pairs], float32 or in the type of rows. The first 2 * pairs elements of a row are rotated.
                Beside 4 bits, pairs are a multiple of 16
    positions   [tokens], int32 or int64: the row of `cos` and `sin` of each token; one that they do not have counts as their last
    interleaved rotates element 2 * i with 2 * i + 1, not i with pairs + i
    scales      of a pool of 8 bits or less, float32: what its elements are to be multiplied by, one, or one for each head
    row_scales  [pages, page_size, kv_heads], float32, instead: is written as well, with a scale of each row as `quantize` chooses it
    zeros       of integers, float32, one for each of `scales`: which numbers stand for 0, as `attention` takes them
    row_zeros   of integers, float32, one for each of `row_scales`: is written as well, as `quantize` chooses them with zeros=True
    values      where rows are keys, the values of the same tokens, of as many heads, which `value_pool` gets in the same launch, and the
    value_...   others as of rows; values are not rotated
    stream      as of `attention`
    chip        as of `attention`

    Queued once, without waiting. No gradients pass. Errors are those of `attention`, and TypeError for arrays that cannot be written.
    """
    given = {"rows": rows, "pool": pool, "slots": slots, "cos": cos, "sin": sin, "positions": positions}
    given |= {"scales": scales, "row_scales": row_scales, "zeros": zeros, "row_zeros": row_zeros}
    given |= {"values": values, "value_pool": value_pool, "value_scales": value_scales, "value_row_scales": value_row_scales}
    given |= {"value_zeros": value_zeros, "value_row_zeros": value_row_zeros}
    kind, known = ("append", bool(interleaved)), (False, None, None, None, False, "bshd", chip, *_known.PLAIN)
    # Nothing is returned, which is not that it was not known.
    if stream is None and _known.repeat(kind, known, given.values()) is not None:
        return
    if _frameworks.is_watched("stream", stream is None, *given.values()):
        from . import _rows_torch

        _rows_torch.append(given, interleaved=bool(interleaved), chip=chip)
        return
    _compute(given, bool(interleaved), stream, chip, _known.Attempt(kind, known, {_NAMES[name]: array for name, array in given.items()}))


def _compute(given: dict[str, Any], interleaved: bool, stream: int | None, chip: str | None, attempt: _known.Attempt) -> None:
    """Checks, compiles and launches."""
    tensors = {"rows": _read(given["rows"], "rows", 3), "slots": _read(given["slots"], "slots", 1)}
    parts = [_read_part(tensors, given, "")]
    tokens, heads, _ = tensors["rows"].shape
    others = [name for name, array in given.items() if name.startswith("value") and array is not None]
    if others:
        if missing := [name for name in ("values", "value_pool") if name not in others]:
            raise ValueError(f"expects values and value_pool, but got no {' and no '.join(missing)}")
        tensors["values"] = _read(given["values"], "values", 3)
        if tensors["values"].shape[:2] != [tokens, heads]:
            shapes = f"{tuple(tensors['rows'].shape)} and {tuple(tensors['values'].shape)}"
            raise ValueError(f"expects rows and values to have equal tokens and heads, but got shapes {shapes}")
        parts.append(_read_part(tensors, given, "value_"))
    rotary = _read_rotary(tensors, parts[0].dtype, {name: given[name] for name in ("cos", "sin", "positions")})
    if parts[0].pool_dtype == _operands.PACKED and rotary is not None:
        check_packed_pairs(rotary[2])
    if interleaved and rotary is None:
        raise ValueError("expects interleaved with cos, sin and positions alone")
    slots_dtype = _check_integers(tensors, "slots")
    place = _frameworks.get_device(tensors["rows"], "rows")
    for name, tensor in tensors.items():
        if (found_place := _frameworks.get_device(tensor, name)) != place:
            raise ValueError(f"expects {name} on the device of rows, {place}, but got {found_place}")
    if 0 in (tokens, *(size for name, tensor in tensors.items() if name.endswith("pool") for size in tensor.shape)):
        return
    problem = Problem(tuple(parts), heads, slots_dtype, rotary, interleaved)
    device, kernel = _devices.get_kernel(place, chip, problem, _schedules.Bucket.get(tokens, 1, 1))
    named, places = {_NAMES[name]: tensor for name, tensor in tensors.items()}, _devices.find_places(kernel)
    arguments, queue = _devices.run(device, kernel, [named[name] for name in places], given["rows"], stream)
    if not device.is_host:
        attempt.learn([], places, arguments, kernel, queue)


def _read_part(tensors: dict[str, _native.Tensor], given: dict[str, Any], prefix: str) -> Part:
    """Adds what there is beside rows that are there, or values; names of arguments begin so."""
    of_rows, of_pool = ("values" if prefix else "rows"), f"{prefix}pool"
    tensors[of_pool] = _read(given[of_pool], of_pool, 4, writable=True)
    dtype, pool_dtype = _read_types(tensors, of_rows, of_pool)
    _, heads, head_dim = tensors[of_rows].shape
    _, page_size, *row = tensors[of_pool].shape
    if pool_dtype == _operands.PACKED:
        _operands.check_packed(head_dim, of_rows)
    if row != [heads, _operands.count_stored(head_dim, pool_dtype)] or 0 in row:
        found = f"{tuple(tensors[of_rows].shape)} and {tuple(tensors[of_pool].shape)}"
        raise ValueError(f"expects {of_rows} and {of_pool} to have equal heads and head dimensions of at least 1, but got shapes {found}")
    scales = _read_scales(tensors, pool_dtype, given, prefix)
    has_zeros = _read_zeros(tensors, pool_dtype, given, prefix)
    strided = not _operands.normalize_strides(tensors[of_rows], of_rows), not _operands.normalize_strides(tensors[of_pool], of_pool)
    for name in (of_rows, of_pool):
        _operands.check_address(tensors[name], name)
    return Part(dtype, pool_dtype, head_dim, page_size, scales, has_zeros, strided)


def _read(array: Any, name: str, rank: int, *, writable: bool = False) -> _native.Tensor:
    """The memory of an array of so many dimensions."""
    tensor = _frameworks.make_tensor(array.detach() if _frameworks.is_torch(array) else array, name, writable=writable)
    if len(tensor.shape) != rank:
        raise ValueError(f"expects {name} to have {rank} dimension{'s' * (rank > 1)}, but got shape {tuple(tensor.shape)}")
    return tensor


def _read_types(tensors: dict[str, _native.Tensor], of_rows: str, of_pool: str) -> tuple[str, str]:
    dtype, pool_dtype = (_frameworks.get_dtype_name(tensors[name]) for name in (of_rows, of_pool))
    if dtype not in _ROWS:
        raise TypeError(f"expects {of_rows} of float16, bfloat16 or float32, but got {dtype}")
    if pool_dtype not in POOLS:
        raise TypeError(f"expects a {of_pool} of {', '.join(POOLS)}, but got {pool_dtype}")
    return dtype, pool_dtype


def _check_integers(tensors: dict[str, _native.Tensor], name: str) -> str:
    """Of numbers of tokens their type."""
    tensor, tokens = tensors[name], tensors["rows"].shape[0]
    if (dtype := _frameworks.get_dtype_name(tensor)) not in _INTEGERS:
        raise TypeError(f"expects {name} of int32 or int64, but got {dtype}")
    if tensor.shape != [tokens] or not _operands.fill_strides(tensor):
        raise ValueError(f"expects {name} of shape ({tokens},) without gaps, but got shape {tuple(tensor.shape)}")
    return dtype


def _read_rotary(tensors: dict[str, _native.Tensor], dtype: str, given: dict[str, Any]) -> tuple[str, str, int] | None:
    """Adds what is there of `given`."""
    missing = [name for name, array in given.items() if array is None]
    if len(missing) == len(given):
        return None
    if missing:
        raise ValueError(f"expects cos, sin and positions, but got no {' and no '.join(missing)}")
    for name in ("cos", "sin"):
        tensors[name] = _read(given[name], name, 2)
    tensors["positions"] = _read(given["positions"], "positions", 1)
    kinds = [_frameworks.get_dtype_name(tensors[name]) for name in ("cos", "sin")]
    if kinds[0] != kinds[1] or kinds[0] not in ("float32", dtype):
        raise TypeError(f"expects cos and sin of float32, or of {dtype} as rows, but got {kinds[0]} and {kinds[1]}")
    shapes = [tuple(tensors[name].shape) for name in ("cos", "sin")]
    most = tensors["rows"].shape[2] // 2
    if shapes[0] != shapes[1] or shapes[0][0] < 1 or not 1 <= shapes[0][1] <= most:
        raise ValueError(
            f"expects cos and sin of one shape, of at least 1 row and from 1 to {most} columns, but got {shapes[0]} and {shapes[1]}"
        )
    for name in ("cos", "sin"):
        if not _operands.fill_strides(tensors[name]):
            raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {tensors[name].strides} elements")
        _operands.check_address(tensors[name], name)
    return kinds[0], _check_integers(tensors, "positions"), shapes[0][1]


def _read_scales(tensors: dict[str, _native.Tensor], pool_dtype: str, given: dict[str, Any], prefix: str) -> str | None:
    """Adds what is there, and gives what it is."""
    names = [name for name in (f"{prefix}scales", f"{prefix}row_scales") if given[name] is not None]
    if pool_dtype in _ROWS:
        if names:
            raise ValueError(f"expects {names[0]} for a pool of 8 bits alone, but got some for {pool_dtype}")
        return None
    if len(names) != 1:
        wanted = f"{prefix}scales or {prefix}row_scales"
        raise ValueError(f"expects {wanted} for a pool of {pool_dtype}, but got {'both' if names else 'neither'}")
    is_written = names[0].endswith("row_scales")
    is_one = _read_numbers(tensors, given[names[0]], names[0], prefix, is_written=is_written)
    return "rows" if is_written else "one" if is_one else "heads"


def _read_zeros(tensors: dict[str, _native.Tensor], pool_dtype: str, given: dict[str, Any], prefix: str) -> bool:
    """Adds what is there, and says whether something is."""
    names = [name for name in (f"{prefix}zeros", f"{prefix}row_zeros") if given[name] is not None]
    if names and pool_dtype not in ("int8", _operands.PACKED):
        raise ValueError(f"expects {names[0]} for a pool of int8 or uint8 alone, but got some for {pool_dtype}")
    for name in names:
        of_scales = name.replace("zeros", "scales")
        if of_scales not in tensors:
            raise ValueError(f"expects {of_scales} beside {name}, but got none")
        _read_numbers(tensors, given[name], name, prefix, is_written=name.endswith("row_zeros"))
        if tensors[name].shape != tensors[of_scales].shape:
            raise ValueError(f"expects {name} of the shape of {of_scales}, but got shape {tuple(given[name].shape)}")
    return bool(names)


def _read_numbers(tensors: dict[str, _native.Tensor], array: Any, name: str, prefix: str, *, is_written: bool) -> bool:
    """Adds numbers of rows, which are written, or of heads, and says whether it is one for all."""
    pages, page_size, heads, _ = tensors[f"{prefix}pool"].shape
    shape = [pages, page_size, heads] if is_written else [heads]
    tensor = _frameworks.make_tensor(array, name, writable=is_written)
    if (dtype := _frameworks.get_dtype_name(tensor)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    found = list(tensor.shape)
    is_one = not is_written and all(size == 1 for size in found)
    if found != shape and not is_one and not (not is_written and found == [1, heads]):
        raise ValueError(f"expects {name} of shape {tuple(shape)}{', or one' * (not is_written)}, but got shape {tuple(found)}")
    if not _operands.fill_strides(tensor):
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {tensor.strides} elements")
    tensor.shape = [*shape, 1] if is_written else [1, 1, 1 if is_one else heads, 1]
    tensor.strides = _operands.get_row_major(tensor.shape)
    tensors[name] = tensor
    return is_one
