# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout: what is kept by the text of the op's description, statistics, gradients, generators."""

import importlib.util
import itertools
import pathlib

import pytest
import torch
from conftest import find_chip
from test_gradients import make_tensors
from torch.utils.checkpoint import checkpoint

import attune_mlir as attune
from attune_mlir import _devices

_path = pathlib.Path(__file__).parents[3] / "test/Dialect/Attn/Reference/Inputs/dropout.py"
_spec = importlib.util.spec_from_file_location("attn_dropout", _path)
definition = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(definition)


def find_factors(seed, p, batch, heads, seq_q, seq_k):
    """What weights are multiplied by where the generator has this seed."""
    torch.manual_seed(seed)
    dropout = definition.Dropout(*torch.empty(2, dtype=torch.int64).random_().tolist(), p)
    rows = itertools.product(range(batch * heads), range(seq_q))
    return torch.tensor([[dropout.factor(head, m, n) for n in range(seq_k)] for head, m in rows]).view(batch, heads, seq_q, seq_k)


def attend(q, k, v, factors, sinks=None, slopes=None):
    """By the definition, of causal attention in float64."""
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    diagonal = k.shape[2] - q.shape[2]
    if slopes is not None:
        scores = scores - slopes.double()[:, None, None] * (torch.arange(q.shape[2])[:, None] + diagonal - torch.arange(k.shape[2])).abs()
    scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal + 1), -1e30)
    lse = scores.logsumexp(-1, keepdim=True)
    if sinks is not None:
        lse = torch.logaddexp(lse, sinks.double()[None, :, None, None])
    return (((scores - lse).exp() * factors) @ v).transpose(1, 2), lse[..., 0]


@pytest.mark.parametrize("family", ["Ampere", "Hopper", "CDNA"])
def test_results_and_gradients(family):
    tensors = make_tensors(seq_q=21, seq_k=40)
    sinks, slopes = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([0.125, 0.03], requires_grad=True)
    options = {"sinks": sinks, "alibi_slopes": slopes, "causal": True, "dropout_p": 0.25, "return_lse": True}
    factors = find_factors(5, 0.25, 2, 2, 21, 40)
    torch.manual_seed(5)
    out, lse = attune.attention(*tensors, **options, chip=find_chip(family))
    expected, expected_lse = attend(*tensors, factors, sinks, slopes)
    assert (out - expected).abs().max() < 5e-3 and (lse - expected_lse).abs().max() < 1e-3
    out_grad, lse_grad = torch.randn_like(out), torch.randn_like(lse)
    found = torch.autograd.grad([out, lse], [*tensors, sinks, slopes], [out_grad, lse_grad])
    total = (expected * out_grad).sum() + (expected_lse * lse_grad).sum()
    for grad, other in zip(found, torch.autograd.grad(total, [*tensors, sinks, slopes]), strict=True):
        assert (grad - other).abs().max() < 2e-2 * max(1, float(other.abs().max()))


