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


def to_states(tables: list[torch.Tensor], columns: int) -> torch.Tensor:
    """What lists say of each block of queries and keys: 0 if it is not listed, 1 if it is a partial one, 2 if it is a full one.

    `tables` are counts and indices [batch or 1, heads or 1, blocks of queries(, blocks of keys)] of partial blocks, and of full ones.
    """
    states = 0
    for state, (counts, indices) in enumerate(zip(tables[::2], tables[1::2], strict=True), start=1):
        is_listed = torch.arange(indices.shape[-1], device=indices.device) < counts[..., None]
        # What lists do not use goes to a column that is cut off.
        places = torch.where(is_listed, indices, columns).long()
        found = torch.zeros((*counts.shape, columns + 1), dtype=torch.int32, device=counts.device)
        states = states + state * found.scatter_(-1, places, 1)[..., :columns]
    return states


def read_states(mask: MaskFunction | None, states: torch.Tensor, block_size: tuple[int, int]) -> MaskFunction:
    """A function for masks that says what one says in lists of blocks, for kernels that take no lists."""
    rows, columns = block_size
    by_batch, by_head = states.shape[0] > 1, states.shape[1] > 1

    def read(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
        zero = torch.zeros_like(b)
        state = states[b if by_batch else zero, h if by_head else zero, q_idx // rows, kv_idx // columns]
        return state > 0 if mask is None else (state == 2) | ((state == 1) & mask(b, h, q_idx, kv_idx))

    return read
