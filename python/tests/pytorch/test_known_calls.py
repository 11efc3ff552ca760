# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fast way of calls that were made before: with the tests' driver, which computes nothing, and tensors of the CPU."""

import gc
import os
import re
import threading
import weakref

import pytest
import torch

import attune_mlir as attune
from attune_mlir import _attention, _dropout, _native, _serving


@pytest.fixture
def computed(monkeypatch):
    """Calls that went the long way."""
    calls, compute = [], _attention.compute

    def count(*arguments, **options):
        calls.append(arguments)
        return compute(*arguments, **options)

    monkeypatch.setattr(_attention, "compute", count)
    return calls


def make_inputs(length=40, dtype=torch.float16):
    return [torch.randn(2, length, 2, 64).to(dtype) for _ in range(3)]


def make_inputs_of_zeros():
    """Without the generator."""
    return [torch.zeros(2, 40, 2, 64).half() for _ in range(3)]


def find_launches(said):
    return re.findall(r"driver: cuLaunchKernel (.*)", said)


def test_operator(device, computed):
    for _ in range(3):
        out, lse = torch.ops.attune.attention(*make_inputs(), causal=True, window=[8, 0])
        assert out.shape == (2, 40, 2, 64) and lse.numel() == 0
    attune.attention(*make_inputs(), causal=True, window=(8, 0))
    assert len(computed) == 1
    out, lse = torch.ops.attune.attention(*make_inputs(), causal=True, window=[8, 0], return_lse=True)
    assert lse.shape == (2, 2, 40) and len(computed) == 2


def test_slopes_and_sinks(device):
    """Kernels take them in another order than callers."""
    found = []

    def know(*arguments):
        found.append(arguments)

    options = {"causal": True, "window": None, "softcap": None, "scale": None, "return_lse": True, "layout": "bshd"}
    slopes, sinks = torch.ones(2), torch.ones(2)
    _attention.compute(*make_inputs(), slopes, sinks, **options, known=know)
    ((inputs, places, results, arguments, kernel, _),) = found
    assert inputs[3] is slopes and inputs[4] is sinks
    assert [kernel.argument(pos).name for pos in places] == ["query", "key", "value", "argument3", "sinks"]
    assert [kernel.argument(pos).name for pos in results] == ["output", "lse"]
    assert [arguments[pos].address for pos in places[3:]] == [slopes.data_ptr(), sinks.data_ptr()]


def test_operator_without_python(device, computed, monkeypatch):
    """Calls that were made before reach no kernel of Python's, with whatever tensors."""

    def call(q, k, v, **options):
        return torch.ops.attune.attention(q, k, v, causal=True, window=[8, 0], scale=0.5, chip=None, **options)

    long = [*make_inputs(), torch.ones(2), None]
    for _ in range(2):
        call(*make_inputs())
        call(*make_inputs(), softcap=3.0, sinks=torch.ones(2))
        torch.ops.attune.attention(*long, layout="bshd", return_lse=True)
    assert len(computed) == 3
    with torch.inference_mode():
        call(*make_inputs())
    with torch.no_grad():
        call(make_inputs()[0].requires_grad_(), *make_inputs()[1:])
    call(*(torch.nn.Parameter(x, requires_grad=False) for x in make_inputs()))
    assert len(computed) == 3
    assert call(make_inputs()[0].requires_grad_(), *make_inputs()[1:])[0].requires_grad  # recorded with log-sum-exps or without
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuLaunchKernel")
    with pytest.raises(RuntimeError, match="attention_kernel"):
        call(*make_inputs())


def test_operator_raises(device):
    """What a kernel in Python raises, with its type and place."""
    q, k, v = make_inputs()
    for inputs, window, error, text in [
        ((q.float(), k, v), None, TypeError, "expects q of float16 or bfloat16, but got float32"),
        ((q, k[:1], v), None, ValueError, "expects q, k and v to have one batch size"),
        ((q, k, v), [1, 2, 3], TypeError, "expects window to be two numbers of keys"),
    ]:
        with pytest.raises(error, match=text) as found:
            torch.ops.attune.attention(*inputs, window=window)
        assert found.traceback[-1].name in ("check_options", "check_operands", "read_sizes")
        with torch.inference_mode(), pytest.raises(error, match=text):
            torch.ops.attune.attention(*(x.clone() for x in inputs), window=window)
    with pytest.raises(TypeError, match="expects alibi_slopes of float32, but got float16"):
        torch.ops.attune.attention(q.requires_grad_(), k, v, torch.ones(2).half().requires_grad_())


