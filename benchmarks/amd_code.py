#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads AMD kernels as machine code, and says what bounds their main loop.

Compiles attention with the schedule that is chosen without a search,
disassembles the HSACO, and counts what the loop with most matrix instructions
issues in one iteration. Nothing runs: counts are of machine code, and times
are of the compiler's model (lib/Target/AMD/Common/LoopModel.cpp).

Prints a table of counts, each with * where it misses its bar (BARS), and one of
the model: clocks of one iteration on a SIMD with all of its waves, and what
bounds them. With --space it also compiles so many random ones of the schedules
that a search would try, and says how much faster than the one that is chosen the
best of them is by the model. Exit code 1 with --check if a bar is missed.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201")
SIMDS = 4  # of what the manifest calls an SM
# Clocks of the model by the part of an SM that would need them.
PARTS = ("matrix", "vector", "shared", "cache", "alone")
# By how much the best schedule may be faster than the chosen one, in percent,
# and from how many bytes on a search does not time what spills.
MOST_GAIN, MOST_SPILLS = 5, 512

TRANSCENDENTAL = re.compile(r"v_(s_)?(exp|log|rcp|rsq|sqrt|sin|cos)_")
MATRIX = re.compile(r"v_(?:mfma|smfmac|wmma|swmmac)_\w*?_(\d+)x(\d+)x(\d+)")
FULL_WAIT = re.compile(r"vmcnt\(0\)|s_wait_loadcnt(?:_dscnt)? 0x0\b")
BRANCH = re.compile(r"s_(?:c?branch\w*)\s.*<\S+?\+0x([0-9a-f]+)>")
LINE = re.compile(r"^\t(\S.*?)\s*// ([0-9A-F]+):")


@dataclasses.dataclass
class Loop:
    """What one iteration issues; matrix counts are of 32x32x8 (16x16x16)."""

    counts: collections.Counter
    matrix: float
    lines: list


def disassemble(tool, chip, path):
    text = subprocess.run([tool, "-d", f"--mcpu={chip}", path], check=True,
                          capture_output=True, text=True).stdout
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            # Targets of branches stand behind the encoding.
            found.append((int(match[2], 16), match[1] + " " + line.partition("//")[2]))
    return found


def count(lines, lanes):
    counts = collections.Counter()
    matrix = 0.0
    for _, text in lines:
        name = text.split()[0]
        if found := MATRIX.match(name):
            m, n, k = (int(size) for size in found.groups())
            counts["matrix"] += 1
            matrix += m * n * k / (8192 if lanes == 64 else 4096)
        elif name.startswith("v_"):
            counts["valu"] += 1
            counts["transcendental"] += bool(TRANSCENDENTAL.match(name))
            counts["accvgpr"] += name.startswith("v_accvgpr")
            counts["lanes"] += bool(re.match(r"v_(write|read)lane", name))
        elif name.startswith("ds_"):
            counts["shared"] += 1
            if re.match(r"ds_(b?permute|swizzle)", name):
                counts["permutes"] += 1
            counts["u16"] += bool(re.match(r"ds_(read|load)_[ui]16", name))
        elif name.startswith("scratch_"):
            counts["scratch"] += 1
        elif name.startswith("s_barrier") and "signal" not in name:
            counts["barriers"] += 1
        if name.startswith("s_wait"):
            counts["waits"] += 1
            counts["full"] += bool(FULL_WAIT.search(text))
    return Loop(counts, matrix, lines)


def find_loop(code, lanes):
    """The loop with most matrix instructions; of several, as those with and
    without a mask, the shortest."""
    first = code[0][0]
    loops = []
    for i, (address, text) in enumerate(code):
        target = BRANCH.match(text)
        if not target or first + int(target[1], 16) > address:
            continue
        start = first + int(target[1], 16)
        loops.append(count([c for c in code[: i + 1] if c[0] >= start], lanes))
    loops = [loop for loop in loops if loop.matrix]
    if not loops:
        sys.exit("expects a loop with matrix instructions, but found none")
    return max(loops, key=lambda loop: (loop.matrix, -len(loop.lines)))


@dataclasses.dataclass(frozen=True)
class Case:
    chip: str
    dim: int
    mask: str
    dtype: str


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def make_problem(args, case):
    mask = ["--mask=causal"] if case.mask == "causal" else []
    return run([os.path.join(args.bin, "attune-gen"), "--op=attention",
                f"--batch={args.batch}", f"--heads={args.heads}",
                f"--seq-q={args.keys}", f"--head-dim={case.dim}",
                f"--dtype={case.dtype}", *mask])


