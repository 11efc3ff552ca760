#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python package costs and gives within PyTorch, on one GPU, in one
process with its peers.

  host     microseconds of the host for a call with its launch
  cells    attention as PyTorch calls it, with lengths that are dynamic, beside
           the compiler's kernels for the same lengths alone
  mods     scores and masks of attention-gym beside FlexAttention, compiled
  first    seconds from a fresh process to its first result, with a filled cache
           and with an empty one

Peers are those that are installed: PyTorch's, FlashAttention-3 (fa3_fwd), and
attention-gym for `mods`. Results are compared before anything is timed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

TOKENS, HIDDEN = 16384, 2048
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
# Of results in bf16, relative to the peer's.
TOLERANCE = 0.02


def find_error(found, expected):
    difference = (found.float() - expected.float()).norm()
    return (difference / expected.float().norm()).item()


def make_host_calls():
    """Functions by name, with a note of what FlashAttention-3 lacks."""
    import torch

    import attune_mlir as attune

    attune.register_operators()
    shape = (1, 128, 8, 128)
    q, k, v = (
        torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    operator = torch.ops.attune.attention
    recorded = [x.clone().requires_grad_() for x in (q, k, v)]
    moved = [x.transpose(1, 2) for x in (q, k, v)]
    sdpa = torch.nn.functional.scaled_dot_product_attention
    out = attune.attention(*recorded, causal=True)
    grad = torch.randn_like(out)

    def run_backward():
        torch.autograd.grad(out, recorded, grad, retain_graph=True)

    calls = {
        "attention": lambda: attune.attention(q, k, v, causal=True),
        "operator": lambda: operator(q, k, v, causal=True),
        "operator_default": lambda: operator.default(q, k, v, causal=True),
        "recorded": lambda: attune.attention(*recorded, causal=True),
        "backward": run_backward,
        "sdpa": lambda: sdpa(*moved, is_causal=True),
        "smallest_operator": lambda: torch.ops.aten.alias.default(q),
        "empty_like": lambda: torch.empty_like(q),
    }
    try:
        from fa3_fwd_interface import flash_attn_func

        calls["fa3"] = lambda: flash_attn_func(q, k, v, causal=True)
    except ImportError as error:
        print("no FlashAttention-3:", error)
    return calls


def time_host(arguments):
    """As peers2.py does: the best of means of 100 calls, which the device keeps
    up with."""
    import torch

    calls = make_host_calls()
    found = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        for _ in range(30):
            call()
    for _ in range(arguments.rounds * 4):
        for name, call in calls.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                call()
            spent = (time.perf_counter() - start) * 1e4
            found[name] = min(found[name], spent)
    torch.cuda.synchronize()
    for name, microseconds in found.items():
        print(f"{name:20} {microseconds:8.2f} us", flush=True)
    return found


def compile_alone(case, folder, specs):
    """The kernel for these lengths alone, as kernels.py takes it."""
    from kernels import Kernel

    import attune_mlir as attune

    size, causal, length = case
    shape = (TOKENS // length, length, HIDDEN // size, size)
    kind = f"tensor<{'x'.join(map(str, shape))}xbf16>"
    source = f"""
    func.func @attention(%q: {kind}, %k: {kind}, %v: {kind}) -> {kind} {{
      %o = attn.attention %q, %k, %v {"causal(bottom_right)" if causal else ""}
        order(bshd) : {kind}, {kind}, {kind}
      return %o : {kind}
    }}"""
    chip = "sm_90a"
    compiled = attune.compile(
        source, chip=chip, format="bin", tuning_specs=specs
    )
    (kernel,) = compiled.kernels
    path = os.path.join(folder, "kernel")
    with open(path + ".cubin", "wb") as file:
        file.write(kernel.image)
    with open(path + ".json", "w") as file:
        file.write(kernel.manifest_json)
    return Kernel(path)


def time_cell(case, rounds, specs):
    import torch

    import attune_mlir as attune

    size, causal, length = case
    shape = (TOKENS // length, length, HIDDEN // size, size)
    q, k, v = (
        torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    functions = {"pytorch": lambda: attune.attention(q, k, v, causal=causal)}
    expected = functions["pytorch"]()
    for name, files in [("alone", [])] + [("spec", specs)] * bool(specs):
        with tempfile.TemporaryDirectory() as folder:
            kernel = compile_alone(case, folder, files)
        out = torch.full_like(q, float("nan"))
        functions[name] = kernel.bind([q, k, v, out])
        functions[name]()
        error = find_error(out, expected)
        if not error < TOLERANCE:
            print(f"{case}: {name} is wrong, {error}")
            functions.pop(name)
    return rounds.time(functions, heat=0.4, warmup=5, rep=15)


def time_cells(arguments):
    from rounds import Rounds

    rounds, found = Rounds(arguments.rounds), {}
    for size in (64, 128):
        for causal in (False, True):
            for length in arguments.lengths:
                times = time_cell(
                    (size, causal, length), rounds, arguments.specs
                )
                name = f"{size} {'causal' if causal else 'full'} {length}"
                found[name] = times
                ratios = " ".join(
                    f"{other} {times[other] * 1e3:.1f} us "
                    f"({times['pytorch'] / times[other]:.3f})"
                    for other in times
                    if other != "pytorch"
                )
                print(
                    f"{name:20} {times['pytorch'] * 1e3:.1f} us, of {ratios}",
                    flush=True,
                )
    return found


def make_mods(length, heads):
    """Score and mask functions by name."""
    import attn_gym.masks as masks
    import attn_gym.mods as mods
    import torch

    offsets = torch.tensor(
        [0, 700, 1500, 1600, 3000, length], device="cuda", dtype=torch.int32
    )
    side = int(length**0.5)
    return {
        "causal": (None, masks.causal_mask),
        "sliding_window": (None, masks.generate_sliding_window(512)),
        "dilated": (None, masks.generate_dilated_sliding_window(512, 2)),
        "prefix_lm": (None, masks.generate_prefix_lm_mask(1024)),
        "document": (
            None,
            masks.generate_doc_mask_mod(masks.causal_mask, offsets),
        ),
        "natten": (None, masks.generate_natten(side, side, 13, 13)),
        "alibi": (mods.generate_alibi_bias(heads), None),
        "alibi_causal": (mods.generate_alibi_bias(heads), masks.causal_mask),
        "softcap": (mods.generate_tanh_softcap(20, approx=False), None),
        "softcap_causal": (
            mods.generate_tanh_softcap(20, approx=False),
            masks.causal_mask,
        ),
    }


def time_mods(arguments):
    import torch
    import torch._dynamo
    from rounds import Rounds
    from torch.nn.attention.flex_attention import (
        create_block_mask,
        flex_attention,
    )

    import attune_mlir as attune

    torch._dynamo.config.recompile_limit = 64
    compiled = torch.compile(flex_attention, dynamic=False)
    rounds, found, length, size = Rounds(arguments.rounds), {}, 4096, 128
    shape = (TOKENS // length, HIDDEN // size, length, size)
    q, k, v = (
        torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    for name, (score, mask) in make_mods(length, shape[1]).items():
        start = time.time()
        blocks = mask and create_block_mask(
            mask, None, None, length, length, device="cuda"
        )
        functions = {
            "flex": lambda: compiled(q, k, v, score, blocks),
            "attune": lambda: attune.flex_attention(q, k, v, score, blocks),
        }
        try:
            error = find_error(functions["attune"](), functions["flex"]())
        except Exception as failure:
            print(f"{name:20} {type(failure).__name__}: {failure}", flush=True)
            continue
        spent = time.time() - start
        times = rounds.time(functions, heat=0.4, warmup=5, rep=20)
        found[name] = {**times, "error": error}
        print(
            f"{name:20} flex {times['flex'] * 1e3:8.1f} us, attune"
            f" {times['attune'] * 1e3:8.1f} us, {times['flex'] / times['attune']:.2f}"
            f" times as fast, error {error:.4f} (first calls {spent:.1f} s)",
            flush=True,
        )
    return found


FIRST = """
import time, torch
q = torch.randn(1, 1024, 16, 128, device="cuda", dtype=torch.bfloat16)
torch.cuda.synchronize()
start = time.perf_counter()
import attune_mlir as attune
imported = time.perf_counter()
attune.attention(q, q, q, causal=True)
torch.cuda.synchronize()
print(imported - start, time.perf_counter() - start)
"""


def time_first(arguments):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        scope = {**os.environ, "ATTUNE_CACHE_DIR": folder}
        for name in ("empty", "filled", "filled again"):
            said = subprocess.run(
                [sys.executable, "-c", FIRST],
                env=scope,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            imported, total = (float(x) * 1000 for x in said.split())
            found[name] = {"import": imported, "first": total}
            print(
                f"{name:20} import {imported:.0f} ms,"
                f" first result {total:.0f} ms",
                flush=True,
            )
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = {
        "host": time_host,
        "cells": time_cells,
        "mods": time_mods,
        "first": time_first,
    }
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--specs", nargs="*", default=[], help="of `cells`")
    parser.add_argument("--output", help="JSON of all figures")
    arguments = parser.parse_args()
    found = {}
    for part in arguments.parts:
        print(f"-- {part}", flush=True)
        found[part] = parts[part](arguments)
        if arguments.output:
            with open(arguments.output, "w") as file:
                json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
