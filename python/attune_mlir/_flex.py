# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention on kernels of ours: attention with scores and masks that are functions in Python."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._dynamo.variables import higher_order_ops

from . import (
    _attention,
    _compiler,
    _devices,
    _frameworks,
    _gradients,
    _masks,
    _native,
    _operands,
    _regions,
    _repeated,
    _states,
    _torch,
    _trace,
)
from ._repeated import TABLES

_DTYPES = {"float16": "f16", "bfloat16": "bf16"}
DETACHES = "expects functions that detach nothing but tensors that they read, where gradients are wanted"


#: Of these, the names of kernels.
_KERNEL_TABLES = ("block_counts", "block_indices", "full_block_counts", "full_block_indices")


@dataclasses.dataclass(frozen=True)
class FlexProblem:
    """What a kernel is compiled for: the module, as text."""

    text: str

    def make_module(self) -> _compiler.Module:
        """The module."""
        return _compiler.parse(self.text)


class Form(NamedTuple):
    """What an attention is, besides its operands."""

    score_mod: Callable[..., Any] | None = None
    mask_mod: Callable[..., Any] | None = None
    #: A BlockMask with tables.
    blocks: Any = None
    scale: float | None = None
    #: A causal mask that ends at the last query and key.
    causal: bool = False
    #: Around the same diagonal.
    window: tuple[int, int] | None = None
    softcap: float | None = None
    #: [heads], of ALiBi.
    alibi_slopes: torch.Tensor | None = None
    layout: str = "bhsd"
    #: The probability with which weights are dropped, and a seed and an offset, int64.
    dropout: tuple[float, torch.Tensor] | None = None
    #: In place of the functions, what they became.
    traced: _trace.Traced | None = None


def _describe_operand(form: Form, heads: int, head_dim: int, dtype: str, is_dense: bool) -> str:
    extents = {"b": "?", "h": str(heads), "s": "?", "d": str(head_dim)}
    strided = "" if is_dense else f", #attn.strided<[?, ?, ?, 1], divisor = {math.gcd(8, head_dim)}>"
    return f"tensor<{'x'.join(extents[letter] for letter in form.layout)}x{dtype}{strided}>"


def _describe_table(table: torch.Tensor, sizes: _operands.Sizes, is_searched: bool) -> str:
    if is_searched:
        return f"tensor<{'x'.join(map(str, table.shape))}xi32>"
    batch, heads = "1" if table.shape[0] == 1 else "?", "1" if table.shape[1] == 1 else str(sizes.heads)
    return f"tensor<{batch}x{heads}x{'?x' * (table.dim() - 2)}i32>"


def _make_clauses(form: Form, sizes: _operands.Sizes, has_sinks: bool, lse: bool, kinds: list[str]) -> str:
    scale = sizes.head_dim**-0.5 if form.scale is None else float(form.scale)
    clauses = [f"scale({scale:.9e})"] + ["lse"] * lse + ["causal(bottom_right)"] * form.causal
    if form.layout != "bhsd":
        clauses.append(f"order({form.layout})")
    if form.window is not None:
        before, after = ("?" if side < 0 else str(side) for side in form.window)
        clauses.append(f"window({before}, {after}, bottom_right)")
    if form.softcap is not None:
        clauses.append(f"softcap({form.softcap:.9e})")
    given = {"alibi": form.alibi_slopes is not None, "sinks": has_sinks}
    clauses += [f"{name}(%{name} : tensor<{sizes.heads}xf32>)" for name, is_there in given.items() if is_there]
    if form.dropout is not None:
        clauses.append(f"dropout(%random, {form.dropout[0]:.9e} : tensor<2xi64>)")
    if kinds:
        clauses.append(f"blocks(%table0, %table1, {list(form.blocks.BLOCK_SIZE)} : {kinds[0]}, {kinds[1]})")
    if len(kinds) == len(TABLES):
        clauses.append(f"full_blocks(%table2, %table3 : {kinds[2]}, {kinds[3]})")
    return "".join(f"    {clause}\n" for clause in clauses)


