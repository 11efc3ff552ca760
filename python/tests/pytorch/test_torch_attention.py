# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on tensors of PyTorch, and as an operator that PyTorch traces, maps and casts."""

import numpy as np
import pytest
import torch
import torch._dynamo.testing
from conftest import make_inputs, reference

import attune_mlir as attune


def make_tensors(dtype=torch.float16, **sizes):
    return [torch.from_numpy(array.astype(np.float32)).to(dtype) for array in make_inputs(**sizes)]


def check(q, k, v, **options):
    out, lse = attune.attention(q, k, v, return_lse=True, **options)
    arrays = {name: x.numpy() if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    expected, expected_lse = reference(*(x.double().numpy() for x in (q, k, v)), **arrays)
    assert type(out) is torch.Tensor and out.dtype == q.dtype and out.shape == expected.shape and out.is_contiguous()
    tolerance = 2e-2 if q.dtype == torch.bfloat16 else 3e-3
    np.testing.assert_allclose(out.double().numpy(), expected, atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(lse.numpy(), expected_lse, atol=1e-3, rtol=1e-3)
    return out


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_basic(dtype, layout):
    check(*make_tensors(dtype, batch=2, heads=4, kv_heads=2, seq_q=33, seq_k=50, layout=layout), layout=layout, causal=True)


def test_options():
    inputs = make_tensors(seq_q=30, seq_k=50)
    check(*inputs, alibi_slopes=torch.tensor([0.25, 0.5]), window=(20, 0))
    check(*inputs, sinks=torch.tensor([1.0, -2.0]), softcap=5.0, scale=0.3)


def test_views():
    """Slices, transposed and expanded tensors are used where they are."""
    packed = torch.randn(2, 37, 3, 2, 64).half()
    check(*packed.unbind(2), causal=True)
    q, k, v = make_tensors(seq_q=30)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), layout="bhsd")
    check(q, k[:, :, :1].expand(-1, -1, 2, -1), v[:, :, :1].expand(-1, -1, 2, -1))
    check(q[:, 3:9], k[:, 5:], v[:, 5:])
    with pytest.raises(ValueError, match="expects k to have stride 1 along the head dimension, but got strides"):
        attune.attention(q, k.transpose(1, 3).contiguous().transpose(1, 3), v)


def test_empty():
    for sizes in ({"batch": 0}, {"seq_q": 0, "seq_k": 5}):
        q, k, v = make_tensors(**sizes)
        out, lse = attune.attention(q, k, v, return_lse=True)
        assert out.shape == q.shape and lse.numel() == 0
    out, lse = attune.attention(*make_tensors(seq_q=5, seq_k=0), return_lse=True)
    assert not out.any() and lse.isneginf().all()


def test_out_and_other_arrays():
    q, k, v = make_tensors()
    expected = attune.attention(q, k, v)
    out = torch.empty_like(q)
    assert attune.attention(q, k, v, out=out) is out
    torch.testing.assert_close(out, expected, rtol=0, atol=0)
    torch.testing.assert_close(attune.attention(q, k.numpy(), v.numpy()), expected, rtol=0, atol=0)
    with pytest.raises(TypeError, match="expects k to be an array with __dlpack__, but got list"):
        attune.attention(q, [1], v)
    with pytest.raises(TypeError, match="expects q of float16 or bfloat16, but got float32"):
        attune.attention(q.float(), k, v)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, {"return_lse": True, "causal": True, "layout": "bhsd", "window": [9, 3]}], ids=str)
def test_opcheck(dtype, options):
    attune.attention(*make_tensors())  # registers
    inputs = make_tensors(dtype, seq_q=20, layout=options.get("layout", "bshd"))
    for tensors in (inputs, [inputs[0], *(x[:, :, :1].expand_as(x) for x in inputs[1:])], [x[:0] for x in inputs]):
        torch.library.opcheck(torch.ops.attune.attention.default, tensors, options)
    slopes = torch.tensor([0.5, 0.25])
    torch.library.opcheck(torch.ops.attune.attention.default, (*inputs, slopes, slopes), options)


