# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serving where PyTorch looks on, and calls that were made before."""

import re

import numpy
import pytest
import torch
from torch._dynamo.testing import CompileCounter

import attune_mlir as attune
from attune_mlir import _merge, _serving

attune.register_operators()


def make(*shape, dtype=torch.float16):
    return torch.randn(shape).to(dtype)


def make_cache(batch=2, pages=6, size=8, longest=3):
    """Pools of keys and values, numbers of pages, and lengths."""
    table = torch.randperm(pages)[: batch * longest].reshape(batch, longest).to(torch.int32)
    return make(pages, size, 2, 32), make(pages, size, 2, 32), table, torch.randint(1, longest * size, (batch,), dtype=torch.int32)


def make_packed(lengths):
    starts = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    return [make(sum(lengths), heads, 32) for heads in (4, 2, 2)], starts


def compile(function, **options):
    counter = CompileCounter()
    return torch.compile(function, fullgraph=True, backend=counter, **options), counter


def test_lengths_of_numpy():
    """Where calls may be known, too, which count by them."""
    starts = torch.tensor([0, 5, 12], dtype=torch.int32)
    q, k, v = make(12, 2, 64), make(12, 2, 64), make(12, 2, 64)
    expected = attune.varlen(q, k, v, starts, starts, 7, 7)
    assert torch.equal(attune.varlen(q, k, v, starts, starts, numpy.int64(7), numpy.int32(7)), expected)
    with pytest.raises(TypeError, match="expects max_seqlen_q to be an integer or None, but got float"):
        attune.varlen(q, k, v, starts, starts, 7.0, 7)


def test_decode_in_one_graph():
    def step(q, keys, values, lengths, table):
        return attune.decode(q * 2, keys, values, lengths, block_table=table, causal=True, return_lse=True)

    compiled, counter = compile(step)
    for _ in range(3):
        keys, values, table, lengths = make_cache()
        arguments = make(2, 1, 4, 32), keys, values, lengths, table
        for found, expected in zip(compiled(*arguments), step(*arguments), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert counter.frame_count == 1


def test_packed_in_one_graph():
    def step(q, k, v, starts, longest):
        return attune.varlen(q, k, v, starts, starts, longest, longest, causal=True, window=(9, 0), softcap=5.0, scale=0.2)

    compiled, counter = compile(step, dynamic=True)
    for lengths in ([5, 9], [12, 3], [7, 7]):
        arrays, starts = make_packed(lengths)
        torch.testing.assert_close(compiled(*arrays, starts, max(lengths)), step(*arrays, starts, max(lengths)), rtol=0, atol=0)
    assert counter.frame_count == 1


def test_latent_and_scales_in_one_graph():
    compiled, _ = compile(lambda q, cache, lengths: attune.decode(q, cache, None, lengths, latent=16))
    q, cache, lengths = make(2, 1, 4, 32), make(2, 20, 1, 32), torch.tensor([3, 20], dtype=torch.int32)
    torch.testing.assert_close(compiled(q, cache, lengths), attune.decode(q, cache, None, lengths, latent=16), rtol=0, atol=0)
    compiled, _ = compile(lambda q, k, v, scales: attune.decode(q, k, v, k_descale=scales, v_descale=scales))
    arguments = q, make(2, 20, 2, 32), make(2, 20, 2, 32), torch.rand(2, 2) + 0.5
    expected = attune.decode(*arguments[:3], k_descale=arguments[3], v_descale=arguments[3])
    torch.testing.assert_close(compiled(*arguments), expected, rtol=0, atol=0)


@pytest.mark.parametrize("mode", [torch._subclasses.FakeTensorMode, lambda: torch.device("meta")], ids=["fake", "meta"])
def test_shapes_without_memory(mode):
    with mode():
        q, cache = torch.empty(2, 3, 4, 32, dtype=torch.float16), torch.empty(2, 20, 1, 32, dtype=torch.float16)
        out, lse = attune.decode(q, cache, None, latent=16, return_lse=True)
        assert (out.shape, out.dtype, lse.shape, lse.dtype) == ((2, 3, 4, 16), torch.float16, (2, 4, 3), torch.float32)
        starts = torch.empty(3, dtype=torch.int32)
        out, lse = attune.varlen(q[0], cache[0], cache[0], starts, starts, return_lse=True)
        assert (out.shape, lse.shape) == ((3, 4, 32), (4, 3))
        assert attune.merge([out, out], [lse, lse]).shape == (3, 4, 32)
        with pytest.raises(ValueError, match="expects q to have 4 dimensions, but got shape"):
            attune.decode(q[0], cache, cache)
        with pytest.raises(ValueError, match="expects q to have 3 dimensions, but got shape"):
            attune.varlen(q, cache[0], cache[0], starts, starts)
        with pytest.raises(ValueError, match="expects at least one output and one LSE for each, but got 2 and 1"):
            torch.ops.attune.merge([out, out], [lse])


def test_what_only_plain_calls_have():
    q, cache = make(2, 1, 4, 32), make(2, 20, 2, 32)
    with (
        torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True),
        pytest.raises(ValueError, match="expects out, stream and check in plain"),
    ):
        attune.decode(q, cache, cache, check=True)
    part, lse = attune.decode(q, cache, cache, return_lse=True)
    with pytest.raises(ValueError, match="expects out and stream in plain calls alone"):
        attune.merge([part.requires_grad_()], [lse], out=torch.empty_like(part))
    with pytest.raises(NotImplementedError, match="expects caches, and operands of 8 bits or with scales, without gradients"):
        torch.ops.attune.decode(q.requires_grad_(), cache, cache, None, None, None, None, None, None, None)
    with pytest.raises(NotImplementedError, match="expects no gradients of attune::decode in transforms of torch.func"):
        torch.func.grad(lambda q: attune.decode(q, cache, cache).sum())(q.detach())


