# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels take of arrays: types, sizes, strides, places.

TypeError for types and ValueError for the rest, by the names of the arguments.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from . import _frameworks, _native

#: Orders of batch, heads, sequence and head dimension.
LAYOUTS = ("bshd", "bhsd")
#: Keys and values of two signed integers of 4 bits in a byte: column d in its lower bits, and d + half of the columns in its upper ones.
PACKED = "uint8"
_PACKED_COLUMNS = 32
#: What kernels read at once: addresses and strides are multiples of this.
_READ_BYTES = 16


def fill_strides(tensor: _native.Tensor) -> bool:
    """Gives dimensions of one element the stride that they would have, and says whether there are no gaps."""
    row_major = get_row_major(tensor.shape)
    strides = [dense if size <= 1 else given for size, given, dense in zip(tensor.shape, tensor.strides, row_major, strict=True)]
    if 0 in tensor.shape:
        strides = row_major
    tensor.strides = strides
    return strides == row_major


def normalize_strides(tensor: _native.Tensor, name: str) -> bool:
    """`fill_strides` of rows that kernels read, which may be apart."""
    if fill_strides(tensor):
        return True
    strides = tensor.strides
    if strides[-1] != 1:
        raise ValueError(f"expects {name} to have stride 1 along the head dimension, but got strides of {strides} elements; copy it")
    step = get_row_step(tensor.shape[-1], _frameworks.get_dtype_name(tensor))
    if any(stride % step or stride < 0 for stride in strides[:-1]):
        raise ValueError(f"expects strides of {name} to be multiples of {step} elements, but got {strides}; copy it")
    return False


