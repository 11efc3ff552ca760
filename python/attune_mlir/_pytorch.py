# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is for PyTorch alone, which is imported when it is called and not before."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable[..., Any] | None = None,
    block_mask: Any = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: Any = None,
    chip: str | None = None,
) -> Any:
    """torch.nn.attention.flex_attention.flex_attention, with its arguments and results.

    query       [batch, heads, seq_q, head_dim], float16 or bfloat16
    key, value  [batch, kv_heads, seq_k, head_dim]; fewer heads than query's need enable_gqa
    score_mod   (score, b, h, q_idx, kv_idx) -> score, of numbers in float32
    block_mask  a BlockMask: its tables decide which blocks are attended to, its mask_mod within partial ones
    scale       1/sqrt(head_dim) if not given
    return_lse  returns the natural logarithm of the sum of exponentials, too: [batch, heads, seq_q], float32
    return_aux  AuxRequest(lse=True) for the same as AuxOutput
    chip        to compile for, as in `attention`

    Functions are traced once for the tensors and numbers that they reach; tensors become operands, so that their
    contents may change, and numbers constants of the kernel. Integers of a function may be computed in 32 bits,
    floating-point numbers are float32. `kernel_options` is of FlexAttention's own kernels and not read.

    NotImplementedError names the operation and line that cannot be traced. TypeError, ValueError, CompileError and
    RuntimeError are those of `attention`.
    """
    from . import _flex

    return _flex.flex_attention(query, key, value, score_mod, block_mask, scale, enable_gqa, return_lse, return_aux, chip)


def register_flash_attention(name: str = "attune") -> None:
    """Makes kernels of ours known to PyTorch as an implementation of flash attention, and does not choose it.

        attune_mlir.register_flash_attention()
        torch.nn.attention.activate_flash_attention_impl("attune")

    From then on, where scaled_dot_product_attention chooses flash attention on a GPU, forward and backward run on kernels
    of ours. What these do not compute (packed sequences) goes to PyTorch's own. PyTorch may prefer cuDNN:
    torch.nn.attention.sdpa_kernel asks for flash attention alone, and `sdpa` goes before all of that.
    """
    from . import _flash

    _flash.register(name)


def register_operators() -> None:
    """Makes torch.ops.attune.attention, decode, varlen, merge, append and quantize known, which the first calls that need them do as well.

    What calls it by its name, such as a program that torch.export has saved, needs this before it is loaded.
    """
    for module in ("._serving_torch", "._rows_torch", "._dropout"):  # and those of `_torch` with them
        importlib.import_module(module, __package__)


def register_transformers(name: str = "attune") -> None:
    """Makes models of Hugging Face's transformers run on kernels of ours that ask for `attn_implementation="attune"`.

    Models with causal and sliding masks, padding, grouped heads, softcap, sinks and biases do so, as far as they go
    through transformers' AttentionInterface. Queries that attend to nothing, as padding does, have the result 0, where
    other implementations have an average of all values.
    """
    from . import _transformers

    _transformers.register(name)


def sdpa() -> Any:
    """A context in which torch.nn.functional.scaled_dot_product_attention runs on kernels of ours.

        with attune_mlir.sdpa() as used:
            model(inputs)
        print(used.calls, used.reasons)

    What there is no kernel for (float32, strides that cannot be read) goes to PyTorch, as before;
    `reasons` counts why. It is for this thread, and for what is called in it, compiled or not.
    """
    from . import _sdpa

    return _sdpa.Sdpa()
