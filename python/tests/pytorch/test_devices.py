# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two GPUs in one process. No other test needs one."""

import pytest
import torch

import attune_mlir as attune

pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="expects two GPUs")


def make_inputs(device, length=200):
    random = torch.Generator().manual_seed(length)
    return [torch.randn(2, length, 4, 64, generator=random).bfloat16().to(device) for _ in range(3)]


def attend(q, k, v):
    q, k, v = (x.float().transpose(1, 2) for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


@pytest.mark.parametrize("current", [0, 1])
def test_calls(current):
    """First and repeated calls run where their tensors are, and the current device stays what it is."""
    attune.register_operators()
    calls = [lambda *x: attune.attention(*x, causal=True), lambda *x: torch.ops.attune.attention(*x, causal=True)[0]]
    with torch.cuda.device(current):
        for _ in range(3):
            for device in ("cuda:0", "cuda:1", "cuda:0"):
                for call in calls:
                    inputs = make_inputs(device)
                    found = call(*inputs)
                    assert found.device == torch.device(device) and torch.cuda.current_device() == current
                    torch.testing.assert_close(found.float(), attend(*inputs), atol=2e-2, rtol=2e-2)
    q, k, v = make_inputs("cuda:0")
    with pytest.raises(ValueError, match="expects q, k and v to have one device"):
        attune.attention(q, k.to("cuda:1"), v)


def test_gradients():
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        inputs = [x.requires_grad_() for x in make_inputs(device)]
        expected = torch.autograd.grad(attend(*inputs).sum(), inputs)
        for found, right in zip(torch.autograd.grad(attune.attention(*inputs, causal=True).float().sum(), inputs), expected, strict=True):
            assert found.device == torch.device(device)
            torch.testing.assert_close(found.float(), right.float(), atol=4e-2, rtol=4e-2)


def test_graphs():
    """A graph of each device, replayed with new contents."""
    for device in ("cuda:0", "cuda:1"):
        with torch.cuda.device(device):
            inputs = make_inputs(device)
            for _ in range(2):
                attune.attention(*inputs, causal=True)
            graph = torch.cuda.CUDAGraph()
            # By default it captures on a stream of the device that was current when it was first used.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                found = attune.attention(*inputs, causal=True)
            for tensor in inputs:
                tensor.normal_()
            graph.replay()
            torch.testing.assert_close(found.float(), attend(*inputs), atol=2e-2, rtol=2e-2)
