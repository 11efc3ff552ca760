# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches from Python, where nothing is timed: on the CPU."""

import concurrent.futures
import os
import pty
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import find_chip, make_inputs, reference

import attune_mlir as attune
from attune_mlir import _devices, _tune

#: Few schedules, and a time by which the checks on the CPU end as well.
BUDGET = "40s,4"


@pytest.fixture
def inputs():
    return make_inputs(heads=1, seq_q=40, head_dim=32)


@pytest.fixture
def chip(monkeypatch):
    monkeypatch.setattr(_devices, "_devices", {})
    return find_chip("Ampere")


def test_winner_is_used(inputs, chip, cache_folder, capfd):
    before = attune.attention(*inputs, chip=chip)
    found = attune.tune(*inputs, chip=chip, budget=BUDGET)
    assert found.tried >= 4 and found.seconds > 0 and found.speedup is None
    assert found.explanation.source == "search" and found.explanation.measured_ns is None
    said = capfd.readouterr()
    assert said.out == "" and "nothing was timed" in said.err
    assert str(found).startswith(f"{found.tried} schedules in ") and "found by a search" in str(found)
    # In this process and, from the disk, in later ones.
    np.testing.assert_allclose(attune.attention(*inputs, chip=chip), before, atol=2e-3)
    np.testing.assert_allclose(before, reference(*inputs)[0], atol=3e-3)
    _devices._devices.clear()
    assert attune.explain(*inputs, chip=chip).schedule == found.explanation.schedule
    assert attune.explain(*make_inputs(heads=1, seq_q=50, head_dim=32), chip=chip).source == "search"
    # Not for other lengths, chips and options.
    assert attune.explain(*make_inputs(heads=1, seq_q=400, head_dim=32), chip=chip).source == "choice"
    assert attune.explain(*inputs, chip=find_chip("Hopper")).source == "choice"
    assert attune.explain(*inputs, causal=True, chip=chip).source == "choice"
    # What is known is not compiled again.
    again = attune.tune(*inputs, chip=chip, budget=BUDGET, quiet=True)
    assert again.explanation.schedule == found.explanation.schedule
    assert capfd.readouterr().err == ""
    attune.cache.clear()
    assert attune.explain(*inputs, chip=chip).source == "choice" and not list(cache_folder.glob("search-*"))


def test_measured(inputs, chip, cache_folder):
    """What a search on a device reports, without one."""
    schedule = dict(attune.explain(*inputs, chip=chip).schedule)
    other = {**schedule, "split-masked": "0"}
    report = {
        "results": [
            {"schedule": schedule, "median_ns": 3000.0},
            {"schedule": other, "median_ns": 2000.0},
            {"schedule": {**other, "block-n": 32}, "median_ns": 2500.0},
            {"schedule": {**other, "block-n": 16}, "status": "compile-error"},
        ],
        "best": 1,
        "default": 0,
        "tried": 4,
        "seconds": 1.0,
    }
    winner = _tune._read_winner(report)
    from attune_mlir import _explain, _schedules

    call = _explain.read_arguments(
        *inputs, None, None, (None,) * 3, (None,) * 4, causal=False, window=None, softcap=None, scale=None, return_lse=False, layout="bshd"
    )
    _schedules.save_winner(call.problem.make_module(), call.bucket, chip, winner)
    found = attune.explain(*inputs, chip=chip)
    assert found.schedule == other and found.measured_ns == 2000.0
    assert [(dict(one.changes), one.ns, one.ratio) for one in found.alternatives] == [
        ({"block-n": "32"}, 2500.0, 1.25),
        ({"split-masked": schedule["split-masked"]}, 3000.0, 1.5),
    ]
    assert "measured    2.0 us" in str(found)
    result = attune.TuneResult(found, 4, 1.0, winner["default_ns"] / winner["measured_ns"])
    assert "1.50 times as fast as without a search" in str(result)


def test_background(inputs, chip, cache_folder):
    future = attune.tune(*inputs, chip=chip, budget=BUDGET, background=True, quiet=True)
    assert isinstance(future, concurrent.futures.Future)
    attune.attention(*inputs, chip=chip)
    assert future.result(timeout=300).explanation.source == "search"
    assert attune.explain(*inputs, chip=chip).source == "search"
    assert not _tune._running


