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
    """Of tables as `_states.make` has them."""
    by_batch = by_head = 1
    for table in tables:
        batch, heads = table.shape[:2]
        by_batch, by_head = 2 if batch > 1 else by_batch, 2 if heads > 1 else by_head
    rows, columns = block_size
    return Lists((int(rows), int(columns)), (by_batch, by_head))


def count_blocks(length: int, size: int) -> int:
    """Blocks of `size` queries or keys, of which the last one may have fewer."""
    return -(-int(length) // int(size))


def read_states(mask: MaskFunction | None, states: torch.Tensor, block_size: tuple[int, int]) -> MaskFunction:
    """A function for masks that says what one says in lists of blocks, for kernels that take no lists."""
    rows, columns = block_size
    by_batch, by_head = states.shape[0] > 1, states.shape[1] > 1

    def read(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
        zero = torch.zeros_like(b)
        state = states[b if by_batch else zero, h if by_head else zero, q_idx // rows, kv_idx // columns]
        return state > 0 if mask is None else (state == 2) | ((state == 1) & mask(b, h, q_idx, kv_idx))

    return read
