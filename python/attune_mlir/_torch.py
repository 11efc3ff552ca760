# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as an operator of PyTorch, attune::attention.

    attune::attention(q, k, v, alibi_slopes, sinks, *, causal, window, softcap, scale, return_lse, layout, chip) -> (out, lse)

Arguments are those of `attune_mlir.attention`; without `return_lse`, `lse` has no elements. The operator is what
torch.compile, torch.export, vmap, autocast and fake tensors see. A plain call without gradients goes past PyTorch's
dispatcher, which takes longer than the rest of a call.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _attention, _native

NO_GRADIENTS = (
    "expects a call without gradients, for which attune_mlir has no kernel yet: "
    "wrap it in torch.no_grad() or torch.inference_mode(), or detach() what requires gradients"
)

_library = torch.library.Library("attune", "DEF")
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes=None, Tensor? sinks=None, *, bool causal=False,"
    " int[]? window=None, float? softcap=None, float? scale=None, bool return_lse=False, str layout='bshd',"
    " str? chip=None) -> (Tensor, Tensor)",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)
_operator = torch.ops.attune.attention

#: What was called before, by options; all attention gives the same ones in the same order.
_known: dict[Any, _native.KnownCalls] = {}


def forget_known() -> None:
    """Has the next calls look for their kernels again."""
    _known.clear()


def detach(tensor: Any) -> Any:
    """A tensor without gradients, for DLPack does not hand out others."""
    return tensor.detach() if getattr(tensor, "requires_grad", False) else tensor


def _launch_known(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, options: tuple[Any, ...]) -> tuple[_native.KnownCalls | None, Any]:
    """The results of a call that was made before, or else nothing, and where this one is to be kept, if it may be."""
    if q.is_cuda and torch.cuda.is_current_stream_capturing():
        return None, None  # what the kernel works in is the graph's
    known = _known.get(options)
    if known is None:
        known = _known.setdefault(options, _native.KnownCalls())
    elif (found := _native.launch_known(known, q, k, v)) is not None:
        return known, found
    return known, None


