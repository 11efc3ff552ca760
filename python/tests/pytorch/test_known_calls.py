# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fast way of calls that were made before: with the tests' driver, which computes nothing, and tensors of the CPU."""

import ctypes
import gc
import os
import re
import threading
import weakref

import pytest
import torch

import attune_mlir as attune
from attune_mlir import _attention, _devices, _native


@pytest.fixture
def device(monkeypatch):
    """A GPU, as the package sees it. That of the tensors is not asked for."""
    folder = os.environ.get("ATTUNE_FAKE_DRIVER")
    assert folder, "expects the folder of the tests' driver in ATTUNE_FAKE_DRIVER"
    torch.cuda.is_available()  # PyTorch remembers that there is none, and so leaves the tests' driver alone
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # found by its name from now on
    from attune_mlir import _torch

    monkeypatch.setattr(_torch, "_known", {})
    device = _devices.Device("cuda", 0, None)
    monkeypatch.setattr(_devices, "get_device", lambda *_: device)
    return device


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
        lambda: attune.attention(q, k, v, window=[3, 0]),
        lambda: attune.attention(q, k, v, out=torch.empty_like(q)),
        lambda: attune.attention(q, k, v, stream=3),
        lambda: attune.attention(torch.nn.Parameter(q, requires_grad=False), k, v),
    ):
        call()
    assert len(computed) == len(variants) + 4


def test_errors(device):
    q, k, v = make_inputs()
    attune.attention(q, k, v)
    with pytest.raises(TypeError, match="expects q of float16 or bfloat16, but got float32"):
        attune.attention(q.float(), k, v)
    assert attune.attention(q.clone().requires_grad_(), k, v).requires_grad
    with pytest.raises(ValueError, match="expects v to start at a multiple of 16 bytes"):
        attune.attention(q, k, torch.zeros(v.numel() + 1).half()[1:].view(v.shape))
    with pytest.raises(TypeError, match="expects KnownCalls and arrays"):
        _native.launch_known(q, q, k, v)
    assert _native.launch_known(_native.KnownCalls(), q, k, v) is None
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
