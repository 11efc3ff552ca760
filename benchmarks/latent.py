#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times decoding with latent attention on one hot GPU: 128 heads of queries
over one of keys with 576 columns, of which 512 are the value, in pages, bf16.

`attune.decode` of the Python package, with the schedule that it chooses without
a search, in a captured graph. Beside it, in one process and in an order that
each round draws at random, FlashMLA where --flashmla names its operator
library, in pages of 64, and FlashAttention-3 where --fa3 names vLLM's. The
cache is flushed before each launch. Prints terabytes of keys a second.
"""

import argparse
import json

import torch
from decoding import Case, Clock, make, make_ragged, make_table
from rounds import Rounds

import attune_mlir as attune

HEADS, LATENT, POSITIONS = 128, 512, 64
COLUMNS = LATENT + POSITIONS
SCALE = 192**-0.5
CASES = [
    Case("16x4096", (4096,) * 16),
    Case("64x8192", (8192,) * 64),
    Case("64 of 128 to 32768", make_ragged(64, 128, 32768, seed=1)),
]
TOLERANCE = 0.02


def capture(function):
    """What replays its launches, and their result. What it reads stays."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        function()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        result = function()

    def replay(kept=function):
        graph.replay()

    return replay, result


def make_flashmla(query, pool, table, lengths):
    decode = torch.ops._flashmla_C.dense_decode_fwd
    operands = (query, pool, LATENT, lengths, table, SCALE, False)
    plan = decode(*operands, None, None, None)[2:]
    return lambda: decode(*operands, *plan, None)[0]


def make_fa3(query, pool, table, lengths, longest):
    operators = torch.ops._vllm_fa3_C
    latent, positions = (
        part.squeeze(1).contiguous()
        for part in query.split([LATENT, POSITIONS], -1)
    )
    values, keys = pool.split([LATENT, POSITIONS], -1)
    batch, page = len(lengths), pool.shape[1]
    starts = torch.arange(batch + 1, dtype=torch.int32, device="cuda")
    sizes = (batch, 1, longest, HEADS, 1, POSITIONS, LATENT, torch.bfloat16)
    plan = operators.get_scheduler_metadata(
        *(*sizes, lengths, starts, None, None, None, None, page, 0),
        *(False, -1, -1, False, 0, None, 0),
    )
    none = (None,) * 8
    return lambda: operators.fwd(
        *(positions, keys, values, None, None, latent, None, starts),
        *(None, None, None, lengths, 1, longest, table, *none, SCALE),
        *(False, -1, -1, 0.0, True, plan, 0, None, 0, None, 1, 0, None),
    )[0]


def make_functions(arguments, case, page):
    """Functions by name, with their results, and what the first batch has."""
    counts = [-(-length // page) for length in case.lengths]
    table = make_table(counts)
    lengths = torch.tensor(case.lengths, dtype=torch.int32, device="cuda")
    query = make(len(counts), 1, HEADS, COLUMNS)
    pool = make(sum(counts), page, 1, COLUMNS)
    made = {
        "ours": lambda: attune.decode(
            *(query, pool, None, lengths),
            block_table=table,
            latent=LATENT,
            scale=SCALE,
        )
    }
    if arguments.flashmla and page == 64:
        made["flashmla"] = make_flashmla(query, pool, table, lengths)
    if arguments.fa3:
        made["fa3"] = make_fa3(
            query, pool, table, lengths, max(case.lengths)
        )
    keys = pool[table[0, : counts[0]].long()].flatten(0, 2)
    keys = keys[: case.lengths[0]].float()
    weights = torch.softmax(query[0, 0].float() @ keys.T * SCALE, -1)
    return made, weights @ keys[:, :LATENT]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pages", type=int, nargs="+", default=[64, 16, 256])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--flashmla", help="operator library of FlashMLA")
    parser.add_argument("--fa3", help="vLLM's operator library")
    parser.add_argument("--output", help="JSON of all figures")
    arguments = parser.parse_args()
    for library in (arguments.flashmla, arguments.fa3):
        if library:
            torch.ops.load_library(library)
    torch.manual_seed(0)
    clock, rows = Clock(Rounds(arguments.rounds)), []
    for case in CASES:
        gigabytes = sum(case.lengths) * COLUMNS * 2 / 1e9
        for page in arguments.pages:
            functions, expected = make_functions(arguments, case, page)
            for name in list(functions):
                functions[name], result = capture(functions[name])
                functions[name]()
                found = result.flatten(0, -3)[0].float()
                error = (found - expected).norm() / expected.norm()
                if not error < TOLERANCE:
                    print(f"{case.name}: {name} is wrong: {error:.2g}")
                    functions.pop(name)
            times = clock.time(functions, 9)
            rates = {name: gigabytes / t for name, t in times.items()}
            told = ", ".join(f"{n} {rate:.2f}" for n, rate in rates.items())
            print(f"{case.name}, pages of {page}: {told}", flush=True)
            rows.append({"case": case.name, "page": page, "tb_s": rates})
    if arguments.output:
        with open(arguments.output, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
