# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of kernels with functions for scores and masks, and searches for their schedules."""

import pytest
import torch
from conftest import find_chip
from test_flex import make_inputs, make_mask

import attune_mlir as attune
from attune_mlir import _devices

DOCUMENT = torch.arange(128) // 50
ENDS = torch.tensor([50, 100, 128], dtype=torch.int32)


def to_end(score, b, h, q_idx, kv_idx):
    """Reads one tensor at the query, and another one where that says."""
    return score - (ENDS[DOCUMENT[q_idx]] - kv_idx) / 8


def same_document(b, h, q_idx, kv_idx):
    return DOCUMENT[q_idx] == DOCUMENT[kv_idx]


@pytest.fixture
def chip(monkeypatch, cache_folder):
    monkeypatch.setattr(_devices, "_devices", {})
    return find_chip("Ampere")


def test_explain(chip):
    inputs = make_inputs(128, batch=2)
    options = {"score_mod": to_end, "mask_mod": same_document, "sinks": torch.ones(2), "alibi_slopes": torch.ones(2)}
    found = attune.explain(*inputs, **options, causal=True, return_lse=True, layout="bhsd", chip=chip)
    assert (found.chip, found.device, found.source, found.seq_q) == (chip, "cpu", "choice", 128)
    assert found.resources.workgroups == 2 * 2 * -(-128 // int(found.schedule["block-m"]))
    assert found.predicted_ns > 0 and len(found.alternatives) > 5
    assert str(found).startswith(f"{found.kernel} for {chip} on the CPU")
    # The kernel that it is about is the one that runs.
    attune.attention(*inputs, **options, causal=True, return_lse=True, layout="bhsd", chip=chip)
    (kernels,) = (device._kernels for device in _devices._devices.values())
    assert len(kernels) == 1


def test_explain_lists(chip):
    mask = make_mask(same_document, 128, block=64)
    found = attune.explain(*make_inputs(128), block_mask=mask, layout="bhsd", chip=chip)
    # A list names no block that another one does.
    assert found.source == "choice" and 64 % int(found.schedule["block-m"]) == 0 and found.resources.workgroups > 0
    with pytest.raises(ValueError, match="expects causal or block_mask"):
        attune.explain(*make_inputs(128), block_mask=mask, causal=True, layout="bhsd", chip=chip)
    with pytest.raises(ValueError, match="expects at least one query and one key"):
        attune.explain(*make_inputs(0), score_mod=to_end, layout="bhsd", chip=chip)
    with pytest.raises(NotImplementedError, match="erfinv"):
        attune.explain(*make_inputs(128), score_mod=lambda s, b, h, m, n: s.erfinv(), layout="bhsd", chip=chip)


@pytest.mark.parametrize("lists", [False, True])
def test_tune(chip, lists, capfd):
    inputs = make_inputs(100, heads=1, head_dim=32)
    masks = {"block_mask": make_mask(same_document, 100, block=64)} if lists else {"mask_mod": same_document}
    options = {"score_mod": to_end, **masks, "layout": "bhsd", "chip": chip}
    before = attune.attention(*inputs, **options)
    found = attune.tune(*inputs, **options, budget="60s,4")
    said = capfd.readouterr().err
    print(said)
    assert found.tried >= 4 and found.explanation.source == "search"
    assert "nothing was timed" in said and "no numbers were checked" not in said
    torch.testing.assert_close(attune.attention(*inputs, **options), before, atol=2e-3, rtol=2e-3)
    # flex_attention is the same call.
    mask = masks.get("block_mask") or make_mask(same_document, 100, block=64)
    out = attune.flex_attention(*inputs, to_end, mask, chip=chip)
    torch.testing.assert_close(out, before, atol=2e-3, rtol=2e-3)
    kernels = [kernel for device in _devices._devices.values() for kernel in device._kernels]
    assert len(kernels) == (1 if lists else 2)
