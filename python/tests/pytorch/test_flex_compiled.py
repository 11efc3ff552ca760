# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""flex_attention where PyTorch compiles: one graph, and the results of the call as it is."""

import contextlib

import pytest
import torch
from test_flex import MASKS, SCORES, make_inputs, make_mask
from torch._dynamo.backends.debugging import aot_eager
from torch._dynamo.exc import BackendCompilerFailed
from torch.nn.attention.flex_attention import create_block_mask

import attune_mlir as attune

#: PyTorch's compiler looks at gradients of tensors that it made.
IGNORED = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")


class Counter:
    """A backend that counts graphs, and the calls of our operator in each."""

    def __init__(self):
        self.calls = []

    def __call__(self, graph, inputs):
        self.calls.append(sum("attune_flex_attention" in str(node.target) for node in graph.graph.nodes if node.op == "call_function"))
        return aot_eager(graph, inputs)


@pytest.fixture(autouse=True)
def reset():
    torch._dynamo.reset()


def compile(function, **options):
    counter = Counter()
    return torch.compile(function, fullgraph=True, backend=counter, **options), counter


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=2e-3, atol=2e-3)


def test_lengths_make_nothing_new():
    slopes = torch.tensor([0.5, 0.25])

    def block(q, k, v, weight):
        factors = slopes * 2  # made in the graph, as the function is
        return attune.flex_attention(q @ weight, k, v, lambda s, b, h, m, n: s - factors[h] * (m - n).abs()) @ weight

    compiled, counter = compile(block)
    weight = torch.randn(32, 32).half() / 6
    for length in range(16, 96, 8):
        inputs = make_inputs(length, seed=length)
        close(compiled(*inputs, weight), block(*inputs, weight))
    # One for the first length, and one for all.
    assert counter.calls == [1, 1]


@IGNORED
def test_arguments_are_of_one_line():
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    texts = []

    def look(graph, _):
        texts.extend(text for node in graph.graph.nodes for text in node.kwargs.values() if isinstance(text, str))
        return make_boxed_func(graph.forward)

    mask = make_mask(MASKS["document"](), block=32)
    query, key, value = (x.requires_grad_() for x in make_inputs())
    compiled = torch.compile(attune.flex_attention, fullgraph=True, backend=aot_autograd(fw_compiler=look))
    compiled(query, key, value, lambda s, b, h, m, n: s + (m - n).abs() * 0.1, mask).sum().backward()
    assert any("attn.yield" in text for text in texts)
    assert not any("\n" in text for text in texts)


@pytest.mark.parametrize("name", ["document", "natten", "vsa_sizes"])
def test_masks(name):
    heads = 2 if name.startswith("vsa") else None
    mask = make_mask(MASKS[name](), heads=heads, batch=1 if heads else None, block=32)
    compiled, counter = compile(lambda q, k, v: attune.flex_attention(q, k, v, block_mask=mask, return_lse=True))
    inputs = make_inputs()
    close(compiled(*inputs), attune.flex_attention(*inputs, block_mask=mask, return_lse=True))
    assert counter.calls == [1]


@pytest.mark.parametrize("name", ["softcap", "mla_rope", "graphormer_edge"])
def test_scores(name):
    score = SCORES[name]()
    compiled, _ = compile(lambda q, k, v: attune.flex_attention(q, k, v, score))
    inputs = make_inputs()
    close(compiled(*inputs), attune.flex_attention(*inputs, score))


def test_what_functions_depend_on():
    def make(number, tensor):
        return lambda s, b, h, m, n: s * number + tensor[m] - n

    compiled, _ = compile(lambda q, k, v, score: attune.flex_attention(q, k, v, score))
    inputs = make_inputs()
    tensor = torch.randn(64)
    for number in (1.0, 0.25):
        score = make(number, tensor)
        close(compiled(*inputs, score), attune.flex_attention(*inputs, score))
    # Another tensor, and other contents.
    other = make(0.25, torch.randn(64))
    close(compiled(*inputs, other), attune.flex_attention(*inputs, other))
    tensor.mul_(3)
    close(compiled(*inputs, score), attune.flex_attention(*inputs, score))


def test_gradients():
    slopes = torch.tensor([0.5, 0.25])

    def block(q, k, v):
        out, lse = attune.flex_attention(q, k, v, lambda s, b, h, m, n: s - slopes[h] * (m - n).abs(), return_lse=True)
        return out.float().square().sum() + lse.sum()

    compiled, counter = compile(block)
    inputs = [x.requires_grad_() for x in make_inputs()]
    close(torch.autograd.grad(compiled(*inputs), inputs), torch.autograd.grad(block(*inputs), inputs))
    # Of the result alone, and of one input alone.
    one, rest = inputs[0], [x.detach() for x in inputs[1:]]
    compiled, _ = compile(
        lambda q: attune.flex_attention(q, *rest, lambda s, b, h, m, n: s - slopes[h] * (m - n).abs()).float().square().sum()
    )
    assert torch.isfinite(torch.autograd.grad(compiled(one), one)[0]).all()
    assert counter.calls == [1]


