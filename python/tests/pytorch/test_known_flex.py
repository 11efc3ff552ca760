# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fast way of calls with functions for scores and masks: with the tests' driver, which computes nothing, and tensors of the CPU."""

import itertools
import re

import pytest
import torch
import torch.utils.checkpoint
from torch.nn.attention.flex_attention import BlockMask, create_block_mask

import attune_mlir as attune
from attune_mlir import _devices, _flex, _masks, _repeated, _states, _trace

LENGTH = 200


@pytest.fixture
def read(monkeypatch):
    """Calls that went the long way."""
    calls, read_call = [], _flex._read_call

    def count(*arguments, **options):
        calls.append(arguments)
        return read_call(*arguments, **options)

    monkeypatch.setattr(_flex, "_read_call", count)
    return calls


def make_inputs(length=LENGTH, heads=2):
    return [torch.randn(2, heads, length, 64, dtype=torch.float16) for _ in range(3)]


def make_mask(function, length=LENGTH):
    return create_block_mask(function, None, None, length, length, device="cpu")


def make_window(width):
    return lambda b, h, q_idx, kv_idx: (q_idx >= kv_idx) & (q_idx - kv_idx <= width)


def test_masks(device, read):
    for count in (1, 1):
        for width in (20, 20, 30):  # functions and lists that were made anew
            out = attune.flex_attention(*make_inputs(), block_mask=make_mask(make_window(width)))
            assert out.shape == (2, 2, LENGTH, 64) and out.dtype == torch.float16 and out.is_contiguous()
        assert len(read) == 2 * count


