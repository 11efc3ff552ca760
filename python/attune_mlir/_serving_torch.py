# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`decode`, `varlen` and `merge` as operators of PyTorch: attune::decode, attune::varlen and attune::merge.

They are what torch.compile, torch.export and fake tensors see, and what autograd sees of merges. Arguments are those of the
functions. All return two tensors, of which the second has no elements without `return_lse`. Plain calls do not come here, but for
those of `varlen` that are recorded: its gradients are those of `_torch`, and attune::varlen_backward where PyTorch looks on.
"""

from __future__ import annotations

from typing import Any

import torch

from . import _merge, _serving, _torch

_OPTIONS = (
    "bool causal=False, int[]? window=None, float? softcap=None, float? scale=None, bool return_lse=False, int? latent=None,"
    " bool batch_invariant=False, str? weights=None, str? out_dtype=None, str? chip=None"
)
_PER_HEAD = (
    "Tensor? alibi_slopes, Tensor? sinks, Tensor? q_descale, Tensor? k_descale, Tensor? v_descale, Tensor? k_zero=None,"
    " Tensor? v_zero=None, Tensor? out_descale=None"
)
_SCALES = ("q_descale", "k_descale", "v_descale", "k_zero", "v_zero", "out_descale")
_SCHEMAS = {
    "decode": f"Tensor q, Tensor k_cache, Tensor? v_cache, Tensor? cache_seqlens, Tensor? block_table, {_PER_HEAD}, *, {_OPTIONS}",
    "varlen": "Tensor q, Tensor k, Tensor? v, Tensor cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? seqused_k, Tensor? block_table,"
    f" {_PER_HEAD}, Tensor? random=None, *, float probability=0.0, SymInt? max_seqlen_q=None, SymInt? max_seqlen_k=None,"
    f" {_OPTIONS}",
    "merge": "Tensor[] outputs, Tensor[] lses, *, str layout='bshd', bool return_lse=False, str? chip=None",
}

#: Tensors of `varlen`.
_NUM_PACKED = _SCHEMAS["varlen"].partition("*")[0].count("Tensor")

_TAGS = (torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag)

_library = torch.library.Library("attune", "FRAGMENT")
for _name, _schema in _SCHEMAS.items():
    _library.define(f"{_name}({_schema}) -> (Tensor, Tensor)", tags=_TAGS)
_library.define(
    "varlen_backward(Tensor out_grad, Tensor? lse_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor? alibi_slopes,"
    " Tensor? sinks, Tensor cu_seqlens_q, Tensor cu_seqlens_k, Tensor? seqused_k, Tensor? random, *,"
    " float probability=0.0, SymInt? max_seqlen_q, SymInt? max_seqlen_k, bool causal, int[]? window, float? softcap, float? scale,"
    " bool batch_invariant, str? chip, bool[] wanted)"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    tags=_TAGS,
)


def _pair(found: Any, return_lse: bool, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What a function returns, as an operator returns it."""
    if not isinstance(found, tuple):
        found = found, None
    return found if return_lse else (found[0], like.new_empty(0, dtype=torch.float32))


def _find_dtype(q: torch.Tensor, out_dtype: str | None) -> torch.dtype:
    """Of the result."""
    if out_dtype is not None:
        kind: torch.dtype = getattr(torch, out_dtype)
        return kind
    return q.dtype if q.dtype in (torch.float16, torch.bfloat16) else torch.bfloat16


def _count_columns(values: torch.Tensor) -> int:
    """Of which bytes hold two."""
    return int(values.shape[-1]) * (2 if values.dtype == torch.uint8 else 1)


