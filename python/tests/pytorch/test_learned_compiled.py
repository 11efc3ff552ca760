# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of tensors that functions of scores read where PyTorch compiles or exports: those of eager mode, from one graph."""

import pytest
import torch
from test_flex import make_inputs, make_mask
from test_flex_compiled import IGNORED, close, compile
from torch._dynamo.exc import BackendCompilerFailed

import attune_mlir as attune

LENGTH = 48


@pytest.fixture(autouse=True)
def reset():
    torch._dynamo.reset()


class Layer(torch.nn.Module):
    """Attention that learns a relative bias and a temperature; `mask` is for lists of blocks."""

    def __init__(self, mask=None, call=attune.flex_attention, **options):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.bias = torch.nn.Parameter(torch.randn(2, 2 * LENGTH, generator=generator))
        self.temperature = torch.nn.Parameter(torch.tensor(1.5, dtype=torch.float16))
        self.mask, self.call, self.options = mask, call, options

    def forward(self, q, k, v):
        width = 2.0 * self.temperature  # computed in the graph

        def score_mod(s, b, h, m, n):
            return s * width + self.bias[h, m - n + LENGTH]

        return self.call(q, k, v, score_mod=score_mod, block_mask=self.mask, **self.options)


def find_gradients(function, layer, inputs):
    tensors = [*inputs, *layer.parameters()]
    return torch.autograd.grad(function(*inputs).float().square().sum(), tensors)


@IGNORED
@pytest.mark.parametrize(
    ("call", "lists"), [(attune.flex_attention, False), (attune.flex_attention, True), (attune.attention, False), (attune.attention, True)]
)
def test_steps(call, lists):
    """Steps of training, whose parameters have other contents each time."""
    mask = make_mask(lambda b, h, m, n: (m >= n) & (n > m - 20), LENGTH, block=16) if lists else None
    layer = Layer(mask, call, **({} if call is attune.flex_attention else {"layout": "bhsd", "softcap": 20.0}))
    compiled, counter = compile(layer)
    for seed in range(3):
        inputs = [x.requires_grad_() for x in make_inputs(LENGTH, batch=2, seed=seed)]
        found = find_gradients(compiled, layer, inputs)
        close(found, find_gradients(layer, layer, inputs))
        assert all(float(x.abs().max()) > 0.1 for x in found)
        with torch.no_grad():
            for parameter, grad in zip(layer.parameters(), found[3:], strict=True):
                parameter.sub_(0.01 * grad)
    assert counter.calls == [1]


def test_learned_alone():
    """Queries, keys and values need not have gradients, nor need all that is read."""
    bias, other = torch.randn(LENGTH, requires_grad=True), torch.rand(LENGTH, requires_grad=True)
    index = torch.arange(LENGTH).flip(0)

    def block(q, k, v):
        return attune.flex_attention(q, k, v, lambda s, b, h, m, n: s * other.detach()[m] + bias[index[n]] * bias.detach()[n])

    inputs = make_inputs(LENGTH)
    compiled, counter = compile(block)
    tensors = [bias, other]
    found, expected = (torch.autograd.grad(call(*inputs).float().square().sum(), tensors, allow_unused=True) for call in (compiled, block))
    close(found[0], expected[0])
    assert found[1] is None and expected[1] is None
    assert counter.calls == [1]


def test_slopes():
    """Those of ALiBi, which the function reads as well, and sinks."""
    slopes, sinks = torch.tensor([0.125, 0.25], requires_grad=True), torch.zeros(2, requires_grad=True)

    def block(q, k, v):
        options = {"alibi_slopes": slopes, "sinks": sinks, "causal": True, "layout": "bhsd"}
        return attune.attention(q * 2, k, v, score_mod=lambda s, b, h, m, n: s * (1 + slopes[h]), **options)

    inputs = [x.requires_grad_() for x in make_inputs(LENGTH)]
    compiled, counter = compile(block)
    wanted = [*inputs, slopes, sinks]
    found, expected = (torch.autograd.grad(call(*inputs).float().square().sum(), wanted) for call in (compiled, block))
    close(found, expected)
    assert counter.calls == [1]
    (found,), (expected,) = (torch.autograd.grad(call(*make_inputs(LENGTH)).float().sum(), [slopes]) for call in (compiled, block))
    close(found, expected)


