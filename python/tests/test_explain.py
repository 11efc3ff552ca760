# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of kernels, and schedules by lengths."""

import dataclasses

import numpy as np
import pytest
from conftest import find_chip, make_inputs

import attune_mlir as attune
from attune_mlir import _devices, _schedules, _store
from attune_mlir._attention import read_call
from attune_mlir._schedules import Bucket, count_queries


def test_fields():
    chip = find_chip("Ampere")
    found = attune.explain(*make_inputs(batch=2, seq_q=100, seq_k=300), causal=True, chip=chip)
    assert (found.chip, found.device, found.kernel, found.source) == (chip, "cpu", "attention_kernel", "choice")
    assert (found.seq_q, found.seq_k) == (128, 512)
    assert found.schedule["block-m"].isdecimal() and found.schedule["overlap"] in ("none", "softmax", "ping-pong")
    used = found.resources
    assert used.shared_bytes > 0 and used.threads == 32 * int(found.schedule["num-warps"])
    assert used.workgroups == 2 * 2 * -(-100 // int(found.schedule["block-m"]))
    # Without an assembler nobody knows.
    assert (used.registers is None) == (used.spill_bytes is None)
    assert found.predicted_ns > 0 and found.measured_ns is None


def test_alternatives():
    found = attune.explain(*make_inputs(seq_q=200), chip=find_chip("Hopper"))
    assert len(found.alternatives) > 5
    times = [one.ns for one in found.alternatives]
    assert times == sorted(times)
    for one in found.alternatives:
        ((name, value),) = one.changes.items()
        assert found.schedule[name] != value
        assert one.ratio == pytest.approx(one.ns / found.predicted_ns)


def test_text():
    found = attune.explain(*make_inputs(seq_q=200), chip=find_chip("CDNA"))
    lines = str(found).splitlines()
    assert lines[0] == f"attention_kernel for {found.chip} on the CPU, executed thread by thread"
    assert lines[1].split(maxsplit=1) == [
        "schedule",
        "chosen by the compiler without a search, for up to 256 queries and 256 keys in 1 batches",
    ]
    assert f"block-m={found.schedule['block-m']} " in lines[2]
    assert lines[3].split()[0] == "resources" and f"{found.resources.shared_bytes} bytes of shared memory" in lines[3]
    loop = found.resources.loop
    assert lines[4].startswith("  main loop ") and f"{loop['matrix_clocks']} matrix" in lines[4]
    assert loop["alone_clocks"] > loop["wait_clocks"] > 0 and loop["warps"] > 0
    assert lines[5].split()[:3] == ["predicted", f"{found.predicted_ns / 1000:.1f}", "us"]
    assert len(lines) == 11 and all(" us " in line and "%" in line for line in lines[6:])


def test_every_chip():
    inputs = make_inputs(seq_q=30)
    for chip in attune.chips():
        assert attune.explain(*inputs, chip=chip.name).chip == chip.name


def test_options_are_those_of_the_call():
    inputs = make_inputs()
    alibi = np.ones(2, np.float32)
    found = attune.explain(*inputs, alibi_slopes=alibi, sinks=alibi, softcap=2.0, window=(3, 4), scale=0.5, return_lse=True, layout="bshd")
    assert found.resources.workgroups > 0
    with pytest.raises(ValueError, match="expects layout to be one of"):
        attune.explain(*inputs, layout="sbhd")
    with pytest.raises(ValueError, match="expects chip to be one of .*, but got 'moon'"):
        attune.explain(*inputs, chip="moon")
    with pytest.raises(attune.CompileError):
        attune.explain(*make_inputs(head_dim=4096, seq_q=8))
    with pytest.raises(ValueError, match=r"expects at least one query and one key.* but got q of shape \(1, 0, 2, 64\)"):
        attune.explain(*make_inputs(seq_q=0, seq_k=5))


@pytest.mark.parametrize(
    ("sizes", "bucket"),
    [
        ((0, 1, 0), (64, 64, 1)),
        ((64, 65, 1), (64, 128, 1)),
        ((128, 129, 3), (128, 256, 4)),
        ((32768, 10**6, 10**6), (32768, 32768, 1024)),
    ],
)
def test_buckets(sizes, bucket):
    assert Bucket.get(*sizes) == Bucket(*bucket)


def test_buckets_of_packed_sequences():
    # All rows of 40 sequences, of which there may be one each; keys are not packed.
    assert Bucket.get(40, 100, 40, (True, False)) == Bucket(64, 128, 64)
    assert Bucket.get(3, 5, 2, (True, True)) == Bucket(4, 8, 2)


@pytest.mark.parametrize(
    ("rows", "longest", "sequences", "counted"),
    [
        (64, 1, 64, 64),  # one query each
        (1024, 1, 64, 64),  # and rows behind them
        (300, 8, 64, 300),  # few each
        (400, 200, 201, 400),  # one prompt among many single queries
        (64 * 20, 20, 64, 64 * 20),  # all have as many
        (63 + 512, 512, 64, 29185),  # mostly a prompt: a query's sequence has 456 in the mean
        (64, 32768, 1, 64),  # no sequence has more than all
    ],
)
def test_queries_of_packed_sequences(rows, longest, sequences, counted):
    assert count_queries(rows, longest, sequences) == counted


def test_few_queries_of_many_keys():
    """The choice knows how many tiles there are, and divides the keys of few; of many it does not."""
    chip = find_chip("Hopper")
    one, many = (attune.explain(*make_inputs(batch=n, heads=4, kv_heads=1, seq_q=1, seq_k=3000), chip=chip) for n in (1, 200))
    assert int(one.schedule["split-k"]) > 1 and one.schedule["merge"] == "last" and one.others == ()
    assert many.schedule["split-k"] == "1" and many.others == () and many.batch == 256
    assert "attention_kernel for" in str(one)
    assert "attention_kernel, with attention_merge, for" in str(dataclasses.replace(one, others=("attention_merge",)))


def test_powers_of_two_have_kernels():
    """Whose loops do not ask where rows end; other lengths share one."""
    options = {"causal": True, "window": None, "softcap": None, "scale": None, "return_lse": False, "layout": "bshd"}
    calls = [read_call(*make_inputs(seq_q=n, seq_k=n), None, None, **options) for n in (256, 255, 200)]
    assert [call.problem.lengths for call in calls] == [(256, 256), None, None]
    assert calls[0].bucket == calls[1].bucket and calls[1].problem == calls[2].problem
    assert "?x256x" in str(calls[0].problem.make_module())


def test_schedules_depend_on_lengths():
    """The choice is that for static lengths, as far as it does not need to know the end of rows."""
    chip = find_chip("Hopper")
    brief, longer = (attune.explain(*make_inputs(seq_q=n), causal=True, chip=chip).schedule for n in (64, 16000))
    assert brief["block-m"] != longer["block-m"]


def test_kernels_by_bucket(cache_folder, monkeypatch):
    """At most one compilation for a bucket, and none where its schedule is another's."""
    chip = find_chip("Hopper")
    monkeypatch.setattr(_devices, "_devices", {})

    def count(seq_q, seq_k):
        before = _store.counts.misses
        attune.attention(*make_inputs(heads=1, seq_q=seq_q, seq_k=seq_k), causal=True, chip=chip)
        return _store.counts.misses - before

    assert count(3, 5) == 1
    assert count(60, 64) == 0  # the same bucket
    assert count(3, 100) == 0  # another one with the same schedule
    assert count(3, 5000) == 1  # and with another
    assert count(1, 7000) == 0
    (device,) = _devices._devices.values()
    assert len(device._kernels) == 3 and len(device._loaded) == 2


def test_model_needs_a_schedule():
    module = attune.parse("func.func private @f()")
    with pytest.raises(attune.CompileError, match="expects a 'tile.target' attribute"):
        _schedules.get_costs(module, [])
