# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How other frameworks are asked for memory and streams: with stand-ins that note it."""

import sys
import types

import numpy as np
import pytest

from attune_mlir import _frameworks


@pytest.fixture
def torch(monkeypatch):
    module = types.ModuleType("torch")
    module.float16, module.uint8 = "torch.float16", "torch.uint8"
    module.empty = lambda shape, dtype, device: ("empty", shape, dtype, device)
    module.zeros = lambda size, dtype, device: ("zeros", size, dtype, device)
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=17))
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def make_array(module, **members):
    return type("Tensor", (), {"__module__": module, **members})()


def test_torch(torch):
    device = types.SimpleNamespace(type="cuda", index=1)
    array = make_array("torch", device=device)
    framework = _frameworks.find_framework(array)
    assert framework.empty(array, (2, 3), "float16") == ("empty", (2, 3), "torch.float16", device)
    assert framework.allocate(array, 5, zero=True) == ("zeros", 5, "torch.uint8", device)
    assert framework.allocate(array, 5, zero=False) == ("empty", 5, "torch.uint8", device)
    assert framework.get_stream(array) == 17
    assert framework.get_stream(make_array("torch", device=types.SimpleNamespace(type="cpu"))) == 0


def test_cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.empty, module.zeros = np.empty, np.zeros
    module.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=23))
    monkeypatch.setitem(sys.modules, "cupy", module)
    entered = []

    class Device:
        def __enter__(self):
            entered.append(1)

        def __exit__(self, *_):
            pass

    array = make_array("cupy.ndarray", device=Device())
    framework = _frameworks.find_framework(array)
    assert framework.empty(array, (2, 3), "float16").shape == (2, 3)
    assert not framework.allocate(array, 5, zero=True).any()
    assert framework.allocate(array, 5, zero=False).shape == (5,)
    assert framework.get_stream(array) == 23 and len(entered) == 3


def test_dtype_names():
    for array, name in [(np.zeros(1, np.uint8), "uint8"), (np.zeros(1, bool), "bool8"), (np.zeros(1, complex), "complex128")]:
        tensor = _frameworks.make_tensor(array, "q")
        assert _frameworks.get_dtype_name(tensor) in (name, "int8")
