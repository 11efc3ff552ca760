# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed sequences, lengths and pages on the CPU, beside each sequence alone in float64."""

import itertools
import re

import ml_dtypes
import numpy as np
import pytest
from conftest import find_chip, reference

import attune_mlir as attune
from attune_mlir import _schedules

LENGTHS_Q = [0, 1, 20, 5, 17]
LENGTHS_K = [3, 30, 20, 0, 40]
HEADS, KV_HEADS, SIZE, PAGE = 4, 2, 32, 8


def make(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


def get_starts(lengths):
    return np.cumsum([0, *lengths]).astype(np.int32)


def compute_alone(q, k, v, **options):
    """Result [queries, heads, size] and LSE [heads, queries] of one sequence."""
    if len(k) == 0:
        return np.zeros((len(q), q.shape[1], v.shape[2])), np.full((q.shape[1], len(q)), -np.inf)
    out, lse = reference(q[None], k[None], v[None], **options)
    return out[0], lse[0]


def split(array, lengths):
    starts = get_starts(lengths)
    return [array[begin:end] for begin, end in itertools.pairwise(starts)]


def put_in_pages(rng, sequences):
    """Keys or values of sequences in pages of any order, and the table; what is in none is NaN, and numbers behind are of no page."""
    counts = [-(-len(x) // PAGE) for x in sequences]
    order = rng.permutation(sum(counts) + 3)
    pool = np.full((len(order), PAGE, *sequences[0].shape[1:]), np.nan, dtype=np.float16)
    table = np.full((len(sequences), max(counts) + 1), 2**31 - 1, dtype=np.int32)
    pages = iter(order)
    for row, sequence in zip(table, sequences, strict=True):
        for number, begin in enumerate(range(0, len(sequence), PAGE)):
            row[number] = next(pages)
            part = sequence[begin : begin + PAGE]
            pool[row[number], : len(part)] = part
    return pool, table


def check(found, expected):
    np.testing.assert_allclose(found.astype(np.float64), expected, atol=4e-3, rtol=4e-3)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"causal": True, "window": (9, 0), "softcap": 5.0}, {"scale": 0.3}], ids=str)
def test_packed(options):
    rng = np.random.default_rng(1)
    # Rows behind the last sequence, whose contents do not matter.
    q = make(rng, sum(LENGTHS_Q) + 4, HEADS, SIZE)
    k, v = (make(rng, sum(LENGTHS_K) + 5, KV_HEADS, SIZE) for _ in range(2))
    k[-5:] = v[-5:] = np.nan
    out, lse = attune.varlen(q, k, v, get_starts(LENGTHS_Q), get_starts(LENGTHS_K), return_lse=True, **options)
    assert out.shape == q.shape and lse.shape == (HEADS, len(q))
    parts = zip(split(q, LENGTHS_Q), split(k, LENGTHS_K), split(v, LENGTHS_K), split(out, LENGTHS_Q), split(lse.T, LENGTHS_Q), strict=True)
    for own_q, own_k, own_v, own_out, own_lse in parts:
        expected, expected_lse = compute_alone(own_q, own_k, own_v, **options)
        check(own_out, expected)
        np.testing.assert_allclose(own_lse.T, expected_lse, atol=1e-3, rtol=1e-3)
    assert not out[-4:].any() and np.isneginf(lse[:, -4:]).all()


def test_per_head():
    rng = np.random.default_rng(2)
    q, k, v = make(rng, 30, HEADS, SIZE), make(rng, 30, KV_HEADS, SIZE), make(rng, 30, KV_HEADS, SIZE)
    options = {"sinks": rng.standard_normal(HEADS).astype(np.float32), "alibi_slopes": np.float32([0.5, 0.25, 1, 0]), "causal": True}
    starts = get_starts([11, 19])
    out = attune.varlen(q, k, v, starts, starts, 19, 19, **options)
    for part in (slice(11), slice(11, 30)):
        check(out[part], compute_alone(q[part], k[part], v[part], **options)[0])


@pytest.mark.parametrize("by_starts", [False, True])
def test_packed_queries_of_pages(by_starts):
    rng = np.random.default_rng(3)
    q = make(rng, sum(LENGTHS_Q), HEADS, SIZE)
    keys, values = ([make(rng, length, KV_HEADS, SIZE) for length in LENGTHS_K] for _ in range(2))
    (k, table), (v, _) = (put_in_pages(np.random.default_rng(4), x) for x in (keys, values))
    lengths = {"cu_seqlens_k": get_starts(LENGTHS_K)} if by_starts else {"seqused_k": np.int32(LENGTHS_K)}
    out = attune.varlen(q, k, v, get_starts(LENGTHS_Q), block_table=table, causal=True, **lengths)
    for own_q, own_k, own_v, own_out in zip(split(q, LENGTHS_Q), keys, values, split(out, LENGTHS_Q), strict=True):
        check(own_out, compute_alone(own_q, own_k, own_v, causal=True)[0])