def _describe_captures(captures: Sequence[_regions.Capture], kinds: dict[str, str], is_searched: bool) -> tuple[list[str], str]:
    """Arguments that are captured tensors, of these types, and how they come to what regions read."""
    if not is_searched:
        return [f"{name}: {kind}" for name, kind in kinds.items()], ""
    arguments, casts = [], []
    for capture in captures:
        by_position = {dim for dim, _ in capture.reads}  # whose sizes have names
        sizes = ("?" if dim in by_position else str(size) for dim, size in enumerate(capture.tensor.shape))
        kind = kinds[capture.name].replace("?x" * capture.tensor.dim(), "".join(f"{size}x" for size in sizes))
        arguments.append(f"{capture.name}_given: {kind}")
        casts.append(f"  {capture.name} = tensor.cast {capture.name}_given : {kind} to {kinds[capture.name]}\n")
    return arguments, "".join(casts)


def _make_text(form: Form, operands: _Operands, tables: list[torch.Tensor], traced: _trace.Traced, lse: bool, is_searched: bool) -> str:
    """The module. Its arguments are query, key, value, sinks, the tables, slopes, what dropout draws from and the captured tensors.

    In the one that is searched, sizes that have no names are static.
    """
    sizes, dtype, dense = operands.sizes, _DTYPES[operands.dtype], operands.dense
    kinds = [_describe_table(table, sizes, is_searched) for table in tables]
    q = _describe_operand(form, sizes.heads, sizes.head_dim, dtype, dense[0])
    k = _describe_operand(form, sizes.kv_heads, sizes.head_dim, dtype, dense[1])
    v = _describe_operand(form, sizes.kv_heads, sizes.head_dim_v, dtype, dense[2])
    per_head, has_sinks = f"tensor<{sizes.heads}xf32>", operands.sinks is not None
    regions, captured = _regions.mark_rows(traced.clauses, traced.captures)
    captures, casts = _describe_captures(traced.captures, captured, is_searched)
    arguments = [f"%q: {q}", f"%k: {k}", f"%v: {v}"] + [f"%sinks: {per_head}"] * has_sinks
    arguments += [f"%table{number}: {kind}" for number, kind in enumerate(kinds)]
    arguments += [f"%alibi: {per_head}"] * (operands.slopes is not None)
    arguments += ["%random: tensor<2xi64>"] * (form.dropout is not None) + captures
    results = [_describe_operand(form, sizes.heads, sizes.head_dim_v, dtype, True)] + [f"tensor<?x{sizes.heads}x?xf32>"] * lse
    names = ", ".join(["%out", "%lse"][: len(results)])
    clauses = _make_clauses(form, sizes, has_sinks, lse, kinds) + regions
    return (
        f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{casts}"
        f"  {names} = attn.attention %q, %k, %v\n{clauses}    : {q}, {k}, {v}\n  return {names} : {', '.join(results)}\n}}\n"
    )


def _get_tables(block_mask: Any, sizes: _operands.Sizes, device: torch.device) -> list[torch.Tensor]:
    """The lists of blocks, cut to the lengths."""
    lengths = tuple(block_mask.seq_lengths)
    if lengths != (sizes.seq_q, sizes.seq_k):
        raise ValueError(
            f"expects block_mask for {sizes.seq_q} queries and {sizes.seq_k} keys, but got one for {lengths[0]} and {lengths[1]}"
        )
    rows = _masks.count_blocks(sizes.seq_q, block_mask.BLOCK_SIZE[0])
    tables = []
    for name, table in zip(TABLES, _repeated.read_tables(block_mask), strict=False):
        expected = [(1, sizes.batch), (1, sizes.heads), (rows,)]
        if table.dim() != 3 + name.endswith("indices") or any(size not in of for size, of in zip(table.shape, expected, strict=False)):
            raise ValueError(
                f"expects {name} of block_mask for a batch of 1 or {sizes.batch}, 1 or {sizes.heads} heads and {rows} blocks of queries, "
                f"but got shape {tuple(table.shape)}"
            )
        if table.device != device:
            raise ValueError(f"expects {name} of block_mask on the device of query, {device}, but got {table.device}")
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
    if _regions.has_whole_rows(tensor) and tensor.data_ptr() % _regions.ROW_BYTES:
        tensor = tensor.clone()
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor


