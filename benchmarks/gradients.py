#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times gradients of attention beside cuDNN and FlashAttention-3, in one process
on one hot GPU.

  build    compiles the kernels of all cases to a folder, with the tools in
           --bin, for a schedule that is given or picked
  time     times what is in one or more folders, which may be on another machine

A case is measured in rounds, after heat, in an order that each round draws at
random; the median of the rounds' medians counts. All contenders read the same
tensors, those of ours are poisoned before, and none is timed that is far from
cuDNN. The peers are PyTorch's cuDNN by autograd, and FlashAttention-3 where
--fa3 names its library (as xformers ships it), after --preload.
"""

import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
TOKENS, HIDDEN = 16384, 2048
# Of a gradient in bf16, relative to that of cuDNN.
TOLERANCE = 0.02


def make_cases(sizes, lengths):
    return [
        (size, mask, length)
        for size in sizes
        for mask in ("none", "causal")
        for length in lengths
    ]


def name_case(size, mask, length):
    return f"head_{size}_{'full' if mask == 'none' else mask}_{length}"


def build(arguments):
    for case in make_cases(arguments.sizes, arguments.lengths):
        size, mask, length = case
        folder = os.path.join(arguments.folder, name_case(*case))
        os.makedirs(folder, exist_ok=True)
        module = os.path.join(folder, "gradients.mlir")
        generate = [
            os.path.join(arguments.bin, "attune-gen"),
            *("--op=attention", "--grad", "--dtype=bf16", f"--mask={mask}"),
            *(f"--batch={TOKENS // length}", f"--heads={HIDDEN // size}"),
            *(f"--seq-q={length}", f"--seq-k={length}", f"--head-dim={size}"),
            *(["--deterministic"] if arguments.deterministic else []),
            *("-o", module),
        ]
        subprocess.run(generate, check=True)
        compile = [os.path.join(arguments.bin, "attune-opt"), module]
        if arguments.schedule:
            compile.append(f"--attune-set-schedule={arguments.schedule}")
        options = f"chip={arguments.chip} output-dir={folder}"
        compile += [f"--attune-compile={options}", "-o", os.devnull]
        subprocess.run(compile, check=True)
        print(name_case(*case), file=sys.stderr)


def load_fa3(arguments):
    """FlashAttention-3's backward, or None."""
    import torch

    if not arguments.fa3:
        return None
    if arguments.preload:
        ctypes.CDLL(arguments.preload, mode=ctypes.RTLD_GLOBAL)
    torch.ops.load_library(arguments.fa3)
    return torch.ops.flash_attn_3.bwd


