# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New keys or values in the pages of a cache."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _compiler, _devices, _frameworks, _known, _native, _operands, _schedules

_ROWS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}
_POOLS = {
    **_ROWS,
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "int8": "i8",
    _operands.PACKED: "i8",
}
_INTEGERS = {"int32": "i32", "int64": "i64"}
#: Tables have a multiple of so many columns beside integers of 4 bits.
_PACKED_PAIRS = 16


def takes(rows_dtype: str, pool_dtype: str) -> bool:
    """Whether rows of one type, by NumPy's names, can be appended to a pool of another."""
    return rows_dtype in _ROWS and pool_dtype in _POOLS


def check_packed_pairs(pairs: int) -> None:
    """That what is rotated, and what shares bytes, is found in whole tiles."""
    if pairs % _PACKED_PAIRS:
        raise ValueError(f"expects a multiple of {_PACKED_PAIRS} columns of cos and sin where bytes hold two, but got {pairs}")


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for."""

    dtype: str
    pool_dtype: str
    heads: int
    head_dim: int
    page_size: int
    slots_dtype: str
    #: Type of the tables, that of positions, and the columns of the tables; None where nothing is rotated.
    rotary: tuple[str, str, int] | None
    interleaved: bool
    #: "one", "heads" or "rows"; None for a pool of 16 bits or more.
    scales: str | None
    #: Whether there are zero points beside them.
    has_zeros: bool
    #: Whether rows, and the pool, are other than row-major without gaps.
    strided: tuple[bool, bool]

    def _make_type(self, sizes: str, dtype: str, strided: bool) -> str:
        columns = _operands.count_stored(self.head_dim, dtype)
        sizes = f"{sizes}x{self.heads}x{columns}"
        if not strided:
            return f"tensor<{sizes}x{_POOLS[dtype]}>"
        strides = "?, " * sizes.count("x")
        step = _operands.get_row_step(columns, dtype)
        return f"tensor<{sizes}x{_POOLS[dtype]}, #attn.strided<[{strides}1], divisor = {step}>>"

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect, with arguments as `append` passes them."""
        rows = self._make_type("?", self.dtype, self.strided[0])
        pool = self._make_type(f"?x{self.page_size}", self.pool_dtype, self.strided[1])
        slots = f"tensor<?x{_INTEGERS[self.slots_dtype]}>"
        arguments, clauses, results, names = [("x", rows), ("slots", slots)], "", [pool], "%p"
        if self.rotary is not None:
            dtype, positions, pairs = self.rotary
            table, numbers = f"tensor<?x{pairs}x{_ROWS[dtype]}>", f"tensor<?x{_INTEGERS[positions]}>"
            arguments += [("cos", table), ("sin", table), ("positions", numbers)]
            clauses += f" rotary(%cos, %sin, %positions : {table}, {table}, {numbers})" + " interleaved" * self.interleaved
        clauses += " packed" * (self.pool_dtype == _operands.PACKED)
        given = {"one": "1x1x1x1", "heads": f"1x1x{self.heads}x1"}
        if self.scales in given:
            arguments.append(("scales", f"tensor<{given[self.scales]}xf32>"))
            clauses += f" scales(%scales : {arguments[-1][1]})"
            if self.has_zeros:
                arguments.append(("zeros", arguments[-1][1]))
                clauses += f" zeros(%zeros : {arguments[-1][1]})"
        arguments.append(("pool", pool))
        if self.scales == "rows":
            results.append(f"tensor<?x{self.page_size}x{self.heads}x1xf32>")
            arguments.append(("row_scales", results[-1]))
            clauses += f" row_scales(%row_scales : {results[-1]})"
            names = "%p, %s"
            if self.has_zeros:
                results.append(results[-1])
                arguments.append(("row_zeros", results[-1]))
                clauses += f" row_zeros(%row_zeros : {results[-1]})"
                names = "%p, %s, %z"
        return _compiler.parse(
            f"func.func @append({', '.join(f'%{name}: {kind}' for name, kind in arguments)}) -> ({', '.join(results)}) {{\n"
            f"  {names} = attn.append %x to %pool at %slots{clauses} : {rows}, {pool}, {slots}\n"
            f"  return {names} : {', '.join(results)}\n}}\n"
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
    stream      as of `attention`
    chip        as of `attention`

    Queued once, without waiting. No gradients pass. Errors are those of `attention`, and TypeError for arrays that cannot be written.
    """
    given = {"rows": rows, "pool": pool, "slots": slots, "cos": cos, "sin": sin, "positions": positions}
    given |= {"scales": scales, "row_scales": row_scales, "zeros": zeros, "row_zeros": row_zeros}
    kind, known = ("append", bool(interleaved)), (False, None, None, None, False, "bshd", chip)
    # Nothing is returned, which is not that it was not known.
    if stream is None and _known.repeat(kind, known, given.values()) is not None:
        return
    if _frameworks.is_watched("stream", stream is None, *given.values()):
        from . import _rows_torch

        _rows_torch.append(given, interleaved=bool(interleaved), chip=chip)
        return
    _compute(given, bool(interleaved), stream, chip, _known.Attempt(kind, known, given))


def _compute(given: dict[str, Any], interleaved: bool, stream: int | None, chip: str | None, attempt: _known.Attempt) -> None:
    """Checks, compiles and launches."""
    rows, pool, slots = given["rows"], given["pool"], given["slots"]
    tensors = {"rows": _read(rows, "rows", 3), "pool": _read(pool, "pool", 4, writable=True), "slots": _read(slots, "slots", 1)}
    dtype, pool_dtype = _read_types(tensors)
    tokens, heads, head_dim = tensors["rows"].shape
    pages, page_size, *row = tensors["pool"].shape
    if pool_dtype == _operands.PACKED:
        _operands.check_packed(head_dim, "rows")
    if row != [heads, _operands.count_stored(head_dim, pool_dtype)] or 0 in row:
        found = f"{tuple(tensors['rows'].shape)} and {tuple(tensors['pool'].shape)}"
        raise ValueError(f"expects rows and pool to have equal heads and head dimensions of at least 1, but got shapes {found}")
    rotary = _read_rotary(tensors, dtype, {name: given[name] for name in ("cos", "sin", "positions")})
    if pool_dtype == _operands.PACKED and rotary is not None:
        check_packed_pairs(rotary[2])
    if interleaved and rotary is None:
        raise ValueError("expects interleaved with cos, sin and positions alone")
    scales = _read_scales(tensors, pool_dtype, given["scales"], given["row_scales"])
    has_zeros = _read_zeros(tensors, pool_dtype, {name: given[name] for name in ("zeros", "row_zeros")})
    slots_dtype = _check_integers(tensors, "slots")
    strided = not _operands.normalize_strides(tensors["rows"], "rows"), not _operands.normalize_strides(tensors["pool"], "pool")
    for name in ("rows", "pool"):
        _operands.check_address(tensors[name], name)
    place = _frameworks.get_device(tensors["rows"], "rows")
    for name, tensor in tensors.items():
        if (found_place := _frameworks.get_device(tensor, name)) != place:
            raise ValueError(f"expects {name} on the device of rows, {place}, but got {found_place}")
    if 0 in (tokens, pages, page_size):
        return
    problem = Problem(dtype, pool_dtype, heads, head_dim, page_size, slots_dtype, rotary, interleaved, scales, has_zeros, strided)
    device = _devices.get_device(*place, chip)
    kernel = device.get_kernel(problem, _schedules.Bucket.get(tokens, 1, 1))
    order = ("rows", "slots", "cos", "sin", "positions", "scales", "zeros", "pool", "row_scales", "row_zeros")
    arguments, queue = _devices.run(device, kernel, [tensors[name] for name in order if name in tensors], rows, stream)
    if not device.is_host:
        attempt.learn([], _devices.find_places(kernel), arguments, kernel, queue)


def _read(array: Any, name: str, rank: int, *, writable: bool = False) -> _native.Tensor:
    """The memory of an array of so many dimensions."""
    tensor = _frameworks.make_tensor(array.detach() if _frameworks.is_torch(array) else array, name, writable=writable)
    if len(tensor.shape) != rank:
        raise ValueError(f"expects {name} to have {rank} dimension{'s' * (rank > 1)}, but got shape {tuple(tensor.shape)}")
    return tensor


def _read_types(tensors: dict[str, _native.Tensor]) -> tuple[str, str]:
    dtype, pool_dtype = (_frameworks.get_dtype_name(tensors[name]) for name in ("rows", "pool"))
    if dtype not in _ROWS:
        raise TypeError(f"expects rows of float16, bfloat16 or float32, but got {dtype}")
    if pool_dtype not in _POOLS:
        raise TypeError(f"expects a pool of {', '.join(_POOLS)}, but got {pool_dtype}")
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


def _read_scales(tensors: dict[str, _native.Tensor], pool_dtype: str, scales: Any, row_scales: Any) -> str | None:
    """Adds what is there, and gives what it is."""
    given = [name for name, array in (("scales", scales), ("row_scales", row_scales)) if array is not None]
    if pool_dtype in _ROWS:
        if given:
            raise ValueError(f"expects {given[0]} for a pool of 8 bits alone, but got some for {pool_dtype}")
        return None
    if len(given) != 1:
        raise ValueError(f"expects scales or row_scales for a pool of {pool_dtype}, but got {'both' if given else 'neither'}")
    if scales is None:
        _read_numbers(tensors, row_scales, "row_scales", is_written=True)
        return "rows"
    return "one" if _read_numbers(tensors, scales, "scales", is_written=False) else "heads"


def _read_zeros(tensors: dict[str, _native.Tensor], pool_dtype: str, given: dict[str, Any]) -> bool:
    """Adds what is there, and says whether something is."""
    found = [name for name, array in given.items() if array is not None]
    if not found:
        return False
    if pool_dtype not in ("int8", _operands.PACKED):
        raise ValueError(f"expects {found[0]} for a pool of int8 or uint8 alone, but got some for {pool_dtype}")
    for name in found:
        of_scales = name.replace("zeros", "scales")
        if of_scales not in tensors:
            raise ValueError(f"expects {of_scales} beside {name}, but got none")
        _read_numbers(tensors, given[name], name, is_written=name == "row_zeros")
        if tensors[name].shape != tensors[of_scales].shape:
            raise ValueError(f"expects {name} of the shape of {of_scales}, but got shape {tuple(given[name].shape)}")
    return True


def _read_numbers(tensors: dict[str, _native.Tensor], array: Any, name: str, *, is_written: bool) -> bool:
    """Adds numbers of rows, which are written, or of heads, and says whether it is one for all."""
    pages, page_size, heads, _ = tensors["pool"].shape
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