def test_captures(device, read, capfd, monkeypatch):
    """Other tensors of the same sizes are read where they are."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")

    def call(bias, keep):
        return attune.flex_attention(*make_inputs(), score_mod=lambda s, b, h, q, kv: torch.where(keep[kv], s + bias[h, q], s))

    given = [(torch.randn(2, LENGTH), torch.rand(LENGTH) > 0.5) for _ in range(3)]
    for tensors in given:
        call(*tensors)
    assert len(read) == 1
    launches = re.findall(r"driver: cuLaunchKernel (.*)", capfd.readouterr().err)
    assert len(launches) == 3 and len({launch.rpartition(" ")[0] for launch in launches}) == 1
    # Another size, and what has to be copied first.
    call(torch.randn(2, LENGTH + 1), given[0][1])
    assert len(read) == 2
    for _ in range(2):
        call(torch.randn(LENGTH, 2).t(), given[0][1])
    assert len(read) == 4


def test_parts_of_one_tensor(device, read):
    """Captures that begin at one address are told apart."""
    ends = torch.arange(LENGTH + 1, dtype=torch.int32)

    def call(first, second):
        return attune.flex_attention(*make_inputs(), score_mod=lambda s, b, h, q, kv: s + first[q] * second[kv])

    for _ in range(2):
        call(ends, ends[:-1])
    assert len(read) == 1
    call(ends[:-1], ends)
    assert len(read) == 2


def test_what_differs_goes_the_long_way(device, read):
    mask, other = make_mask(make_window(20)), make_mask(make_window(20), LENGTH - 8)
    q, k, v = make_inputs()
    short = make_inputs(LENGTH - 8)
    variants = [
        lambda: attune.flex_attention(q, k, v),
        lambda: attune.flex_attention(q, k, v, block_mask=mask),
        lambda: attune.flex_attention(q, k, v, block_mask=mask, scale=0.5),
        lambda: attune.flex_attention(q, k, v, block_mask=mask, return_lse=True),
        lambda: attune.flex_attention(*short, block_mask=other),
        lambda: attune.flex_attention(q, k[:, :1], v[:, :1], block_mask=mask, enable_gqa=True),
        lambda: attune.flex_attention(q, k, v, score_mod=lambda s, b, h, q, kv: s * 2),
    ]
    for number, call in enumerate(variants):
        call()
        assert len(read) == number + 1
    for call in variants:
        call()
    assert len(read) == len(variants)
    out, lse = variants[3]()
    assert out.shape == q.shape and lse.shape == (2, 2, LENGTH)
    with pytest.raises(ValueError, match="expects enable_gqa"):
        attune.flex_attention(q, k[:, :1], v[:, :1], block_mask=mask)
    with pytest.raises(ValueError, match="expects block_mask for 192 queries"):
        attune.flex_attention(*short, block_mask=mask)
    with pytest.raises(TypeError, match="expects q"):
        attune.flex_attention(None, k, v, block_mask=mask)
    assert attune.flex_attention(q.clone().requires_grad_(), k, v, block_mask=mask).requires_grad


@pytest.mark.parametrize("lists", [False, True])
def test_gradients(device, read, lists):
    """Two that are read: the call, and that of its gradients. Later ones have functions, lists and tensors that were made anew."""

    def make_score(bias):
        return lambda s, b, h, q, kv: s + bias[h, q]

    for _ in range(3):
        inputs = [x.requires_grad_() for x in make_inputs()]
        mask = make_mask(make_window(20)) if lists else None
        out, lse = attune.flex_attention(*inputs, make_score(torch.randn(2, LENGTH)), mask, return_lse=True)
        found = torch.autograd.grad(out.sum() + lse.sum(), inputs)
        assert [x.shape for x in found] == [x.shape for x in inputs] and all(x.dtype == torch.float16 for x in found)
        assert len(read) == 2
    # Others of the gradients, and without one of the logarithm.
    for _ in range(2):
        out = attune.flex_attention(*inputs, make_score(torch.randn(2, LENGTH)), mask)
        (found,) = torch.autograd.grad(out.sum(), inputs[1:2])
        assert found.shape == inputs[1].shape
        assert len(read) == 3
    # And those of what is read.
    for _ in range(3):
        bias = torch.randn(2, LENGTH, requires_grad=True)
        out = attune.flex_attention(*inputs, make_score(bias), mask)
        *_, found = torch.autograd.grad(out.sum(), [*inputs, bias])
        assert found.shape == bias.shape and found.dtype == torch.float32
        assert len(read) == 4


def test_gradients_of_one_of_two(device, read):
    """As many gradients, but of another tensor."""
    inputs, given = make_inputs(), [torch.randn(2, LENGTH) for _ in range(2)]
    for wanted in (0, 1, 0, 1):
        biases = [x.clone().requires_grad_(number == wanted) for number, x in enumerate(given)]
        out = attune.flex_attention(*inputs, lambda s, b, h, q, kv, one=biases: s + one[0][h, q] * one[1][h, kv])
        (found,) = torch.autograd.grad(out.sum(), [biases[wanted]])
        assert found.shape == (2, LENGTH)
    assert len(read) == 3


def test_gradients_of_parameters(device, read):
    """With sinks and slopes, which have places of their own."""
    inputs = [torch.nn.Parameter(x) for x in make_inputs()]
    for learns, dropout_p in ((False, 0.0), (True, 0.0), (True, 0.25)):
        sinks, slopes = torch.nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=learns)
        wanted = [*inputs, sinks, *([slopes] if learns else [])]
        read.clear()
        for _ in range(2):
            options = {"sinks": sinks, "alibi_slopes": slopes, "dropout_p": dropout_p}
            out = attune.attention(*inputs, mask_mod=make_window(20), layout="bhsd", **options)
            found = torch.autograd.grad(out.sum(), wanted)
            assert [x.shape for x in found] == [x.shape for x in wanted]
            # The forward pass of the first is that of the second as well.
            assert len(read) == (1 if learns and not dropout_p else 2)


def test_lists_that_have_to_be_copied(device, read):
    mask = make_mask(make_window(20))
    wide = BlockMask.from_kv_blocks(mask.kv_num_blocks.long(), mask.kv_indices.long(), mask_mod=mask.mask_mod, seq_lengths=mask.seq_lengths)
    for _ in range(2):
        attune.flex_attention(*make_inputs(), block_mask=wide)
    assert len(read) == 2


def test_functions_that_may_change(device, read):
    """What cannot be compared is traced each time."""

    class Mask:
        def __call__(self, b, h, q_idx, kv_idx):
            return q_idx >= kv_idx

    mask = make_mask(Mask())
    for _ in range(2):
        attune.flex_attention(*make_inputs(), block_mask=mask)
    assert len(read) == 2


def test_kinds_are_bounded(device, read, monkeypatch):
    from attune_mlir import _repeated

    monkeypatch.setattr(_repeated, "_MAX_KEPT", 2)
    monkeypatch.setattr(_repeated, "_kinds", {})
    masks = [make_mask(make_window(width)) for width in (1, 2, 3)]
    for mask in masks:
        attune.flex_attention(*make_inputs(), block_mask=mask)
    assert len(read) == 3 and len(_repeated._kinds) == 2
    attune.flex_attention(*make_inputs(), block_mask=masks[2])
    assert len(read) == 3
    attune.flex_attention(*make_inputs(), block_mask=masks[0])
    assert len(read) == 4


def test_many_captures(device, read):
    """More tensors than calls are told apart by."""
    tensors = [torch.randn(LENGTH) for _ in range(12)]

    def add(score, b, h, q_idx, kv_idx):
        for tensor in tensors:
            score = score + tensor[kv_idx]
        return score

    for _ in range(2):
        attune.flex_attention(*make_inputs(), score_mod=add)
    assert len(read) == 2


def test_other_callers(device, read):
    """What models call, with sinks and in another order of dimensions."""
    arrays = dict(zip(("query", "key", "value"), (x.transpose(1, 2) for x in make_inputs()), strict=True))
    for _ in range(2):
        form = _flex.Form(mask_mod=make_window(20), layout="bshd")
        out, lse = _flex.compute(arrays, form, sinks=torch.ones(2))
        assert out.shape == (2, LENGTH, 2, 64) and lse is None
    assert len(read) == 1


def find_states(tables, columns):
    """What lists say of each block, block by block."""
    shape = torch.broadcast_shapes(*(counts.shape for counts in tables[::2]))
    states = torch.zeros(*shape, columns, dtype=torch.int32)
    for state, (counts, indices) in enumerate(zip(tables[::2], tables[1::2], strict=True), start=1):
        indices = indices.expand(*shape, -1)
        for place in itertools.product(*map(range, shape)):
            for entry in range(counts.expand(shape)[place]):
                states[place][indices[place][entry]] = state
    return states


def test_states():
    """Lists of all batches beside those of each, of other lengths, and with anything at all behind what they use."""
    partial = torch.tensor([[[2, 0]], [[1, 3]]], dtype=torch.int32)
    full = torch.tensor([[[1, 2]]], dtype=torch.int32)
    of_partial = torch.tensor([[[[4, 0, -7], [9, 9, 9]]], [[[2, 1 << 30, 2], [0, 1, 2]]]], dtype=torch.int32)
    of_full = torch.tensor([[[[1, 1, 4, 0], [3, 4, 3, -1]]]], dtype=torch.int32)
    for tables in ([partial, of_partial], [full, of_full], [partial, of_partial, full, of_full], [full, of_full, partial, of_partial]):
        found = _states.make(tables, 5)
        assert found.is_contiguous() and found.shape[-1] == 8
        assert torch.equal(found[..., :5], find_states(tables, 5))
    # Of another type, with gaps, and of nothing.
    tables = [full.long(), torch.stack([of_full, of_full], dim=-1)[..., 0]]
    assert torch.equal(_states.make(tables, 5)[..., :5], find_states(tables, 5))
    assert _states.make([full[..., :0], of_full[:, :, :0]], 5).shape == (1, 1, 0, 8)


@pytest.mark.parametrize("is_amd", [False, True])
def test_states_of_long_lists(nvidia, amd, is_amd):
    """Of more blocks than a workgroup has threads. A block that is in both lists is a full one."""
    columns = 131
    tables = []
    for shape in ((3, 1, 2), (1, 2, 2)):
        tables.append(torch.randint(0, columns + 1, shape, dtype=torch.int32))
        tables.append(torch.rand(*shape, columns).argsort(dim=-1).to(torch.int32))
    tables[0][0, 0], tables[2][0, 1, 1] = columns, 0
    found = _states.make(tables, columns, amd if is_amd else nvidia)
    assert found.shape == (3, 2, 2, 132) and found.dtype == torch.int32
    assert torch.equal(found[..., :columns], find_states(tables, columns)) and not found[..., columns:].any()


def test_states_are_launched(device, monkeypatch, capfd):
    """As one kernel, which is looked for once for lists of the same sizes, also of other contents and in a graph."""
    looked, get_kernel = [], _devices.get_kernel

    def find(*arguments):
        looked.append(arguments)
        return get_kernel(*arguments)

    monkeypatch.setattr(_devices, "get_kernel", find)
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")

    def make(columns=2, number=0, heads=1):
        mask = make_mask(make_window(20 + number))
        lists = [mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_kv_indices]
        capfd.readouterr()
        found = _states.make([x.expand(-1, heads, *x.shape[2:]).contiguous() for x in lists], columns)
        assert found.shape == (1, heads, 2, -(-columns // 4) * 4) and found.dtype == torch.int32
        calls = re.findall(r"driver: (cuLaunchKernel|cuMemset\w*|cuMemAlloc\w*|cu\w*Synchronize)", capfd.readouterr().err)
        assert calls == ["cuLaunchKernel"]

    for number in range(3):
        make(number=number)
    assert len(looked) == 1
    make(columns=5)
    make(heads=2)
    assert len(looked) == 3
    monkeypatch.setenv("FAKE_DRIVER_CAPTURE", "7")
    make(number=3)
    assert len(looked) == 3


@pytest.fixture
def made(monkeypatch):
    """Lists of which states were made."""
    calls, make = [], _states.make

    def count(tables, *rest):
        calls.append(list(tables))
        return make(tables, *rest)

    monkeypatch.setattr(_states, "make", count)
    return calls


def test_states_are_made_for_gradients(device, read, made):
    """Of the lists that the call had, whatever the BlockMask has by then."""
    mask, other = make_mask(make_window(20)), make_mask(make_window(90))
    for _ in range(2):
        inputs = [x.requires_grad_() for x in make_inputs()]
        outs = [attune.flex_attention(*inputs, block_mask=mask) for _ in range(2)]
        assert not made
        lists = [mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_kv_indices]
        mask.kv_num_blocks, mask.kv_indices = other.kv_num_blocks, other.kv_indices
        torch.autograd.grad(outs[1].sum(), inputs)
        assert all(one is given for one, given in zip(made[0], lists, strict=True))
        mask.kv_num_blocks, mask.kv_indices = lists[:2]
        mask.kv_indices.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            outs[0].sum().backward()
        attune.flex_attention(*inputs, block_mask=mask).sum().backward()
        assert len(made) == 2 and len(read) == 2
        made.clear()


def test_detached_beside_lists(device):
    """What functions detach is one tensor in the forward pass and in gradients, behind which these read what lists say."""
    bias = torch.randn(2, LENGTH, requires_grad=True)

    def add(score, b, h, q_idx, kv_idx):
        return score + bias[h, q_idx] + bias.detach()[h, kv_idx]

    traced = _trace.translate(add, None, bias.device)
    listed = _trace.translate_listed(add, None, bias.device, traced, _masks.Lists((128, 128), (1, 1)))
    assert len(traced.captures) == 2 and "%capture2[" in listed.clauses and "%capture3" not in listed.clauses


def test_states_of_one_backward_pass(device, made):
    """Layers with the same lists share what is made of them, and nothing of it is left."""
    mask, other = make_mask(make_window(20)), make_mask(make_window(20))

    def run(*masks):
        made.clear()
        query, *others = (x.requires_grad_() for x in make_inputs())
        for one in masks:
            query = attune.flex_attention(query, *others, block_mask=one)
        query.sum().backward()
        assert not _states._shared
        return len(made)

    assert run(mask, mask, mask) == 1
    assert run(mask, other, mask) == 2
    mask.kv_num_blocks.zero_()
    assert run(mask, mask) == 1 and not made[0][0].any()
    # A pass in another one, of what is computed again.
    made.clear()
    query, key, value = (x.requires_grad_() for x in make_inputs())
    for reentrant in (True, False):
        again = torch.utils.checkpoint.checkpoint(attune.flex_attention, query, key, value, None, mask, use_reentrant=reentrant)
        attune.flex_attention(again, key, value, block_mask=mask).sum().backward()
        assert not _states._shared


def test_states_of_passes_that_fail(device, made):
    mask = make_mask(make_window(20))

    class Fail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("expected")

    for number in range(2 * _states._MAX_PASSES):
        query, *others = (x.requires_grad_() for x in make_inputs())
        with pytest.raises(RuntimeError, match="expected"):
            attune.flex_attention(Fail.apply(query), *others, block_mask=mask).sum().backward()
        assert len(made) == number + 1 and len(_states._shared) <= _states._MAX_PASSES
    _states._shared.clear()


def test_compiled(device, read):
    """Of a graph of PyTorch's compiler: the call and that of its gradients are read once."""
    torch._dynamo.reset()
    mask = make_mask(make_window(20))

    @torch.compile(backend="aot_eager", fullgraph=True)
    def call(q, k, v, bias):
        return attune.flex_attention(q, k, v, lambda s, b, h, m, n: s + bias[h, m], mask)

    for _ in range(3):
        inputs = [x.requires_grad_() for x in make_inputs()]
        out = call(*inputs, torch.randn(2, LENGTH))
        assert out.shape == inputs[0].shape
        found = torch.autograd.grad(out.sum(), inputs)
        assert [x.shape for x in found] == [x.shape for x in inputs] and len(read) == 2


