# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention on kernels of ours: attention with scores and masks that are functions in Python."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import higher_order_ops

from . import _compiler, _devices, _frameworks, _gradients, _masks, _native, _operands, _regions, _repeated, _schedules, _torch, _trace
from ._repeated import TABLES

_DTYPES = {"float16": "f16", "bfloat16": "bf16"}


@dataclasses.dataclass(frozen=True)
class FlexProblem:
    """What a kernel is compiled for: the module, as text."""

    text: str

    def make_module(self) -> _compiler.Module:
        """The module."""
        return _compiler.parse(self.text)


@dataclasses.dataclass(frozen=True)
class Form:
    """What an attention is, besides its operands."""

    score_mod: Callable[..., Any] | None = None
    mask_mod: Callable[..., Any] | None = None
    #: A BlockMask with tables.
    blocks: Any = None
    scale: float | None = None
    #: A causal mask that ends at the last query and key.
    causal: bool = False
    softcap: float | None = None
    layout: str = "bhsd"
    #: In place of the functions, what they became.
    traced: _trace.Traced | None = None


def _describe_operand(form: Form, heads: int, head_dim: int, dtype: str, is_dense: bool) -> str:
    extents = {"b": "?", "h": str(heads), "s": "?", "d": str(head_dim)}
    strided = "" if is_dense else f", #attn.strided<[?, ?, ?, 1], divisor = {math.gcd(8, head_dim)}>"
    return f"tensor<{'x'.join(extents[letter] for letter in form.layout)}x{dtype}{strided}>"


def _describe_table(table: torch.Tensor, sizes: _operands.Sizes) -> str:
    batch, heads = "1" if table.shape[0] == 1 else "?", "1" if table.shape[1] == 1 else str(sizes.heads)
    return f"tensor<{batch}x{heads}x{'?x' * (table.dim() - 2)}i32>"


def _make_clauses(form: Form, sizes: _operands.Sizes, has_sinks: bool, lse: bool, kinds: list[str]) -> str:
    scale = sizes.head_dim**-0.5 if form.scale is None else float(form.scale)
    clauses = [f"scale({scale:.9e})"] + ["lse"] * lse + ["causal(bottom_right)"] * form.causal
    if form.layout != "bhsd":
        clauses.append(f"order({form.layout})")
    if form.softcap is not None:
        clauses.append(f"softcap({form.softcap:.9e})")
    if has_sinks:
        clauses.append(f"sinks(%sinks : tensor<{sizes.heads}xf32>)")
    if kinds:
        clauses.append(f"blocks(%table0, %table1, {list(form.blocks.BLOCK_SIZE)} : {kinds[0]}, {kinds[1]})")
    if len(kinds) == len(TABLES):
        clauses.append(f"full_blocks(%table2, %table3 : {kinds[2]}, {kinds[3]})")
    return "".join(f"    {clause}\n" for clause in clauses)


def _make_text(
    form: Form, sizes: _operands.Sizes, dtype: str, dense: list[bool], has_sinks: bool, kinds: list[str], traced: _trace.Traced, lse: bool
) -> str:
    """The module. Its arguments are query, key, value, sinks, the tables and the captured tensors."""
    q = _describe_operand(form, sizes.heads, sizes.head_dim, dtype, dense[0])
    k = _describe_operand(form, sizes.kv_heads, sizes.head_dim, dtype, dense[1])
    v = _describe_operand(form, sizes.kv_heads, sizes.head_dim_v, dtype, dense[2])
    arguments = [f"%q: {q}", f"%k: {k}", f"%v: {v}"] + [f"%sinks: tensor<{sizes.heads}xf32>"] * has_sinks
    arguments += [f"%table{number}: {kind}" for number, kind in enumerate(kinds)]
    arguments += [f"{capture.name}: {_regions.get_type(capture)}" for capture in traced.captures]
    results = [_describe_operand(form, sizes.heads, sizes.head_dim_v, dtype, True)] + [f"tensor<?x{sizes.heads}x?xf32>"] * lse
    names = ", ".join(["%out", "%lse"][: len(results)])
    clauses = _make_clauses(form, sizes, has_sinks, lse, kinds) + traced.clauses
    return (
        f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f"  {names} = attn.attention %q, %k, %v\n{clauses}    : {q}, {k}, {v}\n  return {names} : {', '.join(results)}\n}}\n"
    )


