# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The implementation of PyTorch's flash attention: its operators with tensors of the CPU, which PyTorch has no kernels of."""

import pytest
import torch
from torch.nn.attention import (
    activate_flash_attention_impl,
    current_flash_attention_impl,
    list_flash_attention_impls,
    restore_flash_attention_impl,
)

import attune_mlir as attune
from attune_mlir import _flash

forward = torch.ops.aten._scaled_dot_product_flash_attention


@pytest.fixture
def active():
    handle = _flash.Handle("CPU")
    yield
    handle.remove()


def make_inputs(*, moved, heads=2, kv_heads=2, seq_q=40, seq_k=40):
    """Query, key and value [batch, heads, sequence, 64], which lie in memory as [batch, sequence, heads, 64] where they are moved."""
    found = []
    for count, length in ((heads, seq_q), (kv_heads, seq_k), (kv_heads, seq_k)):
        shape = (2, length, count, 64) if moved else (2, count, length, 64)
        tensor = torch.randn(shape).half()
        found.append((tensor.transpose(1, 2) if moved else tensor).requires_grad_())
    return found


def attend(q, k, v, **options):
    return torch.nn.functional.scaled_dot_product_attention(*(x.float() for x in (q, k, v)), **options)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_values_and_gradients(active, moved, causal):
    inputs = make_inputs(moved=moved)
    out, lse, *rest = forward(*inputs, 0.0, causal, False, scale=0.1)
    assert out.stride() == inputs[0].stride() and lse.shape == (2, 2, 40) and rest[2:4] == [40, 40]
    expected = attend(*inputs, is_causal=causal, scale=0.1)
    torch.testing.assert_close(out.float(), expected, atol=4e-3, rtol=4e-3)
    grad = torch.randn_like(out)
    for found, right in zip(torch.autograd.grad(out, inputs, grad), torch.autograd.grad(expected, inputs, grad.float()), strict=True):
        torch.testing.assert_close(found, right, atol=1e-2, rtol=1e-2)
        assert found.stride() == inputs[0].stride()


def test_dropout(active):
    inputs = make_inputs(moved=True)
    torch.manual_seed(3)
    out, _, *rest = forward(*inputs, 0.5)
    torch.manual_seed(3)
    expected = attune.attention(*(x.transpose(1, 2) for x in inputs), dropout_p=0.5).transpose(1, 2)
    assert torch.equal(out, expected) and rest[4].dtype == torch.uint64
    grad = torch.randn_like(out)
    for found, right in zip(torch.autograd.grad(out, inputs, grad), torch.autograd.grad(expected, inputs, grad), strict=True):
        assert torch.equal(found, right)


def test_grouped_heads_and_lengths(active):
    inputs = make_inputs(moved=True, heads=4, seq_q=30)
    torch.testing.assert_close(forward(*inputs)[0].float(), attend(*inputs, enable_gqa=True), atol=4e-3, rtol=4e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"return_debug_mask": True}, "expects no mask for debugging"),
        ({"is_causal": True}, "expects a causal mask for as many queries as keys"),
        ({}, "expects q of float16 or bfloat16, but got float32"),
    ],
)
def test_rest_is_pytorchs(change, text):
    """PyTorch's kernel gets what there is none of ours for; where there is none, that is said."""
    q, k, v = (x.detach() for x in make_inputs(moved=False, seq_q=20))
    if not change:
        q, k, v = q.float(), k.float(), v.float()

    class Kernel:
        def call_boxed(self, *arguments, **options):
            return arguments, options

    arguments, options = _flash._choose(_flash._forward, Kernel())("keys", q, k, v, **change)
    assert arguments == ("keys", q, k, v) and options == change
    handle = _flash.Handle("CPU")
    try:
        with pytest.raises((NotImplementedError, TypeError), match=text):
            forward(q, k, v, **change)
    finally:
        handle.remove()
    with pytest.raises(NotImplementedError, match="Could not run 'aten::_scaled_dot_product_flash_attention'"):
        forward(q, k, v)


def test_replacing_kernels_warns_of_nothing(active):
    """PyTorch warns of each kernel that takes another's place, as those of the GPU do."""
    torch.set_warn_always(True)
    try:
        handle = _flash.Handle("CPU")
    finally:
        torch.set_warn_always(False)
    handle.remove()


def test_it_is_chosen_by_name():
    attune.register_flash_attention()
    assert "attune" in list_flash_attention_impls() and current_flash_attention_impl() is None
    activate_flash_attention_impl("attune")
    try:
        assert current_flash_attention_impl() == "attune"
    finally:
        restore_flash_attention_impl()
    assert current_flash_attention_impl() is None
