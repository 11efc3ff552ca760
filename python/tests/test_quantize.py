# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding to 8 bits on the CPU, beside its definition in float32."""

import ml_dtypes
import numpy as np
import pytest
from conftest import reference

import attune_mlir as attune

F32 = np.float32
#: Of integers; those of uint8 have 4 bits.
LARGEST = {"int8": 127, "uint8": 7}
TYPES = ["float8_e4m3fn", "float8_e5m2", *LARGEST]


def hadamard(size):
    i = np.arange(size)
    signs = np.array([bin(n).count("1") & 1 for n in (i[:, None] & i).ravel()]).reshape(size, size)
    return (1 - 2 * signs) / np.sqrt(size)


def quantize_in_float32(x, dtype, rows):
    """Of [batch, seq, heads, size]."""
    kind, largest = (np.int8, F32(LARGEST[dtype])) if dtype in LARGEST else (getattr(ml_dtypes, dtype), None)
    largest = F32(ml_dtypes.finfo(kind).max) if largest is None else largest
    x = x.astype(F32)
    seq = x.shape[1]
    rows = rows or seq
    scales = []
    with np.errstate(invalid="ignore", over="ignore"):
        for first in range(0, seq, rows):
            part = np.abs(x[:, first : first + rows])
            amount = np.where(part < np.inf, part, F32(0)).max(axis=(1, 3))
            scales.append(np.where(amount == 0, F32(1), np.maximum(amount / largest, F32(2.0**-126))))
        scales = np.stack(scales, axis=1)
        inverses = np.repeat(F32(1) / scales, rows, axis=1)[:, :seq, :, None]
        quotients = np.clip(x * inverses, -largest, largest)
        if dtype in LARGEST:
            quotients = np.nan_to_num(np.rint(quotients))
        return (pack if dtype == "uint8" else np.asarray)(quotients.astype(kind)), scales


def pack(x):
    low, high = np.split(x, 2, axis=-1)
    return ((low & 15) | (high << 4)).view(np.uint8)


def check(x, rows=1, dtype="float8_e4m3fn", **options):
    quantized, scales = attune.quantize(x, dtype=dtype, scale_rows=rows, **options)
    expected, expected_scales = quantize_in_float32(x, np.dtype(dtype).name if isinstance(dtype, type) else dtype, rows)
    assert scales.dtype == F32 and quantized.dtype == expected.dtype
    np.testing.assert_array_equal(scales, expected_scales[:, 0] if rows is None else expected_scales)
    np.testing.assert_array_equal(quantized.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", [1, 16, 50, None])
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, F32])
def test_bits(kind, rows, dtype):
    x = np.random.default_rng(1).standard_normal((2, 45, 3, 64)).astype(kind)
    check(x, rows, dtype)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", *LARGEST])
@pytest.mark.parametrize("rows", [1, 16, None])
def test_what_is_no_number(rows, dtype):
    x = np.random.default_rng(2).standard_normal((1, 45, 2, 32)).astype(F32)
    x[0, :16] = 0
    x[0, 20, 0, 3], x[0, 20, 1, 4], x[0, 21, 0, 5], x[0, 22] = np.inf, -np.inf, np.nan, np.nan
    x[0, 23] *= F32(1e30)
    x[0, 24] *= F32(1e-30)
    quantized, scales = attune.quantize(x, dtype=dtype, scale_rows=rows)
    expected, expected_scales = quantize_in_float32(x, dtype, rows)
    np.testing.assert_array_equal(scales, expected_scales[:, 0] if rows is None else expected_scales)
    np.testing.assert_array_equal(quantized.astype(F32), expected.astype(F32))
    if dtype == "float8_e4m3fn":
        assert quantized[0, 20, 0, 3] == 448 and np.isnan(quantized[0, 21, 0, 5].astype(F32))


def test_rotated():
    x, y = np.random.default_rng(3).standard_normal((2, 2, 21, 2, 64)).astype(np.float16)
    # Large elements of both are in one column, and so are the errors of their products. With a scale for each row these had none.
    x[:, :, :, 7] *= 10
    y[:, :, :, 7] *= 10
    exact = np.einsum("bshd,bthd->bhst", x.astype(np.float64), y.astype(np.float64))
    errors = []
    for rotate in (False, True):
        found = []
        for array in (x, y):
            quantized, scales = attune.quantize(array, scale_rows=None, rotate=rotate)
            found.append(quantized.astype(np.float64) * scales[:, None, :, None])
        errors.append(np.linalg.norm(np.einsum("bshd,bthd->bhst", *found) - exact))
    rotated = y.astype(np.float64) @ hadamard(64)
    np.testing.assert_allclose(scales, np.abs(rotated).max(axis=(1, 3)) / 448, rtol=1e-5)
    np.testing.assert_allclose(found[1], rotated, atol=np.abs(rotated).max() / 16)
    assert errors[1] < errors[0] / 2
    with pytest.raises(ValueError, match="expects a head dimension that is a power of 2 to rotate, but got 48"):
        attune.quantize(np.zeros((1, 2, 1, 48), np.float16), rotate=True)


