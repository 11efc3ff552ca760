# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merges of results over parts of keys on the CPU, beside their definition in float64 and attention over all keys."""

import numpy as np
import pytest
from conftest import reference

import attune_mlir as attune

BATCH, HEADS, KV_HEADS, SIZE = 2, 4, 2, 32


def make_parts(rng, count, shape, dtype=np.float16):
    """Parts of [batch, queries, heads, size], and LSEs of [batch, heads, queries]."""
    b, s, h, _ = shape
    return [rng.standard_normal(shape).astype(dtype) for _ in range(count)], [
        (4 * rng.standard_normal((b, h, s))).astype(np.float32) for _ in range(count)
    ]


def merge_in_float64(parts, lses):
    logs = np.stack(lses).astype(np.float64)
    most = logs.max(axis=0)
    weights = np.exp(logs - np.where(np.isneginf(most), 0, most))
    total = weights.sum(axis=0)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0).transpose(0, 1, 3, 2)[..., None]
    out = np.where(shares > 0, np.nan_to_num(np.stack(parts).astype(np.float64)) * shares, 0).sum(axis=0)
    with np.errstate(divide="ignore"):
        return out, np.where(np.isneginf(most), 0, most) + np.log(total)


def check(found, expected, tolerance=2e-3):
    out, lse = found
    np.testing.assert_allclose(out.astype(np.float64), expected[0], atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(lse, expected[1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("seq_q", [1, 5])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_numbers(count, seq_q, dtype):
    parts, lses = make_parts(np.random.default_rng(count), count, (BATCH, seq_q, HEADS, SIZE), dtype)
    found = attune.merge(parts, lses, return_lse=True)
    assert found[0].dtype == dtype
    check(found, merge_in_float64(parts, lses), 2e-3 if dtype == np.float16 else 1e-5)


def test_empty_parts():
    parts, lses = make_parts(np.random.default_rng(1), 3, (BATCH, 6, HEADS, SIZE))
    # What a part without keys holds does not matter.
    lses[0][0], parts[0][0] = -np.inf, np.nan
    lses[1][:, 1], parts[1][:, :, 1] = -np.inf, np.inf
    for part, lse in zip(parts, lses, strict=True):
        lse[:, :, 3], part[:, 3] = -np.inf, np.nan
    out, lse = attune.merge(parts, lses, return_lse=True)
    check((out, lse), merge_in_float64(parts, lses))
    assert not out[:, 3].any() and np.isneginf(lse[:, :, 3]).all()


def test_parts_of_keys():
    """A prefix that sequences share, and keys of their own; some have none."""
    rng = np.random.default_rng(2)
    q = rng.standard_normal((3, 1, HEADS, SIZE)).astype(np.float16)
    prefix_k, prefix_v = rng.standard_normal((2, 1, 20, KV_HEADS, SIZE)).astype(np.float16)
    k, v = rng.standard_normal((2, 3, 30, KV_HEADS, SIZE)).astype(np.float16)
    lengths = np.int32([30, 0, 7])
    # Queries of all sequences are those of one, which has the prefix.
    shared, shared_lse = attune.attention(q.reshape(1, 3, HEADS, SIZE), prefix_k, prefix_v, return_lse=True)
    own, own_lse = attune.decode(q, k, v, lengths, return_lse=True)
    found = attune.merge([shared.reshape(q.shape), own], [shared_lse.transpose(2, 1, 0), own_lse], return_lse=True)
    for b, length in enumerate(lengths):
        keys, values = (np.concatenate([x[0], y[b, :length]])[None] for x, y in ((prefix_k, k), (prefix_v, v)))
        expected, expected_lse = reference(q[b : b + 1], keys, values)
        check((found[0][b : b + 1], found[1][b : b + 1]), (expected, expected_lse), 4e-3)


def test_merges_are_parts():
    """A tree of prefixes: what is merged is a part of the next merge."""
    parts, lses = make_parts(np.random.default_rng(7), 3, (BATCH, 4, HEADS, SIZE), np.float32)
    lses[0][1] = lses[1][1] = -np.inf
    inner, inner_lse = attune.merge(parts[:2], lses[:2], return_lse=True)
    found = attune.merge([inner, parts[2]], [inner_lse, lses[2]], return_lse=True)
    check(found, merge_in_float64(parts, lses), 1e-5)


def test_packed():
    parts, lses = make_parts(np.random.default_rng(3), 2, (1, 9, HEADS, SIZE))
    out, lse = attune.merge([x[0] for x in parts], [x[0] for x in lses], return_lse=True)
    assert out.shape == (9, HEADS, SIZE) and lse.shape == (HEADS, 9)
    check((out[None], lse[None]), merge_in_float64(parts, lses))


def test_layout_strides_and_out():
    parts, lses = make_parts(np.random.default_rng(4), 2, (BATCH, 5, HEADS, SIZE), np.float32)
    expected, _ = merge_in_float64(parts, lses)
    strided = [np.concatenate([x, x], axis=2)[:, :, :HEADS] for x in parts]
    out = np.empty(parts[0].shape, np.float16)
    strided_lses = [np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0) for x in lses]
    assert attune.merge(strided, strided_lses, out=out) is out
    np.testing.assert_allclose(out, expected, atol=2e-3, rtol=2e-3)
    found = attune.merge([np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in parts], lses, layout="bhsd")
    np.testing.assert_allclose(found.transpose(0, 2, 1, 3), expected, atol=1e-5, rtol=1e-5)


def test_no_queries():
    parts, lses = make_parts(np.random.default_rng(5), 2, (BATCH, 0, HEADS, SIZE))
    assert attune.merge(parts, lses).shape == (BATCH, 0, HEADS, SIZE)


def test_errors():
    parts, lses = make_parts(np.random.default_rng(6), 2, (BATCH, 3, HEADS, SIZE))
    with pytest.raises(ValueError, match="at least one output and one LSE for each, but got 2 and 1"):
        attune.merge(parts, lses[:1])
    with pytest.raises(ValueError, match=r"outputs\[1\] of shape .* as outputs\[0\] is, but got shape \(2, 2, 4, 32\)"):
        attune.merge([parts[0], parts[1][:, :2]], lses)
    with pytest.raises(TypeError, match=r"outputs of one dtype, but got float16 and, of outputs\[1\], float32"):
        attune.merge([parts[0], parts[1].astype(np.float32)], lses)
    with pytest.raises(ValueError, match=r"lses\[1\] of shape \(2, 4, 3\) .* but got shape \(2, 3, 4\)"):
        attune.merge(parts, [lses[0], lses[1].transpose(0, 2, 1)])
    with pytest.raises(TypeError, match=r"lses\[0\] of float32, but got float16"):
        attune.merge(parts, [lses[0].astype(np.float16), lses[1]])
    with pytest.raises(ValueError, match="layout to be one of bshd, bhsd, but got 'shd'"):
        attune.merge(parts, lses, layout="shd")
