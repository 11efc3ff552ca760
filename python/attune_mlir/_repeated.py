# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with functions for scores and masks that were made before, with tensors that differ in nothing but contents and addresses.

They need no checks, no tables or regions as text, and no search for a kernel.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from . import _devices, _gradients, _known, _native, _trace

if TYPE_CHECKING:
    from . import _flex

#: Names of a BlockMask's tables in the order of the op.
TABLES = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")
#: Kinds of calls that are kept; the oldest go first, and their numbers never come back.
_MAX_KEPT = 256


@dataclasses.dataclass(frozen=True)
class _Kind:
    """Calls that are the same but for their tensors, and options that the key of each call has."""

    number: int
    #: Which of the tensors that functions reach the kernel reads, in its order.
    reads: tuple[int, ...]


_kinds: dict[Hashable, _Kind] = {}
_lock = threading.Lock()


def read_tables(blocks: Any) -> list[torch.Tensor]:
    """The tables that a BlockMask has, in the order of the op."""
    tables: list[torch.Tensor] = []
    for name in TABLES:
        table = getattr(blocks, name)
        if table is None:
            break
        tables.append(table)
    return tables


class Attempt:
    """A call that may have been made before.

    One for gradients says which in `gradients`, beside those of `learned`, slopes and tensors that functions read, and has what the
    forward pass left behind query, key and value in `arrays`.
    """

    def __init__(
        self,
        arrays: Sequence[torch.Tensor],
        form: _flex.Form,
        sinks: torch.Tensor | None,
        return_lse: bool,
        chip: str | None,
        gradients: Hashable = None,
        learned: Sequence[torch.Tensor] = (),
    ) -> None:
        device, blocks = arrays[0].device, form.blocks
        self.identity = form.traced.identify(device) if form.traced else _trace.identify(form.score_mod, form.mask_mod, device)
        self.tables = [] if blocks is None else read_tables(blocks)
        sizes = None if blocks is None else (*blocks.seq_lengths, *blocks.BLOCK_SIZE)
        wanted: tuple[int, ...] = ()
        if learned:
            reached = [form.alibi_slopes, *self.identity.tensors]
            wanted = tuple(number for x in learned for number, one in enumerate(reached) if one is x)
        probability, random = form.dropout or (0, None)
        self._key = None if self.identity.key is None else (self.identity.key, sizes, gradients, wanted)
        self._options = (form.causal, form.window, form.softcap, form.scale, return_lse, form.layout, chip, probability, None, None)
        # In the order of a Call's.
        self._inputs = [*arrays, sinks, *self.tables, form.alibi_slopes, random]

    def _find_inputs(self, kind: _Kind) -> list[torch.Tensor | None]:
        captures = [self.identity.tensors[number] for number in kind.reads]
        return self._inputs + [x.view(torch.uint8) if x.dtype is torch.bool else x for x in captures]

    def launch(self) -> Any:
        """The results, one or a tuple; None of a call that is not known, or that PyTorch records, casts, traces or transforms."""
        kind = None if self._key is None else _kinds.get(self._key)
        if kind is None:
            return None
        return _native.repeat(kind.number, *self._options, *self._find_inputs(kind))

    def launch_recorded(self) -> Any:
        """The same where PyTorch records the call, and where it asks for its gradients."""
        kind = None if self._key is None else _kinds.get(self._key)
        if kind is None:
            return None
        return _native.launch_known(kind.number, *self._options, *self._find_inputs(kind))

    def learn(
        self,
        call: _flex.Call,
        results: list[int],
        arguments: list[_native.Tensor],
        kernel: _native.Kernel,
        queue: int,
        saved: Sequence[str] = (),
    ) -> None:
        """Knows the call from now on, if the kernel was given what the caller has, and no copies.

        `arguments` are all, in the kernel's order, and `results` positions of what it writes. `saved` are the names of what comes
        behind query, key and value.
        """
        if self._key is None or any(given is not table for given, table in zip(call.tables, self.tables, strict=True)):
            return
        places = _devices.find_places(kernel)
        captures = [captured for name, captured in call.captured.items() if name in places]
        own = [id(x) for x in self.identity.tensors]
        if any(id(tensor) not in own or tensor.data_ptr() != given.data_ptr() for tensor, given in captures):
            return
        reads = tuple(own.index(id(tensor)) for tensor, _ in captures)
        with _lock:
            kind = _kinds.get(self._key)
            if kind is None or kind.reads != reads:
                while len(_kinds) >= _MAX_KEPT:
                    _kinds.pop(next(iter(_kinds)))
                kind = _kinds[self._key] = _Kind(next(_known.kind_numbers), reads)
        inputs = self._find_inputs(kind)
        names = [*_gradients.PARTS, *saved, *(name for name in call.inputs if name not in _gradients.PARTS)]
        passed = [places[name] for name in names if name in places]
        if len(passed) == sum(x is not None for x in inputs):
            _native.add_known((kind.number, *self._options), inputs, passed, results, arguments, kernel, queue)
