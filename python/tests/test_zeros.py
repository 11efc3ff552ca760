# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that kernels leave zero: who shares it."""

import threading

from attune_mlir._zeros import Zeros


class _Memory:
    def __init__(self):
        self.asked = []

    def __call__(self, num_bytes):
        self.asked.append(num_bytes)
        return len(self.asked) << 32


class _Unaligned(_Memory):
    def __call__(self, num_bytes):
        return super().__call__(num_bytes) + 16


def test_streams_have_their_own():
    memory = _Memory()
    zeros = Zeros(memory)
    first, second = zeros.take(8, 1, 0), zeros.take(8, 2, 0)
    assert abs(first - second) >= 1024
    assert zeros.take(1024, 1, 0) == first and zeros.take(16, 2, 0) == second
    assert memory.asked == [1 << 20]


def test_more_is_elsewhere():
    """What was given before stays, for launches that are known have it."""
    memory = _Memory()
    zeros = Zeros(memory)
    small, large = zeros.take(8, 1, 0), zeros.take(5000, 1, 0)
    assert large >= small + 1024 and zeros.take(8, 1, 0) == large
    huge = zeros.take(3 << 20, 1, 0)
    assert memory.asked == [1 << 20, (4 << 20) + 1024] and huge == 2 << 32
    assert zeros.take(8, 2, 0) == (2 << 32) + (4 << 20)


def test_captures_take_what_is_there():
    memory = _Memory()
    zeros = Zeros(memory)
    assert zeros.take(8, 1, 5) is None and not memory.asked
    outside = zeros.take(8, 1, 0)
    inside, other = zeros.take(8, 1, 5), zeros.take(8, 1, 6)
    assert len({outside, inside, other, zeros.take(8, 2, 5)}) == 4
    assert zeros.take(8, 1, 5) == inside
    assert zeros.take(2 << 20, 1, 5) is None and len(memory.asked) == 1


def test_parts_are_aligned():
    zeros = Zeros(_Unaligned())
    assert all(zeros.take(num_bytes, num_bytes, 0) % 1024 == 0 for num_bytes in (4, 1000, 5000, 1 << 20, 8))


def test_threads():
    memory = _Memory()
    zeros = Zeros(memory)
    found = [[] for _ in range(8)]

    def ask(number):
        found[number].extend(zeros.take(8 + round * 100, number % 4, 0) for round in range(50))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    owned = [set(found[number]) | set(found[number + 4]) for number in range(4)]
    assert len(set.union(*owned)) == sum(map(len, owned))
