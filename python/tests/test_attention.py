# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of attention on the CPU, beside those in float64."""

import ml_dtypes
import numpy as np
import pytest
from conftest import make_inputs, reference

import attune_mlir as attune

BF16 = ml_dtypes.bfloat16


def check(q, k, v, *, chip=None, **options):
    """Compares with the reference: rounding of inputs to 16 bits is a part of neither."""
    out, lse = attune.attention(q, k, v, chip=chip, return_lse=True, **options)
    expected, expected_lse = reference(q, k, v, **options)
    assert out.shape == expected.shape and out.dtype == q.dtype
    tolerance = 2e-2 if q.dtype == BF16 else 3e-3
    np.testing.assert_allclose(out.astype(np.float64), expected, atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(lse, expected_lse, atol=1e-3, rtol=1e-3)
    return out


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
@pytest.mark.parametrize("causal", [False, True])
def test_basic(dtype, layout, causal):
    check(*make_inputs(batch=2, seq_q=40, seq_k=70, dtype=dtype, layout=layout), layout=layout, causal=causal)


@pytest.mark.parametrize(
    "options",
    [
        {"window": (16, 0)},
        {"window": (-1, 5)},
        {"window": (20, 3), "causal": True},
        {"softcap": 5.0},
        {"scale": 0.3},
        {"alibi_slopes": np.array([0.25, 0.5], dtype=np.float32)},
        {"sinks": np.array([1.0, -2.0], dtype=np.float32)},
        {"alibi_slopes": np.array([0.25, 0.5], dtype=np.float32), "sinks": np.array([1.0, -2.0], dtype=np.float32)},
    ],
    ids=str,
)
def test_options(options):
    check(*make_inputs(seq_q=50, seq_k=90, seed=3), **options)


def test_unbounded_window_is_none():
    inputs = make_inputs()
    np.testing.assert_array_equal(attune.attention(*inputs, window=(-1, -1)), attune.attention(*inputs))


def test_numbers_of_numpy():
    inputs = make_inputs()
    expected = attune.attention(*inputs, softcap=5.0, window=(16, 0))
    found = attune.attention(*inputs, softcap=np.float32(5), window=(np.int64(16), np.int32(0)))
    np.testing.assert_array_equal(found, expected)


def test_grouped_heads_and_head_dims():
    check(*make_inputs(heads=6, kv_heads=2, seq_q=33, seq_k=50, head_dim=32, head_dim_v=64, seed=1))


def test_every_chip():
    inputs = make_inputs(seq_q=24, seq_k=40)
    for chip in attune.chips():
        check(*inputs, chip=chip.name, causal=True)


def test_random_problems():
    random = np.random.default_rng(7)
    for seed in range(12):
        kv_heads = int(random.integers(1, 3))
        inputs = make_inputs(
            batch=int(random.integers(1, 3)), heads=kv_heads * int(random.integers(1, 3)), kv_heads=kv_heads,
            seq_q=int(random.integers(1, 80)), seq_k=int(random.integers(1, 130)), head_dim=64, seed=seed,
        )  # fmt: skip
        check(*inputs, causal=bool(random.integers(2)))


def test_one_kernel_for_all_lengths(cache_folder):
    """A new length or batch size of a bucket, which has one schedule on every chip, compiles nothing."""
    from attune_mlir import _devices, _store

    inputs = make_inputs(batch=4, seq_q=5, seq_k=9)
    check(*inputs, softcap=3.5)
    before = _store.counts.misses
    check(*make_inputs(batch=3, seq_q=60, seq_k=1), softcap=3.5)
    assert _store.counts.misses == before
    # In a new process, the disk has it.
    _devices._devices.clear()
    check(*inputs, softcap=3.5)
    assert _store.counts.misses == before and attune.cache.info().entries == 1


def test_masked_rows_are_zero():
    q, k, v = make_inputs(seq_q=40, seq_k=8)
    out, lse = attune.attention(q, k, v, causal=True, return_lse=True)
    assert not out[:, :32].any() and np.isneginf(lse[:, :, :32]).all() and np.isfinite(lse[:, :, 32:]).all()


def test_empty():
    for sizes in ({"batch": 0}, {"seq_q": 0, "seq_k": 5}):
        q, k, v = make_inputs(**sizes)
        out, lse = attune.attention(q, k, v, return_lse=True)
        assert out.shape == q.shape and lse.size == 0
    q, k, v = make_inputs(seq_q=5, seq_k=0)
    out, lse = attune.attention(q, k, v, return_lse=True)
    assert not out.any() and np.isneginf(lse).all()


def test_strides():
    """Slices and transposed views are used where they are."""
    packed = np.random.default_rng(0).standard_normal((2, 37, 3, 2, 64), dtype=np.float32).astype(np.float16)
    check(packed[:, :, 0], packed[:, :, 1], packed[:, :, 2], causal=True)
    q, k, v = make_inputs(seq_q=30)
    check(q.transpose(0, 2, 1, 3), k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3), layout="bhsd")
    # Broadcast heads, and strides of dimensions of one element, which say nothing.
    check(q[:1], np.broadcast_to(k[:, :, :1], k.shape), v)
    q, k, v = make_inputs(heads=1)
    check(np.lib.stride_tricks.as_strided(q, strides=(2, q.strides[1], 6, 2)), k, v)


def test_read_only_and_out():
    q, k, v = make_inputs()
    expected = attune.attention(q, k, v)
    for array in (q, k, v):
        array.flags.writeable = False
    out = np.full_like(expected, np.nan)
    assert attune.attention(q, k, v, out=out) is out
    np.testing.assert_array_equal(out, expected)