@pytest.mark.parametrize("seq_q", [1, 3])
@pytest.mark.parametrize("has_pages", [False, True])
def test_decode(seq_q, has_pages):
    rng = np.random.default_rng(5)
    lengths = [3, 30, 20, 0, 40]
    q = make(rng, len(lengths), seq_q, HEADS, SIZE)
    keys, values = ([make(rng, length, KV_HEADS, SIZE) for length in lengths] for _ in range(2))
    if has_pages:
        (k, table), (v, _) = (put_in_pages(np.random.default_rng(6), x) for x in (keys, values))
        options = {"block_table": table}
    else:
        k, v = (np.full((len(lengths), 41, KV_HEADS, SIZE), np.nan, dtype=np.float16) for _ in range(2))
        for b, length in enumerate(lengths):
            k[b, :length], v[b, :length] = keys[b], values[b]
        options = {}
    out = attune.decode(q, k, v, np.int32(lengths), causal=True, **options)
    for own_q, own_k, own_v, own_out in zip(q, keys, values, out, strict=True):
        check(own_out, compute_alone(own_q, own_k, own_v, causal=True)[0])


@pytest.mark.parametrize("kind", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_results_of_8_bits(kind):
    """Results are divided by a scale of their head, rounded, and at most the largest number."""
    rng = np.random.default_rng(8)
    q, k, v = make(rng, 2, 3, HEADS, SIZE), make(rng, 2, 41, KV_HEADS, SIZE), make(rng, 2, 41, KV_HEADS, SIZE)
    largest, digits = float(ml_dtypes.finfo(kind).max), float(ml_dtypes.finfo(kind).eps)
    scales = np.float32([0.01, 0.5, 0.1 / largest, 1])
    options = {"out_dtype": kind, "out_descale": scales}
    out, lse = attune.decode(q, k, v, return_lse=True, causal=True, **options)
    given = np.zeros_like(out)
    assert attune.attention(q, k, v, causal=True, out=given, out_descale=scales[None]) is given
    np.testing.assert_array_equal(given.view(np.uint8), out.view(np.uint8))
    expected, of_sums = reference(q, k, v, causal=True)
    check(lse, of_sums)
    exact = np.clip(expected / scales[:, None], -largest, largest)
    assert out.dtype == kind and (np.abs(out.astype(np.float64)) == largest).any()
    error = np.abs(out.astype(np.float64) - exact)
    assert (error <= np.abs(exact) * digits * 0.51 + 4e-3 / scales[:, None]).all()
    assert (out == exact.astype(kind)).mean() > 0.8


@pytest.mark.parametrize("family", ["Ampere", "Hopper", "CDNA"])
def test_decode_in_parts(family, monkeypatch):
    """Keys are split, and the last workgroup of a tile, or of single warps a kernel, merges what all have found, in launch after launch."""
    scheduled = []
    schedule = _schedules.schedule

    def note(module, bucket, chip):
        made = schedule(module, bucket, chip)
        scheduled.append(_schedules.get_costs(made.module, bucket.sizes).schedule)
        return made

    monkeypatch.setattr(_schedules, "schedule", note)
    rng = np.random.default_rng(8)
    lengths = [700, 0, 1, 1100]
    q, sinks = make(rng, len(lengths), 1, HEADS, SIZE), rng.standard_normal(HEADS).astype(np.float32)
    keys, values = ([make(rng, length, KV_HEADS, SIZE) for length in lengths] for _ in range(2))
    (k, table), (v, _) = (put_in_pages(np.random.default_rng(6), x) for x in (keys, values))
    options = {"block_table": table, "sinks": sinks, "return_lse": True, "chip": find_chip(family)}
    out, lse = attune.decode(q, k, v, np.int32(lengths), **options)
    for own_q, own_k, own_v, own_out, own_lse in zip(q, keys, values, out, lse, strict=True):
        expected, expected_lse = reference(own_q[None], own_k[None], own_v[None], sinks=sinks)
        check(own_out, expected[0])
        np.testing.assert_allclose(own_lse, expected_lse[0], atol=1e-3, rtol=1e-3)
    merge = "last" if int(scheduled[0]["num-warps"]) > 1 else "kernel"
    assert int(scheduled[0]["split-k"]) > 1 and scheduled[0]["merge"] == merge
    for found, again in zip((out, lse), attune.decode(q, k, v, np.int32(lengths), **options), strict=True):
        np.testing.assert_array_equal(found, again)


def test_empty():
    rng = np.random.default_rng(7)
    q, k = make(rng, 0, HEADS, SIZE), make(rng, 8, KV_HEADS, SIZE)
    assert attune.varlen(q, k, k, np.int32([0, 0]), np.int32([0, 8])).shape == (0, HEADS, SIZE)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"cu_seqlens_k": None}, ValueError, "expects cu_seqlens_k for keys that are packed, or block_table"),
        ({"cu_seqlens_k": np.int32([0, 4, 8])}, ValueError, "expects cu_seqlens_k to have 2 elements, but got shape (3,)"),
        ({"cu_seqlens_q": np.int64([0, 8])}, TypeError, "expects cu_seqlens_q of int32, but got int64"),
        ({"cu_seqlens_q": np.int32([8])}, ValueError, "expects cu_seqlens_q to have one element more than there are sequences"),
        ({"seqused_k": np.int32([8, 8])}, ValueError, "expects seqused_k to have 1 elements, but got shape (2,)"),
        ({"q": np.zeros((1, 8, 4, 32), np.float16)}, ValueError, "expects q to be [total_q, heads, head_dim], but got shape (1, 8, 4, 32)"),
        ({"v": np.zeros((7, 2, 32), np.float16)}, ValueError, "expects k and v to have one number of keys but got"),
        ({"q": np.zeros((8, 3, 32), np.float16)}, ValueError, "expects the heads of q to be a multiple"),
        ({"softcap": -1.0}, ValueError, "expects softcap to be above 0"),
        ({"max_seqlen_q": 1.5}, TypeError, "expects max_seqlen_q to be an integer or None, but got float"),
        ({"max_seqlen_k": -1}, ValueError, "expects max_seqlen_k to be at least 0, or None, but got -1"),
    ],
    ids=str,
)
def test_errors(change, error, text):
    arrays = {"q": np.zeros((8, 4, 32), np.float16), "k": np.zeros((8, 2, 32), np.float16), "v": np.zeros((8, 2, 32), np.float16)}
    call = arrays | {"cu_seqlens_q": np.int32([0, 8]), "cu_seqlens_k": np.int32([0, 8])} | change
    with pytest.raises(error) as caught:
        attune.varlen(**call)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, None),
        ({"cu_seqlens_q": np.int32([1, 3, 8])}, "expects cu_seqlens_q to begin with 0, but got 1"),
        ({"cu_seqlens_q": np.int32([0, 9, 8])}, "expects cu_seqlens_q of at most 8, but got 9, where sequence 0 ends"),
        ({"cu_seqlens_q": np.int32([0, 5, 3])}, "expects cu_seqlens_q to rise, but got 3 behind 5, where sequence 1 ends"),
        ({"seqused_k": np.int32([9, -1])}, "expects seqused_k from 0 to 24 for sequence 1, but got -1"),
        ({"seqused_k": np.int32([25, 0])}, "expects seqused_k from 0 to 24 for sequence 0, but got 25"),
        ({"seqused_k": np.int32([9, 17])}, "expects numbers of pages from 0 to 4 in block_table, but got 5 as entry 2 of sequence 1"),
    ],
    ids=str,
)
def test_checks_of_contents(change, text):
    rng = np.random.default_rng(8)
    q, pages = make(rng, 8, HEADS, SIZE), make(rng, 5, PAGE, KV_HEADS, SIZE)
    integers = {"cu_seqlens_q": np.int32([0, 5, 8]), "seqused_k": np.int32([9, 16]), "block_table": np.int32([[4, 0, -1], [2, 3, 5]])}
    call = integers | change
    if text is None:
        attune.varlen(q, pages, pages, **call, check=True)
        return
    with pytest.raises(ValueError, match=re.escape(text)):
        attune.varlen(q, pages, pages, **call, check=True)
    if "seqused_k" in change:  # where sequences overlap, the executor finds it
        assert np.isfinite(attune.varlen(q, pages, pages, **call)).all()