@pytest.mark.parametrize("family", ["Ampere", "Hopper", "CDNA"])
def test_packed(family):
    """Sequences of one length drop what those of a batch do, and others what the definition says; also in gradients."""
    tensors = make_tensors(seq_q=21, seq_k=40)
    sinks, slopes = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([0.125, 0.03], requires_grad=True)
    options = {"sinks": sinks, "alibi_slopes": slopes, "causal": True, "dropout_p": 0.25, "return_lse": True}
    lengths_q, lengths_k = [21, 9], [33, 40]
    factors = find_factors(5, 0.25, 2, 2, 21, 40)
    parts = [
        [x[number, :length] for x, length in zip(tensors, (m, n, n), strict=True)]
        for number, (m, n) in enumerate(zip(lengths_q, lengths_k, strict=True))
    ]
    packed = [torch.cat(x) for x in zip(*parts, strict=True)]
    starts = [torch.tensor([0, *x]).cumsum(0).to(torch.int32) for x in (lengths_q, lengths_k)]
    torch.manual_seed(5)
    out, lse = attune.varlen(*packed, *starts, 21, 40, **options, chip=find_chip(family))
    total, first = 0, 0
    out_grad, lse_grad = torch.randn_like(out), torch.randn_like(lse)
    for number, part in enumerate(parts):
        rows = slice(first, first + len(part[0]))
        own, log = attend(*(x[None] for x in part), factors[number, None, :, : len(part[0]), : len(part[1])], sinks, slopes)
        assert (out[rows] - own[0]).abs().max() < 5e-3 and (lse[:, rows] - log[0]).abs().max() < 1e-3
        total = total + (own[0] * out_grad[rows]).sum() + (log[0] * lse_grad[:, rows]).sum()
        first = rows.stop
    learned = [*tensors, sinks, slopes]
    found = torch.autograd.grad([out, lse], learned, [out_grad, lse_grad])
    for grad, other in zip(found, torch.autograd.grad(total, learned), strict=True):
        assert (grad - other).abs().max() < 2e-2 * max(1, float(other.abs().max()))
    # Without gradients, and as a batch.
    with torch.no_grad():
        torch.manual_seed(5)
        assert torch.equal(attune.varlen(*packed, *starts, 21, 40, **options, chip=find_chip(family))[0], out)
        torch.manual_seed(5)
        batch = attune.attention(*tensors, causal=True, dropout_p=0.25)
        torch.manual_seed(5)
        even = [torch.tensor([0, x, 2 * x], dtype=torch.int32) for x in (21, 40)]
        assert (
            attune.varlen(*(x.flatten(0, 1) for x in tensors), *even, causal=True, dropout_p=0.25) - batch.flatten(0, 1)
        ).abs().max() < 2e-3


def test_statistics():
    q, k, v = (x.detach() for x in make_tensors(batch=1, seq_q=16, seq_k=64))
    torch.manual_seed(1)
    # Of values of 1, results say how much weight is kept.
    ones = torch.stack([attune.attention(q * 0, k, v * 0 + 1, dropout_p=0.5) for _ in range(8)]).float()
    kept = ones[..., 0] * 32
    assert torch.equal(kept, kept.round()) and abs(kept.mean() / 64 - 0.5) < 0.01
    assert abs(kept.var() - 16) < 3  # as of independent ones
    whole = attune.attention(q, k, v).float()
    several = torch.stack([attune.attention(q, k, v, dropout_p=0.1) for _ in range(24)]).float()
    assert (several.mean(0) - whole).abs().mean() < several.std(0).mean() / 24**0.5 * 1.2
    assert not torch.equal(several[0], several[1])


def test_generator():
    q, k, v = make_tensors(batch=1, seq_q=16, seq_k=16)
    torch.manual_seed(3)
    first = attune.attention(q, k, v, dropout_p=0.5)
    second = attune.attention(q, k, v, dropout_p=0.5)
    torch.manual_seed(3)
    with torch.no_grad():
        again = attune.attention(q, k, v, dropout_p=0.5)
    assert torch.equal(first, again) and not torch.equal(first, second)
    torch.manual_seed(3)
    repeated = checkpoint(lambda *x: attune.attention(*x, dropout_p=0.5), q, k, v, use_reentrant=False)
    grad = torch.randn_like(first)
    for one, other in zip(torch.autograd.grad(first, (q, k, v), grad), torch.autograd.grad(repeated, (q, k, v), grad), strict=True):
        assert torch.equal(one, other)


