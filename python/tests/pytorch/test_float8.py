# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys and values of 8 bits, floats and integers, with scales, beside PyTorch's attention in float32 of what they stand for."""

import re

import numpy as np
import pytest
import torch

import attune_mlir as attune
from attune_mlir import _devices

HEADS, KV_HEADS, SIZE, KEYS = 4, 2, 32, 24
TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 2e-2}


def make(seed, *shape, dtype=torch.float8_e4m3fn):
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return (numbers * 2).round().to(dtype) if dtype == torch.int8 else numbers.to(dtype)


def make_scales(seed, *shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) + 0.5


def widen(x, scales):
    """Elements [..., rows, heads, size] times scales [..., rows, heads], each 1 where they share one."""
    return x.float() * scales[..., None]


def check(out, q, k, v, **options):
    """One sequence: [rows, heads, size]."""
    parts = (x.float().transpose(0, 1) for x in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(*parts, enable_gqa=True, **options).transpose(0, 1)
    tolerance = TOLERANCES[out.dtype] * max(1.0, float(v.float().abs().max()))
    torch.testing.assert_close(out.float(), expected, atol=tolerance, rtol=TOLERANCES[out.dtype])


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8], ids=str)
@pytest.mark.parametrize("of_query", [torch.float16, torch.bfloat16], ids=str)
def test_attention(dtype, of_query, nvidia):
    q, k, v = make(0, 2, 3, HEADS, SIZE, dtype=of_query), *(make(s, 2, KEYS, KV_HEADS, SIZE, dtype=dtype) for s in (1, 2))
    k_scales, v_scales = make_scales(3, 2, KV_HEADS), make_scales(4, 2, KV_HEADS)
    out, lse = attune.attention(q, k, v, k_descale=k_scales, v_descale=v_scales, return_lse=True, chip=nvidia)
    assert out.dtype == of_query and lse.dtype == torch.float32
    for b in range(2):
        check(out[b], q[b], widen(k[b], k_scales[b]), widen(v[b], v_scales[b]))


@pytest.mark.parametrize(
    ("shape", "of_rows"),
    [((), ()), ((1,), ()), ((2, KV_HEADS), (2, 1, KV_HEADS)), ((1, KV_HEADS), (KV_HEADS,)), ((2, KEYS, KV_HEADS), (2, KEYS, KV_HEADS))],
    ids=str,
)
def test_shapes_of_scales(shape, of_rows, amd):
    """Of a cache; what each has stands for what it has when broadcast to [2, KEYS, KV_HEADS]."""
    q, k, v = make(0, 2, 1, HEADS, SIZE, dtype=torch.float16), make(1, 2, KEYS, KV_HEADS, SIZE), make(2, 2, KEYS, KV_HEADS, SIZE)
    k_scales, v_scales = make_scales(5, *shape), make_scales(6, *shape)
    lengths = torch.tensor([5, KEYS], dtype=torch.int32)
    out = attune.decode(q, k, v, lengths, k_descale=k_scales, v_descale=v_scales, chip=amd)
    whole_k, whole_v = (x.reshape(of_rows).expand(2, KEYS, KV_HEADS) for x in (k_scales, v_scales))
    for b, length in enumerate(lengths.tolist()):
        check(out[b], q[b], widen(k[b], whole_k[b])[:length], widen(v[b], whole_v[b])[:length])
    if len(shape) == 2 and shape[0] == 1:  # as servers expand one to all sequences
        expanded = [x.expand(2, KV_HEADS) for x in (k_scales, v_scales)]
        assert torch.equal(out, attune.decode(q, k, v, lengths, k_descale=expanded[0], v_descale=expanded[1], chip=amd))


def test_keys_alone(nvidia):
    """Values of the type of queries beside keys of 8 bits, which may be apart in memory."""
    q, v = (make(s, 1, count, heads, SIZE, dtype=torch.float16) for s, count, heads in ((0, 2, HEADS), (2, KEYS, KV_HEADS)))
    k = make(1, 1, KEYS, KV_HEADS, 2 * SIZE)[..., :SIZE]
    out = attune.attention(q, k, v, causal=True, chip=nvidia)
    mask = torch.ones(2, KEYS, dtype=torch.bool).tril(KEYS - 2)
    check(out[0], q[0], k[0], v[0], attn_mask=mask)


