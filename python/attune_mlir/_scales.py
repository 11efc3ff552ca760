# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What elements of query, key and value are to be multiplied by, as operands of a kernel.

Scales lie as elements do: along each dimension of their tensor in the order bshd they are as many as its elements, or one for all.
Those of queries may also be as many as heads of keys, letter g.
"""

from __future__ import annotations

import math
from typing import Any

from . import _frameworks, _native, _operands


def describe(letters: str, rows: int | None, heads: int) -> str:
    """The type of scales that differ along these dimensions, of a tensor with so many rows of so many heads."""
    sizes = [
        "?" if "b" in letters else 1,
        ("?" if rows is None else rows) if "s" in letters else 1,
        heads if letters[-1:] in ("h", "g") else 1,
    ]
    return f"tensor<{'x'.join(map(str, sizes))}x1xf32>"


def read(
    array: Any, name: str, tensor: _native.Tensor, is_packed: bool, place: tuple[str, int], kv_heads: int | None = None
) -> tuple[_native.Tensor, str]:
    """The operand, and along which dimensions of `tensor` it differs; `kv_heads` where it is a query.

    What was broadcast counts as one element: servers expand one scale to all sequences.
    """
    scales = _read_array(array, name, place)
    shape = [size if stride else 1 for size, stride in zip(scales.shape, scales.strides, strict=True)]
    letters = _name_dimensions(shape, name, tensor, is_packed, kv_heads)
    dims = [dim for dim, size in enumerate(shape) if size != 1]
    sizes = [shape[dim] for dim in dims]
    if 0 not in sizes and [scales.strides[dim] for dim in dims] != _operands.get_row_major(sizes):
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {scales.strides} elements")
    kept = "".join(letters[dim] for dim in dims)
    of_dims = dict(zip(kept.replace("g", "h"), sizes, strict=True))
    scales.shape = [of_dims.get(letter, 1) for letter in "bshd"]
    scales.strides = _operands.get_row_major(scales.shape)
    return scales, kept


def read_of_heads(array: Any, name: str, heads: int, place: tuple[str, int]) -> tuple[_native.Tensor, str]:
    """The operand with a scale for each head, or one for all, and along which dimensions it differs."""
    scales = _read_array(array, name, place)
    shape = [size if stride else 1 for size, stride in zip(scales.shape, scales.strides, strict=True)]
    is_one = math.prod(shape) == 1
    if not is_one and shape not in ([heads], [1, heads]):
        raise ValueError(f"expects {name} to have one element, or shape {(heads,)} or {(1, heads)}, but got {tuple(scales.shape)}")
    if not is_one and scales.strides[-1] != 1:
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {scales.strides} elements")
    scales.shape = [1, 1, 1 if is_one else heads, 1]
    scales.strides = _operands.get_row_major(scales.shape)
    return scales, "" if is_one else "h"


def _read_array(array: Any, name: str, place: tuple[str, int]) -> _native.Tensor:
    """An array of float32 where queries are."""
    scales = _frameworks.make_tensor(array, name)
    if (dtype := _frameworks.get_dtype_name(scales)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    if (found := _frameworks.get_device(scales, name)) != place:
        raise ValueError(f"expects {name} on the device of q, {place}, but got {found}")
    return scales


def _name_dimensions(shape: list[int], name: str, tensor: _native.Tensor, is_packed: bool, kv_heads: int | None) -> str:
    """A letter for each dimension of scales of this shape, whose sizes are those of `tensor` or 1."""
    if math.prod(shape) == 1:
        return "b" * len(shape)
    sizes = dict(zip("bshd", tensor.shape, strict=True))
    forms = ["sh"] if is_packed else ["bh", "bsh"]
    if kv_heads is not None:
        sizes["g"] = kv_heads
        forms += [form.replace("h", "g") for form in forms if kv_heads != sizes["h"]]
    for letters in forms:
        if len(letters) == len(shape) and all(size in (1, sizes[letter]) for letter, size in zip(letters, shape, strict=True)):
            return letters
    shapes = " or ".join(str(tuple(sizes[letter] for letter in letters)) for letters in forms)
    raise ValueError(f"expects {name} to have one element, or shape {shapes} with 1 where a dimension shares them, but got {tuple(shape)}")