def test_operator_with_one_tensor_twice(device, read, monkeypatch):
    """A call that captures one twice says nothing of which one another call captures."""
    given, launch_known = [], _repeated._native.launch_known

    def look(*arguments):
        found = launch_known(*arguments)
        given.append([x.data_ptr() for x in arguments[-2:]] if found is not None else None)
        return found

    monkeypatch.setattr(_repeated._native, "launch_known", look)
    adds = "".join(f" %t{n} = arith.addf %{'t0' if n else 's_score'}, %s{n} : f32" for n in range(2))
    reads = " ".join(f"%s{n} = tensor.extract %capture{n}[%s_h, %s_q] : tensor<?x?xf32>" for n in range(2))
    clauses = f"score (%s_score, %s_b, %s_h, %s_q, %s_kv) {{ {reads}{adds} attn.yield %t1 : f32 }}"
    options = {"clauses": clauses, "grad_clauses": "", "reads": ["0:h 1:q"] * 2, "blocks": [], "probability": 0.0, "scale": None}
    options |= {"causal": False, "window": None, "softcap": None, "layout": "bhsd", "chip": None}
    first, second = (torch.randn(2, LENGTH) for _ in range(2))
    for pair in ((first, first), (first, second), (second, first)):
        torch.ops.attune.flex_attention(*make_inputs(), None, None, None, [], list(pair), **options)
    assert len(read) == 1 and given == [[first.data_ptr(), second.data_ptr()], [second.data_ptr(), first.data_ptr()]]