@pytest.mark.parametrize("rows", [1, 16, None])
def test_smooth(rows):
    x = np.random.default_rng(7).standard_normal((2, 45, 2, 64)).astype(np.float16) + np.float16(20)
    quantized, scales = attune.quantize(x, scale_rows=rows, smooth=True)
    exact = x.astype(np.float64) - x.astype(np.float64).mean(axis=1, keepdims=True)
    _, expected = quantize_in_float32(exact, "float8_e4m3fn", rows)
    np.testing.assert_allclose(scales, expected[:, 0] if rows is None else expected, rtol=1e-4)
    of_rows = np.repeat(expected, rows or 45, axis=1)[:, :45, :, None]
    np.testing.assert_allclose(quantized.astype(np.float64) * of_rows, exact, rtol=2**-4 + 1e-3, atol=1e-4)


def test_packed():
    x = np.random.default_rng(4).standard_normal((21, 2, 32)).astype(np.float16)
    quantized, scales = attune.quantize(x)
    expected, expected_scales = quantize_in_float32(x[None], "float8_e4m3fn", 1)
    np.testing.assert_array_equal(scales, expected_scales[0])
    np.testing.assert_array_equal(quantized.view(np.uint8), expected[0].view(np.uint8))
    assert attune.quantize(x, scale_rows=None)[1].shape == (1, 2)
    # Rows of a larger tensor.
    rows = np.random.default_rng(5).standard_normal((1, 21, 4, 32)).astype(np.float16)[:, :, 1:3]
    check(rows, 16)
    check(rows, 16, np.int8)
    quantized, scales = attune.quantize(x, dtype=np.uint8, scale_rows=8)
    assert quantized.shape == (21, 2, 16) and scales.shape == (3, 2)


def test_nothing_to_quantize():
    x = np.zeros((2, 0, 2, 32), np.float16)
    assert attune.quantize(x)[1].shape == (2, 0, 2)
    np.testing.assert_array_equal(attune.quantize(x, scale_rows=None)[1], np.ones((2, 2), F32))


def test_attention():
    """Both rotated and not, scores are those of what was given."""
    rng = np.random.default_rng(6)
    q, k, v = rng.standard_normal((3, 1, 40, 2, 64)).astype(np.float16)
    expected, _ = reference(q, k, v)
    for rotate in (False, True):
        (q8, qs), (k8, ks) = (attune.quantize(x, rotate=rotate) for x in (q, k))
        v8, vs = attune.quantize(v, scale_rows=None)
        out = attune.attention(q8, k8, v8, q_descale=qs, k_descale=ks, v_descale=vs)
        np.testing.assert_allclose(out.astype(F32), expected, atol=0.12)


@pytest.mark.parametrize(("dtype", "atol"), [("int8", 0.02), ("uint8", 0.35)])
def test_attention_of_integers(dtype, atol):
    """Keys are rotated, and so are queries."""
    q, k, v = np.random.default_rng(6).standard_normal((3, 1, 40, 2, 64)).astype(np.float16)
    expected, _ = reference(q, k, v)
    rotated = (q.astype(np.float64) @ hadamard(64)).astype(np.float16)
    k8, ks = attune.quantize(k, dtype=dtype, rotate=True, smooth=True)
    v8, vs = attune.quantize(v, dtype=dtype)
    out = attune.attention(rotated, k8, v8, k_descale=ks, v_descale=vs)
    np.testing.assert_allclose(out.astype(F32), expected, atol=atol)


def test_errors():
    x = np.zeros((1, 2, 1, 32), np.float16)
    for dtype in ("float16", None):
        with pytest.raises(TypeError, match="expects dtype to be a type of 8 bits"):
            attune.quantize(x, dtype=dtype)
    with pytest.raises(ValueError, match="expects x to have a multiple of 32 columns where bytes hold two, but got 48"):
        attune.quantize(np.zeros((1, 2, 1, 48), np.float16), dtype="uint8")
    with pytest.raises(ValueError, match="expects scale_rows to be None or at least 1, but got 0"):
        attune.quantize(x, scale_rows=0)
    with pytest.raises(TypeError, match="expects scale_rows to be an integer or None, but got float"):
        attune.quantize(x, scale_rows=1.5)
    with pytest.raises(TypeError, match="expects x of float16, bfloat16 or float32, but got float64"):
        attune.quantize(x.astype(np.float64))
    with pytest.raises(ValueError, match=r"expects x to have 3 or 4 dimensions, but got shape \(2, 32\)"):
        attune.quantize(x[0, :, 0])
    with pytest.raises(ValueError, match="expects at least one head"):
        attune.quantize(x[:, :, :0])
