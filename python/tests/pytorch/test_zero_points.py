# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers whose 0 stands for another number, beside PyTorch's attention in float32 of what they stand for."""

import pytest
import torch

import attune_mlir as attune

HEADS, KV_HEADS, SIZE, KEYS = 4, 2, 64, 24
KINDS = [torch.int8, torch.uint8]


def make(seed, *shape, dtype=torch.float16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def make_aside(seed, *shape):
    """Rows that lie aside of 0, each elsewhere."""
    return make(seed, *shape) + 4 * make(seed + 100, *shape[:-1], 1)


def unpack(stored):
    if stored.dtype == torch.int8:
        return stored.float()
    numbers = stored.to(torch.int32)
    parts = torch.cat([numbers % 16, numbers // 16], dim=-1)
    return torch.where(parts > 7, parts - 16, parts).float()


def restore(stored, scales, zeros):
    """What is meant, of a number for each row or head."""
    scales, zeros = (x[:, None] if x.dim() == 2 and stored.dim() == 4 else x for x in (scales, zeros))
    return (unpack(stored) - zeros[..., None]) * scales[..., None]


def check(out, q, k, v, **options):
    parts = (x.float().transpose(0, 1) for x in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(*parts, enable_gqa=True, **options).transpose(0, 1)
    torch.testing.assert_close(out.float(), expected, atol=3e-2, rtol=1e-2)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("rows", [1, None])
def test_quantize(rows, dtype):
    x = make_aside(1, 2, 33, 3, SIZE)
    x[0, 3], x[0, 4] = 0, 7
    stored, scales, zeros = attune.quantize(x, dtype=dtype, scale_rows=rows, zeros=True)
    assert zeros.shape == scales.shape and stored.dtype == dtype
    numbers, (least, most) = unpack(stored), (-128, 127) if dtype == torch.int8 else (-8, 7)
    assert numbers.min() == least and numbers.max() == most
    found = restore(stored, scales, zeros)
    steps = scales[..., None] if rows else scales[:, None, :, None]
    assert ((found - x.float()).abs() <= steps * 0.501).all()
    if rows:
        torch.testing.assert_close(found[0, 3:5], x[0, 3:5].float(), rtol=0, atol=1e-4)
        extremes = x.float().aminmax(dim=-1)
        torch.testing.assert_close(scales, ((extremes.max - extremes.min) / (most - least)).where(scales != 1, scales), rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("rows", [1, None])
def test_attention(rows, dtype, nvidia):
    q, k, v = make(0, 2, 3, HEADS, SIZE), make_aside(1, 2, KEYS, KV_HEADS, SIZE), make_aside(2, 2, KEYS, KV_HEADS, SIZE)
    (k8, ks, kz), (v8, vs, vz) = (attune.quantize(x, dtype=dtype, scale_rows=rows, zeros=True) for x in (k, v))
    out = attune.attention(q, k8, v8, k_descale=ks, v_descale=vs, k_zero=kz, v_zero=vz, chip=nvidia)
    k, v = restore(k8, ks, kz), restore(v8, vs, vz)
    for b in range(2):
        check(out[b], q[b], k[b], v[b])


def test_pages(amd):
    """Values alone, one query, and a length that ends within a page."""
    q, k, v = make(0, 1, 1, HEADS, SIZE), make(1, 3, 8, KV_HEADS, SIZE), make_aside(2, 3, 8, KV_HEADS, SIZE)
    v8, vs, vz = attune.quantize(v, dtype="int8", zeros=True)
    table, lengths = torch.tensor([[2, 0]], dtype=torch.int32), torch.tensor([13], dtype=torch.int32)
    out = attune.decode(q, k, v8, lengths, block_table=table, v_descale=vs, v_zero=vz, chip=amd)
    found = restore(v8, vs, vz)
    check(out[0], q[0], *(x[[2, 0]].flatten(0, 1)[:13] for x in (k, found)))


def test_packed_sequences(nvidia):
    starts = torch.tensor([0, 5, KEYS], dtype=torch.int32)
    q, k, v = make(0, KEYS, HEADS, SIZE), make_aside(1, KEYS, KV_HEADS, SIZE), make_aside(2, KEYS, KV_HEADS, SIZE)
    (k8, ks, kz), (v8, vs, vz) = (attune.quantize(x, dtype="uint8", zeros=True) for x in (k, v))
    out = attune.varlen(q, k8, v8, starts, starts, KEYS, KEYS, k_descale=ks, v_descale=vs, k_zero=kz, v_zero=vz, chip=nvidia)
    k, v = restore(k8, ks, kz), restore(v8, vs, vz)
    for first, last in ((0, 5), (5, KEYS)):
        check(out[first:last], q[first:last], k[first:last], v[first:last])


def test_traced(nvidia):
    q, k = make(0, 1, 1, HEADS, SIZE), make_aside(1, 1, KEYS, KV_HEADS, SIZE)
    k8, ks, kz = attune.quantize(k, dtype="int8", zeros=True)

    def decode(*tensors):
        return attune.decode(*tensors, k_descale=ks, v_descale=ks, k_zero=kz, v_zero=kz, chip=nvidia)

    assert torch.equal(torch.compile(decode, backend="eager", fullgraph=True)(q, k8, k8), decode(q, k8, k8))


def test_errors():
    q, k = make(0, 1, 1, HEADS, SIZE), torch.zeros(1, KEYS, KV_HEADS, SIZE, dtype=torch.int8)
    one, rows = torch.ones(1), torch.ones(1, KEYS, KV_HEADS)
    with pytest.raises(TypeError, match="expects k_zero beside k of int8 or uint8 alone, but got one for float16"):
        attune.decode(q, k.half(), k.half(), k_descale=one, k_zero=one)
    with pytest.raises(ValueError, match=r"expects v_zero of the shape of v_descale, but got shape \(1, 24, 2\)"):
        attune.decode(q, k, k, v_descale=one, v_zero=rows)
    with pytest.raises(ValueError, match=r"expects k_zero of the shape of k_descale, but got shape \(1,\)"):
        attune.decode(q, k, k, k_zero=one)
    with pytest.raises(ValueError, match="expects no k_zero with latent or weights, but got one"):
        attune.decode(q, k, None, latent=32, k_descale=one, k_zero=one)
    with pytest.raises(ValueError, match="expects zeros with int8 or uint8 alone, but got some with float8_e5m2"):
        attune.quantize(q, dtype="float8_e5m2", zeros=True)


@pytest.mark.parametrize("dtype", KINDS)
def test_explain_and_tune(dtype, nvidia, capfd):
    q, k, v = make(0, 1, 40, HEADS, SIZE), *(make_aside(seed, 1, KEYS, KV_HEADS, SIZE) for seed in (1, 2))
    (k, of_k, zero_k), (v, of_v, zero_v) = (attune.quantize(x, dtype=dtype, zeros=True, chip=nvidia) for x in (k, v))
    options = {"k_descale": of_k, "v_descale": of_v, "k_zero": zero_k, "v_zero": zero_v, "chip": nvidia}
    assert attune.explain(q, k, v, **options).source == "choice"
    before = attune.attention(q, k, v, **options)
    assert attune.tune(q, k, v, **options, budget="60s,3").tried >= 3
    assert "no numbers were checked" not in capfd.readouterr().err
    assert attune.explain(q, k, v, **options).source == "search"
    torch.testing.assert_close(attune.attention(q, k, v, **options), before, atol=3e-2, rtol=1e-2)
    # Without zero points it is another kernel.
    del options["k_zero"], options["v_zero"]
    assert attune.explain(q, k, v, **options).source == "choice"
    with pytest.raises(ValueError, match="expects k_zero of the shape of k_descale"):
        attune.explain(q, k, v, **options, k_zero=torch.zeros(1))


def fill(options, monkeypatch, *, kernel):
    """A cache to which keys and values aside of 0 were appended, by one kernel or not, and these by sequences."""
    held = [([], []) for _ in range(2)]
    with monkeypatch.context() as patch:
        if kernel:
            patch.setattr(attune.PagedCache, "_uses_kernel", staticmethod(lambda rows, pool: True))
        sizes = {"kv_heads": KV_HEADS, "head_dim": SIZE, "sequences": 2, "longest": 40}
        cache = attune.PagedCache(12, 8, **sizes, zeros=True, **options)
        for step, (sequences, counts) in enumerate((([0, 1], [7, 20]), ([0], [1]), ([1, 0], [3, 9]))):
            k, v = make_aside(step, sum(counts), KV_HEADS, SIZE), make_aside(step + 10, sum(counts), KV_HEADS, SIZE)
            cache.append(sequences, k, v, counts)
            for sequence, parts in zip(sequences, zip(k.split(counts), v.split(counts), strict=True), strict=True):
                for rows, part in zip(held[sequence], parts, strict=True):
                    rows.append(part)
    return cache, [tuple(torch.cat(rows) for rows in both) for both in held]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("given", [False, True])
def test_caches(given, dtype, monkeypatch, nvidia):
    """What a kernel appends, beside PyTorch's operations; and what is decoded of it, beside the rows as they were."""
    options = {"dtype": dtype}
    if given:
        steps, place = (0.1, torch.tensor([[3.0, -2.0]])) if dtype == torch.int8 else (1.6, torch.tensor([[0.5, -0.25]]))
        options |= {name: torch.full((1, KV_HEADS), steps) for name in ("k_descale", "v_descale")}
        options |= dict.fromkeys(("k_zero", "v_zero"), place)
    (found, held), (expected, _) = (fill(options, monkeypatch, kernel=kernel) for kernel in (True, False))
    for name in ("keys", "values", "k_descale", "v_descale", "k_zero", "v_zero"):
        one, other = getattr(found, name), getattr(expected, name)
        if one.is_floating_point():
            torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-5)
        else:
            # Products and sums are rounded once or twice.
            assert (one != other).float().mean() < 0.002, name
    q = make(0, 2, 1, HEADS, SIZE)
    scales = {name: getattr(found, name) for name in ("k_descale", "v_descale", "k_zero", "v_zero")}
    out = attune.decode(q, found.keys, found.values, found.lengths, block_table=found.block_table, **scales, chip=nvidia)
    for sequence, (k, v) in enumerate(held):
        pages = found.block_table[sequence].long()
        if given:
            stored = (unpack(x[pages].flatten(0, 1)[: len(k)]) for x in (found.keys, found.values))
            meant = [(x - place[..., None]) * steps for x in stored]
        else:
            numbers = ((found.keys, found.k_descale, found.k_zero), (found.values, found.v_descale, found.v_zero))
            meant = [restore(*(x[pages].flatten(0, 1)[: len(k)] for x in parts)) for parts in numbers]
            for rows, near, scale in zip((k, v), meant, (found.k_descale, found.v_descale), strict=True):
                assert ((rows.float() - near).abs() <= 0.502 * scale[pages].flatten(0, 1)[: len(k), :, None] + 1e-3).all()
        check(out[sequence], q[sequence], *meant)


def test_compiled_steps():
    """A step that writes a cache with zero points and reads it is one graph."""
    caches = [
        attune.PagedCache(8, 8, kv_heads=KV_HEADS, head_dim=SIZE, sequences=2, longest=16, dtype=torch.int8, zeros=True) for _ in range(2)
    ]
    q, k = make(0, 2, 1, HEADS, SIZE), make_aside(1, 2, KV_HEADS, SIZE)

    def step(cache, q, k, slots, positions):
        cache.write(k, k, slots, positions)
        scales = {"k_descale": cache.k_descale, "v_descale": cache.v_descale, "k_zero": cache.k_zero, "v_zero": cache.v_zero}
        return attune.decode(q, cache.keys, cache.values, cache.lengths, block_table=cache.block_table, **scales)

    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    outs = [run(cache, q, k, *cache.reserve(range(2))) for run, cache in zip((step, compiled), caches, strict=True)]
    assert torch.equal(*outs)


def test_errors_of_caches():
    sizes = {"kv_heads": KV_HEADS, "head_dim": SIZE, "sequences": 1, "longest": 8}
    one = torch.ones(1)
    for options, text in (
        ({"dtype": torch.float8_e4m3fn, "zeros": True}, "expects zeros for a cache of integers alone, but got float8_e4m3fn"),
        ({"zeros": True}, "expects zeros for a cache of integers alone, but got bfloat16"),
        ({"dtype": torch.int8, "k_zero": one}, "expects no k_zero without zeros, but got one"),
        ({"dtype": torch.int8, "zeros": True, "k_zero": one}, "expects k_descale beside k_zero of a cache with zeros, but got none"),
        ({"dtype": torch.int8, "zeros": True, "v_descale": one}, "expects v_zero beside v_descale of a cache with zeros, but got none"),
        (
            {"dtype": torch.int8, "zeros": True, "k_descale": one, "k_zero": torch.ones(1, 2)},
            r"expects k_zero like k_descale, torch.float32 of shape \(1,\) on cpu, but got torch.float32 of shape \(1, 2\)",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            attune.PagedCache(1, 8, **sizes, **options)