def _compute(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    *,
    causal: bool = False,
    window: Any = None,
    softcap: float | None = None,
    scale: float | None = None,
    return_lse: bool = False,
    layout: str = "bshd",
    chip: str | None = None,
    **places: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The kernel of the operator, on any device."""
    if not places and alibi_slopes is sinks is None:
        window = None if window is None else tuple(window)
        known, found = _launch_known(q, k, v, (causal, window, softcap, scale, return_lse, layout, chip))
        if found is not None:
            return found if return_lse else (found, q.new_empty(0, dtype=torch.float32))
        places["known"] = known
    out, lse = _attention.compute(
        *(detach(tensor) for tensor in (q, k, v, alibi_slopes, sinks)),
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        return_lse=return_lse,
        layout=layout,
        chip=chip,
        **places,
    )
    return out, q.new_empty(0, dtype=torch.float32) if lse is None else lse


for _key in ("CPU", "CUDA"):
    _library.impl("attention", _compute, _key)


def _fake(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    *,
    return_lse: bool = False,
    layout: str = "bshd",
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes and strides of the results."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"expects {name} to have 4 dimensions, but got shape {tuple(tensor.shape)}")
    batch, heads, length = (q.shape[layout.index(letter)] for letter in "bhs")
    out = q.new_empty((*q.shape[:3], v.shape[3]))
    return out, q.new_empty((batch, heads, length) if return_lse else 0, dtype=torch.float32)


torch.library.register_fake("attune::attention", _fake, lib=_library)


def _refuse_gradients(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    raise NotImplementedError(NO_GRADIENTS)


def _backward(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError(NO_GRADIENTS)


torch.library.register_autograd("attune::attention", _backward, setup_context=_refuse_gradients, lib=_library)


def _vmap(info: Any, in_dims: tuple[int | None, ...], *arguments: Any, **options: Any) -> Any:
    """Folds the mapped dimension of q, k and v into the batch, and goes one by one where slopes or sinks are mapped."""
    size = info.batch_size
    if any(dim is not None for dim in in_dims[3:]):

        def select(index: int) -> list[Any]:
            return [x if dim is None else x.select(dim, index) for x, dim in zip(arguments, in_dims, strict=False)]

        results = [_operator(*select(index), **options) for index in range(size)]
        return tuple(torch.stack(result) for result in zip(*results, strict=True)), (0, 0)
    folded = []
    for x, dim in zip(arguments[:3], in_dims, strict=False):
        mapped = x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
        folded.append(mapped.flatten(0, 1))
    out, lse = _operator(*folded, *arguments[3:], **options)
    out = out.unflatten(0, (size, -1)) if out.numel() else out.reshape(size, out.shape[0] // size, *out.shape[1:])
    if not options.get("return_lse"):
        return (out, lse.expand(size, 0)), (0, 0)
    return (out, lse.reshape(size, lse.shape[0] // size, *lse.shape[1:])), (0, 0)


torch.library.register_vmap("attune::attention", _vmap, lib=_library)


def cast_for_autocast(device: str, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Tensors of the type that autocast has for a kind of device; float64 stays, as in all of autocast."""
    dtype = torch.get_autocast_dtype(device)
    return tuple(x.to(dtype) if x.is_floating_point() and x.dtype != torch.float64 else x for x in tensors)


def _make_autocast(device: str) -> Any:
    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        q, k, v = cast_for_autocast(device, q, k, v)
        with torch.autocast(device, enabled=False):
            return _operator(q, k, v, *arguments, **options)

    return run


for _device in ("cpu", "cuda"):
    _library.impl("attention", _make_autocast(_device), f"Autocast{_device.upper()}")


_PLAIN = (torch.Tensor, torch.nn.Parameter, type(None))


def _is_undisturbed() -> bool:
    """Whether nothing traces, maps or casts."""
    return (
        not torch.compiler.is_compiling()
        and not torch._C._len_torch_dispatch_stack()
        and not torch._C._len_torch_function_stack()
        and torch._C._functorch.peek_interpreter_stack() is None
        and not torch._C._is_any_autocast_enabled()
    )


def is_plain(*arrays: Any) -> bool:
    """Whether a call means what it says, and tensors are memory. Other arrays may be among them."""
    return _is_undisturbed() and all(
        type(x) in _PLAIN or not (isinstance(x, torch.Tensor) or type(x).__module__.startswith("torch.")) for x in arrays
    )


def check_gradients(*tensors: torch.Tensor | None) -> None:
    """NotImplementedError where PyTorch would record the call."""
    if torch.is_grad_enabled() and any(getattr(tensor, "requires_grad", False) for tensor in tensors):
        raise NotImplementedError(NO_GRADIENTS)


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    sinks: torch.Tensor | None,
    causal: bool,
    window: tuple[int, int] | None,
    softcap: float | None,
    scale: float | None,
    return_lse: bool,
    layout: str,
    out: torch.Tensor | None,
    stream: int | None,
    chip: str | None,
) -> Any:
    """What `attune_mlir.attention` does with tensors of PyTorch."""
    known = None
    if (
        _is_undisturbed()
        and type(q) is type(k) is type(v) is torch.Tensor
        and (not torch.is_grad_enabled() or not (q.requires_grad or k.requires_grad or v.requires_grad))
        and alibi_slopes is sinks is out is stream is None
        and not isinstance(window, list)
    ):
        known, found = _launch_known(q, k, v, (causal, window, softcap, scale, return_lse, layout, chip))
        if found is not None:
            return found
    tensors = (q, k, v, alibi_slopes, sinks)
    options: dict[str, Any] = {
        "causal": causal,
        "softcap": softcap,
        "scale": scale,
        "return_lse": return_lse,
        "layout": layout,
        "chip": chip,
    }
    if is_plain(*tensors):
        check_gradients(*tensors)
        out, lse = _compute(*tensors, window=window, out=out, stream=stream, known=known, **options)
    else:
        if out is not None or stream is not None:
            raise ValueError("expects out and stream in plain calls alone, not where PyTorch traces, maps or casts")
        out, lse = torch.ops.attune.attention(*tensors, window=None if window is None else list(window), **options)
    return (out, lse) if return_lse else out
