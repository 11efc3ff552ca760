# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of attention to packed sequences and caches, besides its operands."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _frameworks, _native, _operands, _scales


@dataclasses.dataclass(frozen=True)
class Options:
    """What attention is, besides its operands."""

    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    alibi_slopes: Any
    sinks: Any
    return_lse: bool
    #: How many columns of the keys are values; None where these are apart.
    latent: int | None
    batch_invariant: bool
    #: A type of 8 bits, or None.
    weights: Any
    #: Whether what integers hold is checked.
    check: bool
    #: What elements of queries, keys and values are multiplied by.
    descales: tuple[Any, Any, Any]
    #: Which numbers stand for 0 in keys and values.
    zeros: tuple[Any, Any] = (None, None)
    #: Of a result of 8 bits its type, or None where `out` says it, and what its elements are to be multiplied by.
    narrow: tuple[Any, Any] = (None, None)
    #: A probability, and a seed and an offset of int64; None for no dropout.
    dropout: tuple[float, Any] | None = None

    def read_scales(
        self, tensors: dict[str, _native.Tensor], packs_queries: bool, packs_keys: bool, place: tuple[str, int]
    ) -> dict[str, tuple[_native.Tensor, str]]:
        """The operands of the clauses with scales and zero points that are given, and along which dimensions they differ."""
        if self.latent is not None and self.descales[2] is not None:
            raise ValueError("expects no v_descale with latent, for values that are columns of the keys have their scales, but got one")
        kv_heads = tensors["k"].shape[2]
        parts = (
            ("query_scales", "q", packs_queries, kv_heads),
            ("key_scales", "k", packs_keys, None),
            ("value_scales", "v", packs_keys, None),
        )
        found = {
            clause: _scales.read(array, f"{name}_descale", tensors[name], is_packed, place, heads)
            for (clause, name, is_packed, heads), array in zip(parts, self.descales, strict=True)
            if array is not None
        }
        for (clause, name, is_packed, _), array in zip(parts[1:], self.zeros, strict=True):
            if array is None:
                continue
            self._check_zeros(name, _frameworks.get_dtype_name(tensors[name]))
            zeros = _scales.read(array, f"{name}_zero", tensors[name], is_packed, place)
            if clause not in found or zeros[0].shape != found[clause][0].shape:
                raise ValueError(f"expects {name}_zero of the shape of {name}_descale, but got shape {tuple(array.shape)}")
            found[clause.replace("scales", "zeros")] = zeros
        if self.narrow[1] is not None:
            found["result_scales"] = _scales.read_of_heads(self.narrow[1], "out_descale", tensors["q"].shape[2], place)
        return found

    def choose_dtype(self, of_query: str, out: Any) -> str:
        """The type of the result of queries of this one."""
        given = None if out is None else _frameworks.get_dtype_name(_frameworks.make_tensor(out, "out"))
        narrow = _frameworks.name_float8(self.narrow[0], "out_dtype")
        if narrow is None and given is not None and _operands.is_float8(given):
            narrow = given
        if (narrow is None) != (self.narrow[1] is None):
            wanted = "a float of 8 bits as out_dtype, or as that of out, beside out_descale" if narrow is None else "out_descale"
            raise ValueError(f"expects {wanted}, but got none" + ("" if narrow is None else f" for a result of {narrow}"))
        if narrow is not None or not _operands.is_float8(of_query):
            return narrow or of_query
        if given not in (None, "float16", "bfloat16"):
            raise TypeError(f"expects out of float16 or bfloat16, but got {given}")
        return given or "bfloat16"

    def _check_zeros(self, name: str, dtype: str) -> None:
        """That there can be zero points of keys or values of this type."""
        if dtype not in ("int8", _operands.PACKED):
            raise TypeError(f"expects {name}_zero beside {name} of int8 or uint8 alone, but got one for {dtype}")
        if self.latent is not None or self.weights is not None:
            raise ValueError(f"expects no {name}_zero with latent or weights, but got one")

    def choose_values(self, key: Any, value: Any, name: str, head_dim: int) -> Any:
        """The array that holds the values, of keys with so many columns, which may be that of the keys."""
        if (self.latent is None) == (value is None):
            raise ValueError(
                f"expects {name} or latent, the columns of the keys that are values, but got {'neither' if value is None else 'both'}"
            )
        if self.latent is not None and (not isinstance(self.latent, int) or not 1 <= self.latent <= head_dim):
            raise ValueError(f"expects latent to be from 1 to the head dimension {head_dim}, but got {self.latent!r}")
        return key if self.latent is not None else value
