#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times matmuls beside cuBLAS, in one process on one hot GPU.

  search   tunes each case from the op alone, then times the winner
  winners  times the schedules of tuning specs, or the default ones without

A case is measured in rounds, after two seconds of heat, in an order that
each round draws at random; the median of the rounds counts. The peer is
torch.matmul, which asks cuBLAS for its best kernel; what is fused into ours is
done by torch.compile behind it.

Expects the tools in --bin, and PyTorch in the Python that runs this.
"""

import argparse
import glob
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A problem in bf16, with the right operand as a layer has its weights."""

    m: int
    n: int
    k: int
    batch: int = 0
    fused: str = ""

    @property
    def name(self):
        name = f"{self.m}x{self.n}x{self.k}"
        if self.batch:
            name = f"{self.batch}x{name}"
        return f"{self.fused}_{name}" if self.fused else name

    @property
    def flops(self):
        contractions = 2 if self.fused == "gate" else 1
        return 2 * self.m * self.n * self.k * (self.batch or 1) * contractions

    def options(self):
        return [
            "--op=matmul",
            "--dtype=bf16",
            "--transpose-b",
            *("-m", str(self.m), "-n", str(self.n), "-k", str(self.k)),
            *([f"--batch={self.batch}"] if self.batch else []),
            *{
                "": [],
                "gelu": ["--bias", "--activation=gelu-tanh"],
                "gate": ["--gate", "--activation=silu"],
            }[self.fused],
        ]


CASES = [
    Case(2048, 2048, 2048),
    Case(4096, 4096, 4096),
    Case(8192, 8192, 8192),
    Case(16384, 8192, 2048),
    Case(16384, 2048, 8192),
    Case(8192, 14336, 4096),
    Case(512, 8192, 8192),
    Case(64, 8192, 8192),
    Case(1024, 1024, 128, batch=64),
    # Long sums of few tiles.
    Case(64, 1024, 8192),
    Case(128, 4096, 8192),
    Case(512, 512, 16384),
    Case(1024, 1024, 8192),
    Case(16384, 4096, 1024, fused="gelu"),
    Case(16384, 8192, 2048, fused="gelu"),
    Case(8192, 14336, 4096, fused="gelu"),
    Case(16384, 4096, 1024, fused="gate"),
    Case(16384, 8192, 2048, fused="gate"),
    Case(8192, 14336, 4096, fused="gate"),
]


class Tools:
    def __init__(self, args):
        self.args = args

    def call(self, name, *options):
        command = [os.path.join(self.args.bin, name), *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"{name}: {(done.stdout + done.stderr).strip()[-400:]}")
        return done.returncode == 0

    def path(self, case, suffix=""):
        return os.path.join(self.args.out, case.name, case.name + suffix)

    def generate(self, case):
        os.makedirs(os.path.dirname(self.path(case)), exist_ok=True)
        path = self.path(case, ".mlir")
        self.call("attune-gen", *case.options(), "-o", path)
        return path

    def search(self, case):
        """The problem with the schedule of a search, and how many it timed."""
        tuned, report = self.path(case, ".tuned.mlir"), self.path(case, ".json")
        done = self.call(
            "attune-tune",
            self.generate(case),
            f"--chip={self.args.chip}",
            f"--budget={self.args.budget}",
            f"--json={report}",
            "--rank",
            "--quiet",
            "-o",
            tuned,
            *self.args.tune_args,
        )
        return tuned if done else None

    def compile(self, case, source):
        """The kernel, as a path without its suffix; None where there is none."""
        folder = os.path.dirname(self.path(case))
        for old in glob.glob(os.path.join(folder, "*.cubin")):
            os.remove(old)
        options = [f"chip={self.args.chip}", f"output-dir={folder}"]
        if self.args.specs:
            options.append("tuning-specs=" + ",".join(self.args.specs))
        self.call(
            "attune-opt",
            source,
            f"--attune-compile={' '.join(options)}",
            "-o",
            self.path(case, ".compiled.mlir"),
        )
        made = glob.glob(os.path.join(folder, "*.cubin"))
        return made[0].removesuffix(".cubin") if len(made) == 1 else None