def test_packed(nvidia):
    starts_q, starts_k = torch.tensor([0, 3, 4], dtype=torch.int32), torch.tensor([0, 9, KEYS], dtype=torch.int32)
    q, k, v = make(0, 4, HEADS, SIZE, dtype=torch.bfloat16), make(1, KEYS, KV_HEADS, SIZE), make(2, KEYS, KV_HEADS, SIZE)
    k_scales, v_scales = make_scales(3, KEYS, KV_HEADS), make_scales(4)
    out = attune.varlen(q, k, v, starts_q, starts_k, k_descale=k_scales, v_descale=v_scales, chip=nvidia)
    for b in range(2):
        rows, keys = slice(starts_q[b], starts_q[b + 1]), slice(starts_k[b], starts_k[b + 1])
        check(out[rows], q[rows], widen(k[keys], k_scales[keys]), v[keys].float() * v_scales)


@pytest.mark.parametrize("result", [None, torch.float16], ids=str)
@pytest.mark.parametrize("shape", [(), (2, KV_HEADS), (2, HEADS), (1, 3, HEADS)], ids=str)
def test_queries(shape, result):
    """Products of queries and keys of 8 bits, by a chip that has them."""
    q, k, v = make(0, 2, 3, HEADS, SIZE, dtype=torch.float8_e5m2), make(1, 2, KEYS, KV_HEADS, SIZE), make(2, 2, KEYS, KV_HEADS, SIZE)
    q_scales, k_scales = make_scales(3, *shape), make_scales(4, 2, KV_HEADS)
    out = None if result is None else torch.empty((2, 3, HEADS, SIZE), dtype=result)
    scales = {"q_descale": q_scales, "k_descale": k_scales}
    found = attune.attention(q, k, v, causal=True, window=(9, 0), **scales, out=out)
    assert found.dtype == (result or torch.bfloat16)
    per_row = q_scales.reshape(1, 1, 1) if not shape else q_scales if len(shape) == 3 else q_scales[:, None]
    if shape == (2, KV_HEADS):
        per_row = per_row.repeat_interleave(HEADS // KV_HEADS, dim=2)
    distance = torch.arange(3)[:, None] + KEYS - 3 - torch.arange(KEYS)
    mask = (distance >= 0) & (distance <= 9)
    for b in range(2):
        check(found[b], widen(q, per_row.expand(2, 3, HEADS))[b], widen(k[b], k_scales[b]), v[b], attn_mask=mask)


@pytest.mark.parametrize("weights", ["float8_e4m3fn", torch.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("length", [3, 64], ids=str)
def test_weights(weights, length, nvidia):
    """Rounded to 8 bits, for lengths that kernels know as well; as an operator, too."""
    q, k, v = make(0, 1, length, 2, SIZE), make(1, 1, length, 1, SIZE), make(2, 1, length, 1, SIZE)
    options = {"v_descale": torch.tensor(0.5), "causal": True, "chip": nvidia}
    found = attune.attention(q, k, v, weights=weights, **options)
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    parts = (x[0].float().transpose(0, 1) for x in (q, k, v.float() / 2))
    expected = torch.nn.functional.scaled_dot_product_attention(*parts, attn_mask=mask, enable_gqa=True).transpose(0, 1)
    # Half a step of three bits, of weights that sum up to 1.
    torch.testing.assert_close(found[0].float(), expected, atol=float(v.float().abs().max()) / 2 * 2**-4, rtol=2**-4)
    exact = attune.attention(q, k, v, **options)
    assert not torch.equal(found, exact)
    compiled = torch.compile(lambda *x: attune.decode(*x, weights=weights, **options), fullgraph=True, backend="eager")
    assert torch.equal(compiled(q, k, v), found)


def test_explained_and_tuned(nvidia, cache_folder, monkeypatch, capfd):
    """The kernel that a call runs, and a search for it, whose winner it runs then."""
    monkeypatch.setattr(_devices, "_devices", {})
    q, k, v = (make(s, 1, 40, heads, SIZE) for s, heads in ((0, 2), (1, 1), (2, 1)))
    options = {"weights": torch.float8_e4m3fn, "v_descale": torch.tensor(2.0), "causal": True, "chip": nvidia}
    found = attune.explain(q, k, v, **options)
    assert found.source == "choice" and found.seq_q == 64 and found.resources.workgroups == 2 * -(-40 // int(found.schedule["block-m"]))
    before = attune.attention(q, k, v, **options)
    tuned = attune.tune(q, k, v, **options, budget="60s,4")
    said = capfd.readouterr().err
    assert tuned.tried >= 4 and "nothing was timed" in said and "no numbers were checked" not in said
    assert attune.explain(q, k, v, **options).source == "search"
    torch.testing.assert_close(attune.attention(q, k, v, **options), before, atol=0.3, rtol=2**-3)
    # Without weights it is another kernel.
    del options["weights"]
    assert attune.explain(q, k, v, **options).source == "choice"
    with pytest.raises(ValueError, match="expects layout bshd for operands of 8 bits"):
        attune.explain(q, k, v, layout="bhsd")


def test_packed_queries():
    starts = torch.tensor([0, 3, 8], dtype=torch.int32)
    q, k = make(0, 8, HEADS, SIZE), make(1, 8, KV_HEADS, SIZE)
    q_scales = make_scales(2, 8, KV_HEADS)
    out = attune.varlen(q, k, k, starts, starts, q_descale=q_scales)
    for part in (slice(3), slice(3, 8)):
        check(out[part], widen(q, q_scales.repeat_interleave(HEADS // KV_HEADS, dim=1))[part], k[part], k[part])


@pytest.mark.parametrize("given", [None, 0.25, [0.25, 0.5]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8], ids=str)
def test_cache(dtype, given, nvidia):
    """A cache holds rows to within what 8 bits and its scales can say, and attention of it is that of what it holds."""
    scales = None if given is None else torch.tensor(given).reshape(1, -1)
    sizes = {"kv_heads": KV_HEADS, "head_dim": SIZE, "sequences": 2, "longest": 30}
    cache = attune.PagedCache(8, 8, **sizes, dtype=dtype, k_descale=scales, v_descale=scales)
    k, v = (make(s, KEYS, KV_HEADS, SIZE, dtype=torch.bfloat16) * 10 for s in (1, 2))
    if dtype == torch.int8 and given:  # what they reach is not above 127 times the scale
        k, v = k / 2, v / 2
    k[3] = 0
    cache.append([0, 1], k[:-1], v[:-1], [9, KEYS - 10])
    cache.append([1], k[-1:], v[-1:])
    q = make(0, 2, 1, HEADS, SIZE, dtype=torch.bfloat16) / 10
    table = {"block_table": cache.block_table, "k_descale": cache.k_descale, "v_descale": cache.v_descale}
    out = attune.decode(q, cache.keys, cache.values, cache.lengths, **table, chip=nvidia)
    pages = [
        (widen(x, s if given is None else s.reshape(1, -1)), x) for x, s in ((cache.keys, cache.k_descale), (cache.values, cache.v_descale))
    ]
    for b, rows in enumerate((slice(9), slice(9, KEYS))):
        held = [whole[cache.block_table[b]].flatten(0, 1)[: cache.get_length(b)] for whole, _ in pages]
        for found, expected in zip(held, (k[rows], v[rows]), strict=True):
            expected = expected.float()
            if dtype == torch.int8:  # all numbers are as far apart: half a step
                largest = expected.abs().amax(-1, keepdim=True)
                step = largest / 127 if given is None else torch.tensor(given).reshape(-1, 1)
                assert ((found - expected).abs() <= step * 0.501).all()
                continue
            step = torch.finfo(dtype).eps / 2
            torch.testing.assert_close(found, expected, rtol=step, atol=0.02 if dtype == torch.float8_e5m2 else 0.01)
        check(out[b], q[b], *held)


def test_expanded_scales_of_pages(nvidia):
    """One for all is one for all, whatever it was expanded to: servers pass what has the shape of batches."""
    q, pages = make(0, 3, 1, HEADS, SIZE, dtype=torch.float16), make(1, 5, 8, KV_HEADS, SIZE)
    options = {"cache_seqlens": torch.tensor([3, 8, 5], dtype=torch.int32), "block_table": torch.tensor([[4], [0], [2]], dtype=torch.int32)}
    one = torch.tensor(0.75)
    expected = attune.decode(q, pages, pages, **options, k_descale=one, v_descale=one, chip=nvidia)
    found = attune.decode(q, pages, pages, **options, k_descale=one.expand(3, KV_HEADS), v_descale=one.expand(3, KV_HEADS), chip=nvidia)
    assert torch.equal(found, expected)
    with pytest.raises(ValueError, match=re.escape("expects k_descale to have one element, or shape (5, 2) or (5, 8, 2)")):
        attune.decode(q, pages, pages, **options, k_descale=torch.ones(3, KV_HEADS))


def test_cache_saturates():
    cache = attune.PagedCache(
        1,
        8,
        kv_heads=1,
        head_dim=8,
        sequences=1,
        longest=8,
        dtype=torch.float8_e4m3fn,
        k_descale=torch.tensor(0.5),
        v_descale=torch.tensor(2.0),
    )
    cache.append([0], torch.full((1, 1, 8), -1000.0), torch.full((1, 1, 8), 1000.0))
    assert cache.keys[0, 0].float().unique().tolist() == [-448.0]
    assert cache.values[0, 0].float().unique().tolist() == [448.0]


def test_other_arrays():
    """The same numbers of NumPy, by its extension, and of JAX."""
    ml_dtypes, jax = pytest.importorskip("ml_dtypes"), pytest.importorskip("jax")
    q, k = make(0, 1, 2, HEADS, SIZE, dtype=torch.float16), make(1, 1, KEYS, KV_HEADS, SIZE)
    scales = make_scales(2, 1, KV_HEADS)
    expected = attune.attention(q, k, k, k_descale=scales, v_descale=scales)
    arrays = q.numpy(), k.view(torch.uint8).numpy().view(ml_dtypes.float8_e4m3fn), scales.numpy()
    for convert in (lambda x: x, jax.numpy.asarray):
        own_q, own_k, own_scales = map(convert, arrays)
        found = attune.attention(own_q, own_k, own_k, k_descale=own_scales, v_descale=own_scales)
        np.testing.assert_array_equal(np.asarray(found), expected.numpy())


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"q": torch.zeros(2, 1, 4, 32)}, TypeError, "expects q of float16 or bfloat16, but got float32"),
        (
            {"q": torch.zeros(2, 1, 4, 32).to(torch.float8_e4m3fn), "k_cache": torch.zeros(2, 24, 2, 32).half()},
            TypeError,
            "expects q, k and v to have one dtype, but got float8_e4m3fn and, of k, float16",
        ),
        (
            {"q": torch.zeros(2, 1, 4, 32).to(torch.float8_e4m3fn), "out": torch.zeros(2, 1, 4, 32)},
            TypeError,
            "expects out of float16 or bfloat16, but got float32",
        ),
        ({"q": torch.zeros(2, 1, 4, 32).to(torch.int8)}, TypeError, "expects q of float16 or bfloat16, but got int8"),
        ({"q": torch.zeros(2, 1, 4, 32).to(torch.uint8)}, TypeError, "expects q of float16 or bfloat16, but got uint8"),
        (
            {"k_cache": torch.zeros(2, 24, 2, 32).to(torch.uint8)},
            ValueError,
            "expects q and k to have one head dimension, but got 32 and 64",
        ),
        (
            {"v_cache": torch.zeros(2, 24, 2, 24).to(torch.uint8)},
            ValueError,
            "expects v to have a multiple of 32 columns where bytes hold two, but got 48",
        ),
        ({"q_descale": torch.ones(2, 3)}, ValueError, "expects q_descale to have one element, or shape (2, 4) or (2, 1, 4) or (2, 2) or"),
        ({"k_cache": torch.zeros(2, 24, 2, 32)}, TypeError, "expects k of float16 or bfloat16, but got float32"),
        (
            {"v_cache": torch.zeros(2, 24, 2, 32).bfloat16()},
            TypeError,
            "expects q, k and v to have one dtype, but got float16 and, of v, bfloat16",
        ),
        ({"k_descale": torch.ones(2, 2).half()}, TypeError, "expects k_descale of float32, but got float16"),
        ({"k_descale": 0.5}, TypeError, "expects k_descale to be an array with __dlpack__, but got float"),
        (
            {"v_descale": torch.ones(2, 4)},
            ValueError,
            "expects v_descale to have one element, or shape (2, 2) or (2, 24, 2) with 1 where a dimension shares them, but got (2, 4)",
        ),
        ({"k_descale": torch.ones(3, 2)}, ValueError, "expects k_descale to have one element, or shape (2, 2) or"),
        (
            {"k_descale": torch.ones(2, 4)[:, ::2]},
            ValueError,
            "expects k_descale in row-major order without gaps, but got strides of [4, 2]",
        ),
        ({"v_cache": None, "latent": 16}, ValueError, "expects no v_descale with latent"),
    ],
    ids=str,
)
def test_errors(change, error, text):
    cache = torch.zeros(2, 24, 2, 32).to(torch.float8_e4m3fn)
    call = {
        "q": torch.zeros(2, 1, 4, 32).half(),
        "k_cache": cache,
        "v_cache": cache,
        "k_descale": torch.ones(2, 2),
        "v_descale": torch.ones(2, 2),
    }
    with pytest.raises(error, match=re.escape(text)):
        attune.decode(**(call | change))


def test_errors_of_other_calls():
    q, k = torch.zeros(1, 8, 4, 32).half(), torch.zeros(1, 8, 2, 32).to(torch.float8_e4m3fn)
    starts = torch.tensor([0, 8], dtype=torch.int32)
    with pytest.raises(ValueError, match=re.escape("expects k_descale to have one element, or shape (8, 2) with 1 where")):
        attune.varlen(q[0], k[0], k[0], starts, starts, k_descale=torch.ones(4, 2))
    with pytest.raises(ValueError, match="expects layout bshd for operands of 8 bits or with scales, but got 'bhsd'"):
        attune.attention(q, k, k, layout="bhsd")
    with pytest.raises(TypeError, match=re.escape("expects weights to be a type of 8 bits (float8_e4m3fn, float8_e4m3fnuz, float8_e5m2")):
        attune.attention(q, k, k, weights=torch.float16)
    with pytest.raises(NotImplementedError, match="expects no score_mod, mask_mod or block_mask beside operands of 8 bits"):
        attune.attention(q, k, k, score_mod=lambda score, b, h, m, n: score)
    with pytest.raises(NotImplementedError, match="gradient"):
        attune.attention(q.requires_grad_(), k, k)
    sizes = {"kv_heads": 2, "head_dim": 8, "sequences": 1, "longest": 8}
    for options, error, text in (
        ({"k_descale": torch.ones(1)}, ValueError, "expects k_descale for a cache of 8 bits or less alone, but got one for torch.bfloat16"),
        (
            {"dtype": torch.float8_e5m2, "v_descale": torch.ones(1).half()},
            TypeError,
            "expects v_descale of torch.float32, but got torch.float16",
        ),
        (
            {"dtype": torch.float8_e5m2, "k_descale": torch.ones(3)},
            ValueError,
            r"expects k_descale to have one element, or shape \(1, 2\), but got \(3,\)",
        ),
    ):
        with pytest.raises(error, match=text):
            attune.PagedCache(1, 8, **sizes, **options)