def check_functions(score_mod: Any, mask_mod: Any, block_mask: Any) -> None:
    """TypeError for what is neither a function nor a BlockMask."""
    functions = {"score_mod": score_mod, "mask_mod": mask_mod, "mask_mod of block_mask": getattr(block_mask, "mask_mod", None)}
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError(f"expects {name} to be a function, but got {_frameworks.describe_type(function)}")
    if block_mask is not None and not all(hasattr(block_mask, name) for name in (*TABLES, "BLOCK_SIZE", "seq_lengths", "mask_mod")):
        raise TypeError(f"expects block_mask to be a BlockMask, but got {_frameworks.describe_type(block_mask)}")


def _check_calls(score_mod: Any, block_mask: Any, scale: Any, return_aux: Any) -> None:
    check_functions(score_mod, None, block_mask)
    if scale is not None and not (isinstance(scale, (int, float)) and abs(scale) < math.inf):
        raise ValueError(f"expects scale to be a finite number, but got {scale!r}")
    if getattr(return_aux, "max_scores", False):
        raise NotImplementedError("expects return_aux to ask for lse alone, but got max_scores, which no kernel returns")


@dataclasses.dataclass(frozen=True)
class _Operands:
    """What attention takes besides tables and tensors of functions, checked."""

    sizes: _operands.Sizes
    dtype: str
    place: tuple[str, int]
    #: Which of query, key and value have no gaps.
    dense: list[bool]
    parts: list[_native.Tensor]
    slopes: _native.Tensor | None
    sinks: _native.Tensor | None


def _read_operands(arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None) -> _Operands:
    tensors = {name: _frameworks.make_tensor(_torch.detach(array), name) for name, array in arrays.items()}
    dtype, place = _operands.check_operands(tensors)
    sizes = _operands.read_sizes(tensors, form.layout)
    dense = [_operands.normalize_strides(tensor, name) for name, tensor in tensors.items()]
    slopes, per_head = (
        None if x is None else _operands.make_per_head(_torch.detach(x), name, sizes.heads, place)
        for name, x in (("alibi_slopes", form.alibi_slopes), ("sinks", sinks))
    )
    return _Operands(sizes, dtype, place, dense, list(tensors.values()), slopes, per_head)


@dataclasses.dataclass(frozen=True)
class Call(_attention.Call):
    """A call whose arguments were checked, and whose functions were traced."""

    #: Makes the text of the module of a search.
    make_searched_text: Callable[[], str]
    tables: list[torch.Tensor]
    #: Tensors as functions have them and as kernels read them, by what kernels call them.
    captured: dict[str, tuple[torch.Tensor, torch.Tensor]]
    #: Of the function, by the identity of slopes and of what functions read.
    numbers: dict[int, int]

    def make_searched_module(self) -> _compiler.Module:
        # Regions read the arguments themselves then.
        return _compiler.run_pipeline(self.make_searched_text(), "builtin.module(func.func(canonicalize))")


def _read_call(
    operands: _Operands,
    form: Form,
    query: torch.Tensor,
    lse: bool,
    identity: _trace.Identity | None = None,
    *,
    has_gradients: bool = False,
) -> Call:
    """`has_gradients` says that those of tensors which functions read are seen to."""
    sizes = operands.sizes
    tables = [] if form.blocks is None else _get_tables(form.blocks, sizes, query.device)
    traced = form.traced or _trace.trace(form.score_mod, form.mask_mod, query.device, identity)
    if has_gradients and traced.detaches:
        raise NotImplementedError(DETACHES)
    if not has_gradients:
        _torch.check_gradients("tensors that functions read", *(capture.tensor for capture in traced.captures))
    # In the order of the function's arguments: kernels call by their numbers what attention does not take itself.
    inputs = dict(zip(_gradients.PARTS, operands.parts, strict=True))
    if operands.sinks is not None:
        inputs["sinks"] = operands.sinks
    inputs.update(zip(_KERNEL_TABLES, (_frameworks.make_tensor(table, "block_mask") for table in tables), strict=False))
    numbers = {}
    if operands.slopes is not None:
        numbers[id(form.alibi_slopes)] = len(inputs)
        inputs[f"argument{len(inputs)}"] = operands.slopes
    if form.dropout is not None:
        inputs["dropout"] = _frameworks.make_tensor(form.dropout[1], "dropout")
    captured = {}
    for capture in traced.captures:
        given = _prepare_capture(capture, query, sizes)
        numbers[id(capture.tensor)] = len(inputs)
        captured[f"argument{len(inputs)}"] = capture.tensor, given
        inputs[f"argument{len(inputs)}"] = _frameworks.make_tensor(given, "a tensor that functions read")
    make_text = functools.partial(_make_text, form, operands, tables, traced, lse)
    results = _operands.get_results(sizes, form.layout, lse)
    make_searched = functools.partial(make_text, is_searched=True)
    problem = FlexProblem(make_text(is_searched=False))
    return Call(problem, sizes, operands.dtype, inputs, operands.place, results, False, make_searched, tables, captured, numbers)


