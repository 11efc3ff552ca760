# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention to packed sequences and caches as the compiler takes it."""

from __future__ import annotations

import dataclasses

from . import _compiler, _integers, _operands, _scales

_DTYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "int8": "i8",
    _operands.PACKED: "i8",
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for, of query, key and value in the order bshd."""

    #: Of query, key, value and result.
    dtypes: tuple[str, str, str, str]
    heads: int
    kv_heads: int
    head_dim: int
    head_dim_v: int
    #: Queries of a sequence where all have one, which heads then share tiles for; None for any number.
    seq_q: int | None
    #: Keys of a page; None without pages.
    page_size: int | None
    #: The clauses with integers.
    integers: tuple[str, ...]
    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    has_alibi: bool
    has_sinks: bool
    return_lse: bool
    #: Whether values are the first columns of the keys.
    is_latent: bool
    #: Of query, key and value, whether it is other than row-major without gaps.
    strided: tuple[bool, bool, bool]
    #: The clauses with scales, and along which dimensions of their tensor these differ.
    scales: tuple[tuple[str, str], ...]
    #: Whether bits of a sequence do not depend on the others.
    batch_invariant: bool
    #: As which weights are multiplied by values; None for 16 bits.
    weights: str | None
    #: Keys of each sequence where that is known, and they lie neither in pages nor packed.
    seq_k: int | None
    #: The probability of dropout; None for no dropout.
    dropout: float | None = None

    def _describe(self, dtype: str, packed: bool, length: int | None, heads: int, head_dim: int, strided: bool) -> str:
        head_dim = head_dim // 2 if dtype == _operands.PACKED else head_dim
        layout = f", #attn.strided<[?, ?, ?, 1], divisor = {_operands.get_row_step(head_dim, dtype)}>" if strided else ""
        return f"tensor<{'1' if packed else '?'}x{'?' if length is None else length}x{heads}x{head_dim}x{_DTYPES[dtype]}{layout}>"

    def _describe_scales(self, clause: str, letters: str) -> str:
        if clause not in ("query_scales", "result_scales"):
            return _scales.describe(letters, self.page_size or self.seq_k, self.kv_heads)
        return _scales.describe(letters, self.seq_q, self.kv_heads if "g" in letters else self.heads)

    def _list_clauses(self) -> list[str]:
        clauses = ["lse"] * self.return_lse + ["order(bshd)"] + ["causal(bottom_right)"] * self.causal
        if self.window is not None:
            left, right = ("?" if side < 0 else side for side in self.window)
            clauses.append(f"window({left}, {right}, bottom_right)")
        for name, number in (("softcap", self.softcap), ("scale", self.scale)):
            if number is not None:
                clauses.append(f"{name}({number:.9e})")
        clauses += [f"alibi(%alibi : tensor<{self.heads}xf32>)"] * self.has_alibi
        clauses += [f"sinks(%sinks : tensor<{self.heads}xf32>)"] * self.has_sinks
        clauses += [f"latent({self.head_dim_v})"] * self.is_latent + ["batch_invariant"] * self.batch_invariant
        clauses += [] if self.weights is None else [f"weights({_DTYPES[self.weights]})"]
        if packed := [name for name, dtype in zip(("key", "value"), self.dtypes[1:3], strict=True) if dtype == _operands.PACKED]:
            clauses.append(f"packed({', '.join(packed)})")
        if self.dropout is not None:
            clauses.append(f"dropout(%random, {self.dropout:.9e} : tensor<2xi64>)")
        for name, letters in self.scales:
            blocks = f", [1, 1, {self.heads // self.kv_heads}, 1]" if "g" in letters else ""
            clauses.append(f"{name}(%{name}{blocks} : {self._describe_scales(name, letters)})")
        return clauses + [f"{name}(%{name} : {_integers.describe(name)})" for name in self.integers]

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect."""
        packs_queries, packs_keys = ("query_starts" in self.integers), ("key_starts" in self.integers)
        of_q, of_k, of_v = self.strided
        rows = self.page_size or self.seq_k
        of_query, of_key, of_value, of_result = self.dtypes
        q = self._describe(of_query, packs_queries, self.seq_q, self.heads, self.head_dim, of_q)
        k = self._describe(of_key, packs_keys, rows, self.kv_heads, self.head_dim, of_k)
        v = k if self.is_latent else self._describe(of_value, packs_keys, rows, self.kv_heads, self.head_dim_v, of_v)
        arguments = [f"%q: {q}", f"%k: {k}"] + [f"%v: {v}"] * (not self.is_latent)
        arguments += [f"%{name}: tensor<{self.heads}xf32>" for name in ["alibi"] * self.has_alibi + ["sinks"] * self.has_sinks]
        arguments += [f"%{name}: {_integers.describe(name)}" for name in self.integers]
        arguments += ["%random: tensor<2xi64>"] * (self.dropout is not None)
        arguments += [f"%{name}: {self._describe_scales(name, letters)}" for name, letters in self.scales]
        results = [self._describe(of_result, packs_queries, self.seq_q, self.heads, self.head_dim_v, False)]
        batch = "1" if packs_queries else "?"
        results += [f"tensor<{batch}x{self.heads}x{'?' if self.seq_q is None else self.seq_q}xf32>"] * self.return_lse
        names = ", ".join(["%out", "%lse"][: len(results)])
        value = "%k" if self.is_latent else "%v"
        return _compiler.parse(
            f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
            f"  {names} = attn.attention %q, %k, {value} {' '.join(self._list_clauses())}\n    : {q}, {k}, {v} -> ({', '.join(results)})\n"
            f"  return {names} : {', '.join(results)}\n}}\n"
        )
