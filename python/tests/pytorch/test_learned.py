# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of tensors that functions of scores read, beside PyTorch's autograd in float32."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask

import attune_mlir as attune

BATCH, HEADS, QUERIES, KEYS, SIZE = 2, 2, 20, 37, 32


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(0)
    shapes = [(BATCH, HEADS, QUERIES, SIZE)] + [(BATCH, HEADS, KEYS, SIZE)] * 2
    return [torch.randn(shape, generator=generator).half().requires_grad_() for shape in shapes]


def compute_eagerly(q, k, v, score_mod, mask=None):
    """By the definition, with functions on whole tensors of indices."""
    b, h, m, n = torch.meshgrid(*map(torch.arange, (q.shape[0], q.shape[1], q.shape[2], k.shape[2])), indexing="ij")
    scores = score_mod(q.float() @ k.float().mT / SIZE**0.5, b, h, m, n)
    if mask is not None:
        scores = scores.masked_fill(~mask(b, h, m, n), float("-inf"))
    return scores.softmax(-1) @ v.float()


def check(tensors, learned, make_mod, mask=None, **options):
    """`make_mod` makes the function of tensors like `learned`, all of which have gradients."""
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(BATCH, HEADS, QUERIES, SIZE, generator=generator)
    found, expected = ([x.detach().clone().requires_grad_() for x in learned] for _ in range(2))
    (attune.flex_attention(*tensors, score_mod=make_mod(*found), **options) * weight).sum().backward()
    plain = [x.detach().clone().requires_grad_() for x in tensors]
    (compute_eagerly(*plain, make_mod(*expected), mask) * weight).sum().backward()
    for own, other in zip([*tensors, *found], [*plain, *expected], strict=True):
        assert own.grad.dtype == own.dtype and own.grad.shape == own.shape
        scale = float(other.grad.float().abs().max())
        torch.testing.assert_close(own.grad.float(), other.grad.float(), atol=0.01 * scale + 1e-3, rtol=0.01)


def test_bias_of_all(tensors):
    bias = torch.randn(BATCH, HEADS, QUERIES, KEYS)
    check(tensors, [bias], lambda bias: lambda s, b, h, m, n: s + bias[b, h, m, n])


