# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes docs/generated/Support.md: which features work on which chips, as
# found out by compiling and executing a small problem for each of them.
#
#   support-matrix.py --bin=<folder of the tools> --source=<root> [--chips=<chip,...> [--only=<feature>]] [-o <page>]
#
# Each cell is one run of `attune-run --device=host --verify`, for each of the
# two element types: the kernel of the chip is compiled down to its last
# dialect, executed on the CPU and compared with the reference. With --chips
# only these columns are found out, and compared with the page that is there:
# the exit code is 1 where they differ.

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

TYPES = ("f16", "bf16")

# Feature -> options of attune-gen. Lengths that no block divides.
ATTENTION = {
    "dense, head size 64": "--head-dim=64",
    "head size 40": "--head-dim=40",
    "head sizes 96 and 32": "--head-dim=96 --head-dim-v=32",
    "head size 256": "--head-dim=256",
    "head size 320": "--head-dim=320",
    "head size 512": "--head-dim=512",
    "`causal(top_left)`": "--mask=causal-top-left",
    "`causal(bottom_right)`": "--mask=causal",
    "`window`": "--window=9,3",
    "`softcap`": "--softcap=20",
    "`alibi`": "--alibi",
    "`sinks`": "--sinks",
    "`lse`": "--lse",
    "`order(bshd)`": "--order=bshd",
    "grouped heads": "--heads=4 --kv-heads=2",
    "`scale`": "--scale=0.5",
    "`key_lengths` and `query_lengths`": "--key-lengths --query-lengths --mask=causal",
    "`query_starts` and `key_starts`": "--packed-queries --packed-keys --mask=causal",
    "`pages`": "--page-size=16 --key-lengths --mask=causal",
    "`latent`": "--head-dim=96 --head-dim-v=64 --latent",
    "sizes known when it runs": "--dynamic=batch --dynamic=heads --dynamic=seq-q --dynamic=seq-k",
    "strides known when it runs": "--strided",
}
MATMUL = {
    "matmul": "-k 40",
    "batches": "--batch=2 -k 40",
    "left operand transposed": "--transpose-a -k 40",
    "right operand transposed": "--transpose-b -k 40",
    "f32 result": "--out-dtype=f32 -k 40",
    "bias and GELU": "--bias --activation=gelu -k 40",
    "gate and SiLU": "--gate --activation=silu -k 40",
    "residual": "--residual -k 40",
    "factors of rows and columns": "--scale-rows --scale-columns -k 40",
    "rotary embedding": "--rope -k 40",
    "dimensions known when it runs": "--dynamic=m --dynamic=n --dynamic=k -k 40",
}
# Sizes of what is known only when it runs.
SIZES = {
    "sizes known when it runs": "--batch=1 --heads=2 --kv-heads=2 --seq-q=24 --seq-k=40",
    "dimensions known when it runs": "--shape=0=40x40 --shape=1=40x48",
}

# Feature -> (further arguments, clauses) of a function that attune-gen does not write.
REGIONS = {
    "`score` that reads a tensor": ("%bias: tensor<2x24x40x{type}>", """score (%s, %b, %h, %m, %n) {{
    %x = tensor.extract %bias[%h, %m, %n] : tensor<2x24x40x{type}>
    %e = arith.extf %x : {type} to f32
    %y = arith.addf %s, %e : f32
    attn.yield %y : f32
  }}"""),
    "`mask` of positions": ("", """mask (%b, %h, %m, %n) {{
    %c8 = arith.constant 8 : index
    %x = arith.divui %m, %c8 : index
    %y = arith.divui %n, %c8 : index
    %same = arith.cmpi eq, %x, %y : index
    attn.yield %same : i1
  }}"""),
    "`mask` that reads a tensor": ("%visible: tensor<24x40xi1>", """mask (%b, %h, %m, %n) {{
    %x = tensor.extract %visible[%m, %n] : tensor<24x40xi1>
    attn.yield %x : i1
  }}"""),
}
REGION_FUNCTION = """func.func @attention(%q: tensor<1x2x24x32x{type}>, %k: tensor<1x2x40x32x{type}>, %v: tensor<1x2x40x32x{type}>{arguments})
    -> tensor<1x2x24x32x{type}> {{
  %o = attn.attention %q, %k, %v {clauses}
    : tensor<1x2x24x32x{type}>, tensor<1x2x40x32x{type}>, tensor<1x2x40x32x{type}>
  return %o : tensor<1x2x24x32x{type}>
}}
"""

