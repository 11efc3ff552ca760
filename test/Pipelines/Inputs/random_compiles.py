# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles what nobody chose. A problem whose schedule is legal must compile; a
# text that is not valid must be refused with a located error; nothing may crash.
#
#   random_compiles.py problems <attune-gen> <attune-opt> <seed> <count> <format> <chip>...
#   random_compiles.py mutants <attune-opt> <seed> <count> <chip> <file>...

import random
import re
import subprocess
import sys

SPLIT = "\n// -----\n"


def run(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)


def schedule(rng):
    knobs = {"block-m": [16, 32, 64, 128], "block-n": [16, 32, 48, 64, 96], "num-warps": [1, 2, 4, 8],
             "k-stages": [1, 2, 3, 4], "v-stages": [1, 2, 3, 4], "q-in-registers": [0, 1], "split-masked": [0, 1],
             "tile-order": ["ascending", "descending"], "workgroups-per-sm": [1, 1, 2, 3]}
    if rng.random() < 0.4:
        groups = rng.choice([1, 2, 3])
        knobs.update({"block-m": [64 * groups], "block-n": [16, 48, 80, 96, 128, 176, 256], "num-warps": [4 * groups],
                      "mma-warps": [4], "producer-warps": [0, 4, 4], "overlap": ["none", "softmax", "ping-pong"],
                      "q-in-registers": [0, 0, 0, 1]})
    return " ".join(f"{name}={rng.choice(domain)}" for name, domain in knobs.items())


def problem(rng):
    kv_heads = rng.choice([1, 2, 3])
    length = lambda: rng.choice([1, 7, 16, 64, 100, 256])
    options = [f"--batch={rng.choice([1, 2])}", f"--heads={kv_heads * rng.choice([1, 2, 4])}", f"--kv-heads={kv_heads}",
               f"--seq-q={length()}", f"--seq-k={length()}", f"--head-dim={rng.choice([8, 16, 40, 64, 80, 128])}",
               f"--dtype={rng.choice(['f16', 'bf16'])}", f"--mask={rng.choice(['none', 'causal-top-left', 'causal'])}",
               f"--order={''.join(rng.sample('bhsd', 4))}", f"--schedule={schedule(rng)}"]
    extras = ["--head-dim-v=24", "--softcap=20", "--alibi", "--sinks", "--lse", "--window=16,?", "--window=5,3",
              "--scale=-0.5", "--strided", "--dynamic=batch", "--dynamic=heads,seq-q,seq-k"]
    chosen = [extra for extra in extras if rng.random() < 0.2]
    names = [extra.split("=")[0] for extra in chosen]
    return options + [extra for i, extra in enumerate(chosen) if names.index(names[i]) == i]


def problems(attune_gen, attune_opt, seed, count, stage, *chips):
    rng = random.Random(int(seed))
    chunks, commands = [], []
    while len(chunks) < int(count):
        options = problem(rng)
        generated = run([attune_gen, "--op=attention", *options])
        # Not all options go together; then the tool says so.
        assert generated.returncode in (0, 1), f"attune-gen {options}: {generated.stderr}"
        assert generated.returncode == 0 or "error" in generated.stderr, f"attune-gen {options} fails in silence"
        if generated.returncode == 0:
            chunks.append(generated.stdout)
            commands.append(" ".join(f"'{option}'" for option in options))
    first_lines, line = [], 1
    for chunk in chunks:
        first_lines.append(line)
        line += chunk.count("\n") + SPLIT.count("\n")
    failures = 0
    for chip in chips:
        checked = run([attune_opt, "--split-input-file", f"--attune-attach-target=chip={chip}", "--attune-check-schedule"],
                      SPLIT.join(chunks))
        assert checked.returncode in (0, 1), f"{chip}: the check ends with {checked.returncode}: {checked.stderr[-2000:]}"
        illegal = set()
        for match in re.finditer(r"^[^:\n]+:(\d+):\d+: error: .* op ([a-z-]+): expects", checked.stderr, re.MULTILINE):
            illegal.add(max(i for i, first in enumerate(first_lines) if first <= int(match[1])))
        legal = [i for i in range(len(chunks)) if i not in illegal]
        pipeline = f"--attune-compile=chip={chip} format={stage}"
        compiled = run([attune_opt, "--split-input-file", pipeline, "-o", "/dev/null"],
                       SPLIT.join(chunks[i] for i in legal))
        if compiled.returncode != 0:
            for i in legal:
                alone = run([attune_opt, pipeline, "-o", "/dev/null"], chunks[i])
                if alone.returncode != 0:
                    failures += 1
                    print(f"{chip}: ends with {alone.returncode}: attune-gen --op=attention {commands[i]}\n{alone.stderr[:600]}")
        # Those that are not legal must be refused when they are compiled too.
        refused = run([attune_opt, "--split-input-file", pipeline, "-o", "/dev/null"],
                      SPLIT.join(chunks[i] for i in sorted(illegal)))
        if illegal and (refused.returncode != 1 or refused.stderr.count("error:") < len(illegal)):
            failures += 1
            print(f"{chip}: illegal schedules end with {refused.returncode}: {refused.stderr[-600:]}")
        print(f"{chip}: {len(legal)} legal problems, {len(illegal)} refused")
    print(f"{failures} failures")


def mutate(rng, text):
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(5)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[rng.randrange(len(tokens))])
        elif kind == 2:
            tokens[at] = tokens[rng.randrange(len(tokens))]
        elif kind == 3:
            numbers = [i for i, token in enumerate(tokens) if token.isdigit()] or [at]
            tokens[rng.choice(numbers)] = rng.choice(["0", "-1", "1", "3", "17", "4294967296", "99999999999999999999"])
        else:
            tokens[at] = rng.choice(["?", "<", ">", "\"", "{", "}", "f32", "i1", "tensor", "%", "@", "\0"])
    return "".join(tokens)


def mutants(attune_opt, seed, count, chip, *files):
    rng = random.Random(int(seed))
    texts = [open(path, encoding="utf-8").read() for path in files]
    chunks = [mutate(rng, rng.choice(texts)) for _ in range(int(count))]
    command = [attune_opt, "--attune-compile=chip=%s format=gpu" % chip, "-o", "/dev/null"]
    failures = compiled = 0
    # One by one: among others, the errors of one hide that another has none.
    for chunk in chunks:
        alone = run(command, chunk)
        located = re.search(r"^[^:\n]+:\d+:\d+: error: ", alone.stderr, re.MULTILINE)
        bare = re.search(r"^(error|loc\(unknown\).*error): ", alone.stderr, re.MULTILINE)
        compiled += alone.returncode == 0
        if alone.returncode not in (0, 1) or bare or bool(located) != (alone.returncode == 1):
            failures += 1
            print(f"ends with {alone.returncode}:\n{chunk}\n{alone.stderr[:1500]}")
    print(f"{len(chunks)} mutants, of which {compiled} compile, {failures} failures")


if __name__ == "__main__":
    {"problems": problems, "mutants": mutants}[sys.argv[1]](*sys.argv[2:])
