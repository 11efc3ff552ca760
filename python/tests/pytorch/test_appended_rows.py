# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one kernel puts into a cache in pages, beside PyTorch's operations."""

import re

import pytest
import torch

import attune_mlir as attune
from attune_mlir import _append

SIZES = {"kv_heads": 2, "head_dim": 64, "sequences": 3, "longest": 40}


def make(seed, *shape, dtype=torch.bfloat16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def fill(options, monkeypatch, *, kernel):
    """A cache to which keys and values were appended, by one kernel or not."""
    with monkeypatch.context() as patch:
        if kernel:
            patch.setattr(attune.PagedCache, "_uses_kernel", staticmethod(lambda rows, pool: True))
        cache = attune.PagedCache(12, 8, **SIZES, **options)
        for step, (sequences, counts) in enumerate((([0, 2], [7, 20]), ([0, 1, 2], [1, 9, 3]), ([1], [1]))):
            # Parts of what one matmul gives.
            k, v = make(step, sum(counts), 6, 64)[:, 2:].split(2, dim=1)
            cache.append(sequences, k, v, counts)
    return cache


NARROW = [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8, torch.uint8]
KINDS = [*((dtype, False) for dtype in (torch.bfloat16, torch.float16, torch.float32, *NARROW)), *((dtype, True) for dtype in NARROW)]


@pytest.mark.parametrize(("dtype", "given"), KINDS, ids=str)
@pytest.mark.parametrize("interleaved", [None, False, True])
def test_caches(interleaved, given, dtype, monkeypatch):
    options = {"dtype": dtype}
    if given:
        options |= {"k_descale": torch.tensor(0.02), "v_descale": torch.tensor([[0.02, 0.01]])}
    if interleaved is not None:
        angles = make(7, 40, 16 if dtype == torch.uint8 else 24, dtype=torch.float32)
        options |= {"cos": angles.cos(), "sin": angles.sin(), "interleaved": interleaved}
    expected, found = (fill(options, monkeypatch, kernel=kernel) for kernel in (False, True))
    for name in ("k_descale", "v_descale", "lengths", "block_table"):
        one, other = getattr(found, name), getattr(expected, name)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-6 if "k_" in name else 0, atol=0)
    torch.testing.assert_close(found.values.float(), expected.values.float(), rtol=0, atol=0)
    if not dtype.is_floating_point:
        assert (found.keys != expected.keys).float().mean() <= (0 if interleaved is None else 0.01)
    elif interleaved is None:
        torch.testing.assert_close(found.keys.float(), expected.keys.float(), rtol=0, atol=0)
    else:
        # Sums of two products, which are rounded once or twice: neighbours of a few.
        near = found.keys.float(), expected.keys.float()
        step = torch.finfo(dtype).eps
        torch.testing.assert_close(*near, rtol=step, atol=1e-5)
        assert (near[0] != near[1]).float().mean() < (0.3 if dtype == torch.float32 else 0.01)


def test_rotated_keys_are_attended_to(monkeypatch):
    """Keys that are rotated where they are appended, beside all of them rotated by transformers' formula."""
    angles = torch.outer(torch.arange(40.0), 10000.0 ** -(torch.arange(32) / 32))
    cache = fill({"cos": angles.cos(), "sin": angles.sin()}, monkeypatch, kernel=True)
    k = torch.cat([make(0, 27, 6, 64)[:7, 2:4], make(1, 13, 6, 64)[:1, 2:4]]).float()
    cos, sin = (torch.cat((table[:8], table[:8]), dim=-1)[:, None] for table in (angles.cos(), angles.sin()))
    expected = k * cos + torch.cat((-k[..., 32:], k[..., :32]), dim=-1) * sin
    held = cache.keys[cache.block_table[0].long()].flatten(0, 1)[:8]
    torch.testing.assert_close(held.float(), expected, rtol=2**-8, atol=1e-5)


def test_tensors_of_gradients_and_streams():
    rows, pool = make(1, 5, 2, 64).requires_grad_(), torch.zeros(2, 4, 2, 64, dtype=torch.bfloat16)
    attune.append(rows, pool, torch.tensor([3, -1, 0, 7, 100]))
    flat = pool.flatten(0, 1)
    assert torch.equal(flat[[3, 0, 7]], rows.detach()[[0, 2, 3]]) and not flat[[1, 2, 4, 5, 6]].any()


def test_errors_of_tables():
    table = torch.zeros(40, 32)
    for options, text in (
        ({"cos": table}, "expects cos and sin, but got no sin"),
        ({"cos": table, "sin": table.half()}, "expects sin of torch.float32 on cpu without gaps, but got torch.float16"),
        ({"cos": table[:39], "sin": table}, "with at least 40 rows and from 1 to 32 columns, but got"),
        ({"cos": torch.zeros(40, 33), "sin": table}, "from 1 to 32 columns, but got"),
    ):
        with pytest.raises(ValueError, match=text):
            attune.PagedCache(12, 8, **SIZES, **options)


def test_errors_of_bytes():
    table = torch.zeros(40, 24)
    with pytest.raises(ValueError, match="expects a multiple of 16 columns of cos and sin where bytes hold two, but got 24"):
        attune.PagedCache(12, 8, **SIZES, dtype=torch.uint8, cos=table, sin=table)


def test_known_calls(device, monkeypatch, capfd):
    """Of calls that differ in contents alone, only the first goes the long way. The tests' driver computes nothing."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    calls, compute = [], _append._compute
    monkeypatch.setattr(_append, "_compute", lambda *arguments: calls.append(arguments) or compute(*arguments))
    pool, scales = torch.zeros(4, 8, 2, 64).to(torch.float8_e4m3fn), torch.ones(4, 8, 2)
    table = torch.ones(40, 32)

    def append(**options):
        places = {"slots": torch.arange(5), "positions": torch.arange(5), **options}
        attune.append(make(1, 5, 2, 64), pool, **places, cos=table, sin=table, row_scales=scales)

    for _ in range(3):
        append()
    assert len(calls) == 1
    append(interleaved=True)
    append(slots=torch.arange(5, dtype=torch.int32))
    assert len(calls) == 3
    with pytest.raises(ValueError, match="expects slots of shape"):
        append(slots=torch.arange(4))
    assert len(re.findall("driver: cuLaunchKernel grid 5,1,1 ", capfd.readouterr().err)) == 5


def test_known_steps(device, monkeypatch, capfd):
    """A cache is written by one launch, which goes the short way from the second step on."""
    monkeypatch.setenv("FAKE_DRIVER_TRACE", "1")
    monkeypatch.setattr(attune.PagedCache, "_uses_kernel", staticmethod(lambda rows, pool: True))
    calls, compute = [], _append._compute
    monkeypatch.setattr(_append, "_compute", lambda *arguments: calls.append(arguments) or compute(*arguments))
    cache = attune.PagedCache(12, 8, **SIZES, dtype=torch.int8, zeros=True, cos=torch.ones(40, 32), sin=torch.ones(40, 32))
    for step in range(3):
        cache.append([0, 1], make(step, 2, 2, 64), make(step, 2, 2, 64))
    assert len(calls) == 1
    assert len(re.findall("driver: cuLaunchKernel grid 4,1,1 ", capfd.readouterr().err)) == 3
