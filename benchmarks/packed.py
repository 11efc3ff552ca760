#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention of sequences that lie one behind the other, on one hot GPU.

Causal, head size 128, bf16, 16384 tokens whose sequences have lengths with
uniform logarithms. `attune.varlen` with the schedule that it chooses without a
search, of keys as they are and in pages. Beside it, in one process and in an
order that each round draws at random, FlashAttention-3 where --fa3 names its
operator library. Results are compared with float32 before anything is timed.
Prints TFLOP/s.
"""

import argparse
import json
import math
import random

import torch
from decoding import make, make_table
from rounds import Rounds

import attune_mlir as attune

HEAD_DIM = 128
HEADS = ((16, 16), (32, 8))
# Of results in bf16, relative to float32.
TOLERANCE = 0.02


def make_lengths(total, low=128, high=8192, seed=3):
    chance, lengths = random.Random(seed), []
    while sum(lengths) < total:
        log = chance.uniform(math.log(low), math.log(high))
        rest = total - sum(lengths)
        lengths.append(min(round(math.exp(log)), rest))
    return lengths


def make_starts(counts):
    starts = torch.tensor([0, *counts]).cumsum(0)
    return starts.to("cuda", torch.int32)


def put_in_pages(rows, lengths, table, page):
    """Pages of such rows, each where the table says."""
    counts = [-(-length // page) for length in lengths]
    pool = make(sum(counts), page, *rows.shape[1:])
    for places, count, own in zip(table, counts, rows.split(lengths)):
        for place, of_page in zip(places[:count].tolist(), own.split(page)):
            pool[place, : len(of_page)] = of_page
    return pool


def make_functions(arguments, lengths, heads, kv_heads):
    starts, longest = make_starts(lengths), max(lengths)
    q = make(sum(lengths), heads, HEAD_DIM)
    k, v = (make(sum(lengths), kv_heads, HEAD_DIM) for _ in range(2))
    functions = {
        "ours": lambda: attune.varlen(
            q, k, v, starts, starts, longest, longest, causal=True
        )
    }
    for page in arguments.pages:
        table = make_table([-(-length // page) for length in lengths])
        key_pages, value_pages = (
            put_in_pages(rows, lengths, table, page) for rows in (k, v)
        )
        functions[f"pages of {page}"] = (
            lambda key=key_pages, value=value_pages, table=table: attune.varlen(
                q,
                key,
                value,
                starts,
                starts,
                longest,
                longest,
                block_table=table,
                causal=True,
            )
        )
    if arguments.fa3:
        functions["fa3"] = lambda: torch.ops.fa3_fwd.fwd(
            q,
            k,
            v,
            cu_seqlens_q=starts,
            cu_seqlens_k=starts,
            max_seqlen_q=longest,
            max_seqlen_k=longest,
            softmax_scale=HEAD_DIM**-0.5,
            is_causal=True,
            num_splits=1,
        )[0]
    return functions, (q, k, v)


def find_error(found, inputs, lengths):
    """The largest of the sequences' last heads."""
    worst = 0.0
    for out, q, k, v in zip(*(x.split(lengths) for x in (found, *inputs))):
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(x[None, :, -1].float() for x in (q, k, v)), is_causal=True
        )
        difference = (out[:, -1].float() - expected[0]).norm()
        worst = max(worst, (difference / expected.norm()).item())
    return worst


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--pages", type=int, nargs="*", default=[16, 64, 128])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--fa3", help="operator library of FlashAttention-3")
    parser.add_argument("--output", help="JSON of all figures")
    arguments = parser.parse_args()
    if arguments.fa3:
        torch.ops.load_library(arguments.fa3)
    lengths = make_lengths(arguments.tokens)
    print("lengths", *lengths)
    rounds, found = Rounds(arguments.rounds), {}
    for heads, kv_heads in HEADS:
        functions, inputs = make_functions(arguments, lengths, heads, kv_heads)
        for name in list(functions):
            error = find_error(functions[name](), inputs, lengths)
            if not error < TOLERANCE:
                print(f"{name} of {heads} over {kv_heads} is wrong: {error}")
                functions.pop(name)
        times = rounds.time(functions, heat=1, warmup=5, rep=15, before=0.06)
        work = 2 * heads * HEAD_DIM * sum(n * n for n in lengths)
        speeds = {name: work / time / 1e9 for name, time in times.items()}
        found[f"{heads} over {kv_heads}"] = speeds
        told = " ".join(f"{name} {x:.0f}" for name, x in speeds.items())
        print(f"{heads} over {kv_heads}: {told} TFLOP/s", flush=True)
    if arguments.output:
        with open(arguments.output, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
