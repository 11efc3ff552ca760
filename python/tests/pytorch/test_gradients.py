# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients beside those that PyTorch derives of the definition in float64."""

import pytest
import torch
from conftest import find_chip
from torch.autograd import forward_ad
from torch.nn.attention.flex_attention import BlockMask, create_block_mask
from torch.utils.checkpoint import checkpoint

import attune_mlir as attune
from attune_mlir import _devices, _schedules, _torch


def make_tensors(dtype=torch.float16, *, batch=2, heads=2, kv_heads=1, seq_q=37, seq_k=70, head_dim=64, layout="bshd"):
    torch.manual_seed(7)
    extents = [{"b": batch, "h": h, "s": s, "d": head_dim} for h, s in ((heads, seq_q), (kv_heads, seq_k), (kv_heads, seq_k))]
    return [torch.randn([of[letter] for letter in layout]).to(dtype).requires_grad_() for of in extents]


def attend(
    q,
    k,
    v,
    *,
    causal=False,
    window=None,
    softcap=None,
    scale=None,
    alibi_slopes=None,
    sinks=None,
    layout="bshd",
    score_mod=None,
    mask_mod=None,
):
    """Result and LSE by the definition, in the type of the operands."""
    if layout == "bshd":
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    places = torch.meshgrid(*(torch.arange(size, dtype=torch.int32) for size in scores.shape), indexing="ij")
    if score_mod is not None:
        scores = score_mod(scores, *places)
    distance = places[2] + k.shape[2] - q.shape[2] - places[3]
    if alibi_slopes is not None:
        scores = scores - (alibi_slopes[:, None, None] * distance.abs()).to(scores.dtype)
    left, right = window or (-1, -1)
    kept = torch.ones_like(distance, dtype=torch.bool) if mask_mod is None else mask_mod(*places)
    if causal:
        kept = kept & (distance >= 0)
    if left >= 0:
        kept = kept & (distance <= left)
    if right >= 0:
        kept = kept & (distance >= -right)
    scores = scores.masked_fill(~kept, -1e4 if scores.dtype == torch.float16 else -1e30)
    if sinks is not None:
        scores = torch.cat([scores, sinks.to(scores.dtype)[None, :, None, None].expand(*scores.shape[:3], 1)], -1)
        v = torch.cat([v, v.new_zeros(*v.shape[:2], 1, v.shape[3])], 2)
    lse = scores.logsumexp(-1)
    weights = torch.where(kept.any(-1, keepdim=True), (scores - lse[..., None]).exp(), 0)
    out = weights @ v
    return (out.transpose(1, 2) if layout == "bshd" else out), lse


def differentiate(function, tensors, out_grad, lse_grad, dtype, **options):
    """Gradients with everything in one type."""
    inputs = [x.detach().to(dtype).requires_grad_() for x in tensors]
    out, lse = function(*inputs, **options)
    total = (out * out_grad.to(dtype)).sum()
    if lse_grad is not None:
        total = total + (lse * lse_grad.to(lse.dtype)).sum()
    return torch.autograd.grad(total, inputs)


def compare(found, tensors, out_grad, lse_grad=None, **options):
    """By FlashAttention's rule: no gradient is farther from that of float64 than three times what PyTorch's is."""
    exact = differentiate(attend, tensors, out_grad, lse_grad, torch.float64, **options)
    rounded = differentiate(attend, tensors, out_grad, lse_grad, tensors[0].dtype, **options)
    for name, grad, expected, other, tensor in zip("qkv", found, exact, rounded, tensors, strict=True):
        assert grad.dtype == tensor.dtype and grad.shape == tensor.shape
        error, allowed = (grad.double() - expected).abs().max(), (other.double() - expected).abs().max()
        assert error <= 3 * allowed + 1e-4, f"{name}: {error} where PyTorch has {allowed}"


