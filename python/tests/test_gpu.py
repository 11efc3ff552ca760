# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way to a GPU, with the tests' driver in place of CUDA's: it tells of launches, and computes nothing.

Arrays say that they are on a device; their memory is the host's.
"""

import ctypes
import os
import re

import numpy as np
import pytest
from conftest import make_inputs

import attune_mlir as attune
from attune_mlir import _attention, _devices, _frameworks


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class FakeArray:
    """An array on a device, as a framework for GPUs has it. What it hands out lives as long as it does."""

    def __init__(self, memory: np.ndarray, device: tuple[int, int] = (2, 0)) -> None:
        self.memory, self.device, self.kept = memory, device, []

    def __getitem__(self, index):
        return FakeArray(self.memory[index], self.device)

    @property
    def shape(self):
        return self.memory.shape

    @property
    def dtype(self):
        return self.memory.dtype

    def reshape(self, shape):
        return FakeArray(self.memory.reshape(shape), self.device)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        memory = self.memory
        shape = (ctypes.c_int64 * memory.ndim)(*memory.shape)
        strides = (ctypes.c_int64 * memory.ndim)(*(stride // memory.itemsize for stride in memory.strides))
        code = {"f": 2, "u": 1, "i": 0}[memory.dtype.kind]
        tensor = _Tensor(
            memory.ctypes.data, _Device(*self.device), memory.ndim, code, memory.itemsize * 8, 1,
            ctypes.addressof(shape), ctypes.addressof(strides), 0, None, None,
        )  # fmt: skip
        self.kept.append((shape, strides, tensor))
        return _new_capsule(ctypes.addressof(tensor), b"dltensor", None)


class FakeFramework:
    stream = 4660

    def empty(self, like, shape, dtype):
        return FakeArray(np.empty(shape, dtype=dtype), like.device)

    def allocate(self, like, num_bytes, zero):
        return FakeArray(np.full(num_bytes, 0 if zero else 255, dtype=np.uint8), like.device)

    def get_stream(self, like):
        return self.stream

    def finish(self, like, array):
        return array


@pytest.fixture
def inputs(monkeypatch):
    """q, k and v on the device of the tests' driver."""
    folder = os.environ.get("ATTUNE_FAKE_DRIVER")
    assert folder, "expects the folder of the tests' driver in ATTUNE_FAKE_DRIVER"
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # found by its name from now on
    monkeypatch.setitem(_frameworks.FRAMEWORKS, __name__.partition(".")[0], FakeFramework())
    monkeypatch.setattr(_devices, "_devices", {})
    os.environ["FAKE_DRIVER_TRACE"] = "1"
    yield [FakeArray(array) for array in make_inputs(batch=2, seq_q=128)]
    del os.environ["FAKE_DRIVER_TRACE"]


def find_launches(said: str) -> list[str]:
    return re.findall(r"driver: cuLaunchKernel (.*)", said)


def test_launch(inputs, capfd):
    out, lse = attune.attention(*inputs, causal=True, return_lse=True)
    assert isinstance(out, FakeArray) and out.memory.shape == (2, 128, 2, 64) and lse.memory.shape == (2, 2, 128)
    (launch,) = find_launches(capfd.readouterr().err)
    assert "stream 4660" in launch and re.match(r"grid \d+,\d+,\d+ block \d+,1,1", launch)
    # The kernel is there, whatever the length; the stream is the caller's.
    attune.attention(*inputs, causal=True, return_lse=True, stream=7)
    said = capfd.readouterr().err
    assert "cuModuleLoad" not in said and "stream 7 " in find_launches(said)[0] + " "


def test_capsules_die(inputs):
    """Views hold their arrays no longer than a call."""
    import gc
    import weakref

    array = inputs[0]
    gone = weakref.ref(array)
    attune.attention(*inputs)
    inputs.clear()
    del array
    gc.collect()
    assert gone() is None


def test_devices_differ(inputs):
    q, k, v = inputs
    with pytest.raises(ValueError, match=r"expects q, k and v to have one device, but got \('cuda', 0\) and, of k, \('cuda', 1\)"):
        attune.attention(q, FakeArray(k.memory, (2, 1)), v)
    with pytest.raises(ValueError, match=r"expects sinks on the device of q, \('cuda', 0\), but got \('cpu', 0\)"):
        attune.attention(q, k, v, sinks=np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="expects q in memory of the CPU, CUDA or ROCm, but got DLPack's device type 8"):
        attune.attention(FakeArray(q.memory, (8, 0)), k, v)


def test_two_devices(inputs, monkeypatch, capfd):
    """A thread's current device is neither asked for nor changed."""
    monkeypatch.setenv("FAKE_DRIVER_DEVICES", "2")
    others = [FakeArray(array.memory, (2, 1)) for array in inputs]
    driver = ctypes.CDLL("libcuda.so.1")
    for arrays, number in ((inputs, 0), (others, 1), (inputs, 0), (others, 1)):
        before, after = ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuCtxGetCurrent(ctypes.byref(before))
        assert attune.attention(*arrays, causal=True).device == (2, number)
        driver.cuCtxGetCurrent(ctypes.byref(after))
        assert before.value is None or before.value == after.value
    assert len(find_launches(capfd.readouterr().err)) == 4


def test_no_device(inputs):
    with pytest.raises(RuntimeError, match="no CUDA device"):
        attune.attention(*(FakeArray(array.memory, (2, 5)) for array in inputs))
    with pytest.raises(RuntimeError, match="no HIP device"):
        attune.attention(*(FakeArray(array.memory, (10, 0)) for array in inputs))


