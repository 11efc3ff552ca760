#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads AMD kernels as machine code, and says what bounds their main loop.

Compiles attention with the schedule that is chosen without a search,
disassembles the HSACO, and counts what the loop with most matrix instructions
issues in one iteration. Nothing runs: counts are of machine code, and times
are of a model, whose numbers and sources stand in CHIPS.

Prints a table of counts, each with * where it misses its bar (BARS), and one of
the model: cycles of one iteration on a SIMD with all of its waves, and what
bounds them. --published prints the model beside published figures of others,
so that its error can be seen. Exit code 1 with --check if a bar is missed.
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


@dataclasses.dataclass(frozen=True)
class Chip:
    """What the model knows of a chip; cycles are those of a SIMD.

    Sources: CDNA3, CDNA4, RDNA3 and RDNA4 ISA documents (issue rates, banks),
    AMD's matrix instruction calculator (MFMA cycles), data sheets (units,
    clocks, memory), LLVM's SchedModels and occupancy tables (registers)."""

    units: int  # compute units
    simds: int  # of a compute unit
    clock: float  # GHz, peak
    matrix: int  # operations of a matrix unit (SIMD) in a cycle
    valu: int  # cycles of a vector instruction
    exp: int  # cycles of a transcendental one
    matrix_is_valu: bool  # whether matrix instructions keep others waiting
    shared: int  # bytes of a compute unit
    shared_rate: int  # bytes a cycle and compute unit
    cache_rate: int  # bytes a cycle and compute unit, from L2
    registers: int  # of a lane, for all waves of a SIMD
    step: int  # in which a wave gets them
    most: int  # waves of a SIMD
    latency: int = 700  # cycles of a load that L2 answers
    shared_latency: int = 64  # cycles of a read of shared memory
    # Clocks under power: (share of busy matrix cycles, GHz), by counters of an
    # MI300X. Others: none known, so peak.
    power: tuple = ()


CDNA = dict(simds=4, valu=4, exp=16, matrix_is_valu=False, shared=65536,
            shared_rate=128, cache_rate=54, registers=512, step=8, most=8)
RDNA = dict(simds=2, valu=1, exp=4, matrix_is_valu=True, shared=65536,
            shared_rate=128, cache_rate=32, registers=1536, step=24, most=16)
CHIPS = {
    "gfx90a": Chip(104, clock=1.7, matrix=256, **CDNA),
    "gfx942": Chip(304, clock=2.1, matrix=512, power=((0.33, 1.7), (0.6, 1.2)), **CDNA),
    "gfx950": Chip(256, clock=2.4, matrix=1024,
                   **{**CDNA, "exp": 8, "shared": 163840, "shared_rate": 256}),
    "gfx1100": Chip(96, clock=2.5, matrix=256, **RDNA),
    "gfx1151": Chip(40, clock=2.9, matrix=256, **RDNA),
    "gfx1200": Chip(32, clock=3.13, matrix=512, **{**RDNA, "matrix_is_valu": False}),
    "gfx1201": Chip(64, clock=2.97, matrix=512, **{**RDNA, "matrix_is_valu": False}),
}
# Of the peak that the model finds, what hand-written kernels reach where waves
# meet at barriers and matrix and vector work overlap in part: AITER's forward
# kernels keep the matrix units of an MI300X 70 to 75 percent busy.
OVERLAP = 0.75

# Vector instructions that others' kernels issue beside 32 MFMA of 32x32x8 (16
# transcendental ones among them), read from their listings (ROCm/aiter,
# hsa/gfx942/fmha_v3_fwd), and what AMD publishes for them: MI300X, bf16, head
# size 128, no mask, 16384 keys.
PUBLISHED = {
    "AITER, rounds to zero": (192 - 3 * 17, 17, 544),
    "AITER, rounds half away": (240 - 3 * 17, 17, 501),
    "AITER, rounds to even": (264 - 3 * 17, 17, 480),
}