def test_callers():
    """PyTorch's own function, and a layer of a model of transformers."""
    from attune_mlir import _transformers

    q, k, v = make_tensors(batch=1, seq_q=16, seq_k=16)
    torch.manual_seed(3)
    expected = attune.attention(q, k, v, causal=True, dropout_p=0.5)
    inputs = [x.transpose(1, 2) for x in (q, k, v)]
    torch.manual_seed(3)
    with attune.sdpa() as used:
        found = torch.nn.functional.scaled_dot_product_attention(*inputs, dropout_p=0.5, is_causal=True, enable_gqa=True)
    assert used.calls == 1 and torch.equal(found.transpose(1, 2), expected)
    torch.manual_seed(3)
    assert torch.equal(_transformers.forward(torch.nn.Module(), *inputs, None, dropout=0.5)[0], expected)


def test_autocast():
    q, k, v = (x.detach().float() for x in make_tensors(batch=1, seq_q=16, seq_k=16))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert attune.attention(q, k, v, dropout_p=0.5).dtype == torch.bfloat16


def test_compiled():
    q, k, v = (x.detach().clone().requires_grad_() for x in make_tensors(batch=1, seq_q=16, seq_k=16))
    sinks = torch.zeros(2, requires_grad=True)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def attend(q, k, v, sinks):
        return attune.attention(q, k, v, sinks=sinks, causal=True, dropout_p=0.5) * 2

    out = attend(q, k, v, sinks)
    assert not torch.equal(out, attend(q, k, v, sinks))
    packed = [x[0].detach().requires_grad_() for x in (q, k, v)]
    starts = torch.tensor([0, 16], dtype=torch.int32)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def attend_packed(q, k, v):
        return attune.varlen(q, k, v, starts, starts, causal=True, dropout_p=0.5) * 2

    assert not torch.equal(attend_packed(*packed), attend_packed(*packed))
    assert all(x.abs().max() > 0 for x in torch.autograd.grad(attend_packed(*packed).sum(), packed))
    # The gradients of values of 1 say which weights were kept, as the results do.
    ones = torch.ones_like(v, requires_grad=True)
    out = attend(q.detach() * 0, k.detach(), ones, sinks.detach() - 1e4)
    (of_values,) = torch.autograd.grad(out.sum(), ones)
    torch.testing.assert_close(of_values.sum(), out.sum(), rtol=2e-3, atol=0)
    grads = torch.autograd.grad(attend(q, k, v, sinks).sum(), (q, k, v, sinks))
    assert all(grad.isfinite().all() and grad.abs().max() > 0 for grad in grads)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_operators():
    q, k, v = make_tensors(batch=1, seq_q=16, seq_k=16)
    options = {"probability": 0.5, "causal": True, "window": None, "softcap": None, "scale": None, "layout": "bshd", "chip": None}
    arguments = (q, k, v, torch.tensor([3, 4]), None, torch.zeros(2, requires_grad=True))
    torch.library.opcheck(torch.ops.attune.attention_dropout.default, arguments, options)
    attune.register_operators()
    starts = torch.tensor([0, 16], dtype=torch.int32)
    scales = (None,) * 6
    packed = (*(x[0].detach().requires_grad_() for x in (q, k, v)), starts, starts, None, None, None, None, *scales, torch.tensor([3, 4]))
    torch.library.opcheck(torch.ops.attune.varlen.default, packed, {"probability": 0.5, "return_lse": True})


