#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants real faults into kernels that attune-tune compiles and runs on a GPU.

Every second candidate of a search gets a fault in its PTX, right before the
assembler has it (--assembler names a script here); nothing else differs from
any other search. For each kind of fault it is told:

  - what attune-tune called it, each time;
  - whether the sound candidate that came next was right, and how much slower it
    was than in the same search without faults;
  - what a fault cost beyond the limit of time: ending the worker, starting the
    next one, its inputs and its reference.

Results are written after each kind, and kinds that are there are not run again.
Exit code 1 if a fault had another label than it should, a sound candidate
failed, or its time changed by more than --tolerance.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

import attention

# Sound candidates have one warpgroup that computes, and those with a fault two:
# that can be told from the PTX alone.
ONLY = (
    "block-m=64,block-m=128,num-warps=4,num-warps=8,mma-warps=4,"
    "producer-warps=4,q-in-registers=0,block-n=96,block-n=112,block-n=128,"
    "rescale=0,rescale=8,split-masked=0,split-masked=1,workgroups-per-sm=1,"
    "cluster=1,exp-on-fma=0,q-stages=1,persistent=none"
)
FAULTY_WARPS = 8
FAULTY_THREADS = f".reqntid {32 * (FAULTY_WARPS + 4)},"
STORE = re.compile(r"(st\.global[.\w]*\s+\[%\w+)(?:\+(\d+))?\]")
# What the driver of any chip with warpgroups can give a workgroup.
SHARED_BYTES = 227 << 10


def move_stores(text, distance):
    def move(match):
        return f"{match[1]}+{int(match[2] or 0) + distance}]"

    return STORE.sub(move, text)


def insert_at_end(text, code):
    """In front of the last instruction, to which all threads come."""
    at = text.rindex("ret;")
    return text[:at] + code + "\n\t" + text[at:]


def remove(text, instruction):
    at = re.search(rf"^.*{re.escape(instruction)}.*$", text, re.MULTILINE)
    return text[: at.start()] + text[at.end() :]


def replace_weights(text, value):
    """Instead of the first exponential of a block, in each thread."""
    return re.sub(
        r"ex2\.approx\.ftz\.f32\s+(%\w+), %\w+;",
        rf"mov.b32 \1, {value};",
        text,
        count=1,
    )


def claim_shared(text):
    """As much as may be declared; with the rest it is too much."""
    text = text.replace(
        ".visible .entry",
        ".shared .align 16 .b8 attune_fault[49152];\n\n.visible .entry",
        1,
    )
    return insert_at_end(text, "st.volatile.shared.b32 [attune_fault], 0;")


def claim_registers(text):
    """So many that one of two warpgroups never gets them."""
    return re.sub(r"(setmaxnreg\.inc\S*\s+)\d+", r"\g<1>256", text)


def store_nowhere(text):
    """To the first page, where nothing is ever mapped."""
    code = "{.reg .b64 %attune_fault; mov.b64 %attune_fault, 16;" \
        " st.volatile.global.b32 [%attune_fault], 0;}"
    return insert_at_end(text, code)


def loop_forever(text):
    """Until the time is zero: a loop that has no other end is not always left
    as it is by the assembler."""
    return insert_at_end(
        text,
        "{.reg .b64 %attune_time; .reg .pred %attune_more;"
        " $attune_fault: nanosleep.u32 1000;"
        " mov.u64 %attune_time, %globaltimer;"
        " setp.ne.u64 %attune_more, %attune_time, 0;"
        " @%attune_more bra $attune_fault;}",
    )


# What a fault does to the text, and what it is to be called.
FAULTS = {
    "store to nowhere": (store_nowhere, "run-error"),
    "store beside the result": (lambda t: move_stores(t, -16), "run-error"),
    "misaligned store": (lambda t: move_stores(t, 1), "run-error"),
    "endless loop": (loop_forever, "timeout"),
    "missed arrive": (
        lambda t: remove(t, "mbarrier.arrive.expect_tx"),
        "timeout",
    ),
    "more registers than there are": (claim_registers, "timeout"),
    "trap": (lambda t: insert_at_end(t, "trap;"), "run-error"),
    "too much shared memory": (claim_shared, "run-error"),
    "not a number": (
        lambda t: replace_weights(t, "0f7FC00000"),
        "wrong-result",
    ),
    "wrong weight": (
        lambda t: replace_weights(t, "0f3F800000"),
        "wrong-result",
    ),
}