def test_operator_is_seen(device, computed):
    """Modes, classes of tensors and transforms see a call that was made before."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            seen.append(str(function))
            return function(*arguments, **(options or {}))

    class Logged(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, function, types, arguments=(), options=None):
            seen.append(str(function))
            with torch._C._DisableTorchDispatch():
                return function(*arguments, **(options or {}))

    q, k, v = make_inputs()
    operator = torch.ops.attune.attention
    for _ in range(2):
        operator(q, k, v)
    with Mode():
        operator(q, k, v)
    assert seen == ["attune.attention.default"]
    operator(torch.Tensor._make_subclass(Logged, q), k, v)
    assert seen.count("attune.attention.default") == 2
    assert torch.vmap(lambda x: operator(x, k, v)[0])(torch.stack([q, q])).shape == (2, *q.shape)
    gradient = torch.func.grad(lambda x: attune.attention(x, k, v).float().sum())(q)
    assert gradient.shape == q.shape
    with torch.autocast("cpu", dtype=torch.float16):
        assert operator(q.float(), k, v)[0].dtype == torch.float16
        assert attune.attention(q.float(), k, v).dtype == torch.float16


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_second_call(device, computed, dtype, capfd):
    os.environ["FAKE_DRIVER_TRACE"] = "1"
    try:
        calls = [make_inputs(dtype=dtype) for _ in range(3)]
        results = [attune.attention(*inputs, causal=True, return_lse=True) for inputs in calls]
    finally:
        del os.environ["FAKE_DRIVER_TRACE"]
    launches = find_launches(capfd.readouterr().err)
    assert len(computed) == 1
    # All the same, but for the address of the first argument.
    assert [launch.rpartition(" ")[2] for launch in launches] == [str(inputs[0].data_ptr()) for inputs in calls]
    assert len({launch.rpartition(" ")[0] for launch in launches}) == 1
    for out, lse in results:
        assert type(out) is torch.Tensor and out.shape == (2, 40, 2, 64) and out.dtype == dtype and out.is_contiguous()
        assert lse.shape == (2, 2, 40) and lse.dtype == torch.float32 and lse.is_contiguous()
    assert isinstance(attune.attention(*make_inputs(dtype=dtype)), torch.Tensor) and len(computed) == 2


def test_parameters(device, computed):
    """As sinks that a model has learned."""
    sinks = torch.nn.Parameter(torch.ones(2))
    with torch.no_grad():
        for _ in range(3):
            attune.attention(*make_inputs(), sinks=sinks)
    for _ in range(2):
        assert attune.attention(*make_inputs(), sinks=sinks).requires_grad
    assert len(computed) == 2  # log-sum-exps are recorded as well


def test_other_places(device, computed, capfd, monkeypatch):
    """Memory that was not seen before is all that a launch differs in, workspaces of several kernels included."""
    attune.attention(*make_inputs())
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    calls = [make_inputs() for _ in range(6)]
    results = [attune.attention(*inputs) for inputs in calls]
    assert [launch.rpartition(" ")[2] for launch in find_launches(capfd.readouterr().err)] == [
        str(inputs[0].data_ptr()) for inputs in calls
    ]
    assert len({result.data_ptr() for result in results}) == 6 and len(computed) == 1
    # Memory is PyTorch's own, as that of other operators.
    assert results[0].untyped_storage().resizable()
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuTensorMapEncodeTiled")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="tensor map"):
            attune.attention(*calls[0])
    monkeypatch.delenv("FAKE_DRIVER_FAULT")
    capfd.readouterr()
    attune.attention(*calls[0])
    said = capfd.readouterr().err
    assert find_launches(said)[0].endswith(str(calls[0][0].data_ptr())) and said.count("cuTensorMapEncodeTiled") >= 3


def test_packed_and_recorded(device, monkeypatch):
    """Results have no dimension of a batch, and calls that are recorded are known as well."""
    calls, compute = [], _serving.compute

    def count(*arguments):
        calls.append(arguments)
        return compute(*arguments)

    monkeypatch.setattr(_serving, "compute", count)
    starts = torch.tensor([0, 40, 80], dtype=torch.int32)
    for is_recorded in (False, True):
        for longest in (40, 50, 64, 40):  # of one bucket
            inputs = [x.flatten(0, 1).requires_grad_(is_recorded) for x in make_inputs()]
            out, lse = attune.varlen(*inputs, starts, starts, longest, longest, return_lse=True)
            assert out.shape == (80, 2, 64) and lse.shape == (2, 80) and out.requires_grad == is_recorded
            assert out.is_contiguous() and lse.is_contiguous()
        assert len(calls) == 1
    attune.varlen(*inputs, starts, starts, 65, 40, return_lse=True)
    assert len(calls) == 2
    with pytest.raises(TypeError, match="expects max_seqlen_q to be an integer or None, but got float"):
        attune.varlen(*inputs, starts, starts, 64.0, 40, return_lse=True)
    with pytest.raises(ValueError, match="expects max_seqlen_q to be at least 0"):
        attune.varlen(*inputs, starts, starts, -1, 40, return_lse=True)
    outputs = [torch.randn(80, 2, 64).half() for _ in range(2)]
    for _ in range(2):
        out, lse = attune.merge(outputs, [torch.zeros(2, 80)] * 2, return_lse=True)
        assert out.shape == (80, 2, 64) and lse.shape == (2, 80)


def test_what_differs_goes_the_long_way(device, computed):
    q, k, v = make_inputs()
    variants = [
        lambda: attune.attention(q, k, v),
        lambda: attune.attention(q, k, v, causal=True),
        lambda: attune.attention(q, k, v, window=(3, 0)),
        lambda: attune.attention(q[:1], k[:1], v[:1]),
        lambda: attune.attention(q[:, 1:], k, v),
        lambda: attune.attention(*(x.transpose(1, 2) for x in (q, k, v)), layout="bhsd"),
        lambda: attune.attention(q.transpose(1, 2).contiguous().transpose(1, 2), k, v),
    ]
    for number, call in enumerate(variants):
        call()
        assert len(computed) == number + 1
    for call in variants:
        call()
    assert len(computed) == len(variants)
    for call in (
        lambda: attune.attention(q, k, v, out=torch.empty_like(q)),
        lambda: attune.attention(q, k, v, stream=3),
    ):
        call()
    assert len(computed) == len(variants) + 2


def test_errors(device):
    q, k, v = make_inputs()
    attune.attention(q, k, v)
    with pytest.raises(TypeError, match="expects q of float16 or bfloat16, but got float32"):
        attune.attention(q.float(), k, v)
    assert attune.attention(q.clone().requires_grad_(), k, v).requires_grad
    with pytest.raises(ValueError, match="expects v to start at a multiple of 16 bytes"):
        attune.attention(q, k, torch.zeros(v.numel() + 1).half()[1:].view(v.shape))
    options = (0, False, None, None, None, False, "bshd", None, 0, None, None)
    others = [(2, (1, 2, 3)), (2, "no"), (3, True), (4, 1 << 2000), (4, float("nan")), (6, "hbsd"), (6, 3), (7, "no"), (8, None), (8, True)]
    others += [(8, 0.5), (9, True), (9, 40.0), (9, -1), (10, 1 << 2000), (10, 40)]
    for function in (_native.launch_known, _native.repeat):
        with pytest.raises(TypeError, match="expects options and arrays"):
            function(*options)
        assert function(*options, q, k, v, None, None, None) is not None
        for number, other in others:
            assert function(*options[:number], other, *options[number + 1 :], q, k, v, None, None, None) is None
        for inputs in ((q, k, None), (q, k, object()), (None, k, v), (q, k, v.to_sparse()), (q, k, v.to("meta"))):
            assert function(*options, *inputs, None, None, None) is None
    os.environ["FAKE_DRIVER_FAULT"] = "cuLaunchKernel"
    try:
        with pytest.raises(RuntimeError, match="attention_kernel"):
            attune.attention(q, k, v)
    finally:
        del os.environ["FAKE_DRIVER_FAULT"]
    attune.attention(q, k, v)


def test_memory(device):
    """Neither tensors of a call nor its results are kept."""
    inputs = make_inputs()
    results = [attune.attention(*inputs, return_lse=True) for _ in range(3)]
    gone = [weakref.ref(tensor) for tensor in (*inputs, *(tensor for pair in results for tensor in pair))]
    del inputs, results
    gc.collect()
    assert not any(reference() is not None for reference in gone)


def test_lengths_are_bounded(device):
    for length in range(1, 12):
        for _ in range(2):
            assert attune.attention(*make_inputs(length)).shape[1] == length


def test_threads(device, capfd, monkeypatch):
    """PyTorch's thread of the backward pass need not have used the GPU before."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    inputs, found = make_inputs(), []
    for call in (lambda: attune.attention(*inputs), lambda: attune.attention(*inputs, causal=True)):
        thread = threading.Thread(target=lambda call=call: found.append(call()))
        thread.start()
        thread.join()
    assert len(found) == 2 and len(find_launches(capfd.readouterr().err)) == 2


