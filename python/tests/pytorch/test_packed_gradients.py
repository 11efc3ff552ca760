# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of packed sequences beside those that PyTorch derives of each sequence alone in float64."""

import re

import pytest
import torch
from conftest import find_chip
from test_gradients import attend
from torch._dynamo.testing import CompileCounterWithBackend
from torch.utils.checkpoint import checkpoint

import attune_mlir as attune
from attune_mlir import _attention, _devices, _serving

attune.register_operators()

LENGTHS_Q, LENGTHS_K = [0, 1, 20, 5, 17], [3, 30, 20, 0, 40]


def get_starts(lengths):
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def make(rows_q, rows_k, dtype=torch.float16, head_dim_v=32):
    torch.manual_seed(5)
    shapes = (rows_q, 4, 32), (rows_k, 2, 32), (rows_k, 2, head_dim_v)
    return [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]


def attend_packed(q, k, v, lengths_q, lengths_k, used=None, sinks=None, **options):
    """Result [rows, heads, size] and LSE [heads, rows]; of rows behind the last sequence 0, and -inf."""
    out, lse = torch.zeros_like(q[..., :1]).expand(*q.shape[:2], v.shape[2]).clone(), q.new_full((q.shape[1], len(q)), -torch.inf)
    starts_q, starts_k = (get_starts(x).tolist() for x in (lengths_q, lengths_k))
    for number, (begin, length) in enumerate(zip(starts_q, lengths_q, strict=False)):
        rows = slice(begin, begin + length)
        keys = slice(starts_k[number], starts_k[number] + (lengths_k[number] if used is None else used[number]))
        if not length or keys.start == keys.stop:
            if sinks is not None:
                lse[:, rows] = sinks[:, None]
            continue
        own_out, own_lse = attend(q[None, rows], k[None, keys], v[None, keys], sinks=sinks, **options)
        out[rows], lse[:, rows] = own_out[0], own_lse[0]
    return out, lse


def differentiate(tensors, lengths, grads, dtype, learned, **options):
    """Gradients of operands and of what else learns, with everything in one type."""
    inputs = [x.detach().to(dtype).requires_grad_() for x in tensors]
    others = {name: x.detach().double().requires_grad_() for name, x in learned.items()}
    results = attend_packed(*inputs, *lengths, **{**options, **others})
    # Of what attends to nothing there is none.
    pairs = zip(results, grads, strict=False)
    total = sum(torch.where(x > -torch.inf, x * grad.to(x.dtype), 0).sum() for x, grad in pairs if grad is not None)
    return torch.autograd.grad(total, [*inputs, *others.values()])


def check(tensors, lengths, *, with_lse=False, used=None, longest=(None, None), chip=None, learned=(), **options):
    """No gradient is farther from that of float64 than three times what PyTorch's is."""
    starts = [get_starts(x) for x in lengths]
    seqused_k = None if used is None else torch.tensor(used, dtype=torch.int32)
    others = {name: options[name].requires_grad_() for name in learned}
    out, lse = attune.varlen(*tensors, *starts, *longest, seqused_k=seqused_k, return_lse=True, chip=chip, **options)
    grads = torch.randn_like(out), torch.randn_like(lse) if with_lse else None
    found = torch.autograd.grad([out, lse][: 1 + with_lse], [*tensors, *others.values()], grads[: 1 + with_lse])
    fixed = {name: x.detach() if isinstance(x, torch.Tensor) else x for name, x in options.items() if name != "batch_invariant"}
    exact, rounded = (
        differentiate(tensors, lengths, grads, dtype, others, used=used, **fixed) for dtype in (torch.float64, tensors[0].dtype)
    )
    for name, grad, tensor, expected, other in zip("qkv", found, tensors, exact, rounded, strict=False):
        assert grad.dtype == tensor.dtype and grad.shape == tensor.shape
        error, allowed = (grad.double() - expected).abs().max(), (other.double() - expected).abs().max()
        assert error <= 3 * allowed + 1e-4, f"{name}: {error} where PyTorch has {allowed}"
    for grad, expected in zip(found[3:], exact[3:], strict=True):
        torch.testing.assert_close(grad.double(), expected, rtol=2e-2, atol=2e-2)
    return found


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_basic(dtype):
    """Rows behind the last sequence have gradients of 0, whatever they hold."""
    q, k, v = make(sum(LENGTHS_Q) + 4, sum(LENGTHS_K) + 5, dtype)
    with torch.no_grad():
        k[-5:], v[-5:] = torch.nan, torch.nan
    starts = get_starts(LENGTHS_Q), get_starts(LENGTHS_K)
    out_grad = torch.randn_like(q)
    found = torch.autograd.grad(attune.varlen(q, k, v, *starts), (q, k, v), out_grad)
    alone = [x[:-behind].detach().requires_grad_() for x, behind in ((q, 4), (k, 5), (v, 5))]
    expected = torch.autograd.grad(attune.varlen(*alone, *starts), alone, out_grad[:-4])
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(got[: len(wanted)], wanted, rtol=0, atol=0)
        assert not got[len(wanted) :].any()
    check(make(sum(LENGTHS_Q), sum(LENGTHS_K), dtype), (LENGTHS_Q, LENGTHS_K))