def assemble(fault, command):
    """What is called in place of the assembler: plants, and calls it."""
    for path in command:
        if not path.endswith(".ptx"):
            continue
        with open(path) as file:
            text = file.read()
        if FAULTY_THREADS in text and fault in FAULTS:
            planted = FAULTS[fault][0](text)
            if planted == text:
                sys.exit(f"expects a place for the fault '{fault}'")
            with open(path, "w") as file:
                file.write(planted)
    os.execv(command[0], command)


class Searches:
    """Runs attune-tune with an assembler that plants one kind of fault."""

    def __init__(self, args):
        self.args = args
        self.end = time.time() + args.limit if args.limit else None
        self.problem = args.problem
        if not self.problem:
            tools = attention.Tools(args)
            self.problem = tools.generate(
                attention.make_case(128, "causal", 2048)
            )

    def left(self):
        return self.end - time.time() if self.end else float("inf")

    def path(self, name):
        return os.path.join(self.args.out, name.replace(" ", "-"))

    def run(self, name, fault, *options):
        """A report's problem, or None."""
        script = self.path(name + ".sh")
        with open(script, "w") as file:
            file.write(
                f"#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)}"
                f" assemble '{fault}' {self.args.ptxas} \"$@\"\n"
            )
        os.chmod(script, 0o755)
        report = self.path(name + ".json")
        command = [
            os.path.join(self.args.bin, "attune-tune"),
            self.problem,
            f"--chip={self.args.chip}",
            f"--device={self.args.device}",
            f"--only={ONLY}",
            f"--assembler={script}",
            f"--json={report}",
            f"--run-timeout={self.args.run_timeout}",
            "--max-spill-bytes=1000000",
            "--finalists=0",
            "--quiet",
            *options,
            *self.args.tune_args,
        ]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=min(self.left(), 3600),
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: stopped at the limit of time", flush=True)
            return None
        if not os.path.exists(report):
            print(f"{name}: {done.stderr[-500:]}", flush=True)
            return None
        with open(report) as file:
            return json.load(file)["problems"][0]


def is_faulty(result):
    return result["schedule"]["num-warps"] == FAULTY_WARPS


def choose(report, pairs):
    """Schedules with different kernels, one to get a fault before each sound
    one."""
    seen, kinds = set(), ([], [])
    times = [r["median_ns"] for r in report["results"] if "median_ns" in r]
    for result in report["results"]:
        if result["status"] != "ok" or result["hash"] in seen:
            continue
        if times and result["median_ns"] > 1.8 * min(times):
            continue
        used = result["resources"]
        if used["spill_bytes"] or "serialized_multiplies" in used:
            continue
        full = used["shared_bytes"] + 49152 > SHARED_BYTES
        if is_faulty(result) and not full:
            continue
        seen.add(result["hash"])
        kinds[not is_faulty(result)].append({"schedule": result["schedule"]})
    return [one for pair in zip(*kinds) for one in pair][: 2 * pairs]


def span(result):
    begin, end = result["measure_s"]
    return end - begin


def in_order(report):
    timed = [r for r in report["results"] if "measure_s" in r]
    return sorted(timed, key=lambda r: r["measure_s"][0])


def key(result):
    return json.dumps(result["schedule"], sort_keys=True)


def compare(sound, controls):
    """How much slower than without faults."""
    usual = statistics.mean(c[key(sound)]["median_ns"] for c in controls)
    return sound["median_ns"] / usual - 1


def judge(report, controls, run_timeout):
    found = {"labels": {}, "examples": {}, "changes": [], "costs": []}
    found["next_right"] = found["next"] = found["sound_failed"] = 0
    order = in_order(report)
    for one, after in zip(order, order[1:] + [None]):
        status = one["status"]
        if not is_faulty(one):
            found["sound_failed"] += status != "ok"
            continue
        found["labels"][status] = found["labels"].get(status, 0) + 1
        found["examples"].setdefault(status, one.get("message", "")[:200])
        if after is None or is_faulty(after):
            continue
        found["next"] += 1
        if after["status"] != "ok":
            continue
        found["next_right"] += 1
        found["changes"].append(compare(after, controls))
        cost = span(one) - (run_timeout if status == "timeout" else 0)
        usual = statistics.mean(span(c[key(after)]) for c in controls)
        found["costs"].append(cost + span(after) - usual)
    return found