def _decode(*tensors: Any, return_lse: bool = False, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    q, k_cache, v_cache, lengths, table, slopes, sinks, *scales = map(_torch.as_plain, tensors)
    named = dict(zip(_SCALES, scales, strict=False), alibi_slopes=slopes, sinks=sinks)
    found = _serving.decode(q, k_cache, v_cache, lengths, block_table=table, return_lse=return_lse, **named, **options)
    return _pair(found, return_lse, q)


def _fake_decode(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor | None,
    *_: Any,
    return_lse: bool = False,
    latent: int | None = None,
    out_dtype: str | None = None,
    **__: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes of the results."""
    for name, tensor in (("q", q), ("k_cache", k_cache)):
        if tensor.dim() != 4:
            raise ValueError(f"expects {name} to have 4 dimensions, but got shape {tuple(tensor.shape)}")
    batch, length, heads, _width = q.shape
    columns = latent if v_cache is None else _count_columns(v_cache)
    lse = q.new_empty((batch, heads, length) if return_lse else 0, dtype=torch.float32)
    return q.new_empty((batch, length, heads, columns), dtype=_find_dtype(q, out_dtype)), lse


def _varlen(*tensors: Any, return_lse: bool = False, probability: float = 0.0, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    # Those at the end may be left out.
    arrays = *tensors, *(None,) * (_NUM_PACKED - len(tensors))
    get = options.get
    known = *(get(name) for name in ("causal", "window", "softcap", "scale")), return_lse, "bshd", get("chip")
    known += probability, get("max_seqlen_q"), get("max_seqlen_k")
    own = get("latent"), get("batch_invariant", False), get("weights"), get("out_dtype")
    if (found := _serving.launch_varlen(arrays, known, own)) is None:
        # Those that are recorded are not memory for anyone else.
        found = _serving.compute_varlen(tuple(_torch.detach(_torch.as_plain(x)) for x in arrays), known, own)
    return _pair(found, return_lse, arrays[0])


def _fake_varlen(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor | None,
    *_: Any,
    return_lse: bool = False,
    latent: int | None = None,
    out_dtype: str | None = None,
    **__: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes of the results."""
    if q.dim() != 3:
        raise ValueError(f"expects q to have 3 dimensions, but got shape {tuple(q.shape)}")
    total, heads, _width = q.shape
    columns = latent if v is None else _count_columns(v)
    lse = q.new_empty((heads, total) if return_lse else 0, dtype=torch.float32)
    return q.new_empty((total, heads, columns), dtype=_find_dtype(q, out_dtype)), lse


def _merge_parts(
    outputs: list[torch.Tensor], lses: list[torch.Tensor], *, return_lse: bool = False, **options: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    plain, logs = ([_torch.as_plain(x) for x in tensors] for tensors in (outputs, lses))
    return _pair(_merge.merge(plain, logs, return_lse=return_lse, **options), return_lse, outputs[0])


def _fake_merge(
    outputs: list[torch.Tensor], lses: list[torch.Tensor], *, return_lse: bool = False, **_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Shapes of the results."""
    if not outputs or len(outputs) != len(lses):
        raise ValueError(f"expects at least one output and one LSE for each, but got {len(outputs)} and {len(lses)}")
    first = outputs[0]
    return first.new_empty(first.shape), first.new_empty(lses[0].shape if return_lse else 0, dtype=torch.float32)


for _name, _kernel, _fake in (
    ("decode", _decode, _fake_decode),
    ("varlen", _varlen, _fake_varlen),
    ("merge", _merge_parts, _fake_merge),
):
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _kernel, _key)
    torch.library.register_fake(f"attune::{_name}", _fake, lib=_library)


def _refuse(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    if any(ctx.needs_input_grad):
        raise NotImplementedError(_torch.NO_GRADIENTS.format(_serving.NO_GRADIENTS))


def _no_backward(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError(_torch.NO_GRADIENTS.format(_serving.NO_GRADIENTS))


_torch.register_autograd(_library, "decode", _no_backward, _refuse)


def _check_packed(inputs: Any, options: dict[str, Any]) -> None:
    """NotImplementedError for what gradients of packed sequences cannot have."""
    q, k, v, _, _, _, table, _, _, *scales = inputs
    get = options.get
    given = ("latent", get("latent")), ("block_table", table), *zip(_SCALES, scales, strict=False)
    for name, value in (*given, ("weights", get("weights")), ("out_dtype", get("out_dtype"))):
        if value is not None:
            raise NotImplementedError(_torch.NO_GRADIENTS.format(f"{name} of varlen"))
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor is not None and tensor.dtype.itemsize == 1:
            raise NotImplementedError(_torch.NO_GRADIENTS.format(f"{name} of {tensor.dtype}"))


def _find_packed_gradients(
    *tensors: Any,
    probability: float = 0.0,
    max_seqlen_q: int | None,
    max_seqlen_k: int | None,
    batch_invariant: bool,
    **options: Any,
) -> tuple[torch.Tensor | None, ...]:
    """As `_torch.find_gradients`, of its tensors and the numbers that say where sequences are."""
    *rows, alibi_slopes, sinks, starts_q, starts_k, used, random = tensors
    integers = {"query_starts": starts_q, "key_starts": starts_k, "key_lengths": used}
    options |= {"dropout": None if random is None else (probability, random)}
    options |= {"packed": _serving.Packed(integers, (max_seqlen_q, max_seqlen_k), batch_invariant), "layout": "bshd"}
    operands = [*(None if x is None else x[None] for x in rows), alibi_slopes, sinks]
    found = _torch.find_gradients(*operands, **options)
    return *(None if x is None else x[0] for x in found[:3]), *found[3:]


def _compute_backward(out_grad: torch.Tensor, *arguments: Any, **options: Any) -> tuple[torch.Tensor, ...]:
    """The kernels of `varlen_backward`, on any device."""
    return _torch.fill_gradients(out_grad, _find_packed_gradients(out_grad, *arguments, **options))


def _fake_backward(*tensors: Any, **options: Any) -> Any:
    return _torch.fake_backward(*tensors[:9], **options)


def _make_varlen_autocast(device: str) -> Any:
    """What is packed is cast, as operands of attention are; caches are as they were stored."""
    operator = torch.ops.attune.varlen
    cast = _torch.make_autocast(device, operator)

    def run(*tensors: Any, **options: Any) -> Any:
        operands, table = tensors[:3], tensors[6] if len(tensors) > 6 else None
        if table is None and all(x is not None and x.dtype.itemsize > 1 for x in operands):
            return cast(*tensors, **options)
        with torch.autocast(device, enabled=False):
            return operator(*tensors, **options)

    return run


for _key in ("CPU", "CUDA"):
    _library.impl("varlen_backward", _compute_backward, _key)
    _library.impl("varlen", _make_varlen_autocast(_key.lower()), f"Autocast{_key}")
torch.library.register_fake("attune::varlen_backward", _fake_backward, lib=_library)
_torch.register_autograd(_library, "varlen_backward", _torch.refuse_twice)
_recorder = _torch.Recorder(
    torch.ops.attune.varlen,
    torch.ops.attune.varlen_backward,
    _varlen,
    _find_packed_gradients,
    learned=(0, 1, 2, 7, 8),
    read=(3, 4, 5, 15),
    left_out=("return_lse", "latent", "weights", "out_dtype"),
    check=_check_packed,
)
_torch.register_autograd(_library, "varlen", _recorder.differentiate, _recorder.save)


def _save(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    outputs, lses = inputs
    ctx.count = len(outputs)
    ctx.options = {name: value for name, value in keyword_only_inputs.items() if name != "return_lse"}
    ctx.save_for_backward(*outputs, *lses, *output)


def _find_merge_gradients(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> Any:
    """Those of output i are w = exp(lse_i - lse) of those of the result; of lse_i, w (out_grad · (out_i - out) + lse_grad)."""
    *parts, out, lse = ctx.saved_tensors
    wide = torch.zeros_like(out, dtype=torch.float32) if out_grad is None else out_grad.float()
    outputs, lses = parts[: ctx.count], parts[ctx.count :]
    if not lse.numel():
        lse = torch.ops.attune.merge(outputs, lses, return_lse=True, **ctx.options)[1]
    rows_first = out.dim() == 3 or ctx.options.get("layout", "bshd") == "bshd"
    of_outputs, of_lses = [], []
    for part, log in zip(outputs, lses, strict=True):
        # A part without keys has none, whatever its output holds; nor has a query without keys.
        is_there = log > -torch.inf
        weights = torch.where(is_there, log - lse, -torch.inf).exp()
        by_rows = (weights.transpose(-1, -2) if rows_first else weights)[..., None]
        of_outputs.append((by_rows * wide).to(part.dtype))
        moved = torch.where(by_rows > 0, part.float() - out.float(), 0)
        of_log = (wide * moved).sum(-1)
        of_log = of_log.transpose(-1, -2) if rows_first else of_log
        of_lses.append(weights * (of_log if lse_grad is None or not lse_grad.numel() else of_log + lse_grad))
    return of_outputs, of_lses


_torch.register_autograd(_library, "merge", _find_merge_gradients, _save)


def _unpack(found: tuple[torch.Tensor, torch.Tensor], return_lse: bool) -> Any:
    return found if return_lse else found[0]


def decode(*tensors: Any, **options: Any) -> Any:
    """`attune_mlir.decode` where PyTorch looks on; arguments are the operator's."""
    _torch.check_tensors(torch.ops.attune.decode, tensors)
    return _unpack(torch.ops.attune.decode(*tensors, **options), options["return_lse"])


def varlen(*tensors: Any, **options: Any) -> Any:
    """`attune_mlir.varlen` where PyTorch looks on, or records what gradients need; arguments are the operator's."""
    return_lse, is_recorded = options["return_lse"], _torch.records(*tensors)
    if is_recorded:
        _check_packed(tensors, options)
        options["return_lse"] = True
    is_here = is_recorded and not _torch.is_traced(*tensors) and not _torch.is_autocast()
    return _unpack(_recorder.run(tensors, options, is_here=is_here, is_recorded=is_recorded), return_lse)


def merge(outputs: list[Any], lses: list[Any], *, return_lse: bool, **options: Any) -> Any:
    """`attune_mlir.merge` where PyTorch looks on, or records what gradients need; arguments are the operator's."""
    _torch.check_tensors(torch.ops.attune.merge, (outputs, lses))
    keeps = return_lse or _torch.records(*outputs, *lses)
    return _unpack(torch.ops.attune.merge(outputs, lses, return_lse=keeps, **options), return_lse)