HEADER = """<!-- Written by scripts/support-matrix.py: do not edit. -->

# What works on which chip

Each cell was found out by compiling a small problem for the chip, executing its kernel on the CPU (`attune-run --device=host --verify`)
and comparing the numbers with the reference, for f16 and for bf16. **yes** says that both are right. That is a statement about the code that the
chip is given, down to its last dialect, and not about speed; which chips have run it themselves stands in the [README](../../README.md#chips).

| | {chips} |
|---|{rule}|
"""


class Matrix:
    """Features by chips; reasons are numbered as they come."""

    def __init__(self, tools):
        self.tools, self.notes = tools, {}

    def run(self, tool, *arguments, text=None):
        return subprocess.run([str(self.tools / tool), *arguments], input=text, capture_output=True, text=True)

    def write_problem(self, feature, element):
        if feature in REGIONS:
            arguments, clauses = REGIONS[feature]
            arguments = ", " + arguments.format(type=element) if arguments else ""
            return REGION_FUNCTION.format(type=element, arguments=arguments, clauses=clauses.format(type=element))
        if feature in MATMUL:
            sizes, options = "--op=matmul -m 40 -n 48", MATMUL[feature]
        else:
            sizes, options = "--op=attention --batch=1 --heads=2 --kv-heads=2 --seq-q=24 --seq-k=40 --head-dim=32", ATTENTION[feature]
            given = {option.split("=")[0] for option in options.split()}
            sizes = " ".join(option for option in sizes.split() if option.split("=")[0] not in given)
        generated = self.run("attune-gen", *sizes.split(), f"--dtype={element}", *options.split())
        if generated.returncode:
            sys.exit(f"error: attune-gen fails for '{feature}': {generated.stderr}")
        return generated.stdout

    def find_out(self, feature, chip):
        """Why not, once for each type."""
        reasons = []
        for element in TYPES:
            run = self.run("attune-run", "-", "--device=host", f"--chip={chip}", "--verify", *SIZES.get(feature, "").split(),
                           text=self.write_problem(feature, element))
            error = re.search(r"error: (.*)", run.stderr)
            if run.returncode or not run.stdout.count("right "):
                reasons.append(error[1] if error else f"wrong: {run.stdout.strip()}")
        return reasons

    def note(self, reason):
        # One note for all chips: numbers are those of the first.
        rule = re.sub(r"'(sm|gfx)\w+'|\d+", "", reason)
        if rule not in self.notes:
            self.notes[rule] = reason
        return f"no [{list(self.notes).index(rule) + 1}]"


def main():
    parser = argparse.ArgumentParser(description="Write which features work on which chips")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--chips", help="only these, compared with the page")
    parser.add_argument("--only", help="with --chips, this feature alone")
    parser.add_argument("-o", type=pathlib.Path, help="the page, instead of docs/generated/Support.md")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    page = options.o or options.source / "docs" / "generated" / "Support.md"
    known = sorted((path.stem for path in (options.source / "lib" / "Target").glob("*/*/*.mlir")),
                   key=lambda name: (not name.startswith("sm"), [int(n) for n in re.findall(r"\d+", name)], name))
    chips = options.chips.split(",") if options.chips else known
    if unknown := set(chips) - set(known):
        sys.exit(f"error: expects chips of lib/Target, but got {', '.join(sorted(unknown))}")

    matrix = Matrix(options.bin)
    features = [name for name in (*ATTENTION, *REGIONS, *MATMUL) if options.only in (None, name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cells = {(f, c): pool.submit(matrix.find_out, f, c) for f in features for c in chips}
    rows = []
    for feature in features:
        found = {chip: cells[feature, chip].result() for chip in chips}
        rows.append((feature, {chip: matrix.note(reasons[0]) if reasons else "yes" for chip, reasons in found.items()}))

    if options.chips:
        return compare(page, chips, rows)
    text = HEADER.format(chips=" | ".join(chips), rule="|".join(":-:" for _ in chips))
    text += "".join(f"| {feature} | {' | '.join(row[chip] for chip in chips)} |\n" for feature, row in rows)
    text += "".join(f"\n[{number}] `{note}`\n" for number, note in enumerate(matrix.notes.values(), 1))
    page.write_text(text)
    return 0


def compare(page, chips, rows):
    """Whether the page says of these chips what was found out."""
    lines = [line.strip("| \n").split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    columns = lines[0]
    written = {line[0]: dict(zip(columns, line[1:])) for line in lines[1:]}
    wrong = 0
    for feature, row in rows:
        for chip in chips:
            says = written.get(feature, {}).get(chip, "nothing")
            if says.split()[0] != row[chip].split()[0]:
                print(f"WRONG: {page.name} says '{says}' of {feature} on {chip}, but it is '{row[chip]}'")
                wrong += 1
    print(f"compared {len(rows) * len(chips)} cells, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
