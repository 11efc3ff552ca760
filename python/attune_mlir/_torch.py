# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as an operator of PyTorch, attune::attention.

    attune::attention(q, k, v, alibi_slopes, sinks, *, causal, window, softcap, scale, return_lse, layout, chip) -> (out, lse)

    attune::attention_backward(out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks, *, causal, window, softcap, scale,
                               layout, chip, wanted) -> (q_grad, k_grad, v_grad, sinks_grad)

Arguments are those of `attune_mlir.attention`; without `return_lse`, `lse` has no elements, and neither have gradients
that are not `wanted`. The operators are what torch.compile, torch.export, autograd, vmap, autocast and fake tensors see. A
plain call without gradients goes past PyTorch's dispatcher, which takes longer than the rest of a call.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _attention, _gradients, _native

NO_GRADIENTS = (
    "expects {} without gradients, for which attune_mlir has no kernel: "
    "call it in torch.no_grad() or torch.inference_mode(), or detach() what requires them"
)

_library = torch.library.Library("attune", "DEF")
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes=None, Tensor? sinks=None, *, bool causal=False,"
    " int[]? window=None, float? softcap=None, float? scale=None, bool return_lse=False, str layout='bshd',"
    " str? chip=None) -> (Tensor, Tensor)",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)
_library.define(
    "attention_backward(Tensor out_grad, Tensor? lse_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse,"
    " Tensor? alibi_slopes, Tensor? sinks, *, bool causal, int[]? window, float? softcap, float? scale, str layout,"
    " str? chip, bool[] wanted) -> (Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)
_operator = torch.ops.attune.attention
_backward_operator = torch.ops.attune.attention_backward

#: What was called before, by options; all attention gives the same ones in the same order.
_known: dict[Any, _native.KnownCalls] = {}


def forget_known() -> None:
    """Has the next calls look for their kernels again."""
    _known.clear()


def detach(tensor: Any) -> Any:
    """A tensor without gradients, for DLPack does not hand out others."""
    return tensor.detach() if getattr(tensor, "requires_grad", False) else tensor


def as_plain(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of PyTorch's own class, as a parameter is not."""
    return tensor if type(tensor) is torch.Tensor else tensor.detach()


def _launch_known(options: tuple[Any, ...], *inputs: torch.Tensor) -> tuple[_native.KnownCalls | None, Any]:
    """The results of a call that was made before, or else nothing, and where this one is to be kept, if it may be."""
    if inputs[0].is_cuda and torch.cuda.is_current_stream_capturing():
        return None, None  # what the kernel works in is the graph's
    known = _known.get(options)
    if known is None:
        known = _known.setdefault(options, _native.KnownCalls())
    elif (found := _native.launch_known(known, *inputs)) is not None:
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
    if not places:
        window = None if window is None else tuple(window)
        names: tuple[Any, ...] = (causal, window, softcap, scale, return_lse, layout, chip)
        further = [as_plain(x) for x in (alibi_slopes, sinks) if x is not None]
        if further:
            names = (*names, alibi_slopes is not None)
        known, found = _launch_known(names, as_plain(q), as_plain(k), as_plain(v), *further)
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


def differentiate_sinks(
    sinks: Any, out: torch.Tensor, lse: torch.Tensor, out_grad: torch.Tensor, lse_grad: torch.Tensor | None, layout: str
) -> torch.Tensor:
    """The gradient of the sinks, which follows from the results: -sum exp(sink - lse) * (out_grad · out - lse_grad), by heads."""
    deltas = (out_grad.float() * out).sum(-1)
    if layout == "bshd":
        deltas = deltas.transpose(1, 2)
    if lse_grad is not None:
        deltas = deltas - lse_grad
    return -((sinks[:, None] - lse).exp() * deltas).sum((0, 2))


def _compute_backward(
    out_grad: torch.Tensor,
    lse_grad: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    sinks: torch.Tensor | None,
    *,
    wanted: list[bool],
    **options: Any,
) -> tuple[torch.Tensor, ...]:
    """The kernels of the second operator, on any device."""
    of_sinks = q.new_empty(0, dtype=torch.float32)
    if wanted[3]:
        of_sinks = differentiate_sinks(sinks, out, lse, out_grad, lse_grad, options["layout"])
    *wanted, _ = wanted
    if not (q.numel() and k.numel()) or not any(wanted):
        return *(x.new_zeros(x.shape if is_wanted else 0) for x, is_wanted in zip((q, k, v), wanted, strict=True)), of_sinks
    tensors, known, found = [as_plain(x) for x in (q, k, v)], None, None
    kept = [x.contiguous() for x in (out, lse, out_grad, lse_grad) if x is not None]
    of_q, of_k, of_v = wanted
    deterministic = is_deterministic()
    if alibi_slopes is None and all(type(x) is torch.Tensor for x in kept):
        # Sinks are in the log-sum-exps, and no kernel reads them again.
        names = (of_q, of_k, of_v, sinks is None, deterministic, *(tuple(x) if isinstance(x, list) else x for x in options.values()))
        known, found = _launch_known(names, *tensors, *kept)
    if found is not None:
        gradients = iter((found,) if isinstance(found, torch.Tensor) else found)
        return *(next(gradients) if is_wanted else q.new_empty(0) for is_wanted in wanted), of_sinks
    made = _attention.compute_gradients(
        (*map(detach, tensors), detach(alibi_slopes), detach(sinks)),
        _gradients.Saved(*map(detach, kept)),
        (of_q, of_k, of_v),
        deterministic=deterministic,
        known=known,
        **options,
    )
    return *(q.new_empty(0) if x is None else x for x in made), of_sinks


for _key in ("CPU", "CUDA"):
    _library.impl("attention_backward", _compute_backward, _key)


def is_deterministic() -> bool:
    """Whether gradients have equal bits each time they are computed."""
    found: bool = torch.are_deterministic_algorithms_enabled()
    return found


def _fake_backward(
    out_grad: Any, lse_grad: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, alibi_slopes: Any, sinks: Any, *, wanted: list[bool], **_: Any
) -> Any:
    """Shapes and strides of the gradients."""
    of_sinks = q.new_empty(sinks.shape if wanted[3] else 0, dtype=torch.float32)
    return *(x.new_empty(x.shape if is_wanted else 0) for x, is_wanted in zip((q, k, v), wanted, strict=False)), of_sinks


torch.library.register_fake("attune::attention_backward", _fake_backward, lib=_library)


def _find_wanted(ctx: Any) -> tuple[bool, ...]:
    """Which of the operator's tensors want gradients; those that were left out at the end do not."""
    return (*ctx.needs_input_grad, False, False)[:5]


def _save(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    if _find_wanted(ctx)[3]:
        raise NotImplementedError(NO_GRADIENTS.format("alibi_slopes"))
    ctx.save_for_backward(*inputs, *output)
    ctx.options = {name: value for name, value in keyword_only_inputs.items() if name != "return_lse"}
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> Any:
    q, k, v, alibi_slopes, sinks, out, lse = ctx.saved_tensors
    if not lse.numel():
        lse = _operator(q, k, v, alibi_slopes, sinks, return_lse=True, **ctx.options)[1]
    if lse_grad is not None and not lse_grad.numel():
        lse_grad = None
    if out_grad is None:
        out_grad = torch.zeros_like(out)
    *wanted, _, of_sinks = _find_wanted(ctx)
    wanted.append(of_sinks)
    tensors, options = (out_grad, lse_grad, q, k, v, out, lse, alibi_slopes, sinks), {**ctx.options, "wanted": wanted}
    if not torch.is_grad_enabled() and is_plain(*tensors):
        found = _compute_backward(*tensors, **options)
    else:
        found = _RecordedBackward.apply(*tensors, options) if _is_transformed() else _backward_operator(*tensors, **options)
    of_q, of_k, of_v, sinks_grad = (x if is_wanted else None for x, is_wanted in zip(found, wanted, strict=True))
    return of_q, of_k, of_v, None, sinks_grad


torch.library.register_autograd("attune::attention", _backward, setup_context=_save, lib=_library)


def _refuse_twice(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError("expects first derivatives of attention alone, but got a second one, for which attune_mlir has no kernel")


torch.library.register_autograd("attune::attention_backward", _refuse_twice, lib=_library)


def _is_transformed() -> bool:
    """Whether this is in a transform of torch.func."""
    return torch._C._functorch.peek_interpreter_stack() is not None


class _Recorded(torch.autograd.Function):  # type: ignore[misc]
    """The operator where no compiler looks on: it takes less time than by itself, and transforms of torch.func take it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        tensors, options = arguments[:-1], arguments[-1]
        return (_compute if is_plain(*tensors) else _operator)(*tensors, **options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _save(ctx, inputs[:-1], inputs[-1], output)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return *_backward(ctx, *gradients), None


class _RecordedBackward(torch.autograd.Function):  # type: ignore[misc]
    """The same for the other operator."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return _backward_operator(*arguments[:-1], **arguments[-1])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        _refuse_twice(ctx, *gradients)


def _fold(x: torch.Tensor, dim: int | None, size: int) -> torch.Tensor:
    """The mapped dimension as a part of the batch, the first one."""
    return (x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)).flatten(0, 1)


def _unfold(x: torch.Tensor, size: int) -> torch.Tensor:
    return x.reshape(size, x.shape[0] // size, *x.shape[1:])


def _map_one_by_one(operator: Any, info: Any, in_dims: tuple[int | None, ...], arguments: tuple[Any, ...], options: Any) -> Any:
    def select(index: int) -> list[Any]:
        return [x if dim is None else x.select(dim, index) for x, dim in zip(arguments, in_dims, strict=False)]

    results = [operator(*select(index), **options) for index in range(info.batch_size)]
    return tuple(torch.stack(result) for result in zip(*results, strict=True)), (0,) * len(results[0])


def _vmap(info: Any, in_dims: tuple[int | None, ...], *arguments: Any, **options: Any) -> Any:
    """Folds the mapped dimension of q, k and v into the batch, and goes one by one where slopes or sinks are mapped."""
    size = info.batch_size
    if any(dim is not None for dim in in_dims[3:]):
        return _map_one_by_one(_operator, info, in_dims, arguments, options)
    folded = (_fold(x, dim, size) for x, dim in zip(arguments[:3], in_dims, strict=False))
    out, lse = _operator(*folded, *arguments[3:], **options)
    return (_unfold(out, size), _unfold(lse, size) if options.get("return_lse") else lse.expand(size, 0)), (0, 0)


def _vmap_backward(info: Any, in_dims: tuple[int | None, ...], *arguments: Any, **options: Any) -> Any:
    """The same for the other operator."""
    size, numbers = info.batch_size, 7
    if any(dim is not None for dim in in_dims[numbers:]):
        return _map_one_by_one(_backward_operator, info, in_dims, arguments, options)
    tensors = zip(arguments[:numbers], in_dims, strict=False)
    folded = (None if x is None else _fold(x, dim, size) for x, dim in tensors)
    found = _backward_operator(*folded, *arguments[numbers:], **options)
    return tuple(_unfold(x, size) if x.dim() > 1 else x.expand(size, 0) for x in found), (0,) * len(found)


torch.library.register_vmap("attune::attention", _vmap, lib=_library)
torch.library.register_vmap("attune::attention_backward", _vmap_backward, lib=_library)


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
        and not _is_transformed()
        and not torch._C._is_any_autocast_enabled()
    )


def is_plain(*arrays: Any) -> bool:
    """Whether a call means what it says, and tensors are memory. Other arrays may be among them."""
    return _is_undisturbed() and all(
        type(x) in _PLAIN or not (isinstance(x, torch.Tensor) or type(x).__module__.startswith("torch.")) for x in arrays
    )


def records(*tensors: torch.Tensor | None) -> bool:
    """Whether PyTorch records a call for gradients."""
    return torch.is_grad_enabled() and any(isinstance(tensor, torch.Tensor) and tensor.requires_grad for tensor in tensors)


def check_gradients(what: str, *tensors: torch.Tensor | None) -> None:
    """NotImplementedError where PyTorch would record the call for gradients of these."""
    if records(*tensors):
        raise NotImplementedError(NO_GRADIENTS.format(what))


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
        known, found = _launch_known((causal, window, softcap, scale, return_lse, layout, chip), q, k, v)
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
    is_recorded = records(*tensors)
    if not is_recorded and is_plain(*tensors):
        out, lse = _compute(*tensors, window=window, out=out, stream=stream, known=known, **options)
        return (out, lse) if return_lse else out
    if out is not None or stream is not None:
        raise ValueError("expects out and stream in plain calls alone, not where PyTorch traces, maps, casts or records gradients")
    options["window"] = None if window is None else list(window)
    options["return_lse"] = return_lse or is_recorded
    if is_recorded and not torch.compiler.is_compiling() and not torch._C._is_any_autocast_enabled():
        out, lse = _Recorded.apply(*tensors, options)
    else:
        out, lse = _operator(*tensors, **options)
    return (out, lse) if return_lse else out
