# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which schedule a kernel is compiled with.

A kernel takes all lengths and batches, but which schedule is fast depends on them. So they are counted in buckets, of
which each has the schedule that is right for its largest: the one that a search found, if there was one, or the compiler's
choice.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from . import _compiler, _store
from ._native import round_length

#: No choice depends on more batches than fill every chip.
_MOST_BATCHES = 1024


def _round_up(size: int) -> int:
    """To a power of two."""
    return 1 << max(size - 1, 0).bit_length()


#: Queries that sequences have in the mean where prompts among them take longer than what single queries wait for. By what an H200 was
#: faster with: 63 sequences of one query and one of 512, but not 200 and one of 128.
_PROMPTS = 8


def count_queries(rows: int, longest: int, sequences: int) -> int:
    """Queries of all of some packed sequences, for a schedule that is right for most of their work.

    There are `rows` of them, and at most `longest` in one sequence. Where most are those of prompts, all sequences are taken for such,
    with as many queries as the sequence of a query has in the mean, if some sequences have the most and others one.
    """
    longest = min(longest, rows)
    rows = min(rows, longest * sequences)
    if rows < _PROMPTS * sequences or longest < 2:
        return rows
    prompts = (rows - sequences) / (longest - 1)
    return round((prompts * longest**2 + sequences - prompts) / rows * sequences)


@dataclasses.dataclass(frozen=True)
class Bucket:
    """Numbers of queries and keys, and of batches, up to which calls share a schedule: powers of two."""

    seq_q: int
    seq_k: int
    batch: int

    @staticmethod
    def get(seq_q: int, seq_k: int, batch: int, packed: tuple[bool, bool] = (False, False)) -> Bucket:
        """The bucket of two lengths in so many batches, or where these are packed, of all their rows: the compiler divides."""
        of_q, of_k = (_round_up if of_all else round_length for of_all in packed)
        return Bucket(of_q(seq_q), of_k(seq_k), min(_round_up(batch), _MOST_BATCHES))

    @property
    def sizes(self) -> list[tuple[str, int]]:
        """As the compiler calls them."""
        return [("batch", self.batch), ("seq-q", self.seq_q), ("seq-k", self.seq_k)]


@dataclasses.dataclass(frozen=True)
class Scheduled:
    """A module with its schedule."""

    module: _compiler.Module
    #: What a search that chose it found, as `save_winner` was given it; None where the compiler chose.
    winner: dict[str, Any] | None


def _make_key(module: _compiler.Module, bucket: Bucket, chip: str) -> str:
    return _store.make_key(module=module.bytecode(), chip=chip, winner=dataclasses.astuple(bucket))


#: What a cache that cannot be written would have, by its folder and key.
_unsaved: dict[tuple[pathlib.Path, str], dict[str, Any]] = {}


def save_winner(module: _compiler.Module, bucket: Bucket, chip: str, winner: dict[str, Any]) -> None:
    """Keeps what a search found, for this process and later ones. `winner` has `schedule`, values by tunables."""
    key = _make_key(module, bucket, chip)
    try:
        _store.put(key, winner)
    except OSError:
        _unsaved[_store.get_folder(), key] = winner


def schedule(module: _compiler.Module, bucket: Bucket, chip: str) -> Scheduled:
    """The module with the schedule for a bucket. CompileError where no schedule is legal."""
    target = f"attune-attach-target{{chip={chip}}}"
    key = _make_key(module, bucket, chip)
    if winner := _unsaved.get((_store.get_folder(), key)) or _store.get(key):
        values = " ".join(f"{name}={value}" for name, value in winner["schedule"].items())
        return Scheduled(_compiler.run_pipeline(module, f"builtin.module({target},attune-set-schedule{{{values}}})"), winner)
    sizes = ",".join(f"{name}={size}" for name, size in bucket.sizes)
    return Scheduled(_compiler.run_pipeline(module, f"builtin.module({target},attune-select-schedule{{sizes={sizes}}})"), None)


@dataclasses.dataclass(frozen=True)
class Costs:
    """What the compiler knows of schedules without compiling them."""

    schedule: dict[str, str]
    #: Nanoseconds; None where there is no model.
    predicted_ns: float | None
    #: Legal schedules that differ in one value: its tunable, the value, nanoseconds.
    neighbours: list[tuple[str, str, float]]


def get_costs(module: _compiler.Module, sizes: list[tuple[str, int]]) -> Costs:
    """Of a scheduled module, for sizes that are dynamic in it."""
    (values, predicted, neighbours), said = module._native.schedule_costs(sizes)
    if not values:
        raise _compiler.CompileError(_compiler.parse_diagnostics(said))
    return Costs(dict(values), predicted if predicted >= 0 else None, neighbours if predicted >= 0 else [])
