# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What attention does not take, and what it says then."""

import ml_dtypes
import numpy as np
import pytest
from conftest import make_inputs

import attune_mlir as attune
from attune_mlir import _devices


@pytest.fixture
def inputs():
    return make_inputs()


def refuse(error, text, *arrays, **options):
    with pytest.raises(error, match=text):
        attune.attention(*arrays, **options)


def test_no_arrays(inputs):
    refuse(TypeError, "expects q to be an array with __dlpack__, but got list", [1], *inputs[1:])
    refuse(TypeError, "expects k to be an array with __dlpack__, but got NoneType", inputs[0], None, inputs[2])


class Broken:
    """An array that its framework does not hand out, as one that requires gradients."""

    def __dlpack__(self, **_):
        raise BufferError("requires grad")

    def __dlpack_device__(self):
        return (1, 0)


def test_no_dlpack(inputs):
    refuse(TypeError, "expects q to be an array in strided memory, but its __dlpack__ fails", Broken(), *inputs[1:])


def test_dtypes(inputs):
    q, k, v = inputs
    refuse(TypeError, "expects q of float16 or bfloat16, but got float32", q.astype(np.float32), k, v)
    refuse(TypeError, "expects v of float16 or bfloat16, but got int16", q, k, v.astype(np.int16))
    refuse(TypeError, "expects q, k and v to have one dtype, but got float16 and, of k, bfloat16", q, k.astype(ml_dtypes.bfloat16), v)


def test_shapes(inputs):
    q, k, v = inputs
    refuse(ValueError, r"expects q to have 4 dimensions, but got shape \(40, 2, 64\)", q[0], k, v)
    refuse(ValueError, "expects q, k and v to have one batch size, but got q of shape", np.concatenate([q, q]), k, v)
    refuse(ValueError, "expects k and v to have one number of heads and one length", q, k[:, :30], v)
    refuse(ValueError, "expects q and k to have one head dimension, but got 32 and 64", np.ascontiguousarray(q[..., :32]), k, v)
    refuse(ValueError, "expects at least one head and one element in each", q[:, :, :0], k, v)
    q, k, v = make_inputs(heads=6, kv_heads=4)
    refuse(ValueError, "expects the heads of q to be a multiple of those of k and v, but got 6 and 4", q, k, v)


def test_head_dim_without_kernel():
    with pytest.raises(attune.CompileError, match="error: "):
        attune.attention(*make_inputs(head_dim=4096, seq_q=8))


def test_strides(inputs):
    q, k, v = inputs
    refuse(ValueError, "expects q to have stride 1 along the head dimension", np.asfortranarray(q), k, v)
    odd = np.zeros((1, 40, 2, 65), np.float16)[..., :64]
    refuse(ValueError, "expects strides of k to be multiples of 8 elements, but got", q, odd, v)
    refuse(ValueError, "expects strides of v to be multiples of 8 elements, but got", q, k, v[:, ::-1])
    shifted = np.zeros(v.size + 1, np.float16)[1:].reshape(v.shape)
    refuse(ValueError, "expects v to start at a multiple of 16 bytes", q, k, shifted)


def test_options(inputs):
    refuse(ValueError, "expects layout to be one of bshd, bhsd, but got 'sbhd'", *inputs, layout="sbhd")
    refuse(TypeError, "expects window to be two numbers of keys", *inputs, window=3)
    refuse(TypeError, "expects window to be two numbers of keys", *inputs, window=(1.5, 0))
    refuse(ValueError, r"expects sides of window to be at least 0, or -1 for unbounded, but got \(-2, 0\)", *inputs, window=(-2, 0))
    refuse(ValueError, r"less than 2\^31, or -1 for unbounded, but got \(2147483648, 0\)", *inputs, window=(2**31, 0))
    refuse(TypeError, "expects softcap to be a number, but got str", *inputs, softcap="30")
    refuse(TypeError, "expects scale to be a number, but got bool", *inputs, scale=True)
    refuse(ValueError, "expects softcap to be above 0, or None for no bound, but got 0", *inputs, softcap=0)
    refuse(ValueError, "expects scale to be finite, but got nan", *inputs, scale=float("nan"))
    refuse(ValueError, "expects chip to be one of .*, but got 'moon'", *inputs, chip="moon")


def test_host_chip(inputs, monkeypatch, amd):
    monkeypatch.setattr(_devices, "_devices", {})
    monkeypatch.setenv("ATTUNE_HOST_CHIP", "moon")
    refuse(ValueError, "expects ATTUNE_HOST_CHIP to be one of .*, but got 'moon'", *inputs)
    monkeypatch.setenv("ATTUNE_HOST_CHIP", amd)
    attune.attention(*inputs)
    assert [device.chip for device in _devices._devices.values()] == [amd]


def test_per_head(inputs):
    refuse(TypeError, "expects alibi_slopes of float32, but got float64", *inputs, alibi_slopes=np.zeros(2))
    refuse(ValueError, "expects sinks to have one element per head of q, 2", *inputs, sinks=np.zeros(3, np.float32))
    refuse(ValueError, "expects sinks to have one element per head of q, 2", *inputs, sinks=np.zeros(4, np.float32)[::2])


def test_out(inputs):
    q = inputs[0]
    refuse(ValueError, "expects out of shape .*, but got shape", *inputs, out=np.empty((1, 40, 2, 32), np.float16))
    refuse(ValueError, "expects out of shape .*, float16 on .*, but got shape .*, float32", *inputs, out=np.empty(q.shape, np.float32))
    refuse(
        ValueError, "expects out in row-major order without gaps", *inputs, out=np.empty((1, 2, 40, 64), np.float16).transpose(0, 2, 1, 3)
    )
    out = np.empty_like(q)
    out.flags.writeable = False
    refuse(TypeError, "expects out to be a writable array", *inputs, out=out)


def test_kernel_that_fails(inputs):
    """What the executor's checks find is an exception, and the next call works."""
    big = make_inputs(batch=64, heads=32, seq_q=1)
    big[0] = np.broadcast_to(big[0][:, :1], (64, 4096, 32, 64))
    refuse(RuntimeError, "expects at most .* threads to be executed on the host", *big)
    assert attune.attention(*inputs).shape == inputs[0].shape
