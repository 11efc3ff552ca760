# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lists of blocks say, as a table that kernels of gradients read: they take no lists."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Hashable, Sequence

import torch

from . import _compiler, _devices, _frameworks, _known, _masks, _native, _schedules

#: Threads of a workgroup: two warps, or one where these are wider.
_THREADS = 64
_COUNTS, _TABLE = "memref<?x?x?xi32>", "memref<?x?x?x?xi32>"

#: A workgroup has a row, of which it first says that nothing is listed.
_CLEAR = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %threads = arith.constant {_THREADS} : index
    %none = arith.constant 0 : i32
    %thread = gpu.thread_id x
    %row = gpu.block_id x
    %heads = memref.dim %states, %c1 : {_TABLE}
    %blocks = memref.dim %states, %c2 : {_TABLE}
    %columns = memref.dim %states, %c3 : {_TABLE}
    %block = arith.remui %row, %blocks : index
    %rest = arith.divui %row, %blocks : index
    %head = arith.remui %rest, %heads : index
    %batch = arith.divui %rest, %heads : index
    scf.for %column = %thread to %columns step %threads {{
      memref.store %none, %states[%batch, %head, %block, %column] : {_TABLE}
    }}
"""


def _write_listed(number: int) -> str:
    """What a list says, over what those before it said. A number that is no block's would be written behind the row."""
    return f"""
    gpu.barrier
    %state{number} = arith.constant {number + 1} : i32
    %batches{number} = memref.dim %counts{number}, %c0 : {_COUNTS}
    %heads{number} = memref.dim %counts{number}, %c1 : {_COUNTS}
    %batch{number} = arith.remui %batch, %batches{number} : index
    %head{number} = arith.remui %head, %heads{number} : index
    %count{number} = memref.load %counts{number}[%batch{number}, %head{number}, %block] : {_COUNTS}
    %listed{number} = arith.index_cast %count{number} : i32 to index
    %room{number} = memref.dim %indices{number}, %c3 : {_TABLE}
    %end{number} = arith.minsi %listed{number}, %room{number} : index
    scf.for %entry = %thread to %end{number} step %threads {{
      %index = memref.load %indices{number}[%batch{number}, %head{number}, %block, %entry] : {_TABLE}
      %column = arith.index_cast %index : i32 to index
      %is_block = arith.cmpi ult, %column, %columns : index
      scf.if %is_block {{
        memref.store %state{number}, %states[%batch, %head, %block, %column] : {_TABLE}
      }}
    }}
"""


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for."""

    #: Of partial blocks, or also of full ones. Each may be for all batches or heads.
    num_lists: int

    def make_module(self) -> _compiler.Module:
        """The kernel, which has no schedule."""
        pairs = [((f"counts{number}", _COUNTS), (f"indices{number}", _TABLE)) for number in range(self.num_lists)]
        arguments = [*((*one, "read") for pair in pairs for one in pair), ("states", _TABLE, "write")]
        taken = ", ".join(f"%{name}: {kind}" for name, kind, _ in arguments)
        buffers = ", ".join(f'#launch.buffer<name = "{name}", type = {kind}, access = {access}>' for name, kind, access in arguments)
        grid = " * ".join(f"dim({len(arguments) - 1}, {dim})" for dim in range(3))
        manifest = f"#launch.manifest<arguments = [{buffers}], grid = <{grid}>, block = [{_THREADS}, 1, 1]>"
        body = _CLEAR + "".join(_write_listed(number) for number in range(self.num_lists))
        return _compiler.parse(
            f"gpu.module @block_states {{\n  gpu.func @block_states({taken}) kernel attributes {{\n"
            f"      known_block_size = array<i32: {_THREADS}, 1, 1>, launch.manifest = {manifest}}} {{"
            f"{body}    gpu.return\n  }}\n}}\n"
        )


def make(tables: Sequence[torch.Tensor], columns: int, chip: str | None = None) -> torch.Tensor:
    """What lists say of each block of queries and keys: 0 if it is not listed, 1 if it is a partial one, 2 if it is a full one.

    `tables` are counts and indices [batch or 1, heads or 1, blocks of queries(, blocks of keys)] of partial blocks, and of full ones.
    One kernel makes it, and rows are whole ones of a copy. It is for PyTorch's own tensors, of which it records nothing.
    """
    options = (False, None, None, None, False, "bhsd", chip, *_known.PLAIN)
    kind = "states", columns
    found: torch.Tensor | None = _native.launch_known(_known.kinds[kind], *options, *tables)
    if found is not None:
        return found
    given = [table.to(torch.int32).contiguous() for table in tables]
    sizes = [max(of) for of in zip(*(counts.shape for counts in given[::2]), strict=True)]
    states = given[0].new_empty((*sizes, _masks.count_blocks(columns, 4) * 4))
    if not states.numel():
        return states
    names = [f"{name}{number}" for number in range(len(given) // 2) for name in ("counts", "indices")]
    tensors = [_frameworks.make_tensor(table, name) for table, name in zip(given, names, strict=True)]
    place = _frameworks.get_device(tensors[0], names[0])
    device, kernel = _devices.get_kernel(place, chip, Problem(len(given) // 2), _schedules.Bucket.get(1, 1, 1))
    written = _frameworks.make_tensor(states, "states", writable=True)
    arguments, queue = _devices.run(device, kernel, [*tensors, written], states, None)
    if not device.is_host:
        attempt = _known.Attempt(kind, options, dict(zip(names, tables, strict=True)))
        attempt.learn(["states"], _devices.find_places(kernel), arguments, kernel, queue)
    return states


#: States by backward passes of PyTorch's, where it goes on: with the lists that they were made of, which are told apart by being alive.
_shared: dict[int, dict[Hashable, tuple[Sequence[torch.Tensor], torch.Tensor]]] = {}
_shared_lock = threading.Lock()
#: Passes whose states are kept. One that fails does not say that it ends.
_MAX_PASSES = 8


def _find_shared(number: int) -> dict[Hashable, tuple[Sequence[torch.Tensor], torch.Tensor]]:
    with _shared_lock:
        if number not in _shared:
            while len(_shared) >= _MAX_PASSES:
                _shared.pop(next(iter(_shared)))
            _shared[number] = {}
            torch.autograd.Variable._execution_engine.queue_callback(functools.partial(_forget_shared, number))
        return _shared[number]


def _forget_shared(number: int) -> None:
    with _shared_lock:
        _shared.pop(number, None)


def share(tables: Sequence[torch.Tensor], columns: int, chip: str | None) -> torch.Tensor:
    """`make` of lists that were saved for a backward pass, in it: one table for all calls with the same lists.

    What is saved does not change before the pass has ended, or PyTorch says so where it is unpacked.
    """
    number = -1 if torch.compiler.is_compiling() else torch._C._current_graph_task_id()
    if number < 0:
        return make(tables, columns, chip)
    shared, key = _find_shared(number), (columns, *map(id, tables))
    if tables[0].is_cuda:
        # Other streams do not wait for it, and a graph cannot launch it again.
        key += (torch.cuda.current_stream(tables[0].device).cuda_stream, torch.cuda.is_current_stream_capturing())
    if (found := shared.get(key)) is None:
        found = shared[key] = tables, make(tables, columns, chip)
    return found[1]
