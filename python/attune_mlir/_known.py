# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that were made before, with tensors that differ in nothing but contents and addresses.

They need no checks, no module as text, and no search for a kernel.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from . import _frameworks, _native, _schedules

#: Of kinds of calls. Below are those of attention itself and of its gradients.
kind_numbers = itertools.count(1 << 8)
_kinds: dict[Hashable, int] = {}


def may_repeat() -> bool:
    """Whether a call is made by PyTorch's program, not read by its compiler."""
    torch = sys.modules.get("torch")
    return torch is not None and not torch.compiler.is_dynamo_compiling()


def _make_key(key: Hashable, lengths: tuple[int | None, ...]) -> Hashable:
    return (key, *(None if length is None else _schedules.round_length(length) for length in lengths)) if lengths else key


def number(key: Hashable, lengths: tuple[int | None, ...] = ()) -> int:
    """That of a kind of calls which `key` stands for, for lengths of their buckets."""
    name = _make_key(key, lengths)
    found = _kinds.get(name)
    return _kinds.setdefault(name, next(kind_numbers)) if found is None else found


def repeat(key: Hashable, options: tuple[Any, ...], inputs: Iterable[Any], lengths: tuple[int | None, ...] = ()) -> Any:
    """The results, one or a tuple; None of a call that is not known, or that PyTorch records, casts, traces, transforms or differentiates.

    `options` are those of `_native.repeat` behind the kind, which `key` stands for: all else that the choice of a kernel depends on
    besides tensors, of few values; of `lengths` the buckets count. `inputs` are None where they are not given.
    """
    # Numbers of other kinds are read, or refused, where calls are checked.
    if not may_repeat() or not all(length is None or type(length) is int for length in lengths):
        return None
    kind = _kinds.get(_make_key(key, lengths))
    return None if kind is None else _native.repeat(kind, *options, *inputs)


class Attempt:
    """A call that `repeat` did not know, with what it was given; `inputs` are by the names of the kernel's arguments."""

    def __init__(self, key: Hashable, options: tuple[Any, ...], inputs: dict[str, Any], lengths: tuple[int | None, ...] = ()) -> None:
        self._key, self._lengths, self._options, self._inputs = key, lengths, options, inputs

    def learn(
        self, results: Sequence[str], places: dict[str, int], arguments: list[_native.Tensor], kernel: _native.Kernel, queue: int
    ) -> None:
        """Knows the call from now on, if the kernel was given what the caller has, and no copies.

        `results` are names of what the kernel writes, `places` where its arguments are by their names.
        """
        given = {name: array for name, array in self._inputs.items() if array is not None}
        written = [places[name] for name in results]
        if (call := getattr(next(iter(given.values())), "call", None)) is not None:  # of XLA's
            read = [places.get(name, -1) for name in given]
            if min(read) >= 0:
                call.learn(list(given.values()), read, written, arguments, kernel, queue)
            return
        for name, array in given.items():
            if not _frameworks.is_torch(array) or name not in places or arguments[places[name]].address != array.data_ptr():
                return
        kind = number(self._key, self._lengths)
        passed = [places[name] for name in given]
        _native.add_known((kind, *self._options), list(self._inputs.values()), passed, written, arguments, kernel, queue)