def print_row(fault, found, tolerance):
    labels = ", ".join(f"{k} {v}" for k, v in sorted(found["labels"].items()))
    changes = [100 * abs(change) for change in found["changes"]] or [0]
    costs = found["costs"] or [0]
    expected = {FAULTS[fault][1]}
    right = (
        set(found["labels"]) == expected
        and found["next"] > 0
        and found["next_right"] == found["next"]
        and not found["sound_failed"]
        and statistics.median(changes) <= tolerance
    )
    print(
        f"| {fault} | {labels} | {found['next_right']} of {found['next']} | "
        f"{statistics.median(changes):.2f} % | {max(changes):.2f} % | "
        f"{statistics.mean(costs):.2f} s | {max(costs):.2f} s | "
        f"{'as it should be' if right else 'WRONG'} |",
        flush=True,
    )
    return right


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--bin", default="build/bin", help="where the tools are")
    parser.add_argument("--out", default="faults", help="folder for results")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--device", default="cuda", help="none: only assemble")
    parser.add_argument("--problem", help="file (causal, head size 128, 2048)")
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    parser.add_argument("--ptxas", default=shutil.which("ptxas", path=path))
    parser.add_argument("--faults", help=f"some of {', '.join(FAULTS)}")
    parser.add_argument("--pairs", type=int, default=24, help="for each kind")
    parser.add_argument("--jobs", type=int, default=8, help="that compile")
    parser.add_argument("--run-timeout", type=float, default=3)
    parser.add_argument("--tolerance", type=float, default=2, help="in percent")
    parser.add_argument("--limit", type=float, help="end after so many s")
    parser.add_argument("--tune-args", default="", help="for attune-tune")
    args = parser.parse_args()
    args.tune_args = args.tune_args.split()
    args.faults = args.faults.split(",") if args.faults else list(FAULTS)
    for fault in args.faults:
        if fault not in FAULTS:
            parser.error(f"expects one of {', '.join(FAULTS)}; got '{fault}'")
    if not args.ptxas:
        parser.error("expects ptxas in PATH, or --ptxas=<path>")
    return args


def main():
    if sys.argv[1:2] == ["assemble"]:
        assemble(sys.argv[2], sys.argv[3:])
    args = parse()
    os.makedirs(args.out, exist_ok=True)
    searches = Searches(args)
    plan = searches.path("plan.json")
    if not os.path.exists(plan):
        report = searches.run(
            "all", "none", "--strategy=random", f"--budget={8 * args.pairs}"
        )
        if not report:
            return 1
        chosen = choose(report, args.pairs)
        print(f"{len(chosen) // 2} pairs", flush=True)
        with open(plan, "w") as file:
            problem = {"key": report["key"], "results": chosen}
            json.dump({"problems": [problem]}, file)

    def replay(name, fault):
        path = searches.path(name + ".json")
        if os.path.exists(path):
            with open(path) as file:
                return json.load(file)["problems"][0]
        return searches.run(
            name,
            fault,
            "--strategy=replay",
            f"--replay={plan}",
            f"--jobs={args.jobs}",
        )

    right = True
    if args.device == "none":
        sound = {key(r): r["hash"] for r in replay("sound", "none")["results"]}
        for fault in args.faults:
            report = replay(fault, fault)
            planted = report["statuses"] == {"ok": len(sound)} and all(
                (r["hash"] != sound[key(r)]) == is_faulty(r)
                for r in report["results"]
            )
            print(f"{fault}: {'planted' if planted else 'NOT PLANTED'}", flush=True)
            right &= planted
        return 0 if right else 1

    controls = []
    for name in ("without faults", "without faults again"):
        report = replay(name, "none")
        if not report or set(report["statuses"]) != {"ok"}:
            print(f"{name}: {report and report['statuses']}")
            return 1
        controls.append({key(r): r for r in report["results"]})
    noise = [100 * abs(compare(r, controls[1:])) for r in controls[0].values()]
    print(
        f"twice without faults: times differ by {statistics.median(noise):.2f} "
        f"% (median), {max(noise):.2f} % (most)\n"
        "| fault | called | next one right | its time changed by (median) | "
        "(most) | cost (mean) | (most) | |\n|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    results = {}
    for fault in args.faults:
        report = replay(fault, fault)
        if not report:
            return 1
        results[fault] = judge(report, controls, args.run_timeout)
        right &= print_row(fault, results[fault], args.tolerance)
        with open(searches.path("faults.json"), "w") as file:
            json.dump(results, file, indent=1)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
