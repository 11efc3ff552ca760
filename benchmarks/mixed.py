#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention of batches as an engine has them: sequences of one query
beside chunks of prompts, over a cache in pages, on one hot GPU.

32 heads over 8, head size 128, bf16, causal, `attune.varlen` with the schedule
that it chooses without a search, and `attune.decode` where all sequences have
as many queries. Beside it, in one process and in an order that each round
draws at random, FlashAttention-3 where --fa3 names vLLM's operator library. The
cache is flushed before each launch, which is that of a function, not of a
graph. Prints microseconds, and terabytes of keys and values a second.
"""

import argparse
import json

import torch
from decoding import Clock, make, make_table
from packed import make_starts
from rounds import Rounds

import attune_mlir as attune

HEADS, KV_HEADS, HEAD_DIM = 32, 8, 128
# Queries and keys of each sequence.
CASES = {
    "64 x 1 over 4096": ([1] * 64, [4096] * 64),
    "256 x 1 over 1024": ([1] * 256, [1024] * 256),
    "32 x 5 over 4096": ([5] * 32, [4096] * 32),
    "48 x 1 to 8 over 4096": ([1 + i % 8 for i in range(48)], [4096] * 48),
    "63 x 1 and 512 over 4096": ([1] * 63 + [512], [4096] * 64),
    "16 x 1 over 8192, 2 x 1024 over 2048": (
        [1] * 16 + [1024] * 2,
        [8192] * 16 + [2048] * 2,
    ),
    "8 x 128 over 8192": ([128] * 8, [8192] * 8),
}
# Of results in bf16, relative to each other.
TOLERANCE = 0.01


def make_fa3(q, key, value, starts, lengths, table, longest):
    operators = torch.ops._vllm_fa3_C
    queries, keys = longest
    batch, page = len(lengths), key.shape[1]
    sizes = (batch, queries, keys, HEADS, KV_HEADS, HEAD_DIM, HEAD_DIM, q.dtype)
    plan = operators.get_scheduler_metadata(
        *(*sizes, lengths, starts, None, None, None, None, page, 0),
        *(True, -1, -1, False, 0, None, 0),
    )
    none = (None,) * 8
    return lambda: operators.fwd(
        *(q, key, value, None, None, None, None, starts),
        *(None, None, None, lengths, queries, keys, table, *none),
        *(HEAD_DIM**-0.5, True, -1, -1, 0.0, True, plan),
        *(0, None, 0, None, 1, 0, None),
    )[0]


def make_functions(arguments, queries, keys):
    counts = [-(-length // arguments.page) for length in keys]
    table, starts = make_table(counts), make_starts(queries)
    lengths = torch.tensor(keys, dtype=torch.int32, device="cuda")
    longest = max(queries), max(keys)
    q = make(sum(queries), HEADS, HEAD_DIM)
    key, value = (
        make(sum(counts), arguments.page, KV_HEADS, HEAD_DIM) for _ in range(2)
    )
    functions = {
        "varlen": lambda: attune.varlen(
            q,
            key,
            value,
            starts,
            None,
            *longest,
            seqused_k=lengths,
            block_table=table,
            causal=True,
        )
    }
    if len(set(queries)) == 1:
        each = q.view(len(queries), longest[0], HEADS, HEAD_DIM)
        functions["decode"] = lambda: attune.decode(
            each, key, value, lengths, block_table=table, causal=True
        )
    if arguments.fa3:
        functions["fa3"] = make_fa3(
            q, key, value, starts, lengths, table, longest
        )
    return functions


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--page", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fa3", help="vLLM's operator library")
    parser.add_argument("--output", help="JSON of all figures")
    arguments = parser.parse_args()
    if arguments.fa3:
        torch.ops.load_library(arguments.fa3)
    clock, found = Clock(Rounds(arguments.rounds)), {}
    for name, (queries, keys) in CASES.items():
        functions = make_functions(arguments, queries, keys)
        expected = functions["varlen"]().float()
        for other, function in list(functions.items()):
            difference = function().float().view_as(expected) - expected
            error = (difference.norm() / expected.norm()).item()
            if not error < TOLERANCE:
                print(f"{other} of {name} differs: {error}")
                functions.pop(other)
        times = clock.time(functions, 9)
        terabytes = sum(keys) * KV_HEADS * HEAD_DIM * 4 / 1e12
        found[name] = times
        told = ", ".join(
            f"{other} {time * 1e3:.0f} us ({terabytes / time * 1e3:.2f} TB/s)"
            for other, time in times.items()
        )
        print(f"{name}: {told}", flush=True)
    if arguments.output:
        with open(arguments.output, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