class Bench:
    """What is timed, by name, on inputs of variance 1."""

    def __init__(self, rounds):
        import torch
        from rounds import Rounds

        self.torch, self.rounds = torch, Rounds(rounds)
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        functional = torch.nn.functional
        self.gelu = torch.compile(
            lambda x: functional.gelu(x, approximate="tanh"), dynamic=False
        )
        self.gate = torch.compile(
            lambda x, y: functional.silu(x) * y, dynamic=False
        )

    def make(self, *shape):
        return self.torch.randn(
            shape, device="cuda", dtype=self.torch.bfloat16
        )

    def make_inputs(self, case):
        batch = [case.batch] if case.batch else []
        inputs = [
            self.make(*batch, case.m, case.k),
            self.make(*batch, case.n, case.k),
        ]
        if case.fused == "gate":
            inputs.append(self.make(case.n, case.k))
        if case.fused == "gelu":
            inputs.append(self.make(case.n))
        return inputs

    def make_peer(self, case, inputs):
        linear = self.torch.nn.functional.linear
        a, b, *rest = inputs
        if case.batch:
            return lambda: self.torch.bmm(a, b.transpose(1, 2))
        if case.fused == "gelu":
            return lambda: self.gelu(linear(a, b, rest[0]))
        if case.fused == "gate":
            return lambda: self.gate(linear(a, b), linear(a, rest[0]))
        return lambda: linear(a, b)

    def make_ours(self, case, path, inputs, peer):
        """Our kernel, once its result is close to that of the peer."""
        from kernels import Kernel

        batch = [case.batch] if case.batch else []
        result = self.make(*batch, case.m, case.n).fill_(math.nan)
        launch = Kernel(path).bind([*inputs, result])
        launch()
        expected = peer()
        distance = (result - expected).norm() / expected.norm()
        if not distance < 0.01:
            raise RuntimeError(f"{case.name}: off by {distance.item():.2g}")
        return launch


def get_state():
    """Clock and power, while the chip is still hot."""
    query = "--query-gpu=clocks.sm,power.draw"
    command = ["nvidia-smi", query, "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.stdout else "unknown"


def find_schedule(tools, case):
    """As the compiled module prints it."""
    text = open(tools.path(case, ".compiled.mlir")).read()
    start = text.find("#schedule.matmul<")
    return text[start : text.find(">", start) + 1] if start >= 0 else ""


def measure(case, tools, bench):
    searched = tools.args.command == "search"
    start = time.time()
    source = tools.search(case) if searched else tools.generate(case)
    found = time.time() - start
    path = source and tools.compile(case, source)
    if not path:
        return {"case": case.name}
    inputs = bench.make_inputs(case)
    peer = bench.make_peer(case, inputs)
    ours = bench.make_ours(case, path, inputs, peer)
    times = bench.rounds.time(
        {"cublas": peer, "ours": ours}, heat=2, warmup=5, rep=40
    )
    return {
        "case": case.name,
        "tflops": case.flops / times["ours"] / 1e9,
        "cublas": case.flops / times["cublas"] / 1e9,
        "ratio": times["cublas"] / times["ours"],
        "state": get_state(),
        "seconds": round(found) if searched else 0,
        "schedule": find_schedule(tools, case),
    }


def print_row(row):
    if "ratio" not in row:
        print(f"{row['case']}: nothing", flush=True)
        return
    print(
        f"{row['case']}: {row['tflops']:.0f} TFLOP/s, cuBLAS "
        f"{row['cublas']:.0f}, ratio {row['ratio']:.3f}; {row['state']}; "
        f"searched for {row['seconds']} s; {row['schedule']}",
        flush=True,
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("search", "winners"))
    parser.add_argument("--bin", default="build/bin", help="the tools")
    parser.add_argument("--out", default="matmul-benchmark", help="results")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--budget", default="20s", help="of each search")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--specs", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--tune-args", nargs="*", default=[])
    return parser.parse_args()


def main():
    args = parse_arguments()
    os.makedirs(args.out, exist_ok=True)
    tools, bench = Tools(args), Bench(args.rounds)
    rows = []
    for case in CASES:
        if args.only and case.name not in args.only:
            continue
        try:
            rows.append(measure(case, tools, bench))
        except RuntimeError as error:
            print(error)
            rows.append({"case": case.name})
        print_row(rows[-1])
    with open(os.path.join(args.out, "rows.json"), "w") as file:
        json.dump(rows, file, indent=1)
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean {mean:.3f}, least {min(ratios):.3f}")
    return 0 if len(ratios) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