def check(tensors, with_lse=False, **options):
    out, lse = attune.attention(*tensors, return_lse=True, **options)
    out_grad, lse_grad = torch.randn_like(out), torch.randn_like(lse) if with_lse else None
    total = [out, lse] if with_lse else [out]
    found = torch.autograd.grad(total, tensors, [out_grad, lse_grad] if with_lse else [out_grad])
    options.pop("chip", None)
    compare(found, tensors, out_grad, lse_grad, **options)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_basic(dtype, layout):
    check(make_tensors(dtype, layout=layout), layout=layout)


@pytest.mark.parametrize(
    "options",
    [
        {"causal": True},
        {"window": (20, 3), "softcap": 4.0},
        {"causal": True, "alibi_slopes": torch.tensor([0.5, 0.125])},
        {"sinks": torch.tensor([1.0, -2.0]), "scale": 0.2},
        {"causal": True, "with_lse": True},
    ],
    ids=lambda options: " ".join(options),
)
def test_options(options):
    check(make_tensors(), **options)


@pytest.mark.parametrize("family", ["Ampere", "Hopper", "CDNA"])
def test_families(family):
    check(make_tensors(batch=1), causal=True, chip=find_chip(family))


def test_wanted():
    """What requires no gradient has none, and the others are as ever."""
    q, k, v = make_tensors()
    out_grad = torch.randn_like(q)
    whole = torch.autograd.grad(attune.attention(q, k, v), (q, k, v), out_grad)
    for wanted in ((True, False, False), (False, True, False), (False, False, True), (False, True, True)):
        inputs = [x.detach().requires_grad_(is_wanted) for x, is_wanted in zip((q, k, v), wanted, strict=True)]
        attune.attention(*inputs).backward(out_grad)
        for x, expected, is_wanted in zip(inputs, whole, wanted, strict=True):
            assert (x.grad is not None) == is_wanted
            if is_wanted:
                torch.testing.assert_close(x.grad, expected)