@pytest.mark.parametrize(
    "options",
    [
        {"causal": True, "with_lse": True},
        {"window": (9, 3), "softcap": 4.0, "longest": (20, 40)},
        {"causal": True, "alibi_slopes": torch.tensor([0.5, 0.25, 1.0, 0.0])},
        {"batch_invariant": True},
        {"sinks": torch.tensor([1.0, -2.0, 0.0, 0.5]), "scale": 0.2},
    ],
    ids=lambda options: " ".join(options),
)
def test_options(options):
    check(make(sum(LENGTHS_Q), sum(LENGTHS_K)), (LENGTHS_Q, LENGTHS_K), **options)


@pytest.mark.parametrize("family", ["Ampere", "Hopper", "CDNA"])
def test_families(family):
    check(make(30, 30), ([11, 19], [11, 19]), causal=True, chip=find_chip(family))


def test_values_of_other_sizes_and_used_keys():
    check(make(30, 42, head_dim_v=64), ([11, 19], [12, 30]), used=[12, 23], causal=True)


@pytest.mark.parametrize("name", ["alibi_slopes", "sinks"])
def test_learned(name):
    """Slopes and sinks learn, and rows behind the last sequence saw neither."""
    tensors = make(sum(LENGTHS_Q) + 2, sum(LENGTHS_K))
    values = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    *_, found = check(tensors, (LENGTHS_Q, LENGTHS_K), learned=[name], with_lse=True, **{name: values})
    plain, starts = [x.detach() for x in tensors], (get_starts(LENGTHS_Q), get_starts(LENGTHS_K))
    torch.manual_seed(5)
    out, lse = attune.varlen(*plain, *starts, return_lse=True, **{name: values})
    (alone,) = torch.autograd.grad([out, lse], values, [torch.ones_like(out), torch.zeros_like(lse)])
    assert alone.shape == found.shape and alone.isfinite().all()


def test_wanted():
    """What requires no gradient has none, and the others are as ever; a plain call is not recorded."""
    tensors, starts = make(30, 30), get_starts([11, 19])
    plain = [x.detach() for x in tensors]
    assert not attune.varlen(*plain, starts, starts).requires_grad
    with torch.no_grad():
        assert not attune.varlen(*tensors, starts, starts).requires_grad
    out_grad = torch.randn_like(tensors[0])
    whole = torch.autograd.grad(attune.varlen(*tensors, starts, starts), tensors, out_grad)
    for wanted in ((True, False, False), (False, True, True)):
        inputs = [x.clone().requires_grad_(is_wanted) for x, is_wanted in zip(plain, wanted, strict=True)]
        attune.varlen(*inputs, starts, starts).backward(out_grad)
        for x, expected, is_wanted in zip(inputs, whole, wanted, strict=True):
            assert (x.grad is not None) == is_wanted
            if is_wanted:
                torch.testing.assert_close(x.grad, expected)


def test_views_and_sums():
    """Parts of one tensor, of which one has all gradients, a tensor that is used twice, and a gradient of the result that is one number."""
    torch.manual_seed(3)
    packed, starts = torch.randn(30, 3, 2, 32).half().requires_grad_(), get_starts([11, 19])
    attune.varlen(*packed.unbind(1), starts, starts, causal=True).sum().backward()
    parts = [x.detach().clone().requires_grad_() for x in packed.unbind(1)]
    attune.varlen(*parts, starts, starts, causal=True).sum().backward()
    for got, expected in zip(packed.grad.unbind(1), parts, strict=True):
        torch.testing.assert_close(got, expected.grad, rtol=0, atol=0)
    q = parts[0].detach().requires_grad_()
    (attune.varlen(q, q, q, starts, starts).sum() + attune.varlen(q, q, q, starts, starts).sum()).backward()
    once = [q.detach().clone().requires_grad_() for _ in range(3)]
    attune.varlen(*once, starts, starts).sum().backward()
    torch.testing.assert_close(q.grad, 2 * sum(x.grad for x in once), rtol=1e-2, atol=1e-2)


def test_empty():
    for rows, keys in ((0, 5), (5, 0)):
        tensors, slopes = make(rows, keys), torch.ones(4, requires_grad=True)
        attune.varlen(*tensors, get_starts([rows]), get_starts([keys]), alibi_slopes=slopes).sum().backward()
        for x in (*tensors, slopes):
            assert x.grad.shape == x.shape and not x.grad.any()


