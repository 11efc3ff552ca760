# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scaled_dot_product_attention of programs that know nothing of kernels of ours."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import attune_mlir as attune


def make_inputs(seq_q=20, seq_k=20, heads=2, kv_heads=2):
    torch.manual_seed(0)
    return [torch.randn(2, h, length, 32).half() for h, length in ((heads, seq_q), (kv_heads, seq_k), (kv_heads, seq_k))]


def check(inputs, **options):
    exact = scaled_dot_product_attention(*(x.float() for x in inputs), **options)
    with attune.sdpa() as used:
        found = scaled_dot_product_attention(*inputs, **options)
    assert used.calls == 1 and not used.reasons
    torch.testing.assert_close(found.float(), exact, atol=4e-3, rtol=4e-3)


def test_plain():
    check(make_inputs())
    check(make_inputs(), is_causal=True)
    check(make_inputs(heads=4), enable_gqa=True, scale=0.4)


@pytest.mark.parametrize("lengths", [(12, 20), (20, 12)])
def test_causal_begins_at_the_first_key(lengths):
    check(make_inputs(*lengths), is_causal=True)


@pytest.mark.parametrize("shape", [(20, 30), (1, 20, 30), (2, 1, 20, 30), (2, 2, 20, 30), (2, 1, 1, 30)])
def test_masks(shape):
    kept = torch.rand(shape) > 0.3
    kept[..., 0] = True
    check(make_inputs(seq_k=30), attn_mask=kept)
    check([x.bfloat16().half() for x in make_inputs(seq_k=30)], attn_mask=torch.randn(shape))


@pytest.mark.parametrize("shape", [(20, 40), (1, 2, 20, 40), (2, 1, 20, 40), (2, 2, 20, 40)])
def test_learned_masks(shape):
    """Whole rows of 40 keys, which are copied as tiles, as what is added to their gradients is."""
    inputs = [*(x.detach().requires_grad_() for x in make_inputs(seq_k=40)), torch.randn(shape).half().requires_grad_()]
    plain = [x.detach().float().requires_grad_() for x in inputs]
    with attune.sdpa() as used:
        found = scaled_dot_product_attention(*inputs[:3], attn_mask=inputs[3])
    assert used.calls == 1
    expected = scaled_dot_product_attention(*plain[:3], attn_mask=plain[3])
    weight = torch.randn(expected.shape)
    for out in found, expected:
        (out * weight).sum().backward()
    for own, other in zip(inputs, plain, strict=True):
        assert own.grad.dtype == own.dtype
        torch.testing.assert_close(own.grad.float(), other.grad, atol=0.01 * float(other.grad.abs().max()), rtol=0.01)


@pytest.mark.parametrize(
    ("reason", "change", "options"),
    [
        ("expects q of float16 or bfloat16, but got float32", torch.Tensor.float, {}),
        ("expects 4 dimensions", lambda x: x[0], {}),
        ("expects strides of q to be multiples of 8 elements", lambda x: torch.nn.functional.pad(x, (0, 1))[..., :-1], {}),
    ],
)
def test_rest_goes_to_pytorch(reason, change, options):
    inputs = [change(x) for x in make_inputs()]
    with attune.sdpa() as used:
        found = scaled_dot_product_attention(*inputs, **options)
    assert used.calls == 0 and next(iter(used.reasons)).startswith(reason)
    torch.testing.assert_close(found, scaled_dot_product_attention(*inputs, **options))
    with attune.sdpa() as used, pytest.raises(RuntimeError):
        scaled_dot_product_attention(make_inputs()[0], *make_inputs(kv_heads=3)[1:])
    assert list(used.reasons) == ["expects enable_gqa for fewer heads of key"]


def test_modules():
    """A model of PyTorch's own, which is not changed."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(64, 2, 64, dropout=0.0, batch_first=True).eval()
    x, memory = torch.randn(2, 10, 64), torch.randn(2, 12, 64)
    with torch.no_grad():
        exact = layer(x, memory)
        layer = layer.half()
        with attune.sdpa() as used:
            found = layer(x.half(), memory.half())
    assert used.calls == 2, used.reasons
    torch.testing.assert_close(found.float(), exact, atol=1e-2, rtol=1e-2)


def test_compiled():
    torch._dynamo.reset()
    inputs = make_inputs()
    compiled = torch.compile(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True), fullgraph=True, backend="aot_eager")
    with attune.sdpa():
        found = compiled(*inputs)
        torch.testing.assert_close(found, scaled_dot_product_attention(*inputs, is_causal=True), rtol=0, atol=0)