def test_checks_of_packed_keys():
    rng = np.random.default_rng(9)
    q, k = make(rng, 2, 1, HEADS, SIZE), make(rng, 2, 8, KV_HEADS, SIZE)
    with pytest.raises(ValueError, match="expects cache_seqlens from 0 to 8 for sequence 1, but got 9"):
        attune.decode(q, k, k, np.int32([8, 9]), check=True)
    with pytest.raises(ValueError, match="expects cu_seqlens_k of at most 8, but got 9, where sequence 1 ends"):
        attune.varlen(q[:, 0], k[0], k[0], np.int32([0, 1, 2]), np.int32([0, 5, 9]), check=True)


@pytest.mark.parametrize("is_paged", [False, True])
def test_latent(is_paged):
    """Values are the first columns of the keys, which all heads share."""
    rng, latent, size = np.random.default_rng(11), 32, 48
    q = make(rng, len(LENGTHS_K), 1, HEADS, size)
    sequences = [make(rng, length, 1, size) for length in LENGTHS_K]
    lengths = np.array(LENGTHS_K, dtype=np.int32)
    if is_paged:
        cache, table = put_in_pages(rng, sequences)
        options = {"block_table": table}
    else:
        cache, options = np.full((len(sequences), max(LENGTHS_K), 1, size), np.nan, dtype=np.float16), {}
        for row, sequence in zip(cache, sequences, strict=True):
            row[: len(sequence)] = sequence
    out, lse = attune.decode(q, cache, None, lengths, latent=latent, return_lse=True, scale=0.2, **options)
    assert out.shape == (len(q), 1, HEADS, latent)
    for number, keys in enumerate(sequences):
        expected, expected_lse = compute_alone(q[number], keys, keys[..., :latent], scale=0.2)
        check(out[number], expected)
        np.testing.assert_allclose(lse[number], expected_lse, atol=1e-3, rtol=1e-3)
    given = {"sinks": rng.standard_normal(HEADS).astype(np.float32), "alibi_slopes": np.float32([0.5, 0.25, 1, 0])}
    out = attune.decode(q, cache, None, lengths, latent=latent, causal=True, **given, **options)
    for own_q, keys, own_out in zip(q, sequences, out, strict=True):
        check(own_out, compute_alone(own_q, keys, keys[..., :latent], causal=True, **given)[0])
    # Several queries of a sequence, packed.
    own = make(rng, sum(LENGTHS_Q), HEADS, size)
    keys = np.concatenate(sequences)
    found = attune.varlen(own, keys, None, get_starts(LENGTHS_Q), get_starts(LENGTHS_K), latent=latent, causal=True)
    for own_q, own_k, own_out in zip(split(own, LENGTHS_Q), sequences, split(found, LENGTHS_Q), strict=True):
        check(own_out, compute_alone(own_q, own_k, own_k[..., :latent], causal=True)[0])


