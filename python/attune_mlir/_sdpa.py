# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.functional.scaled_dot_product_attention on kernels of ours, in programs that know nothing of it."""

from __future__ import annotations

import collections
import types
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import _attention, _dropout, _flex, _masks


def _see_earlier(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
    """PyTorch's causal mask, which begins at the first query and key."""
    return q_idx >= kv_idx


def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """TypeError, ValueError and NotImplementedError say what we have no kernel for."""
    if query.dim() != 4 or key.dim() != 4:
        raise NotImplementedError("expects 4 dimensions")
    if query.shape[1] != key.shape[1] and not enable_gqa:
        raise NotImplementedError("expects enable_gqa for fewer heads of key")
    if attn_mask is not None and is_causal:
        raise NotImplementedError("expects a mask or is_causal, not both")
    is_square = query.shape[2] == key.shape[2]
    if attn_mask is None and (is_square or not is_causal):
        options: dict[str, Any] = {"causal": is_causal, "scale": scale, "layout": "bhsd", "dropout_p": dropout_p}
        found: torch.Tensor = _attention.attention(query, key, value, **options)
        return found
    dropout = _dropout.make(dropout_p, query.device)
    if attn_mask is None:
        form = _flex.Form(mask_mod=_see_earlier, scale=scale, dropout=dropout)
    else:
        while attn_mask.dim() < 4:
            attn_mask = attn_mask.unsqueeze(0)
        shape = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
        score_mod, mask_mod = _masks.read_mask(attn_mask.expand(*attn_mask.shape[:2], *shape[2:]), key.shape[2])
        form = _flex.Form(score_mod, mask_mod, scale=scale, dropout=dropout)
    return _flex.compute({"query": query, "key": key, "value": value}, form)[0]


class Sdpa(TorchFunctionMode):  # type: ignore[misc]
    """`attune_mlir.sdpa`."""

    def __init__(self) -> None:
        super().__init__()
        #: Calls that ran on kernels of ours.
        self.calls = 0
        #: Why others did not, and how many.
        self.reasons: collections.Counter[str] = collections.Counter()

        # Called below a function that this mode sees first, it would not be seen itself.
        whole = torch.nn.functional.multi_head_attention_forward
        scope = {**whole.__globals__, "scaled_dot_product_attention": self._call, "has_torch_function": lambda _: False}
        self._multi_head = types.FunctionType(whole.__code__, scope, whole.__name__, whole.__defaults__)

    def _call(self, *arguments: Any, **options: Any) -> Any:
        try:
            found = _attend(*arguments, **options)
            self.calls += 1
            return found
        except (TypeError, ValueError, NotImplementedError) as error:
            self.reasons[str(error)] += 1
        return torch.nn.functional.scaled_dot_product_attention(*arguments, **options)

    def __torch_function__(self, function: Any, kinds: Any, arguments: Any = (), options: Any = None) -> Any:
        options = options or {}
        if function is torch.nn.functional.scaled_dot_product_attention:
            return self._call(*arguments, **options)
        if function is torch.nn.functional.multi_head_attention_forward:
            return self._multi_head(*arguments, **options)
        return function(*arguments, **options)