WHOLE = 40
PLACES = {"b": BATCH, "h": HEADS, "m": QUERIES, "n": WHOLE}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shared", ["", "b", "h", "bh"])
def test_tiles_of_biases(shared, dtype):
    """Rows of keys are whole 16 bytes, so that engines copy tiles of them. Batches and heads may share them, and some have more keys."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(BATCH, HEADS, QUERIES, SIZE)] + [(BATCH, HEADS, WHOLE, SIZE)] * 2
    tensors = [torch.randn(shape, generator=generator).half().requires_grad_() for shape in shapes]
    shape = [1 if name in shared else size for name, size in PLACES.items()]
    bias = torch.randn(shape, generator=generator).to(dtype)
    longer = torch.randn(HEADS, QUERIES, WHOLE + 8, generator=generator).to(dtype)

    def make(bias, longer):
        def mod(s, b, h, m, n):
            at_batch, at_head = (0 if "b" in shared else b), (0 if "h" in shared else h)
            return s * longer[h, m, n] + bias[at_batch, at_head, m, n]

        return mod

    check(tensors, [bias, longer], make)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_relative_bias(tensors, dtype):
    table = torch.randn(HEADS, QUERIES + KEYS).to(dtype)
    check(tensors, [table], lambda table: lambda s, b, h, m, n: s + table[h, m - n + KEYS])


def test_slopes_and_temperature(tensors):
    learned = [torch.tensor([0.5, 0.25]), torch.tensor(1.5)]

    def make(slopes, temperature):
        return lambda s, b, h, m, n: s * temperature - slopes[h] * (m - n).abs()

    check(tensors, learned, make)


@pytest.mark.parametrize("reads", [False, True])
def test_slopes_beside_functions(tensors, reads):
    """Those of ALiBi, which functions may read as well."""

    def call(slopes, temperature):
        mod = (lambda s, b, h, m, n: s * temperature + slopes[h] * n) if reads else (lambda s, b, h, m, n: s * temperature)
        return attune.attention(*tensors, score_mod=mod, alibi_slopes=slopes, layout="bhsd")

    def call_eagerly(q, k, v, slopes, temperature):
        # Slopes are along the diagonal that ends at the last query and key.
        mod = lambda s, b, h, m, n: (s - slopes[h] * (m + KEYS - QUERIES - n).abs()) * temperature + (slopes[h] * n if reads else 0)  # noqa: E731
        return compute_eagerly(q, k, v, mod)

    found, expected = ([torch.tensor([0.125, 0.25]).requires_grad_(), torch.tensor(1.5).requires_grad_()] for _ in range(2))
    weight = torch.randn(BATCH, HEADS, QUERIES, SIZE, generator=torch.Generator().manual_seed(1))
    (call(*found) * weight).sum().backward()
    plain = [x.detach().clone().requires_grad_() for x in tensors]
    (call_eagerly(*plain, *expected) * weight).sum().backward()
    for own, other in zip([*tensors, *found], [*plain, *expected], strict=True):
        scale = float(other.grad.float().abs().max())
        # Sums of numbers as large as distances, which are rounded to float16.
        torch.testing.assert_close(own.grad.float(), other.grad.float(), atol=0.01 * scale + (0.3 if own.dim() < 2 else 1e-3), rtol=0.01)


def test_masked(tensors):
    """Hidden pairs change nothing, nor do derivatives that are infinite there."""
    mask = lambda b, h, m, n: (n <= m + 3) & (m > 0)  # noqa: E731
    blocks = create_block_mask(mask, None, None, QUERIES, KEYS, device="cpu", BLOCK_SIZE=64)
    bias = torch.rand(KEYS) + 0.5
    visible = lambda b, h, m, n: mask(b, h, m, n) | (m == 0)  # noqa: E731

    def make(bias):
        return lambda s, b, h, m, n: s + bias[n].sqrt()

    with torch.no_grad():
        for x in tensors[:1]:
            x[:, :, 0] = 0
    found, expected = (bias.clone().requires_grad_() for _ in range(2))
    attune.flex_attention(*tensors, score_mod=make(found), block_mask=blocks)[:, :, 1:].sum().backward()
    plain = [x.detach().clone().requires_grad_() for x in tensors]
    compute_eagerly(*plain, make(expected), visible)[:, :, 1:].sum().backward()
    torch.testing.assert_close(found.grad, expected.grad, atol=2e-3, rtol=0.01)


def test_learned_alone(tensors):
    """Queries, keys and values need not have gradients, and tensors that are not read get none."""
    bias, other = torch.randn(HEADS, requires_grad=True), torch.randn(3, requires_grad=True)
    reached = {"bias": bias, "other": other}
    plain = [x.detach() for x in tensors]
    out = attune.flex_attention(*plain, score_mod=lambda s, b, h, m, n: s + reached["bias"][h])
    assert out.requires_grad
    out.sum().backward()
    # A number that is added to all scores of a row changes no weight.
    torch.testing.assert_close(bias.grad, torch.zeros(HEADS), atol=1e-2, rtol=0)
    assert other.grad is None and all(x.grad is None for x in plain)
    with torch.no_grad():
        assert not attune.flex_attention(*plain, score_mod=lambda s, b, h, m, n: s + bias[h]).requires_grad


def test_detached(tensors):
    """What functions read of a detached tensor passes nothing on."""
    bias = torch.rand(KEYS)
    check(tensors, [bias], lambda bias: lambda s, b, h, m, n: s + bias[n] * bias.detach()[n] + bias[...][m])


def test_detached_scores(tensors):
    mod = lambda s, b, h, m, n: s + s.detach()  # noqa: E731
    plain = [x.detach() for x in tensors]
    torch.testing.assert_close(attune.flex_attention(*plain, mod), attune.flex_attention(*plain, lambda s, b, h, m, n: 2 * s))
    with pytest.raises(NotImplementedError, match="expects functions that detach nothing but tensors that they read"):
        attune.flex_attention(*tensors, mod).sum().backward()


def test_changed_in_between(tensors):
    bias = torch.randn(HEADS, requires_grad=True)
    out = attune.flex_attention(*tensors, score_mod=lambda s, b, h, m, n: s + bias[h] * s)
    with torch.no_grad():
        bias.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_changed_tensors_without_gradients(tensors):
    """Of what functions, slopes and lists of blocks have."""
    bias, slopes = torch.randn(QUERIES, KEYS), torch.ones(HEADS)
    out = attune.flex_attention(*tensors, score_mod=lambda s, b, h, m, n: s + bias[m, n])
    bias.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    out = attune.attention(*tensors, layout="bhsd", alibi_slopes=slopes, mask_mod=lambda b, h, m, n: m >= n)
    slopes.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    mask = create_block_mask(lambda b, h, m, n: m >= n, None, None, QUERIES, KEYS, device="cpu")
    out = attune.flex_attention(*tensors, block_mask=mask)
    mask.kv_num_blocks.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize("lists", [False, True])
def test_numbers_changed_in_between(tensors, lists):
    """Gradients are those of what functions did, as of functions of a loop that read its variable."""
    query, *others = tensors
    expected, outs = 0, []
    for width in (3, 20):

        def mask(b, h, m, n):
            return (m - n).abs() < width  # noqa: B023

        if lists:
            block_mask = create_block_mask(mask, None, None, QUERIES, KEYS, device="cpu")
            outs.append(attune.flex_attention(*tensors, block_mask=block_mask))
        else:
            outs.append(attune.attention(*tensors, layout="bhsd", mask_mod=mask))
        plain = query.detach().float().requires_grad_()
        out = compute_eagerly(plain, *(x.detach() for x in others), lambda s, b, h, m, n: s, mask)
        expected = expected + torch.autograd.grad(out.sum(), plain)[0]
    found = torch.autograd.grad(sum(out.sum() for out in outs), query)[0]
    torch.testing.assert_close(found.float(), expected, atol=5e-3, rtol=0.01)


def test_no_queries():
    q, k, bias = torch.randn(1, 2, 0, 32).half(), torch.randn(1, 2, 8, 32).half(), torch.randn(2, requires_grad=True)
    attune.flex_attention(q, k, k, score_mod=lambda s, b, h, m, n: s + bias[h]).sum().backward()
    assert torch.equal(bias.grad, torch.zeros(2))


def test_deterministic(tensors):
    bias = torch.randn(HEADS, requires_grad=True)
    out = attune.flex_attention(*tensors, score_mod=lambda s, b, h, m, n: s + bias[h])
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(attune.CompileError, match="deterministic, for those of tensors are added up in no order"):
            out.sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
