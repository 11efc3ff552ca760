# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of ours as an implementation of PyTorch's flash attention, which programs choose by its name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.attention import register_flash_attention_impl

from . import _attention, _compiler, _dropout, _torch

#: What says that there is no kernel for a call.
_REFUSALS = (TypeError, ValueError, NotImplementedError, _compiler.CompileError)
_FORWARD, _BACKWARD = "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_backward"


def _refuse(query: torch.Tensor, key: torch.Tensor, is_causal: bool) -> None:
    """NotImplementedError for what no kernel computes."""
    if is_causal and query.shape[2] != key.shape[2]:
        raise NotImplementedError("expects a causal mask for as many queries as keys")


def _place(query: torch.Tensor, *tensors: torch.Tensor) -> tuple[str, list[torch.Tensor]]:
    """The layout in memory, which results have as well, and tensors in its order of dimensions, from one of bhsd."""
    if query.stride(1) < query.stride(2):
        return "bshd", [x.transpose(1, 2) for x in (query, *tensors)]
    return "bhsd", [query, *tensors]


def _take_back(layout: str, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.transpose(1, 2) if layout == "bshd" else tensor


def _forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Any:
    _refuse(query, key, is_causal)
    if return_debug_mask:
        raise NotImplementedError("expects no mask for debugging")
    layout, (q, k, v) = _place(query, key, value)
    offset = query.new_zeros((), dtype=torch.uint64)
    if _attention.check_dropout(dropout_p):
        # PyTorch keeps it for the backward pass.
        state = _dropout.draw(query.device)
        options = {"causal": is_causal, "window": None, "softcap": None, "scale": scale, "layout": layout, "chip": None}
        out, lse = _dropout.compute(q, k, v, state, None, None, probability=dropout_p, **options)
    else:
        state = query.new_zeros(2, dtype=torch.int64)
        out, lse = _attention.attention(q, k, v, causal=is_causal, scale=scale, layout=layout, return_lse=True)
    state = state.view(torch.uint64)
    return _take_back(layout, out), lse, None, None, query.shape[2], key.shape[2], state, offset, query.new_empty(0)


def _backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: torch.Tensor | None,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    state: torch.Tensor,
    *offset: Any,
    scale: float | None = None,
    **_: Any,
) -> Any:
    _refuse(query, key, is_causal)
    layout, (q, k, v, result, grad) = _place(query, key, value, out, grad_out)
    options: dict[str, Any] = {"causal": is_causal, "window": None, "softcap": None, "scale": scale, "layout": layout, "chip": None}
    wanted = (True, True, True, False, False)
    if dropout_p:
        options["dropout"] = (dropout_p, state.view(torch.int64))
    found = _torch.find_gradients(grad, None, q, k, v, result, logsumexp, None, None, wanted=wanted, **options)
    return tuple(_take_back(layout, x) for x in found[:3] if x is not None)


class Handle:
    """Has PyTorch call the kernels, for tensors of a dispatch key, until it is removed."""

    def __init__(self, key: str) -> None:
        self._library = torch.library.Library("aten", "IMPL")
        for name, function in ((_FORWARD, _forward), (_BACKWARD, _backward)):
            operator = f"aten::{name}"
            has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key(operator, key)
            kernel = torch.library.get_kernel(operator, key) if has_kernel else None
            with warnings.catch_warnings():
                # Of what was asked for.
                warnings.filterwarnings("ignore", "Warning only once for all operators|.*Overriding a previously registered kernel")
                self._library.impl(name, _choose(function, kernel), key, with_keyset=True, allow_override=True)

    def remove(self) -> None:
        """PyTorch's own kernels again."""
        self._library._destroy()


def _choose(function: Callable[..., Any], kernel: Any) -> Callable[..., Any]:
    """What has no kernel of ours goes to PyTorch's, if there is one."""

    def run(keyset: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except _REFUSALS:
            if kernel is None:
                raise
        return kernel.call_boxed(keyset, *arguments, **options)

    return run


def register(name: str) -> None:
    """Registers the implementation under a name."""
    register_flash_attention_impl(name, register_fn=lambda: Handle("CUDA"))
