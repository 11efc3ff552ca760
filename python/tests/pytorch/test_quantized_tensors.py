# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding of PyTorch's tensors to 8 bits, beside its own operations in float32."""

import re

import pytest
import torch

import attune_mlir as attune
from attune_mlir import _quantize

TYPES = [torch.float8_e4m3fn, torch.float8_e5m2]


def quantize_in_float32(x, dtype, whole_heads):
    largest = torch.finfo(dtype).max
    dims = (1, 3) if whole_heads else (3,)
    amount = x.float().abs().amax(dim=dims, keepdim=True)
    scales = torch.where(amount > 0, amount / largest, 1.0)
    return (x.float() * (1 / scales)).clamp(-largest, largest).to(dtype), scales[..., 0]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_bits(kind, dtype):
    x = torch.randn(2, 33, 3, 64, generator=torch.Generator().manual_seed(1)).to(kind)
    x[0, 3] = 0
    for rows, expected in ((1, quantize_in_float32(x, dtype, False)), (None, quantize_in_float32(x, dtype, True))):
        quantized, scales = attune.quantize(x, dtype=dtype, scale_rows=rows)
        assert quantized.dtype == dtype and quantized.shape == x.shape
        torch.testing.assert_close(scales, expected[1] if rows else expected[1][:, 0], rtol=0, atol=0)
        torch.testing.assert_close(quantized.view(torch.uint8), expected[0].view(torch.uint8), rtol=0, atol=0)


def test_attention_of_outliers():
    """Queries and keys with large elements in the same columns, and keys that have something in common."""
    generator = torch.Generator().manual_seed(2)
    q, k, v = torch.randn(3, 1, 64, 2, 128, generator=generator).to(torch.bfloat16).unbind(0)
    q[..., 5] *= 8
    k[..., 5] *= 8
    k += 4 * torch.randn(1, 1, 2, 128, generator=generator).to(torch.bfloat16)
    expected = torch.nn.functional.scaled_dot_product_attention(*(x.float().transpose(1, 2) for x in (q, k, v))).transpose(1, 2)
    errors = []
    for better in (False, True):
        q8, qs = attune.quantize(q, scale_rows=None, rotate=better)
        k8, ks = attune.quantize(k, scale_rows=None, rotate=better, smooth=better)
        v8, vs = attune.quantize(v, scale_rows=None)
        out = attune.attention(q8, k8, v8, q_descale=qs, k_descale=ks, v_descale=vs)
        errors.append(float((out.float() - expected).norm() / expected.norm()))
    assert errors[1] < errors[0] / 2


def test_no_gradients():
    x = torch.randn(1, 4, 1, 32, requires_grad=True)
    quantized, scales = attune.quantize(x)
    assert not quantized.requires_grad and not scales.requires_grad


def test_known_calls(device, monkeypatch, capfd):
    """Of calls that differ in contents alone, only the first goes the long way. The tests' driver computes nothing."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    calls, compute = [], _quantize.compute
    monkeypatch.setattr(_quantize, "compute", lambda *arguments: calls.append(arguments) or compute(*arguments))
    variants = [
        ((2, 5, 3, 64), (2, 5, 3), {}),
        ((5, 3, 64), (5, 3), {}),
        ((2, 5, 3, 64), (2, 3), {"scale_rows": None, "smooth": True}),
        ((2, 5, 3, 64), (2, 3, 3), {"scale_rows": 2, "rotate": True}),
        ((5, 3, 64), (5, 3), {"dtype": torch.float8_e5m2}),
    ]
    for count, (shape, of_scales, options) in enumerate(variants, 1):
        for _ in range(3):
            quantized, scales = attune.quantize(torch.randn(shape).half(), **options)
            assert (quantized.shape, quantized.dtype) == (shape, options.get("dtype", torch.float8_e4m3fn))
            assert (scales.shape, scales.dtype) == (of_scales, torch.float32)
            assert len(calls) == count
    launches = re.findall(r"driver: cuLaunchKernel (.*)", capfd.readouterr().err)
    assert len(launches) >= 3 * len(variants)
    with pytest.raises(TypeError, match="expects x of float16, bfloat16 or float32"):
        attune.quantize(torch.zeros(2, 5, 3, 64, dtype=torch.float64))
