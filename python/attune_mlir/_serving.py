# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as servers ask for it: packed sequences, lengths, keys and values in pages.

One problem for all of them: an attn.attention with the clauses that a call needs. A kernel takes any number of
sequences, of any lengths.
"""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from . import (
    _attention,
    _compiler,
    _contents,
    _devices,
    _frameworks,
    _gradients,
    _integers,
    _known,
    _native,
    _operands,
    _scales,
    _schedules,
)

_DTYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "int8": "i8",
    _operands.PACKED: "i8",
}
#: Clauses with scales of query, key and value, and with zero points.
_SCALES = ("query_scales", "key_scales", "value_scales", "key_zeros", "value_zeros")
#: Up to so many queries of each sequence, rows of several heads may share a tile.
_MAX_STATIC_QUERIES = 64


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for, of query, key and value in the order bshd."""

    #: Of query, key, value and result.
    dtypes: tuple[str, str, str, str]
    heads: int
    kv_heads: int
    head_dim: int
    head_dim_v: int
    #: Queries of a sequence where all have one, which heads then share tiles for; None for any number.
    seq_q: int | None
    #: Keys of a page; None without pages.
    page_size: int | None
    #: The clauses with integers.
    integers: tuple[str, ...]
    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    has_alibi: bool
    has_sinks: bool
    return_lse: bool
    #: Whether values are the first columns of the keys.
    is_latent: bool
    #: Of query, key and value, whether it is other than row-major without gaps.
    strided: tuple[bool, bool, bool]
    #: The clauses with scales, and along which dimensions of their tensor these differ.
    scales: tuple[tuple[str, str], ...]
    #: Whether bits of a sequence do not depend on the others.
    batch_invariant: bool
    #: As which weights are multiplied by values; None for 16 bits.
    weights: str | None
    #: Keys of each sequence where that is known, and they lie neither in pages nor packed.
    seq_k: int | None

    def _describe(self, dtype: str, packed: bool, length: int | None, heads: int, head_dim: int, strided: bool) -> str:
        head_dim = head_dim // 2 if dtype == _operands.PACKED else head_dim
        layout = f", #attn.strided<[?, ?, ?, 1], divisor = {_operands.get_row_step(head_dim, dtype)}>" if strided else ""
        return f"tensor<{'1' if packed else '?'}x{'?' if length is None else length}x{heads}x{head_dim}x{_DTYPES[dtype]}{layout}>"

    def _describe_scales(self, clause: str, letters: str) -> str:
        if clause != "query_scales":
            return _scales.describe(letters, self.page_size or self.seq_k, self.kv_heads)
        return _scales.describe(letters, self.seq_q, self.kv_heads if "g" in letters else self.heads)

    def _list_clauses(self) -> list[str]:
        clauses = ["lse"] * self.return_lse + ["order(bshd)"] + ["causal(bottom_right)"] * self.causal
        if self.window is not None:
            left, right = ("?" if side < 0 else side for side in self.window)
            clauses.append(f"window({left}, {right}, bottom_right)")
        for name, number in (("softcap", self.softcap), ("scale", self.scale)):
            if number is not None:
                clauses.append(f"{name}({number:.9e})")
        clauses += [f"alibi(%alibi : tensor<{self.heads}xf32>)"] * self.has_alibi
        clauses += [f"sinks(%sinks : tensor<{self.heads}xf32>)"] * self.has_sinks
        clauses += [f"latent({self.head_dim_v})"] * self.is_latent + ["batch_invariant"] * self.batch_invariant
        clauses += [] if self.weights is None else [f"weights({_DTYPES[self.weights]})"]
        if packed := [name for name, dtype in zip(("key", "value"), self.dtypes[1:3], strict=True) if dtype == _operands.PACKED]:
            clauses.append(f"packed({', '.join(packed)})")
        for name, letters in self.scales:
            blocks = f", [1, 1, {self.heads // self.kv_heads}, 1]" if "g" in letters else ""
            clauses.append(f"{name}(%{name}{blocks} : {self._describe_scales(name, letters)})")
        return clauses + [f"{name}(%{name} : {_integers.describe(name)})" for name in self.integers]

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect."""
        packs_queries, packs_keys = ("query_starts" in self.integers), ("key_starts" in self.integers)
        of_q, of_k, of_v = self.strided
        rows = self.page_size or self.seq_k
        of_query, of_key, of_value, of_result = self.dtypes
        q = self._describe(of_query, packs_queries, self.seq_q, self.heads, self.head_dim, of_q)
        k = self._describe(of_key, packs_keys, rows, self.kv_heads, self.head_dim, of_k)
        v = k if self.is_latent else self._describe(of_value, packs_keys, rows, self.kv_heads, self.head_dim_v, of_v)
        arguments = [f"%q: {q}", f"%k: {k}"] + [f"%v: {v}"] * (not self.is_latent)
        arguments += [f"%{name}: tensor<{self.heads}xf32>" for name in ["alibi"] * self.has_alibi + ["sinks"] * self.has_sinks]
        arguments += [f"%{name}: {_integers.describe(name)}" for name in self.integers]
        arguments += [f"%{name}: {self._describe_scales(name, letters)}" for name, letters in self.scales]
        results = [self._describe(of_result, packs_queries, self.seq_q, self.heads, self.head_dim_v, False)]
        batch = "1" if packs_queries else "?"
        results += [f"tensor<{batch}x{self.heads}x{'?' if self.seq_q is None else self.seq_q}xf32>"] * self.return_lse
        names = ", ".join(["%out", "%lse"][: len(results)])
        value = "%k" if self.is_latent else "%v"
        return _compiler.parse(
            f"func.func @attention({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
            f"  {names} = attn.attention %q, %k, {value} {' '.join(self._list_clauses())}\n    : {q}, {k}, {v} -> ({', '.join(results)})\n"
            f"  return {names} : {', '.join(results)}\n}}\n"
        )


def _check_sizes(tensors: dict[str, _native.Tensor], has_pages: bool) -> None:
    """What query, key and value have to do with each other, but for sequences."""
    q, k, v = (dict(zip("bshd", (*x.shape[:3], _operands.count_columns(x, name)), strict=True)) for name, x in tensors.items())
    shapes = ", ".join(f"{name} of shape {tuple(tensor.shape)}" for name, tensor in tensors.items())
    if (k["b"], k["s"]) != (v["b"], v["s"]):
        what = "number of pages, and of keys in each," if has_pages else "number of keys"
        raise ValueError(f"expects k and v to have one {what} but got {shapes}")
    _operands.check_heads(q, k, v, ("q", "k", "v"), shapes)


@dataclasses.dataclass(frozen=True)
class Options:
    """What attention is, besides its operands."""

    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    alibi_slopes: Any
    sinks: Any
    return_lse: bool
    #: How many columns of the keys are values; None where these are apart.
    latent: int | None
    batch_invariant: bool
    #: A type of 8 bits, or None.
    weights: Any
    #: Whether what integers hold is checked.
    check: bool
    #: What elements of queries, keys and values are multiplied by.
    descales: tuple[Any, Any, Any]
    #: Which numbers stand for 0 in keys and values.
    zeros: tuple[Any, Any] = (None, None)

    def read_scales(
        self, tensors: dict[str, _native.Tensor], packs_queries: bool, packs_keys: bool, place: tuple[str, int]
    ) -> dict[str, tuple[_native.Tensor, str]]:
        """The operands of the clauses with scales and zero points that are given, and along which dimensions they differ."""
        if self.latent is not None and self.descales[2] is not None:
            raise ValueError("expects no v_descale with latent, for values that are columns of the keys have their scales, but got one")
        kv_heads = tensors["k"].shape[2]
        parts = (
            ("query_scales", "q", packs_queries, kv_heads),
            ("key_scales", "k", packs_keys, None),
            ("value_scales", "v", packs_keys, None),
        )
        found = {
            clause: _scales.read(array, f"{name}_descale", tensors[name], is_packed, place, heads)
            for (clause, name, is_packed, heads), array in zip(parts, self.descales, strict=True)
            if array is not None
        }
        for (clause, name, is_packed, _), array in zip(parts[1:], self.zeros, strict=True):
            if array is None:
                continue
            self._check_zeros(name, _frameworks.get_dtype_name(tensors[name]))
            zeros = _scales.read(array, f"{name}_zero", tensors[name], is_packed, place)
            if clause not in found or zeros[0].shape != found[clause][0].shape:
                raise ValueError(f"expects {name}_zero of the shape of {name}_descale, but got shape {tuple(array.shape)}")
            found[clause.replace("scales", "zeros")] = zeros
        return found

    def _check_zeros(self, name: str, dtype: str) -> None:
        """That there can be zero points of keys or values of this type."""
        if dtype not in ("int8", _operands.PACKED):
            raise TypeError(f"expects {name}_zero beside {name} of int8 or uint8 alone, but got one for {dtype}")
        if self.latent is not None or self.weights is not None:
            raise ValueError(f"expects no {name}_zero with latent or weights, but got one")

    def choose_values(self, key: Any, value: Any, name: str, head_dim: int) -> Any:
        """The array that holds the values, of keys with so many columns, which may be that of the keys."""
        if (self.latent is None) == (value is None):
            raise ValueError(
                f"expects {name} or latent, the columns of the keys that are values, but got {'neither' if value is None else 'both'}"
            )
        if self.latent is not None and (not isinstance(self.latent, int) or not 1 <= self.latent <= head_dim):
            raise ValueError(f"expects latent to be from 1 to the head dimension {head_dim}, but got {self.latent!r}")
        return key if self.latent is not None else value


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
    if _operands.is_float8(dtype):
        dtype = _read_result_dtype(out)
    has_pages = integers["pages"][1] is not None
    packs_queries = integers["query_starts"][1] is not None
    _check_sizes(tensors, has_pages)
    batch = _count_sequences(tensors, integers)
    counts = {name: batch + name.endswith("starts") for name in _integers.CLAUSES}
    operands = _integers.read(integers, counts, place)
    scales = options.read_scales(tensors, packs_queries, integers["key_starts"][1] is not None, place)
    if options.check:
        _contents.check(integers, batch, tensors["q"].shape[1], tensors["k"].shape)
    of_q, of_k, of_v = (not _operands.normalize_strides(tensor, name) for name, tensor in tensors.items())
    rows, seq_q, heads, head_dim = tensors["q"].shape
    kv_heads, head_dim_v = tensors["k"].shape[2], options.latent or _operands.count_columns(tensors["v"], "v")
    most_keys = tensors["k"].shape[1] * (operands["pages"].shape[1] if has_pages else 1)
    bucket = _schedules.Bucket.get(longest[0] or seq_q, longest[1] or most_keys, 1 if options.batch_invariant else batch)
    # As those of attention without integers.
    has_lengths = not operands and (bucket.seq_q, bucket.seq_k) == (seq_q, most_keys)
    inputs = {"query": tensors["q"], "key": tensors["k"], "value": tensors["v"], **operands}
    inputs |= {clause: tensor for clause, (tensor, _) in scales.items()}
    inputs |= _operands.read_per_head(options.alibi_slopes, options.sinks, heads, place, options.latent is not None)
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
    )
    results: list[tuple[int, ...]] = [(rows, seq_q, heads, head_dim_v)] + [(rows, heads, seq_q)] * options.return_lse
    sizes = _operands.Sizes(batch, heads, seq_q, head_dim, kv_heads, most_keys, head_dim_v)
    return Call(problem, sizes, dtype, inputs, place, results, has_lengths, bucket)


def read_attention(q: Any, k: Any, v: Any, options: Options) -> Call:
    """A call of `attention` with operands of 8 bits or with scales."""
    return read_call({"q": q, "k": k, "v": v}, dict.fromkeys(_integers.CLAUSES, ("", None)), (None, None), options, None)


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
        device = _devices.get_device(*call.place, chip)
        kernel = device.get_kernel(call.problem, call.bucket)
        places = _devices.find_places(kernel)
        arguments, queue = _devices.run(device, kernel, [given[name] for name in places], arrays["q"], stream)
        if not device.is_host:
            attempt.learn(["output"] + ["lse"] * options.return_lse, places, arguments, kernel, queue)
    return out if is_given else framework.finish(arrays["q"], out), None if lse is None else framework.finish(arrays["q"], lse)


def _read_result_dtype(out: Any) -> str:
    """Of queries of 8 bits."""
    dtype = "bfloat16" if out is None else _frameworks.get_dtype_name(_frameworks.make_tensor(out, "out"))
    if dtype not in ("float16", "bfloat16"):
        raise TypeError(f"expects out of float16 or bfloat16, but got {dtype}")
    return dtype


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
    return_lse: bool = False,
    latent: int | None = None,
    batch_invariant: bool = False,
    weights: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    k_zero: Any = None,
    v_zero: Any = None,
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
    max_seqlen_q  queries and keys of the longest sequence, which the schedule is chosen for; results do not depend on them, and where
    max_seqlen_k  they are not given, the schedule is that for one sequence
    seqused_k     [sequences], int32: how many keys of each are there, where that is less than there is room for
    block_table   [sequences, pages of the longest], int32: which pages have the keys and values of each sequence
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

    Other arguments are those of `attention`. The result is [total_q, heads, head_dim], the LSE [heads, total_q].
    Nothing waits for a GPU: lengths may change from one replay of a graph to the next. Queries behind the last sequence
    have the result 0. What the integers hold is not checked, and no access is outside of the arrays whatever it is;
    with `check` it is, which waits for a GPU, and ValueError names the sequence.

    Errors are those of `attention`; NotImplementedError where PyTorch asks for gradients.
    """
    if cu_seqlens_k is None and (block_table is None or seqused_k is None):
        raise ValueError("expects cu_seqlens_k for keys that are packed, or block_table with seqused_k or cu_seqlens_k for those in pages")
    if block_table is not None:
        if seqused_k is None:
            seqused_k = cu_seqlens_k[1:] - cu_seqlens_k[:-1]
        cu_seqlens_k = None
    known = (causal, window, softcap, scale, return_lse, "bshd", chip)
    own = (latent, batch_invariant, weights)
    longest, is_plain = (max_seqlen_q, max_seqlen_k), out is None and stream is None and not check
    scaled = (alibi_slopes, sinks, q_descale, k_descale, v_descale, k_zero, v_zero)
    inputs = (q, k, v, seqused_k, cu_seqlens_q, cu_seqlens_k, block_table, *scaled)
    if is_plain and (found := _known.repeat(("varlen", *own), known, inputs, longest)) is not None:
        return (found[0][0], found[1][0]) if return_lse else found[0]
    arrays = (q, k, v, cu_seqlens_q, cu_seqlens_k, seqused_k, block_table, *scaled)
    if _frameworks.is_watched("out, stream and check", is_plain, *arrays):
        from . import _serving_torch

        most = {"max_seqlen_q": max_seqlen_q, "max_seqlen_k": max_seqlen_k}
        return _serving_torch.varlen(*arrays, **most, **_name_options(known, own))
    _check_rank("q", q, 3, "[total_q, heads, head_dim]")
    integers = {
        "query_lengths": ("", None),
        "key_lengths": ("seqused_k", seqused_k),
        "query_starts": ("cu_seqlens_q", cu_seqlens_q),
        "key_starts": ("cu_seqlens_k", cu_seqlens_k),
        "pages": ("block_table", block_table),
    }
    attempt = _attempt(("varlen", *own), known, inputs, integers, longest)
    scales = q_descale, k_descale, v_descale
    flags = bool(return_lse), latent, bool(batch_invariant), weights, bool(check)
    options = Options(bool(causal), window, softcap, scale, alibi_slopes, sinks, *flags, scales, (k_zero, v_zero))
    v = options.choose_values(k, v, "v", q.shape[-1])
    for name, array in (("k", k), ("v", v)):
        if block_table is None:
            _check_rank(name, array, 3, "[total_k, kv_heads, head_dim]")
        else:
            _check_rank(name, array, 4, "[pages, page_size, kv_heads, head_dim]")
    _refuse_gradients(q, k, v)
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

    Other arguments and the results are those of `attention`, with the layout "bshd". Under a causal mask the last query
    attends to the last key of its own sequence. What is behind the keys of a sequence is not read: neither keys, nor
    numbers of pages. A number that is none of a page has keys and values of 0, and a length beyond the cache counts as
    that of the cache. Nothing waits for a GPU; but with `check` what the integers hold is checked, and ValueError names
    the sequence.

    Errors are those of `attention`; NotImplementedError where PyTorch asks for gradients.
    """
    known = (causal, window, softcap, scale, return_lse, "bshd", chip)
    own = (latent, batch_invariant, weights)
    is_plain = out is None and stream is None and not check
    arrays = (q, k_cache, v_cache, cache_seqlens, block_table, alibi_slopes, sinks, q_descale, k_descale, v_descale, k_zero, v_zero)
    if is_plain and (found := _known.repeat(("decode", *own), known, arrays)) is not None:
        return found
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
    attempt = _attempt(("decode", *own), known, arrays, integers)
    scales = q_descale, k_descale, v_descale
    flags = bool(return_lse), latent, bool(batch_invariant), weights, bool(check)
    options = Options(bool(causal), window, softcap, scale, alibi_slopes, sinks, *flags, scales, (k_zero, v_zero))
    v_cache = options.choose_values(k_cache, v_cache, "v_cache", q.shape[-1])
    _refuse_gradients(q, k_cache, v_cache)
    found, lse = compute({"q": q, "k": k_cache, "v": v_cache}, integers, (None, None), options, out, stream, chip, attempt)
    return (found, lse) if return_lse else found


def _attempt(
    key: tuple[Any, ...],
    options: tuple[Any, ...],
    inputs: tuple[Any, ...],
    integers: dict[str, tuple[str, Any]],
    longest: tuple[int | None, ...] = (),
) -> _known.Attempt:
    """A call that is not known, with its arrays by the names of the kernel's arguments; `key` is its name, and `latent` next."""
    clauses = (clause for clause, (name, _) in integers.items() if name)
    names = *_gradients.PARTS, *clauses, _operands.name_slopes(is_latent=key[1] is not None), "sinks", *_SCALES
    return _known.Attempt(key, options, dict(zip(names, inputs, strict=True)), longest)


def _name_options(options: tuple[Any, ...], own: tuple[Any, ...]) -> dict[str, Any]:
    """As PyTorch's operators have them."""
    causal, window, softcap, scale, return_lse, _, chip = options
    latent, batch_invariant, weights = own
    return {
        "causal": bool(causal),
        "window": None if window is None else list(window),
        "softcap": softcap,
        "scale": scale,
        "return_lse": bool(return_lse),
        "latent": latent,
        "batch_invariant": bool(batch_invariant),
        "weights": _frameworks.name_float8(weights, "weights"),
        "chip": chip,
    }


def _check_rank(name: str, array: Any, rank: int, dims: str) -> None:
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"expects {name} to be an array, but got {_frameworks.describe_type(array)}")
    if len(shape) != rank:
        raise ValueError(f"expects {name} to be {dims}, but got shape {tuple(shape)}")


def _refuse_gradients(*arrays: Any) -> None:
    if _frameworks.is_torch(arrays[0]):
        from . import _torch

        _torch.check_gradients("packed sequences and caches", *arrays)
