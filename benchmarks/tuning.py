#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the search itself: does it find the best, again, and how soon?

  repeat      tunes a problem several times, with other seeds and from nothing
  exhaustive  measures all of a part of the space, and holds each strategy, with
              a budget of 5 percent of it, against the best there
  strategies  lets strategies search ten problems for some seconds each
  two         lets two tuners share a database, on one GPU or on two
  throughput  counts what is compiled in a second, and how long nobody worked

What searches found is compared in one more run: `--strategy=replay` with all of
it in the final, where schedules are measured in turn. All reports stay in --out;
`judge` makes the table of `exhaustive` from them again, without a GPU.
"""

import argparse
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import time

import attention

# Of the largest part of the space that can be measured as a whole: rings,
# orders and loops of each shape with warpgroups and producers. A round of
# `exhaustive` has some hundred of them.
PART = (
    "block-m=128,block-m=192,block-m=256,block-n=64,block-n=96,block-n=128,"
    "block-n=176,num-warps=8,num-warps=12,num-warps=16,mma-warps=4,"
    "producer-warps=4,q-stages=1,k-stages=2,v-stages=2,k-stages=3,v-stages=3,"
    "q-in-registers=0,overlap=softmax,overlap=ping-pong,rescale=0,rescale=8,exp-on-fma=0,"
    "split-masked=1,tile-order=descending,persistent=none,persistent=static,persistent=dynamic,"
    "workgroups-per-sm=1,cluster=1"
)
CASES = {
    "repeat": "head_128_causal_4096",
    "exhaustive": "head_64_full_2048,head_96_causal_4096,head_128_causal_4096",
    "strategies": "head_64_full_1024,head_64_causal_4096,head_64_full_16384,"
    "head_128_causal_512,head_128_full_2048,head_128_causal_16384,"
    "head_256_causal_4096,head_256_full_512,head_128_causal_4096_group_8,"
    "head_128_full_4096_group_4_query_1",
    "two": "head_128_causal_4096",
    "throughput": "head_128_causal_4096",
}
STRATEGIES = "guided,neighbourhood,evolutionary,surrogate,random"


class Lab:
    """Runs searches, keeps their reports, and knows when to stop."""

    def __init__(self, args):
        self.args = args
        self.tools = attention.Tools(args)
        self.end = time.time() + args.limit if args.limit else None
        self.rows = []

    def left(self):
        return self.end - time.time() if self.end else float("inf")

    def path(self, case, label, suffix):
        return os.path.join(self.args.out, f"{case.name}.{label}.{suffix}")

    def start(self, case, label, *options):
        """A search that runs: its process, and the place of its report."""
        problem = self.tools.path(case, ".mlir")
        if not os.path.exists(problem):
            self.tools.generate(case)
        report = self.path(case, label, "json")
        if os.path.exists(report):
            os.remove(report)
        command = [
            os.path.join(self.args.bin, "attune-tune"),
            problem,
            f"--chip={self.args.chip}",
            f"--json={report}",
            "--quiet",
            *options,
            *self.args.tune_args,
        ]
        log = open(self.path(case, label, "log"), "w")
        return subprocess.Popen(command, stdout=log, stderr=log), report

    def finish(self, search):
        """The report of a search; ends the program where there is none."""
        process, path = search
        try:
            process.wait(max(1, min(self.left(), 3600)))
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            sys.exit(f"{path}: not done within the limit of time")
        if not os.path.exists(path):
            with open(path[: -len("json")] + "log") as log:
                sys.exit(f"{path}: no report; {log.read()[-400:]}")
        with open(path) as file:
            return json.load(file)["problems"][0]

    def search(self, case, label, *options):
        begin = time.time()
        report = self.finish(self.start(case, label, *options))
        report["wall"] = time.time() - begin
        return report

    def measure_in_turn(self, case, label, key, schedules, rounds):
        """The result of each schedule in one final of all of them."""
        some = []
        for schedule in schedules:
            if schedule not in some:
                some.append(schedule)
        recorded = self.path(case, label, "recorded.json")
        results = [{"schedule": schedule} for schedule in some]
        with open(recorded, "w") as file:
            json.dump({"problems": [{"key": key, "results": results}]}, file)
        report = self.search(
            case,
            label,
            "--strategy=replay",
            f"--replay={recorded}",
            f"--finalists={len(some) + 1}",
            f"--final-rounds={rounds}",
        )
        found = {dump(r["schedule"]): r for r in report["results"]}
        for result in found.values():
            # A winner that fails here is infinitely far from the best.
            if result.setdefault("median_ns", math.inf) == math.inf:
                print(f"{case.name}: {result['status']}", flush=True)
        return [found[dump(schedule)] for schedule in schedules]

    def add(self, *row):
        """A line of the table, which is on disk at once."""
        self.rows.append(row)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        name = os.path.join(self.args.out, f"{self.args.command}.tsv")
        with open(name, "w") as file:
            for each in self.rows:
                file.write("\t".join(map(str, each)) + "\n")

    def head(self, columns):
        self.add(*columns.split(", "))
        print("|---" * len(self.rows[0]) + "|", flush=True)


def dump(schedule):
    return json.dumps(schedule, sort_keys=True)


def best_of(report):
    if "best" not in report:
        sys.exit(f"{report['problem']}: nothing was found")
    return report["results"][report["best"]]


def tflops(case, result):
    return f"{case.flops / result['median_ns'] / 1e3:.0f}"


def percent(ratio):
    return f"{100 * ratio:.2f} %"


def timed(report):
    return [r for r in report["results"] if "median_ns" in r]


def seconds_to(report, nanoseconds):
    """Until the first was measured that takes no longer, or a dash."""
    ends = [
        r["measure_s"][1]
        for r in timed(report)
        if r["median_ns"] <= nanoseconds and "measure_s" in r
    ]
    return f"{min(ends):.1f}" if ends else "-"


def repeat(lab):
    args = lab.args
    for case in args.cases:
        reports = []
        for seed in range(1, args.runs + 1):
            report = lab.search(
                case, f"seed{seed}", f"--seed={seed}", f"--budget={args.budget}"
            )
            print(f"seed {seed}: {tflops(case, best_of(report))}", flush=True)
            reports.append(report)
        winners = [best_of(report)["schedule"] for report in reports]
        rounds = 10
        results = lab.measure_in_turn(
            case, "repeat", reports[0]["key"], winners, rounds
        )
        best = min(r["median_ns"] for r in results)
        lab.head("seed, TFLOP/s, regret, tried, wall s, schedule")
        for seed, (report, result) in enumerate(zip(reports, results), 1):
            lab.add(
                seed,
                tflops(case, result),
                percent(result["median_ns"] / best - 1),
                report["tried"],
                f"{report['wall']:.1f}",
                attention.shorten(result["schedule"], report),
            )
        # What a run would say of the best, if each round was one.
        samples = min(results, key=lambda r: r["median_ns"])["samples_ns"]
        each = len(samples) // rounds
        medians = [
            statistics.median(samples[i * each : (i + 1) * each])
            for i in range(rounds)
        ]
        spread = (max(medians) - min(medians)) / best
        regret = max(r["median_ns"] for r in results) / best - 1
        print(
            f"{case.name}: {len(set(map(dump, winners)))} different winners, "
            f"largest regret {percent(regret)} (2 %), "
            f"spread of the best over {rounds} rounds {percent(spread)} (1 %)",
            flush=True,
        )


def exhaustive(lab):
    args = lab.args
    part = f"--only={args.only}"
    lab.head("case, kernels, strategy, budget, TFLOP/s, regret")
    for case in args.cases:
        everything = lab.search(case, "grid", part, "--strategy=grid")
        legal, order = everything["legal"], timed(everything)
        order.sort(key=lambda r: r["median_ns"])
        budget = max(1, round(legal * args.share))
        names = args.strategies.split(",")
        reports = [
            lab.search(
                case,
                strategy,
                part,
                f"--strategy={strategy}",
                f"--budget={budget}",
            )
            for strategy in names
        ]
        winners = [best_of(report)["schedule"] for report in reports]
        few = [r["schedule"] for r in order[:6]]
        results = lab.measure_in_turn(
            case, "final", everything["key"], winners + few, 7
        )
        best = min(r["median_ns"] for r in results)
        results[len(names) :] = [
            min(results[len(names) :], key=lambda r: r["median_ns"])
        ]
        for name, result in zip(names + ["grid"], results):
            lab.add(
                case.name,
                everything["binaries"],
                name,
                legal if name == "grid" else budget,
                tflops(case, result),
                percent(result["median_ns"] / best - 1),
            )
    judge(lab)


def judge(lab):
    """All strategies among what `exhaustive` has recorded."""
    for case in lab.args.cases:
        done = lab.tools.call(
            "attune-tune",
            lab.tools.path(case, ".mlir"),
            f"--judge={lab.path(case, 'grid', 'json')}",
        )
        print(f"\n{case.name}\n{done.stdout}{done.stderr}", flush=True)


def strategies(lab):
    args = lab.args
    names = args.strategies.split(",")
    lab.head(
        "case, strategy, TFLOP/s, regret, seconds to 2 %, tried, schedule"
    )
    for case in args.cases:
        reports = [
            lab.search(
                case, name, f"--strategy={name}", f"--budget={args.budget}"
            )
            for name in names
        ]
        results = lab.measure_in_turn(
            case,
            "final",
            reports[0]["key"],
            [best_of(report)["schedule"] for report in reports],
            7,
        )
        best = min(r["median_ns"] for r in results)
        for name, report, result in zip(names, reports, results):
            lab.add(
                case.name,
                name,
                tflops(case, result),
                percent(result["median_ns"] / best - 1),
                seconds_to(report, 1.02 * best),
                report["tried"],
                attention.shorten(result["schedule"], report),
            )


def two(lab):
    """What two tuners store at a time, and whether times stay what they are."""
    args = lab.args
    lab.head("GPUs, rows, lost, measured twice, time over alone, most")
    for case in args.cases:
        part = (f"--only={args.only}", "--final-rounds=0")
        options = ("--strategy=random", f"--budget={args.budget}", *part)
        alone = lab.search(case, "alone", "--seed=1", *options)
        usual = {dump(r["schedule"]): r["median_ns"] for r in timed(alone)}
        for gpus in (("0", "0"), ("0", "1"))[: args.gpus]:
            database = lab.path(case, f"two{gpus[1]}", "db")
            if os.path.exists(database):
                os.remove(database)
            searches = [
                lab.start(
                    case,
                    f"tuner{number}",
                    f"--gpus={gpu}",
                    f"--seed={number}",
                    f"--db={database}",
                    *options,
                )
                for number, gpu in enumerate(gpus, 1)
            ]
            results = [r for s in searches for r in lab.finish(s)["results"]]
            # Proofs are rows of their own, and so is what one tuner compiled
            # and had no more time for, if the other measured it.
            rows = sqlite3.connect(database).execute(
                "SELECT schedule, stage FROM measurement "
                "WHERE stage IN ('compile', 'measure')"
            )
            stored = [(dump(json.loads(row[0])), row[1]) for row in rows]
            schedules = {schedule for schedule, _ in stored}
            checked = lab.tools.call(
                "attune-tune", "--status", f"--db={database}"
            )
            if checked.returncode:
                print(checked.stderr, flush=True)
            ratios = [
                (r["median_ns"] / usual[dump(r["schedule"])] - 1, r)
                for r in results
                if "measure_s" in r
                and "median_ns" in r
                and dump(r["schedule"]) in usual
            ]
            if not ratios:
                sys.exit(f"{case.name}: no candidate was also timed alone")
            worst = max(ratios, key=lambda r: r[0])
            lab.add(
                " and ".join(gpus),
                len(stored),
                sum(dump(r["schedule"]) not in schedules for r in results),
                len(stored) - len(set(stored)),
                percent(statistics.median(r[0] for r in ratios)),
                percent(worst[0]),
            )
            print(f"most: {worst[1]}", flush=True)


def busy(spans):
    """Seconds that the union of some intervals has."""
    total, last = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


def throughput(lab):
    args = lab.args
    lab.head(
        "device, candidates, in a second, one compiles for, one is measured "
        "for, compilers busy, device busy, nobody busy, before and after"
    )
    jobs = args.jobs or len(os.sched_getaffinity(0))
    for case in args.cases:
        for device in args.devices.split(","):
            report = lab.search(
                case,
                device,
                f"--device={device}",
                f"--jobs={jobs}",
                f"--budget={args.budget}",
                "--strategy=random",
                "--finalists=0",
            )
            stages = [
                [r[stage] for r in report["results"] if stage in r]
                for stage in ("compile_s", "measure_s")
            ]
            if not stages[0]:
                sys.exit(f"{case.name}: nothing was compiled")
            both = stages[0] + stages[1]
            first, last = min(s[0] for s in both), max(s[1] for s in both)

            def mean(spans):
                times = [end - begin for begin, end in spans]
                return f"{statistics.mean(times):.2f} s" if times else "-"

            work = sum(end - begin for begin, end in stages[0])
            lab.add(
                report["device"],
                len(stages[0]),
                f"{len(stages[0]) / (last - first):.1f}",
                mean(stages[0]),
                mean(stages[1]),
                percent(work / jobs / (last - first)),
                percent(busy(stages[1]) / (last - first)),
                percent(max(0, 1 - busy(both) / (last - first))),
                f"{report['wall'] - (last - first):.1f} s",
            )


def parse():
    commands = {
        f.__name__: f
        for f in (repeat, exhaustive, judge, strategies, two, throughput)
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=commands)
    parser.add_argument("--bin", default="build/bin", help="where the tools are")
    parser.add_argument("--out", default="benchmark", help="folder for results")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--cases", help="as of attention.py")
    parser.add_argument("--budget", default="20s", help="of each search")
    parser.add_argument("--runs", type=int, default=10, help="of repeat")
    parser.add_argument("--only", default=PART, help="part of the space")
    parser.add_argument("--share", type=float, default=0.05, help="of the part")
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument("--gpus", type=int, default=1, help="1 or 2, of two")
    parser.add_argument("--devices", default="none,auto", help="of throughput")
    parser.add_argument("--jobs", type=int, help="of throughput (processors)")
    parser.add_argument("--limit", type=float, help="end after so many s")
    parser.add_argument(
        "--tune-args", default="", help="for attune-tune, in one word"
    )
    args = parser.parse_args()
    args.tune_args = args.tune_args.split()
    cases = args.cases or CASES.get(args.command, CASES["exhaustive"])
    every = {c.name: c for g in attention.make_cases().values() for c in g}
    for name in cases.split(","):
        if name not in every:
            parser.error(f"expects a case, but got '{name}': {list(every)}")
    args.cases = [every[name] for name in cases.split(",")]
    return args, commands[args.command]


def main():
    args, command = parse()
    os.makedirs(args.out, exist_ok=True)
    command(Lab(args))


if __name__ == "__main__":
    sys.exit(main())
