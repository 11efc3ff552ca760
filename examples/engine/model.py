# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model like Llama with random weights, which leaves attention to whoever calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

#: Of a layer's number and its queries, keys and values, each [tokens, heads, head_dim], the result for each query.
Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Config:
    vocabulary: int = 512
    hidden: int = 256
    inner: int = 512
    layers: int = 2
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 64
    #: Of what attention reads. All else is float32, so that the order of sums seldom decides which token is the likeliest.
    dtype: torch.dtype = torch.float16


class Layer(nn.Module):
    def __init__(self, config: Config, number: int) -> None:
        super().__init__()
        self.config, self.number = config, number
        self.first_norm, self.second_norm = nn.RMSNorm(config.hidden), nn.RMSNorm(config.hidden)
        rows = (config.heads + 2 * config.kv_heads) * config.head_dim
        self.qkv = nn.Linear(config.hidden, rows, bias=False)
        self.output = nn.Linear(config.heads * config.head_dim, config.hidden, bias=False)
        self.gate_and_up = nn.Linear(config.hidden, 2 * config.inner, bias=False)
        self.down = nn.Linear(config.inner, config.hidden, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        config = self.config
        heads = self.qkv(self.first_norm(x)).unflatten(-1, (-1, config.head_dim))
        q, k, v = heads.split((config.heads, config.kv_heads, config.kv_heads), dim=1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        out = attend(self.number, *(part.to(config.dtype).contiguous() for part in (q, k, v)))
        x = x + self.output(out.to(x.dtype).flatten(1))
        gate, up = self.gate_and_up(self.second_norm(x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of the halves of each head (Su et al., RoFormer, 2021)."""
    low, high = x.chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)


class Llama(nn.Module):
    """Logits of the next token, in float32."""

    def __init__(self, config: Config, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(config.vocabulary, config.hidden)
            self.layers = nn.ModuleList(Layer(config, number) for number in range(config.layers))
            self.norm = nn.RMSNorm(config.hidden)
            self.head = nn.Linear(config.hidden, config.vocabulary, bias=False)
        self.requires_grad_(False)

    def forward(self, tokens: Tensor, positions: Tensor, attend: Attend, wanted: Tensor | None = None) -> Tensor:
        """Of `tokens`, those of all sequences one behind the other, at `positions` of their own; of the rows `wanted` alone, if given."""
        half = self.config.head_dim // 2
        frequencies = 10000.0 ** (-torch.arange(half, device=tokens.device) / half)
        angles = positions[:, None, None] * frequencies
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin(), attend)
        return self.head(self.norm(x if wanted is None else x[wanted]))


def attend_eagerly(_: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Of one whole sequence, by PyTorch, in float32."""
    parts = (x.float().transpose(0, 1)[None] for x in (q, k, v))
    return functional.scaled_dot_product_attention(*parts, is_causal=True, enable_gqa=True)[0].transpose(0, 1)


def compute_logits(model: Llama, tokens: list[int]) -> Tensor:
    """Of what follows each of the tokens of one sequence, without a cache."""
    device = model.head.weight.device
    return model(torch.tensor(tokens, device=device), torch.arange(len(tokens), device=device), attend_eagerly)
