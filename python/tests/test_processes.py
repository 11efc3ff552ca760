# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls from several threads, and in processes that are forked or started anew."""

import multiprocessing
import threading

import numpy as np
import pytest
from conftest import make_inputs

import attune_mlir as attune


def _compute(queue):
    try:
        queue.put(attune.attention(*make_inputs(seq_q=30), causal=True))
    except BaseException as error:
        queue.put(repr(error))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_processes(method):
    """A child of a process that has kernels loaded has them, too, or loads its own."""
    expected = attune.attention(*make_inputs(seq_q=30), causal=True)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=_compute, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    for _ in children:
        np.testing.assert_array_equal(queue.get(timeout=100), expected)
    for child in children:
        child.join(100)
        assert child.exitcode == 0
    queue.close()
    queue.join_thread()


def test_threads(cache_folder, monkeypatch):
    """Threads that need one kernel at once compile it once, and each has its own result."""
    from attune_mlir import _devices, _store

    monkeypatch.setattr(_devices, "_devices", {})
    before = _store.counts.misses
    inputs = [make_inputs(seq_q=30, seed=seed) for seed in range(4)]
    results = [None] * len(inputs)

    def work(number):
        results[number] = attune.attention(*inputs[number], softcap=2.5)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _store.counts.misses == before + 1
    for one, found in zip(inputs, results, strict=True):
        np.testing.assert_array_equal(found, attune.attention(*one, softcap=2.5))
