#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the rules of legality against the compiler and the assembler of a chip.

Sound: of random legal schedules, how many become a kernel. Complete: of
schedules that a rule refuses, each one tunable away from a legal one, what
would have become of them if nothing had refused them:

  fails    the compiler or the assembler would have refused it, too
  large    more shared memory than a workgroup or an SM has, or registers spill
  equal    the same kernel as that of a legal schedule: nothing is lost
  fits     a kernel of its own that nobody gets to see

Prints a table of the first and the rules of the second, and writes all of it
to --out. Exit code 1 if a legal schedule failed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PROBLEMS = {
    "causal, 128": "--batch=1 --heads=4 --kv-heads=2 --seq-q=1000"
    " --head-dim=128 --dtype=bf16 --mask=causal",
    "full, 64": "--batch=2 --heads=2 --seq-q=384 --seq-k=777 --head-dim=64"
    " --dtype=f16",
}
CHECK = re.compile(r"attune-check-schedule,\s*")
RULE = re.compile(r"error: 'attn\.attention' op ([a-z0-9-]+): ")
OBJECT = re.compile(r"#gpu\.object<.*")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Problem:
    def __init__(self, args, folder, name):
        self.args = args
        self.path = os.path.join(folder, re.sub(r"\W+", "_", name) + ".mlir")
        tool = os.path.join(args.bin, "attune-gen")
        made = run(tool, "--op=attention", *PROBLEMS[name].split(), "-o", self.path)
        if made.returncode:
            sys.exit(made.stderr)
        self.optimizer = os.path.join(args.bin, "attune-opt")
        dump = run(
            self.optimizer,
            self.path,
            f"--attune-compile=chip={args.chip}",
            "--dump-pass-pipeline",
        ).stderr
        if not CHECK.search(dump):
            sys.exit(f"expects a pass that checks schedules, but got {dump[-500:]}")
        self.pipeline = dump[dump.index("builtin.module") :]

    def search(self):
        """Results of random legal schedules."""
        report = self.path + ".json"
        done = run(
            os.path.join(self.args.bin, "attune-tune"),
            self.path,
            f"--chip={self.args.chip}",
            "--device=none",
            "--everything",
            "--finalists=0",
            "--strategy=random",
            f"--budget={self.args.legal}",
            f"--seed={self.args.seed}",
            f"--jobs={self.args.jobs}",
            "--quiet",
            f"--json={report}",
        )
        if not os.path.exists(report):
            sys.exit(done.stderr)
        with open(report, encoding="utf-8") as file:
            return json.load(file)["problems"][0]["results"]

    def compile(self, schedule, checked):
        """What attune-opt makes of a schedule, with the rules or without.
        Tunables that it lacks have their defaults."""
        tunables = " ".join(f"{name}={value}" for name, value in schedule.items())
        pipeline = self.pipeline if checked else CHECK.sub("", self.pipeline)
        pipeline = pipeline.replace(
            "builtin.module(",
            f"builtin.module(attune-set-schedule{{{tunables}}},",
            1,
        )
        return run("timeout", "120", self.optimizer, self.path, f"--pass-pipeline={pipeline}")

    def judge(self, schedule):
        """The rule that refuses a schedule, and what becomes of it without; none
        for a legal one."""
        rule = RULE.search(self.compile(schedule, True).stderr)
        if not rule:
            return None
        made = self.compile(schedule, False)
        if made.returncode not in (0, 1):
            return rule[1], "crashes"
        if made.returncode:
            return rule[1], "fails"

        def total(name):
            return sum(map(int, re.findall(name + r" = (\d+)", made.stdout)))

        def has(name):
            return int(re.search(rf"tile\.target<.*? {name} = (\d+)", made.stdout)[1])

        shared = total("[^_]shared_bytes") + total("static_shared_bytes")
        # An SM that shall hold some at a time, but has no room for them.
        of_sm = shared * schedule["workgroups-per-sm"] > has("shared_per_sm")
        if shared > has("shared") or of_sm or total("spill_store_bytes"):
            return rule[1], "large"
        kernel = OBJECT.search(made.stdout)[0]
        return rule[1], "equal" if self.is_known(schedule, kernel) else "fits"

    def is_known(self, schedule, kernel):
        """Whether a legal schedule makes the kernel as well: tunables without
        effect on it get their defaults, one after the other."""
        for name in list(schedule):
            fewer = {k: v for k, v in schedule.items() if k != name}
            other = OBJECT.search(self.compile(fewer, False).stdout)
            if other and other[0] == kernel:
                schedule = fewer
        return self.compile(schedule, True).returncode == 0


def change_one(schedule, domains, generator):
    name = generator.choice([n for n, values in domains.items() if len(values) > 1])
    values = [value for value in domains[name] if value != schedule[name]]
    return {**schedule, name: generator.choice(values)}


def refuse(problem, results, args):
    """How often a rule refused what had become of it otherwise."""
    # Values that legal schedules have; others are illegal wherever they stand.
    domains = collections.defaultdict(set)
    for result in results:
        for name, value in result["schedule"].items():
            domains[name].add(value)
    domains = {name: sorted(values) for name, values in domains.items()}
    generator = random.Random(args.seed)
    found = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while (missing := args.illegal - found.total()) > 0:
            neighbours = [
                change_one(generator.choice(results)["schedule"], domains, generator)
                for _ in range(missing)
            ]
            found.update(v for v in pool.map(problem.judge, neighbours) if v)
    return found


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--chip", required=True)
    parser.add_argument("--bin", default="build/bin", help="where the tools are")
    parser.add_argument("--out", help="file for the results")
    parser.add_argument("--legal", type=int, default=1000, help="of each problem")
    parser.add_argument("--illegal", type=int, default=250, help="of each problem")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = parse()
    report = {"chip": args.chip, "seed": args.seed, "problems": {}}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in PROBLEMS:
            problem = Problem(args, folder, name)
            results = problem.search()
            statuses = collections.Counter(r["status"] for r in results)
            spilling = sum(
                r.get("resources", {}).get("spill_bytes", 0) > 0 for r in results
            )
            failures = [r for r in results if r["status"] != "ok"]
            failed |= bool(failures)
            print(
                f"{args.chip}, {name}: {len(results)} legal schedules:"
                f" {dict(statuses)}, {spilling} spill",
                flush=True,
            )
            found = refuse(problem, results, args)
            rules = collections.defaultdict(dict)
            for (rule, verdict), count in sorted(found.items()):
                rules[rule][verdict] = count
            report["problems"][name] = {
                "statuses": statuses,
                "spilling": spilling,
                "failures": failures[:10],
                "rules": rules,
            }
            for rule, verdicts in sorted(rules.items()):
                print(f"  {rule}: {verdicts}", flush=True)
            fits = sum(v.get("fits", 0) for v in rules.values())
            print(f"  refused in vain: {fits} of {found.total()}", flush=True)
            if args.out:
                with open(args.out, "w", encoding="utf-8") as file:
                    json.dump(report, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