def get_row_step(head_dim: int, dtype: str) -> int:
    """What distances of rows of so many elements have to be multiples of, in elements."""
    return math.gcd(_READ_BYTES // (1 if is_float8(dtype) or dtype in ("int8", PACKED) else 2), head_dim)


def count_columns(tensor: _native.Tensor, name: str) -> int:
    """Of a query, a key or a value, whose head dimension is the last one."""
    size = int(tensor.shape[-1])
    if _frameworks.get_dtype_name(tensor) != PACKED:
        return size
    check_packed(2 * size, name)
    return 2 * size


def count_stored(columns: int, dtype: str) -> int:
    """How many elements of an array so many columns are."""
    return columns // 2 if dtype == PACKED else columns


def check_packed(columns: int, name: str) -> None:
    """That halves of a row are whole matrix instructions."""
    if columns % _PACKED_COLUMNS:
        raise ValueError(f"expects {name} to have a multiple of {_PACKED_COLUMNS} columns where bytes hold two, but got {columns}")


def is_float8(dtype: str) -> bool:
    """Whether elements are floats of 8 bits."""
    return dtype.startswith("float8")


def get_row_major(shape: list[int]) -> list[int]:
    """Strides without gaps, in elements."""
    strides, size = [], 1
    for extent in reversed(shape):
        strides.append(size)
        size *= max(extent, 1)
    return strides[::-1]


def check_address(tensor: _native.Tensor, name: str) -> None:
    if tensor.address % _READ_BYTES and 0 not in tensor.shape:
        raise ValueError(f"expects {name} to start at a multiple of {_READ_BYTES} bytes, but got address {tensor.address:#x}; copy it")


def check_operands(tensors: dict[str, _native.Tensor], *, takes_narrow: bool = False) -> tuple[str, tuple[str, int]]:
    """Query, key and value, by what they are called, and type and device of all; with `takes_narrow` they may have 8 bits."""
    first = next(iter(tensors))
    names = "{}, {} and {}".format(*tensors)
    dtypes, devices = {}, {}
    for name, tensor in tensors.items():
        dtypes[name] = _frameworks.get_dtype_name(tensor)
        devices[name] = _frameworks.get_device(tensor, name)
        if takes_narrow and (is_float8(dtypes[name]) or (dtypes[name] in ("int8", PACKED) and name != first)):
            # Widened to the type of the first one, or multiplied by what has 8 bits as well.
            dtypes[name] = dtypes[first]
        elif dtypes[name] not in ("float16", "bfloat16"):
            raise TypeError(f"expects {name} of float16 or bfloat16, but got {dtypes[name]}")
        if len(tensor.shape) != 4:
            raise ValueError(f"expects {name} to have 4 dimensions, but got shape {tuple(tensor.shape)}")
        check_address(tensor, name)
        for what, found in (("dtype", dtypes), ("device", devices)):
            if found[name] != found[first]:
                raise (TypeError if what == "dtype" else ValueError)(
                    f"expects {names} to have one {what}, but got {found[first]} and, of {name}, {found[name]}"
                )
    return dtypes[first], devices[first]


@dataclasses.dataclass(frozen=True)
class Sizes:
    batch: int
    heads: int
    seq_q: int
    head_dim: int
    kv_heads: int
    seq_k: int
    head_dim_v: int


def read_sizes(tensors: dict[str, _native.Tensor], layout: str) -> Sizes:
    """Sizes by name, and what they have to do with each other."""
    q, k, v = (dict(zip(layout, tensor.shape, strict=True)) for tensor in tensors.values())
    query, key, value = tensors
    shapes = ", ".join(f"{name} of shape {tuple(tensor.shape)}" for name, tensor in tensors.items())
    if not q["b"] == k["b"] == v["b"]:
        raise ValueError(f"expects {query}, {key} and {value} to have one batch size, but got {shapes}")
    if (k["h"], k["s"]) != (v["h"], v["s"]):
        raise ValueError(f"expects {key} and {value} to have one number of heads and one length, but got {shapes}")
    check_heads(q, k, v, (query, key, value), shapes)
    return Sizes(q["b"], q["h"], q["s"], q["d"], k["h"], k["s"], v["d"])


def check_heads(q: dict[str, int], k: dict[str, int], v: dict[str, int], names: tuple[str, str, str], shapes: str) -> None:
    """Numbers and sizes of heads, by the letters of dimensions."""
    query, key, value = names
    if k["h"] != v["h"]:
        raise ValueError(f"expects {key} and {value} to have one number of heads, but got {shapes}")
    if q["d"] != k["d"]:
        raise ValueError(f"expects {query} and {key} to have one head dimension, but got {q['d']} and {k['d']}")
    if 0 in (q["h"], k["h"], q["d"], v["d"]):
        raise ValueError(f"expects at least one head and one element in each, but got {shapes}")
    if q["h"] % k["h"]:
        raise ValueError(f"expects the heads of {query} to be a multiple of those of {key} and {value}, but got {q['h']} and {k['h']}")


def get_results(sizes: Sizes, layout: str, lse: bool) -> list[tuple[int, ...]]:
    """Shapes of the result and, where it is returned, of the logarithm of the sum."""
    extents = {"b": sizes.batch, "h": sizes.heads, "s": sizes.seq_q, "d": sizes.head_dim_v}
    return [tuple(extents[letter] for letter in layout)] + [(sizes.batch, sizes.heads, sizes.seq_q)] * lse


def make_per_head(array: Any, name: str, heads: int, device: tuple[str, int]) -> _native.Tensor:
    """The tensor of one f32 per head."""
    tensor = _frameworks.make_tensor(array, name)
    if (dtype := _frameworks.get_dtype_name(tensor)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    if tuple(tensor.shape) != (heads,) or (heads > 1 and tensor.strides != [1]):
        raise ValueError(f"expects {name} to have one element per head of q, {heads} without gaps, but got shape {tuple(tensor.shape)}")
    if (found := _frameworks.get_device(tensor, name)) != device:
        raise ValueError(f"expects {name} on the device of q, {device}, but got {found}")
    tensor.strides = [1]
    return tensor


#: Of slopes, among the arguments of a function with query, key and value.
SLOPES_NUMBER = 3


def name_slopes(is_latent: bool = False) -> str:
    """The kernel's argument with slopes: an argument of the function behind query, key and, where they are apart, value.

    They become a part of the function of scores, which reads arguments by their number.
    """
    return f"argument{SLOPES_NUMBER - is_latent}"


def read_per_head(alibi_slopes: Any, sinks: Any, heads: int, device: tuple[str, int], is_latent: bool = False) -> dict[str, _native.Tensor]:
    """Those that are there, by the names of the kernel's arguments."""
    given = ((name_slopes(is_latent), "alibi_slopes", alibi_slopes), ("sinks", "sinks", sinks))
    return {argument: make_per_head(array, name, heads, device) for argument, name, array in given if array is not None}


def make_output(array: Any, name: str, shape: tuple[int, ...], dtype: str, device: tuple[str, int]) -> _native.Tensor:
    tensor = _frameworks.make_tensor(array, name, writable=True)
    found = _frameworks.get_dtype_name(tensor), _frameworks.get_device(tensor, name)
    if tuple(tensor.shape) != shape or found != (dtype, device):
        raise ValueError(
            f"expects {name} of shape {shape}, {dtype} on {device}, but got shape {tuple(tensor.shape)}, {found[0]} on {found[1]}"
        )
    if not normalize_strides(tensor, name):
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {tensor.strides} elements")
    return tensor
