# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of JAX, on the CPU."""

import types

import numpy as np
import pytest
from conftest import make_inputs, reference

import attune_mlir as attune
from attune_mlir import _frameworks

jax = pytest.importorskip("jax")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention(dtype):
    inputs = [jax.numpy.asarray(x, dtype=dtype) for x in make_inputs(seq_q=30, seq_k=40)]
    slopes = jax.numpy.asarray([0.5, 0.25])
    out, lse = attune.attention(*inputs, causal=True, alibi_slopes=slopes, return_lse=True)
    assert isinstance(out, jax.Array) and isinstance(lse, jax.Array)
    assert out.dtype == dtype and out.devices() == inputs[0].devices()
    expected = reference(*(np.asarray(x, np.float64) for x in inputs), causal=True, alibi_slopes=slopes)
    for found, one in zip((out, lse), expected, strict=True):
        np.testing.assert_allclose(np.asarray(found, np.float64), one, atol=2e-2 if dtype == "bfloat16" else 3e-3)
    # Results are arrays like any other.
    assert float((out * 2).sum()) == pytest.approx(2 * float(out.sum()), rel=1e-2)
    assert attune.explain(*inputs).device == "cpu"


def test_results_of_8_bits():
    inputs, scales = make_inputs(seq_q=5, seq_k=40), np.float32([0.01, 0.1])
    out = attune.attention(*map(jax.numpy.asarray, inputs), out_dtype="float8_e4m3fn", out_descale=jax.numpy.asarray(scales))
    assert isinstance(out, jax.Array) and out.dtype == jax.numpy.float8_e4m3fn
    expected = attune.attention(*inputs, out_dtype="float8_e4m3fn", out_descale=scales)
    np.testing.assert_array_equal(np.asarray(out).view(np.uint8), expected.view(np.uint8))


def test_zero_size():
    q, k, v = (jax.numpy.asarray(x) for x in make_inputs(seq_q=0, seq_k=5))
    out = attune.attention(q, k, v)
    assert isinstance(out, jax.Array) and out.shape == (1, 0, 2, 64)


def test_within_jit():
    inputs = [jax.numpy.asarray(x) for x in make_inputs()]
    with pytest.raises(TypeError, match=r"expects q to be an array, but got what a function of JAX is traced with: .*pure_callback"):
        jax.jit(attune.attention)(*inputs)
    shape = jax.ShapeDtypeStruct(inputs[0].shape, inputs[0].dtype)
    found = jax.jit(lambda *x: jax.pure_callback(lambda *y: np.asarray(attune.attention(*map(np.asarray, y))), shape, *x))(*inputs)
    np.testing.assert_array_equal(found, attune.attention(*inputs))


def test_what_cannot_be():
    inputs = [jax.numpy.asarray(x) for x in make_inputs()]
    with pytest.raises(TypeError, match="expects out to be a writable array, but arrays of JAX are not"):
        attune.attention(*inputs, out=jax.numpy.zeros_like(inputs[0]))
    with pytest.raises(TypeError, match="expects tensors of PyTorch with score_mod"):
        attune.attention(*inputs, score_mod=lambda s, b, h, m, n: s)

    class Device:
        platform = "gpu"

        def __str__(self):
            return "cuda:0"

    with pytest.raises(TypeError, match=r"expects arrays of JAX on the CPU, but got one on cuda:0: .*torch.from_dlpack\(array\)"):
        _frameworks.FRAMEWORKS["jax"].empty(types.SimpleNamespace(devices=lambda: {Device()}), (2,), "float32")
