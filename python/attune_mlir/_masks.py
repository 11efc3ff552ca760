# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and biases that are tensors, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

MaskFunction = Callable[..., torch.Tensor]


def read_mask(mask: torch.Tensor, keys: int) -> tuple[Callable[..., Any] | None, MaskFunction | None]:
    """Functions for scores and for masks of a tensor [batch or 1, heads or 1, queries, keys or more]: bool, or what is added."""
    tensor = mask[..., :keys]
    by_batch, by_head = tensor.shape[0] > 1, tensor.shape[1] > 1

    def read(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
        zero = torch.zeros_like(b)
        return tensor[b if by_batch else zero, h if by_head else zero, q_idx, kv_idx]

    if tensor.dtype == torch.bool:
        return None, read
    return (lambda score, b, h, q_idx, kv_idx: score + read(b, h, q_idx, kv_idx)), None


def add_bias(score_mod: Callable[..., Any] | None, bias: torch.Tensor, keys: int) -> Callable[..., Any]:
    """A function for scores that adds a tensor to what another one says."""
    add, _ = read_mask(bias, keys)
    assert add is not None, "expects a bias of numbers"
    if score_mod is None:
        return add
    return lambda score, b, h, q_idx, kv_idx: add(score_mod(score, b, h, q_idx, kv_idx), b, h, q_idx, kv_idx)