def test_views_and_sums():
    """Packed operands, of which one tensor has all gradients, and a gradient of the result that is one number."""
    torch.manual_seed(3)
    packed = torch.randn(2, 37, 3, 2, 64).half().requires_grad_()
    attune.attention(*packed.unbind(2), causal=True).sum().backward()
    parts = [x.detach() for x in packed.unbind(2)]
    compare(packed.grad.unbind(2), parts, torch.ones_like(parts[0]), causal=True)
    q = torch.randn(1, 20, 2, 64).half().requires_grad_()
    attune.attention(q, q, q).sum().backward()
    once = [q.detach().clone().requires_grad_() for _ in range(3)]
    attune.attention(*once).sum().backward()
    torch.testing.assert_close(q.grad, sum(x.grad for x in once), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
def test_sinks(layout):
    """They learn, too, alone or with the others."""
    tensors = make_tensors(layout=layout)
    sinks = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    out, lse = attune.attention(*tensors, sinks=sinks, causal=True, return_lse=True, layout=layout)
    grads = torch.randn_like(out), torch.randn_like(lse)
    found = torch.autograd.grad([out, lse], [*tensors, sinks], grads)
    inputs = [x.detach().double().requires_grad_() for x in (*tensors, sinks)]
    exact = torch.autograd.grad(attend(*inputs[:3], sinks=inputs[3], causal=True, layout=layout), inputs, [x.double() for x in grads])
    torch.testing.assert_close(found[3].double(), exact[3], rtol=1e-2, atol=1e-2)
    compare(found[:3], tensors, *grads, sinks=sinks.detach(), causal=True, layout=layout)
    plain = [x.detach() for x in tensors]
    (alone,) = torch.autograd.grad(attune.attention(*plain, sinks=sinks, causal=True, return_lse=True, layout=layout), sinks, grads)
    torch.testing.assert_close(alone, found[3], rtol=0, atol=0)


@pytest.mark.parametrize("options", [{}, {"causal": True, "softcap": 5.0, "sinks": torch.tensor([1.0, -2.0])}], ids=["plain", "options"])
def test_slopes(options):
    """Those of ALiBi learn, alone or with the others."""
    tensors = make_tensors()
    slopes = torch.nn.Parameter(torch.tensor([0.125, 0.03]))
    out, lse = attune.attention(*tensors, alibi_slopes=slopes, return_lse=True, **options)
    grads = torch.randn_like(out), torch.randn_like(lse)
    found = torch.autograd.grad([out, lse], [*tensors, slopes], grads, retain_graph=True)
    inputs = [x.detach().double().requires_grad_() for x in (*tensors, slopes)]
    exact = torch.autograd.grad(attend(*inputs[:3], alibi_slopes=inputs[3], **options), inputs, [x.double() for x in grads])
    torch.testing.assert_close(found[3].double(), exact[3], rtol=2e-2, atol=2e-2)
    compare(found[:3], tensors, *grads, alibi_slopes=slopes.detach(), **options)
    plain = [x.detach() for x in tensors]
    out = attune.attention(*plain, alibi_slopes=slopes, return_lse=True, **options)
    (alone,) = torch.autograd.grad(out, slopes, grads)
    torch.testing.assert_close(alone, found[3], rtol=1e-5, atol=1e-5)


def test_slopes_in_one_graph():
    torch._dynamo.reset()
    tensors, slopes = make_tensors(batch=1), torch.tensor([0.5, 0.125], requires_grad=True)
    sinks = torch.zeros(2, requires_grad=True)

    def call(q, k, v):
        return attune.attention(q * 2, k, v, alibi_slopes=slopes * 0.5, sinks=sinks, causal=True)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for wanted in ([*tensors, slopes, sinks], [slopes]):
        found, expected = (torch.autograd.grad(function(*tensors).square().sum(), wanted) for function in (compiled, call))
        torch.testing.assert_close(found, expected, rtol=2e-3, atol=2e-3)


def test_slopes_of_examples():
    """Those of torch.func, of each example apart."""
    q, k, v = (x.detach() for x in make_tensors(batch=3))
    slopes, sinks = torch.tensor([0.5, 0.125]), torch.tensor([1.0, -2.0])

    def loss(slopes, sinks, q, k, v):
        return attune.attention(q[None], k[None], v[None], alibi_slopes=slopes, sinks=sinks).float().square().sum()

    find = torch.func.grad(loss, argnums=(0, 1))
    found = torch.func.vmap(find, in_dims=(None, None, 0, 0, 0))(slopes, sinks, q, k, v)
    for number in range(3):
        expected = find(slopes, sinks, q[number], k[number], v[number])
        for x, y in zip(found, expected, strict=True):
            torch.testing.assert_close(x[number], y, rtol=1e-5, atol=1e-5)


def test_empty():
    for sizes in ({"batch": 0}, {"seq_q": 0, "seq_k": 5}, {"seq_q": 5, "seq_k": 0}):
        tensors = make_tensors(**sizes)
        attune.attention(*tensors).sum().backward()
        slopes = torch.ones(2, requires_grad=True)
        attune.attention(*tensors, alibi_slopes=slopes).sum().backward()
        for x in (*tensors, slopes):
            assert x.grad.shape == x.shape and not x.grad.any()


def test_modes():
    """No results without gradients change, and calls in modes without record nothing."""
    q, k, v = make_tensors()
    with torch.no_grad():
        expected = attune.attention(q, k, v)
        assert not expected.requires_grad
    with torch.inference_mode():
        torch.testing.assert_close(attune.attention(q, k, v), expected, rtol=0, atol=0)
    found = attune.attention(q, k, v)
    assert found.requires_grad
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    out, lse = torch.ops.attune.attention(q, k, v)
    assert not lse.numel()
    grads = torch.autograd.grad(out.sum(), (q, k, v))
    for x, y in zip(grads, torch.autograd.grad(found.sum(), (q, k, v)), strict=True):
        torch.testing.assert_close(x, y, rtol=0, atol=0)


def test_deterministic(monkeypatch):
    """PyTorch's switch decides which kernels there are: those of the other form add to memory in no order."""
    modules = []
    find = _devices.Device.get_kernel
    monkeypatch.setattr(_devices.Device, "get_kernel", lambda self, problem, bucket: modules.append(problem) or find(self, problem, bucket))
    tensors = make_tensors(batch=1)
    for is_asked in (False, True):
        torch.use_deterministic_algorithms(is_asked)
        try:
            check(tensors, causal=True, chip=find_chip("Hopper"))
        finally:
            torch.use_deterministic_algorithms(False)
        assert (" deterministic " in modules[-1].make_module().print()) == is_asked


def test_refused():
    q, k, v = make_tensors()
    slopes = torch.ones(2, requires_grad=True)
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(attune.CompileError, match="deterministic, for those of tensors are added up in no order"):
            attune.attention(q, k, v, alibi_slopes=slopes).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    with pytest.raises(ValueError, match="expects out and stream in plain calls alone"):
        attune.attention(q, k, v, out=torch.empty_like(q))
    (grad,) = torch.autograd.grad(attune.attention(q, k, v).square().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="expects first derivatives of attention alone"):
        grad.sum().backward()


def test_windows_of_lists():
    """They may have other sides by the time that gradients are asked for."""
    tensors, starts = make_tensors(batch=1, seq_q=21, seq_k=21), torch.tensor([0, 21], dtype=torch.int32)
    for call in (attune.attention, lambda q, k, v, **options: attune.varlen(q[0], k[0], v[0], starts, starts, **options)):
        window = [3, 0]
        out = call(*tensors, window=window)
        window[0] = 0
        found = torch.autograd.grad(out.sum(), tensors)
        for one, other in zip(found, torch.autograd.grad(call(*tensors, window=(3, 0)).sum(), tensors), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("watch", [lambda: torch.autocast("cpu", torch.bfloat16), torch.no_grad], ids=["autocast", "plain"])
def test_options_where_pytorch_looks_on(watch):
    tensors, starts = make_tensors(seq_q=5, seq_k=5), torch.tensor([0, 5], dtype=torch.int32)
    for name, value in (("window", 3), ("window", (1.5, 2)), ("scale", "1"), ("softcap", torch.tensor(3.0))):
        with watch(), pytest.raises(TypeError, match=f"expects {name} to be"):
            attune.attention(*tensors, **{name: value})
        with watch(), pytest.raises(TypeError, match=f"expects {name} to be"):
            attune.varlen(*(x[0] for x in tensors), starts, starts, **{name: value})


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:FutureWarning")  # of PyTorch by itself
def test_no_forward_mode():
    """Results would lose these derivatives, in calls that are known and of operators as well."""
    q, _, _ = (x.detach() for x in make_tensors(kv_heads=2, seq_k=37))
    learned = q.clone().requires_grad_()
    starts = torch.tensor([0, 37], dtype=torch.int32)
    lse = torch.zeros(2, 2, 37)
    functions = (
        lambda x: attune.attention(x, x, x),
        lambda x: attune.attention(x, learned, x),
        lambda x: attune.decode(x, x, x),
        lambda x: attune.varlen(x[0], x[0], x[0], starts, starts),
        lambda x: attune.varlen(x[0], learned[0], x[0], starts, starts),
        lambda x: attune.merge([x, q], [lse, lse]),
        lambda x: attune.flex_attention(x, x, x),
        lambda x: torch.ops.attune.attention(x, x, x)[0],
        lambda x: torch.ops.attune.attention(x, learned, x)[0],
        lambda x: torch.ops.attune.decode(x, x, x, *[None] * 7)[0],
        lambda x: torch.ops.attune.merge([x, q], [lse, lse])[0],
    )
    for function in functions:
        function(q)
        with pytest.raises(NotImplementedError, match="expects no derivatives of forward mode"):
            torch.func.jvp(function, (q,), (q,))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(q, q)
            with pytest.raises(NotImplementedError, match="expects no derivatives of forward mode"):
                function(dual)
            torch.testing.assert_close(function(q), function(dual.detach()))
    with forward_ad.dual_level():
        assert not _torch.is_plain(forward_ad.make_dual(q, q))
        assert _torch.is_plain(q)


def test_checkpoint():
    tensors = make_tensors()
    expected = torch.autograd.grad(attune.attention(*tensors, causal=True).sum(), tensors)
    for use_reentrant in (False, True):
        out = checkpoint(lambda *x: attune.attention(*x, causal=True), *tensors, use_reentrant=use_reentrant)
        for x in tensors:
            x.grad = None
        out.sum().backward()
        for x, y in zip(tensors, expected, strict=True):
            torch.testing.assert_close(x.grad, y, rtol=0, atol=0)


def test_autocast():
    """Weights in float32 have gradients in float32."""
    weight = (torch.randn(128, 3, 2, 64) / 8).requires_grad_()
    x = torch.randn(1, 30, 128)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q, k, v = torch.einsum("bsd,dthe->tbshe", x, weight).unbind(0)
        attune.attention(q, k, v).float().sum().backward()
    assert weight.grad.dtype == torch.float32 and weight.grad.isfinite().all() and weight.grad.any()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_opcheck():
    attune.attention(*(x.detach() for x in make_tensors()))  # registers
    for options in ({}, {"return_lse": True, "causal": True, "window": [9, 3]}):
        torch.library.opcheck(torch.ops.attune.attention.default, make_tensors(seq_q=20), options)


def block(x, weight):
    """A part of a transformer."""
    q, k, v = (x @ weight).unflatten(-1, (3, 2, 64)).unbind(2)
    return attune.attention(q, k, v, causal=True, window=(16, 0)).flatten(2) + x


def test_compile():
    """No graph break, and the gradients of the call by itself."""
    torch._dynamo.reset()
    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    weight = (torch.randn(128, 384).half() / 8).requires_grad_()
    for length in (16, 23):
        x = torch.randn(2, length, 128).half()
        expected = torch.autograd.grad(block(x, weight).sum(), weight)
        torch.testing.assert_close(torch.autograd.grad(compiled(x, weight).sum(), weight), expected, rtol=2e-3, atol=2e-3)


def test_vmap():
    """Gradients of each example."""
    q, k, v = (x.detach() for x in make_tensors(batch=3, kv_heads=2))

    def loss(q, k, v):
        return attune.attention(q[None], k[None], v[None]).float().square().sum()

    found = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1, 2)))(q, k, v)
    for number in range(3):
        expected = torch.func.grad(loss, argnums=(0, 1, 2))(q[number], k[number], v[number])
        for x, y in zip(found, expected, strict=True):
            torch.testing.assert_close(x[number], y, rtol=0, atol=0)


