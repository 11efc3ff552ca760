#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times one query against many keys, contiguous and in pages, on one hot GPU.

32 heads of queries over 8 of keys, head size 128, bf16. Kernels are those that
the compiler chooses without a search. Beside them, in one process and in an
order that each round draws at random: cuDNN's through PyTorch, and
FlashAttention-3 where --fa3 names its operator library; both have contiguous
keys alone. The cache is flushed before each launch, and a spin in front hides
what launching costs the host. Prints terabytes of keys and values a second.

Expects the tools in --bin, and PyTorch in the Python that runs this.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import torch
from kernels import Kernel, Sequence
from rounds import Rounds
from torch.nn.attention import SDPBackend, sdpa_kernel

HEADS, KV_HEADS, HEAD_DIM = 32, 8, 128
PAGES = (0, 16, 64, 256)
CLOCK = 1.98e9  # of a spin; a slower chip spins for longer


@dataclass(frozen=True)
class Case:
    name: str
    lengths: tuple

    @property
    def gigabytes(self):
        return sum(self.lengths) * KV_HEADS * HEAD_DIM * 2 * 2 / 1e9


def make_ragged(count, low, high, seed):
    """Lengths whose logarithms are uniform."""
    chance = random.Random(seed)
    logs = (chance.uniform(math.log(low), math.log(high)) for _ in range(count))
    return tuple(round(math.exp(log)) for log in logs)


CASES = [
    Case("1x8192", (8192,)),
    Case("1x65536", (65536,)),
    Case("16x4096", (4096,) * 16),
    Case("64x8192", (8192,) * 64),
    Case("128x1024", (1024,) * 128),
    Case("64 of 128 to 32768", make_ragged(64, 128, 32768, seed=1)),
]


def build(args, case, page):
    """The folder of the kernels for a case; with pages, lengths are those of
    the batches, as a server has them."""
    keys = max(case.lengths)
    sizes = [f"--batch={len(case.lengths)}", f"--heads={HEADS}"]
    sizes += [f"--kv-heads={KV_HEADS}", "--seq-q=1", f"--head-dim={HEAD_DIM}"]
    if page:
        keys += -keys % page
        sizes += [f"--page-size={page}", "--key-lengths"]
    folder = tempfile.mkdtemp(dir=args.out)
    problem = os.path.join(folder, "problem.mlir")
    generate = ["attune-gen", "--op=attention", "--dtype=bf16", "--order=bshd"]
    generate += [*sizes, f"--seq-k={keys}", "-o", problem]
    compiled = f"--attune-compile=chip={args.chip} output-dir={folder}"
    for command in (
        generate,
        ["attune-opt", problem, compiled, "-o", os.devnull],
    ):
        command[0] = os.path.join(args.bin, command[0])
        subprocess.run(command, check=True)
    return folder


def load(folder, named):
    """What launches the kernels of a folder with tensors by their names."""
    sequence = os.path.join(folder, "attention.json")
    if os.path.exists(sequence):
        return Sequence(sequence).bind(named)
    kernel = Kernel(os.path.join(folder, "attention_kernel"))
    given = [
        named[argument["name"]]
        for argument in kernel.manifest["arguments"]
        if argument.get("access") not in ("workspace", None)
    ]
    return kernel.bind(given)


def make(*shape):
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16)


def make_table(counts):
    """Which pages batches have, so many each, in an order that is random."""
    places = torch.randperm(sum(counts), device="cuda", dtype=torch.int32)
    shape = len(counts), max(counts)
    table = torch.zeros(shape, dtype=torch.int32, device="cuda")
    for row, part in zip(table, places.split(counts)):
        row[: len(part)] = part
    return table


def make_contiguous(args, case):
    """Functions by name, and their results as one of them computes it."""
    batch, keys = len(case.lengths), max(case.lengths)
    query = make(batch, 1, HEADS, HEAD_DIM)
    key, value = (make(batch, keys, KV_HEADS, HEAD_DIM) for _ in range(2))
    output = torch.full_like(query, math.nan)
    named = {"query": query, "key": key, "value": value, "output": output}
    functions = {"ours": load(build(args, case, 0), named)}
    heads_first = [x.transpose(1, 2) for x in (query, key, value)]
    # cuDNN is faster where the keys of a head follow each other.
    own = [heads_first[0], *(x.contiguous() for x in heads_first[1:])]

    def cudnn():
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            return torch.nn.functional.scaled_dot_product_attention(
                *own, enable_gqa=True
            )

    functions["cudnn"] = cudnn
    if args.fa3:
        functions["fa3"] = lambda: torch.ops.fa3_fwd.fwd(
            query, key, value, softmax_scale=HEAD_DIM**-0.5, num_splits=0
        )
    functions["ours"]()
    return functions, output, cudnn().transpose(1, 2)


