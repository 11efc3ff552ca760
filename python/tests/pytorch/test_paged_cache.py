# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cache in pages, beside one tensor for each sequence."""

import pytest
import torch

import attune_mlir as attune

HEADS, KV_HEADS, SIZE = 4, 2, 32


def make_cache(pages=12):
    sizes = {"kv_heads": KV_HEADS, "head_dim": SIZE, "sequences": 3, "longest": 30, "dtype": torch.float16}
    return attune.PagedCache(pages, 8, **sizes)


def make(generator, count, heads=KV_HEADS):
    return torch.randn((count, heads, SIZE), generator=generator).to(torch.float16)


def check(cache, held, generator, chip):
    """What each sequence attends to."""
    q = make(generator, 3, HEADS)[:, None]
    out = attune.decode(q, cache.keys, cache.values, cache.lengths, block_table=cache.block_table, chip=chip)
    assert cache.lengths.tolist() == [len(k) for k, _ in held] == [cache.get_length(s) for s in range(3)]
    for own_q, own_out, (k, v) in zip(q, out, held, strict=True):
        if not len(k):
            assert not own_out.any()
            continue
        parts = (x.float().transpose(0, 1) for x in (own_q, k, v))
        expected = torch.nn.functional.scaled_dot_product_attention(*parts, enable_gqa=True)
        torch.testing.assert_close(own_out.float(), expected.transpose(0, 1), atol=4e-3, rtol=4e-3)


def test_sequences_come_and_go(nvidia):
    generator = torch.Generator().manual_seed(0)
    cache = make_cache()
    held = [(make(generator, 0), make(generator, 0)) for _ in range(3)]
    table, keys = cache.block_table.data_ptr(), cache.keys.data_ptr()
    for sequences, counts in (([0, 2], [7, 20]), ([0, 1, 2], [1, 9, 3]), ([1], None), ([2], [7])):
        count = len(sequences) if counts is None else sum(counts)
        k, v = make(generator, count), make(generator, count)
        cache.append(sequences, k, v, counts)
        begin = 0
        for sequence, size in zip(sequences, counts or [1] * len(sequences), strict=True):
            part = slice(begin, begin + size)
            held[sequence] = tuple(torch.cat([old, new[part]]) for old, new in zip(held[sequence], (k, v), strict=True))
            begin += size
        check(cache, held, generator, nvidia)
    free = cache.free_pages
    cache.release(2)
    assert cache.free_pages == free + 4
    held[2] = (make(generator, 0), make(generator, 0))
    check(cache, held, generator, nvidia)
    k, v = make(generator, 11), make(generator, 11)
    cache.append([2], k, v, [11])  # in pages of which some were another's
    held[2] = k, v
    check(cache, held, generator, nvidia)
    assert (cache.block_table.data_ptr(), cache.keys.data_ptr()) == (table, keys)


def test_errors():
    generator = torch.Generator().manual_seed(1)
    cache = make_cache(pages=11)
    k = make(generator, 30)
    with pytest.raises(ValueError, match="expects sequences of at most 30 keys, but got 33 of sequence 1"):
        cache.append([1], make(generator, 33), make(generator, 33), [33])
    cache.append([0, 1], make(generator, 56), make(generator, 56), [28, 28])
    with pytest.raises(MemoryError, match="expects 4 free pages, but got 3"):
        cache.append([0, 2], make(generator, 32), make(generator, 32), [2, 30])
    for sequences, tensor, counts, text in (
        ([3], k, [30], "expects a sequence from 0 to 2, but got 3"),
        ([0, 0], k, [1, 29], "expects different sequences and a count of each"),
        (torch.tensor([0, 0]), k, [1, 29], r"expects different sequences and a count of each, but got \[0, 0\] and \[1, 29\]"),
        ([0], k, [29], r"expects k of shape \(29, 2, 32\), but got \(30, 2, 32\)"),
    ):
        with pytest.raises(ValueError, match=text):
            cache.append(sequences, tensor, tensor, counts)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        cache.append([0.0], k[:1], k[:1])
    assert cache.get_length(2) == 0
    # Of the last page no more than the sequence, for which alone there are angles.
    options = {"kv_heads": 1, "head_dim": 32, "sequences": 1, "longest": 12, "cos": torch.ones(12, 16), "sin": torch.zeros(12, 16)}
    short = attune.PagedCache(2, 8, **options)
    rows = torch.ones(13, 1, 32, dtype=torch.bfloat16)
    with pytest.raises(ValueError, match="expects sequences of at most 12 keys, but got 13 of sequence 0"):
        short.append([0], rows, rows, [13])
    assert short.get_length(0) == 0 and short.free_pages == 2
    sizes = {"kv_heads": 1, "head_dim": 8, "sequences": 1, "longest": 1}
    with pytest.raises(ValueError, match="expects page_size to be at least 1, but got 0"):
        attune.PagedCache(1, 0, **sizes)
    with pytest.raises(ValueError, match="expects head_dim_v to be at least 1, but got -4"):
        attune.PagedCache(1, 1, **sizes, head_dim_v=-4)
    for dtype in (torch.int32, torch.complex64, torch.bool):
        with pytest.raises(TypeError, match=f"expects a dtype of float16, bfloat16, .*, but got {dtype}"):
            attune.PagedCache(1, 1, **sizes, dtype=dtype)


def test_numbers_may_be_in_a_tensor():
    generator = torch.Generator().manual_seed(2)
    cache = make_cache()
    rows = make(generator, 5)
    cache.append(torch.tensor([2, 0]), rows, rows, torch.tensor([3, 2]))
    assert cache.lengths.tolist() == [2, 0, 3] and cache.get_length(2) == 3
    assert isinstance(cache.get_length(2), int)


def test_default_device():
    """New caches lie there; what those that are there already do is not changed."""
    generator = torch.Generator().manual_seed(0)
    cache = make_cache()
    k, v = make(generator, 5), make(generator, 5)
    with torch.device("meta"):
        assert {x.device.type for x in (make_cache().keys, make_cache().lengths)} == {"meta"}
        cache.append([1], k, v, [5])
    torch.testing.assert_close(cache.keys[cache.block_table[1, 0], :5], k)
    assert cache.lengths.tolist() == [0, 5, 0]
