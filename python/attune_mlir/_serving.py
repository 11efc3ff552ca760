# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as servers ask for it: packed sequences, lengths, keys and values in pages.

One problem for all of them: an attn.attention with the clauses that a call needs. A kernel takes any number of
sequences, of any lengths.
"""

from __future__ import annotations

import dataclasses
import numbers
import sys
from typing import Any, cast

from . import (
    _attention,
    _contents,
    _devices,
    _frameworks,
    _gradients,
    _integers,
    _known,
    _native,
    _operands,
    _schedules,
)
from ._serving_options import Options
from ._serving_problem import Problem

#: Clauses with scales of query, key and value, with zero points, and with scales of the result.
_SCALES = ("query_scales", "key_scales", "value_scales", "key_zeros", "value_zeros", "result_scales")
#: Arguments behind what says where keys are.
_PER_HEAD = ("alibi_slopes", "sinks", "q_descale", "k_descale", "v_descale", "k_zero", "v_zero", "out_descale")
#: Up to so many queries of each sequence, rows of several heads may share a tile.
_MAX_STATIC_QUERIES = 64


def _check_sizes(tensors: dict[str, _native.Tensor], has_pages: bool) -> None:
    """What query, key and value have to do with each other, but for sequences."""
    q, k, v = (dict(zip("bshd", (*x.shape[:3], _operands.count_columns(x, name)), strict=True)) for name, x in tensors.items())
    shapes = ", ".join(f"{name} of shape {tuple(tensor.shape)}" for name, tensor in tensors.items())
    if (k["b"], k["s"]) != (v["b"], v["s"]):
        what = "number of pages, and of keys in each," if has_pages else "number of keys"
        raise ValueError(f"expects k and v to have one {what} but got {shapes}")
    _operands.check_heads(q, k, v, ("q", "k", "v"), shapes)


@dataclasses.dataclass(frozen=True)
class Call(_attention.Call):
    """A call whose arguments were checked."""

    scheduled_for: _schedules.Bucket

    @property
    def bucket(self) -> _schedules.Bucket:
        return self.scheduled_for

    @property
    def named_sizes(self) -> list[tuple[str, int]]:
        # Of calls without integers, which alone are searched for.
        problem, sizes = cast("Problem", self.problem), self.sizes
        found = [("batch", sizes.batch)]
        found += [("seq-q", sizes.seq_q)] * (problem.seq_q is None)
        return found + [("seq-k", sizes.seq_k)] * (problem.seq_k is None)


def read_call(
    arrays: dict[str, Any],
    integers: dict[str, tuple[str, Any]],
    longest: tuple[int | None, int | None],
    options: Options,
    out: Any,
) -> Call:
    """Checks what `compute` is given, but for the contents of `out`."""
    window, softcap, scale = _attention.check_options(options.window, options.softcap, options.scale, "bshd")
    tensors = {name: _frameworks.make_tensor(array, name) for name, array in arrays.items()}
    dtype, place = _operands.check_operands(tensors, takes_narrow=True)
    dtype = options.choose_dtype(dtype, out)
    has_pages = integers["pages"][1] is not None
    packs_queries, packs_keys = (integers[clause][1] is not None for clause in ("query_starts", "key_starts"))
    _check_sizes(tensors, has_pages)
    batch = _count_sequences(tensors, integers)
    counts = {name: batch + name.endswith("starts") for name in _integers.CLAUSES}
    operands = _integers.read(integers, counts, place)
    scales = options.read_scales(tensors, packs_queries, packs_keys, place)
    if options.check:
        _contents.check(integers, batch, tensors["q"].shape[1], tensors["k"].shape)
    of_q, of_k, of_v = (not _operands.normalize_strides(tensor, name) for name, tensor in tensors.items())
    rows, seq_q, heads, head_dim = tensors["q"].shape
    kv_heads, head_dim_v = tensors["k"].shape[2], options.latent or _operands.count_columns(tensors["v"], "v")
    most_keys = tensors["k"].shape[1] * (operands["pages"].shape[1] if has_pages else 1)
    queries, keys = longest[0] or seq_q, longest[1] or most_keys
    if packs_queries:
        queries = _schedules.count_queries(seq_q, queries, batch)
    if packs_keys:
        keys = min(most_keys, keys * batch)
    bucket = _schedules.Bucket.get(queries, keys, 1 if options.batch_invariant else batch, (packs_queries, packs_keys))
    # As those of attention without integers.
    has_lengths = not operands and (bucket.seq_q, bucket.seq_k) == (seq_q, most_keys)
    inputs = {"query": tensors["q"], "key": tensors["k"], "value": tensors["v"], **operands}
    inputs |= {clause: tensor for clause, (tensor, _) in scales.items()}
    inputs |= _operands.read_per_head(options.alibi_slopes, options.sinks, heads, place, options.latent is not None)
    if options.dropout is not None:
        inputs["dropout"] = _frameworks.make_tensor(options.dropout[1], "dropout")
    of_query, of_key, of_value = map(_frameworks.get_dtype_name, tensors.values())
    problem = Problem(
        dtypes=(of_query, of_key, of_value, dtype),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        head_dim_v=head_dim_v,
        seq_q=seq_q if has_lengths or (not packs_queries and 0 < seq_q <= _MAX_STATIC_QUERIES) else None,
        page_size=tensors["k"].shape[1] if has_pages else None,
        integers=tuple(operands),
        causal=options.causal,
        window=window,
        softcap=softcap,
        scale=scale,
        has_alibi=options.alibi_slopes is not None,
        has_sinks=options.sinks is not None,
        return_lse=options.return_lse,
        is_latent=options.latent is not None,
        strided=(of_q, of_k, of_v),
        scales=tuple((clause, letters) for clause, (_, letters) in scales.items()),
        batch_invariant=options.batch_invariant,
        weights=_frameworks.name_float8(options.weights, "weights"),
        seq_k=most_keys if has_lengths else None,
        dropout=None if options.dropout is None else options.dropout[0],
    )
    results: list[tuple[int, ...]] = [(rows, seq_q, heads, head_dim_v)] + [(rows, heads, seq_q)] * options.return_lse
    sizes = _operands.Sizes(batch, heads, seq_q, head_dim, kv_heads, most_keys, head_dim_v)
    return Call(problem, sizes, dtype, inputs, place, results, has_lengths, bucket)


def read_attention(q: Any, k: Any, v: Any, options: Options) -> Call:
    """A call of `attention` with operands of 8 bits or with scales."""
    return read_call({"q": q, "k": k, "v": v}, dict.fromkeys(_integers.CLAUSES, ("", None)), (None, None), options, None)


@dataclasses.dataclass(frozen=True)
class Packed:
    """Where packed sequences are, as gradients are told."""

    #: By clauses; None where there is none.
    integers: dict[str, Any]
    #: Queries and keys of the longest, as far as they are known.
    longest: tuple[int | None, int | None]
    batch_invariant: bool

    def read_call(self, q: Any, k: Any, v: Any, alibi_slopes: Any, sinks: Any, *, return_lse: bool, layout: str, **options: Any) -> Call:
        """As that of attention, of arrays with a batch of 1; `options` are causal, window, softcap and scale. `layout` is bshd."""
        given = Options(
            **options,
            alibi_slopes=alibi_slopes,
            sinks=sinks,
            return_lse=return_lse,
            latent=None,
            batch_invariant=self.batch_invariant,
            weights=None,
            check=False,
            descales=(None, None, None),
        )
        integers = {clause: (clause, self.integers.get(clause)) for clause in _integers.CLAUSES}
        return read_call({"q": q, "k": k, "v": v}, integers, self.longest, given, None)


def compute(
    arrays: dict[str, Any],
    integers: dict[str, tuple[str, Any]],
    longest: tuple[int | None, int | None],
    options: Options,
    out: Any,
    stream: int | None,
    chip: str | None,
    attempt: _known.Attempt,
) -> tuple[Any, Any]:
    """Checks, compiles and launches. Arrays are q, k and v in the order bshd, `integers` the operands of clauses by their names.

    Where values are a part of the keys, v is k.

    `longest` are numbers of queries and keys that a sequence has at most, as far as they are known; the schedule is for them.
    """
    call = read_call(arrays, integers, longest, options, out)
    framework = _frameworks.find_framework(arrays["q"])
    given, (shape, *of_lse) = dict(call.inputs), call.results
    is_given = out is not None
    if out is None:
        out = framework.empty(arrays["q"], shape, call.dtype)
    given["output"] = _operands.make_output(out, "out", shape, call.dtype, call.place)
    lse = None
    if of_lse:
        lse = framework.empty(arrays["q"], of_lse[0], "float32")
        given["lse"] = _operands.make_output(lse, "lse", of_lse[0], "float32", call.place)
    if call.sizes.batch and 0 not in call.inputs["query"].shape:
        device, kernel = _devices.get_kernel(call.place, chip, call.problem, call.bucket)
        places = _devices.find_places(kernel)
        arguments, queue = _devices.run(device, kernel, [given[name] for name in places], arrays["q"], stream)
        if not device.is_host:
            attempt.learn(["output"] + ["lse"] * options.return_lse, places, arguments, kernel, queue)
    return out if is_given else framework.finish(arrays["q"], out), None if lse is None else framework.finish(arrays["q"], lse)


def _view_result(found: Any, out_dtype: Any) -> Any:
    """What a call that is known returns: 8 bits are bytes, which is what kernels write."""
    if out_dtype is None:
        return found
    kind = getattr(sys.modules["torch"], cast("str", _frameworks.name_float8(out_dtype, "out_dtype")))
    return (found[0].view(kind), *found[1:]) if isinstance(found, tuple) else found.view(kind)


def _count_sequences(tensors: dict[str, _native.Tensor], integers: dict[str, tuple[str, Any]]) -> int:
    """By what tells it first."""
    for clause in ("query_starts", "key_starts"):
        name, array = integers[clause]
        if array is not None:
            shape = _frameworks.make_tensor(array, name).shape
            if len(shape) != 1 or shape[0] < 2:
                raise ValueError(
                    f"expects {name} to have one element more than there are sequences, and 2 at least, but got shape {tuple(shape)}"
                )
            count = int(shape[0]) - 1
            break
    else:
        count = int(tensors["q"].shape[0])
    for name, clauses in (("q", ("query_starts",)), ("k", ("key_starts", "pages"))):
        batch = tensors[name].shape[0]
        if all(integers[clause][1] is None for clause in clauses) and batch != count:
            raise ValueError(f"expects {name} to have {count} sequences, but got shape {tuple(tensors[name].shape)}")
    return count


def varlen(
    q: Any,
    k: Any,
    v: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any = None,
    max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None,
    *,
    seqused_k: Any = None,
    block_table: Any = None,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    scale: float | None = None,
    alibi_slopes: Any = None,
    sinks: Any = None,
    dropout_p: float = 0,
    return_lse: bool = False,
    latent: int | None = None,
    batch_invariant: bool = False,
    weights: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    k_zero: Any = None,
    v_zero: Any = None,
    out_dtype: Any = None,
    out_descale: Any = None,
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
    check: bool = False,
) -> Any:
    """`attention` of sequences that lie one behind the other, by FlashAttention's conventions for these.

    q             [total_q, heads, head_dim]
    k, v          [total_k, kv_heads, head_dim], or with `block_table` [pages, page_size, kv_heads, head_dim]
    cu_seqlens_q  [sequences + 1], int32: where the queries of each sequence begin, from 0 and rising, and the last ones end
    cu_seqlens_k  the same of keys; with `block_table`, their differences are numbers of keys if there is no `seqused_k`
    max_seqlen_q  queries and keys of the longest sequence, by which, and by what sequences have in the mean, a schedule is chosen;
    max_seqlen_k  results do not depend on them
    seqused_k     [sequences], int32: how many keys of each are there, where that is less than there is room for
    block_table   [sequences, pages of the longest], int32: which pages have the keys and values of each sequence
    dropout_p     as in `attention`, of queries and keys of 16 bits that are packed: what is dropped depends on the number of the sequence
                  and on places in it, so that sequences of one length drop the weights that `attention` does
    latent        with None for v: so many columns of k, the first ones, are the values (as in DeepSeek's models, once queries have
                  been multiplied by what unfolds keys); the result has as many
    batch_invariant  the bits of a sequence depend on nothing but its own queries and keys, whatever is beside it; takes longer
    weights       of v of 8 bits: the type of as many that weights are rounded to where they are multiplied by it, faster and less exact,
                  as FlashAttention-3 has it: "float8_e4m3fn", a framework's type, or None for those of 16 bits
    k_descale     float32: what elements of k and v are to be multiplied by, for these may have 8 bits (int8, float8_e4m3fn and others): one
    v_descale     element, or [total_k, kv_heads], or [pages, kv_heads], [pages, page_size, kv_heads] with `block_table`; 1 for a
                  dimension that shares them; with `latent` k_descale alone
    k_zero        float32: which numbers of k and v of int8 or uint8 stand for 0, one for each of k_descale or v_descale, as `quantize`
    v_zero        gives them
    q_descale     the same of q, which may have 8 bits if k has: one element, or [total_q, heads], or [total_q, kv_heads]
    out_dtype     a float of 8 bits for the result, a name or a framework's type, as `out` may have, too
    out_descale   float32, beside that: what elements of the result are to be multiplied by, one, or [heads]; it is divided by them, rounded
                  to nearest, and what is beyond the largest number is that one

    Other arguments are those of `attention`. The result is [total_q, heads, head_dim], the LSE [heads, total_q].
    Nothing waits for a GPU: lengths may change from one replay of a graph to the next. Queries behind the last sequence
    have the result 0. What the integers hold is not checked, and no access is outside of the arrays whatever it is;
    with `check` it is, which waits for a GPU, and ValueError names the sequence.

    With tensors of PyTorch or arrays of JAX there are gradients, as of `attention`, of q, k and v of 16 bits that are packed, of
    alibi_slopes and sinks, also through the LSE. Sequences may have any lengths then, too, and `seqused_k`. Rows behind the last
    sequence, or behind the keys that are used, have gradients of 0. PyTorch's autocast casts q, k and v that are packed, but for those
    of 8 bits.

    Errors are those of `attention`; NotImplementedError names what has no gradients: `block_table`, `latent`, scales, 8 bits.
    """
    if cu_seqlens_k is None and (block_table is None or seqused_k is None):
        raise ValueError("expects cu_seqlens_k for keys that are packed, or block_table with seqused_k or cu_seqlens_k for those in pages")
    if block_table is not None:
        if seqused_k is None:
            seqused_k = cu_seqlens_k[1:] - cu_seqlens_k[:-1]
        cu_seqlens_k = None
    is_plain = out is None and stream is None and not check
    if is_plain and _known.may_repeat():
        kind = _known.kinds["varlen", latent, batch_invariant, weights, out_dtype]
        # Of dropout, what says which weights are dropped is not there yet: such a call is not known here.
        found = _native.repeat(kind, causal, window, softcap, scale, return_lse, "bshd", chip, dropout_p, max_seqlen_q, max_seqlen_k,
                               q, k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table, alibi_slopes, sinks, q_descale, k_descale,
                               v_descale, k_zero, v_zero, out_descale, None)  # fmt: skip
        if found is not None:
            return found if out_dtype is None else _view_result(found, out_dtype)
    known: tuple[Any, ...] = (causal, window, softcap, scale, return_lse, "bshd", chip, dropout_p, max_seqlen_q, max_seqlen_k)
    own = (latent, batch_invariant, weights, out_dtype)
    scaled = (alibi_slopes, sinks, q_descale, k_descale, v_descale, k_zero, v_zero, out_descale)
    arrays = (q, k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table, *scaled)
    random = _draw_dropout(dropout_p, (q, k, v), block_table, scaled[2:], own)
    if is_plain and random is not None and (found := _known.repeat(("varlen", *own), known, (*arrays, random))) is not None:
        return found
    if _frameworks.is_jax(q):
        from . import _jax

        names = ("q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "seqused_k", "block_table", *_PER_HEAD)
        counts = {"max_seqlen_q": max_seqlen_q, "max_seqlen_k": max_seqlen_k}
        plain = {**_name_options(known, own), **{name: _read_count(name, number) for name, number in counts.items()}}
        operands = dict(zip(names, arrays, strict=True))
        return _jax.call("varlen", operands, plain, out=out, stream=stream, check=check, is_packed=True)
    if _frameworks.is_watched("out, stream and check", is_plain, *arrays, records=True, casts=block_table is None):
        from . import _serving_torch

        most = {"max_seqlen_q": max_seqlen_q, "max_seqlen_k": max_seqlen_k}
        return _serving_torch.varlen(*arrays, random, probability=float(dropout_p), **most, **_name_options(known, own))
    return compute_varlen((*arrays, random), known, own, out=out, stream=stream, check=check)


def _draw_dropout(dropout_p: Any, arrays: tuple[Any, Any, Any], table: Any, scales: tuple[Any, ...], own: tuple[Any, ...]) -> Any:
    """A seed and an offset; None for no dropout. `arrays` are q, k and v, `own` options of `varlen`."""
    if not _attention.check_dropout(dropout_p):
        return None
    latent, _, weights, out_dtype = own
    _attention.read_dropout(dropout_p, arrays, any(x is not None for x in (*scales, weights, out_dtype)))
    for name, value in (("block_table", table), ("latent", latent)):
        if value is not None:
            raise NotImplementedError(f"expects no {name} beside dropout_p, but got one")
    from . import _dropout

    return _dropout.draw(arrays[0].device)


def launch_varlen(arrays: tuple[Any, ...], known: tuple[Any, ...], own: tuple[Any, ...]) -> Any:
    """As `compute_varlen`, of a call that was made before, and of tensors that are memory whoever looks on; None of others."""
    key = ("varlen", *own)
    found = _native.launch_known(_known.kinds[key], *known, *arrays)
    return None if found is None else _view_result(found, own[-1])


def compute_varlen(
    arrays: tuple[Any, ...],
    known: tuple[Any, ...],
    own: tuple[Any, ...],
    *,
    out: Any = None,
    stream: int | None = None,
    check: bool = False,
) -> Any:
    """The result of `varlen`, or both, where nothing else sees the call. The first three are what `varlen` makes."""
    q, k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table, *scaled, random = arrays
    causal, window, softcap, scale, return_lse, _, chip, dropout_p, *counts = known
    dropout = None if random is None else (float(dropout_p), random)
    latent, batch_invariant, weights, out_dtype = own
    alibi_slopes, sinks, q_descale, k_descale, v_descale, k_zero, v_zero, out_descale = scaled
    _check_rank("q", q, 3, "[total_q, heads, head_dim]")
    longest = (_read_count("max_seqlen_q", counts[0]), _read_count("max_seqlen_k", counts[1]))
    integers = {
        "query_lengths": ("", None),
        "query_starts": ("cu_seqlens_q", cu_seqlens_q),
        "key_starts": ("cu_seqlens_k", cu_seqlens_k),
        "key_lengths": ("seqused_k", seqused_k),
        "pages": ("block_table", block_table),
    }
    attempt = _attempt(("varlen", *own), known, arrays, integers, is_packed=True)
    flags = bool(return_lse), latent, bool(batch_invariant), weights, bool(check)
    scales, zeros, narrow = (q_descale, k_descale, v_descale), (k_zero, v_zero), (out_dtype, out_descale)
    options = Options(bool(causal), window, softcap, scale, alibi_slopes, sinks, *flags, scales, zeros, narrow, dropout)
    v = options.choose_values(k, v, "v", q.shape[-1])
    for name, array in (("k", k), ("v", v)):
        if block_table is None:
            _check_rank(name, array, 3, "[total_k, kv_heads, head_dim]")
        else:
            _check_rank(name, array, 4, "[pages, page_size, kv_heads, head_dim]")
    if block_table is None:
        k, v = k[None], v[None]
    found, lse = compute(
        {"q": q[None], "k": k, "v": v},
        integers,
        longest,
        options,
        None if out is None else out[None],
        stream,
        chip,
        attempt,
    )
    result = found[0] if out is None else out
    return (result, lse[0]) if return_lse else result


def decode(
    q: Any,
    k_cache: Any,
    v_cache: Any,
    cache_seqlens: Any = None,
    *,
    block_table: Any = None,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    scale: float | None = None,
    alibi_slopes: Any = None,
    sinks: Any = None,
    return_lse: bool = False,
    latent: int | None = None,
    batch_invariant: bool = False,
    weights: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    k_zero: Any = None,
    v_zero: Any = None,
    out_dtype: Any = None,
    out_descale: Any = None,
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
    check: bool = False,
) -> Any:
    """`attention` of one or a few queries of each sequence to a cache of keys and values, in pages or not.

    q                 [batch, seq_q, heads, head_dim]
    k_cache, v_cache  [batch, most keys, kv_heads, head_dim], or with `block_table` [pages, page_size, kv_heads, head_dim]
    cache_seqlens     [batch], int32: how many keys each sequence has, those of its queries among them; all if not given
    block_table       [batch, most pages], int32: which pages have the keys and values of each sequence
    latent            with None for v_cache: so many columns of k_cache, the first ones, are the values, as in `varlen`
    batch_invariant   as in `varlen`
    weights           as in `varlen`
    k_descale         float32: what elements of k_cache and v_cache are to be multiplied by, for these may have 8 bits (int8, float8_e4m3fn
    v_descale         and the like): one element, [batch, kv_heads] or [batch, most keys, kv_heads], and with `block_table`
                      [pages, kv_heads] or [pages, page_size, kv_heads]; 1 for a dimension that shares them
    q_descale         the same of q, which may have 8 bits if k_cache has, and where the chip multiplies both: one element, [batch, heads]
                      or [batch, seq_q, heads], or as many as heads of keys; the result is bfloat16 then, or as `out`
    k_zero, v_zero    float32: which numbers of int8 or uint8 stand for 0, one for each of k_descale or v_descale, as `quantize` gives them
    out_dtype         as in `varlen`
    out_descale       as in `varlen`

    Other arguments and the results are those of `attention`, with the layout "bshd". Under a causal mask the last query
    attends to the last key of its own sequence. What is behind the keys of a sequence is not read: neither keys, nor
    numbers of pages. A number that is none of a page has keys and values of 0, and a length beyond the cache counts as
    that of the cache. Nothing waits for a GPU; but with `check` what the integers hold is checked, and ValueError names
    the sequence.

    Errors are those of `attention`; NotImplementedError where PyTorch asks for gradients, which `varlen` has.
    """
    is_plain = out is None and stream is None and not check
    if is_plain and _known.may_repeat():
        kind = _known.kinds["decode", latent, batch_invariant, weights, out_dtype]
        found = _native.repeat(kind, causal, window, softcap, scale, return_lse, "bshd", chip, 0, None, None,
                               q, k_cache, v_cache, cache_seqlens, block_table, alibi_slopes, sinks, q_descale, k_descale, v_descale,
                               k_zero, v_zero, out_descale, None)  # fmt: skip
        if found is not None:
            return found if out_dtype is None else _view_result(found, out_dtype)
    known = (causal, window, softcap, scale, return_lse, "bshd", chip, *_known.PLAIN)
    own = (latent, batch_invariant, weights, out_dtype)
    scaled = (alibi_slopes, sinks, q_descale, k_descale, v_descale, k_zero, v_zero, out_descale)
    arrays = (q, k_cache, v_cache, cache_seqlens, block_table, *scaled)
    if _frameworks.is_jax(q):
        from . import _jax

        names = ("q", "k_cache", "v_cache", "cache_seqlens", "block_table", *_PER_HEAD)
        operands = dict(zip(names, arrays, strict=True))
        return _jax.call("decode", operands, _name_options(known, own), out=out, stream=stream, check=check)
    if _frameworks.is_watched("out, stream and check", is_plain, *arrays):
        from . import _serving_torch

        return _serving_torch.decode(*arrays, **_name_options(known, own))
    _check_rank("q", q, 4, "[batch, seq_q, heads, head_dim]")
    integers = {
        "query_lengths": ("", None),
        "key_lengths": ("cache_seqlens", cache_seqlens),
        "query_starts": ("", None),
        "key_starts": ("", None),
        "pages": ("block_table", block_table),
    }
    attempt = _attempt(("decode", *own), known, (*arrays, None), integers)
    scales = q_descale, k_descale, v_descale
    flags = bool(return_lse), latent, bool(batch_invariant), weights, bool(check)
    options = Options(bool(causal), window, softcap, scale, alibi_slopes, sinks, *flags, scales, (k_zero, v_zero), (out_dtype, out_descale))
    v_cache = options.choose_values(k_cache, v_cache, "v_cache", q.shape[-1])
    _refuse_gradients(q, k_cache, v_cache)
    found, lse = compute({"q": q, "k": k_cache, "v": v_cache}, integers, (None, None), options, out, stream, chip, attempt)
    return (found, lse) if return_lse else found


def _attempt(
    key: tuple[Any, ...],
    options: tuple[Any, ...],
    inputs: tuple[Any, ...],
    integers: dict[str, tuple[str, Any]],
    *,
    is_packed: bool = False,
) -> _known.Attempt:
    """A call that is not known, with its arrays by the names of the kernel's arguments; `key` is its name, and `latent` next."""
    clauses = (clause for clause, (name, _) in integers.items() if name)
    names = *_gradients.PARTS, *clauses, _operands.name_slopes(is_latent=key[1] is not None), "sinks", *_SCALES, "dropout"
    return _known.Attempt(key, options, dict(zip(names, inputs, strict=True)), is_packed=is_packed)


