# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with dropout, on tensors of PyTorch.

    attune::attention_dropout(q, k, v, random, alibi_slopes, sinks, *, probability, causal, window, softcap, scale, layout, chip)
      -> (out, lse)
    attune::attention_dropout_backward(out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks, random, *, probability, causal,
                                       window, softcap, scale, layout, chip, wanted) -> (q_grad, k_grad, v_grad, slopes_grad, sinks_grad)

Kernels read `random`, a seed and an offset, which PyTorch's generator draws on the device of the tensors: a graph of CUDA that is
launched again draws others, and a checkpoint that computes again, with the state that the generator had, the same ones. The
operators are what torch.compile, torch.export and fake tensors see; plain calls go past them.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _attention, _torch

_OPTIONS = "float probability, bool causal, int[]? window, float? softcap, float? scale, str layout, str? chip"
_TAGS = (torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag)
_library = torch.library.Library("attune", "FRAGMENT")
_library.define(
    f"attention_dropout(Tensor q, Tensor k, Tensor v, Tensor random, Tensor? alibi_slopes, Tensor? sinks, *, {_OPTIONS})"
    " -> (Tensor, Tensor)",
    tags=_TAGS,
)
_library.define(
    "attention_dropout_backward(Tensor out_grad, Tensor? lse_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse,"
    f" Tensor? alibi_slopes, Tensor? sinks, Tensor random, *, {_OPTIONS}, bool[] wanted)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    tags=_TAGS,
)
_operator = torch.ops.attune.attention_dropout
_backward_operator = torch.ops.attune.attention_dropout_backward


def draw(device: torch.device) -> torch.Tensor:
    """A seed and an offset. NotImplementedError where torch.func maps or transforms."""
    if torch.compiler.is_compiling():
        # An operation that compilers know, of the same numbers but the largest half.
        return torch.randint(2**62, (2,), dtype=torch.int64, device=device)
    if _torch.is_transformed():
        raise NotImplementedError("expects dropout_p of 0 where torch.func maps or transforms, for which there is no rule")
    return torch.empty(2, dtype=torch.int64, device=device).random_()


def make(dropout_p: Any, device: torch.device) -> tuple[float, torch.Tensor] | None:
    """The probability, and a seed and an offset; None for no dropout. Errors are those of `attention`."""
    probability = _attention.check_dropout(dropout_p)
    return (probability, draw(device)) if probability else None


def make_example(probability: float, device: torch.device) -> tuple[float, torch.Tensor]:
    """The same for a kernel that is not to run: no number is drawn."""
    return probability, torch.zeros(2, dtype=torch.int64, device=device)


def compute(
    q: Any, k: Any, v: Any, random: torch.Tensor, alibi_slopes: Any, sinks: Any, *, probability: float, **options: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """The kernel of the first operator, on any device."""
    return _torch.compute(q, k, v, alibi_slopes, sinks, return_lse=True, dropout=(probability, random), **options)


def _fake(q: Any, k: Any, v: Any, *_: Any, layout: str, **__: Any) -> Any:
    return _torch.fake(q, k, v, return_lse=True, layout=layout)


def _find_gradients(*tensors: Any, probability: float, **options: Any) -> Any:
    *others, random = tensors
    return _torch.find_gradients(*others, dropout=(probability, random), **options)


def _compute_backward(out_grad: torch.Tensor, *arguments: Any, **options: Any) -> Any:
    """The kernels of the second operator, on any device."""
    return _torch.fill_gradients(out_grad, _find_gradients(out_grad, *arguments, **options))


def _fake_backward(*tensors: Any, **options: Any) -> Any:
    return _torch.fake_backward(*tensors[:-1], **options)


class _Recorder(_torch.Recorder):
    """That of the operators, which refuses second derivatives at once."""

    def differentiate(self, ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            raise NotImplementedError("expects first derivatives of attention with dropout alone, but got create_graph=True")
        return super().differentiate(ctx, out_grad, lse_grad)


_recorder = _Recorder(_operator, _backward_operator, compute, _find_gradients, learned=(0, 1, 2, 4, 5), read=(3,))


for _key in ("CPU", "CUDA"):
    _library.impl("attention_dropout", compute, _key)
    _library.impl("attention_dropout_backward", _compute_backward, _key)
    _library.impl("attention_dropout", _torch.make_autocast(_key.lower(), _operator), f"Autocast{_key}")
torch.library.register_fake("attune::attention_dropout", _fake, lib=_library)
torch.library.register_fake("attune::attention_dropout_backward", _fake_backward, lib=_library)
_torch.register_autograd(_library, "attention_dropout", _recorder.differentiate, _recorder.save)


def attention(tensors: tuple[Any, ...], probability: float, options: dict[str, Any], out: torch.Tensor | None, stream: int | None) -> Any:
    """Result and LSE of q, k, v, slopes and sinks. `options` are those of `attune_mlir.attention`."""
    *parts, alibi_slopes, sinks = tensors
    given = (*parts, draw(tensors[0].device), alibi_slopes, sinks)
    return _torch.call(_recorder, given, {**options, "probability": probability}, out, stream)
