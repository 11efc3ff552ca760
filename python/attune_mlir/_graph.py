# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""flex_attention where PyTorch's compiler reads the call: one operator, attune::flex_attention, and no break of the graph.

    attune::flex_attention(q, k, v, alibi_slopes, sinks, random, tables, captures, *, grad_clauses, clauses, reads, blocks,
                           probability, scale, causal, window, softcap, layout, chip) -> (out, lse)

    attune::flex_attention_backward(out_grad, lse_grad, q, k, v, alibi_slopes, sinks, random, tables, captures, out, lse, *,
                                    wanted, clauses, reads, blocks, probability, scale, causal, window, softcap, layout, chip)
        -> gradients of q, k, v, alibi_slopes, sinks and captures, without elements where they are not wanted

Dynamo itself reads the functions of scores and masks, as the body of a higher-order operator: it guards what they depend
on, and makes the tensors that they reach inputs of the body. When the graph that it made is run, be it by AOTAutograd or
as it is, the body becomes the text of the regions, and the operator takes that. So it knows no Python function, and any
process can run it.

`clauses` is that text; `reads` says for each captured tensor which of its dimensions are read at "b", "h", "q" or "kv",
as "0:h 1:kv". `blocks` is the size of the blocks of the tables and the lengths that they are for. `grad_clauses` are those
of gradients where there are tables: their mask reads what these say of a block from one more tensor, the last one.
`random` is a seed and an offset, from which weights are dropped with the probability; None for no dropout.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._dynamo.variables.higher_order_ops import BaseHOPVariable, _hop_name_to_variable_class
from torch._higher_order_ops.utils import setup_compilation_env
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import _disable_current_modes

from . import _flex, _masks, _regions, _repeated, _states, _torch, _trace

#: Scores, and the batch, head, query and key.
_NUM_SCALARS = 5

_OPTIONS = (
    "SymInt[] blocks, str clauses, str[] reads, float probability, float? scale, bool causal, int[]? window, float? softcap,"
    " str layout, str? chip"
)
_library = torch.library.Library("attune", "FRAGMENT")
_library.define(
    "flex_attention(Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes, Tensor? sinks, Tensor? random, Tensor[] tables,"
    f" Tensor[] captures, *, str grad_clauses, {_OPTIONS}) -> (Tensor, Tensor)",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)
_library.define(
    "flex_attention_backward(Tensor out_grad, Tensor? lse_grad, Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes, Tensor? sinks,"
    f" Tensor? random, Tensor[] tables, Tensor[] captures, Tensor out, Tensor lse, *, bool[] wanted, {_OPTIONS}) -> Tensor[]",
    tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag),
)


@dataclasses.dataclass(frozen=True)
class _Lists:
    """What is read of a BlockMask."""

    BLOCK_SIZE: tuple[int, int]
    seq_lengths: tuple[int, int]
    kv_num_blocks: torch.Tensor
    kv_indices: torch.Tensor
    full_kv_num_blocks: torch.Tensor | None = None
    full_kv_indices: torch.Tensor | None = None


def _make_form(
    alibi_slopes: torch.Tensor | None,
    random: torch.Tensor | None,
    tables: Sequence[torch.Tensor],
    captures: Sequence[torch.Tensor],
    *,
    probability: float,
    blocks: Sequence[int],
    clauses: str,
    reads: Sequence[str],
    window: Sequence[int] | None,
    **options: Any,
) -> _flex.Form:
    lists = _Lists((blocks[0], blocks[1]), (blocks[2], blocks[3]), *tables) if tables else None
    known = []
    for number, (tensor, of) in enumerate(zip(captures, reads, strict=True)):
        places = (one.split(":") for one in of.split())
        known.append(_regions.Capture(tensor, f"%capture{number}", {(int(dim), name) for dim, name in places}))
    traced = _trace.Traced(clauses, tuple(known))
    sides = None if window is None else (window[0], window[1])
    dropout = None if random is None else (probability, random)
    return _flex.Form(blocks=lists, window=sides, alibi_slopes=alibi_slopes, dropout=dropout, traced=traced, **options)


_NAMES = ("query", "key", "value")


