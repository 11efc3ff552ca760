# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention with functions for scores and masks beside its other options, and dense float32."""

import numpy as np
import pytest
import torch
from flex_oracle import attend, map_positions
from test_flex import make_inputs, make_mask

import attune_mlir as attune

DOCUMENT = torch.tensor([0] * 20 + [1] * 30 + [2] * 30)
BIAS = torch.randn(2, 80, generator=torch.Generator().manual_seed(3))


def same_document(b, h, q_idx, kv_idx):
    return DOCUMENT[q_idx] == DOCUMENT[kv_idx]


def add_bias(score, b, h, q_idx, kv_idx):
    return score + BIAS[h, kv_idx]


def reference(
    q, k, v, *, causal=False, window=None, softcap=None, scale=None, alibi_slopes=None, sinks=None, score_mod=None, mask_mod=None
):
    """Result and LSE in the order "bhsd", by the definition in docs/Semantics.md. It has gradients."""
    q, k, v = (x.float() for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    shape = scores.shape
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    distance = torch.arange(shape[2])[:, None] + shape[3] - shape[2] - torch.arange(shape[3])
    if alibi_slopes is not None:
        scores = scores - alibi_slopes[:, None, None] * distance.abs()
    if score_mod is not None:
        scores = map_positions(score_mod, scores=scores, shape=shape)
    left, right = window or (-1, -1)
    kept = (distance >= 0) | (not causal)
    kept = kept & ((distance <= left) | (left < 0)) & ((distance >= -right) | (right < 0))
    if mask_mod is not None:
        kept = kept & map_positions(mask_mod, shape=shape)
    scores = scores.masked_fill(~kept, -torch.inf)
    if sinks is not None:
        scores = torch.cat([scores, sinks[:, None, None].expand(*shape[:3], 1)], dim=-1)
        v = torch.cat([v, torch.zeros_like(v[:, :, :1])], dim=2)
    lse = scores.logsumexp(dim=-1)
    return (scores - lse.where(lse.isfinite(), 0)[..., None]).exp() @ v, lse


def close(found, expected, tolerance=4e-3):
    torch.testing.assert_close(found.float(), expected, atol=tolerance, rtol=tolerance)


OPTIONS = {
    "score": {"score_mod": add_bias},
    "mask": {"mask_mod": same_document},
    "both": {"score_mod": add_bias, "mask_mod": same_document, "scale": 0.2},
    "causal": {"mask_mod": same_document, "causal": True},
    "window": {"score_mod": add_bias, "window": (9, -1)},
    "sides": {"score_mod": add_bias, "mask_mod": same_document, "window": (4, 7), "causal": True},
    "softcap": {"score_mod": add_bias, "softcap": 3.0},
    "slopes": {"score_mod": add_bias, "alibi_slopes": torch.tensor([0.5, 0.25])},
    "sinks": {"mask_mod": same_document, "sinks": torch.tensor([0.5, -1.0]), "alibi_slopes": torch.tensor([0.5, 0.25])},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    options = OPTIONS[name]
    inputs = make_inputs(70, 80, kv_heads=1)
    out, lse = attune.attention(*inputs, **options, layout="bhsd", return_lse=True)
    expected, expected_lse = reference(*inputs, **options)
    close(out, expected)
    close(lse, expected_lse)
    # And in the other order, without copies.
    out = attune.attention(*(x.transpose(1, 2) for x in inputs), **options)
    close(out.transpose(1, 2), expected)


def test_block_mask():
    inputs, options = make_inputs(80), {"score_mod": add_bias, "softcap": 3.0, "sinks": torch.tensor([0.5, -1.0])}
    mask = make_mask(same_document, 80, block=16)
    out = attune.attention(*inputs, **options, block_mask=mask, layout="bhsd")
    close(out, reference(*inputs, **options, mask_mod=same_document)[0])
    close(attune.attention(*inputs, block_mask=mask, layout="bhsd"), attend(*inputs, None, mask)[0])


@pytest.mark.parametrize("name", ["both", "sides", "sinks"])
def test_gradients(name):
    options = dict(OPTIONS[name])
    inputs = [x.requires_grad_() for x in make_inputs(70, 80)]
    if "sinks" in options:
        inputs.append(options.pop("sinks").clone().requires_grad_())

    def run(function, **more):
        *parts, sinks = inputs if len(inputs) == 4 else (*inputs, None)
        out, lse = function(*parts, **options, sinks=sinks, **more)
        return torch.autograd.grad(out.float().square().sum() + lse.sum(), inputs)

    found = run(attune.attention, layout="bhsd", return_lse=True)
    for one, expected in zip(found, run(reference), strict=True):
        close(one, expected.float(), 2e-2)


def test_places():
    inputs = [x.transpose(1, 2) for x in make_inputs(40)]
    out = torch.empty(1, 40, 2, 32, dtype=torch.float16)
    found = attune.attention(*inputs, score_mod=add_bias, out=out, stream=0)
    assert found is out
    close(out, attune.attention(*inputs, score_mod=add_bias).float())
    with pytest.raises(ValueError, match=r"expects out of shape \(1, 40, 2, 32\)"):
        attune.attention(*inputs, score_mod=add_bias, out=out[:, :39])
    inputs[0].requires_grad_()
    with pytest.raises(ValueError, match="expects out and stream in plain calls alone"):
        attune.attention(*inputs, score_mod=add_bias, out=out)


def test_default_dtype():
    """Scores are float32 whatever PyTorch makes of numbers."""
    inputs = make_inputs(80)
    expected = attune.attention(*inputs, score_mod=lambda s, b, h, m, n: s * 0.25 + 1.0, layout="bhsd")
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(attune.attention(*inputs, score_mod=lambda s, b, h, m, n: s * 0.25 + 1.0, layout="bhsd"), expected)
    finally:
        torch.set_default_dtype(torch.float32)


def test_compiled():
    torch._dynamo.reset()
    slopes, sinks = torch.tensor([0.5, 0.25]), torch.tensor([0.5, -1.0])

    def call(q, k, v):
        options = {"alibi_slopes": slopes, "sinks": sinks, "softcap": 3.0, "window": (20, -1), "layout": "bhsd"}
        functions = {
            "score_mod": lambda *places: add_bias(*places),
            "mask_mod": lambda *places: same_document(*places),
        }  # made in the graph
        return attune.attention(q, k, v, **functions, **options)

    inputs = [x.requires_grad_() for x in make_inputs(80)]
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    close(compiled(*inputs), call(*inputs).float())
    found, expected = (torch.autograd.grad(function(*inputs).float().square().sum(), inputs) for function in (compiled, call))
    for one, other in zip(found, expected, strict=True):
        close(one, other.float())


def test_compiled_with_numbers_that_change():
    """Sides of windows, caps and scales that PyTorch's compiler does not know."""

    def attend(q, k, v, side, cap, scale):
        options = {"softcap": cap, "scale": scale, "layout": "bhsd"}
        plain = attune.attention(q, k, v, window=(side, 0), **options)
        return plain + attune.attention(q, k, v, score_mod=add_bias, **options) + attune.flex_attention(q, k, v, scale=scale)

    torch._dynamo.reset()
    compiled = torch.compile(attend, fullgraph=True, dynamic=True, backend="eager")
    inputs = make_inputs(80)
    for numbers in ((5, 20.0, 0.1), (7, 10.0, 0.2), (9, 5.0, 0.3)):
        close(compiled(*inputs, *numbers), attend(*inputs, *numbers).float())


def test_what_cannot_be():
    inputs = make_inputs(80)
    mask = make_mask(same_document, 80)
    for name, option in (("causal", True), ("window", (3, 0)), ("mask_mod", same_document)):
        with pytest.raises(ValueError, match=f"expects {name} or block_mask, but got both: the lists of a BlockMask say which keys"):
            attune.attention(*inputs, block_mask=mask, layout="bhsd", **{name: option})
    with pytest.raises(TypeError, match="expects mask_mod to be a function, but got torch.Tensor"):
        attune.attention(*inputs, mask_mod=BIAS > 0, layout="bhsd")
    with pytest.raises(TypeError, match="expects block_mask to be a BlockMask, but got function"):
        attune.attention(*inputs, block_mask=same_document, layout="bhsd")
    with pytest.raises(ValueError, match="expects softcap to be above 0"):
        attune.attention(*inputs, score_mod=add_bias, softcap=-1.0)
    with pytest.raises(ValueError, match="expects layout to be one of"):
        attune.attention(*inputs, score_mod=add_bias, layout="sbhd")
    arrays = [np.zeros((1, 8, 2, 32), np.float16)] * 3
    with pytest.raises(TypeError, match="expects tensors of PyTorch with score_mod, .* but got q of type numpy.ndarray"):
        attune.attention(*arrays, score_mod=add_bias)
    with pytest.raises(TypeError, match="expects alibi_slopes of float32, but got float16"):
        attune.attention(*inputs, score_mod=add_bias, alibi_slopes=torch.ones(2).half(), layout="bhsd")