def merge_plainly(outputs, lses):
    lse = torch.stack(lses).logsumexp(0)
    weights = [torch.where(log > -torch.inf, log - lse, -torch.inf).exp().transpose(1, 2)[..., None] for log in lses]
    return sum(w * torch.where(w > 0, x, 0) for w, x in zip(weights, outputs, strict=True)), lse


@pytest.mark.parametrize("with_lse", [False, True])
def test_gradients_of_merges(with_lse):
    torch.manual_seed(1)
    outputs = [make(2, 5, 3, 16, dtype=torch.float32) for _ in range(3)]
    lses = [torch.randn(2, 3, 5) for _ in range(3)]
    lses[1][0, 1, 2] = -torch.inf
    outputs[1][0, 2, 1] = torch.nan
    inputs = [x.requires_grad_() for x in outputs + lses]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    out = attune.merge(inputs[:3], inputs[3:], return_lse=with_lse)
    expected = merge_plainly(wide[:3], wide[3:])
    found, expected = (out, expected) if with_lse else ((out,), expected[:1])
    weights = [torch.randn(x.shape) for x in found]
    gradients = torch.autograd.grad(found, inputs, weights)
    for got, wanted in zip(gradients, torch.autograd.grad(expected, wide, [x.double() for x in weights]), strict=True):
        torch.testing.assert_close(got.double(), wanted.nan_to_num(), rtol=1e-4, atol=1e-5)


def test_merges_in_one_graph():
    def attend(q, k, v):
        parts = [attune.attention(q, k[:, part], v[:, part], return_lse=True) for part in (slice(0, 12), slice(12, 30))]
        return attune.merge(*zip(*parts, strict=True))

    q, k, v = (make(2, length, 2, 32, dtype=torch.bfloat16).requires_grad_() for length in (7, 30, 30))
    compiled, counter = compile(attend)
    torch.testing.assert_close(compiled(q, k, v), attune.attention(q, k, v), rtol=2e-2, atol=2e-2)
    assert counter.frame_count == 1
    found = torch.autograd.grad(attend(q, k, v).sum(), (q, k, v))
    for got, wanted in zip(found, torch.autograd.grad(attune.attention(q, k, v).sum(), (q, k, v)), strict=True):
        torch.testing.assert_close(got, wanted, rtol=3e-2, atol=3e-2)


@pytest.fixture
def computed(monkeypatch):
    """Calls that went the long way."""
    calls = []

    def count(module, name):
        compute = getattr(module, name)

        def run(*arguments, **options):
            calls.append(name)
            return compute(*arguments, **options)

        monkeypatch.setattr(module, name, run)

    count(_serving, "compute")
    count(_merge, "_compute")
    return calls


def find_launches(said):
    return re.findall(r"driver: cuLaunchKernel (.*)", said)


def test_known_decoding(device, computed, capfd, monkeypatch):
    """Calls with the same shapes are checked once, whatever tensors they have, and launch the same kernels."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    kept = []  # so that no tensor has the address of an earlier one
    for count in (1, 1, 1):
        keys, values, table, lengths = make_cache()
        kept.append(query := make(2, 1, 4, 32))
        out, lse = attune.decode(query, keys, values, lengths, block_table=table, causal=True, return_lse=True)
        assert (out.shape, out.dtype, lse.shape, lse.dtype) == ((2, 1, 4, 32), torch.float16, (2, 4, 1), torch.float32)
        assert len(computed) == count
    launches = find_launches(capfd.readouterr().err)
    assert len(launches) == len(set(launches)) == 3 and len({launch.split(" first")[0] for launch in launches}) == 1
    attune.decode(make(2, 1, 4, 32), keys, values, lengths, block_table=table)
    attune.decode(make(2, 1, 4, 32), keys, values, lengths, block_table=table, softcap=3.0)
    attune.decode(make(2, 2, 4, 32), keys, values, lengths, block_table=table)
    assert len(computed) == 4
    with pytest.raises(ValueError, match="expects cache_seqlens to have 2 elements, but got shape"):
        attune.decode(make(2, 2, 4, 32), keys, values, lengths[:1], block_table=table)
    with pytest.raises(NotImplementedError, match="without gradients"):
        attune.decode(make(2, 2, 4, 32).requires_grad_(), keys, values, lengths, block_table=table)


def test_known_packed_sequences(device, computed):
    arrays, starts = make_packed([5, 9])
    for longest in (9, 10, 11):  # of one bucket
        out, lse = attune.varlen(*arrays, starts, starts, longest, longest, return_lse=True)
        assert (out.shape, lse.shape) == ((14, 4, 32), (4, 14)) and len(computed) == 1
    attune.varlen(*arrays, starts, starts, 9, 700, return_lse=True)
    assert len(computed) == 2


def test_known_latent_keys(device, computed):
    for latent in (16, 16, 32):
        assert attune.decode(make(2, 1, 4, 32), make(2, 20, 1, 32), None, latent=latent).shape == (2, 1, 4, latent)
    assert len(computed) == 2


def test_known_merges(device, computed):
    for shape, of_lse in (((2, 1, 4, 32), (2, 4, 1)), ((7, 4, 32), (4, 7))):
        computed.clear()
        for with_lse in (False, False, True, True):
            found = attune.merge([make(*shape), make(*shape)], [torch.randn(of_lse), torch.randn(of_lse)], return_lse=with_lse)
            assert [x.shape for x in (found if with_lse else (found,))] == [shape, of_lse][: 1 + with_lse]
        assert len(computed) == 2
