# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles each example with the schedule that is picked for it.
#
#   spills.py <attune-opt> <chip> <examples> <scratch>    a line for each example whose kernel spills, then their number

import glob
import json
import os
import subprocess
import sys


def spilled_bytes(tool, chip, source, folder):
    subprocess.run([tool, source, f"--attune-compile=chip={chip} output-dir={folder}", "-o", os.devnull],
                   check=True)
    kernels = glob.glob(os.path.join(folder, "*.json"))
    assert kernels, f"expects a manifest in {folder}"
    manifests = [json.load(open(kernel, encoding="utf-8")) for kernel in kernels]
    # That of a sequence names the others.
    resources = [manifest["resources"] for manifest in manifests if "kernel" in manifest]
    return sum(each["spill_store_bytes"] + each["spill_load_bytes"] for each in resources)


def main():
    tool, chip, examples, scratch = sys.argv[1:]
    names = sorted(name for name in os.listdir(examples) if name.endswith(".mlir"))
    assert names, f"expects examples in {examples}"
    count = 0
    for name in names:
        size = spilled_bytes(tool, chip, os.path.join(examples, name), os.path.join(scratch, name))
        if size:
            count += 1
            print(f"{name} spills")
    print(f"{chip}: {len(names)} examples, {count} spill")


if __name__ == "__main__":
    main()
