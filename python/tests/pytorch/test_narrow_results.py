# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of 8 bits, beside those of 16 that PyTorch divides by their scales and rounds."""

import re

import pytest
import torch

import attune_mlir as attune

HEADS, KV_HEADS, SIZE, KEYS = 4, 2, 64, 24
KINDS = [torch.float8_e4m3fn, torch.float8_e5m2]
SCALES = [torch.tensor(0.01), torch.tensor([[0.02, 0.0005, 0.004, 0.3]]), torch.tensor([0.02, 0.0005, 0.004, 0.3])]


def make(seed, *shape, dtype=torch.float16):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def attend(q, k, v, **options):
    """[rows, heads, columns] in float32, by PyTorch."""
    parts = (x.float().transpose(0, 1) for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(*parts, enable_gqa=True, **options).transpose(0, 1)


def check(out, expected, dtype, scales):
    """Each element is one of the numbers next to the exact one, of what a sum in float16 may be off."""
    assert out.dtype == dtype
    most = torch.finfo(dtype).max
    exact = (expected / scales.reshape(-1, 1)).clamp(-most, most)
    error = (out.float() - exact).abs()
    assert (error <= exact.abs() * (torch.finfo(dtype).eps / 2 * 1.01) + 2e-3 / scales.reshape(-1, 1)).all()
    # Half of all are those that rounding gives, and more.
    assert (out.float() == exact.to(dtype).float()).float().mean() > 0.8


@pytest.mark.parametrize("scales", SCALES, ids=lambda scales: str(tuple(scales.shape)))
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_attention(dtype, scales, nvidia):
    q, k, v = make(0, 2, 3, HEADS, SIZE), make(1, 2, KEYS, KV_HEADS, SIZE), make(2, 2, KEYS, KV_HEADS, SIZE)
    out = attune.attention(q, k, v, out_dtype=dtype, out_descale=scales, chip=nvidia)
    given, lse = torch.empty_like(out), None
    found, lse = attune.attention(q, k, v, out=given, out_descale=scales, return_lse=True, chip=nvidia)
    assert found is given and torch.equal(given.view(torch.uint8), out.view(torch.uint8)) and lse.shape == (2, HEADS, 3)
    for b in range(2):
        check(out[b], attend(q[b], k[b], v[b]), dtype, scales)


def test_decode_and_varlen(amd):
    q, k, v = make(0, 3, 1, HEADS, SIZE), make(1, 6, 8, KV_HEADS, SIZE), make(2, 6, 8, KV_HEADS, SIZE)
    table = torch.tensor([[2, 0], [1, 3], [5, 4]], dtype=torch.int32)
    lengths = torch.tensor([13, 0, 16], dtype=torch.int32)
    options = {"out_dtype": "float8_e4m3fnuz", "out_descale": SCALES[1], "chip": amd}
    out = attune.decode(q, k, v, lengths, block_table=table, **options)
    assert not out[1].float().any()
    for b in (0, 2):
        count = int(lengths[b])
        held = (x[table[b].long()].flatten(0, 1)[:count] for x in (k, v))
        check(out[b], attend(q[b], *held), torch.float8_e4m3fnuz, SCALES[1])
    starts = torch.tensor([0, 5, 9], dtype=torch.int32)
    packed = [make(seed, 9, heads, SIZE) for seed, heads in ((3, HEADS), (4, KV_HEADS), (5, KV_HEADS))]
    out = attune.varlen(*packed, starts, starts, causal=True, **options)
    for first, last in ((0, 5), (5, 9)):
        expected = attend(*(x[first:last] for x in packed), is_causal=True)
        check(out[first:last], expected, torch.float8_e4m3fnuz, SCALES[1])


def test_operands_of_8_bits(nvidia):
    """The same as of a result in bfloat16, but for what that rounds."""
    q, k, v = (make(seed, 1, 24, KV_HEADS, SIZE) for seed in range(3))
    (q8, qs), (k8, ks), (v8, vs) = (attune.quantize(x) for x in (q, k, v))
    scales = {"q_descale": qs, "k_descale": ks, "v_descale": vs, "chip": nvidia}
    wide = attune.attention(q8, k8, v8, **scales)
    out = attune.attention(q8, k8, v8, **scales, out_dtype=torch.float8_e4m3fn, out_descale=torch.tensor(0.01))
    near = (wide.float() / 0.01).to(torch.float8_e4m3fn).float()
    torch.testing.assert_close(out.float(), near, rtol=2**-3, atol=2**-9)
    assert (out.float() != near).float().mean() < 0.1


@pytest.mark.parametrize("function", ["decode", "varlen"])
def test_graphs(function):
    """Compiled, the result has its type, too."""
    q, k = make(0, 2, 1, HEADS, SIZE), make(1, 2, KEYS, KV_HEADS, SIZE)
    starts, ends = torch.arange(3, dtype=torch.int32), KEYS * torch.arange(3, dtype=torch.int32)

    def attend_to(q, k, scale):
        options = {"out_dtype": torch.float8_e4m3fn, "out_descale": scale}
        if function == "decode":
            return attune.decode(q, k, k, **options)
        return attune.varlen(q.flatten(0, 1), k.flatten(0, 1), k.flatten(0, 1), starts, ends, **options)

    expected = attend_to(q, k, SCALES[0])
    found = torch.compile(attend_to, backend="aot_eager", fullgraph=True)(q, k, SCALES[0])
    assert found.dtype == expected.dtype == torch.float8_e4m3fn
    assert torch.equal(found.view(torch.uint8), expected.view(torch.uint8))


def test_known_calls(device, monkeypatch):
    """A call that is repeated returns the type that was asked for. The tests' driver computes nothing."""
    from attune_mlir import _serving

    calls, compute = [], _serving.compute
    monkeypatch.setattr(_serving, "compute", lambda *arguments: calls.append(arguments) or compute(*arguments))
    q, k, scale = make(0, 2, 1, HEADS, SIZE), make(1, 2, KEYS, KV_HEADS, SIZE), torch.tensor(0.5)
    for dtype, count in ((torch.float8_e4m3fn, 1), (torch.float8_e4m3fn, 1), (torch.float8_e5m2, 2), (torch.float8_e5m2, 2)):
        out, lse = attune.decode(q, k, k, out_dtype=dtype, out_descale=scale, return_lse=True)
        assert (out.dtype, out.shape, lse.shape) == (dtype, (2, 1, HEADS, SIZE), (2, HEADS, 1))
        assert attune.attention(q, k, k, out_dtype=dtype, out_descale=scale, return_lse=True)[0].dtype == dtype
        assert len(calls) == count


def test_explained_and_tuned(nvidia):
    q, k, scale = make(0, 1, 4, HEADS, SIZE), make(1, 1, KEYS, KV_HEADS, SIZE), torch.tensor(0.5)
    options = {"out_dtype": torch.float8_e4m3fn, "out_descale": scale, "chip": nvidia}
    wide, narrow = attune.explain(q, k, k, chip=nvidia), attune.explain(q, k, k, **options)
    assert wide.schedule and narrow.schedule
    assert attune.tune(q, k, k, **options, budget=2, quiet=True)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"out_dtype": torch.float8_e4m3fn}, ValueError, "expects out_descale, but got none for a result of float8_e4m3fn"),
        ({"out_descale": torch.ones(1)}, ValueError, "expects a float of 8 bits as out_dtype, or as that of out, beside out_descale"),
        (
            {"out_descale": torch.ones(1), "out": torch.zeros(1, 2, HEADS, SIZE).half()},
            ValueError,
            "expects a float of 8 bits as out_dtype, or as that of out, beside out_descale",
        ),
        ({"out_dtype": torch.float16, "out_descale": torch.ones(1)}, TypeError, "expects out_dtype to be a type of 8 bits (float8_e4m3fn"),
        ({"out_dtype": "float8_e5m2", "out_descale": torch.ones(1).half()}, TypeError, "expects out_descale of float32, but got float16"),
        (
            {"out_dtype": "float8_e5m2", "out_descale": torch.ones(2, HEADS)},
            ValueError,
            "expects out_descale to have one element, or shape (4,) or (1, 4), but got (2, 4)",
        ),
        (
            {"out_dtype": "float8_e5m2", "out_descale": torch.ones(2 * HEADS)[::2]},
            ValueError,
            "expects out_descale in row-major order without gaps",
        ),
        (
            {"out_dtype": "float8_e5m2", "out_descale": torch.ones(1), "out": torch.zeros(1, 2, HEADS, SIZE).to(torch.float8_e4m3fn)},
            ValueError,
            "expects out of shape (1, 2, 4, 64), float8_e5m2 on ('cpu', 0), but got shape (1, 2, 4, 64), float8_e4m3fn",
        ),
        ({"out_dtype": "float8_e5m2", "out_descale": torch.ones(1), "layout": "bhsd"}, ValueError, "expects layout bshd"),
        ({"out_dtype": "float8_e5m2", "out_descale": torch.ones(1), "dropout_p": 0.5}, NotImplementedError, "beside dropout_p"),
    ],
    ids=str,
)
def test_errors(options, error, text):
    q, k = make(0, 1, 2, HEADS, SIZE), make(1, 1, KEYS, KV_HEADS, SIZE)
    with pytest.raises(error, match=re.escape(text)):
        attune.attention(q, k, k, **options)
