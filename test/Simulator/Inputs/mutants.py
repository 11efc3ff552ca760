# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plants faults into a kernel, one at a time, executes each mutant on the host,
# and prints what found it: a check, the numbers, or nothing. Fails if less than
# 95 % are found.
#
#   mutants.py <attune-opt> <attune-run> <plugin> <kernel> <places> [<kind>:<number>...]
#
# Of each kind of fault at most <places> places are taken, evenly over the
# kernel. Mutants named behind that compute what the kernel computes, and are
# left out.

import re
import subprocess
import sys


def mutate(tools, kernel, options):
    opt, _, plugin = tools
    pipeline = f"builtin.module(gpu.module(test-mutate-kernel{options}))"
    return subprocess.run([opt, kernel, f"--load-pass-plugin={plugin}", f"--pass-pipeline={pipeline}", "--emit-bytecode"],
                          capture_output=True, check=True).stdout


def list_places(tools, kernel, places):
    """(kind, number) of each mutant."""
    text = mutate(tools, kernel, "").split(b"ML\xefR")[0].decode()
    for line in text.splitlines():
        kind, count = line.split()
        count = int(count)
        taken = min(places, count)
        for index in range(taken):
            yield kind, index * (count - 1) // max(taken - 1, 1)


def execute(tools, kernel, kind, number):
    """What finds the mutant, or nothing."""
    mutant = mutate(tools, kernel, f"{{kind={kind} number={number}}}")
    run = subprocess.run([tools[1], "-", "--device=host", "--max-steps=10000"], input=mutant, capture_output=True)
    text = (run.stdout + run.stderr).decode(errors="replace")
    if run.returncode == 0:
        return ""
    assert run.returncode == 1, f"{kind}:{number} crashed:\n{text}"
    match = re.search(r"error: ('.*)", text) or re.search(r"(WRONG.*)", text)
    return match[1][:110]


def main(opt, run, plugin, kernel, places, *equivalent):
    tools = opt, run, plugin
    found = missed = 0
    for kind, number in list_places(tools, kernel, int(places)):
        if f"{kind}:{number}" in equivalent:
            continue
        by = execute(tools, kernel, kind, number)
        print(f"{'found ' if by else 'MISSED'} {kind}:{number} {by}", flush=True)
        found += bool(by)
        missed += not by
    print(f"{found} of {found + missed} mutants were found")
    return found < 0.95 * (found + missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