def _compute(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    sinks: torch.Tensor | None,
    random: torch.Tensor | None,
    tables: Sequence[torch.Tensor],
    captures: Sequence[torch.Tensor],
    *,
    grad_clauses: str,
    chip: str | None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The kernel of the operator, on any device."""
    # Tensors of their own, for one may be captured twice.
    form = _make_form(alibi_slopes, random, tables, [x.detach() for x in captures], **options)
    attempt = _repeated.Attempt((q, k, v), form, sinks, True, chip)
    if (found := attempt.launch_recorded()) is None:
        found = _flex.run(dict(zip(_NAMES, (q, k, v), strict=True)), form, sinks, True, chip, attempt=attempt)
    out, lse = found
    assert lse is not None, "expects the logarithm that was asked for"
    return out, lse


def _describe(q: torch.Tensor, v: torch.Tensor, layout: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Tensors of the results' shapes."""
    batch, heads, length = (q.shape[layout.index(letter)] for letter in "bhs")
    return q.new_empty((*q.shape[:3], v.shape[3])), q.new_empty((batch, heads, length), dtype=torch.float32)


def _fake(q: torch.Tensor, _: Any, v: torch.Tensor, *__: Any, layout: str, **___: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return _describe(q, v, layout)


def _compute_backward(
    out_grad: torch.Tensor,
    lse_grad: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    sinks: torch.Tensor | None,
    random: torch.Tensor | None,
    tables: Sequence[torch.Tensor],
    captures: Sequence[torch.Tensor],
    out: torch.Tensor,
    lse: torch.Tensor,
    *,
    chip: str | None,
    wanted: Sequence[bool],
    **options: Any,
) -> list[torch.Tensor]:
    # Tensors of their own, for one may be captured twice.
    captures = [x.detach() for x in captures]
    form = _make_form(alibi_slopes, random, (), captures, **options)
    if tables:
        _, block, _, keys = options["blocks"]
        # PyTorch's compiler may have put other lists where some were.
        form = _flex.add_states(form, _states.make(tables, _masks.count_blocks(keys, block), chip))
    arrays = dict(zip(_NAMES, (q, k, v), strict=True))
    of_q, of_k, of_v, of_slopes, of_sinks, *of_captures = wanted
    of_learned = (of_slopes, *of_captures)
    learned = list(itertools.compress((alibi_slopes, *captures), of_learned))
    results = (out, lse, out_grad, lse_grad)
    *parts, sinks_grad = (found := _flex.differentiate(arrays, form, sinks, results, (of_q, of_k, of_v, of_sinks), chip, learned))[:4]
    rest = iter(found[4:])
    slopes_grad, *others = (next(rest) if is_wanted else None for is_wanted in of_learned)
    return [q.new_empty(0) if x is None else x for x in (*parts, slopes_grad, sinks_grad, *others)]


def _fake_backward(_: Any, __: Any, *tensors: Any, wanted: Sequence[bool], **___: Any) -> list[torch.Tensor]:
    q, *rest, _random, _tables, captures, _out, _lse = tensors
    parts = zip((q, *rest, *captures), wanted, strict=True)
    return [torch.empty_like(x, memory_format=torch.contiguous_format) if is_wanted else q.new_empty(0) for x, is_wanted in parts]


for _key in ("CPU", "CUDA"):
    _library.impl("flex_attention", _compute, _key)
    _library.impl("flex_attention_backward", _compute_backward, _key)
torch.library.register_fake("attune::flex_attention", _fake, lib=_library)
torch.library.register_fake("attune::flex_attention_backward", _fake_backward, lib=_library)


def _save(ctx: Any, inputs: tuple[Any, ...], keyword_only_inputs: dict[str, Any], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    *tensors, tables, captures = inputs
    ctx.save_for_backward(*tensors, *output, *tables, *captures)
    ctx.options, ctx.num_tables = dict(keyword_only_inputs), len(tables)
    ctx.set_materialize_grads(False)


def _differentiate(ctx: Any, out_grad: torch.Tensor | None, lse_grad: torch.Tensor | None) -> tuple[Any, ...]:
    *tensors, out, lse = ctx.saved_tensors[:8]
    rest = ctx.saved_tensors[8:]
    tables, captures = rest[: ctx.num_tables], rest[ctx.num_tables :]
    options = dict(ctx.options)
    if grad_clauses := options.pop("grad_clauses"):
        options["clauses"] = grad_clauses
    elif tables:
        raise ValueError("expects grad_clauses for gradients of attune::flex_attention with tables, but got none")
    *of_first, _random, _tables, of_captures = ctx.needs_input_grad
    wanted = [bool(one) for one in (*of_first, *of_captures)]
    if out_grad is None:
        out_grad = torch.zeros_like(out)
    operands = (out_grad, lse_grad, *tensors, tables, captures, out, lse)
    found = torch.ops.attune.flex_attention_backward(*operands, **options, wanted=wanted)
    grads = [x if is_wanted else None for x, is_wanted in zip(found, wanted, strict=True)]
    return *grads[:5], None, [None] * len(tables), grads[5:]


_torch.register_autograd(_library, "flex_attention", _differentiate, _save)


def _prune(body: torch.fx.GraphModule, *results: torch.fx.Node) -> torch.fx.GraphModule:
    """The body with these results alone. It takes what it took."""
    graph = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    graph.graph_copy(body.graph, copies)
    graph.output(tuple(copies[node] for node in results))
    graph.eliminate_dead_code()
    return torch.fx.GraphModule(body, graph)


def _translate(
    score: Callable[..., Any] | None,
    mask: Callable[..., Any] | None,
    device: torch.device,
    lists: _masks.Lists | None,
) -> tuple[_trace.Traced, dict[str, Any]]:
    """The regions, and options of the operator."""
    traced, grad_clauses = _trace.translate(score, mask, device), ""
    if lists is not None:
        grad_clauses = _trace.translate_listed(score, mask, device, traced, lists).clauses
    reads = [" ".join(f"{dim}:{name}" for dim, name in sorted(capture.reads)) for capture in traced.captures]
    # On one line, for PyTorch's compiler writes arguments into comments of its programs.
    texts = (" ".join(text.split()) for text in (traced.clauses, grad_clauses))
    return traced, dict(zip(("clauses", "grad_clauses"), texts, strict=True)) | {"reads": reads}


_NUMBERS: dict[type, Callable[[Any], Any]] = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}


class _Body:
    """The functions of scores and masks, as Dynamo read them."""

    def __init__(self, body: torch.fx.GraphModule, operands: Sequence[Any], count: int) -> None:
        """The body's results are those of attention, `count` functions', and one for each of the operands that it was given."""
        (output,) = body.graph.find_nodes(op="output")
        results = output.args[0]
        places = {node: number for number, node in enumerate(body.graph.find_nodes(op="placeholder"))}
        given = [places[marker.args[0]] for marker in results[2 + count :]]
        self.scalars, self.fixed = given[:_NUM_SCALARS], [operands[number] for number in given[_NUM_SCALARS:]]
        self.functions = [_prune(body, result) for result in results[2 : 2 + count]]
        self.arguments: list[Any] = []
        #: What the functions reach, and what is traced in their place.
        self.captures: list[tuple[torch.Tensor, torch.Tensor]] = []
        placeholders = [function.graph.find_nodes(op="placeholder") for function in self.functions]
        inputs = zip(*placeholders, strict=True) if placeholders else itertools.repeat((), len(operands))
        for number, (nodes, operand) in enumerate(zip(inputs, operands, strict=True)):
            if number in self.scalars or not any(node.users for node in nodes):
                self.arguments.append(None)
            elif isinstance(operand, torch.Tensor):
                # Regions know the shapes of what they read. Of zeros, for one may be an index of another.
                shape = [int(size) for size in operand.shape]
                self.arguments.append(torch.zeros(shape, dtype=operand.dtype, device="cpu"))
                self.captures.append((operand, self.arguments[-1]))
            else:
                # A number of which Dynamo does not know yet that it matters.
                self.arguments.append(_NUMBERS.get(type(operand), lambda same: same)(operand))

    def get_function(self, result: int, what: str) -> Callable[..., Any]:
        """The function whose result it is, as `_trace` takes it."""
        places = self.scalars if what == "score_mod" else self.scalars[1:]

        def call(*scalars: torch.Tensor) -> Any:
            arguments = list(self.arguments)
            for place, scalar in zip(places, scalars, strict=True):
                arguments[place] = scalar
            (found,) = self.functions[result](*arguments)
            return found

        return call

    def trace(self, has_score: bool, has_mask: bool, lists: _masks.Lists | None) -> tuple[_trace.Traced, dict[str, Any]]:
        """As `_translate`, of what is traced in place of the tensors that functions read."""
        score = self.get_function(0, "score_mod") if has_score else None
        mask = self.get_function(int(has_score), "mask_mod") if has_mask else None
        return _translate(score, mask, torch.device("cpu"), lists)

    def find_captures(self, traced: _trace.Traced) -> list[torch.Tensor]:
        """The tensors that regions read."""
        # What functions detach has the memory of what they reach.
        found = {dummy.data_ptr(): (operand, dummy) for operand, dummy in self.captures}
        pairs = ((capture.tensor, *found[capture.tensor.data_ptr()]) for capture in traced.captures)
        return [operand if tensor is dummy else operand.detach() for tensor, operand, dummy in pairs]


def _check_detached(traced: _trace.Traced, *tensors: torch.Tensor | None) -> None:
    if traced.detaches and _torch.records(*tensors):
        raise NotImplementedError(_flex.DETACHES)


class _Operator(HigherOrderOperator):  # type: ignore[misc]
    """What Dynamo puts into its graph. It is gone when the graph was run."""

    def __init__(self) -> None:
        super().__init__("attune_flex_attention")

    def __call__(
        self,
        body: Any,
        *operands: Any,
        has_score: bool,
        has_mask: bool,
        has_slopes: bool,
        has_sinks: bool,
        has_dropout: bool,
        blocks: Sequence[int],
        **options: Any,
    ) -> tuple[torch.Tensor, ...]:
        with _disable_current_modes():
            read = _Body(body, operands, has_score + has_mask)
            q, k, v, *rest = read.fixed
            slopes = rest.pop(0) if has_slopes else None
            sinks = rest.pop(0) if has_sinks else None
            random = rest.pop(0) if has_dropout else None
            lists = _masks.describe_lists(rest, blocks[:2]) if rest else None
            traced, regions = read.trace(has_score, has_mask, lists)
        captures = read.find_captures(traced)
        tensors = (q, k, v, slopes, sinks)
        _check_detached(traced, *tensors, *captures)
        out, lse = torch.ops.attune.flex_attention(*tensors, random, rest, captures, blocks=list(blocks), **regions, **options)
        return out, lse, *(q.new_empty(()) for _ in range(has_score + has_mask + _NUM_SCALARS + len(read.fixed)))


class _Variable(BaseHOPVariable):  # type: ignore[misc]
    """How Dynamo reads a call of it."""

    #: Query, key and value are often views of one tensor.
    supports_aliasing = True

    def _call_function(self, tx: Any, args: Any, kwargs: Any) -> Any:
        # What is indexed by a scalar would be asked for its value.
        with TransformGetItemToIndex():
            return super()._call_function(tx, args, kwargs)


_operator = _Operator()
_hop_name_to_variable_class[_operator.name()] = _Variable


def _read_form(form: _flex.Form, chip: str | None) -> tuple[list[torch.Tensor], torch.Tensor | None, dict[str, Any]]:
    """The tables of a BlockMask, what dropout draws from, and options of the operator.

    Among these `blocks` are the size of the BlockMask's blocks and the lengths that it is for, and nothing without one.
    """
    tables: list[torch.Tensor] = []
    blocks: tuple[int, ...] = ()
    if form.blocks is not None:
        tables = _repeated.read_tables(form.blocks)
        blocks = (*form.blocks.BLOCK_SIZE, *form.blocks.seq_lengths)
    probability, random = form.dropout or (0.0, None)
    options = {
        "probability": probability,
        "blocks": blocks,
        "scale": form.scale,
        "causal": form.causal,
        "window": form.window,
        "softcap": form.softcap,
        "layout": form.layout,
        "chip": chip,
    }
    return tables, random, options


def compute(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, form: _flex.Form, sinks: torch.Tensor | None, chip: str | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """What Dynamo reads in place of `_flex.compute`."""
    score_mod, mask_mod, layout = form.score_mod, form.mask_mod, form.layout
    tables, random, options = _read_form(form, chip)
    score = torch.zeros((), dtype=torch.float32, device=query.device)
    places = [torch.zeros((), dtype=torch.int32, device=query.device) for _ in range(_NUM_SCALARS - 1)]
    operands = [query, key, value, *(x for x in (form.alibi_slopes, sinks, random) if x is not None), *tables]

    def body(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        score, b, h, q_idx, kv_idx, q, _, v = inputs[: _NUM_SCALARS + 3]
        found = []
        if score_mod is not None:
            found.append(score_mod(score, b, h, q_idx, kv_idx))
        if mask_mod is not None:
            found.append(mask_mod(b, h, q_idx, kv_idx))
        # Inputs come in the order in which they are used. Of these results, each tells which one it is.
        markers = [one.new_empty(()) for one in inputs]
        return *_describe(q, v, layout), *found, *markers

    out, lse, *_ = _operator(
        body,
        score,
        *places,
        *operands,
        has_score=score_mod is not None,
        has_mask=mask_mod is not None,
        has_slopes=form.alibi_slopes is not None,
        has_sinks=sinks is not None,
        has_dropout=random is not None,
        **options,
    )
    return out, lse


def compute_exported(*arguments: Any) -> Any:
    """The same where torch.export runs the program: Dynamo reads the call, and its graph is run."""
    # As PyTorch's own flex_attention.
    with setup_compilation_env() as backend:
        return torch.compile(compute, backend=backend, fullgraph=True)(*arguments)


def compute_fake(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, form: _flex.Form, sinks: torch.Tensor | None, chip: str | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of tensors without memory: what the operator says of its results."""
    tables, random, options = _read_form(form, chip)
    lists = _masks.describe_lists(tables, options["blocks"][:2]) if tables else None
    traced, regions = _translate(form.score_mod, form.mask_mod, query.device, lists)
    captures = [capture.tensor for capture in traced.captures]
    tensors = (query, key, value, form.alibi_slopes, sinks)
    _check_detached(traced, *tensors, *captures)
    out, lse = torch.ops.attune.flex_attention(*tensors, random, tables, captures, **regions, **options)
    return out, lse