TRANSCENDENTAL = re.compile(r"v_(s_)?(exp|log|rcp|rsq|sqrt|sin|cos)_")
MATRIX = re.compile(r"v_(?:mfma|smfmac|wmma|swmmac)_\w*?_(\d+)x(\d+)x(\d+)")
LOAD = re.compile(r"(?:global|buffer|flat)_load_(?:dwordx?|b|tr_b)(\d*)")
FULL_WAIT = re.compile(r"vmcnt\(0\)|s_wait_loadcnt(?:_dscnt)? 0x0\b")
BRANCH = re.compile(r"s_(?:c?branch\w*)\s.*<\S+?\+0x([0-9a-f]+)>")
LINE = re.compile(r"^\t(\S.*?)\s*// ([0-9A-F]+):")


@dataclasses.dataclass
class Loop:
    """What one iteration issues; matrix counts are of 32x32x8 (16x16x16)."""

    counts: collections.Counter
    matrix: float
    matrix_flop: int
    shared_bytes: int
    loaded_bytes: int
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


def shared_width(name):
    """Bytes that a lane reads or writes."""
    both = 2 if re.search(r"(read|write|load|store)(2|_2addr)", name) else 1
    bits = re.search(r"_b(\d+)$|_b(\d+)_|_[ui](8|16)", name)
    return both * int(next((g for g in bits.groups() if g), 32)) // 8 if bits else 4