@pytest.fixture
def differentiated(monkeypatch):
    """Gradients that went the long way."""
    calls, compute = [], _attention.compute_gradients

    def count(*arguments, **options):
        calls.append(arguments)
        return compute(*arguments, **options)

    monkeypatch.setattr(_attention, "compute_gradients", count)
    return calls


def test_gradients(device, computed, differentiated, capfd, monkeypatch):
    """Steps of training look for nothing, with other contents and lengths of the same call; what kernels share is new in each."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    for length in (40, 40, 40, 33, 40):
        inputs = [x.requires_grad_() for x in make_inputs(length)]
        attune.attention(*inputs, causal=True).sum().backward()
        assert all(x.grad.shape == x.shape for x in inputs)
    assert len(computed) == len(differentiated) == 2
    assert len(find_launches(capfd.readouterr().err)) == 5 * 4  # one kernel, and then three that share memory
    q, k, v = make_inputs()
    attune.attention(q, k.requires_grad_(), v, causal=True).sum().backward()
    out, lse = attune.attention(q, k, v, causal=True, return_lse=True)
    (out.sum() + lse.sum()).backward()
    assert k.grad.shape == k.shape and len(differentiated) == 4
    attune.attention(*inputs, causal=True, alibi_slopes=torch.ones(2)).sum().backward()
    assert len(differentiated) == 5


def test_gradients_of_sinks(device, computed, differentiated, capfd, monkeypatch):
    """Kernels add them up, where bits need not be equal, and their calls are known as well."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    sinks = torch.nn.Parameter(torch.ones(2))
    for _ in range(3):
        inputs = [x.requires_grad_() for x in make_inputs()]
        attune.attention(*inputs, causal=True, sinks=sinks).sum().backward()
        assert sinks.grad.shape == sinks.shape and all(x.grad.shape == x.shape for x in inputs)
    assert len(computed) == len(differentiated) == 1
    assert len(find_launches(capfd.readouterr().err)) == 3 * 5  # one kernel, one that clears, and three
    # None of theirs is wanted, none of others, and then equal bits, for which PyTorch computes them.
    attune.attention(*inputs, causal=True, sinks=sinks.detach()).sum().backward()
    attune.attention(*make_inputs(), causal=True, sinks=sinks).sum().backward()
    capfd.readouterr()
    torch.use_deterministic_algorithms(True)
    try:
        attune.attention(*inputs, causal=True, sinks=sinks).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(differentiated) == 4
    assert len(find_launches(capfd.readouterr().err)) == 1 + 3