def test_latent_errors():
    q, k = np.zeros((1, 1, 4, 48), dtype=np.float16), np.zeros((1, 9, 1, 48), dtype=np.float16)
    with pytest.raises(ValueError, match="expects v_cache or latent, the columns of the keys that are values, but got neither"):
        attune.decode(q, k, None)
    with pytest.raises(ValueError, match="expects v_cache or latent, .* but got both"):
        attune.decode(q, k, k, latent=32)
    with pytest.raises(ValueError, match="expects latent to be from 1 to the head dimension 48, but got 64"):
        attune.decode(q, k, None, latent=64)
    with pytest.raises(ValueError, match="expects v or latent"):
        attune.varlen(q[0], k[0], None, get_starts([1]), get_starts([9]))


@pytest.mark.parametrize("seq_q", [1, 3])
def test_decode_alone_and_in_batches(seq_q):
    """Bits of a sequence, whatever is beside it."""
    rng = np.random.default_rng(8)
    lengths = [700, 1, 33, 0, 260]
    q = make(rng, len(lengths), seq_q, HEADS, SIZE) * 4
    k, v = (make(rng, len(lengths), max(lengths), KV_HEADS, SIZE) for _ in range(2))

    def decode(rows, room):
        return attune.decode(q[rows], k[rows, :room], v[rows, :room], np.int32(lengths)[rows], causal=True, batch_invariant=True)

    alone = [decode([b], max(length, 1)) for b, length in enumerate(lengths)]
    for rows in ([0, 1, 2, 3, 4], [4, 2], [1, 1, 1, 0], [0, 4] * 9):
        for b, out in zip(rows, decode(rows, 700), strict=True):
            np.testing.assert_array_equal(out, alone[b][0])
    np.testing.assert_allclose(alone[0][0], compute_alone(q[0], k[0], v[0], causal=True)[0], atol=4e-3, rtol=4e-3)


def test_packed_alone_and_in_batches():
    rng = np.random.default_rng(9)
    q, k, v = (([make(rng, length, heads, SIZE) * 4 for length in LENGTHS_K]) for heads in (HEADS, KV_HEADS, KV_HEADS))

    def compute(rows):
        starts = get_starts([LENGTHS_K[b] for b in rows])
        packed = (np.concatenate([x[b] for b in rows]) for x in (q, k, v))
        return split(attune.varlen(*packed, starts, starts, causal=True, batch_invariant=True), [LENGTHS_K[b] for b in rows])

    alone = {b: compute([b])[0] for b, length in enumerate(LENGTHS_K) if length}
    for rows in ([0, 1, 2, 3, 4], [4, 1], [1, 0, 0, 4, 2, 2]):
        for b, out in zip(rows, compute(rows), strict=True):
            if LENGTHS_K[b]:
                np.testing.assert_array_equal(out, alone[b])
