# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches for schedules of whole modules, and what earlier ones have found."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Mapping

from . import _compiler, _devices, _tune, reports

_DEVICES = ("auto", "cuda", "hip", "none", "host")


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """What a search found."""

    #: The module with the schedules that were found, which `compile` takes.
    module: _compiler.Module
    #: For each attention and matmul what was tried, earlier searches included: times in nanoseconds, resources, refusals.
    problems: tuple[reports.Problem, ...]

    def __str__(self) -> str:
        return "\n".join(_describe(problem) for problem in self.problems)


def _describe(problem: reports.Problem) -> str:
    head = f"{problem.name} on {problem.chip}: {problem.tried} schedules"
    if problem.best is None or (cost := problem.cost(problem.best)) is None:
        return head
    values = " ".join(f"{name}={value}" for name, value in problem.best.schedule.items())
    return f"{head}, best {cost / 1000:.1f} us {'' if problem.timed else '(predicted) '}with {values}"


def search(
    source: _compiler.Module | str | bytes,
    *,
    chip: str | None = None,
    device: str = "auto",
    sizes: Mapping[str, int] | None = None,
    budget: float | str = 60,
    database: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    quiet: bool = False,
) -> SearchResult:
    """Searches for the fastest schedule of each attention and matmul of a module, as attune-tune does (docs/Tuning.md).

    chip      name of the chip, one of `chips()`; that of the device if it is not given
    device    where schedules are verified and timed: "auto" for one that is there and runs code for the chip, "cuda" or "hip";
              "none" ranks what was compiled, by what the assembler and the compiler's model say, and executes the best on the
              CPU; "host" executes all of them there, with all checks on
    sizes     of dynamic dimensions, by name: batch, heads, kv-heads, seq-q, seq-k, m, n, k
    budget    seconds, or as attune-tune takes it: "10m", "200" schedules, "90s,200" for what is spent first; 0 searches
              nothing, and gives the winner that the database has for the device
    database  file to which all that is tried goes, and from which the next search goes on; by default it is in the cache.
              `reports.read_database` reads it
    jobs      schedules that are compiled at a time; by default as many as there are processors
    quiet     shows no progress; otherwise it is on sys.stderr, one line that is rewritten in a terminal

    Contents of the module's arguments are made up. CompileError for a module that cannot be, TypeError and ValueError for
    arguments; RuntimeError where the search fails, with its reason, as where there is no such device.
    """
    module = source if isinstance(source, _compiler.Module) else _compiler.parse(source)
    if device not in _DEVICES:
        raise ValueError(f"expects device to be one of {', '.join(_DEVICES)}, but got '{device}'")
    if chip is not None:
        _devices.check_chip(chip, "chip")
    for name, size in (sizes or {}).items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ValueError(f"expects size {name} to be a number of at least 0, but got {size!r}")
    spent = "0" if budget == 0 and not isinstance(budget, bool) else _tune.read_budget(budget)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attune-")))
        kept = stack.enter_context(_tune.open_database()) if database is None else os.fspath(database)
        (folder / "module.mlir").write_bytes(module.bytecode())
        options = {"chip": chip, "device": device, "budget": spent, "db": kept, "json": folder / "report.json", "jobs": jobs}
        options["size"] = ",".join(f"{name}={size}" for name, size in (sizes or {}).items()) or None
        command = [_tune.find_program(), str(folder / "module.mlir"), "-o", str(folder / "found.mlir")]
        _tune.run(command + [f"--{name}={value}" for name, value in options.items() if value is not None], quiet)
        found = _compiler.parse((folder / "found.mlir").read_bytes())
        return SearchResult(found, tuple(reports.read_report(str(folder / "report.json"))))