def count(lines, lanes):
    counts = collections.Counter()
    matrix, flop, shared, loaded = 0.0, 0, 0, 0
    for _, text in lines:
        name = text.split()[0]
        if found := MATRIX.match(name):
            m, n, k = (int(size) for size in found.groups())
            counts["matrix"] += 1
            flop += 2 * m * n * k
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
            shared += shared_width(name) * lanes
        elif name.startswith("scratch_"):
            counts["scratch"] += 1
        elif found := LOAD.match(name):
            counts["loads"] += 1
            words = found[1] or "1"
            loaded += lanes * (int(words) // 8 if int(words) > 8 else 4 * int(words))
        elif name.startswith("s_barrier") and "signal" not in name:
            counts["barriers"] += 1
        if name.startswith("s_wait"):
            counts["waits"] += 1
            counts["full"] += bool(FULL_WAIT.search(text))
            counts["shared waits"] += "lgkmcnt" in text or "dscnt" in text
    return Loop(counts, matrix, flop, shared, loaded, lines)


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


def count_waves(chip, registers, shared, threads, lanes):
    """Waves of a SIMD, and workgroups of a compute unit."""
    facts = CHIPS[chip]
    taken = -(-registers // facts.step) * facts.step
    waves = min(facts.most, facts.registers // max(taken, facts.step))
    own = threads // lanes
    groups = waves * facts.simds // own
    if shared:
        groups = min(groups, facts.shared // shared)
    return max(groups, 1) * own / facts.simds


def model(chip, loop, waves):
    """Cycles of a SIMD in which all of its waves finish an iteration, by parts."""
    facts = CHIPS[chip]
    counts = loop.counts
    matrix = loop.matrix_flop / facts.matrix
    plain = counts["valu"] - counts["transcendental"]
    issue = facts.valu * (0 if facts.matrix_is_valu else counts["matrix"])
    vector = facts.valu * plain + facts.exp * counts["transcendental"]
    parts = {
        "matrix": waves * matrix,
        "vector": waves * (vector + (matrix if facts.matrix_is_valu else issue)),
        # Reads reach four fifths of the peak (measured by others).
        "shared": waves * facts.simds * loop.shared_bytes / (0.8 * facts.shared_rate),
        "cache": waves * facts.simds * loop.loaded_bytes / facts.cache_rate,
        # A wave alone, in order: what it computes, and what it waits for.
        "one wave": matrix + vector + counts["shared waits"] * facts.shared_latency
        + max(0, counts["full"] * facts.latency - (matrix + vector)),
    }
    return parts, max(parts.values())


def predict(chip, loop, waves):
    """TFLOP/s of the whole device, and the clock in GHz."""
    facts = CHIPS[chip]
    parts, cycles = model(chip, loop, waves)
    busy = OVERLAP * parts["matrix"] / cycles
    clock = facts.clock
    if facts.power:
        (low, fast), (high, slow) = facts.power
        clock = fast + (slow - fast) * (busy - low) / (high - low)
        clock = min(max(clock, slow), facts.clock)
    return busy * facts.matrix * facts.simds * facts.units * clock / 1000, clock


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


def read(args, case):
    with tempfile.TemporaryDirectory() as folder:
        mask = ["--mask=causal"] if case.mask == "causal" else []
        problem = run([os.path.join(args.bin, "attune-gen"), "--op=attention",
                       f"--batch={args.batch}", f"--heads={args.heads}",
                       f"--seq-q={args.keys}", f"--head-dim={case.dim}",
                       f"--dtype={case.dtype}", *mask])
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
    agprs = number("agpr_count")
    # The count of vector registers has those of accumulators in it.
    registers = number("vgpr_count")
    threads, shared = get_launch(manifest)
    waves = count_waves(case.chip, registers, shared, threads, lanes)
    return {
        "loop": loop, "registers": registers, "agprs": agprs if agprs < 1024 else 0,
        "shared": shared, "threads": threads, "waves": waves, "lanes": lanes,
        "scratch": number("private_segment_fixed_size"), "code": code,
    }


def get_launch(manifest):
    """Threads of a workgroup and its bytes of shared memory."""
    def find(value, key):
        if isinstance(value, dict):
            if key in value:
                return value[key]
            value = list(value.values())
        if isinstance(value, list):
            for inner in value:
                if (found := find(inner, key)) is not None:
                    return found
        return None
    block = find(manifest, "block")
    threads = block[0] if isinstance(block, list) else block
    return int(threads), int(find(manifest, "shared_bytes") or 0)


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


def print_published():
    rows = [["kernel", "vector", "transcendental", "published", "model", "error"]]
    for name, (plain, exps, published) in PUBLISHED.items():
        counts = collections.Counter({"matrix": 32, "valu": plain + exps,
                                      "transcendental": exps})
        loop = Loop(counts, 32, 32 * 2 * 32 * 32 * 8, 64 * (8 * 16 + 16 * 8), 64 * 64, [])
        value, _ = predict("gfx942", loop, 2)
        rows.append([name, str(plain + exps), str(exps), str(published), f"{value:.0f}",
                     f"{100 * (value / published - 1):+.0f} %"])
    print_table(rows)


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
    parser.add_argument("--objdump", default="llvm-objdump-22")
    parser.add_argument("--readelf", default="llvm-readelf-22")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dump", action="store_true", help="print the loops as well")
    parser.add_argument("--published", action="store_true", help="print the model beside others' figures")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    args = parser.parse_args()
    unknown = [chip for chip in args.chips.split(",") if chip not in CHIPS]
    if unknown:
        parser.error(f"expects chips of {', '.join(CHIPS)}; got '{unknown[0]}'")
    return args


def main():
    args = parse_arguments()
    if args.published:
        print_published()
        return 0
    cases = [Case(chip, int(dim), mask, dtype) for chip, dim, mask, dtype in itertools.product(
        args.chips.split(","), args.dims.split(","), args.masks.split(","), args.dtypes.split(","))]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = list(pool.map(lambda case: read(args, case), cases))
    missed = 0
    rows, times = [], [["chip", "size", "mask", "type", "matrix", "vector", "shared", "cache",
                        "one wave", "bound", "GHz", "TFLOP/s"]]
    for case, kernel in zip(cases, found):
        row = get_row(kernel)
        missed += sum(not good for _, _, good in row)
        if not rows:
            rows.append(["chip", "size", "mask", "type", *(name for name, _, _ in row)])
            rows.append(["bar", "", "", "", *(BARS.get(name, "") for name, _, _ in row)])
        name = [case.chip, str(case.dim), case.mask, case.dtype]
        rows.append(name + [text + ("" if good else " *") for _, text, good in row])
        parts, cycles = model(case.chip, kernel["loop"], kernel["waves"])
        value, clock = predict(case.chip, kernel["loop"], kernel["waves"])
        bound = max(parts, key=parts.get)
        times.append(name + [f"{part:.0f}" for part in parts.values()]
                     + [bound, f"{clock:.2f}", f"{value:.0f}"])
        if args.dump:
            print("\n".join(text.partition(" //")[0] for _, text in kernel["loop"].lines))
    print_table(rows)
    print()
    print_table(times)
    print(f"\n{missed} bars missed")
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
