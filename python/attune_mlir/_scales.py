# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What elements of keys and values are to be multiplied by, as operands of a kernel.

Scales lie as elements do: along each dimension of keys in the order bshd they are as many as these, or one for all.
"""

from __future__ import annotations

import math
from typing import Any

from . import _frameworks, _native, _operands


def read(array: Any, name: str, tensor: _native.Tensor, is_packed: bool, place: tuple[str, int]) -> tuple[_native.Tensor, str]:
    """The operand, and along which of the dimensions bsh of `tensor` it differs.

    What was broadcast counts as one element: servers expand one scale to all sequences.
    """
    scales = _frameworks.make_tensor(array, name)
    if (dtype := _frameworks.get_dtype_name(scales)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    if (found := _frameworks.get_device(scales, name)) != place:
        raise ValueError(f"expects {name} on the device of q, {place}, but got {found}")
    letters = _name_dimensions(scales, name, tensor, is_packed)
    sizes = dict.fromkeys("bshd", 1)
    kept, strides = [], []
    for letter, size, stride in zip(letters, scales.shape, scales.strides, strict=True):
        if size != 1 and stride != 0:
            sizes[letter] = size
            kept.append(size)
            strides.append(stride)
    if 0 not in kept and strides != _operands.get_row_major(kept):
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {scales.strides} elements")
    scales.shape = list(sizes.values())
    scales.strides = _operands.get_row_major(scales.shape)
    return scales, "".join(letter for letter, size in sizes.items() if size != 1)


def _name_dimensions(scales: _native.Tensor, name: str, tensor: _native.Tensor, is_packed: bool) -> str:
    """A letter for each dimension of scales, whose sizes are those of `tensor` or 1."""
    if math.prod(scales.shape) == 1:
        return "bshd"[: len(scales.shape)] if len(scales.shape) <= 4 else "b" * len(scales.shape)
    sizes = dict(zip("bshd", tensor.shape, strict=True))
    forms = ("sh",) if is_packed else ("bh", "bsh")
    for letters in forms:
        if len(letters) == len(scales.shape) and all(
            size in (1, sizes[letter]) for size, letter in zip(scales.shape, letters, strict=True)
        ):
            return letters
    shapes = " or ".join(str(tuple(sizes[letter] for letter in letters)) for letters in forms)
    raise ValueError(
        f"expects {name} to have one element, or shape {shapes} with 1 where a dimension shares them, but got {tuple(scales.shape)}"
    )