def make_peers(case, tensors, results, fa3):
    """Functions that give gradients, by name."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    size, mask, _ = case
    q, k, v, grad = tensors
    inputs = [x.detach().requires_grad_() for x in (q, k, v)]
    with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
        graph = torch.nn.functional.scaled_dot_product_attention(
            *inputs, is_causal=mask == "causal"
        )
    peers = {
        "cudnn": lambda: torch.autograd.grad(
            graph, inputs, grad, retain_graph=True
        )
    }
    if fa3:
        moved = [x.transpose(1, 2).contiguous() for x in (*tensors, results[0])]
        made = [torch.empty_like(x) for x in moved[:3]]

        def run():
            fa3(
                *(moved[3], *moved[:3], moved[4], results[1], *made),
                softmax_scale=size**-0.5,
                is_causal=mask == "causal",
            )
            return [x.transpose(1, 2) for x in made]

        peers["fa3"] = run
    return peers


def make_ours(folder, tensors, results):
    from kernels import Sequence

    import torch

    query, key, value, output_grad = tensors
    made = [torch.full_like(x, float("nan")) for x in (query, key, value)]
    named = {
        **dict(query=query, key=key, value=value, output_grad=output_grad),
        **dict(output=results[0], lse=results[1]),
        **dict(query_grad=made[0], key_grad=made[1], value_grad=made[2]),
    }
    (path,) = [
        name
        for name in glob.glob(os.path.join(folder, "*.json"))
        if "sequence" in json.load(open(name))
    ]
    launch = Sequence(path).bind(named)

    def run():
        launch()
        return made

    return run


def find_error(found, expected):
    """The largest relative difference of the three."""
    return max(
        ((x - y).float().norm() / y.float().norm()).item()
        for x, y in zip(found, expected)
    )


def measure(case, arguments, rounds, fa3):
    import torch

    size, mask, length = case
    shape = (TOKENS // length, HIDDEN // size, length, size)
    tensors = [
        torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        for _ in range(4)
    ]
    found = torch.ops.aten._scaled_dot_product_flash_attention(
        *tensors[:3], 0.0, mask == "causal", False
    )
    results = found[0].contiguous(), found[1].float().contiguous()
    functions = make_peers(case, tensors, results, fa3)
    expected = functions["cudnn"]()
    errors = {}
    for folder in arguments.folders:
        name = os.path.basename(os.path.normpath(folder))
        path = os.path.join(folder, name_case(*case))
        if os.path.isdir(path):
            functions[name] = make_ours(path, tensors, results)
    for name in list(functions):
        errors[name] = find_error(functions[name](), expected)
        if not errors[name] < TOLERANCE:
            print(f"{name_case(*case)}: {name} is wrong, {errors[name]}")
            functions.pop(name)
    times = rounds.time(functions, arguments.heat, arguments.warmup, 20)
    flops = 10 * shape[0] * shape[1] * length * length * size
    flops /= 2 if mask == "causal" else 1
    rates = {name: flops / time / 1e9 for name, time in times.items()}
    return {"case": name_case(*case), "tflops": rates, "errors": errors}


def print_line(line, names):
    rates = line["tflops"]
    best = max((rates[n] for n in ("cudnn", "fa3") if n in rates), default=0)
    cells = [f"{line['case']:24}"]
    for name in names:
        rate = rates.get(name)
        cells.append(f"{rate:7.0f}" if rate else f"{'-':>7}")
        if rate and best and name not in ("cudnn", "fa3"):
            cells.append(f"({rate / best:.3f})")
    print(" ".join(cells), flush=True)


def time(arguments):
    from rounds import Rounds

    rounds = Rounds(arguments.rounds)
    fa3 = load_fa3(arguments)
    names = ["cudnn"] + ["fa3"] * bool(fa3)
    names += [os.path.basename(os.path.normpath(f)) for f in arguments.folders]
    print("TFLOP/s, and the ratio to the best peer:", " ".join(names))
    lines = []
    for case in make_cases(arguments.sizes, arguments.lengths):
        lines.append(measure(case, arguments, rounds, fa3))
        print_line(lines[-1], names)
        if arguments.output:
            with open(arguments.output, "w") as file:
                json.dump(lines, file, indent=1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    builder, timer = (commands.add_parser(n) for n in ("build", "time"))
    for command in (builder, timer):
        command.add_argument("--sizes", type=int, nargs="+", default=[64, 128])
        command.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    builder.add_argument("folder")
    builder.add_argument("--bin", default="build/bin")
    builder.add_argument("--chip", default="sm_90a")
    builder.add_argument("--schedule", default="")
    builder.add_argument("--deterministic", action="store_true")
    timer.add_argument("folders", nargs="+")
    timer.add_argument("--fa3", help="library of torch.ops.flash_attn_3")
    timer.add_argument("--preload", help="library that it needs")
    timer.add_argument("--rounds", type=int, default=7)
    timer.add_argument("--heat", type=float, default=0.6, help="seconds")
    timer.add_argument("--warmup", type=float, default=5, help="milliseconds")
    timer.add_argument("--output", help="JSON of all figures")
    arguments = parser.parse_args()
    {"build": build, "time": time}[arguments.command](arguments)


if __name__ == "__main__":
    main()
