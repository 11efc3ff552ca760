# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""append and quantize where PyTorch looks on: steps of decoding that are one graph, and write a cache in place."""

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

import attune_mlir as attune

attune.register_operators()
NARROW = torch.float8_e4m3fn


@pytest.fixture(autouse=True)
def reset():
    torch._dynamo.reset()


def make(*shape, dtype=torch.float16, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def compile(function, **options):
    counter = CompileCounterWithBackend("aot_eager")
    return torch.compile(function, fullgraph=True, backend=counter, **options), counter


def check_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), other.float(), rtol=0, atol=0)


@pytest.mark.parametrize("narrow", [False, True])
def test_steps_in_one_graph(narrow):
    """Keys and values go into the cache, and are attended to; the tensors stay where they are."""
    angles = torch.outer(torch.arange(40.0), 10000.0 ** -(torch.arange(16) / 16))
    table, lengths = torch.tensor([[3, 1], [0, 5]], dtype=torch.int32), torch.tensor([6, 1], dtype=torch.int32)

    def step(qkv, keys, values, scales, slots, lengths):
        q, k, v = qkv.split((4, 2, 2), dim=1)
        of_keys, of_values = ({"row_scales": x} for x in scales) if narrow else ({}, {})
        attune.append(k, keys, slots, cos=angles.cos(), sin=angles.sin(), positions=lengths - 1, interleaved=True, **of_keys)
        attune.append(v, values, slots, **of_values)
        descales = dict(zip(("k_descale", "v_descale"), scales, strict=True)) if narrow else {}
        return attune.decode(q[:, None], keys, values, lengths, block_table=table, causal=True, **descales)

    def start():
        pools = [make(6, 8, 2, 32, seed=seed).to(NARROW if narrow else torch.float16) for seed in (1, 2)]
        return [*pools, [torch.ones(6, 8, 2) for _ in range(2)]]

    compiled, counter = compile(step)
    held, expected = start(), start()
    places = [x.data_ptr() for x in (*held[:2], *held[2])]
    for number in range(3):
        qkv, now = make(2, 8, 32, seed=number), lengths + number
        slots = torch.stack([table[b, (now[b] - 1) // 8] * 8 + (now[b] - 1) % 8 for b in range(2)])
        check_same([compiled(qkv, *held, slots, now)], [step(qkv, *expected, slots, now)])
        check_same([*held[:2], *held[2]], [*expected[:2], *expected[2]])
    assert counter.frame_count == 1
    assert places == [x.data_ptr() for x in (*held[:2], *held[2])]
    assert not torch.equal(held[0].float(), start()[0].float())


@pytest.mark.parametrize("dtype", [torch.float16, NARROW, torch.uint8])
@pytest.mark.parametrize("kernel", [False, True])
def test_steps_with_a_cache(kernel, dtype, monkeypatch):
    """The host gives pages, and a compiled step writes them."""
    if kernel and dtype != torch.uint8:
        monkeypatch.setattr(attune.PagedCache, "_uses_kernel", staticmethod(lambda rows, pool: True))
    sizes = {"kv_heads": 2, "head_dim": 32, "sequences": 2, "longest": 30, "dtype": dtype}
    angles = torch.outer(torch.arange(32.0), 10000.0 ** -(torch.arange(16) / 16))
    caches = [attune.PagedCache(6, 8, **sizes, cos=angles.cos(), sin=angles.sin()) for _ in range(2)]
    prompt = make(9, 4, 32, seed=9).split(2, dim=1)
    for cache in caches:
        cache.append([0, 1], *prompt, [7, 2])
    cache, other = caches

    def step(qkv, slots, positions):
        q, k, v = qkv.split((4, 2, 2), dim=1)
        cache.write(k, v, slots, positions)
        scales = {"k_descale": cache.k_descale, "v_descale": cache.v_descale}
        return attune.decode(q[:, None], cache.keys, cache.values, cache.lengths, block_table=cache.block_table, **scales)

    compiled, counter = compile(step)
    for number in range(3):
        qkv = make(2, 8, 32, seed=number)
        slots, positions = cache.reserve([0, 1])
        assert positions.tolist() == [7 + number, 2 + number]
        found = compiled(qkv, slots, positions)
        q, k, v = qkv.split((4, 2, 2), dim=1)
        other.append([0, 1], k, v)
        scales = {"k_descale": other.k_descale, "v_descale": other.v_descale}
        expected = attune.decode(q[:, None], other.keys, other.values, other.lengths, block_table=other.block_table, **scales)
        check_same([found, cache.keys, cache.lengths], [expected, other.keys, other.lengths])
    assert counter.frame_count == 1
    with pytest.raises(ValueError, match=r"expects v of shape \(2, 2, 32\), but got \(2, 4, 32\)"):
        cache.write(k, q, slots, positions)


@pytest.mark.parametrize(("packed", "rows"), [(False, 1), (False, 4), (False, None), (True, 1), (True, 4), (True, None)])
def test_quantize_in_one_graph(packed, rows):
    def narrow(x):
        return attune.quantize(x * 2, dtype=torch.float8_e5m2, scale_rows=rows, smooth=True, rotate=True)

    compiled, counter = compile(narrow, dynamic=True)
    for length in (10, 13):
        x = make(*([] if packed else [2]), length, 3, 32)
        found, expected = compiled(x), narrow(x)
        check_same(found, expected)
        assert [one.shape for one in found] == [one.shape for one in expected] and found[0].dtype == torch.float8_e5m2
    assert counter.frame_count == 1


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("zeros", [False, True])
def test_integers_in_one_graph(dtype, zeros):
    def attend(q, k, v):
        (k, *of_k), (v, *of_v) = (attune.quantize(x, dtype=dtype, zeros=zeros) for x in (k, v))
        named = dict(zip(("k_descale", "v_descale", "k_zero", "v_zero"), (of_k[0], of_v[0], *of_k[1:], *of_v[1:]), strict=zeros))
        return k, v, attune.attention(q, k, v, **named)

    inputs = [make(1, 20, 2, 32, dtype=torch.bfloat16, seed=seed) + seed for seed in range(3)]
    compiled, counter = compile(attend)
    check_same(compiled(*inputs), attend(*inputs))
    assert counter.frame_count == 1


def test_quantized_attention_in_one_graph():
    def attend(q, k, v):
        (q, of_q), (k, of_k), (v, of_v) = (attune.quantize(x, scale_rows=rows) for x, rows in ((q, 1), (k, 1), (v, None)))
        return attune.attention(q, k, v, q_descale=of_q, k_descale=of_k, v_descale=of_v)

    inputs = [make(1, 20, 2, 32, dtype=torch.bfloat16, seed=seed) for seed in range(3)]
    compiled, counter = compile(attend)
    check_same([compiled(*inputs)], [attend(*inputs)])
    assert counter.frame_count == 1


def test_export():
    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("pool", torch.zeros(4, 8, 2, 32, dtype=torch.float16))

        def forward(self, rows, slots):
            attune.append(rows, self.pool, slots)
            return self.pool.sum()

    rows, slots = make(3, 2, 32), torch.tensor([1, -1, 30])
    for strict in (False, True):
        module = torch.export.export(Step(), (rows, slots), strict=strict).run_decompositions({}).module()
        module(rows, slots)
        expected = Step()
        expected(rows, slots)
        check_same([module.pool], [expected.pool])
        assert module.pool.any()


def test_operators():
    """What they say of themselves is true."""
    pool, scales = make(4, 8, 2, 32).to(NARROW), torch.ones(4, 8, 2)
    rows, slots = make(3, 2, 32), torch.tensor([1, -1, 30])
    torch.library.opcheck(torch.ops.attune.append.default, (rows, make(4, 8, 2, 32), slots))
    # The other checks compare by what PyTorch has not for 8 bits.
    tests = {"test_utils": ("test_autograd_registration", "test_faketensor")}
    torch.library.opcheck(torch.ops.attune.append.default, (rows, pool, slots, None, None, None, None, scales), **tests)
    torch.library.opcheck(torch.ops.attune.quantize.default, (make(2, 9, 2, 32),), {"scale_rows": None, "smooth": True}, **tests)
    torch.library.opcheck(torch.ops.attune.quantize.default, (make(9, 2, 32),), {"scale_rows": 4, "dtype": "float8_e5m2"}, **tests)
    torch.library.opcheck(torch.ops.attune.quantize.default, (make(2, 9, 2, 32),), {"zeros": True, "dtype": "uint8"}, **tests)


def test_no_gradients():
    """As in plain calls, none pass."""
    x, pool = make(9, 2, 32).requires_grad_(), torch.zeros(4, 8, 2, 32, dtype=torch.float16)

    def step(x):
        attune.append(x, pool, torch.arange(9))
        return attune.quantize(x)[1] + x.float().sum(-1)

    found = compile(step)[0](x)
    torch.autograd.grad(found.sum(), x)
    check_same([pool.flatten(0, 1)[:9]], [x.detach()])
    assert not pool.requires_grad


@pytest.mark.parametrize("mode", [torch._subclasses.FakeTensorMode, lambda: torch.device("meta")], ids=["fake", "meta"])
def test_shapes_without_memory(mode):
    with mode():
        rows, pool, slots = torch.empty(3, 2, 32), torch.empty(4, 8, 2, 32), torch.empty(3, dtype=torch.int64)
        assert attune.append(rows, pool, slots) is None
        quantized, scales = attune.quantize(rows, scale_rows=None)
        assert (quantized.shape, quantized.dtype, scales.shape) == ((3, 2, 32), NARROW, (1, 2))
        with pytest.raises(ValueError, match="expects stream in plain calls alone"):
            attune.append(rows, pool, slots, stream=1)
        with pytest.raises(ValueError, match="expects stream in plain calls alone"):
            attune.quantize(rows, stream=1)
        with pytest.raises(ValueError, match="expects pool to have 4 dimensions, but got shape"):
            attune.append(rows, rows, slots)
        with pytest.raises(ValueError, match="expects x to have 3 or 4 dimensions, but got shape"):
            attune.quantize(slots)
