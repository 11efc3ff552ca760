# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`append` and `quantize` as operators of PyTorch: attune::append, which writes its pool and numbers of its rows, and attune::quantize.

They are what torch.compile, torch.export and fake tensors see. Arguments are those of the functions; `dtype` is the name of a type.
Zero points have no elements where none are wanted. No gradients pass. Plain calls do not come here.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _append, _operands, _quantize, _torch

_SCHEMAS = {
    "append": "Tensor rows, Tensor(a!) pool, Tensor slots, Tensor? cos=None, Tensor? sin=None, Tensor? positions=None,"
    " Tensor? scales=None, Tensor(b!)? row_scales=None, Tensor? zeros=None, Tensor(c!)? row_zeros=None,"
    " Tensor? values=None, Tensor(d!)? value_pool=None, Tensor? value_scales=None, Tensor(e!)? value_row_scales=None,"
    " Tensor? value_zeros=None, Tensor(f!)? value_row_zeros=None, *, bool interleaved=False, str? chip=None) -> ()",
    "quantize": "Tensor x, *, str dtype='float8_e4m3fn', int? scale_rows=1, bool smooth=False, bool rotate=False,"
    " bool zeros=False, str? chip=None) -> (Tensor, Tensor, Tensor)",
}
_NUMBERS = ("scales", "row_scales", "zeros", "row_zeros")
_NAMES = ("rows", "pool", "slots", "cos", "sin", "positions", *_NUMBERS, "values", "value_pool", *(f"value_{name}" for name in _NUMBERS))

_library = torch.library.Library("attune", "FRAGMENT")
for _name, _schema in _SCHEMAS.items():
    _library.define(f"{_name}({_schema}", tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag))


def _put(*tensors: Any, **options: Any) -> None:
    rows, pool, slots, *rest = map(_torch.as_plain, tensors)
    _append.append(rows, pool, slots, **dict(zip(_NAMES[3:], rest, strict=False)), **options)


def _fake_put(rows: torch.Tensor, pool: torch.Tensor, *_: Any, **__: Any) -> None:
    """Nothing is returned."""
    for name, tensor, rank in (("rows", rows, 3), ("pool", pool, 4)):
        if tensor.dim() != rank:
            raise ValueError(f"expects {name} to have {rank} dimensions, but got shape {tuple(tensor.shape)}")


def _narrow(x: torch.Tensor, **options: Any) -> tuple[torch.Tensor, ...]:
    quantized, scales, *zeros = _quantize.quantize(_torch.as_plain(x), **options)
    return quantized, scales, zeros[0] if zeros else x.new_empty(0, dtype=torch.float32)


def _fake_narrow(
    x: torch.Tensor, *, dtype: str = "float8_e4m3fn", scale_rows: int | None = 1, zeros: bool = False, **_: Any
) -> tuple[torch.Tensor, ...]:
    """Shapes of the results."""
    if x.dim() not in (3, 4):
        raise ValueError(f"expects x to have 3 or 4 dimensions, but got shape {tuple(x.shape)}")
    *batch, length, heads, width = x.shape
    blocks = [] if scale_rows is None else [-(-length // scale_rows)]
    if not batch and scale_rows is None:
        blocks = [1]
    quantized = x.new_empty((*x.shape[:-1], _operands.count_stored(width, dtype)), dtype=getattr(torch, dtype))
    of_scales = (*batch, *blocks, heads)
    return quantized, *(x.new_empty(size, dtype=torch.float32) for size in (of_scales, of_scales if zeros else 0))


for _name, _kernel, _fake in (("append", _put, _fake_put), ("quantize", _narrow, _fake_narrow)):
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _kernel, _key)
    torch.library.register_fake(f"attune::{_name}", _fake, lib=_library)


def append(given: dict[str, Any], **options: Any) -> None:
    """`attune_mlir.append` where PyTorch looks on."""
    torch.ops.attune.append(*map(_torch.detach, given.values()), **options)


def quantize(x: torch.Tensor, *, flags: tuple[bool, bool, bool], **options: Any) -> tuple[torch.Tensor, ...]:
    """`attune_mlir.quantize` where PyTorch looks on; `flags` are smooth, rotate and zeros."""
    named = dict(zip(("smooth", "rotate", "zeros"), flags, strict=True))
    found: tuple[torch.Tensor, ...] = torch.ops.attune.quantize(x.detach(), **named, **options)
    return found if named["zeros"] else found[:2]
