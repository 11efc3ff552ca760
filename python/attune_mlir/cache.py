# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of compiled kernels.

It is in $ATTUNE_CACHE_DIR, or else in `attune` below $XDG_CACHE_HOME or ~/.cache, and holds up to
$ATTUNE_CACHE_MAX_BYTES (2 GiB). Kernels are stored under everything that they depend on, the build of the compiler
included, so that nothing in it is ever out of date.
"""

from __future__ import annotations

import dataclasses
import pathlib

from . import _store


@dataclasses.dataclass(frozen=True)
class CacheInfo:
    """What is in the cache."""

    path: pathlib.Path
    #: Results of compilations.
    entries: int
    #: Of all of them, and the bound.
    bytes: int
    max_bytes: int
    #: Lookups of this process that found a result, and that did not.
    hits: int
    misses: int


def path() -> pathlib.Path:
    """The folder, which need not be there yet."""
    return _store.get_folder()


def clear() -> None:
    """Removes all entries, and what searches measured and found. Other processes then compile again; kernels that are
    loaded stay so."""
    for file, _ in list(_store.list_entries()):
        _store.remove(file.path)
    for database in path().glob(f"{_store.SEARCH_PREFIX}*"):
        _store.remove(str(database))


def info() -> CacheInfo:
    """Counts what is there now."""
    sizes = [status.st_size for _, status in _store.list_entries()]
    return CacheInfo(path(), len(sizes), sum(sizes), _store.get_max_bytes(), _store.counts.hits, _store.counts.misses)
