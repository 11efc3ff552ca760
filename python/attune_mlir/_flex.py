# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention on kernels of ours: attention with scores and masks that are functions in Python."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from . import _compiler, _devices, _frameworks, _native, _operands, _regions, _schedules, _torch, _trace

_DTYPES = {"float16": "f16", "bfloat16": "bf16"}
#: Names of a BlockMask's tables in the order of the op.
_TABLES = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")


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
    if len(kinds) == len(_TABLES):
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
    for name in _TABLES:
        table = getattr(block_mask, name)
        if table is None:
            break
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


def _order(kernel: _native.Kernel, fixed: int, captures: list[_native.Tensor]) -> list[_native.Tensor]:
    """The captured tensors that the kernel still reads, in its order: its arguments tell which of the function's they are."""
    found = []
    for pos in range(fixed, kernel.num_arguments):
        name = kernel.argument(pos).name
        if name.startswith("argument"):
            found.append(captures[int(name.removeprefix("argument")) - fixed])
    return found


def _check_calls(score_mod: Any, block_mask: Any, scale: Any, return_aux: Any) -> None:
    for name, function in (("score_mod", score_mod), ("mask_mod of block_mask", getattr(block_mask, "mask_mod", None))):
        if function is not None and not callable(function):
            raise TypeError(f"expects {name} to be a function, but got {_frameworks.describe_type(function)}")
    if block_mask is not None and not all(hasattr(block_mask, name) for name in (*_TABLES, "BLOCK_SIZE", "seq_lengths", "mask_mod")):
        raise TypeError(f"expects block_mask to be a BlockMask, but got {_frameworks.describe_type(block_mask)}")
    if scale is not None and not (isinstance(scale, (int, float)) and math.isfinite(scale)):
        raise ValueError(f"expects scale to be a finite number, but got {scale!r}")
    if getattr(return_aux, "max_scores", False):
        raise NotImplementedError("expects return_aux to ask for lse alone, but got max_scores, which no kernel returns")


@functools.partial(torch.compiler.disable, reason="attune_mlir traces the functions of scores and masks itself")
def compute(
    arrays: dict[str, torch.Tensor], form: Form, *, sinks: torch.Tensor | None = None, return_lse: bool = False, chip: str | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Checks, compiles and launches. `arrays` are query, key and value, by the names that errors call them."""
    query, key, value = arrays.values()
    if isinstance(query, torch.Tensor) and torch.is_autocast_enabled(query.device.type):
        query, key, value = _torch.cast_for_autocast(query.device.type, query, key, value)
    _torch.check_gradients(query, key, value, sinks)
    tensors = {name: _frameworks.make_tensor(_torch.detach(array), name) for name, array in zip(arrays, (query, key, value), strict=True)}
    dtype, place = _operands.check_operands(tensors)
    sizes = _operands.read_sizes(tensors, form.layout)
    dense = [_operands.normalize_strides(tensor, name) for name, tensor in tensors.items()]
    fixed = list(tensors.values())
    if sinks is not None:
        fixed.append(_operands.make_per_head(_torch.detach(sinks), "sinks", sizes.heads, place))
    extents = {"b": sizes.batch, "h": sizes.heads, "s": sizes.seq_q, "d": sizes.head_dim_v}
    out = query.new_empty([extents[letter] for letter in form.layout])
    lse = query.new_empty((sizes.batch, sizes.heads, sizes.seq_q), dtype=torch.float32) if return_lse else None
    if not out.numel():
        return out, lse
    tables = [] if form.blocks is None else _get_tables(form.blocks, sizes)
    traced = _trace.trace(form.score_mod, form.mask_mod, query.device)
    _torch.check_gradients(*(capture.tensor for capture in traced.captures))
    captures = [_prepare_capture(capture, query, sizes) for capture in traced.captures]
    kinds = [_describe_table(table, sizes) for table in tables]
    problem = FlexProblem(_make_text(form, sizes, _DTYPES[dtype], dense, sinks is not None, kinds, traced, return_lse))
    device = _devices.get_device(*place, chip)
    fixed += [_frameworks.make_tensor(table, "block_mask") for table in tables]
    read = [_frameworks.make_tensor(tensor, "a tensor that functions read") for tensor in captures]
    kernel = device.get_kernel(problem, _schedules.Bucket.get(sizes.seq_q, sizes.seq_k))
    read = _order(kernel, len(fixed), read)
    written = [_frameworks.make_tensor(tensor, "out", writable=True) for tensor in (out, lse) if tensor is not None]
    _devices.run(device, kernel, [*fixed, *read, *written], query, None)
    return out, lse


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
