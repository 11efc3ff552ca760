# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems beside PyTorch's own attention in float32, by FlashAttention's rule.

The rule: no result is farther from that of float32 than twice what PyTorch's is, computed in the type of the operands.
"""

import dataclasses
import random

import pytest
import torch

import attune_mlir as attune

PROBLEMS = 300
#: Kinds, each of which has a kernel of its own.
KINDS = 12


@dataclasses.dataclass
class Kind:
    dtype: torch.dtype
    heads: int
    kv_heads: int
    head_dim: int
    causal: bool
    window: tuple[int, int] | None
    softcap: float | None


def make_kind(seed):
    choose = random.Random(seed)
    kv_heads = choose.choice([1, 2])
    return Kind(
        dtype=choose.choice([torch.float16, torch.bfloat16]),
        heads=kv_heads * choose.choice([1, 2]),
        kv_heads=kv_heads,
        head_dim=choose.choice([32, 64]),
        causal=choose.random() < 0.5,
        window=choose.choice([None, None, (8, 3), (-1, 0)]),
        softcap=choose.choice([None, None, 4.0]),
    )


def attend(q, k, v, kind):
    """By the definition, in the type of the operands. Queries without keys have the result 0."""
    group = kind.heads // kind.kv_heads
    q, k, v = q.transpose(1, 2), *(x.transpose(1, 2).repeat_interleave(group, dim=1) for x in (k, v))
    scores = (q * kind.head_dim**-0.5) @ k.transpose(-1, -2)
    if kind.softcap:
        scores = kind.softcap * torch.tanh(scores / kind.softcap)
    distance = torch.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2] - torch.arange(k.shape[2])
    left, right = kind.window or (-1, -1)
    hidden = (distance < 0) & kind.causal
    hidden = hidden | ((distance > left) & (left >= 0)) | ((distance < -right) & (right >= 0))
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1).nan_to_num(0)
    return (weights.to(q.dtype) @ v).transpose(1, 2)


@pytest.mark.parametrize("seed", range(KINDS))
def test_random_problems(seed):
    kind, choose = make_kind(seed), random.Random(seed)
    torch.manual_seed(seed)
    for _ in range(PROBLEMS // KINDS):
        batch, seq_q, seq_k = choose.choice([1, 1, 2]), choose.randint(1, 24), choose.randint(1, 40)
        q = torch.randn(batch, seq_q, kind.heads, kind.head_dim).to(kind.dtype)
        k, v = torch.randn(2, batch, seq_k, kind.kv_heads, kind.head_dim).to(kind.dtype)
        found = attune.attention(q, k, v, causal=kind.causal, window=kind.window, softcap=kind.softcap)
        exact = attend(q.float(), k.float(), v.float(), kind)
        usual = (attend(q, k, v, kind) - exact).abs().max()
        assert (found - exact).abs().max() <= 2 * usual + 1e-5, (kind, batch, seq_q, seq_k)
