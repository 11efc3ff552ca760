# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries, keys and values in 8 bits or 4, with what they are to be multiplied by."""

from __future__ import annotations

import dataclasses
import numbers
import sys
from typing import Any

from . import _compiler, _devices, _frameworks, _known, _native, _operands, _schedules

_INPUTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}
_RESULTS = {
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "int8": "i8",
    _operands.PACKED: "i8",
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for."""

    dtype: str
    out_dtype: str
    heads: int
    head_dim: int
    #: How many rows share a scale; None for all of a head.
    rows: int | None
    smooth: bool
    rotate: bool
    #: Whether there are zero points.
    has_zeros: bool
    #: Whether the input is other than row-major without gaps.
    strided: bool

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect."""
        step = _operands.get_row_step(self.head_dim, self.dtype)
        layout = f", #attn.strided<[?, ?, ?, 1], divisor = {step}>" * self.strided
        shape = f"?x?x{self.heads}"
        taken = f"tensor<{shape}x{self.head_dim}x{_INPUTS[self.dtype]}{layout}>"
        count = "1" if self.rows is None else "?"
        columns = _operands.count_stored(self.head_dim, self.out_dtype)
        results = f"tensor<{shape}x{columns}x{_RESULTS[self.out_dtype]}>, tensor<?x{count}x{self.heads}x1xf32>"
        results += f", tensor<?x{count}x{self.heads}x1xf32>" * self.has_zeros
        names = "%y, %s" + ", %z" * self.has_zeros
        clauses = f" blocks [1, {self.rows}, 1, 1]" if (self.rows or 1) > 1 else ""
        clauses += " smooth" * self.smooth + " rotate" * self.rotate + " packed" * (self.out_dtype == _operands.PACKED)
        return _compiler.parse(
            f"func.func @quantize(%x: {taken}) -> ({results}) {{\n"
            f"  {names} = attn.quantize %x{clauses} order(bshd) : {taken} -> {results}\n"
            f"  return {names} : {results}\n}}\n"
        )


def quantize(
    x: Any,
    *,
    dtype: Any = "float8_e4m3fn",
    scale_rows: int | None = 1,
    smooth: bool = False,
    rotate: bool = False,
    zeros: bool = False,
    stream: int | None = None,
    chip: str | None = None,
) -> tuple[Any, ...]:
    """Elements in 8 bits or 4, and scales in float32: x is about quantized * scales.

    x           array [batch, seq, heads, head_dim] in float16, bfloat16 or float32, or packed [total, heads, head_dim]
    dtype       of the result: float8_e4m3fn, float8_e5m2, those with fnuz, int8, or uint8 for integers of 4 bits, two in a byte, as a
                name or a type of the framework. Integers are keys and values; of 4 bits, head_dim is a multiple of 32, of which the
                result has half
    scale_rows  how many rows of a head share a scale, which then are [batch, blocks, heads], or [blocks, heads] of what is packed.
                With 1, and with None, for all rows of a head, [batch, heads] or [1, heads], they are what `attention`, `decode` and
                `varlen` take as q_descale, k_descale and v_descale
    smooth      subtracts the mean of all rows of a head: of keys, which changes nothing of attention but the LSE
    rotate      multiplies rows by a normalized Hadamard matrix, for queries and keys whose large elements are in the same columns: both
                are rotated, or neither. head_dim is a power of 2
    zeros       of integers: returns zero points, too, which `attention`, `decode` and `varlen` take as k_zero and v_zero: x is about
                (quantized - zeros) * scales, and the least and the largest element become the ends, -128 and 127, or -8 and 7
    stream      as of `attention`
    chip        as of `attention`

    A scale is the largest finite amount it is for, divided by the largest number of the dtype, 127 or 7 for integers; 1 for zeros.
    Elements are rounded to nearest, ties to even; infinite ones become the largest number, and NaN stays NaN, or becomes the integer 0.
    No gradients pass. Errors are those of `attention`.
    """
    out_dtype = _frameworks.name_narrow(dtype, "dtype")
    if scale_rows is not None and not isinstance(scale_rows, numbers.Integral):
        raise TypeError(f"expects scale_rows to be an integer or None, but got {_frameworks.describe_type(scale_rows)}")
    if scale_rows is not None and scale_rows < 1:
        raise ValueError(f"expects scale_rows to be None or at least 1, but got {scale_rows}")
    if zeros and _operands.is_float8(out_dtype):
        raise ValueError(f"expects zeros with int8 or uint8 alone, but got some with {out_dtype}")
    flags = bool(smooth), bool(rotate), bool(zeros)
    key, known = ("quantize", out_dtype, scale_rows, *flags), (False, None, None, None, False, "bshd", chip, *_known.PLAIN)
    if stream is None and (found := _known.repeat(key, known, (x,))) is not None:
        # As bytes, which is what kernels write.
        return _shape_results(found[0].view(getattr(sys.modules["torch"], out_dtype)), found[1:], x, scale_rows)
    if _frameworks.is_jax(x):
        from . import _jax

        options = {"out_dtype": out_dtype, "scale_rows": None if scale_rows is None else int(scale_rows), "flags": flags, "chip": chip}
        quantized, *scales = _jax.call("quantize", {"x": x}, options, out=None, stream=stream)
        return _shape_results(quantized, scales, x, scale_rows)
    if _frameworks.is_watched("stream", stream is None, x):
        from . import _rows_torch

        return _rows_torch.quantize(x, dtype=out_dtype, scale_rows=scale_rows, flags=flags, chip=chip)
    attempt = _known.Attempt(key, known, {"x": x})
    quantized, *scales = compute(x, out_dtype, scale_rows, flags, stream, chip, attempt)
    return _shape_results(quantized, scales, x, scale_rows)


def _shape_results(quantized: Any, scales: list[Any], x: Any, scale_rows: int | None) -> tuple[Any, ...]:
    """As many dimensions as the caller has."""
    shape = tuple(x.shape)
    batch, blocks, heads, _ = scales[0].shape
    of_scales = (batch, heads) if scale_rows is None else (batch, blocks, heads)
    if len(shape) == 3:
        quantized, of_scales = quantized.reshape((*shape[:2], quantized.shape[-1])), (blocks, heads)
    return quantized, *(one.reshape(of_scales) for one in scales)


def compute(
    x: Any,
    out_dtype: str,
    scale_rows: int | None,
    flags: tuple[bool, bool, bool],
    stream: int | None,
    chip: str | None,
    attempt: _known.Attempt,
) -> tuple[Any, ...]:
    """Checks, compiles and launches; `flags` are smooth, rotate and zeros."""
    _, rotate, has_zeros = flags
    tensor = _frameworks.make_tensor(x.detach() if _frameworks.is_torch(x) else x, "x")
    if (dtype := _frameworks.get_dtype_name(tensor)) not in _INPUTS:
        raise TypeError(f"expects x of float16, bfloat16 or float32, but got {dtype}")
    found = tuple(tensor.shape)
    if len(found) not in (3, 4):
        raise ValueError(f"expects x to have 3 or 4 dimensions, but got shape {found}")
    if len(found) == 3:
        tensor.shape, tensor.strides = [1, *tensor.shape], [0, *tensor.strides]
    batch, seq, heads, head_dim = shape = tuple(tensor.shape)
    if 0 in (heads, head_dim):
        raise ValueError(f"expects at least one head and one element in each, but got x of shape {found}")
    if rotate and head_dim & (head_dim - 1):
        raise ValueError(f"expects a head dimension that is a power of 2 to rotate, but got {head_dim}")
    if out_dtype == _operands.PACKED:
        _operands.check_packed(head_dim, "x")
    _operands.check_address(tensor, "x")
    strided = not _operands.normalize_strides(tensor, "x")
    place = _frameworks.get_device(tensor, "x")
    framework = _frameworks.find_framework(x)
    of_scales = batch, 1 if scale_rows is None else -(-seq // scale_rows), heads, 1
    of_result = *shape[:3], _operands.count_stored(head_dim, out_dtype)
    names = ("quantized", "scales", "zeros")[: 2 + has_zeros]
    shapes, dtypes = (of_result, *[of_scales] * (1 + has_zeros)), (out_dtype, *["float32"] * (1 + has_zeros))
    arrays = [framework.empty(x, size, element) for size, element in zip(shapes, dtypes, strict=True)]
    results: list[_native.Tensor] = [
        _operands.make_output(array, name, size, element, place)
        for array, name, size, element in zip(arrays, names, shapes, dtypes, strict=True)
    ]
    if 0 not in of_scales:
        problem = Problem(dtype, out_dtype, heads, head_dim, scale_rows, *flags, strided)
        device, kernel = _devices.get_kernel(place, chip, problem, _schedules.Bucket.get(seq, 1, batch))
        arguments, queue = _devices.run(device, kernel, [tensor, *results], x, stream)
        if not device.is_host:
            places = dict(zip(("x", *names), _devices.find_places(kernel).values(), strict=True))
            attempt.learn(names, places, arguments, kernel, queue)
    return tuple(framework.finish(x, array) for array in arrays)