def make_paged(args, case, page):
    """The same of keys in pages, whose order is random."""
    batch = len(case.lengths)
    counts = [-(-length // page) for length in case.lengths]
    table = make_table(counts)
    pools = [make(sum(counts), page, KV_HEADS, HEAD_DIM) for _ in range(2)]
    query = make(batch, 1, HEADS, HEAD_DIM)
    output = torch.full_like(query, math.nan)
    lengths = torch.tensor(case.lengths, dtype=torch.int32, device="cuda")
    named = {
        **{"query": query, "key": pools[0], "value": pools[1]},
        **{"key_lengths": lengths, "pages": table, "output": output},
    }
    ours = load(build(args, case, page), named)
    ours()
    rows = table[-1, : counts[-1]].long()
    key, value = (
        pool[rows].flatten(0, 1)[: case.lengths[-1]].transpose(0, 1)
        for pool in pools
    )
    expected = torch.nn.functional.scaled_dot_product_attention(
        query[-1].transpose(0, 1).float(),
        key.float(),
        value.float(),
        enable_gqa=True,
    )
    return {"ours": ours}, output[-1], expected.transpose(0, 1)


class Clock:
    def __init__(self, rounds):
        self.rounds = rounds
        self.flushed = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def measure(self, function, spin, count):
        """The median of launches, in milliseconds."""
        events = [
            [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            for _ in range(count)
        ]
        for start, stop in events:
            self.flushed.zero_()
            torch.cuda._sleep(spin)
            start.record()
            function()
            stop.record()
        torch.cuda.synchronize()
        return statistics.median(a.elapsed_time(b) for a, b in events)

    def find_spin(self, function):
        """Cycles that the host needs to launch, and half as many more."""
        function()
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        host = time.perf_counter() - start
        torch.cuda.synchronize()
        return int((1.5 * host + 2e-5) * CLOCK)

    def time(self, functions, count):
        spins = {name: self.find_spin(f) for name, f in functions.items()}
        times = {name: [] for name in functions}
        names = list(functions)
        self.rounds.heat(0.5)
        for number in range(self.rounds.rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                for _ in range(count):  # without a pause
                    functions[name]()
                times[name].append(
                    self.measure(functions[name], spins[name], count)
                )
        return {name: statistics.median(t) for name, t in times.items()}


def measure(args, clock, case, page):
    if page:
        functions, result, expected = make_paged(args, case, page)
    else:
        functions, result, expected = make_contiguous(args, case)
    error = ((result - expected).norm() / expected.norm()).item()
    if not error < 0.01:
        raise RuntimeError(f"{case.name}, pages of {page}: off by {error:.2g}")
    count = max(9, min(30, int(30 / case.gigabytes)))
    times = clock.time(functions, count)
    rates = {name: case.gigabytes / t for name, t in times.items()}
    print(
        f"{case.name}, {f'pages of {page}' if page else 'contiguous'}: "
        + ", ".join(f"{name} {rate:.2f}" for name, rate in rates.items()),
        flush=True,
    )
    return {"case": case.name, "page": page, "tb_s": rates, "error": error}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--bin", default="build/bin", help="the tools")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--fa3", help="operator library of FlashAttention-3")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", help="results as JSON")
    args = parser.parse_args()
    if args.fa3:
        torch.ops.load_library(args.fa3)
    torch.manual_seed(0)
    clock = Clock(Rounds(args.rounds))
    rows = []
    with tempfile.TemporaryDirectory() as args.out:
        for case in CASES:
            for page in PAGES:
                # Contiguous keys of one length alone have peers.
                if page or len(set(case.lengths)) == 1:
                    rows.append(measure(args, clock, case, page))
    if args.output:
        with open(args.output, "w") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
