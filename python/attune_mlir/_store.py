# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was compiled, on disk: one file for each result, shared by any number of processes.

A file is written beside its place, synchronized and renamed, so that it is there as a whole or not at all, and
holds a hash of its content and its own key, so that a damaged or foreign one is found and made again. No lock is
taken: of two processes that compile the same, the last one's file stays. A folder that cannot be read or written
costs time and nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _native

_MAGIC = "attune-cache 1"
_SUFFIX = ".attune"
_TEMPORARY = ".writing-"
#: Of databases of searches, which SQLite keeps whole, each with files of its own beside it.
SEARCH_PREFIX = "search-"
#: How old, in seconds, what a killed process left has to be before it is removed.
_STALE_SECONDS = 3600
_DEFAULT_MAX_BYTES = 2 << 30


@dataclasses.dataclass
class Counts:
    """Of this process."""

    hits: int = 0
    misses: int = 0


counts = Counts()


def get_folder() -> pathlib.Path:
    """$ATTUNE_CACHE_DIR, else `attune` in $XDG_CACHE_HOME or ~/.cache."""
    if folder := os.environ.get("ATTUNE_CACHE_DIR"):
        return pathlib.Path(folder)
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return pathlib.Path(folder) / "attune"
    return pathlib.Path(os.path.expanduser("~")) / ".cache" / "attune"


def get_max_bytes() -> int:
    """$ATTUNE_CACHE_MAX_BYTES, or 2 GiB."""
    text = os.environ.get("ATTUNE_CACHE_MAX_BYTES")
    if text is None:
        return _DEFAULT_MAX_BYTES
    if not text.isdecimal():
        raise ValueError(f"expects ATTUNE_CACHE_MAX_BYTES to be a number of bytes, but got '{text}'")
    return int(text)


def make_key(*, module: bytes, **options: object) -> str:
    """Everything that the result depends on, hashed: module, options, and the build of the compiler."""
    whole = {"module": hashlib.sha256(module).hexdigest(), "version": _native.version(), "build": _native.build_id(), **options}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def hash_file(path: str) -> str:
    """Of the content; empty for what cannot be read, which the compiler then says."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def get_or_make(key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The stored result of a key, or that of `make`, which is then stored."""
    path = get_folder() / (key + _SUFFIX)
    stored = _read(path, key)
    if stored is not None:
        counts.hits += 1
        return stored
    counts.misses += 1
    result = make()
    with contextlib.suppress(OSError):
        _write(path, key, result)
        _prune(get_max_bytes())
    return result


def get(key: str) -> dict[str, Any] | None:
    """The stored value of a key, which is counted neither as a hit nor as a miss."""
    return _read(get_folder() / (key + _SUFFIX), key)


def put(key: str, value: dict[str, Any]) -> None:
    """Stores a value in place of an older one. OSError where the folder cannot be written."""
    _write(get_folder() / (key + _SUFFIX), key, value)


def _encode(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"expects what JSON has, or bytes, but got {type(value).__name__}")


def _decode(value: dict[str, Any]) -> object:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value


def _read(path: pathlib.Path, key: str) -> dict[str, Any] | None:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if head.decode() != f"{_MAGIC} {hashlib.sha256(body).hexdigest()}":
            return None
        entry = json.loads(body, object_hook=_decode)
        result: dict[str, Any] | None = entry["result"] if entry["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # for what was not used longest goes first
    return result


def _write(path: pathlib.Path, key: str, result: dict[str, Any]) -> None:
    body = json.dumps({"key": key, "result": result}, default=_encode).encode()
    head = f"{_MAGIC} {hashlib.sha256(body).hexdigest()}\n".encode()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head + body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def list_entries() -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """The files of the store, and what killed processes left."""
    with contextlib.suppress(OSError), os.scandir(get_folder()) as files:
        for file in files:
            if file.name.endswith(_SUFFIX) or file.name.startswith(_TEMPORARY):
                with contextlib.suppress(OSError):  # another process removed it
                    yield file, file.stat(follow_symlinks=False)


def _prune(max_bytes: int) -> None:
    """Removes what was used longest ago until the rest is below the bound."""
    entries = []
    for file, status in list_entries():
        if not file.name.startswith(_TEMPORARY):
            entries.append((status.st_mtime, status.st_size, file.path))
        elif status.st_mtime < time.time() - _STALE_SECONDS:
            remove(file.path)
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= max_bytes:
            return
        remove(path)
        total -= size


def remove(path: str) -> None:
    """Removes a file, if it is still there and may be removed."""
    with contextlib.suppress(OSError):
        os.unlink(path)
