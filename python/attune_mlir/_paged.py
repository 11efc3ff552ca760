# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches of keys and values in pages, for PyTorch."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, TypeAlias

from . import _operands
from ._append import POOLS, append, check_packed_pairs, takes

if typing.TYPE_CHECKING:
    import torch


_INTEGERS = ("int8", "uint8")
#: Scales and zero points.
_Numbers: TypeAlias = "tuple[torch.Tensor | None, torch.Tensor | None]"


class PagedCache:
    """Keys and values of sequences that come, grow and go, in pages of two pools.

        cache = attune_mlir.PagedCache(1000, 16, kv_heads=8, head_dim=128, sequences=64, longest=4096, device="cuda")
        cache.append([0, 3], k, v, [7, 1])                  # 7 keys of sequence 0, then one of sequence 3
        out = attune_mlir.decode(q, cache.keys, cache.values, cache.lengths, block_table=cache.block_table)
        cache.release(0)

    keys, values  [pages, page_size, kv_heads, head_dim], or half of head_dim where bytes hold two columns
    k_descale     of a cache of 8 bits or less, float32: what keys and values are to be multiplied by, for `decode`; otherwise None.
    v_descale     [pages, page_size, kv_heads], which `append` chooses so that the largest element of each row is the largest there is;
                  or what the cache was given
    k_zero        of a cache of integers with zero points, float32: which numbers stand for 0, one for each of k_descale and v_descale, for
    v_zero        `decode`; otherwise None
    block_table   [sequences, pages of the longest], int32: which pages each sequence has
    lengths       [sequences], int32: how many keys each sequence has

    The tensors stay where they are, so that a graph which reads them may be replayed. Which pages are free is known on
    the host; nothing waits for a GPU. What is in free pages, and behind the last key of a page, was left there by
    others, and is not read.
    """

    def __init__(
        self,
        pages: int,
        page_size: int,
        *,
        kv_heads: int,
        head_dim: int,
        head_dim_v: int | None = None,
        sequences: int,
        longest: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        k_descale: torch.Tensor | None = None,
        v_descale: torch.Tensor | None = None,
        zeros: bool = False,
        k_zero: torch.Tensor | None = None,
        v_zero: torch.Tensor | None = None,
        cos: torch.Tensor | None = None,
        sin: torch.Tensor | None = None,
        interleaved: bool = False,
    ) -> None:
        """`sequences` of at most `longest` keys each, which are all empty.

        `dtype` is bfloat16 if not given, and `device` PyTorch's default.
        With torch.uint8 elements have 4 bits, from -7 to 7, two in a byte, as `decode` takes them; head_dim is a multiple of 32.
        Of a `dtype` of 8 bits or less, `k_descale` and `v_descale` are scales that are known before: float32, of one element or
        [1, kv_heads].
        With `zeros`, integers have zero points: of each row, chosen beside its scale for its least and its largest element, or those of
        `k_zero` and `v_zero`, of the shape of the scales that are given.
        With `cos` and `sin`, float32 [longest, pairs], `append` rotates keys by their place in the sequence, as `attune_mlir.append` does.
        """
        import torch

        dtype = dtype or torch.bfloat16
        if str(dtype).removeprefix("torch.") not in POOLS:
            raise TypeError(f"expects a dtype of {', '.join(POOLS)}, but got {dtype}")
        head_dim_v = head_dim if head_dim_v is None else head_dim_v
        sizes = {
            "pages": pages,
            "page_size": page_size,
            "kv_heads": kv_heads,
            "head_dim": head_dim,
            "head_dim_v": head_dim_v,
            "sequences": sequences,
            "longest": longest,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"expects {name} to be at least 1, but got {size}")
        self._longest = longest
        self._dims = head_dim, head_dim_v
        for name, columns in zip(("head_dim", "head_dim_v"), self._dims, strict=True):
            if dtype == torch.uint8:
                _operands.check_packed(columns, name)
        of_key, of_value = (columns // 2 if dtype == torch.uint8 else columns for columns in self._dims)
        self.keys = torch.zeros((pages, page_size, kv_heads, of_key), dtype=dtype, device=device)
        self.values = torch.zeros((pages, page_size, kv_heads, of_value), dtype=dtype, device=device)
        self.block_table = torch.zeros((sequences, -(-longest // page_size)), dtype=torch.int32, device=device)
        self.lengths = torch.zeros(sequences, dtype=torch.int32, device=device)
        self.k_descale = self._make_scales("k_descale", k_descale)
        self.v_descale = self._make_scales("v_descale", v_descale)
        self._is_calibrated = k_descale is not None, v_descale is not None
        self.k_zero = self._make_zeros("k", k_zero, zeros, k_descale)
        self.v_zero = self._make_zeros("v", v_zero, zeros, v_descale)
        self._check_tables(cos, sin, longest)
        self._tables = None if cos is None or sin is None else (cos.detach(), sin.detach())
        self._interleaved = interleaved
        self._free = list(range(pages))[::-1]
        self._held: list[list[int]] = [[] for _ in range(sequences)]
        self._counts = [0] * sequences

    @property
    def page_size(self) -> int:
        """Keys of a page."""
        return int(self.keys.shape[1])

    @property
    def free_pages(self) -> int:
        """How many pages no sequence has."""
        return len(self._free)

    def get_length(self, sequence: int) -> int:
        """How many keys a sequence has, without asking the device."""
        return self._counts[self._check(sequence)]

    def append(self, sequences: Sequence[int], k: torch.Tensor, v: torch.Tensor, counts: Sequence[int] | None = None) -> None:
        """Puts new keys and values behind those that sequences have; none, where there are not pages enough.

        k, v    [tokens, kv_heads, head_dim]: those of each sequence, one sequence behind the other
        counts  how many each sequence gets; one if not given

        ValueError for sequences, shapes and numbers that cannot be; MemoryError where too few pages are free.
        """
        sequences, counts = self._check_counts(sequences, counts)
        self._check_rows(k, v, sum(counts))
        self.write(k, v, *self.reserve(sequences, counts))

    def reserve(self, sequences: Sequence[int], counts: Sequence[int] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """What `append` does on the host: gives sequences pages for new keys, which count as theirs, and are to be written by `write`.

        Two tensors [tokens] of int64 where the pools are: the slots of the tokens, page * page_size + row, and their places in their
        sequences. So a compiled or captured step writes, and the host reserves before each. Errors are those of `append`.
        """
        sequences, counts = self._check_counts(sequences, counts)
        self._check_room(sequences, counts)
        slots: list[int] = []
        positions: list[int] = []
        for sequence, count in zip(sequences, counts, strict=True):
            first, held = self._counts[sequence], self._held[sequence]
            taken = [self._free.pop() for _ in range(self._count_pages(first + count) - len(held))]
            if taken:
                begin = len(held)
                held += taken
                self.block_table[sequence, begin : len(held)] = self._move(taken)
            places = range(first, first + count)
            positions += places
            slots += [held[place // self.page_size] * self.page_size + place % self.page_size for place in places]
            self._counts[sequence] += count
        self._tell_lengths(sequences)
        return self._move(slots), self._move(positions)

    def write(self, k: torch.Tensor, v: torch.Tensor, slots: torch.Tensor, positions: torch.Tensor) -> None:
        """What `append` does where the pools are: puts rows where `reserve` said, with nothing but operations of PyTorch.

        k, v              [tokens, kv_heads, head_dim]
        slots, positions  [tokens], of `reserve`

        ValueError for shapes that cannot be.
        """
        self._check_rows(k, v, slots.shape[0])
        rotary = None if self._tables is None else (*self._tables, positions)
        of_keys, of_values = (self.k_descale, self.k_zero), (self.v_descale, self.v_zero)
        if self._uses_kernel(k, self.keys) and self._uses_kernel(v, self.values):
            self._append(slots, (k, v), (of_keys, of_values), rotary)
            return
        self._put(slots, k, self.keys, of_keys, self._is_calibrated[0], rotary)
        self._put(slots, v, self.values, of_values, self._is_calibrated[1], None)

    def _append(
        self, slots: torch.Tensor, rows: tuple[torch.Tensor, torch.Tensor], numbers: tuple[_Numbers, _Numbers], rotary: Any
    ) -> None:
        """Both by one kernel."""
        named: dict[str, Any] = {"interleaved": self._interleaved and rotary is not None}
        for prefix, (scales, zeros), is_given in zip(("", "value_"), numbers, self._is_calibrated, strict=True):
            row = "" if is_given else "row_"
            named |= {f"{prefix}{row}scales": scales, f"{prefix}{row}zeros": zeros}
        if rotary is not None:
            named |= dict(zip(("cos", "sin", "positions"), rotary, strict=True))
        keys, values = map(_pack, rows)
        append(keys, self.keys, slots, values=values, value_pool=self.values, **named)

    def release(self, sequence: int) -> None:
        """Gives the pages of a sequence back, which then has no keys."""
        held = self._held[self._check(sequence)]
        self._free += held[::-1]
        held.clear()
        self._counts[sequence] = 0
        self._tell_lengths([sequence])

    def _make_scales(self, name: str, given: torch.Tensor | None) -> torch.Tensor | None:
        import torch

        pages, page_size, kv_heads, _ = self.keys.shape
        if self.keys.dtype.itemsize > 1:
            if given is not None:
                raise ValueError(f"expects {name} for a cache of 8 bits or less alone, but got one for {self.keys.dtype}")
            return None
        if given is None:
            return torch.ones((pages, page_size, kv_heads), dtype=torch.float32, device=self.keys.device)
        if given.dtype != torch.float32:
            raise TypeError(f"expects {name} of torch.float32, but got {given.dtype}")
        if given.device != self.keys.device:
            raise ValueError(f"expects {name} on {self.keys.device}, but got {given.device}")
        if given.numel() != 1 and tuple(given.shape) != (1, kv_heads):
            raise ValueError(f"expects {name} to have one element, or shape (1, {kv_heads}), but got {tuple(given.shape)}")
        return given

    def _make_zeros(self, name: str, given: torch.Tensor | None, has_zeros: bool, of_scales: torch.Tensor | None) -> torch.Tensor | None:
        """Of each row, or those that are given beside scales that are."""
        import torch

        dtype = str(self.keys.dtype).removeprefix("torch.")
        if (has_zeros or given is not None) and dtype not in _INTEGERS:
            raise ValueError(f"expects {'zeros' if given is None else f'{name}_zero'} for a cache of integers alone, but got {dtype}")
        if not has_zeros:
            if given is not None:
                raise ValueError(f"expects no {name}_zero without zeros, but got one")
            return None
        if (given is None) != (of_scales is None):
            present, absent = (f"{name}_descale", f"{name}_zero") if given is None else (f"{name}_zero", f"{name}_descale")
            raise ValueError(f"expects {absent} beside {present} of a cache with zeros, but got none")
        if given is None or of_scales is None:
            return torch.zeros((*self.keys.shape[:3],), dtype=torch.float32, device=self.keys.device)
        if given.dtype != torch.float32 or given.device != self.keys.device or given.shape != of_scales.shape:
            raise ValueError(
                f"expects {name}_zero like {name}_descale, torch.float32 of shape {tuple(of_scales.shape)} on {self.keys.device}, "
                f"but got {given.dtype} of shape {tuple(given.shape)} on {given.device}"
            )
        return given

    def _check_tables(self, cos: torch.Tensor | None, sin: torch.Tensor | None, longest: int) -> None:
        import torch

        if cos is None and sin is None:
            return
        for name, table in (("cos", cos), ("sin", sin)):
            if table is None:
                raise ValueError(f"expects cos and sin, but got no {name}")
            found, where = table.dtype, table.device
            if found != torch.float32 or where != self.keys.device or not table.is_contiguous():
                raise ValueError(f"expects {name} of torch.float32 on {self.keys.device} without gaps, but got {found} on {where}")
        assert cos is not None and sin is not None
        most = self._dims[0] // 2
        if cos.dim() != 2 or cos.shape[0] < longest or not 1 <= cos.shape[1] <= most or cos.shape != sin.shape:
            raise ValueError(
                f"expects cos and sin of one shape, with at least {longest} rows and from 1 to {most} columns, "
                f"but got {tuple(cos.shape)} and {tuple(sin.shape)}"
            )
        if self.keys.dtype == torch.uint8:
            check_packed_pairs(int(cos.shape[1]))

    @staticmethod
    def _uses_kernel(rows: torch.Tensor, pool: torch.Tensor) -> bool:
        """Whether rows are put into a pool by one kernel. The executor of the CPU would be slower there than PyTorch."""
        return pool.is_cuda and takes(*(str(tensor.dtype).removeprefix("torch.") for tensor in (rows, pool)))

    def _put(
        self,
        where: torch.Tensor,
        rows: torch.Tensor,
        pool: torch.Tensor,
        numbers: _Numbers,
        is_given: bool,
        rotary: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None,
    ) -> None:
        """By PyTorch's operations; `numbers` are scales and zero points."""
        import torch

        scales, zeros = numbers
        if rotary is not None:
            rows = _rotate(rows, *rotary, interleaved=self._interleaved)
        flat = pool.flatten(0, 1)
        if scales is None:
            flat[where] = rows.to(pool.dtype)
            return
        bounds = _find_bounds(pool.dtype, zeros is not None)
        rows = rows.float()
        if is_given:
            scale, zero = (None if given is None else given.reshape(1, -1) for given in numbers)
        else:
            scale, zero = _choose_numbers(rows, bounds, zeros is not None)
            for made, where_to in ((scale, scales), (zero, zeros)):
                if made is not None and where_to is not None:
                    where_to.flatten(0, 1)[where] = made
        # PyTorch makes NaN of what is too large, and has no such assignment for 8 bits.
        quotients = rows * (1 / scale)[..., None] if scale is not None else rows
        quotients = (quotients if zero is None else quotients + zero[..., None]).clamp(*bounds)
        is_packed = pool.dtype == torch.uint8
        rounded = quotients if pool.dtype.is_floating_point else quotients.round().nan_to_num(0)
        small = rounded.to(torch.int8 if is_packed else pool.dtype)
        if is_packed:
            lower, upper = small.chunk(2, dim=-1)
            small = (lower & 15) | (upper << 4)
        flat.view(torch.uint8)[where] = small.view(torch.uint8)

    def _check(self, sequence: int) -> int:
        if not 0 <= sequence < len(self._counts):
            raise ValueError(f"expects a sequence from 0 to {len(self._counts) - 1}, but got {sequence}")
        return sequence

    def _check_counts(self, given: Sequence[int], given_counts: Sequence[int] | None) -> tuple[list[int], list[int]]:
        """Sequences, and how many keys each gets, as numbers of Python: elements of a tensor are equal to no other as keys."""
        sequences = [int(operator.index(sequence)) for sequence in given]
        counts = [1] * len(sequences) if given_counts is None else [int(operator.index(count)) for count in given_counts]
        for sequence in sequences:
            self._check(sequence)
        if len(set(sequences)) != len(sequences) or len(counts) != len(sequences) or min(counts, default=0) < 0:
            raise ValueError(f"expects different sequences and a count of each, but got {sequences} and {counts}")
        return sequences, counts

    def _check_room(self, sequences: Sequence[int], counts: list[int]) -> None:
        wanted = 0
        for sequence, count in zip(sequences, counts, strict=True):
            length = self._counts[sequence] + count
            if length > self._longest:
                raise ValueError(f"expects sequences of at most {self._longest} keys, but got {length} of sequence {sequence}")
            wanted += self._count_pages(length) - len(self._held[sequence])
        if wanted > len(self._free):
            raise MemoryError(f"expects {wanted} free pages, but got {len(self._free)}")

    def _check_rows(self, k: torch.Tensor, v: torch.Tensor, tokens: int) -> None:
        for name, tensor, pool, columns in (("k", k, self.keys, self._dims[0]), ("v", v, self.values, self._dims[1])):
            if tuple(tensor.shape) != (shape := (tokens, pool.shape[2], columns)):
                raise ValueError(f"expects {name} of shape {shape}, but got {tuple(tensor.shape)}")
            if tensor.device != pool.device:
                raise ValueError(f"expects {name} on {pool.device}, but got {tensor.device}")

    def _count_pages(self, length: int) -> int:
        return -(-length // self.page_size)

    def _move(self, numbers: list[int]) -> torch.Tensor:
        """Numbers where the pools are, without waiting."""
        import torch

        tensor = torch.tensor(numbers, dtype=torch.int64, device="cpu")
        if self.keys.is_cuda:
            tensor = tensor.pin_memory()
        return tensor.to(self.keys.device, non_blocking=True)

    def _tell_lengths(self, sequences: Sequence[int]) -> None:
        if len(sequences):
            self.lengths[self._move(list(sequences))] = self._move([self._counts[s] for s in sequences]).to(self.lengths.dtype)


def _find_bounds(dtype: torch.dtype, has_zeros: bool) -> tuple[float, float]:
    """The least and the largest number of a pool; with zero points, integers go to one more below 0."""
    import torch

    if dtype.is_floating_point:
        return -torch.finfo(dtype).max, torch.finfo(dtype).max
    largest = 7.0 if dtype == torch.uint8 else 127.0
    return -largest - has_zeros, largest


def _choose_numbers(rows: torch.Tensor, bounds: tuple[float, float], has_zeros: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Scales, and zero points if there are any, of rows in float32, by what is finite of them."""
    import torch

    least, largest = bounds
    tiny, is_finite = torch.finfo(torch.float32).tiny, rows.abs() < torch.inf
    if not has_zeros:
        own = torch.where(is_finite, rows.abs(), 0.0).amax(dim=-1) / largest
        return torch.where(own > 0, own.clamp(min=tiny), 1.0), None
    low, high = torch.where(is_finite, rows, torch.inf).amin(dim=-1), torch.where(is_finite, rows, -torch.inf).amax(dim=-1)
    steps = largest - least
    scale = torch.where(high > low, (high / steps - low / steps).clamp(min=tiny), 1.0)
    return scale, least - torch.where(high < low, 0.0, low) * (1 / scale)


def _pack(rows: torch.Tensor) -> torch.Tensor:
    """Rows that a kernel reads in pieces of 16 bytes: these, or a copy."""
    import torch

    if torch.compiler.is_compiling():  # where rows have no address yet
        return rows.contiguous()
    step = 16 // rows.dtype.itemsize
    is_aligned = rows.data_ptr() % 16 == 0 and all(stride % step == 0 for stride in rows.stride()[:-1])
    return rows if rows.is_contiguous() or (rows.stride(-1) == 1 and is_aligned) else rows.contiguous()


def _rotate(rows: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """What `append` makes of rows, in float32."""
    import torch

    cos, sin = (table[positions][:, None] for table in (cos, sin))
    pairs = cos.shape[-1]
    turned, rest = rows.float().split((2 * pairs, rows.shape[-1] - 2 * pairs), dim=-1)
    low, high = (turned[..., ::2], turned[..., 1::2]) if interleaved else (turned[..., :pairs], turned[..., pairs:])
    both = low * cos - high * sin, high * cos + low * sin
    turned = torch.stack(both, dim=-1).flatten(-2) if interleaved else torch.cat(both, dim=-1)
    return torch.cat((turned, rest), dim=-1)
