# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with dropout, on tensors of PyTorch.

Kernels read a seed and an offset, which PyTorch's generator draws on the device of the tensors: a graph of CUDA that is launched
again draws others, and a checkpoint that computes again, with the state that the generator had, the same ones.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _attention, _torch


def draw(device: torch.device) -> torch.Tensor:
    """A seed and an offset."""
    return torch.empty(2, dtype=torch.int64, device=device).random_()


class _Recorded(torch.autograd.Function):  # type: ignore[misc]
    """Attention and its gradients, for which the same weights are dropped."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> Any:
        *tensors, random, probability, options = arguments
        out, lse = compute(tuple(tensors), (probability, random), options)
        ctx.save_for_backward(*tensors, random, out, lse)
        ctx.probability, ctx.options = probability, options
        ctx.set_materialize_grads(False)
        return out, lse

    @staticmethod
    def backward(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError("expects first derivatives of attention with dropout alone, but got create_graph=True")
        q, k, v, alibi_slopes, sinks, random, out, lse = ctx.saved_tensors
        *wanted, _, of_sinks = ctx.needs_input_grad[:5]
        if out_grad is None:
            out_grad = torch.zeros_like(out)
        tensors, dropout = (out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks), (ctx.probability, random)
        found = _torch.find_gradients(*tensors, wanted=[*wanted, of_sinks], dropout=dropout, **ctx.options)
        of_q, of_k, of_v, sinks_grad = found
        return of_q, of_k, of_v, None, sinks_grad, None, None, None


def compute(tensors: tuple[Any, ...], dropout: tuple[float, torch.Tensor], options: dict[str, Any], **places: Any) -> Any:
    q, k, v, alibi_slopes, sinks = (_torch.detach(_torch.as_plain(x)) for x in tensors)
    return _attention.compute(q, k, v, alibi_slopes, sinks, return_lse=True, dropout=dropout, **options, **places)


def attention(tensors: tuple[Any, ...], probability: float, options: dict[str, Any], out: torch.Tensor | None, stream: int | None) -> Any:
    """Result and LSE of q, k, v, slopes and sinks. `options` are those of `attune_mlir.attention`."""
    if _torch.is_traced(*tensors):
        raise NotImplementedError("expects dropout_p of 0 where PyTorch traces or maps, for which attune_mlir has no operator")
    if torch._C._is_any_autocast_enabled():
        kind = tensors[0].device.type
        if torch.is_autocast_enabled(kind):
            tensors = (*_torch.cast_for_autocast(kind, *tensors[:3]), *tensors[3:])
    random = draw(tensors[0].device)
    if not _torch.records(*tensors):
        return compute(tensors, (probability, random), options, out=out, stream=stream)
    if out is not None or stream is not None:
        raise ValueError(_torch.NO_PLACES)
    if _torch.records(tensors[3]):
        raise NotImplementedError(_torch.NO_GRADIENTS.format("alibi_slopes"))
    return _Recorded.apply(*tensors, random, probability, options)