def find_gain(args, case):
    """By how many percent the best of the space is faster than the choice."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = (os.path.join(folder, name) for name in ("a.mlir", "a.json"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_problem(args, case))
        # The order of tiles is not seen in a loop.
        run([os.path.join(args.bin, "attune-tune"), path, f"--chip={case.chip}",
             "--device=none", "--strategy=random", f"--budget={args.space}", "--finalists=0",
             "--only=tile-order=across-heads,split-masked=1", "--jobs=1", "--quiet",
             f"--json={report}"])
        with open(report, encoding="utf-8") as file:
            problem, = json.load(file)["problems"]
    speeds = {}
    for place, result in enumerate(problem["results"]):
        used = result.get("resources", {})
        if result["status"] == "ok" and used.get("spill_bytes", 0) <= MOST_SPILLS:
            speeds[place] = used.get("loop_flops_per_clock", 0)
    return 100 * (max(speeds.values()) / speeds[problem["default"]] - 1)


def read(args, case):
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem(args, case)
        optimizer = os.path.join(args.bin, "attune-opt")
        if args.schedule:
            problem = run([optimizer, "-", f"--attune-set-schedule={args.schedule}"],
                          input=problem)
        run([optimizer, "-", f"--attune-compile=chip={case.chip} output-dir={folder}",
             "-o", os.devnull], input=problem)
        path = next(os.path.join(folder, name) for name in os.listdir(folder)
                    if name.endswith(".hsaco"))
        with open(path[: -len("hsaco")] + "json", encoding="utf-8") as file:
            manifest = json.load(file)
        notes = run([args.readelf, "--notes", path])
        code = disassemble(args.objdump, case.chip, path)
    number = lambda key: max((int(found) for found in
                              re.findall(rf"\.{key}:\s+(\d+)", notes)), default=0)
    lanes = number("wavefront_size")
    loop = find_loop(code, lanes)
    # The count of vector registers has those of accumulators in it.
    registers = number("vgpr_count")
    model = {key.removeprefix("loop_"): value for key, value in manifest["resources"].items()
             if key.startswith("loop_")}
    return {
        "loop": loop, "registers": registers, "model": model,
        "shared": manifest["shared_bytes"], "waves": model["warps"] / SIMDS,
        "lanes": lanes, "scratch": number("private_segment_fixed_size"),
        "gain": find_gain(args, case) if args.space else None,
    }


def get_row(found):
    """Columns of the table and whether each meets its bar."""
    loop, counts = found["loop"], found["loop"].counts
    wide = found["lanes"] == 64
    each = counts["valu"] / loop.matrix
    shared = counts["shared"] / loop.matrix
    return [
        ("matrix", f"{loop.matrix:g}", True),
        ("vector each", f"{each:.2f}", each <= (4.5 if wide else 6)),
        ("transcendental", str(counts["transcendental"]), True),
        ("2-byte reads", str(counts["u16"]), counts["u16"] == 0),
        ("shared each", f"{shared:.2f}", not wide or shared <= 1.5),
        ("permutes", str(counts["permutes"]), counts["permutes"] <= (1 if wide else 0)),
        ("barriers", str(counts["barriers"]), counts["barriers"] <= 2),
        ("full waits", str(counts["full"]), not wide or counts["full"] <= 2),
        ("registers", f"{found['registers']}", True),
        ("shared bytes", str(found["shared"]), True),
        ("waves", f"{found['waves']:g}", not wide or found["waves"] >= 2),
        ("scratch", str(found["scratch"]), found["scratch"] == 0),
        ("spilled lanes", str(counts["lanes"]), not wide or counts["lanes"] == 0),
        ("AGPR copies", str(counts["accvgpr"]), not wide or counts["accvgpr"] == 0),
    ]


BARS = {
    "vector each": "4.5, waves of 32: 6", "2-byte reads": "0", "shared each": "1.5, waves of 32: -",
    "permutes": "1, waves of 32: 0", "barriers": "2", "full waits": "2", "waves": "2", "scratch": "0",
    "spilled lanes": "0", "AGPR copies": "0",
}


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("---" for _ in row) + "|")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", help="folder of attune-gen and attune-opt")
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--dims", default="64,128")
    parser.add_argument("--masks", default="full,causal")
    parser.add_argument("--dtypes", default="bf16,f16")
    parser.add_argument("--keys", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--schedule", default="", help="options of attune-set-schedule")
    parser.add_argument("--space", type=int, default=0,
                        help="schedules to compare the chosen one with, by the model")
    parser.add_argument("--objdump", default="llvm-objdump-22")
    parser.add_argument("--readelf", default="llvm-readelf-22")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dump", action="store_true", help="print the loops as well")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    args = parser.parse_args()
    unknown = [chip for chip in args.chips.split(",") if chip not in CHIPS]
    if unknown:
        parser.error(f"expects chips of {', '.join(CHIPS)}; got '{unknown[0]}'")
    return args


def main():
    args = parse_arguments()
    cases = [Case(chip, int(dim), mask, dtype) for chip, dim, mask, dtype in itertools.product(
        args.chips.split(","), args.dims.split(","), args.masks.split(","), args.dtypes.split(","))]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = list(pool.map(lambda case: read(args, case), cases))
    missed = 0
    rows, times = [], [["chip", "size", "mask", "type", *PARTS, "bound", "exps of vector",
                        "waits of alone", "TFLOP/s", *(["best of space"] if args.space else [])]]
    for case, kernel in zip(cases, found):
        row = get_row(kernel)
        missed += sum(not good for _, _, good in row)
        if not rows:
            rows.append(["chip", "size", "mask", "type", *(name for name, _, _ in row)])
            rows.append(["bar", "", "", "", *(BARS.get(name, "") for name, _, _ in row)])
        name = [case.chip, str(case.dim), case.mask, case.dtype]
        rows.append(name + [text + ("" if good else " *") for _, text, good in row])
        model = kernel["model"]
        clocks = {part: model[f"{part}_clocks"] for part in PARTS}
        times.append(name + [str(each) for each in clocks.values()]
                     + [max(clocks, key=clocks.get), str(model["exp_clocks"]),
                        str(model["wait_clocks"]), str(model["tflops"])])
        if args.space:
            good = kernel["gain"] <= MOST_GAIN
            missed += not good
            times[-1].append(f"{kernel['gain']:+.1f} %" + ("" if good else " *"))
        if args.dump:
            print("\n".join(text.partition(" //")[0] for _, text in kernel["loop"].lines))
    print_table(rows)
    print()
    print_table(times)
    print(f"\n{missed} bars missed")
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