def test_driver_fails(inputs, monkeypatch):
    attune.attention(*inputs)
    os.environ["FAKE_DRIVER_FAULT"] = "cuLaunchKernel"
    try:
        with pytest.raises(RuntimeError, match="attention_kernel"):
            attune.attention(*inputs)
    finally:
        del os.environ["FAKE_DRIVER_FAULT"]


def test_foreign_framework(inputs, monkeypatch):
    monkeypatch.delitem(_frameworks.FRAMEWORKS, __name__.partition(".")[0])
    with pytest.raises(TypeError, match="expects arrays of numpy, torch, cupy, jax, whose allocators are known, but got .*FakeArray"):
        attune.attention(*inputs)


def test_workspace(inputs, monkeypatch, capfd):
    """A kernel with a work counter gets memory that is zero and aligned."""
    make_module = _attention.Problem.make_module

    def make_scheduled(self):
        text = str(make_module(self)).replace(
            " order(bshd)",
            " order(bshd) schedule(<blockM = 64, numWarps = 4, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, persistent = dynamic>)",
        )
        return attune.parse(text)

    monkeypatch.setattr(_attention.Problem, "make_module", make_scheduled)
    attune.attention(*inputs)
    kernel = next(iter(next(iter(_devices._devices.values()))._kernels.values()))
    assert kernel.argument(kernel.num_arguments - 1).is_workspace
    assert len(find_launches(capfd.readouterr().err)) == 1
    with pytest.raises(ValueError, match="expects the number of a workspace"):
        kernel.workspace_bytes([], 0)
    with pytest.raises(IndexError, match="expects the number of an argument"):
        kernel.argument(99)


def test_several_kernels(inputs, monkeypatch):
    make_module = _attention.Problem.make_module

    def make_two(self):
        function = str(make_module(self)).strip().removeprefix("module {").removesuffix("}")
        return attune.parse(function + function.replace("@attention", "@second"))

    monkeypatch.setattr(_attention.Problem, "make_module", make_two)
    with pytest.raises(NotImplementedError, match="expects one sequence of kernels, but .* has 0 of 2"):
        attune.attention(*inputs)


def test_recorded_attention(inputs, capfd):
    """Array code of arrays on a device is one launch there."""
    import attune_mlir.numpy as anp

    q, k, v = (anp.asarray(array) for array in inputs)
    weights = np.exp(q @ k.swapaxes(-1, -2) / 4)
    out = anp.evaluate(weights / weights.sum(axis=-1, keepdims=True) @ v)
    assert isinstance(out, FakeArray) and out.shape == inputs[0].shape
    (launch,) = find_launches(capfd.readouterr().err)
    assert "stream 4660" in launch


def test_explain_names_the_device(inputs):
    found = attune.explain(*inputs, causal=True)
    assert found.device == "cuda:0" and "on cuda:0" in str(found)


def test_missing_device(inputs, capfd):
    """The devices that are there work on."""
    attune.attention(*inputs)
    with pytest.raises(RuntimeError, match="no CUDA device: expects a number below 1, the number of devices, but got 7"):
        attune.attention(*(FakeArray(array.memory, (2, 7)) for array in inputs))
    capfd.readouterr()
    attune.attention(*inputs)
    assert len(find_launches(capfd.readouterr().err)) == 1


@pytest.fixture
def counted(inputs, monkeypatch):
    """Arguments of a decoding call whose keys are split, and the addresses of the counters that each launch is given."""
    found = []
    add = _devices._add_workspaces

    def note(device, kernel, tensors, *others):
        owners = add(device, kernel, tensors, *others)
        found.extend(tensors[pos].address for pos in range(kernel.num_arguments) if kernel.argument(pos).is_restored)
        return owners

    monkeypatch.setattr(_devices, "_add_workspaces", note)
    q, k, v = (FakeArray(array) for array in make_inputs(heads=4, kv_heads=1, seq_q=1, seq_k=4096))
    return (q, k, v), found


def test_last_workgroup_merges(counted, capfd):
    """One launch decodes; streams have counters of their own, which are cleared by nobody in between."""
    arrays, found = counted
    for stream in (7, 8, 7, 8):
        attune.decode(*arrays, stream=stream)
    assert len(find_launches(capfd.readouterr().err)) == 4
    assert found[0] == found[2] != found[1] == found[3]
    attune.decode(*arrays, stream=2)  # which is no stream of its own, but one of the thread
    assert found[4] not in found[:4]
    for address in found[:4]:
        assert address % 256 == 0 and ctypes.string_at(address, 4) == bytes(4)


def test_captures_count_apart(counted, monkeypatch):
    """What one capture records from one stream runs one after the other; other captures may run beside it."""
    arrays, found = counted
    attune.decode(*arrays)
    for capture in ("3", "3", "4"):
        monkeypatch.setenv("FAKE_DRIVER_CAPTURE", capture)
        attune.decode(*arrays)
    attune.decode(*arrays, stream=7)
    monkeypatch.delenv("FAKE_DRIVER_CAPTURE")
    attune.decode(*arrays)
    assert found[1] == found[2] and found[0] == found[5] and len(set(found)) == 4


def test_capture_without_room(counted, monkeypatch):
    """A capture that nothing is left for has memory of the framework's, which its graph clears."""
    arrays, found = counted
    monkeypatch.setenv("FAKE_DRIVER_CAPTURE", "3")
    attune.decode(*arrays)
    attune.decode(*arrays)
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuStreamGetCaptureInfo")
    attune.decode(*arrays)
    (device,) = _devices._devices.values()
    assert not device._zeros._parts and len(found) == 3


def test_device_without_memory(counted, monkeypatch):
    arrays, _ = counted
    monkeypatch.setenv("FAKE_DRIVER_FAULT", "cuMemAlloc")
    with pytest.raises(RuntimeError, match="failed to allocate 1048576 bytes on the device"):
        attune.decode(*arrays)