def test_errors():
    q, k, v = make_tensors(batch=1, seq_q=16, seq_k=16)
    for p, error, text in (
        (1.0, ValueError, "expects dropout_p to be at least 0 and less than 1, but got 1.0"),
        (-0.5, ValueError, "expects dropout_p to be at least 0 and less than 1, but got -0.5"),
        ("0.1", TypeError, "expects dropout_p to be a number, but got"),
        (True, TypeError, "expects dropout_p to be a number, but got"),
    ):
        with pytest.raises(error, match=text):
            attune.attention(q, k, v, dropout_p=p)
    with pytest.raises(NotImplementedError, match="expects no scales or operands of 8 bits beside dropout_p"):
        attune.attention(q, k, v, dropout_p=0.5, k_descale=torch.ones(1))
    starts = torch.tensor([0, 16], dtype=torch.int32)
    packed = [x[0] for x in (q, k, v)]
    for error, text, options in (
        (ValueError, "expects dropout_p to be at least 0 and less than 1, but got 1.0", {"dropout_p": 1.0}),
        (NotImplementedError, "expects no scales or operands of 8 bits beside dropout_p", {"k_descale": torch.ones(1)}),
        (NotImplementedError, "expects no latent beside dropout_p, but got one", {"latent": 16}),
        (
            NotImplementedError,
            "expects no block_table beside dropout_p, but got one",
            {"block_table": torch.zeros(1, 1, dtype=torch.int32)},
        ),
    ):
        with pytest.raises(error, match=text):
            attune.varlen(*packed, starts, starts, **{"dropout_p": 0.5, **options})
    with pytest.raises(NotImplementedError, match="expects dropout_p of 0 where torch.func maps or transforms"):
        torch.vmap(lambda x: attune.varlen(x, *packed[1:], starts, starts, dropout_p=0.5))(packed[0][None].detach())
    with pytest.raises(TypeError, match="expects tensors of PyTorch with dropout_p"):
        attune.varlen(*(x.detach().numpy() for x in packed), starts.numpy(), starts.numpy(), dropout_p=0.5)
    with pytest.raises(TypeError, match="expects tensors of PyTorch with dropout_p"):
        attune.attention(q.detach().numpy(), k.detach().numpy(), v.detach().numpy(), dropout_p=0.5)
    with pytest.raises(ValueError, match="expects out and stream in plain calls alone"):
        attune.attention(q, k, v, dropout_p=0.5, out=torch.empty_like(q))
    with pytest.raises(NotImplementedError, match="expects dropout_p of 0 where torch.func maps or transforms"):
        torch.vmap(lambda x: attune.attention(x, k, v, dropout_p=0.5))(q[None].detach())
    out = attune.attention(q, k, v, dropout_p=0.5)
    with pytest.raises(NotImplementedError, match="expects first derivatives of attention with dropout alone"):
        torch.autograd.grad(out.sum(), q, create_graph=True)
    assert torch.equal(attune.attention(q, k, v, dropout_p=0.0), attune.attention(q, k, v))


def test_search_and_explanation(monkeypatch, cache_folder):
    monkeypatch.setattr(_devices, "_devices", {})
    chip = find_chip("Ampere")
    tensors = [x.detach() for x in make_tensors(seq_q=21, seq_k=40)]

    def attend_now():
        torch.manual_seed(3)
        return attune.attention(*tensors, dropout_p=0.25, chip=chip)

    before, state = attend_now(), torch.get_rng_state()
    found = attune.tune(*tensors, dropout_p=0.25, chip=chip, budget="60s,3", quiet=True)
    assert found.tried >= 3 and found.explanation.source == "search"
    assert attune.explain(*tensors, dropout_p=0.25, chip=chip).schedule == found.explanation.schedule
    assert attune.explain(*tensors, dropout_p=0.1, chip=chip).source == "choice"
    assert attune.explain(*tensors, chip=chip, return_lse=True).source == "choice"
    found = attune.explain(*tensors, score_mod=lambda s, b, h, i, j: s * 0.5, dropout_p=0.25, chip=chip)
    assert found.source == "choice"
    # Neither draws numbers, and what is dropped does not depend on the schedule.
    assert torch.equal(torch.get_rng_state(), state)
    assert (attend_now() - before).abs().max() < 2e-3
    with pytest.raises(TypeError, match="expects tensors of PyTorch with dropout_p"):
        attune.explain(*(x.float().numpy() for x in tensors), dropout_p=0.25, chip=chip)
    with pytest.raises(ValueError, match="expects dropout_p to be at least 0 and less than 1, but got 1.0"):
        attune.tune(*tensors, dropout_p=1.0, chip=chip)
