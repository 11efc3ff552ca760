# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlexAttention: the masks and scores of attention-gym and others, beside dense float32."""

import functools
import types

import attn_gym.masks as masks
import attn_gym.mods as mods
import pytest
import torch
from attn_gym.masks.vsa import generate_vsa_padding_mask_mod
from flex_oracle import attend
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, and_masks, create_block_mask, noop_mask, or_masks

import attune_mlir as attune
from attune_mlir import _regions, _store, _trace

LENGTH = 64


def make_inputs(seq_q=LENGTH, seq_k=None, heads=2, kv_heads=None, batch=1, head_dim=32, dtype=torch.float16, seed=0):
    random = torch.Generator().manual_seed(seed)
    shapes = [(batch, heads, seq_q, head_dim)] + [(batch, kv_heads or heads, seq_q if seq_k is None else seq_k, head_dim)] * 2
    return [torch.randn(shape, generator=random).to(dtype) for shape in shapes]


def check(inputs, score_mod=None, block_mask=None, **options):
    out, lse = attune.flex_attention(*inputs, score_mod, block_mask, return_lse=True, **options)
    expected, expected_lse = attend(*inputs, score_mod, block_mask, options.get("scale"))
    tolerance = 2e-2 if inputs[0].dtype == torch.bfloat16 else 4e-3
    torch.testing.assert_close(out.float(), expected, atol=tolerance, rtol=tolerance)
    torch.testing.assert_close(lse, expected_lse, atol=2e-3, rtol=2e-3)


def make_mask(mask_mod, seq_q=LENGTH, seq_k=None, batch=None, heads=None, block=128):
    return create_block_mask(mask_mod, batch, heads, seq_q, seq_q if seq_k is None else seq_k, device="cpu", BLOCK_SIZE=block)


def check_mask(mask_mod, **sizes):
    check(make_inputs(sizes.get("seq_q", LENGTH), sizes.get("seq_k")), block_mask=make_mask(mask_mod, **sizes))


OFFSETS = torch.tensor([0, 5, 31, 40, 64], dtype=torch.int32)
TOPK = torch.stack([torch.randperm(4, generator=torch.Generator().manual_seed(h))[:2] for h in range(8)]).view(1, 2, 4, 2)
SIZES = torch.tensor([16, 9, 16, 3])

MASKS = {
    "causal": lambda: masks.causal_mask,
    "document": lambda: masks.generate_doc_mask_mod(masks.causal_mask, OFFSETS),
    "document_64_bits": lambda: masks.generate_doc_mask_mod(masks.causal_mask, OFFSETS.long()),
    "packed_document": lambda: masks.generate_packed_causal_doc_mask_mod(OFFSETS),
    "batchify": lambda: masks.batchify_mask_mod(masks.causal_mask, 20),
    "block_diffusion": lambda: masks.generate_block_diffusion_mask(32, 8),
    "dilated": lambda: masks.generate_dilated_sliding_window(12, 3),
    "sliding_window": lambda: masks.generate_sliding_window(12),
    "global_sliding_window": lambda: masks.generate_global_sliding_window(6, torch.arange(LENGTH) % 29 == 4),
    "prefix_lm": lambda: masks.generate_prefix_lm_mask(20),
    "shared_prefix": lambda: masks.generate_shared_prefix_mask_mod(OFFSETS, torch.tensor([0, 0, 2, 2])),
    "natten": lambda: masks.generate_natten(8, 8, 3, 5),
    "tiled_natten": lambda: masks.generate_tiled_natten(8, 8, 3, 5, 4, 4),
    "morton_natten": lambda: masks.generate_morton_natten(8, 8, 3, 5),
    "sta_2d": lambda: masks.generate_sta_mask_mod_2d((8, 4), (4, 4), (4, 2), text_seq_len=20),
    "sta_3d": lambda: masks.generate_sta_mask_mod_3d((4, 4, 4), (2, 4, 2), (2, 2, 2)),
    "svg_spatial": lambda: masks.generate_spatial_head_mask_mod(6, 4, 14, 1, attn_sink=True, round_width=4),
    "svg_temporal": lambda: masks.generate_temporal_head_mask_mod(6, 4, 14, 1),
    "vsa": lambda: masks.generate_vsa_mask_mod(TOPK, 16),
    "vsa_sizes": lambda: masks.generate_vsa_mask_mod(TOPK, 16, SIZES),
    "vsa_padding": lambda: generate_vsa_padding_mask_mod(SIZES, 16),
    "none": lambda: noop_mask,
    "and": lambda: and_masks(masks.causal_mask, lambda b, h, q, kv: ~((q - kv) > 9)),
    "or": lambda: or_masks(masks.generate_natten(8, 8, 3, 3), lambda b, h, q, kv: (q ^ kv) < 4),
}