@IGNORED
@pytest.mark.parametrize(("batch", "heads"), [(None, None), (2, 2)])
def test_gradients_of_lists(batch, heads):
    """The functions' own tensors, and what lists say of each block."""
    document, slopes = torch.arange(64) // 24, torch.tensor([0.5, 0.25])
    mask = make_mask(lambda b, h, m, n: (document[m] == document[n]) & (m >= n), batch=batch, heads=heads, block=16)
    inputs = [x.requires_grad_() for x in make_inputs(batch=2)]

    def block(q, k, v):
        return attune.flex_attention(q * 1, k, v, lambda s, b, h, m, n: s * slopes[h], mask).float().square().sum()

    compiled, counter = compile(block)
    close(torch.autograd.grad(compiled(*inputs), inputs), torch.autograd.grad(block(*inputs), inputs))
    assert counter.calls == [1]


def test_operator_wants_clauses_of_gradients():
    compile(lambda q, k, v: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s))[0](*make_inputs())  # so that it is known
    mask = make_mask(lambda b, h, m, n: m >= n)
    tables = [mask.kv_num_blocks, mask.kv_indices]
    options = {
        "blocks": [128, 128, 64, 64],
        "clauses": "",
        "grad_clauses": "",
        "reads": [],
        "probability": 0.0,
        "scale": None,
        "causal": True,
        "window": None,
    }
    options |= {"softcap": None, "layout": "bhsd", "chip": None}
    inputs = [x.requires_grad_() for x in make_inputs()]
    out, _ = torch.ops.attune.flex_attention(*inputs, None, None, None, tables, [], **options)
    close(out, attune.attention(*inputs, causal=True, layout="bhsd"))
    with pytest.raises(ValueError, match="expects grad_clauses for gradients"):
        out.sum().backward()


def test_no_functions():
    compiled, counter = compile(lambda q, k, v: attune.flex_attention(q, k, v, scale=0.5))
    inputs = make_inputs()
    close(compiled(*inputs), attune.flex_attention(*inputs, scale=0.5))
    assert counter.calls == [1]


def test_autocast():
    compiled, _ = compile(lambda q, k, v: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s + m - n))
    inputs = [x.float() for x in make_inputs()]
    with torch.autocast("cpu", torch.bfloat16):
        found = compiled(*inputs)
        assert found.dtype == torch.bfloat16
        close(found, attune.flex_attention(*inputs, lambda s, b, h, m, n: s + m - n))


def test_views_of_one_tensor():
    compiled, counter = compile(lambda qkv: attune.flex_attention(*qkv.unbind(2), lambda s, b, h, m, n: s + m - n))
    packed = torch.randn(1, 2, 3, 64, 32).half()
    close(compiled(packed), attune.flex_attention(*packed.unbind(2), lambda s, b, h, m, n: s + m - n))
    assert counter.calls == [1]


@IGNORED
def test_operator():
    compile(lambda q, k, v: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s))[0](*make_inputs())  # so that it is known
    clauses = "    score (%s_score, %s_b, %s_h, %s_q, %s_kv) {\n      %s0 = tensor.extract %capture0[%s_h] : tensor<?xf32>\n"
    clauses += "      %s1 = arith.addf %s_score, %s0 : f32\n      attn.yield %s1 : f32\n    }\n"
    arguments, bias = [x.requires_grad_() for x in make_inputs()], torch.randn(2)
    options = {
        "blocks": [],
        "clauses": clauses,
        "grad_clauses": "",
        "reads": ["0:h"],
        "probability": 0.0,
        "scale": None,
        "causal": False,
        "window": None,
    }
    options |= {"softcap": None, "layout": "bhsd", "chip": None}
    torch.library.opcheck(torch.ops.attune.flex_attention.default, (*arguments, None, None, None, [], [bias]), options)
    found, _ = torch.ops.attune.flex_attention(*arguments, None, None, None, [], [bias], **options)
    close(found, attune.flex_attention(*arguments, lambda s, b, h, m, n: s + bias[h]))


@pytest.mark.parametrize("device", ["cpu", "cuda", "meta"])
def test_shapes_without_memory(device):
    """Of tensors that are fake, or of the device meta, nothing is computed, and nothing compiled for a device."""
    mode = contextlib.nullcontext() if device == "meta" else torch._subclasses.FakeTensorMode()
    with mode, torch.device(device):
        q, k, v = (torch.empty(2, heads, 70, width, dtype=torch.float16) for heads, width in ((4, 64), (2, 64), (2, 32)))
        bias = torch.empty(4)
        mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 70, 70, device=device)

        def attend():
            return attune.flex_attention(q, k, v, lambda s, b, h, i, j: s + bias[h], mask, enable_gqa=True, return_lse=True)

        out, lse = attend()
        assert out.device.type == lse.device.type == device
        assert (out.shape, out.stride(), out.dtype) == ((2, 4, 70, 32), (8960, 2240, 32, 1), torch.float16)
        assert (lse.shape, lse.dtype) == ((2, 4, 70), torch.float32)
        learned = [x.requires_grad_() for x in (q, k, v, bias)]
        out, lse = attend()
        assert out.requires_grad
        if device != "cuda":  # PyTorch differentiates on devices that are there
            grads = torch.autograd.grad(out.float().sum() + lse.sum(), learned)
            assert [x.shape for x in grads] == [x.shape for x in learned]


def test_what_cannot_be_compiled():
    inputs = make_inputs()
    with pytest.raises(BackendCompilerFailed, match="expects score_mod to have operations on numbers, but got aten.erfinv"):
        compile(lambda q, k, v: attune.flex_attention(q, k, v, lambda s, b, h, m, n: s.erfinv()))[0](*inputs)
