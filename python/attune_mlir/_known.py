# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that were made before, with tensors that differ in nothing but contents and addresses.

They need no checks, no module as text, and no search for a kernel.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from . import _frameworks, _native

#: Of kinds of calls. Below are those of attention itself and of its gradients.
kind_numbers = itertools.count(1 << 8)


class _Kinds(dict[Hashable, int]):
    """Numbers of kinds of calls, by what stands for these; there is one for all that are asked for."""

    def __missing__(self, key: Hashable) -> int:
        return self.setdefault(key, next(kind_numbers))


kinds = _Kinds()
#: Options of `_native.repeat` behind a layout and a chip, of calls that have neither dropout nor packed sequences.
PLAIN = (0, None, None)


def may_repeat() -> bool:
    """Whether a call is made by PyTorch's program, not read by its compiler."""
    torch = sys.modules.get("torch")
    return torch is not None and not torch.compiler.is_dynamo_compiling()


def repeat(key: Hashable, options: tuple[Any, ...], inputs: Iterable[Any]) -> Any:
    """The results, one or a tuple; None of a call that is not known, or that PyTorch records, casts, traces, transforms or differentiates.

    `options` are those of `_native.repeat` behind the kind, which `key` stands for: all else that the choice of a kernel depends on
    besides tensors, of few values. `inputs` are None where they are not given.
    """
    return _native.repeat(kinds[key], *options, *inputs) if may_repeat() else None


class Attempt:
    """A call that `repeat` did not know, with what it was given; `inputs` are by the names of the kernel's arguments.

    Results of one that `is_packed` have a dimension less than the kernel's, of the batch.
    """

    def __init__(self, key: Hashable, options: tuple[Any, ...], inputs: dict[str, Any], *, is_packed: bool = False) -> None:
        self._key, self._options, self._inputs, self._is_packed = key, options, inputs, is_packed

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
        passed = [places[name] for name in given]
        options = (kinds[self._key], *self._options)
        _native.add_known(options, list(self._inputs.values()), passed, written, arguments, kernel, queue, self._is_packed)
