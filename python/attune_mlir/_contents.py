# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What starts, lengths and tables of pages hold, checked on the host by who asks for it: it waits for a GPU.

ValueError says which sequence is wrong, and where.
"""

from __future__ import annotations

from typing import Any


def _check_starts(name: str, starts: list[int], places: int) -> list[int]:
    """How much room each sequence has."""
    if starts[0] != 0:
        raise ValueError(f"expects {name} to begin with 0, but got {starts[0]}")
    for number in range(len(starts) - 1):
        begin, end = starts[number : number + 2]
        if end < begin:
            raise ValueError(f"expects {name} to rise, but got {end} behind {begin}, where sequence {number} ends")
        if end > places:
            raise ValueError(f"expects {name} of at most {places}, but got {end}, where sequence {number} ends")
    return [starts[number + 1] - starts[number] for number in range(len(starts) - 1)]


def _check_lengths(name: str, lengths: list[int], rooms: list[int]) -> None:
    for number, (length, room) in enumerate(zip(lengths, rooms, strict=True)):
        if not 0 <= length <= room:
            raise ValueError(f"expects {name} from 0 to {room} for sequence {number}, but got {length}")


def _check_pages(name: str, table: list[list[int]], lengths: list[int], page_size: int, pages: int) -> None:
    """Of those that are looked at."""
    for number, (row, length) in enumerate(zip(table, lengths, strict=True)):
        for entry, page in enumerate(row[: -(-length // page_size)]):
            if not 0 <= page < pages:
                raise ValueError(
                    f"expects numbers of pages from 0 to {pages - 1} in {name}, but got {page} as entry {entry} of sequence {number}"
                )


def check(integers: dict[str, tuple[str, Any]], count: int, queries: int, key_shape: list[int]) -> None:
    """The operands of clauses, of so many sequences, as `_serving.compute` has them, and how many queries or keys there is room for."""

    def read(clause: str) -> tuple[str, Any]:
        name, array = integers[clause]
        return name, None if array is None else array.tolist()

    pools, keys = key_shape[:2]
    table_name, table = read("pages")
    rooms = {"query": [queries] * count, "key": [keys * (len(table[0]) if table else 1)] * count}
    for side, places in (("query", queries), ("key", keys)):
        name, starts = read(f"{side}_starts")
        if starts is not None:
            rooms[side] = _check_starts(name, starts, places)
        name, lengths = read(f"{side}_lengths")
        if lengths is not None:
            _check_lengths(name, lengths, rooms[side])
            rooms[side] = lengths
    if table is not None:
        _check_pages(table_name, table, rooms["key"], keys, pools)
