# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plants faults into a kernel, one at a time, executes each mutant on the host,
# and prints what found it: a check, the numbers, or nothing. Fails if less than
# 95 % are found, if the kernel has a fault to begin with, or if it has no place
# for any mutation. The kinds that it has places for are listed first, so that a
# test notices when a kind matches nothing anymore.
#
#   mutants.py <attune-opt> <attune-run> <plugin> <kernel> <places> [<kind>:<number>...]
#
# Of each kind of fault at most <places> places are taken, evenly over the
# kernel. Mutants named behind that compute what the kernel computes, and are
# left out.

import pathlib
import re
import subprocess
import sys


def mutate(tools, kernel, options):
    opt, _, plugin = tools
    pipeline = f"builtin.module(gpu.module(test-mutate-kernel{options}))"
    return subprocess.run([opt, kernel, f"--load-pass-plugin={plugin}", f"--pass-pipeline={pipeline}", "--emit-bytecode"],
                          capture_output=True, check=True).stdout


def list_kinds(tools, kernel):
    """How many places the kernel has for each kind of mutation."""
    text = mutate(tools, kernel, "").split(b"ML\xefR")[0].decode()
    return {kind: int(count) for kind, count in map(str.split, text.splitlines())}


def choose_places(count, places):
    taken = min(places, count)
    return [index * (count - 1) // max(taken - 1, 1) for index in range(taken)]


def execute(tools, kernel, name):
    """What finds the mutant, or nothing."""
    run = subprocess.run([tools[1], "-", "--device=host", "--max-steps=10000"], input=kernel, capture_output=True)
    text = (run.stdout + run.stderr).decode(errors="replace")
    if run.returncode == 0:
        return ""
    assert run.returncode == 2, f"{name} is not wrong, but cannot be run:\n{text}"
    match = re.search(r"error: ((kernel )?'.*)", text) or re.search(r"(WRONG.*)", text)
    return match[1][:110]


def main(opt, run, plugin, kernel, places, *equivalent):
    tools = opt, run, plugin
    kinds = list_kinds(tools, kernel)
    print("kinds:", *kinds, flush=True)
    if not kinds:
        print("expects a kernel with places for mutations, but got none")
        return 1
    if by := execute(tools, pathlib.Path(kernel).read_bytes(), "the kernel"):
        print(f"expects a kernel without a fault, but got {by}")
        return 1
    found = missed = 0
    for kind, number in ((kind, number) for kind, count in kinds.items() for number in choose_places(count, int(places))):
        if f"{kind}:{number}" in equivalent:
            continue
        by = execute(tools, mutate(tools, kernel, f"{{kind={kind} number={number}}}"), f"{kind}:{number}")
        print(f"{'found ' if by else 'MISSED'} {kind}:{number} {by}", flush=True)
        found += bool(by)
        missed += not by
    print(f"{found} of {found + missed} mutants were found")
    return found < max(1, 0.95 * (found + missed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