def _get_tables(block_mask: Any, sizes: _operands.Sizes) -> list[torch.Tensor]:
    """The lists of blocks, cut to the lengths."""
    lengths = tuple(block_mask.seq_lengths)
    if lengths != (sizes.seq_q, sizes.seq_k):
        raise ValueError(
            f"expects block_mask for {sizes.seq_q} queries and {sizes.seq_k} keys, but got one for {lengths[0]} and {lengths[1]}"
        )
    rows = -(-sizes.seq_q // block_mask.BLOCK_SIZE[0])
    tables = []
    for name, table in zip(TABLES, _repeated.read_tables(block_mask), strict=False):
        expected = [(1, sizes.batch), (1, sizes.heads), (rows,)]
        if table.dim() != 3 + name.endswith("indices") or any(size not in of for size, of in zip(table.shape, expected, strict=False)):
            raise ValueError(
                f"expects {name} of block_mask for a batch of 1 or {sizes.batch}, 1 or {sizes.heads} heads and {rows} blocks of queries, "
                f"but got shape {tuple(table.shape)}"
            )
        tables.append(table.to(torch.int32).contiguous())
    return tables


def _prepare_capture(capture: _regions.Capture, q: torch.Tensor, sizes: _operands.Sizes) -> torch.Tensor:
    """A captured tensor as the kernel reads it."""
    tensor = capture.tensor.detach()
    if tensor.device != q.device:
        if tensor.dim():
            raise ValueError(f"expects tensors that functions read on the device of query, {q.device}, but got {tensor.device}")
        tensor = tensor.to(q.device)
    extents = {"b": sizes.batch, "h": sizes.heads, "q": sizes.seq_q, "kv": sizes.seq_k}
    for dim, name in capture.reads:
        if tensor.shape[dim] < extents[name]:
            raise IndexError(
                f"expects a tensor that is read at {name} in dimension {dim} to have {extents[name]} elements there,"
                f" but got shape {tuple(tensor.shape)}"
            )
    tensor = tensor.contiguous()
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor


def _find_read(kernel: _native.Kernel, fixed: int) -> list[int]:
    """Numbers of the captured tensors that the kernel still reads, in its order: its arguments tell which of the function's they are."""
    names = (kernel.argument(pos).name for pos in range(fixed, kernel.num_arguments))
    return [int(name.removeprefix("argument")) - fixed for name in names if name.startswith("argument")]


def _check_calls(score_mod: Any, block_mask: Any, scale: Any, return_aux: Any) -> None:
    for name, function in (("score_mod", score_mod), ("mask_mod of block_mask", getattr(block_mask, "mask_mod", None))):
        if function is not None and not callable(function):
            raise TypeError(f"expects {name} to be a function, but got {_frameworks.describe_type(function)}")
    if block_mask is not None and not all(hasattr(block_mask, name) for name in (*TABLES, "BLOCK_SIZE", "seq_lengths", "mask_mod")):
        raise TypeError(f"expects block_mask to be a BlockMask, but got {_frameworks.describe_type(block_mask)}")
    if scale is not None and not (isinstance(scale, (int, float)) and math.isfinite(scale)):
        raise ValueError(f"expects scale to be a finite number, but got {scale!r}")
    if getattr(return_aux, "max_scores", False):
        raise NotImplementedError("expects return_aux to ask for lse alone, but got max_scores, which no kernel returns")


@dataclasses.dataclass(frozen=True)
class _Operands:
    """Query, key, value and sinks, checked."""

    sizes: _operands.Sizes
    dtype: str
    place: tuple[str, int]
    #: Which of query, key and value have no gaps.
    dense: list[bool]
    tensors: list[_native.Tensor]


def _read_operands(arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None) -> _Operands:
    tensors = {name: _frameworks.make_tensor(_torch.detach(array), name) for name, array in arrays.items()}
    dtype, place = _operands.check_operands(tensors)
    sizes = _operands.read_sizes(tensors, form.layout)
    dense = [_operands.normalize_strides(tensor, name) for name, tensor in tensors.items()]
    fixed = list(tensors.values())
    if sinks is not None:
        fixed.append(_operands.make_per_head(_torch.detach(sinks), "sinks", sizes.heads, place))
    return _Operands(sizes, dtype, place, dense, fixed)


@dataclasses.dataclass(frozen=True)
class _Call:
    """What a kernel is for, and takes."""

    problem: FlexProblem
    bucket: _schedules.Bucket
    #: Operands and tables.
    fixed: list[_native.Tensor]
    captures: list[_native.Tensor]
    #: What tables are, and captures: as functions have them, and as kernels read them.
    tables: list[torch.Tensor]
    captured: list[tuple[torch.Tensor, torch.Tensor]]


def _read_call(operands: _Operands, form: Form, query: torch.Tensor, lse: bool, identity: _trace.Identity | None = None) -> _Call:
    sizes = operands.sizes
    tables = [] if form.blocks is None else _get_tables(form.blocks, sizes)
    traced = form.traced or _trace.trace(form.score_mod, form.mask_mod, query.device, identity)
    _torch.check_gradients("tensors that functions read", *(capture.tensor for capture in traced.captures))
    captures = [_prepare_capture(capture, query, sizes) for capture in traced.captures]
    kinds = [_describe_table(table, sizes) for table in tables]
    has_sinks = len(operands.tensors) > len(operands.dense)
    return _Call(
        FlexProblem(_make_text(form, sizes, _DTYPES[operands.dtype], operands.dense, has_sinks, kinds, traced, lse)),
        _schedules.Bucket.get(sizes.seq_q, sizes.seq_k),
        operands.tensors + [_frameworks.make_tensor(table, "block_mask") for table in tables],
        [_frameworks.make_tensor(tensor, "a tensor that functions read") for tensor in captures],
        tables,
        [(capture.tensor, tensor) for capture, tensor in zip(traced.captures, captures, strict=True)],
    )


def run(
    arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None, return_lse: bool, chip: str | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Checks, compiles and launches."""
    operands = _read_operands(arrays, form, sinks)
    query, sizes = next(iter(arrays.values())), operands.sizes
    extents = {"b": sizes.batch, "h": sizes.heads, "s": sizes.seq_q, "d": sizes.head_dim_v}
    out = query.new_empty([extents[letter] for letter in form.layout])
    lse = query.new_empty((sizes.batch, sizes.heads, sizes.seq_q), dtype=torch.float32) if return_lse else None
    if not out.numel():
        return out, lse
    attempt = _repeated.Attempt(list(arrays.values()), form, sinks, return_lse, chip)
    call = _read_call(operands, form, query, return_lse, attempt.identity)
    device = _devices.get_device(*operands.place, chip)
    kernel = device.get_kernel(call.problem, call.bucket)
    read = _find_read(kernel, len(call.fixed))
    written = [_frameworks.make_tensor(tensor, "out", writable=True) for tensor in (out, lse) if tensor is not None]
    arguments, queue = _devices.run(device, kernel, [*call.fixed, *(call.captures[n] for n in read), *written], query, None)
    if not device.is_host:
        attempt.learn(call.tables, [call.captured[n] for n in read], arguments, kernel, queue)
    return out, lse


def differentiate(
    arrays: dict[str, torch.Tensor],
    form: Form,
    sinks: torch.Tensor | None,
    results: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None],
    wanted: Sequence[bool],
    chip: str | None,
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of query, key, value and sinks that are wanted, and None of others.

    `results` are the result, the logarithm of the sum, and their gradients.
    """
    out, lse, out_grad, lse_grad = results
    parts, (*of_parts, of_sinks) = list(arrays.values()), wanted
    query, key, _ = parts
    operands = _read_operands(arrays, form, sinks)
    if form.blocks is not None:
        tables = _get_tables(form.blocks, operands.sizes)
        mask = _masks.read_blocks(form.mask_mod, tables, tuple(form.blocks.BLOCK_SIZE), operands.sizes.seq_k)
        form = dataclasses.replace(form, mask_mod=mask, blocks=None)
    saved = _gradients.Saved(*(None if x is None else x.contiguous() for x in results))
    sinks_grad = _torch.differentiate_sinks(sinks, out, lse, out_grad, lse_grad, form.layout) if of_sinks else None
    if not out.numel() or not key.numel() or not any(of_parts):
        return *(torch.zeros_like(x) if is_wanted else None for x, is_wanted in zip(parts, of_parts, strict=True)), sinks_grad
    call = _read_call(operands, form, query, lse_grad is not None)
    device = _devices.get_device(*operands.place, chip)
    of_q, of_k, of_v = of_parts
    problem = _gradients.Gradients(call.problem, (of_q, of_k, of_v), _torch.is_deterministic())
    return *_gradients.run(device, problem, call.bucket, call.fixed + call.captures, saved, parts), sinks_grad


#: Of what is no tensor.
_NO_GRADIENTS = (None,) * 3


class _Recorded(torch.autograd.Function):  # type: ignore[misc]
    """A call of which PyTorch wants gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        sinks: torch.Tensor | None,
        names: list[str],
        form: Form,
        chip: str | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        with torch.enable_grad():  # so that tensors which functions read are refused where they require gradients
            found = run(dict(zip(names, (query, key, value), strict=True)), form, sinks, True, chip)
        ctx.save_for_backward(query, key, value, sinks, *found)
        ctx.rest = names, form, chip
        ctx.set_materialize_grads(False)
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> Any:
        query, key, value, sinks, out, lse = ctx.saved_tensors
        names, form, chip = ctx.rest
        arrays = dict(zip(names, (query, key, value), strict=True))
        if out_grad is None:
            out_grad = torch.zeros_like(out)
        return *differentiate(arrays, form, sinks, (out, lse, out_grad, lse_grad), ctx.needs_input_grad[:4], chip), *_NO_GRADIENTS


def _compute(
    arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None, return_lse: bool, chip: str | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    query, key, value = arrays.values()
    if _torch.records(query, key, value, sinks):
        out, lse = _Recorded.apply(query, key, value, sinks, list(arrays), form, chip)
        return out, lse
    return run(arrays, form, sinks, return_lse, chip)


#: Where PyTorch's compiler breaks the graph.
_compute_apart = torch.compiler.disable(_compute, reason="attune_mlir has gradients of lists of blocks in eager mode alone")
#: Whether it can read the functions of scores and masks.
_READS_FUNCTIONS = all(hasattr(higher_order_ops, name) for name in ("BaseHOPVariable", "_hop_name_to_variable_class"))


def compute(
    arrays: dict[str, torch.Tensor], form: Form, *, sinks: torch.Tensor | None = None, return_lse: bool = False, chip: str | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Checks, compiles and launches. `arrays` are query, key and value, by the names that errors call them."""
    query, key, value = arrays.values()
    if isinstance(query, torch.Tensor) and torch.is_autocast_enabled(query.device.type):
        query, key, value = _torch.cast_for_autocast(query.device.type, query, key, value)
        arrays = dict(zip(arrays, (query, key, value), strict=True))
    if not torch.compiler.is_dynamo_compiling():
        if type(query) is torch.Tensor:
            found = _repeated.Attempt([query, key, value], form, sinks, return_lse, chip).launch()
            if found is not None:
                return found if return_lse else (found, None)
        out, lse = _compute(arrays, form, sinks, return_lse, chip)
    elif not _READS_FUNCTIONS or (form.blocks is not None and _torch.records(query, key, value, sinks)):
        out, lse = _compute_apart(arrays, form, sinks, return_lse, chip)
    else:
        from . import _graph

        out, lse = _graph.compute(query, key, value, form, sinks, chip)
    return out, lse if return_lse else None


def flex_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    score_mod: Callable[..., Any] | None,
    block_mask: Any,
    scale: float | None,
    enable_gqa: bool,
    return_lse: bool,
    return_aux: Any,
    chip: str | None,
) -> Any:
    """`attune_mlir.flex_attention`."""
    _check_calls(score_mod, block_mask, scale, return_aux)
    shapes = [tuple(getattr(x, "shape", ())) for x in (query, key)]
    if len(shapes[0]) == len(shapes[1]) == 4 and shapes[0][1] != shapes[1][1] and not enable_gqa:
        raise ValueError(f"expects enable_gqa for {shapes[0][1]} heads of query and {shapes[1][1]} of key, but got enable_gqa=False")
    form = Form(score_mod, None if block_mask is None else block_mask.mask_mod, block_mask, scale)
    want_lse = return_lse or getattr(return_aux, "lse", False)
    out, lse = compute({"query": query, "key": key, "value": value}, form, return_lse=want_lse, chip=chip)
    if return_aux is not None:
        from torch.nn.attention.flex_attention import AuxOutput

        return out, AuxOutput(lse=lse)
    return (out, lse) if return_lse else out