@pytest.mark.parametrize("name", MASKS)
def test_mask(name):
    heads = 2 if name.startswith("vsa") else None
    check_mask(MASKS[name](), heads=heads, batch=1 if heads else None)


def test_cross_masks():
    intervals = torch.tensor([[0, 7], [1, 7], [7, 12]], dtype=torch.int32)
    check_mask(masks.generate_vision_cross_attention_mask_mod(intervals, 3), seq_q=12, seq_k=9)
    ancestors = masks.build_tree_ancestor_matrix([-1, 0, 0, 1, 1, 2, 5], device="cpu")
    check_mask(masks.generate_jetspec_tree_causal_mask_mod(30, ancestors), seq_q=7, seq_k=37)
    check_mask(masks.generate_jetspec_training_mask_mod(30, 5), seq_q=20, seq_k=50)


def make_graphs():
    random = torch.Generator().manual_seed(0)
    adjacency = torch.rand(1, LENGTH, LENGTH, generator=random) < 0.04
    types = torch.randint(0, 3, (1, LENGTH, LENGTH), generator=random)
    return adjacency, masks, types


def make_spatial():
    distances = mods.shortest_path_distances(make_graphs()[0], 4)
    return mods.generate_graphormer_spatial_bias(torch.randn(2, 6), distances)


def make_edges():
    adjacency, _, types = make_graphs()
    return mods.generate_graphormer_edge_bias(torch.randn(2, 3, 3), *mods.shortest_path_edge_types(adjacency, types, 3))


def make_rope(dtype):
    random = torch.Generator().manual_seed(1)
    query, key = (torch.randn(1, heads, LENGTH, 8, generator=random).to(dtype) for heads in (2, 1))
    return mods.generate_mla_rope_score_mod(query, key, 2, 0.25)


SCORES = {
    "alibi": lambda: mods.generate_alibi_bias(2),
    "softcap": lambda: mods.generate_tanh_softcap(2),
    "mla_rope": lambda: make_rope(torch.float32),
    "sandwich": lambda: mods.generate_sandwich_bias(2, LENGTH, 16),
    "graphormer_spatial": make_spatial,
    "graphormer_edge": make_edges,
    "gelu": lambda: mods.generate_activation_score_mod(),
    "gelu_tanh": lambda: mods.generate_activation_score_mod(functools.partial(torch.nn.functional.gelu, approximate="tanh")),
    "relu": lambda: mods.generate_activation_score_mod(torch.relu, 0.5),
    "sigmoid": lambda: mods.generate_activation_score_mod(torch.sigmoid),
    "same": lambda: lambda score, b, h, q, kv: score,
    "constant": lambda: lambda score, b, h, q, kv: torch.tensor(2.0),
    "relative": lambda: lambda score, b, h, q, kv: score + (q - kv) * 0.1,
    "masks": lambda: lambda score, b, h, q, kv: torch.where(q >= kv, score, -float("inf")),
    "alone": lambda: lambda score, b, h, q, kv: score.masked_fill(kv > q, -1e9),
}


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    check(make_inputs(), SCORES[name]())


def test_approximate_tanh():
    """Of Inductor, whose fast form the kernel's is not."""
    import torch._inductor.lowering

    score_mod = mods.generate_tanh_softcap(2, approx=True)
    found = attune.flex_attention(*make_inputs(), score_mod)
    torch.testing.assert_close(found, attune.flex_attention(*make_inputs(), mods.generate_tanh_softcap(2)))


TABLE = torch.randn(3, LENGTH, LENGTH, generator=torch.Generator().manual_seed(5))
ROW = TABLE.permute(1, 2, 0)