def block(x, weight):
    """A part of a transformer."""
    q, k, v = (x @ weight).unflatten(-1, (3, 2, 64)).unbind(2)
    return attune.attention(q, k, v, causal=True, window=(16, 0)).flatten(2) + x


def test_compile():
    """No graph break, and no more than two graphs for any number of lengths."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(block, fullgraph=True, backend=counter)
    weight = torch.randn(128, 384).half() / 8
    for length in (5, 11, 16, 23, 40):
        x = torch.randn(2, length, 128).half()
        torch.testing.assert_close(compiled(x, weight), block(x, weight), rtol=2e-3, atol=2e-3)
    assert counter.frame_count <= 2


class Block(torch.nn.Module):
    """A layer of a transformer."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.second_norm = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)
        self.packed, self.out = torch.nn.Linear(size, 3 * size), torch.nn.Linear(size, size)
        self.up, self.down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)

    def forward(self, x):
        parts = self.packed(self.norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        x = x + self.out(attune.attention(*parts, causal=True).flatten(2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second_norm(x))))


@pytest.mark.parametrize("training", [False, True])
def test_block(training):
    """One graph for all lengths, without a break."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    block = Block(128, 2).half()
    compiled = torch.compile(block, backend="aot_eager", fullgraph=True, dynamic=True)
    for length in range(16, 66, 5):
        x = torch.randn(1, length, 128).half().requires_grad_(training)
        with torch.set_grad_enabled(training):
            found = compiled(x)
        if training:
            found.sum().backward()
            assert x.grad.shape == x.shape
        torch.testing.assert_close(found, block(x), atol=4e-3, rtol=4e-3)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_traced_once():
    """No default of an argument is a float, which PyTorch would make an input of and trace again without."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda q, k, v: attune.attention(q * 2, k, v, causal=True), backend=counter, fullgraph=True, dynamic=True)
    for length in (16, 24):
        compiled(*(torch.randn(1, length, 2, 64).half() for _ in range(3)))
    assert counter.frame_count == 1


def test_export():
    class Model(torch.nn.Module):
        def forward(self, q, k, v):
            return attune.attention(q, k, v, return_lse=True, softcap=3.0)

    inputs = make_tensors(seq_q=20)
    length = torch.export.Dim("length", min=2)
    program = torch.export.export(Model(), tuple(inputs), dynamic_shapes=[{1: length}] * 3)
    assert "attune.attention" in program.graph_module.code
    others = make_tensors(seq_q=31)
    for found, expected in zip(program.module()(*others), Model()(*others), strict=True):
        torch.testing.assert_close(found, expected)


def test_fx():
    class Model(torch.nn.Module):
        def forward(self, q, k, v):
            return attune.attention(q, k, v, causal=True)

    inputs = make_tensors()
    torch.testing.assert_close(torch.fx.symbolic_trace(Model())(*inputs), Model()(*inputs))


def test_vmap():
    q, k, v = (torch.stack([x, -x, 2 * x]) for x in make_tensors(batch=2, seq_q=20))
    slopes = torch.rand(3, 2)

    def call(q, k, v, slopes=None, return_lse=True):
        return attune.attention(q, k, v, causal=True, alibi_slopes=slopes, return_lse=return_lse)

    def check_mapped(found, expected):
        for a, b in zip(found, zip(*expected, strict=True), strict=True):
            torch.testing.assert_close(a, torch.stack(b))

    check_mapped(torch.vmap(call)(q, k, v), [call(q[i], k[i], v[i]) for i in range(3)])
    check_mapped(torch.vmap(call, in_dims=(2, None, None))(q.movedim(0, 2), k[0], v[0]), [call(q[i], k[0], v[0]) for i in range(3)])
    check_mapped(torch.vmap(call)(q, k, v, slopes), [call(q[i], k[i], v[i], slopes[i]) for i in range(3)])
    found = torch.vmap(lambda *x: call(*x, return_lse=False))(q, k, v)
    torch.testing.assert_close(found, torch.stack([call(q[i], k[i], v[i], return_lse=False) for i in range(3)]))
    assert torch.vmap(call)(q[:, :0], k[:, :0], v[:, :0])[0].shape == (3, 0, 20, 2, 64)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(dtype):
    q, k, v = (x.float() for x in make_tensors())
    expected = attune.attention(*(x.to(dtype) for x in (q, k, v)))
    with torch.autocast("cpu", dtype=dtype):
        torch.testing.assert_close(attune.attention(q, k, v), expected, rtol=0, atol=0)
        with pytest.raises(ValueError, match="expects out and stream in plain calls alone"):
            attune.attention(q, k, v, out=torch.empty_like(q))


