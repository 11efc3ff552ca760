# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of Hugging Face's transformers: an implementation, and the masks that it is given.

A mask is kept as the function that transformers has for it and is never computed for all pairs. Offsets of a cache are
tensors, so that one kernel serves all steps of a generation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.attention.flex_attention import BlockMask, and_masks
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import causal_mask_function, padding_mask_function, prepare_padding_mask

from . import _attention, _dropout, _flex, _masks


class FunctionMask(BlockMask):  # type: ignore[misc]
    """A mask without tables. transformers passes on what is a BlockMask as it is."""

    def __init__(self, sizes: tuple[int, int, int, int], *, causal: bool, mask_mod: _masks.MaskFunction | None) -> None:
        #: Batch, 1, queries and keys.
        self.sizes = sizes
        #: Whether it is causal, ending at the last query and key, besides what `mask_mod` says.
        self.causal = causal
        self.mask_mod = mask_mod

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def ndim(self) -> int:
        return 4

    def contiguous(self) -> FunctionMask:
        """Itself: caches of a fixed length ask for it."""
        return self


def _shift(function: _masks.MaskFunction, q_offset: int | torch.Tensor, kv_offset: int | torch.Tensor, device: Any) -> _masks.MaskFunction:
    """The function of positions in the tensors, from one of positions in the sequence."""

    def lift(offset: int | torch.Tensor) -> torch.Tensor | None:
        if isinstance(offset, int):
            return torch.full((), offset, dtype=torch.int32, device=device) if offset else None
        return offset.reshape(()).to(torch.int32)

    q_first, kv_first = lift(q_offset), lift(kv_offset)

    def shifted(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
        return function(b, h, q_idx if q_first is None else q_idx + q_first, kv_idx if kv_first is None else kv_idx + kv_first)

    return shifted


def make_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | torch.Tensor = 0,
    kv_offset: int | torch.Tensor = 0,
    mask_function: _masks.MaskFunction = causal_mask_function,
    attention_mask: torch.Tensor | None = None,
    device: Any = "cpu",
    **_: Any,
) -> FunctionMask:
    """A mask as transformers describes it. Where queries end at the last key, a causal one becomes the op's own."""
    padding = None
    if attention_mask is not None and not bool(attention_mask.all()):
        padding = padding_mask_function(prepare_padding_mask(attention_mask, kv_length, kv_offset))
    is_plain = isinstance(q_offset, int) and isinstance(kv_offset, int) and q_offset + q_length == kv_offset + kv_length
    causal = mask_function is causal_mask_function and is_plain
    functions = ([] if causal else [mask_function]) + ([] if padding is None else [padding])
    function = _shift(functions[0] if len(functions) == 1 else and_masks(*functions), q_offset, kv_offset, device) if functions else None
    return FunctionMask((batch_size, 1, q_length, kv_length), causal=causal, mask_mod=function)


def forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: FunctionMask | torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """One layer's attention: query [batch, heads, queries, head_dim], the result [batch, queries, heads, head_dim]."""
    if options.get("cache") is not None:
        raise NotImplementedError("expects keys and values of one tensor, but got a paged cache")
    score_mod: Callable[..., Any] | None = None
    mask_mod: _masks.MaskFunction | None = None
    if isinstance(attention_mask, FunctionMask):
        causal, mask_mod = attention_mask.causal, attention_mask.mask_mod
    elif attention_mask is not None:
        causal = False
        score_mod, mask_mod = _masks.read_mask(attention_mask, key.shape[2])
    else:
        wanted = getattr(module, "is_causal", True) if is_causal is None else is_causal
        causal = bool(wanted) and query.shape[2] > 1
    if position_bias is not None:
        score_mod = _masks.add_bias(score_mod, position_bias, key.shape[2])
    sinks = None if s_aux is None else s_aux.float()
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    if score_mod is None and mask_mod is None:
        return _attention.attention(q, k, v, causal=causal, scale=scaling, softcap=softcap, sinks=sinks, dropout_p=dropout), None
    dropped = _dropout.make(dropout, query.device)
    form = _flex.Form(score_mod, mask_mod, scale=scaling, causal=causal, softcap=softcap, layout="bshd", dropout=dropped)
    return _flex.compute({"query": q, "key": k, "value": v}, form, sinks=sinks)[0], None


def register(name: str) -> None:
    """Registers both under a name."""
    AttentionInterface.register(name, forward)
    AttentionMaskInterface.register(name, make_mask)
