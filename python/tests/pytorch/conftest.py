# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several tests with PyTorch need."""

import ctypes
import os

import pytest
import torch

import attune_mlir as attune
from attune_mlir import _devices, _native


@pytest.fixture
def device(monkeypatch):
    """A GPU, as the package sees it. That of the tensors is not asked for."""
    folder = os.environ.get("ATTUNE_FAKE_DRIVER")
    assert folder, "expects the folder of the tests' driver in ATTUNE_FAKE_DRIVER"
    torch.cuda.is_available()  # PyTorch remembers that there is none, and so leaves the tests' driver alone
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"))  # found by its name from now on
    attune.register_operators()
    _native.forget_known()
    device = _devices.Device("cuda", 0, None)
    monkeypatch.setattr(_devices, "get_device", lambda *_: device)
    return device
