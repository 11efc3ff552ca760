# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys and values of 4 bits, two in a byte, with scales, beside PyTorch's attention in float32 of what they stand for."""

import pytest
import torch

import attune_mlir as attune

HEADS, KV_HEADS, SIZE, KEYS = 4, 2, 64, 24
TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 2e-2}


def make(seed, *shape, dtype=torch.float16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def make_numbers(seed, *shape):
    """All that 4 bits have."""
    return torch.randint(-8, 8, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.int8)


def make_scales(seed, *shape):
    return (torch.rand(shape, generator=torch.Generator().manual_seed(seed)) + 0.5) / 4


def pack(numbers):
    half = numbers.shape[-1] // 2
    return ((numbers[..., :half] & 15) | (numbers[..., half:] << 4)).view(torch.uint8)


def unpack(packed):
    numbers = packed.to(torch.int32)
    parts = torch.cat([numbers % 16, numbers // 16], dim=-1)
    return torch.where(parts > 7, parts - 16, parts).float()


def check(out, q, k, v, **options):
    """One sequence: [rows, heads, size]."""
    parts = (x.float().transpose(0, 1) for x in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(*parts, enable_gqa=True, **options).transpose(0, 1)
    tolerance = TOLERANCES[out.dtype] * max(1.0, float(v.float().abs().max()))
    torch.testing.assert_close(out.float(), expected, atol=tolerance, rtol=TOLERANCES[out.dtype])


@pytest.mark.parametrize("of_query", [torch.float16, torch.bfloat16], ids=str)
def test_attention(of_query, nvidia):
    """A scale of each row and head; values have another head size."""
    q, k, v = make(0, 2, 3, HEADS, SIZE, dtype=of_query), make_numbers(1, 2, KEYS, KV_HEADS, SIZE), make_numbers(2, 2, KEYS, KV_HEADS, 32)
    k_scales, v_scales = make_scales(3, 2, KEYS, KV_HEADS), make_scales(4, 2, KEYS, KV_HEADS)
    out = attune.attention(q, pack(k), pack(v), k_descale=k_scales, v_descale=v_scales, chip=nvidia)
    assert out.dtype == of_query and out.shape == (2, 3, HEADS, 32)
    for b in range(2):
        check(out[b], q[b], k[b] * k_scales[b][..., None], v[b] * v_scales[b][..., None])


def test_amd(amd):
    q, k = make(0, 1, 1, HEADS, SIZE), make_numbers(1, 1, KEYS, KV_HEADS, SIZE)
    out = attune.decode(q, pack(k), pack(k), k_descale=torch.tensor(0.25), v_descale=torch.tensor(0.5), chip=amd)
    check(out[0], q[0], k[0] * 0.25, k[0] * 0.5)


def test_keys_alone(nvidia):
    """Beside values of 16 bits, and rows that are apart in memory."""
    q, v, k = make(0, 1, 2, HEADS, SIZE), make(2, 1, KEYS, KV_HEADS, SIZE), make_numbers(1, 1, KEYS, KV_HEADS, SIZE)
    apart = torch.zeros(1, KEYS, KV_HEADS, SIZE, dtype=torch.uint8)
    apart[..., : SIZE // 2] = pack(k)
    out = attune.attention(q, apart[..., : SIZE // 2], v, k_descale=torch.tensor(0.25), causal=True, chip=nvidia)
    mask = torch.ones(2, KEYS, dtype=torch.bool).tril(KEYS - 2)
    check(out[0], q[0], k[0] * 0.25, v[0], attn_mask=mask)


def test_packed_sequences(nvidia):
    starts = torch.tensor([0, 5, KEYS], dtype=torch.int32)
    q, k = make(0, KEYS, HEADS, SIZE), make_numbers(1, KEYS, KV_HEADS, SIZE)
    scales = make_scales(2, KEYS, KV_HEADS)
    out = attune.varlen(q, pack(k), pack(k), starts, starts, KEYS, KEYS, k_descale=scales, v_descale=scales, chip=nvidia)
    for first, last in ((0, 5), (5, KEYS)):
        rows = (k * scales[..., None])[first:last]
        check(out[first:last], q[first:last], rows, rows)


@pytest.mark.parametrize("given", [None, 0.5], ids=str)
def test_cache(given, nvidia):
    """A cache holds rows to within half a step, and attention of it is that of what it holds."""
    scales = None if given is None else torch.tensor(given)
    sizes = {"kv_heads": KV_HEADS, "head_dim": SIZE, "sequences": 2, "longest": 30}
    cache = attune.PagedCache(8, 8, **sizes, dtype=torch.uint8, k_descale=scales, v_descale=scales)
    k, v = (make(s, KEYS, KV_HEADS, SIZE).clamp(-3, 3) for s in (1, 2))
    k[3] = 0
    cache.append([0, 1], k[:-1], v[:-1], [9, KEYS - 10])
    cache.append([1], k[-1:], v[-1:])
    q = make(3, 2, 1, HEADS, SIZE)
    descales = {"k_descale": cache.k_descale, "v_descale": cache.v_descale}
    out = attune.decode(q, cache.keys, cache.values, cache.lengths, block_table=cache.block_table, **descales, chip=nvidia)
    for b, rows in enumerate((slice(9), slice(9, KEYS))):
        held = []
        for pool, factors, expected in ((cache.keys, cache.k_descale, k), (cache.values, cache.v_descale, v)):
            whole = unpack(pool) * (factors[..., None] if factors.dim() else factors)
            found, expected = whole[cache.block_table[b]].flatten(0, 1)[: cache.get_length(b)], expected[rows].float()
            step = expected.abs().amax(-1, keepdim=True) / 7 if given is None else given
            assert ((found - expected).abs() <= step * 0.501).all()
            held.append(found)
        check(out[b], q[b], *held)


def test_other_columns():
    with pytest.raises(ValueError, match="expects head_dim to have a multiple of 32 columns where bytes hold two, but got 48"):
        attune.PagedCache(1, 8, kv_heads=1, head_dim=48, sequences=1, longest=8, dtype=torch.uint8)


def test_traced(nvidia):
    """Shapes that PyTorch's compiler sees are those of results."""
    q, k = make(0, 1, 1, HEADS, SIZE), pack(make_numbers(1, 1, KEYS, KV_HEADS, SIZE))
    scale = torch.tensor(0.25)
    own = torch.compile(lambda *x: attune.decode(*x, k_descale=scale, v_descale=scale, chip=nvidia), backend="eager", fullgraph=True)
    assert torch.equal(own(q, k, k), attune.decode(q, k, k, k_descale=scale, v_descale=scale, chip=nvidia))