def test_detached_scores():
    """Refused as in eager mode, where gradients are wanted alone."""
    mod = lambda s, b, h, m, n: s + s.detach()  # noqa: E731
    inputs = make_inputs(LENGTH)
    close(compile(lambda q, k, v: attune.flex_attention(q, k, v, mod))[0](*inputs), attune.flex_attention(*inputs, mod))
    with pytest.raises(BackendCompilerFailed, match="expects functions that detach nothing but tensors that they read"):
        compile(lambda q, k, v: attune.flex_attention(q, k, v, mod))[0](*(x.requires_grad_() for x in inputs))


@IGNORED
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("lists", [True, False])
def test_export(strict, lists):
    """Programs that are exported run the operator, and learn."""
    layer = Layer(make_mask(lambda b, h, m, n: m >= n, LENGTH, block=16) if lists else None)
    inputs = make_inputs(LENGTH, batch=2)
    batch = torch.export.Dim("batch", max=8)
    program = torch.export.export(layer, tuple(inputs), strict=strict, dynamic_shapes=[{0: batch}] * 3)
    assert sum(node.target is torch.ops.attune.flex_attention.default for node in program.graph.nodes) == 1
    inputs = make_inputs(LENGTH, batch=3, seed=1)
    exported = program.module()
    close(exported(*inputs), layer(*inputs))
    for one in (exported, layer):
        one(*inputs).float().square().sum().backward()
    grads = dict(exported.named_parameters())
    close([grads[name].grad for name, _ in layer.named_parameters()], [x.grad for x in layer.parameters()])


@IGNORED
def test_operator():
    """By itself, with one tensor in two places, and where others have gradients."""
    compile(lambda q, k, v: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s))[0](*make_inputs())  # so that it is known
    clauses = (
        "    score (%s_score, %s_b, %s_h, %s_q, %s_kv) {\n      %s0 = tensor.extract %capture0[%s_kv] : tensor<?xf32>\n"
        "      %s1 = tensor.extract %capture1[%s_q] : tensor<?xf32>\n      %s2 = arith.mulf %s0, %s1 : f32\n"
        "      %s3 = arith.addf %s_score, %s2 : f32\n      attn.yield %s3 : f32\n    }\n"
    )
    options = {
        "blocks": [],
        "clauses": clauses,
        "grad_clauses": "",
        "reads": ["0:kv", "0:q"],
        "probability": 0.0,
        "scale": None,
        "causal": False,
    }
    options |= {"window": None, "softcap": None, "layout": "bhsd", "chip": None}
    inputs = make_inputs(LENGTH)
    bias, other = (torch.randn(LENGTH, requires_grad=True) for _ in range(2))
    torch.library.opcheck(torch.ops.attune.flex_attention.default, (*inputs, None, None, None, [], [bias, other]), options)

    def compute(first, second):
        found, _ = torch.ops.attune.flex_attention(*inputs, None, None, None, [], [first, second], **options)
        return found.float().square().sum()

    def compute_by_function(first, second):
        return attune.flex_attention(*inputs, lambda s, b, h, m, n: s + first[n] * second[m]).float().square().sum()

    for first, second, tensors in [(bias, other, [bias, other]), (bias, bias, [bias]), (bias.detach(), other, [other])]:
        found, expected = (torch.autograd.grad(call(first, second), tensors) for call in (compute, compute_by_function))
        close(found, expected)


def test_backend_without_autograd():
    """What runs Dynamo's graph as it is."""
    layer = Layer()
    compiled = torch.compile(layer, fullgraph=True, backend="eager")
    inputs = make_inputs(LENGTH)
    close(find_gradients(compiled, layer, [x.requires_grad_() for x in inputs]), find_gradients(layer, layer, inputs))