@pytest.mark.parametrize("is_packed", [False, True])
def test_dropout(device, computed, differentiated, monkeypatch, is_packed):
    """Calls with dropout are known as well, each with numbers of its own, which the generator draws as for the first one."""
    drawn, learned, draw, add, compute = [], [], _dropout.draw, _native.add_known, _serving.compute

    def see_numbers(*arguments):
        drawn.append(draw(*arguments))
        return drawn[-1]

    def see_learned(options, inputs, places, results, arguments, kernel, *others):
        given = [x for x in inputs if x is not None]
        assert [arguments[place].address for place in places] == [x.data_ptr() for x in given]
        learned.append((options, given[[kernel.argument(place).name for place in places].index("dropout")] is drawn[-1]))
        return add(options, inputs, places, results, arguments, kernel, *others)

    def count(*arguments):
        computed.append(arguments)
        return compute(*arguments)

    monkeypatch.setattr(_dropout, "draw", see_numbers)
    monkeypatch.setattr(_native, "add_known", see_learned)
    monkeypatch.setattr(_serving, "compute", count)
    starts = torch.tensor([0, 40, 80], dtype=torch.int32)

    def call(inputs, p=0.25):
        if not is_packed:
            return attune.attention(*inputs, causal=True, dropout_p=p)
        return attune.varlen(*(x.flatten(0, 1) for x in inputs), starts, starts, 40, 40, causal=True, dropout_p=p).unflatten(0, (2, 40))

    torch.manual_seed(7)
    expected = [torch.empty(2, dtype=torch.int64).random_().tolist() for _ in range(6)]
    torch.manual_seed(7)
    for _ in range(3):
        assert call(make_inputs_of_zeros()).shape == (2, 40, 2, 64)
    assert len(computed) == 1
    for _ in range(3):
        inputs = [x.requires_grad_() for x in make_inputs_of_zeros()]
        call(inputs).sum().backward()
        assert all(x.grad.shape == x.shape for x in inputs)
    # Log-sum-exps, which gradients read, come with those of `attention` that are not recorded as well.
    assert len(computed) == 1 + is_packed and len(differentiated) == 1
    assert [x.tolist() for x in drawn] == expected
    assert all(options[8] == 0.25 and is_drawn for options, is_drawn in learned) and len(learned) == 2 + is_packed
    call(make_inputs(), p=0.5)
    assert len(computed) == 2 + is_packed and learned[-1][0][8] == 0.5
