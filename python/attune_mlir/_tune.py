# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches for faster schedules, in a process of its own.

The search is the program attune-tune (docs/Tuning.md), which is beside this package and starts itself again as its
workers: whatever a candidate does, it does not do it here. What it measured is kept in a database in the cache's folder,
from which a later search of the same problem goes on, and which any number of searches may use at once.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import dataclasses
import json
import math
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal, overload

from . import _attention, _devices, _explain, _native, _schedules, _store

#: How many of the other schedules that were measured are kept.
_KEPT = 10
#: Seconds that a search may take to end when it is told to.
_END_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class TuneResult:
    """What a search found. Calls of the same kind and bucket of lengths use it from now on, in later processes, too."""

    #: The kernel that these calls run now.
    explanation: _explain.Explanation
    #: Schedules that were tried, those of earlier searches included, and seconds that it took.
    tried: int
    seconds: float
    #: Times as long as the winner takes, the schedule takes that the compiler chooses; None without a device.
    speedup: float | None

    def __str__(self) -> str:
        gain = "" if self.speedup is None else f", {self.speedup:.2f} times as fast as without a search"
        return f"{self.tried} schedules in {self.seconds:.0f} s{gain}\n{self.explanation}"


def find_program() -> str:
    program = pathlib.Path(_native.__file__).parent / "attune-tune"
    if not program.is_file():
        raise RuntimeError(f"expects the program of the search beside the extension, but there is no {program}")
    return str(program)


def read_budget(budget: float | str) -> str:
    if isinstance(budget, str):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise TypeError(f"expects budget to be seconds, or a string such as '10m' or '90s,200', but got {type(budget).__name__}")
    if not (math.isfinite(budget) and budget > 0):
        raise ValueError(f"expects a budget of more than 0 seconds, but got {budget}")
    return f"{math.ceil(budget)}s"


@contextlib.contextmanager
def open_database() -> Iterator[str]:
    """Its path, in the cache or, where that cannot be written, for this search alone. Results are of one compiler."""
    folder = _store.get_folder()
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            usable = os.access(folder, os.W_OK)
        except OSError:
            usable = False
        if not usable:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attune-")))
        yield str(folder / f"{_store.SEARCH_PREFIX}{_native.build_id()[:16]}.db")


def _make_command(call: _attention.Call, chip: str, folder: pathlib.Path, database: str, budget: str, jobs: int | None) -> list[str]:
    kind, number = call.place
    where = ["--device=none"] if kind == "cpu" else [f"--device={kind}", f"--gpus={number}"]
    sizes = ",".join(f"{name}={size}" for name, size in call.named_sizes)
    return [
        find_program(),
        str(folder / "problem.mlir"),
        f"--chip={chip}",
        *where,
        f"--size={sizes}",
        f"--db={database}",
        f"--budget={budget}",
        f"--json={folder / 'report.json'}",
        *([] if jobs is None else [f"--jobs={jobs}"]),
    ]


#: Searches that run in the background, which end with this process.
_running: set[subprocess.Popen[bytes]] = set()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@atexit.register
def _end_all() -> None:
    for process in list(_running):
        _end(process)


def run(command: list[str], quiet: bool) -> str:
    """Runs the search and shows its progress: a line that is rewritten in a terminal, else lines. Gives what it said."""
    live = not quiet and sys.stderr is not None and sys.stderr.isatty()
    reader, writer = pty.openpty() if live else os.pipe()
    try:
        # Interrupts are ours to pass on.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer, start_new_session=True)
    finally:
        os.close(writer)
    _running.add(process)
    said = b""
    try:
        with contextlib.suppress(OSError):  # of a terminal whose other end was closed
            while chunk := os.read(reader, 4096):
                said += chunk
                if not quiet and sys.stderr is not None:
                    sys.stderr.write(chunk.decode(errors="replace"))
                    sys.stderr.flush()
        process.wait()
    finally:
        os.close(reader)
        if process.poll() is None:
            _end(process)
        _running.discard(process)
    text = said.decode(errors="replace")
    if process.returncode:
        errors = [line for line in text.replace("\r", "\n").splitlines() if "error: " in line]
        raise RuntimeError("; ".join(errors) or f"the search ended with code {process.returncode}: {text[-500:]}")
    return text


