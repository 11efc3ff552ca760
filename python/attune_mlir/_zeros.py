# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that kernels find zero and leave zero: where workgroups count each other.

Launches that may run at the same time count in memory of their own. Those of one stream follow each other, and so do those that one
capture has recorded from one stream, whenever its graph is launched. So nothing is cleared between launches, nor by graphs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

#: What is allocated at a time. A capture cannot wait until more is there, and takes what calls before have left.
_SLAB_BYTES = 1 << 20
#: Of each stream at least, which starts at a multiple.
_PART_BYTES = 1 << 10


class Zeros:
    """That of one device. `allocate` gives the address of so many bytes that are zero from then on; they are never given back."""

    def __init__(self, allocate: Callable[[int], int]) -> None:
        self._allocate = allocate
        self._lock = threading.Lock()
        self._next = self._end = 0
        #: Where the part of a stream is, outside of graphs (0) or in one of this number, and how large it is.
        self._parts: dict[tuple[int, int], tuple[int, int]] = {}

    def take(self, num_bytes: int, stream: int, capture: int) -> int | None:
        """Where launches of a stream have so many bytes, in a capture if that is not 0; None where one asks for more than is left."""
        with self._lock:
            address, size = self._parts.get((stream, capture), (0, 0))
            if size >= num_bytes:
                return address
            size = max(_PART_BYTES, 1 << (num_bytes - 1).bit_length())
            if self._end - self._next < size:
                if capture:
                    return None
                slab = max(size + _PART_BYTES, _SLAB_BYTES)
                begin = self._allocate(slab)
                self._next, self._end = -(-begin // _PART_BYTES) * _PART_BYTES, begin + slab
            address, self._next = self._next, self._next + size
            self._parts[stream, capture] = address, size
            return address