def check_flex(tensors, block_mask=None, score_mod=None, mask_mod=None, with_lse=False, **options):
    out, lse = attune.flex_attention(*tensors, score_mod=score_mod, block_mask=block_mask, return_lse=True, enable_gqa=True, **options)
    out_grad, lse_grad = torch.randn_like(out), torch.randn_like(lse) if with_lse else None
    found = torch.autograd.grad([out, lse] if with_lse else [out], tensors, [out_grad, lse_grad] if with_lse else [out_grad])
    compare(found, tensors, out_grad, lse_grad, layout="bhsd", score_mod=score_mod, mask_mod=mask_mod, **options)


SLOPES = torch.tensor([0.5, 0.25])
DOCUMENTS = torch.arange(200) // 30


def add_alibi(score, b, h, q_idx, kv_idx):
    return score - SLOPES[h].to(score.dtype) * (q_idx - kv_idx).abs()


def cap(score, b, h, q_idx, kv_idx):
    return torch.tanh(score / 3) * 3


def see_document(b, h, q_idx, kv_idx):
    return (DOCUMENTS[q_idx] == DOCUMENTS[kv_idx]) & (q_idx >= kv_idx)


def test_flex_scores():
    check_flex(make_tensors(layout="bhsd"), score_mod=add_alibi, with_lse=True)
    check_flex(make_tensors(layout="bhsd", dtype=torch.bfloat16), score_mod=cap, scale=0.2)