def _read_winner(report: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a search."""
    results = report["results"]
    best = results[report["best"]]
    timed = [one for one in results if "median_ns" in one and one is not best]
    timed.sort(key=lambda one: one["median_ns"])

    def differ(one: dict[str, Any]) -> dict[str, str]:
        return {name: str(value) for name, value in one["schedule"].items() if value != best["schedule"][name]}

    default = results[report["default"]] if "default" in report else {}
    return {
        "schedule": {name: str(value) for name, value in best["schedule"].items()},
        "measured_ns": best.get("median_ns"),
        "default_ns": default.get("median_ns"),
        "alternatives": [[differ(one), one["median_ns"]] for one in timed[:_KEPT]],
        "tried": report["tried"],
        "seconds": report["seconds"],
    }


def _search(call: _attention.Call, chip: str, budget: str, quiet: bool, jobs: int | None) -> TuneResult:
    module = call.problem.make_module()
    with tempfile.TemporaryDirectory(prefix="attune-") as folder, open_database() as database:
        path = pathlib.Path(folder)
        (path / "problem.mlir").write_text(str(call.make_searched_module()), encoding="utf-8")
        run(_make_command(call, chip, path, database, budget, jobs), quiet)
        report = json.loads((path / "report.json").read_text(encoding="utf-8"))["problems"][0]
    winner = _read_winner(report)
    _schedules.save_winner(module, call.bucket, chip, winner)
    _devices.forget(chip, call.problem, call.bucket)
    speedup = winner["default_ns"] / winner["measured_ns"] if winner["default_ns"] and winner["measured_ns"] else None
    return TuneResult(_explain.explain_call(call, chip), winner["tried"], winner["seconds"], speedup)


# These say no more than what decides the type of the result.
@overload
def tune(q: Any, k: Any, v: Any, *, background: Literal[False] = False, **options: Any) -> TuneResult: ...
@overload
def tune(q: Any, k: Any, v: Any, *, background: Literal[True], **options: Any) -> concurrent.futures.Future[TuneResult]: ...
def tune(  # type: ignore[misc]
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    scale: float | None = None,
    alibi_slopes: Any = None,
    sinks: Any = None,
    dropout_p: float = 0.0,
    score_mod: Callable[..., Any] | None = None,
    mask_mod: Callable[..., Any] | None = None,
    block_mask: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    k_zero: Any = None,
    v_zero: Any = None,
    weights: Any = None,
    out_dtype: Any = None,
    out_descale: Any = None,
    return_lse: bool = False,
    layout: str = "bshd",
    chip: str | None = None,
    budget: float | str = 60,
    background: bool = False,
    quiet: bool = False,
) -> TuneResult | concurrent.futures.Future[TuneResult]:
    """Searches for the fastest schedule for `attention` with these arguments, which later calls then use.

    budget       seconds, or as attune-tune takes it: "10m", "200" schedules, "90s,200" for what is spent first
    background   returns at once, with a concurrent.futures.Future of the result; calls go on with the schedule that they
                 had, and graphs that captured it keep it. The search ends with this process
    quiet        shows no progress; otherwise it is on sys.stderr, one line that is rewritten in a terminal

    On a GPU schedules are verified and timed there, beside whatever else it does: let it be idle. For arrays on the CPU
    nothing is timed: schedules for the chip are compiled, ranked by what the assembler and the compiler's model say, and
    the best are executed on the CPU and checked. Contents of the arrays are not used, nor those of a BlockMask: its
    lists are taken to name all blocks; with `dropout_p` no generator is asked for numbers.

    The winner is for calls of the same kind, and lengths of the same bucket (`explain`). It is kept in the cache by
    problem, chip and build of the compiler; so are all measurements, from which the next search goes on.

    RuntimeError where the search fails, with its reason; the others are those of `attention`.
    """
    functions = (score_mod, mask_mod, block_mask)
    options = {"causal": causal, "window": window, "softcap": softcap, "scale": scale, "return_lse": return_lse, "layout": layout}
    scales = (q_descale, k_descale, v_descale, k_zero, v_zero, weights, out_dtype, out_descale)
    call = _explain.read_arguments(q, k, v, alibi_slopes, sinks, functions, scales, dropout_p, **options)
    spent, name = read_budget(budget), _explain.get_chip(call.place, chip)
    if not background:
        return _search(call, name, spent, quiet, None)
    future: concurrent.futures.Future[TuneResult] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            # Half of the processors stay the program's.
            future.set_result(_search(call, name, spent, quiet, max(1, (os.cpu_count() or 1) // 2)))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="attune-tune", daemon=True).start()
    return future