def test_checkpoint():
    tensors, starts = make(30, 30), get_starts([11, 19])

    def call(*tensors):
        return attune.varlen(*tensors, starts, starts, causal=True)

    expected = torch.autograd.grad(call(*tensors).sum(), tensors)
    for use_reentrant in (False, True):
        for x in tensors:
            x.grad = None
        checkpoint(call, *tensors, use_reentrant=use_reentrant).sum().backward()
        for x, y in zip(tensors, expected, strict=True):
            torch.testing.assert_close(x.grad, y, rtol=0, atol=0)


def test_in_one_graph():
    """Batches of any lengths, with nothing traced again."""
    torch._dynamo.reset()
    slopes = torch.tensor([0.5, 0.25, 1.0, 0.0])

    def call(q, k, v, starts, used, longest):
        options = {"causal": True, "window": (9, 0), "alibi_slopes": slopes, "seqused_k": used}
        return attune.varlen(q * 2, k, v, starts, starts, longest, longest, **options)

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(call, fullgraph=True, backend=counter, dynamic=True)
    for lengths in ([5, 9], [12, 3], [7, 7]):
        tensors = make(sum(lengths), sum(lengths))
        arguments = get_starts(lengths), torch.tensor([3, lengths[1]], dtype=torch.int32), max(lengths)
        found, expected = (torch.autograd.grad(f(*tensors, *arguments).square().sum(), tensors) for f in (compiled, call))
        for got, wanted in zip(found, expected, strict=True):
            torch.testing.assert_close(got, wanted, rtol=2e-3, atol=2e-3)
    assert counter.frame_count == 1


def test_learned_in_one_graph():
    torch._dynamo.reset()
    tensors, starts = make(14, 14), get_starts([5, 9])
    slopes, sinks = (torch.tensor([0.5, 0.25, 1.0, 0.125], requires_grad=True) for _ in range(2))

    def call(q, k, v):
        out, lse = attune.varlen(q, k, v, starts, starts, alibi_slopes=slopes * 0.5, sinks=sinks, return_lse=True)
        return out.float().square().sum() + lse.sum()

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for wanted in ([*tensors, slopes, sinks], [slopes]):
        found, expected = (torch.autograd.grad(function(*tensors), wanted) for function in (compiled, call))
        torch.testing.assert_close(found, expected, rtol=2e-3, atol=2e-3)


