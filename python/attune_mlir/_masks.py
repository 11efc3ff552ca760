# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks and biases that are tensors, as functions."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Sequence
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
    by_batch = by_head = 1
    for table in tables:
        batch, heads = table.shape[:2]
        by_batch, by_head = 2 if batch > 1 else by_batch, 2 if heads > 1 else by_head
    rows, columns = block_size
    return Lists((int(rows), int(columns)), (by_batch, by_head))


def count_blocks(length: int, size: int) -> int:
    """Blocks of `size` queries or keys, of which the last one may have fewer."""
    return -(-int(length) // int(size))


def to_states(tables: Sequence[torch.Tensor], columns: int) -> torch.Tensor:
    """What lists say of each block of queries and keys: 0 if it is not listed, 1 if it is a partial one, 2 if it is a full one.

    `tables` are counts and indices [batch or 1, heads or 1, blocks of queries(, blocks of keys)] of partial blocks, and of full ones.
    There are more columns than blocks of keys: what lists do not use goes to one behind them, and rows are whole ones of a copy.
    """
    pairs = list(zip(tables[::2], tables[1::2], strict=True))
    sizes = [max(of) for of in zip(*(counts.shape for counts, _ in pairs), strict=True)]
    states = tables[0].new_zeros((*sizes, (columns // 4 + 1) * 4), dtype=torch.int32)
    steps: torch.Tensor | None = None
    for state, (counts, indices) in enumerate(pairs, start=1):
        if steps is None or steps.shape != indices.shape[-1:]:
            steps = torch.arange(indices.shape[-1], dtype=torch.int32, device=indices.device)
        # A number in place of others is filled in where they are: `torch.where` would make a tensor of it.
        places = indices.to(torch.int64, copy=True).masked_fill_(steps >= counts.unsqueeze(-1), columns)
        states.scatter_(-1, places if places.shape[:-1] == states.shape[:-1] else places.expand(*sizes, -1), state)
    return states


#: States by backward passes of PyTorch's, where it goes on: with the lists that they were made of, which are told apart by being alive.
_shared: dict[int, dict[Hashable, tuple[Sequence[torch.Tensor], torch.Tensor]]] = {}
_shared_lock = threading.Lock()
#: Passes whose states are kept. One that fails does not say that it ends.
_MAX_PASSES = 8


def _find_shared(number: int) -> dict[Hashable, tuple[Sequence[torch.Tensor], torch.Tensor]]:
    with _shared_lock:
        if number not in _shared:
            while len(_shared) >= _MAX_PASSES:
                _shared.pop(next(iter(_shared)))
            _shared[number] = {}
            torch.autograd.Variable._execution_engine.queue_callback(functools.partial(_forget_shared, number))
        return _shared[number]


def _forget_shared(number: int) -> None:
    with _shared_lock:
        _shared.pop(number, None)


def share_states(tables: Sequence[torch.Tensor], columns: int) -> torch.Tensor:
    """`to_states` of lists that were saved for a backward pass, in it: one table for all calls with the same lists.

    What is saved does not change before the pass has ended, or PyTorch says so where it is unpacked.
    """
    number = -1 if torch.compiler.is_compiling() else torch._C._current_graph_task_id()
    if number < 0:
        return to_states(tables, columns)
    shared, key = _find_shared(number), (columns, *map(id, tables))
    if tables[0].is_cuda:
        # Other streams do not wait for it, and a graph cannot launch it again.
        key += (torch.cuda.current_stream(tables[0].device).cuda_stream, torch.cuda.is_current_stream_capturing())
    if (found := shared.get(key)) is None:
        found = shared[key] = tables, to_states(tables, columns)
    return found[1]


def read_states(mask: MaskFunction | None, states: torch.Tensor, block_size: tuple[int, int]) -> MaskFunction:
    """A function for masks that says what one says in lists of blocks, for kernels that take no lists."""
    rows, columns = block_size
    by_batch, by_head = states.shape[0] > 1, states.shape[1] > 1

    def read(b: torch.Tensor, h: torch.Tensor, q_idx: torch.Tensor, kv_idx: torch.Tensor) -> torch.Tensor:
        zero = torch.zeros_like(b)
        state = states[b if by_batch else zero, h if by_head else zero, q_idx // rows, kv_idx // columns]
        return state > 0 if mask is None else (state == 2) | ((state == 1) & mask(b, h, q_idx, kv_idx))

    return read
