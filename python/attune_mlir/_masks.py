# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and biases that are tensors, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


class Lists(NamedTuple):
    """What regions that read states depend on."""

    block_size: tuple[int, int]
    #: 1 for lists of all batches and for those of all heads, and 2 for others.
    sizes: tuple[int, int]


def describe_lists(tables: Sequence[torch.Tensor], block_size: Sequence[int]) -> Lists:
    """Of tables as `to_states` has them."""
    by_batch, by_head = (2 if any(table.shape[dim] > 1 for table in tables) else 1 for dim in (0, 1))
    return Lists((int(block_size[0]), int(block_size[1])), (by_batch, by_head))


def to_states(tables: Sequence[torch.Tensor], columns: int) -> torch.Tensor:
    """What lists say of each block of queries and keys: 0 if it is not listed, 1 if it is a partial one, 2 if it is a full one.

    `tables` are counts and indices [batch or 1, heads or 1, blocks of queries(, blocks of keys)] of partial blocks, and of full ones.
    There are more columns than blocks of keys: what lists do not use goes to one behind them, and rows are whole ones of a copy.
    """
    pairs = list(zip(tables[::2], tables[1::2], strict=True))
    sizes = [max(of) for of in zip(*(counts.shape for counts, _ in pairs), strict=True)]
    states = tables[0].new_zeros((*sizes, (columns // 4 + 1) * 4), dtype=torch.int32)
    width, steps = None, states
    for state, (counts, indices) in enumerate(pairs, start=1):
        if indices.shape[-1] != width:
            width = indices.shape[-1]
            steps = torch.arange(width, dtype=torch.int32, device=indices.device)
        places = torch.where(steps < counts.unsqueeze(-1), indices, columns).long()
        states.scatter_(-1, places.expand(*sizes, -1), state)
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
