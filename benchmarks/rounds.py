# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times functions of one process in turn on a hot chip, where none of them has
an advantage: a chip that has just been idle is faster than one at work."""

import random
import statistics
import time

import torch
from triton.testing import do_bench


class Rounds:
    def __init__(self, rounds):
        self.rounds = rounds
        self.hot = torch.randn(
            (8192, 8192), device="cuda", dtype=torch.bfloat16
        )

    def heat(self, seconds):
        start = time.time()
        while time.time() - start < seconds:
            torch.matmul(self.hot, self.hot)
            torch.cuda.synchronize()

    def time(self, functions, heat, warmup, rep, before=0):
        """Medians of the rounds' medians, in milliseconds by name, after so
        many seconds of heat, and so many `before` each: without these, what
        comes behind a slow function finds a cooler chip. Each round has an
        order of its own, drawn at random, for what follows the same function
        in each is up to 3 percent slower or faster by what power that takes;
        `warmup` and `rep` are those of do_bench, in milliseconds."""
        self.heat(heat)
        times = {name: [] for name in functions}
        draw = random.Random(0)
        for _ in range(self.rounds):
            for name in draw.sample(list(functions), len(functions)):
                self.heat(before)
                times[name].append(
                    do_bench(
                        functions[name],
                        warmup=warmup,
                        rep=rep,
                        return_mode="median",
                    )
                )
        return {n: statistics.median(t) for n, t in times.items()}