def read_call(arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None, *, return_lse: bool) -> Call:
    """Checks what `compute` is given, and traces functions."""
    return _read_call(_read_operands(arrays, form, sinks), form, next(iter(arrays.values())), return_lse)


def run(
    arrays: dict[str, torch.Tensor],
    form: Form,
    sinks: torch.Tensor | None,
    return_lse: bool,
    chip: str | None,
    *,
    out: torch.Tensor | None = None,
    stream: int | None = None,
    attempt: _repeated.Attempt | None = None,
    has_gradients: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Checks, compiles and launches. `attempt` was at this call, which was not known."""
    operands = _read_operands(arrays, form, sinks)
    query = next(iter(arrays.values()))
    shape, *rest = _operands.get_results(operands.sizes, form.layout, return_lse)
    may_know = out is None and stream is None
    if out is None:
        out = query.new_empty(shape)
    lse = query.new_empty(rest[0], dtype=torch.float32) if rest else None
    written = [_operands.make_output(out, "out", shape, operands.dtype, operands.place)]
    written += [_frameworks.make_tensor(tensor, "lse", writable=True) for tensor in (lse,) if tensor is not None]
    if not out.numel():
        return out, lse
    attempt = attempt or _repeated.Attempt(list(arrays.values()), form, sinks, return_lse, chip)
    call = _read_call(operands, form, query, return_lse, attempt.identity, has_gradients=has_gradients)
    device, kernel = _devices.get_kernel(operands.place, chip, call.problem, call.bucket)
    places = _devices.find_places(kernel)
    # Tensors that functions read, but no kernel, are left out.
    read = [call.inputs[name] for name in places if name in call.inputs]
    arguments, queue = _devices.run(device, kernel, [*read, *written], query, stream)
    if may_know and not device.is_host:
        attempt.learn(call, [pos for name, pos in places.items() if name not in call.inputs], arguments, kernel, queue)
    return out, lse


def add_states(form: Form, states: torch.Tensor) -> Form:
    """A form of functions that were traced with lists of blocks: what these say is their last tensor."""
    assert form.traced is not None, "expects functions that were traced"
    captures = (*form.traced.captures, _regions.Capture(states, f"%capture{len(form.traced.captures)}"))
    return form._replace(traced=_trace.Traced(form.traced.clauses, captures, form.traced.detaches))


def differentiate(
    arrays: dict[str, torch.Tensor],
    form: Form,
    sinks: torch.Tensor | None,
    results: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None],
    wanted: Sequence[bool],
    chip: str | None,
    learned: Sequence[torch.Tensor] = (),
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of query, key, value and sinks that are wanted, and None of others, and those of `learned`, which scores read.

    `form` is without lists of blocks, which `add_states` has read. `learned` are slopes and tensors that functions read. `results` are
    the result, the logarithm of the sum, and their gradients.
    """
    out, _, _, lse_grad = results
    parts, (*of_parts, of_sinks) = list(arrays.values()), wanted
    query, key, _ = parts
    kept = [x.contiguous() for x in results if x is not None]
    deterministic, has_scores = _torch.is_deterministic(), bool(out.numel() and key.numel())
    is_added, sinks_grad = _torch.differentiate_sinks(of_sinks, has_scores, sinks, *results, form.layout)
    if not has_scores or not (any(of_parts) or learned or is_added):
        zeros = (torch.zeros_like(x) if is_wanted else None for x, is_wanted in zip(parts, of_parts, strict=True))
        return *zeros, sinks_grad, *map(torch.zeros_like, learned)
    of_q, of_k, of_v = of_parts
    kind = (of_q, of_k, of_v), deterministic
    read = sinks if is_added else None
    attempt = _repeated.Attempt([*parts, *kept], form, read, lse_grad is not None, chip, (*kind, is_added), learned)
    if (found := attempt.launch_recorded()) is not None:
        made = iter((found,) if isinstance(found, torch.Tensor) else found)
        first = [next(made) if is_wanted else None for is_wanted in of_parts]
        return *first, next(made) if is_added else sinks_grad, *(x.to(like) for x, like in zip(made, learned, strict=True))
    operands = _read_operands(arrays, form, sinks)
    call = _read_call(operands, form, query, lse_grad is not None, attempt.identity, has_gradients=True)
    others = (len(_gradients.PARTS),) * is_added + tuple(call.numbers[id(tensor)] for tensor in learned)

    def learn(_: Any, __: Any, written: list[int], arguments: list[_native.Tensor], kernel: _native.Kernel, queue: int) -> bool:
        attempt.learn(call, written, arguments, kernel, queue, _gradients.SAVED[: len(kept)])
        return True

    problem = _gradients.Gradients(call.problem, *kind, others)
    made = iter(_gradients.run(call.place, chip, problem, call.bucket, call.inputs, _gradients.Saved(*kept), parts, learn))
    first = [next(made) for _ in parts]
    return *first, next(made) if is_added else sinks_grad, *(x.to(like) for x, like in zip(made, learned, strict=True))


def _find_learned(form: Form, attempt: _repeated.Attempt, device: torch.device) -> list[torch.Tensor]:
    """Slopes and tensors that functions read of which PyTorch wants gradients."""
    identity, slopes = attempt.identity, form.alibi_slopes
    if not torch.is_grad_enabled():
        return []
    learned = [slopes] if slopes is not None and slopes.requires_grad else []
    if identity.key is not None and not any(x.requires_grad for x in identity.tensors):
        return learned
    traced = form.traced or _trace.trace(form.score_mod, form.mask_mod, device, identity)
    return [*learned, *{id(x.tensor): x.tensor for x in traced.captures if x.tensor.requires_grad}.values()]


#: Of what is no tensor.
_NO_GRADIENTS = (None,) * 4


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
        attempt: _repeated.Attempt,
        *learned: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        found: tuple[torch.Tensor, torch.Tensor | None] | None = attempt.launch_recorded()
        if found is None:
            arrays = dict(zip(names, (query, key, value), strict=True))
            found = run(arrays, form, sinks, True, chip, attempt=attempt, has_gradients=True)
        lists, tables, columns = None, attempt.tables, 0
        if form.blocks is not None:
            lists = _masks.describe_lists(tables, form.blocks.BLOCK_SIZE)
            columns = _masks.count_blocks(form.blocks.seq_lengths[1], form.blocks.BLOCK_SIZE[1])
        # Functions may read other numbers by the time that gradients are asked for, and a BlockMask may have other lists.
        traced = form.traced or _trace.trace(form.score_mod, form.mask_mod, query.device, attempt.identity, lists)
        captures = (capture.tensor for capture in traced.captures)
        # What gradients read is saved to see that it has not changed.
        ctx.save_for_backward(query, key, value, sinks, *found, form.alibi_slopes, *tables, *captures)
        ctx.rest = names, form._replace(blocks=None, traced=traced), chip, learned, len(tables), columns
        ctx.set_materialize_grads(False)
        return found

    @staticmethod
    def backward(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError("expects first derivatives of attention with functions alone, but got create_graph=True")
        query, key, value, sinks, out, lse, _, *read = ctx.saved_tensors
        names, form, chip, learned, num_tables, columns = ctx.rest
        if num_tables:
            form = add_states(form, _states.share(read[:num_tables], columns, chip))
        arrays = dict(zip(names, (query, key, value), strict=True))
        if out_grad is None:
            out_grad = torch.zeros_like(out)
        wanted = ctx.needs_input_grad[:4]
        found = differentiate(arrays, form, sinks, (out, lse, out_grad, lse_grad), wanted, chip, learned)
        return *found[:4], *_NO_GRADIENTS, *found[4:]


def _compute(
    arrays: dict[str, torch.Tensor], form: Form, sinks: torch.Tensor | None, return_lse: bool, chip: str | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    query, key, value = arrays.values()
    if (slopes := form.alibi_slopes) is not None and _torch.records(slopes):
        # A tensor of its own, for functions may read the same.
        form = form._replace(alibi_slopes=slopes.view_as(slopes))
    is_recorded = _torch.records(query, key, value, sinks)
    attempt = _repeated.Attempt([query, key, value], form, sinks, is_recorded or return_lse, chip)
    learned = _find_learned(form, attempt, query.device)
    if learned and not (is_recorded or return_lse):
        attempt = _repeated.Attempt([query, key, value], form, sinks, True, chip)
    if learned or is_recorded:
        out, lse = _Recorded.apply(query, key, value, sinks, list(arrays), form, chip, attempt, *learned)
        return out, lse
    if type(query) is not torch.Tensor:
        return run(arrays, form, sinks, return_lse, chip)
    if (found := attempt.launch()) is not None:
        return found if return_lse else (found, None)
    return run(arrays, form, sinks, return_lse, chip, attempt=attempt)


#: Where PyTorch's compiler breaks the graph.
_compute_apart = torch.compiler.disable(_compute, reason="attune_mlir has no operator for functions with this version of PyTorch")
#: Whether it can read the functions of scores and masks.
_READS_FUNCTIONS = all(hasattr(higher_order_ops, name) for name in ("BaseHOPVariable", "_hop_name_to_variable_class"))


def compute(
    arrays: dict[str, torch.Tensor],
    form: Form,
    *,
    sinks: torch.Tensor | None = None,
    return_lse: bool = False,
    chip: str | None = None,
    out: torch.Tensor | None = None,
    stream: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Checks, compiles and launches. `arrays` are query, key and value, by the names that errors call them."""
    for name, array in arrays.items():
        if not isinstance(array, torch.Tensor):
            raise TypeError(f"expects {name} to be a tensor of PyTorch, which traces functions, but got {_frameworks.describe_type(array)}")
    if out is not None or stream is not None:
        if _torch.records(*arrays.values(), sinks) or not _torch.is_plain(*arrays.values(), sinks):
            raise ValueError(_torch.NO_PLACES)
        return run(arrays, form, sinks, return_lse, chip, out=out, stream=stream)
    query, key, value = arrays.values()
    if _torch.is_plain(query, key, value, sinks):
        out, lse = _compute(arrays, form, sinks, return_lse, chip)
        return out, lse if return_lse else None
    if torch.amp.is_autocast_available(query.device.type) and torch.is_autocast_enabled(query.device.type):
        query, key, value = _torch.cast_for_autocast(query.device.type, query, key, value)
        arrays = dict(zip(arrays, (query, key, value), strict=True))
    if _READS_FUNCTIONS and not torch.compiler.is_compiling() and _torch.is_fake(query, key, value):
        from . import _graph

        out, lse = _graph.compute_fake(query, key, value, form, sinks, chip)
    elif not torch.compiler.is_compiling():
        _torch.check_tangents(query, key, value, sinks)
        if _torch.is_transformed():
            raise NotImplementedError(
                "expects no functions of scores and masks where torch.func maps or transforms, which has no rule for them"
            )
        out, lse = _compute(arrays, form, sinks, return_lse, chip)
    elif not _READS_FUNCTIONS:
        out, lse = _compute_apart(arrays, form, sinks, return_lse, chip)
    else:
        from . import _graph

        run_graph = _graph.compute if torch.compiler.is_dynamo_compiling() else _graph.compute_exported
        out, lse = run_graph(query, key, value, form, sinks, chip)
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