def _name_options(options: tuple[Any, ...], own: tuple[Any, ...]) -> dict[str, Any]:
    """As PyTorch's operators have them."""
    causal, window, softcap, scale, return_lse, layout, chip, *_ = options
    window, softcap, scale = _attention.check_options(window, softcap, scale, layout)
    latent, batch_invariant, weights, out_dtype = own
    return {
        "causal": bool(causal),
        "window": None if window is None else list(window),
        "softcap": softcap,
        "scale": scale,
        "return_lse": bool(return_lse),
        "latent": latent,
        "batch_invariant": bool(batch_invariant),
        "weights": _frameworks.name_float8(weights, "weights"),
        "out_dtype": _frameworks.name_float8(out_dtype, "out_dtype"),
        "chip": chip,
    }


def _read_count(name: str, number: Any) -> int | None:
    if number is not None and not isinstance(number, numbers.Integral):
        raise TypeError(f"expects {name} to be an integer or None, but got {_frameworks.describe_type(number)}")
    if number is not None and number < 0:
        raise ValueError(f"expects {name} to be at least 0, or None, but got {number}")
    return None if number is None else int(number)


def _check_rank(name: str, array: Any, rank: int, dims: str) -> None:
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"expects {name} to be an array, but got {_frameworks.describe_type(array)}")
    if len(shape) != rank:
        raise ValueError(f"expects {name} to be {dims}, but got shape {tuple(shape)}")


#: What has no gradients where `decode` is called.
NO_GRADIENTS = "caches, and operands of 8 bits or with scales,"


def _refuse_gradients(*arrays: Any) -> None:
    if _frameworks.is_torch(arrays[0]):
        from . import _torch

        _torch.check_gradients(NO_GRADIENTS, *arrays)