ROWS = {
    "negative": lambda s, b, h, q, kv: s + TABLE[-1, q - LENGTH, kv],
    "slice": lambda s, b, h, q, kv: s + TABLE[1:, 2:][h, torch.clamp(q, max=60), kv],
    "steps": lambda s, b, h, q, kv: s + TABLE[::2, :, ::3][h, q, kv // 3],
    "transposed": lambda s, b, h, q, kv: s + TABLE.transpose(1, 2).permute(0, 2, 1)[h, q, kv],
    "sum": lambda s, b, h, q, kv: s + ROW[q, kv].sum(),
    "mean": lambda s, b, h, q, kv: s + ROW[q].mean(dim=1)[kv],
    "extremes": lambda s, b, h, q, kv: s + ROW[q, kv].amax() - ROW[q, kv].amin(dim=0, keepdim=True).squeeze(),
    "expanded": lambda s, b, h, q, kv: s + (ROW[q, kv].view(3, 1).expand(3, 2) * torch.arange(2)).sum(),
    "all": lambda s, b, h, q, kv: torch.where((ROW[q, kv] > 0).all(), s, s * 0.5),
    "elements": lambda s, b, h, q, kv: s + (TABLE * 2)[h, q, kv],
    "places": lambda s, b, h, q, kv: s + TABLE[h][torch.stack([q]).view(()) if False else q, kv].unsqueeze(0).squeeze(0),
    "floats": lambda s, b, h, q, kv: s + (q / 7.0) // 2 + (kv.float() % 3) - torch.floor(q * 0.3) + 2 ** (h * 0.5) + (s**2 - s**3) * 0.1,
    "functions": lambda s, b, h, q, kv: s.exp2() + s.abs().log1p() + s.sin() * s.cos() + s.abs().sqrt() - torch.rsqrt(1 + s * s) + s.erf(),
    "integers": lambda s, b, h, q, kv: s + ((q - kv) // 3) * 0.1 + ((q - kv) % 5) * 0.1 + torch.div(q, 1 + kv % 3, rounding_mode="trunc"),
    "zero": lambda s, b, h, q, kv: torch.where(kv > 0, s + (q // kv.clamp(min=1)), s),
    "casts": lambda s, b, h, q, kv: s + (q > kv).int() + (q > kv).float() * 0.5 + s.clamp(-2, 2).to(torch.int32) + s.bool().to(torch.int64),
    "logic": lambda s, b, h, q, kv: torch.where(torch.logical_xor(q > 5, kv > 7) | torch.logical_not(q == kv), s, -s),
    "extreme": lambda s, b, h, q, kv: torch.minimum(torch.maximum(s, -s * 0.5), q + 0.5) + torch.nn.functional.silu(s),
    "reversed": lambda s, b, h, q, kv: 1 - s + 1 / (1 + q) - (3 - kv) * 0.01 + (~q) * 0.01 + (kv << 1) * 0.01 + (q & 3 | 4) * 0.1,
    "filled": lambda s, b, h, q, kv: s + torch.full((2,), 0.25).sum() + torch.zeros_like(s) + torch.ones(()) + s.new_full((), 3.0),
}


@pytest.mark.parametrize("name", ROWS)
def test_operations(name):
    check(make_inputs(), ROWS[name])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_captured_types(dtype):
    small = torch.arange(LENGTH)
    tensors = [
        small.to(kind) for kind in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool, dtype, torch.float32)
    ]
    number = torch.tensor(0.25)

    def score_mod(score, b, h, q, kv):
        return score + sum(tensor[kv] * number for tensor in tensors) * 0.01

    check(make_inputs(dtype=dtype), score_mod)


def test_score_and_mask_share_tensors():
    """Operands are what the kernel takes them for, in whatever order functions read them."""
    first, second, third = (torch.randn(LENGTH, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
    mask = make_mask(lambda b, h, q, kv: (third[q] + first[kv] > -0.5) | (q == kv))
    check(make_inputs(), lambda s, b, h, q, kv: s + second[kv] - third[kv] * first[q], mask)


@pytest.mark.parametrize("block", [16, 32, 128, (128, 64), (64, 128)])
def test_block_sizes(block):
    inputs = make_inputs(200, 300, heads=4, kv_heads=2, batch=2)
    mask = make_mask(lambda b, h, q, kv: (q + 100 >= kv) & (kv >= h * 30 + b * 7), 200, 300, batch=2, heads=4, block=block)
    check(inputs, block_mask=mask, enable_gqa=True, scale=0.3)


def test_tables_decide():
    """What is attended to may stand in the tables alone."""
    inputs = make_inputs()
    for sizes in (None, SIZES):
        check(inputs, block_mask=masks.create_vsa_block_mask(TOPK, 16, 4, sizes))
    indices = torch.tensor([[[[1, 0], [0, 7]]]], dtype=torch.int32)
    counts = torch.tensor([[[2, 0]]], dtype=torch.int32)
    check(inputs, block_mask=BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=32, mask_mod=masks.causal_mask, seq_lengths=(64, 64)))


def test_results():
    inputs = make_inputs(dtype=torch.bfloat16)
    out = attune.flex_attention(*inputs)
    both = attune.flex_attention(*inputs, return_lse=True)
    aux = attune.flex_attention(*inputs, return_aux=AuxRequest(lse=True))
    torch.testing.assert_close(out, both[0])
    torch.testing.assert_close(both[1], aux[1].lse)
    assert attune.flex_attention(*inputs, return_aux=AuxRequest())[1].lse is None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(attune.flex_attention(*(x.float() for x in inputs)), out)
    empty = attune.flex_attention(*make_inputs(seq_q=0, seq_k=5), lambda s, b, h, q, kv: s)
    assert empty.shape == (1, 2, 0, 32)
    views = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in inputs]
    torch.testing.assert_close(attune.flex_attention(*views), out)


def test_new_lengths_and_contents_compile_nothing(cache_folder):
    def make(length):
        document = torch.arange(length) // 9
        return make_mask(lambda b, h, q, kv: document[q] == document[kv], length)

    check(make_inputs(40), block_mask=make(40))
    before = _store.counts.misses
    for length in (41, 130):
        check(make_inputs(length), block_mask=make(length))
    assert _store.counts.misses == before


def test_divisions():
    """Of positions without signs; by reciprocals where nothing is cut off, which would make 48 of 49 / 49 * 49."""
    text = _trace.trace(None, lambda b, h, q, kv: (q // 8 == kv // 8) & (q % 8 <= kv % 3), torch.device("cpu")).clauses
    assert text.count("arith.divui") == 2 and text.count("arith.remui") == 2
    text = _trace.trace(None, lambda b, h, q, kv: ((q - kv) // 8 == 0) & ((q - kv) % 8 == 3), torch.device("cpu")).clauses
    assert text.count("arith.floordivsi") == 1 and text.count("arith.remsi") == 1
    text = _trace.trace(lambda s, b, h, q, kv: s / 20 + 1, None, torch.device("cpu")).clauses
    assert "fastmath<arcp>" in text and "arith.addf" in text and "fastmath<contract>" in text
    check(make_inputs(), lambda s, b, h, q, kv: s + torch.floor_divide(q * 49.0, 49.0) - torch.remainder(kv * 7.0, 7.0) - q)
    check(make_inputs(), lambda s, b, h, q, kv: s + torch.div(kv * 49.0, 49.0, rounding_mode="trunc") - kv)


def test_traces_are_kept():
    def make(tensor, number):
        return lambda s, b, h, q, kv: s + tensor[kv] * number

    def run(tensor, number):
        check(make_inputs(), make(tensor, number))

    _trace._kept.clear()
    first = torch.randn(LENGTH)
    run(first, 1.0)
    run(torch.randn(LENGTH), 1.0)
    first.zero_()
    run(first, 1.0)
    assert len(_trace._kept) == 1
    run(first, 2.0)
    run(first.half(), 2.0)
    assert len(_trace._kept) == 3


class Slopes:
    """An object, of which nobody knows whether it changes."""

    def __init__(self):
        self.factor = 1.0

    def __call__(self, score, b, h, q, kv):
        return score * self.factor


def test_objects_are_traced_again():
    slopes = Slopes()
    check(make_inputs(), slopes)
    slopes.factor = 0.25
    check(make_inputs(), slopes)


class Settings:
    factor = 1.0


settings = types.ModuleType("settings")
settings.factor, settings.other = 1.0, 1.0
window = 2


def test_numbers_elsewhere_are_read_again():
    """Of modules, classes, dictionaries, functions, and of functions in those that PyTorch makes."""
    global window
    table = {"factor": 1.0}
    get = table.get

    def scale(score):
        return score * settings.other

    def own(score, b, h, q, kv):
        return score * own.factor

    functions = [
        own,
        lambda score, b, h, q, kv: score * settings.factor,
        lambda score, b, h, q, kv: scale(score) * settings.factor,
        lambda score, b, h, q, kv: score * Settings.factor,
        lambda score, b, h, q, kv: score * get("factor"),
    ]
    near = and_masks(masks.causal_mask, lambda b, h, q, kv: q - kv < window)
    for factor in (1.0, -2.0):
        settings.factor = settings.other = Settings.factor = table["factor"] = own.factor = factor
        window = 2 if factor == 1.0 else 20
        for function in functions:
            check(make_inputs(), function)
        check(make_inputs(), block_mask=make_mask(near))
    key = _trace.identify(functions[1], near, torch.device("cpu")).key
    settings.other = 3.0
    assert key is not None and key == _trace.identify(functions[1], near, torch.device("cpu")).key


@pytest.mark.parametrize("seq_k", [72, 77])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_whole_biases(seq_k, dtype):
    # Rows of 72 keys are copied as tiles; that they begin beside a multiple of 16 bytes is seen to.
    values = torch.randn(2 * 50 * seq_k + 1, generator=torch.Generator().manual_seed(1)).to(dtype)
    bias = values[1:].view(2, 50, seq_k)
    assert bias.data_ptr() % 16
    traced = _trace.translate(lambda score, b, h, q, kv: score + bias[h, q, kv], None, torch.device("cpu"))
    clauses, kinds = _regions.mark_rows(traced.clauses, traced.captures)
    (kind,) = kinds.values()
    assert clauses.count(kind) == 1 and ("attn.strided" in kind) == (seq_k == 72)
    check(make_inputs(50, seq_k), lambda score, b, h, q, kv: score + bias[h, q, kv])