def test_flex_lists_of_blocks():
    """Partial and full blocks, and lists that say less than the function."""
    tensors = make_tensors(layout="bhsd", seq_q=100, seq_k=100)
    mask = create_block_mask(see_document, None, None, 100, 100, device="cpu", BLOCK_SIZE=16)
    check_flex(tensors, mask, mask_mod=see_document, score_mod=cap)
    counts = torch.tensor([[[1, 2]]], dtype=torch.int32)
    indices = torch.tensor([[[[1, 0], [0, 1]]]], dtype=torch.int32)
    lists = BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=64, seq_lengths=(100, 100))
    check_flex(tensors, lists, mask_mod=lambda b, h, q_idx, kv_idx: (q_idx >= 64) | (kv_idx >= 64))


def test_flex_visits_what_masks_show(monkeypatch):
    """Where tensors and lists say it, kernels in front list the blocks: of rows that see nothing, too."""
    schedules, schedule = [], _schedules.schedule

    def look(*args):
        found = schedule(*args)
        schedules.append(str(found.module))
        return found

    monkeypatch.setattr(_schedules, "schedule", look)
    of_queries, of_keys = torch.arange(300) // 70, torch.arange(270) // 50
    first = torch.tensor([0, 90])

    def see(b, h, q_idx, kv_idx):
        return (of_queries[q_idx] == of_keys[kv_idx]) & (q_idx >= first[h])

    tensors = make_tensors(layout="bhsd", batch=1, seq_q=300, seq_k=270, head_dim=32)
    shape = {"B": None, "H": 2, "Q_LEN": 300, "KV_LEN": 270, "device": "cpu"}
    check_flex(tensors, create_block_mask(see, **shape, BLOCK_SIZE=64), mask_mod=see)
    check_flex(tensors, create_block_mask(see, **shape, BLOCK_SIZE=(32, 128)), mask_mod=see, score_mod=cap, with_lse=True)
    gradients = [text for text in schedules if "attention_grad" in text]
    assert len(gradients) == 2 and all("listBlocks = 1" in text for text in gradients)


def test_flex_is_refused():
    """Also where the gradient of the result has none itself, so that a second derivative would be a part of it."""
    tensors = make_tensors(layout="bhsd")
    for out in (attune.flex_attention(*tensors, enable_gqa=True).square(), attune.flex_attention(*tensors, enable_gqa=True)):
        with pytest.raises(NotImplementedError, match="expects first derivatives of attention with functions alone, but got create_graph"):
            torch.autograd.grad(out.sum(), tensors[0], create_graph=True)


def test_sdpa():
    """A program that knows nothing of us trains."""
    tensors = make_tensors(layout="bhsd", kv_heads=2, seq_q=40, seq_k=40)
    mask = torch.rand(40, 40) > 0.3
    for options in ({"is_causal": True}, {"attn_mask": mask}, {"attn_mask": torch.randn(2, 1, 40, 40).half()}):
        with attune.sdpa() as used:
            found = torch.autograd.grad(torch.nn.functional.scaled_dot_product_attention(*tensors, **options).sum(), tensors)
        assert used.calls == 1 and not used.reasons
        expected = torch.autograd.grad(torch.nn.functional.scaled_dot_product_attention(*tensors, **options).sum(), tensors)
        for x, y in zip(found, expected, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-2, atol=1e-2)