def test_operator():
    """By its name: with LSEs or without, and as PyTorch wants operators to be."""
    tensors, starts = make(14, 14), get_starts([5, 9])
    rest = starts, starts, *(None,) * 7
    out, lse = torch.ops.attune.varlen(*tensors, *rest, causal=True)
    assert not lse.numel()
    expected = torch.autograd.grad(attune.varlen(*tensors, starts, starts, causal=True).sum(), tensors)
    for got, wanted in zip(torch.autograd.grad(out.sum(), tensors), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_opcheck():
    starts = get_starts([5, 9])
    for options in ({}, {"return_lse": True, "causal": True, "window": [9, 3], "max_seqlen_q": 9, "max_seqlen_k": 9}):
        torch.library.opcheck(torch.ops.attune.varlen.default, (*make(14, 14), starts, starts, *(None,) * 7), options)


def test_transforms():
    """torch.func sees the same gradients."""
    tensors, starts = [x.detach() for x in make(14, 14)], get_starts([5, 9])

    def loss(*tensors):
        return attune.varlen(*tensors, starts, starts).float().square().sum()

    inputs = [x.clone().requires_grad_() for x in tensors]
    expected = torch.autograd.grad(loss(*inputs), inputs)
    for got, wanted in zip(torch.func.grad(loss, argnums=(0, 1, 2))(*tensors), expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0)


def test_deterministic(monkeypatch):
    """PyTorch's switch decides which kernels there are."""
    problems = []
    find = _devices.Device.get_kernel
    monkeypatch.setattr(
        _devices.Device, "get_kernel", lambda self, problem, bucket: problems.append(problem) or find(self, problem, bucket)
    )
    for is_asked in (False, True):
        torch.use_deterministic_algorithms(is_asked)
        try:
            check(make(30, 30), ([11, 19], [11, 19]), causal=True)
        finally:
            torch.use_deterministic_algorithms(False)
        assert (" deterministic " in problems[-1].make_module().print()) == is_asked


def test_deterministic_bits(monkeypatch):
    """Sequences of any lengths give the same bits again."""
    chip = find_chip("Hopper")
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    tensors, lengths = make(180, 270), ([0, 1, 70, 64, 45], [3, 65, 130, 0, 72])
    found = []
    for _ in range(2):
        torch.manual_seed(7)  # gradients of the result
        found.append(check(tensors, lengths, causal=True, chip=chip))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_refused():
    (q, k, v), starts = make(14, 14), get_starts([5, 9])
    scale, table = torch.ones(1), torch.zeros(2, 2, dtype=torch.int32)
    pages = torch.randn(2, 8, 2, 32).half()
    used = torch.tensor([5, 9], dtype=torch.int32)
    said = "expects {} without gradients, for which attune_mlir has no kernel"
    for name, call in (
        ("block_table of varlen", lambda: attune.varlen(q, pages, pages, starts, block_table=table, seqused_k=used)),
        ("latent of varlen", lambda: attune.varlen(q, k[:, :1], None, starts, starts, latent=16)),
        ("k_descale of varlen", lambda: attune.varlen(q, k, v, starts, starts, k_descale=scale)),
        ("out_descale of varlen", lambda: attune.varlen(q, k, v, starts, starts, out_dtype="float8_e4m3fn", out_descale=scale)),
        ("k of torch.float8_e4m3fn", lambda: attune.varlen(q, k.to(torch.float8_e4m3fn), v, starts, starts)),
        ("v of torch.int8", lambda: attune.varlen(q, k, v.detach().to(torch.int8), starts, starts)),
        ("k_descale of varlen", lambda: attune.varlen(*(x.detach() for x in (q, k, v)), starts, starts, k_descale=scale.requires_grad_())),
        ("block_table of varlen", lambda: torch.ops.attune.varlen(q, pages, pages, starts, None, used, table, *(None,) * 5)),
    ):
        with pytest.raises(NotImplementedError, match=re.escape(said.format(name))):
            call()
        scale.requires_grad_(False)
    with pytest.raises(ValueError, match="expects out, stream and check in plain calls alone, not where PyTorch traces, maps, casts"):
        attune.varlen(q, k, v, starts, starts, out=torch.empty_like(q))
    with pytest.raises(ValueError, match=re.escape("expects q to be [total_q, heads, head_dim], but got shape (1, 14, 4, 32)")):
        attune.varlen(q[None], k, v, starts, starts)
    (grad,) = torch.autograd.grad(attune.varlen(q, k, v, starts, starts).square().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="expects first derivatives of attention alone"):
        grad.sum().backward()


def test_autocast():
    """What is packed is cast, and has gradients in its own type; caches are not."""
    tensors, starts = [x.detach().float().requires_grad_() for x in make(14, 14)], get_starts([5, 9])
    halves = [x.detach().half().requires_grad_() for x in tensors]
    with torch.autocast("cpu", dtype=torch.float16):
        out = attune.varlen(*tensors, starts, starts, causal=True)
        with torch.no_grad():
            assert torch.equal(attune.varlen(*tensors, starts, starts, causal=True), out)
        pages = torch.randn(2, 16, 2, 32, dtype=torch.bfloat16)
        table, used = torch.tensor([[0], [1]], dtype=torch.int32), torch.tensor([9, 16], dtype=torch.int32)
        q = torch.randn(14, 4, 32, dtype=torch.bfloat16)
        found = attune.varlen(q, pages, pages, starts, seqused_k=used, block_table=table)
        assert found.dtype == torch.bfloat16
    expected = attune.varlen(*halves, starts, starts, causal=True)
    assert out.dtype == torch.float16 and torch.equal(out, expected)
    grads = torch.autograd.grad(out.float().square().sum(), tensors)
    for grad, other in zip(grads, torch.autograd.grad(expected.float().square().sum(), halves), strict=True):
        assert grad.dtype == torch.float32 and torch.equal(grad, other.float())


def test_known(device, monkeypatch):
    """Steps of training look for nothing when they were made before, and batches of other lengths compile nothing."""
    counts = {"forward": 0, "backward": 0, "compiled": 0}

    def note(module, name, what):
        function = getattr(module, name)

        def run(*arguments, **options):
            counts[what] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, run)

    note(_serving, "compute", "forward")
    note(_attention, "compute_gradients", "backward")
    note(device, "_load", "compiled")
    for lengths in ([5, 9], [9, 5], [5, 9]):
        tensors, starts = make(14, 14), get_starts(lengths)
        attune.varlen(*tensors, starts, starts, 9, 9, causal=True).sum().backward()
        assert all(x.grad.shape == x.shape for x in tensors)
    assert counts == {"forward": 1, "backward": 1, "compiled": 2}
    tensors, starts = make(20, 20), get_starts([9, 11])
    attune.varlen(*tensors, starts, starts, 11, 11, causal=True).sum().backward()
    assert counts == {"forward": 2, "backward": 2, "compiled": 2}
    used = torch.tensor([3, 4], dtype=torch.int32)
    for _ in range(2):
        attune.varlen(*tensors, starts, starts, 11, 11, seqused_k=used, causal=True).sum().backward()
    assert counts == {"forward": 3, "backward": 3, "compiled": 4}