def test_at_once(inputs, chip, cache_folder):
    """Two searches of one problem share a database."""
    futures = [attune.tune(*inputs, chip=chip, budget=BUDGET, background=True, quiet=True) for _ in range(2)]
    schedules = [future.result(timeout=300).explanation.schedule for future in futures]
    assert attune.explain(*inputs, chip=chip).schedule in schedules


def test_live_line(inputs, chip, cache_folder, monkeypatch):
    """In a terminal, the line is rewritten."""
    ours, theirs = pty.openpty()
    chunks = []

    def read():
        try:
            while chunk := os.read(ours, 4096):
                chunks.append(chunk)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        attune.tune(*inputs, chip=chip, budget=BUDGET)
        monkeypatch.undo()
    reader.join()
    os.close(ours)
    assert b"\r\033[K[" in b"".join(chunks)


def test_read_only_cache(inputs, chip, tmp_path, monkeypatch):
    """The search runs all the same, and its winner is this process's."""
    folder = tmp_path / "file"
    folder.write_text("")
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(folder / "below"))
    found = attune.tune(*inputs, chip=chip, budget=BUDGET, quiet=True)
    assert found.tried >= 4 and attune.explain(*inputs, chip=chip).source == "search"


def test_errors(inputs, chip, cache_folder, monkeypatch, tmp_path):
    with pytest.raises(TypeError, match="expects budget to be seconds, or a string such as '10m' or '90s,200', but got list"):
        attune.tune(*inputs, budget=[1])
    with pytest.raises(ValueError, match="expects a budget of more than 0 seconds, but got 0"):
        attune.tune(*inputs, budget=0)
    with pytest.raises(ValueError, match="expects a budget of more than 0 seconds, but got nan"):
        attune.tune(*inputs, budget=float("nan"))
    with pytest.raises(RuntimeError, match="error: expects a budget such as 90s, .*, but got 'soon'"):
        attune.tune(*inputs, budget="soon", chip=chip, quiet=True)
    with pytest.raises(RuntimeError, match="but got 'soon'"):
        attune.tune(*inputs, budget="soon", chip=chip, quiet=True, background=True).result(timeout=60)
    with pytest.raises(TypeError, match="expects q of float16 or bfloat16"):
        attune.tune(inputs[0].astype(np.float32), *inputs[1:])
    assert attune.explain(*inputs, chip=chip).source == "choice"
    monkeypatch.setattr(_tune._native, "__file__", str(tmp_path / "_native.so"))
    with pytest.raises(RuntimeError, match="expects the program of the search beside the extension, but there is no"):
        attune.tune(*inputs, chip=chip)


def test_interrupt(inputs, chip, cache_folder, monkeypatch):
    """Nothing is kept, and no process stays."""
    read, reads = os.read, []

    def interrupt(*arguments):
        reads.append(_tune._running.copy())
        if len(reads) == 2:
            raise KeyboardInterrupt
        return read(*arguments)

    monkeypatch.setattr(_tune.os, "read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        attune.tune(*inputs, chip=chip, budget="60s", quiet=True)
    monkeypatch.undo()
    (process,) = reads[1]
    assert process.poll() is not None and not _tune._running


def test_hard_end(tmp_path):
    """A program that does not end when it is told to is killed."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ntrap '' TERM\necho ready\nsleep 60 & wait; wait\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    process = subprocess.Popen([str(program)], stdout=subprocess.PIPE)
    process.stdout.readline()
    _tune._end(process)
    process.stdout.close()
    assert process.returncode == -9


def test_end_with_the_process(inputs, chip, cache_folder):
    """Searches in the background end with the process that began them."""
    program = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
from conftest import make_inputs
import attune_mlir as attune, time
from attune_mlir import _tune
attune.tune(*make_inputs(heads=1, seq_q=40, head_dim=32), chip={chip!r}, budget="60s", background=True, quiet=True)
while not _tune._running: time.sleep(0.01)
time.sleep(0.5)
print([process.pid for process in _tune._running][0])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=100)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