def test_other_arrays_beside_tensors():
    """In plain calls; PyTorch itself sees none but its own."""
    q, k, v = make_tensors()
    others = k.numpy(), v.numpy()
    torch.testing.assert_close(attune.attention(q, *others), attune.attention(q, k, v), rtol=0, atol=0)
    learned, starts, lse = q.clone().requires_grad_(), torch.tensor([0, q.shape[1]], dtype=torch.int32), torch.zeros(2, 4, 5)
    for name, function in (
        ("k", lambda: attune.attention(learned, *others)),
        ("v", lambda: attune.attention(learned, k, others[1])),
        ("k", lambda: attune.attention(learned, *others, dropout_p=0.5)),
        ("k", lambda: attune.varlen(learned[0], *(x[0] for x in others), starts, starts)),
        ("outputs", lambda: attune.merge([learned, q.numpy()], [lse, lse])),
    ):
        with pytest.raises(TypeError, match=f"expects {name} of PyTorch's tensors where PyTorch .*records a call, but got numpy.ndarray"):
            function()
    with torch.autocast("cpu"), pytest.raises(TypeError, match="expects k of PyTorch's tensors"):
        attune.attention(q, *others)


@pytest.mark.parametrize("mode", [torch._subclasses.FakeTensorMode, lambda: torch.device("meta")], ids=["fake", "meta"])
def test_shapes_without_memory(mode):
    with mode():
        q = torch.empty(2, 5, 4, 64, dtype=torch.bfloat16)
        k = torch.empty(2, 7, 2, 64, dtype=torch.bfloat16)
        v = torch.empty(2, 7, 2, 32, dtype=torch.bfloat16)
        out, lse = attune.attention(q, k, v, return_lse=True)
        assert out.shape == (2, 5, 4, 32) and lse.shape == (2, 4, 5) and lse.dtype == torch.float32
        with pytest.raises(ValueError, match="expects k to have 4 dimensions, but got shape"):
            attune.attention(q, k[0], v)
        learned = q.requires_grad_()
        assert torch.autograd.grad(attune.attention(learned, k, v, dropout_p=0.5).sum(), learned)[0].shape == q.shape


def test_results_need_memory_where_they_are():
    q, k, v = make_tensors()
    with pytest.raises(TypeError, match="expects k to be an array in memory, but got a tensor of the device meta"):
        attune.attention(q, k.to("meta"), v)


def test_default_device_is_no_matter():
    inputs = make_tensors()
    expected = attune.attention(*inputs)
    with torch.device("meta"):
        found = attune.attention(*inputs)
        out = attune.attention(*inputs, out=torch.empty_like(expected))
        bias = torch.arange(64.0, device="cpu")
        with_function = attune.attention(*inputs, score_mod=lambda s, b, h, m, n: s + bias[n])
    for result in (found, out):
        assert result.device.type == "cpu"
        torch.testing.assert_close(result, expected)
    assert with_function.device.type == "cpu"
    torch.testing.assert_close(with_function, attune.attention(*inputs, score_mod=lambda s, b, h, m, n: s + bias[n]))
