#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times attention beside cuDNN and FlashAttention, in one process on one hot GPU.

  search   tunes each case from the op alone, then times the winner, and writes
           what was found
  winners  times the schedules of tuning specs
  check    looks for errors of these: 100 launches that have to agree bit by
           bit, and NVIDIA's memcheck and synccheck, on a small problem
  sample   times random schedules, for `attune-tune --judge`

A case is measured in rounds, after a second of heat, in an order that each
round draws at random; the median of the rounds' medians counts. All contenders
read the same tensors, and none is timed that is far from the reference. The
peers are PyTorch's cuDNN and FlashAttention-2, and FlashAttention-3 where the
package fa3-fwd is there.

Expects the tools in --bin, and PyTorch in the Python that runs this.
"""

import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class Case:
    """A problem in bf16. Lengths of queries and keys, sizes of heads."""

    batch: int
    heads: int
    kv_heads: int
    seq_q: int
    seq_k: int
    size: int
    size_v: int
    mask: str

    @property
    def name(self):
        mask = "full" if self.mask == "none" else self.mask
        size = f"{self.size}"
        if self.size_v != self.size:
            size += f"_{self.size_v}"
        name = f"head_{size}_{mask}_{self.seq_k}"
        if self.kv_heads != self.heads:
            name += f"_group_{self.heads // self.kv_heads}"
        if self.seq_q != self.seq_k:
            name += f"_query_{self.seq_q}"
        return name

    @property
    def flops(self):
        """As papers count them: half of everything under a causal mask."""
        products = self.batch * self.heads * self.seq_q * self.seq_k
        flops = 2 * products * (self.size + self.size_v)
        return flops / 2 if self.mask == "causal" else flops

    def options(self):
        return [
            "--op=attention",
            "--dtype=bf16",
            f"--batch={self.batch}",
            f"--heads={self.heads}",
            f"--kv-heads={self.kv_heads}",
            f"--seq-q={self.seq_q}",
            f"--seq-k={self.seq_k}",
            f"--head-dim={self.size}",
            f"--head-dim-v={self.size_v}",
            f"--mask={self.mask}",
        ]


def make_case(size, mask, length):
    """16384 tokens, or one sequence, with a hidden size of 2048."""
    heads = 2048 // size
    batch = max(1, 16384 // length)
    return Case(batch, heads, heads, length, length, size, size, mask)


def make_cases():
    masks = ("none", "causal")
    groups = {
        "main": [
            make_case(d, mask, n)
            for d in (64, 128)
            for mask in masks
            for n in LENGTHS
        ],
        "256": [
            make_case(256, mask, n)
            for mask in masks
            for n in (512, 4096, 16384)
        ],
        "shapes": [
            replace(make_case(128, "causal", 4096), kv_heads=2),
            Case(5, 16, 16, 3000, 3000, 128, 128, "none"),
            Case(4, 16, 16, 4097, 4097, 128, 128, "causal"),
            Case(4, 21, 21, 4096, 4096, 96, 96, "causal"),
            Case(4, 16, 16, 4096, 4096, 192, 128, "causal"),
        ],
        "decode": [
            Case(b, 32, 8, 1, n, 128, 128, "none")
            for b, n in ((16, 4096), (64, 8192), (128, 2048))
        ],
    }
    return groups


# Of a result in bf16, relative to that of the reference.
MOST_ERROR = 0.02
# The reference is computed for so many heads.
REFERENCE_HEADS = 4


class Bench:
    """Contenders by name: what launches one, and what its result is."""

    def __init__(self, peers, rounds):
        import torch
        from rounds import Rounds

        self.torch, self.rounds = torch, Rounds(rounds)
        torch.manual_seed(0)
        self.peers = {}
        for name in peers:
            try:
                self.peers[name] = getattr(self, "make_" + name)()
            except ImportError as error:
                print(f"no {name}: {error}")

    def make(self, *shape):
        return self.torch.randn(
            shape, device="cuda", dtype=self.torch.bfloat16
        )

    def make_inputs(self, case):
        return (
            self.make(case.batch, case.heads, case.seq_q, case.size),
            self.make(case.batch, case.kv_heads, case.seq_k, case.size),
            self.make(case.batch, case.kv_heads, case.seq_k, case.size_v),
        )

    def make_torch(self, backend):
        from torch.nn.attention import sdpa_kernel

        def enter(case, query, key, value):
            def run():
                with sdpa_kernel([backend]):
                    return self.torch.nn.functional.scaled_dot_product_attention(
                        query,
                        key,
                        value,
                        is_causal=case.mask == "causal",
                        enable_gqa=case.heads != case.kv_heads,
                    )

            return run, run

        return enter

    def make_cudnn(self):
        from torch.nn.attention import SDPBackend

        return self.make_torch(SDPBackend.CUDNN_ATTENTION)

    def make_fa2(self):
        from torch.nn.attention import SDPBackend

        return self.make_torch(SDPBackend.FLASH_ATTENTION)

    def make_fa3(self):
        from fa3_fwd_interface import flash_attn_func

        def enter(case, *inputs):
            # In the order of dimensions that it wants, made before it is timed.
            turned = [x.transpose(1, 2).contiguous() for x in inputs]

            def run():
                return flash_attn_func(*turned, causal=case.mask == "causal")

            def read():
                result = run()
                if isinstance(result, tuple):
                    result = result[0]
                return result.transpose(1, 2)

            return run, read

        return enter

    def make_ours(self, path):
        from kernels import Kernel

        def enter(case, *inputs):
            result = self.make(
                case.batch, case.heads, case.seq_q, case.size_v
            ).fill_(math.nan)
            launch = Kernel(path).bind([*inputs, result])

            def read():
                launch()
                return result

            return launch, read

        return enter

    def refer(self, case, query, key, value):
        """In f32, of the first heads of the first sequence."""
        results = []
        for head in range(min(case.heads, REFERENCE_HEADS)):
            group = head // (case.heads // case.kv_heads)
            scores = query[0, head].float() @ key[0, group].float().T
            scores /= math.sqrt(case.size)
            if case.mask == "causal":
                above = self.torch.ones_like(scores, dtype=self.torch.bool)
                scores.masked_fill_(above.triu(1), -math.inf)
            weights = self.torch.softmax(scores, -1)
            results.append(weights @ value[0, group].float())
        return self.torch.stack(results)

    def enter(self, case, contenders):
        """What is timed: those whose results are right."""
        inputs = self.make_inputs(case)
        expected = self.refer(case, *inputs)
        functions = {}
        for name, make in contenders.items():
            try:
                run, read = make(case, *inputs)
                result = read()[0, : len(expected)].float()
            except RuntimeError as error:
                print(f"{case.name}: no {name}: {str(error)[:80]}")
                continue
            error = (result - expected).norm() / expected.norm()
            if error < MOST_ERROR:
                functions[name] = run
            else:
                print(f"{case.name}: {name} is wrong by {error.item():.2g}")
        return functions

    def time(self, case, path):
        """Milliseconds by name, with "ours" for the kernel at a path."""
        contenders = dict(self.peers)
        if path:
            contenders["ours"] = self.make_ours(path)
        functions = self.enter(case, contenders)
        times = self.rounds.time(functions, heat=1, warmup=15, rep=60)
        functions.clear()
        self.torch.cuda.empty_cache()
        return times


class Tools:
    def __init__(self, args):
        self.args = args

    def call(self, name, *options, **keywords):
        command = [os.path.join(self.args.bin, name), *options]
        return subprocess.run(
            command, capture_output=True, text=True, **keywords
        )

    def path(self, case, suffix):
        return os.path.join(self.args.out, case.name + suffix)

    def generate(self, case):
        path = self.path(case, ".mlir")
        self.call("attune-gen", *case.options(), "-o", path, check=True)
        text = open(path).read().replace("@attention(", f"@{case.name}(")
        open(path, "w").write(text)
        return path

    def tune(self, case, *options):
        """The report of a search, or None."""
        report = self.path(case, ".json")
        done = self.call(
            "attune-tune",
            self.generate(case),
            f"--chip={self.args.chip}",
            f"--json={report}",
            "--quiet",
            *options,
            *self.args.tune_args,
        )
        if done.returncode or not os.path.exists(report):
            print(f"{case.name}: {done.stderr.strip()[-300:]}")
            return None
        return json.load(open(report))["problems"][0]

    def search(self, case):
        report = self.tune(
            case,
            f"--budget={self.args.budget}",
            "-o",
            self.path(case, ".tuned.mlir"),
        )
        if not report or "best" not in report:
            return None
        best = report["results"][report["best"]]
        timed = [r for r in report["results"] if "median_ns" in r]
        return {
            "path": self.assemble(case, self.path(case, ".tuned.mlir")),
            "spills": best["resources"].get("spill_bytes"),
            "timed": len(timed),
            "schedule": shorten(best["schedule"], report),
        }

    def compile(self, case, source, *options):
        """A source for the chip, as a module; None where that fails."""
        compiled = self.path(case, ".compiled.mlir")
        options = " ".join([f"chip={self.args.chip}", *options])
        done = self.call(
            "attune-opt",
            source,
            f"--attune-compile={options}",
            "-o",
            compiled,
        )
        if done.returncode:
            print(f"{case.name}: {done.stderr.strip()[-300:]}")
            return None
        return compiled

    def compile_winner(self, case, *options):
        """The case with the schedule of the specs, or None."""
        specs = "tuning-specs=" + ",".join(self.args.specs)
        return self.compile(case, self.generate(case), specs, *options)

    def assemble(self, case, source=None):
        """The kernel of a source, or of the specs, as a path without its
        suffix."""
        folder = self.path(case, ".kernel")
        for old in glob.glob(os.path.join(folder, "*")):
            os.remove(old)
        target = f"output-dir={folder}"
        if source:
            self.compile(case, source, target)
        else:
            self.compile_winner(case, target)
        made = glob.glob(os.path.join(folder, "*.cubin"))
        return made[0].removesuffix(".cubin") if len(made) == 1 else None

    def find_winner(self, case):
        path = self.assemble(case)
        if not path:
            return None
        with open(path + ".json") as file:
            resources = json.load(file).get("resources", {})
        return {
            "path": path,
            "spills": resources.get("spill_store_bytes"),
            "timed": 1,
            "schedule": "",
        }


def shorten(schedule, report):
    """What differs from the default schedule."""
    default = {}
    if "default" in report:
        default = report["results"][report["default"]]["schedule"]
    return " ".join(
        f"{knob}={value}"
        for knob, value in schedule.items()
        if default.get(knob) != value
    )


def judge_case(case, found, times):
    """A row: speeds in TFLOP/s, and the ratio to the best peer."""
    ours = times.get("ours")
    peers = {name: ms for name, ms in times.items() if name != "ours"}
    row = {"case": case.name, "peers": {}, **(found or {})}
    row.pop("path", None)
    for name, ms in peers.items():
        row["peers"][name] = case.flops / ms / 1e9
    if ours:
        row["ms"] = ours
        row["tflops"] = case.flops / ours / 1e9
        if peers:
            row["ratio"] = min(peers.values()) / ours
    return row


def print_row(row):
    peers = ", ".join(f"{k} {v:.0f}" for k, v in sorted(row["peers"].items()))
    if "tflops" not in row:
        print(f"{row['case']}: nothing; {peers}", flush=True)
        return
    print(
        f"{row['case']}: {row['tflops']:.0f} TFLOP/s, "
        f"ratio {row.get('ratio', math.nan):.3f} ({peers}), "
        f"{row['timed']} timed, {row['spills']} bytes spilled, "
        f"{row['schedule']}",
        flush=True,
    )


def write_spec(args, tools, rows):
    """One tuning spec with everything that was found."""
    functions = []
    for case, row in zip(args.cases, rows):
        if "tflops" not in row:
            continue
        text = open(tools.path(case, ".tuned.mlir")).read()
        body = text[text.index("  func.func") : text.rindex("}")].rstrip()
        functions.append(f"  // {row['tflops']:.0f} TFLOP/s.\n{body}\n")
    with open(os.path.join(args.out, "spec.mlir"), "w") as file:
        file.write(f'module attributes {{attune.tuned_for = "{args.chip}"}} {{\n')
        file.write("".join(functions) + "}\n")


def compare(args, tools, measure):
    bench = Bench(args.peers, args.rounds)
    rows = []
    start = time.time()
    for case in args.cases:
        found = measure(case)
        times = bench.time(case, found and found["path"])
        rows.append(judge_case(case, found, times))
        print_row(rows[-1])
        if args.limit and time.time() - start > args.limit:
            print(f"stopped after {args.limit} s")
            break
    with open(os.path.join(args.out, "rows.json"), "w") as file:
        json.dump(rows, file, indent=1)
    if args.command == "search":
        write_spec(args, tools, rows)
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(
            f"{len(ratios)} cases: geometric mean {mean:.3f}, least "
            f"{min(ratios):.3f}, {sum(r >= 0.97 for r in ratios)} at least 0.97"
        )
    return 0 if len(ratios) == len(args.cases) else 1


def find_schedule(args, case):
    """The schedule that a spec has for a case, as it is printed."""
    for spec in args.specs:
        text = open(spec).read()
        start = text.find(f"@{case.name}(")
        if start >= 0:
            return re.search(r" schedule\(<.*?>\)", text[start:]).group()
    return None


def check_case(tools, case, schedule, wide):
    """What is wrong, as a list of words."""
    wrong = []
    done = tools.call(
        "attune-run", wide, "--verify", "--equal-launches=100", "--json"
    )
    if done.returncode:
        wrong.append("results: " + (done.stdout + done.stderr)[-200:])
    small = tools.path(case, ".small.mlir")
    few = replace(case, batch=2, heads=4, kv_heads=4, seq_q=512, seq_k=512)
    tools.call("attune-gen", *few.options(), "--lse", "-o", small, check=True)
    text = open(small).read()
    line = next(x for x in text.splitlines() if " attn.attention " in x)
    text = text.replace(line, line.replace(" : ", schedule + " : ", 1))
    open(small, "w").write(text)
    for name in ("memcheck", "synccheck"):
        command = ["compute-sanitizer", f"--tool={name}", "--error-exitcode=9"]
        command += [os.path.join(tools.args.bin, "attune-run"), small]
        command += ["--verify", "--reference=cpu"]
        done = subprocess.run(command, capture_output=True, text=True)
        clean = "ERROR SUMMARY: 0 errors" in done.stdout
        if done.returncode or not clean:
            wrong.append(f"{name}: {(done.stdout + done.stderr)[-300:]}")
    return wrong


def check(args, tools):
    cases = [(case, find_schedule(args, case)) for case in args.cases]
    cases = [(case, schedule) for case, schedule in cases if schedule]

    def run(job):
        case, schedule = job
        wide = tools.compile_winner(case)
        return case, ["does not compile"] if not wide else check_case(
            tools, case, schedule, wide
        )

    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for case, wrong in pool.map(run, cases):
            failed += bool(wrong)
            print(f"{case.name}: {'; '.join(wrong) or 'right'}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} right")
    return 1 if failed else 0


def judge_report(tools, case, report, title):
    path = tools.path(case, ".sample.json")
    with open(path, "w") as file:
        json.dump({"problems": [report]}, file)
    done = tools.call(
        "attune-tune", tools.path(case, ".mlir"), f"--judge={path}"
    )
    print(f"{case.name}, {title}\n{done.stdout}{done.stderr}", flush=True)


def sample(args, tools):
    for case in args.cases:
        start = time.time()
        random = tools.tune(
            case,
            "--strategy=random",
            f"--budget={args.budget}",
            "--final-rounds=0",
        )
        if not random:
            return 1
        seconds = time.time() - start
        judge_report(tools, case, random, f"random, {seconds:.0f} s")
        # What a search finds may be faster than anything at random.
        found = tools.tune(case, "--budget=15s")
        if found:
            random["results"] += found["results"]
            judge_report(tools, case, random, "with those of a search")
    return 0


def parse():
    groups = make_cases()
    every = [case for group in groups.values() for case in group]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=("search", "winners", "check", "sample"))
    parser.add_argument("--bin", default="build/bin", help="where the tools are")
    parser.add_argument("--out", default="benchmark", help="folder for results")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument(
        "--cases",
        default="main",
        help=f"{', '.join(groups)}, or names of cases, separated by commas",
    )
    parser.add_argument("--budget", default="15s", help="of each search")
    parser.add_argument("--peers", default="cudnn,fa3", help="of cudnn,fa2,fa3")
    parser.add_argument("--rounds", type=int, default=5, help="of each case")
    parser.add_argument("--specs", default="tuning/sm_90a.mlir")
    parser.add_argument("--jobs", type=int, default=8, help="of check")
    parser.add_argument("--limit", type=float, help="stop after so many s")
    parser.add_argument(
        "--tune-args", default="", help="for attune-tune, in one word"
    )
    args = parser.parse_args()
    args.tune_args = args.tune_args.split()
    names = {case.name: [case] for case in every}
    chosen = []
    for name in args.cases.split(","):
        if name not in groups and name not in names:
            parser.error(f"expects a case, but got '{name}': {list(names)}")
        chosen += groups.get(name) or names[name]
    args.cases = chosen
    args.peers = [name for name in args.peers.split(",") if name]
    args.specs = args.specs.split(",")
    return args


def main():
    args = parse()
    os.makedirs(args.out, exist_ok=True)
    tools = Tools(args)
    if args.command == "sample":
        return sample(args, tools)
    if args.command == "check":
        return check(args, tools)
    measure = tools.search if args.command == "search" else tools.find_winner
    return compare(args, tools, measure)


if __name__ == "__main__":
    sys.exit(main())
