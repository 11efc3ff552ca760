# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout beside functions of scores and masks, and beside lists of blocks: results and gradients by the definition."""

import pytest
import torch
from conftest import find_chip
from test_dropout import find_factors
from torch.nn.attention.flex_attention import create_block_mask
from torch.utils.checkpoint import checkpoint

import attune_mlir as attune

BATCH, HEADS, QUERIES, KEYS, SIZE, P = 2, 2, 21, 40, 32, 0.25


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(0)
    shapes = [(BATCH, HEADS, length, SIZE) for length in (QUERIES, KEYS, KEYS)]
    return [torch.randn(shape, generator=generator).half().requires_grad_() for shape in shapes]


def see(b, h, m, n):
    return (n <= m + 19) & (n > m - 9)


def attend(q, k, v, bias, factors, sinks=None):
    """In float64; every query sees a key."""
    m, n = torch.arange(QUERIES)[:, None], torch.arange(KEYS)
    scores = (q.double() @ k.double().mT * SIZE**-0.5 + bias.double()[:, m - n + KEYS]).masked_fill(~see(0, 0, m, n), -torch.inf)
    lse = scores.logsumexp(-1, keepdim=True)
    if sinks is not None:
        lse = torch.logaddexp(lse, sinks.double()[:, None, None])
    return ((scores - lse).exp() * factors) @ v.double()


def make_bias():
    return torch.randn(HEADS, QUERIES + KEYS, generator=torch.Generator().manual_seed(1)).requires_grad_()


def make_options(bias, form):
    """Arguments of a call in this form of the mask."""
    options = {"score_mod": lambda s, b, h, m, n: s + bias[h, m - n + KEYS], "layout": "bhsd", "dropout_p": P}
    if form == "function":
        return options | {"mask_mod": see}
    return options | {"block_mask": create_block_mask(see, None, None, QUERIES, KEYS, device="cpu", BLOCK_SIZE=16)}


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one - other).abs().max() < 5e-3 * max(1.0, float(other.detach().abs().max()))


@pytest.mark.parametrize(
    ("family", "form"), [("Ampere", "function"), ("Ampere", "lists"), ("Hopper", "function"), ("Hopper", "lists"), ("CDNA", "function")]
)
def test_results_and_gradients(tensors, family, form):
    bias, sinks = make_bias(), torch.tensor([1.0, -2.0], requires_grad=True)
    factors = find_factors(5, P, BATCH, HEADS, QUERIES, KEYS)
    torch.manual_seed(5)
    found = attune.attention(*tensors, **make_options(bias, form), sinks=sinks, chip=find_chip(family))
    expected = attend(*tensors, bias, factors, sinks)
    close([found], [expected])
    wanted, grad = [*tensors, bias, sinks], torch.randn_like(found)
    close(torch.autograd.grad(found, wanted, grad), torch.autograd.grad((expected * grad).sum(), wanted))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
@pytest.mark.parametrize("form", ["function", "lists"])
def test_compiled(tensors, form):
    """One graph, which draws a seed each time; the gradients of values of 1 say which weights were kept, as the results do."""
    torch._dynamo.reset()
    bias = make_bias()
    options = make_options(bias, form)
    compiled = torch.compile(lambda q, k, v: attune.attention(q * 1, k, v, **options), fullgraph=True, backend="aot_eager")
    q, k, v = tensors
    ones = torch.ones_like(v).requires_grad_()
    first, second = (compiled(q, k, ones) for _ in range(2))
    assert not torch.equal(first, second)
    (of_values,) = torch.autograd.grad(first.float().sum(), ones)
    torch.testing.assert_close(of_values.float().sum(), first.float().sum(), rtol=2e-3, atol=0)
    grads = torch.autograd.grad(compiled(q, k, v).float().square().sum(), [*tensors, bias])
    assert all(grad.isfinite().all() and grad.abs().max() > 0 for grad in grads)
    torch.manual_seed(0)
    outs = torch.stack([compiled(q.detach(), k.detach(), v.detach()).float() for _ in range(24)])
    whole = attune.attention(*tensors, **{**options, "dropout_p": 0.0}).float()
    assert (outs.mean(0) - whole).abs().mean() < outs.std(0).mean() / 24**0.5 * 1.3


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_operator(tensors):
    torch._dynamo.reset()
    torch.compile(lambda *x: attune.flex_attention(*x), fullgraph=True, backend="eager")(*tensors)  # so that it is known
    clauses = (
        "    score (%s_score, %s_b, %s_h, %s_q, %s_kv) {\n      %s0 = tensor.extract %capture0[%s_kv] : tensor<?xf32>\n"
        "      %s1 = arith.addf %s_score, %s0 : f32\n      attn.yield %s1 : f32\n    }\n"
    )
    options = {"blocks": [], "clauses": clauses, "grad_clauses": "", "reads": ["0:kv"], "probability": P, "scale": None, "causal": False}
    options |= {"window": None, "softcap": None, "layout": "bhsd", "chip": None}
    slopes, sinks, bias = (torch.rand(size, requires_grad=True) for size in (HEADS, HEADS, KEYS))
    arguments = (*tensors, slopes, sinks, torch.tensor([3, 4]), [], [bias])
    torch.library.opcheck(torch.ops.attune.flex_attention.default, arguments, options)


def test_generator(tensors):
    """The same seed drops the same weights, as a checkpoint needs it."""
    options = make_options(make_bias(), "function")
    torch.manual_seed(3)
    first, second = (attune.attention(*tensors, **options) for _ in range(2))
    torch.manual_seed(3)
    with torch.no_grad():
        assert torch.equal(attune.attention(*tensors, **options), first)
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    repeated = checkpoint(lambda *x: attune.attention(*x, **options), *tensors, use_reentrant=False)
    grad = torch.randn_like(first)
    for one, other in zip(torch.autograd.grad(first, tensors, grad), torch.autograd.grad(repeated, tensors, grad), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-4)


def test_callers():
    """PyTorch's own function with a mask, and a layer of a model of transformers."""
    from attune_mlir import _transformers

    q, k, v = (torch.randn(1, 2, length, SIZE).half() for length in (16, 30, 30))
    kept = torch.rand(1, 2, 16, 30) > 0.3
    kept[..., 0] = True
    torch.manual_seed(3)
    expected = attune.attention(q, k, v, mask_mod=lambda b, h, m, n: kept[b, h, m, n], layout="bhsd", dropout_p=P)
    torch.manual_seed(3)
    with attune.sdpa() as used:
        found = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=kept, dropout_p=P)
    assert used.calls == 1
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    torch.manual_seed(3)
    found, _ = _transformers.forward(torch.nn.Module(), q, k, v, kept, dropout=P)
    torch.testing.assert_close(found.transpose(1, 2), expected, rtol=0, atol=0)


def test_plain_calls(tensors):
    q, k, v = (x.detach() for x in tensors)
    out = torch.empty_like(q)
    assert attune.attention(q, k, v, **make_options(make_bias().detach(), "function"), out=out) is out
    assert out.isfinite().all()
